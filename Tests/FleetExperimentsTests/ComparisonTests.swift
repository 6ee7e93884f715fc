import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Synchronization
import Testing
import UploadRetry

/// Comparisons with a stand-in for the engine, so that which runs are made can be seen.
@Suite("A comparison")
struct ComparisonTests {
  /// Counts its runs; a run's record carries its seed as the number of devices, so that results can be told apart.
  final class Engine: Sendable {
    let runs = Mutex<[Scenario]>([])
    let twinFails: Bool
    init(twinFails: Bool) { self.twinFails = twinFails }

    func record(_ scenario: Scenario) -> RunRecord {
      runs.withLock { $0.append(scenario) }
      var series = TimeSeries(interval: 1_000_000, duration: 1_000_000, rows: 1)
      let fails = !scenario.tapi.incidents.isEmpty || twinFails
      series[0, .answers2xx] = 10
      series[0, .answers503] = fails ? 3 : 0
      return .planted(series, devices: Int64(scenario.seed))
    }
    var stand: Comparison.Engine { { scenario, _, _ in self.record(scenario) } }
    var count: Int { runs.withLock { $0.count } }
  }

  func scenario(_ jitter: Jitter, seed: UInt64 = 1, incidents: Bool = true) -> Scenario {
    var settings = HTTPConfig()
    settings.backoff.jitter = jitter
    return .planted(
      seed: seed, duration: .seconds(10), incidents: incidents ? [.outage(for: .seconds(1))] : [],
      settings: settings)
  }

  let jitters: [Jitter] = [.none, .additive(percent: 10), .full, .equal, .decorrelated]

  func compare(_ scenarios: [Scenario], _ engine: Engine, workers: Int = 2) throws -> [VariantResult] {
    let variants = scenarios.enumerated().map { Variant(name: "v\($0)", scenario: $1) }
    return try Comparison.run(variants, workers: workers, engine: engine.stand)
  }

  @Test("strategies share one twin if it saw no failure: nobody asked a strategy anything")
  func sharedTwin() throws {
    let engine = Engine(twinFails: false)
    let results = try compare(jitters.map { scenario($0) }, engine)
    // Five strategies, their twin and their ideal run.
    #expect(engine.count == 7)
    #expect(results.map(\.name) == ["v0", "v1", "v2", "v3", "v4"])
    #expect(Set(results.map(\.twin)).count == 1)
    #expect(results.allSatisfy { $0.twin.series.rows[0][.answers503] == 0 })
  }

  @Test("a twin that saw a failure is nobody else's", arguments: [1, 2, 7])
  func ownTwins(workers: Int) throws {
    let engine = Engine(twinFails: true)
    let results = try compare(jitters.map { scenario($0) }, engine, workers: workers)
    #expect(engine.count == 11)
    #expect(results.count == 5)
    let twins = engine.runs.withLock { $0.filter { $0.tapi.incidents.isEmpty } }
    #expect(Set(twins.map { $0.fleet[0].settings.backoff.jitter }) == Set(jitters))
  }

  @Test("a retry limit is no wait: it has its own twin even if nothing failed")
  func limitsDiffer() throws {
    var other = scenario(.full)
    other.fleet[0].settings.backoff.maxRetryCount = 0
    let engine = Engine(twinFails: false)
    _ = try compare([scenario(.full), other], engine)
    #expect(engine.count == 5)
  }

  @Test("variants that differ in their incidents alone share a twin whatever it saw")
  func sameTwin() throws {
    var later = scenario(.full)
    later.tapi.incidents[0].start = Instant.start + .seconds(2)
    let engine = Engine(twinFails: true)
    _ = try compare([scenario(.full), later], engine)
    // Each has an ideal run of its own.
    #expect(engine.count == 5)
  }

  @Test("a variant without incidents is its own twin, and equal variants are one run")
  func identicalRuns() throws {
    let engine = Engine(twinFails: true)
    let results = try compare(
      [scenario(.full), scenario(.full, incidents: false), scenario(.full)], engine)
    #expect(engine.count == 3)
    #expect(results[1].record == results[1].twin)
    #expect(results[0].record == results[2].record)
  }

  @Test("results come in the order of the variants, whatever the number of workers", arguments: [1, 3, 16])
  func order(workers: Int) throws {
    let engine = Engine(twinFails: true)
    let seeds = Array(1...12 as ClosedRange<UInt64>)
    let results = try compare(seeds.map { scenario(.full, seed: $0) }, engine, workers: workers)
    #expect(results.map(\.record.devices) == seeds.map(Int64.init))
    #expect(results.map(\.twin.devices) == seeds.map(Int64.init))
    #expect(results.map(\.summary.seed) == seeds)
    #expect(engine.count == 36)
  }

  @Test("the failure of a run ends the others and is what the comparison throws")
  func failure() {
    let variants = jitters.enumerated().map { Variant(name: "v\($0)", scenario: scenario($1)) }
    let engine = Engine(twinFails: false)
    #expect(throws: CheckFailure.self) {
      try Comparison.run(variants, workers: 2) { scenario, _, control in
        if scenario.fleet[0].settings.backoff.jitter == .full {
          throw CheckFailure(description: "time went back")
        }
        if control.isCancelled { throw CancellationError() }
        return engine.record(scenario)
      }
    }
  }

  @Test("cancelling reaches the runs that are on their way and those to come")
  func cancel() {
    let control = ComparisonControl()
    let variants = [Variant(name: "v", scenario: scenario(.full))]
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
    let engine = Engine(twinFails: false)
    let variants = [Variant(name: "v", scenario: scenario(.full))]
    _ = try Comparison.run(variants, workers: 1, control: control) { scenario, _, _ in
      let progress = control.progress
      #expect(progress.runs == 3)
      #expect(progress.finishedRuns == (scenario.isIdeal ? 2 : scenario.tapi.incidents.isEmpty ? 0 : 1))
      return engine.record(scenario)
    }
    #expect(control.progress.finishedRuns == 3)
    #expect(control.progress.share == 1)
    #expect(control.progress.duration == 30_000_000)
  }
}
