/// Cuts virtual time into windows of equal width, a power of two of microseconds, so that finding a window is a shift.
@frozen
public struct WindowClock: Sendable, Hashable, BitwiseCopyable {
  /// The width is 2^shift µs.
  @usableFromInline let shift: Int64

  /// The largest power of two that is not longer than `longest`, which is at least 1 µs.
  public init(notLongerThan longest: Span) {
    precondition(longest.microseconds > 0, "a window has a width")
    shift = Int64(63 - longest.microseconds.leadingZeroBitCount)
  }

  /// Microseconds.
  @inlinable public var width: Int64 { 1 &<< shift }
  /// Bits that hold a time within a window.
  @inlinable public var offsetBits: Int { Int(shift) }

  @inlinable @inline(__always)
  public func slot(of time: Int64) -> Int { Int(clamping: time &>> shift) }
  @inlinable @inline(__always)
  public func start(of slot: Int) -> Int64 { Int64(slot) &<< shift }
  @inlinable @inline(__always)
  public func offset(of time: Int64) -> Int64 { time & (width &- 1) }
}
