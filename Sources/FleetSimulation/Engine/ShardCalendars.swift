import SimulationKernel
import TAPIModel

/// What is due for one shard's devices and what they have sent, by window.
///
/// Three calendars by kind of item: timers (triggers and wake-ups, a word each), deliveries, and uploads on their way.
struct ShardCalendars: ~Copyable, DeviceSink {
  /// A timer word: time within the slot (20 bits) | kind (3 bits) | device (41 bits).
  static let deviceBits: UInt64 = 41
  static let kindBits: UInt64 = 44

  let slots: FastDivider
  let end: Instant
  var timers: CalendarQueue<UInt64>
  var deliveries: CalendarQueue<Delivery>
  var uploads: CalendarQueue<UploadRequest>
  /// Timers that the device pass sets inside its own window.
  var inWindow = WordHeap()
  var windowEnd: Int64 = 0

  init(slots: FastDivider, slotCount: Int, end: Instant) {
    self.slots = slots
    self.end = end
    timers = CalendarQueue(slots: slotCount)
    deliveries = CalendarQueue(slots: slotCount)
    uploads = CalendarQueue(slots: slotCount)
  }

  @inline(__always)
  static func word(_ offset: Int64, _ kind: UInt64, _ payload: UInt64) -> UInt64 {
    UInt64(truncatingIfNeeded: offset) &<< kindBits | kind &<< deviceBits | payload
  }

  @inline(__always)
  private mutating func schedule(_ kind: UInt64, _ device: UInt32, _ time: Instant) {
    let slot = slots.quotient(time.microseconds)
    let word = Self.word(time.microseconds &- slot &* slots.divisor, kind, UInt64(device))
    if time.microseconds < windowEnd {
      inWindow.push(word)
    } else {
      timers.push(word, slot: Int(truncatingIfNeeded: slot))
    }
  }

  mutating func schedule(trigger device: UInt32, at time: Instant) {
    schedule(ItemKind.trigger, device, time)
  }

  mutating func schedule(wakeUp device: UInt32, at time: Instant) { schedule(ItemKind.wakeUp, device, time) }

  mutating func schedule(restart device: UInt32, at time: Instant) {
    schedule(ItemKind.restart, device, time)
  }

  mutating func schedule(_ delivery: Delivery) {
    if delivery.due < end {
      deliveries.push(delivery, slot: Int(truncatingIfNeeded: slots.quotient(delivery.due.microseconds)))
    } else if delivery.kind == .answer, delivery.status == 200 {
      late.append(delivery)
    }
  }

  mutating func send(_ request: UploadRequest) {
    if request.arrival < end {
      uploads.push(request, slot: Int(truncatingIfNeeded: slots.quotient(request.arrival.microseconds)))
    }
  }

  /// Acceptances whose answer is due after the end of the run: they still count.
  var late = GrowableBuffer<Delivery>()
}
