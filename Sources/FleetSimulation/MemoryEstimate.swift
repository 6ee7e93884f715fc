import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// The memory that a run of a scenario is expected to need at its peak, before it is run.
///
/// Tables are exact: so many bytes for each device, interval and shard. Batches are a forecast. It takes the fleet's normal load,
/// and the backlog that incidents leave if the server serves as much as its capacity says. The forecast does not know which
/// batches clients drop for a status, a count or an age, nor how much time-outs waste. The benchmark's workloads took between 0.6
/// and 1.2 times as much as was forecast (`results/bench/memory.md`). Memory that a run touches counts, not memory that it
/// reserves. The program itself (some 10 MiB) does not count.
///
///     let estimate = MemoryEstimate(scenario)
///     print(estimate)  // about 276.5 MiB a run; batch records 118.2 MiB, results 38.3 MiB, metrics tables 37.9 MiB
public struct MemoryEstimate: Sendable, Hashable {
  /// The uses of the memory.
  public enum Part: String, CaseIterable, Sendable {
    case deviceRecords = "device records"
    /// Beside the records, for cohorts that need them.
    case deviceTables = "device tables"
    /// Windows, breakers and the like, for cohorts with `ClientGates`.
    case gateTables = "gate tables"
    case batches = "batch records"
    case waitingBatches = "heaps of waiting batches"
    /// Triggers, wake-ups, uploads and answers to come.
    case calendars = "calendars"
    case windows = "items due in one window"
    case metrics = "metrics tables"
    case server = "server"
    /// The run's record, and the sums over the shards it is made from.
    case results = "results"
  }

  /// Bytes of one part.
  public struct Item: Sendable, Hashable {
    public var part: Part
    /// nil: the whole fleet's.
    public var cohort: String?
    public var expected: Int64
  }

  /// Cohort by cohort, then the fleet's; parts that take nothing are left out.
  public let items: [Item]
  /// Bytes that are left when the run is over: its record.
  public let resultBytes: Int64

  /// The forecast in bytes.
  public var expected: Int64 { Self.sum(items) }

  /// The part that is expected to take most: that of one cohort if it is most of it, else of all.
  public var largest: Item? {
    byPart.first.flatMap { part, expected in
      let most = items.filter { $0.part == part }.max { $0.expected < $1.expected }
      return most.map {
        $0.expected > expected / 2 ? $0 : Item(part: part, cohort: nil, expected: expected)
      }
    }
  }

  /// Expected bytes by part over all cohorts, the largest first.
  public var byPart: [(part: Part, expected: Int64)] {
    Part.allCases.map { part in (part, Self.sum(items.filter { $0.part == part })) }
      .filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
  }

  private static func sum(_ items: [Item]) -> Int64 { items.map(\.expected).reduce(0, saturatingSum) }

  /// O(cohorts), whatever the number of devices.
  public init(_ scenario: Scenario, options: RunOptions = .init()) {
    let run = RunSize(scenario, options: options)
    let parts =
      scenario.fleet.flatMap { cohort in
        CohortSize(cohort, of: run).parts.map { ($0.part, cohort.name as String?, $0.bytes) }
      } + run.parts.map { ($0.part, nil, $0.bytes) }
    items = parts.compactMap { part, cohort, bytes in
      bytes < 0.5 ? nil : Item(part: part, cohort: cohort, expected: Self.whole(bytes))
    }
    resultBytes = Self.whole(run.resultBytes)
  }

  private static func whole(_ bytes: Double) -> Int64 { bytes < 9e18 ? Int64(bytes.rounded(.up)) : .max }
}

extension MemoryEstimate: CustomStringConvertible {
  /// `about 276.5 MiB a run; batch records 118.2 MiB, results 38.3 MiB, metrics tables 37.9 MiB`.
  public var description: String {
    let parts = byPart.prefix(3).map { "\($0.part.rawValue) \(MemorySize.text($0.expected))" }
    return "about \(MemorySize.text(expected)) a run; " + parts.joined(separator: ", ")
  }
}

// MARK: - The arithmetic, in doubles so that no fleet is too large for it

private typealias PartBytes = (part: MemoryEstimate.Part, bytes: Double)

/// `count` rows of a type.
private func bytes<Row>(_ count: Double, _: Row.Type) -> Double { count * Double(MemoryLayout<Row>.stride) }

/// The sizes that a run has once.
private struct RunSize {
  let scenario: Scenario
  let seconds: Double
  let clock: WindowClock
  let slots: Int
  /// The rows of each table by interval.
  let rows: Double
  /// Shards of the largest cohort.
  let shards: Int
  let backlog: Backlog
  /// At which its devices are noted.
  let moments: Int

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    seconds = scenario.duration.seconds
    clock = WindowClock(notLongerThan: WindowedEngine.lookAhead(scenario, asked: options.window))
    slots = clock.slotCount(of: scenario)
    rows = Double(RunAssembly.rowCount(scenario))
    shards = max(options.shards, 1)
    backlog = Backlog(scenario)
    moments = EndMoments.times(of: scenario).count
  }

  var parts: [PartBytes] {
    let cells = scenario.fleet.reduce(0) { $0 + CohortSize($1, of: self).deliveryCells(shards: 1) }
    let sums = rows * Double(IntervalCounters<DeviceSide>.bytesPerRow)
    // Half of the cells, of 8 bytes in place of 4.
    let waits = scenario.fleet.reduce(0) { max($0, CohortSize($1, of: self).longWaits) } + rows * 8
    let counters = rows * Double(IntervalCounters<ServerSide>.bytesPerRow)
    // Each request that a client waits for is at one.
    let proxies = scenario.tapi.proxies == nil ? 0 : sent * Double(ProxyTier.bytesPerCall)
    return [
      (.server, counters + tenths + ruleTables + requests + connections + proxies),
      (.results, 2 * cells + sums + waits + resultBytes),
    ]
  }

  /// The bytes of the run's record.
  var resultBytes: Double {
    rows * Double(TimeSeries.bytesPerRow) + tenths + bytes(Double(Histogram.bucketCount), Int64.self)
  }

  /// The offered load, of every tenth of a second.
  private var tenths: Double { bytes(Double(RunAssembly.tenthCount(scenario)), UInt32.self) }

  /// Counts and bits that the server keeps for each device.
  private var ruleTables: Double {
    let limits = scenario.tapi.rules.keyLimits.filter { $0.per == .device }
    let bits = scenario.tapi.incidents.contains { $0.kind == .tokenExpiry } ? 1.0 / 8 : 0
    return scenario.fleet.reduce(0) { sum, cohort in
      let own = limits.filter { $0.key == nil || $0.key == cohort.effectiveWriteKey }
      let bytes = own.reduce(0) { $0 + Double($1.bytesPerDevice) }
      return sum + Double(cohort.devices) * (bytes + bits)
    }
  }

  /// Where they cost something: those of all devices, and handshakes that wait.
  private var connections: Double {
    guard let connections = scenario.tapi.connections else { return 0 }
    let devices = scenario.fleet.reduce(0) { $0 + Double($1.devices) }
    let handshakes = connections.handshakes
    let room = handshakes.queueLimit.map { Double($0) + Double(handshakes.count) } ?? .infinity
    return devices * Double(Connections.bytesPerDevice)
      + min(room, devices) * Double(Connections.bytesPerHandshake)
  }

  /// The most requests that clients wait for at one time.
  private var sent: Double {
    scenario.fleet.reduce(0) {
      $0 + CohortSize($1, of: self).devices * min(1, CohortSize($1, of: self).rate * (backlog.seconds + 1))
    }
  }

  /// At workers: those at work, those that wait, and calls at a dependency. An array that grows is copied, and a running request
  /// has its times beside it.
  private var requests: Double {
    guard case .workers(let workers) = scenario.tapi.server else { return 0 }
    let busy = min(Double(workers.count) * Double(scenario.tapi.largestScale) / 1e6, sent)
    let waiting = min(workers.queueLimit.map(Double.init) ?? .infinity, sent)
    var sum = bytes(2 * (busy + waiting), UploadRequest.self)
    if let dependency = workers.dependency {
      let room = dependency.queueLimit.map { Double($0 + dependency.count) } ?? .infinity
      sum +=
        busy * Double(Dependency.bytesPerCaller) + min(room, busy) * Double(Dependency.bytesPerCall)
    }
    return sum
  }
}

/// How much work piles up at the worst time of a run, in seconds' worth of the fleet's normal load.
///
/// A fluid goes in at the normal rate and out at the server's capacity, nothing during an outage.
private struct Backlog {
  /// The largest; 0 if the server always keeps up.
  private(set) var seconds = 0.0
  /// Whether some outage gives no answer, so that clients wait for their time-out.
  private(set) var isSilent = false

  init(_ scenario: Scenario) {
    let utilisation = NormalLoad(scenario).utilisation
    let conditions = IncidentTimeline(scenario.tapi).conditions
    let end = Instant.start + scenario.duration
    var backlog = 0.0
    for (index, condition) in conditions.enumerated() where condition.start < end {
      let next = index + 1 < conditions.count ? min(conditions[index + 1].start, end) : end
      var served = 0.0
      if let incident = condition.outage {
        if case .outage(nil, _, _) = incident.kind { isSilent = true }
      } else {
        served =
          utilisation > 0
          ? Double(condition.factor) / 1e6 * Double(condition.scale) / 1e6 / utilisation : .infinity
        // A request that is refused at the door waits on, whatever the capacity.
        if condition.shedShare > 0 { served = min(served, 1 - condition.shedShare) }
      }
      backlog = max(0, backlog + (next - condition.start).seconds * (1 - served))
      seconds = max(seconds, backlog)
    }
  }
}

/// The needs of one cohort's shards. The sizes are those of the types that `DeviceShard`, `ShardRunner` and `ShardCalendar` are
/// made of.
private struct CohortSize {
  let cohort: Cohort
  let run: RunSize
  let devices: Double
  /// Batches that a device makes in a second when nothing fails.
  let rate: Double

  init(_ cohort: Cohort, of run: RunSize) {
    var cohort = cohort
    // Spikes that come once take memory as those of a run's length do.
    for i in cohort.spikes.indices {
      cohort.spikes[i].every = cohort.spikes[i].every ?? run.scenario.duration
    }
    self.cohort = cohort
    self.run = run
    devices = Double(cohort.devices)
    rate = NormalLoad.batchesPerSecond(of: cohort, over: run.scenario.duration)
  }

  private var shards: Int { max(1, min(run.shards, cohort.devices)) }

  var parts: [PartBytes] {
    let plan = CohortPlan(
      cohort, firstDevice: 0, scenario: run.scenario, lastIncidentEnd: nil, checks: false,
      windowWidth: run.clock.width)
    let gates = plan.bytes(of: .gates)
    let tables = SideTables.Table.allCases.reduce(0) { $0 + plan.bytes(of: $1) } - gates
    let pages = plan.pages == nil ? 0 : MemoryLayout<BrowserDevice>.stride
    return [
      (.deviceRecords, devices * Double(DeviceRows.rowBytes)),
      (.deviceTables, devices * Double(tables + pages)),
      (.gateTables, devices * Double(gates)),
      (.batches, batches(plan)),
      (.waitingBatches, plan.client.isRebatch ? 0 : waitingBatches),
      (.calendars, calendars(plan)),
      (.windows, windows),
      (.metrics, metrics),
    ]
  }

  // MARK: Batches

  /// How long a device waits on after the server is back: half the longest backoff that it can have reached.
  private var lateness: Double {
    min(Double(cohort.settings.backoff.maxBackoffInterval) / 1e6, run.backlog.seconds) / 2
  }

  /// Batches of one device that exist at once.
  private var held: Double {
    let events = NormalLoad.eventsPerSecond(of: cohort, over: run.scenario.duration)
    let eventsPerBatch = rate > 0 ? max(1, events / rate) : 1
    let offline = cohort.connectivity?.meanOfflineSeconds(over: run.scenario.duration) ?? 0
    let made = rate * (run.backlog.seconds + lateness + offline + 2 * cohort.latency.mean / 1e6)
    let kept = min(
      made, max(1, Double(cohort.behaviour.queue.limit) / eventsPerBatch),
      Double(cohort.behaviour.queue.batchLimit),
      rate * run.seconds)
    if cohort.behaviour.queue.mode == .files { return kept }
    return max(min(1, kept), kept * eventsPerBatch / Double(cohort.largestBatch))
  }

  private func batches(_ plan: CohortPlan) -> Double {
    var times = plan.server.deduplicationWindow >= 0 ? 1 : 0
    if plan.tables.loops, plan.client.policy.limitsCheck == .beforeDue { times += 1 }
    // A batch in its device's row counts with the entries beside the records only.
    let own = plan.tables.loops ? 0 : devices
    let pooled = max(0, devices * held - own)
    let delays =
      cohort.behaviour.gates.projectDelay == nil ? 0 : (own + pooled) * Double(BatchPool.delayBytes)
    return pooled * Double(BatchPool.pooledBytes) + bytes((own + pooled) * Double(times), Int64.self) + delays
  }

  /// Blocks of the sizes that a device's heap grows through: those it has left are no use to devices that grow the same way.
  private var waitingBatches: Double {
    let mean = run.backlog.seconds > 0 ? held : 0
    var block = Double(BlockPool<WaitingHeaps.Entry>.smallest)
    var entries = block * min(1, mean)
    while block < mean {
      block *= 2
      entries += block
    }
    return bytes(devices * entries, WaitingHeaps.Entry.self)
  }

  // MARK: On its way

  private var latency: Double {
    let upload = cohort.requestBytes + cohort.largestBatch * cohort.eventBytes
    let transfer = cohort.link.uploadBytesPerSecond.map { Double(upload) / Double($0) } ?? 0
    return max(cohort.latency.mean / 1e6 + min(transfer, cohort.timeout.seconds), 1e-6)
  }

  /// Retries make a herd of some multiples of the normal load.
  private func sent(within seconds: Double) -> Double { devices * min(1, 4 * rate * seconds) }

  /// The rings and what lies in them. A slot that holds anything leaves half a chunk empty, which counts where devices are few for
  /// the slots that their triggers lie in.
  private func calendars(_ plan: CohortPlan) -> Double {
    let restarts = cohort.lifecycle.map { Double($0.synchronised.count) + 1 } ?? 0
    let triggers = devices * ((plan.tables.triggers ? 1 : 0) + restarts + (plan.tables.worlds ? 1 : 0))
    let wakeUps = plan.client.wakesByTimer ? devices * min(1, held) : 0
    let uploads = sent(within: latency)
    let timeout = cohort.timeout.seconds
    let timeOuts = run.backlog.isSilent ? devices * min(1, held) * timeout / (timeout + lateness) : 0
    let longest = max(cohort.flush.interval?.seconds ?? run.seconds, 2 * lateness)
    let spread = longest * 1e6 / Double(run.clock.width)
    let empty = ShardCalendar.emptyBytes(
      slotCount: run.slots, devices: cohort.devices / shards,
      spread: min(spread, (triggers + wakeUps) / Double(shards)))
    return Double(shards) * empty + bytes(triggers, UInt64.self) + bytes(wakeUps, UInt32.self)
      + bytes(uploads + timeOuts, Delivery.self) + bytes(uploads, UploadTicket.self)
  }

  /// Items of one window, as `ShardRunner` and the engine lay them out: everything of a kind twice, for sorting.
  private var windows: Double {
    let isTogether = cohort.flush.isSynchronised && cohort.flush.interval != nil
    let items = isTogether ? devices : sent(within: Double(run.clock.width) / 1e6)
    return bytes(items, Delivery.self) + bytes(items, UploadTicket.self) + bytes(items, UInt32.self)
      + bytes(5 * items, UInt64.self)
  }

  // MARK: Metrics

  /// Counters are written from end to end, times to delivery where there are any.
  private var metrics: Double {
    let counters = run.rows * Double(IntervalCounters<DeviceSide>.bytesPerRow)
    let openDeliveries = Double(Ledger.openRows(run.scenario.interval) * IntervalDeliveries.bytesPerRow)
    return Double(shards)
      * (counters + bytes(Double(Histogram.bucketCount), Int64.self) + bytes(1, CohortPlan.self)
        + deliveryCells(shards: shards) + openDeliveries + longWaits + Self.smallBlocks)
      + Double(run.moments * EndMoments.bytesPerCohort)
  }

  /// The rows with events that wait long: all where apps close or flushes are rare, elsewhere those from the first incident to the
  /// last, and as long behind it.
  var longWaits: Double {
    let table = LongWaits(rows: Int(run.rows), interval: run.scenario.interval.microseconds)
    let incidents = run.scenario.tapi.incidents.lazy
    let first = incidents.map { $0.start.microseconds }.min() ?? 0
    let last = incidents.map { ($0.start + $0.duration).microseconds }.max() ?? 0
    let isUsual =
      cohort.sessions != nil || (cohort.flush.interval.map { $0.microseconds >= table.shortest } ?? true)
    let share = isUsual ? 1 : min(1, 2 * Double(last - first) / 1e6 / run.seconds)
    return run.rows * share * Double(table.bytesPerRow)
  }

  /// A shard without its tables, the rooms that its queues begin with, and what the C library keeps between them: measured, of
  /// 1,250 cohorts of one device.
  private static let smallBlocks = 110_000.0

  /// Times to delivery: a cell for each delivery, until most of those that lie within four octaves are there.
  func deliveryCells(shards: Int) -> Double {
    let full = 4.0 * Double(IntervalDeliveries.bucketsPerOctave)
    let cells = min(run.rows * full, devices * rate * run.seconds / Double(shards))
    // An array that grows has room for twice as many.
    return 2 * bytes(cells, DeliveryTable.Cell.self) + bytes(run.rows, Int.self)
  }
}

/// Amounts of memory as people write and read them.
package enum MemorySize {
  private static let units: [(name: String, bytes: UInt64)] = [
    ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("KB", 1_000),
    ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
  ]

  /// The unit names of `bytes(_:)`.
  package static var unitNames: String { units.map(\.name).joined(separator: ", ") }

  /// `20GiB`, `1.5 GB`, `500MiB` in bytes; nil for anything else, nothing and fractions of a byte included.
  package static func bytes(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let name = text.dropFirst(digits.count).drop { $0 == " " }
    guard let amount = ExactDecimal(digits), let unit = units.first(where: { $0.name == name }),
      case .exact(let bytes) = amount.times(unit.bytes), bytes > 0
    else { return nil }
    return bytes
  }

  /// One decimal in the largest unit that fits: `276.5 MiB`.
  package static func text(_ bytes: Int64) -> String {
    if bytes < 1 << 10 { return "\(bytes) B" }
    let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var index = 0
    while index < names.count - 1, bytes >> (10 * Int64(index + 2)) > 0 { index += 1 }
    let tenths = Int64((Double(bytes) / Double(UInt64(1) << UInt64(10 * (index + 1))) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(names[index])"
  }
}
