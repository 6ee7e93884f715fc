import UploadRetry

/// analytics-react-native 74884be: values are used as JavaScript takes them, after clamps that only compare.
struct AnalyticsReactNativeSettings: ShippedSettings {
  let defaults: HTTPConfig
  var findings = FindingCollector(dialect: .analyticsReactNative)

  private enum Place {
    static let section = "types.ts:389, SegmentDestination.ts:455-467"
    static let rateLimitKeys = "types.ts:340-345"
    static let statuses = "errors.ts:143-197"
    static let override429 = "errors.ts:153-168"
    static let clampedCounts = "config-validation.ts:42-48, :113-119"
  }

  let unread: [String: (reason: String, place: String)] = [
    "rateLimitConfig.maxTotalBackoffDuration": (
      "its name for it is maxRateLimitDuration; write that", Place.rateLimitKeys
    ),
    "backoffConfig.jitterStrategy": (
      "its jitter is always up to jitterPercent of the wait, added to it", "RetryManager.ts:222-223"
    ),
    "backoffConfig.retryableStatusCodes": (
      "it decides by statusCodeOverrides and the behaviours for 4xx and 5xx; write the statuses there",
      Place.statuses
    ),
    "backoffConfig.unknownCodeBehavior": (
      "it drops everything that is neither 2xx nor 4xx nor 5xx; write statusCodeOverrides", "errors.ts:196"
    ),
  ]

  // MARK: The section

  mutating func read(_ settings: SettingsValue) -> HTTPConfig {
    let section = section(of: settings)
    var rate = Part(in: section, SettingsName.rateLimit, values: Self.values(of: defaults.rateLimit))
    var backoff = Part(in: section, SettingsName.backoff, values: Self.values(of: defaults.backoff))
    report(&rate, in: section, Place.rateLimitKeys)
    report(&backoff, in: section, Place.statuses)

    rate.clamp(.maxRetryInterval, 0.1, 86_400)
    rate.clamp(.maxRateLimitDuration, 60, 604_800)
    rate.clamp(.maxRetryCount, 1, 100)
    rate.raise(.maxRateLimitDuration, to: rate.number(.maxRetryInterval) * 2)
    backoff.clamp(.maxBackoffInterval, 0.1, 86_400)
    backoff.clamp(.baseBackoffInterval, 0.1, 300)
    backoff.clamp(.maxTotalBackoffDuration, 60, 604_800)
    backoff.clamp(.jitterPercent, 0, 100)
    backoff.clamp(.maxRetryCount, 1, 100)
    if JavaScript.less(backoff[.maxBackoffInterval], backoff[.baseBackoffInterval]) {
      backoff[.baseBackoffInterval] = backoff[.maxBackoffInterval]
    }
    let longest = JavaScript.max(backoff.number(.maxBackoffInterval), rate.number(.maxRetryInterval))
    backoff.raise(.maxTotalBackoffDuration, to: longest * 2)

    var config = defaults
    if let isOn = rate.isOn {
      (config.rateLimit.isEnabled, config.rateLimit.keepsWhenOff) = (isOn == true, isOn == nil)
    }
    if let isOn = backoff.isOn {
      (config.backoff.isEnabled, config.backoff.keepsWhenOff) = (isOn == true, isOn == nil)
    }
    config.rateLimit.maxRetryCount = rate.count(.maxRetryCount)
    config.rateLimit.maxRetryInterval = microseconds(rate.number(.maxRetryInterval))
    config.rateLimit.maxTotalBackoffDuration = limit(rate.number(.maxRateLimitDuration))
    config.backoff.maxRetryCount = backoff.count(.maxRetryCount)
    config.backoff.baseBackoffInterval = microseconds(backoff.number(.baseBackoffInterval))
    config.backoff.maxBackoffInterval = microseconds(backoff.number(.maxBackoffInterval))
    config.backoff.maxTotalBackoffDuration = limit(backoff.number(.maxTotalBackoffDuration))
    if backoff.given["jitterPercent"] != nil {
      let percent = backoff.number(.jitterPercent)
      config.backoff.jitter = Jitter(shippedPercent: percent)
      // A wait with such jitter is no number, and over before it began.
      if percent.isNaN { config.backoff.maxBackoffInterval = 0 }
    }
    reportSwitch(
      rate, keeping: "a 429 is kept without a wait or a count", "RetryManager.ts:179",
      losing: "with rate limiting off, \(findings.sdk) drops every batch that gets a 429", "errors.ts:171")
    reportSwitch(
      backoff, keeping: "what fails is kept without a wait, a count or a limit", "RetryManager.ts:213",
      losing:
        "with backoff off, \(findings.sdk) drops every batch that gets a 5xx, or any retryable status but 429",
      "errors.ts:188-190")
    reportNumbers(rate, backoff)
    config.backoff.statuses = statuses(in: backoff)
    return config
  }

  private mutating func section(of settings: SettingsValue) -> SettingsSection? {
    guard let root = object(settings, at: "") else { return nil }
    let found = findings.httpConfig(in: root, topFirst: true, skipsNull: true, place: Place.section)
    guard let found else {
      if !root.members.isEmpty {
        findings.add(.repaired, "", "there is no httpConfig: \(findings.sdk) \(Self.without)", Place.section)
      }
      return nil
    }
    guard let section = object(found.value, at: found.path) else { return nil }
    findings.reportUnreadKeys(in: section, named: nil, place: Place.section)
    return section
  }

  private static let without = "uses its defaults, both sections switched on"

  private mutating func object(_ value: SettingsValue, at path: String) -> SettingsSection? {
    findings.object(value, at: path, or: .repaired, Self.without, Place.section)
  }

  private mutating func report(_ part: inout Part, in section: SettingsSection?, _ place: String) {
    if let given = part.section {
      findings.reportUnreadKeys(in: given, named: part.name, place: place)
    } else if let section, let value = section[part.name] {
      findings.add(
        .repaired, section.path(of: part.name),
        "\(described(value)) is not an object: \(findings.sdk) uses the section's defaults, switched on",
        Place.section)
    }
  }

  // MARK: Switches

  private mutating func reportSwitch(
    _ part: Part, keeping: String, _ keepingPlace: String, losing: String, _ losingPlace: String
  ) {
    guard let isOn = part.isOn, let value = part.given["enabled"], let path = part.path(of: "enabled") else {
      return
    }
    if isOn == nil {
      findings.add(
        .readDifferently, path,
        "\(described(value)) is neither true nor false, and neither on nor off in \(findings.sdk): \(keeping); write true or false",
        keepingPlace)
    } else if isOn == false {
      findings.add(.losesData, path, "\(losing); leave it on", losingPlace)
    }
  }

  // MARK: Numbers

  private mutating func reportNumbers(_ rate: Part, _ backoff: Part) {
    let noWait = "a wait that is no number is over at once, and all retry state with it"
    compare(.maxRetryInterval, in: rate, "config-validation.ts:18-28", noWait)
    compare(.maxRateLimitDuration, in: rate, "config-validation.ts:30-57", "no time limit")
    compare(.maxRetryCount, in: rate, Place.clampedCounts, "no limit on retries")
    compare(.maxRetryCount, in: backoff, Place.clampedCounts, "no limit on retries")
    compare(.baseBackoffInterval, in: backoff, "config-validation.ts:86-91", noWait)
    compare(.maxBackoffInterval, in: backoff, "config-validation.ts:69-79", noWait)
    compare(.maxTotalBackoffDuration, in: backoff, "config-validation.ts:93-97, :134-140", "no time limit")
    compare(.jitterPercent, in: backoff, "config-validation.ts:105-111", noWait)
    let percent = backoff.number(.jitterPercent)
    if percent > 10, let path = backoff.path(of: "jitterPercent") {
      findings.add(
        .contradicts, path,
        "more than 10 % can make a wait longer than 1.1 times maxBackoffInterval, which \(findings.sdk) takes as invalid: all "
          + "retry state starts over and the next flush sends; write 10 at most",
        "RetryManager.ts:121-127, :451-460")
    }
  }

  private mutating func compare(
    _ key: NumberKey, in part: Part, _ place: String, _ withoutNumber: String
  ) {
    guard let value = part.given[key.name], let path = part.path(of: key.name) else { return }
    var inForce = part.number(key)
    if inForce.isNaN {
      findings.add(
        .readDifferently, path,
        "\(described(value)) is not a number in \(findings.sdk) either, and not repaired: \(withoutNumber); allowed is "
          + key.allowed, place)
      return
    }
    if key.unit.isEmpty { inForce = inForce.rounded(.down) }
    var reason = "which clamps to limits of its own"
    if case .number(let number) = value {
      if key.unit.isEmpty, inForce == number.rounded(.down) { reason = "of which the whole part counts" }
    } else {
      reason = "which takes it as JavaScript does"
    }
    if part.raised.contains(key.name) { reason = "which raises it to twice the longest wait" }
    let standard = part.standard[key.name].map(JavaScript.number) ?? 0
    // The base never exceeds the cap: nothing that could be noticed.
    if key.name == NumberKey.baseBackoffInterval.name, inForce == part.number(.maxBackoffInterval),
      key.reading(of: value, default: standard) >= inForce, case .number = value
    {
      return
    }
    findings.compare(value, key, at: path, inForce: inForce, default: standard, reason, place)
  }
}

// MARK: - Retry-After

extension AnalyticsReactNativeSettings {
  /// errors.ts:207-219: a number as JavaScript reads it, unless it is negative, or whatever its `Date` makes a date of.
  func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
    if header.isEmpty { return nil }
    let number = JavaScript.number(header)
    if number.isFinite { return number >= 0 ? microseconds(number) : nil }
    guard let date = JavaScriptDate.milliseconds(header) else { return nil }
    // `Date.now()` is whole milliseconds, rounded down.
    let milliseconds = now / 1000 - (now % 1000 < 0 ? 1 : 0)
    let rest = date - milliseconds
    return rest <= 0 ? 0 : saturatingProduct((rest - 1) / 1000 + 1, 1_000_000)
  }
}

// MARK: - A section as JavaScript has it

extension AnalyticsReactNativeSettings {
  fileprivate static func values(of config: RateLimitConfig) -> [String: SettingsValue] {
    [
      "maxRetryCount": .number(Double(config.maxRetryCount)),
      "maxRetryInterval": .number(seconds(config.maxRetryInterval)),
      "maxRateLimitDuration": .number(seconds(config.maxTotalBackoffDuration)),
    ]
  }

  fileprivate static func values(of config: BackoffConfig) -> [String: SettingsValue] {
    [
      "maxRetryCount": .number(Double(config.maxRetryCount)),
      "baseBackoffInterval": .number(seconds(config.baseBackoffInterval)),
      "maxBackoffInterval": .number(seconds(config.maxBackoffInterval)),
      "maxTotalBackoffDuration": .number(seconds(config.maxTotalBackoffDuration)),
      "jitterPercent": .number(config.jitter.addedPercent),
    ]
  }

  /// `rateLimitConfig` or `backoffConfig`: the defaults, replaced key by key by whatever is given.
  struct Part {
    let name: String
    /// nil: missing, or no object.
    let section: SettingsSection?
    /// The given values, the last of each name.
    let given: [String: SettingsValue]
    /// The defaults.
    let standard: [String: SettingsValue]
    /// The values in force.
    private var values: [String: SettingsValue]
    /// The keys that `raise` has changed.
    private(set) var raised: Set<String> = []

    init(in section: SettingsSection?, _ name: String, values: [String: SettingsValue]) {
      self.name = name
      standard = values
      self.section = section?.object(name)
      given = Dictionary(self.section?.members.map { ($0.key, $0.value) } ?? [], uniquingKeysWith: { $1 })
      self.values = values.merging(given) { $1 }
    }

    subscript(key: NumberKey) -> SettingsValue {
      get { values[key.name] ?? .null }
      set { values[key.name] = newValue }
    }

    func number(_ key: NumberKey) -> Double { JavaScript.number(self[key]) }

    /// Whether it is said to be on; nil: nothing is said; nil inside: neither true nor false.
    var isOn: Bool?? {
      given["enabled"].map { if case .bool(let isOn) = $0 { isOn } else { nil } }
    }

    /// The path of a key that is given.
    func path(of key: String) -> String? { given[key] == nil ? nil : section?.path(of: key) }

    /// `if (v < low) v = low; else if (v > high) v = high;`
    mutating func clamp(_ key: NumberKey, _ low: Double, _ high: Double) {
      if JavaScript.less(self[key], .number(low)) {
        self[key] = .number(low)
      } else if JavaScript.less(.number(high), self[key]) {
        self[key] = .number(high)
      }
    }

    mutating func raise(_ key: NumberKey, to least: Double) {
      guard JavaScript.less(self[key], .number(least)) else { return }
      self[key] = .number(least)
      raised.insert(key.name)
    }

    /// A limit on a count: more than 2.5 is more than 2, and nothing is more than NaN.
    func count(_ key: NumberKey) -> Int {
      let number = number(key)
      return number.isNaN ? .max : Int(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max)
    }
  }

  /// Overrides that are given are merged with those built in.
  mutating func statuses(in part: Part) -> StatusTable {
    var rules = StatusRules()
    if let value = part.given["default4xxBehavior"] {
      rules.default4xx = value == .string("retry") ? .retry : .drop
      reportBehaviour(value, "default4xxBehavior", rules.default4xx, by: .drop, in: part)
    }
    if let value = part.given["default5xxBehavior"] {
      rules.default5xx = value == .string("retry") || value == .null ? .retry : .drop
      reportBehaviour(value, "default5xxBehavior", rules.default5xx, by: .retry, in: part)
    }
    var drops429 = false
    if let value = part.given[SettingsName.overrides], let path = part.path(of: SettingsName.overrides) {
      if let overrides = SettingsSection(value, path: path) {
        drops429 = merge(overrides, into: &rules)
      } else {
        findings.add(
          .repaired, path,
          "\(described(value)) is not an object: \(findings.sdk) uses the overrides built into it",
          Place.statuses)
      }
    }
    var table = rules.table(heedsRateLimited: false)
    table.dropsRateLimited = drops429
    return table
  }

  /// - Returns: whether a 429 is dropped.
  private mutating func merge(_ given: SettingsSection, into rules: inout StatusRules) -> Bool {
    var drops429 = false
    for (key, value) in given.members {
      let path = given.path(of: key)
      guard let status = Int(key), String(status) == key else {
        findings.add(
          .notRead, path,
          "\(quoted(key)) is not how \(findings.sdk) writes a status: it never matches; a status is 100 to 599",
          Place.statuses)
        continue
      }
      // A null is no override, and takes the place of the one built in all the same.
      rules.overrides[status] = value == .null ? nil : value == .string("retry") ? .retry : .drop
      if status == 429 { drops429 = value != .null && value != .string("retry") }
      reportOverride(status, value, path, rules)
    }
    return drops429
  }

  private mutating func reportOverride(
    _ status: Int, _ value: SettingsValue, _ path: String, _ rules: StatusRules
  ) {
    let sdk = findings.sdk
    let isAction = value == .string("retry") || value == .string("drop")
    if (200...299).contains(status) {
      findings.addSuccess(status, path, Place.statuses)
    } else if status == 429 {
      if value == .string("retry") { return }
      if value == .null {
        findings.add(.repaired, path, "null is as good as nothing in \(sdk): a 429 waits", Place.override429)
      } else {
        findings.add(
          .losesData, path,
          "with a 429 overridden by \(described(value)), \(sdk) drops every batch that gets one; write \"retry\"",
          Place.override429)
      }
    } else if !(100...599).contains(status) {
      findings.addUnknownStatus(status, path, Place.statuses)
    } else if !isAction {
      var before = StatusRules()
      (before.default4xx, before.default5xx) = (rules.default4xx, rules.default5xx)
      let (standard, now) = (before.action(for: status), rules.action(for: status))
      let effect: SettingsFinding.Effect =
        now == standard ? .repaired : now == .drop ? .losesData : .readDifferently
      findings.add(
        effect, path,
        "\(described(value)) is not \"retry\" or \"drop\": in \(sdk) a \(status) is \(now == .drop ? "dropped" : "retried"); "
          + "write one of these", Place.statuses)
    }
  }

  /// - Parameter standard: what the default is.
  private mutating func reportBehaviour(
    _ value: SettingsValue, _ key: String, _ action: StatusAction, by standard: StatusAction, in part: Part
  ) {
    guard value != .string("retry"), value != .string("drop"), let path = part.path(of: key) else { return }
    let effect: SettingsFinding.Effect = action == standard ? .repaired : .losesData
    findings.add(
      effect, path,
      "\(described(value)) is not \"retry\" or \"drop\", and means \"\(action.rawValue)\" in \(findings.sdk); write one of these",
      "errors.ts:191-193")
  }
}
