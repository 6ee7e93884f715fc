/// The measures of a run, interval by interval: the only list of them.
///
/// A new counter is a case here, an entry in `table` and a `counters.add` where it happens. The series, the totals, the stored
/// records, the CSV files' columns and their reference follow.
public enum Measure: Int, CaseIterable, Sendable {
  // The devices' side counts these, in this order in its table.
  case createdEvents, deliveredEvents, duplicateEvents, acceptedAfterDropEvents
  case droppedByStatus, droppedByRetryLimit, droppedByRateLimitRetryLimit, droppedByAge, droppedByOverflow
  case timeouts, settledOldEvents, acceptedBatches, duplicateBatches
  case timeToDeliverySum, launches
  case sealedBatches, settledBatches, devicesWaiting, inFlight
  case refusedByGate, lostWithPage, blockedEvents, heldLoops, throttledRequests, credentialRefreshes,
    statusQueries
  case breakerOpenings, breakerOpenMicroseconds
  case deduplicatedEvents
  case retriesAfterOther, retriesAfter429, retriesAfter5xx, retriesAfterNoAnswer
  case backoffMicroseconds
  case blockedByStatus, blockedByRetryLimit, blockedByRateLimitRetryLimit, blockedByAge
  case offlineDevices, networkLostRequests, networkLostAnswers, unknownOutcomes, closedAppEvents

  // The server's side counts these.
  case firstAttempts, retries, answers2xx, answers401, answers429, answers503, answers4xxOther,
    answers5xxOther, unanswered
  case busyMicroseconds, serverQueue
  case keyLimited, shed, unheardAnswers, lostAnswers
  case proxyRetries

  // These are formed when the record of a run is put together.
  case capacityMilliRequests, availableMicroseconds, backlogEvents, backlogBatches
  case timeToDeliveryP50, timeToDeliveryP95, timeToDeliveryP99

  package static let count = allCases.count

  /// The ways in which a client gives events up.
  public static let drops: [Measure] = [
    .droppedByStatus, .droppedByRetryLimit, .droppedByRateLimitRetryLimit, .droppedByAge, .droppedByOverflow,
    .refusedByGate, .lostWithPage,
  ]

  /// The measures of the server's answers, by status.
  public static let answers: [Measure] = [
    .answers2xx, .answers401, .answers429, .answers4xxOther, .answers503, .answers5xxOther,
  ]

  /// The ways in which a client gives events up and keeps them.
  public static let blocks: [Measure] = [
    .blockedByStatus, .blockedByRetryLimit, .blockedByRateLimitRetryLimit, .blockedByAge,
  ]

  public enum Kind: Sendable {
    /// Adds up over intervals.
    case count
    /// Stands at the end of an interval. The tables of the hot path hold its changes.
    case gauge
    /// Belongs to one interval and has no total.
    case ofInterval
  }

  /// The better direction of a measure.
  public enum Direction: Sendable, Hashable {
    case lowerIsBetter, higherIsBetter
    /// Describes, but doesn't rank.
    case neither
  }

  /// The files that have a column of it.
  package struct Files: OptionSet {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let series = Files(rawValue: 1)
    package static let summary = Files(rawValue: 2)
    package static let cohorts = Files(rawValue: 4)
  }

  enum Format {
    case count
    /// Seconds, formed of microseconds.
    case seconds
    /// In `timeseries.csv` a rate per second, of counts in such parts of a unit; a count elsewhere.
    case rate(partsPerUnit: Int64 = 1)
  }

  /// The declaration of one measure: its name, and where it is shown.
  package struct Declaration: Sendable {
    package let measure: Measure
    let kind: Kind
    package let files: Files
    package let direction: Direction
    fileprivate let name: String
    fileprivate let unit: String
    fileprivate let definition: String
    fileprivate let format: Format

    /// - Parameter name: without `_rps` and the unit without `/s` where the format is a rate.
    fileprivate init(
      _ measure: Measure, kind: Kind = .count, _ name: String, _ unit: String, _ definition: String,
      as format: Format = .count, in files: Files = [.series, .summary],
      _ direction: Direction = .neither
    ) {
      (self.measure, self.kind, self.files, self.direction) = (measure, kind, files, direction)
      (self.name, self.unit, self.definition, self.format) = (name, unit, definition, format)
    }

    /// Declares a measure that no file shows as it is, but others are formed of.
    fileprivate init(_ measure: Measure, kind: Kind = .count, hidden definition: String) {
      self.init(measure, kind: kind, "", "", definition, in: [])
    }

    /// Its column in a file of totals.
    package func totalColumn<Source: Measured>() -> CSVColumn<Source> {
      CSVColumn(name, unit, definition, direction) { [measure, format] in
        if case .seconds = format { .seconds($0[measure]) } else { .integer($0[measure]) }
      }
    }

    /// Its column in `timeseries.csv`.
    package var seriesColumn: CSVColumn<TimeSeries.Row> {
      switch format {
      case .count: CSVColumn(name, unit, definition, direction) { [measure] in .integer($0[measure]) }
      case .seconds: CSVColumn(name, unit, definition, direction) { [measure] in .seconds($0[measure]) }
      case .rate(let parts):
        CSVColumn(name + "_rps", unit + "/s", definition, direction) { [measure] in
          .rate($0[measure], per: $0.length, unitsPerCount: parts)
        }
      }
    }
  }

  public var kind: Kind { declaration.kind }
  /// Its column in `summary.csv`; empty of one that has none.
  package var summaryColumn: String { declaration.files.contains(.summary) ? declaration.name : "" }
  package var declaration: Declaration { Self.table[Self.places[rawValue]] }

  /// Where each measure stands in the table, by raw value.
  private static let places: [Int] = allCases.map { measure in
    guard let place = table.firstIndex(where: { $0.measure == measure }) else {
      preconditionFailure("\(measure) has no entry in Measure.table")
    }
    return place
  }

  /// Returns the table's declarations for a file from `first` to `last`, or to its end, in its order.
  static func declared(in file: Files, _ first: Measure, _ last: Measure? = nil) -> [Declaration] {
    table[places[first.rawValue]...(last.map { places[$0.rawValue] } ?? table.count - 1)]
      .filter { $0.files.contains(file) }
  }

  /// In the order of the columns in every file.
  package static let table: [Declaration] = [
    .init(
      .capacityMilliRequests, kind: .ofInterval, "capacity", "requests",
      "What the server can serve, incidents included.",
      as: .rate(partsPerUnit: 1_000), in: .series),
    .init(
      .firstAttempts, "first_attempts", "requests", "First attempts of a batch.", as: .rate()),
    .init(
      .retries, "retries", "requests", "Later attempts of a batch.",
      as: .rate(), .lowerIsBetter),
    .init(.proxyRetries, hidden: "Of the offered load: retries of proxies."),
    .init(
      .acceptedBatches, "goodput", "batches", "Batches accepted for the first time.", as: .rate(),
      in: .series),
    .init(
      .duplicateBatches, "duplicate_batches", "batches",
      "Uploads accepted although all of their events had been before.", in: .series),
    .init(
      .answers2xx, "answers_2xx", "answers", "Answers by status: 2xx."),
    .init(
      .answers429, "answers_429", "answers", "Answers by status: 429."),
    .init(
      .answers503, "answers_503", "answers", "Answers by status: 503."),
    .init(.answers4xxOther, "answers_4xx_other", "answers", "Answers by status: other 4xx."),
    .init(
      .answers5xxOther, "answers_5xx_other", "answers", "Answers by status: neither 2xx, 4xx nor 503."),
    .init(
      .unanswered, "unanswered_requests", "requests", "Requests that the server never answers."),
    .init(
      .timeouts, "timed_out_requests", "requests", "Uploads that clients gave up waiting for.",
      .lowerIsBetter),
    .init(.settledBatches, "settled_batches", "batches", "Batches delivered or dropped.", in: .summary),
    .init(.sealedBatches, hidden: "Batches that clients have cut."),
    .init(
      .busyMicroseconds, kind: .ofInterval,
      hidden: "Worker time used, or for a bucket the time its admitted requests are worth."),
    .init(
      .availableMicroseconds, kind: .ofInterval,
      hidden: "Worker time there was (workers times the interval), or for a bucket the interval."),
    .init(
      .serverQueue, kind: .gauge, "server_queue_requests", "requests",
      "Requests in the server's queue.", in: .series),

    .init(
      .createdEvents, "created_events", "events", "Events created on the devices.",
      in: [.series, .summary, .cohorts]),
    .init(
      .deliveredEvents, "delivered_events", "events", "Events that the server accepts for the first time.",
      in: [.series, .summary, .cohorts],
      .higherIsBetter),
    .init(
      .duplicateEvents, "duplicate_events", "events", "Events accepted once more.",
      in: [.series, .summary, .cohorts], .lowerIsBetter),
    .init(
      .acceptedAfterDropEvents, "accepted_after_drop_events", "events",
      "Events delivered although their client had dropped them."),
    .init(
      .droppedByStatus, "dropped_by_status_events", "events",
      "Events dropped, by reason: the answer's status.",
      in: [.series, .summary, .cohorts], .lowerIsBetter),
    .init(
      .droppedByRetryLimit, "dropped_by_retry_limit_events", "events",
      "Events dropped, by reason: the batch's retry limit.", in: [.series, .summary, .cohorts], .lowerIsBetter
    ),
    .init(
      .droppedByRateLimitRetryLimit, "dropped_by_rate_limit_retry_limit_events", "events",
      "Events dropped, by reason: the global (429) retry limit.", in: [.series, .summary, .cohorts],
      .lowerIsBetter),
    .init(
      .droppedByAge, "dropped_by_age_events", "events",
      "Events dropped, by reason: the batch had been failing for too long.",
      in: [.series, .summary, .cohorts], .lowerIsBetter),
    .init(
      .droppedByOverflow, "dropped_by_overflow_events", "events",
      "Events dropped, by reason: a full queue.", in: [.series, .summary, .cohorts],
      .lowerIsBetter),
    .init(
      .settledOldEvents, "settled_old_events", "events",
      "Events from before the last incident's end that are delivered or dropped here.", in: .series),
    .init(.launches, hidden: "Launches of the app in the run, each of them a restart."),
    .init(
      .backlogEvents, kind: .gauge, "backlog_events", "events",
      "Events created and neither accepted, dropped nor blocked.", in: .series),
    .init(
      .backlogBatches, kind: .gauge, "backlog_batches", "batches",
      "Sealed batches that clients hold.", in: .series),
    .init(
      .devicesWaiting, kind: .gauge, "waiting_devices", "devices",
      "Devices that hold a batch and send nothing: they wait for a retry, a flush, the network or a session.",
      in: .series),
    .init(
      .inFlight, kind: .gauge, "in_flight_requests", "requests",
      "Uploads that a client has sent and waits for.", in: .series),
    .init(
      .timeToDeliverySum, kind: .ofInterval,
      hidden: "Creation to first acceptance, microseconds, summed over the events accepted here."),
    .init(.timeToDeliveryP50, kind: .ofInterval, hidden: "Median of the same."),
    .init(.timeToDeliveryP95, kind: .ofInterval, hidden: "95th percentile of the same."),
    .init(.timeToDeliveryP99, kind: .ofInterval, hidden: "99th percentile of the same."),

    .init(
      .refusedByGate, "refused_by_gate_events", "events",
      "Events dropped, by reason: a gate refused them.",
      in: [.series, .summary, .cohorts],
      .lowerIsBetter),
    // Blocked events that turn out to have been accepted count backwards.
    .init(
      .blockedEvents, "blocked_events", "events",
      "Events given up but kept by their device, not lost.",
      .lowerIsBetter),
    .init(.heldLoops, "held_loops", "1", "Times that a gate held an upload loop back."),
    .init(
      .throttledRequests, "throttled_requests", "requests",
      "Uploads rejected at the client by adaptive throttling."),
    .init(.breakerOpenings, "breaker_openings", "1", "Times that a device's circuit breaker opened."),
    .init(
      .breakerOpenMicroseconds, "breaker_open_s", "s",
      "For how long breakers were opened, summed over devices.", as: .seconds, in: .summary),
    .init(
      .credentialRefreshes, "credential_refreshes", "1",
      "Times that a device refreshed its credentials after a 401.", in: .summary),
    .init(
      .statusQueries, "status_queries", "requests",
      "Attempts that ask whether an upload of unknown outcome was applied.",
      in: .summary),

    .init(
      .keyLimited, "key_limited_requests", "requests",
      "429s by a limit of the tenant or device."),
    .init(
      .shed, "shed_requests", "requests",
      "Requests refused after they had waited in the server's queue."),
    .init(
      .unheardAnswers, "unheard_answers", "answers",
      "Answers that come after their client has given the upload up."),
    .init(
      .lostAnswers, "lost_answers", "answers",
      "Answers with a 2xx that an incident lost."),
    .init(
      .deduplicatedEvents, "deduplicated_events", "events",
      "Duplicate events that the server recognised and did not store again."),

    .init(
      .offlineDevices, kind: .gauge, "offline_devices", "devices",
      "Devices without a network.", in: .series),
    .init(
      .networkLostRequests, "network_lost_requests", "requests",
      "Requests that the network loses."),
    .init(
      .networkLostAnswers, "network_lost_answers", "answers",
      "Uploads whose answer, if there is one, the network loses."),
    .init(
      .unknownOutcomes, "unknown_outcomes", "requests",
      "Uploads of which the client cannot know whether they arrived."),

    .init(.closedAppEvents, kind: .gauge, hidden: "Events that wait in closed apps, at the latest change."),
    .init(
      .answers401, "answers_401", "answers", "Answers by status: 401."),
    .init(
      .retriesAfter429, "retries_after_429", "requests",
      "Retries by the batch's latest failure: a 429."),
    .init(.retriesAfter5xx, "retries_after_5xx", "requests", "Retries by the batch's latest failure: a 5xx."),
    .init(
      .retriesAfterNoAnswer, "retries_after_no_answer", "requests",
      "Retries by the batch's latest failure: a time-out or a lost connection."),
    .init(
      .retriesAfterOther, "retries_after_other", "requests",
      "Retries by the batch's latest failure: another status, or the app's end."),
    .init(
      .backoffMicroseconds, "backoff_wait_s", "s",
      "Waits that failed uploads put on their batch or client, each counted when it begins.", as: .seconds),
    .init(
      .blockedByStatus, "blocked_by_status_events", "events",
      "Events blocked, by reason: the answer's status.",
      .lowerIsBetter),
    .init(
      .blockedByRetryLimit, "blocked_by_retry_limit_events", "events",
      "Events blocked, by reason: the batch's retry limit.",
      .lowerIsBetter),
    .init(
      .blockedByRateLimitRetryLimit, "blocked_by_rate_limit_retry_limit_events", "events",
      "Events blocked, by reason: the global (429) retry limit.", .lowerIsBetter),
    .init(
      .blockedByAge, "blocked_by_age_events", "events",
      "Events blocked, by reason: the batch had been failing for too long.", .lowerIsBetter),
    .init(
      .lostWithPage, "lost_with_page_events", "events",
      "Events dropped, by reason: a page of a browser went without saving them.", in: [.summary, .cohorts],
      .lowerIsBetter),
  ]
}

/// A type that holds a number for each measure.
public protocol Measured: Sendable {
  subscript(measure: Measure) -> Int64 { get }
  /// Events that are pending and will be given up before they are sent again; 0 where nobody knows.
  var doomedEvents: Int64 { get }
}

extension Measured {
  /// Upload attempts that reached the server, each as often as a proxy sent it: the offered load.
  public var attempts: Int64 { self[.firstAttempts] + self[.retries] + self[.proxyRetries] }
  public var answersOther: Int64 { self[.answers401] + self[.answers4xxOther] + self[.answers5xxOther] }
  public var droppedEvents: Int64 { Measure.drops.reduce(0) { $0 + self[$1] } }
  /// Dropped, and not accepted after all.
  public var lostEvents: Int64 { droppedEvents - self[.acceptedAfterDropEvents] }
  public var doomedEvents: Int64 { 0 }
  /// The server never gets them: lost for good, blocked or doomed.
  public var lostOrBlockedEvents: Int64 { max(0, lostEvents) + max(0, self[.blockedEvents]) + doomedEvents }
  /// The created events that are neither accepted, dropped nor blocked.
  public var openEvents: Int64 {
    self[.createdEvents] - self[.deliveredEvents] - lostEvents - self[.blockedEvents]
  }
}

/// The result of a run or a part of its devices: counts are added up over the intervals, gauges stand as at the end.
public struct MeasureTotals: Measured, Hashable {
  private var cells = [Int64](repeating: 0, count: Measure.count)

  public init() {}

  public subscript(measure: Measure) -> Int64 {
    get { cells[measure.rawValue] }
    set { cells[measure.rawValue] = newValue }
  }

  /// Adds what one side of a run counted.
  public mutating func add<Side>(_ counters: borrowing IntervalCounters<Side>) {
    let sums = counters.columnSums()
    for measure in Side.measures where measure.kind != .ofInterval {
      self[measure] += sums[measure.rawValue - Side.first.rawValue]
    }
  }
}
