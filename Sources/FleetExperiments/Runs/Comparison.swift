import FleetMetrics
import FleetSimulation
import ScenarioModel
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
