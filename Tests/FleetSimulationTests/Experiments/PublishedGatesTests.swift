import FleetMetrics
import FleetSimulation
import ScenarioModel
import TestSupport
import Testing
import UploadGating

/// Experiments 018 and 019: published figures of what clients do to spare a server.
@Suite struct PublishedGatesTests {
  private static let shares = "018-token-buckets/scenario.json5"
  private static let budget = "fleet.clients.gates.retryBudget"
  private static let breaker = "fleet.clients.gates.breaker"
  private static let throttling = "019-adaptive-throttling/scenario.json5"

  /// Attempts and deliveries for each event.
  private func figures(
    _ path: String, _ overrides: [String: String], _ change: (inout Scenario) -> Void = { _ in }
  ) throws -> (load: Double, success: Double) {
    var scenario = try ExperimentFiles.decode(path, overrides).scenario
    change(&scenario)
    let record = try Simulation.run(scenario)
    func sum(_ column: (TimeSeries.Row) -> Int64) -> Double {
      Double(record.series.rows.reduce(0) { $0 + column($1) })
    }
    let created = sum { $0[.createdEvents] }
    return (sum(\.attempts) / created, sum { $0[.deliveredEvents] } / created)
  }

  /// Of a service of which this share fails, 30,000 events.
  private func figures(failing share: Double, _ retryBudget: String) throws -> (load: Double, success: Double)
  {
    try figures(
      Self.shares,
      [
        "tapi.incidents.0.share": "\(share)", "tapi.incidents.0.for": "100s", "duration": "101s",
        "interval": "101s", "fleet.clients.devices": "30", Self.budget: retryBudget,
      ])
  }

  @Test(
    "018: without retries, with three, and with a bucket, load and success are as by formula",
    arguments: [0.05, 0.2, 0.3, 0.5])
  func shares(share p: Double) throws {
    // A second of the run has no failures. An event is tried 2 times at most in the mean, with a deviation of 1.1: that of the mean
    // of 30,000 is 0.006.
    func isNear(_ value: Double, _ formula: Double) -> Bool {
      abs(value - (100 * formula + 1) / 101) < 0.02
    }
    let none = try figures(failing: p, "{ perRun: 0 }")
    #expect(isNear(none.load, 1) && isNear(none.success, 1 - p), "\(none)")
    let three = try figures(failing: p, "null")
    #expect(isNear(three.load, 1 + p + p * p + p * p * p), "\(three)")
    #expect(isNear(three.success, 1 - p * p * p * p), "\(three)")
    // A tenth of a token for each success, and every one is spent.
    let bucket = try figures(failing: p, "{ capacity: 5 }")
    let load = min(1 / (1 - 0.1 * (1 - p)), three.load)
    #expect(isNear(bucket.load, load), "\(bucket)")
    #expect(isNear(bucket.success, p < 0.1 ? 1 : (1 - p) * load), "\(bucket)")
    // A tenth of a token for each call: retries are a tenth of the calls, whatever fails.
    let ratio = try figures(failing: p, "{ capacity: 5, perRequest: '10%' }")
    #expect(isNear(ratio.load, min(1.1, three.load)), "\(ratio)")
    #expect(isNear(ratio.success, p < 0.1 ? 1 : 1.1 * (1 - p)), "\(ratio)")
  }

  @Test(
    "018: a breaker of retries does as three retries where little fails, and as none where more than a tenth does"
  )
  func breaker() throws {
    let breaker =
      "{ retriesOnly: true, requests: 64, window: '10m', threshold: '10%', openTime: '30s', longestOpenTime: '10m' }"
    for p in [0.01, 0.2, 0.5] {
      let failing = [
        "tapi.incidents.0.share": "\(p)", "tapi.incidents.0.for": "200s", "duration": "201s",
        "interval": "201s", "fleet.clients.devices": "30",
      ]
      let with = try figures(Self.shares, failing.merging([Self.breaker: breaker]) { $1 })
      let like = try figures(
        Self.shares, failing.merging([Self.budget: p < 0.1 ? "null" : "{ perRun: 0 }"]) { $1 })
      #expect(abs(with.load - like.load) < 0.02 && abs(with.success - like.success) < 0.02, "\(p): \(with)")
    }
  }

  /// Calls sent and calls that succeed of those made, by a count of each client's tokens as gRFC A6 has it.
  private func counted(failing share: Double, calls: Int) -> (load: Double, success: Double) {
    var random = SeededGenerator(seed: 6)
    var (sent, succeeded) = (0, 0)
    for _ in 0..<200 {
      var tokens = 10.0
      for _ in 0..<calls {
        for attempt in 1...4 {
          sent += 1
          if Double(random.next() >> 11) / 0x1p53 >= share {
            tokens = min(tokens + 0.1, 10)
            succeeded += 1
            break
          }
          tokens = max(tokens - 1, 0)
          if tokens <= 5 || attempt == 4 { break }
        }
      }
    }
    return (Double(sent) / Double(200 * calls), Double(succeeded) / Double(200 * calls))
  }

  @Test(
    "gRPC's throttling: load and success are as by a count of tokens; a fifth of failures adds next to nothing",
    arguments: [0.05, 0.1, 0.2, 0.5])
  func retryThrottling(failing share: Double) throws {
    let run = try figures(
      Self.shares,
      [
        "tapi.incidents.0.share": "\(share)", "tapi.incidents.0.for": "201s", "duration": "201s",
        "interval": "201s", "fleet.clients.devices": "30",
      ]
    ) { $0.fleet[0].gates.retryBudget = RetryBudget(maxTokens: 10, tokenRatio: 100) }
    let count = counted(failing: share, calls: 2_010)
    #expect(abs(run.load - count.load) < 0.006 && abs(run.success - count.success) < 0.01, "\(run) \(count)")
    #expect(share < 0.2 || run.load < 1.006, "\(run)")
  }

  @Test(
    """
    019: three attempts cost a server that refuses everything three times as much; a bucket that successes fill costs nothing, one of a \
    tenth of the requests 1.1 times
    """
  )
  func threeAttempts() throws {
    // A hundredth of the run has no failures.
    func load(_ retryBudget: String) throws -> Double {
      try figures(
        "019-adaptive-throttling/retries.json5", [Self.budget: retryBudget, "fleet.clients.devices": "30"]
      ).load
    }
    #expect(try abs(load("null") - (0.99 * 3 + 0.01)) < 0.005)
    #expect(try load("{ capacity: 5 }") < 1.01)
    // Beside a tenth of the requests, the five tokens that each of the 30 clients had.
    let ratio = try load("{ capacity: 5, perRequest: '10%' }")
    #expect(abs(ratio - (0.99 * 1.1 + 0.01 + 150.0 / 30_300)) < 0.002, "\(ratio)")
  }

  /// Requests that reach the server for each that it accepts, at a fifth of the rates, once the window is full.
  private func sentOverAccepted(k: Double, capacity: String, clients: Int) throws -> Double {
    let record = try Simulation.run(
      ExperimentFiles.decode(
        Self.throttling,
        [
          "fleet.clients.gates.adaptiveThrottling.k": "\(k)", "tapi.incidents.0.factor": capacity,
          "fleet.clients.devices": "\(clients)", "fleet.clients.events": "20/s",
          "tapi.bucket.capacity": "\(clients * 25)/s", "duration": "12m",
        ]
      ).scenario)
    let rows = record.series.rows.suffix(8)
    return Double(rows.reduce(0) { $0 + $1.attempts }) / Double(rows.reduce(0) { $0 + $1[.answers2xx] })
  }

  @Test(
    "019: clients let K requests through for each accepted one, at any overload of more than that",
    arguments: [2, 1.5, 1.1])
  func throttling(k: Double) throws {
    // 1.6, 4 and 20 requests are wanted for each that the server can do. With more than one to spare it is soon so,
    // and a few clients are enough: those of 4 % have 5,000 accepted.
    for (capacity, wanted, clients) in [("50%", 1.6, 20), ("20%", 4, 8), ("4%", 20, 12)]
      as [(String, Double, Int)]
    {
      let sent = try sentOverAccepted(k: k, capacity: capacity, clients: clients)
      #expect(abs(sent / min(k, wanted) - 1) < 0.03, "\(wanted): \(sent)")
    }
  }
}
