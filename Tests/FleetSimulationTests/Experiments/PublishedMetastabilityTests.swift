import FleetMetrics
import FleetSimulation
import TestSupport
import Testing

/// Experiments 017, 022 and 040: published fleets that stay down after a short cause, and the theorem that says which ones can't.
@Suite struct PublishedMetastabilityTests {
  /// The last rows of a run.
  private struct End {
    var attempts: Int64
    var created: Int64
    var heard: Int64
    /// Answers to clients that had given up.
    var unheard: Int64

    init(of record: RunRecord, rows: Int) {
      func sum(_ column: (TimeSeries.Row) -> Int64) -> Int64 {
        record.series.rows.suffix(rows).reduce(0) { $0 + column($1) }
      }
      (attempts, created) = (sum(\.attempts), sum { $0[.createdEvents] })
      unheard = sum { $0[.unheardAnswers] }
      heard = sum { $0[.answers2xx] } - unheard
    }

    /// Attempts for each request.
    var amplification: Double { Double(attempts) / Double(created) }
    var isWell: Bool { heard > 9 * created / 10 && unheard < created / 20 }
    var isDown: Bool { heard < created / 20 && unheard > heard }
  }

  private func end(_ path: String, _ overrides: [String: String], rows: Int) throws -> End {
    End(of: try Simulation.run(ExperimentFiles.decode(path, overrides).scenario), rows: rows)
  }

  @Test(
    "017: with one capacity the four published rows come out: only the longer and deeper cut at full load is for good",
    arguments: [
      ("22%", "10s", 6_200, true), ("20%", "10s", 6_200, false), ("20%", "9s", 6_200, true),
      ("20%", "10s", 4_200, true),
    ])
  func mongo(capacity: String, length: String, load: Int, isWell: Bool) throws {
    // A tenth of the servers and of the clients, which send three requests in ten minutes each.
    let end = try end(
      "017-metastable-in-the-wild/scenario.json5",
      [
        "tapi.incidents.0.factor": capacity, "tapi.incidents.0.for": length, "tapi.workers.count": "10",
        "fleet.clients.devices": "\(load * 20)", "duration": "140s",
      ], rows: 4)
    #expect(isWell ? end.isWell : end.isDown, "\(end)")
  }

  @Test(
    "022: ten seconds without a network double a load above 150 requests a second for good, and none below",
    arguments: [(140, false), (145, false), (155, true), (200, true), (280, true)])
  func doubledLoad(rate: Int, isDoubled: Bool) throws {
    // A third of the server and of the load. At 145 the queries of the ten seconds, tried twice each, are worked off in five minutes.
    let end = try end(
      "022-doubled-load/scenario.json5",
      [
        "fleet.application.devices": "\(rate * 100 / 3)", "tapi.workers.count": "1", "duration": "10m",
      ], rows: 24)
    #expect(abs(end.amplification - (isDoubled ? 2 : 1)) < 0.05, "\(end)")
    #expect(isDoubled ? end.isDown : end.isWell, "\(end)")
  }

  private static let retries = "fleet.callers.settings.backoffConfig.maxRetryCount"
  private static let jitter = "fleet.callers.settings.backoffConfig.jitterStrategy"
  private static let breaker =
    "{requests:50,window:'10m',threshold:'49%',minimumFailures:25,openTime:'2s',longestOpenTime:'2s',whenOpen:'fails',"

  @Test(
    "040: ten seconds of four times the load leave a server down for good where five retries come, whatever their waits",
    arguments: [
      ([retries: "0"], true), ([:], false), ([jitter: "full"], false),
      (["fleet.callers.policy.waits": "['23ms','48ms','98ms','198ms','398ms']"], false),
      (
        [
          "fleet.callers.gates.retryBudget": "{capacity:25,whenSpent:'refuse'}", "fleet.callers.devices": "4",
          "fleet.callers.events.rate": "150/s",
        ], true
      ),
      (["fleet.callers.gates.breaker": breaker + "retriesOnly:true}"], true),
      (["fleet.callers.gates.breaker": breaker + "retriesOnly:false}"], true),
    ] as [([String: String], Bool)])
  func spike(policy: [String: String], isWell: Bool) throws {
    let end = try end("040-retrystorm/scenario.json5", policy, rows: 10)
    #expect(isWell ? end.isWell : end.isDown, "\(end)")
  }

  private static let slow = ["kind: 'brownout', factor: 0.02", "kind: 'brownout', factor: 0.1"]
  private static let failing = ["kind: 'errors', share: 1, status: 503", "kind: 'outage', status: 'none'"]

  /// A random fleet whose load with all retries is this share of the capacity, after a random cause.
  private func randomEnd(
    seed: UInt64, load: Double, retries: ClosedRange<Int>, causes: [String]
  ) throws -> End {
    var random = SeededGenerator(seed: seed)
    let retries = Int.random(in: retries, using: &random)
    let capacity = Double.random(in: 60...200, using: &random)
    let workers = Int.random(in: 2...8, using: &random)
    let service = "\(Int(Double(workers) / capacity * 1_000_000))us"
    let timeout = Double(Int.random(in: 10...40, using: &random)) / 10
    // Long enough that requests that meet it are sent as often as they can be.
    let length = Double(2 * (retries + 1)) * timeout + Double(Int.random(in: 5...15, using: &random))
    let cause = causes.randomElement(using: &random) ?? ""
    return try end(
      "022-doubled-load/scenario.json5",
      [
        "seed": "\(seed)", "duration": "\(Int(20 + length + 6 * length + 30))s", "interval": "1s",
        "tapi.workers.count": "\(workers)",
        "tapi.workers.serviceTime": Bool.random(using: &random) ? service : "{exponential:'\(service)'}",
        "tapi.incidents": "[{ \(cause), at: '20s', for: '\(Int(length))s' }]",
        "settings.backoffConfig.maxRetryCount": "\(retries)",
        "fleet.application.devices": "\(Int(load * capacity / Double(retries + 1) * 200))",
        "fleet.application.events": "0.3/min",
        "fleet.application.timeout": "\(Int(timeout * 1_000))ms",
      ], rows: 10)
  }

  @Test(
    "Huang et al.: a load below C / (1 + N) is never kept down by N retries",
    arguments: 0..<UInt64(TestDepth.cases(12, exhaustively: 100)))
  func theorem(seed: UInt64) throws {
    // What gathered takes 0.8 / (1 - 0.8) times as long to drain as it took to gather.
    let end = try randomEnd(seed: seed, load: 0.8, retries: 0...4, causes: Self.slow + Self.failing)
    #expect(end.isWell && end.amplification < 1.02, "\(end)")
  }

  @Test(
    "A load above C / (1 + N) is kept down by a cause that is long enough",
    arguments: 0..<UInt64(TestDepth.cases(5, exhaustively: 12)))
  func aboveTheorem(seed: UInt64) throws {
    let end = try randomEnd(seed: seed, load: 1.3, retries: 1...4, causes: Self.slow)
    #expect(end.isDown, "\(end)")
  }
}
