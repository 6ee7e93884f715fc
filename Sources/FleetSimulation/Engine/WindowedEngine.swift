import FleetMetrics
import SimulationKernel
import TAPIModel

/// The engine: virtual time in windows no longer than the network's look-ahead (design.md, Speed: windows).
///
/// Inside such a window devices and server can't see one another, so each window is a server pass (arrivals in the one global
/// order, together with the server's own work) and then a device pass, shard by shard (`Room.devicePass`).
struct WindowedEngine: ~Copyable {
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
      self[shard].outbox.schedule(delivery)
    }

    deinit {
      base.deinitialize(count: count)
      base.deallocate()
    }
  }

  let scenario: Scenario
  let layout: [ShardLayout]
  let clock: WindowClock
  let slotCount: Int
  var rooms: Rooms
  var front: ServerFront
  private var arrivals = GrowableBuffer<UploadTicket>()
  private var words = GrowableBuffer<UInt64>()
  private var scratch = GrowableBuffer<UInt64>()
  private var counts = GrowableBuffer<UInt32>()
  private let orderKey: RandomKey

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    clock = WindowClock(notLongerThan: Self.lookAhead(scenario, asked: options.window))
    slotCount = clock.slot(of: scenario.duration.microseconds - 1) + 1
    layout = ShardLayout.cut(scenario.fleet, perCohort: options.shards)
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
        checks: options.checks, windowWidth: clock.width)
      (base + number).initialize(
        to: Room(
          shard: DeviceShard(
            plan: plan, scenario.fleet[piece.cohort], in: scenario, number: number, first: piece.first,
            count: piece.count, rowCount: rowCount
          ),
          outbox: Outbox(clock: clock, slotCount: slotCount, end: end, devices: piece.count)))
    }
    rooms = Rooms(base: base, count: layout.count)
    front = ServerFront(scenario, shards: layout, rowCount: rowCount, checks: options.checks)
    orderKey = RandomKey(seed: scenario.seed).child(RandomPurpose.order)
  }

  /// No answer and no upload takes less; no client is less patient. At most 2^19 µs, which a timer word can hold.
  static func lookAhead(_ scenario: Scenario, asked: Span?) -> Span {
    var width = Span(microseconds: 1 << 19)
    for cohort in scenario.fleet { width = min(width, cohort.latency.minimum, cohort.timeout) }
    if let asked { width = min(width, asked) }
    return max(width, Span(microseconds: 1))
  }

  mutating func run(control: RunControl) throws {
    for i in 0..<rooms.count { rooms[i].start() }
    let end = scenario.duration.microseconds
    var slot = 0
    var sinceReport = 0
    while slot < slotCount {
      let start = clock.start(of: slot)
      let windowEnd = min(start &+ clock.width, end)
      var isEmpty = serverPass(slot: slot, start: start, end: windowEnd)
      for i in 0..<rooms.count {
        if !rooms[i].devicePass(slot: slot, start: start, end: windowEnd) { isEmpty = false }
      }
      slot += 1
      if isEmpty { slot = skipEmptyWindows(from: slot) }
      sinceReport += 1
      if sinceReport == 64 {
        sinceReport = 0
        if control.isCancelled { throw CancellationError() }
        control.report(virtualTime: Instant(microseconds: windowEnd), attempts: attempts)
        try check(at: windowEnd)
      }
    }
    front.advance(through: Instant(microseconds: end - 1), &rooms)
    for i in 0..<rooms.count { rooms[i].countLateAcceptances() }
    control.report(virtualTime: Instant(microseconds: end), attempts: attempts)
    try check(at: end)
  }

  /// The next window in which something happens; a run's last window is never skipped over.
  private mutating func skipEmptyWindows(from slot: Int) -> Int {
    var next = min(
      slotCount, clock.slot(of: min(front.nextOwnTime.microseconds, scenario.duration.microseconds)))
    for i in 0..<rooms.count where next > slot { next = rooms[i].nextOccupied(from: slot, limit: next) }
    if next <= slot { return slot }
    for i in 0..<rooms.count { rooms[i].outbox.skip(to: next) }
    return next
  }

  private var attempts: Int64 {
    var sum: Int64 = 0
    for i in 0..<rooms.count { sum += rooms[i].shard.attempts }
    return sum
  }

  /// Returns whether nothing arrived.
  private mutating func serverPass(slot: Int, start: Int64, end: Int64) -> Bool {
    arrivals.removeAll()
    words.removeAll()
    let rooms = rooms.base
    for i in 0..<self.rooms.count {
      let first = arrivals.count
      rooms[i].outbox.uploads.take(slot: slot, into: &arrivals)
      let shard = UInt64(truncatingIfNeeded: i) &<< Self.shardShift
      for k in first..<arrivals.count {
        words.append(
          UInt64(arrivals[k].offset) &<< Self.offsetShift | shard | UInt64(truncatingIfNeeded: k))
      }
    }
    if arrivals.count == 0 && front.nextOwnTime.microseconds >= end { return true }
    precondition(arrivals.count < 1 << Self.shardShift, "too many arrivals in one window")
    WindowOrder.sort(
      &words, scratch: &scratch, counts: &counts, lowBit: Int(Self.offsetShift), keyBits: clock.offsetBits)
    orderTies(start: start)
    var i = 0
    while true {
      i = front.arrivePlainly(words, from: i, arrivals.base, windowStart: start, rooms)
      if i >= words.count { break }
      let word = words[i]
      let now = Instant(microseconds: start &+ Self.offset(word))
      if front.nextOwnTime <= now { front.advance(through: now, &self.rooms) }
      let request = rooms[Self.shard(word)].shard.request(arrivals[Self.index(word)], at: now)
      front.arrive(request, &self.rooms)
      i &+= 1
    }
    if front.nextOwnTime.microseconds < end {
      front.advance(through: Instant(microseconds: end &- 1), &self.rooms)
    }
    return false
  }

  /// An arrival's word: offset within the window | shard (16 bits) | index (28 bits).
  private static var offsetShift: UInt64 { 44 }
  private static var shardShift: UInt64 { 28 }

  @inline(__always)
  static func offset(_ word: UInt64) -> Int64 { Int64(truncatingIfNeeded: word &>> offsetShift) }
  @inline(__always)
  static func shard(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shardShift & 0xffff) }
  @inline(__always)
  static func index(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & (1 &<< shardShift &- 1)) }

  /// Arrivals of one instant go by a hash of (device, batch, attempt), then device, so that no device is always first in line.
  private mutating func orderTies(start: Int64) {
    var i = 1
    while i < words.count {
      if words[i] &>> Self.offsetShift != words[i &- 1] &>> Self.offsetShift {
        i &+= 1
        continue
      }
      let first = i &- 1
      while i < words.count, words[i] &>> Self.offsetShift == words[first] &>> Self.offsetShift { i &+= 1 }
      let now = Instant(microseconds: start &+ Self.offset(words[first]))
      let tied = (first..<i).map {
        rooms[Self.shard(words[$0])].shard.request(arrivals[Self.index(words[$0])], at: now)
      }
      let order = ArrivalOrder.sorted(tied, key: orderKey)
      scratch.resizeUninitialized(to: max(scratch.count, order.count))
      for (k, position) in order.enumerated() { scratch[k] = words[first + position] }
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
