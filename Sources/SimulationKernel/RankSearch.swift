/// A search for a value by its rank among many, without keeping or sorting them. The caller shows all of them again and again,
/// and each pass counts up to 16 more bits, from the highest down.
///
/// The result is exact. The search takes one pass for values below 2^16, two below 2^32, at most four. It has as many counts of
/// 8 bytes as the largest value needs, at most 512 KiB.
package struct RankSearch: ~Copyable {
  private static var mostDigitBits: Int64 { 16 }

  /// Bits of a pass: all passes have as many.
  private let digitBits: Int64
  /// Owns the counts. A deinit of its own would keep Embedded Swift from using the type in other modules.
  private let block: GrowableBuffer<Int64>
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
    let passes = (bits + Self.mostDigitBits - 1) / Self.mostDigitBits
    digitBits = passes == 0 ? 0 : (bits + passes - 1) / passes
    open = digitBits * passes
    block = GrowableBuffer(capacity: 1 << Int(digitBits))
    counts = block.base
    counts.initialize(repeating: 0, count: 1 << Int(digitBits))
  }

  /// The value of that rank, once enough passes have ended.
  package var result: Int64? { open == 0 ? found : nil }

  /// Shows a value in the pass at hand.
  @inline(__always)
  package func see(_ value: Int64) {
    // An unmasked shift: all 64 bits may be open.
    if open == 0 || value >> open != found { return }
    counts[Int(truncatingIfNeeded: (value &>> (open &- digitBits)) & (1 &<< digitBits &- 1))] &+= 1
  }

  /// Every value has been shown: the next bits are known.
  package mutating func endPass() {
    if open == 0 { return }
    var digit = 0
    while digit < (1 << Int(digitBits)) - 1, rank > counts[digit] {
      rank -= counts[digit]
      digit += 1
    }
    open -= digitBits
    found = found << digitBits | Int64(digit)
    counts.update(repeating: 0, count: 1 << Int(digitBits))
  }
}
