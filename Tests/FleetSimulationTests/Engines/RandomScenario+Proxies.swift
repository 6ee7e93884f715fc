import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

extension RandomScenario {
  /// Proxies before the server, by chance, where connections cost nothing.
  mutating func drawProxies(_ tapi: inout TAPIConfiguration) {
    guard tapi.connections == nil, chance(50) else { return }
    let base = Span(microseconds: Int64(pick([1, 25_000, int(1...3_000_000)])))
    var proxies = Proxies(count: pick([1, 1, 2, 7]), retries: pick([0, 1, 1, 2, 3, 7]))
    proxies.statuses = pick([[502, 503, 504], [503, 500, 429], [429], []])
    proxies.retriesUnanswered = chance(70)
    proxies.tryTimeout = chance(50) ? Span(microseconds: Int64(int(1_000...8_000_000))) : nil
    proxies.backoff = .init(base: base, maximum: Span(microseconds: base.microseconds * Int64(int(1...20))))
    proxies.budget =
      chance(30) ? nil : .init(share: Int64(pick([0, 200_000, 1_000_000])), minimum: pick([0, 1, 3, 3]))
    tapi.proxies = proxies
  }

  /// Without what a proxy makes another thing of: lost work, and connections.
  static func withIdleProxies(seed: UInt64) -> (without: Scenario, with: Scenario) {
    var scenario = scenario(seed: seed)
    (scenario.tapi.connections, scenario.tapi.proxies) = (nil, nil)
    scenario.tapi.actions.removeAll { $0.kind == .restart }
    scenario.tapi.rules.crash = nil
    for i in scenario.tapi.incidents.indices {
      if case .outage(let status, let retryAfter, _) = scenario.tapi.incidents[i].kind {
        scenario.tapi.incidents[i].kind = .outage(status: status, retryAfter: retryAfter, keepsWork: true)
      }
      if case .refused = scenario.tapi.incidents[i].kind {
        scenario.tapi.incidents[i].kind = .outage(status: 503, retryAfter: .none, keepsWork: true)
      }
    }
    var with = scenario
    with.tapi.proxies = Proxies(count: 3, retries: 0)
    return (scenario, with)
  }
}

@Suite struct ProxyCoverageTests {
  @Test("Each part of the proxies changes the run of one random scenario at least")
  func parts() throws {
    let parts: [(name: String, remove: (inout Proxies?) -> Void)] = [
      ("proxies", { $0 = nil }), ("count", { $0?.count = 1 }), ("retries", { $0?.retries = 0 }),
      ("statuses", { $0?.statuses = [] }), ("unanswered", { $0?.retriesUnanswered = false }),
      ("time-out", { $0?.tryTimeout = nil }), ("back-off", { $0?.backoff.base = Span(microseconds: 1) }),
      ("maximum", { if let base = $0?.backoff.base { $0?.backoff.maximum = base } }),
      ("budget", { $0?.budget = nil }), ("share", { $0?.budget?.share = 0 }),
      ("minimum", { $0?.budget?.minimum = 0 }),
    ]
    var sum: [ProxyCount: Int64] = [:]
    let seen = try RandomScenario.parts(
      parts.map { part in (part.name, { part.remove(&$0.tapi.proxies) }) },
      thatMatterIn: EngineEqualityTests.watchedSeeds, where: { $0.tapi.proxies != nil },
      observe: { record in
        for row in record.proxies {
          for count in ProxyCount.allCases { sum[count, default: 0] += row[count] }
        }
      })
    #expect(seen == Set(parts.map(\.name)))
    for count in [.retries, .refused, .exhausted, .timeouts, .answers] as [ProxyCount] {
      #expect(sum[count, default: 0] > 0, "\(count)")
    }
  }

  @Test(
    "Proxies that never try again change nothing, where no work is lost, which they would tell their clients")
  func idle() throws {
    for seed in EngineEqualityTests.seeds {
      let scenarios = RandomScenario.withIdleProxies(seed: seed)
      var (without, with) = (try windowed(scenarios.without), try windowed(scenarios.with))
      #expect(with.proxies.reduce(0) { $0 + $1[.retries] + $1[.answers] } == 0, "seed \(seed)")
      with.proxies = []
      // Without proxies an answer that leaves after the end counts when its request comes.
      let last = with.series.rows.count - 1
      (without.series[last, .unheardAnswers], with.series[last, .unheardAnswers]) = (0, 0)
      expectSame(without, with, "with and without proxies", seed: seed)
    }
  }
}
