import FleetMetrics
import SimulationKernel
import TAPIModel

/// The engine: virtual time in windows no longer than the network's look-ahead (design.md, Speed: windows).
///
/// Inside such a window devices and server can't see one another, so each window is a server pass (arrivals in the one global
/// order, together with the server's own work) and then a device pass, shard by shard.
struct WindowedEngine: ~Copyable {
  /// A shard and its calendars, side by side so that both can be used at once.
  struct Room: ~Copyable {
    var shard: DeviceShard
    var calendars: ShardCalendars
    var due = GrowableBuffer<Delivery>()
    var words = GrowableBuffer<UInt64>()
    var scratch = GrowableBuffer<UInt64>()
    var counts = GrowableBuffer<UInt32>()
  }

  struct Rooms: ~Copyable, DeliverySink {
    let base: UnsafeMutablePointer<Room>
    let count: Int

    @inline(__always)
    subscript(index: Int) -> Room {
      unsafeAddress { UnsafePointer(base + index) }
      nonmutating unsafeMutableAddress { base + index }
    }

    func contribute(
      _ index: Int, to assembly: inout RunAssembly, _ layout: [ShardLayout], _ scenario: Scenario
    ) {
      assembly.add(self[index].shard, cohort: scenario.fleet[layout[index].cohort])
    }

    mutating func deliver(_ delivery: Delivery, toShard shard: Int) {
      self[shard].calendars.schedule(delivery)
    }

    deinit {
      base.deinitialize(count: count)
      base.deallocate()
    }
  }

  let scenario: Scenario
  let layout: [ShardLayout]
  let slots: FastDivider
  let slotCount: Int
  var rooms: Rooms
  var front: ServerFront
  private var arrivals = GrowableBuffer<UploadRequest>()
  private var words = GrowableBuffer<UInt64>()
  private var scratch = GrowableBuffer<UInt64>()
  private var counts = GrowableBuffer<UInt32>()
  private let orderKey: RandomKey

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    let width = Self.windowWidth(scenario, asked: options.window)
    slots = FastDivider(width.microseconds)
    slotCount = Int((scenario.duration.microseconds + width.microseconds - 1) / width.microseconds)
    layout = ShardLayout.cut(scenario.fleet, perCohort: options.shards)
    let rows = FastDivider(scenario.interval.microseconds)
    let rowCount = RunAssembly.rowCount(scenario)
    let end = Instant.start + scenario.duration
    let base = UnsafeMutablePointer<Room>.allocate(capacity: layout.count)
    var firstDevices: [Int] = []
    var total = 0
    for cohort in scenario.fleet {
      firstDevices.append(total)
      total += cohort.devices
    }
    for (number, piece) in layout.enumerated() {
      let plan = CohortPlan(
        scenario.fleet[piece.cohort], firstDevice: firstDevices[piece.cohort], scenario: scenario,
        checks: options.checks)
      (base + number).initialize(
        to: Room(
          shard: DeviceShard(
            plan: plan, scenario.fleet[piece.cohort], in: scenario, number: number, first: piece.first,
            count: piece.count, rows: rows, rowCount: rowCount
          ),
          calendars: ShardCalendars(slots: slots, slotCount: slotCount, end: end)))
    }
    rooms = Rooms(base: base, count: layout.count)
    front = ServerFront(scenario, shards: layout, rows: rows, rowCount: rowCount, checks: options.checks)
    orderKey = RandomKey(seed: scenario.seed).child(RandomPurpose.order)
  }

  /// The look-ahead: no answer and no upload takes less; no client is less patient. At most 2^19 µs, which a timer word can hold.
  static func windowWidth(_ scenario: Scenario, asked: Span?) -> Span {
    var width = Span(microseconds: 1 << 19)
    for cohort in scenario.fleet { width = min(width, cohort.latency.minimum, cohort.timeout) }
    if let asked { width = min(width, asked) }
    return max(width, Span(microseconds: 1))
  }

  mutating func run(control: RunControl) throws {
    for i in 0..<rooms.count {
      for device in 0..<UInt32(rooms[i].shard.count) {
        rooms[i].shard.start(device: device, &rooms[i].calendars)
      }
    }
    let end = scenario.duration.microseconds
    for slot in 0..<slotCount {
      let start = Int64(slot) &* slots.divisor
      let windowEnd = min(start &+ slots.divisor, end)
      serverPass(slot: slot, start: start, end: windowEnd)
      for i in 0..<rooms.count { rooms[i].devicePass(slot: slot, start: start, end: windowEnd) }
      if slot & 63 == 0 {
        if control.isCancelled { throw CancellationError() }
        control.report(virtualTime: Instant(microseconds: windowEnd), attempts: attempts)
        try check(at: windowEnd)
      }
    }
    for i in 0..<rooms.count { rooms[i].countLateAcceptances() }
    control.report(virtualTime: Instant(microseconds: end), attempts: attempts)
    try check(at: end)
  }

  private var attempts: Int64 {
    var sum: Int64 = 0
    for i in 0..<rooms.count { sum += rooms[i].shard.attempts }
    return sum
  }

  private mutating func serverPass(slot: Int, start: Int64, end: Int64) {
    arrivals.removeAll()
    let base = rooms.base
    for i in 0..<rooms.count { base[i].calendars.uploads.take(slot: slot, into: &arrivals) }
    if arrivals.count == 0 && front.nextOwnTime.microseconds >= end { return }
    orderArrivals(start: start)
    for i in 0..<words.count {
      let request = arrivals[Int(truncatingIfNeeded: words[i] & 0xffff_ffff)]
      if front.nextOwnTime <= request.arrival { front.advance(through: request.arrival, &rooms) }
      front.arrive(request, &rooms)
    }
    front.advance(through: Instant(microseconds: end &- 1), &rooms)
  }

  /// Sorts the window's arrivals by time; those of one instant by a hash of (device, batch, attempt), then device, so that no
  /// device is always first in line.
  private mutating func orderArrivals(start: Int64) {
    words.removeAll()
    for i in 0..<arrivals.count {
      let offset = UInt64(truncatingIfNeeded: arrivals[i].arrival.microseconds &- start)
      words.append(offset &<< 32 | UInt64(truncatingIfNeeded: i))
    }
    WindowOrder.sort(
      &words, scratch: &scratch, counts: &counts, lowBit: 32, keyBits: slots.divisor.bitWidthUsed)
    var i = 1
    while i < words.count {
      if words[i] &>> 32 != words[i &- 1] &>> 32 {
        i &+= 1
        continue
      }
      let first = i &- 1
      while i < words.count, words[i] &>> 32 == words[first] &>> 32 { i &+= 1 }
      let tied = (first..<i).map { arrivals[Int(words[$0] & 0xffff_ffff)] }
      let order = ArrivalOrder.sorted(tied, key: orderKey)
      for (k, position) in order.enumerated() {
        scratch.resizeUninitialized(to: max(scratch.count, order.count))
        scratch[k] = words[first + position]
      }
      for k in 0..<order.count { words[first + k] = scratch[k] }
      i &+= 1
    }
  }

  /// Checkers that look at the whole fleet (design.md): events are conserved.
  private func check(at time: Int64) throws {
    for i in 0..<rooms.count {
      if let violation = rooms[i].shard.violation { throw CheckFailure(description: violation) }
      if rooms[i].shard.plan.pointee.checks, let violation = rooms[i].shard.conservationViolation(at: time) {
        throw CheckFailure(description: violation)
      }
    }
    if let violation = front.violation { throw CheckFailure(description: violation) }
  }
}

/// The order of arrivals at one instant; the plain engine of the tests has the same rule, written again.
package enum ArrivalOrder {
  /// Positions of `tied` in their order.
  package static func sorted(_ tied: [UploadRequest], key: RandomKey) -> [Int] {
    let hashes = tied.map { $0.key(key).bits }
    return tied.indices.sorted { a, b in
      if hashes[a] != hashes[b] { return hashes[a] < hashes[b] }
      if tied[a].device != tied[b].device { return tied[a].device < tied[b].device }
      if tied[a].firstOrdinal != tied[b].firstOrdinal { return tied[a].firstOrdinal < tied[b].firstOrdinal }
      return tied[a].attempt < tied[b].attempt
    }
  }
}

extension Int64 {
  /// Bits needed to hold the numbers below this one.
  var bitWidthUsed: Int { Int64.bitWidth - Swift.max(self - 1, 1).leadingZeroBitCount }
}

extension WindowedEngine.Room {
  /// Everything due for this shard's devices in the window, each device's items in the one order.
  mutating func devicePass(slot: Int, start: Int64, end: Int64) {
    due.removeAll()
    words.removeAll()
    calendars.deliveries.take(slot: slot, into: &due)
    for i in 0..<due.count {
      words.append(
        ShardCalendars.word(
          due[i].due.microseconds &- start, UInt64(due[i].kind.rawValue), UInt64(truncatingIfNeeded: i)))
    }
    calendars.timers.take(slot: slot, into: &words)
    if words.count == 0 { return }
    WindowOrder.sort(
      &words, scratch: &scratch, counts: &counts, lowBit: Int(ShardCalendars.deviceBits),
      keyBits: 3 + calendars.slots.divisor.bitWidthUsed)
    if due.count > 1 { orderTiedDeliveries() }
    calendars.windowEnd = end
    var i = 0
    while true {
      var word = i < words.count ? words[i] : .max
      let inWindow = calendars.inWindow.first
      if inWindow &>> ShardCalendars.deviceBits < word &>> ShardCalendars.deviceBits {
        word = calendars.inWindow.popFirst()
      } else if i < words.count {
        touchAhead(i)
        i &+= 1
      } else {
        break
      }
      handle(word, start: start)
    }
  }

  @inline(__always)
  private mutating func handle(_ word: UInt64, start: Int64) {
    let kind = word &>> ShardCalendars.deviceBits & 7
    let payload = word & (1 &<< ShardCalendars.deviceBits &- 1)
    let now = Instant(microseconds: start &+ Int64(truncatingIfNeeded: word &>> ShardCalendars.kindBits))
    switch kind {
    case ItemKind.trigger: shard.handleTrigger(UInt32(truncatingIfNeeded: payload), at: now, &calendars)
    case ItemKind.restart: shard.handleRestart(UInt32(truncatingIfNeeded: payload), at: now, &calendars)
    case ItemKind.wakeUp: shard.handleWakeUp(UInt32(truncatingIfNeeded: payload), at: now, &calendars)
    default: shard.handle(due[Int(truncatingIfNeeded: payload)], &calendars)
    }
  }

  /// Touches what the items some way behind item `i` will need, in three steps, each reading what the step before has fetched:
  /// the misses overlap with the work between.
  @inline(__always)
  private func touchAhead(_ i: Int) {
    let mask: UInt64 = 1 &<< ShardCalendars.deviceBits &- 1
    if i &+ 12 < words.count {
      let word = words[i &+ 12]
      if word &>> ShardCalendars.deviceBits & 7 >= ItemKind.wakeUp {
        shard.touchAhead(UInt32(truncatingIfNeeded: word & mask))
      } else {
        let delivery = due.base + Int(truncatingIfNeeded: word & mask)
        shard.touchAhead(delivery.pointee.device)
        shard.touchAhead(batch: delivery.pointee.batch)
      }
    }
    if i &+ 7 < words.count, words[i &+ 7] &>> ShardCalendars.deviceBits & 7 >= ItemKind.wakeUp {
      shard.touchBatchAhead(of: UInt32(truncatingIfNeeded: words[i &+ 7] & mask))
    }
    if i &+ 3 < words.count, words[i &+ 3] &>> ShardCalendars.deviceBits & 7 == ItemKind.wakeUp {
      shard.touchFirstWaitingAhead(of: UInt32(truncatingIfNeeded: words[i &+ 3] & mask))
    }
  }

  /// Two deliveries of one kind for one device at one instant go by batch.
  private mutating func orderTiedDeliveries() {
    var i = 1
    while i < words.count {
      let word = words[i]
      if word &>> ShardCalendars.deviceBits == words[i &- 1] &>> ShardCalendars.deviceBits,
        word &>> ShardCalendars.deviceBits & 7 < ItemKind.wakeUp
      {
        let mask: UInt64 = 1 &<< ShardCalendars.deviceBits &- 1
        let item = due[Int(truncatingIfNeeded: word & mask)]
        var j = i
        while j > 0, words[j &- 1] &>> ShardCalendars.deviceBits == word &>> ShardCalendars.deviceBits,
          item < due[Int(truncatingIfNeeded: words[j &- 1] & mask)]
        {
          words[j] = words[j &- 1]
          j &-= 1
        }
        words[j] = word
      }
      i &+= 1
    }
  }

  /// The run is over; what the server accepted in it is delivered, though the answer is still under way.
  mutating func countLateAcceptances() {
    for i in 0..<calendars.late.count {
      let delivery = calendars.late[i]
      shard.countLateAcceptance(delivery, end: calendars.end)
    }
  }
}
