import ShippedQuirks
import UploadRetry

extension SettingsDialect {
  /// Reads Settings as a client of this kind does: never fails.
  ///
  /// Times are whole microseconds. One that does not fit is the nearest that does. One that is negative stays so where the SDK
  /// does not clamp. The configuration has these meanings beyond the document's.
  /// - `isManaged` is false where analytics-swift or analytics-kotlin finds no `httpConfig` that it can read. Both sections are
  ///   off then, and nothing else in the configuration is in force.
  /// - `keepsWhenOff` is true where analytics-react-native's `enabled` is neither true nor false.
  /// - `rateLimit.maxTotalBackoffDuration` is analytics-react-native's `maxRateLimitDuration`. The other two have no such limit:
  ///   `Int64.max`. A limit that is not a number in JavaScript never holds: `Int.max`, `Int64.max`.
  /// - `backoff.statuses` owes nothing to the document's tables. Overrides of codes outside 100…599, which the SDKs obey, have no
  ///   place in it; a finding names them.
  ///
  /// - `defaults`: what is missing, statuses aside: those of a shipped SDK are its own.
  /// - Returns: the configuration, and what is to be said of the Settings, in a fixed order that is not the file's. A value that
  ///   makes the client ignore all others hides nothing that is wrong with them.
  public func decode(
    _ settings: SettingsValue, defaults: HTTPConfig = HTTPConfig()
  ) -> (config: HTTPConfig, findings: [SettingsFinding]) {
    guard var reader = shipped(defaults) else {
      let (config, repairs) = HTTPConfig.decode(settings, missingSection: .defaultsOn, defaults: defaults)
      return (config, repairs.map(SettingsFinding.init))
    }
    let config = reader.read(settings)
    return (config, reader.findings.all)
  }

  /// Reads Settings as a client does. The document's client goes by its switches where a section is missing, and where a 429 is
  /// overridden (S13).
  package func config(of settings: SettingsValue, policy: ClientPolicy, defaults: HTTPConfig) -> HTTPConfig {
    self == .document
      ? HTTPConfig.decode(
        settings, missingSection: policy.missingSection, overrides429: policy.overridden429 != .ignored,
        defaults: defaults
      ).config : decode(settings, defaults: defaults).config
  }

  /// Key paths from the section (`backoffConfig.jitterPercent`, …) that this client reads, in the order of
  /// `HTTPConfig.knownKeyPaths`.
  public var readKeyPaths: [String] {
    let unread = unreadKeys
    return HTTPConfig.knownKeyPaths.filter { unread[$0] == nil }
  }

  /// Reads Retry-After as this client does.
  ///
  /// No cap is applied: that is `maxRetryInterval`, and whoever holds the Settings applies it.
  ///
  /// - `now`: the wall clock, microseconds since 1970-01-01T00:00:00Z. analytics-react-native waits until a date in whole
  ///   seconds, rounded up.
  /// - Returns: microseconds, never negative, the largest number for more than fits; nil: as if the header were absent.
  public func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64? {
    if let reader = shipped() { return reader.retryAfter(header, nowUnixMicroseconds: now) }
    let seconds = now / 1_000_000 - (now % 1_000_000 < 0 ? 1 : 0)
    return RetryAfter.parse(header, nowUnixSeconds: seconds)
  }

  /// The wait that a server asks a client for by the headers of its answer, as this dialect and the client's policy read them.
  ///
  /// - `now`: the wall clock, microseconds since 1970-01-01T00:00:00Z.
  /// - Returns: microseconds, never negative; nil: none.
  public func wait(
    retryAfter: String?, rateLimitReset: String?, policy: ClientPolicy, nowUnixMicroseconds now: Int64
  ) -> Int64? {
    if self == .document {
      return policy.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, nowUnixSeconds: now / 1_000_000)
    }
    return retryAfter.flatMap { self.retryAfter($0, nowUnixMicroseconds: now) }
  }

  /// The keys of `HTTPConfig.knownKeyPaths` that this client does not read: why not, and where that is to be seen.
  var unreadKeys: [String: (reason: String, place: String)] { shipped()?.unread ?? [:] }

  /// Returns the reader that works as the SDK does; nil: the document's way.
  private func shipped(_ defaults: HTTPConfig = HTTPConfig()) -> (any ShippedSettings)? {
    switch self {
    case .document: nil
    case .analyticsSwift, .analyticsKotlin: NativeSettings(self, defaults: defaults)
    case .analyticsReactNative: AnalyticsReactNativeSettings(defaults: defaults)
    case .analyticsNext: AnalyticsNextSettings(defaults: defaults)
    }
  }

  /// The commit of the SDK that was run; nil for the document.
  package var commit: String? {
    switch self {
    case .document: nil
    case .analyticsSwift: "c9a0d63"
    case .analyticsKotlin: "a14649b"
    case .analyticsReactNative: "74884be"
    case .analyticsNext: "0c4fa881"
    }
  }
}

/// How a shipped SDK reads Settings and the Retry-After header.
protocol ShippedSettings {
  /// The keys that it does not read: why not, and where that is to be seen.
  var unread: [String: (reason: String, place: String)] { get }
  var findings: FindingCollector { get }

  mutating func read(_ settings: SettingsValue) -> HTTPConfig
  /// Microseconds, never negative; nil: as if the header were absent.
  func retryAfter(_ header: String, nowUnixMicroseconds now: Int64) -> Int64?
}

/// Something that a client makes of Settings and that whoever writes them wants to know.
public struct SettingsFinding: Sendable, Hashable {
  /// JSON path in the document given, as `integrations["Segment.io"].httpConfig.backoffConfig.jitterPercent`; empty for the
  /// document as a whole.
  public var path: String
  /// The consequence of the finding.
  public var effect: Effect
  /// The fault, its effect in this SDK, which is named, and the right value.
  public var message: String
  /// The SDK, its commit and the place in its source, as `analytics-swift c9a0d63, HttpConfig.swift:161`; nil: there is none to
  /// name.
  public var source: String?

  public init(path: String, effect: Effect, message: String, source: String? = nil) {
    self.path = path
    self.effect = effect
    self.message = message
    self.source = source
  }

  /// The consequence of a finding, the mildest first.
  public enum Effect: String, Sendable, Hashable, CaseIterable {
    /// Another value than the one written is used, as the document would.
    case repaired
    /// The key has no effect, whatever its value.
    case notRead
    /// It means something else than in the document.
    case readDifferently
    /// Values that are allowed one by one work against each other.
    case contradicts
    /// Every value of the section is back at its default.
    case resetsValues
    /// The client ignores the whole section and runs as it did before there was any.
    case legacy
    /// Batches are dropped that the document would keep.
    case losesData
    /// The app ends.
    case endsProcess

    /// Whether the client does not go on with the Settings that are in the file: it ends, or uses none of them.
    public var breaksClient: Bool { [.endsProcess, .legacy, .resetsValues].contains(self) }

    /// Whether Settings with it are better not published.
    public var isHarmful: Bool {
      switch self {
      case .repaired, .notRead, .readDifferently: false
      case .contradicts, .resetsValues, .legacy, .losesData, .endsProcess: true
      }
    }
  }

  /// Makes a finding of a repair by the document's own reading.
  init(_ repair: SettingsRepair) {
    self.init(path: repair.path, effect: repair.isNotRead ? .notRead : .repaired, message: repair.message)
  }
}

/// Collects what is to be said of Settings in one dialect.
struct FindingCollector {
  let dialect: SettingsDialect
  private(set) var all: [SettingsFinding] = []

  /// The SDK's name, for messages.
  var sdk: String { @inline(never) get { dialect.rawValue } }

  /// - Parameter place: in the SDK's source.
  @inline(never)
  mutating func add(
    _ effect: SettingsFinding.Effect, _ path: String, _ message: String, _ place: String?
  ) {
    let source = place.flatMap { place in dialect.commit.map { "\(sdk) \($0), \(place)" } }
    all.append(SettingsFinding(path: path, effect: effect, message: message, source: source))
  }

  /// An object; nil for anything else, which is reported with what the SDK does then.
  mutating func object(
    _ value: SettingsValue, at path: String, or effect: SettingsFinding.Effect, _ without: String,
    _ place: String
  ) -> SettingsSection? {
    if let section = SettingsSection(value, path: path) { return section }
    add(effect, path, "\(described(value)) is not an object: \(sdk) \(without)", place)
    return nil
  }

  mutating func addSuccess(_ status: Int, _ path: String, _ place: String) {
    add(.notRead, path, "a \(status) is a success and delivered whatever \(sdk) is told", place)
  }

  mutating func addUnknownStatus(_ status: Int, _ path: String, _ place: String) {
    add(
      .readDifferently, path,
      "\(sdk) obeys it for the code \(status); in the document a status is 100 to 599, and the simulation leaves it out",
      place)
  }
}

/// The rules that Settings give for statuses in the shipped SDKs: overrides, and three behaviours for what they do not name.
struct StatusRules {
  /// The overrides that all three SDKs have built in.
  static let builtIn: [Int: StatusAction] = [
    408: .retry, 410: .retry, 429: .retry, 460: .retry, 501: .drop, 505: .drop,
  ]

  var overrides = builtIn
  var default4xx = StatusAction.drop
  var default5xx = StatusAction.retry
  /// Everything that is neither 2xx nor 4xx nor 5xx.
  var unknown = StatusAction.drop

  /// A status that is no 2xx. 511 is a 5xx like any other.
  func action(for status: Int) -> StatusAction {
    if let action = overrides[status] { return action }
    switch status {
    case 400...499: return default4xx
    case 500...599: return default5xx
    default: return unknown
    }
  }

  /// - Parameter heedsRateLimited: whether the client asks them about a 429 as well.
  func table(heedsRateLimited: Bool) -> StatusTable {
    var table = StatusTable(everything: unknown)
    for status in 100...599 { table.set(action(for: status), for: status) }
    table.dropsRateLimited = heedsRateLimited && action(for: 429) == .drop
    return table
  }

  /// The statuses built in, 429 aside, that given overrides leave out and thereby change: `408, 410, 460 are dropped and 501 is
  /// retried`; nil: none.
  var changedByReplacing: String? {
    var clauses: [String] = []
    for (action, verb) in [(StatusAction.drop, "dropped"), (.retry, "retried")] {
      let statuses = Self.builtIn.filter { status, standard in
        status != 429 && overrides[status] == nil && standard != action && self.action(for: status) == action
      }.keys.sorted()
      guard !statuses.isEmpty else { continue }
      let list = statuses.map(String.init).joined(separator: ", ")
      clauses.append("\(list) \(statuses.count == 1 ? "is" : "are") \(verb)")
    }
    return clauses.isEmpty ? nil : clauses.joined(separator: " and ")
  }
}
