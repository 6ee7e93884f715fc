import ShippedClients
import TestSupport
import Testing
import UploadRetry

@Suite("analytics-kotlin")
struct AnalyticsKotlinTests {
  let dialect = SettingsDialect.analyticsKotlin

  @Test(
    "a section that is no object makes everything legacy",
    arguments: [
      #"{"httpConfig": null}"#, #"{"httpConfig": 7}"#, #"{"httpConfig": {"rateLimitConfig": null}}"#,
      #"{"httpConfig": {"backoffConfig": []}}"#, #"{"httpConfig": {"backoffConfig": {"enabled": {}}}}"#,
    ])
  func structure(json: String) throws {
    let (config, findings) = try dialect.decode(settings(json))
    #expect(!config.isManaged)
    #expect(findings.map(\.effect) == [.legacy])
    #expect(findings[0].source?.hasPrefix("analytics-kotlin a14649b, ") == true)
  }

  @Test(
    "a value that cannot be read resets the values of both sections, and not the switches",
    arguments: [
      #"{"maxRetryCount": 2.5}"#, #"{"maxRetryCount": 3000000000}"#, #"{"maxTotalBackoffDuration": 1e18}"#,
      #"{"baseBackoffInterval": ""}"#, #"{"baseBackoffInterval": null}"#, #"{"jitterPercent": true}"#,
      #"{"default4xxBehavior": "DROP"}"#, #"{"statusCodeOverrides": {"5xx": "drop"}}"#,
      #"{"statusCodeOverrides": {"503": "keep"}}"#, #"{"statusCodeOverrides": null}"#, #"{"enabled": 0}"#,
      #"{"enabled": null}"#,
    ])
  func unreadable(section: String) throws {
    let json = """
      {"httpConfig": {"rateLimitConfig": {"enabled": false, "maxRetryInterval": 7, "maxRetryCount": 1},
                      "backoffConfig": \(section)}}
      """
    let (config, findings) = try dialect.decode(settings(json))
    #expect(config.summary == "off 100 300 max | on 100 0.5 300 43200 10 ddrrrrdrdr drop")
    #expect(findings.filter { $0.effect == .resetsValues }.count == 1)
    #expect(findings.filter { $0.effect == .losesData }.map(\.path) == ["httpConfig.rateLimitConfig.enabled"])
  }

  @Test(
    "what it can read is clamped afterwards, jitter to 50 percent",
    arguments: [
      (#"{"maxRetryCount": 5000}"#, "on 1000 0.5 300 43200 10", ["repaired"]),
      (#"{"maxRetryCount": "12"}"#, "on 12 0.5 300 43200 10", ["readDifferently"]),
      (#"{"baseBackoffInterval": -1e18}"#, "on 100 0.1 300 43200 10", ["repaired"]),
      (#"{"baseBackoffInterval": " 1.5e0 "}"#, "on 100 1.5 300 43200 10", ["readDifferently"]),
      (#"{"maxBackoffInterval": 0}"#, "on 100 0.5 1 43200 10", ["repaired"]),
      (#"{"maxTotalBackoffDuration": 10000000000}"#, "on 100 0.5 300 604800 10", ["repaired"]),
      (#"{"jitterPercent": 51}"#, "on 100 0.5 300 43200 50", ["readDifferently"]),
      (#"{"jitterPercent": -1}"#, "on 100 0.5 300 43200 0", ["repaired"]),
      (#"{"enabled": "TRUE"}"#, "on 100 0.5 300 43200 10", ["repaired"]),
    ])
  func clamped(section: String, expected: String, effects: [String]) throws {
    let summary = try dialect.config(backoff: section).summary
    #expect(summary == "on 100 300 max | \(expected) ddrrrrdrdr drop")
    let found = try dialect.effects("{\"backoffConfig\": \(section)}")
    #expect(found.map { String($0.prefix { $0 != " " }) } == effects)
  }

  @Test("the texts true and false are switches")
  func textSwitches() throws {
    #expect(
      try dialect.config(rateLimit: #"{"enabled": "False", "maxRetryCount": 3}"#).summary.hasPrefix("off 3 "))
    #expect(
      try dialect.effects(#"{"rateLimitConfig": {"enabled": "false"}, "backoffConfig": {"enabled": false}}"#)
        == ["readDifferently rateLimitConfig.enabled", "losesData httpConfig"])
  }

  @Test("given overrides replace those built in, and none is asked about a 429")
  func overrides() throws {
    let table = try dialect.config(
      backoff: #"{"statusCodeOverrides": {"503": "drop", "429": "drop", "600": "retry"}}"#
    )
    .backoff.statuses
    #expect([503, 408, 410, 460].allSatisfy { table.classify($0) == .drop })
    #expect([500, 501, 505, 511].allSatisfy { table.classify($0) == .retry })
    #expect(!table.dropsRateLimited)
    #expect(
      try dialect.effects(#"{"backoffConfig": {"statusCodeOverrides": {"429": "drop"}}}"#)
        == [
          #"notRead backoffConfig.statusCodeOverrides["429"]"#,
          "readDifferently backoffConfig.statusCodeOverrides",
        ])
  }

  @Test(
    "switches and counts with which batches are lost are said to lose data",
    arguments: [
      (#"{"rateLimitConfig": {"enabled": false}}"#, ["losesData rateLimitConfig.enabled"]),
      (#"{"backoffConfig": {"enabled": false}}"#, ["losesData backoffConfig.enabled"]),
      (#"{"rateLimitConfig": {"maxRetryCount": 0}}"#, ["losesData rateLimitConfig.maxRetryCount"]),
      (#"{"rateLimitConfig": {"maxRetryCount": -3}}"#, ["losesData rateLimitConfig.maxRetryCount"]),
      (
        #"{"rateLimitConfig": {"enabled": false}, "backoffConfig": {"enabled": false}}"#,
        ["losesData httpConfig"]
      ),
    ])
  func losses(section: String, expected: [String]) throws {
    #expect(try dialect.effects(section) == expected)
  }
}
