/// Everything measured in one run; what CSV files, reports and comparisons are made from.
public struct RunRecord: Sendable, Hashable {
  public var series: TimeSeries
  /// Time to delivery of every event of the run, microseconds.
  public var deliveries: Histogram
  /// Times to delivery by the interval of acceptance, within 1.6 %.
  public var deliveryTable = DeliveryTable()
  /// Of those after long waits once more, by the interval of creation (`LongWaits`).
  public var longWaits = DeliveryTable()
  /// Offered load in steps of 100 ms from the start of the run, attempts.
  public var offeredPer100ms: [UInt32]
  /// Nominal capacity, requests per second in thousandths.
  public var nominalCapacityMilli: Int64
  public var incidents: [IncidentSpan]
  /// The operators' actions, shown as incidents are.
  public var actions: [IncidentSpan] = []
  public var devices: Int64
  /// The longest flush interval of any cohort, microseconds; 0 if there is none.
  public var longestFlushInterval: Int64
  /// The flush interval of most devices, microseconds, in a fleet whose flush phases change; else 0. `Synchrony` is measured in it.
  public var synchronyPeriod: Int64 = 0
  public var cost: DeviceCost
  /// Events that the server had accepted when the run ended, but whose client did not know it.
  public var acceptedUnconfirmedEvents: Int64
  /// Events pending in closed apps when the run ended that their clients will give up before they send them again.
  public var doomedEvents: Int64 = 0
  /// Whether any batch was given up because it had been tried as often as its client's Settings allow. Not stored.
  public var reachedRetryLimit = false
  /// Whether a long queue at the server holds up the old and not the new. Not stored.
  public var servesNewestFirst = false
  /// Whether the server turns requests away by another 4xx than 429. Not stored.
  public var refusesByOther4xx = false
  /// Interval by interval; empty where connections cost nothing. Not stored.
  public var connections: [SideRow<ConnectionCount>] = []
  /// Interval by interval; empty where a fetch of Settings is no request. Not stored.
  public var settings: [SideRow<SettingsCount>] = []
  /// Interval by interval; empty without proxies. Not stored.
  public var proxies: [SideRow<ProxyCount>] = []
  /// In the fleet's order.
  public var cohorts: [CohortRecord] = []

  public init(
    series: TimeSeries, deliveries: Histogram, offeredPer100ms: [UInt32], nominalCapacityMilli: Int64,
    incidents: [IncidentSpan], devices: Int64, longestFlushInterval: Int64, cost: DeviceCost,
    acceptedUnconfirmedEvents: Int64 = 0
  ) {
    self.series = series
    self.deliveries = deliveries
    self.offeredPer100ms = offeredPer100ms
    self.nominalCapacityMilli = nominalCapacityMilli
    self.incidents = incidents
    self.devices = devices
    self.longestFlushInterval = longestFlushInterval
    self.cost = cost
    self.acceptedUnconfirmedEvents = acceptedUnconfirmedEvents
  }
}

extension RunRecord {
  /// The server never gets them: lost, blocked or doomed.
  public var lostOrBlockedEvents: Int64 { series.totals.lostOrBlockedEvents + doomedEvents }
}

/// The runs that a run is compared with: of the same scenario and seed (definitions.md, Recovery).
public struct ReferenceRuns: Sendable, Hashable {
  /// Without incidents.
  public var twin: RunRecord
  /// With the incidents, and clients that lose no time and no event; nil: there is no incident, or nobody has run it.
  public var ideal: RunRecord?

  public init(twin: RunRecord, ideal: RunRecord? = nil) {
    self.twin = twin
    self.ideal = ideal
  }
}

/// Where an incident lies on the timeline, for shading and for recovery.
public struct IncidentSpan: Sendable, Hashable {
  /// `outage 503`, `outage without answer`, `brownout × 0.5`.
  public var label: String
  public var isOutage: Bool
  public var start: Int64
  public var end: Int64
  public init(label: String, isOutage: Bool, start: Int64, end: Int64) {
    self.label = label
    self.isOutage = isOutage
    self.start = start
    self.end = end
  }

  /// The part of it that lies before `time`.
  public func cut(after time: Int64) -> IncidentSpan {
    IncidentSpan(label: label, isOutage: isOutage, start: min(start, time), end: min(end, time))
  }
}

/// The fate of one cohort's events.
public struct CohortRecord: Measured, Hashable {
  public var name: String
  public var devices: Int64
  /// Sent by the devices, whether or not they reached the server.
  public var uploads: Int64 = 0
  public var totals = MeasureTotals()
  public var devicesThatLostEvents: Int64 = 0
  /// The median time to delivery of the delivered events, microseconds; nil where there is none.
  public var timeToDeliveryP50: Int64?
  public var timeToDeliveryP95: Int64?
  public var timeToDeliveryP99: Int64?
  public var timeToDeliveryMax: Int64?
  /// Interactive, background; empty without priority lanes.
  public var lanes: [Histogram] = []
  /// Neither accepted nor given up when the run ended, by where they were.
  public var pending = EventsByPlace()
  /// The pending events that will be given up before they are sent again, by how.
  public var doomed: [Measure: Int64] = [:]
  public var doomedEvents: Int64 { doomed.values.reduce(0, +) }

  public init(name: String, devices: Int64) {
    self.name = name
    self.devices = devices
  }

  public subscript(measure: Measure) -> Int64 { totals[measure] }

  public mutating func setTimesToDelivery(_ histogram: Histogram) {
    guard histogram.total > 0 else { return }
    timeToDeliveryP50 = histogram.quantile(50, of: 100)
    timeToDeliveryP95 = histogram.quantile(95, of: 100)
    timeToDeliveryP99 = histogram.quantile(99, of: 100)
    timeToDeliveryMax = histogram.maximum
  }
}

/// `cohorts.csv`: one row per cohort, for fleets of several or with priority lanes.
public enum CohortCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<CohortRecord>] =
    [
      .init("cohort", "", "Name of the cohort.") { .text($0.name) },
      .init("devices", "devices", "Devices in the cohort.") { .integer($0.devices) },
      .init("attempts", "requests", "Uploads sent.") { .integer($0.uploads) },
    ] + measures(.createdEvents, .duplicateEvents) + [
      .init("lost_events", "events", "Events dropped for whatever reason and not accepted after all.") {
        .integer($0.lostEvents)
      },
      .init("lost_events_ratio", "1", "Lost events, divided by the events created.") {
        let created = $0[.createdEvents]
        return .decimal(created > 0 ? Double($0.lostEvents) / Double(created) : nil, decimals: 6)
      },
    ] + measures(.acceptedAfterDropEvents, .settledOldEvents) + [
      .init("pending_events", "events", "Events neither accepted, dropped nor blocked when the run ended.") {
        .integer($0.openEvents)
      },
      .init(
        "devices_that_lost_events_ratio", "1", "Share of devices that lost at least one event."
      ) {
        .decimal(Double($0.devicesThatLostEvents) / Double(max($0.devices, 1)), decimals: 6)
      },
      delivery("p50", "median, as all percentiles within 0.8 %") { $0.timeToDeliveryP50 },
      delivery("p99", "99th percentile") { $0.timeToDeliveryP99 },
      delivery("max", "maximum") { $0.timeToDeliveryMax },
    ] + measures(.refusedByGate) + [delivery("p95", "95th percentile") { $0.timeToDeliveryP95 }]
    + lane(0, "interactive") + lane(1, "background") + [.doomed, .lostOrBlocked]

  private static func delivery(
    _ name: String, _ statistic: String, _ time: @escaping @Sendable (CohortRecord) -> Int64?
  ) -> CSVColumn<CohortRecord> { .delivery(name, "over all delivered events: " + statistic, time) }

  private static func lane(_ index: Int, _ name: String) -> [CSVColumn<CohortRecord>] {
    @Sendable func value(_ cohort: CohortRecord) -> Histogram? {
      cohort.lanes.indices.contains(index) ? cohort.lanes[index] : nil
    }
    return [
      .init(
        "\(name)_delivered_events", "events",
        "Delivered events of the \(name) lane; empty without `gates.lanes`."
      ) { value($0).map { .integer($0.total) } ?? .text("") },
      .init("\(name)_delivery_mean_s", "s", "Their time to delivery in the \(name) lane: mean.") {
        .decimal(value($0)?.mean.map { $0 / 1e6 }, decimals: 6)
      },
      .init("\(name)_delivery_p50_s", "s", "Their time to delivery in the \(name) lane: median.") {
        .seconds(value($0)?.quantile(50, of: 100))
      },
      .init("\(name)_delivery_p99_s", "s", "Their time to delivery in the \(name) lane: 99th percentile.") {
        .seconds(value($0)?.quantile(99, of: 100))
      },
    ]
  }

  private static func measures(_ first: Measure, _ last: Measure? = nil) -> [CSVColumn<CohortRecord>] {
    Measure.declared(in: .cohorts, first, last).map { $0.totalColumn() }
  }

  /// The whole file.
  public static func bytes(of cohorts: [CohortRecord]) -> [UInt8] { CSVFile.bytes(columns, cohorts) }
}

extension RunRecord {
  /// Whether no upload of the run failed in any way that a client could notice, so that no retry was ever
  /// decided.
  package var sawNoFailure: Bool {
    series.rows.allSatisfy { row in
      row[.answers429] == 0 && row[.answers503] == 0 && row.answersOther == 0 && row[.unanswered] == 0
        && row[.timeouts] == 0 && row.droppedEvents == 0 && row[.retries] == 0
    }
  }
}
