import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

/// Experiments 002 to 005 on small fleets: each claim of their READMEs, by a margin that is gone when the
/// mechanism is.
@Suite struct RetryExperimentTests {
  private static let jitter = "settings.backoffConfig.jitterStrategy"
  private static let clamp = "policy.clampAfterJitter"
  private static let retryAfter = "tapi.overload.retryAfter"
  private static let never = Int64.max

  /// The experiment with its fleet scaled down and a few values of the file replaced.
  private func scenario(
    _ path: String, _ overrides: [String: String] = [:], devices: Int
  ) throws -> Scenario {
    let full = try ExperimentFiles.decode(path, overrides).scenario
    var scenario = try ExperimentFiles.small(path, devices: devices)
    (scenario.duration, scenario.interval) = (full.duration, full.interval)
    scenario.tapi.overload = full.tapi.overload
    scenario.tapi.actions = full.tapi.actions
    // A bucket scaled down to a token or two would lose capacity by chance.
    if case .bucket(var bucket) = scenario.tapi.server {
      bucket.burst = max(bucket.burst, 9)
      scenario.tapi.server = .bucket(bucket)
    }
    for i in scenario.fleet.indices {
      let devices = scenario.fleet[i].devices
      scenario.fleet[i] = full.fleet[i]
      scenario.fleet[i].devices = devices
    }
    return scenario
  }

  /// Of variants of an experiment, which share what they have in common.
  private func summaries(
    _ path: String, _ variants: [[String: String]], devices: Int
  ) throws -> [RunSummary] {
    try ExperimentFiles.summaries(
      of: variants.map { variant in
        try scenario(path, ExperimentFiles.longWindows.merging(variant) { $1 }, devices: devices)
      })
  }

  private func recoveries(
    _ path: String, _ variants: [[String: String]], devices: Int
  ) throws -> [Int64] {
    try summaries(path, variants.map { ExperimentFiles.longRows.merging($0) { $1 } }, devices: devices)
      .map { $0.recoveryTime ?? Self.never }
  }

  @Test(
    "029: with one Retry-After of 60 s for all, phones that pause for it do not come back; with a draw they do"
  )
  func pauses() throws {
    let path = "029-retry-after-on-503/scenario.json5"
    let pause = ["fleet.phones.policy.retryAfterOnOtherCodes": "pausesPipeline"]
    let drawn = ["actions.0.retryAfter": #"{from:"30s",to:"90s"}"#]
    let ignoring = ["fleet.phones.policy.retryAfterOnOtherCodes": "ignored"]
    let runs = try recoveries(path, [pause, pause.merging(drawn) { $1 }, ignoring], devices: 300)
    let (fixed, spread, ignored) = (runs[0], runs[1], runs[2])
    #expect(fixed == Self.never)
    #expect(spread < ignored && ignored < Self.never, "\(spread) against \(ignored)")
  }

  @Test("036: intervals that begin at the answer lock the fleet in step, and by gate it does not come back")
  func phases() throws {
    let path = "036-living-phases/scenario.json5"
    let rearm = [Self.jitter: "full", "fleet.phones.flush.rearm": "afterAnswer"]
    let timer = rearm.merging(["fleet.phones.retries": "timer"]) { $1 }
    let runs = try recoveries(path, [[Self.jitter: "full"], timer, rearm], devices: 200)
    let (own, byTimer, byGate) = (runs[0], runs[1], runs[2])
    #expect(own < 25 * 60_000_000 && byTimer < own)
    #expect(byGate > 2 * own)
    let locked = try Simulation.run(scenario(path, rearm, devices: 200))
    let values = Synchrony.values(of: locked, period: locked.synchronyPeriod)
    // Before the outage at 20 min, and an hour behind its end.
    let (before, after) = (try #require(values[1_190]), try #require(values[5_400]))
    #expect(before < 0.3 && after > 0.5, "\(before), then \(after)")
  }

  @Test("002: after an hour of silence the clamp keeps the waves that jitter above the cap wears away")
  func clampAfterSilence() throws {
    let path = "002-jitter-at-the-cap/scenario.json5"
    let variants = [
      [Self.jitter: "additive:10", Self.clamp: "true"], [Self.jitter: "additive:10"], [Self.jitter: "full"],
    ]
    let runs = try recoveries(path, variants, devices: 300)
    let (shipped, document, full) = (runs[0], runs[1], runs[2])
    #expect(document < Self.never && full < Self.never)
    #expect(shipped / 5 > document / 4, "\(shipped) against \(document)")
    #expect(document / 5 > full / 4, "\(document) against \(full)")
  }

  @Test("002: after an hour answered with 503 the retries are spread anyway, clamped or not")
  func clampAfterAnswers() throws {
    let path = "002-jitter-at-the-cap/answered.json5"
    let overrides = [Self.jitter: "additive:10", "duration": "2h45m"]
    let clamped = overrides.merging([Self.clamp: "true"]) { $1 }
    let runs = try recoveries(path, [overrides, clamped], devices: 300)
    let (document, shipped) = (runs[0], runs[1])
    #expect(document < Self.never && shipped < Self.never)
    #expect(Double(shipped) < 1.15 * Double(document), "\(shipped) against \(document)")
  }

  @Test("003: a 429 never reaches the backoff, so jitter strategies give the same run")
  func jitterUnder429() throws {
    let path = "003-retry-after/jitter.json5"
    // Each by itself: runs that share what they have in common might take the sameness for granted.
    let runs = try ["none", "additive:10", "full"].map {
      let variant = [Self.jitter: $0, "duration": "40m"]
      return try ExperimentFiles.summary(of: scenario(path, variant, devices: 300))
    }
    #expect(runs[0][.answers429] > 0)
    #expect(runs.allSatisfy { $0 == runs[0] })
  }

  @Test(
    "003: a fixed Retry-After keeps the fleet in waves, a spread one brings it back, none at all starves it"
  )
  func spreadRetryAfter() throws {
    let path = "003-retry-after/scenario.json5"
    let variants = ["60s", "{from:\"30s\",to:\"90s\"}", "none"].map { [Self.retryAfter: $0] }
    let runs = try summaries(path, variants, devices: 500)
    let (fixed, spread, missing) = (runs[0], runs[1], runs[2])
    #expect((spread.recoveryTime ?? Self.never) < 15 * 60_000_000)
    #expect(fixed.recoveryTime == nil)
    #expect(missing.recoveryTime == nil)
    // The server is idle for most of the 40 minutes while the backlog grows.
    #expect(missing.pendingEvents > 2 * fixed.pendingEvents)
    #expect((missing.idleWhileBackloggedSeconds ?? 0) > 1_200)
    #expect((spread.idleWhileBackloggedSeconds ?? 0) < 120)
  }

  @Test("003: with a flush every 30 s a Retry-After of 29 s costs one flush, of 30 s or 31 s two")
  func resonance() throws {
    let path = "003-retry-after/gate.json5"
    let variants = ["29s", "30s", "31s"].map { [Self.retryAfter: $0, "interval": "1s"] }
    let runs = try recoveries(path, variants, devices: 500)
    let (below, at, above) = (runs[0], runs[1], runs[2])
    #expect(below < 15 * 60_000_000, "\(below)")
    #expect(at / 3 > below / 2, "\(at) against \(below)")
    #expect(at == above)
  }

  @Test(
    "004: against 429, all batches at once cost several times the refused requests and come back no sooner"
  )
  func uploadConcurrency() throws {
    let path = "004-upload-concurrency/scenario.json5"
    let variants = ["1", "unlimited"].map { ["fleet.phones.uploadConcurrency": $0, "duration": "50m"] }
    let runs = try summaries(path, variants, devices: 500)
    let (one, all) = (runs[0], runs[1])
    #expect(all[.answers429] > 5 * one[.answers429])
    #expect((all.herdFactor ?? 0) > 2 * (one.herdFactor ?? 0))
    #expect(Double(all.recoveryTime ?? Self.never) > 0.95 * Double(one.recoveryTime ?? Self.never))
  }

  @Test("005: by timer the fleet depends on jitter, by gate it does not")
  func gateOrTimer() throws {
    let path = "005-gate-or-timer/scenario.json5"
    // Fewer devices, or longer windows, leave too little of the margin.
    let variants = ["additive:10", "full"].flatMap { jitter in
      ["timer", "gate"].map { [Self.jitter: jitter, "fleet.phones.retries": $0, "duration": "75m"] }
    }
    let scenarios = try variants.map { try scenario(path, $0, devices: 1_000) }
    let drained = try ExperimentFiles.summaries(of: scenarios).map { Double($0.drainedTime ?? Self.never) }
    let (additiveByTimer, additiveByGate) = (drained[0], drained[1])
    let (fullByTimer, fullByGate) = (drained[2], drained[3])
    #expect(additiveByTimer > 1.6 * additiveByGate, "\(additiveByTimer) against \(additiveByGate)")
    #expect(additiveByTimer > 1.6 * fullByTimer, "\(additiveByTimer) against \(fullByTimer)")
    #expect(additiveByGate < 1.25 * fullByGate, "\(additiveByGate) against \(fullByGate)")
  }
}
