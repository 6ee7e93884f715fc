/// The Settings that steer retries (S13), repaired (S14).
///
/// Plain values without references: it may be copied in a hot loop. `decode` makes one of Settings, `encoded`
/// the reverse.
public struct HTTPConfig: Sendable, Hashable, BitwiseCopyable {
  /// False: the client found no Settings that it can read, and runs as it did before there were any
  /// (`RetryPolicy.withoutSettings`). The document's client has its defaults instead.
  public var isManaged = true
  /// 429s, which make the pipeline wait.
  public var rateLimit = RateLimitConfig()
  /// Transient errors, which make their batch wait.
  public var backoff = BackoffConfig()

  /// The document's defaults.
  public init() {}
}

/// `rateLimitConfig`: what 429s do (S4, S11–S13). Times are microseconds.
public struct RateLimitConfig: Sendable, Hashable, BitwiseCopyable {
  /// False: legacy, a 429 has no consequences (S15).
  public var isEnabled = true
  /// True: `enabled` is neither true nor false (analytics-react-native). While the section is off, the client keeps
  /// what a client without this section would lose or count. It tries that again at the next flush, whatever
  /// `RetryPolicy.rateLimitingOff` says.
  public var keepsWhenOff = false
  /// Consecutive 429s that are retried, over all batches (S12). 0 … 1000; `Int.max`: any number.
  public var maxRetryCount = 100
  /// The longest wait that a Retry-After can ask for, and the wait without one (S4). Microseconds, 1 s … 1 h.
  public var maxRetryInterval: Int64 = 300_000_000
  /// A batch older than this since its first failure is dropped (S11). Microseconds, 0 … 7 days; `Int64.max`: none is.
  public var maxTotalBackoffDuration: Int64 = 43_200_000_000

  /// The document's defaults.
  public init() {}
}

/// `backoffConfig`: what transient errors do (S5–S13). Times are microseconds.
public struct BackoffConfig: Sendable, Hashable, BitwiseCopyable {
  /// False: legacy, every batch is tried at each flush and never dropped for a limit (S15).
  public var isEnabled = true
  /// As `RateLimitConfig.keepsWhenOff`, for `RetryPolicy.backoffOff`.
  public var keepsWhenOff = false
  /// Transient failures of a batch that are retried (S12). 0 … 1000; `Int.max`: any number.
  public var maxRetryCount = 100
  /// The first backoff (S10). Microseconds, 0.1 s … 60 s.
  public var baseBackoffInterval: Int64 = 500_000
  /// The largest backoff, before additive jitter (S10). Microseconds, 1 s … 1 h.
  public var maxBackoffInterval: Int64 = 300_000_000
  /// A batch older than this since its first failure is dropped (S11). Microseconds, 0 … 7 days; `Int64.max`: none is.
  public var maxTotalBackoffDuration: Int64 = 43_200_000_000
  /// How a backoff is spread (J).
  public var jitter: Jitter = .additive(percent: 10)
  /// The statuses that are retried (S5, S6, S8, S13).
  public var statuses = StatusTable.document

  /// The document's defaults.
  public init() {}
}

extension HTTPConfig {
  /// Reads Settings (S13) and repairs what is bad in them (S14): never fails, always gives a usable value.
  ///
  /// The section is `httpConfig` or `retryConfig`, at the top or under `integrations["Segment.io"]` (the CDN's shape).
  /// The document itself is the section if it has `rateLimitConfig` or `backoffConfig`. The first of these that is an
  /// object counts. A missing value has the document's default. The first of these rules that speaks about a status
  /// decides it:
  /// 1. `statusCodeOverrides`.
  /// 2. `retryableStatusCodes`. The client retries each listed status. It drops a status that the list leaves out if S5
  ///    and S6 name it as retryable (408 410 460 500 502 503 504 508). Others go on to rule 3.
  /// 3. `default4xxBehavior` (400…499), `default5xxBehavior` (500…599, 511 included), `unknownCodeBehavior` (1xx, 3xx
  ///    and outside 100…599).
  /// 4. The tables.
  ///
  /// A 2xx is always a success, and a 429 follows `rateLimitConfig` alone, but for `overrides429`.
  ///
  /// Jitter is `jitterStrategy` (see `Jitter.init(name:)`) or, without it, additive by `jitterPercent`.
  ///
  /// - `missingSection`: what it means that `rateLimitConfig` or `backoffConfig` is not there, or is
  ///   not an object: its defaults, or off (`RetryPolicy.missingSection`). A section that is there is on
  ///   unless it says otherwise.
  /// - `overrides429`: whether `statusCodeOverrides` may drop a 429, which the client has to know what to do with
  ///   (`RetryPolicy.overridden429`).
  /// - `isBounded`: whether numbers have the limits of Settings (S14); not those of a client's own code, which may say `"none"`.
  /// - `defaults`: what is missing; the document's unless the client has others.
  /// - Returns: the configuration, and one repair for each bad value, unknown key or ignored section, in a
  ///   fixed order.
  public static func decode(
    _ settings: SettingsValue, missingSection: RetryPolicy.MissingSection = .defaultsOn,
    overrides429: Bool = false, isBounded: Bool = true, defaults: HTTPConfig = HTTPConfig()
  ) -> (config: HTTPConfig, repairs: [SettingsRepair]) {
    var reader = SettingsReader()
    reader.overrides429 = overrides429
    reader.isBounded = isBounded
    var config = defaults
    let otherwise = missingSection == .off ? "retries are off" : "the defaults are used"
    if missingSection == .off {
      config.rateLimit.isEnabled = false
      config.backoff.isEnabled = false
    }
    if let section = reader.findHTTPConfig(in: settings, otherwise: otherwise) {
      reader.reportUnknownKeys(in: section, known: sections.map { $0.name }, elsewhere: sections)
      if let part = reader.member(rateLimitKey, of: section, otherwise: otherwise) {
        config.rateLimit = RateLimitConfig(part, &reader, defaults: defaults.rateLimit)
      }
      if let part = reader.member(backoffKey, of: section, otherwise: otherwise) {
        config.backoff = BackoffConfig(part, &reader, defaults: defaults.backoff)
      }
    }
    return (config, reader.repairs)
  }

  /// Every key that `decode` knows, as paths from the section: `backoffConfig.jitterStrategy`, … The members
  /// of `statusCodeOverrides` are not listed.
  public static let knownKeyPaths = sections.flatMap { section in
    [section.name] + section.keys.map { "\(section.name).\($0)" }
  }
  /// The sections with the keys that each may have.
  package static let sections: [(name: String, keys: [String])] = [
    (rateLimitKey, RateLimitConfig.keys), (backoffKey, BackoffConfig.keys),
  ]

  fileprivate static let rateLimitKey = "rateLimitConfig"
  fileprivate static let backoffKey = "backoffConfig"
}

// MARK: - Where the section is

extension SettingsReader {
  /// Finds the section, and reports the ones that are passed over.
  fileprivate mutating func findHTTPConfig(
    in settings: SettingsValue, otherwise: String
  ) -> SettingsSection? {
    guard let root = object(settings, at: "", otherwise: otherwise) else { return nil }
    let names = ["httpConfig", "retryConfig"]
    var places = [root]
    if let integrations = member("integrations", of: root, otherwise: "it is ignored"),
      let segment = member("Segment.io", of: integrations, otherwise: "it is ignored")
    {
      places.append(segment)
    }
    var found: SettingsSection?
    for place in places {
      for name in names where place[name] != nil {
        let path = place.path(of: name)
        if let found {
          repair(path, SettingsRepair.superseded + "\(found.path) is there too")
        } else {
          found = member(name, of: place, otherwise: "it is ignored")
        }
      }
    }
    let parts = HTTPConfig.sections.map { $0.name }
    for part in parts where found != nil && root[part] != nil {
      repair(root.path(of: part), SettingsRepair.superseded + "\(found!.path) is there too")
    }
    if let found { return found }
    if parts.contains(where: { root[$0] != nil }) { return root }
    for place in places {
      let candidates = place.path.isEmpty ? names + parts : names
      for (key, _) in place.members where !candidates.contains(key) {
        guard let name = nearest(to: key, among: candidates) else { continue }
        repair(place.path(of: key), "\(SettingsRepair.unknownKey); did you mean \(name)?")
      }
    }
    return nil
  }

  /// An object inside one; nil, and a repair if it is something else.
  fileprivate mutating func member(
    _ key: String, of section: SettingsSection, otherwise: String
  ) -> SettingsSection? {
    section[key].flatMap { object($0, at: section.path(of: key), otherwise: otherwise) }
  }
}

// MARK: - rateLimitConfig

extension RateLimitConfig {
  fileprivate static let keys = [
    "enabled", "maxRetryCount", "maxRetryInterval", "maxTotalBackoffDuration", "maxRateLimitDuration",
  ]

  fileprivate init(_ section: SettingsSection, _ reader: inout SettingsReader, defaults: Self) {
    self = defaults
    reader.reportUnknownKeys(in: section, known: Self.keys, elsewhere: HTTPConfig.sections)
    isEnabled = reader.bool("enabled", in: section, default: isEnabled)
    maxRetryCount = reader.count(.maxRetryCount, in: section, default: maxRetryCount)
    maxRetryInterval = reader.seconds(.maxRetryInterval, in: section, default: maxRetryInterval)
    let (documented, shipped) = (NumberKey.maxTotalBackoffDuration, NumberKey.maxRateLimitDuration)
    let usesShipped = section[documented.name] == nil
    if !usesShipped && section[shipped.name] != nil {
      reader.repair(
        section.path(of: shipped.name), SettingsRepair.superseded + "\(documented.name) is there too")
    }
    maxTotalBackoffDuration = reader.seconds(
      usesShipped ? shipped : documented, in: section, default: maxTotalBackoffDuration)
  }

  fileprivate func encodedMembers() -> [(key: String, value: SettingsValue)] {
    [
      ("enabled", .bool(isEnabled)),
      ("maxRetryCount", count(maxRetryCount)),
      ("maxRetryInterval", seconds(maxRetryInterval)),
      ("maxTotalBackoffDuration", seconds(maxTotalBackoffDuration)),
    ]
  }
}

// MARK: - backoffConfig

extension BackoffConfig {
  fileprivate static let keys = [
    "enabled", "maxRetryCount", "baseBackoffInterval", "maxBackoffInterval", "maxTotalBackoffDuration",
    "jitterPercent", "jitterStrategy", "retryableStatusCodes", "default4xxBehavior", "default5xxBehavior",
    "unknownCodeBehavior", "statusCodeOverrides",
  ]

  fileprivate init(_ section: SettingsSection, _ reader: inout SettingsReader, defaults: Self) {
    self = defaults
    reader.reportUnknownKeys(in: section, known: Self.keys, elsewhere: HTTPConfig.sections)
    isEnabled = reader.bool("enabled", in: section, default: isEnabled)
    maxRetryCount = reader.count(.maxRetryCount, in: section, default: maxRetryCount)
    baseBackoffInterval = reader.seconds(.baseBackoffInterval, in: section, default: baseBackoffInterval)
    maxBackoffInterval = reader.seconds(.maxBackoffInterval, in: section, default: maxBackoffInterval)
    maxTotalBackoffDuration = reader.seconds(
      .maxTotalBackoffDuration, in: section, default: maxTotalBackoffDuration)
    jitter = reader.jitter(in: section, default: jitter)
    statuses = reader.statuses(in: section, from: statuses)
  }

  fileprivate func encodedMembers(_ standard: StatusTable) -> [(key: String, value: SettingsValue)] {
    var members: [(key: String, value: SettingsValue)] = [
      ("enabled", .bool(isEnabled)),
      ("maxRetryCount", count(maxRetryCount)),
      ("baseBackoffInterval", seconds(baseBackoffInterval)),
      ("maxBackoffInterval", seconds(maxBackoffInterval)),
      ("maxTotalBackoffDuration", seconds(maxTotalBackoffDuration)),
    ]
    if let percent = jitter.additivePercent {
      members.append(("jitterPercent", .number(percent)))
    } else {
      members.append(("jitterStrategy", .string(jitter.description)))
    }
    return members + statuses.encodedMembers(comparedWith: standard)
  }
}

extension SettingsReader {
  fileprivate mutating func jitter(in section: SettingsSection, default standard: Jitter) -> Jitter {
    if section["jitterPercent"] == nil, section["jitterStrategy"] == nil { return standard }
    let percent = number(.jitterPercent, in: section, default: 10)
    guard let value = section["jitterStrategy"] else { return .additive(percent: percent) }
    if let jitter = Jitter(value) { return jitter }
    var message = "\(described(value)) is not a jitter strategy; allowed are \(Jitter.allowedNames); "
    if case .string(let name) = value, let nearest = nearest(to: name, among: Jitter.names) {
      message += "did you mean \(nearest)? "
    }
    let fallback = Jitter.additive(percent: percent)
    repair(section.path(of: "jitterStrategy"), message + "\(fallback) is used")
    return fallback
  }

  /// From the weakest rule to the strongest.
  fileprivate mutating func statuses(in section: SettingsSection, from standard: StatusTable) -> StatusTable {
    var table = standard
    for (key, ranges) in [
      ("default4xxBehavior", [400...499]), ("default5xxBehavior", [500...599]),
      ("unknownCodeBehavior", [100...199, 300...399]),
    ] {
      guard let action = action(section[key], at: section.path(of: key), otherwise: "it is ignored") else {
        continue
      }
      for status in ranges.joined() { table.set(action, for: status) }
      if key == "unknownCodeBehavior" { table.outsideAction = action }
    }
    applyList(in: section, to: &table)
    applyOverrides(in: section, to: &table)
    return table
  }

  private mutating func applyList(in section: SettingsSection, to table: inout StatusTable) {
    let key = "retryableStatusCodes"
    guard let value = section[key] else { return }
    let path = section.path(of: key)
    guard case .array(let elements) = value else {
      repair(path, "\(described(value)) is not an array of statuses; it is ignored")
      return
    }
    var listed: Set<Int> = []
    for (index, element) in elements.enumerated() {
      let place = "\(path)[\(index)]"
      guard case .number(let number) = element, let status = Int(exactly: number),
        (100...599).contains(status)
      else {
        repair(place, "\(described(element)) is not a status; allowed is 100 to 599; it is ignored")
        continue
      }
      if (200...299).contains(status) {
        repair(place, "\(status) is a success and never retried; it is ignored")
        continue
      }
      listed.insert(status)
    }
    if listed.isEmpty && !elements.isEmpty {
      repair(path, "no usable status in it; the list is ignored")
      return
    }
    for status in StatusTable.namedRetries where !listed.contains(status) { table.set(.drop, for: status) }
    for status in listed { table.set(.retry, for: status) }
  }

  private mutating func applyOverrides(in section: SettingsSection, to table: inout StatusTable) {
    let key = "statusCodeOverrides"
    guard let overrides = member(key, of: section, otherwise: "it is ignored") else { return }
    for (name, value) in overrides.members {
      let path = overrides.path(of: name)
      guard let status = wholeNumber(name[...].utf8, digits: 3).map(Int.init), (100...599).contains(status)
      else {
        repair(path, "\(quoted(name)) is not a status; allowed is 100 to 599; it is ignored")
        continue
      }
      guard let action = action(value, at: path, otherwise: "it is ignored") else { continue }
      if (200...299).contains(status) {
        repair(path, "\(status) is a success and always delivered; it is ignored")
      } else if status == 429, overrides429 {
        table.dropsRateLimited = action == .drop
      } else if status == 429 && action == .drop {
        repair(path, "a 429 follows rateLimitConfig alone; it is ignored")
      }
      table.set(action, for: status)
    }
  }
}

extension HTTPConfig {
  /// The normalised Settings, `{rateLimitConfig, backoffConfig}`, that `decode` turns back into this value
  /// without a repair, provided that every field is within its range, or with `isBounded` false.
  ///
  /// Statuses are written as the shortest `default4xxBehavior`, `default5xxBehavior`, `unknownCodeBehavior`
  /// and `statusCodeOverrides` that mean the same, and not at all where they are the tables'. Additive jitter
  /// is written as `jitterPercent`, the others as `jitterStrategy`. Since overrides come before lists (S13),
  /// someone who wants to change one key of Settings changes the original, not this.
  ///
  /// - Parameter defaults: those that it will be decoded with.
  public func encoded(defaults: HTTPConfig = HTTPConfig()) -> SettingsValue {
    .object([
      ("rateLimitConfig", .object(rateLimit.encodedMembers())),
      ("backoffConfig", .object(backoff.encodedMembers(defaults.backoff.statuses))),
    ])
  }
}

private func seconds(_ microseconds: Int64) -> SettingsValue {
  microseconds == .max ? .string(SettingsReader.none) : .number(Double(microseconds) / 1_000_000)
}

private func count(_ count: Int) -> SettingsValue {
  count == .max ? .string(SettingsReader.none) : .number(Double(count))
}

// MARK: - Statuses

extension StatusTable {
  fileprivate func encodedMembers(comparedWith table: StatusTable) -> [(key: String, value: SettingsValue)] {
    var members: [(key: String, value: SettingsValue)] = []
    var overrides: [(key: String, value: SettingsValue)] = []

    func encode(_ key: String, _ statuses: [Int], candidates: [StatusAction?]) {
      let choices = candidates.map { (default: $0, differing: differing(among: statuses, from: $0, table)) }
      if let best = choices.min(by: { $0.differing.count < $1.differing.count }) {
        if let action = best.default { members.append((key, .string(action.rawValue))) }
        overrides += best.differing.map { (String($0), .string(action(for: $0).rawValue)) }
      }
    }

    encode(
      "unknownCodeBehavior", Array(100...199) + Array(300...399),
      candidates: outsideAction == table.outsideAction ? [nil, outsideAction] : [outsideAction])
    encode(
      "default4xxBehavior", (400...499).filter { $0 != 429 }, candidates: [nil, .retry, .drop])
    encode(
      "default5xxBehavior", Array(500...599),
      candidates: isAuthenticationLeftToPolicy ? [nil] : [nil, .retry, .drop])
    if dropsRateLimited != table.dropsRateLimited {
      overrides.append(("429", .string((dropsRateLimited ? StatusAction.drop : .retry).rawValue)))
    }
    if !overrides.isEmpty { members.append(("statusCodeOverrides", .object(overrides))) }
    return members
  }

  /// The statuses that `standard`, or with nil the table, would get wrong.
  private func differing(
    among statuses: [Int], from standard: StatusAction?, _ table: StatusTable
  ) -> [Int] {
    statuses.filter { status in
      guard let standard else {
        let bothLeaveIt =
          status != 511 || isAuthenticationLeftToPolicy == table.isAuthenticationLeftToPolicy
        return !bothLeaveIt || action(for: status) != table.action(for: status)
      }
      return action(for: status) != standard
    }
  }
}
