import FleetMetrics
import FleetStatistics
import ScenarioModel

/// The result of runs against their baseline, by the verdict's criteria in their order and then by all that its editor asked
/// for.
public struct BaselineCheck: Sendable {
  /// A criterion or another metric then and now.
  public struct Change: Sendable {
    public enum Judgement: String, Sendable, Hashable, CaseIterable {
      /// Every seed gave what it gave then.
      case unchanged
      /// Moved, by less than the tolerance.
      case tolerated
      case better
      case worse
    }

    package let criterion: Criterion
    package let figures: (then: Figure, now: Figure)
    /// What it is now by the rule of verdicts.
    let standing: MetricRule.Standing
    /// Whether the verdict decides by it.
    let isCriterion: Bool
    /// nil of what is no metric: a fleet that holds its load, and runs that fail.
    package var recorded: Baseline.Entry?
    var now: [MetricValue] = []
    /// Now minus then, seed by seed.
    package var difference = PairedDifference(SampleStatistics())
    /// Up to which difference the metric says nothing.
    var floor = 0.0

    package var metric: Metric? { figures.now.metric }
    /// The column of `summary.csv`, or a name of the same kind for what is none.
    package var column: String {
      metric?.name ?? (criterion == .health ? "baseline_is_healthy" : "failing_runs")
    }
    /// Where it stands in the baseline; of what is no metric, the first line.
    package var line: Int { recorded?.line ?? 1 }
    package var title: String { metric?.title ?? (criterion == .health ? "health" : "failed runs") }

    /// Means then and now, of a time up to the end of the run; nil where no run has a value.
    package var means: (then: Double?, now: Double?) {
      (recorded?.values.compactMap(\.restricted).mean, now.compactMap(\.restricted).mean)
    }

    /// Runs that have a value now and had none then, or the other way round.
    package var appearances: Int { zip(now, recorded?.values ?? []).count { ($0 == .none) != ($1 == .none) } }

    /// Whether more times than then did not come while the run was watched: their horizon stands for them in the means.
    var comesLessOften: Bool {
      now.count(where: \.isCensored) > recorded?.values.count(where: \.isCensored) ?? 0
    }

    /// The change as a share of the recorded mean; nil where that is next to nothing or a time that never came, or where nobody knows
    /// by how much it moved.
    package var share: Double? {
      guard let then = means.then.map(abs), then > floor, !comesLessOften, !figures.then.isNever else {
        return nil
      }
      return difference.mean / then
    }

    package var judgement: Judgement {
      guard let recorded, let metric else {
        return standing == .worse
          ? .worse : standing == .better ? .better : standing == .asGood ? .unchanged : .tolerated
      }
      if now == recorded.values { return .unchanged }
      let isJudged = recorded.tolerance != .informational
      // A metric that is there no more, or suddenly, is no longer what was recorded.
      if appearances > 0 || now.count != recorded.values.count { return isJudged ? .worse : .tolerated }
      let moved = metric.direction == .higherIsBetter ? difference.mean < 0 : difference.mean > 0
      // Late events are judged less what was lost before: the standing says which way, where there is one.
      let isWorse = standing.isDecided && standing != .asGood ? standing == .worse : moved
      guard exceeds(recorded.tolerance) else { return .tolerated }
      return !isWorse && metric.direction != .neither ? .better : isJudged ? .worse : .tolerated
    }

    private func exceeds(_ tolerance: Metric.Tolerance) -> Bool {
      switch tolerance {
      // By how much a time is longer that did not come nobody knows.
      case .relative where comesLessOften, .absolute where comesLessOften: true
      case .relative(let share): abs(difference.mean) > share * abs(means.then ?? 0)
      case .absolute(let limit): abs(difference.mean) > limit
      case .notSignificantlyWorse, .informational: standing.isDecided
      }
    }
  }

  public let baseline: Baseline
  /// Whether other Settings are judged, as a decision on them does.
  package let isOfSettings: Bool
  /// Health and failures, if the baseline has the metrics that tell, then every metric in the verdict's order.
  public let changes: [Change]
  /// The runs now, in the order of the seeds.
  package let runs: [RunSummary]

  /// Seven criteria at this level: of fewer than one in fifty fleets that are as recorded anything is called worse.
  private static let level = MetricRule.Level(difference: 0.0025, equivalence: 0.05)

  /// - Parameter baseline: the recorded results.
  /// - Parameter summaries: those of the runs, in the order of the baseline's seeds.
  /// - Parameter interval: width of a row of their time series, microseconds.
  /// - Parameter isOfSettings: whether other Settings are judged, as a decision on them does.
  public init(
    _ baseline: Baseline, _ summaries: [RunSummary], interval: Int64, isOfSettings: Bool = false
  ) {
    (self.baseline, self.isOfSettings, runs) = (baseline, isOfSettings, summaries)
    let percent = summaries.map(\.judgedPercent).min() ?? 99
    let metrics = baseline.entries.map { entry in
      var metric = MetricCatalogue.metric(named: entry.metric)!.scaled(by: summaries.commonScale)
      if metric.name == MetricCatalogue.affectedDelivery { metric.title = MetricCatalogue.delivered(percent) }
      return metric
    }
    let now = metrics.map { metric in summaries.map { metric.value(of: $0) } }
    let standings = Standings(
      ReplicatedMetrics(
        variants: ["recorded", "now"], metrics: metrics, values: [baseline.entries.map(\.values), now]),
      rows: [baseline.runs, summaries], interval: interval, level: isOfSettings ? SeedPlan.level : Self.level,
      share: isOfSettings ? MetricRule.relevantShare : Metric.relevantShare)
    func change(_ criterion: Criterion, isCriterion: Bool = true) -> Change {
      Change(
        criterion: criterion, figures: (standings.figure(0, criterion), standings.figure(1, criterion)),
        standing: standings.standing(of: 1, to: 0, on: criterion), isCriterion: isCriterion)
    }
    let isKnown = Set(metrics.map(\.name)).isSuperset(of: [MetricCatalogue.lost, MetricCatalogue.created])
    let criteria = MetricCatalogue.criteria(hasIncidents: baseline.hasIncidents)
    changes =
      [change(.health)] + (isKnown ? [change(.failures)] : [])
      + baseline.entries.indices.map { index in
        var change = change(.metric(index), isCriterion: criteria.contains(metrics[index].name))
        (change.recorded, change.now) = (baseline.entries[index], now[index])
        change.difference = standings.metrics.difference(index, of: 1, to: 0)
        change.floor = standings.floor(index, 0, 1)
        return change
      }
  }

  /// The changes for the worse, in the verdict's order.
  public var worse: [Change] { changes.filter { $0.judgement == .worse } }

  /// The improvements by the verdict's criteria, but for those that may follow from something worse: all that ranks behind
  /// that.
  public var better: [Change] {
    changes.prefix { $0.judgement != .worse }.filter { $0.judgement == .better && $0.isCriterion }
  }

  /// Every metric.
  package var metrics: [Change] { changes.filter { $0.metric != nil } }

  /// Runs that fail now and did not then, too few of them to tell; nil: none.
  package var open: Change? {
    changes.first { $0.criterion == .failures && $0.standing == .undecided && failing.now > failing.then }
  }

  /// How many of the runs failed, and fail.
  package var failing: (then: Int, now: Int) {
    (baseline.runs.count(where: \.fails), runs.count(where: \.fails))
  }

  /// The main cause of the events that are lost now and were not then, of the whole fleet; nil: no loss is worse.
  package var loss: LossCharge? {
    let isLoss = worse.contains { change in
      change.criterion == .failures && runs.contains { $0.fails && !$0.neverRecovers }
        || change.metric?.name == MetricCatalogue.lost
    }
    guard isLoss else { return nil }
    func growth(_ reason: Measure) -> Double {
      changes.first { $0.metric?.name == reason.summaryColumn }?.difference.mean ?? 0
    }
    guard let reason = (Measure.drops + Measure.blocks).max(by: { growth($0) < growth($1) }),
      growth(reason) > 0
    else { return nil }
    return LossCharge(cohort: 0, reason: reason, events: Int64(growth(reason)))
  }
}
