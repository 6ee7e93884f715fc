import FleetMetrics
import FleetSimulation
import FleetStatistics
import SimulationKernel
import Synchronization

/// How often a comparison runs, and when that is enough.
public struct ReplicationPlan: Sendable, Hashable {
  /// A metric and how precise its mean has to be, for every variant.
  public struct Precision: Sendable, Hashable {
    /// Its column in `summary.csv`.
    public var metric: String
    public var target: SequentialStoppingRule.Target
    public init(metric: String, target: SequentialStoppingRule.Target) {
      self.metric = metric
      self.target = target
    }
  }

  /// Replication i has the seed `firstSeed` + i, for every variant.
  public var firstSeed: UInt64
  /// The number of replications, or with `precision` the most of them.
  public var count: Int
  /// Stop as soon as all of these are met; empty: run them all.
  public var precision: [Precision]
  /// With `precision`: stop no sooner than it is known within this share, with 95 % confidence, how many of the runs never
  /// recover. 73 runs that all recover tell that fewer than 5 % don't.
  public var risk: Double

  /// - `count`: at least 1; intervals need 2.
  public init(firstSeed: UInt64, count: Int, precision: [Precision] = [], risk: Double = defaultRisk) {
    self.firstSeed = firstSeed
    self.count = max(1, count)
    self.precision = precision
    self.risk = risk
  }

  public static let defaultRisk = 0.05

  /// The metrics that a precision without a name is asked of: those that the verdict ranks on, but for undelivered events,
  /// whose share of nearly nothing never becomes precise.
  public static let defaultMetrics = [
    MetricCatalogue.recovery, MetricCatalogue.affectedDelivery, MetricCatalogue.attempts,
  ]

  /// The seed of a replication, counted from 0; after 2^64 − 1 comes 0.
  public func seed(of replication: Int) -> UInt64 { firstSeed &+ UInt64(replication) }
}

/// What came of a comparison with replications.
public struct ReplicatedComparison: Sendable {
  public var plan: ReplicationPlan
  public var metrics: ReplicatedMetrics
  /// A row for each replication and variant, in that order.
  public var rows: [RunSummary] = []
  /// By variant.
  public var curves: [VariantCurves]
  /// What was asked for and is not met, after as many replications as there may be.
  public var unmet: [ReplicationPlan.Precision] = []
  /// The same of the risk of never recovering.
  public var riskIsUnknown = false
  public var replications = 0
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  public var isFinished = true

  init(variants: [String], plan: ReplicationPlan) {
    self.plan = plan
    metrics = ReplicatedMetrics(variants: variants)
    curves = variants.map { VariantCurves(name: $0) }
  }

  public var variants: [String] { metrics.variants }

  /// Of the replications, in order: from the plan's first on, but for those that a merge had to leave out.
  public var seeds: [UInt64] {
    stride(from: 0, to: rows.count, by: max(variants.count, 1)).map { rows[$0].seed }
  }

  /// `seeds 1 to 10`, `seeds 1, 3 and 4`.
  public var seedsText: String {
    let seeds = seeds
    guard let first = seeds.first, let last = seeds.last else { return "no seed" }
    if seeds.count == 1 { return "seed \(first)" }
    let isUnbroken = zip(seeds, seeds.dropFirst()).allSatisfy { $0 &+ 1 == $1 }
    if isUnbroken { return "seeds \(first) to \(last)" }
    if seeds.count > 20 { return "\(seeds.count) seeds of \(first) to \(last)" }
    return "seeds " + VerdictWording.list(seeds.map { "\($0)" })
  }

  /// The rows of one variant, in order of replication.
  public func rows(of variant: Int) -> [RunSummary] {
    stride(from: variant, to: rows.count, by: max(variants.count, 1)).map { rows[$0] }
  }
}

/// Runs variants side by side with several seeds: all variants of a replication have the same one (common random numbers).
public enum Replications {
  /// Runs replications until there are enough.
  ///
  /// A result depends on the plan alone, not on the number of workers: replications count in the order of their seeds,
  /// and what ran ahead when enough was known is dropped.
  /// - `variants`: at least one; their seeds are replaced.
  /// - `workers`: runs at a time, at least 1.
  /// - `store`: keeps the runs; nil: nobody.
  /// - Returns: after `control.cancel()` what was known then, if anything was.
  /// - Throws: `CancellationError` if nothing was; otherwise the error of the first run that failed.
  public static func run(
    _ variants: [Variant], plan: ReplicationPlan, in store: (any RunStore)? = nil,
    options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init()
  ) throws -> ReplicatedComparison {
    try run(
      variants, plan: plan, in: store, options: options, workers: workers, control: control, engine: nil)
  }

  package static func run(
    _ variants: [Variant], plan: ReplicationPlan, in store: (any RunStore)? = nil, options: RunOptions,
    workers: Int, control: ComparisonControl, engine: Comparison.Engine?
  ) throws -> ReplicatedComparison {
    expect(variants, plan, control)
    let found = Mutex(ReplicatedComparison(variants: variants.map(\.name), plan: plan))
    let runs = Runs(
      .replication, in: store, options: options, workers: workers, control: control, engine: engine)
    do {
      try runs.groups(
        plan.count,
        of: { replication in variants.map { $0.scenario.with(seed: plan.seed(of: replication)) } },
        take: { samples in
          found.withLock { found in
            found.add(samples)
            return !found.isEnough
          }
        })
    } catch let error as CancellationError {
      // What is known when it is stopped.
      found.withLock { $0.isFinished = false }
      if found.withLock({ $0.replications == 0 }) { throw error }
    }
    return found.withLock { $0 }
  }

  /// For the progress: in sequential mode at least the first ten replications.
  private static func expect(
    _ variants: [Variant], _ plan: ReplicationPlan, _ control: ComparisonControl
  ) {
    let runs = RunPlan.first(of: variants.map(\.scenario))
    let count = plan.precision.isEmpty ? plan.count : min(plan.count, 10)
    let duration = runs.reduce(0.0) { $0 + Double($1.duration.microseconds) } * Double(count)
    control.expect(runs: runs.count * count, duration: Int64(exactly: duration.rounded()) ?? .max)
  }
}

extension ReplicatedComparison {
  /// A comparison of runs that were made elsewhere, to which replications are added in the order of their seeds.
  public init(merging variants: [String], seeds: SeedRange) {
    self.init(variants: variants, plan: ReplicationPlan(firstSeed: seeds.first, count: seeds.count))
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
      metrics.add(summary, to: variant)
      curves[variant].add(sample.curves)
      rows.append(summary)
    }
    replications += 1
    if plan.precision.isEmpty { return }
    unmet = plan.precision.filter { !metrics.meets($0) }
    riskIsUnknown = !metrics.knowsRisk(within: plan.risk)
  }

  /// Whether all is as precise as was asked for.
  fileprivate var isEnough: Bool { !plan.precision.isEmpty && unmet.isEmpty && !riskIsUnknown }
}
