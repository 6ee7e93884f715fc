import UploadRetry

/// How a kind of client reads its Settings and the Retry-After header: as the document says, or as a shipped SDK does.
///
/// The SDKs' readings are those of analytics-swift c9a0d63, analytics-kotlin a14649b and analytics-react-native 74884be, seen when
/// their own code was run.
public enum SettingsDialect: String, Sendable, Hashable, CaseIterable {
  /// The document's: S13, S14 and S4.
  case document
  case analyticsSwift = "analytics-swift"
  case analyticsKotlin = "analytics-kotlin"
  case analyticsReactNative = "analytics-react-native"
}

extension SettingsDialect {
  /// What a client of this kind makes of Settings: never fails.
  ///
  /// Times are whole microseconds; one that does not fit is the nearest that does, and one that is negative stays so where the SDK
  /// does not clamp. What the configuration means beyond the document's:
  /// - `isManaged` is false where analytics-swift or analytics-kotlin finds no `httpConfig` that it can read; both sections are off
  ///   then, and nothing else in the configuration is in force.
  /// - `keepsWhenOff` is true where analytics-react-native's `enabled` is neither true nor false.
  /// - `rateLimit.maxTotalBackoffDuration` is analytics-react-native's `maxRateLimitDuration`; the other two have no such limit:
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
    switch self {
    case .document:
      let (config, repairs) = HTTPConfig.decode(settings, missingSection: .defaultsOn, defaults: defaults)
      return (config, repairs.map(SettingsFinding.init))
    case .analyticsSwift:
      var reader = AnalyticsSwiftSettings(defaults: defaults)
      let config = reader.read(settings)
      return (config, reader.findings.all)
    case .analyticsKotlin:
      var reader = AnalyticsKotlinSettings(defaults: defaults)
      let config = reader.read(settings)
      return (config, reader.findings.all)
    case .analyticsReactNative:
      var reader = AnalyticsReactNativeSettings(defaults: defaults)
      let config = reader.read(settings)
      return (config, reader.findings.all)
    }
  }

  /// What a client makes of Settings; the document's goes by its switches where a section is missing, and where a 429 is overridden
  /// (S13).
  package func config(of settings: SettingsValue, policy: RetryPolicy, defaults: HTTPConfig) -> HTTPConfig {
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
    switch self {
    case .document:
      let seconds = now / 1_000_000 - (now % 1_000_000 < 0 ? 1 : 0)
      return RetryAfter.parse(header, nowUnixSeconds: seconds)
    case .analyticsSwift: return AnalyticsSwiftSettings.retryAfter(header)
    case .analyticsKotlin: return AnalyticsKotlinSettings.retryAfter(header)
    case .analyticsReactNative:
      return AnalyticsReactNativeSettings.retryAfter(header, nowUnixMicroseconds: now)
    }
  }

  /// The wait that a server asks a client for by the headers of its answer, as this dialect and the client's policy read them.
  ///
  /// - `now`: the wall clock, microseconds since 1970-01-01T00:00:00Z.
  /// - Returns: microseconds, never negative; nil: none.
  public func wait(
    retryAfter: String?, rateLimitReset: String?, policy: RetryPolicy, nowUnixMicroseconds now: Int64
  ) -> Int64? {
    if self == .document {
      return policy.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, nowUnixSeconds: now / 1_000_000)
    }
    return retryAfter.flatMap { self.retryAfter($0, nowUnixMicroseconds: now) }
  }

  /// The keys of `HTTPConfig.knownKeyPaths` that this client does not read: why not, and where that is to be seen.
  var unreadKeys: [String: (reason: String, place: String)] {
    switch self {
    case .document: [:]
    case .analyticsSwift: AnalyticsSwiftSettings.unread
    case .analyticsKotlin: AnalyticsKotlinSettings.unread
    case .analyticsReactNative: AnalyticsReactNativeSettings.unread
    }
  }

  /// The commit of the SDK that was run; nil for the document.
  var commit: String? {
    switch self {
    case .document: nil
    case .analyticsSwift: "c9a0d63"
    case .analyticsKotlin: "a14649b"
    case .analyticsReactNative: "74884be"
    }
  }
}
