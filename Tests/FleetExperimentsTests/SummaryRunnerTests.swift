import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// What a search runs, and what it knows already.
@Suite("A search's runs")
struct SummaryRunnerTests {
  private static func engine() -> CountingEngine {
    CountingEngine { try Simulation.run($0, options: $1, control: $2) }
  }

  private func scenario(
    status: Int = 503, capacity: Int64 = 30_000, _ change: (inout HTTPConfig) -> Void = { _ in }
  ) -> Scenario {
    var settings = HTTPConfig()
    settings.backoff.jitter = .full
    change(&settings)
    var scenario = Scenario.planted(
      duration: .seconds(300), capacityMilli: capacity, burst: 5,
      incidents: [.outage(status: status, at: .seconds(60), for: .seconds(60))], devices: 100,
      gap: .seconds(5), settings: settings)
    scenario.fleet[0].retries = .timer
    scenario.tapi.overload = Overload(status: status)
    return scenario
  }

  /// Batches one after another, as a search asks for them, against the engine asked for each run and each twin.
  private func summaries(_ batches: [[Scenario]], _ engine: CountingEngine? = nil) throws {
    let runs = Runs(.summary, workers: 2, engine: engine?.stand)
    for batch in batches {
      let found = try runs.values(of: batch)
      let separate = try batch.map { scenario in
        RunAnalysis.summary(
          of: try Simulation.run(scenario),
          ReferenceRuns(
            twin: try Simulation.run(scenario.withoutIncidents),
            ideal: scenario.hasIncidents ? try Simulation.run(scenario.ideal) : nil), name: "",
          seed: scenario.seed)
      }
      #expect(found == separate)
    }
  }

  @Test(
    "Waits for a 429 that no server sends make no other run, and where one does they do",
    arguments: [503, 429])
  func rateLimits(status: Int) throws {
    let engine = Self.engine()
    let other = scenario(status: status) { $0.rateLimit.maxRetryInterval = 7_000_000 }
    try summaries([[scenario(status: status)], [other]], engine)
    #expect(engine.runs.count { !$0.isIdeal } == (status == 503 ? 2 : 3))
  }

  @Test("A higher limit than one never reached makes no other run; one above a reached one does")
  func retryCounts() throws {
    let engine = Self.engine()
    let batches = [100, 200, 1, 3, 1_000].map { count in [scenario { $0.backoff.maxRetryCount = count }] }
    try summaries(batches, engine)
    let limits = engine.runs.filter { $0.hasIncidents && !$0.isIdeal }.map(\.fleet[0].settings.backoff)
    #expect(limits.map(\.maxRetryCount) == [100, 1, 3])
  }

  @Test("a run that need only not fail is in doubt wherever one against an ideal run fails")
  func doubt() throws {
    let scenarios = (1...10).flatMap { count in
      [300, 1_200].map { (duration: Int64) in
        var scenario = scenario { $0.backoff.maxRetryCount = count }
        scenario.duration = .seconds(duration)
        return scenario
      }
    }
    let fails = try Runs(.summary, workers: 2).values(of: scenarios).map(\.fails)
    let isInDoubt = try Runs(.failure, workers: 2).values(of: scenarios).map(\.fails)
    #expect(fails.contains(true) && fails.contains(false))
    #expect(zip(fails, isInDoubt).allSatisfy { !$0 || $1 }, "\(fails), \(isInDoubt)")
    // A longer watch lets none pass.
    #expect(stride(from: 0, to: fails.count, by: 2).allSatisfy { fails[$0] == fails[$0 + 1] }, "\(fails)")
  }

  @Test("Runs that share beginnings, and twins that fail, have the summaries of separate ones")
  func sharedBeginnings() throws {
    let jitters: [Jitter] = [.none, .equal, .decorrelated]
    for capacity in [30_000, 12_000] as [Int64] {
      let batch = jitters.map { jitter in scenario(capacity: capacity) { $0.backoff.jitter = jitter } }
      try summaries([batch + [batch[0].withoutIncidents], batch.map { $0.with(seed: 5) }])
    }
  }
}
