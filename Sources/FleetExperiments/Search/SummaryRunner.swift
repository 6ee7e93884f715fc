import Dispatch
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
    var records: [RunIdentity: RunRecord] = [:]
    /// By what is left of a scenario without its clients' reactions to failures: twins that saw none.
    var shared: [RunIdentity: RunRecord] = [:]
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
    let identities = twinOf.map { RunIdentity($0) }
    let groups = twinOf.map { RunIdentity(ignoringReactionsOf: $0) }
    forgetTwins(needing: scenarios.first)
    // One twin for each group first: if it saw no failure, it stands for all.
    var planned: Set<RunIdentity> = []
    let first = scenarios.indices.filter {
      twin(identities[$0], groups[$0]) == nil && planned.insert(groups[$0]).inserted
    }
    try make(first, twinOf, identities, groups)
    planned = []
    let rest = scenarios.indices.filter {
      twin(identities[$0], groups[$0]) == nil && planned.insert(identities[$0]).inserted
    }
    try make(rest, twinOf, identities, groups)

    let results = Mutex<[RunSummary?]>(Array(repeating: nil, count: scenarios.count))
    try forEach(Array(scenarios.indices), of: scenarios) { index, record in
      guard let twin = self.twin(identities[index], groups[index]) else { throw CancellationError() }
      let summary = RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenarios[index].seed)
      try finished(index, summary)
      results.withLock { $0[index] = summary }
    }
    return results.withLock { $0.compactMap(\.self) }
  }

  // MARK: Twins

  private func twin(_ identity: RunIdentity, _ group: RunIdentity) -> RunRecord? {
    twins.withLock { $0.records[identity] ?? $0.shared[group] }
  }

  private func make(
    _ indices: [Int], _ scenarios: [Scenario], _ identities: [RunIdentity], _ groups: [RunIdentity]
  ) throws {
    try forEach(indices, of: scenarios) { index, record in
      let bytes = MemoryEstimate(scenarios[index], options: self.options).resultBytes
      self.twins.withLock { twins in
        twins.bytes += bytes
        if record.sawNoFailure {
          twins.shared[groups[index]] = record
        } else {
          twins.records[identities[index]] = record
        }
      }
    }
  }

  private func forgetTwins(needing scenario: Scenario?) {
    twins.withLock { twins in
      guard twins.bytes > Self.twinMemory else { return }
      twins.records = [:]
      twins.shared = [:]
      twins.bytes = 0
    }
  }

  // MARK: Running

  /// Runs `scenarios[index]` for every index, several at a time, and hands each record over.
  private func forEach(
    _ indices: [Int], of scenarios: [Scenario],
    _ body: @escaping @Sendable (Int, RunRecord) throws -> Void
  ) throws {
    if indices.isEmpty { return }
    struct State {
      var next = 0
      var failure: (any Error)?
    }
    let slots = indices.map { control.add(scenarios[$0]) }
    let state = Mutex(State())
    DispatchQueue.concurrentPerform(iterations: min(workers, indices.count)) { _ in
      while true {
        let position: Int? = state.withLock { state in
          guard state.failure == nil, state.next < indices.count else { return nil }
          defer { state.next += 1 }
          return state.next
        }
        guard let position else { return }
        do {
          let index = indices[position]
          let record = try engine(scenarios[index], options, control.runControl(slots[position]))
          control.finish(slots[position])
          try body(index, record)
        } catch {
          state.withLock { state in
            if state.failure == nil || state.failure is CancellationError { state.failure = error }
          }
          control.cancel()
        }
      }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
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
