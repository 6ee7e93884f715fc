import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadPipeline

/// The simplest engine that could be right: one heap, one event after another, in the order that engine.md writes down.
///
/// No windows, no calendars, no radix sort. It runs the same devices and the same server as the windowed engine, so equal
/// results show that windows, calendars and sorting change nothing.
package struct PlainEngine: ~Copyable {
  /// Everything that can happen, in the order of one instant. (Incidents and completions are the server's own and come first.)
  enum Event {
    case arrival(UploadRequest, retryCount: Int)
    case delivery(Delivery, shard: Int)
    case wakeUp(DeviceIndex, shard: Int)
    case trigger(DeviceIndex, shard: Int)
    case restart(DeviceIndex, shard: Int)
    case world(DeviceIndex, shard: Int)
  }

  struct Entry {
    var time: Instant
    /// Arrivals 0, deliveries 1 + kind, wake-ups, triggers.
    var kind: Int
    /// Ties within a kind.
    var tie: (UInt64, UInt64, UInt64, UInt64)
    var event: Event

    static func < (a: Entry, b: Entry) -> Bool {
      if a.time != b.time { return a.time < b.time }
      if a.kind != b.kind { return a.kind < b.kind }
      return a.tie < b.tie
    }
  }

  struct Agenda: ~Copyable, DeliverySink {
    var heap: [Entry] = []
    var late: [(delivery: Delivery, due: Instant, shard: Int)] = []
    var sent: [UploadRequest] = []
    let end: Instant
    let seed: UInt64
    let shards: UnsafeMutablePointer<DeviceShard>

    init(end: Instant, seed: UInt64, shards: UnsafeMutablePointer<DeviceShard>) {
      self.shards = shards
      self.end = end
      self.seed = seed
    }

    mutating func push(_ entry: Entry) {
      heap.append(entry)
      var i = heap.count - 1
      while i > 0, heap[i] < heap[(i - 1) / 2] {
        heap.swapAt(i, (i - 1) / 2)
        i = (i - 1) / 2
      }
    }

    mutating func pop() -> Entry? {
      guard let first = heap.first else { return nil }
      let last = heap.removeLast()
      if heap.isEmpty { return first }
      heap[0] = last
      var i = 0
      while true {
        var least = i
        for child in [2 * i + 1, 2 * i + 2] where child < heap.count && heap[child] < heap[least] {
          least = child
        }
        if least == i { return first }
        heap.swapAt(i, least)
        i = least
      }
    }

    /// Takes over what a shard's devices have planned and sent.
    mutating func take(_ calendar: inout ShardCalendar, from devices: borrowing DeviceShard, shard: Int) {
      for (kind, device, time) in calendar.collected.timers {
        let event: Event =
          switch kind {
          case ItemKind.trigger: .trigger(device, shard: shard)
          case ItemKind.wakeUp: .wakeUp(device, shard: shard)
          case ItemKind.world: .world(device, shard: shard)
          default: .restart(device, shard: shard)
          }
        let place: [UInt64: Int] = [
          ItemKind.wakeUp: 8, ItemKind.trigger: 9, ItemKind.restart: 10, ItemKind.world: 11,
        ]
        push(
          Entry(
            time: Instant(microseconds: time), kind: place[kind]!,
            tie: (UInt64(shard), UInt64(device.place), 0, 0), event: event))
      }
      for (delivery, due) in calendar.collected.deliveries {
        deliver(delivery, due: Instant(microseconds: due), toShard: shard)
      }
      for (ticket, arrival) in calendar.collected.uploads {
        send(devices.request(ticket, at: arrival), retryCount: ticket.retryCount)
      }
      calendar.collected = .init()
    }

    mutating func deliver(_ d: Delivery, due: Instant, toShard target: Int) {
      if due >= end {
        late.append((d, due, target))
        return
      }
      push(
        Entry(
          time: due, kind: 1 + Int(d.kind.rawValue),
          tie: (
            UInt64(target), UInt64(d.device.place), UInt64(shards[target].firstOrdinal(of: d.batch)),
            UInt64(d.attempt)
          ),
          event: .delivery(d, shard: target)))
    }

    mutating func send(_ r: UploadRequest, retryCount: Int) {
      sent.append(r)
      if r.arrival >= end { return }
      // Arrivals of one instant: by a hash of (seed, device, batch, attempt), then device.
      let hash = RandomKey(seed: seed).child(RandomPurpose.order).child(UInt64(r.device))
        .child((UInt64(r.firstOrdinal) + 1) << 16 | UInt64(r.attempt)).bits
      push(
        Entry(
          time: r.arrival, kind: 0, tie: (hash, UInt64(r.device), UInt64(r.firstOrdinal), UInt64(r.attempt)),
          event: .arrival(r, retryCount: retryCount)))
    }
  }

  /// The record of a run, and every upload in the order of sending.
  package struct Result {
    package var record: RunRecord
    package var sent: [UploadRequest]
  }

  package static func run(_ scenario: Scenario) -> Result {
    let layout = ShardLayout.cut(scenario.fleet, perCohort: 1)
    let rowCount = RunAssembly.rowCount(scenario)
    let shards = UnsafeMutablePointer<DeviceShard>.allocate(capacity: layout.count)
    var firstDevice = 0
    for (number, piece) in layout.enumerated() {
      let cohort = scenario.fleet[piece.cohort]
      let plan = CohortPlan(
        cohort, firstDevice: firstDevice, scenario: scenario, lastIncidentEnd: scenario.lastIncidentEnd,
        checks: true, windowWidth: nil)
      firstDevice += cohort.devices
      (shards + number).initialize(
        to: DeviceShard(
          plan: plan, interval: scenario.interval, number: number, first: 0, count: piece.count,
          rowCount: rowCount))
    }
    defer {
      shards.deinitialize(count: layout.count)
      shards.deallocate()
    }
    var front = ServerFront(scenario, shards: layout, rowCount: rowCount, checks: true)
    let end = Instant.start + scenario.duration
    var agenda = Agenda(end: end, seed: scenario.seed, shards: shards)
    var calendar = ShardCalendar(collecting: end.microseconds)
    for number in 0..<layout.count {
      for device in shards[number].indices { shards[number].start(device: device, &calendar) }
      agenda.take(&calendar, from: shards[number], shard: number)
    }
    while true {
      let time = agenda.heap.first?.time ?? .never
      if front.nextOwnTime <= time, front.nextOwnTime < end {
        front.advance(through: front.nextOwnTime, &agenda)
        continue
      }
      guard let entry = agenda.pop() else { break }
      let now = entry.time.microseconds
      switch entry.event {
      case .arrival(let request, let retryCount):
        front.arrive(request, retryCount: retryCount, &agenda)
      case .delivery(let delivery, let shard):
        shards[shard].handle(delivery, at: now, &calendar)
        agenda.take(&calendar, from: shards[shard], shard: shard)
      case .wakeUp(let device, let shard):
        shards[shard].handleWakeUp(device, at: now, &calendar)
        agenda.take(&calendar, from: shards[shard], shard: shard)
      case .trigger(let device, let shard):
        shards[shard].handleTrigger(device, at: now, &calendar)
        agenda.take(&calendar, from: shards[shard], shard: shard)
      case .restart(let device, let shard):
        shards[shard].handleRestart(device, at: now, &calendar)
        agenda.take(&calendar, from: shards[shard], shard: shard)
      case .world(let device, let shard):
        shards[shard].handleWorld(device, at: now, &calendar)
        agenda.take(&calendar, from: shards[shard], shard: shard)
      }
    }
    for late in agenda.late {
      shards[late.shard].countLateAcceptance(
        late.delivery, due: late.due.microseconds, end: end.microseconds)
    }
    var assembly = RunAssembly(scenario)
    for number in 0..<layout.count {
      assembly.add(shards[number], cohort: scenario.fleet[layout[number].cohort])
    }
    return Result(record: assembly.record(front), sent: agenda.sent)
  }
}
