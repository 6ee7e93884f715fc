/// What one run did, interval by interval. Whole numbers only; rates are formed when a row is written or drawn.
public struct TimeSeries: Sendable, Hashable {
  /// Width of a row, microseconds. The last row may be cut by the end of the run.
  public var interval: Int64
  /// Length of the run, microseconds.
  public var duration: Int64
  public var rows: [Row]

  public init(interval: Int64, duration: Int64, rows: [Row]) {
    self.interval = interval
    self.duration = duration
    self.rows = rows
  }

  /// Start of row `index`, microseconds.
  public func start(of index: Int) -> Int64 { Int64(index) * interval }
  /// Length of row `index`, microseconds.
  public func length(of index: Int) -> Int64 { min(interval, duration - start(of: index)) }

  public struct Row: Sendable, Hashable {
    // The server's side, counted when it happens there.
    /// Requests that the server could have served: nominal capacity times the incident factors, in thousandths of a request.
    public var capacityMilliRequests: Int64 = 0
    /// Attempts reaching the server (offered load): first attempts of a batch, and retries.
    public var firstAttempts: Int64 = 0
    public var retries: Int64 = 0
    public var answers2xx: Int64 = 0
    public var answers429: Int64 = 0
    public var answers503: Int64 = 0
    /// 4xx other than 429; everything else that is neither 2xx nor 503.
    public var answers4xxOther: Int64 = 0
    public var answers5xxOther: Int64 = 0
    /// Requests that the server never answers.
    public var unanswered: Int64 = 0
    /// Batches accepted for the first time (goodput), in whole batches.
    public var acceptedBatches: Int64 = 0
    /// Uploads accepted again although all of their events had been accepted before.
    public var duplicateBatches: Int64 = 0
    /// Worker time used, or for a bucket the time its admitted requests are worth, microseconds.
    public var busyMicroseconds: Int64 = 0
    /// Worker time there was (W times the interval), or for a bucket the interval; microseconds.
    public var availableMicroseconds: Int64 = 0
    /// Requests in the server's queue at the end of the interval.
    public var serverQueue: Int64 = 0

    /// Of the 429s: refused by a limit of the tenant or of the device.
    public var keyLimited: Int64 = 0
    /// Answered with the overload answer after they had waited for too long.
    public var shed: Int64 = 0
    /// Answers that the client no longer waited for.
    public var unheardAnswers: Int64 = 0
    /// Of the 2xx: answers lost in an incident.
    public var lostAnswers: Int64 = 0
    /// Of the duplicate events: recognised by the server, and not stored again.
    public var deduplicatedEvents: Int64 = 0

    // The devices' side.
    public var createdEvents: Int64 = 0
    /// Events at their first acceptance, counted at the time of acceptance.
    public var deliveredEvents: Int64 = 0
    /// Events accepted once more.
    public var duplicateEvents: Int64 = 0
    /// Events delivered although the client had dropped them meanwhile: an earlier upload was accepted after all.
    public var acceptedAfterDropEvents: Int64 = 0
    public var droppedByStatus: Int64 = 0
    public var droppedByRetryLimit: Int64 = 0
    public var droppedByRateLimitRetryLimit: Int64 = 0
    public var droppedByAge: Int64 = 0
    public var droppedByOverflow: Int64 = 0
    /// Launches of the app in the run (each of them a restart).
    public var launches: Int64 = 0
    /// Uploads that clients gave up waiting for.
    public var timeouts: Int64 = 0
    /// Of the events created before the end of the last incident: how many were delivered or dropped in this interval.
    public var settledOldEvents: Int64 = 0
    public var refusedByGate: Int64 = 0
    /// Changes: what was blocked and then turns out to have been accepted counts backwards.
    public var blockedEvents: Int64 = 0
    public var heldLoops: Int64 = 0
    public var throttledRequests: Int64 = 0
    public var credentialRefreshes: Int64 = 0
    public var statusQueries: Int64 = 0
    public var breakerOpenings: Int64 = 0
    public var breakerOpenMicroseconds: Int64 = 0

    /// Requests that the network lost, and answers that it lost on their way back.
    public var lostRequests: Int64 = 0
    public var lostOnTheWayBack: Int64 = 0
    /// Uploads that ended while the client could not know whether the server had got them.
    public var unknownOutcomes: Int64 = 0

    // Gauges at the end of the interval.
    /// Events created and neither accepted nor dropped.
    public var backlogEvents: Int64 = 0
    /// Sealed batches that the clients still hold.
    public var backlogBatches: Int64 = 0
    /// Devices that hold a batch and upload nothing, because of a wait.
    public var devicesWaiting: Int64 = 0
    /// Uploads that a client has sent and waits for.
    public var inFlight: Int64 = 0
    /// Devices without a network.
    public var offlineDevices: Int64 = 0

    // Time to delivery of the events first accepted in this interval, microseconds; nil where there was none.
    /// Sum over those events, microseconds; 0 where there was none.
    public var timeToDeliverySum: Int64 = 0
    public var timeToDeliveryP50: Int64?
    public var timeToDeliveryP99: Int64?

    public init() {}

    public var offered: Int64 { firstAttempts + retries }
    public var droppedEvents: Int64 {
      droppedByStatus + droppedByRetryLimit + droppedByRateLimitRetryLimit + droppedByAge + droppedByOverflow
        + refusedByGate
    }
  }
}
