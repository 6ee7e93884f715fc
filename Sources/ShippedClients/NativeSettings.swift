import UploadRetry

/// analytics-swift and analytics-kotlin: each decodes `httpConfig` into types of its own, so that a value of a wrong type costs more
/// than itself.
///
/// The extension has what both do alike; the requirements are what differs between them.
protocol NativeSettings: ShippedSettings {
  static var places: NativePlaces { get }
  /// What the SDK does where there is no section that it can read.
  static var without: String { get }
  /// Whether the SDK asks its overrides about a 429 as well.
  static var heedsRateLimited: Bool { get }
  var defaults: HTTPConfig { get }
  /// Whether nothing of the section is in force.
  var isUnmanaged: Bool { get set }

  /// Says what a value costs that cannot be read, or one where a section has an object.
  mutating func unreadable(_ path: String, _ what: String, _ remedy: String)
  mutating func unreadableSection(_ path: String, _ what: String)
  /// Whether a null is as good as nothing, with a finding that says so.
  mutating func passesNull(_ path: String, _ fallback: String, _ place: String) -> Bool
  mutating func enabled(in part: SettingsSection?, default standard: Bool) -> Bool
  /// Says what switches that are off lead to; that rate limiting alone is off has been said.
  mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ backoff: SettingsSection?)
  /// A number; nil if there is none, with a finding unless it is missing.
  mutating func integer(_ key: NumberKey, in part: SettingsSection) -> Int64?
  mutating func double(_ key: NumberKey, in part: SettingsSection) -> Double?
  /// What a number is clamped to; nil: it is not.
  func limits(of key: NumberKey) -> ClosedRange<Double>?
  /// Why a number is not what is written, and where that is to be seen.
  func remark(on value: SettingsValue, _ key: NumberKey, inForce: Double) -> (reason: String, place: String)
  /// Whether a value of a section that is on ends the process, with a finding that says so.
  mutating func reportsTrap(_ key: NumberKey, _ value: Double, in part: SettingsSection) -> Bool
  /// The status that a key of the overrides names. `readsStatusFirst` is whether it is looked at before the value.
  func status(of key: String) -> Int?
  static var readsStatusFirst: Bool { get }
  mutating func reportNoStatus(_ key: String, at path: String)
  /// Whether an override has no effect, or none but the document's, by its status alone; a finding says so.
  mutating func reportsStatus(_ status: Int, _ action: StatusAction, at path: String) -> Bool
  /// Says that overrides drop a 429; whether all that they change has been said by that.
  mutating func reportsDropOf429(_ rules: StatusRules, at path: String, _ path429: String?, limitsRate: Bool)
    -> Bool
  /// What is in force in place of what was read.
  func inForce(_ config: HTTPConfig) -> HTTPConfig
}

/// Where the source of an SDK does what both do.
struct NativePlaces {
  /// The Settings as a whole, and the search for `httpConfig` in them.
  var settings: String
  var search: String
  var missing: String
  var section: String
  var sectionKeys: String
  var rateLimitKeys: String
  var backoffKeys: String
  var rateLimitOff: String
  var globalLimit: String
  var behaviour: String
  var success: String
  /// Overrides that are null, and those that replace the ones built in.
  var nullOverrides: String
  var overrides: String
  /// Whether an `httpConfig` at the top goes before one of the integration.
  var isTopFirst: Bool
}

extension NativeSettings {
  var sdk: String { findings.sdk }

  // What only one of them does.
  mutating func passesNull(_ path: String, _ fallback: String, _ place: String) -> Bool { false }
  func limits(of key: NumberKey) -> ClosedRange<Double>? { nil }
  mutating func reportsTrap(_ key: NumberKey, _ value: Double, in part: SettingsSection) -> Bool { false }
  mutating func reportsDropOf429(_ rules: StatusRules, at path: String, _ path429: String?, limitsRate: Bool)
    -> Bool
  { false }
  func inForce(_ config: HTTPConfig) -> HTTPConfig { config }

  static var unread: [String: (reason: String, place: String)] {
    let duration = "it has no such limit on 429s, only backoffConfig.maxTotalBackoffDuration"
    return [
      "rateLimitConfig.maxTotalBackoffDuration": (duration, places.rateLimitKeys),
      "rateLimitConfig.maxRateLimitDuration": (duration, places.rateLimitKeys),
      "backoffConfig.jitterStrategy": (
        "its jitter is always up to jitterPercent of the wait, added to it", places.backoffKeys
      ),
      "backoffConfig.retryableStatusCodes": (
        "it decides by statusCodeOverrides and the three behaviours; write the statuses there",
        places.backoffKeys
      ),
    ]
  }

  // MARK: The section

  mutating func read(_ settings: SettingsValue) -> HTTPConfig {
    guard let section = section(of: settings) else { return defaults.unmanaged }
    let rate = part(SettingsName.rateLimit, of: section, Self.places.rateLimitKeys)
    let backoff = part(SettingsName.backoff, of: section, Self.places.backoffKeys)
    var config = defaults
    config.rateLimit.isEnabled = enabled(in: rate, default: defaults.rateLimit.isEnabled)
    config.backoff.isEnabled = enabled(in: backoff, default: defaults.backoff.isEnabled)
    if !config.rateLimit.isEnabled, config.backoff.isEnabled {
      if let rate {
        findings.add(
          .losesData, rate.path(of: "enabled"),
          "with rate limiting off and backoff on, \(sdk) drops every batch that gets a 429, whatever "
            + "statusCodeOverrides say; switch both off, or neither", Self.places.rateLimitOff)
      }
    } else {
      reportSwitches(config, section, backoff)
    }
    config.rateLimit.maxTotalBackoffDuration = .max
    config.backoff.statuses = StatusRules().table(heedsRateLimited: Self.heedsRateLimited)
    if let rate { read(rate, into: &config.rateLimit) }
    if let backoff { read(backoff, into: &config) }
    return isUnmanaged ? defaults.unmanaged : inForce(config)
  }

  private mutating func section(of settings: SettingsValue) -> SettingsSection? {
    let places = Self.places
    guard let root = findings.object(settings, at: "", or: .legacy, Self.without, places.settings) else {
      return nil
    }
    let found = findings.httpConfig(
      in: root, topFirst: places.isTopFirst, skipsNull: false, place: places.search)
    guard let found else {
      findings.add(.legacy, "", "there is no httpConfig: \(sdk) \(Self.without)", places.missing)
      return nil
    }
    let section = findings.object(found.value, at: found.path, or: .legacy, Self.without, places.section)
    guard let section else { return nil }
    findings.reportUnreadKeys(in: section, named: nil, place: places.sectionKeys)
    return section
  }

  private mutating func part(_ key: String, of section: SettingsSection, _ place: String) -> SettingsSection?
  {
    guard let value = section[key] else { return nil }
    let path = section.path(of: key)
    guard case .object(let members) = value else {
      if value != .null || !passesNull(path, "its defaults, switched on", Self.places.overrides) {
        unreadableSection(path, "\(described(value)) is not an object")
      }
      return nil
    }
    let part = SettingsSection(path: path, members: members)
    findings.reportUnreadKeys(in: part, named: key, place: place)
    return part
  }

  // MARK: Numbers

  private mutating func read(_ part: SettingsSection, into config: inout RateLimitConfig) {
    if let count = integer(.maxRetryCount, in: part) {
      config.maxRetryCount = Int(clamping: clamped(count, to: .maxRetryCount))
      if count <= 0, config.isEnabled {
        findings.add(
          .losesData, part.path(of: "maxRetryCount"),
          "with \(count), \(sdk) drops every batch before its first send: no retry left is a limit reached; write 1 or more",
          Self.places.globalLimit)
      } else {
        compare(
          .maxRetryCount, in: part, Double(config.maxRetryCount), Double(defaults.rateLimit.maxRetryCount))
      }
    }
    readSeconds(.maxRetryInterval, in: part, into: &config.maxRetryInterval)
  }

  private mutating func read(_ part: SettingsSection, into config: inout HTTPConfig) {
    let isOn = config.backoff.isEnabled
    if let count = integer(.maxRetryCount, in: part) {
      config.backoff.maxRetryCount = Int(clamping: clamped(count, to: .maxRetryCount))
      compare(
        .maxRetryCount, in: part, Double(config.backoff.maxRetryCount), Double(defaults.backoff.maxRetryCount)
      )
    }
    if let base = double(.baseBackoffInterval, in: part) {
      let inForce =
        limits(of: .baseBackoffInterval).map { min(max(base, $0.lowerBound), $0.upperBound) } ?? base
      config.backoff.baseBackoffInterval = microseconds(inForce)
      compare(
        .baseBackoffInterval, in: part, inForce, seconds(defaults.backoff.baseBackoffInterval), traps: isOn)
    }
    readSeconds(.maxBackoffInterval, in: part, into: &config.backoff.maxBackoffInterval, traps: isOn)
    readSeconds(.maxTotalBackoffDuration, in: part, into: &config.backoff.maxTotalBackoffDuration)
    if let percent = integer(.jitterPercent, in: part) {
      let inForce = Double(clamped(percent, to: .jitterPercent))
      config.backoff.jitter = Jitter(shippedPercent: inForce)
      compare(.jitterPercent, in: part, inForce, defaults.backoff.jitter.additivePercent, traps: isOn)
    }
    config.backoff.statuses = statuses(in: part, limitsRate: config.rateLimit.isEnabled)
      .table(heedsRateLimited: Self.heedsRateLimited)
  }

  /// Reads whole seconds over a default in microseconds.
  private mutating func readSeconds(
    _ key: NumberKey, in part: SettingsSection, into time: inout Int64, traps: Bool = false
  ) {
    guard let value = integer(key, in: part) else { return }
    let inForce = clamped(value, to: key)
    compare(key, in: part, Double(inForce), seconds(time), traps: traps)
    time = microseconds(whole: inForce)
  }

  private func clamped(_ value: Int64, to key: NumberKey) -> Int64 {
    limits(of: key).map { min(max(value, Int64($0.lowerBound)), Int64($0.upperBound)) } ?? value
  }

  private mutating func compare(
    _ key: NumberKey, in part: SettingsSection, _ inForce: Double, _ standard: Double, traps: Bool = false
  ) {
    guard let value = part[key.name], !(traps && reportsTrap(key, inForce, in: part)) else { return }
    let (reason, place) = remark(on: value, key, inForce: inForce)
    findings.compare(
      value, key, at: part.path(of: key.name), inForce: inForce, default: standard, reason, place)
  }

  // MARK: Statuses

  private mutating func statuses(in part: SettingsSection, limitsRate: Bool) -> StatusRules {
    var rules = StatusRules()
    rules.default4xx = behaviour("default4xxBehavior", in: part) ?? rules.default4xx
    rules.default5xx = behaviour("default5xxBehavior", in: part) ?? rules.default5xx
    rules.unknown = behaviour("unknownCodeBehavior", in: part) ?? rules.unknown
    if rules.unknown == .retry {
      findings.add(
        .readDifferently, part.path(of: "unknownCodeBehavior"),
        "\"retry\" does not reach a 1xx: \(sdk) takes it as a success and deletes the batch",
        Self.places.success)
    }
    guard let value = part[SettingsName.overrides] else { return rules }
    let path = part.path(of: SettingsName.overrides)
    guard case .object(let members) = value else {
      if value != .null || !passesNull(path, "its own overrides", Self.places.nullOverrides) {
        unreadable(path, "\(described(value)) is not an object", "write { \"429\": \"retry\" } or more")
      }
      return rules
    }
    readOverrides(SettingsSection(path: path, members: members), into: &rules, limitsRate: limitsRate)
    return rules
  }

  private mutating func readOverrides(
    _ given: SettingsSection, into rules: inout StatusRules, limitsRate: Bool
  ) {
    rules.overrides = [:]
    var path429: String?
    for (key, value) in given.members {
      let path = given.path(of: key)
      let status = status(of: key)
      if status == nil, Self.readsStatusFirst {
        reportNoStatus(key, at: path)
        continue
      }
      guard let action = action(value, at: path) else {
        // No value is in force then: what is left to say is about the other members.
        if let status { rules.overrides[status] = StatusRules.builtIn[status] ?? .drop }
        continue
      }
      guard let status else {
        reportNoStatus(key, at: path)
        continue
      }
      rules.overrides[status] = action
      if status == 429 { path429 = path }
      if reportsStatus(status, action, at: path) { continue }
      if !(100...599).contains(status) {
        findings.addUnknownStatus(status, path, Self.places.behaviour)
      } else if key != String(status) {
        findings.add(
          .readDifferently, path,
          "\(sdk) reads \(quoted(key)) as \(status), which the document ignores; write \"\(status)\"",
          Self.places.behaviour)
      }
    }
    if reportsDropOf429(rules, at: given.path, path429, limitsRate: limitsRate) { return }
    if let changed = rules.changedByReplacing {
      findings.add(
        .readDifferently, given.path,
        "given overrides replace the ones built into \(sdk): \(changed); name these statuses too",
        Self.places.overrides)
    }
  }

  private mutating func behaviour(_ key: String, in part: SettingsSection) -> StatusAction? {
    guard let value = part[key] else { return nil }
    let path = part.path(of: key)
    return value == .null && passesNull(path, "its default", Self.places.overrides)
      ? nil : action(value, at: path)
  }

  private mutating func action(_ value: SettingsValue, at path: String) -> StatusAction? {
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    unreadable(path, "\(described(value)) is not \"retry\" or \"drop\"", "write one of these")
    return nil
  }
}

// MARK: - analytics-swift

/// analytics-swift c9a0d63: decoding is all or nothing, and nothing is clamped.
struct AnalyticsSwiftSettings: NativeSettings {
  let defaults: HTTPConfig
  var findings = FindingCollector(.analyticsSwift)
  /// A value was of a wrong type: all of `httpConfig` is ignored.
  var isUnmanaged = false

  init(defaults: HTTPConfig) { self.defaults = defaults }

  static let commit = "c9a0d63"
  static let without = "runs in legacy, without waits and limits, and drops a 400 alone"
  static let heedsRateLimited = true
  static let readsStatusFirst = false
  static let places = NativePlaces(
    settings: bothOff, search: bothOff, missing: bothOff, section: decoding, sectionKeys: standard,
    rateLimitKeys: "HttpConfig.swift:3", backoffKeys: "HttpConfig.swift:46-51",
    rateLimitOff: "RetryStateMachine.swift:131", globalLimit: "RetryStateMachine.swift:84-90",
    behaviour: behaviour, success: "HTTPClient.swift:185", nullOverrides: "HttpConfig.swift:97",
    overrides: standard, isTopFirst: false)
  private static let bothOff = "SegmentDestination.swift:80"
  private static let decoding = "SegmentDestination.swift:82"
  private static let standard = "HttpConfig.swift:163-164"
  private static let notClamped = "HttpConfig.swift:161-167"
  private static let pauseAndDrop = "RetryStateMachine.swift:28-32, :133-142"
  private static let randomDraw = "RetryStateMachine.swift:174"
  private static let behaviour = "RetryStateMachine.swift:187"

  mutating func unreadable(_ path: String, _ what: String, _ remedy: String) {
    isUnmanaged = true
    findings.add(
      .legacy, path,
      "\(what): \(sdk) ignores the whole httpConfig for it and runs in legacy, without waits and limits; \(remedy)",
      Self.decoding)
  }

  mutating func unreadableSection(_ path: String, _ what: String) {
    unreadable(path, what, "write { … }, or leave it out")
  }

  mutating func passesNull(_ path: String, _ fallback: String, _ place: String) -> Bool {
    findings.add(.repaired, path, "null is as good as nothing in \(sdk): \(fallback)", place)
    return true
  }

  mutating func enabled(in part: SettingsSection?, default standard: Bool) -> Bool {
    guard let part, let value = part["enabled"] else { return standard }
    if case .bool(let bool) = value { return bool }
    let path = part.path(of: "enabled")
    if value != .null || !passesNull(path, "\(standard)", Self.standard) {
      unreadable(path, "\(described(value)) is not true or false", "write one of these")
    }
    return standard
  }

  mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ backoff: SettingsSection?
  ) {
    if config.rateLimit.isEnabled { return }
    findings.add(
      .readDifferently, section.path,
      "both sections are off: \(sdk) then drops nothing by its status, and sends what a 400 refuses at every flush",
      Self.bothOff)
  }

  private mutating func number(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let value = part[key.name] else { return nil }
    if case .number(let number) = value { return number }
    let path = part.path(of: key.name)
    if value != .null || !passesNull(path, "its default", Self.standard) {
      unreadable(path, "\(described(value)) is not a number", "write one, \(key.allowed)")
    }
    return nil
  }

  mutating func integer(_ key: NumberKey, in part: SettingsSection) -> Int64? {
    guard let number = number(key, in: part) else { return nil }
    if let whole = Int64(exactly: number) { return whole }
    unreadable(
      part.path(of: key.name), "\(shown(number)) is not a whole number of 64 bits",
      "write a whole number, \(key.allowed)")
    return nil
  }

  mutating func double(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let number = number(key, in: part) else { return nil }
    // The exponent of Foundation's Decimal ends below Double's.
    if number.magnitude < 1e165 { return number }
    unreadable(
      part.path(of: key.name), "\(shown(number)) is larger than Decimal holds", "write \(key.allowed)")
    return nil
  }

  func remark(on value: SettingsValue, _ key: NumberKey, inForce: Double) -> (reason: String, place: String) {
    ("which clamps nothing", Self.notClamped)
  }

  mutating func reportsTrap(_ key: NumberKey, _ value: Double, in part: SettingsSection) -> Bool {
    guard value <= 0 else { return false }
    let remedy = key.name == NumberKey.jitterPercent.name ? "write 1 or more" : "write a positive number"
    findings.add(
      .endsProcess, part.path(of: key.name),
      "\(shown(value)) ends the process of an app with \(sdk) at its first backoff, which draws its jitter from an "
        + "empty range; \(remedy)", Self.randomDraw)
    return true
  }

  func status(of key: String) -> Int? { Int(key) }

  mutating func reportNoStatus(_ key: String, at path: String) {
    findings.add(
      .notRead, path, "\(quoted(key)) is not a whole number: \(sdk) leaves it out; a status is 100 to 599",
      Self.behaviour)
  }

  mutating func reportsStatus(_ status: Int, _ action: StatusAction, at path: String) -> Bool {
    switch status {
    case 200...299:
      findings.addSuccess(status, path, Self.behaviour)
    case 1...199:
      findings.add(
        .notRead, path, "\(sdk) takes a \(status) as a success and deletes the batch", Self.places.success)
    default: return false
    }
    return true
  }

  /// Given overrides take the place of those built in, that for 429 among them.
  mutating func reportsDropOf429(
    _ rules: StatusRules, at path: String, _ path429: String?, limitsRate: Bool
  ) -> Bool {
    guard limitsRate, rules.action(for: 429) == .drop else { return false }
    let deletes = "every 429 makes the client wait and deletes its batch as well"
    if let path429 {
      findings.add(
        .losesData, path429, "with a 429 overridden by \"drop\" in \(sdk), \(deletes); write \"retry\"",
        Self.pauseAndDrop)
      return false
    }
    findings.add(
      .losesData, path,
      "given overrides replace the ones built into \(sdk): without \"429\": \"retry\" \(deletes)"
        + (rules.changedByReplacing.map { ", \($0)" } ?? "")
        + "; name every status that the document retries", Self.pauseAndDrop)
    return true
  }

  /// HTTPClient.swift:152: Swift's `Int(_:)` of what the HTTP stack leaves of the header: a sign, then ASCII digits.
  static func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
    Int64(NumericText.trimmed(header)).map { microseconds(whole: max(0, $0)) }
  }
}

// MARK: - analytics-kotlin

/// analytics-kotlin a14649b: the switches are read on their own; one value that cannot be read resets all the others; values are
/// clamped afterwards.
struct AnalyticsKotlinSettings: NativeSettings {
  let defaults: HTTPConfig
  var findings = FindingCollector(.analyticsKotlin)
  /// The structure is not as expected: legacy.
  var isUnmanaged = false
  /// A value could not be read: every value is its default.
  private var isReset = false

  init(defaults: HTTPConfig) { self.defaults = defaults }

  static let commit = "a14649b"
  static let without =
    "runs in legacy, without waits and limits, and drops every 4xx but 429, a 408, 410 or 460 too"
  static let heedsRateLimited = false
  static let readsStatusFirst = true
  static let places = NativePlaces(
    settings: "Settings.kt:32", search: "SegmentDestination.kt:20-24", missing: section, section: section,
    sectionKeys: section, rateLimitKeys: "RetryConfig.kt:24-28", backoffKeys: "RetryConfig.kt:43-61",
    rateLimitOff: "RetryStateMachine.kt:42-45, :190", globalLimit: "RetryStateMachine.kt:142-146",
    behaviour: "RetryStateMachine.kt:202", success: "HTTPClient.kt:109", nullOverrides: statuses,
    overrides: statuses, isTopFirst: true)
  private static let section = "SegmentDestination.kt:121-126"
  private static let switches = "SegmentDestination.kt:123-131"
  private static let statuses = "RetryConfig.kt:53-60"
  private static let clamps = "RetryConfig.kt"
  private static let clampedJitter = "RetryConfig.kt:71"
  private static let reset = "RetryConfig.kt:132-135"
  private static let backoffOff = "RetryStateMachine.kt:48-55, :193"
  private static let rateLimited = "RetryStateMachine.kt:59-71"
  private static let legacy = "EventPipeline.kt:68-73"

  mutating func unreadable(_ path: String, _ what: String, _ remedy: String) {
    isReset = true
    findings.add(
      .resetsValues, path,
      "\(what): \(sdk) takes its defaults for every value of both sections because of it; \(remedy)",
      Self.reset)
  }

  mutating func unreadableSection(_ path: String, _ what: String) {
    isUnmanaged = true
    findings.add(.legacy, path, "\(what): \(sdk) \(Self.without)", Self.section)
  }

  /// The two switches are read before and apart from the values.
  mutating func enabled(in part: SettingsSection?, default standard: Bool) -> Bool {
    guard let part, let value = part["enabled"] else { return standard }
    let path = part.path(of: "enabled")
    switch value {
    case .bool(let bool): return bool
    case .string(let text) where ["true", "false"].contains(text.lowercased()):
      let bool = text.lowercased() == "true"
      let contrast = bool == standard ? "" : ", and \(standard) by the document"
      findings.add(
        bool == standard ? .repaired : .readDifferently, path,
        "\(quoted(text)) is \(bool) in \(sdk)\(contrast); write \(bool)", Self.switches)
      return bool
    case .array, .object: unreadableSection(path, "\(described(value)) is not true or false")
    default:
      unreadable(path, "\(described(value)) is not true or false", "the section is on; write true or false")
    }
    return true
  }

  mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ backoff: SettingsSection?
  ) {
    if config.backoff.isEnabled { return }
    if !config.rateLimit.isEnabled {
      findings.add(.losesData, section.path, "both sections are off: \(sdk) \(Self.without)", Self.legacy)
    } else if let backoff {
      findings.add(
        .losesData, backoff.path(of: "enabled"),
        "with backoff off, \(sdk) drops every batch that gets a 5xx, or any status that is no success and no 429; leave it on",
        Self.backoffOff)
    }
  }

  /// A whole number, or a text that is one.
  ///
  /// JSON writes numbers of 2^53 and more with an exponent, or may: they are no integers to the SDK.
  mutating func integer(_ key: NumberKey, in part: SettingsSection) -> Int64? {
    guard let value = part[key.name] else { return nil }
    let bits = key.name == NumberKey.maxTotalBackoffDuration.name ? 64 : 32
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

  mutating func double(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let value = part[key.name] else { return nil }
    switch value {
    case .number(let number) where number.isFinite: return number
    case .string(let text):
      if let number = NumericText.double(NumericText.trimmed(text)), number.isFinite { return number }
    default: break
    }
    unreadable(part.path(of: key.name), "\(described(value)) is not a number", "write one, \(key.allowed)")
    return nil
  }

  func limits(of key: NumberKey) -> ClosedRange<Double>? {
    key.name == NumberKey.jitterPercent.name ? 0...50 : key.range
  }

  func remark(on value: SettingsValue, _ key: NumberKey, inForce: Double) -> (reason: String, place: String) {
    let isJitter = key.name == NumberKey.jitterPercent.name
    var reason = ""
    if case .string = value { reason = "which reads numbers out of text" }
    if isJitter, inForce == 50 { reason = "which allows 0 to 50 %" }
    return (reason, isJitter ? Self.clampedJitter : Self.clamps)
  }

  func status(of key: String) -> Int? { key.hasPrefix("+") ? nil : Int32(key).map(Int.init) }

  mutating func reportNoStatus(_ key: String, at path: String) {
    unreadable(path, "\(quoted(key)) is not a whole number", "a status is 100 to 599")
  }

  mutating func reportsStatus(_ status: Int, _ action: StatusAction, at path: String) -> Bool {
    if status < 300 {
      findings.add(
        .notRead, path, "\(sdk) takes a \(status) as a success whatever it is told", Self.places.success)
    } else if status == 429, action == .drop {
      findings.add(
        .notRead, path,
        "\(sdk) asks no override about a 429 while rate limiting is on: it waits, and never drops for it",
        Self.rateLimited)
    }
    return status < 300 || status == 429
  }

  /// The values of the defaults under the switches that were read.
  func inForce(_ config: HTTPConfig) -> HTTPConfig {
    guard isReset else { return config }
    var result = defaults
    result.rateLimit.maxTotalBackoffDuration = .max
    result.backoff.statuses = StatusRules().table(heedsRateLimited: false)
    result.rateLimit.isEnabled = config.rateLimit.isEnabled
    result.backoff.isEnabled = config.backoff.isEnabled
    return result
  }

  /// EventPipeline.kt:256, Kotlin's `toIntOrNull` of what the HTTP client leaves of the header: a sign or none, then decimal digits
  /// of any script, 32 bits.
  static func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
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
