import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// Puts the shards' and the server's counts together into the record of a run.
package struct RunAssembly: ~Copyable {
  private let scenario: Scenario
  private let counters: IntervalCounters<DeviceCounter>
  private let intervalDeliveries: IntervalDeliveries
  private var deliveries = Histogram()
  private var unconfirmed: Int64 = 0
  private var cost = CostSamples()
  private var cohorts: [CohortRecord] = []
  /// Of the latest cohort.
  private var cohortDeliveries = Histogram()

  package static func rowCount(_ scenario: Scenario) -> Int {
    let interval = scenario.interval.microseconds
    return Int((scenario.duration.microseconds + interval - 1) / interval)
  }

  package init(_ scenario: Scenario) {
    self.scenario = scenario
    counters = IntervalCounters(rows: Self.rowCount(scenario))
    intervalDeliveries = IntervalDeliveries(rows: Self.rowCount(scenario))
  }

  /// The shard must live until `record` has returned. Shards come cohort by cohort.
  package mutating func add(_ shard: borrowing DeviceShard, cohort: Cohort) {
    shard.counters.merge(into: counters)
    shard.intervalDeliveries.merge(into: intervalDeliveries)
    shard.deliveries.merge(into: &deliveries, sums: shard.counters)
    unconfirmed += shard.acceptedUnconfirmedEvents
    let losers = cost.devicesThatLostEvents
    cost.add(shard.devices, cohort)
    if cohorts.last?.name != cohort.name {
      cohorts.append(CohortRecord(name: cohort.name, devices: Int64(cohort.devices)))
      cohortDeliveries = Histogram()
    }
    shard.deliveries.merge(into: &cohortDeliveries, sums: shard.counters)
    let last = cohorts.count - 1
    cohorts[last].add(shard.counters)
    cohorts[last].attempts += shard.attempts
    cohorts[last].devicesThatLostEvents += cost.devicesThatLostEvents - losers
    cohorts[last].setTimesToDelivery(cohortDeliveries)
  }

  package consuming func record(_ front: borrowing ServerFront) -> RunRecord {
    let timeline = IncidentTimeline(scenario.tapi.incidents)
    let nominal = NormalLoad(scenario).nominalCapacityMilli
    let capacity = CapacityHistory(front.capacityHistory)
    var series = TimeSeries(
      interval: scenario.interval.microseconds, duration: scenario.duration.microseconds, rows: [])
    series.rows.reserveCapacity(counters.rows)
    var gauges = Gauges()
    for index in 0..<counters.rows {
      let start = Instant(microseconds: series.start(of: index))
      let stop = start + Span(microseconds: series.length(of: index))
      var row = TimeSeries.Row()
      deviceColumns(&row, index)
      serverColumns(&row, index, front)
      gauges.advance(&row, index, counters, front.counters)
      let nominalMicroseconds = capacity.sum(from: start, to: stop) {
        timeline.capacityMicroseconds(from: $0, to: $1)
      }
      row.capacityMilliRequests = Self.saturating(nominal, times: nominalMicroseconds, over: 1_000_000)
      switch scenario.tapi.server {
      case .bucket(let bucket):
        row.availableMicroseconds = nominalMicroseconds
        // Only admitted requests are answered 2xx at a bucket.
        row.busyMicroseconds = Self.saturating(
          row.answers2xx, times: 1_000_000_000, over: max(nominal, 1))
        if bucket.costPerEvent > 0 {
          row.busyMicroseconds = Self.saturating(
            front.counters[index, .busyMicroseconds], times: 1_000,
            over: max(bucket.capacityMilliRequestsPerSecond, 1))
        }
      case .workers(let workers):
        row.busyMicroseconds = front.counters[index, .busyMicroseconds]
        row.availableMicroseconds =
          nominalMicroseconds == 0
          ? 0
          : Self.saturating(
            Int64(workers.count), times: capacity.sum(from: start, to: stop) { ($1 - $0).microseconds },
            over: 1)
      }
      let percentiles = intervalDeliveries.percentiles([50, 99], row: index)
      row.timeToDeliveryP50 = percentiles[0]
      row.timeToDeliveryP99 = percentiles[1]
      series.rows.append(row)
    }
    var end = EndState()
    end.acceptedUnconfirmedEvents = unconfirmed
    end.pendingEvents = series.rows.last?.backlogEvents ?? 0
    end.sealedBatches = gauges.sealed
    end.settledBatches = gauges.settled
    var record = RunRecord(
      series: series, deliveries: deliveries, offeredPer100ms: front.offeredPer100ms,
      nominalCapacityMilli: nominal, incidents: scenario.tapi.incidents.map(\.span),
      devices: Int64(scenario.fleet.reduce(0) { $0 + $1.devices }),
      longestFlushInterval: scenario.fleet.compactMap { $0.flush.interval?.microseconds }.max() ?? 0,
      cost: cost.summary, end: end)
    record.cohorts = cohorts
    return record
  }

  /// `value` · `factor` / `divisor`, rounded down; the largest number where that is more. None is negative.
  static func saturating(_ value: Int64, times factor: Int64, over divisor: Int64) -> Int64 {
    let (high, low) = value.magnitude.multipliedFullWidth(by: factor.magnitude)
    guard high < divisor.magnitude else { return .max }
    return Int64(clamping: divisor.magnitude.dividingFullWidth((high, low)).quotient)
  }

  private func deviceColumns(_ row: inout TimeSeries.Row, _ index: Int) {
    row.createdEvents = counters[index, .createdEvents]
    row.deliveredEvents = counters[index, .deliveredEvents]
    row.duplicateEvents = counters[index, .duplicateEvents]
    row.lostRequests = counters[index, .lostRequests]
    row.lostOnTheWayBack = counters[index, .lostOnTheWayBack]
    row.unknownOutcomes = counters[index, .unknownOutcomes]
    row.acceptedAfterDropEvents = counters[index, .acceptedAfterDropEvents]
    row.droppedByStatus = counters[index, .droppedByStatus]
    row.droppedByRetryLimit = counters[index, .droppedByRetryLimit]
    row.droppedByRateLimitRetryLimit = counters[index, .droppedByRateLimitRetryLimit]
    row.droppedByAge = counters[index, .droppedByAge]
    row.droppedByOverflow = counters[index, .droppedByOverflow]
    row.timeouts = counters[index, .timeouts]
    row.settledOldEvents = counters[index, .settledOldEvents]
    row.acceptedBatches = counters[index, .acceptedBatches]
    row.duplicateBatches = counters[index, .duplicateBatches]
    row.deduplicatedEvents = counters[index, .deduplicatedEvents]
    row.launches = counters[index, .launches]
    row.refusedByGate = counters[index, .refusedByGate]
    row.blockedEvents = counters[index, .blockedEvents]
    row.heldLoops = counters[index, .heldLoops]
    row.throttledRequests = counters[index, .throttledRequests]
    row.credentialRefreshes = counters[index, .credentialRefreshes]
    row.statusQueries = counters[index, .statusQueries]
    row.breakerOpenings = counters[index, .breakerOpenings]
    row.breakerOpenMicroseconds = counters[index, .breakerOpenMicroseconds]
    row.timeToDeliverySum = counters[index, .timeToDeliverySum]
  }

  private func serverColumns(_ row: inout TimeSeries.Row, _ index: Int, _ front: borrowing ServerFront) {
    row.firstAttempts = front.counters[index, .firstAttempts]
    row.retries = front.counters[index, .retries]
    row.answers2xx = front.counters[index, .answers2xx]
    row.answers429 = front.counters[index, .answers429]
    row.answers503 = front.counters[index, .answers503]
    row.answers4xxOther = front.counters[index, .answers4xxOther]
    row.answers5xxOther = front.counters[index, .answers5xxOther]
    row.unanswered = front.counters[index, .unanswered]
    row.keyLimited = front.counters[index, .keyLimited]
    row.shed = front.counters[index, .shed]
    row.unheardAnswers = front.counters[index, .unheardAnswers]
    row.lostAnswers = front.counters[index, .lostAnswers]
  }

  /// Gauges are sums of changes.
  private struct Gauges {
    var events: Int64 = 0
    var sealed: Int64 = 0
    var settled: Int64 = 0
    var waiting: Int64 = 0
    var inFlight: Int64 = 0
    var offline: Int64 = 0
    var queue: Int64 = 0

    mutating func advance(
      _ row: inout TimeSeries.Row, _ index: Int, _ devices: borrowing IntervalCounters<DeviceCounter>,
      _ server: borrowing IntervalCounters<ServerCounter>
    ) {
      events +=
        row.createdEvents - row.deliveredEvents - row.droppedEvents - row.blockedEvents
        + row.acceptedAfterDropEvents
      sealed += devices[index, .sealedBatches]
      settled += devices[index, .settledBatches]
      waiting += devices[index, .devicesWaitingChange]
      inFlight += devices[index, .inFlightChange]
      offline += devices[index, .offlineChange]
      queue += server[index, .queueChange]
      row.backlogEvents = events
      row.backlogBatches = sealed - settled
      row.devicesWaiting = waiting
      row.inFlight = inFlight
      row.offlineDevices = offline
      row.serverQueue = queue
    }
  }
}

extension Incident {
  /// How the incident is labelled and shaded.
  var span: IncidentSpan {
    switch kind {
    case .outage(let status, _, _):
      return IncidentSpan(
        label: status.map { "outage \($0)" } ?? "outage without answer", isOutage: true,
        start: start.microseconds, end: end.microseconds)
    case .cdnOutage:
      return IncidentSpan(
        label: "settings CDN down", isOutage: false, start: start.microseconds, end: end.microseconds)
    case .brownout(let factor):
      let tenths = (factor + 500) / 1_000
      return IncidentSpan(
        label: "brownout to \(tenths / 10).\(tenths % 10) %", isOutage: false, start: start.microseconds,
        end: end.microseconds)
    case .errors(let status, let share, _, _):
      return part("\(status) for \(Units.text(partsPerMillion: share))")
    case .lostAnswers(let share): return part("\(Units.text(partsPerMillion: share)) of answers lost")
    case .latency: return part("slow answers")
    case .tokenExpiry: return part("tokens expired")
    }
  }

  private func part(_ label: String) -> IncidentSpan {
    IncidentSpan(label: label, isOutage: false, start: start.microseconds, end: end.microseconds)
  }
}
