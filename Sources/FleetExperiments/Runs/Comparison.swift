import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import Synchronization

/// One of the scenarios that a comparison sets side by side.
public struct Variant: Sendable {
  public var name: String
  public var scenario: Scenario
  public init(name: String, scenario: Scenario) {
    self.name = name
    self.scenario = scenario
  }
}

/// What came of one variant.
public struct VariantResult: Sendable {
  public var name: String
  public var record: RunRecord
  /// The same variant without its incidents.
  public var twin: RunRecord
  public var summary: RunSummary
  public init(name: String, record: RunRecord, twin: RunRecord, summary: RunSummary) {
    self.name = name
    self.record = record
    self.twin = twin
    self.summary = summary
  }

  func named(_ name: String) -> VariantResult {
    var result = self
    (result.name, result.summary.run) = (name, name)
    return result
  }
}

/// Runs variants of a scenario side by side, each with its twin (Definitions.md, Recovery).
public enum Comparison {
  /// What runs one scenario in place of the engine, in tests.
  package typealias Engine = SharedRuns.Engine

  /// Runs every variant and its twin, as many at a time as `workers`.
  ///
  /// Results come in the order of `variants`, and nothing in them depends on the number of workers or on
  /// which run ended first. Runs that are provably the same are made once: see `RunIdentity`.
  /// - `workers`: runs at a time, at least 1; more than the machine has cores brings nothing.
  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  public static func run(
    _ variants: [Variant], options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init()
  ) throws -> [VariantResult] {
    try run(variants, options: options, workers: workers, control: control, engine: nil)
  }

  /// - Parameter engine: nil: the engine, where what runs have in common at their beginning is run once (`SharedRuns`).
  package static func run(
    _ variants: [Variant], options: RunOptions, workers: Int, control: ComparisonControl,
    engine: Engine?
  ) throws -> [VariantResult] {
    let runs = Runs(
      .result, options: options, workers: min(workers, 2 * variants.count), control: control, engine: engine)
    let found = Mutex<[VariantResult]>([])
    try runs.groups(
      1, of: { _ in variants.map(\.scenario) },
      take: { results in
        found.withLock { $0 = zip(variants, results).map { $1.named($0.name) } }
        return true
      })
    return found.withLock { $0 }
  }
}

/// Lets another thread watch a comparison and stop it.
public final class ComparisonControl: Sendable {
  private struct Run {
    var duration: Span
    var control: RunControl
    var isFinished = false
  }
  private struct State {
    var runs: [Run] = []
    var isCancelled = false
    var expectedRuns = 0
    var expectedDuration: Int64 = 0
  }
  private let state = Mutex(State())

  public init() {}

  /// Asks every run to stop; the comparison throws `CancellationError` within milliseconds.
  public func cancel() {
    state.withLock { state in
      state.isCancelled = true
      for run in state.runs { run.control.cancel() }
    }
  }

  /// How far a comparison has come.
  public struct Progress: Sendable, Hashable {
    /// Runs, twins included; may grow while twins turn out to differ.
    public var runs = 0
    public var finishedRuns = 0
    /// Virtual time done and to do, summed over the runs, microseconds.
    public var virtualTime: Int64 = 0
    public var duration: Int64 = 0
    public var attempts: Int64 = 0
    public init() {}
    /// 0 … 1.
    public var share: Double { duration > 0 ? Double(virtualTime) / Double(duration) : 0 }
  }

  public var progress: Progress {
    state.withLock { state in
      var progress = Progress()
      for run in state.runs {
        progress.runs += 1
        progress.finishedRuns += run.isFinished ? 1 : 0
        progress.duration += run.duration.microseconds
        let reached =
          run.isFinished ? run.duration : min(run.control.virtualTime, .start + run.duration) - .start
        progress.virtualTime += reached.microseconds
        progress.attempts += run.control.attempts
      }
      progress.runs = max(progress.runs, state.expectedRuns)
      progress.duration = max(progress.duration, state.expectedDuration)
      return progress
    }
  }

  /// Says how much there is to do before all of it has been added.
  func expect(runs: Int, duration: Int64) {
    state.withLock { state in
      state.expectedRuns = runs
      state.expectedDuration = duration
    }
  }

  /// The number of the run.
  package func add(_ scenario: Scenario) -> Int {
    state.withLock { state in
      let run = Run(duration: scenario.duration, control: RunControl())
      if state.isCancelled { run.control.cancel() }
      state.runs.append(run)
      return state.runs.count - 1
    }
  }

  package func runControl(_ index: Int) -> RunControl { state.withLock { $0.runs[index].control } }

  func finish(_ index: Int) { state.withLock { $0.runs[index].isFinished = true } }
}

/// What a comparison will need of memory, by the number of runs at a time.
public struct ComparisonMemory: Sendable {
  /// Of each run, twins included, the largest first.
  private let estimates: [MemoryEstimate]
  /// The record of every run stays until its replication ends.
  private let results: Int64
  private let replications: Int

  /// - `variants`: at least one.
  /// - `replications`: how often all of them run, with different seeds.
  public init(_ variants: [Variant], replications: Int = 1, options: RunOptions = .init()) {
    self.replications = max(1, replications)
    estimates = RunPlan.first(of: variants.map(\.scenario)).map { MemoryEstimate($0, options: options) }
      .sorted { $0.expected > $1.expected }
    results = estimates.reduce(0) { Self.sum($0, $1.resultBytes) }
  }

  /// Of runs that each leave memory when they are done: every scenario under `seeds` seeds.
  /// - `scenarios`: at least one.
  public init(leaving scenarios: [Scenario], seeds: Int, options: RunOptions = .init()) {
    let atOnce = 1_024
    let largest = scenarios.map { MemoryEstimate($0, options: options) }
      .sorted { $0.expected > $1.expected }.prefix(atOnce)
    estimates = Array(largest.flatMap { repeatElement($0, count: min(seeds, atOnce)) }.prefix(atOnce))
    results = 0
    replications = 1
  }

  /// How many runs there are, and so how many can run at once.
  public var runs: Int { estimates.count.multipliedReportingOverflow(by: replications).partialValue }

  /// The run that needs most.
  public var largest: MemoryEstimate { estimates[0] }

  /// Expected bytes with `workers` runs at a time: the largest ones, and what the others leave.
  public func expected(workers: Int) -> Int64 {
    let workers = max(workers, 1)
    // A worker opens another replication when all runs of the open ones are taken.
    let open = Int64(min(replications, workers))
    let held = results.multipliedReportingOverflow(by: open)
    let first = held.overflow ? .max : held.partialValue
    return (0..<workers).reduce(first) { sum, worker in
      guard worker < runs else { return sum }
      let estimate = estimates[replications > 1 ? 0 : worker]
      return Self.sum(sum, estimate.expected - estimate.resultBytes)
    }
  }

  /// The most runs at a time, up to `workers`, that stay within `limit` bytes; nil if not even one does.
  public func workersThatFit(_ limit: Int64, atMost workers: Int) -> Int? {
    (1...max(1, min(workers, runs))).last { expected(workers: $0) <= limit }
  }

  private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
