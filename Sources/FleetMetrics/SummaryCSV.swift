/// `summary.csv`: one row per run.
public enum SummaryCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<RunSummary>] =
    totals + load + recovery + delivery + DeviceFigure.columns(through: .devicesThatLostEvents)
    + censoring
    + measures(.refusedByGate, .unknownOutcomes) + conclusions + [delivery95]
    + measures(.answers4xxOther, .answers5xxOther) + measures(.answers401)
    + DeviceFigure.columns(after: .devicesThatLostEvents, through: .polls) + doomed + [lostOrBlocked] + causes
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
      .init("answers_other", "answers", "Answers with any other status.", .neither) {
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
      "peak_offered_ratio", "1", "Largest offered load of any 1 s window, divided by nominal capacity.",
      .neither
    ) {
      .decimal($0.peakOfferedRatio)
    },
    .init(
      "herd_factor_ratio", "1", "The same from the end of the first incident on; empty without an incident.",
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
      """
      Seconds' worth of nominal capacity unused, outside outages, while more events waited than in the ideal run and the twin.
      """, .neither
    ) { .decimal($0.idleWhileBackloggedSeconds) },
  ]

  private static let recovery: [CSVColumn<RunSummary>] = [
    .init("has_incidents", "", "Whether the run has an incident at all.") { .flag($0.hasIncidents) },
    .init(
      "baseline_is_healthy", "",
      """
      Whether the twin, the same run without its incidents, holds its load: neither its backlog nor its time to delivery grows, \
      and it loses or blocks at most 1 % of its events.
      """
    ) {
      .flag($0.baselineIsHealthy)
    },
    .init(
      "recovery_s", "s",
      """
      From the last incident's end until the fleet has caught up with the ideal run and its twin: it holds back no more than 1 % \
      of the events created in the incidents; empty: never, or no incident.
      """, .lowerIsBetter
    ) { .seconds($0.recoveryTime) },
    .init(
      "drained_s", "s",
      """
      From the last incident's end until 99 % of the events then held have been delivered or dropped; \
      empty: never, or no incident.
      """, .lowerIsBetter
    ) { .seconds($0.drainedTime) },
  ]

  private static let delivery: [CSVColumn<RunSummary>] = [
    .init(
      "time_to_delivery_mean_s", "s", "Creation to first acceptance, over all delivered events: mean.",
      .lowerIsBetter
    ) {
      .decimal($0.timeToDeliveryMean.map { $0 / 1_000_000 }, decimals: 6)
    },
    .init("time_to_delivery_p50_s", "s", "The same, median. Percentiles are within 0.8 %.", .lowerIsBetter) {
      .seconds($0.timeToDeliveryP50)
    },
    .init("time_to_delivery_p90_s", "s", "The same, 90th percentile.", .lowerIsBetter) {
      .seconds($0.timeToDeliveryP90)
    },
    .init("time_to_delivery_p99_s", "s", "The same, 99th percentile.", .lowerIsBetter) {
      .seconds($0.timeToDeliveryP99)
    },
    .init(
      "time_to_delivery_p99_9_s", "s", "The same, 99.9th percentile.", .lowerIsBetter
    ) { .seconds($0.timeToDeliveryP999) },
    .init(
      "time_to_delivery_max_s", "s", "The same, largest value, exact.", .lowerIsBetter
    ) { .seconds($0.timeToDeliveryMax) },
  ]

  private static let censoring: [CSVColumn<RunSummary>] = [
    .init(
      "recovery_horizon_s", "s",
      "From the last incident's end to the end of the run: how long recovery could be watched; empty without an incident, and if that is "
        + "too short to see one."
    ) { .seconds($0.recoveryHorizon) }
  ]

  /// The columns that verdicts stand on.
  private static let conclusions: [CSVColumn<RunSummary>] = [
    .init(
      "late_events", "events",
      "Of the pending events: how many could have been delivered, by the ideal run and the twin.",
      .lowerIsBetter
    ) { .integer($0.lateEvents) },
    .init("undelivered_events", "events", "Events lost, blocked, doomed or late.", .lowerIsBetter) {
      .integer($0.undeliveredEvents)
    },
    .init(
      "affected_events", "events",
      """
      Events created from the first incident's start until the fleet has recovered, or until the run's end; all of them \
      without an incident.
      """, .neither
    ) { .integer($0.affectedEvents) },
    .init(
      "affected_delivery_p50_s", "s",
      """
      Median time to delivery of the affected events, the undelivered ones among them (Kaplan and Meier); empty: more \
      than `affected_horizon_s`.
      """, .lowerIsBetter
    ) { .seconds($0.affectedDeliveryP50) },
    .init("affected_delivery_p99_s", "s", "The same, 99th percentile.", .lowerIsBetter) {
      .seconds($0.affectedDeliveryP99)
    },
    .init(
      "affected_horizon_s", "s",
      "From the first incident's start to the end of the run: how long delivery of affected events could be watched."
    ) { .seconds($0.affectedHorizon) },
    .init(
      "attempts_above_twin_per_device", "requests/device",
      "Upload attempts more than the twin's, over the run, mean over devices.", .lowerIsBetter
    ) { .decimal($0.attemptsAboveTwinPerDevice) },
    .init(
      "excess_load_s", "s",
      "Seconds' worth of nominal capacity by which the offered load was above it: max(0, offered − capacity) / capacity, summed.",
      .lowerIsBetter
    ) { .decimal($0.excessLoadSeconds, decimals: 6) },
  ]

  private static let delivery95 = CSVColumn<RunSummary>(
    "time_to_delivery_p95_s", "s", "Time to delivery of all delivered events, 95th percentile.",
    .lowerIsBetter
  ) { .seconds($0.timeToDeliveryP95) }

  private static let lostOrBlocked = CSVColumn<RunSummary>(
    "lost_or_blocked_events", "events", "Events that the server never gets: lost, blocked or doomed.",
    .lowerIsBetter
  ) { .integer($0.lostOrBlockedEvents) }

  private static let scale = CSVColumn<RunSummary>(
    "scale", "1",
    "One of so many devices and requests was simulated. Counts of runs and their series are as simulated; "
      + "statistics, tables, verdicts and pages have those of the whole fleet."
  ) { .integer($0.scale) }

  /// Whether it was the server or its clients that took so long.
  private static let causes: [CSVColumn<RunSummary>] = [
    .init(
      "healthy_s", "s",
      "From the last incident's end until the server turns at most 1 % of the requests away and stays so; empty: never, or no incident.",
      .lowerIsBetter
    ) { .seconds($0.healthyTime) },
    .init(
      "possible_s", "s",
      """
      How soon after the last incident's end any client could have caught up: in the ideal run nobody with an open app waits for \
      the server any more; empty: not within the run, or no incident.
      """, .neither
    ) { .seconds($0.possibleTime) },
  ]

  private static let doomed: [CSVColumn<RunSummary>] = [
    .init(
      "doomed_events", "events",
      "Events pending in closed apps at the end that their clients will give up before they send them again; lost_or_blocked_events has them.",
      .lowerIsBetter
    ) { .integer($0.doomedEvents) },
    .init(
      "affected_delivery_p90_s", "s", "Time to delivery of the affected events: 90th percentile.",
      .lowerIsBetter
    ) { .seconds($0.affectedDeliveryP90) },
    .init(
      "affected_delivery_judged_s", "s",
      """
      The highest of their 50th, 90th and 99th percentile that the ideal run reaches: by this one verdicts judge. Empty: more than \
      `affected_horizon_s`.
      """, .lowerIsBetter
    ) { .seconds($0.judgedDelivery) },
    .init(
      "ideal_delivery_p50_s", "s", "The ideal run's median; empty: more than can be seen, or no incident.",
      .neither
    ) {
      .seconds($0.idealDeliveryP50)
    },
    .init("ideal_delivery_p90_s", "s", "The same, 90th percentile.", .neither) {
      .seconds($0.idealDeliveryP90)
    },
    .init("ideal_delivery_p99_s", "s", "The same, 99th percentile.", .neither) {
      .seconds($0.idealDeliveryP99)
    },
  ]

  /// The whole file, a row per summary in the order given.
  /// - `more`: columns that stand behind all others.
  public static func bytes(of summaries: [RunSummary], more: [CSVColumn<RunSummary>] = []) -> [UInt8] {
    CSVFile.bytes(columns + more, summaries)
  }

  /// Writes the whole file to `output`.
  public static func write(_ summaries: [RunSummary], to output: inout some TextOutputStream) {
    output.write(String(decoding: bytes(of: summaries), as: UTF8.self))
  }
}
