/// The switches of the last table of the requirements: where shipped clients and the document part.
///
/// Plain values without references. `tapiDocument` is the document's column.
public struct RetryPolicy: Sendable, Hashable, BitwiseCopyable {
  /// What a 429 without a usable Retry-After waits (S4).
  public enum MissingRetryAfter: Sendable, Hashable, BitwiseCopyable {
    /// `maxRetryInterval`, the document as decided and the shipped Swift and Kotlin clients.
    case maxRetryInterval
    /// S10 on the global count, by `baseBackoffInterval` and the configured jitter, capped at the smaller of
    /// `maxBackoffInterval` and `maxRetryInterval`.
    case exponentialBackoff
  }

  /// S10: shipped SDKs clamp backoff + jitter to the cap again; the document adds the jitter after the cap.
  public var clampAfterJitter = false
  /// S4.
  public var missingRetryAfter = MissingRetryAfter.maxRetryInterval
  /// S6: a client that can authenticate retries a 511 that no setting decides; others drop it.
  public var supportsOAuth = false

  /// The document's own behaviour.
  public static let tapiDocument = RetryPolicy()

  public init() {}
}
