/// A search for a value by its rank among many, without keeping or sorting them. The caller shows all of them again and again,
/// and each pass counts 16 more bits, from the highest down.
///
/// The result is exact. The search takes at most four passes, two for values below 2^32; 512 KiB, whatever the number of
/// values.
package struct RankSearch: ~Copyable {
  private static var digitBits: Int64 { 16 }

  private let counts: UnsafeMutablePointer<Int64>
  /// From 1, among the values that share the bits found so far.
  private var rank: Int64
  private var found: Int64 = 0
  /// Bits below those found.
  private var open: Int64

  /// - Parameters:
  ///   - rank: from 1, by size.
  ///   - largest: no value is larger, none is negative.
  package init(rank: Int64, largest: Int64) {
    self.rank = rank
    let bits = Int64(Int64.bitWidth - max(largest, 0).leadingZeroBitCount)
    open = (bits + Self.digitBits - 1) / Self.digitBits * Self.digitBits
    counts = .allocate(capacity: 1 << Int(Self.digitBits))
    counts.initialize(repeating: 0, count: 1 << Int(Self.digitBits))
  }

  deinit { counts.deallocate() }

  /// The value of that rank, once enough passes have ended.
  package var result: Int64? { open == 0 ? found : nil }

  /// Shows a value in the pass at hand.
  @inline(__always)
  package func see(_ value: Int64) {
    // An unmasked shift: all 64 bits may be open.
    if open == 0 || value >> open != found { return }
    counts[Int(truncatingIfNeeded: (value &>> (open &- Self.digitBits)) & (1 &<< Self.digitBits &- 1))] &+= 1
  }

  /// Every value has been shown: the next 16 bits are known.
  package mutating func endPass() {
    if open == 0 { return }
    var digit = 0
    while digit < (1 << Int(Self.digitBits)) - 1, rank > counts[digit] {
      rank -= counts[digit]
      digit += 1
    }
    open -= Self.digitBits
    found = found << Self.digitBits | Int64(digit)
    counts.update(repeating: 0, count: 1 << Int(Self.digitBits))
  }
}
