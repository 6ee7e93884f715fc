/// The document's upload gate (S16, S17): no timer, one time that each trigger compares with.
///
/// The states and transitions of S16 are these: READY until `pause`, which makes it WAITING; WAITING until
/// `waitUntil` is reached or `reset` is called; another `pause` meanwhile replaces the wait. Counters are
/// none of its business. Times are microseconds on the caller's clock, not negative.
@frozen
public struct UploadGate: Sendable, Hashable, BitwiseCopyable {
  /// The pipeline waits until this time, microseconds; 0 when it is ready.
  public var waitUntil: Int64

  /// READY, or WAITING and until when (S16).
  @frozen
  public enum State: Sendable, Hashable {
    case ready
    /// Until this time, microseconds.
    case waiting(until: Int64)
  }

  /// A gate that is ready.
  @inlinable public init() { waitUntil = 0 }

  /// Whether anything may leave; now = `waitUntil` is ready (S16).
  @inlinable public func isReady(at now: Int64) -> Bool { now >= waitUntil }

  /// The state at a time. A wait that is over reads as ready without anybody having to say so.
  @inlinable public func state(at now: Int64) -> State {
    isReady(at: now) ? .ready : .waiting(until: waitUntil)
  }

  /// A 429 makes the pipeline wait. The wait announced last replaces the one before, even by an earlier time.
  @inlinable public mutating func pause(until: Int64) { waitUntil = until }

  /// Any 2xx makes the pipeline ready, also in the middle of a wait (S16).
  @inlinable public mutating func reset() { waitUntil = 0 }
}
