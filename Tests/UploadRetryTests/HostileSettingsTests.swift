import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadRetry

/// Settings that trap or pass unclamped in shipped clients: never a trap here, and each repair reported (S14).
@Suite("Hostile Settings")
struct HostileSettingsTests {
  private static let rateLimit = ["maxRetryCount", "maxRetryInterval", "maxTotalBackoffDuration"]
  private static let backoff = [
    "maxRetryCount", "baseBackoffInterval", "maxBackoffInterval", "maxTotalBackoffDuration", "jitterPercent",
  ]

  private static func section(_ name: String, _ key: String, _ value: SettingsValue) -> SettingsValue {
    .object([("httpConfig", .object([(name, .object([(key, value)]))]))])
  }

  /// The S14 ranges, times in seconds.
  private func isInRange(_ config: HTTPConfig) -> Bool {
    func within(_ value: Int64, _ low: Double, _ high: Double) -> Bool {
      value >= seconds(low) && value <= seconds(high)
    }
    let (rateLimit, backoff) = (config.rateLimit, config.backoff)
    guard let percent = backoff.jitter.additivePercent, (0...100).contains(percent) else { return false }
    return (0...1_000).contains(rateLimit.maxRetryCount) && (0...1_000).contains(backoff.maxRetryCount)
      && within(rateLimit.maxRetryInterval, 1, 3_600) && within(backoff.baseBackoffInterval, 0.1, 60)
      && within(backoff.maxBackoffInterval, 1, 3_600)
      && within(rateLimit.maxTotalBackoffDuration, 0, 604_800)
      && within(backoff.maxTotalBackoffDuration, 0, 604_800)
  }

  /// Uploads through a few failures by a configuration; the longest wait there was.
  private func longestWait(_ config: HTTPConfig, _ policy: ClientPolicy) -> Int64 {
    let machine = RetryStateMachine(config: config, of: policy)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = Constant.high
    var longest: Int64 = 0
    for answer in [UploadResponse.status(503, retryAfter: nil), .status(429, retryAfter: .max), .noStatus] {
      for _ in 0..<70 {
        switch machine.afterResponse(answer, batch: &batch, pipeline: &pipeline, now: 0, random: &random) {
        case .retry(let time), .pause(let time), .backOff(let time), .refreshThenRetry(let time),
          .dropAndPause(_, let time):
          longest = max(longest, time)
        case .delivered, .retryAtNextTrigger, .refreshCredentials, .drop, .discarded: break
        }
        _ = machine.beforeSend(batch: batch, pipeline: &pipeline, now: .max)
      }
      // A client that acts at the end of its flushes.
      var (record, counts) = (BatchRetryState(), PipelineRetryState())
      for _ in 0..<70 {
        var tally = FlushTally()
        machine.add(machine.result(of: answer), to: &tally, client: &record, pipeline: &counts, now: 0)
        machine.finish(&tally, client: &record, pipeline: &counts, now: 0, random: &random)
        longest = max(longest, tally.waitUntil)
      }
    }
    return longest
  }

  @Test(
    "A number far out of range is clamped, named in a repair, and makes no wait beyond two hours",
    arguments: [-1e300, -1e18, -5, 900_000, 1e18, 1e300, .infinity, -.infinity, .nan])
  func numbers(value: Double) {
    for (name, keys) in [("rateLimitConfig", Self.rateLimit), ("backoffConfig", Self.backoff)] {
      for key in keys {
        let (config, repairs) = HTTPConfig.decode(Self.section(name, key, .number(value)))
        #expect(repairs.map(\.path) == ["httpConfig.\(name).\(key)"], "\(value)")
        #expect(isInRange(config), "\(key) \(value)")
        for policy in [ClientPolicy.tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative] {
          #expect(longestWait(config, policy) <= seconds(7_200))
        }
      }
    }
  }

  @Test(
    "Values that trap or pass unclamped in shipped clients: jitterPercent 0, 900, −5; base 0; counts of 10^18",
    arguments: [
      ("jitterPercent", 0, nil), ("jitterPercent", 900, "100"), ("jitterPercent", -5, "0"),
      ("baseBackoffInterval", 0, "0.1"), ("maxRetryCount", 1e18, "1000"), ("maxBackoffInterval", 0, "1"),
    ] as [(String, Double, String?)])
  func namedValues(key: String, value: Double, used: String?) {
    let (config, repairs) = HTTPConfig.decode(Self.section("backoffConfig", key, .number(value)))
    #expect(isInRange(config))
    #expect(repairs.count == (used == nil ? 0 : 1))
    if let used { #expect(repairs[0].message.hasSuffix("; \(used) is used")) }
  }

  @Test("A value of another type than expected is replaced by the default, each with a repair")
  func types() {
    let wrong: [SettingsValue] = [.null, .bool(true), .string("100"), .array([.number(5)]), .object([])]
    for (name, keys) in [("rateLimitConfig", Self.rateLimit), ("backoffConfig", Self.backoff)] {
      for key in keys {
        for value in wrong {
          let (config, repairs) = HTTPConfig.decode(Self.section(name, key, value))
          #expect(config == HTTPConfig() && repairs.map(\.path) == ["httpConfig.\(name).\(key)"])
        }
      }
    }
    for value in wrong {
      let whole = HTTPConfig.decode(value)
      #expect(whole.config == HTTPConfig())
      if case .object = value { #expect(whole.repairs.isEmpty) } else { #expect(whole.repairs.count == 1) }
    }
  }

  @Test("Nonsense nested 400 deep is passed over, wherever it stands")
  func nested() {
    var deep = SettingsValue.number(5)
    for level in 0..<400 { deep = level % 2 == 0 ? .array([deep]) : .object([("httpConfig", deep)]) }
    for place in ["httpConfig", "integrations", "rateLimitConfig", "backoffConfig", "nonsense"] {
      let (config, repairs) = HTTPConfig.decode(.object([(place, deep)]))
      #expect(config == HTTPConfig())
      #expect(["nonsense", "integrations"].contains(place) || !repairs.isEmpty, "\(place)")
    }
    let inside = HTTPConfig.decode(Self.section("backoffConfig", "statusCodeOverrides", deep))
    #expect(inside.config == HTTPConfig() && !inside.repairs.isEmpty)
  }

  @Test("A megabyte of it: every bad member has its repair, and the good one is used")
  func megabyte() {
    let name = String(repeating: "x", count: 90)
    var members: [(key: String, value: SettingsValue)] = (0..<2_500).map { ("\($0)\(name)", .null) }
    members.append(("maxRetryCount", .number(7)))
    let keys = HTTPConfig.decode(.object([("httpConfig", .object([("backoffConfig", .object(members))]))]))
    #expect(keys.config.backoff.maxRetryCount == 7 && keys.repairs.count == 2_500)

    let codes: [SettingsValue] = (0..<50_000).map { .number(Double($0 + 600)) } + [.number(503)]
    let list = HTTPConfig.decode(Self.section("backoffConfig", "retryableStatusCodes", .array(codes)))
    #expect(list.repairs.count == 50_000)
    #expect(list.config.backoff.statuses.classify(503) == .retry)
    #expect(list.config.backoff.statuses.classify(500) == .drop)

    let long = SettingsValue.string(String(repeating: "additive:", count: 120_000))
    let text = HTTPConfig.decode(Self.section("backoffConfig", "jitterStrategy", long))
    #expect(text.config == HTTPConfig() && text.repairs.count == 1)
    #expect(text.repairs[0].message.utf8.count < 500)
  }
}
