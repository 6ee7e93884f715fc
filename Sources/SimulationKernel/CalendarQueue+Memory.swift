extension CalendarQueue {
  /// Bytes of a calendar before it holds anything.
  package static func emptyBytes(slots: Double, ringSlots: Double) -> Double {
    let ring = self.ring(slots: slots, ringSlots: ringSlots)
    let revolutions = (slots / ring).rounded(.up)
    return ring * Double(MemoryLayout<UInt32>.stride)
      + revolutions * Double(MemoryLayout<GrowableBuffer<FarItem>?>.stride)
  }

  /// Bytes that `items` take, lying evenly over the `spread` slots that come next.
  package static func bytes(items: Double, spread: Double, slots: Double, ringSlots: Double, chunkBytes: Int)
    -> Double
  {
    if items <= 0 { return 0 }
    let ring = self.ring(slots: slots, ringSlots: ringSlots)
    let spread = max(1, min(spread, slots))
    let near = items * min(1, ring / spread)
    let occupied = min(near, min(spread, ring))
    // The last chunk of a slot is half full.
    let chunks = max(occupied, near / Double(itemsPerChunk(of: chunkBytes)) + occupied / 2)
    return chunks * Double(chunkBytes) + (items - near) * Double(MemoryLayout<FarItem>.stride)
  }

  private static func ring(slots: Double, ringSlots: Double) -> Double {
    var ring = 1.0
    while ring < min(slots, ringSlots) { ring *= 2 }
    return ring
  }
}
