import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// What the shards of one cohort need. The sizes are those of the types that `DeviceShard`, `ShardRunner` and `ShardCalendar` are made of.
struct CohortMemory {
  typealias Amount = MemoryModel.Amount

  private let cohort: Cohort
  private let plan: CohortPlan
  private let clock: WindowClock
  private let slotCount: Int
  private let shards: Int
  private let rows: Double
  private let forecast: BacklogForecast
  private let duration: Double
  private let devices: Double
  /// Batches that a device makes in a second when nothing fails.
  private let rate: Double
  /// Of the longest wait between two tries, seconds.
  private let longestWait: Double
  /// How long a device waits on after the server is back.
  private let lateness: Double
  /// Batches of the whole cohort that exist at once.
  private let held: Amount

  init(
    _ cohort: Cohort, in scenario: Scenario, clock: WindowClock, slotCount: Int, shards: Int, rows: Double,
    forecast: BacklogForecast
  ) {
    self.cohort = cohort
    self.clock = clock
    self.slotCount = slotCount
    self.shards = shards
    self.rows = rows
    self.forecast = forecast
    plan = CohortPlan(cohort, firstDevice: 0, scenario: scenario, checks: false, windowWidth: clock.width)
    duration = scenario.duration.seconds
    devices = Double(cohort.devices)
    rate = NormalLoad.batchesPerSecond(of: cohort, over: scenario.duration)
    longestWait =
      Double(max(cohort.settings.backoff.maxBackoffInterval, cohort.settings.rateLimit.maxRetryInterval))
      / 1e6
    lateness = forecast.waitSeconds(longestBackoff: Double(cohort.settings.backoff.maxBackoffInterval) / 1e6)
    held = Self.heldBatches(cohort, in: scenario, rate: rate, forecast: forecast, lateness: lateness)
  }

  // MARK: Batches

  private static func heldBatches(
    _ cohort: Cohort, in scenario: Scenario, rate: Double, forecast: BacklogForecast, lateness: Double
  ) -> Amount {
    let duration = scenario.duration.seconds
    let devices = Double(cohort.devices)
    let limit = Double(cohort.queue.limit)
    let events = NormalLoad.eventsPerSecond(of: cohort, over: scenario.duration)
    let eventsPerBatch = rate > 0 ? max(1, events / rate) : 1
    let offline = cohort.connectivity?.meanOfflineSeconds(over: scenario.duration) ?? 0
    var each = rate * (forecast.seconds + lateness + offline + 2 * cohort.latency.mean / 1e6)
    each = min(each, max(1, limit / eventsPerBatch), rate * duration)
    if cohort.queue.mode == .rebatch {
      each = max(min(1, each), each * eventsPerBatch / Double(cohort.largestBatch))
    }
    // Each batch has an event of its own; a record outlives its place in the queue while an upload of it is open.
    let open = Double(min(cohort.uploadConcurrency, cohort.queue.limit)) * 2 + 1
    let launches = Self.launches(cohort, duration: duration)
    let created = min(rate * duration * 1.1 + launches, events * duration) * devices
    let most = min(
      created + 6 * created.squareRoot() + devices,
      devices * (mostHeld(cohort, in: scenario, forecast) + open))
    return Amount(min(devices * each, most), atMost: most)
  }

  /// Batches in one queue. A client that re-chunks its events keeps batches apart only if the fate of some is unknown.
  private static func mostHeld(_ cohort: Cohort, in scenario: Scenario, _ forecast: BacklogForecast) -> Double
  {
    let limit = Double(cohort.queue.limit)
    guard cohort.queue.mode == .rebatch, cohort.lifecycle == nil, !forecast.isSilent,
      cohort.connectivity == nil, cohort.link.isPerfect,
      case .bucket(let bucket) = scenario.tapi.server, bucket.serviceTime == .constant(.zero),
      case .constant(let latency) = cohort.latency, latency + latency < cohort.timeout
    else { return limit }
    return (limit / Double(cohort.largestBatch)).rounded(.up) + 1
  }

  /// Of one device.
  private static func launches(_ cohort: Cohort, duration: Double) -> Double {
    guard let lifecycle = cohort.lifecycle else { return 0 }
    let atRandom = lifecycle.meanTimeBetweenRestarts.map { duration / max($0.seconds, 1e-6) } ?? 0
    return atRandom + Double(lifecycle.synchronised.count)
  }

  private var batches: Amount {
    let pooled = Double(BatchPool.pooledBytes)
    let times =
      (plan.tables.loops && plan.client.policy.limitsCheck == .beforeDue
        ? Double(MemoryLayout<Int64>.stride) : 0)
      + (plan.server.deduplicationWindow >= 0 ? Double(MemoryLayout<Int64>.stride) : 0)
    // Of those that lie in devices' rows, used or not, only what is beside the records counts.
    let own = plan.tables.loops ? 0 : devices
    let more = max(0, held.expected - own)
    // A large table takes large pages, of which a few batches here and there touch all.
    let allTimes = (own + more) * times
    let isInLargePages = allTimes >= Double(PlainMemory.smallestMapped)
    return Amount(
      more * pooled + (isInLargePages ? allTimes : held.expected * times),
      atMost: held.upperBound * pooled + (own + held.upperBound) * times)
  }

  /// Blocks of the sizes that a device's heap grows through: those it has left are no use to devices that grow the same way.
  private var waitingBatches: Amount {
    if plan.client.isRebatch { return Amount(0) }
    let entry = Double(MemoryLayout<WaitingHeaps.Entry>.stride)
    // Not all of a device's batches wait at once: some are due, one is under way.
    let mean = forecast.seconds > 0 ? held.expected / devices : 0
    var capacity = Double(BlockPool<WaitingHeaps.Entry>.smallest)
    var entries = capacity * min(1, mean)
    while capacity < 2 * mean {
      entries += 2 * capacity * max(0, min(1, (mean - capacity) / (2 * capacity.squareRoot()) + 0.5))
      capacity *= 2
    }
    let most =
      held.upperBound * 4 + min(held.upperBound, devices) * Double(BlockPool<WaitingHeaps.Entry>.smallest)
    return Amount(devices * entries * entry, atMost: most * entry)
  }

  // MARK: Calendars

  private var calendars: Amount {
    let rings = ShardCalendar.ringSlots(slotCount: slotCount, devices: cohort.devices / shards)
    let slots = Double(slotCount)
    let (timers, transit) = (Double(rings.timers), Double(rings.transit))
    let chunks = ShardCalendar.chunkBytes(devices: cohort.devices / shards)
    let empty =
      CalendarQueue<UInt64>.emptyBytes(slots: slots, ringSlots: timers)
      + CalendarQueue<UInt32>.emptyBytes(slots: slots, ringSlots: timers)
      + CalendarQueue<Delivery>.emptyBytes(slots: slots, ringSlots: transit)
      + CalendarQueue<UploadTicket>.emptyBytes(slots: slots, ringSlots: transit)
    return Amount(empty) * shards
      + items(CalendarQueue<UInt64>.self, plannedTriggers, within: triggerSpread, ring: timers, chunks.timers)
      + items(CalendarQueue<UInt32>.self, wakeUps, within: max(1, 2 * lateness), ring: timers, chunks.timers)
      + items(
        CalendarQueue<Delivery>.self, answers, within: answerSpread, ring: transit, chunks.transit)
      + items(CalendarQueue<UploadTicket>.self, uploads, within: 2 * latency, ring: transit, chunks.transit)
  }

  /// At most: as if each lay in a slot of its own, or beyond the ring.
  private func items<Item>(
    _: CalendarQueue<Item>.Type, _ count: Amount, within seconds: Double, ring: Double, _ chunkBytes: Int
  ) -> Amount {
    let pieces = Double(shards)
    let slots = Double(slotCount)
    func bytes(_ count: Double, spread: Double) -> Double {
      pieces
        * CalendarQueue<Item>.bytes(
          items: count / pieces, spread: spread, slots: slots, ringSlots: ring, chunkBytes: chunkBytes)
    }
    let spread = seconds * 1e6 / Double(clock.width)
    return Amount(
      bytes(count.expected, spread: spread),
      atMost: bytes(count.upperBound, spread: ring) + bytes(count.upperBound, spread: slots))
  }

  private var latency: Double {
    let transfer = cohort.link.uploadBytesPerSecond.map { Double(cohort.largestUpload) / Double($0) } ?? 0
    return max(cohort.latency.mean / 1e6 + min(transfer, cohort.timeout.seconds), 1e-6)
  }
  private var interval: Double { cohort.flush.interval?.seconds ?? duration }
  private var triggerSpread: Double {
    cohort.lifecycle == nil ? min(interval, rate > 0 ? 1 / rate : interval) : duration
  }
  private var answerSpread: Double { forecast.isSilent ? cohort.timeout.seconds : 2 * latency }

  /// Triggers and restarts; a launch leaves the trigger before it behind.
  private var plannedTriggers: Amount {
    let launches = Self.launches(cohort, duration: duration)
    let stale = launches * min(1, interval / duration)
    let restarts = cohort.lifecycle.map { Double($0.synchronised.count) + 1 } ?? 0
    let triggers = plan.tables.triggers ? 1.0 : 0
    let world = plan.tables.worlds ? 3.0 : 0
    return Amount(
      devices * (triggers + restarts + min(world, 1)),
      atMost: devices * (triggers * (2 + 6 * stale) + restarts + world))
  }

  /// A wake-up that another has taken the place of stays until its time.
  private var wakeUps: Amount {
    guard plan.client.wakesByTimer else { return Amount(0) }
    let loops = 2 * (longestWait * (1 / max(interval, 1e-3) + rate) + 2)
    return Amount(min(devices, held.expected), atMost: devices * loops)
  }

  /// Retries make a herd of some multiples of the normal load.
  private var uploads: Amount {
    Amount(
      devices * min(1, 4 * rate * latency),
      atMost: min(held.upperBound, devices * Double(min(cohort.uploadConcurrency, cohort.queue.limit))))
  }

  private var answers: Amount {
    var expected = uploads.expected
    if forecast.isSilent {
      let timeout = cohort.timeout.seconds
      expected += min(held.expected, devices) * timeout / (timeout + lateness)
    }
    return Amount(
      max(0, min(expected, max(uploads.upperBound, uploads.expected))), atMost: 2 * uploads.upperBound)
  }

  /// Items of one window, as `ShardRunner` and the engine lay them out: everything of a kind twice, for sorting.
  private var windows: Amount {
    let each =
      MemoryLayout<Delivery>.stride + MemoryLayout<UploadTicket>.stride + MemoryLayout<UInt32>.stride
      + 5 * MemoryLayout<UInt64>.stride
    let width = Double(clock.width) / 1e6
    let usual = devices * min(1, 4 * rate * width)
    let together = cohort.flush.isSynchronised && cohort.flush.interval != nil ? devices : usual
    return Amount(together * Double(each), atMost: (devices + uploads.upperBound) * Double(each))
  }

  // MARK: Together

  /// Bytes that laying out the largest shard takes for a while: it goes by slices, of the devices of some phases each.
  var sorting: Double {
    if !plan.flush.isScanned { return 0 }
    let devices = (devices / Double(shards)).rounded(.up)
    let together = plan.flush.isSynchronised ? devices : min(devices, Double(DeviceRows.devicesOfSlice))
    return together * 2 * Double(MemoryLayout<UInt64>.stride)
  }

  /// What comes only after the layout.
  var laterParts: Amount { batches + waitingBatches + calendars + windows }

  var figures: MemoryModel.Figures {
    var tables = 0
    if !plan.events.isRegular { tables += MemoryLayout<PendingEvents>.stride }
    if plan.tables.triggers { tables += MemoryLayout<TriggerPlan>.stride }
    if plan.tables.restarts { tables += MemoryLayout<RestartPlan>.stride }
    if plan.tables.worlds { tables += MemoryLayout<WorldPlan>.stride }
    return [
      (.deviceRecords, Amount(devices * Double(DeviceRows.rowBytes))),
      (.deviceTables, Amount(devices * Double(tables))),
      (.gateTables, Amount(devices * Double(cohort.gates.bytesPerDevice))),
      (.batches, batches),
      (.waitingBatches, waitingBatches),
      (.calendars, calendars),
      (.windows, windows),
      (.metrics, metrics),
    ]
  }

  /// Counters are written from end to end, times to delivery where there are any.
  private var metrics: Amount {
    let fixed =
      rows * Double(IntervalCounters<DeviceSide>.bytesPerRow)
      + Double(Histogram.bucketCount * MemoryLayout<Int64>.stride + MemoryLayout<CohortPlan>.stride)
    let touched = Self.touchedDeliveries(rows: rows, created: devices * rate * duration / Double(shards))
    let reserved = rows * Double(IntervalDeliveries.bytesPerRow)
    return Amount(fixed + touched, atMost: fixed + reserved) * shards
  }

  /// A page for each delivery until the whole table is touched.
  static func touchedDeliveries(rows: Double, created: Double) -> Double {
    min(rows * Double(IntervalDeliveries.bytesPerRow), created * 4_096)
  }
}
