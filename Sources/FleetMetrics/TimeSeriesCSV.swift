/// `timeseries.csv`: one row per interval.
public enum TimeSeriesCSV {
  /// A row of the series with its place in time.
  public struct Interval: Sendable {
    /// Microseconds since the start of the run.
    public var start: Int64
    /// Microseconds; the last interval may be cut by the end of the run.
    public var length: Int64
    public var row: TimeSeries.Row
  }

  /// The file's columns in order.
  public static let columns: [CSVColumn<Interval>] = basic + gates + serverRules + world

  private static let basic: [CSVColumn<Interval>] = [
    .init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) },
    .init(
      "capacity_rps", "requests/s",
      "What the server could have served: nominal capacity times the incidents' factors."
    ) {
      .rate($0.row.capacityMilliRequests, per: $0.length, unitsPerCount: 1_000)
    },
    .init(
      "offered_rps", "requests/s",
      "Upload attempts reaching the server (offered load): first attempts and retries."
    ) {
      .rate($0.row.offered, per: $0.length)
    },
    .init("first_attempts_rps", "requests/s", "Of the offered load: first attempts of a batch.") {
      .rate($0.row.firstAttempts, per: $0.length)
    },
    .init("retries_rps", "requests/s", "Of the offered load: all later attempts.") {
      .rate($0.row.retries, per: $0.length)
    },
    .init("goodput_rps", "batches/s", "Batches accepted for the first time.") {
      .rate($0.row.acceptedBatches, per: $0.length)
    },
    .init(
      "duplicate_batches", "batches",
      "Uploads accepted again although all of their events had been accepted before."
    ) {
      .integer($0.row.duplicateBatches)
    },
    .init("answers_2xx", "answers", "Answers given with a 2xx status.") { .integer($0.row.answers2xx) },
    .init("answers_429", "answers", "Answers given with status 429.") { .integer($0.row.answers429) },
    .init("answers_503", "answers", "Answers given with status 503.") { .integer($0.row.answers503) },
    .init("answers_4xx_other", "answers", "4xx answers other than 429.") { .integer($0.row.answers4xxOther) },
    .init("answers_5xx_other", "answers", "All remaining answers: neither 2xx, 4xx nor 503.") {
      .integer($0.row.answers5xxOther)
    },
    .init("unanswered_requests", "requests", "Requests that the server never answers.") {
      .integer($0.row.unanswered)
    },
    .init(
      "timed_out_requests", "requests", "Uploads that clients gave up waiting for."
    ) { .integer($0.row.timeouts) },
    .init(
      "utilisation_ratio", "1",
      "Share of the server's available time in use; a burst can take a bucket above 1."
    ) {
      DecimalText.rounded($0.row.busyMicroseconds, times: 1_000, over: $0.row.availableMicroseconds)
        .map { .fixed($0, decimals: 3) } ?? .empty
    },
    .init(
      "server_queue_requests", "requests", "Requests waiting in the server's queue at the interval's end."
    ) {
      .integer($0.row.serverQueue)
    },
    .init("created_events", "events", "Events created on the devices.") { .integer($0.row.createdEvents) },
    .init("delivered_events", "events", "Events at their first acceptance by the server.") {
      .integer($0.row.deliveredEvents)
    },
    .init("duplicate_events", "events", "Events accepted once more.") { .integer($0.row.duplicateEvents) },
    .init(
      "accepted_after_drop_events", "events",
      "Events delivered although the client had dropped them meanwhile."
    ) {
      .integer($0.row.acceptedAfterDropEvents)
    },
    .init("dropped_by_status_events", "events", "Events dropped because of the answer's status.") {
      .integer($0.row.droppedByStatus)
    },
    .init("dropped_by_retry_limit_events", "events", "Events dropped at the batch's retry limit.") {
      .integer($0.row.droppedByRetryLimit)
    },
    .init(
      "dropped_by_rate_limit_retry_limit_events", "events", "Events dropped at the global (429) retry limit."
    ) {
      .integer($0.row.droppedByRateLimitRetryLimit)
    },
    .init(
      "dropped_by_age_events", "events", "Events dropped because their batch had been failing for too long."
    ) {
      .integer($0.row.droppedByAge)
    },
    .init("dropped_by_overflow_events", "events", "Events dropped because the device's queue was full.") {
      .integer($0.row.droppedByOverflow)
    },
    .init(
      "settled_old_events", "events",
      "Of the events created before the last incident's end: delivered or dropped here."
    ) {
      .integer($0.row.settledOldEvents)
    },
    .init(
      "backlog_events", "events",
      "Events created and neither accepted, dropped nor blocked, at the interval's end."
    ) {
      .integer($0.row.backlogEvents)
    },
    .init("backlog_batches", "batches", "Sealed batches that the clients hold, at the interval's end.") {
      .integer($0.row.backlogBatches)
    },
    .init(
      "waiting_devices", "devices",
      "Devices that hold a batch and send nothing because of a wait, at the interval's end."
    ) {
      .integer($0.row.devicesWaiting)
    },
    .init(
      "in_flight_requests", "requests", "Uploads that a client has sent and waits for, at the interval's end."
    ) {
      .integer($0.row.inFlight)
    },
    .init(
      "time_to_delivery_mean_s", "s",
      "Mean time from creation to first acceptance, of the events accepted here; empty if there are none."
    ) {
      .seconds($0.row.deliveredEvents > 0 ? $0.row.timeToDeliverySum / $0.row.deliveredEvents : nil)
    },
    .init(
      "time_to_delivery_p50_s", "s",
      "Median of the same."
    ) {
      .seconds($0.row.timeToDeliveryP50)
    },
    .init("time_to_delivery_p99_s", "s", "99th percentile of the same.") {
      .seconds($0.row.timeToDeliveryP99)
    },
  ]

  private static let gates: [CSVColumn<Interval>] = [
    .init("refused_by_gate_events", "events", "Events dropped because a gate refused them (failure window).")
    {
      .integer($0.row.refusedByGate)
    },
    .init(
      "blocked_events", "events",
      "Events given up but kept by their device with a reason, waiting for somebody to do something."
    ) {
      .integer($0.row.blockedEvents)
    },
    .init("held_loops", "1", "Times that a gate held an upload loop back.") { .integer($0.row.heldLoops) },
    .init("throttled_requests", "requests", "Uploads rejected at the client by adaptive throttling.") {
      .integer($0.row.throttledRequests)
    },
    .init("breaker_openings", "1", "Times that a device's circuit breaker opened.") {
      .integer($0.row.breakerOpenings)
    },
  ]

  private static let world: [CSVColumn<Interval>] = [
    .init("offline_devices", "devices", "Devices without a network, at the interval's end.") {
      .integer($0.row.offlineDevices)
    },
    .init("network_lost_requests", "requests", "Requests that the network lost on their way to the server.") {
      .integer($0.row.lostRequests)
    },
    .init("network_lost_answers", "answers", "Uploads whose answer, if there is one, the network loses.") {
      .integer($0.row.lostOnTheWayBack)
    },
    .init(
      "unknown_outcomes", "requests",
      "Uploads that ended while the client could not know whether the server had got them."
    ) {
      .integer($0.row.unknownOutcomes)
    },
  ]

  /// The whole file.
  public static func bytes(of series: TimeSeries) -> [UInt8] {
    CSVFile.bytes(
      columns,
      series.rows.indices.lazy.map {
        Interval(start: series.start(of: $0), length: series.length(of: $0), row: series.rows[$0])
      })
  }

  /// Writes the whole file to `output`.
  public static func write(_ series: TimeSeries, to output: inout some TextOutputStream) {
    output.write(String(decoding: bytes(of: series), as: UTF8.self))
  }
}
