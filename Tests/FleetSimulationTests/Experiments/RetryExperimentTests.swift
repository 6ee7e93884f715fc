import FleetMetrics
import FleetSimulation
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
  private func summary(
    _ path: String, _ overrides: [String: String] = [:], devices: Int = 1_000
  ) throws -> RunSummary {
    let full = try ExperimentFiles.decode(path, overrides).scenario
    var scenario = try ExperimentFiles.small(path, devices: devices)
    scenario.duration = full.duration
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
    return RunAnalysis.summary(
      of: try Simulation.run(scenario), twin: try Simulation.run(scenario.withoutIncidents), name: "small",
      seed: scenario.seed)
  }

  private func recovery(
    _ path: String, _ overrides: [String: String] = [:], devices: Int = 1_000
  ) throws -> Int64 {
    try summary(path, overrides, devices: devices).recoveryTime ?? Self.never
  }

  @Test(
    "029: with one Retry-After of 60 s for all, phones that pause for it do not come back; with a draw they do"
  )
  func pauses() throws {
    let path = "029-retry-after-on-503/scenario.json5"
    let pause = ["fleet.phones.policy.retryAfterOnOtherCodes": "pausesPipeline"]
    let drawn = ["actions.0.retryAfter": #"{from:"30s",to:"90s"}"#]
    #expect(try recovery(path, pause, devices: 500) == Self.never)
    let spread = try recovery(path, pause.merging(drawn) { $1 }, devices: 500)
    let ignored = try recovery(path, ["fleet.phones.policy.retryAfterOnOtherCodes": "ignored"], devices: 500)
    #expect(spread < ignored && ignored < Self.never, "\(spread) against \(ignored)")
  }

  @Test("036: intervals that begin at the answer lock the fleet in step, and by gate it does not come back")
  func phases() throws {
    let path = "036-living-phases/scenario.json5"
    let rearm = [Self.jitter: "full", "fleet.phones.flush.rearm": "afterAnswer"]
    let own = try recovery(path, [Self.jitter: "full"], devices: 400)
    let byTimer = try recovery(path, rearm.merging(["fleet.phones.retries": "timer"]) { $1 }, devices: 400)
    #expect(own < 25 * 60_000_000 && byTimer < own)
    #expect(try recovery(path, rearm, devices: 400) > 2 * own)
    let locked = try Simulation.run(
      ExperimentFiles.decode(
        path,
        rearm.merging([
          "fleet.phones.devices": "400", "tapi.bucket.capacity": "25.3/s", "tapi.bucket.burst": "9",
        ]) { $1 }
      )
      .scenario)
    let values = Synchrony.values(of: locked, period: locked.synchronyPeriod)
    // Before the outage at 20 min, and an hour behind its end.
    let (before, after) = (try #require(values[1_190]), try #require(values[5_400]))
    #expect(before < 0.3 && after > 0.5, "\(before), then \(after)")
  }

  @Test("002: after an hour of silence the clamp keeps the waves that jitter above the cap wears away")
  func clampAfterSilence() throws {
    let path = "002-jitter-at-the-cap/scenario.json5"
    let shipped = try recovery(path, [Self.jitter: "additive:10", Self.clamp: "true"], devices: 600)
    let document = try recovery(path, [Self.jitter: "additive:10"], devices: 600)
    let full = try recovery(path, [Self.jitter: "full"], devices: 600)
    #expect(document < Self.never && full < Self.never)
    #expect(shipped / 5 > document / 4, "\(shipped) against \(document)")
    #expect(document / 5 > full / 4, "\(document) against \(full)")
  }

  @Test("002: after an hour answered with 503 the retries are spread anyway, clamped or not")
  func clampAfterAnswers() throws {
    let path = "002-jitter-at-the-cap/answered.json5"
    let overrides = [Self.jitter: "additive:10", "duration": "2h45m"]
    let document = try recovery(path, overrides, devices: 600)
    let shipped = try recovery(
      path, overrides.merging([Self.clamp: "true"]) { $1 }, devices: 600)
    #expect(document < Self.never && shipped < Self.never)
    #expect(Double(shipped) < 1.15 * Double(document), "\(shipped) against \(document)")
  }

  @Test("003: a 429 never reaches the backoff, so jitter strategies give the same run")
  func jitterUnder429() throws {
    let path = "003-retry-after/jitter.json5"
    let runs = try ["none", "additive:10", "full"].map {
      try summary(path, [Self.jitter: $0, "duration": "40m"])
    }
    #expect(runs[0][.answers429] > 0)
    #expect(runs.allSatisfy { $0 == runs[0] })
  }

  @Test(
    "003: a fixed Retry-After keeps the fleet in waves, a spread one brings it back, none at all starves it"
  )
  func spreadRetryAfter() throws {
    let path = "003-retry-after/scenario.json5"
    let fixed = try summary(path, [Self.retryAfter: "60s"])
    let spread = try summary(path, [Self.retryAfter: "{from:\"30s\",to:\"90s\"}"])
    let missing = try summary(path, [Self.retryAfter: "none"])
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
    let below = try recovery(path, [Self.retryAfter: "29s"])
    let at = try recovery(path, [Self.retryAfter: "30s"])
    let above = try recovery(path, [Self.retryAfter: "31s"])
    #expect(below < 15 * 60_000_000, "\(below)")
    #expect(at / 3 > below / 2, "\(at) against \(below)")
    #expect(at == above)
  }

  @Test(
    "004: against 429, all batches at once cost several times the refused requests and come back no sooner"
  )
  func uploadConcurrency() throws {
    let path = "004-upload-concurrency/scenario.json5"
    let one = try summary(path, ["fleet.phones.uploadConcurrency": "1", "duration": "50m"])
    let all = try summary(path, ["fleet.phones.uploadConcurrency": "unlimited", "duration": "50m"])
    #expect(all[.answers429] > 5 * one[.answers429])
    #expect((all.herdFactor ?? 0) > 2 * (one.herdFactor ?? 0))
    #expect(Double(all.recoveryTime ?? Self.never) > 0.95 * Double(one.recoveryTime ?? Self.never))
  }

  @Test("005: by timer the fleet depends on jitter, by gate it does not")
  func gateOrTimer() throws {
    let path = "005-gate-or-timer/scenario.json5"
    func drained(_ jitter: String, _ retries: String) throws -> Double {
      let overrides = [Self.jitter: jitter, "fleet.phones.retries": retries, "duration": "75m"]
      return Double(try summary(path, overrides).drainedTime ?? Self.never)
    }
    let additiveByTimer = try drained("additive:10", "timer")
    let additiveByGate = try drained("additive:10", "gate")
    let fullByTimer = try drained("full", "timer")
    let fullByGate = try drained("full", "gate")
    #expect(additiveByTimer > 1.6 * additiveByGate, "\(additiveByTimer) against \(additiveByGate)")
    #expect(additiveByTimer > 1.6 * fullByTimer, "\(additiveByTimer) against \(fullByTimer)")
    #expect(additiveByGate < 1.25 * fullByGate, "\(additiveByGate) against \(fullByGate)")
  }
}
