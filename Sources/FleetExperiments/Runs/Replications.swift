import FleetMetrics
import FleetSimulation
import FleetStatistics
import Synchronization

/// How often a comparison runs, and when that is enough.
public struct ReplicationPlan: Sendable, Hashable {
  /// Replication i has the seed `firstSeed` + i, for every variant.
  public var firstSeed: UInt64
  /// The number of replications, or with `until` the most of them.
  public var count: Int
  /// When it stops; nil: after `count`.
  package var until: SeedPlan?
  /// Whether all that comes of the first replication is kept.
  package var keepsFirst = false

  /// Replications until no criterion of the verdict is open, as far as the budget carries.
  package init(firstSeed: UInt64, until: SeedPlan) {
    self.init(firstSeed: firstSeed, count: SeedPlan.looks.last ?? 1)
    (self.until, keepsFirst) = (until, true)
  }

  /// One replication, of which all is kept.
  package static func one(seed: UInt64) -> ReplicationPlan {
    var plan = ReplicationPlan(firstSeed: seed, count: 1)
    plan.keepsFirst = true
    return plan
  }

  /// - `count`: at least 1; intervals need 2.
  public init(firstSeed: UInt64, count: Int) {
    self.firstSeed = firstSeed
    self.count = max(1, count)
  }

  /// The seed of a replication, counted from 0; after 2^64 − 1 comes 0.
  public func seed(of replication: Int) -> UInt64 { firstSeed &+ UInt64(replication) }
}

/// `count` seeds in a row, from `first`; behind the largest comes 0.
public struct SeedRange: Sendable, Hashable {
  public var first: UInt64
  /// At least 1.
  public var count: Int

  public init(first: UInt64, count: Int) {
    (self.first, self.count) = (first, count)
  }
}

/// A part of a plan's runs that one process makes.
public struct RunShard: Sendable, Hashable {
  /// From 1.
  public let number: Int
  /// How many shards there are.
  public let count: Int

  /// `2/4`; nil: there is no such shard.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let number = Int(parts[0]), let count = Int(parts[1]), (1...1_000_000).contains(count),
      (1...count).contains(number)
    else { return nil }
    (self.number, self.count) = (number, count)
  }

  /// Its part of so many runs in a row; no two parts differ by more than one.
  package func part(of runs: Int) -> Range<Int> { runs * (number - 1) / count..<runs * number / count }
}

/// What runs of variants came to: the figures of each seed, and all that came of the first one where it was kept.
public struct Trial: Sendable {
  public let variants: [String]
  public var plan: ReplicationPlan
  /// A row for each replication and variant, in that order.
  public var rows: [RunSummary] = []
  /// By variant.
  public var curves: [VariantCurves]
  /// The judgement of the plan's rule on these replications; nil without such a rule.
  package internal(set) var decision: SeedPlan.Decision?
  /// All that came of the first seed, by variant; empty where nothing was kept of it but figures.
  package internal(set) var first: [VariantResult] = []
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  public var isFinished = true

  /// A trial to which replications are added in the order of their seeds.
  package init(variants: [String], plan: ReplicationPlan) {
    (self.variants, self.plan) = (variants, plan)
    curves = variants.map { VariantCurves(name: $0) }
  }

  /// The trial of one run of each variant, whole.
  package init(_ results: [VariantResult]) {
    self.init(
      variants: results.map(\.name),
      plan: ReplicationPlan(firstSeed: results.first?.summary.seed ?? 0, count: 1))
    guard !results.isEmpty else { return }
    add(results)
    first = results
  }

  public var replications: Int { rows.count / max(variants.count, 1) }

  /// Whether it is of one seed of which all was kept: every interval of its runs is there.
  package var isOfOneRun: Bool { replications == 1 && !first.isEmpty }

  /// The seeds of the replications, in order.
  public var seeds: [UInt64] { rows(of: 0).map(\.seed) }

  /// `seeds 1 to 10`
  public var seedsText: String {
    guard let first = seeds.first, let last = seeds.last else { return "no seed" }
    return replications == 1 ? "seed \(first)" : "seeds \(first) to \(last)"
  }

  /// The rows of one variant, in order of replication.
  public func rows(of variant: Int) -> [RunSummary] {
    stride(from: variant, to: rows.count, by: max(variants.count, 1)).map { rows[$0] }
  }

  /// The rows of each variant, in order of replication.
  package var rowsByVariant: [[RunSummary]] { variants.indices.map { rows(of: $0) } }

  /// The common facts of each variant's runs, of the whole fleet; nil for a variant without runs.
  package var facts: [RunFacts?] {
    let scale = rows.commonScale
    return curves.map { curves in
      var facts = curves.facts
      facts?.scale = scale
      return facts
    }
  }

  /// Adds what every variant gave under the next seed.
  public mutating func add(_ results: [VariantResult]) {
    add(
      results.map { result in
        ReplicationSample(summary: result.summary, curves: CurveSample(result.record, twin: result.twin))
      })
  }

  fileprivate mutating func add(_ samples: [ReplicationSample]) {
    for (variant, sample) in samples.enumerated() {
      var summary = sample.summary
      summary.run = variants[variant]
      curves[variant].add(sample.curves)
      rows.append(summary)
    }
  }
}

/// Runs variants side by side with several seeds: all variants of a replication have the same one (common random numbers).
public enum Replications {
  /// Runs replications until there are enough.
  ///
  /// A result depends on the plan alone, not on the number of workers.
  /// - Parameter variants: at least one; their seeds are replaced, unless there is one replication, of which all is kept.
  /// - Returns: after `control.cancel()` what was known then, if anything was.
  /// - Throws: `CancellationError` if nothing was; otherwise the first error of a run.
  package static func run(
    _ variants: [Variant], plan: ReplicationPlan, in store: (any RunStore)? = nil,
    options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init(),
    engine: Comparison.Engine? = nil
  ) throws -> Trial {
    let found = Mutex(Trial(variants: variants.map(\.name), plan: plan))
    let runs = Runs(
      .replication, in: store, options: options, workers: workers, control: control, engine: engine)
    /// How many there are to be; nil: no more.
    func next(after made: Int) -> Int? {
      found.withLock { found in
        guard let until = plan.until else { return made < plan.count ? plan.count : nil }
        let attempts = found.rows.reduce(0) { $0 + $1.attempts }
        let decision = until.decision(Standings(found), attempts: attempts)
        found.decision = decision
        return decision.next
      }
    }
    do {
      var made = 0
      if plan.keepsFirst {
        expect(variants, 1, control)
        let seeded = variants.map {
          Variant(name: $0.name, scenario: $0.scenario.with(seed: plan.firstSeed))
        }
        let first = try Comparison.run(
          plan.count == 1 ? variants : seeded, options: options, workers: workers, control: control,
          engine: engine)
        found.withLock { found in
          found.add(first)
          found.first = first
        }
        made = 1
      }
      while let next = next(after: made) {
        expect(variants, Double(next), control)
        try runs.groups(
          next - made,
          of: { [made] index in variants.map { $0.scenario.with(seed: plan.seed(of: made + index)) } },
          take: { samples in found.withLock { $0.add(samples) } })
        made = next
      }
    } catch let error as CancellationError {
      // A stopped comparison keeps the replications known so far.
      found.withLock { $0.isFinished = false }
      if found.withLock({ $0.replications == 0 }) { throw error }
    }
    return found.withLock { $0 }
  }

  /// Makes a shard of the runs of a plan of so many replications, in a store that all shards have in common.
  ///
  /// Runs come seed after seed, so that two shards make at most one seed's twins both.
  package static func make(
    _ shard: RunShard, of variants: [Variant], plan: ReplicationPlan, in store: (any RunStore)?,
    options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init(),
    engine: Comparison.Engine? = nil
  ) throws {
    let mine = shard.part(of: plan.count * variants.count)
    if mine.isEmpty { return }
    let seeds = mine.lowerBound / variants.count...(mine.upperBound - 1) / variants.count
    expect(variants, Double(mine.count) / Double(variants.count), control)
    try Runs(.replication, in: store, options: options, workers: workers, control: control, engine: engine)
      .groups(
        seeds.count,
        of: { index in
          let replication = seeds.lowerBound + index
          return variants.enumerated().filter { mine.contains(replication * variants.count + $0.offset) }
            .map { $0.element.scenario.with(seed: plan.seed(of: replication)) }
        }, take: { _ in })
  }

  /// For the progress: so many replications, perhaps a part of one.
  private static func expect(
    _ variants: [Variant], _ count: Double, _ control: ComparisonControl
  ) {
    let runs = RunPlan.first(of: variants.map(\.scenario))
    let duration = runs.reduce(0.0) { $0 + Double($1.duration.microseconds) } * count
    control.expect(
      runs: Int((Double(runs.count) * count).rounded(.up)),
      duration: Int64(exactly: duration.rounded()) ?? .max)
  }
}

/// Every metric of every replication of every variant, and what can be concluded from them.
///
/// Replication i of all variants has the same seed (common random numbers), so variants are compared by their paired
/// differences. Variants may have different numbers of replications: a pair counts those that both have.
public struct ReplicatedMetrics: Sendable {
  /// All at the scale of the runs, if that is one.
  public private(set) var metrics: [Metric]
  public let variants: [String]
  /// The percentile by which delivery of the affected events is judged (`RunSummary.judgedPercent`): the least of all runs.
  package private(set) var judgedPercent = 99
  /// By variant, metric and replication.
  private let values: [[[MetricValue]]]

  package init(variants: [String], metrics: [Metric], values: [[[MetricValue]]]) {
    (self.variants, self.metrics, self.values) = (variants, metrics, values)
  }

  /// - `rows`: by variant and replication.
  public init(variants: [String], rows: [[RunSummary]], metrics: [Metric] = MetricCatalogue.all) {
    let all = rows.joined()
    let (scale, percent) = (Array(all).commonScale, all.map(\.judgedPercent).min() ?? 99)
    func value(_ metric: Metric, _ run: RunSummary) -> MetricValue {
      if metric.name != MetricCatalogue.affectedDelivery { return metric.value(of: run) }
      return metric.value { run.column($0 == metric.name ? "affected_delivery_p\(percent)_s" : $0) }
    }
    self.init(
      variants: variants, metrics: metrics.map { $0.scaled(by: scale) },
      values: rows.map { runs in metrics.map { metric in runs.map { value(metric, $0) } } })
    judgedPercent = percent
    if let place = index(of: MetricCatalogue.affectedDelivery) {
      self.metrics[place].title = MetricCatalogue.delivered(percent)
    }
  }

  package func index(of name: String) -> Int? { metrics.firstIndex { $0.name == name } }

  /// The values of a variant in order of replication.
  /// - `metric`: index in `metrics`.
  public func values(of metric: Int, variant: Int) -> [MetricValue] { values[variant][metric] }

  /// Returns the sample of the replications that have a value; a censored time counts up to the horizon.
  public func sample(_ metric: Int, variant: Int) -> SampleStatistics {
    SampleStatistics(values[variant][metric].lazy.compactMap(\.restricted))
  }

  /// The expected value of the same with its 95 % interval, if there is one that can be trusted.
  ///
  /// Runs that never recover are of another kind than those that do. Where all recovered, the interval is of the runs that do;
  /// `share` tells how many may not. Where fewer than five of either kind were seen, there is no interval.
  public func estimate(_ metric: Int, variant: Int) -> MeanEstimate {
    var estimate = MeanEstimate(values[variant][metric].compactMap(\.restricted))
    if let share = index(of: MetricCatalogue.recovery).flatMap({ self.share($0, variant: variant) }) {
      let few = min(share.successes, share.count - share.successes)
      if few > 0, few < MeanEstimate.fewestOthers { estimate.refuse() }
    }
    return estimate
  }

  /// The verdict's metrics: attempts are those above the twin's where there is an incident, else all of them.
  package var ranked: [Int] {
    let haveIncidents =
      index(of: MetricCatalogue.recovery).map { index in
        values.contains { $0[index].contains { $0 != .none } }
      } ?? false
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

  /// Returns the factor by which common random numbers narrow the interval of the difference of two variants. It divides the
  /// width that independent runs of both would give, by their own variances, by that of the pairs. `nil`: the pairs don't vary.
  public func commonRandomNumbersFactor(_ metric: Int, of variant: Int, to reference: Int) -> Double? {
    let paired = difference(metric, of: variant, to: reference).sample.variance
    guard let paired, paired > 0, let a = sample(metric, variant: variant).variance,
      let b = sample(metric, variant: reference).variance
    else { return nil }
    return ((a + b) / paired).squareRoot()
  }
}
