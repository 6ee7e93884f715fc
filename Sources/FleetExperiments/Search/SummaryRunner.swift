import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// Runs many scenarios with their twins and keeps nothing of a run but its summary, so that searches of thousands of
/// runs fit into memory. Results do not depend on the number of workers.
package final class SummaryRunner: Sendable {
  private let options: RunOptions
  private let workers: Int
  private let control: ComparisonControl
  private let engine: Comparison.Engine

  /// Twins that later batches may ask for again.
  private struct Twins {
    var records = TwinRecords()
    var bytes: Int64 = 0
  }
  private let twins = Mutex(Twins())
  private static let twinMemory: Int64 = 512 << 20

  package convenience init(
    options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init()
  ) {
    self.init(options: options, workers: workers, control: control) {
      try Simulation.run($0, options: $1, control: $2)
    }
  }

  package init(
    options: RunOptions, workers: Int, control: ComparisonControl, engine: @escaping Comparison.Engine
  ) {
    self.options = options
    self.workers = max(1, workers)
    self.control = control
    self.engine = engine
  }

  /// The summaries of `scenarios`, in their order; `finished` is called with each as soon as it is there, from any
  /// thread.
  /// - Throws: `CancellationError` after the control's `cancel()`; otherwise the error of a run.
  package func summaries(
    of scenarios: [Scenario],
    finished: @escaping @Sendable (_ index: Int, RunSummary) throws -> Void = { _, _ in }
  ) throws -> [RunSummary] {
    let twinOf = scenarios.map(\.withoutIncidents)
    // By what is left of a scenario without its clients' reactions to failures: one twin for each group first.
    let keys = twinOf.map {
      TwinRecords.Key(identity: RunIdentity($0), group: RunIdentity(ignoringReactionsOf: $0))
    }
    if twins.withLock({ $0.bytes > Self.twinMemory }) { twins.withLock { $0 = Twins() } }
    for part in [\TwinRecords.Key.group, \TwinRecords.Key.identity] {
      var planned: Set<RunIdentity> = []
      try make(
        scenarios.indices.filter {
          twin(keys[$0]) == nil && planned.insert(keys[$0][keyPath: part]).inserted
        },
        twinOf, keys)
    }

    let results = Mutex<[RunSummary?]>(Array(repeating: nil, count: scenarios.count))
    try forEach(Array(scenarios.indices), of: scenarios) { index, record in
      guard let twin = self.twin(keys[index]) else { throw CancellationError() }
      let summary = RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenarios[index].seed)
      try finished(index, summary)
      results.withLock { $0[index] = summary }
    }
    return results.withLock { $0.compactMap(\.self) }
  }

  // MARK: Twins

  private func twin(_ key: TwinRecords.Key) -> RunRecord? { twins.withLock { $0.records[key] } }

  private func make(_ indices: [Int], _ scenarios: [Scenario], _ keys: [TwinRecords.Key]) throws {
    try forEach(indices, of: scenarios) { index, record in
      let bytes = MemoryEstimate(scenarios[index], options: self.options).resultBytes
      self.twins.withLock { twins in
        twins.bytes += bytes
        twins.records.add(record, as: keys[index])
      }
    }
  }

  // MARK: Running

  /// Runs `scenarios[index]` for every index, several at a time, and hands each record over.
  private func forEach(
    _ indices: [Int], of scenarios: [Scenario],
    _ body: @escaping @Sendable (Int, RunRecord) throws -> Void
  ) throws {
    if indices.isEmpty { return }
    let slots = indices.map { control.add(scenarios[$0]) }
    let next = Mutex(0)
    try Workers.run(min(workers, indices.count), control: control) {
      let position = next.withLock { next in
        next += 1
        return next - 1
      }
      guard position < indices.count else { return false }
      let index = indices[position]
      let record = try engine(scenarios[index], options, control.runControl(slots[position]))
      control.finish(slots[position])
      try body(index, record)
      return true
    }
  }
}

extension RunIdentity {
  /// The identity of `scenario` but for what its clients do after a failed upload.
  ///
  /// If a run saw no failure, no client ever asked its Settings: waits, statuses and ages are looked up only after one,
  /// and so are counts as long as they allow at least one failure.
  package init(ignoringReactionsOf scenario: Scenario) {
    var scenario = scenario
    for i in scenario.fleet.indices {
      let settings = scenario.fleet[i].settings
      scenario.fleet[i].settings.backoff.maxTotalBackoffDuration = 0
      scenario.fleet[i].settings.rateLimit.maxTotalBackoffDuration = 0
      scenario.fleet[i].settings.backoff.maxRetryCount = min(settings.backoff.maxRetryCount, 1)
      scenario.fleet[i].settings.rateLimit.maxRetryCount = min(settings.rateLimit.maxRetryCount, 1)
      scenario.fleet[i].settings.backoff.statuses = .document
    }
    self.init(ignoringWaitsOf: scenario)
  }
}
