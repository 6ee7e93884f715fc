import FleetMetrics

/// The record of a scenario's results, and how much worse they may become.
public struct Baseline: Sendable {
  /// One metric under every seed.
  public struct Entry: Sendable, Hashable {
    /// Its column in `summary.csv`.
    public var metric: String
    public var tolerance: Metric.Tolerance
    /// In the order of the seeds.
    public var values: [MetricValue]
    /// Where it stands in its file.
    package var line = 1

    public init(metric: String, tolerance: Metric.Tolerance, values: [MetricValue]) {
      (self.metric, self.tolerance, self.values) = (metric, tolerance, values)
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
  /// The seeds of the runs that failed.
  package var failedSeeds: [UInt64] = []
  /// How many twins did not hold their load without incidents.
  public var unhealthyTwins = 0

  public init(scenario: String, overrides: [String], seeds: SeedRange, entries: [Entry]) {
    (self.scenario, self.overrides, self.seeds, self.entries) = (scenario, overrides, seeds, entries)
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
    failedSeeds = summaries.indices.filter { summaries[$0].fails }.map { seeds.first &+ UInt64($0) }
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

  /// The recorded runs, as far as a verdict looks at them beside their metrics.
  var runs: [RunSummary] {
    func recorded(_ metric: String) -> [MetricValue]? { entries.first { $0.metric == metric }?.values }
    let created = recorded(MetricCatalogue.created)
    let batches = recorded(Measure.settledBatches.summaryColumn)
    let (lost, recovery) = (recorded(MetricCatalogue.lost), recorded(MetricCatalogue.recovery))
    /// A file may hold any number.
    func whole(_ value: Double) -> Int64 { Int64(min(max(value, 0), 0x1p62)) }
    return (0..<seeds.count).map { place in
      func count(_ values: [MetricValue]?) -> Int64 { whole(values?[place].restricted ?? 0) }
      var run = RunSummary(run: scenario, seed: seeds.first &+ UInt64(place))
      run[.createdEvents] = count(created)
      run[.settledBatches] = count(batches)
      run[.droppedByRetryLimit] = count(lost)
      // Events are affected for the sake of failures alone.
      run.affectedEvents = failedSeeds.contains(run.seed) ? 0 : .max
      run.baseline.grows = place < unhealthyTwins
      guard let recovery = recovery?[place], let horizon = recovery.horizon else { return run }
      run.hasIncidents = true
      run.recoveryHorizon = whole(horizon * 1e6)
      run.recoveryTime = recovery.isCensored ? nil : recovery.restricted.map { whole($0 * 1e6) }
      return run
    }
  }

  /// Whether no recorded run recovered from an incident that it had.
  public var neverRecovers: Bool {
    entries.contains { $0.metric == MetricCatalogue.recovery && $0.values.allSatisfy(\.isCensored) }
  }
}
