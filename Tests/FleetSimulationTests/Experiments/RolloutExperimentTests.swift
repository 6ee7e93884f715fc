import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Testing

/// Small versions of 006, 007 and 008, with margins that are gone when the mechanism is.
@Suite struct RolloutExperimentTests {
  private func scenario(_ path: String, _ overrides: [String: String], devices: Int) throws -> Scenario {
    let full = try ExperimentFiles.decode(path, overrides).scenario
    var scenario = try ExperimentFiles.small(path, devices: devices)
    (scenario.interval, scenario.tapi.incidents) = (full.interval, full.tapi.incidents)
    let counts = scenario.fleet.map(\.devices)
    scenario.fleet = full.fleet
    for i in counts.indices { scenario.fleet[i].devices = counts[i] }
    return scenario
  }

  /// Of variants of an experiment, which share what they have in common.
  private func recoveries(_ path: String, _ variants: [[String: String]], devices: Int) throws -> [Double] {
    try ExperimentFiles.summaries(
      of: variants.map { variant in
        try scenario(path, ExperimentFiles.longRows.merging(variant) { $1 }, devices: devices)
      }
    ).map { Double($0.recoveryTime ?? .max) }
  }

  @Test("006: each half of the fleet that gets full jitter brings recovery forward")
  func share() throws {
    let variants = ["0%", "50%", "100%"].map { ["fleet.phones.rollout.share": $0] }
    let runs = try recoveries("006-rollout-share/scenario.json5", variants, devices: 500)
    #expect(runs[0] < Double(Int64.max))
    #expect(runs[0] > 1.2 * runs[1], "\(runs)")
    #expect(runs[1] > 1.4 * runs[2], "\(runs)")
  }

  @Test("007: forgetting the waits doubles recovery with nearly equal waits, and costs none with full jitter")
  func restart() throws {
    let variants = ["additive:10", "full"].flatMap { jitter in
      ["persisted", "inMemory"].map {
        ["settings.backoffConfig.jitterStrategy": jitter, "fleet.phones.lifecycle.state": $0]
      }
    }
    let runs = try recoveries("007-synchronised-restart/scenario.json5", variants, devices: 400)
    #expect(runs[1] > 1.7 * runs[0], "\(runs)")
    #expect(abs(runs[3] / runs[2] - 1) < 0.15, "\(runs)")
  }

  /// Hours from the start of the outage (30 min into the run) to the row of the first loss, and all losses.
  private func losses(_ overrides: [String: String], _ column: (TimeSeries.Row) -> Int64) throws
    -> (firstHour: Double, perDevice: Double, ofAllLosses: Double)
  {
    let record = try Simulation.run(
      scenario("008-long-outage-limits/scenario.json5", overrides, devices: 15))
    let rows = record.series.rows
    let first = rows.firstIndex { column($0) > 0 } ?? rows.count
    let lost = rows.reduce(0) { $0 + column($1) }
    let all = rows.reduce(0) { $0 + $1.droppedEvents }
    let hour = (Double(first) * Double(record.series.interval) / 1e6 - 1_800) / 3_600
    return (hour, Double(lost) / Double(record.devices), Double(lost) / Double(max(all, 1)))
  }

  @Test(
    "008: at 6 events a minute a queue of 1000 events overflows first, whatever the retry count",
    arguments: ["100", "1000"])
  func overflow(count: String) throws {
    let lost = try losses(
      ["settings.backoffConfig.maxRetryCount": count, "fleet.phones.queue.limit": "1000"],
      \.[.droppedByOverflow]
    )
    // 1000 events at 6/min last 2.78 h. The count has a deviation of √1000, 3 %; the first of 15 devices is
    // within four deviations. 14 h make 5040 events, of which 1000 are kept.
    #expect(lost.firstHour > 2.78 * 0.87 && lost.firstHour < 2.78, "\(lost)")
    #expect(abs(lost.perDevice / 4_040 - 1) < 0.03, "\(lost)")
    #expect(lost.ofAllLosses == 1)
  }

  @Test("008: at 1 event a minute 100 retries are used up first, after 8.1 h")
  func retries() throws {
    let lost = try losses(["fleet.phones.events": "1/min"], \.[.droppedByRetryLimit])
    // Waits after 101 failures: 0.5 · (2^10 − 1) = 511.5 s for k = 0 … 9, and 91 · 300 s = 27,300 s; with a
    // mean jitter of 5 % together 29,202 s = 8.11 h. The deviation is 300 · 0.1/√12 · √91 = 83 s, so the first
    // of a thousand batches is some three of these earlier, 8.04 h.
    #expect(abs(lost.firstHour / 8.11 - 1) < 0.02, "\(lost)")
    #expect(lost.ofAllLosses == 1)
  }

  @Test("008: with the retry count out of the way, 12 h since the first failure is the limit")
  func age() throws {
    let lost = try losses(
      ["fleet.phones.events": "1/min", "settings.backoffConfig.maxRetryCount": "1000"], \.[.droppedByAge])
    // Checked when a batch is due: at most one wait of 330 s, 0.09 h, late.
    #expect(lost.firstHour > 11.95 && lost.firstHour < 12.15, "\(lost)")
    #expect(lost.ofAllLosses == 1)
  }

  @Test("008: 429 with Retry-After 30 s uses the client's 100 retries up in 50 minutes")
  func rateLimit() throws {
    let lost = try losses(
      [
        "fleet.phones.events": "1/min", "tapi.incidents.0.status": "429",
        "tapi.incidents.0.retryAfter": "30s",
      ], \.[.droppedByRateLimitRetryLimit])
    // Dropped after 101 answers and waits of 30 s: 3030 s = 0.84 h, plus as many round trips of some 0.2 s and
    // up to 5 min until the first flush of the earliest device.
    #expect(lost.firstHour > 0.82 && lost.firstHour < 0.95, "\(lost)")
    #expect(lost.ofAllLosses == 1)
  }
}
