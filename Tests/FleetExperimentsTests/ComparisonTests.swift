import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing
import UploadRetry

/// Comparisons with a stand-in for the engine, so that which runs are made can be seen.
@Suite("A comparison")
struct ComparisonTests {
  /// A run's record carries its seed as the number of devices, so that results can be told apart.
  private static func engine(twinFails: Bool) -> CountingEngine {
    CountingEngine { scenario, _, _ in
      var series = TimeSeries(interval: 1_000_000, duration: 1_000_000, rows: 1)
      series[0, .answers2xx] = 10
      series[0, .answers503] = scenario.tapi.incidents.isEmpty && !twinFails ? 0 : 3
      return .planted(series, devices: Int64(scenario.seed))
    }
  }

  private static func scenario(
    _ jitter: Jitter = .full, seed: UInt64 = 1, _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario.planted(
      seed: seed, duration: .seconds(10), incidents: [.outage(for: .seconds(1))])
    scenario.fleet[0].settings.backoff.jitter = jitter
    change(&scenario)
    return scenario
  }

  private static let strategies = [Jitter.none, .additive(percent: 10), .full, .equal, .decorrelated].map {
    scenario($0)
  }

  private static func variants(_ scenarios: [Scenario]) -> [Variant] {
    scenarios.enumerated().map { Variant(name: "v\($0)", scenario: $1) }
  }

  /// Variants, whether a run without incidents sees a failure, and how many runs are made.
  private static let sharing: [(scenarios: [Scenario], twinFails: Bool, runs: Int)] = [
    // Five strategies, their twin and their ideal run: nobody asked a strategy anything.
    (strategies, false, 7),
    // A twin that saw a failure is nobody else's.
    (strategies, true, 11),
    // A retry limit is no wait: it has its own twin even if nothing failed.
    ([scenario(), scenario { $0.fleet[0].settings.backoff.maxRetryCount = 0 }], false, 5),
    // What differs in its incidents alone shares a twin whatever that saw; each has an ideal run of its own.
    ([scenario(), scenario { $0.tapi.incidents[0].start = .start + .seconds(2) }], true, 5),
    // What operators do is held against the twin alone: an ideal run would excuse it.
    ([scenario { ($0.tapi.incidents, $0.tapi.actions) = ([], [.init(.restart, at: .start)]) }], false, 2),
    // A variant without incidents is its own twin, and equal variants are one run.
    ([scenario(), scenario().withoutIncidents, scenario()], true, 3),
  ]

  @Test("runs that are provably the same are made once", arguments: sharing, [1, 2, 7])
  private func shared(_ shared: (scenarios: [Scenario], twinFails: Bool, runs: Int), workers: Int) throws {
    let engine = Self.engine(twinFails: shared.twinFails)
    let results = try Comparison.run(
      Self.variants(shared.scenarios), workers: workers, engine: engine.stand)
    #expect(engine.runs.count == shared.runs)
    #expect(results.map(\.name) == shared.scenarios.indices.map { "v\($0)" })
    for (scenario, result) in zip(shared.scenarios, results) {
      #expect(result.twin.series.rows[0][.answers503] == (shared.twinFails ? 3 : 0))
      #expect((result.record == result.twin) == (shared.twinFails || !scenario.hasIncidents))
      if shared.twinFails { #expect(engine.runs.contains(scenario.withoutIncidents)) }
    }
  }

  @Test("results come in the order of the variants, whatever the number of workers", arguments: [1, 3, 16])
  func order(workers: Int) throws {
    let engine = Self.engine(twinFails: true)
    let seeds = Array(1...12 as ClosedRange<UInt64>)
    let results = try Comparison.run(
      Self.variants(seeds.map { Self.scenario(seed: $0) }), workers: workers, engine: engine.stand)
    #expect(results.map(\.record.devices) == seeds.map(Int64.init))
    #expect(results.map(\.twin.devices) == seeds.map(Int64.init))
    #expect(results.map(\.summary.seed) == seeds)
    #expect(engine.runs.count == 36)
  }

  @Test("the failure of a run ends the others and is what the comparison throws")
  func failure() {
    let engine = Self.engine(twinFails: false)
    #expect(throws: CheckFailure.self) {
      try Comparison.run(Self.variants(Self.strategies), workers: 2) { scenario, options, control in
        if scenario.fleet[0].settings.backoff.jitter == .full {
          throw CheckFailure(description: "time went back")
        }
        if control.isCancelled { throw CancellationError() }
        return try engine.stand(scenario, options, control)
      }
    }
  }

  @Test("cancelling reaches the runs that are on their way and those to come")
  func cancel() {
    let control = ComparisonControl()
    let variants = Self.variants([Self.scenario()])
    #expect(throws: CancellationError.self) {
      try Comparison.run(variants, workers: 1, control: control) { _, _, runControl in
        #expect(!runControl.isCancelled)
        control.cancel()
        #expect(runControl.isCancelled)
        throw CancellationError()
      }
    }
    #expect(throws: CancellationError.self) {
      try Comparison.run(variants, workers: 1, control: control) { _, _, runControl in
        #expect(runControl.isCancelled)
        throw CancellationError()
      }
    }
  }

  @Test("progress counts whole runs as they end")
  func progress() throws {
    let control = ComparisonControl()
    let engine = Self.engine(twinFails: false)
    _ = try Comparison.run(Self.variants([Self.scenario()]), workers: 1, control: control) {
      scenario, options, runControl in
      let progress = control.progress
      #expect(progress.runs == 3)
      #expect(progress.finishedRuns == (scenario.isIdeal ? 2 : scenario.tapi.incidents.isEmpty ? 0 : 1))
      return try engine.stand(scenario, options, runControl)
    }
    #expect(control.progress.finishedRuns == 3)
    #expect(control.progress.share == 1)
    #expect(control.progress.duration == 30_000_000)
  }
}
