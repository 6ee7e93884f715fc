import ScenarioFormat
import ScenarioModel
import Testing
import UploadRetry

@Suite("Settings to be published")
struct SettingsDocumentTests {
  static let cdn = """
    { "integrations": { "Segment.io": { "apiKey": "K", "httpConfig": {
        "rateLimitConfig": { "maxRetryInterval": 300, "maxRateLimitDuration": 43200 },
        "backoffConfig": { "baseBackoffInterval": 0.5, "jitterPercent": 10, "default5xxBehavior": "retry" } } },
      "Other": {} }, "plan": { "track": {} } }
    """
  static let document = """
    { "httpConfig": { "rateLimitConfig": { "maxTotalBackoffDuration": 3600 }, "backoffConfig": { "maxRetryCount": 7 } } }
    """
  static let plain = #"{ "backoffConfig": { "maxBackoffInterval": 60 } }"#

  func file(_ settings: String) throws -> ScenarioFile {
    try ScenarioFile(
      text: """
        { format: 1, duration: "1m", tapi: { bucket: { capacity: "5/s" } }, settings: "s.json",
          fleet: [{ name: "a", devices: 1, events: "1/s" }, { name: "b", devices: 1, events: "1/s" }] }
        """, name: "test.json5"
    ) { _ in settings }
  }

  func decoded(_ json: String) throws -> HTTPConfig {
    try ScenarioFile(
      text: """
        { format: 1, duration: "1m", tapi: { bucket: { capacity: "5/s" } }, settings: \(json),
          fleet: [{ name: "a", devices: 1, events: "1/s" }] }
        """, name: "test.json5"
    ) { _ in "" }.decode().scenario.fleet[0].settings
  }

  @Test("a key is taken from other Settings, whatever their shape, or taken out where those have none")
  func taking() throws {
    let (cdn, document) = (
      try #require(try file(Self.cdn).settingsDocument),
      try #require(try file(Self.document).settingsDocument)
    )
    #expect(
      try decoded(cdn.taking("backoffConfig.maxRetryCount", from: document).cdnJSON).backoff.maxRetryCount
        == 7)
    let without = document.taking("backoffConfig.maxRetryCount", from: cdn)
    #expect(!without.documentJSON.contains("maxRetryCount"))
    #expect(without.differences(to: document).map(\.path) == ["backoffConfig.maxRetryCount"])
    #expect(cdn.taking("rateLimitConfig.maxRetryCount", from: document).differences(to: cdn).isEmpty)
  }

  @Test(
    "both shapes mean what the scenario with the same overrides runs on",
    arguments: [cdn, document, plain, "{}"])
  func shapes(settings: String) throws {
    let file = try file(settings)
    let overrides = [
      Override(path: "settings.backoffConfig.jitterStrategy", value: "full"),
      Override(path: "settings.backoffConfig.baseBackoffInterval", value: "2.5"),
      Override(path: "settings.rateLimitConfig.maxTotalBackoffDuration", value: "7200"),
    ]
    let expected = try file.decode(overrides: overrides).scenario.fleet[0].settings
    let result = try #require(file.settingsDocument).setting(overrides)
    #expect(try decoded(result.cdnJSON) == expected)
    #expect(try decoded(result.documentJSON) == expected)
    #expect(result.cdnJSON.contains("\"Segment.io\"") && !result.documentJSON.contains("Segment.io"))
  }

  @Test("what else the CDN serves stays as it is")
  func rest() throws {
    let json = try #require(file(Self.cdn).settingsDocument).cdnJSON
    #expect(json.contains("\"apiKey\": \"K\"") && json.contains("\"plan\"") && json.contains("\"Other\": {}"))
    #expect(json.contains("\"baseBackoffInterval\": 0.5,"))
  }

  @Test(
    "a served file is JSON: what only JSON5 has, no SDK reads; a .json5 and the scenario may have it",
    arguments: [
      "{ \"backoffConfig\": { \"maxRetryCount\": 7, } }", "{ \"backoffConfig\": {}, }",
      "{ backoffConfig: {} }", "{ 'backoffConfig': {} }", "// today\n{}", "{ /* today */ }",
      "{ \"backoffConfig\": { \"baseBackoffInterval\": .5 } }", "{ \"a\": [1, 2,] }", "{ \"a\": +1 }",
      "{ \"a\": -.5 }", "{ \"a\": 1. }",
    ])
  func served(text: String) throws {
    #expect(throws: ScenarioProblems.self) { try file(text).decode() }
    _ = try SettingsCheck(text: text, name: "s.json5", client: ClientPreset())
    #expect(throws: ScenarioProblems.self) {
      try SettingsCheck(text: text, name: "s.json", client: ClientPreset())
    }
    _ = try decoded(text)
  }

  @Test("Settings that are nowhere written down are written out in full")
  func full() throws {
    let document = SettingsDocument(HTTPConfig())
    #expect(try decoded(document.cdnJSON) == HTTPConfig())
    #expect(try decoded(document.documentJSON) == HTTPConfig())
    #expect(
      document.cdnJSON.contains("maxRateLimitDuration")
        && document.documentJSON.contains("maxTotalBackoffDuration"))
  }

  @Test("today's value of a key is found by its path, defaults too")
  func values() {
    let config = HTTPConfig()
    #expect(SearchableSettings.value(of: "settings.backoffConfig.baseBackoffInterval", in: config) == "0.5")
    #expect(
      SearchableSettings.value(of: "settings.backoffConfig.jitterStrategy", in: config) == "additive:10")
    #expect(SearchableSettings.value(of: "settings.backoffConfig.nothing", in: config) == nil)
    #expect(SearchableSettings.value(of: "tapi.bucket.capacity", in: config) == nil)
  }
}
