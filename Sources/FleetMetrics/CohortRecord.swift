/// What became of one cohort's events.
public struct CohortRecord: Measured, Hashable {
  public var name: String
  public var devices: Int64
  /// Sent by the devices, whether or not they reached the server.
  public var uploads: Int64 = 0
  public var totals = MeasureTotals()
  public var devicesThatLostEvents: Int64 = 0
  /// Of the delivered events, microseconds; nil where there is none.
  public var timeToDeliveryP50: Int64?
  public var timeToDeliveryP95: Int64?
  public var timeToDeliveryP99: Int64?
  public var timeToDeliveryMax: Int64?
  /// Interactive, background; empty without priority lanes.
  public var lanes: [Lane] = []

  /// What became of one lane's events.
  public struct Lane: Sendable, Hashable {
    public var deliveredEvents: Int64
    /// Microseconds; nil where there is none.
    public var timeToDeliveryMean: Double?
    public var timeToDeliveryP50: Int64?
    public var timeToDeliveryP99: Int64?

    public init(_ deliveries: Histogram) {
      deliveredEvents = deliveries.total
      guard deliveries.total > 0 else { return }
      timeToDeliveryMean = deliveries.mean
      timeToDeliveryP50 = deliveries.quantile(50, of: 100)
      timeToDeliveryP99 = deliveries.quantile(99, of: 100)
    }
  }

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
      .init("lost_events_ratio", "1", "The same, divided by the events created.") {
        let created = $0[.createdEvents]
        return .decimal(created > 0 ? Double($0.lostEvents) / Double(created) : nil, decimals: 6)
      },
    ] + measures(.acceptedAfterDropEvents, .settledOldEvents) + [
      .init("pending_events", "events", "Events neither accepted nor dropped when the run ended.") {
        .integer($0.openEvents)
      },
      .init(
        "devices_that_lost_events_ratio", "1", "Share of the cohort's devices that lost at least one event."
      ) {
        .decimal(Double($0.devicesThatLostEvents) / Double(max($0.devices, 1)), decimals: 6)
      },
      .init("time_to_delivery_p50_s", "s", "Creation to first acceptance, over the delivered events: median.")
      {
        .seconds($0.timeToDeliveryP50)
      },
      .init("time_to_delivery_p99_s", "s", "The same, 99th percentile.") { .seconds($0.timeToDeliveryP99) },
      .init("time_to_delivery_max_s", "s", "The same, largest value, exact.") {
        .seconds($0.timeToDeliveryMax)
      },
    ] + measures(.refusedByGate) + [
      .init("time_to_delivery_p95_s", "s", "Time to delivery of the delivered events, 95th percentile.") {
        .seconds($0.timeToDeliveryP95)
      }
    ] + lane(0, "interactive") + lane(1, "background")

  private static func lane(_ index: Int, _ name: String) -> [CSVColumn<CohortRecord>] {
    @Sendable func value(_ cohort: CohortRecord) -> CohortRecord.Lane? {
      cohort.lanes.indices.contains(index) ? cohort.lanes[index] : nil
    }
    return [
      .init(
        "\(name)_delivered_events", "events",
        "Delivered events of the \(name) lane (gates.lanes); empty without lanes."
      ) { value($0).map { .integer($0.deliveredEvents) } ?? .text("") },
      .init("\(name)_delivery_mean_s", "s", "Their time to delivery: mean.") {
        .decimal(value($0)?.timeToDeliveryMean.map { $0 / 1e6 }, decimals: 6)
      },
      .init("\(name)_delivery_p50_s", "s", "The same, median.") { .seconds(value($0)?.timeToDeliveryP50) },
      .init("\(name)_delivery_p99_s", "s", "The same, 99th percentile.") {
        .seconds(value($0)?.timeToDeliveryP99)
      },
    ]
  }

  private static func measures(_ first: Measure, _ last: Measure? = nil) -> [CSVColumn<CohortRecord>] {
    Measure.declared(in: .cohorts, first, last).map { $0.totalColumn() }
  }

  /// The whole file.
  public static func bytes(of cohorts: [CohortRecord]) -> [UInt8] { CSVFile.bytes(columns, cohorts) }
}
