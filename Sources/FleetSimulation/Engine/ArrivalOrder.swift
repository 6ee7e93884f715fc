import SimulationKernel
import TAPIModel

/// An arrival in a window, in one word: offset within the window | shard (16 bits) | index among the shard's arrivals (28 bits).
enum ArrivalWord {
  static var offsetShift: Int { 44 }
  private static var shardShift: UInt64 { 28 }

  @inline(__always)
  static func word(offset: UInt32, shard: Int, index: Int) -> UInt64 {
    precondition(index < 1 &<< 28, "too many arrivals in one window")
    return UInt64(offset) &<< UInt64(offsetShift) | UInt64(truncatingIfNeeded: shard) &<< shardShift
      | UInt64(truncatingIfNeeded: index)
  }

  @inline(__always)
  static func offset(_ word: UInt64) -> Int64 { Int64(truncatingIfNeeded: word &>> UInt64(offsetShift)) }
  @inline(__always)
  static func shard(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shardShift & 0xffff) }
  @inline(__always)
  static func index(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & (1 &<< shardShift &- 1)) }
}

/// The order of arrivals at one instant; the plain engine of the tests has the same rule, written again.
package enum ArrivalOrder {
  /// Positions of `tied` in their order.
  package static func sorted(_ tied: [UploadRequest], key: RandomKey) -> [Int] {
    let hashes = tied.map { $0.key(key).bits }
    return tied.indices.sorted { a, b in
      if hashes[a] != hashes[b] { return hashes[a] < hashes[b] }
      if tied[a].device != tied[b].device { return tied[a].device < tied[b].device }
      if tied[a].firstOrdinal != tied[b].firstOrdinal { return tied[a].firstOrdinal < tied[b].firstOrdinal }
      return tied[a].attempt < tied[b].attempt
    }
  }
}
