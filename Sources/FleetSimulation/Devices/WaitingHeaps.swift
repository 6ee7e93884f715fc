import SimulationKernel

/// The batches of every device that wait for their backoff: a binary heap a device, by due time.
///
/// A heap's entries lie side by side in a block from a pool with sizes of powers of two, so that finding, adding and removing
/// among fifty waiting batches touches three or four cache lines. Entries hold their own due time; a batch that leaves its queue
/// while it waits stays behind as an entry and is passed over when it comes up.
/// Complexity: first O(1), push and pop O(log n).
struct WaitingHeaps: ~Copyable {
  struct Entry: BitwiseCopyable {
    var due: Int64
    var firstOrdinal: UInt32
    var batch: UInt32

    @inline(__always)
    static func < (a: Entry, b: Entry) -> Bool {
      a.due != b.due ? a.due < b.due : a.firstOrdinal < b.firstOrdinal
    }
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

  private var pool = BlockPool<Entry>()

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
      let parent = (i &- 1) &>> 1
      if !(entry < heap[parent]) { break }
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
      var child = 2 &* i &+ 1
      if child >= n { break }
      if child &+ 1 < n, heap[child &+ 1] < heap[child] { child &+= 1 }
      if !(heap[child] < last) { break }
      heap[i] = heap[child]
      i = child
    }
    heap[i] = last
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
