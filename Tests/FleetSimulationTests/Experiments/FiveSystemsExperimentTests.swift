import FleetMetrics
import FleetSimulation
import ScenarioModel
import Testing

/// Experiment 010 with 150 phones: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct FiveSystemsExperimentTests {
  private func summaries(_ clients: [String]) throws -> [String: RunSummary] {
    var found: [String: RunSummary] = [:]
    for client in clients {
      let scenario = try ExperimentFiles.decode(
        "010-five-systems/scenario.json5",
        [
          "fleet.phones.client": client, "fleet.phones.devices": "150", "tapi.bucket.capacity": "10.5/s",
          "tapi.bucket.burst": "11",
        ]
      ).scenario
      found[client] = try ExperimentFiles.summary(of: scenario)
    }
    return found
  }

  @Test("010 compares every client of the documents and every recorded one of an app that is released")
  func clients() throws {
    let axis = try #require(try ExperimentFiles.decode("010-five-systems/scenario.json5").axes.first)
    #expect(axis.path == "fleet.phones.client")
    let meant = ClientPreset.documented.filter { $0.page == nil && $0.name != "segment-kotlin-main" }
    #expect(meant.allSatisfy { preset in axis.values.contains { $0.contains(preset.name) } })
    #expect(axis.values.count == meant.count)
  }

  @Test("010: one request for all that is held comes back sooner than batch by batch, and long waits last")
  func order() throws {
    let clients = [
      "datafly", "segment-react-native", "tapi-document", "keen-proposed", "offline-first", "toggl",
    ]
    let found = try summaries(clients)
    let minutes = clients.map { Double(found[$0]?.recoveryTime ?? .max) / 60e6 }
    #expect(minutes[0] < 3, "\(minutes)")
    #expect(minutes[1] > 2 * minutes[0] && minutes[1] < 0.8 * minutes[2], "\(minutes)")
    #expect(minutes[3...].allSatisfy { $0 > 1.3 * minutes[2] }, "\(minutes)")
    #expect(clients.allSatisfy { found[$0]?.lostEvents == 0 })
    #expect(found["segment-react-native"]?[.answers429] == 0)
    #expect((found["toggl"]?[.answers429] ?? 0) > 20 * (found["tapi-document"]?[.answers429] ?? 0))
  }

  @Test("010, K1: the client without waits blocks itself after the outage, and loses two fifths of its data")
  func blocked() throws {
    let keen = try #require(try summaries(["keen-existing"])["keen-existing"])
    #expect(keen.lostEvents > keen[.createdEvents] * 3 / 10)
    #expect((keen.herdFactor ?? 0) > 20)
  }
}
