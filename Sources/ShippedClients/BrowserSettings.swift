import UploadRetry

/// The Settings of analytics-next's browser SDK (analytics-next 0c4fa881, S/shared-dispatcher.ts:140-312).
///
/// The values are JavaScript's and not checked for a type. A text is the number that JavaScript makes of it, and a value that is
/// no number is NaN. A comparison with NaN is false. So a NaN is no limit.
public struct BrowserSettings: Sendable, Hashable {
  /// `rateLimitConfig.maxRetryCount`.
  public var rateLimitRetryCount = 10.0
  /// `rateLimitConfig.maxRetryInterval`, seconds.
  public var maxRetryInterval = 300.0
  /// `rateLimitConfig.maxRateLimitDuration`, seconds.
  public var maxRateLimitDuration = 43_200.0
  /// `backoffConfig.maxRetryCount`.
  public var retryCount = 10.0
  /// `backoffConfig.baseBackoffInterval`, seconds.
  public var baseBackoffInterval = 0.5
  /// `backoffConfig.maxBackoffInterval`, seconds.
  public var maxBackoffInterval = 60.0
  /// `backoffConfig.maxTotalBackoffDuration`, seconds.
  public var maxTotalBackoffDuration = 43_200.0
  /// `backoffConfig.jitterPercent`.
  public var jitterPercent = 10.0
  /// `default4xxBehavior`, `default5xxBehavior`, as they are; what is not "retry" drops.
  private var default4xx: SettingsValue
  private var default5xx: SettingsValue
  /// `statusCodeOverrides` by code, over the SDK's own.
  private var overrides: [String: SettingsValue] = [
    "408": .string("retry"), "410": .string("retry"), "429": .string("retry"), "460": .string("retry"),
    "501": .string("drop"), "505": .string("drop"), "511": .string("drop"),
  ]
  /// Whether `jitterPercent` was given.
  private(set) var hasOwnJitter: Bool

  /// The Settings of a page.
  ///
  /// - `published`: what the CDN serves: `httpConfig` in `integrations["Segment.io"]`, or without any `integrations` at the top.
  /// - `page`: the `httpConfig` that the page itself gives; nil: none. It counts only where the CDN names the integration, and where the
  ///   CDN's own leaves a field out.
  /// - `defaults`: what a number is that is not given; nil: the SDK's own.
  public init(published: SettingsValue, page: SettingsValue? = nil, defaults: HTTPConfig? = nil) {
    var integration: SettingsValue? = published
    if let integrations = published.member("integrations") { integration = integrations.member("Segment.io") }
    let layers = [integration == nil ? nil : page, integration?.member("httpConfig")].compactMap { $0 }
    func field(_ section: String, _ key: String) -> SettingsValue? {
      var found: SettingsValue?
      for layer in layers { if let value = layer.member(section)?.member(key) { found = value } }
      return found == .null ? nil : found
    }
    hasOwnJitter = field("backoffConfig", "jitterPercent") != nil
    default4xx = field("backoffConfig", "default4xxBehavior") ?? .string("drop")
    default5xx = field("backoffConfig", "default5xxBehavior") ?? .string("retry")
    for layer in layers {
      switch layer.member("backoffConfig")?.member("statusCodeOverrides") {
      case .object(let members): for member in members { overrides[member.key] = member.value }
      case .array(let items): for (index, item) in items.enumerated() { overrides["\(index)"] = item }
      case .string(let text):
        for (index, unit) in text.enumerated() { overrides["\(index)"] = .string(String(unit)) }
      case .null, .bool, .number, nil: break
      }
    }
    if let defaults { takeNumbers(of: defaults) }
    Self.take(&rateLimitRetryCount, field("rateLimitConfig", "maxRetryCount"), 0...100)
    Self.take(&maxRetryInterval, field("rateLimitConfig", "maxRetryInterval"), 0.1...86_400)
    Self.take(&maxRateLimitDuration, field("rateLimitConfig", "maxRateLimitDuration"), 10...86_400)
    Self.take(&retryCount, field("backoffConfig", "maxRetryCount"), 0...100)
    Self.take(&baseBackoffInterval, field("backoffConfig", "baseBackoffInterval"), 0.1...300)
    Self.take(&maxBackoffInterval, field("backoffConfig", "maxBackoffInterval"), 0.1...86_400)
    Self.take(&maxTotalBackoffDuration, field("backoffConfig", "maxTotalBackoffDuration"), 60...604_800)
    Self.take(&jitterPercent, field("backoffConfig", "jitterPercent"), 0...100)
  }

  /// Settings that a scenario's cohort has.
  public init(_ config: HTTPConfig) {
    self.init(published: .object([]))
    takeNumbers(of: config)
    take(config.backoff.statuses)
  }

  /// All that is a number.
  mutating func takeNumbers(of config: HTTPConfig) {
    func count(_ n: Int) -> Double { n == .max ? .nan : Double(n) }
    func seconds(_ microseconds: Int64) -> Double {
      microseconds == .max ? .nan : Double(microseconds) / 1_000_000
    }
    rateLimitRetryCount = count(config.rateLimit.maxRetryCount)
    maxRetryInterval = seconds(config.rateLimit.maxRetryInterval)
    maxRateLimitDuration = seconds(config.rateLimit.maxTotalBackoffDuration)
    retryCount = count(config.backoff.maxRetryCount)
    baseBackoffInterval = seconds(config.backoff.baseBackoffInterval)
    maxBackoffInterval = seconds(config.backoff.maxBackoffInterval)
    maxTotalBackoffDuration = seconds(config.backoff.maxTotalBackoffDuration)
    jitterPercent = config.backoff.jitter.addedPercent
  }

  /// Each status from 400 to 599 is treated as a table says.
  mutating func take(_ statuses: StatusTable) {
    overrides = [:]
    (default4xx, default5xx) = (.string("drop"), .string("retry"))
    for status in 400...599 {
      let isRetried =
        switch statuses.classify(status) {
        case .rateLimited: !statuses.dropsRateLimited
        case .retry: true
        case .success, .drop, .authenticate: false
        }
      overrides["\(status)"] = .string(isRetried ? "retry" : "drop")
    }
  }

  /// Replaces a value by the given one, within its range.
  private static func take(
    _ place: inout Double, _ value: SettingsValue?, _ range: ClosedRange<Double>
  ) {
    guard let value else { return }
    let number = JavaScript.number(value)
    place = number.isNaN ? number : min(max(number, range.lowerBound), range.upperBound)
  }

  /// The consequence of an answer.
  public enum Verdict: Sendable, Hashable {
    /// Delivered, given up, or tried again by the client's own waits.
    case delivered, drop, retry
    /// A 429 asked for so many seconds; NaN where the cap is.
    case wait(Double)
  }

  /// Returns the consequence of an answer with a status.
  ///
  /// - `retryAfter`: seconds as `seconds(ofRetryAfter:)` reads them; nil: none.
  public func verdict(status: Int, retryAfter: Double?) -> Verdict {
    if status < 400 { return .delivered }
    var behaviour = overrides["\(status)"] ?? .null
    if !behaviour.isTruthy { behaviour = status < 500 ? default4xx : default5xx }
    if status == 429, behaviour != .string("drop"), let retryAfter {
      return .wait(maxRetryInterval.isNaN ? .nan : max(0, min(retryAfter, maxRetryInterval)))
    }
    return behaviour == .string("retry") ? .retry : .drop
  }

  /// `parseInt` of the header, base 10; nil for what begins with no number.
  public static func seconds(ofRetryAfter text: String) -> Double? {
    var rest = JavaScript.trimmed(text).utf8[...]
    var sign = 1.0
    if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      if first == UInt8(ascii: "-") { sign = -1 }
      rest = rest.dropFirst()
    }
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if digits.isEmpty { return nil }
    return sign * digits.reduce(0.0) { $0 * 10 + Double($1 - UInt8(ascii: "0")) }
  }

  /// As `resolveHttpConfig` returns it; what is not a number is the text "NaN".
  public func encoded() -> SettingsValue {
    func numbers(_ fields: [(String, Double)]) -> [(key: String, value: SettingsValue)] {
      fields.map { ($0.0, $0.1.isNaN ? .string("NaN") : .number($0.1)) }
    }
    let rateLimit = numbers([
      ("maxRetryCount", rateLimitRetryCount), ("maxRetryInterval", maxRetryInterval),
      ("maxRateLimitDuration", maxRateLimitDuration),
    ])
    let backoff = numbers([
      ("maxRetryCount", retryCount), ("baseBackoffInterval", baseBackoffInterval),
      ("maxBackoffInterval", maxBackoffInterval), ("maxTotalBackoffDuration", maxTotalBackoffDuration),
      ("jitterPercent", jitterPercent),
    ])
    let codes = overrides.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
    let behaviours = [
      (key: "default4xxBehavior", value: default4xx), (key: "default5xxBehavior", value: default5xx),
      (key: "statusCodeOverrides", value: .object(codes)),
    ]
    return .object([
      ("rateLimitConfig", .object(rateLimit)), ("backoffConfig", .object(backoff + behaviours)),
    ])
  }
}

extension Jitter {
  /// The percentage of additive jitter; 0 for any other.
  package var addedPercent: Double { additivePercent ?? 0 }
}

extension SettingsValue {
  /// The value of a key; nil of what is no object, and of a key that is not there.
  package func member(_ key: String) -> SettingsValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }

  /// Whether JavaScript takes the value for true.
  fileprivate var isTruthy: Bool {
    switch self {
    case .null: false
    case .bool(let value): value
    case .number(let number): number != 0 && !number.isNaN
    case .string(let text): !text.isEmpty
    case .array, .object: true
    }
  }
}
