/// Per-batch retry state.
@frozen
public struct BatchRetryState: Sendable, Hashable {
  /// When the batch first failed retryably (S11), microseconds; `.min` while it has not.
  public var firstFailureTime: Int64
  /// The batch is due from this time on, microseconds; 0 when due at once.
  public var retryAt: Int64
  /// The wait drawn last, microseconds (decorrelated jitter feeds on it); 0 before the first.
  public var previousDelay: UInt32
  /// Retryable failures of this batch so far (S2), saturating.
  public var failureCount: UInt16
  /// What the latest failure was: it selects the limits that apply (S11).
  public var latestFailure: LatestFailure

  @frozen
  public enum LatestFailure: UInt8, Sendable, Hashable { case none, rateLimited, transient }

  @inlinable
  public init() {
    firstFailureTime = .min
    retryAt = 0
    previousDelay = 0
    failureCount = 0
    latestFailure = .none
  }
}

/// Retry state of a whole client: the global counter of S2.
@frozen
public struct PipelineRetryState: Sendable, Hashable {
  public var retryCount: UInt16
  @inlinable public init() { retryCount = 0 }
}
