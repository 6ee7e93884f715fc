/// One row of `summary.csv`: what a run comes to, as defined in Definitions.md. Spans in microseconds; nil prints empty.
public struct RunSummary: Sendable, Hashable {
  /// The variant's name: `full`, or `scenario` for a plain run.
  public var run: String
  public var seed: UInt64
  public var devices: Int64 = 0
  public var duration: Int64 = 0
  public var attempts: Int64 = 0
  public var firstAttempts: Int64 = 0
  public var retries: Int64 = 0
  public var answers2xx: Int64 = 0
  public var answers429: Int64 = 0
  public var answers503: Int64 = 0
  public var answersOther: Int64 = 0
  public var unanswered: Int64 = 0
  public var timeouts: Int64 = 0
  public var batchesSettled: Int64 = 0
  /// Attempts per batch settled.
  public var amplification: Double?
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
  public var blockedEvents: Int64 = 0
  public var heldLoops: Int64 = 0
  public var throttledRequests: Int64 = 0
  public var credentialRefreshes: Int64 = 0
  public var statusQueries: Int64 = 0
  public var breakerOpenings: Int64 = 0
  /// Summed over devices.
  public var breakerOpenTime: Int64 = 0
  /// Of the 429s: refused by a limit of the tenant or device.
  public var keyLimited: Int64 = 0
  /// Refused after they had waited in the server's queue for too long.
  public var shed: Int64 = 0
  /// Answers that came after the client had given the upload up.
  public var unheardAnswers: Int64 = 0
  /// Of the 2xx: answers that an incident lost.
  public var lostAnswers: Int64 = 0
  /// Of the duplicate events: recognised by the server and not stored again.
  public var deduplicatedEvents: Int64 = 0
  public var networkLostRequests: Int64 = 0
  public var networkLostAnswers: Int64 = 0
  public var unknownOutcomes: Int64 = 0
  public var pendingEvents: Int64 = 0
  public var acceptedUnconfirmedEvents: Int64 = 0
  /// Dropped, and not accepted after all.
  public var lostEvents: Int64 {
    droppedByStatus + droppedByRetryLimit + droppedByRateLimitRetryLimit + droppedByAge + droppedByOverflow
      + refusedByGate - acceptedAfterDropEvents
  }
  /// Largest offered load of any 1 s window (100 ms steps) divided by nominal capacity.
  public var peakOfferedRatio: Double?
  /// The same from the end of an incident on; nil without incidents.
  public var herdFactor: Double?
  /// Whole seconds in which the offered load was above nominal capacity.
  public var secondsAboveCapacity: Int64 = 0
  /// Seconds' worth of capacity unused outside outages while the backlog was above the twin's by more than 10 %.
  public var idleWhileBackloggedSeconds: Double?
  /// Whether the twin run without incidents is healthy.
  public var baselineIsHealthy: Bool = true
  /// From the end of the last incident; nil: never (or no incident).
  public var recoveryTime: Int64?
  public var drainedTime: Int64?
  public var hasIncidents: Bool = false
  /// From the last incident's end to the end of the run, where recovery and drained times are censored; nil without
  /// incidents.
  public var recoveryHorizon: Int64?
  public var timeToDeliveryMean: Double?
  public var timeToDeliveryP50: Int64?
  public var timeToDeliveryP90: Int64?
  public var timeToDeliveryP99: Int64?
  public var timeToDeliveryP999: Int64?
  public var timeToDeliveryMax: Int64?
  // Cost, per device and day.
  public var attemptsPerDeviceDay: Double = 0
  public var attemptsPerDeviceDayP99: Double = 0
  public var bytesPerDeviceDay: Double = 0
  public var bytesPerDeviceDayP99: Double = 0
  public var radioWakeUpsPerDeviceDay: Double = 0
  public var radioWakeUpsPerDeviceDayP99: Double = 0
  public var devicesThatLostEventsShare: Double = 0

  public init(run: String, seed: UInt64) {
    self.run = run
    self.seed = seed
  }
}
