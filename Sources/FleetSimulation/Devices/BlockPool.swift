import SimulationKernel

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
