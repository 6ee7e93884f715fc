import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadRetry

/// By which header a server says how long to wait, and which clients read it.
@Suite("Retry-After and X-RateLimit-Reset (O11)")
struct ServerHintTests {
  /// A 429 to the first upload asks for 60 s; without a wait of the server's the client's own is 5 s.
  private func sent(
    _ preset: ClientPreset, _ header: RetryAfterHeader, reads: Bool? = nil
  ) throws -> [Double] {
    var fleet = GatedFleet(
      preset: preset, duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(1_000),
      outages: [(429, 0, 1)], retryAfter: .fixed(.seconds(60)))
    fleet.change = {
      $0.retries = .timer
      $0.settings.backoff.jitter = .none
      $0.policy.missingRetryAfter = .fixed(microseconds: 5_000_000)
      if let reads { $0.policy.readsRateLimitReset = reads }
    }
    fleet.adjustServer = { $0.retryAfterHeader = header }
    return try fleet.run().sent
  }

  @Test(
    "O11: offline-first waits as long as X-RateLimit-Reset says; without that switch it backs off on its own"
  )
  func offlineFirst() throws {
    #expect(try sent(.offlineFirst, .rateLimitReset).isClose(to: [0, 60.2]))
    #expect(try sent(.offlineFirst, .rateLimitReset, reads: false).isClose(to: [0, 5.2]))
    #expect(try sent(.offlineFirst, .retryAfter, reads: false).isClose(to: [0, 60.2]))
  }

  @Test("O11: any other client reads it when its switch is on, and Retry-After in any case")
  func switchedOn() throws {
    for preset in [ClientPreset.tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative] {
      #expect(try sent(preset, .rateLimitReset).isClose(to: [0, 5.2]), "\(preset.name)")
      #expect(try sent(preset, .rateLimitReset, reads: true).isClose(to: [0, 60.2]), "\(preset.name)")
      for header in [RetryAfterHeader.retryAfter, .both] {
        #expect(try sent(preset, header).isClose(to: [0, 60.2]), "\(preset.name)")
      }
    }
  }

  @Test("O11: of the presets, offline-first alone reads X-RateLimit-Reset")
  func presets() {
    #expect(ClientPreset.all.filter(\.policy.readsRateLimitReset).map(\.name) == ["offline-first"])
  }

  @Test(
    """
    O11: wherever a wait comes from, X-RateLimit-Reset is a Retry-After to clients that read it and nothing to the others, and both \
    headers are one: random scenarios, on one thread and two
    """)
  func everywhere() throws {
    func run(_ scenario: Scenario, _ header: RetryAfterHeader, reads: Bool) throws -> RunRecord {
      var scenario = scenario
      scenario.tapi.retryAfterHeader = header
      for i in scenario.fleet.indices {
        scenario.fleet[i].policy.readsRateLimitReset = reads
        scenario.fleet[i].retries = .timer
        scenario.fleet[i].policy.retryAfterOnOtherCodes = .delaysBatch
        scenario.fleet[i].settings.backoff.isEnabled = true
        scenario.fleet[i].settings.rateLimit.isEnabled = true
      }
      var options = RunOptions()
      options.threads = scenario.seed % 2 == 0 ? 2 : 1
      var record = try Simulation.run(scenario, options: options)
      record.actions = []  // Their labels tell the wait.
      return record
    }
    var matters = 0
    let seeds = TestDepth.cases(20, exhaustively: 40, wholly: 60)
    for seed in 1...UInt64(seeds) {
      for var scenario in [RandomScenario.scenario(seed: seed), RandomScenario.fastPath(seed: seed)] {
        scenario.tapi.overload.status = 503
        if scenario.tapi.overload.retryAfter == .none {
          scenario.tapi.overload.retryAfter = .fixed(.seconds(9))
        }
        let heard = try run(scenario, .retryAfter, reads: false)
        let unheard = try run(scenario, .rateLimitReset, reads: false)
        #expect(try run(scenario, .rateLimitReset, reads: true) == heard, "seed \(seed)")
        #expect(try run(scenario, .both, reads: false) == heard, "seed \(seed)")
        #expect(try run(scenario, .both, reads: true) == heard, "seed \(seed)")
        #expect(try run(scenario.withoutRetryAfter, .retryAfter, reads: false) == unheard, "seed \(seed)")
        if heard != unheard { matters += 1 }
      }
    }
    #expect(matters * 6 >= seeds * 5)
  }

  @Test("O11: the lens on a device names the header that it goes by")
  func trace() throws {
    var fleet = GatedFleet(preset: .offlineFirst, duration: 10)
    fleet.adjustServer = { $0.retryAfterHeader = .rateLimitReset }
    #expect(try Simulation.trace(fleet.scenario, device: 0).trace.waitHeader == "X-RateLimit-Reset")
    fleet.adjustServer = { $0.retryAfterHeader = .both }
    #expect(try Simulation.trace(fleet.scenario, device: 0).trace.waitHeader == "Retry-After")
  }
}

extension Scenario {
  /// The same with a server that never says how long to wait.
  fileprivate var withoutRetryAfter: Scenario {
    var scenario = self
    scenario.tapi.overload.retryAfter = .none
    for i in tapi.rules.keyLimits.indices {
      (scenario.tapi.rules.keyLimits[i].retryAfter, scenario.tapi.rules.keyLimits[i].saysWindowEnd) = (
        .none, false
      )
    }
    for (i, incident) in tapi.incidents.enumerated() {
      switch incident.kind {
      case .outage(let status, _, let keepsWork):
        scenario.tapi.incidents[i].kind = .outage(status: status, retryAfter: .none, keepsWork: keepsWork)
      case .errors(let status, let share, let afterWork, _):
        scenario.tapi.incidents[i].kind = .errors(
          status: status, share: share, afterWork: afterWork, retryAfter: .none)
      case .refused, .brownout, .cdnOutage, .lostAnswers, .latency, .tokenExpiry, .cut: break
      }
    }
    for (i, action) in tapi.actions.enumerated() {
      if case .retryAfter = action.kind { scenario.tapi.actions[i].kind = .retryAfter(.none) }
    }
    return scenario
  }
}
