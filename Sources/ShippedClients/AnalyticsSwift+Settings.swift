import UploadRetry

/// analytics-swift c9a0d63: decoding is all or nothing, and nothing is clamped.
struct AnalyticsSwiftSettings {
  let defaults: HTTPConfig
  private(set) var findings = FindingCollector(.analyticsSwift)
  /// A value was of a wrong type: all of `httpConfig` is ignored.
  private var isUnreadable = false

  init(defaults: HTTPConfig) { self.defaults = defaults }

  private enum Place {
    static let section = "SegmentDestination.swift:80"
    static let decoding = "SegmentDestination.swift:82"
    static let rateLimitKeys = "HttpConfig.swift:3"
    static let backoffKeys = "HttpConfig.swift:46-51"
    static let overrideKeys = "HttpConfig.swift:97"
    static let notClamped = "HttpConfig.swift:161-167"
    static let missing = "HttpConfig.swift:163-164"
    static let globalLimit = "RetryStateMachine.swift:84-90"
    static let unlimited429 = "RetryStateMachine.swift:131"
    static let pauseAndDrop = "RetryStateMachine.swift:28-32, :133-142"
    static let randomDraw = "RetryStateMachine.swift:174"
    static let behaviour = "RetryStateMachine.swift:187"
    static let success = "HTTPClient.swift:185"
  }

  private static let without = "runs in legacy, without waits and limits, and drops a 400 alone"

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
      findings.add(
        .legacy, "",
        "\(described(settings)) is not an object: \(findings.sdk) \(Self.without)",
        Place.section)
      return defaults.unmanaged
    }
    let root = SettingsSection(path: "", members: members)
    let found = findings.httpConfig(
      in: root, topFirst: false, skipsNull: false, place: Place.section)
    guard let found else {
      findings.add(
        .legacy, "", "there is no httpConfig: \(findings.sdk) \(Self.without)",
        Place.section)
      return defaults.unmanaged
    }
    guard case .object(let members) = found.value else {
      findings.add(
        .legacy, found.path,
        "\(described(found.value)) is not an object: \(findings.sdk) \(Self.without)",
        Place.decoding)
      return defaults.unmanaged
    }
    let section = SettingsSection(path: found.path, members: members)
    findings.reportUnreadKeys(in: section, named: nil, place: Place.missing)
    var config = defaults
    let rate = part(SettingsName.rateLimit, of: section, Place.rateLimitKeys)
    let backoff = part(SettingsName.backoff, of: section, Place.backoffKeys)
    config.rateLimit.isEnabled = bool("enabled", in: rate, default: defaults.rateLimit.isEnabled)
    config.backoff.isEnabled = bool("enabled", in: backoff, default: defaults.backoff.isEnabled)
    reportSwitches(config, section, rate, backoff)
    readRateLimit(rate, into: &config)
    readBackoff(backoff, into: &config)
    return isUnreadable ? defaults.unmanaged : config
  }

  private mutating func part(_ key: String, of section: SettingsSection, _ place: String) -> SettingsSection?
  {
    guard let value = section[key] else { return nil }
    let path = section.path(of: key)
    switch value {
    case .object(let members):
      let part = SettingsSection(path: path, members: members)
      findings.reportUnreadKeys(in: part, named: key, place: place)
      return part
    case .null: repairedNull(path, "its defaults, switched on", Place.missing)
    default:
      unreadable(path, "\(described(value)) is not an object", "write { … }, or leave it out")
    }
    return nil
  }

  private mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ rate: SettingsSection?, _ backoff: SettingsSection?
  ) {
    if config.rateLimit.isEnabled { return }
    if config.backoff.isEnabled {
      guard let rate else { return }
      findings.add(
        .losesData, rate.path(of: "enabled"),
        "with rate limiting off and backoff on, \(findings.sdk) drops every batch that gets a 429, whatever "
          + "statusCodeOverrides say; switch both off, or neither", Place.unlimited429)
    } else {
      findings.add(
        .readDifferently, section.path,
        "both sections are off: \(findings.sdk) then drops nothing by its status, and sends what a 400 refuses at every flush",
        Place.section)
    }
  }

  private mutating func readRateLimit(_ part: SettingsSection?, into config: inout HTTPConfig) {
    config.rateLimit.maxTotalBackoffDuration = .max
    guard let part else { return }
    if let count = integer(.maxRetryCount, in: part) {
      config.rateLimit.maxRetryCount = Int(clamping: count)
      if count <= 0, config.rateLimit.isEnabled {
        findings.add(
          .losesData, part.path(of: "maxRetryCount"),
          "with \(count), \(findings.sdk) drops every batch before its first send: no retry left is a limit reached; "
            + "write 1 or more", Place.globalLimit)
      } else {
        compare(.maxRetryCount, in: part, Double(count), Double(defaults.rateLimit.maxRetryCount))
      }
    }
    if let interval = integer(.maxRetryInterval, in: part) {
      config.rateLimit.maxRetryInterval = microseconds(whole: interval)
      compare(.maxRetryInterval, in: part, Double(interval), seconds(defaults.rateLimit.maxRetryInterval))
    }
  }

  private mutating func readBackoff(_ part: SettingsSection?, into config: inout HTTPConfig) {
    config.backoff.statuses = StatusRules().table(heedsRateLimited: true)
    guard let part else { return }
    let isOn = config.backoff.isEnabled
    if let count = integer(.maxRetryCount, in: part) {
      config.backoff.maxRetryCount = Int(clamping: count)
      compare(.maxRetryCount, in: part, Double(count), Double(defaults.backoff.maxRetryCount))
    }
    if let base = double(.baseBackoffInterval, in: part) {
      config.backoff.baseBackoffInterval = microseconds(base)
      if !reportsTrap(.baseBackoffInterval, base, in: part, isOn: isOn) {
        compare(.baseBackoffInterval, in: part, base, seconds(defaults.backoff.baseBackoffInterval))
      }
    }
    if let cap = integer(.maxBackoffInterval, in: part) {
      config.backoff.maxBackoffInterval = microseconds(whole: cap)
      if !reportsTrap(.maxBackoffInterval, Double(cap), in: part, isOn: isOn) {
        compare(.maxBackoffInterval, in: part, Double(cap), seconds(defaults.backoff.maxBackoffInterval))
      }
    }
    if let total = integer(.maxTotalBackoffDuration, in: part) {
      config.backoff.maxTotalBackoffDuration = microseconds(whole: total)
      compare(
        .maxTotalBackoffDuration, in: part, Double(total), seconds(defaults.backoff.maxTotalBackoffDuration))
    }
    if let percent = integer(.jitterPercent, in: part) {
      config.backoff.jitter = Jitter(shippedPercent: Double(percent))
      if !reportsTrap(.jitterPercent, Double(percent), in: part, isOn: isOn) {
        compare(.jitterPercent, in: part, Double(percent), defaults.backoff.jitter.additivePercent)
      }
    }
    config.backoff.statuses = statuses(in: part, limitsRate: config.rateLimit.isEnabled)
      .table(heedsRateLimited: true)
  }

  /// Whether a value ends the process at the first backoff: it draws from an empty range.
  private mutating func reportsTrap(
    _ key: NumberKey, _ value: Double, in part: SettingsSection, isOn: Bool
  ) -> Bool {
    guard value <= 0, isOn else { return false }
    let remedy = key.name == NumberKey.jitterPercent.name ? "write 1 or more" : "write a positive number"
    findings.add(
      .endsProcess, part.path(of: key.name),
      "\(shown(value)) ends the process of an app with \(findings.sdk) at its first backoff, which draws its jitter from an "
        + "empty range; \(remedy)", Place.randomDraw)
    return true
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
        "\"retry\" does not reach a 1xx: \(findings.sdk) takes it as a success and deletes the batch",
        Place.success)
    }
    guard let value = part[SettingsName.overrides] else { return rules }
    let path = part.path(of: SettingsName.overrides)
    if value == .null {
      repairedNull(path, "its own overrides", Place.overrideKeys)
      return rules
    }
    guard case .object(let members) = value else {
      unreadable(
        path, "\(described(value)) is not an object", "write { \"429\": \"retry\" } or more")
      return rules
    }
    let given = SettingsSection(path: path, members: members)
    rules.overrides = [:]
    var places: [Int: String] = [:]
    for (key, value) in members {
      guard let action = action(value, at: given.path(of: key)) else {
        // Everything is ignored then: what is left to say is about the other members.
        if let status = Int(key) { rules.overrides[status] = StatusRules.builtIn[status] ?? .drop }
        continue
      }
      guard let status = Int(key) else {
        findings.add(
          .notRead, given.path(of: key),
          "\(quoted(key)) is not a whole number: \(findings.sdk) leaves it out; a status is 100 to 599",
          Place.behaviour)
        continue
      }
      rules.overrides[status] = action
      places[status] = given.path(of: key)
      reportOverride(key, status, action, at: given.path(of: key))
    }
    reportReplacing(rules, at: path, places[429], limitsRate: limitsRate)
    return rules
  }

  private mutating func reportOverride(
    _ key: String, _ status: Int, _ action: StatusAction, at path: String
  ) {
    if (200...299).contains(status) {
      findings.add(
        .notRead, path, "a \(status) is a success and delivered whatever \(findings.sdk) is told",
        Place.behaviour)
    } else if (1...199).contains(status) {
      findings.add(
        .notRead, path, "\(findings.sdk) takes a \(status) as a success and deletes the batch", Place.success)
    } else if !(100...599).contains(status) {
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

  /// Given overrides take the place of those built in, that for 429 among them.
  private mutating func reportReplacing(
    _ rules: StatusRules, at path: String, _ rateLimitedPath: String?, limitsRate: Bool
  ) {
    let sdk = findings.sdk
    let loses = limitsRate && rules.action(for: 429) == .drop
    let deletes = "every 429 makes the client wait and deletes its batch as well"
    if loses, let rateLimitedPath {
      findings.add(
        .losesData, rateLimitedPath,
        "with a 429 overridden by \"drop\" in \(sdk), \(deletes); write \"retry\"",
        Place.pauseAndDrop)
    }
    let changed = rules.changedByReplacing
    if loses, rateLimitedPath == nil {
      findings.add(
        .losesData, path,
        "given overrides replace the ones built into \(sdk): without \"429\": \"retry\" \(deletes)"
          + (changed.map { ", \($0)" } ?? "") + "; name every status that the document retries",
        Place.pauseAndDrop)
    } else if let changed {
      findings.add(
        .readDifferently, path,
        "given overrides replace the ones built into \(sdk): \(changed); name these statuses too",
        Place.missing)
    }
  }

  private mutating func behaviour(_ key: String, in part: SettingsSection) -> StatusAction? {
    guard let value = part[key] else { return nil }
    if value == .null {
      repairedNull(part.path(of: key), "its default", Place.missing)
      return nil
    }
    return action(value, at: part.path(of: key))
  }

  private mutating func action(_ value: SettingsValue, at path: String) -> StatusAction? {
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    unreadable(path, "\(described(value)) is not \"retry\" or \"drop\"", "write one of these")
    return nil
  }

  // MARK: Values

  private mutating func unreadable(_ path: String, _ what: String, _ remedy: String) {
    isUnreadable = true
    findings.add(
      .legacy, path,
      "\(what): \(findings.sdk) ignores the whole httpConfig for it and runs in legacy, without waits and limits; \(remedy)",
      Place.decoding)
  }

  private mutating func repairedNull(_ path: String, _ fallback: String, _ place: String) {
    findings.add(.repaired, path, "null is as good as nothing in \(findings.sdk): \(fallback)", place)
  }

  private mutating func compare(
    _ key: NumberKey, in part: SettingsSection, _ inForce: Double, _ standard: Double
  ) {
    guard let value = part[key.name] else { return }
    findings.compare(
      value, key, at: part.path(of: key.name), inForce: inForce, default: standard, "which clamps nothing",
      Place.notClamped)
  }

  private mutating func bool(_ key: String, in part: SettingsSection?, default standard: Bool) -> Bool {
    guard let part, let value = part[key] else { return standard }
    if case .bool(let bool) = value { return bool }
    if value == .null {
      repairedNull(part.path(of: key), "\(standard)", Place.missing)
    } else {
      unreadable(
        part.path(of: key), "\(described(value)) is not true or false", "write one of these")
    }
    return standard
  }

  /// A number; nil if there is none, with a finding unless it is missing.
  private mutating func number(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let value = part[key.name] else { return nil }
    if case .number(let number) = value { return number }
    if value == .null {
      repairedNull(part.path(of: key.name), "its default", Place.missing)
    } else {
      unreadable(
        part.path(of: key.name), "\(described(value)) is not a number",
        "write one, \(key.allowed)")
    }
    return nil
  }

  private mutating func integer(_ key: NumberKey, in part: SettingsSection) -> Int64? {
    guard let number = number(key, in: part) else { return nil }
    if let whole = Int64(exactly: number) { return whole }
    unreadable(
      part.path(of: key.name), "\(shown(number)) is not a whole number of 64 bits",
      "write a whole number, \(key.allowed)")
    return nil
  }

  private mutating func double(_ key: NumberKey, in part: SettingsSection) -> Double? {
    guard let number = number(key, in: part) else { return nil }
    // The exponent of Foundation's Decimal ends below Double's.
    if number.magnitude < 1e165 { return number }
    unreadable(
      part.path(of: key.name), "\(shown(number)) is larger than Decimal holds",
      "write \(key.allowed)")
    return nil
  }

  // MARK: Retry-After

  /// HTTPClient.swift:152: Swift's `Int(_:)` of what the HTTP stack leaves of the header: a sign, then ASCII digits.
  static func retryAfter(_ header: String) -> Int64? {
    Int64(NumericText.trimmed(header)).map { microseconds(whole: max(0, $0)) }
  }
}
