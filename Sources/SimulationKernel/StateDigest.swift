/// A hash of 128 bits of the state of a run, to tell whether two runs of one process stand alike.
///
/// Words count in their order. Digests whose order is of no matter are added up (`add(unordered:)`).
@usableFromInline package struct StateDigest: BitwiseCopyable, Hashable, Sendable {
  @usableFromInline package var low: UInt64 = 0x9E37_79B9_7F4A_7C15
  @usableFromInline package var high: UInt64 = 0xC2B2_AE3D_27D4_EB4F

  @inlinable package init() {}

  /// The sum of no digests.
  @inlinable package static var nothing: StateDigest {
    var digest = StateDigest()
    (digest.low, digest.high) = (0, 0)
    return digest
  }

  @inlinable @inline(__always)
  package mutating func add(_ word: UInt64) {
    // The halves of two products with odd constants, as wyhash mixes.
    let product = (low ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    let other = (high &+ word).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
    low = product.high ^ product.low ^ high
    high = other.high ^ other.low ^ word
  }

  @inlinable @inline(__always)
  package mutating func add(_ value: some FixedWidthInteger) { add(UInt64(truncatingIfNeeded: value)) }

  @inlinable @inline(__always)
  package mutating func add(_ value: Bool) { add(value ? 1 : 0 as UInt64) }

  @inlinable package mutating func add(_ other: StateDigest) {
    add(other.low)
    add(other.high)
  }

  @inlinable @inline(__always)
  package mutating func add(unordered other: StateDigest) {
    low &+= other.low
    high &+= other.high
  }
}
