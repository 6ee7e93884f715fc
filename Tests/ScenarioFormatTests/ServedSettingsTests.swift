import ScenarioFormat
import ScenarioModel
import Testing

/// A file that a CDN serves, in fleets of which some clients fetch none.
@Suite("Served Settings")
struct ServedSettingsTests {
  private static func fleet(_ clients: String...) -> String {
    let cohorts = clients.enumerated().map {
      "{ name: \"c\($0)\", devices: 10, events: \"1/min\", client: \"\($1)\", flush: { interval: \"30s\" } }"
    }
    return """
      { format: 1, seed: 1, duration: "1h", interval: "10s", tapi: { bucket: { capacity: "10/s" } },
        fleet: [\(cohorts.joined(separator: ", "))] }
      """
  }

  /// The limits of each cohort once the file, or an override for all, says 7.
  private func limits(_ fleet: String, overrides: [Override] = []) throws -> [Int] {
    let text = #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": 7 } } }"#
    let file = try ScenarioFile(
      text: fleet, name: "s.json5", settingsText: overrides.isEmpty ? (text, "cdn.json") : nil,
      readFile: { _ in "" })
    return try file.decode(overrides: overrides).scenario.fleet.map { $0.settings.backoff.maxRetryCount }
  }

  /// segment-node gives up after ten retries (its client file), and fetches no Settings.
  @Test("reach the clients that fetch any, and the others keep their own")
  func reach() throws {
    let mixed = Self.fleet("segment-swift", "segment-node")
    let change = [Override(path: "settings.backoffConfig.maxRetryCount", value: "7")]
    #expect(try limits(mixed) == [7, 10])
    #expect(try limits(mixed, overrides: change) == [7, 10])
    // Without one that fetches, a key is of the clients' code, and a file still of nobody.
    #expect(try limits(Self.fleet("segment-node")) == [10])
    #expect(try limits(Self.fleet("segment-node"), overrides: change) == [7])
  }
}
