import UploadRetry

/// analytics-kotlin a14649b: the switches are read on their own; one value that cannot be read resets all the others; values are
/// clamped afterwards.
struct AnalyticsKotlinSettings {
  let defaults: HTTPConfig
  private(set) var findings = FindingCollector(.analyticsKotlin)
  /// The structure is not as expected: legacy.
  private var isUnmanaged = false
  /// A value could not be read: every value is its default.
  private var isReset = false

  init(defaults: HTTPConfig) { self.defaults = defaults }

  private enum Place {
    static let settings = "Settings.kt:32"
    static let section = "SegmentDestination.kt:121-126"
    static let named = "SegmentDestination.kt:20-24"
    static let switches = "SegmentDestination.kt:123-131"
    static let rateLimitKeys = "RetryConfig.kt:24-28"
    static let backoffKeys = "RetryConfig.kt:43-61"
    static let statuses = "RetryConfig.kt:53-60"
    static let clamps = "RetryConfig.kt"
    static let clampedJitter = "RetryConfig.kt:71"
    static let reset = "RetryConfig.kt:132-135"
    static let unlimited429 = "RetryStateMachine.kt:42-45, :190"
    static let backoffOff = "RetryStateMachine.kt:48-55, :193"
    static let rateLimited = "RetryStateMachine.kt:59-71"
    static let globalLimit = "RetryStateMachine.kt:142-146"
    static let behaviour = "RetryStateMachine.kt:202"
    static let legacy = "EventPipeline.kt:68-73"
    static let success = "HTTPClient.kt:109"
  }

  private static let without =
    "runs in legacy, without waits and limits, and drops every 4xx but 429, a 408, 410 or 460 too"

  static let unread: [String: (reason: String, place: String)] = {
    let duration = (
      "it has no such limit on 429s, only backoffConfig.maxTotalBackoffDuration", Place.rateLimitKeys
    )
    return [
      "rateLimitConfig.maxTotalBackoffDuration": duration,
      "rateLimitConfig.maxRateLimitDuration": duration,
      "backoffConfig.jitterStrategy": (
        "its jitter is always up to jitterPercent of the wait, added to it", Place.backoffKeys
      ),
      "backoffConfig.retryableStatusCodes": (
        "it decides by statusCodeOverrides and the three behaviours; write the statuses there",
        Place.backoffKeys
      ),
    ]
  }()

  // MARK: The section

  mutating func read(_ settings: SettingsValue) -> HTTPConfig {
    guard case .object(let members) = settings else {
      structural("", "\(described(settings)) is not an object", Place.settings)
      return defaults.unmanaged
    }
    let root = SettingsSection(path: "", members: members)
    let found = findings.httpConfig(
      in: root, topFirst: true, skipsNull: false, place: Place.named)
    guard let found else {
      findings.add(
        .legacy, "", "there is no httpConfig: \(findings.sdk) \(Self.without)",
        Place.section)
      return defaults.unmanaged
    }
    guard case .object(let members) = found.value else {
      structural(found.path, "\(described(found.value)) is not an object", Place.section)
      return defaults.unmanaged
    }
    let section = SettingsSection(path: found.path, members: members)
    findings.reportUnreadKeys(in: section, named: nil, place: Place.section)
    var config = defaults
    let rate = part(SettingsName.rateLimit, of: section, Place.rateLimitKeys)
    let backoff = part(SettingsName.backoff, of: section, Place.backoffKeys)
    config.rateLimit.isEnabled = enabled(in: rate, default: defaults.rateLimit.isEnabled)
    config.backoff.isEnabled = enabled(in: backoff, default: defaults.backoff.isEnabled)
    reportSwitches(config, section, rate, backoff)
    readRateLimit(rate, into: &config)
    readBackoff(backoff, into: &config)
    if isUnmanaged { return defaults.unmanaged }
    return isReset ? reset(config) : config
  }

  /// The values of the defaults under the switches that were read.
  private func reset(_ config: HTTPConfig) -> HTTPConfig {
    var result = defaults
    result.rateLimit.maxTotalBackoffDuration = .max
    result.backoff.statuses = StatusRules().table(heedsRateLimited: false)
    result.rateLimit.isEnabled = config.rateLimit.isEnabled
    result.backoff.isEnabled = config.backoff.isEnabled
    return result
  }

  private mutating func part(_ key: String, of section: SettingsSection, _ place: String) -> SettingsSection?
  {
    guard let value = section[key] else { return nil }
    let path = section.path(of: key)
    guard case .object(let members) = value else {
      structural(path, "\(described(value)) is not an object", Place.section)
      return nil
    }
    let part = SettingsSection(path: path, members: members)
    findings.reportUnreadKeys(in: part, named: key, place: place)
    return part
  }

  /// The two switches are read before and apart from the values.
  private mutating func enabled(in part: SettingsSection?, default standard: Bool) -> Bool {
    guard let part, let value = part["enabled"] else { return standard }
    let path = part.path(of: "enabled")
    switch value {
    case .bool(let bool): return bool
    case .string(let text) where ["true", "false"].contains(text.lowercased()):
      let bool = text.lowercased() == "true"
      if bool == standard {
        findings.add(
          .repaired, path, "\(quoted(text)) is \(bool) in \(findings.sdk); write \(bool)",
          Place.switches)
      } else {
        findings.add(
          .readDifferently, path,
          "\(quoted(text)) is \(bool) in \(findings.sdk), and \(standard) by the document; write \(bool)",
          Place.switches)
      }
      return bool
    case .array, .object:
      structural(path, "\(described(value)) is not true or false", Place.section)
    default:
      unreadable(
        path, "\(described(value)) is not true or false",
        "the section is on; write true or false")
    }
    return true
  }

  private mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ rate: SettingsSection?, _ backoff: SettingsSection?
  ) {
    let sdk = findings.sdk
    switch (config.rateLimit.isEnabled, config.backoff.isEnabled) {
    case (true, true): return
    case (false, true):
      guard let rate else { return }
      findings.add(
        .losesData, rate.path(of: "enabled"),
        "with rate limiting off and backoff on, \(sdk) drops every batch that gets a 429, whatever statusCodeOverrides say; "
          + "switch both off, or neither", Place.unlimited429)
    case (true, false):
      guard let backoff else { return }
      findings.add(
        .losesData, backoff.path(of: "enabled"),
        "with backoff off, \(sdk) drops every batch that gets a 5xx, or any status that is no success and no 429; "
          + "leave it on", Place.backoffOff)
    case (false, false):
      findings.add(
        .losesData, section.path, "both sections are off: \(sdk) \(Self.without)", Place.legacy)
    }
  }

  private mutating func readRateLimit(_ part: SettingsSection?, into config: inout HTTPConfig) {
    config.rateLimit.maxTotalBackoffDuration = .max
    guard let part else { return }
    if let count = integer(.maxRetryCount, in: part) {
      let clamped = clamp(count, to: .maxRetryCount)
      config.rateLimit.maxRetryCount = Int(clamped)
      if clamped == 0, config.rateLimit.isEnabled {
        findings.add(
          .losesData, part.path(of: "maxRetryCount"),
          "with \(count), \(findings.sdk) drops every batch before its first send: no retry left is a limit reached; "
            + "write 1 or more", Place.globalLimit)
      } else {
        compare(.maxRetryCount, in: part, Double(clamped), Double(defaults.rateLimit.maxRetryCount))
      }
    }
    if let interval = integer(.maxRetryInterval, in: part) {
      let clamped = clamp(interval, to: .maxRetryInterval)
      config.rateLimit.maxRetryInterval = microseconds(whole: clamped)
      compare(.maxRetryInterval, in: part, Double(clamped), seconds(defaults.rateLimit.maxRetryInterval))
    }
  }

  private mutating func readBackoff(_ part: SettingsSection?, into config: inout HTTPConfig) {
    config.backoff.statuses = StatusRules().table(heedsRateLimited: false)
    guard let part else { return }
    if let count = integer(.maxRetryCount, in: part) {
      let clamped = clamp(count, to: .maxRetryCount)
      config.backoff.maxRetryCount = Int(clamped)
      compare(.maxRetryCount, in: part, Double(clamped), Double(defaults.backoff.maxRetryCount))
    }
    if let base = double(.baseBackoffInterval, in: part) {
      let clamped = min(max(base, 0.1), 60)
      config.backoff.baseBackoffInterval = microseconds(clamped)
      compare(.baseBackoffInterval, in: part, clamped, seconds(defaults.backoff.baseBackoffInterval))
    }
    if let cap = integer(.maxBackoffInterval, in: part) {
      let clamped = clamp(cap, to: .maxBackoffInterval)
      config.backoff.maxBackoffInterval = microseconds(whole: clamped)
      compare(.maxBackoffInterval, in: part, Double(clamped), seconds(defaults.backoff.maxBackoffInterval))
    }
    if let total = integer(.maxTotalBackoffDuration, in: part, bits: 64) {
      let clamped = clamp(total, to: .maxTotalBackoffDuration)
      config.backoff.maxTotalBackoffDuration = microseconds(whole: clamped)
      compare(
        .maxTotalBackoffDuration, in: part, Double(clamped), seconds(defaults.backoff.maxTotalBackoffDuration)
      )
    }
    if let percent = integer(.jitterPercent, in: part) {
      let clamped = min(max(percent, 0), 50)
      config.backoff.jitter = Jitter(shippedPercent: Double(clamped))
      compare(.jitterPercent, in: part, Double(clamped), defaults.backoff.jitter.additivePercent)
    }
    config.backoff.statuses = statuses(in: part).table(heedsRateLimited: false)
  }

  // MARK: Statuses

  private mutating func statuses(in part: SettingsSection) -> StatusRules {
    var rules = StatusRules()
    rules.default4xx = behaviour("default4xxBehavior", in: part) ?? rules.default4xx
    rules.default5xx = behaviour("default5xxBehavior", in: part) ?? rules.default5xx
    rules.unknown = behaviour("unknownCodeBehavior", in: part) ?? rules.unknown
    if rules.unknown == .retry {
      findings.add(
        .readDifferently, part.path(of: "unknownCodeBehavior"),
        "\"retry\" does not reach a 1xx: \(findings.sdk) takes it as a success and deletes the batch",
        Place.success)
    }
    guard let value = part[SettingsName.overrides] else { return rules }
    let path = part.path(of: SettingsName.overrides)
    guard case .object(let members) = value else {
      unreadable(
        path, "\(described(value)) is not an object", "write { \"429\": \"retry\" } or more")
      return rules
    }
    let given = SettingsSection(path: path, members: members)
    rules.overrides = [:]
    for (key, value) in members {
      let path = given.path(of: key)
      guard let status = Int32(key), !key.hasPrefix("+") else {
        unreadable(path, "\(quoted(key)) is not a whole number", "a status is 100 to 599")
        continue
      }
      guard let action = action(value, at: path) else {
        // Every value is reset then: what is left to say is about the other members.
        rules.overrides[Int(status)] = StatusRules.builtIn[Int(status)] ?? .drop
        continue
      }
      rules.overrides[Int(status)] = action
      reportOverride(key, Int(status), action, at: path)
    }
    if let changed = rules.changedByReplacing {
      findings.add(
        .readDifferently, path,
        "given overrides replace the ones built into \(findings.sdk): \(changed); name these statuses too",
        Place.statuses)
    }
    return rules
  }

  private mutating func reportOverride(
    _ key: String, _ status: Int, _ action: StatusAction, at path: String
  ) {
    if status < 300 {
      findings.add(
        .notRead, path, "\(findings.sdk) takes a \(status) as a success whatever it is told", Place.success)
    } else if status == 429 {
      guard action == .drop else { return }
      findings.add(
        .notRead, path,
        "\(findings.sdk) asks no override about a 429 while rate limiting is on: it waits, and never drops for it",
        Place.rateLimited)
    } else if status > 599 {
      findings.add(
        .readDifferently, path,
        "\(findings.sdk) obeys it for the code \(status); in the document a status is 100 to 599, and the simulation leaves it "
          + "out", Place.behaviour)
    } else if key != String(status) {
      findings.add(
        .readDifferently, path,
        "\(findings.sdk) reads \(quoted(key)) as \(status), which the document ignores; write \"\(status)\"",
        Place.behaviour)
    }
  }

  private mutating func behaviour(_ key: String, in part: SettingsSection) -> StatusAction? {
    part[key].flatMap { action($0, at: part.path(of: key)) }
  }

  private mutating func action(_ value: SettingsValue, at path: String) -> StatusAction? {
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    unreadable(path, "\(described(value)) is not \"retry\" or \"drop\"", "write one of these")
    return nil
  }

  // MARK: Values

  private mutating func structural(_ path: String, _ what: String, _ place: String) {
    isUnmanaged = true
    findings.add(.legacy, path, "\(what): \(findings.sdk) \(Self.without)", place)
  }

  private mutating func unreadable(_ path: String, _ what: String, _ remedy: String) {
    isReset = true
    findings.add(
      .resetsValues, path,
      "\(what): \(findings.sdk) takes its defaults for every value of both sections because of it; \(remedy)",
      Place.reset)
  }

  private mutating func compare(
    _ key: NumberKey, in part: SettingsSection, _ inForce: Double, _ standard: Double
  ) {
    guard let value = part[key.name] else { return }
    var reason = ""
    if case .string = value { reason = "which reads numbers out of text" }
    let isJitter = key.name == NumberKey.jitterPercent.name
    if isJitter, inForce == 50 { reason = "which allows 0 to 50 %" }
    findings.compare(
      value, key, at: part.path(of: key.name), inForce: inForce, default: standard, reason,
      isJitter ? Place.clampedJitter : Place.clamps)
  }

  private func clamp(_ value: Int64, to key: NumberKey) -> Int64 {
    min(max(value, Int64(key.range.lowerBound)), Int64(key.range.upperBound))
  }

  /// A whole number, or a text that is one; nil if there is none, with a finding unless it is missing.
  ///
  /// JSON writes numbers of 2^53 and more with an exponent, or may: they are no integers to the SDK.
  private mutating func integer(_ key: NumberKey, in part: SettingsSection, bits: Int = 32) -> Int64? {
    guard let value = part[key.name] else { return nil }
    var whole: Int64?
    switch value {
    case .number(let number) where number.magnitude < 0x1p53: whole = Int64(exactly: number)
    case .string(let text) where !text.hasPrefix("+"): whole = Int64(text)
    default: break
    }
    if let whole, bits == 64 || Int32(exactly: whole) != nil { return whole }
    unreadable(
      part.path(of: key.name), "\(described(value)) is not a whole number of \(bits) bits",
      "write a whole number, \(key.allowed)")
    return nil
  }

  private mutating func double(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let value = part[key.name] else { return nil }
    switch value {
    case .number(let number) where number.isFinite: return number
    case .string(let text):
      if let number = NumericText.double(NumericText.trimmed(text)), number.isFinite { return number }
    default: break
    }
    unreadable(
      part.path(of: key.name), "\(described(value)) is not a number",
      "write one, \(key.allowed)")
    return nil
  }

  // MARK: Retry-After

  /// EventPipeline.kt:256, Kotlin's `toIntOrNull` of what the HTTP client leaves of the header: a sign or none, then decimal digits
  /// of any script, 32 bits.
  static func retryAfter(_ header: String) -> Int64? {
    var scalars = NumericText.trimmed(header).unicodeScalars
    let sign = scalars.first
    if sign == "+" || sign == "-" { scalars.removeFirst() }
    guard !scalars.isEmpty else { return nil }
    var value: Int64 = 0
    for scalar in scalars {
      // A UTF-16 unit at a time: digits beyond the first plane are none.
      guard scalar.value <= 0xFFFF, scalar.properties.generalCategory == .decimalNumber,
        let digit = scalar.properties.numericValue
      else { return nil }
      value = value * 10 + Int64(digit)
      if value > 1 << 31 { return nil }
    }
    guard let seconds = Int32(exactly: sign == "-" ? -value : value) else { return nil }
    return microseconds(whole: Int64(max(0, seconds)))
  }
}
