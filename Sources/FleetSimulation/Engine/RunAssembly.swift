import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// Puts the shards' and the server's counts together into the record of a run.
package struct RunAssembly: ~Copyable {
  private let scenario: Scenario
  private let counters: IntervalCounters<DeviceSide>
  private var deliveryTables: [DeliveryTable.Part] = []
  private var longWaits: [DeliveryTable.Part] = []
  private var deliveries = Histogram()
  private var unconfirmed: Int64 = 0
  private var reachedRetryLimit = false
  private var cost = CostSamples()
  private var cohorts: [CohortRecord] = []
  /// The deliveries of the latest cohort.
  private var cohortDeliveries = Histogram()
  private var laneDeliveries: [Histogram] = []
  private var settings = SideSeries<SettingsCount>()

  package static func rowCount(_ scenario: Scenario) -> Int {
    let interval = scenario.interval.microseconds
    return Int((scenario.duration.microseconds + interval - 1) / interval)
  }

  /// Tenths of a second of the run, a part of one counts.
  static func tenthCount(_ scenario: Scenario) -> Int {
    Int((scenario.duration.microseconds + 99_999) / 100_000)
  }

  package init(_ scenario: Scenario) {
    self.scenario = scenario
    counters = IntervalCounters(rows: Self.rowCount(scenario))
  }

  /// The shard must live until `record` has returned. Shards come cohort by cohort.
  ///
  /// - Parameter held: at the end of the run; nil: what the shard's devices hold.
  package mutating func add(
    _ shard: borrowing DeviceShard, held: DeviceShard.HeldEvents? = nil, cohort: Cohort
  ) {
    shard.ledger.merge(into: counters)
    deliveryTables += shard.ledger.deliveryTables
    shard.ledger.addLongWaits(to: &longWaits)
    settings.merge(shard.ledger.settings)
    shard.ledger.mergeDeliveries(into: &deliveries)
    let held = held ?? shard.heldEvents
    unconfirmed += held.acceptedUnconfirmed
    if shard.ledger.reachedRetryLimit { reachedRetryLimit = true }
    let losers = cost.devicesThatLostEvents
    cost.add(shard.devices, shard.pages, cohort)
    if cohorts.last?.name != cohort.name {
      cohorts.append(CohortRecord(name: cohort.name, devices: Int64(cohort.devices)))
      cohortDeliveries = Histogram()
      laneDeliveries = shard.ledger.laneDeliveries
    } else {
      for lane in laneDeliveries.indices { laneDeliveries[lane].merge(shard.ledger.laneDeliveries[lane]) }
    }
    shard.ledger.mergeDeliveries(into: &cohortDeliveries)
    let last = cohorts.count - 1
    shard.ledger.add(to: &cohorts[last].totals)
    cohorts[last].uploads += shard.ledger.attempts
    cohorts[last].devicesThatLostEvents += cost.devicesThatLostEvents - losers
    cohorts[last].pending += held.pending
    for (measure, count) in held.doomed { cohorts[last].doomed[measure, default: 0] += count }
    cohorts[last].setTimesToDelivery(cohortDeliveries)
    cohorts[last].lanes = laneDeliveries
  }

  package consuming func record(_ front: borrowing ServerFront) -> RunRecord {
    let (number, interval) = (Self.rowCount(scenario), scenario.interval.microseconds)
    let settings = scenario.tapi.settings == nil ? [] : settings.rows(number, interval: interval)
    var record = self.record(
      front.counters, offeredPer100ms: front.offeredPer100ms, capacity: front.server.capacityHistory,
      workersWaitingSince: front.server.waitingSince)
    record.settings = settings
    record.connections =
      front.server.connectionCounts(before: .start + Span(microseconds: record.series.duration))
      .map { $0.rows(number, interval: interval) } ?? []
    record.proxies = front.proxies.map { $0.pointee.counts.rows(number, interval: interval) } ?? []
    return record
  }

  /// - Parameters:
  ///   - server: what was counted at the server's door.
  ///   - capacity: how its capacity changed by its own doing.
  ///   - workersWaitingSince: of workers that wait for their dependency when the run ends.
  consuming func record(
    _ server: borrowing IntervalCounters<ServerSide>, offeredPer100ms: [UInt32],
    capacity: [(time: Instant, scale: Int64)], workersWaitingSince: [Instant]
  ) -> RunRecord {
    let timeline = IncidentTimeline(scenario.tapi)
    let nominal = NormalLoad(scenario).nominalCapacityMilli
    var series = TimeSeries(
      interval: scenario.interval.microseconds, duration: scenario.duration.microseconds, rows: counters.rows)
    series.take(counters)
    series.take(server)
    let deliveryTable = DeliveryTable(sumOf: deliveryTables, rows: counters.rows)
    let waitingSince = workersWaitingSince.sorted()
    var waiting = 0
    var open: Int64 = 0
    var heldBatches: Int64 = 0
    for index in 0..<counters.rows {
      open += series.rows[index].openEvents
      heldBatches += series[index, .sealedBatches] - series[index, .settledBatches]
      series[index, .backlogEvents] = open
      series[index, .backlogBatches] = heldBatches
      let start = Instant(microseconds: series.start(of: index))
      let stop = start + Span(microseconds: series.length(of: index))
      let nominalMicroseconds = Self.sum(of: capacity, from: start, to: stop) {
        timeline.capacityMicroseconds(from: $0, to: $1, autoscaled: $2)
      }
      series[index, .capacityMilliRequests] = Self.saturating(
        nominal, times: nominalMicroseconds, over: 1_000_000)
      switch scenario.tapi.server {
      case .bucket(let bucket):
        series[index, .availableMicroseconds] = nominalMicroseconds
        // Only admitted requests are answered 2xx at a bucket.
        series[index, .busyMicroseconds] =
          bucket.costPerEvent > 0
          ? Self.saturating(
            series[index, .busyMicroseconds], times: 1_000,
            over: max(bucket.capacityMilliRequestsPerSecond, 1))
          : Self.saturating(series[index, .answers2xx], times: 1_000_000_000, over: max(nominal, 1))
      case .workers(let workers):
        series[index, .busyMicroseconds] += Int64(waiting) * series.length(of: index)
        while waiting < waitingSince.count, waitingSince[waiting] < stop {
          series[index, .busyMicroseconds] += (stop - waitingSince[waiting]).microseconds
          waiting += 1
        }
        series[index, .availableMicroseconds] =
          nominalMicroseconds == 0
          ? 0
          : Self.saturating(
            Int64(workers.count),
            times: Self.sum(of: capacity, from: start, to: stop) {
              timeline.scaledMicroseconds(from: $0, to: $1, autoscaled: $2)
            },
            over: 1)
      }
      if let percentiles = deliveryTable.percentiles([50, 95, 99], row: index) {
        series[index, .timeToDeliveryP50] = percentiles[0]
        series[index, .timeToDeliveryP95] = percentiles[1]
        series[index, .timeToDeliveryP99] = percentiles[2]
      }
    }
    var record = RunRecord(
      series: series, deliveries: deliveries, offeredPer100ms: offeredPer100ms,
      nominalCapacityMilli: nominal, incidents: scenario.incidentSpans,
      devices: Int64(scenario.fleet.reduce(0) { $0 + $1.devices }),
      longestFlushInterval: scenario.fleet.compactMap { $0.flush.interval?.microseconds }.max() ?? 0,
      cost: cost.summary, acceptedUnconfirmedEvents: unconfirmed)
    record.deliveryTable = deliveryTable
    record.longWaits = DeliveryTable(sumOf: longWaits, rows: counters.rows)
    record.synchronyPeriod = scenario.synchronyPeriod?.microseconds ?? 0
    record.actions = scenario.actionSpans
    record.cohorts = cohorts
    record.doomedEvents = cohorts.reduce(0) { $0 + $1.doomedEvents }
    record.reachedRetryLimit = reachedRetryLimit
    record.servesNewestFirst = scenario.tapi.server.servesNewestFirst
    record.refusesByOther4xx = scenario.tapi.refusesByOther4xx
    return record
  }

  /// `value` · `factor` / `divisor`, rounded down; the largest number where that is more. None is negative.
  static func saturating(_ value: Int64, times factor: Int64, over divisor: Int64) -> Int64 {
    Int64(clamping: Int128(value) * Int128(factor) / Int128(divisor))
  }
}

extension Scenario {
  /// How what operators do is labelled and shaded.
  var actionSpans: [IncidentSpan] {
    let end = Instant.start + duration
    return zip(tapi.actions, tapi.actions.ends).map { action, over in
      IncidentSpan(action.kind.wording.label, from: action.start, to: min(over, max(end, action.start)))
    }
      + fleet.compactMap { cohort in
        cohort.publication.map {
          IncidentSpan("Settings for \(cohort.name)", from: $0.time, to: $0.time)
        }
      }
  }
}

extension Cohort {
  /// The Settings that an action publishes.
  var publication: SettingsRollout? { rollout.flatMap { $0.isAction ? $0 : nil } }
}

extension RunAssembly {
  /// The sum of `part` over [`from`, `to`), each piece by the capacity that held.
  /// - Parameter steps: an autoscaler's capacity, in parts per million of the configured one.
  private static func sum(
    of steps: [(time: Instant, scale: Int64)], from: Instant, to: Instant,
    _ part: (Instant, Instant, _ scale: Int64) -> Int64
  ) -> Int64 {
    if steps.count < 2 { return part(from, to, 1_000_000) }
    var next = max(partitionPoint(of: steps.count) { steps[$0].time <= from }, 1)
    var sum: Int64 = 0
    var start = from
    while start < to {
      let stop = next < steps.count ? min(steps[next].time, to) : to
      sum += part(start, stop, steps[next - 1].scale)
      start = stop
      next += 1
    }
    return sum
  }
}

/// The figures of each device: read off the shards' records, which are counted in place.
struct CostSamples {
  /// A shard's records; whoever owns them keeps them until `summary` has been asked for.
  private struct Source {
    var rows: DeviceRows
    var pages: UnsafeMutablePointer<BrowserDevice>?
    var eventBytes: Int64
    var requestBytes: Int64

    @inline(__always)
    func value(_ figure: DeviceFigure, _ device: DeviceIndex) -> Int64 {
      let record = rows[device]
      switch figure {
      case .attempts: return record.pointee.attempts
      case .radioWakeUps: return record.pointee.radioWakeUps
      case .devicesThatLostEvents: return record.pointee.flags.contains(.lostEvents) ? 1 : 0
      case .bytes:
        let events = saturatingProduct(record.pointee.sentEvents, eventBytes)
        return saturatingSum(events, record.pointee.attempts &* requestBytes)
      case .polls: return pages.map { Int64(clamping: $0[device.place].polls) } ?? 0
      }
    }
  }

  private var sources: [Source] = []
  private var devices: Int64 = 0
  private var cost = DeviceCost()
  private var largest = DeviceFigures<Int64>(repeating: 0)

  /// So far.
  var devicesThatLostEvents: Int64 { cost.total[.devicesThatLostEvents] }

  /// O(devices).
  mutating func add(_ rows: DeviceRows, _ pages: UnsafeMutablePointer<BrowserDevice>?, _ cohort: Cohort) {
    let source = Source(
      rows: rows, pages: pages, eventBytes: Int64(cohort.eventBytes), requestBytes: Int64(cohort.requestBytes)
    )
    for figure in DeviceFigure.allCases {
      var (total, largest) = (cost.total[figure], largest[figure])
      for device in rows.indices {
        let value = source.value(figure, device)
        total = saturatingSum(total, value)
        largest = max(largest, value)
      }
      (cost.total[figure], self.largest[figure]) = (total, largest)
    }
    sources.append(source)
    devices += Int64(rows.count)
  }

  /// For each figure a pass over the devices, more only for those of which a device has 65,536 or more.
  var summary: DeviceCost {
    var summary = cost
    if devices == 0 { return summary }
    for figure in DeviceFigure.allCases where !figure.isShare {
      var search = RankSearch(rank: (devices * 99 + 99) / 100, largest: largest[figure])
      while search.result == nil {
        for source in sources {
          for device in source.rows.indices { search.see(source.value(figure, device)) }
        }
        search.endPass()
      }
      summary.percentile99[figure] = search.result ?? 0
    }
    return summary
  }
}
