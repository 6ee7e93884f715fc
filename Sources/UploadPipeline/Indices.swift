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

  /// Of a host with one client.
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
