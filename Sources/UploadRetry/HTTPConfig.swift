/// The Settings that steer retries (S13), repaired (S14).
///
/// Plain values without references: it may be copied in a hot loop. `decode` makes one of Settings, `encoded`
/// the reverse.
public struct HTTPConfig: Sendable, Hashable, BitwiseCopyable {
  /// False: the client found no Settings that it can read, and runs as it did before there were any
  /// (`RetryPolicy.withoutSettings`). The document's client has its defaults instead.
  public var isManaged = true
  /// 429s, which make the pipeline wait.
  public var rateLimit: RateLimitConfig
  /// Transient errors, which make their batch wait.
  public var backoff: BackoffConfig

  /// The document's defaults, unless told otherwise.
  public init(rateLimit: RateLimitConfig = .init(), backoff: BackoffConfig = .init()) {
    self.rateLimit = rateLimit
    self.backoff = backoff
  }
}

/// `rateLimitConfig`: what 429s do (S4, S11–S13). Times are microseconds.
public struct RateLimitConfig: Sendable, Hashable, BitwiseCopyable {
  /// False: legacy, a 429 has no consequences (S15).
  public var isEnabled = true
  /// While it is off, what a client without this section would lose or count is kept and tried again at the next flush,
  /// whatever `RetryPolicy.rateLimitingOff` says: `enabled` is neither true nor false (analytics-react-native).
  public var keepsWhenOff = false
  /// Consecutive 429s that are retried, over all batches (S12). 0 … 1000.
  public var maxRetryCount = 100
  /// The longest wait that a Retry-After can ask for, and the wait without one (S4). Microseconds, 1 s … 1 h.
  public var maxRetryInterval: Int64 = 300_000_000
  /// A batch older than this since its first failure is dropped (S11). Microseconds, 0 … 7 days.
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
  /// Transient failures of a batch that are retried (S12). 0 … 1000.
  public var maxRetryCount = 100
  /// The first backoff (S10). Microseconds, 0.1 s … 60 s.
  public var baseBackoffInterval: Int64 = 500_000
  /// The largest backoff, before additive jitter (S10). Microseconds, 1 s … 1 h.
  public var maxBackoffInterval: Int64 = 300_000_000
  /// A batch older than this since its first failure is dropped (S11). Microseconds, 0 … 7 days.
  public var maxTotalBackoffDuration: Int64 = 43_200_000_000
  /// How a backoff is spread (J).
  public var jitter: Jitter = .additive(percent: 10)
  /// Which statuses are retried (S5, S6, S8, S13).
  public var statuses = StatusTable.document

  /// The document's defaults.
  public init() {}
}
