import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Testing
import UploadGating
import UploadPipeline

@Suite("Gates in a scenario file")
struct GateDecodingTests {
  private func text(_ more: String) -> String {
    """
    { format: 1, duration: "1m", tapi: { bucket: { capacity: "10/s" } },
      fleet: [{ name: "phones", devices: 1, events: "6/min", \(more) }] }
    """
  }

  private func gates(_ more: String, _ overrides: [Override] = []) throws -> ClientGates {
    try ScenarioFile(text: text(more), name: "s") { _ in "" }.decode(overrides: overrides).scenario.fleet[0]
      .gates
  }

  @Test("an empty object is a part with its defaults")
  func defaults() throws {
    let gates = try gates(
      "gates: { breaker: {}, failureWindow: {}, projectDelay: {}, retryBudget: {}, adaptiveThrottling: {}, controller: {} }"
    )
    #expect(gates.breaker == CircuitBreaker())
    #expect(gates.failureWindow == FailureWindow() && gates.failureWindow?.refuses == true)
    #expect(gates.projectDelay == ProjectDelay())
    #expect(gates.retryBudget == RetryBudget())
    #expect(gates.throttle == AdaptiveThrottle() && gates.throttle?.pause == 1_000_000)
    #expect(gates.controller == BackpressureController())
    #expect(gates.rateGate == nil && !gates.reconciles)
  }

  @Test("every value is read")
  func values() throws {
    let gates = try gates(
      """
      gates: {
        rateWindows: [{ slots: 60, span: "60s" }, { slots: 3, span: "1s" }], wholeRun: true,
        restartRun: true, reconcile: true,
        breaker: { requests: 10, window: "1m", threshold: "25%", minimumFailures: 3, openTime: "5s",
                   longestOpenTime: "20s", probes: 2, retriesOnly: true },
        failureWindow: { failures: 4, span: "90s", whenBlocked: "hold", queries: 3, exempt: "20%" }, projectDelay: { base: "1s", longest: "8s" },
        retryBudget: { perRun: 7, capacity: 9, perSuccess: "50%", trickle: "30s" },
        adaptiveThrottling: { k: 1.5, window: "40s", pause: "250ms" },
        controller: { uploads: 3, smallestBatch: 2, largestBatch: 50, batchStep: 5, decrease: "10%",
                      targetLatency: "3s", shortestGap: "250ms", longestGap: "40s" },
      }
      """)
    var expected = ClientGates()
    expected.rateGate = RateGate(
      RateWindow(slots: 60, span: 60_000_000), RateWindow(slots: 3, span: 1_000_000))
    expected.reservesWholeRun = true
    expected.restartsRun = true
    expected.reconciles = true
    expected.breaker = CircuitBreaker(
      requests: 10, window: 60_000_000, thresholdPercent: 25, minimumFailures: 3, openTime: 5_000_000,
      longestOpenTime: 20_000_000, probes: 2, retriesOnly: true)
    expected.failureWindow = FailureWindow(
      failures: 4, span: 90_000_000, queries: 3, exemptPercent: 20)
    expected.failureWindow?.refuses = false
    expected.projectDelay = ProjectDelay(base: 1_000_000, longest: 8_000_000)
    expected.retryBudget = RetryBudget(
      perRun: 7, bucket: .init(capacity: 9, perSuccess: 500, trickle: 30_000_000))
    expected.throttle = AdaptiveThrottle(factor: 1_500, window: 40_000_000)
    expected.throttle?.pause = 250_000
    expected.controller = BackpressureController(
      longestConcurrency: 3, smallestBatch: 2, largestBatch: 50, batchStep: 5, decreasePercent: 10,
      targetLatency: 3_000_000, shortestGap: 250_000, longestGap: 40_000_000)
    #expect(gates == expected)
  }

  @Test("an open breaker fails or holds, and its open time is spread by a name or an object of its parts")
  func openBreaker() throws {
    func breaker(_ text: String) throws -> ClientGates { try self.gates("gates: { breaker: { \(text) } }") }
    let gates = try breaker("whenOpen: 'fails', openTimeJitter: { between: ['30s', '1m'] }")
    #expect(gates.breaker == CircuitBreaker(failsWhenOpen: true))
    #expect(gates.openTimeJitter == .between(30_000_000, 60_000_000))
    #expect(try breaker("whenOpen: 'holds', openTimeJitter: 'full'").openTimeJitter == .full)
    #expect(
      try breaker("openTimeJitter: { additive: '50%', atMost: '20s' }").openTimeJitter
        == .additive(percent: 50, atMost: 20_000_000))
    let open = Override(path: "fleet.phones.gates.breaker.openTimeJitter", value: "additive:3s")
    #expect(try self.gates("gates: { breaker: {} }", [open]).openTimeJitter == .additive(upTo: 3_000_000))
  }

  @Test("gRPC's throttling stands in place of a budget, whoever wrote either")
  func retryThrottling() throws {
    let throttling = RetryBudget(maxTokens: 10, tokenRatio: 100)
    #expect(try gates("gates: { retryThrottling: {} }").retryBudget == throttling)
    #expect(
      try gates("gates: { retryThrottling: { maxTokens: 4, tokenRatio: 0.5 } }").retryBudget
        == RetryBudget(maxTokens: 4, tokenRatio: 500))
    #expect(try gates("client: 'aws-sdk-2026', gates: { retryThrottling: {} }").retryBudget == throttling)
    #expect(try gates("client: 'aws-sdk-2026', gates: { retryThrottling: null }").retryBudget != nil)
    #expect(
      try gates("client: 'aws-sdk-2026', gates: { retryBudget: null, retryThrottling: {} }").retryBudget
        == throttling)
  }

  @Test("lanes are read, half of the operations are interactive unless said otherwise")
  func lanes() throws {
    #expect(try gates("gates: { lanes: {} }").lanes == PriorityLanes(interactivePartsPerMillion: 500_000))
    #expect(
      try gates("gates: { lanes: { interactive: '20%', oneBelowAfter: 3 } }").lanes
        == PriorityLanes(interactivePartsPerMillion: 200_000, oneBelowAfter: 3))
  }

  @Test("a part takes the place of the preset's, null takes it away, and the others stay")
  func onTopOfAPreset() throws {
    var expected = ClientPreset.offlineFirst.gates
    expected.breaker = nil
    expected.projectDelay = ProjectDelay()
    #expect(try gates("client: 'offline-first', gates: { breaker: null, projectDelay: {} }") == expected)
    #expect(try gates("client: 'offline-first', gates: null").isEmpty)
    #expect(try gates("gates: { projectDelay: {} }, client: 'offline-first'").breaker != nil)
  }

  @Test("a path reaches a value of a part, and makes the part where there is none")
  func paths() throws {
    let open = Override(path: "fleet.phones.gates.breaker.openTime", value: "7s")
    #expect(try gates("client: 'tapi-document'", [open]).breaker?.openTime == 7_000_000)
    let none = Override(path: "fleet.phones.gates", value: "null")
    #expect(try gates("client: 'toggl'", [none]).isEmpty)
  }

  @Test("what is wrong is said with its path, all at once")
  func problems() throws {
    let file = try ScenarioFile(
      text: text(
        """
        gates: { rateWindows: [{ slots: 0 }], breaker: { treshold: "50%", openTime: "5m" },
                 retryBudget: { trickle: "1s" }, adaptiveThrottling: { k: 0.5 }, failureWindow: { whenBlocked: "drop" },
                 retryThrottling: { tokenRatio: "200%" } }
        """), name: "s"
    ) { _ in "" }
    do {
      _ = try file.decode(overrides: [])
      Issue.record("decoded")
    } catch {
      let lines = (error as? ScenarioProblems)?.diagnostics.map(\.description).joined(separator: "\n") ?? ""
      for part in [
        "gates.rateWindows.0.slots: 0 is out of range", "gates.rateWindows.0.span: missing",
        "gates.breaker.treshold: unknown key; did you mean \"threshold\"?",
        "gates.breaker.openTime: openTime 5m is above longestOpenTime, 2m",
        "gates.retryBudget.trickle: belongs to a bucket of tokens",
        "gates.adaptiveThrottling.k: 0.5 is out of range",
        "gates.failureWindow.whenBlocked: \"drop\" is not known",
        "gates.retryThrottling.tokenRatio: \"200%\" is out of range",
        "gates.retryThrottling: is a budget of retries itself",
      ] {
        #expect(lines.contains(part), "\(part)\n\(lines)")
      }
    }
  }
}
