import ShippedClients
import Testing
import UploadRetry

@Suite("analytics-react-native")
struct AnalyticsReactNativeTests {
  let dialect = SettingsDialect.analyticsReactNative

  @Test(
    "values are JavaScript's, and clamps only compare",
    arguments: [
      (#"{"maxRetryCount": null}"#, "on 1 0.5 300 43200 10"),
      (#"{"maxRetryCount": true}"#, "on 1 0.5 300 43200 10"),
      (#"{"maxRetryCount": 2.5}"#, "on 2 0.5 300 43200 10"),
      (#"{"maxRetryCount": "many"}"#, "on max 0.5 300 43200 10"),
      (#"{"maxRetryCount": 101}"#, "on 100 0.5 300 43200 10"),
      (#"{"baseBackoffInterval": "0x10"}"#, "on 100 16 300 43200 10"),
      (#"{"baseBackoffInterval": [2]}"#, "on 100 2 300 43200 10"),
      (#"{"baseBackoffInterval": 1000}"#, "on 100 300 300 43200 10"),
      (#"{"maxBackoffInterval": 0.2}"#, "on 100 0.2 0.2 43200 10"),
      (#"{"maxBackoffInterval": {}}"#, "on 100 0.5 0 43200 10"),
      (#"{"maxBackoffInterval": 90000}"#, "on 100 0.5 86400 172800 10"),
      (#"{"baseBackoffInterval": "5", "maxBackoffInterval": "10"}"#, "on 100 10 10 43200 10"),
      (#"{"maxTotalBackoffDuration": 5}"#, "on 100 0.5 300 600 10"),
      (#"{"maxTotalBackoffDuration": "x"}"#, "on 100 0.5 300 max 10"),
      (#"{"jitterPercent": "10"}"#, "on 100 0.5 300 43200 10"),
      (#"{"jitterPercent": 400}"#, "on 100 0.5 300 43200 100"),
      (#"{"jitterPercent": false}"#, "on 100 0.5 300 43200 0"),
      (#"{"jitterPercent": "many"}"#, "on 100 0.5 0 43200 0"),
      (#"{"enabled": 1}"#, "neither 100 0.5 300 43200 10"),
      (#"{"enabled": false}"#, "off 100 0.5 300 43200 10"),
    ])
  func numbers(section: String, expected: String) throws {
    let summary = try dialect.config(backoff: section).summary
    #expect(summary == "on 100 300 43200 | \(expected) ddrrrrdrdr drop")
  }

  @Test(
    "the limit on 429s is its own, and at least twice the longest wait",
    arguments: [
      (#"{"maxRateLimitDuration": 10}"#, "on 100 300 600"),
      (#"{"maxRateLimitDuration": 10, "maxRetryInterval": 20}"#, "on 100 20 60"),
      (#"{"maxRateLimitDuration": "many"}"#, "on 100 300 max"),
      (#"{"maxTotalBackoffDuration": 10}"#, "on 100 300 43200"),
      (#"{"maxRetryInterval": null}"#, "on 100 0.1 43200"),
      (#"{"enabled": null}"#, "neither 100 300 43200"),
      (#"7"#, "on 100 300 43200"),
    ])
  func rateLimit(section: String, expected: String) throws {
    #expect(try dialect.config(rateLimit: section).summary.hasPrefix(expected + " | "))
  }

  @Test("given overrides are merged key by key with those built in")
  func overrides() throws {
    let table = try dialect.config(
      backoff:
        #"{"statusCodeOverrides": {"500": "drop", "302": "retry", "0503": "drop", "408": null, "504": "RETRY"}}"#
    ).backoff.statuses
    #expect([302, 410, 460, 503, 511].allSatisfy { table.classify($0) == .retry })
    #expect([101, 408, 500, 501, 504, 505].allSatisfy { table.classify($0) == .drop })
    #expect(!table.dropsRateLimited)
    #expect(
      try dialect.config(backoff: #"{"statusCodeOverrides": {"429": "drop"}}"#).backoff.statuses
        .dropsRateLimited)
    #expect(
      try !dialect.config(backoff: #"{"statusCodeOverrides": {"429": null}}"#).backoff.statuses
        .dropsRateLimited)
    #expect(try dialect.effects(#"{"backoffConfig": {"statusCodeOverrides": {}}}"#).isEmpty)
    #expect(
      try dialect.effects(#"{"backoffConfig": {"statusCodeOverrides": {"429": "drop"}}}"#)
        == [#"losesData backoffConfig.statusCodeOverrides["429"]"#])
  }

  @Test("a behaviour that is neither retry nor drop drops, but null for a 5xx")
  func behaviours() throws {
    #expect(
      try dialect.config(backoff: #"{"default5xxBehavior": null}"#).summary.hasSuffix(" ddrrrrdrdr drop"))
    #expect(
      try dialect.config(backoff: #"{"default5xxBehavior": "RETRY"}"#).summary.hasSuffix(" ddrrrddddd drop"))
    #expect(
      try dialect.config(backoff: #"{"default4xxBehavior": true}"#).summary.hasSuffix(" ddrrrrdrdr drop"))
    #expect(
      try dialect.effects(#"{"backoffConfig": {"default5xxBehavior": "RETRY"}}"#)
        == ["losesData backoffConfig.default5xxBehavior"])
  }

  @Test(
    "switches are said to lose data when they are off, and to be read differently when they are neither",
    arguments: [
      (#"{"rateLimitConfig": {"enabled": false}}"#, ["losesData rateLimitConfig.enabled"]),
      (#"{"backoffConfig": {"enabled": false}}"#, ["losesData backoffConfig.enabled"]),
      (#"{"backoffConfig": {"enabled": 0}}"#, ["readDifferently backoffConfig.enabled"]),
      (#"{"backoffConfig": {"enabled": true, "jitterPercent": 10}}"#, []),
      (#"{"backoffConfig": {"jitterPercent": 11}}"#, ["contradicts backoffConfig.jitterPercent"]),
      (#"{"backoffConfig": {"maxRetryCount": 0}}"#, ["readDifferently backoffConfig.maxRetryCount"]),
      (#"{"backoffConfig": {"maxRetryCount": 2.5}}"#, ["repaired backoffConfig.maxRetryCount"]),
      (
        #"{"backoffConfig": {"maxTotalBackoffDuration": 5}}"#,
        ["readDifferently backoffConfig.maxTotalBackoffDuration"]
      ),
      (#"{"backoffConfig": {"baseBackoffInterval": 5, "maxBackoffInterval": 2}}"#, []),
    ])
  func findings(section: String, expected: [String]) throws {
    #expect(try dialect.effects(section) == expected)
  }
}
