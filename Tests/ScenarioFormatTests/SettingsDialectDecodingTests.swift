import ScenarioFormat
import ScenarioModel
import ShippedClients
import Testing
import UploadRetry

/// Cohorts read Settings as their clients do.
@Suite("Settings in a scenario, by the client's dialect")
struct SettingsDialectDecodingTests {
  private func text(_ more: String, top: String = "") -> ScenarioText {
    ScenarioText(cohort: "name: 'phones', devices: 10, events: '6/min', \(more)", top: top)
  }

  private static let shipped: [ClientPreset] = [.segmentSwift, .segmentKotlin, .segmentReactNative]

  @Test("a cohort without Settings has its client's defaults", arguments: shipped)
  func defaults(preset: ClientPreset) throws {
    let decoded = try text("client: '\(preset.name)'").decode()
    let cohort = decoded.scenario.fleet[0]
    let empty = SettingsValue.object([("httpConfig", .object([]))])
    #expect(cohort.settings == preset.settingsDialect.decode(empty).config)
    #expect(cohort.settings.isManaged && cohort.settings.backoff.isEnabled)
    #expect(cohort.settingsSource == empty)
    #expect(decoded.warnings.isEmpty)
  }

  @Test("a file without httpConfig is legacy, with a warning; inside a scenario httpConfig may be left out")
  func legacy() throws {
    for preset in [ClientPreset.segmentSwift, .segmentKotlin] {
      let cohort = text("client: '\(preset.name)', settings: 's.json'")
      for file in ["{}", "{\"backoffConfig\": {}}", "{\"retryConfig\": {}}"] {
        let decoded = try cohort.file(files: ["s.json": file]).decode()
        #expect(!decoded.scenario.fleet[0].settings.isManaged)
        #expect(decoded.warnings.contains { $0.message.contains("there is no httpConfig") }, "\(file)")
      }
      let own = try text("client: '\(preset.name)', settings: { backoffConfig: { maxRetryCount: 7 } }")
        .decode()
      #expect(own.scenario.fleet[0].settings.isManaged)
      #expect(own.scenario.fleet[0].settings.backoff.maxRetryCount == 7)
      #expect(own.warnings.isEmpty)
      #expect(
        try !text("client: '\(preset.name)', settings: {}").decode().scenario.fleet[0].settings.isManaged)
    }
  }

  @Test("what a client makes of a value is a warning where the value stands")
  func warnings() throws {
    let file = """
      { "httpConfig": {
        "backoffConfig": {
          "jitterStrategy": "full" } } }
      """
    let messages = text("client: 'segment-swift', settings: 's.json'").messages(files: ["s.json": file])
    #expect(messages.count == 1)
    #expect(
      messages[0].hasPrefix(
        "s.json:3: warning: httpConfig.backoffConfig.jitterStrategy: analytics-swift does not read jitterStrategy"
      ))
    // Two cohorts that read the same file by different rules: one warning each.
    let two = ScenarioText(
      cohort: """
        name: 'a', devices: 1, events: '1/s', client: 'segment-swift' },
        { name: 'b', devices: 1, events: '1/s', client: 'segment-kotlin' },
        { name: 'c', devices: 1, events: '1/s'
        """, top: "settings: 's.json'"
    ).messages(files: ["s.json": file])
    #expect(two.count == 2)
  }

  @Test("an override that the client does not read is an error that says what would be right")
  func overrides() throws {
    let override = Override(path: "settings.backoffConfig.jitterStrategy", value: "full")
    let messages = text("client: 'segment-swift'").messages(overrides: [override])
    #expect(messages.count == 1)
    #expect(
      messages[0].hasPrefix("--set: settings.backoffConfig.jitterStrategy: analytics-swift does not read"))
    #expect(messages[0].contains("this key of the CDN is useless to you"))
    // Once of a key, however many clients do not read it; useless only where none does.
    func fleet(_ third: String) -> [String] {
      ScenarioText(
        cohort: """
          name: 'a', devices: 1, events: '1/s', client: 'segment-swift' },
          { name: 'b', devices: 1, events: '1/s', client: 'segment-kotlin' },
          { name: 'c', devices: 1, events: '1/s', client: '\(third)'
          """
      ).messages(overrides: [override])
    }
    #expect(fleet("segment-react-native").count == 1)
    #expect(fleet("segment-react-native")[0].contains("useless to you"))
    // Where one reads it, the others are only told of.
    let mixed = fleet("tapi-document")
    #expect(mixed.count == 2 && mixed.allSatisfy { $0.hasPrefix("--set: warning: ") })
    let file = try text("client: 'segment-swift'").file()
    let allowed = try file.decode(overrides: [override], allowsUnread: true)
    #expect(allowed.scenario.fleet[0].settings == (try file.decode().scenario.fleet[0].settings))
    // What is read is in force, as the client reads it.
    let read = Override(path: "settings.backoffConfig.maxBackoffInterval", value: "100000")
    let config = try file.decode(overrides: [read]).scenario.fleet[0].settings
    #expect(config.backoff.maxBackoffInterval == 100_000_000_000)
    let kotlin = text("client: 'segment-kotlin'").messages(overrides: [read])
    #expect(kotlin.count == 1 && kotlin[0].hasPrefix("--set: settings.backoffConfig.maxBackoffInterval"))
    let wrong = Override(path: "settings.backoffConfig.maxRetryCount", value: "many")
    #expect(throws: ScenarioProblems.self) { try file.decode(overrides: [wrong]) }
  }

  @Test("settingsDialect has a cohort read Settings as another client does")
  func dialect() throws {
    let override = Override(path: "settings.backoffConfig.jitterStrategy", value: "full")
    let file = try text("client: 'segment-swift', settingsDialect: 'document'").file()
    let cohort = try file.decode(overrides: [override]).scenario.fleet[0]
    #expect(cohort.settings.backoff.jitter == .full)
    #expect(cohort.settingsSource == nil)
    #expect(cohort.policy == ClientPreset.segmentSwift.policy)
    #expect(
      text("settingsDialect: 'analytics-swfit'").messages().first?.contains("did you mean") == true)
    let set = Override(path: "fleet.phones.settingsDialect", value: "document")
    let other = try text("client: 'segment-swift'").file().decode(overrides: [override, set])
    #expect(other.scenario.fleet[0].settings == cohort.settings)
  }

  @Test(
    "Settings of shipped clients survive normalisation as they were", arguments: shipped,
    [
      "{}", "{ httpConfig: 7 }",
      "{ httpConfig: { backoffConfig: { jitterPercent: -5, maxRetryCount: 1e18 } } }",
      "{ httpConfig: { rateLimitConfig: { enabled: 'x', maxRetryInterval: null }, backoffConfig: { enabled: 0 } } }",
      "{ rateLimitConfig: { maxRetryCount: 0 } }",
      "{ httpConfig: { backoffConfig: { maxBackoffInterval: Infinity } } }",
      """
      { plan: {}, integrations: { 'Segment.io': { apiKey: 'K',
      httpConfig: { backoffConfig: { statusCodeOverrides: { '0503': 'drop', '999': 'retry' } } } } } }
      """,
      "{ httpConfig: { rateLimitConfig: { maxRetryCount: NaN }, backoffConfig: { baseBackoffInterval: -0.0 } } }",
    ])
  func roundTrip(preset: ClientPreset, settings: String) throws {
    let decoded = try text(
      "client: '\(preset.name)', settings: \(settings), rollout: { at: '1m', settings: \(settings) }"
    ).decode()
    let again = try ScenarioFile(text: decoded.normalisedJSON, name: "s") { _ in throw ScenarioText.NoFile() }
      .decode()
    #expect(again.scenario == decoded.scenario)
    #expect(again.normalisedJSON == decoded.normalisedJSON)
    #expect(!decoded.normalisedJSON.contains("apiKey"))
  }

  @Test("devices that find no Settings at launch have what their client then has")
  func builtIn() throws {
    let nothing = SettingsValue.object([])
    for preset in ClientPreset.all {
      let config = preset.settingsDialect.config(
        of: nothing, policy: preset.policy, defaults: preset.settingsDefaults)
      let isLegacy = [.analyticsSwift, .analyticsKotlin].contains(preset.settingsDialect)
      #expect(config.isManaged == !isLegacy, "\(preset.name)")
    }
  }
}
