/// Copies of what a run holds, so that a beginning which several runs share is run only once.
extension PlainMemory {
  /// The same bytes in a block of their own, which may have room for more.
  ///
  /// - Parameter capacity: bytes of the new block; nil: as many as are copied.
  package static func copy(of memory: UnsafeRawPointer, byteCount: Int, capacity: Int? = nil)
    -> UnsafeMutableRawPointer
  {
    let copy = allocate(byteCount: max(capacity ?? byteCount, byteCount))
    copy.copyMemory(from: memory, byteCount: byteCount)
    return copy
  }

  /// The same rows in a table of their own.
  ///
  /// - Parameters:
  ///   - count: rows to copy.
  ///   - capacity: rows of the new table; nil: as many.
  package static func copy<Row: BitwiseCopyable>(
    of rows: UnsafeMutablePointer<Row>, count: Int, capacity: Int? = nil
  ) -> UnsafeMutablePointer<Row> {
    let stride = MemoryLayout<Row>.stride
    return copy(of: rows, byteCount: count * stride, capacity: capacity.map { $0 * stride })
      .bindMemory(to: Row.self, capacity: max(capacity ?? count, count))
  }
}

extension GrowableBuffer {
  package func copy() -> GrowableBuffer {
    var copy = GrowableBuffer(capacity: capacity)
    copy.append(from: base, count: count)
    return copy
  }
}

extension CalendarQueue {
  package func copy(in occupied: SlotSet) -> CalendarQueue { CalendarQueue(copying: self, in: occupied) }

  private init(copying other: borrowing CalendarQueue, in occupied: SlotSet) {
    self.occupied = occupied
    chunkBytes = other.chunkBytes
    chunkBits = other.chunkBits
    headerBytes = other.headerBytes
    ringBits = other.ringBits
    ringMask = other.ringMask
    ends = .allocate(capacity: other.ringMask + 1)
    ends.initialize(from: other.ends, count: other.ringMask + 1)
    chunkCapacity = other.chunkCapacity
    pool = PlainMemory.copy(
      of: other.pool, byteCount: other.chunksUsed << other.chunkBits,
      capacity: other.chunkCapacity << other.chunkBits)
    chunksUsed = other.chunksUsed
    freeChunk = other.freeChunk
    current = other.current
    revolutions = other.revolutions
    far = .allocate(capacity: other.revolutions)
    for i in 0..<other.revolutions {
      switch other.far[i] {
      case .some(let waiting): (far + i).initialize(to: waiting.copy())
      case .none: (far + i).initialize(to: nil)
      }
    }
  }

  /// Calls `body` with every item and its slot, in no order.
  @inlinable
  package func visit(_ body: (_ slot: Int, _ item: Item) -> Void) {
    for place in 0...ringMask where ends[place] != 0 {
      let slot = current + (place - current) & ringMask
      forEach(endingAt: ends[place]) { body(slot, $0) }
    }
    for revolution in 0..<revolutions {
      switch far[revolution] {
      case .some(let waiting):
        for i in 0..<waiting.count { body(revolution << ringBits | Int(waiting[i].slot), waiting[i].item) }
      case .none: break
      }
    }
  }

  /// Calls `body` with the items that `take` would give of the slot that comes next. The order is that of `take`,
  /// except for items that come round with the ring.
  @inlinable
  package func forEach(inSlot slot: Int, _ body: (Item) -> Void) {
    precondition(slot == current, "only the slot that comes next can be looked at")
    if slot & ringMask == 0 {
      switch far[slot >> ringBits] {
      case .some(let waiting):
        for i in 0..<waiting.count where waiting[i].slot == 0 { body(waiting[i].item) }
      case .none: break
      }
    }
    forEach(endingAt: ends[slot & ringMask], body)
  }

  /// - Parameter end: of a ring slot; 0: it is empty.
  @inlinable
  func forEach(endingAt end: UInt32, _ body: (Item) -> Void) {
    var offset = Int(end) << 2
    while offset != 0 {
      let chunk = ((offset - 1) >> chunkBits) << chunkBits
      var item = chunk + headerBytes
      while item < offset {
        body((pool + item).load(as: Item.self))
        item += MemoryLayout<Item>.stride
      }
      let previous = Int((pool + chunk).load(as: UInt32.self))
      offset = previous == 0 ? 0 : (previous + 1) << chunkBits
    }
  }
}
