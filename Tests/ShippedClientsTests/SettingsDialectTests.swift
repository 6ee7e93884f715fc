import ShippedClients
import TestSupport
import Testing
import UploadRetry

@Suite("Settings dialects")
struct SettingsDialectTests {
  @Test("the document's dialect is HTTPConfig.decode with missing sections on, and its repairs are findings")
  func document() throws {
    let value = try settings(
      """
      {"httpConfig": {"backoffConfig": {"jitterPercent": 400, "jitterPercnt": 1}, "rateLimitConfig":
        {"maxTotalBackoffDuration": 1, "maxRateLimitDuration": 2}}, "retryConfig": {}}
      """)
    let (config, findings) = SettingsDialect.document.decode(value)
    let (expected, repairs) = HTTPConfig.decode(value, missingSection: .defaultsOn)
    #expect(config == expected)
    #expect(findings.map(\.message) == repairs.map(\.message))
    #expect(findings.map(\.path) == repairs.map(\.path))
    let unread = findings.filter { $0.effect == .notRead }.map(\.path)
    #expect(
      Set(unread) == [
        "retryConfig", "httpConfig.rateLimitConfig.maxRateLimitDuration",
        "httpConfig.backoffConfig.jitterPercnt",
      ])
    #expect(
      findings.filter { $0.effect == .repaired }.map(\.path) == ["httpConfig.backoffConfig.jitterPercent"])
    #expect(findings.allSatisfy { $0.source == nil && !$0.effect.isHarmful })
  }

  @Test("what a key's absence means is the caller's, statuses aside", arguments: SettingsDialect.allCases)
  func defaults(dialect: SettingsDialect) throws {
    var defaults = HTTPConfig()
    defaults.rateLimit.maxRetryCount = 7
    defaults.backoff.maxBackoffInterval = 30_000_000
    defaults.backoff.jitter = .full
    let config = dialect.decode(try settings("{\"httpConfig\": {}}"), defaults: defaults).config
    #expect(config.isManaged && config.rateLimit.isEnabled && config.backoff.isEnabled)
    #expect(config.rateLimit.maxRetryCount == 7)
    #expect(config.backoff.maxBackoffInterval == 30_000_000)
    #expect(config.backoff.jitter == .full)
  }

  @Test(
    "each client reads the keys that it knows, in the document's order",
    arguments: [
      (SettingsDialect.document, []),
      (
        .analyticsSwift,
        [
          "rateLimitConfig.maxTotalBackoffDuration", "rateLimitConfig.maxRateLimitDuration",
          "backoffConfig.jitterStrategy", "backoffConfig.retryableStatusCodes",
        ]
      ),
      (
        .analyticsKotlin,
        [
          "rateLimitConfig.maxTotalBackoffDuration", "rateLimitConfig.maxRateLimitDuration",
          "backoffConfig.jitterStrategy", "backoffConfig.retryableStatusCodes",
        ]
      ),
      (
        .analyticsReactNative,
        [
          "rateLimitConfig.maxTotalBackoffDuration", "backoffConfig.jitterStrategy",
          "backoffConfig.retryableStatusCodes", "backoffConfig.unknownCodeBehavior",
        ]
      ),
      (
        .analyticsNext,
        [
          "rateLimitConfig.enabled", "rateLimitConfig.maxTotalBackoffDuration", "backoffConfig.enabled",
          "backoffConfig.jitterStrategy", "backoffConfig.retryableStatusCodes",
          "backoffConfig.unknownCodeBehavior",
        ]
      ),
    ])
  func readKeys(dialect: SettingsDialect, unread: [String]) {
    #expect(dialect.readKeyPaths == HTTPConfig.knownKeyPaths.filter { !unread.contains($0) })
    #expect(Set(unread).isSubset(of: HTTPConfig.knownKeyPaths))
  }

  @Test("a key that a client does not read changes nothing, and is said not to be read")
  func unreadKeys() throws {
    for dialect in SettingsDialect.allCases where dialect != .document {
      let plain = try dialect.config(backoff: "{}")
      for path in HTTPConfig.knownKeyPaths where !dialect.readKeyPaths.contains(path) {
        let parts = path.split(separator: ".")
        for value in ["[503]", "\"retry\"", "7", "null"] {
          let json = "{\"httpConfig\": {\"\(parts[0])\": {\"\(parts[1])\": \(value)}}}"
          let (config, findings) = try dialect.decode(settings(json))
          #expect(config == plain, "\(dialect) \(json)")
          #expect(findings.map(\.effect) == [.notRead], "\(dialect) \(json)")
          #expect(findings[0].path == "httpConfig." + path)
          #expect(findings[0].source?.hasPrefix("\(dialect.rawValue) ") == true)
        }
      }
    }
  }

  @Test("a misspelt key is said to be one, with the name that was meant")
  func misspelt() throws {
    for dialect in SettingsDialect.allCases where dialect != .document {
      let json =
        "{\"httpConfig\": {\"backofConfig\": {}, \"backoffConfig\": {\"jitterPercnt\": 1, \"maxRetryIntervall\": 1}}}"
      let findings = try dialect.decode(settings(json)).findings
      #expect(findings.map(\.effect) == [.notRead, .notRead, .notRead])
      #expect(findings.contains { $0.message.hasSuffix("did you mean backoffConfig?") })
      #expect(findings.contains { $0.message.hasSuffix("did you mean jitterPercent?") })
    }
  }

  @Test("a key in the wrong section is said to belong into the other")
  func misplaced() throws {
    let json = "{\"httpConfig\": {\"rateLimitConfig\": {\"jitterPercent\": 1}}}"
    for dialect in SettingsDialect.allCases where dialect != .document {
      let findings = try dialect.decode(settings(json)).findings
      #expect(findings.map(\.path) == ["httpConfig.rateLimitConfig.jitterPercent"])
      #expect(findings[0].message.hasSuffix("it belongs inside backoffConfig"))
    }
  }

  @Test(
    "of two httpConfigs analytics-swift takes the inner one, the others the one at the top",
    arguments: [
      (SettingsDialect.analyticsSwift, 2, "httpConfig"),
      (.analyticsKotlin, 1, "integrations[\"Segment.io\"].httpConfig"),
      (.analyticsReactNative, 1, "integrations[\"Segment.io\"].httpConfig"),
    ])
  func twoSections(dialect: SettingsDialect, count: Int, unread: String) throws {
    let json = """
      {"httpConfig": {"backoffConfig": {"maxRetryCount": 1}},
       "integrations": {"Segment.io": {"httpConfig": {"backoffConfig": {"maxRetryCount": 2}}}}}
      """
    let (config, findings) = try dialect.decode(settings(json))
    #expect(config.backoff.maxRetryCount == count)
    #expect(findings.map(\.path) == [unread])
    #expect(findings[0].effect == .notRead)
  }

  @Test(
    "without httpConfig analytics-swift and analytics-kotlin are legacy, and analytics-react-native has its defaults",
    arguments: ["{}", "[]", "7", #"{"retryConfig": {}}"#, #"{"backoffConfig": {}}"#, #"{"htpConfig": {}}"#])
  func missing(json: String) throws {
    let value = try settings(json)
    for dialect in [SettingsDialect.analyticsSwift, .analyticsKotlin] {
      let (config, findings) = dialect.decode(value)
      #expect(!config.isManaged && !config.rateLimit.isEnabled && !config.backoff.isEnabled)
      #expect(findings.filter { $0.effect == .legacy }.map(\.path) == [""])
    }
    let (config, findings) = SettingsDialect.analyticsReactNative.decode(value)
    #expect(config.summary == "on 100 300 43200 | on 100 0.5 300 43200 10 ddrrrrdrdr drop")
    #expect(findings.allSatisfy { !$0.effect.isHarmful })
    #expect(findings.isEmpty == (json == "{}"))
  }

  @Test("the document's ranges, by which values are compared, are those of its decoder")
  func documentRanges() throws {
    let rate: [(NumberKey, (HTTPConfig) -> Double)] = [
      (.maxRetryCount, { Double($0.rateLimit.maxRetryCount) }),
      (.maxRetryInterval, { seconds($0.rateLimit.maxRetryInterval) }),
      (.maxRateLimitDuration, { seconds($0.rateLimit.maxTotalBackoffDuration) }),
    ]
    let backoff: [(NumberKey, (HTTPConfig) -> Double)] = [
      (.maxRetryCount, { Double($0.backoff.maxRetryCount) }),
      (.baseBackoffInterval, { seconds($0.backoff.baseBackoffInterval) }),
      (.maxBackoffInterval, { seconds($0.backoff.maxBackoffInterval) }),
      (.maxTotalBackoffDuration, { seconds($0.backoff.maxTotalBackoffDuration) }),
      (.jitterPercent, { $0.backoff.jitter.additivePercent ?? 0 }),
    ]
    for (section, keys) in [("rateLimitConfig", rate), ("backoffConfig", backoff)] {
      for (key, value) in keys {
        for number in [-1e9, 0.05, 1.5, 51, 2000, 1e9] {
          let json = "{\"httpConfig\": {\"\(section)\": {\"\(key.name)\": \(number)}}}"
          let config = try SettingsDialect.document.decode(settings(json)).config
          #expect(value(config) == key.reading(of: .number(number), default: 0), "\(json)")
        }
      }
    }
  }
}
