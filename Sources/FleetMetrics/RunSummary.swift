/// One row of `summary.csv`: what a run comes to, as defined in definitions.md. Spans in microseconds; nil prints empty.
public struct RunSummary: Measured, Hashable {
  /// The variant's name: `full`, or `scenario` for a plain run.
  public var run: String
  public var seed: UInt64
  public var devices: Int64 = 0
  /// One of so many devices and requests was simulated: what people read of counts is so many times as much.
  public var scale: Int64 = 1
  public var duration: Int64 = 0
  public var totals = MeasureTotals()
  /// Attempts per batch settled.
  public var amplification: Double?
  public var acceptedUnconfirmedEvents: Int64 = 0
  /// Largest offered load of any 1 s window (100 ms steps) divided by nominal capacity.
  public var peakOfferedRatio: Double?
  /// `peakOfferedRatio` from the end of an incident on; nil without incidents.
  public var herdFactor: Double?
  /// Seconds' worth of nominal capacity that the offered load was above it.
  public var excessLoadSeconds: Double?
  /// Whole seconds in which the offered load was above nominal capacity.
  public var secondsAboveCapacity: Int64 = 0
  /// Seconds' worth of capacity unused outside outages while the backlog was above the twin's by more than 10 %.
  public var idleWhileBackloggedSeconds: Double?
  /// The health of the fleet, judged by the twin, the run without incidents.
  public var baseline = BaselineHealth()
  /// From the end of the last incident until the fleet has caught up with what was possible; nil: never (or no incident).
  public var recoveryTime: Int64?
  public var drainedTime: Int64?
  /// From the last incident's end until the server turns nobody away, but for strays; nil: never.
  public var healthyTime: Int64?
  /// From the last incident's end until an ideal run's server has served all who wait with an open app; nil: never, or not known.
  public var possibleTime: Int64?
  public var hasIncidents: Bool = false
  /// From the last incident's end to the end of the run, where recovery and drained times are censored.
  ///
  /// nil without incidents, and if the run ends too soon after them to see a recovery.
  public var recoveryHorizon: Int64?
  /// Whether the run ends too soon after an incident to see a recovery.
  package var endsTooSoon: Bool { hasIncidents && recoveryHorizon == nil }
  /// Whether the run goes on long enough behind an incident, and sees no recovery.
  package var neverRecovers: Bool { recoveryHorizon != nil && recoveryTime == nil }
  /// Events pending at the end that will be given up before they are sent again.
  public var doomedEvents: Int64 = 0
  /// The number of the other events pending at the end that could have been delivered.
  public var lateEvents: Int64 = 0
  /// The number of events created from each incident's start until any client could have caught up, the next begins, or the run
  /// ends: the affected events. Without an incident all are; without an ideal run those until the incidents' end are.
  public var affectedEvents: Int64 = 0
  /// nil: longer than `affectedHorizon`.
  public var affectedDeliveryP50: Int64?
  public var affectedDeliveryP90: Int64?
  public var affectedDeliveryP99: Int64?
  /// Of the affected events in the ideal run; nil: longer, or not known.
  public var idealDeliveryP50: Int64?
  public var idealDeliveryP90: Int64?
  public var idealDeliveryP99: Int64?
  /// How long the first of the affected events could be watched.
  public var affectedHorizon: Int64 = 0
  public var timeToDeliveryMean: Double?
  public var timeToDeliveryP50: Int64?
  public var timeToDeliveryP90: Int64?
  public var timeToDeliveryP95: Int64?
  public var timeToDeliveryP99: Int64?
  public var timeToDeliveryP999: Int64?
  public var timeToDeliveryMax: Int64?
  /// Attempts more than the twin's, over the run.
  public var attemptsAboveTwinPerDevice: Double = 0
  public var cost = DeviceDayCost()
  /// By cohort, in the fleet's order; empty of a run that was read from a file without them.
  public var cohorts: [CohortLosses] = []

  public init(run: String, seed: UInt64) {
    self.run = run
    self.seed = seed
  }

  public subscript(measure: Measure) -> Int64 {
    get { totals[measure] }
    set { totals[measure] = newValue }
  }

  /// The percentile by which delivery of the affected events is judged: the highest of 50, 90 and 99 that the ideal run reaches
  /// within the run. Where that is not known, 99.
  public var judgedPercent: Int {
    if idealDeliveryP99 != nil || idealDeliveryP50 == nil { return 99 }
    return idealDeliveryP90 != nil ? 90 : 50
  }
  /// nil: longer than `affectedHorizon`.
  public var judgedDelivery: Int64? {
    switch judgedPercent {
    case 50: affectedDeliveryP50
    case 90: affectedDeliveryP90
    default: affectedDeliveryP99
    }
  }

  public var baselineIsHealthy: Bool { baseline.isHealthy }
  /// Neither accepted, dropped nor blocked when the run ended.
  public var pendingEvents: Int64 { self[.backlogEvents] }
  /// A count of the run as people read it: that of the whole fleet.
  public func fullSize(_ count: Int64) -> Int64 {
    let (product, overflow) = count.multipliedReportingOverflow(by: scale)
    return overflow ? .max : product
  }
  /// Lost, blocked, doomed or late: what an engineer has to answer for.
  public var undeliveredEvents: Int64 { lostOrBlockedEvents + lateEvents }
}

extension Sequence<RunSummary> {
  /// Their `scale`; 1 of runs of several scales: counts of those are compared as they were simulated.
  package var commonScale: Int64 {
    let scales = Set(map(\.scale))
    return scales.count == 1 ? scales.first ?? 1 : 1
  }
}
