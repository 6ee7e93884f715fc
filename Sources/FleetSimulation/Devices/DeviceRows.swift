import CMemory
import SimulationKernel
import UploadPipeline

/// The devices of a shard, each with what it needs most behind its record: its running loop and queue, or where a cohort needs none, a
/// batch record of its own. What is handled together lies together, in two cache lines and nearly always one page.
///
/// Batch records are numbered from 1 on, so row 0 stands for "no batch" and belongs to no device.
struct DeviceRows {
  private let base: UnsafeMutableRawPointer
  let count: Int

  private static var deviceBytes: Int { MemoryLayout<DeviceRecord>.stride }
  static var rowBytes: Int { deviceBytes + behindBytes }
  /// A batch record, or a loop.
  private static var behindBytes: Int { 32 }

  init(count: Int) {
    precondition(
      max(MemoryLayout<BatchRecord>.stride, MemoryLayout<UploadLoopState>.stride) <= Self.behindBytes,
      "what lies behind a device's record has outgrown its place")
    self.count = count
    base = PlainMemory.zeroed(byteCount: (count + 1) * Self.rowBytes)
  }

  init(copying other: DeviceRows) {
    count = other.count
    base = PlainMemory.copy(of: other.base, byteCount: (count + 1) * Self.rowBytes)
  }

  func release() { PlainMemory.release(base) }

  var indices: Range<DeviceIndex> { DeviceIndex(0)..<DeviceIndex(count) }

  @inline(__always)
  private func row(_ n: Int) -> UnsafeMutableRawPointer { base + n &* Self.rowBytes }

  @inline(__always)
  subscript(device: DeviceIndex) -> UnsafeMutablePointer<DeviceRecord> {
    row(device.place &+ 1).assumingMemoryBound(to: DeviceRecord.self)
  }

  @inline(__always)
  func client(_ device: DeviceIndex) -> UnsafeMutablePointer<ClientState> {
    row(device.place &+ 1).assumingMemoryBound(to: ClientState.self)
  }

  /// The running loops and queues, of a cohort with `CohortPlan.Tables.loops`.
  var loops: LoopRows { LoopRows(first: row(1) + Self.deviceBytes) }

  /// Of another cohort: the record of batch `index`, at most `count`; it belongs to device `index` − 1.
  @inline(__always)
  func batch(_ index: BatchIndex) -> UnsafeMutablePointer<BatchRecord> {
    (row(index.place) + Self.deviceBytes).assumingMemoryBound(to: BatchRecord.self)
  }

  /// Asks for a device and what lies behind it ahead of the time when they are handled; a number behind the last is harmless.
  @inline(__always)
  func prefetch(_ device: DeviceIndex) {
    let row = row(device.place &+ 1)
    fleetsim_prefetch(row)
    fleetsim_prefetch(row + Self.deviceBytes)
  }

  /// Devices that are put in order at a time by `layOut`, at most and about.
  static var devicesOfSlice: Int { 1 &<< 17 }

  /// Gives the records their devices in the order of their phases, those of one phase in the order of their numbers.
  ///
  /// Slice by slice of the phases, each with some ten thousand devices: to sort them all at once would take a sixth of the records'
  /// own memory, more than anything that such a fleet's run needs later.
  func layOut(phasesThrough last: Int64, phase: (Int) -> Int64) {
    var shift: Int64 = 0
    while last &>> shift >= max(1, Int64(count / Self.devicesOfSlice) &* 2) { shift &+= 1 }
    // Where each slice begins; where it ends, once its devices have been put there.
    var places = [Int](repeating: 0, count: Int(last &>> shift) + 1)
    for number in 0..<count { places[Int(phase(number) &>> shift)] += 1 }
    var sum = 0
    for slice in places.indices { (places[slice], sum) = (sum, sum + places[slice]) }
    for number in 0..<count {
      let phase = phase(number)
      let place = places[Int(phase &>> shift)]
      places[Int(phase &>> shift)] += 1
      self[DeviceIndex(place)].pointee.number = UInt32(truncatingIfNeeded: number)
      self[DeviceIndex(place)].pointee.phase = UInt32(truncatingIfNeeded: phase)
    }
    var words = GrowableBuffer<UInt64>()
    var scratch = GrowableBuffer<UInt64>()
    var counts = GrowableBuffer<UInt32>()
    var first = 0
    for end in places {
      words.removeAll()
      for place in first..<end {
        let device = self[DeviceIndex(place)]
        words.append(UInt64(device.pointee.phase) &<< 32 | UInt64(device.pointee.number))
      }
      WindowOrder.sort(&words, scratch: &scratch, counts: &counts, lowBit: 32, keyBits: 32)
      for place in first..<end {
        let device = self[DeviceIndex(place)]
        device.pointee.number = UInt32(truncatingIfNeeded: words[place &- first])
        device.pointee.phase = UInt32(truncatingIfNeeded: words[place &- first] &>> 32)
      }
      first = end
    }
  }
}

/// The running loops and queues of a shard's devices, each behind its device's record.
struct LoopRows {
  fileprivate let first: UnsafeMutableRawPointer

  @inline(__always)
  subscript(device: DeviceIndex) -> UnsafeMutablePointer<UploadLoopState> {
    (first + device.place &* DeviceRows.rowBytes).assumingMemoryBound(to: UploadLoopState.self)
  }
}
