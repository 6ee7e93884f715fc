import FleetMetrics
import FleetStatistics

/// What verdicts look at, in this order: the first on which two variants are not equal decides between them.
package enum Criterion: Sendable, Hashable {
  /// Whether the fleet holds its load without incidents.
  case health
  /// How many of the runs recover.
  case recovers
  /// A metric, by its place in `MetricCatalogue.all`.
  case metric(Int)
}

/// Who is ahead of whom among variants, and by what: of one seed or of many.
package struct Standings: Sendable {
  /// What two variants come to.
  package struct Pair: Sendable, Hashable {
    /// Of the second against the first: `.better`, `.worse`, `.ahead`, `.behind`, `.equal` in everything, or `.open`.
    package var standing: MetricRule.Standing
    /// What decided, or what nobody can decide; nil of variants that are equal.
    package var criterion: Criterion?
  }

  package let variants: [String]
  package let metrics: ReplicatedMetrics
  /// Seeds of the variant that has the fewest.
  package let seeds: Int
  /// What is known of a run beside its metrics.
  struct Run: Sendable {
    var hasIncidents: Bool
    var recovers: Bool
    var isHealthy: Bool
    /// Why it is not.
    var baseline = BaselineHealth()
    var createdEvents: Double
    var settledBatches: Double
  }

  /// By variant, in the order of the seeds.
  let runs: [[Run]]
  /// Width of a row of the time series, seconds.
  private let interval: Double
  private var pairs: [Pair] = []
  /// The smallest group whose every member is better than everybody outside of it (Smith's set), in the given order.
  ///
  /// Leaving a variant out that is not in it does not change it: J. H. Smith, "Aggregation of preferences with variable
  /// electorate", Econometrica 41 (1973).
  package private(set) var leaders: [Int] = []

  /// - Parameters:
  ///   - rows: each variant's summaries, in the order of the seeds.
  ///   - interval: width of a row of the time series, microseconds.
  ///   - metrics: the verdict's are enough to know who is ahead.
  package init(
    _ variants: [String], rows: [[RunSummary]], interval: Int64, metrics: [Metric] = MetricCatalogue.all
  ) {
    var metrics = ReplicatedMetrics(variants: variants, metrics: metrics)
    for (variant, rows) in rows.enumerated() { for row in rows { metrics.add(row, to: variant) } }
    self.init(metrics, rows: rows, interval: interval)
  }

  /// Of one run of each variant.
  package init(_ results: [VariantResult]) {
    self.init(
      results.map(\.name), rows: results.map { [$0.summary] },
      interval: results.map(\.record.series.interval).max() ?? 0)
  }

  package init(_ comparison: ReplicatedComparison) {
    self.init(
      comparison.metrics, rows: comparison.variants.indices.map { comparison.rows(of: $0) },
      interval: comparison.curves.compactMap(\.facts?.interval).max() ?? 0)
  }

  private init(_ metrics: ReplicatedMetrics, rows: [[RunSummary]], interval: Int64) {
    variants = metrics.variants
    self.metrics = metrics
    runs = rows.map { $0.map { Run($0) } }
    seeds = runs.map(\.count).min() ?? 0
    self.interval = Double(interval) / 1e6
    for second in variants.indices { for first in 0..<second { pairs.append(judge(second, against: first)) } }
    leaders = findLeaders()
  }

  // MARK: Pairs

  /// `second` against `first`.
  package func pair(_ second: Int, against first: Int) -> Pair {
    if second < first {
      let pair = pair(first, against: second)
      return Pair(standing: pair.standing.reversed, criterion: pair.criterion)
    }
    return pairs[second * (second - 1) / 2 + first]
  }

  /// One more than the number of variants that are better.
  package func rank(of variant: Int) -> Int {
    1 + variants.indices.count { $0 != variant && pair($0, against: variant).standing == .better }
  }

  /// The same by one metric alone; nil of a metric without direction and of variants without a value.
  package func rank(of variant: Int, by metric: Int) -> Int? {
    guard metrics.metrics[metric].direction != .neither,
      metrics.values(of: metric, variant: variant).contains(where: { $0.restricted != nil })
    else { return nil }
    return 1
      + variants.indices.count {
        $0 != variant && standing(of: $0, to: variant, on: .metric(metric)) == .better
      }
  }

  /// The criteria between two variants, in their order.
  package func criteria(_ first: Int, _ second: Int) -> [Criterion] {
    let haveIncidents = [first, second].allSatisfy { runs[$0].allSatisfy(\.hasIncidents) }
    let names = MetricCatalogue.ranked.filter {
      $0 != (haveIncidents ? MetricCatalogue.attempts : MetricCatalogue.attemptsAboveTwin)
    }
    return [.health, .recovers]
      + names.compactMap { name in metrics.metrics.firstIndex { $0.name == name }.map(Criterion.metric) }
  }

  private func judge(_ second: Int, against first: Int) -> Pair {
    var lead: Pair?
    for criterion in criteria(first, second) {
      let standing = standing(of: second, to: first, on: criterion)
      switch standing {
      case .equal, .incomparable: continue
      case .open: return lead ?? Pair(standing: .open, criterion: criterion)
      case .ahead, .behind:
        guard let earlier = lead else {
          lead = Pair(standing: standing, criterion: criterion)
          // Whether a fleet recovers is one throw of a die, and all that follows from it is the same throw. Of equal variants
          // three throws all fall so in at most 2 · 4⁻³ of the cases.
          if criterion == .recovers, seeds < 3 { return Pair(standing: standing, criterion: criterion) }
          continue
        }
        if earlier.standing != standing { return earlier }
      case .better, .worse:
        // What chance may explain on a criterion that counts for more must at least not say the opposite.
        if let lead, (lead.standing == .ahead) != (standing == .better) { return lead }
        return Pair(standing: standing, criterion: criterion)
      }
    }
    return lead ?? Pair(standing: .equal, criterion: nil)
  }

  package func standing(of second: Int, to first: Int, on criterion: Criterion) -> MetricRule.Standing {
    switch criterion {
    case .health:
      let (a, b) = (isHealthy(first), isHealthy(second))
      return a == b ? .equal : b ? .better : .worse
    case .recovers:
      let pairs = zip(runs[first], runs[second]).filter { $0.hasIncidents && $1.hasIncidents }
      return MetricRule.standing(
        onlyFirst: pairs.count { $0.recovers && !$1.recovers },
        onlySecond: pairs.count { !$0.recovers && $1.recovers }, of: pairs.count)
    case .metric(let index):
      return MetricRule.standing(
        of: metrics.values(of: index, variant: second), to: metrics.values(of: index, variant: first),
        lowerIsBetter: metrics.metrics[index].direction != .higherIsBetter,
        floor: floor(index, first, second))
    }
  }

  /// Whether most of a variant's twins hold their load.
  package func isHealthy(_ variant: Int) -> Bool {
    runs[variant].count { !$0.isHealthy } * 2 <= runs[variant].count
  }

  /// Up to which difference a metric says nothing.
  package func floor(_ index: Int, _ first: Int, _ second: Int) -> Double {
    let metric = metrics.metrics[index]
    if metric.name == MetricCatalogue.attemptsAboveTwin { return 0.5 }
    if metric.isCensored { return interval }
    guard metric.unit == "events" else { return 0 }
    let both = runs[first] + runs[second]
    let created = both.reduce(0.0) { $0 + $1.createdEvents } / Double(max(both.count, 1))
    let settled = both.reduce(0.0) { $0 + $1.settledBatches } / Double(max(both.count, 1))
    // Events come and go in batches: a count of them varies as the number of batches does.
    let batch = settled > 0 ? max(1, created / settled) : 1
    let counts =
      abs(metrics.sample(index, variant: first).mean) + abs(metrics.sample(index, variant: second).mean)
    return max(created / 10_000, 3 * (counts * batch / Double(max(seeds, 1))).squareRoot())
  }

  // MARK: All of them

  private func findLeaders() -> [Int] {
    func beats(_ a: Int, _ b: Int) -> Bool { pair(a, against: b).standing == .better }
    let wins = variants.indices.map { a in variants.indices.count { $0 != a && beats(a, $0) } }
    guard let best = variants.indices.max(by: { wins[$0] < wins[$1] }) else { return [] }
    var group: Set<Int> = [best]
    var grows = true
    while grows {
      let more = variants.indices.filter { v in
        !group.contains(v) && group.contains { !beats($0, v) }
      }
      group.formUnion(more)
      grows = !more.isEmpty
    }
    return group.sorted()
  }

  /// Whom a tick marks: the leaders, unless those are all of them.
  package var ticked: [Int] { leaders.count < variants.count ? leaders : [] }

  /// Of the front the best by the means, where nobody is a favourite.
  package var firstChoice: Int? { favourite ?? order.first { front.contains($0) } }

  /// Those of the leaders that no other one is better than: in their order.
  package var front: [Int] {
    let front = leaders.filter { a in
      leaders.allSatisfy { $0 == a || pair($0, against: a).standing != .better }
    }
    return front.isEmpty ? leaders : front
  }

  /// Of the front, who is ahead or equal against every other one; nil where there is no such variant, or several.
  package var favourite: Int? {
    let front = front
    let ahead = front.filter { a in
      front.allSatisfy {
        $0 == a || [.ahead, .equal, .better].contains(pair(a, against: $0).standing)
      } && front.contains { $0 != a && pair(a, against: $0).standing == .ahead }
    }
    return front.count == 1 ? front[0] : ahead.count == 1 ? ahead[0] : nil
  }

  /// Every variant, the best first: by what is better than it, then by the criteria's means.
  package var order: [Int] {
    let ranks = variants.indices.map { rank(of: $0) }
    let keys = variants.indices.map { meanOrder($0) }
    return variants.indices.sorted { a, b in
      if ranks[a] != ranks[b] { return ranks[a] < ranks[b] }
      for (x, y) in zip(keys[a], keys[b]) where x != y { return x < y }
      return a < b
    }
  }

  private func meanOrder(_ variant: Int) -> [Double] {
    let recoveries = runs[variant].count { $0.hasIncidents && !$0.recovers }
    return [isHealthy(variant) ? 0 : 1, Double(recoveries)]
      + MetricCatalogue.ranked.compactMap { name in metrics.metrics.firstIndex { $0.name == name } }.map {
        metrics.sample($0, variant: variant).mean
      }
  }
}

extension Standings.Run {
  fileprivate init(_ run: RunSummary) {
    hasIncidents = run.hasIncidents
    recovers = run.recoveryTime != nil
    isHealthy = run.baselineIsHealthy
    baseline = run.baseline
    createdEvents = Double(run[.createdEvents])
    settledBatches = Double(run[.settledBatches])
  }
}
