import UploadRetry

/// The Settings of analytics-swift c9a0d63 and analytics-kotlin a14649b. Each decodes `httpConfig` into types of its own, so that
/// a value of a wrong type costs more than itself.
///
/// - analytics-swift: decoding is all or nothing, and nothing is clamped.
/// - analytics-kotlin: the switches are read on their own; one value that cannot be read resets all the others; values are clamped
///   afterwards.
struct NativeSettings: ShippedSettings {
  private let isSwift: Bool
  let defaults: HTTPConfig
  var findings: FindingCollector
  /// Nothing of the section is in force.
  private var isUnmanaged = false
  /// Every value is its default, under the switches that were read.
  private var isReset = false

  init(_ dialect: SettingsDialect, defaults: HTTPConfig) {
    isSwift = dialect == .analyticsSwift
    self.defaults = defaults
    findings = FindingCollector(dialect: dialect)
  }

  private var sdk: String { findings.sdk }

  /// Where the source of the SDK says so.
  private func place(_ swift: String, _ kotlin: String) -> String { isSwift ? swift : kotlin }

  private var without: String {
    isSwift
      ? "runs in legacy, without waits and limits, and drops a 400 alone"
      : "runs in legacy, without waits and limits, and drops every 4xx but 429, a 408, 410 or 460 too"
  }

  private enum SwiftPlace {
    static let section = "SegmentDestination.swift:80"
    static let decoding = "SegmentDestination.swift:82"
    static let missing = "HttpConfig.swift:163-164"
    static let pauseAndDrop = "RetryStateMachine.swift:28-32, :133-142"
    static let behaviour = "RetryStateMachine.swift:187"
  }
  private enum KotlinPlace {
    static let section = "SegmentDestination.kt:121-126"
  }
  private var success: String { place("HTTPClient.swift:185", "HTTPClient.kt:109") }
  private var rateLimitKeys: String { place("HttpConfig.swift:3", "RetryConfig.kt:24-28") }
  private var backoffKeys: String { place("HttpConfig.swift:46-51", "RetryConfig.kt:43-61") }

  var unread: [String: (reason: String, place: String)] {
    let duration = "it has no such limit on 429s, only backoffConfig.maxTotalBackoffDuration"
    return [
      "rateLimitConfig.maxTotalBackoffDuration": (duration, rateLimitKeys),
      "rateLimitConfig.maxRateLimitDuration": (duration, rateLimitKeys),
      "backoffConfig.jitterStrategy": (
        "its jitter is always up to jitterPercent of the wait, added to it", backoffKeys
      ),
      "backoffConfig.retryableStatusCodes": (
        "it decides by statusCodeOverrides and the three behaviours; write the statuses there", backoffKeys
      ),
    ]
  }

  // MARK: The section

  mutating func read(_ settings: SettingsValue) -> HTTPConfig {
    guard let section = section(of: settings) else { return defaults.unmanaged }
    let rate = part(SettingsName.rateLimit, of: section, rateLimitKeys)
    let backoff = part(SettingsName.backoff, of: section, backoffKeys)
    var config = defaults
    config.rateLimit.isEnabled = enabled(in: rate, default: defaults.rateLimit.isEnabled)
    config.backoff.isEnabled = enabled(in: backoff, default: defaults.backoff.isEnabled)
    reportSwitches(config, section, rate, backoff)
    config.rateLimit.maxTotalBackoffDuration = .max
    config.backoff.statuses = StatusRules().table(heedsRateLimited: isSwift)
    let standard = config
    if let rate { read(rate, into: &config.rateLimit) }
    if let backoff { read(backoff, into: &config) }
    return isUnmanaged ? defaults.unmanaged : isReset ? standard : config
  }

  private mutating func section(of settings: SettingsValue) -> SettingsSection? {
    let root = findings.object(
      settings, at: "", or: .legacy, without, place(SwiftPlace.section, "Settings.kt:32"))
    guard let root else { return nil }
    let search = place(SwiftPlace.section, "SegmentDestination.kt:20-24")
    let found = findings.httpConfig(in: root, topFirst: !isSwift, skipsNull: false, place: search)
    guard let found else {
      findings.add(
        .legacy, "", "there is no httpConfig: \(sdk) \(without)",
        place(SwiftPlace.section, KotlinPlace.section))
      return nil
    }
    let section = findings.object(
      found.value, at: found.path, or: .legacy, without, place(SwiftPlace.decoding, KotlinPlace.section))
    guard let section else { return nil }
    findings.reportUnreadKeys(in: section, named: nil, place: place(SwiftPlace.missing, KotlinPlace.section))
    return section
  }

  private mutating func part(_ key: String, of section: SettingsSection, _ place: String) -> SettingsSection?
  {
    guard let value = section[key] else { return nil }
    let path = section.path(of: key)
    guard let part = SettingsSection(value, path: path) else {
      if !passesNull(value, path, "its defaults, switched on") {
        unreadable(
          path, "\(described(value)) is not an object", "write { … }, or leave it out", isStructure: true)
      }
      return nil
    }
    findings.reportUnreadKeys(in: part, named: key, place: place)
    return part
  }

  /// Says what a value costs that cannot be read.
  /// - Parameter isStructure: whether analytics-kotlin looks at it before it decodes the values.
  private mutating func unreadable(
    _ path: String, _ what: String, _ remedy: String, isStructure: Bool = false
  ) {
    if isSwift {
      isUnmanaged = true
      findings.add(
        .legacy, path,
        "\(what): \(sdk) ignores the whole httpConfig for it and runs in legacy, without waits and limits; \(remedy)",
        SwiftPlace.decoding)
    } else if isStructure {
      isUnmanaged = true
      findings.add(.legacy, path, "\(what): \(sdk) \(without)", KotlinPlace.section)
    } else {
      isReset = true
      findings.add(
        .resetsValues, path,
        "\(what): \(sdk) takes its defaults for every value of both sections because of it; \(remedy)",
        "RetryConfig.kt:132-135")
    }
  }

  /// To analytics-swift a null is as good as nothing.
  private mutating func passesNull(
    _ value: SettingsValue, _ path: String, _ fallback: String, _ place: String = SwiftPlace.missing
  ) -> Bool {
    guard isSwift, value == .null else { return false }
    findings.add(.repaired, path, "null is as good as nothing in \(sdk): \(fallback)", place)
    return true
  }

  // MARK: Switches

  private mutating func enabled(in part: SettingsSection?, default standard: Bool) -> Bool {
    guard let part, let value = part["enabled"] else { return standard }
    let path = part.path(of: "enabled")
    if case .bool(let bool) = value { return bool }
    if case .string(let text) = value, !isSwift, let bool = Bool(text.lowercased()) {
      let contrast = bool == standard ? "" : ", and \(standard) by the document"
      findings.add(
        bool == standard ? .repaired : .readDifferently, path,
        "\(quoted(text)) is \(bool) in \(sdk)\(contrast); write \(bool)", "SegmentDestination.kt:123-131")
      return bool
    }
    if !passesNull(value, path, "\(standard)") {
      var isStructure = false
      if case .array = value { isStructure = true }
      if case .object = value { isStructure = true }
      unreadable(
        path, "\(described(value)) is not true or false",
        isSwift ? "write one of these" : "the section is on; write true or false", isStructure: isStructure)
    }
    return isSwift ? standard : true
  }

  private mutating func reportSwitches(
    _ config: HTTPConfig, _ section: SettingsSection, _ rate: SettingsSection?, _ backoff: SettingsSection?
  ) {
    switch (config.rateLimit.isEnabled, config.backoff.isEnabled) {
    case (true, true): return
    case (false, true):
      guard let rate else { return }
      findings.add(
        .losesData, rate.path(of: "enabled"),
        "with rate limiting off and backoff on, \(sdk) drops every batch that gets a 429, whatever "
          + "statusCodeOverrides say; switch both off, or neither",
        place("RetryStateMachine.swift:131", "RetryStateMachine.kt:42-45, :190"))
    case (true, false):
      guard let backoff, !isSwift else { return }
      findings.add(
        .losesData, backoff.path(of: "enabled"),
        "with backoff off, \(sdk) drops every batch that gets a 5xx, or any status that is no success and no 429; "
          + "leave it on", "RetryStateMachine.kt:48-55, :193")
    case (false, false) where isSwift:
      findings.add(
        .readDifferently, section.path,
        "both sections are off: \(sdk) then drops nothing by its status, and sends what a 400 refuses at every flush",
        SwiftPlace.section)
    case (false, false):
      findings.add(
        .losesData, section.path, "both sections are off: \(sdk) \(without)", "EventPipeline.kt:68-73")
    }
  }

  // MARK: Numbers

  private mutating func read(_ part: SettingsSection, into config: inout RateLimitConfig) {
    if let count = integer(.maxRetryCount, in: part) {
      config.maxRetryCount = Int(clamping: clamped(count, to: .maxRetryCount))
      if count <= 0, config.isEnabled {
        findings.add(
          .losesData, part.path(of: "maxRetryCount"),
          "with \(count), \(sdk) drops every batch before its first send: no retry left is a limit reached; "
            + "write 2 or more, as 1 leaves no retry",
          place("RetryStateMachine.swift:84-90", "RetryStateMachine.kt:142-146"))
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
      let standard = Double(defaults.backoff.maxRetryCount)
      compare(.maxRetryCount, in: part, Double(config.backoff.maxRetryCount), standard)
    }
    if let base = double(.baseBackoffInterval, in: part) {
      let inForce = limits(of: .baseBackoffInterval).map { min(max(base, $0.lowerBound), $0.upperBound) }
      config.backoff.baseBackoffInterval = microseconds(inForce ?? base)
      let standard = seconds(defaults.backoff.baseBackoffInterval)
      compare(.baseBackoffInterval, in: part, inForce ?? base, standard, traps: isOn)
    }
    readSeconds(.maxBackoffInterval, in: part, into: &config.backoff.maxBackoffInterval, traps: isOn)
    readSeconds(.maxTotalBackoffDuration, in: part, into: &config.backoff.maxTotalBackoffDuration)
    if let percent = integer(.jitterPercent, in: part) {
      let inForce = Double(clamped(percent, to: .jitterPercent))
      config.backoff.jitter = Jitter(shippedPercent: inForce)
      compare(.jitterPercent, in: part, inForce, defaults.backoff.jitter.addedPercent, traps: isOn)
    }
    config.backoff.statuses = statuses(in: part, limitsRate: config.rateLimit.isEnabled)
      .table(heedsRateLimited: isSwift)
  }

  /// Reads whole seconds over a default in microseconds.
  private mutating func readSeconds(
    _ key: NumberKey, in part: SettingsSection, into time: inout Int64, traps: Bool = false
  ) {
    guard let value = integer(key, in: part) else { return }
    let inForce = clamped(value, to: key)
    compare(key, in: part, Double(inForce), seconds(time), traps: traps)
    time = saturatingProduct(inForce, 1_000_000)
  }

  /// Returns the range that analytics-kotlin clamps a number to.
  private func limits(of key: NumberKey) -> ClosedRange<Double>? {
    isSwift ? nil : key.name == NumberKey.jitterPercent.name ? 0...50 : key.range
  }

  private func clamped(_ value: Int64, to key: NumberKey) -> Int64 {
    limits(of: key).map { min(max(value, Int64($0.lowerBound)), Int64($0.upperBound)) } ?? value
  }

  /// - Parameter traps: whether a value that is not positive ends the process of an app with analytics-swift.
  private mutating func compare(
    _ key: NumberKey, in part: SettingsSection, _ inForce: Double, _ standard: Double, traps: Bool = false
  ) {
    guard let value = part[key.name] else { return }
    let isJitter = key.name == NumberKey.jitterPercent.name
    let path = part.path(of: key.name)
    if isSwift, traps, inForce <= 0 {
      findings.add(
        .endsProcess, path,
        "\(shown(inForce)) ends the process of an app with \(sdk) at its first backoff, which draws its jitter from an "
          + "empty range; \(isJitter ? "write 1 or more" : "write a positive number")",
        "RetryStateMachine.swift:174")
      return
    }
    var reason = isSwift ? "which clamps nothing" : ""
    if !isSwift, case .string = value { reason = "which reads numbers out of text" }
    if !isSwift, isJitter, inForce == 50 { reason = "which allows 0 to 50 %" }
    findings.compare(
      value, key, at: path, inForce: inForce, default: standard, reason,
      place("HttpConfig.swift:161-167", isJitter ? "RetryConfig.kt:71" : "RetryConfig.kt"))
  }

  /// Returns a whole number; nil if there is none, with a finding unless it is missing.
  ///
  /// JSON writes numbers of 2^53 and more with an exponent, or may. They are no integers to analytics-kotlin. A text that is an
  /// integer is one to it.
  private mutating func integer(_ key: NumberKey, in part: SettingsSection) -> Int64? {
    guard let value = part[key.name] else { return nil }
    let bits = isSwift || key.name == NumberKey.maxTotalBackoffDuration.name ? 64 : 32
    var whole: Int64?
    switch value {
    case .number(let number) where isSwift || number.magnitude < 0x1p53: whole = Int64(exactly: number)
    case .string(let text) where !isSwift && !text.hasPrefix("+"): whole = Int64(text)
    case _ where isSwift: return noNumber(value, key, in: part)
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
    // The exponent of Foundation's Decimal ends below Double's.
    case .number(let number) where isSwift && !(number.magnitude < 1e165):
      unreadable(
        part.path(of: key.name), "\(shown(number)) is larger than Decimal holds", "write \(key.allowed)")
      return nil
    case .number(let number) where isSwift || number.isFinite: return number
    case .string(let text) where !isSwift:
      if let number = NumericText.double(Substring(trimmed(text))), number.isFinite { return number }
    default: break
    }
    return noNumber(value, key, in: part)
  }

  private mutating func noNumber<Number>(
    _ value: SettingsValue, _ key: NumberKey, in part: SettingsSection
  ) -> Number? {
    let path = part.path(of: key.name)
    if !passesNull(value, path, "its default") {
      unreadable(path, "\(described(value)) is not a number", "write one, \(key.allowed)")
    }
    return nil
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
        "\"retry\" does not reach a 1xx: \(sdk) takes it as a success and deletes the batch", success)
    }
    guard let value = part[SettingsName.overrides] else { return rules }
    let path = part.path(of: SettingsName.overrides)
    guard let overrides = SettingsSection(value, path: path) else {
      if !passesNull(value, path, "its own overrides", "HttpConfig.swift:97") {
        unreadable(path, "\(described(value)) is not an object", "write { \"429\": \"retry\" } or more")
      }
      return rules
    }
    readOverrides(overrides, into: &rules, limitsRate: limitsRate)
    return rules
  }

  private mutating func readOverrides(
    _ given: SettingsSection, into rules: inout StatusRules, limitsRate: Bool
  ) {
    rules.overrides = [:]
    var path429: String?
    for (key, value) in given.members {
      let path = given.path(of: key)
      let status = isSwift ? Int(key) : key.hasPrefix("+") ? nil : Int32(key).map(Int.init)
      if status == nil, !isSwift {
        unreadable(path, "\(quoted(key)) is not a whole number", "a status is 100 to 599")
        continue
      }
      guard let action = action(value, at: path) else {
        // No value is in force then: what is left to say is about the other members.
        if let status { rules.overrides[status] = StatusRules.builtIn[status] ?? .drop }
        continue
      }
      guard let status else {
        findings.add(
          .notRead, path,
          "\(quoted(key)) is not a whole number: \(sdk) leaves it out; a status is 100 to 599",
          SwiftPlace.behaviour)
        continue
      }
      rules.overrides[status] = action
      if status == 429 { path429 = path }
      report(key, status, action, at: path)
    }
    reportReplacing(rules, at: given.path, path429, limitsRate: limitsRate)
  }

  private mutating func report(_ key: String, _ status: Int, _ action: StatusAction, at path: String) {
    let behaviour = place(SwiftPlace.behaviour, "RetryStateMachine.kt:202")
    if isSwift, (200...299).contains(status) {
      findings.addSuccess(status, path, behaviour)
    } else if isSwift, (1...199).contains(status) {
      findings.add(.notRead, path, "\(sdk) takes a \(status) as a success and deletes the batch", success)
    } else if !isSwift, status < 300 {
      findings.add(.notRead, path, "\(sdk) takes a \(status) as a success whatever it is told", success)
    } else if !isSwift, status == 429 {
      guard action == .drop else { return }
      findings.add(
        .notRead, path,
        "\(sdk) asks no override about a 429 while rate limiting is on: it waits, and never drops for it",
        "RetryStateMachine.kt:59-71")
    } else if !(100...599).contains(status) {
      findings.addUnknownStatus(status, path, behaviour)
    } else if key != String(status) {
      findings.add(
        .readDifferently, path,
        "\(sdk) reads \(quoted(key)) as \(status), which the document ignores; write \"\(status)\"", behaviour
      )
    }
  }

  /// Given overrides take the place of those built in; to analytics-swift that for 429 among them.
  private mutating func reportReplacing(
    _ rules: StatusRules, at path: String, _ path429: String?, limitsRate: Bool
  ) {
    let changed = rules.changedByReplacing
    if isSwift, limitsRate, rules.action(for: 429) == .drop {
      let deletes = "every 429 makes the client wait and deletes its batch as well"
      guard let path429 else {
        findings.add(
          .losesData, path,
          "given overrides replace the ones built into \(sdk): without \"429\": \"retry\" \(deletes)"
            + (changed.map { ", \($0)" } ?? "") + "; name every status that the document retries",
          SwiftPlace.pauseAndDrop)
        return
      }
      findings.add(
        .losesData, path429, "with a 429 overridden by \"drop\" in \(sdk), \(deletes); write \"retry\"",
        SwiftPlace.pauseAndDrop)
    }
    if let changed {
      findings.add(
        .readDifferently, path,
        "given overrides replace the ones built into \(sdk): \(changed); name these statuses too",
        place(SwiftPlace.missing, "RetryConfig.kt:53-60"))
    }
  }

  private mutating func behaviour(_ key: String, in part: SettingsSection) -> StatusAction? {
    guard let value = part[key] else { return nil }
    let path = part.path(of: key)
    return passesNull(value, path, "its default") ? nil : action(value, at: path)
  }

  private mutating func action(_ value: SettingsValue, at path: String) -> StatusAction? {
    if case .string(let name) = value, let action = StatusAction(rawValue: name) { return action }
    unreadable(path, "\(described(value)) is not \"retry\" or \"drop\"", "write one of these")
    return nil
  }

  // MARK: Retry-After

  /// Reads the header as the SDK does. In analytics-swift (HTTPClient.swift:152) that is Swift's `Int(_:)` of what the HTTP stack
  /// leaves: a sign or none, then ASCII digits.
  ///
  /// In analytics-kotlin (EventPipeline.kt:256) it is Kotlin's `toIntOrNull`: digits of any script count, and 32 bits.
  func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
    let text = Substring(trimmed(header))
    if isSwift { return Int64(text).map { saturatingProduct(max(0, $0), 1_000_000) } }
    var scalars = text.unicodeScalars
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
    return Int64(max(0, seconds)) * 1_000_000
  }
}
