import FleetMetrics
import FleetStatistics

/// The record of a scenario's results, and how much worse they may become.
public struct Baseline: Sendable {
  /// One metric under every seed.
  public struct Entry: Sendable, Hashable {
    /// Its column in `summary.csv`.
    public var metric: String
    public var tolerance: Metric.Tolerance
    /// In the order of the seeds.
    public var values: [MetricValue]

    public init(metric: String, tolerance: Metric.Tolerance, values: [MetricValue]) {
      self.metric = metric
      self.tolerance = tolerance
      self.values = values
    }
  }

  /// The scenario's name.
  public var scenario: String
  /// `path=value`, applied to the scenario before anything else.
  public var overrides: [String]
  public var seeds: SeedRange
  public var entries: [Entry]
  /// The version of the results that the values are of.
  public var results = 0
  /// The scenario that was run: each value by its path, as JSON.
  public var values: [(path: String, text: String)] = []
  /// How many twins did not hold their load without incidents.
  public var unhealthyTwins = 0

  public init(scenario: String, overrides: [String], seeds: SeedRange, entries: [Entry]) {
    self.scenario = scenario
    self.overrides = overrides
    self.seeds = seeds
    self.entries = entries
  }

  /// Records the metrics that have a value in any run.
  /// - `summaries`: of the runs, in the order of the seeds.
  /// - `tolerances`: by metric, in place of the metric's own.
  public init(
    scenario: String, overrides: [String], seeds: SeedRange, summaries: [RunSummary],
    tolerances: [String: Metric.Tolerance] = [:]
  ) {
    let hasIncidents = summaries.contains(where: \.hasIncidents)
    self.init(
      scenario: scenario, overrides: overrides, seeds: seeds,
      entries: MetricCatalogue.all.compactMap { metric in
        let values = summaries.map { metric.value(of: $0) }
        guard values.contains(where: { $0 != .none }) else { return nil }
        let own = Self.tolerance(of: metric, hasIncidents: hasIncidents)
        return Entry(metric: metric.name, tolerance: tolerances[metric.name] ?? own, values: values)
      })
    unhealthyTwins = summaries.count { !$0.baselineIsHealthy }
  }

  /// Returns the tolerance of a metric unless somebody says otherwise: the verdict's are judged, the others are told.
  static func tolerance(of metric: Metric, hasIncidents: Bool) -> Metric.Tolerance {
    MetricCatalogue.criteria(hasIncidents: hasIncidents).contains(metric.name)
      ? .notSignificantlyWorse : .informational
  }

  /// Whether the runs had an incident to recover from.
  var hasIncidents: Bool { entries.contains { $0.metric == MetricCatalogue.recovery } }

  /// The tolerances that somebody has edited, by metric.
  public var edited: [String: Metric.Tolerance] {
    Dictionary(
      entries.compactMap { entry in
        MetricCatalogue.metric(named: entry.metric).flatMap { metric in
          entry.tolerance == Self.tolerance(of: metric, hasIncidents: hasIncidents)
            ? nil : (entry.metric, entry.tolerance)
        }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the changes from each recorded run to the run under the same seed.
  ///
  /// A metric that is held against its interval is tested as Student's paired t, one of events in a few clumps also by their
  /// signs. The verdict's criteria are one family, with Holm's adjustment and 1 % for any false alarm. The metrics that somebody
  /// asked for besides are another family, and those that are only told a third. A metric that no seed moved is in no family. A
  /// change beyond chance still has to matter: under common random numbers a difference of a few requests is told from zero.
  /// - Parameter summaries: those of the runs, in the order of the seeds.
  /// - Parameter interval: width of a row of the time series, microseconds.
  /// - Parameter isOfSettings: whether criteria are judged by the rule of verdicts and decisions, with their floors.
  public func changes(
    to summaries: [RunSummary], interval: Int64 = 0, isOfSettings: Bool = false
  ) -> [MetricChange] {
    func recorded(_ name: String) -> [Double] {
      entries.first { $0.metric == name }?.values.compactMap(\.restricted) ?? []
    }
    let createdMean = SampleStatistics(recorded(MetricCatalogue.created)).mean
    let criteria = MetricCatalogue.criteria(hasIncidents: hasIncidents)
    var changes = entries.compactMap { entry in
      MetricCatalogue.metric(named: entry.metric).map { metric in
        MetricChange(
          metric.scaled(by: summaries.commonScale), entry, now: summaries.map { metric.value(of: $0) },
          isCriterion: criteria.contains(metric.name),
          floor: metric.floor(createdEvents: createdMean, interval: Double(interval) / 1e6))
      }
    }
    if isOfSettings {
      let all = [
        recorded(MetricCatalogue.created) + summaries.map { Double($0[.createdEvents]) },
        recorded(Measure.settledBatches.summaryColumn) + summaries.map { Double($0[.settledBatches]) },
      ].map { SampleStatistics($0).mean }
      let batch = MetricRule.clump(createdEvents: all[0], settledBatches: all[1])
      let lost = changes.first { $0.metric.name == MetricCatalogue.lost }.map { ($0.now, $0.entry.values) }
      for index in changes.indices where changes[index].isCriterion {
        changes[index].judge(batch: batch, createdEvents: all[0], lost: lost)
      }
    }
    let moved = changes.indices.filter { changes[$0].hasMoved }
    let judged = moved.filter { changes[$0].entry.tolerance == .notSignificantlyWorse }
    let families = [
      judged.filter { changes[$0].isCriterion }, judged.filter { !changes[$0].isCriterion },
      moved.filter { changes[$0].entry.tolerance == .informational },
    ]
    for family in families {
      for (index, p) in zip(family, Holm.adjusted(family.map { changes[$0].pValue })) {
        changes[index].adjustedP = p
      }
    }
    return changes
  }

  /// Whether no recorded run recovered from an incident that it had.
  public var neverRecovers: Bool {
    entries.contains { entry in
      entry.metric == MetricCatalogue.recovery
        && entry.values.allSatisfy { if case .censored = $0 { true } else { false } }
    }
  }
}

/// A metric then and now.
public struct MetricChange: Sendable {
  public enum Judgement: String, Sendable, Hashable, CaseIterable {
    /// Every seed gave what it gave then.
    case unchanged
    /// Moved, by less than the tolerance.
    case tolerated
    case better
    case worse
  }

  public let metric: Metric
  public let entry: Baseline.Entry
  public let now: [MetricValue]
  /// Whether the verdict decides by it.
  public let isCriterion: Bool
  /// Now minus then, seed by seed.
  public let difference: PairedDifference
  /// Up to which difference the metric says nothing.
  package let floor: Double
  /// By the rule of verdicts; nil: it is held against its tolerance.
  private(set) var standing: MetricRule.Standing?
  /// Holm's p value that nothing has changed, for metrics that are held against their intervals.
  public fileprivate(set) var adjustedP: Double?

  init(_ metric: Metric, _ entry: Baseline.Entry, now: [MetricValue], isCriterion: Bool, floor: Double) {
    self.metric = metric
    self.entry = entry
    self.now = now
    self.isCriterion = isCriterion
    self.floor = floor
    difference = PairedDifference(
      SampleStatistics(zip(now, entry.values).compactMap { $0.difference(to: $1) }))
  }

  /// Mean and 95 % interval then, of a time up to the end of the run.
  public var recorded: SampleStatistics { SampleStatistics(entry.values.compactMap(\.restricted)) }
  public var present: SampleStatistics { SampleStatistics(now.compactMap(\.restricted)) }

  /// Runs that have a value now and had none then, or the other way round.
  public var appearances: Int { zip(now, entry.values).count { ($0 == .none) != ($1 == .none) } }

  /// Times that did not come while the run was watched, then and now: their horizon stands for them in the means.
  public var censoredThen: Int { entry.values.count(where: \.isCensored) }
  public var censoredNow: Int { now.count(where: \.isCensored) }

  /// The chance, at most, that any metric of a family is called different where nothing has changed.
  static let level = MetricRule.Level.once.difference

  var hasMoved: Bool { now != entry.values }

  /// The p value that nothing has changed, of the metric alone. A few clumps of events make a t test too sure of itself. They
  /// also have to show by the number of seeds with more and with fewer of them.
  fileprivate var pValue: Double {
    let p = difference.pValue ?? 0
    guard metric.unit == "events" else { return p }
    let differences = zip(now, entry.values).compactMap { $0.difference(to: $1) }
    guard MetricRule.isRare(differences) else { return p }
    return max(
      p, McNemar.pValue(onlyFirst: differences.count { $0 < 0 }, onlySecond: differences.count { $0 > 0 }))
  }

  /// Judges by the rule of verdicts, at the level of decisions.
  /// - Parameter lost: lost events now and then; nil: they were not recorded.
  fileprivate mutating func judge(
    batch: Double, createdEvents: Double, lost: (now: [MetricValue], then: [MetricValue])?
  ) {
    guard entry.tolerance == .notSignificantlyWorse else { return }
    var values = now
    if let lost, metric.name == MetricCatalogue.late {
      values = MetricRule.late(of: now, to: entry.values, lost: (lost.now, lost.then))
    }
    standing =
      MetricRule.finding(
        of: values, to: entry.values, lowerIsBetter: metric.direction != .higherIsBetter,
        floor: metric.unit == "events" ? metric.floor(createdEvents: createdEvents, interval: 0) : floor,
        clump: metric.unit == "events" ? batch : nil, at: SeedPlan.level
      ).standing
  }

  public var judgement: Judgement {
    if !hasMoved { return .unchanged }
    switch standing {
    case .better: return .better
    case .worse: return .worse
    case .asGood, .undecided, .incomparable: return .tolerated
    case nil: break
    }
    let isJudged = entry.tolerance != .informational
    // A metric that is there no more, or suddenly, is no longer what was recorded.
    if appearances > 0 || now.count != entry.values.count { return isJudged ? .worse : .tolerated }
    guard exceedsTolerance else { return .tolerated }
    let worse = isJudged ? Judgement.worse : .tolerated
    switch metric.direction {
    case .lowerIsBetter: return difference.mean > 0 ? worse : .better
    case .higherIsBetter: return difference.mean < 0 ? worse : .better
    case .neither: return worse
    }
  }

  private var exceedsTolerance: Bool {
    switch entry.tolerance {
    // By how much a time is longer that did not come nobody knows.
    case .relative where censoredNow > censoredThen, .absolute where censoredNow > censoredThen: true
    case .relative(let share): abs(difference.mean) > share * abs(recorded.mean)
    case .absolute(let limit): abs(difference.mean) > limit
    case .notSignificantlyWorse, .informational:
      abs(difference.mean) > max(Metric.relevantShare * abs(recorded.mean), floor)
        && (adjustedP ?? 0) < Self.level
    }
  }
}
