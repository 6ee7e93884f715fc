/// What became of one cohort's events.
public struct CohortRecord: Sendable, Hashable {
  public var name: String
  public var devices: Int64
  /// Uploads sent.
  public var attempts: Int64 = 0
  public var createdEvents: Int64 = 0
  public var deliveredEvents: Int64 = 0
  public var duplicateEvents: Int64 = 0
  public var acceptedAfterDropEvents: Int64 = 0
  public var droppedByStatus: Int64 = 0
  public var droppedByRetryLimit: Int64 = 0
  public var droppedByRateLimitRetryLimit: Int64 = 0
  public var droppedByAge: Int64 = 0
  public var droppedByOverflow: Int64 = 0
  public var refusedByGate: Int64 = 0
  public var devicesThatLostEvents: Int64 = 0
  /// Of the delivered events, microseconds; nil where there is none.
  public var timeToDeliveryP50: Int64?
  public var timeToDeliveryP99: Int64?
  public var timeToDeliveryMax: Int64?

  /// Given up but kept by their device with a reason.
  public var blockedEvents: Int64 = 0

  public init(name: String, devices: Int64) {
    self.name = name
    self.devices = devices
  }

  /// Dropped, and not accepted after all.
  public var lostEvents: Int64 {
    droppedByStatus + droppedByRetryLimit + droppedByRateLimitRetryLimit + droppedByAge + droppedByOverflow
      + refusedByGate - acceptedAfterDropEvents
  }

  /// Neither accepted, dropped nor blocked when the run ended.
  public var pendingEvents: Int64 { createdEvents - deliveredEvents - lostEvents - blockedEvents }

  /// Adds what a part of the cohort's devices counted.
  public mutating func add(_ counters: borrowing IntervalCounters<DeviceCounter>) {
    for row in 0..<counters.rows {
      createdEvents += counters[row, .createdEvents]
      blockedEvents += counters[row, .blockedEvents]
      deliveredEvents += counters[row, .deliveredEvents]
      duplicateEvents += counters[row, .duplicateEvents]
      acceptedAfterDropEvents += counters[row, .acceptedAfterDropEvents]
      droppedByStatus += counters[row, .droppedByStatus]
      droppedByRetryLimit += counters[row, .droppedByRetryLimit]
      droppedByRateLimitRetryLimit += counters[row, .droppedByRateLimitRetryLimit]
      droppedByAge += counters[row, .droppedByAge]
      droppedByOverflow += counters[row, .droppedByOverflow]
      refusedByGate += counters[row, .refusedByGate]
    }
  }

  public mutating func setTimesToDelivery(_ histogram: Histogram) {
    guard histogram.total > 0 else { return }
    timeToDeliveryP50 = histogram.quantile(50, of: 100)
    timeToDeliveryP99 = histogram.quantile(99, of: 100)
    timeToDeliveryMax = histogram.maximum
  }
}

/// `cohorts.csv`: one row per cohort, for fleets of several.
public enum CohortCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<CohortRecord>] = [
    .init("cohort", "", "Name of the cohort.") { .text($0.name) },
    .init("devices", "devices", "Devices in the cohort.") { .integer($0.devices) },
    .init("attempts", "requests", "Uploads sent.") { .integer($0.attempts) },
    .init("created_events", "events", "Events created on the devices.") { .integer($0.createdEvents) },
    .init("delivered_events", "events", "Events accepted by the server at least once.") {
      .integer($0.deliveredEvents)
    },
    .init("duplicate_events", "events", "Events accepted once more.") { .integer($0.duplicateEvents) },
    .init("lost_events", "events", "Events dropped for whatever reason and not accepted after all.") {
      .integer($0.lostEvents)
    },
    .init("lost_events_ratio", "1", "The same, divided by the events created.") {
      .decimal($0.createdEvents > 0 ? Double($0.lostEvents) / Double($0.createdEvents) : nil, decimals: 6)
    },
    .init("dropped_by_status_events", "events", "Events dropped because of the answer's status.") {
      .integer($0.droppedByStatus)
    },
    .init("dropped_by_retry_limit_events", "events", "Events dropped at the batch's retry limit.") {
      .integer($0.droppedByRetryLimit)
    },
    .init(
      "dropped_by_rate_limit_retry_limit_events", "events", "Events dropped at the global (429) retry limit."
    ) { .integer($0.droppedByRateLimitRetryLimit) },
    .init(
      "dropped_by_age_events", "events", "Events dropped because their batch had been failing for too long."
    ) { .integer($0.droppedByAge) },
    .init("dropped_by_overflow_events", "events", "Events dropped because the device's queue was full.") {
      .integer($0.droppedByOverflow)
    },
    .init("pending_events", "events", "Events neither accepted nor dropped when the run ended.") {
      .integer($0.pendingEvents)
    },
    .init(
      "devices_that_lost_events_ratio", "1", "Share of the cohort's devices that lost at least one event."
    ) {
      .decimal(Double($0.devicesThatLostEvents) / Double(max($0.devices, 1)), decimals: 6)
    },
    .init("time_to_delivery_p50_s", "s", "Creation to first acceptance, over the delivered events: median.") {
      .seconds($0.timeToDeliveryP50)
    },
    .init("time_to_delivery_p99_s", "s", "The same, 99th percentile.") { .seconds($0.timeToDeliveryP99) },
    .init("time_to_delivery_max_s", "s", "The same, largest value, exact.") {
      .seconds($0.timeToDeliveryMax)
    },
    .init("refused_by_gate_events", "events", "Events dropped because a gate refused them (failure window).")
    {
      .integer($0.refusedByGate)
    },
  ]

  /// The whole file.
  public static func bytes(of cohorts: [CohortRecord]) -> [UInt8] { CSVFile.bytes(columns, cohorts) }
}
