/// Per-batch retry state: 24 bytes, kept wherever the caller keeps its batches.
///
/// A fresh value is a batch that has not failed. A caller whose record outlives its batch (one record for a
/// client that re-chunks its events) replaces it by a fresh one when `beforeSend` drops.
@frozen
public struct BatchRetryState: Sendable, Hashable, BitwiseCopyable {
  /// When the batch first failed retryably, a 429 included (S11), microseconds; `.min` while it has not.
  public var firstFailureTime: Int64
  /// The batch is due from this time on, microseconds; 0 when due at once. Counts only once the batch has
  /// failed.
  public var retryAt: Int64
  /// The wait drawn last, microseconds, saturating (decorrelated jitter feeds on it); 0 before the first.
  public var previousDelay: UInt32
  /// Transient failures of this batch so far, saturating: a 429 counts on the pipeline only (S2).
  public var failureCount: UInt16
  /// What the latest failure was: it selects the limits that apply (S11).
  public var latestFailure: LatestFailure
  /// Credentials have been refreshed for this batch since it last got through (O9).
  public var hasRefreshedCredentials: Bool

  @frozen
  public enum LatestFailure: UInt8, Sendable, Hashable {
    /// The batch has not failed.
    case none
    /// A 429: `rateLimitConfig` sets the limits.
    case rateLimited
    /// A transient error: `backoffConfig` sets the limits.
    case transient
  }

  /// A batch that has not failed.
  @inlinable
  public init() {
    firstFailureTime = .min
    retryAt = 0
    previousDelay = 0
    failureCount = 0
    latestFailure = .none
    hasRefreshedCredentials = false
  }
}

/// Retry state of a whole client.
@frozen
public struct PipelineRetryState: Sendable, Hashable, BitwiseCopyable {
  /// 429s since the latest success of any batch, saturating: the global counter of S2.
  public var retryCount: UInt16

  /// No 429 since the latest success.
  @inlinable public init() { retryCount = 0 }
}
