/// A queue of future items by time slot: a ring of slots with an overflow level beyond it.
///
/// Slots are taken in ascending order, each once. Items of a slot come back in no particular order: the caller sorts them
/// by the explicit order of the model, so that nothing ever depends on when an item was inserted.
/// `push` and `take` are amortised O(1) an item, whatever the number of items queued; memory is about 1.1 item an item,
/// plus 8 bytes a ring slot.
public struct CalendarQueue<Item: BitwiseCopyable>: ~Copyable {
  /// Items in a chunk; chunks are recycled through a free list.
  @inlinable static var chunkSize: Int { 15 }

  @usableFromInline struct Chunk {
    @usableFromInline var items: InlineArray<15, Item>
    @usableFromInline var next: UInt32
    @usableFromInline var count: UInt32
  }

  @usableFromInline struct FarItem: BitwiseCopyable {
    @usableFromInline var slot: Int
    @usableFromInline var item: Item
    @usableFromInline init(slot: Int, item: Item) {
      self.slot = slot
      self.item = item
    }
  }

  /// The newest chunk of each ring slot; 0: the slot is empty.
  @usableFromInline let heads: UnsafeMutablePointer<UInt32>
  @usableFromInline let ringMask: Int
  @usableFromInline let ringBits: Int
  @usableFromInline var chunks: UnsafeMutablePointer<Chunk>
  @usableFromInline var chunkCapacity: Int
  @usableFromInline var chunksUsed: Int
  @usableFromInline var freeChunk: UInt32
  /// The first slot that may still be pushed to: slots below it have been taken.
  @usableFromInline var current: Int
  /// Items beyond the ring, by revolution of the ring.
  @usableFromInline let far: UnsafeMutablePointer<GrowableBuffer<FarItem>?>
  @usableFromInline let revolutions: Int

  /// - Parameters:
  ///   - slots: how many slots there are in all, at least 1.
  ///   - ringSlots: how many of them lie in the ring at a time; rounded up to a power of two. Default 2^16.
  public init(slots: Int, ringSlots: Int = 1 << 16) {
    precondition(slots > 0 && ringSlots > 0, "a calendar needs slots")
    var bits = 0
    while 1 << bits < min(ringSlots, slots) { bits += 1 }
    ringBits = bits
    ringMask = (1 << bits) - 1
    heads = .allocate(capacity: 1 << bits)
    heads.initialize(repeating: 0, count: 1 << bits)
    chunkCapacity = 64
    chunks = .allocate(capacity: chunkCapacity)
    chunksUsed = 1
    freeChunk = 0
    current = 0
    revolutions = (slots - 1) >> bits + 1
    far = .allocate(capacity: revolutions)
    for i in 0..<revolutions { (far + i).initialize(to: nil) }
  }

  deinit {
    heads.deallocate()
    chunks.deallocate()
    for i in 0..<revolutions { (far + i).deinitialize(count: 1) }
    far.deallocate()
  }

  /// Queues `item` for `slot`, which must not have been taken yet: an item in the past is a programming error and traps.
  @inlinable
  public mutating func push(_ item: Item, slot: Int) {
    precondition(slot >= current, "an item was scheduled in the past")
    if slot &- current > ringMask {
      pushFar(item, slot: slot)
    } else {
      pushRing(item, slot: slot)
    }
  }

  @inlinable
  mutating func pushRing(_ item: Item, slot: Int) {
    let head = heads + (slot & ringMask)
    var index = head.pointee
    if index == 0 || chunks[Int(truncatingIfNeeded: index)].count == 15 {
      index = newChunk(next: index)
      head.pointee = index
    }
    let chunk = chunks + Int(truncatingIfNeeded: index)
    let n = Int(truncatingIfNeeded: chunk.pointee.count)
    // The items' address inside the chunk: the first stored property.
    (UnsafeMutableRawPointer(chunk).assumingMemoryBound(to: Item.self) + n).initialize(to: item)
    chunk.pointee.count = UInt32(truncatingIfNeeded: n &+ 1)
  }

  @inlinable
  mutating func newChunk(next: UInt32) -> UInt32 {
    var index = freeChunk
    if index != 0 {
      freeChunk = chunks[Int(truncatingIfNeeded: index)].next
    } else {
      if chunksUsed == chunkCapacity { growChunks() }
      index = UInt32(truncatingIfNeeded: chunksUsed)
      chunksUsed &+= 1
    }
    let chunk = chunks + Int(truncatingIfNeeded: index)
    chunk.pointee.next = next
    chunk.pointee.count = 0
    return index
  }

  @usableFromInline @inline(never)
  mutating func growChunks() {
    precondition(chunkCapacity < Int(UInt32.max) / 2, "the calendar is full")
    let larger = UnsafeMutablePointer<Chunk>.allocate(capacity: chunkCapacity * 2)
    UnsafeMutableRawPointer(larger).copyMemory(
      from: chunks, byteCount: chunksUsed * MemoryLayout<Chunk>.stride)
    chunks.deallocate()
    chunks = larger
    chunkCapacity *= 2
  }

  @usableFromInline @inline(never)
  mutating func pushFar(_ item: Item, slot: Int) {
    let revolution = slot >> ringBits
    precondition(revolution < revolutions, "an item was scheduled beyond the last slot")
    if far[revolution] == nil { far[revolution] = GrowableBuffer() }
    far[revolution]!.append(FarItem(slot: slot, item: item))
  }

  /// Appends the items of `slot` to `output` and closes the slot. Slots are taken in ascending order, every one of them.
  @inlinable
  public mutating func take(slot: Int, into output: inout GrowableBuffer<Item>) {
    precondition(slot == current, "slots are taken in order")
    if slot & ringMask == 0 { drawNear(slot: slot) }
    current = slot &+ 1
    let head = heads + (slot & ringMask)
    var index = head.pointee
    if index == 0 { return }
    head.pointee = 0
    while index != 0 {
      let chunk = chunks + Int(truncatingIfNeeded: index)
      output.append(
        from: UnsafeRawPointer(chunk).assumingMemoryBound(to: Item.self),
        count: Int(truncatingIfNeeded: chunk.pointee.count))
      let next = chunk.pointee.next
      chunk.pointee.next = freeChunk
      freeChunk = index
      index = next
    }
  }

  /// The ring comes round: what waited for this revolution moves into it.
  @usableFromInline @inline(never)
  mutating func drawNear(slot: Int) {
    guard let waiting = far[slot >> ringBits].take() else { return }
    for i in 0..<waiting.count { pushRing(waiting[i].item, slot: waiting[i].slot) }
  }
}
