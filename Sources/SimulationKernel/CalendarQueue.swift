import CMemory

/// A queue of future items by time slot: a ring of slots with an overflow level beyond it.
///
/// Slots are taken in ascending order, each once. Items of a slot come back in no particular order: the caller sorts them by the
/// explicit order of the model. So nothing ever depends on when an item was inserted. `push` and `take` are amortised O(1) an
/// item, whatever the number of items queued. Memory is about 1.05 items an item, plus half a chunk an occupied slot and 4 bytes
/// a ring slot.
public struct CalendarQueue<Item: BitwiseCopyable>: ~Copyable {
  /// Items live in chunks of this many bytes: a link to the slot's previous chunk, then items to the very end.
  @usableFromInline let chunkBytes: Int
  @usableFromInline let chunkBits: Int
  @usableFromInline let headerBytes: Int

  @usableFromInline struct FarItem: BitwiseCopyable {
    /// Within its revolution.
    @usableFromInline var slot: UInt32
    /// The last field: `farPlace` goes by that.
    @usableFromInline var item: Item
  }

  /// Where the next item of each ring slot goes, in units of 4 bytes from `pool`; 0: the slot is empty. At a chunk's end it is a
  /// multiple of a chunk.
  @usableFromInline let ends: UnsafeMutablePointer<UInt32>
  @usableFromInline let ringMask: Int
  @usableFromInline let ringBits: Int
  @usableFromInline var pool: UnsafeMutableRawPointer
  @usableFromInline var chunkCapacity: Int
  @usableFromInline var chunksUsed: Int
  /// The first chunk of the free list; 0: none.
  @usableFromInline var freeChunk: UInt32
  /// The first slot that may still be pushed to: slots below it have been taken.
  @usableFromInline var current: Int
  /// Gets to know the slots of the ring that hold items.
  @usableFromInline let occupied: SlotSet
  /// Items beyond the ring, by revolution of the ring.
  @usableFromInline let far: UnsafeMutablePointer<GrowableBuffer<FarItem>?>
  @usableFromInline let revolutions: Int

  static func ringBits(slots: Int, ringSlots: Int) -> Int {
    var bits = 0
    while 1 << bits < min(ringSlots, slots) { bits += 1 }
    return bits
  }

  /// Bytes of a calendar before it holds anything.
  package static func emptyBytes(slots: Int, ringSlots: Int) -> Double {
    let bits = ringBits(slots: slots, ringSlots: ringSlots)
    let revolutions = slots >> bits + 1
    return Double((1 << bits) * MemoryLayout<UInt32>.stride)
      + Double(revolutions * MemoryLayout<GrowableBuffer<FarItem>?>.stride)
  }

  static func itemsPerChunk(of bytes: Int) -> Int { (bytes - 8) / MemoryLayout<Item>.stride }

  /// - Parameters:
  ///   - slots: how many slots there are in all, at least 1.
  ///   - ringSlots: how many of them lie in the ring at a time; rounded up to a power of two. Default 2^16.
  ///   - chunkBytes: a power of two, 256 to 4096. Long chunks are read and written in a stretch, and pay where a slot holds
  ///     hundreds of items; an occupied slot wastes half of one.
  ///   - occupied: gets to know the slots that hold items; several calendars may share it.
  public init(slots: Int, ringSlots: Int = 1 << 16, chunkBytes: Int = 256, in occupied: SlotSet) {
    precondition(slots > 0 && ringSlots > 0, "a calendar needs slots")
    precondition(
      256...4096 ~= chunkBytes && chunkBytes & (chunkBytes - 1) == 0,
      "a chunk has 256, 512, 1024, 2048 or 4096 bytes")
    precondition(
      MemoryLayout<Item>.stride % 4 == 0 && MemoryLayout<Item>.stride <= 240,
      "an item is a multiple of 4 bytes, and some fit into a chunk")
    self.chunkBytes = chunkBytes
    chunkBits = chunkBytes.trailingZeroBitCount
    headerBytes = chunkBytes - Self.itemsPerChunk(of: chunkBytes) * MemoryLayout<Item>.stride
    let bits = Self.ringBits(slots: slots, ringSlots: ringSlots)
    ringBits = bits
    ringMask = (1 << bits) - 1
    ends = .allocate(capacity: 1 << bits)
    ends.initialize(repeating: 0, count: 1 << bits)
    chunkCapacity = 16
    pool = PlainMemory.allocate(byteCount: chunkCapacity * chunkBytes)
    chunksUsed = 1
    freeChunk = 0
    current = 0
    self.occupied = occupied
    revolutions = (slots - 1) >> bits + 1
    far = .allocate(capacity: revolutions)
    for i in 0..<revolutions { (far + i).initialize(to: nil) }
  }

  deinit {
    ends.deallocate()
    PlainMemory.release(pool)
    for i in 0..<revolutions { (far + i).deinitialize(count: 1) }
    far.deallocate()
  }

  /// Queues `item` for `slot`, which must not have been taken yet: an item in the past is a programming error and traps.
  @inlinable @inline(__always)
  public mutating func push(_ item: Item, slot: Int) {
    // The item goes into no function that isn't inlined: it would be put into memory for it, each time.
    let isFar = UInt(bitPattern: slot &- current) > UInt(bitPattern: ringMask)
    let place = isFar ? farPlace(slot: slot) : ringPlace(slot: slot)
    place.storeBytes(of: item, as: Item.self)
  }

  /// Where the next item of a slot in the ring goes.
  @inlinable @inline(__always)
  mutating func ringPlace(slot: Int) -> UnsafeMutableRawPointer {
    let end = ends + (slot & ringMask)
    var offset = Int(truncatingIfNeeded: end.pointee) &<< 2
    if offset & (chunkBytes &- 1) == 0 { offset = newChunk(of: slot, endingAt: offset) }
    end.pointee = UInt32(truncatingIfNeeded: (offset &+ MemoryLayout<Item>.stride) &>> 2)
    return pool + offset
  }

  /// A chunk for a slot whose latest chunk ends at `offset`, or that has none (0): where its first item goes.
  @inlinable @inline(never)
  mutating func newChunk(of slot: Int, endingAt offset: Int) -> Int {
    occupied.insert(slot)
    var index = Int(truncatingIfNeeded: freeChunk)
    if index != 0 {
      freeChunk = (pool + index &<< chunkBits).load(as: UInt32.self)
    } else {
      if chunksUsed == chunkCapacity { growPool() }
      index = chunksUsed
      chunksUsed &+= 1
    }
    let previous = offset == 0 ? 0 : offset &>> chunkBits &- 1
    let start = index &<< chunkBits
    (pool + start).storeBytes(of: UInt32(truncatingIfNeeded: previous), as: UInt32.self)
    return start &+ headerBytes
  }

  @usableFromInline @inline(never)
  mutating func growPool() {
    precondition(Int64(chunkCapacity) << chunkBits < 1 << 33, "the calendar is full")
    pool = PlainMemory.grow(
      pool, from: chunkCapacity * chunkBytes, to: chunkCapacity * 2 * chunkBytes)
    chunkCapacity *= 2
  }

  /// Where an item beyond the ring goes.
  @usableFromInline @inline(never)
  mutating func farPlace(slot: Int) -> UnsafeMutableRawPointer {
    precondition(slot >= current, "an item was scheduled in the past")
    let revolution = slot >> ringBits
    precondition(revolution < revolutions, "an item was scheduled beyond the last slot")
    if far[revolution] == nil { far[revolution] = GrowableBuffer() }
    let place = far[revolution]!.appendUninitialized()
    place.pointee.slot = UInt32(truncatingIfNeeded: slot & ringMask)
    return UnsafeMutableRawPointer(place) + (MemoryLayout<FarItem>.size - MemoryLayout<Item>.size)
  }

  /// Appends the items of `slot` to `output` and closes the slot. Slots are taken in ascending order, every one of them, except
  /// those that `skip` passes over.
  @inlinable @inline(__always)
  public mutating func take(slot: Int, into output: inout GrowableBuffer<Item>) {
    precondition(slot == current, "slots are taken in order")
    if slot & ringMask == 0 { drawNear(slot: slot) }
    current = slot &+ 1
    if ends[slot & ringMask] != 0 { takeItems(of: slot, into: &output) }
  }

  @inlinable @inline(never)
  mutating func takeItems(of slot: Int, into output: inout GrowableBuffer<Item>) {
    let end = ends + (slot & ringMask)
    var offset = Int(truncatingIfNeeded: end.pointee) &<< 2
    // The next slot's latest chunk, which says which was before it, and its latest item. Few chunks lie in the processor's caches.
    if chunksUsed > 1 << 12 {
      let latest = Int(truncatingIfNeeded: ends[(slot &+ 1) & ringMask]) &<< 2 &- 1
      fleetsim_prefetch(pool + (latest &>> chunkBits) &<< chunkBits)
      fleetsim_prefetch(pool + latest)
    }
    end.pointee = 0
    var index = (offset &- 1) &>> chunkBits
    while true {
      let start = index &<< chunkBits
      let items = pool + (start &+ headerBytes)
      let count = Int(UInt(bitPattern: offset &- start &- headerBytes) / UInt(MemoryLayout<Item>.stride))
      output.append(from: UnsafeRawPointer(items).assumingMemoryBound(to: Item.self), count: count)
      let previous = Int(truncatingIfNeeded: (pool + start).load(as: UInt32.self))
      (pool + start).storeBytes(of: freeChunk, as: UInt32.self)
      freeChunk = UInt32(truncatingIfNeeded: index)
      if previous == 0 { return }
      index = previous
      offset = (index &+ 1) &<< chunkBits
    }
  }

  /// Whether items wait for a slot's revolution of the ring, which begins with it.
  @inlinable @inline(__always)
  public func waits(for slot: Int) -> Bool { slot & ringMask == 0 && far[slot >> ringBits] != nil }

  /// Closes the empty slots before `slot`, so that it comes next.
  @inlinable
  public mutating func skip(to slot: Int) { current = slot }

  /// The ring comes round: what waited for this revolution moves into it.
  @usableFromInline @inline(never)
  mutating func drawNear(slot: Int) {
    guard let waiting = far[slot >> ringBits].take() else { return }
    for i in 0..<waiting.count {
      ringPlace(slot: slot | Int(waiting[i].slot)).storeBytes(of: waiting[i].item, as: Item.self)
    }
  }
}

/// The slots in which calendars with rings hold items, a bit each, without what waits for a revolution to come.
///
/// A plain address, which the owner of the calendars releases.
@frozen
public struct SlotSet: BitwiseCopyable {
  @usableFromInline let words: UnsafeMutablePointer<UInt64>
  @usableFromInline let mask: Int
  /// Of the shortest ring.
  @usableFromInline let ringMask: Int

  /// - Parameters:
  ///   - slots: how many slots there are in all, at least 1.
  ///   - ringSlots: of the shortest ring and of the longest, as the calendars are told.
  public init(slots: Int, ringSlots: ClosedRange<Int>) {
    func ring(_ ringSlots: Int) -> Int {
      1 << CalendarQueue<UInt64>.ringBits(slots: slots, ringSlots: ringSlots)
    }
    ringMask = ring(ringSlots.lowerBound) - 1
    let count = max(ring(ringSlots.upperBound) / 64, 1)
    mask = count - 1
    words = .allocate(capacity: count)
    words.initialize(repeating: 0, count: count)
  }

  package init(copying other: SlotSet) {
    (mask, ringMask) = (other.mask, other.ringMask)
    words = .allocate(capacity: mask + 1)
    words.initialize(from: other.words, count: mask + 1)
  }

  /// Frees its memory; nobody may ask it afterwards.
  public func deallocate() { words.deallocate() }

  @inlinable @inline(__always)
  func insert(_ slot: Int) { words[slot &>> 6 & mask] |= 1 &<< UInt64(slot & 63) }

  /// Forgets a slot, from which everything has been taken.
  @inlinable @inline(__always)
  public func remove(_ slot: Int) { words[slot &>> 6 & mask] &= ~(1 &<< UInt64(slot & 63)) }

  /// The first slot from `slot` on, which comes next, that may hold items; at most `limit`. O(slots passed over / 64).
  /// `waits` tells whether items wait for the revolution that begins with a slot.
  @inlinable @inline(__always)
  public func first(from slot: Int, limit: Int, waits: (Int) -> Bool) -> Int {
    var slot = slot
    while slot < limit {
      if slot & ringMask == 0, waits(slot) { return slot }
      let end = min((slot | ringMask & 63) &+ 1, limit)
      let found = slot &+ (words[slot &>> 6 & mask] &>> UInt64(slot & 63)).trailingZeroBitCount
      if found < end { return found }
      slot = end
    }
    return slot
  }
}
