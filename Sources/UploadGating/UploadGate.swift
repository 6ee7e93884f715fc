/// The document's upload gate (S16, S17): no timer, one time that each trigger compares with.
///
/// The gate has the states and transitions of S16. It is READY until `pause`, which makes it WAITING. It is
/// WAITING until `waitUntil` is reached or `reset` is called. Another `pause` meanwhile replaces the wait.
/// Counters are none of its business. Times are microseconds on the caller's clock, 0 … 2^62 − 1 (146,000 years);
/// a wait until a time outside ends at the nearer end.
@frozen
public struct UploadGate: Sendable, Hashable, BitwiseCopyable {
  /// `waitUntil` and, in the lowest bit, whether the wait is a backoff: eight bytes in all.
  @usableFromInline var word: Int64

  /// READY, or WAITING and until when (S16).
  @frozen
  public enum State: Sendable, Hashable {
    case ready
    /// Until this time, microseconds.
    case waiting(until: Int64)
  }

  /// The source of a wait.
  @frozen
  public enum WaitKind: Sendable, Hashable {
    /// A 429, or another status with Retry-After (S4, S7).
    case rateLimit
    /// A backoff of the whole client.
    case backoff
  }

  /// A gate that is ready.
  @inlinable public init() { word = 0 }

  /// The pipeline waits until this time, microseconds; 0 when it is ready.
  @inlinable public var waitUntil: Int64 { word >> 1 }

  /// The source of the wait; of no meaning when there is none.
  @inlinable public var kind: WaitKind { word & 1 == 0 ? .rateLimit : .backoff }

  /// Whether anything may leave; now = `waitUntil` is ready (S16).
  @inlinable public func isReady(at now: Int64) -> Bool { now >= waitUntil }

  /// The state at a time. A wait that is over reads as ready without anybody having to say so.
  @inlinable public func state(at now: Int64) -> State {
    isReady(at: now) ? .ready : .waiting(until: waitUntil)
  }

  /// The pipeline waits. The wait announced last replaces the one before, even by an earlier time.
  @inlinable public mutating func pause(until: Int64, kind: WaitKind = .rateLimit) {
    word = min(max(until, 0), .max >> 1) << 1 | (kind == .backoff ? 1 : 0)
  }

  /// Any 2xx makes the pipeline ready, also in the middle of a wait (S16).
  @inlinable public mutating func reset() { word = 0 }
}
