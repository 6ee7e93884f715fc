/// Everything measured in one run; what CSV files, reports and comparisons are made from.
public struct RunRecord: Sendable, Hashable {
  public var series: TimeSeries
  /// Time to delivery of every event of the run, microseconds.
  public var deliveries: Histogram
  /// The same by the interval of acceptance, within 1.6 %.
  public var deliveryTable = DeliveryTable()
  /// Offered load in steps of 100 ms from the start of the run, attempts.
  public var offeredPer100ms: [UInt32]
  /// Nominal capacity, requests per second in thousandths.
  public var nominalCapacityMilli: Int64
  public var incidents: [IncidentSpan]
  /// What operators did, shown as incidents are.
  public var actions: [IncidentSpan] = []
  public var devices: Int64
  /// The longest flush interval of any cohort, microseconds; 0 if there is none.
  public var longestFlushInterval: Int64
  public var cost: DeviceCost
  /// Events that the server had accepted when the run ended, but whose client did not know it.
  public var acceptedUnconfirmedEvents: Int64
  /// Whether any batch was given up because it had been tried as often as its client's Settings allow. Not stored.
  public var reachedRetryLimit = false
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

/// What the fleet paid. Totals over the run; percentiles are over devices.
public struct DeviceCost: Sendable, Hashable {
  public var attempts: Int64 = 0
  public var bytes: Int64 = 0
  /// Transmissions after at least 10 s of silence of the device.
  public var radioWakeUps: Int64 = 0
  public var attemptsP99: Int64 = 0
  public var bytesP99: Int64 = 0
  public var radioWakeUpsP99: Int64 = 0
  public var devicesThatLostEvents: Int64 = 0
  public init() {}
}
