import FleetMetrics
import FleetStatistics
import ScenarioModel

/// The result of runs against their baseline, by the verdict's criteria in their order and then by all that its editor asked
/// for.
public struct BaselineCheck: Sendable {
  /// A criterion then and now.
  public enum Change: Sendable {
    /// Whether the fleet holds its load without incidents.
    case health
    /// How many of the runs fail.
    case failures(Failures)
    case metric(MetricChange)
  }

  /// How many of the runs fail: they never recover, or they lose more than 1 % of the events created.
  public struct Failures: Sendable, Hashable {
    public let then: Int
    public let now: Int
    public let runs: Int
    /// Those of them now that never recover; the others lose too much.
    public let neverRecover: Int
    package let standing: MetricRule.Standing
  }

  public let baseline: Baseline
  /// Whether other Settings are judged, as a decision on them does.
  package let isOfSettings: Bool
  public let changes: [MetricChange]
  /// nil: the baseline lacks the metrics that tell.
  public let failures: Failures?
  /// Whether most twins held their load when it was recorded, and do now.
  public let health: (then: Bool, now: Bool)
  /// The health of the fleet now, judged by its twins, seed by seed.
  public let twins: [BaselineHealth]

  /// Seven criteria at this level: of fewer than one in fifty fleets that are as recorded anything is called worse.
  private static let level = MetricRule.Level(difference: 0.0025, equivalence: 0.05)

  /// - Parameter baseline: the recorded results.
  /// - Parameter summaries: those of the runs, in the order of the baseline's seeds.
  /// - Parameter interval: width of a row of their time series, microseconds.
  /// - Parameter isOfSettings: whether other Settings are judged, as a decision on them does.
  public init(
    _ baseline: Baseline, _ summaries: [RunSummary], interval: Int64, isOfSettings: Bool = false
  ) {
    (self.baseline, self.isOfSettings) = (baseline, isOfSettings)
    twins = summaries.map(\.baseline)
    let metrics = baseline.entries.map { entry in
      MetricCatalogue.metric(named: entry.metric)!.scaled(by: summaries.commonScale)
    }
    let now = metrics.map { metric in summaries.map { metric.value(of: $0) } }
    let rows = [baseline.runs, summaries]
    let standings = Standings(
      ReplicatedMetrics(
        variants: ["recorded", "now"], metrics: metrics, values: [baseline.entries.map(\.values), now]),
      rows: rows, interval: interval, level: isOfSettings ? SeedPlan.level : Self.level,
      share: isOfSettings ? MetricRule.relevantShare : Metric.relevantShare)
    let criteria = MetricCatalogue.criteria(hasIncidents: baseline.hasIncidents)
    changes = baseline.entries.indices.map { index in
      MetricChange(
        metric: metrics[index], entry: baseline.entries[index], now: now[index],
        isCriterion: criteria.contains(metrics[index].name),
        difference: standings.metrics.difference(index, of: 1, to: 0), floor: standings.floor(index, 0, 1),
        standing: standings.standing(of: 1, to: 0, on: .metric(index)))
    }
    health = (standings.isHealthy(0), standings.isHealthy(1))
    let failing = rows.map { $0.count(where: \.fails) }
    let isKnown = Set(metrics.map(\.name)).isSuperset(of: [MetricCatalogue.lost, MetricCatalogue.created])
    failures =
      isKnown
      ? Failures(
        then: failing[0], now: failing[1], runs: summaries.count,
        neverRecover: summaries.count(where: \.neverRecovers),
        standing: standings.standing(of: 1, to: 0, on: .failures)) : nil
    worse = found(.worse)
    let worst = worse.first.map(rank) ?? .max
    better = found(.better).filter { change in
      if case .metric(let metric) = change, !metric.isCriterion { return false }
      return rank(change) < worst
    }
  }

  /// The changes for the worse, in the verdict's order.
  public private(set) var worse: [Change] = []
  /// The improvements by the verdict's criteria, but for those that may follow from something worse: all that ranks behind
  /// that.
  public private(set) var better: [Change] = []

  /// Runs that fail now and did not then, too few of them to tell; nil: none.
  public var open: Failures? { failures.flatMap { $0.now > $0.then && $0.standing == .undecided ? $0 : nil } }

  private func found(_ judgement: MetricChange.Judgement) -> [Change] {
    var found: [Change] = []
    if health.then != health.now, health.now == (judgement == .better) { found.append(.health) }
    if let failures, failures.standing == (judgement == .better ? .better : .worse) {
      found.append(.failures(failures))
    }
    return found + changes.filter { $0.judgement == judgement }.map(Change.metric)
  }

  /// Its place among all criteria, the first first.
  private func rank(_ change: Change) -> Int {
    switch change {
    case .health: -2
    case .failures: -1
    case .metric(let change): changes.firstIndex { $0.metric.name == change.metric.name } ?? changes.count
    }
  }
}

extension BaselineCheck {
  /// Returns the main cause of the events that are lost now and were not then. `nil`: no loss is worse.
  ///
  ///     phones (tapi-document): backoffConfig.maxRetryCount 3 reached
  public func cause(of worse: [Change], in scenario: Scenario) -> String? {
    let isLoss = worse.contains { change in
      switch change {
      case .health: false
      case .failures(let failures): failures.neverRecover < failures.now
      case .metric(let change): change.metric.name == MetricCatalogue.lost
      }
    }
    guard isLoss else { return nil }
    func growth(_ reason: Measure) -> Double {
      changes.first { $0.metric.name == reason.summaryColumn }?.difference.mean ?? 0
    }
    guard let reason = (Measure.drops + Measure.blocks).max(by: { growth($0) < growth($1) }),
      growth(reason) > 0
    else { return nil }
    let charge = LossCharge(cohort: 0, reason: reason, events: Int64(growth(reason)))
    if scenario.fleet.count == 1 { return charge.text(in: scenario) }
    return charge.limit.map { "\($0.rawValue) reached" } ?? HealthWording.words(reason)
  }
}
