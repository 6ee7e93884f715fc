import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

extension RandomScenario {
  /// Connections that cost something, by chance.
  mutating func drawConnections(_ scenario: inout Scenario) {
    guard chance(40) else { return }
    let load = scenario.fleet.reduce(0.0) {
      $0 + NormalLoad.batchesPerSecond(of: $1) * Double($1.devices)
    }
    let count = int(1...3)
    let time = max(1, Int64(Double(count) * 1e6 / max(load, 0.01) * Double(int(5...200)) / 100))
    var connections = Connections(
      handshakes: .init(
        count: count, time: Span(microseconds: time), queueLimit: pick([nil, 0, int(1...5), int(1...40)])))
    connections.limit = chance(40) ? int(1...30) : nil
    connections.idleTimeout = .milliseconds(Int64(pick([1, int(100...20_000), 60_000])))
    connections.refusal = pick(Connections.Refusal.allCases)
    scenario.tapi.connections = connections
    for i in scenario.fleet.indices {
      scenario.fleet[i].connection.keepAlive =
        chance(25) ? nil : .milliseconds(Int64(pick([1, int(100...20_000), 90_000])))
      scenario.fleet[i].connection.roundTrips = int(0...3)
    }
  }
}

@Suite struct ConnectionCoverageTests {
  @Test("Each part of the connections changes the run of one random scenario at least")
  func parts() throws {
    let parts: [RandomScenario.Part] = [
      ("connections", { $0.tapi.connections = nil }), ("limit", { $0.tapi.connections?.limit = nil }),
      ("queue", { $0.tapi.connections?.handshakes.queueLimit = nil }),
      ("idle time-out", { $0.tapi.connections?.idleTimeout = .hours(1) }),
      ("silence", { $0.tapi.connections?.refusal = .reset }),
      ("reset", { $0.tapi.connections?.refusal = .silent }),
      ("no keep-alive", { for i in $0.fleet.indices { $0.fleet[i].connection.keepAlive = .hours(1) } }),
      ("round trips", { for i in $0.fleet.indices { $0.fleet[i].connection.roundTrips = 0 } }),
    ]
    var sum: [ConnectionCount: Int64] = [:]
    let seen = try RandomScenario.parts(
      parts, thatMatterIn: EngineEqualityTests.seeds, where: { $0.tapi.connections != nil },
      observe: { record in
        for row in record.connections {
          for count in ConnectionCount.allCases { sum[count, default: 0] += row[count] }
        }
      })
    #expect(seen == Set(parts.map(\.name)))
    for count in [.reused, .refused, .late] as [ConnectionCount] {
      #expect(sum[count, default: 0] > 0, "\(count)")
    }
  }
}
