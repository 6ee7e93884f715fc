import FleetSimulation
import SimulationKernel
import TAPIModel
import Testing

extension RandomScenario {
  /// What workers do with those that wait, each by chance.
  mutating func drawDisciplines(_ tapi: inout TAPIConfiguration) {
    guard case .workers(var workers) = tapi.server else { return }
    if chance(50) { workers.order = pick(QueueOrder.allCases) }
    if chance(40) {
      let target = Span.milliseconds(Int64(int(1...3_000)))
      workers.delayControl = ControlledDelay(
        target: target, interval: target + .milliseconds(Int64(int(1...10_000))))
    }
    tapi.server = .workers(workers)
  }
}

@Suite struct DisciplineCoverageTests {
  @Test("Each part of the workers changes the run of one random scenario at least")
  func parts() throws {
    let parts: [(name: String, remove: (inout WorkersConfiguration) -> Void)] = [
      ("order", { $0.order = .fifo }), ("CoDel", { $0.delayControl = nil }),
    ]
    var seen: Set<String> = []
    for seed in EngineEqualityTests.seeds where seen.count < parts.count {
      let scenario = RandomScenario.scenario(seed: seed)
      guard case .workers(let workers) = scenario.tapi.server else { continue }
      let record = try windowed(scenario)
      for part in parts where !seen.contains(part.name) {
        var (without, plain) = (scenario, workers)
        part.remove(&plain)
        without.tapi.server = .workers(plain)
        if plain != workers, try windowed(without) != record { seen.insert(part.name) }
      }
    }
    #expect(seen == Set(parts.map(\.name)))
  }
}
