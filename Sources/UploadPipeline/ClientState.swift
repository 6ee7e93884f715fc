import UploadGating
import UploadRetry

/// A client's knowledge of itself beside its queue: 12 bytes, kept wherever its host keeps it. All zeros is a client that has
/// just been installed.
@frozen
public struct ClientState: BitwiseCopyable, Sendable {
  /// Until when nothing leaves (S16).
  public var gate: UploadGate
  /// The global counter (S2).
  public var pipeline: PipelineRetryState
  /// Where its upload loop is.
  public var flags: ClientFlags

  /// READY, nothing counted, no loop.
  @inlinable
  public init() {
    gate = UploadGate()
    pipeline = PipelineRetryState()
    flags = []
  }
}

/// Where a client's upload loop is. Bits without a name here are the host's own.
@frozen
public struct ClientFlags: OptionSet, BitwiseCopyable, Sendable {
  public var rawValue: UInt16

  @inlinable
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An upload loop runs, or waits for its last answers.
  @inlinable public static var looping: ClientFlags { ClientFlags(rawValue: 1) }
  /// The loop has ended early (a 429) and sends nothing more.
  @inlinable public static var draining: ClientFlags { ClientFlags(rawValue: 2) }
  /// The loop was started by a trigger, not by a wake-up.
  @inlinable public static var byTrigger: ClientFlags { ClientFlags(rawValue: 4) }
  /// No loop runs, and batches are held.
  @inlinable public static var resting: ClientFlags { ClientFlags(rawValue: 8) }
  /// An upload of the running loop has failed.
  @inlinable public static var loopHadFailure: ClientFlags { ClientFlags(rawValue: 64) }
  /// Without a network: nothing leaves (D7).
  @inlinable public static var offline: ClientFlags { ClientFlags(rawValue: 2_048) }
  /// The app is closed: no wait wakes it up. Triggers that come all the same do what they do.
  @inlinable public static var suspended: ClientFlags { ClientFlags(rawValue: 8_192) }

  /// The flags as they are once a loop begins.
  @inlinable
  @inline(__always)
  public func atBeginOfLoop(byTrigger: Bool) -> ClientFlags {
    let kept = subtracting(
      ClientFlags.draining.union(ClientFlags.byTrigger).union(ClientFlags.loopHadFailure))
    return kept.union(byTrigger ? ClientFlags.looping.union(ClientFlags.byTrigger) : ClientFlags.looping)
  }
}

/// A client's place among those of a host, from 0 on.
@frozen
public struct ClientIndex: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  public var rawValue: UInt32
  @inlinable
  @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  @inlinable
  @inline(__always)
  public init(_ place: Int) { rawValue = UInt32(truncatingIfNeeded: place) }

  /// For an array.
  @inlinable
  @inline(__always)
  public var place: Int { Int(truncatingIfNeeded: rawValue) }

  /// The client of a host with only one.
  @inlinable
  public static var only: ClientIndex { ClientIndex(rawValue: 0) }
}

/// A sealed batch in a host, until it leaves the queue; its number may then be another's.
@frozen
public struct BatchIndex: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  public var rawValue: UInt32
  @inlinable
  @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// For an array.
  @inlinable
  @inline(__always)
  public var place: Int { Int(truncatingIfNeeded: rawValue) }

  /// No batch: 0.
  @inlinable
  @inline(__always)
  public static var noBatch: BatchIndex { BatchIndex(rawValue: 0) }
}

/// In the order of places: a range of them can be walked.
extension ClientIndex: Strideable {
  @inlinable
  @inline(__always)
  public func distance(to other: Self) -> Int { other.place &- place }
  @inlinable
  @inline(__always)
  public func advanced(by n: Int) -> Self { Self(place &+ n) }
}
