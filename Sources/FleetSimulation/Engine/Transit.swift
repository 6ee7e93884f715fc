import SimulationKernel
import TAPIModel

/// Something on its way to a device: an answer, the end of its patience, or news that only the observers see.
package struct Delivery: BitwiseCopyable, Sendable {
  /// In the order in which they are handled at one instant. Wake-ups and triggers come after all of them.
  package enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// The server accepted an upload that its client will have given up: counted, unknown to the client.
    case acceptance
    /// The server refused or lost such an upload.
    case loss
    case answer
    case timeOut
  }

  package var due: Instant
  /// Local to the shard.
  package var device: UInt32
  package var batch: UInt32
  package var firstOrdinal: UInt32
  package var downlink: UInt32
  /// Microseconds, saturated; `.max`: no header.
  package var retryAfter: UInt32
  package var attempt: UInt16
  package var generation: UInt16
  package var status: UInt16
  package var kind: Kind
  /// On a time-out: whether the attempt is known to be lost, so that no other item will follow.
  package var resolves: Bool

  package static func < (a: Delivery, b: Delivery) -> Bool {
    if a.device != b.device { return a.device < b.device }
    if a.firstOrdinal != b.firstOrdinal { return a.firstOrdinal < b.firstOrdinal }
    return a.attempt < b.attempt
  }
}

/// The one order within a device at one instant (design.md, Time and order).
package enum ItemKind {
  package static let wakeUp: UInt64 = 4
  package static let trigger: UInt64 = 5
  package static let restart: UInt64 = 6
}

/// Where a device's consequences go: the windowed engine's calendars, or a test's heap.
package protocol DeviceSink: ~Copyable {
  /// `device` is local to the shard.
  mutating func schedule(trigger device: UInt32, at time: Instant)
  mutating func schedule(wakeUp device: UInt32, at time: Instant)
  mutating func schedule(restart device: UInt32, at time: Instant)
  mutating func schedule(_ delivery: Delivery)
  mutating func send(_ request: UploadRequest)
}
