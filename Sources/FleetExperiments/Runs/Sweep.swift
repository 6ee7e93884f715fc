import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// Makes the runs of a sweep that are not there yet.
public enum Sweep {
  public struct Outcome: Sendable, Hashable {
    /// Runs of the shard, twins included.
    public var planned = 0
    /// Of these: not made because they were there.
    public var foundComplete = 0
  }

  /// Makes the runs of `shard`, as many at a time as `workers`, and keeps each as soon as it is done.
  ///
  /// Which runs make a shard depends on the plan alone, and every run belongs to exactly one, twins included: a twin that
  /// stands for a group is made with those that it turns out not to stand for.
  /// - `scenarios`: of the plan's variants.
  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  public static func run(
    _ plan: SweepPlan, scenarios: [Scenario], shard: Shard, options: RunOptions = .init(), workers: Int,
    store: any RunStore, control: ComparisonControl = .init()
  ) throws -> Outcome {
    try run(
      plan, scenarios: scenarios, shard: shard, options: options, workers: workers, store: store,
      control: control, engine: nil)
  }

  package static func run(
    _ plan: SweepPlan, scenarios: [Scenario], shard: Shard, options: RunOptions, workers: Int,
    store: any RunStore, control: ComparisonControl, engine: Comparison.Engine?
  ) throws -> Outcome {
    let seeds = plan.seeds.all
    let runs = plan.runs(seeds)
    // In the order of the names, which mixes cheap variants with dear ones.
    let all = runs.first.map { (position: $0, name: plan.name(runs.runs[$0], seeds)) }
    let mine = shard.part(of: all.sorted { $0.name < $1.name }).map(\.position)
    let outcome = Mutex(Outcome())
    let scheduler = RunScheduler<Void>(
      count: 1, options: options, engine: engine, control: control,
      open: { _ in
        var group = RunScheduler<Void>.Group(plan: runs) { run in
          let scenario = scenarios[run.request % scenarios.count]
          return (run.isTwin ? scenario.withoutIncidents : scenario)
            .with(seed: seeds[run.request / scenarios.count])
        }
        (group.first, group.hasValues) = (mine, false)
        return group
      },
      make: { task in
        let name = plan.name(task.run, seeds)
        let found = try store.record(name)
        if found != nil { task.drop() }
        let record = try found ?? task.record(control)
        if found == nil { try store.keep(StoredRecord.bytes(of: record), as: name) }
        outcome.withLock { outcome in
          outcome.planned += 1
          outcome.foundComplete += found == nil ? 0 : 1
        }
        return record
      },
      reduce: { _, _, _ in }, take: { _ in true })
    try scheduler.run(workers: min(workers, mine.count))
    return outcome.withLock { $0 }
  }
}

/// The results of a sweep, seed by seed, from the runs that are kept.
public struct SweepResults {
  /// A run that is not there.
  public struct Missing: Sendable, Hashable {
    public var name: RunName
    public var variant: String
    public var seed: UInt64
    public var isTwin: Bool
  }

  private let plan: SweepPlan
  private let store: any RunStore

  public init(_ plan: SweepPlan, in store: any RunStore) {
    self.plan = plan
    self.store = store
  }

  /// What every variant gave under a seed, in the plan's order, or what is missing.
  public func results(of seed: UInt64) throws -> Result<[VariantResult], MissingRuns> {
    let runs = plan.runs([seed])
    var (records, missing): ([Int: RunRecord], [RunPlan.Run]) = ([:], [])
    var left = runs.first
    while let position = left.popLast() {
      if let record = try store.record(plan.name(runs.runs[position], [seed])) {
        records[position] = record
        left += runs.followers(of: position, record)
      } else {
        missing.append(runs.runs[position])
      }
    }
    if !missing.isEmpty {
      missing.sort { ($0.request, $0.isTwin ? 1 : 0) < ($1.request, $1.isTwin ? 1 : 0) }
      return .failure(
        MissingRuns(
          runs: missing.map { run in
            Missing(
              name: plan.name(run, [seed]), variant: plan.variants[run.request].name, seed: seed,
              isTwin: run.isTwin)
          }))
    }
    return .success(
      plan.variants.enumerated().compactMap { index, variant in
        runs.records(of: index, among: records).map { record, twin in
          VariantResult(
            name: variant.name, record: record, twin: twin,
            summary: RunAnalysis.summary(of: record, twin: twin, name: variant.name, seed: seed))
        }
      })
  }

  /// The runs of a seed that are not there; never empty.
  public struct MissingRuns: Error {
    public var runs: [Missing]
  }
}
