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
  /// Chunks that hold items; 0: the ring is empty.
  @usableFromInline var chunksInUse = 0
  /// The first slot that may still be pushed to: slots below it have been taken.
  @usableFromInline var current: Int
  /// The slots of the ring before this one that have not been taken are empty.
  @usableFromInline var emptyUntil: Int
  /// Items beyond the ring, by revolution of the ring.
  @usableFromInline let far: UnsafeMutablePointer<GrowableBuffer<FarItem>?>
  @usableFromInline let revolutions: Int

  private static func ringBits(slots: Int, ringSlots: Int) -> Int {
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
  public init(slots: Int, ringSlots: Int = 1 << 16, chunkBytes: Int = 256) {
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
    emptyUntil = 0
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

  /// Asks for the word that says where the next item of a slot goes, ahead of a push.
  @inlinable @inline(__always)
  public func prefetch(slot: Int) { fleetsim_prefetch(ends + (slot & ringMask)) }

  /// Asks for where the next item of a slot goes, some time after `prefetch`.
  @inlinable @inline(__always)
  public func prefetchPlace(inSlot slot: Int) {
    fleetsim_prefetch(pool + Int(truncatingIfNeeded: ends[slot & ringMask]) &<< 2)
  }

  /// A chunk for a slot whose latest chunk ends at `offset`, or that has none (0): where its first item goes.
  @inlinable @inline(never)
  mutating func newChunk(of slot: Int, endingAt offset: Int) -> Int {
    if slot < emptyUntil { emptyUntil = slot }
    chunksInUse &+= 1
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
  @inlinable
  public mutating func take(slot: Int, into output: inout GrowableBuffer<Item>) {
    precondition(slot == current, "slots are taken in order")
    if slot & ringMask == 0 { drawNear(slot: slot) }
    current = slot &+ 1
    let end = ends + (slot & ringMask)
    var offset = Int(truncatingIfNeeded: end.pointee) &<< 2
    if offset == 0 { return }
    prefetchChunk(behind: slot)
    end.pointee = 0
    var index = (offset &- 1) &>> chunkBits
    while true {
      let start = index &<< chunkBits
      let items = pool + (start &+ headerBytes)
      let count = (offset &- start &- headerBytes) / MemoryLayout<Item>.stride
      output.append(from: UnsafeRawPointer(items).assumingMemoryBound(to: Item.self), count: count)
      let previous = Int(truncatingIfNeeded: (pool + start).load(as: UInt32.self))
      (pool + start).storeBytes(of: freeChunk, as: UInt32.self)
      freeChunk = UInt32(truncatingIfNeeded: index)
      chunksInUse &-= 1
      if previous == 0 { return }
      index = previous
      offset = (index &+ 1) &<< chunkBits
    }
  }

  /// Asks for the latest chunk of the next slot that holds items, if it is one of the next four, none of which may lie behind the
  /// ring's end. It asks for the chunk's beginning, which says which chunk was before it, and for its latest item.
  @inlinable @inline(__always)
  func prefetchChunk(behind slot: Int) {
    let place = (slot &+ 1) & ringMask
    if place &+ 3 > ringMask { return }
    // There is no branch for each slot, which nothing could predict. Where all are empty it asks for what nobody needs.
    let found = twoEnds(0, of: place) == 0 ? twoEnds(1, of: place) : twoEnds(0, of: place)
    let (low, high) = (UInt32(truncatingIfNeeded: found), UInt32(truncatingIfNeeded: found &>> 32))
    let latest = max(0, Int(truncatingIfNeeded: low == 0 ? high : low) &<< 2 &- 1)
    fleetsim_prefetch(pool + (latest &>> chunkBits) &<< chunkBits)
    fleetsim_prefetch(pool + latest)
  }

  /// Whether a slot of the ring holds items, or waits for the ring to come round to it.
  @inlinable @inline(__always)
  public func isOccupied(_ slot: Int) -> Bool {
    ends[slot & ringMask] != 0 || slot & ringMask == 0 && far[slot >> ringBits] != nil
  }

  /// The first slot from `slot` on, which comes next, that may hold items; at most `limit`.
  ///
  /// O(slots passed over), and in an empty ring O(revolutions). Those that it has passed over before cost nothing, up to the first
  /// that was pushed into since.
  @inlinable @inline(__always)
  public mutating func nextOccupied(from slot: Int, limit: Int) -> Int {
    let first = max(slot, emptyUntil)
    // Most often the next one is known from the latest look.
    if first < limit, slot & ringMask != 0, (slot ^ first) & ~ringMask == 0, ends[first & ringMask] != 0 {
      return first
    }
    return lookForOccupied(from: slot, limit: limit)
  }

  @inlinable @inline(never)
  mutating func lookForOccupied(from slot: Int, limit: Int) -> Int {
    var slot = slot
    while slot < limit {
      if slot & ringMask == 0, far[slot >> ringBits] != nil { return slot }
      let last = min(limit, (slot | ringMask) &+ 1)
      slot = chunksInUse == 0 ? last : firstFilled(from: min(max(slot, emptyUntil), last), before: last)
      emptyUntil = max(emptyUntil, slot)
      if slot < last { return slot }
    }
    return slot
  }

  /// The ends of two neighbours, the pair `n` from a place in the ring on.
  @inlinable @inline(__always)
  func twoEnds(_ n: Int, of place: Int) -> UInt64 {
    UnsafeRawPointer(ends + place).loadUnaligned(fromByteOffset: n &* 8, as: UInt64.self)
  }

  /// The first slot that holds items, of slots in one revolution; `last`: none.
  @inlinable @inline(__always)
  func firstFilled(from first: Int, before last: Int) -> Int {
    var slot = first
    // Most slots of a small fleet are empty: eight of them are looked at together.
    while slot &+ 8 <= last {
      let place = slot & ringMask
      let all = twoEnds(0, of: place) | twoEnds(1, of: place) | twoEnds(2, of: place) | twoEnds(3, of: place)
      if all != 0 { break }
      slot &+= 8
    }
    while slot < last, ends[slot & ringMask] == 0 { slot &+= 1 }
    return slot
  }

  /// Closes the empty slots before `slot`, so that it comes next.
  @inlinable
  public mutating func skip(to slot: Int) { current = slot }

  /// The ring comes round: what waited for this revolution moves into it.
  @usableFromInline @inline(never)
  mutating func drawNear(slot: Int) {
    guard let waiting = far[slot >> ringBits].take() else { return }
    for i in 0..<waiting.count {
      ringPlace(slot: Int(waiting[i].slot)).storeBytes(of: waiting[i].item, as: Item.self)
    }
  }
}
