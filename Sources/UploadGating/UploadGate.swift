/// The document's upload gate (S16, S17): no timer, one time to compare with.
@frozen
public struct UploadGate: Sendable, Hashable {
  /// The pipeline waits until this time, microseconds; 0 when it is ready.
  public var waitUntil: Int64

  @inlinable public init() { waitUntil = 0 }

  /// now = `waitUntil` is ready (S16).
  @inlinable public func isReady(at now: Int64) -> Bool { now >= waitUntil }

  /// A 429 makes the pipeline wait; the later of two waits replaces the earlier.
  @inlinable public mutating func pause(until: Int64) { waitUntil = until }

  /// Any 2xx makes the pipeline ready (S16).
  @inlinable public mutating func reset() { waitUntil = 0 }
}
