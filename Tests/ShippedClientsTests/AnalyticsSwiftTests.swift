import ShippedClients
import TestSupport
import Testing
import UploadRetry

@Suite("analytics-swift")
struct AnalyticsSwiftTests {
  let dialect = SettingsDialect.analyticsSwift

  @Test("four things wrong at once are four findings, although one of them makes the whole section legacy")
  func fourFindings() throws {
    let json = """
      {"httpConfig": {"backoffConfig": {"jitterPercent": 0, "maxRetryCount": 10.5, "statusCodeOverrides": {},
        "retryableStatusCodes": [503]}}}
      """
    let (config, findings) = try dialect.decode(settings(json))
    #expect(!config.isManaged)
    let sources = Dictionary(uniqueKeysWithValues: findings.map { ($0.path.split(separator: ".").last!, $0) })
    #expect(findings.count == 4)
    #expect(sources["jitterPercent"]?.effect == .endsProcess)
    #expect(sources["jitterPercent"]?.source == "analytics-swift c9a0d63, RetryStateMachine.swift:174")
    #expect(sources["maxRetryCount"]?.effect == .legacy)
    #expect(sources["maxRetryCount"]?.source == "analytics-swift c9a0d63, SegmentDestination.swift:82")
    #expect(sources["statusCodeOverrides"]?.effect == .losesData)
    #expect(
      sources["statusCodeOverrides"]?.source
        == "analytics-swift c9a0d63, RetryStateMachine.swift:28-32, :133-142")
    #expect(sources["retryableStatusCodes"]?.effect == .notRead)
    #expect(sources["retryableStatusCodes"]?.source == "analytics-swift c9a0d63, HttpConfig.swift:46-51")
    for finding in findings { #expect(finding.message.contains("analytics-swift")) }
  }

  @Test(
    "one value of a wrong type makes the whole section legacy",
    arguments: [
      #"{"jitterPercent": 10.5}"#, #"{"jitterPercent": "10"}"#, #"{"maxRetryCount": 2.5}"#,
      #"{"maxRetryCount": 1e19}"#, #"{"maxRetryCount": "2"}"#, #"{"maxBackoffInterval": 9.3e18}"#,
      #"{"baseBackoffInterval": 1e165}"#, #"{"baseBackoffInterval": "1"}"#, #"{"enabled": 0}"#,
      #"{"enabled": "true"}"#, #"{"default4xxBehavior": "RETRY"}"#, #"{"statusCodeOverrides": []}"#,
      #"{"statusCodeOverrides": {"503": null}}"#,
      #"{"statusCodeOverrides": {"x": "ignore", "429": "retry"}}"#,
      #"[]"#, #""x""#, "7",
    ])
  func unreadable(section: String) throws {
    let value = try settings("{\"httpConfig\": {\"backoffConfig\": \(section)}}")
    let (config, findings) = dialect.decode(value)
    #expect(!config.isManaged)
    #expect(findings.filter { $0.effect == .legacy }.count == 1)
  }

  @Test(
    "a number that it can hold is in force as it stands, whatever it is",
    arguments: [
      (#"{"jitterPercent": 900}"#, "on 100 0.5 300 43200 900"),
      (#"{"maxRetryCount": -1}"#, "on -1 0.5 300 43200 10"),
      (#"{"maxRetryCount": 1e18}"#, "on 1000000000000000000 0.5 300 43200 10"),
      (#"{"maxBackoffInterval": 1e18}"#, "on 100 0.5 max 43200 10"),
      (#"{"baseBackoffInterval": 1e9}"#, "on 100 1000000000 300 43200 10"),
      (#"{"maxTotalBackoffDuration": -1}"#, "on 100 0.5 300 -1 10"),
      (#"{"jitterPercent": -5}"#, "on 100 0.5 300 43200 0"),
      (#"{"enabled": null, "default4xxBehavior": null, "maxRetryCount": null}"#, "on 100 0.5 300 43200 10"),
    ])
  func unclamped(section: String, expected: String) throws {
    let summary = try dialect.config(backoff: section).summary
    #expect(summary == "on 100 300 max | \(expected) ddrrrrdrdr drop")
  }

  @Test(
    "jitter, a base and a cap that are not positive end the process, unless backoff is off",
    arguments: ["jitterPercent", "baseBackoffInterval", "maxBackoffInterval"])
  func traps(key: String) throws {
    for value in [0, -5] {
      let on = try dialect.effects("{\"backoffConfig\": {\"\(key)\": \(value)}}")
      #expect(on == ["endsProcess backoffConfig.\(key)"])
      let off = try dialect.effects("{\"backoffConfig\": {\"enabled\": false, \"\(key)\": \(value)}}")
      #expect(!off.contains { $0.hasPrefix("endsProcess") })
    }
    #expect(try dialect.effects("{\"backoffConfig\": {\"\(key)\": 1}}").isEmpty)
  }

  @Test("given overrides replace those built in, and one without a 429 loses every batch that gets one")
  func overrides() throws {
    let table = try dialect.config(
      backoff: #"{"statusCodeOverrides": {"0503": "drop", "+504": "drop", " 502": "drop"}}"#
    )
    .backoff.statuses
    #expect([503, 504, 408, 410, 460].allSatisfy { table.classify($0) == .drop })
    #expect([500, 501, 502, 505, 511].allSatisfy { table.classify($0) == .retry })
    #expect(table.dropsRateLimited)
    #expect(
      try !dialect.config(backoff: #"{"default4xxBehavior": "retry", "statusCodeOverrides": {}}"#).backoff
        .statuses.dropsRateLimited)
    #expect(
      try dialect.effects(#"{"backoffConfig": {"statusCodeOverrides": {"503": "drop"}}}"#)
        == ["losesData backoffConfig.statusCodeOverrides"])
    #expect(
      try dialect.effects(#"{"backoffConfig": {"statusCodeOverrides": {"429": "retry"}}}"#)
        == ["readDifferently backoffConfig.statusCodeOverrides"])
    #expect(
      try dialect.effects(
        #"{"backoffConfig": {"statusCodeOverrides": {"408": "retry", "410": "retry", "429": "drop", "460": "retry", "501": "drop", "505": "drop"}}}"#
      )
        == [#"losesData backoffConfig.statusCodeOverrides["429"]"#])
  }

  @Test(
    "switches and counts with which batches are lost are said to lose data",
    arguments: [
      (#"{"rateLimitConfig": {"enabled": false}}"#, ["losesData rateLimitConfig.enabled"]),
      (#"{"rateLimitConfig": {"maxRetryCount": 0}}"#, ["losesData rateLimitConfig.maxRetryCount"]),
      (
        #"{"rateLimitConfig": {"enabled": false}, "backoffConfig": {"enabled": false}}"#,
        ["readDifferently httpConfig"]
      ),
      (#"{"backoffConfig": {"enabled": false}}"#, []),
      (
        #"{"rateLimitConfig": {"maxRetryInterval": 0}}"#, ["readDifferently rateLimitConfig.maxRetryInterval"]
      ),
    ])
  func losses(section: String, expected: [String]) throws {
    #expect(try dialect.effects(section) == expected)
  }
}
