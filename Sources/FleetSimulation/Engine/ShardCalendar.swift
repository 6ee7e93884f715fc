import SimulationKernel
import TAPIModel
import UploadPipeline

/// A shard's calendar, by window: the items due for its devices, and those that they have sent.
///
/// For an engine without windows (`init(collecting:)`) it just collects the items. It has four calendars by kind of item. Timers
/// are triggers and restarts, a word each. Wake-ups are the device alone: its record knows the time. Deliveries, and uploads on
/// their way, are the other two.
package struct ShardCalendar: ~Copyable {
  /// A timer word: time within the window (19 bits) | kind (3 bits) | device (41 bits).
  static var deviceBits: UInt64 { 41 }
  static var kindBits: UInt64 { 44 }
  static var deviceMask: UInt64 { 1 &<< deviceBits &- 1 }

  let clock: WindowClock
  let end: Int64
  /// The windows for which any of the four calendars holds items.
  let occupied: SlotSet
  var timers: CalendarQueue<UInt64>
  var wakeUps: CalendarQueue<DeviceIndex>
  var deliveries: CalendarQueue<Delivery>
  var uploads: CalendarQueue<UploadTicket>
  /// Timers that the device pass sets inside its own window.
  var inWindow = WordHeap()
  var windowEnd: Int64 = 0
  /// Acceptances whose answer is due after the end of the run, microseconds: they still count.
  var late = GrowableBuffer<(delivery: Delivery, due: Int64)>()
  private let isCollecting: Bool
  /// The items since it was last emptied, when it collects.
  package var collected = Collected()

  package struct Collected {
    /// `kind` is an `ItemKind`, `device` a place in the shard.
    package var timers: [(kind: UInt64, device: DeviceIndex, time: Int64)] = []
    package var deliveries: [(delivery: Delivery, due: Int64)] = []
    package var uploads: [(ticket: UploadTicket, arrival: Int64)] = []

    package init() {}
  }

  /// Collects whatever comes, for a caller that orders it itself.
  package init(collecting end: Int64) {
    self.init(
      clock: WindowClock(notLongerThan: .seconds(1)), slotCount: 1, end: end, devices: 1, collects: true)
  }

  /// - Parameter devices: a few devices are given smaller rings.
  init(clock: WindowClock, slotCount: Int, end: Int64, devices: Int, collects: Bool = false) {
    isCollecting = collects
    self.clock = clock
    self.end = end
    let rings = Self.ringSlots(slotCount: slotCount, devices: devices)
    let chunks = Self.chunkBytes(devices: devices)
    let occupied = SlotSet(slots: slotCount, ringSlots: rings.transit...rings.timers)
    self.occupied = occupied
    func queue<Item>(_ ringSlots: Int, _ chunkBytes: Int) -> CalendarQueue<Item> {
      CalendarQueue(slots: slotCount, ringSlots: ringSlots, chunkBytes: chunkBytes, in: occupied)
    }
    timers = queue(rings.timers, chunks.timers)
    wakeUps = queue(rings.timers, chunks.timers)
    deliveries = queue(rings.transit, chunks.transit)
    uploads = queue(rings.transit, chunks.transit)
  }

  deinit { occupied.deallocate() }

  /// A copy between the passes of two windows, when nothing waits for the window itself.
  init(copying other: borrowing ShardCalendar) {
    isCollecting = other.isCollecting
    clock = other.clock
    end = other.end
    occupied = SlotSet(copying: other.occupied)
    timers = other.timers.copy(in: occupied)
    wakeUps = other.wakeUps.copy(in: occupied)
    deliveries = other.deliveries.copy(in: occupied)
    uploads = other.uploads.copy(in: occupied)
    windowEnd = other.windowEnd
    late = other.late.copy()
    collected = other.collected
  }

  /// Returns the bytes of a chunk. Timers and wake-ups lie in tens of thousands of slots that each leave half a chunk empty;
  /// items on their way lie in a few.
  static func chunkBytes(devices: Int) -> (timers: Int, transit: Int) {
    func bytes(_ wanted: Int, atMost most: Int) -> Int {
      var bytes = 256
      while bytes < most, bytes * 2 <= wanted { bytes *= 2 }
      return bytes
    }
    return (bytes(devices >> 12, atMost: 1_024), bytes(devices >> 8, atMost: 4_096))
  }

  /// Bytes of the four calendars without their items; timers and wake-ups lie in `spread` slots each.
  static func emptyBytes(slotCount: Int, devices: Int, spread: Double) -> Double {
    let rings = ringSlots(slotCount: slotCount, devices: devices)
    let halfChunk = Double(chunkBytes(devices: devices).timers / 2)
    return 2 * CalendarQueue<UInt64>.emptyBytes(slots: slotCount, ringSlots: rings.timers)
      + 2 * CalendarQueue<Delivery>.emptyBytes(slots: slotCount, ringSlots: rings.transit)
      + 2 * min(spread, Double(rings.timers)) * halfChunk
  }

  /// Ring sizes of timers and wake-ups, and of what is on its way. A year in short windows has so many slots that the rings
  /// grow with them: a calendar keeps a word for each revolution.
  static func ringSlots(slotCount: Int, devices: Int) -> (timers: Int, transit: Int) {
    let fewest = slotCount >> 18
    let timers = max(1 << 8, min(1 << 16, min(devices, 1 << 12) &* 16))
    return (max(timers, fewest), max(min(timers, 1 << 12), fewest))
  }

  @inline(__always)
  static func word(_ offset: Int64, _ kind: UInt64, _ payload: UInt64) -> UInt64 {
    UInt64(truncatingIfNeeded: offset) &<< kindBits | kind &<< deviceBits | payload
  }

  /// The device of a word.
  @inline(__always)
  static func device(_ word: UInt64) -> DeviceIndex {
    DeviceIndex(rawValue: UInt32(truncatingIfNeeded: word & deviceMask))
  }

  /// Returns which of the window's deliveries the word of a delivery means; it stands in place of a device.
  @inline(__always)
  static func item(_ word: UInt64) -> Int { Int(word & deviceMask) }

  /// - Parameter kind: an `ItemKind`, but for a wake-up.
  mutating func schedule(_ kind: UInt64, _ device: DeviceIndex, at time: Int64) {
    let word = Self.word(clock.offset(of: time), kind, UInt64(device.rawValue))
    if isCollecting {
      collected.timers.append((kind, device, time))
    } else if time < windowEnd {
      inWindow.push(word)
    } else {
      timers.push(word, slot: clock.slot(of: time))
    }
  }

  @inline(__always)
  mutating func schedule(wakeUp device: DeviceIndex, at time: Int64) {
    if isCollecting {
      collected.timers.append((ItemKind.wakeUp, device, time))
    } else if time < windowEnd {
      inWindow.push(Self.word(clock.offset(of: time), ItemKind.wakeUp, UInt64(device.rawValue)))
    } else {
      wakeUps.push(device, slot: clock.slot(of: time))
    }
  }

  @inline(never)
  mutating func schedule(_ delivery: Delivery, due: Int64) {
    if isCollecting {
      collected.deliveries.append((delivery, due))
    } else if due < end {
      push(delivery, due: due)
    } else if delivery.kind == .answer, delivery.status == 200 {
      late.append((delivery, due))
    }
  }

  @inline(__always)
  private mutating func push(_ delivery: Delivery, due: Int64) {
    deliveries.push(delivery.due(at: clock.offset(of: due)), slot: clock.slot(of: due))
  }

  /// The answer to an upload is under way and arrives at `due`.
  @inline(__always)
  mutating func answer(_ upload: UploadTicket, _ answer: TAPIServer.FastAnswer, at due: Int64) {
    let delivery = Delivery(
      .answer, upload.id, downlink: upload.downlink, status: answer.status, retryAfter: answer.retryAfter)
    if due < end { push(delivery, due: due) } else { schedule(delivery, due: due) }
  }

  /// An upload leaves at `now`.
  @inline(__always)
  mutating func send(_ upload: UploadTicket, at now: Int64) {
    let arrival = now &+ Int64(upload.uplink)
    if isCollecting {
      collect(upload, arrival: arrival)
    } else if arrival < end {
      uploads.push(upload.arriving(at: clock.offset(of: arrival)), slot: clock.slot(of: arrival))
    }
  }

  @inline(never)
  private mutating func collect(_ upload: UploadTicket, arrival: Int64) {
    collected.uploads.append((upload, arrival))
  }

  /// Whether items wait for the revolution of a calendar's ring that begins with a slot.
  @inline(__always)
  func waits(for slot: Int) -> Bool {
    timers.waits(for: slot) || wakeUps.waits(for: slot) || deliveries.waits(for: slot)
      || uploads.waits(for: slot)
  }

  mutating func skip(to slot: Int) {
    timers.skip(to: slot)
    wakeUps.skip(to: slot)
    deliveries.skip(to: slot)
    uploads.skip(to: slot)
  }
}
