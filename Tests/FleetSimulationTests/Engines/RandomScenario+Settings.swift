import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

extension RandomScenario {
  /// Fetches of Settings that are requests, by chance.
  mutating func drawSettingsFetches(_ scenario: inout Scenario) {
    guard chance(50) else { return }
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    scenario.tapi.settings = SettingsEndpoint(
      capacityMilliRequestsPerSecond: chance(30) ? nil : Int64(int(1...devices * 200)),
      burst: Int64(int(1...5)), status: pick([503, 429, 404]))
    for i in scenario.fleet.indices { scenario.fleet[i].settingsFetch = pick(SettingsFetch.allCases) }
  }
}

@Suite struct SettingsFetchCoverageTests {
  @Test("Each part of the fetches changes the run of one random scenario at least")
  func parts() throws {
    let parts: [RandomScenario.Part] = [
      ("fetches", { $0.tapi.settings = nil }), ("capacity", { $0.tapi.settings?.burst = 1_000_000 }),
      ("status", { $0.tapi.settings?.status = 599 }),
      ("their endpoint", { $0.tapi.settings?.capacityMilliRequestsPerSecond = nil }),
      (
        "foreground",
        {
          for i in $0.fleet.indices where $0.fleet[i].settingsFetch == .foreground {
            $0.fleet[i].settingsFetch = .launch
          }
        }
      ),
      ("launch", { for i in $0.fleet.indices { $0.fleet[i].settingsFetch = .never } }),
      ("outage", { $0.tapi.incidents.removeAll { $0.kind == .cdnOutage } }),
    ]
    var sum: [SettingsCount: Int64] = [:]
    let seen = try RandomScenario.parts(
      parts, thatMatterIn: EngineEqualityTests.seeds, where: { $0.tapi.settings != nil },
      observe: { record in
        #expect(record.settings.allSatisfy { $0[.devicesWithout] >= 0 })
        for row in record.settings {
          for count in SettingsCount.allCases { sum[count, default: 0] += row[count] }
        }
      })
    // A fetch beyond the capacity does the same whatever the refusal's status is.
    #expect(seen.union(["status"]) == Set(parts.map(\.name)))
    for count in [.fetched, .refused, .unanswered, .devicesWithout] as [SettingsCount] {
      #expect(sum[count, default: 0] > 0, "\(count)")
    }
  }
}
