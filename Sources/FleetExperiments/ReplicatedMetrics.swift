import FleetMetrics
import FleetStatistics

/// Every metric of every replication of every variant, and what can be concluded from them.
///
/// Replication i of all variants has the same seed (common random numbers), so variants are compared by their paired
/// differences. Variants may have different numbers of replications: a pair counts those that both have.
public struct ReplicatedMetrics: Sendable {
  public let metrics: [Metric]
  public let variants: [String]
  /// By variant, metric and replication.
  private var values: [[[MetricValue]]]

  public init(variants: [String], metrics: [Metric] = MetricCatalogue.all) {
    self.variants = variants
    self.metrics = metrics
    values = Array(repeating: Array(repeating: [], count: metrics.count), count: variants.count)
  }

  /// Adds the next replication of a variant.
  public mutating func add(_ summary: RunSummary, to variant: Int) {
    add(to: variant) { MetricCatalogue.columns[$0]?.value(summary).number }
  }

  /// The same of a row of `summary.csv` that was read back.
  /// - `column`: the number in a column, nil if it is empty.
  public mutating func add(to variant: Int, _ column: (_ name: String) -> Double?) {
    for (index, metric) in metrics.enumerated() {
      values[variant][index].append(metric.value(column))
    }
  }

  /// Replications of a variant.
  public func replications(of variant: Int) -> Int { values[variant].first?.count ?? 0 }

  /// The values of a variant in order of replication.
  /// - `metric`: index in `metrics`.
  public func values(of metric: Int, variant: Int) -> [MetricValue] { values[variant][metric] }

  /// Of the replications that have a value; of a censored time its mean up to the horizon.
  public func sample(_ metric: Int, variant: Int) -> SampleStatistics {
    SampleStatistics(values[variant][metric].lazy.compactMap(\.restricted))
  }

  /// The expected value of the same with its 95 % interval, if there is one that can be trusted.
  ///
  /// Runs that never recover are of another kind than those that do. Where all recovered, the interval is of the runs that do (and
  /// `share` tells how many may not); where fewer than five of either kind were seen, there is none.
  public func estimate(_ metric: Int, variant: Int) -> MeanEstimate {
    var estimate = MeanEstimate(values[variant][metric].compactMap(\.restricted))
    let recovery = metrics.firstIndex { $0.name == MetricCatalogue.recovery }
    if let share = recovery.flatMap({ self.share($0, variant: variant) }) {
      let few = min(share.successes, share.count - share.successes)
      if few > 0, few < MeanEstimate.fewestOthers { estimate.refuse() }
    }
    return estimate
  }

  /// The verdict's metrics: attempts are those above the twin's where there is an incident, else all of them.
  package var ranked: [Int] {
    let index = metrics.firstIndex { $0.name == MetricCatalogue.recovery }
    let haveIncidents =
      index.map { index in values.contains { $0[index].contains { $0 != .none } } } ?? false
    let left = haveIncidents ? MetricCatalogue.attempts : MetricCatalogue.attemptsAboveTwin
    return metrics.indices.filter { metrics[$0].isHeadline && metrics[$0].name != left }
  }

  /// How many of a variant's runs lived to see a censored time; nil of other metrics and without any such run.
  public func share(_ metric: Int, variant: Int) -> WilsonInterval? {
    guard metrics[metric].isCensored else { return nil }
    let times = values[variant][metric].filter { $0.horizon != nil }
    guard !times.isEmpty else { return nil }
    let seen = times.count { if case .time = $0 { true } else { false } }
    return WilsonInterval(successes: seen, of: times.count)
  }

  /// `variant` minus `reference`, replication by replication.
  public func difference(_ metric: Int, of variant: Int, to reference: Int) -> PairedDifference {
    var sample = SampleStatistics()
    for (value, other) in zip(values[variant][metric], values[reference][metric]) {
      if let difference = value.difference(to: other) { sample.add(difference) }
    }
    return PairedDifference(sample)
  }

  /// By what factor common random numbers narrow the interval of that difference: what independent runs of both variants
  /// would give, by their own variances, over what the pairs give. nil where the pairs don't vary.
  public func commonRandomNumbersFactor(_ metric: Int, of variant: Int, to reference: Int) -> Double? {
    let paired = difference(metric, of: variant, to: reference).sample.variance
    guard let paired, paired > 0, let a = sample(metric, variant: variant).variance,
      let b = sample(metric, variant: reference).variance
    else { return nil }
    return ((a + b) / paired).squareRoot()
  }

  /// All pairs with Holm's adjustment over them, and ranks in which variants tie that can't be told apart.
  ///
  /// Of a metric without a direction the pairs stand and ranks mean nothing.
  public func ranking(_ metric: Int) -> PairwiseRanking {
    PairwiseRanking(
      systems: variants.count, lowerIsBetter: metrics[metric].direction != .higherIsBetter,
      hasValues: { variant in values[variant][metric].contains { $0.restricted != nil } },
      difference: { first, second in difference(metric, of: second, to: first) })
  }
}

// MARK: When replications are enough

extension ReplicatedMetrics {
  /// Whether the means of all variants are as precise as that.
  package func meets(_ precision: ReplicationPlan.Precision) -> Bool {
    guard let metric = metrics.firstIndex(where: { $0.name == precision.metric }) else { return true }
    let rule = SequentialStoppingRule(precision.target)
    return variants.indices.allSatisfy { variant in
      guard replications(of: variant) >= rule.minimumReplications else { return false }
      let sample = sample(metric, variant: variant)
      // A variant without any value, as without incidents a recovery, cannot become precise. Runs that all gave the same, or
      // that all ended before the time came, tell nothing of how precise their mean is.
      if sample.count == 0 { return true }
      if let share = share(metric, variant: variant), share.successes == 0 { return false }
      return rule.isMet(by: sample) && rule.isMet(by: estimate(metric, variant: variant))
    }
  }

  /// Whether it is known of all variants within `risk` how many of the runs never recover: hardly any, nearly all, or a share of
  /// both kinds.
  package func knowsRisk(within risk: Double) -> Bool {
    guard let recovery = metrics.firstIndex(where: { $0.name == MetricCatalogue.recovery }) else {
      return true
    }
    return variants.indices.allSatisfy { variant in
      guard let share = share(recovery, variant: variant) else { return true }
      let (low, high) = (1 - share.high, 1 - share.low)
      return high <= risk || low >= 1 - risk || (low > 0 && high < 1 && high - low <= 2 * risk)
    }
  }
}
