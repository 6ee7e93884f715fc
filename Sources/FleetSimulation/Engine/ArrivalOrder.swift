import SimulationKernel
import TAPIModel
import UploadPipeline

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

/// A window in parts of equal width, by which arrivals are counted where their order does not matter.
struct WindowParts {
  private let shift: Int64
  /// At most 64.
  let count: Int

  init(_ clock: WindowClock) {
    let bits = min(clock.offsetBits, 6)
    shift = Int64(clock.offsetBits &- bits)
    count = 1 &<< bits
  }

  /// Microseconds.
  var width: Int64 { 1 &<< shift }
  /// From here on the order may still matter; most often that is so in the last two or three alone.
  var firstLate: Int64 { Int64(count &- count / 4) }
  @inline(__always)
  func part(of offset: Int64) -> Int { Int(truncatingIfNeeded: offset &>> shift) }
}

/// The order of arrivals at one instant; the plain engine of the tests has the same rule, written again.
enum ArrivalOrder {
  /// What decides between an arrival and others of the same instant.
  struct Tie: BitwiseCopyable {
    var word: UInt64
    private var hash: UInt64
    private var device: UInt32
    private var firstOrdinal: UInt32
    private var attempt: UInt16

    init(word: UInt64, request: UploadRequest, key: RandomKey) {
      self.word = word
      hash = request.key(key).bits
      device = request.device
      firstOrdinal = request.firstOrdinal
      attempt = request.attempt
    }

    static func < (a: Tie, b: Tie) -> Bool {
      if a.hash != b.hash { return a.hash < b.hash }
      if a.device != b.device { return a.device < b.device }
      if a.firstOrdinal != b.firstOrdinal { return a.firstOrdinal < b.firstOrdinal }
      return a.attempt < b.attempt
    }
  }
}
