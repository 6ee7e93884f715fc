import SimulationKernel
import UploadPipeline

/// The batches of every device that wait for their backoff: a heap of four children a device, by due time.
///
/// A heap's entries lie side by side in a block from a pool with sizes of powers of two, so that finding, adding and removing
/// among fifty waiting batches touches three or four cache lines. Entries hold their own due time; a batch that leaves its queue
/// while it waits stays behind as an entry and is passed over when it comes up.
/// Complexity: first O(1), push and pop O(log n).
struct WaitingHeaps: ~Copyable {
  struct Entry: BitwiseCopyable {
    /// The order of the heap in one number: when it is due (64 bits) | number of the first event (32) | batch (32).
    fileprivate var key: UInt128

    @inline(__always)
    init(due: Int64, firstOrdinal: UInt32, batch: BatchIndex) {
      key =
        UInt128(UInt64(bitPattern: due)) &<< 64
        | UInt128(UInt64(firstOrdinal) &<< 32 | UInt64(batch.rawValue))
    }

    /// Not negative.
    @inline(__always)
    var due: Int64 { Int64(truncatingIfNeeded: key &>> 64) }
    @inline(__always)
    var firstOrdinal: UInt32 { UInt32(truncatingIfNeeded: key &>> 32) }
    @inline(__always)
    var batch: BatchIndex { BatchIndex(rawValue: UInt32(truncatingIfNeeded: key)) }
  }

  /// Where a device's heap lies; 12 bytes.
  struct Place {
    /// In units of the smallest block.
    fileprivate var block: UInt32 = 0
    /// A device may hold a million batches (`QueuePolicy.limit`), and all of them may wait.
    fileprivate(set) var count: UInt32 = 0
    fileprivate var sizeClass: UInt8 = 0

    init() {}

    /// Back from `words`; all zeros is an empty heap.
    @inline(__always)
    init(_ words: (UInt32, UInt32, UInt32)) {
      block = words.0
      count = words.1
      sizeClass = UInt8(truncatingIfNeeded: words.2)
    }

    @inline(__always)
    var words: (UInt32, UInt32, UInt32) { (block, count, UInt32(sizeClass)) }
  }

  private var pool: BlockPool<Entry>

  init() { pool = BlockPool() }
  init(copying other: borrowing WaitingHeaps) { pool = BlockPool(copying: other.pool) }

  @inline(__always)
  func address(_ place: Place) -> UnsafeMutablePointer<Entry> {
    pool.address(place.block)
  }

  @inline(__always)
  func first(_ place: Place) -> Entry { address(place)[0] }

  mutating func push(_ entry: Entry, _ place: inout Place) {
    if Int(place.count) == BlockPool<Entry>.capacity(ofClass: place.sizeClass) { grow(&place) }
    let heap = address(place)
    var i = Int(place.count)
    place.count += 1
    while i > 0 {
      let parent = (i &- 1) &>> 2
      if heap[parent].key <= entry.key { break }
      heap[i] = heap[parent]
      i = parent
    }
    heap[i] = entry
  }

  mutating func popFirst(_ place: inout Place) {
    place.count -= 1
    let n = Int(place.count)
    if n == 0 {
      release(&place)
      return
    }
    let heap = address(place)
    let last = heap[n]
    var i = 0
    while true {
      let first = 4 &* i &+ 1
      if first >= n { break }
      // The least of the children, without a branch for each.
      var least = first
      var leastKey = heap[first].key
      for child in first &+ 1..<min(first &+ 4, n) {
        let key = heap[child].key
        least = key < leastKey ? child : least
        leastKey = key < leastKey ? key : leastKey
      }
      if leastKey >= last.key { break }
      heap[i].key = leastKey
      i = least
    }
    heap[i] = last
  }

  /// Whether the second of a heap is due later than `now`; the first one does not count.
  @inline(__always)
  func isSecondLater(than now: Int64, _ place: Place) -> Bool {
    let heap = address(place)
    for i in 1..<max(1, min(5, Int(truncatingIfNeeded: place.count))) where heap[i].due <= now {
      return false
    }
    return true
  }

  private mutating func grow(_ place: inout Place) {
    var larger = Place()
    larger.sizeClass = place.sizeClass + 1
    larger.count = place.count
    larger.block = pool.allocate(sizeClass: larger.sizeClass)
    if place.count > 0 { address(larger).update(from: address(place), count: Int(place.count)) }
    if place.sizeClass > 0 { release(&place) }
    place = larger
  }

  private mutating func release(_ place: inout Place) {
    pool.release(place.block, sizeClass: place.sizeClass)
    place = Place()
  }
}
