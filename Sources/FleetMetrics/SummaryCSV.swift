/// `summary.csv`: one row per run.
public enum SummaryCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<RunSummary>] =
    totals + load + recovery + delivery + DeviceFigure.columns(through: .devicesThatLostEvents)
    + censoring
    + measures(.refusedByGate, .unknownOutcomes) + conclusions + [delivery95]
    + measures(.answers4xxOther, .answers5xxOther) + measures(.answers401)
    + DeviceFigure.columns(after: .devicesThatLostEvents, through: .polls) + doomed + [.lostOrBlocked]
    + causes
    + [
      scale
    ]
    + DeviceFigure.columns(after: .polls)

  private static func measures(_ first: Measure, _ last: Measure? = nil) -> [CSVColumn<RunSummary>] {
    Measure.declared(in: .summary, first, last).map { $0.totalColumn() }
  }

  private static let totals: [CSVColumn<RunSummary>] =
    [
      .init("run", "", "Name of the variant.") { .text($0.run) },
      .init("seed", "", "Seed of the run.") { .unsigned($0.seed) },
      .init("devices", "devices", "Devices in the fleet.") { .integer($0.devices) },
      .init("duration_s", "s", "Virtual length of the run.") { .seconds($0.duration) },
      .init("attempts", "requests", "Upload attempts that reached the server.", .neither) {
        .integer($0.attempts)
      },
    ] + measures(.firstAttempts, .answers503) + [
      .init("answers_other", "answers", "Answers by status: all others.", .neither) {
        .integer($0.answersOther)
      }
    ] + measures(.unanswered, .settledBatches) + [
      .init("amplification_ratio", "1", "Attempts divided by settled batches.", .lowerIsBetter) {
        .decimal($0.amplification)
      }
    ] + measures(.createdEvents, .settledOldEvents) + [
      .init(
        "lost_events", "events", "Events dropped for whatever reason and not accepted after all.",
        .lowerIsBetter
      ) {
        .integer($0.lostEvents)
      },
      .init(
        "pending_events", "events", "Events neither accepted, dropped nor blocked when the run ended.",
        .neither
      ) {
        .integer($0.pendingEvents)
      },
      .init(
        "accepted_unconfirmed_events", "events",
        "Events accepted, but the client did not know it when the run ended.", .neither
      ) {
        .integer($0.acceptedUnconfirmedEvents)
      },
    ]

  private static let load: [CSVColumn<RunSummary>] = [
    .init(
      "peak_offered_ratio", "1", "Largest offered load of any 1 s window over nominal capacity: in the run.",
      .neither
    ) {
      .decimal($0.peakOfferedRatio)
    },
    .init(
      "herd_factor_ratio", "1",
      "Largest offered load of any 1 s window over nominal capacity: from the first incident's end on.",
      .neither
    ) {
      .decimal($0.herdFactor)
    },
    .init(
      "above_capacity_s", "s", "Whole seconds with an offered load above nominal capacity.", .neither
    ) {
      .integer($0.secondsAboveCapacity)
    },
    .init(
      "idle_while_backlogged_s", "s",
      "Capacity left unused outside outages while more waited than in the ideal run and the twin.", .neither
    ) { .decimal($0.idleWhileBackloggedSeconds) },
  ]

  private static let recovery: [CSVColumn<RunSummary>] = [
    .init("has_incidents", "", "Whether the run has an incident at all.") { .flag($0.hasIncidents) },
    .init(
      "baseline_is_healthy", "",
      "Whether the twin, the run without incidents, holds its load."
    ) {
      .flag($0.baselineIsHealthy)
    },
    untilAfterIncident("recovery_s", "the fleet has caught up") { $0.recoveryTime },
    untilAfterIncident("drained_s", "99 % of the events then held are delivered or dropped") {
      $0.drainedTime
    },
  ]

  /// A time from the last incident's end on.
  private static func untilAfterIncident(
    _ name: String, _ end: String, _ direction: Measure.Direction? = .lowerIsBetter,
    _ time: @escaping @Sendable (RunSummary) -> Int64?
  ) -> CSVColumn<RunSummary> {
    .init(name, "s", "From the last incident's end until: \(end).", direction) { .seconds(time($0)) }
  }

  /// A statistic of all times to delivery.
  private static func delivery(
    _ name: String, _ statistic: String, _ time: @escaping @Sendable (RunSummary) -> Int64?
  ) -> CSVColumn<RunSummary> {
    .init(
      "time_to_delivery_\(name)_s", "s",
      "Creation to first acceptance, over all delivered events: \(statistic).", .lowerIsBetter
    ) { .seconds(time($0)) }
  }

  private static let delivery: [CSVColumn<RunSummary>] = [
    .init(
      "time_to_delivery_mean_s", "s", "Creation to first acceptance, over all delivered events: mean.",
      .lowerIsBetter
    ) {
      .decimal($0.timeToDeliveryMean.map { $0 / 1_000_000 }, decimals: 6)
    },
    delivery("p50", "median, as all percentiles within 0.8 %") { $0.timeToDeliveryP50 },
    delivery("p90", "90th percentile") { $0.timeToDeliveryP90 },
    delivery("p99", "99th percentile") { $0.timeToDeliveryP99 },
    delivery("p99_9", "99.9th percentile") { $0.timeToDeliveryP999 },
    delivery("max", "maximum") { $0.timeToDeliveryMax },
  ]

  private static let censoring: [CSVColumn<RunSummary>] = [
    untilAfterIncident("recovery_horizon_s", "the run's end, if that is long enough to see a recovery", nil) {
      $0.recoveryHorizon
    }
  ]

  /// The columns that verdicts stand on.
  private static let conclusions: [CSVColumn<RunSummary>] = [
    .init(
      "late_events", "events",
      "Pending events that could have been delivered, by the ideal run and the twin.",
      .lowerIsBetter
    ) { .integer($0.lateEvents) },
    .init("undelivered_events", "events", "Events lost, blocked, doomed or late.", .lowerIsBetter) {
      .integer($0.undeliveredEvents)
    },
    .init(
      "affected_events", "events",
      "Events created from an incident's start until any client could have caught up or the next begins; without an incident all.",
      .neither
    ) { .integer($0.affectedEvents) },
    affected("affected_delivery_p50_s", "median, empty if more than `affected_horizon_s`") {
      $0.affectedDeliveryP50
    },
    affected("affected_delivery_p99_s", "99th percentile") { $0.affectedDeliveryP99 },
    .init(
      "affected_horizon_s", "s",
      "From the first incident's start to the run's end; empty if no event is affected."
    ) { .seconds($0.affectedEvents > 0 ? $0.affectedHorizon : nil) },
    .init(
      "attempts_above_twin_per_device", "requests/device",
      "Upload attempts beyond the twin's.", .lowerIsBetter
    ) { .decimal($0.attemptsAboveTwinPerDevice) },
    .init(
      "excess_load_s", "s",
      "Offered load above nominal capacity, in seconds' worth of it.",
      .lowerIsBetter
    ) { .decimal($0.excessLoadSeconds, decimals: 6) },
  ]

  private static let delivery95 = delivery("p95", "95th percentile") { $0.timeToDeliveryP95 }

  /// A statistic of the affected events' times to delivery.
  private static func affected(
    _ name: String, _ statistic: String, inIdealRun: Bool = false,
    _ time: @escaping @Sendable (RunSummary) -> Int64?
  ) -> CSVColumn<RunSummary> {
    .init(
      name, "s",
      "Time to delivery of the affected events\(inIdealRun ? " in the ideal run" : ""): \(statistic).",
      inIdealRun ? .neither : .lowerIsBetter
    ) { .seconds(time($0)) }
  }

  private static let scale = CSVColumn<RunSummary>(
    "scale", "1",
    "One of so many devices was simulated: counts of runs and series are as simulated, others of the whole fleet."
  ) { .integer($0.scale) }

  /// Whether it was the server or its clients that took so long.
  private static let causes: [CSVColumn<RunSummary>] = [
    untilAfterIncident("healthy_s", "the server lastingly turns away at most 1 % of the requests") {
      $0.healthyTime
    },
    untilAfterIncident("possible_s", "any client could have caught up, by the ideal run", .neither) {
      $0.possibleTime
    },
  ]

  private static let doomed: [CSVColumn<RunSummary>] = [
    .doomed,
    affected("affected_delivery_p90_s", "90th percentile") { $0.affectedDeliveryP90 },
    affected(
      "affected_delivery_judged_s",
      "the highest of these that the ideal run reaches, by which verdicts judge"
    ) { $0.judgedDelivery },
    affected("ideal_delivery_p50_s", "median", inIdealRun: true) { $0.idealDeliveryP50 },
    affected("ideal_delivery_p90_s", "90th percentile", inIdealRun: true) { $0.idealDeliveryP90 },
    affected("ideal_delivery_p99_s", "99th percentile", inIdealRun: true) { $0.idealDeliveryP99 },
  ]

  /// The whole file, a row per summary in the order given.
  public static func bytes(of summaries: [RunSummary]) -> [UInt8] { CSVFile.bytes(columns, summaries) }
}

extension CSVColumn where Source: Measured {
  static var doomed: Self {
    .init(
      "doomed_events", "events", "Events pending in closed apps at the end that will be given up unsent.",
      .lowerIsBetter
    ) { .integer($0.doomedEvents) }
  }

  static var lostOrBlocked: Self {
    .init(
      "lost_or_blocked_events", "events", "Events that the server never gets: lost, blocked or doomed.",
      .lowerIsBetter
    ) { .integer($0.lostOrBlockedEvents) }
  }
}
