import FleetMetrics
import FleetStatistics

/// What a scenario gave when it was recorded, and how much worse it may become.
public struct Baseline: Sendable, Hashable {
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
  /// The version of the results that the values are of; 0: from before there were any.
  public var results = 0

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
    self.init(
      scenario: scenario, overrides: overrides, seeds: seeds,
      entries: MetricCatalogue.all.compactMap { metric in
        let values = summaries.map { metric.value(of: $0) }
        guard values.contains(where: { $0 != .none }) else { return nil }
        return Entry(
          metric: metric.name, tolerance: tolerances[metric.name] ?? metric.tolerance, values: values)
      })
  }

  /// Each seed's run against the one recorded under the same seed.
  ///
  /// What is held against its interval is tested as Student's paired t. The verdict's metrics are one family and all others
  /// another, each with Holm's adjustment and half of the 5 % for any false alarm; what no seed moved is in neither. What is
  /// beyond chance still has to matter: under common random numbers a difference of a few requests is told from zero.
  /// - Parameter summaries: of the runs, in the order of the seeds.
  public func changes(to summaries: [RunSummary]) -> [MetricChange] {
    var changes = entries.compactMap { entry in
      MetricCatalogue.metric(named: entry.metric).map { metric in
        MetricChange(metric, entry, now: summaries.map { metric.value(of: $0) })
      }
    }
    for isHeadline in [true, false] {
      let tested = changes.indices.filter { index in
        let change = changes[index]
        return change.entry.tolerance == .notSignificantlyWorse && change.metric.isHeadline == isHeadline
          && change.judgement != .unchanged
      }
      let adjusted = Holm.adjusted(tested.map { changes[$0].difference.pValue ?? 0 })
      for (index, p) in zip(tested, adjusted) { changes[index].adjustedP = p }
    }
    return changes
  }

  /// For each of the verdict's metrics: from which share of its mean on a change is noticed in nine of ten checks, if its runs
  /// vary as the recorded ones do; nil where they don't vary or the mean is 0. Common seeds often let smaller ones be noticed.
  ///
  /// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed. (2015), 10.2.2: the difference of two means of n runs
  /// has √(2/n) of a run's spread.
  public var noticedShares: [(metric: Metric, share: Double?)] {
    let headline = entries.compactMap { entry in
      MetricCatalogue.metric(named: entry.metric).map { (metric: $0, entry: entry) }
    }.filter { $0.metric.isHeadline && $0.entry.tolerance == .notSignificantlyWorse }
    return headline.map { metric, entry in
      let sample = SampleStatistics(entry.values.compactMap(\.restricted))
      guard let deviation = sample.standardDeviation, deviation > 0, sample.mean != 0, sample.count > 1 else {
        return (metric, nil)
      }
      let level = MetricChange.level / Double(headline.count)
      let reach =
        StudentT.factor(confidence: 1 - level, degreesOfFreedom: sample.count - 1)
        + StudentT.factor(confidence: 0.8, degreesOfFreedom: sample.count - 1)
      let change = reach * deviation * (2 / Double(sample.count)).squareRoot()
      return (metric, max(Metric.relevantShare, change / abs(sample.mean)))
    }
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
  /// Now minus then, seed by seed.
  public let difference: PairedDifference
  /// Of the metrics that are held against their intervals: Holm's p value that nothing has changed.
  public fileprivate(set) var adjustedP: Double?

  init(_ metric: Metric, _ entry: Baseline.Entry, now: [MetricValue]) {
    self.metric = metric
    self.entry = entry
    self.now = now
    var sample = SampleStatistics()
    for (now, then) in zip(now, entry.values) {
      if let difference = now.difference(to: then) { sample.add(difference) }
    }
    difference = PairedDifference(sample)
  }

  /// Mean and 95 % interval then, of a time up to the end of the run.
  public var recorded: SampleStatistics { SampleStatistics(entry.values.compactMap(\.restricted)) }
  public var present: SampleStatistics { SampleStatistics(now.compactMap(\.restricted)) }

  /// Runs that have a value now and had none then, or the other way round.
  public var appearances: Int { zip(now, entry.values).count { ($0 == .none) != ($1 == .none) } }

  /// Times that did not come while the run was watched, then and now: their horizon stands for them in the means.
  public var censoredThen: Int { entry.values.count(where: \.isCensored) }
  public var censoredNow: Int { now.count(where: \.isCensored) }

  /// Of each of the two families of metrics: half of the 5 % for any false alarm.
  static let level = 0.025

  public var judgement: Judgement {
    if now == entry.values { return .unchanged }
    if entry.tolerance == .informational { return .tolerated }
    // A metric that is there no more, or suddenly, is no longer what was recorded.
    if appearances > 0 || now.count != entry.values.count { return .worse }
    guard exceedsTolerance else { return .tolerated }
    switch metric.direction {
    case .lowerIsBetter: return difference.mean > 0 ? .worse : .better
    case .higherIsBetter: return difference.mean < 0 ? .worse : .better
    case .neither: return .worse
    }
  }

  private var exceedsTolerance: Bool {
    switch entry.tolerance {
    // By how much a time is longer that did not come nobody knows.
    case .relative where censoredNow > censoredThen, .absolute where censoredNow > censoredThen: true
    case .relative(let share): abs(difference.mean) > share * abs(recorded.mean)
    case .absolute(let limit): abs(difference.mean) > limit
    case .notSignificantlyWorse:
      abs(difference.mean) > Metric.relevantShare * abs(recorded.mean) && (adjustedP ?? 0) < Self.level
    case .informational: false
    }
  }
}
