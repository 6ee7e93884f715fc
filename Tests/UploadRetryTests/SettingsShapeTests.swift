import TestSupport
import Testing
import UploadRetry

@Suite("Settings: shapes and precedence (S13)")
struct SettingsShapeTests {
  static let documentSample = """
    {
      "httpConfig": {
        "rateLimitConfig": {
          "enabled": true, "maxRetryCount": 100, "maxRetryInterval": 300, "maxTotalBackoffDuration": 43200
        },
        "backoffConfig": {
          "enabled": true, "maxRetryCount": 100, "baseBackoffInterval": 0.5, "maxBackoffInterval": 300,
          "maxTotalBackoffDuration": 43200, "jitterPercent": 10,
          "retryableStatusCodes": [408, 410, 429, 460, 500, 502, 503, 504, 508]
        }
      }
    }
    """

  static let cdnSample = """
    {
      "integrations": {
        "Segment.io": {
          "apiKey": "WRITE_KEY", "apiHost": "api.example.com/v1", "unbundledIntegrations": [],
          "addBundledMetadata": true, "maybeBundledConfigIds": {},
          "versionSettings": { "version": "4.4.7", "componentTypes": ["browser", "ios"] },
          "httpConfig": {
            "rateLimitConfig": {
              "enabled": true, "maxRetryCount": 100, "maxRetryInterval": 300, "maxRateLimitDuration": 43200
            },
            "backoffConfig": {
              "enabled": true, "maxRetryCount": 100, "baseBackoffInterval": 0.5, "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200, "jitterPercent": 10, "default4xxBehavior": "drop",
              "default5xxBehavior": "retry", "unknownCodeBehavior": "drop",
              "statusCodeOverrides": {
                "408": "retry", "410": "retry", "429": "retry", "460": "retry", "501": "drop", "505": "drop"
              }
            }
          }
        },
        "Actions Amplitude": { "versionSettings": { "componentTypes": [] }, "type": "server" }
      },
      "plan": { "track": { "__default": { "enabled": true, "integrations": {} } } },
      "edgeFunction": {}, "analyticsNextEnabled": true, "middlewareSettings": {}, "enabledMiddleware": {},
      "metrics": { "sampleRate": 0.1 }, "legacyVideoPluginsEnabled": false, "remotePlugins": [],
      "autoInstrumentationSettings": { "sampleRate": 0.1, "disableTraffic": false }
    }
    """

  private func decode(_ json: String) throws -> HTTPConfig {
    let (config, repairs) = HTTPConfig.decode(try settings(json))
    #expect(repairs.isEmpty, "\(repairs)")
    return config
  }

  private func statuses(_ backoff: String) throws -> StatusTable {
    try decode(#"{"httpConfig": {"backoffConfig": {\#(backoff)}}}"#).backoff.statuses
  }

  /// Every key with a value that is not its default.
  private static let section = """
    {
      "rateLimitConfig": {
        "enabled": false, "maxRetryCount": 7, "maxRetryInterval": 60.5, "maxTotalBackoffDuration": 100
      },
      "backoffConfig": {
        "enabled": false, "maxRetryCount": 9, "baseBackoffInterval": 0.25, "maxBackoffInterval": 30,
        "maxTotalBackoffDuration": 200, "jitterStrategy": "full"
      }
    }
    """

  private static var sectionDecoded: HTTPConfig {
    var config = HTTPConfig()
    config.rateLimit.isEnabled = false
    config.rateLimit.maxRetryCount = 7
    config.rateLimit.maxRetryInterval = 60_500_000
    config.rateLimit.maxTotalBackoffDuration = 100_000_000
    config.backoff.isEnabled = false
    config.backoff.maxRetryCount = 9
    config.backoff.baseBackoffInterval = 250_000
    config.backoff.maxBackoffInterval = 30_000_000
    config.backoff.maxTotalBackoffDuration = 200_000_000
    config.backoff.jitter = .full
    return config
  }

  @Test("The document's example is the defaults, word for word")
  func document() throws {
    #expect(try decode(Self.documentSample) == HTTPConfig())
  }

  @Test("The CDN's example is the defaults, but that default5xxBehavior retries 511 too")
  func cdn() throws {
    var expected = HTTPConfig()
    expected.backoff.statuses.set(.retry, for: 511)
    #expect(try decode(Self.cdnSample) == expected)
  }

  @Test("The section is found at every place and under both names")
  func places() throws {
    let section = Self.section
    let places = [
      section, #"{"httpConfig": \#(section)}"#, #"{"retryConfig": \#(section)}"#,
      #"{"integrations": {"Segment.io": {"httpConfig": \#(section)}}, "plan": {}}"#,
      #"{"integrations": {"Segment.io": {"retryConfig": \#(section)}}}"#,
    ]
    for place in places { #expect(try decode(place) == Self.sectionDecoded, "\(place)") }
  }

  @Test("A missing section or key has its default, enabled")
  func missing() throws {
    for json in [
      "{}", #"{"integrations": {}}"#, #"{"integrations": {"Segment.io": {"apiKey": "x"}}}"#,
      #"{"httpConfig": {}}"#, #"{"httpConfig": {"backoffConfig": {}}}"#, #"{"rateLimitConfig": {}}"#,
    ] {
      #expect(try decode(json) == HTTPConfig(), "\(json)")
    }
    var expected = HTTPConfig()
    expected.backoff.maxRetryCount = 3
    #expect(try decode(#"{"httpConfig": {"backoffConfig": {"maxRetryCount": 3}}}"#) == expected)
  }

  @Test("Of a repeated key the last one counts")
  func repeated() {
    let backoff = SettingsValue.object([("maxRetryCount", .number(1)), ("maxRetryCount", .number(2))])
    let (config, repairs) = HTTPConfig.decode(.object([("backoffConfig", backoff)]))
    #expect(config.backoff.maxRetryCount == 2 && repairs.isEmpty)
  }

  @Test("maxRateLimitDuration is another name for the age limit of 429s")
  func maxRateLimitDuration() throws {
    let config = try decode(#"{"httpConfig": {"rateLimitConfig": {"maxRateLimitDuration": 60}}}"#)
    #expect(config.rateLimit.maxTotalBackoffDuration == 60_000_000)
  }

  // MARK: Jitter

  @Test("jitterStrategy names the jitter; absent, it is additive by jitterPercent")
  func jitter() throws {
    func jitter(_ backoff: String) throws -> Jitter {
      try decode(#"{"httpConfig": {"backoffConfig": {\#(backoff)}}}"#).backoff.jitter
    }
    #expect(try jitter("") == .additive(percent: 10))
    #expect(try jitter(#""jitterPercent": 25"#) == .additive(percent: 25))
    #expect(try jitter(#""jitterPercent": 0"#) == .additive(percent: 0))
    #expect(try jitter(#""jitterPercent": 25, "jitterStrategy": "equal""#) == .equal)
    #expect(try jitter(#""jitterStrategy": "additive:50""#) == .additive(percent: 50))
    #expect(try jitter(#""jitterStrategy": "none""#) == .none)
  }

  // MARK: Statuses

  @Test(
    "retryableStatusCodes: what it lists is retried, named retries it leaves out are dropped, others stay")
  func list() throws {
    let table = try statuses(#""retryableStatusCodes": [503, 404, 302, 501]"#)
    for status in [503, 404, 302, 501] { #expect(table.classify(status) == .retry, "\(status)") }
    for status in [408, 410, 460, 500, 502, 504, 508] {
      #expect(table.classify(status) == .drop, "\(status)")
    }
    #expect(table.classify(529) == .retry && table.classify(505) == .drop && table.classify(301) == .drop)
    #expect(table.classify(429) == .rateLimited && table.classify(511) == .authenticate)
  }

  @Test("An empty list drops all the named retries")
  func emptyList() throws {
    let table = try statuses(#""retryableStatusCodes": []"#)
    #expect(table.classify(503) == .drop && table.classify(408) == .drop && table.classify(599) == .retry)
  }

  @Test("The default behaviours go before the tables")
  func defaults() throws {
    let table = try statuses(
      #""default4xxBehavior": "retry", "default5xxBehavior": "drop", "unknownCodeBehavior": "retry""#)
    for status in [400, 404, 499, 100, 301, 99, 600, -1] {
      #expect(table.classify(status) == .retry, "\(status)")
    }
    for status in [500, 503, 511, 599] { #expect(table.classify(status) == .drop, "\(status)") }
    #expect(table.classify(429) == .rateLimited && table.classify(200) == .success)
  }

  @Test("The list goes before the default behaviours, and overrides before the list")
  func precedence() throws {
    let table = try statuses(
      #"""
      "default5xxBehavior": "drop", "default4xxBehavior": "retry", "retryableStatusCodes": [502, 503],
      "statusCodeOverrides": {"503": "drop", "504": "retry", "400": "drop"}
      """#)
    #expect(table.classify(502) == .retry)  // list over default
    #expect(table.classify(503) == .drop)  // override over list
    #expect(table.classify(504) == .retry)  // override over list
    #expect(table.classify(410) == .drop)  // list over default
    #expect(table.classify(404) == .retry)  // default over table
    #expect(table.classify(400) == .drop)  // override over default
    #expect(table.classify(599) == .drop)  // default over table
  }

  @Test("429 follows rateLimitConfig alone, and 511 can be decided by Settings")
  func special() throws {
    #expect(try statuses(#""retryableStatusCodes": [503]"#).classify(429) == .rateLimited)
    #expect(try statuses(#""statusCodeOverrides": {"429": "retry"}"#).classify(429) == .rateLimited)
    #expect(try statuses(#""statusCodeOverrides": {"511": "retry"}"#).classify(511) == .retry)
    #expect(try statuses(#""statusCodeOverrides": {"511": "drop"}"#).classify(511) == .drop)
  }

  // MARK: Round trip

  @Test("The defaults are encoded in the document's words")
  func encodedDefaults() throws {
    let expected: SettingsValue = .object([
      (
        "rateLimitConfig",
        .object([
          ("enabled", .bool(true)), ("maxRetryCount", .number(100)), ("maxRetryInterval", .number(300)),
          ("maxTotalBackoffDuration", .number(43_200)),
        ])
      ),
      (
        "backoffConfig",
        .object([
          ("enabled", .bool(true)), ("maxRetryCount", .number(100)), ("baseBackoffInterval", .number(0.5)),
          ("maxBackoffInterval", .number(300)), ("maxTotalBackoffDuration", .number(43_200)),
          ("jitterPercent", .number(10)),
        ])
      ),
    ])
    #expect(HTTPConfig().encoded() == expected)
  }

  @Test("Statuses are encoded as briefly as they can be")
  func encodedStatuses() throws {
    func encodedStatuses(_ backoff: String) throws -> SettingsValue {
      var config = HTTPConfig()
      config.backoff.statuses = try statuses(backoff)
      guard case .object(let parts) = config.encoded(), case .object(let members) = parts[1].value else {
        return .null
      }
      return .object(Array(members.dropFirst(6)))
    }
    #expect(try encodedStatuses("") == .object([]))
    #expect(
      try encodedStatuses(#""unknownCodeBehavior": "retry""#)
        == .object([("unknownCodeBehavior", .string("retry"))]))
    #expect(
      try encodedStatuses(#""default4xxBehavior": "retry""#)
        == .object([("default4xxBehavior", .string("retry"))]))
    #expect(
      try encodedStatuses(#""retryableStatusCodes": [408, 410, 460, 500, 502, 503, 504, 404]"#)
        == .object([("statusCodeOverrides", .object([("404", .string("retry")), ("508", .string("drop"))]))]))
    #expect(
      try encodedStatuses(#""statusCodeOverrides": {"511": "drop"}"#)
        == .object([("statusCodeOverrides", .object([("511", .string("drop"))]))]))
  }

  @Test(
    "Any configuration within its ranges is decoded from its encoding without a repair",
    arguments: 1...UInt64(TestDepth.cases(12, exhaustively: 40)))
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func uniform(_ range: ClosedRange<Int64>) -> Int64 {
      range.lowerBound + Int64(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
    }
    for _ in 0..<25 {
      var config = HTTPConfig()
      config.rateLimit.isEnabled = uniform(0...1) == 0
      config.rateLimit.maxRetryCount = Int(uniform(0...1000))
      config.rateLimit.maxRetryInterval = uniform(1_000_000...3_600_000_000)
      config.rateLimit.maxTotalBackoffDuration = uniform(0...604_800_000_000)
      config.backoff.isEnabled = uniform(0...1) == 0
      config.backoff.maxRetryCount = Int(uniform(0...1000))
      config.backoff.baseBackoffInterval = uniform(100_000...60_000_000)
      config.backoff.maxBackoffInterval = uniform(1_000_000...3_600_000_000)
      config.backoff.maxTotalBackoffDuration = uniform(0...604_800_000_000)
      let percent = Double(random.next() >> 11) / 9_007_199_254_740_992 * 100
      config.backoff.jitter =
        [.none, .additive(percent: percent), .full, .equal, .decorrelated][Int(uniform(0...4))]
      let share = uniform(0...100)
      for status in 100...599 where uniform(0...99) < share {
        config.backoff.statuses.set(uniform(0...99) < share ? .retry : .drop, for: status)
      }
      if uniform(0...1) == 0 { config.backoff.statuses.outsideAction = .retry }
      let (decoded, repairs) = HTTPConfig.decode(config.encoded())
      #expect(decoded == config, "seed \(seed)")
      #expect(repairs.isEmpty, "seed \(seed)")
      let wrapped = HTTPConfig.decode(.object([("httpConfig", config.encoded())]))
      #expect(wrapped.config == config, "seed \(seed)")
    }
  }

  @Test("Every end of a range survives the round trip")
  func ends() {
    var config = HTTPConfig()
    config.rateLimit.maxRetryInterval = 1_000_000
    config.backoff.baseBackoffInterval = 100_000
    config.backoff.maxBackoffInterval = 3_600_000_000
    config.backoff.maxTotalBackoffDuration = 604_800_000_000
    config.backoff.jitter = .additive(percent: 100)
    let (decoded, repairs) = HTTPConfig.decode(config.encoded())
    #expect(decoded == config && repairs.isEmpty)
  }

  @Test("The known paths name every key that the encoding uses")
  func knownKeyPaths() {
    #expect(HTTPConfig.knownKeyPaths.count == Set(HTTPConfig.knownKeyPaths).count)
    for path in ["backoffConfig", "backoffConfig.jitterStrategy", "rateLimitConfig.maxRateLimitDuration"] {
      #expect(HTTPConfig.knownKeyPaths.contains(path))
    }
    guard case .object(let parts) = HTTPConfig().encoded() else { return }
    for (part, value) in parts {
      guard case .object(let members) = value else { continue }
      for (key, _) in members { #expect(HTTPConfig.knownKeyPaths.contains("\(part).\(key)")) }
    }
  }
}
