import FleetSimulation
import SimulationKernel
import TAPIModel
import TestScenarios
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
    if chance(30) {
      let limits = [int(1...10), int(1...30), int(1...100)].sorted()
      workers.concurrencyLimit = ConcurrencyLimit(
        initial: limits[1], minimum: limits[0], maximum: limits[2])
      workers.concurrencyLimit?.queue = int(0...5)
      workers.concurrencyLimit?.window = .milliseconds(Int64(int(100...10_000)))
    }
    if chance(40) {
      let mean = Span(microseconds: Int64(workers.serviceTime.mean * Double(int(10...200)) / 100))
      let roundTrip = Span(microseconds: Int64(int(1...20_000)))
      let patience = Span(microseconds: 1 + mean.microseconds * Int64(int(20...400)) / 100)
      workers.dependency = Dependency(
        count: int(1...workers.count), serviceTime: pick([.constant(mean), .exponential(mean: mean)]),
        queueLimit: pick([0, 0, int(1...5), nil]), retries: int(0...3),
        roundTrip: roundTrip, timeout: chance(40) ? roundTrip + patience : nil, status: pick([500, 503]))
    }
    tapi.server = .workers(workers)
  }
}

@Suite struct DisciplineCoverageTests {
  @Test("Each part of the workers changes the run of one random scenario at least")
  func parts() throws {
    let parts: [(name: String, remove: (inout WorkersConfiguration) -> Void)] = [
      ("order", { $0.order = .fifo }), ("CoDel", { $0.delayControl = nil }),
      ("limit", { $0.concurrencyLimit = nil }), ("dependency", { $0.dependency = nil }),
      ("retries", { $0.dependency?.retries = 0 }), ("time-out", { $0.dependency?.timeout = nil }),
    ]
    let seen = try RandomScenario.parts(
      parts.map { part in
        (
          part.name,
          {
            guard case .workers(var workers) = $0.tapi.server else { return }
            part.remove(&workers)
            $0.tapi.server = .workers(workers)
          }
        )
      }, thatMatterIn: EngineEqualityTests.seeds,
      where: { if case .workers = $0.tapi.server { true } else { false } })
    #expect(seen == Set(parts.map(\.name)))
  }
}
