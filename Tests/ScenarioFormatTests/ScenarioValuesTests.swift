import ScenarioFormat
import Testing

@Suite("What two scenarios differ in")
struct ScenarioValuesTests {
  private static func file(
    _ settings: String = "\"settings.json\"", limit: Int = 100, rest: String = ""
  ) throws -> ScenarioFile {
    try ScenarioFile(
      text: """
        {
          format: 1, seed: 1, duration: "1h",
          tapi: { bucket: { capacity: "10/s", burst: 5 },
            incidents: [{ kind: "outage", at: "10m", for: "5m" }] },
          settings: \(settings),
          fleet: [
            { name: "phones", devices: 10, events: "6/min", timeout: "15s" },
            { name: "tablets", devices: 10, events: "6/min" },
          ],
          \(rest)
        }
        """, name: "s.json5"
    ) { _ in
      """
      {
        "httpConfig": {
          "backoffConfig": {
            "jitterPercent": 10,
            "maxRetryCount": \(limit)
          }
        }
      }
      """
    }
  }

  private static func values(_ file: ScenarioFile, _ overrides: [Override] = []) throws -> ScenarioValues {
    ScenarioValues(try file.decode(overrides: overrides))
  }

  @Test("a scenario differs from itself in nothing, whatever its seed and question")
  func same() throws {
    let before = try Self.values(Self.file())
    let other = try Self.values(Self.file(rest: "question: \"Why?\""), [Override(path: "seed", value: "7")])
    #expect(other.changes(since: before).isEmpty)
  }

  @Test("what all cohorts changed alike is one change, under the name that overrides have for it")
  func alike() throws {
    let before = try Self.values(Self.file())
    let after = try Self.values(Self.file(limit: 3)).changes(since: before)
    #expect(after.map(\.text) == ["settings.backoffConfig.maxRetryCount 100 → 3"])
    #expect(after.map(\.firstPath) == ["fleet.phones.settings.backoffConfig.maxRetryCount"])
    let one = try Self.values(
      Self.file(), [Override(path: "fleet.tablets.settings.backoffConfig.maxRetryCount", value: "3")])
    #expect(
      one.changes(since: before).map(\.text)
        == ["fleet.tablets.settings.backoffConfig.maxRetryCount 100 → 3"])
  }

  @Test("a jitter has one name, and times and incidents are told as they are written")
  func texts() throws {
    let before = try Self.values(Self.file())
    let after = try Self.values(
      Self.file(),
      [
        Override(path: "settings.backoffConfig.jitterStrategy", value: "full"),
        Override(path: "tapi.incidents.0.for", value: "6m"),
        Override(path: "fleet.phones.timeout", value: "20s"),
      ])
    #expect(
      after.changes(since: before).map(\.text) == [
        "tapi.incidents.0.for 5m → 6m", "fleet.phones.timeout 15s → 20s",
        "settings.backoffConfig.jitterStrategy additive:10 → full",
      ])
  }

  @Test("what is there no more is told as none, and what is new too")
  func gone() throws {
    let before = try Self.values(Self.file())
    let none = try Self.values(Self.file(), [Override(path: "tapi.incidents", value: "[]")])
    #expect(none.changes(since: before).contains { $0.text == "tapi.incidents.0.for 5m → none" })
    #expect(before.changes(since: none).contains { $0.text == "tapi.incidents.0.for none → 5m" })
  }

  @Test(
    "a value stands in the file and on the line where its key is, or where its key would be",
    arguments: [
      ("fleet.phones.settings.backoffConfig.maxRetryCount", "settings.json", 5),
      ("fleet.phones.settings.backoffConfig.jitterStrategy", "settings.json", 4),
      ("fleet.tablets.settings.backoffConfig.maxBackoffInterval", "settings.json", 3),
      ("tapi.incidents.0.for", "s.json5", 4), ("tapi.bucket.capacity", "s.json5", 3),
      ("fleet.phones.timeout", "s.json5", 7), ("fleet.tablets.timeout", "s.json5", 8),
    ])
  func places(path: String, name: String, line: Int) throws {
    let place = try #require(Self.file().place(of: path))
    #expect(place.file == name)
    #expect(place.line == line)
  }

  @Test("Settings inside the scenario have their line there")
  func inside() throws {
    let file = try Self.file("{ backoffConfig: { maxRetryCount: 3 } }")
    let place = try #require(file.place(of: "fleet.phones.settings.backoffConfig.maxRetryCount"))
    #expect(place.file == "s.json5")
    #expect(place.line == 5)
  }
}
