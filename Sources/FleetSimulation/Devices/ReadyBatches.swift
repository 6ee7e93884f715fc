import SimulationKernel
import UploadPipeline

/// The due batches of every device, in the order of their events: a sorted block a device. The next one at or behind a cursor is
/// found without touching any batch.
///
/// One batch alone, which is what most devices have, needs no block. A block has room in front as well, for it is the oldest that
/// leave most.
/// Complexity: finding O(log n), adding and removing at either end amortised O(1), in the middle O(n) words moved.
package struct ReadyBatches: ~Copyable {
  /// A due batch in one word, by whose order batches are in the order of their events.
  package struct Entry: BitwiseCopyable {
    /// Number of its first event (32 bits) | due at triggers only (1) | batch (31).
    fileprivate(set) var word: UInt64

    @inline(__always)
    package init(firstOrdinal: UInt32, batch: BatchIndex, atTriggersOnly: Bool) {
      word = UInt64(firstOrdinal) &<< 32 | (atTriggersOnly ? 1 &<< 31 : 0) | UInt64(batch.rawValue)
    }

    @inline(__always)
    fileprivate init(word: UInt64) { self.word = word }

    @inline(__always)
    package var firstOrdinal: UInt32 { UInt32(truncatingIfNeeded: word &>> 32) }
    @inline(__always)
    package var batch: BatchIndex {
      BatchIndex(rawValue: UInt32(truncatingIfNeeded: word) & (1 &<< 31 &- 1))
    }
    @inline(__always)
    package var atTriggersOnly: Bool { word & 1 &<< 31 != 0 }
  }

  /// Where a device's due batches lie; 14 bytes. All zeros is none.
  package struct Place: BitwiseCopyable {
    /// The block and the place of the first entry in it; without a block the one entry itself.
    fileprivate var words: (UInt32, UInt32) = (0, 0)
    package fileprivate(set) var count: UInt32 = 0
    fileprivate var sizeClass: UInt8 = 0
    /// Where the latest was taken out, and the next one probably lies.
    fileprivate(set) var hint: UInt8 = 0

    package init() {}

    @inline(__always)
    fileprivate var only: Entry {
      get { Entry(word: UInt64(words.1) &<< 32 | UInt64(words.0)) }
      set {
        words = (UInt32(truncatingIfNeeded: newValue.word), UInt32(truncatingIfNeeded: newValue.word &>> 32))
      }
    }

    @inline(__always)
    fileprivate var first: Int {
      get { Int(truncatingIfNeeded: words.1) }
      set { words.1 = UInt32(truncatingIfNeeded: newValue) }
    }
  }

  private var pool: BlockPool<UInt64>

  package init() { pool = BlockPool() }
  init(copying other: borrowing ReadyBatches) { pool = BlockPool(copying: other.pool) }

  // MARK: Looking

  /// The entries of a place with a block.
  @inline(__always)
  private func entries(_ place: Place) -> UnsafeMutablePointer<UInt64> {
    pool.address(place.words.0) + place.first
  }

  /// Where they lie in memory, to be fetched ahead; nil if they lie in the place itself.
  @inline(__always)
  func address(_ place: Place) -> UnsafeRawPointer? {
    place.sizeClass == 0 ? nil : UnsafeRawPointer(entries(place))
  }

  /// - `index`: below `count`.
  @inline(__always)
  package func entry(_ index: Int, of place: Place) -> Entry {
    place.sizeClass == 0 ? place.only : Entry(word: entries(place)[index])
  }

  /// The first whose events begin at or behind `ordinal`; `count` if there is none.
  @inline(__always)
  package func firstIndex(from ordinal: UInt32, in place: Place) -> Int {
    let count = Int(truncatingIfNeeded: place.count)
    if ordinal == 0 || count == 0 { return 0 }
    let key = UInt64(ordinal) &<< 32
    if place.sizeClass == 0 { return place.only.word < key ? 1 : 0 }
    let words = entries(place)
    let hint = Int(truncatingIfNeeded: place.hint)
    if hint <= count, hint == 0 || words[hint &- 1] < key, hint == count || words[hint] >= key { return hint }
    var (low, length) = (0, count)
    while length > 0 {
      let half = length &>> 1
      let isBefore = words[low &+ half] < key
      low = isBefore ? low &+ half &+ 1 : low
      length = isBefore ? length &- half &- 1 : half
    }
    return low
  }

  /// nil: it is not among them.
  package func index(ofBatchAt ordinal: UInt32, in place: Place) -> Int? {
    let index = firstIndex(from: ordinal, in: place)
    guard index < Int(place.count), entry(index, of: place).firstOrdinal == ordinal else { return nil }
    return index
  }

  // MARK: Changing

  /// Adds one whose events lie behind those of all others.
  @inline(__always)
  package mutating func append(_ entry: Entry, to place: inout Place) {
    if place.count == 0, place.sizeClass == 0 {
      place.only = entry
      place.count = 1
      return
    }
    makeRoom(1, in: &place)
    entries(place)[Int(truncatingIfNeeded: place.count)] = entry.word
    place.count &+= 1
  }

  @inline(__always)
  package mutating func insert(_ entry: Entry, into place: inout Place) {
    let index = firstIndex(from: entry.firstOrdinal, in: place)
    if index == Int(truncatingIfNeeded: place.count) {
      append(entry, to: &place)
    } else {
      insert(entry, at: index, of: &place)
    }
  }

  @inline(never)
  private mutating func insert(_ entry: Entry, at index: Int, of place: inout Place) {
    let count = Int(truncatingIfNeeded: place.count)
    if place.sizeClass > 0, place.first > 0, index <= count &>> 1 {
      place.first &-= 1
      let words = entries(place)
      for i in 0..<index { words[i] = words[i &+ 1] }
      words[index] = entry.word
    } else {
      makeRoom(1, in: &place)
      let words = entries(place)
      var i = count
      while i > index {
        words[i] = words[i &- 1]
        i &-= 1
      }
      words[index] = entry.word
    }
    place.count &+= 1
  }

  /// Adds several at once, which are in order.
  package mutating func merge(_ new: UnsafeBufferPointer<Entry>, into place: inout Place) {
    if new.isEmpty { return }
    makeRoom(new.count, in: &place)
    let words = entries(place)
    // From the back, so that nothing is overwritten that is still to be moved.
    var (old, left) = (Int(place.count), new.count)
    while left > 0 {
      if old > 0, words[old &- 1] > new[left &- 1].word {
        words[old &+ left &- 1] = words[old &- 1]
        old &-= 1
      } else {
        words[old &+ left &- 1] = new[left &- 1].word
        left &-= 1
      }
    }
    place.count &+= UInt32(truncatingIfNeeded: new.count)
  }

  @inline(__always)
  package mutating func remove(at index: Int, from place: inout Place) {
    if place.count == 1 {
      removeAll(from: &place)
    } else {
      removeOne(at: index, from: &place)
      place.hint = UInt8(truncatingIfNeeded: min(index, 255))
    }
  }

  private func removeOne(at index: Int, from place: inout Place) {
    let words = entries(place)
    let last = Int(truncatingIfNeeded: place.count) &- 1
    if index <= last &>> 1 {
      var i = index
      while i > 0 {
        words[i] = words[i &- 1]
        i &-= 1
      }
      place.first &+= 1
    } else {
      for i in index..<last { words[i] = words[i &+ 1] }
    }
    place.count &-= 1
  }

  @inline(__always)
  package mutating func removeAll(from place: inout Place) {
    if place.sizeClass > 0 { pool.release(place.words.0, sizeClass: place.sizeClass) }
    place = Place()
  }

  /// Another entry in the place of one; both lie between the same neighbours.
  package mutating func replace(at index: Int, of place: inout Place, with entry: Entry) {
    if place.sizeClass == 0 { place.only = entry } else { entries(place)[index] = entry.word }
  }

  /// Room for so many more behind the last, in a block.
  @inline(__always)
  private mutating func makeRoom(_ more: Int, in place: inout Place) {
    let needed = place.first &+ Int(truncatingIfNeeded: place.count) &+ more
    if place.sizeClass > 0, needed <= BlockPool<UInt64>.capacity(ofClass: place.sizeClass) { return }
    makeMoreRoom(more, in: &place)
  }

  @inline(never)
  private mutating func makeMoreRoom(_ more: Int, in place: inout Place) {
    let count = Int(place.count)
    var larger = place
    larger.sizeClass = max(1, place.sizeClass)
    while count + more > BlockPool<UInt64>.capacity(ofClass: larger.sizeClass) { larger.sizeClass += 1 }
    if larger.sizeClass == place.sizeClass {
      // Half of it lies free in front, or it is small: it moves to the beginning.
      if place.first >= count || larger.sizeClass < 3 {
        let words = pool.address(place.words.0)
        for i in 0..<count { words[i] = words[place.first &+ i] }
        place.first = 0
        return
      }
      larger.sizeClass += 1
    }
    larger.words = (pool.allocate(sizeClass: larger.sizeClass), 0)
    let words = pool.address(larger.words.0)
    if place.sizeClass == 0 {
      if count > 0 { words[0] = place.only.word }
    } else {
      words.update(from: entries(place), count: count)
      pool.release(place.words.0, sizeClass: place.sizeClass)
    }
    place = larger
  }
}

/// The batches of every device that wait for their backoff or their request's own delay (K2): a heap of four children a
/// device, by due time.
///
/// A heap's entries lie side by side in a block from a pool with sizes of powers of two. So finding, adding and removing among
/// fifty waiting batches touches three or four cache lines. Entries hold their own due time. A batch that leaves its queue while
/// it waits stays behind as a stale entry, until it comes up or another leaves where half of the entries are stale. Complexity:
/// first O(1), push and pop O(log n), a batch that leaves O(1) on average.
package struct WaitingHeaps: ~Copyable {
  package struct Entry: BitwiseCopyable {
    /// The order of the heap in one number: when it is due (64 bits) | number of the first event (32) | held (1) | batch (31).
    fileprivate var key: UInt128

    /// - `isHeld`: it waits for its request's own delay (K2), not for a backoff.
    @inline(__always)
    package init(due: Int64, firstOrdinal: UInt32, batch: BatchIndex, isHeld: Bool = false) {
      key =
        UInt128(UInt64(bitPattern: due)) &<< 64
        | UInt128(UInt64(firstOrdinal) &<< 32 | (isHeld ? 1 &<< 31 : 0) | UInt64(batch.rawValue))
    }

    /// Not negative.
    @inline(__always)
    package var due: Int64 { Int64(truncatingIfNeeded: key &>> 64) }
    @inline(__always)
    package var firstOrdinal: UInt32 { UInt32(truncatingIfNeeded: key &>> 32) }
    @inline(__always)
    package var batch: BatchIndex { BatchIndex(rawValue: UInt32(truncatingIfNeeded: key) & (1 &<< 31 &- 1)) }
    @inline(__always)
    var isHeld: Bool { key & 1 &<< 31 != 0 }
  }

  /// Where a device's heap lies; 12 bytes.
  package struct Place {
    /// In units of the smallest block.
    fileprivate var block: UInt32 = 0
    /// A device may hold a million batches (`QueuePolicy.limit`), and all of them may wait.
    package fileprivate(set) var count: UInt32 = 0
    fileprivate var sizeClass: UInt8 = 0
    /// Entries of batches that have left the queue, 24 bits. Each that leaves sees to it that they are half of all at most, or
    /// `staleAtMost`, before it leaves its own.
    package fileprivate(set) var stale: UInt32 = 0

    package init() {}

    /// Back from `words`; all zeros is an empty heap.
    @inline(__always)
    package init(_ words: (UInt32, UInt32, UInt32)) {
      block = words.0
      count = words.1
      sizeClass = UInt8(truncatingIfNeeded: words.2)
      stale = words.2 &>> 8
    }

    @inline(__always)
    package var words: (UInt32, UInt32, UInt32) { (block, count, UInt32(sizeClass) | stale &<< 8) }

    /// A waiting batch is about to leave the queue, and its entry stays.
    package mutating func leavesEntry() {
      stale += 1
      precondition(stale < 1 << 24, "too many batches have left a device's heap")
    }

    /// Whether stale entries have to go before another is left.
    package var isHalfStale: Bool { stale >= WaitingHeaps.staleAtMost && 2 * stale >= count }
  }

  /// A heap may hold so many stale entries, however few others.
  private static var staleAtMost: UInt32 { 4 }

  private var pool: BlockPool<Entry>

  package init() { pool = BlockPool() }

  /// Returns the sum of the digests of entries whose batches have not left, whatever their places in the heap.
  func state(_ place: Place, hasLeft: (BatchIndex) -> Bool) -> StateDigest {
    var sum = StateDigest.nothing
    for i in 0..<Int(place.count) {
      let entry = address(place)[i]
      if hasLeft(entry.batch) { continue }
      var digest = StateDigest()
      digest.add(entry.due)
      digest.add(UInt64(entry.firstOrdinal) &<< 1 | (entry.isHeld ? 1 : 0))
      sum.add(unordered: digest)
    }
    return sum
  }

  init(copying other: borrowing WaitingHeaps) { pool = BlockPool(copying: other.pool) }

  @inline(__always)
  func address(_ place: Place) -> UnsafeMutablePointer<Entry> {
    pool.address(place.block)
  }

  @inline(__always)
  package func first(_ place: Place) -> Entry { address(place)[0] }

  package mutating func push(_ entry: Entry, _ place: inout Place) {
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

  /// - Parameter isStale: its batch had left.
  @inline(__always)
  package mutating func popFirst(_ place: inout Place, isStale: Bool = false) {
    place.count -= 1
    if isStale { place.stale -= 1 }
    let n = Int(place.count)
    if n == 0 {
      release(&place)
      return
    }
    let heap = address(place)
    Self.sift(heap[n], from: 0, heap, count: n)
  }

  /// Moves an entry from place `i` towards the leaves until no child comes before it.
  private static func sift(_ entry: Entry, from i: Int, _ heap: UnsafeMutablePointer<Entry>, count n: Int) {
    var i = i
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
      if leastKey >= entry.key { break }
      heap[i].key = leastKey
      i = least
    }
    heap[i] = entry
  }

  /// Moves the entries of batches that have left behind all others, and returns how many others there are. Complexity: O(n).
  package func moveStaleToEnd(of place: Place, hasLeft: (BatchIndex) -> Bool) -> Int {
    var entries = UnsafeMutableBufferPointer(start: address(place), count: Int(place.count))
    return entries.partition { hasLeft($0.batch) }
  }

  /// Makes a heap of the first `n` entries, none of which is stale, and forgets the others. Complexity: O(n).
  package mutating func keepFirst(_ n: Int, of place: inout Place) {
    (place.count, place.stale) = (UInt32(n), 0)
    if n == 0 {
      release(&place)
      return
    }
    let heap = address(place)
    for i in stride(from: (n - 1) / 4, through: 0, by: -1) {
      Self.sift(heap[i], from: i, heap, count: n)
    }
  }

  /// Another batch, which begins with the same event, takes the place of one that waits. Complexity: O(n).
  func replace(_ batch: BatchIndex, by other: BatchIndex, in place: Place) {
    let heap = address(place)
    for i in 0..<Int(place.count) where heap[i].batch == batch {
      let old = heap[i]
      heap[i] = Entry(due: old.due, firstOrdinal: old.firstOrdinal, batch: other, isHeld: old.isHeld)
    }
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
    var larger = place
    larger.sizeClass += 1
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

/// Blocks of entries for small queues, one a device: all from one table, in sizes of powers of two, each size with a free list.
///
/// Block 0 is never given out. Entries are of 8 bytes at least, and any bits will do for one that is not in use.
struct BlockPool<Entry: BitwiseCopyable>: ~Copyable {
  /// Entries of the smallest block, which has size class 1; each class has twice as many as the one before.
  static var smallest: Int { 4 }
  /// Its blocks hold 2^32 entries.
  private static var largestClass: Int { 31 }

  private var entries: UnsafeMutablePointer<Entry>
  /// In units of the smallest block, as block numbers are.
  private var capacity = 64
  private var used = 1
  /// The first free block of each size class; the next one stands in a free block's first bytes.
  private let free: UnsafeMutablePointer<UInt32>

  init() {
    entries = PlainMemory.allocate(byteCount: 64 * Self.blockBytes)
      .bindMemory(to: Entry.self, capacity: 64 * Self.smallest)
    free = .allocate(capacity: Self.largestClass + 1)
    free.initialize(repeating: 0, count: Self.largestClass + 1)
  }

  init(copying other: borrowing BlockPool) {
    (capacity, used) = (other.capacity, other.used)
    entries = PlainMemory.copy(
      of: other.entries, count: other.used * Self.smallest, capacity: other.capacity * Self.smallest)
    free = .allocate(capacity: Self.largestClass + 1)
    free.initialize(from: other.free, count: Self.largestClass + 1)
  }

  deinit {
    PlainMemory.release(entries)
    free.deallocate()
  }

  private static var blockBytes: Int { smallest * MemoryLayout<Entry>.stride }

  /// Entries that fit; none without a block.
  @inline(__always)
  static func capacity(ofClass sizeClass: UInt8) -> Int {
    sizeClass == 0 ? 0 : smallest &<< (Int(sizeClass) &- 1)
  }

  @inline(__always)
  func address(_ block: UInt32) -> UnsafeMutablePointer<Entry> {
    entries + Int(truncatingIfNeeded: block) &* Self.smallest
  }

  /// A block of any contents; blocks move only as one is allocated.
  mutating func allocate(sizeClass: UInt8) -> UInt32 {
    precondition(Int(sizeClass) <= Self.largestClass, "too many batches in one device")
    let block = free[Int(sizeClass)]
    if block != 0 {
      free[Int(sizeClass)] = UnsafeRawPointer(address(block)).load(as: UInt32.self)
      return block
    }
    let blocks = 1 << (Int(sizeClass) - 1)
    if used + blocks > capacity {
      let larger = max(capacity * 2, used + blocks)
      entries = PlainMemory.grow(entries, from: capacity * Self.blockBytes, to: larger * Self.blockBytes)
        .bindMemory(to: Entry.self, capacity: larger * Self.smallest)
      capacity = larger
    }
    used += blocks
    return UInt32(truncatingIfNeeded: used - blocks)
  }

  mutating func release(_ block: UInt32, sizeClass: UInt8) {
    UnsafeMutableRawPointer(address(block)).storeBytes(of: free[Int(sizeClass)], as: UInt32.self)
    free[Int(sizeClass)] = block
  }
}
