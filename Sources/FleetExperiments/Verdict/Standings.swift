import FleetMetrics

/// A criterion of verdicts, in this order: the first that is decided decides between two variants.
package enum Criterion: Sendable, Hashable {
  /// Whether the fleet holds its load without incidents.
  case health
  /// How many of the runs fail: they never recover, or lose too much of what an incident affected.
  case failures
  /// A metric, by its place in `MetricCatalogue.all`.
  case metric(Int)

  /// `caught up`: what it is about, in a sentence without a figure.
  package func words(_ metrics: [Metric]) -> String {
    switch self {
    case .health: "health without incidents"
    case .failures: "failed runs"
    case .metric(let index): metrics[index].words
    }
  }
}

/// The order of the variants, pair by pair with the criterion that decides: of one seed or of many.
package struct Standings: Sendable {
  /// The comparison of two variants: the standing of the second against the first, which is as good only if it is so by every
  /// criterion, and the criterion that decided, or that leaves it undecided; nil of variants that are as good as each other.
  package typealias Pair = (standing: MetricRule.Standing, criterion: Criterion?)

  package let variants: [String]
  /// The names of the variants in sentences.
  package private(set) var titles: [String]
  /// Whether somebody can choose among the variants: not among lengths of an outage.
  private(set) var areOptions = true
  package let metrics: ReplicatedMetrics
  /// Seeds of the variant that has the fewest.
  package let seeds: Int
  /// By variant, in the order of the seeds.
  let runs: [[RunSummary]]
  /// Width of a row of the time series, seconds.
  let interval: Double
  /// How often a criterion may be told wrong.
  package let level: MetricRule.Level
  /// Differences up to this share of the better mean do not matter.
  private let share: Double
  private var pairs: [Pair] = []
  /// The smallest group whose every member is better than everybody outside of it (Smith's set), in the given order.
  ///
  /// Leaving a variant out that is not in it does not change it: J. H. Smith, "Aggregation of preferences with variable
  /// electorate", Econometrica 41 (1973).
  package private(set) var leaders: [Int] = []

  /// - Parameter rows: each variant's summaries, in the order of the seeds.
  /// - Parameter interval: width of a row of the time series, microseconds.
  /// - Parameter metrics: the verdict's are enough to know who is ahead.
  /// - Parameter level: how often a criterion may be told wrong: `SeedPlan.level` where looks decide how many seeds there
  ///   are.
  package init(
    _ variants: [String], rows: [[RunSummary]], interval: Int64, metrics: [Metric] = MetricCatalogue.all,
    level: MetricRule.Level = .once
  ) {
    self.init(
      ReplicatedMetrics(variants: variants, rows: rows, metrics: metrics), rows: rows, interval: interval,
      level: level)
  }

  package init(_ trial: Trial) {
    self.init(
      trial.variants, rows: trial.rowsByVariant,
      interval: trial.curves.compactMap(\.facts?.interval).max() ?? 0,
      level: trial.plan.until == nil || trial.isOfOneRun ? .once : SeedPlan.level)
  }

  /// - Parameter rows: by variant, runs that came to `metrics`.
  init(
    _ metrics: ReplicatedMetrics, rows: [[RunSummary]], interval: Int64, level: MetricRule.Level,
    share: Double = MetricRule.relevantShare
  ) {
    (self.level, self.share) = (level, share)
    variants = metrics.variants
    titles = metrics.variants
    self.metrics = metrics
    runs = rows
    seeds = runs.map(\.count).min() ?? 0
    self.interval = Double(interval) / 1e6
    for second in variants.indices { for first in 0..<second { pairs.append(judge(second, against: first)) } }
    leaders = findLeaders()
  }

  /// The same with what differs between the variants, so that sentences call them by it; of another number of them, as it is.
  package func telling(_ choices: [VariantChoice]) -> Standings {
    guard choices.count == variants.count else { return self }
    var standings = self
    standings.titles = choices.map { $0.title + $0.mark }
    standings.areOptions = choices.allSatisfy(\.isOption)
    return standings
  }

  // MARK: Pairs

  /// `second` against `first`.
  package func pair(_ second: Int, against first: Int) -> Pair {
    if second < first {
      let pair = pair(first, against: second)
      return (pair.standing.reversed, pair.criterion)
    }
    return pairs[second * (second - 1) / 2 + first]
  }

  /// One more than the number of variants that are better.
  package func rank(of variant: Int) -> Int {
    1 + variants.indices.count { $0 != variant && pair($0, against: variant).standing == .better }
  }

  /// The same by one metric; nil of one without direction and of variants without a value.
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
    let haveIncidents = [first, second].allSatisfy { runs[$0].allSatisfy { $0.recoveryHorizon != nil } }
    return [.health, .failures]
      + MetricCatalogue.criteria(hasIncidents: haveIncidents).compactMap { name in
        metrics.index(of: name).map(Criterion.metric)
      }
  }

  private func judge(_ second: Int, against first: Int) -> Pair {
    let findings = criteria(first, second).map {
      (criterion: $0, finding: finding(of: second, to: first, on: $0))
    }
    if let decision = findings.firstIndex(where: { $0.finding.standing.isDecided }) {
      let open = findings[..<decision].first { $0.finding.mayOutweigh(findings[decision].finding) }
      return (
        open == nil ? findings[decision].finding.standing : .undecided,
        open?.criterion ?? findings[decision].criterion
      )
    }
    let all = findings.filter { $0.finding.standing == .undecided }
    let open = all.first { abs($0.finding.mean) > 1 } ?? all.first
    return (open == nil ? .asGood : .undecided, open?.criterion)
  }

  /// Returns the finding of the runs on `second` against `first` by one criterion.
  package func finding(
    of second: Int, to first: Int, on criterion: Criterion
  ) -> MetricRule.Finding {
    switch criterion {
    case .health:
      let (a, b) = (isHealthy(first), isHealthy(second))
      return MetricRule.Finding(standing: a == b ? .asGood : b ? .better : .worse)
    case .failures:
      let pairs = zip(runs[first], runs[second]).filter { $0.fails != $1.fails }
      return MetricRule.finding(
        onlyFirst: pairs.count { $0.0.fails }, onlySecond: pairs.count { $0.1.fails },
        of: min(runs[first].count, runs[second].count),
        byOneThrow: pairs.contains { $0.neverRecovers || $1.neverRecovers }, at: level)
    case .metric(let index):
      let metric = metrics.metrics[index]
      let today = metrics.values(of: index, variant: first)
      var values = metrics.values(of: index, variant: second)
      if metric.name == MetricCatalogue.late,
        let lost = metrics.index(of: MetricCatalogue.lost)
      {
        values = MetricRule.late(
          of: values, to: today,
          lost: (metrics.values(of: lost, variant: second), metrics.values(of: lost, variant: first)))
      }
      return MetricRule.finding(
        of: values, to: today, lowerIsBetter: metric.direction != .higherIsBetter,
        floor: floor(index, first, second),
        clump: metric.unit == "events" ? batch(first, second) : nil, share: share, at: level)
    }
  }

  package func standing(of second: Int, to first: Int, on criterion: Criterion) -> MetricRule.Standing {
    finding(of: second, to: first, on: criterion).standing
  }

  /// Whether most of a variant's twins hold their load.
  package func isHealthy(_ variant: Int) -> Bool {
    runs[variant].count { !$0.baselineIsHealthy } * 2 <= runs[variant].count
  }

  /// Up to which difference a metric says nothing.
  package func floor(_ index: Int, _ first: Int, _ second: Int) -> Double {
    metrics.metrics[index].floor(createdEvents: mean(first, second, .createdEvents), interval: interval)
  }

  private func batch(_ first: Int, _ second: Int) -> Double {
    MetricRule.clump(
      createdEvents: mean(first, second, .createdEvents),
      settledBatches: mean(first, second, .settledBatches))
  }

  private func mean(_ first: Int, _ second: Int, _ measure: Measure) -> Double {
    (runs[first] + runs[second]).map { Double($0[measure]) }.mean ?? 0
  }

  // MARK: All of them

  /// Whether no figure of any run tells one from another.
  package var areAllTheSame: Bool {
    Set(variants.indices.map(isHealthy)).count == 1
      && metrics.metrics.indices.allSatisfy { index in
        variants.indices.dropFirst().allSatisfy {
          metrics.values(of: index, variant: $0) == metrics.values(of: index, variant: 0)
        }
      }
  }

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

  /// The variants that a tick marks: the leaders, unless those are all of them.
  package var ticked: [Int] { leaders.count < variants.count ? leaders : [] }

  /// The first of the leaders in `order`.
  package var firstChoice: Int? { order.first { leaders.contains($0) } }

  /// Every variant, the best first: by what is better than it, then by the criteria's means.
  package var order: [Int] {
    let keys = variants.indices.map { variant in
      [Double(rank(of: variant)), isHealthy(variant) ? 0 : 1, Double(runs[variant].count(where: \.fails))]
        + MetricCatalogue.ranked.compactMap(metrics.index(of:)).map {
          metrics.sample($0, variant: variant).mean
        }
    }
    return variants.indices.sorted { a, b in
      for (x, y) in zip(keys[a], keys[b]) where x != y { return x < y }
      return a < b
    }
  }
}

extension RunSummary {
  /// Whether more than 1 % as many events as the incident affected are lost or blocked beyond the twin's; without an incident more
  /// than 1 % of all.
  var losesTooMuch: Bool {
    excessLoss > affectedEvents / 100
  }

  private var excessLoss: Int64 { lostOrBlockedEvents - (hasIncidents ? baseline.lostEvents : 0) }
  /// The events lost or blocked beyond the twin's, divided by those that the incident affected; nil: it affected none.
  var lossShare: Double? { affectedEvents > 0 ? Double(excessLoss) / Double(affectedEvents) : nil }

  /// Whether the run never recovers, or loses too much.
  package var fails: Bool { neverRecovers || losesTooMuch }

  /// Whether the server had next to nothing to spare from the incidents to the end.
  var isBusyThroughout: Bool {
    guard let idle = idleWhileBackloggedSeconds, let horizon = recoveryHorizon else { return false }
    return neverRecovers && possibleTime == nil && idle <= Double(horizon) / 1e6 / 100
  }
}
