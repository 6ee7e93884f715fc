/// The Settings that steer retries (S13), repaired (S14). CONTRACT: extend, do not rename.
public struct HTTPConfig: Sendable, Hashable {
  public var rateLimit: RateLimitConfig
  public var backoff: BackoffConfig
  public init(rateLimit: RateLimitConfig = .init(), backoff: BackoffConfig = .init()) {
    self.rateLimit = rateLimit
    self.backoff = backoff
  }
}
public struct RateLimitConfig: Sendable, Hashable {
  public var isEnabled = true
  public var maxRetryCount = 100
  /// Microseconds.
  public var maxRetryInterval: Int64 = 300_000_000
  public var maxTotalBackoffDuration: Int64 = 43_200_000_000
  public init() {}
}
public struct BackoffConfig: Sendable, Hashable {
  public var isEnabled = true
  public var maxRetryCount = 100
  public var baseBackoffInterval: Int64 = 500_000
  public var maxBackoffInterval: Int64 = 300_000_000
  public var maxTotalBackoffDuration: Int64 = 43_200_000_000
  public var jitter: Jitter = .additive(percent: 10)
  public init() {}
}
/// The switches of the last table of the requirements that this issue needs.
public struct RetryPolicy: Sendable, Hashable {
  /// S10: shipped SDKs clamp backoff + jitter to the cap again; the document adds the jitter after the cap.
  public var clampAfterJitter = false
  public static let tapiDocument = RetryPolicy()
  public init() {}
}
/// A JSON value tree, so that this module needs no JSON library.
public indirect enum SettingsValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([SettingsValue])
  /// Members in document order; duplicates keep the last.
  case object([(key: String, value: SettingsValue)])

  public static func == (a: Self, b: Self) -> Bool { String(describing: a) == String(describing: b) }
  public func hash(into hasher: inout Hasher) { hasher.combine(String(describing: self)) }
}
/// One repair of a bad Settings value (S14).
public struct SettingsRepair: Sendable, Hashable {
  /// Dotted JSON path inside the document given, for example `integrations["Segment.io"].httpConfig.backoffConfig.jitterPercent`.
  public var path: String
  /// What was wrong, what is allowed, and what is used instead.
  public var message: String
  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }
}
