import TestSupport
import Testing
import UploadRetry

@Suite("Settings: repairs (S14)")
struct SettingsRepairTests {
  private func decode(_ json: String) throws -> (config: HTTPConfig, repairs: [SettingsRepair]) {
    HTTPConfig.decode(try settings(json))
  }

  /// One bad value in `backoffConfig`, at the CDN's place.
  private func backoff(_ member: String) throws -> (config: BackoffConfig, repairs: [String]) {
    let (config, repairs) = try decode(
      #"{"integrations": {"Segment.io": {"httpConfig": {"backoffConfig": {\#(member)}}}}}"#)
    let prefix = #"integrations["Segment.io"].httpConfig.backoffConfig"#
    return (
      config.backoff,
      repairs.map {
        #expect($0.path.hasPrefix(prefix))
        return "\($0.path.dropFirst(prefix.count)): \($0.message)"
      }
    )
  }

  private func rateLimit(_ member: String) throws -> (config: RateLimitConfig, repairs: [String]) {
    let (config, repairs) = try decode(#"{"httpConfig": {"rateLimitConfig": {\#(member)}}}"#)
    return (config.rateLimit, repairs.map { "\($0.path): \($0.message)" })
  }

  // MARK: Numbers

  @Test("A client's own code has none of the limits of Settings, and may have no limit at all")
  func unbounded() throws {
    let json = """
      {"rateLimitConfig": {"maxRetryCount": "none", "maxTotalBackoffDuration": "none", "maxRetryInterval": 7200},
       "backoffConfig": {"maxRetryCount": 50000, "baseBackoffInterval": 0.03, "maxBackoffInterval": 86400,
                         "maxTotalBackoffDuration": 2592000}}
      """
    let (config, repairs) = HTTPConfig.decode(try settings(json), isBounded: false)
    #expect(repairs.isEmpty)
    #expect(config.rateLimit.maxRetryCount == .max && config.rateLimit.maxTotalBackoffDuration == .max)
    #expect(config.rateLimit.maxRetryInterval == seconds(7_200))
    #expect(config.backoff.maxRetryCount == 50_000 && config.backoff.baseBackoffInterval == 30_000)
    #expect(config.backoff.maxBackoffInterval == seconds(86_400))
    #expect(config.backoff.maxTotalBackoffDuration == seconds(2_592_000))
    let again = HTTPConfig.decode(config.encoded(), isBounded: false)
    #expect(again.config == config && again.repairs.isEmpty)
    // What is no number is repaired to the default, none too.
    let wrong = #"{"rateLimitConfig": {"maxRetryCount": true, "maxTotalBackoffDuration": []}}"#
    let bad = HTTPConfig.decode(
      try settings(wrong), defaults: config)
    #expect(bad.config.rateLimit == config.rateLimit)
    #expect(bad.repairs.map(\.message).allSatisfy { $0.hasSuffix("the default, none, is used") })
    // As Settings all but the last are out of range.
    let bounded = try decode(json)
    #expect(bounded.repairs.count == 7)
    #expect(bounded.config.rateLimit.maxRetryCount == 100 && bounded.config.backoff.maxRetryCount == 1_000)
  }

  @Test(
    "A number out of its range is clamped to the nearer end, and reported",
    arguments: [
      ("maxRetryCount", -1, 0), ("maxRetryCount", 1001, 1000), ("maxRetryCount", 1e300, 1000),
      ("baseBackoffInterval", 0, 0.1), ("baseBackoffInterval", 0.099, 0.1), ("baseBackoffInterval", 61, 60),
      ("maxBackoffInterval", 0.5, 1), ("maxBackoffInterval", 1e308, 3600),
      ("maxTotalBackoffDuration", -5, 0), ("maxTotalBackoffDuration", 604_801, 604_800),
      ("jitterPercent", -0.5, 0), ("jitterPercent", 250, 100),
    ] as [(String, Double, Double)])
  func clamped(key: String, value: Double, used: Double) throws {
    let (bad, repairs) = try backoff(#""\#(key)": \#(value)"#)
    #expect(bad == (try backoff(#""\#(key)": \#(used)"#)).config)
    #expect(repairs.count == 1)
    #expect(repairs.first?.hasPrefix(".\(key): ") == true)
    #expect(repairs.first?.contains("out of range") == true)
  }

  @Test(
    "The ends of a range are within it",
    arguments: [
      ("maxRetryCount", 0), ("maxRetryCount", 1000), ("baseBackoffInterval", 0.1),
      ("baseBackoffInterval", 60),
      ("maxBackoffInterval", 1), ("maxBackoffInterval", 3600), ("maxTotalBackoffDuration", 0),
      ("maxTotalBackoffDuration", 604_800), ("jitterPercent", 0), ("jitterPercent", 100),
    ] as [(String, Double)])
  func ends(key: String, value: Double) throws {
    #expect(try backoff(#""\#(key)": \#(value)"#).repairs.isEmpty)
  }

  @Test("rateLimitConfig is clamped alike")
  func rateLimitClamps() throws {
    let (config, repairs) = try rateLimit(
      #""maxRetryCount": 5000, "maxRetryInterval": 0, "maxTotalBackoffDuration": 1e9"#)
    #expect(config.maxRetryCount == 1000)
    #expect(config.maxRetryInterval == 1_000_000)
    #expect(config.maxTotalBackoffDuration == 604_800_000_000)
    #expect(
      repairs == [
        "httpConfig.rateLimitConfig.maxRetryCount: 5000 is out of range; allowed is 0 to 1000; 1000 is used",
        "httpConfig.rateLimitConfig.maxRetryInterval: 0 is out of range; allowed is 1 to 3600 s; 1 is used",
        "httpConfig.rateLimitConfig.maxTotalBackoffDuration: 1000000000 is out of range; "
          + "allowed is 0 to 604800 s; 604800 is used",
      ])
  }

  @Test("A count with a fraction loses it")
  func fractions() throws {
    let (config, repairs) = try backoff(#""maxRetryCount": 3.7"#)
    #expect(config.maxRetryCount == 3)
    #expect(repairs == [".maxRetryCount: 3.7 is not a whole number; allowed is 0 to 1000; 3 is used"])
  }

  @Test(
    "A value of the wrong type has its default",
    arguments: [
      "enabled", "maxRetryCount", "baseBackoffInterval", "maxBackoffInterval", "maxTotalBackoffDuration",
      "jitterPercent", "jitterStrategy", "retryableStatusCodes", "default4xxBehavior", "default5xxBehavior",
      "unknownCodeBehavior", "statusCodeOverrides",
    ])
  func wrongTypes(key: String) throws {
    let wrong: [SettingsValue] = [
      .null, .string("ten"), .number(.nan), .number(.infinity), .number(-.infinity), .array([.null]),
      .object([("x", .null)]), .bool(true),
    ]
    for value in wrong where !(key == "enabled" && value == .bool(true)) {
      let settings = SettingsValue.object([("backoffConfig", .object([(key, value)]))])
      let (config, repairs) = HTTPConfig.decode(settings)
      #expect(config == HTTPConfig(), "\(key) \(value)")
      #expect(!repairs.isEmpty, "\(key) \(value)")
      #expect(repairs.allSatisfy { $0.path.hasPrefix("backoffConfig.\(key)") }, "\(key) \(value)")
    }
  }

  @Test("A repair says what is wrong, what is allowed and what is used")
  func messages() throws {
    #expect(
      try backoff(#""jitterPercent": "ten""#).repairs
        == [".jitterPercent: \"ten\" is not a number; allowed is 0 to 100 %; the default, 10, is used"])
    #expect(
      try backoff(#""enabled": 1"#).repairs
        == [".enabled: 1 is not true or false; the default, true, is used"])
    #expect(
      try backoff(#""default5xxBehavior": "Retry""#).repairs
        == [".default5xxBehavior: \"Retry\" is not \"retry\" or \"drop\"; it is ignored"])
  }

  // MARK: Jitter

  @Test("An unknown strategy falls back to jitterPercent, with the list of names and the nearest one")
  func unknownStrategy() throws {
    let (config, repairs) = try backoff(#""jitterPercent": 30, "jitterStrategy": "decorelated""#)
    #expect(config.jitter == .additive(percent: 30))
    #expect(
      repairs == [
        ".jitterStrategy: \"decorelated\" is not a jitter strategy; allowed are none, "
          + "additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T "
          + "(P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first); "
          + "did you mean decorrelated? additive:30 is used"
      ])
  }

  // MARK: Statuses

  @Test("An entry of retryableStatusCodes that is no status is ignored, the others count")
  func listEntries() throws {
    let (config, repairs) = try backoff(
      #""retryableStatusCodes": [503, "504", 99, 600, 502.5, null, 1e300, -503, 200]"#)
    #expect(config.statuses.classify(503) == .retry && config.statuses.classify(504) == .drop)
    #expect(
      repairs.map { String($0.prefix { $0 != ":" }) } == (1...8).map { ".retryableStatusCodes[\($0)]" })
    #expect(
      repairs[0]
        == ".retryableStatusCodes[1]: \"504\" is not a status; allowed is 100 to 599; it is ignored")
  }

  @Test("A list without one usable status is ignored as a whole: a typo must not drop everything")
  func uselessList() throws {
    let (config, repairs) = try backoff(#""retryableStatusCodes": ["503", "5xx"]"#)
    #expect(config.statuses == .document)
    #expect(repairs.last == ".retryableStatusCodes: no usable status in it; the list is ignored")
  }

  @Test("An override that is bad is ignored, the others count")
  func overrides() throws {
    let (config, repairs) = try backoff(
      #"""
      "statusCodeOverrides": {
        "0503": "drop", "1e2": "retry", "204": "drop", "404": "retry", "429": "drop", "5xx": "drop",
        "503": "maybe", "600": "retry"
      }
      """#)
    var expected = StatusTable.document
    expected.set(.retry, for: 404)
    #expect(config.statuses == expected)
    #expect(
      repairs == [
        ".statusCodeOverrides[\"0503\"]: \"0503\" is not a status; allowed is 100 to 599; it is ignored",
        ".statusCodeOverrides[\"1e2\"]: \"1e2\" is not a status; allowed is 100 to 599; it is ignored",
        ".statusCodeOverrides[\"204\"]: 204 is a success and always delivered; it is ignored",
        ".statusCodeOverrides[\"429\"]: a 429 follows rateLimitConfig alone; it is ignored",
        ".statusCodeOverrides[\"503\"]: \"maybe\" is not \"retry\" or \"drop\"; it is ignored",
        ".statusCodeOverrides[\"5xx\"]: \"5xx\" is not a status; allowed is 100 to 599; it is ignored",
        ".statusCodeOverrides[\"600\"]: \"600\" is not a status; allowed is 100 to 599; it is ignored",
      ])
  }

  // MARK: Keys and sections

  @Test("An unknown key is reported with the one that was meant")
  func unknownKeys() throws {
    #expect(
      try backoff(#""jiterPercent": 3"#).repairs
        == [".jiterPercent: unknown key, ignored; did you mean jitterPercent?"])
    #expect(
      try backoff(#""jitterpercent": 3"#).repairs
        == [".jitterpercent: unknown key, ignored; did you mean jitterPercent?"])
    #expect(
      try backoff(#""maxRetryInterval": 3"#).repairs
        == [".maxRetryInterval: unknown key, ignored; it belongs inside rateLimitConfig"])
    #expect(
      try rateLimit(#""zzz": 3"#).repairs == [
        "httpConfig.rateLimitConfig.zzz: unknown key, ignored; known are enabled, maxRetryCount, "
          + "maxRetryInterval, maxTotalBackoffDuration, maxRateLimitDuration"
      ])
    let misplaced = try decode(#"{"httpConfig": {"statusCodeOverrides": {"404": "retry"}}}"#)
    #expect(misplaced.config == HTTPConfig())
    #expect(
      misplaced.repairs == [
        SettingsRepair(
          path: "httpConfig.statusCodeOverrides",
          message: "unknown key, ignored; it belongs inside backoffConfig")
      ])
  }

  @Test(
    "A section that is not an object gives the defaults",
    arguments: [
      ("[]", ""), ("null", ""), ("3", ""), (#"{"httpConfig": null}"#, "httpConfig"),
      (#"{"httpConfig": "on"}"#, "httpConfig"), (#"{"retryConfig": []}"#, "retryConfig"),
      (#"{"integrations": []}"#, "integrations"),
      (#"{"integrations": {"Segment.io": true}}"#, #"integrations["Segment.io"]"#),
      (#"{"httpConfig": {"backoffConfig": 5}}"#, "httpConfig.backoffConfig"),
      (#"{"rateLimitConfig": false}"#, "rateLimitConfig"),
      (#"{"htpConfig": {}}"#, "htpConfig"), (#"{"backofConfig": {}}"#, "backofConfig"),
      (#"{"integrations": {"Segment.io": {"httpconfig": {}}}}"#, #"integrations["Segment.io"].httpconfig"#),
    ])
  func badSections(json: String, path: String) throws {
    let (config, repairs) = try decode(json)
    #expect(config == HTTPConfig())
    #expect(repairs.map(\.path) == [path])
  }

  @Test("Of several sections the first usable one counts, and the others are reported")
  func severalSections() throws {
    let (config, repairs) = try decode(
      #"""
      {
        "httpConfig": 5, "retryConfig": {"backoffConfig": {"maxRetryCount": 1}},
        "integrations": {"Segment.io": {"httpConfig": {"backoffConfig": {"maxRetryCount": 2}}}},
        "backoffConfig": {"maxRetryCount": 3}
      }
      """#)
    #expect(config.backoff.maxRetryCount == 1)
    #expect(
      repairs.map { "\($0.path): \($0.message)" } == [
        "httpConfig: 5 is not an object; it is ignored",
        #"integrations["Segment.io"].httpConfig: ignored, because retryConfig is there too"#,
        "backoffConfig: ignored, because retryConfig is there too",
      ])
  }

  @Test("Of the two names of the 429s' age limit the document's counts")
  func twoNames() throws {
    let (config, repairs) = try rateLimit(#""maxRateLimitDuration": 60, "maxTotalBackoffDuration": 120"#)
    #expect(config.maxTotalBackoffDuration == 120_000_000)
    #expect(repairs.count == 1)
  }

  @Test("Strange keys stay on one line and short")
  func strangeKeys() {
    let long = String(repeating: "x", count: 100_000)
    let keys = ["", "a\nb", "\"", "\u{202e}", "é", "1a", long]
    let (config, repairs) = HTTPConfig.decode(
      .object([("backoffConfig", .object(keys.map { ($0, .null) }))]))
    #expect(config == HTTPConfig())
    #expect(repairs.count == keys.count)
    #expect(repairs[1].path == #"backoffConfig["a\u{a}b"]"#)
    for repair in repairs.dropLast() { #expect(!repair.path.contains("\n") && repair.path.count < 100) }
  }

  @Test(
    "No tree makes decoding trap, and what it gives can be encoded",
    arguments: 1...UInt64(TestDepth.cases(8, exhaustively: 30)))
  func randomTrees(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func pick(_ count: Int) -> Int { Int(random.next() >> 33) % count }
    let keys =
      ["httpConfig", "retryConfig", "integrations", "Segment.io", "408", "429", "999", "zzz"]
      + HTTPConfig.knownKeyPaths.map { String($0.split(separator: ".").last!) }
    let numbers = [
      0, -0.0, -1, 0.5, 10, 503, 1e19, -1e19, 1e308, -1e308, 1e-300, .nan, .infinity, -.infinity,
    ]
    func tree(_ depth: Int) -> SettingsValue {
      switch pick(depth > 0 ? 14 : 7) {
      case 0: .null
      case 1: .bool(pick(2) == 0)
      case 2, 3: .number(numbers[pick(numbers.count)])
      case 4, 5: .string(["retry", "drop", "full", "additive:200", "", "503"][pick(6)])
      case 6: .array((0..<pick(4)).map { _ in tree(depth - 1) })
      default: .object((0..<pick(12)).map { _ in (keys[pick(keys.count)], tree(depth - 1)) })
      }
    }
    for _ in 0..<200 {
      let settings = SettingsValue.object([
        ("httpConfig", .object((0..<4).map { _ in (keys[pick(keys.count)], tree(3)) }))
      ])
      for document in [settings, tree(4)] {
        let (config, _) = HTTPConfig.decode(document)
        let again = HTTPConfig.decode(config.encoded())
        #expect(again.config == config && again.repairs.isEmpty, "seed \(seed)")
      }
    }
  }
}
