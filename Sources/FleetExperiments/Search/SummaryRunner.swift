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
  private let engine: Comparison.Engine?

  /// Twins that later batches may ask for again.
  private struct Twins {
    var records = TwinRecords()
    var bytes: Int64 = 0
  }
  private let twins = Mutex(Twins())
  private let known = Mutex(KnownSummaries())
  private static let twinMemory: Int64 = 512 << 20

  /// - Parameters:
  ///   - options: of each run; with several workers a run has one thread unless it says otherwise.
  ///   - engine: nil: the engine, where what runs have in common at their beginning is run once (`SharedRuns`).
  package init(
    options: RunOptions = .init(), workers: Int, control: ComparisonControl = .init(),
    engine: Comparison.Engine? = nil
  ) {
    var options = options
    if workers > 1, options.threads == nil { options.threads = 1 }
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
    var summaries = known.withLock { known in scenarios.map { known[$0] } }
    for (index, summary) in summaries.enumerated() {
      if let summary { try finished(index, summary) }
    }
    let left = summaries.indices.filter { summaries[$0] == nil }
    let made = try make(left.map { scenarios[$0] }) { try finished(left[$0], $1) }
    for (index, summary) in zip(left, made) { summaries[index] = summary }
    return summaries.compactMap(\.self)
  }

  private func make(
    _ scenarios: [Scenario], finished: @escaping @Sendable (_ index: Int, RunSummary) throws -> Void
  ) throws -> [RunSummary] {
    let twinOf = scenarios.map(\.withoutIncidents)
    // By what is left of a scenario without its clients' reactions to failures: one twin for each group first.
    let keys = twinOf.map {
      TwinRecords.Key(identity: RunIdentity($0), group: RunIdentity(ignoringReactionsOf: $0))
    }
    if twins.withLock({ $0.bytes > Self.twinMemory }) { twins.withLock { $0 = Twins() } }
    let batch = Batch(scenarios, twinOf, keys, SharedRuns(options: options, engine: engine)) {
      self.twin($0) != nil
    }
    try run(batch.groupTwins, of: batch) { job, record in self.keep(record, job, twinOf, keys) }
    let waiting = Mutex<[RunIdentity: [(index: Int, record: RunRecord)]]>([:])
    let results = Mutex<[RunSummary?]>(Array(repeating: nil, count: scenarios.count))
    @Sendable func finish(_ index: Int, _ record: RunRecord, _ twin: RunRecord) throws {
      let summary = RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenarios[index].seed)
      known.withLock { $0.add(summary, of: scenarios[index], record: record, twin: twin) }
      try finished(index, summary)
      results.withLock { $0[index] = summary }
    }
    let jobs = batch.jobs { self.twin($0) != nil }
    try run(jobs, of: batch) { job, record in
      let key = keys[job.index]
      if job.isTwin {
        self.keep(record, job, twinOf, keys)
        for run in waiting.withLock({ $0.removeValue(forKey: key.identity) ?? [] }) {
          try finish(run.index, run.record, record)
        }
        return
      }
      // Whichever comes last finds the other.
      let twin = waiting.withLock { waiting in
        let twin = self.twin(key)
        if twin == nil { waiting[key.identity, default: []].append((job.index, record)) }
        return twin
      }
      if let twin { try finish(job.index, record, twin) }
    }
    // A scenario without incidents is its own twin.
    for index in scenarios.indices where scenarios[index].isItsOwnTwin {
      guard let twin = self.twin(keys[index]) else { throw CancellationError() }
      try finish(index, twin, twin)
    }
    return results.withLock { $0.compactMap(\.self) }
  }

  private func twin(_ key: TwinRecords.Key) -> RunRecord? { twins.withLock { $0.records[key] } }

  private func keep(_ record: RunRecord, _ job: Job, _ scenarios: [Scenario], _ keys: [TwinRecords.Key]) {
    let bytes = MemoryEstimate(scenarios[job.index], options: options).resultBytes
    twins.withLock { twins in
      twins.bytes += bytes
      twins.records.add(record, as: keys[job.index])
    }
  }

  // MARK: Running

  private struct Job {
    var index: Int
    var isTwin: Bool
    /// Among `SharedRuns`.
    var number: Int
  }

  /// What is asked for at once.
  private struct Batch {
    let scenarios: [Scenario]
    let twins: [Scenario]
    let keys: [TwinRecords.Key]
    let shared: SharedRuns
    private(set) var groupTwins: [Job] = []
    /// Each once, and those of the groups among them.
    private var ownTwins: [RunIdentity: Job] = [:]
    private var runs: [Job] = []

    init(
      _ scenarios: [Scenario], _ twins: [Scenario], _ keys: [TwinRecords.Key], _ shared: SharedRuns,
      isKnown: (TwinRecords.Key) -> Bool
    ) {
      (self.scenarios, self.twins, self.keys, self.shared) = (scenarios, twins, keys, shared)
      var groups: Set<RunIdentity> = []
      for index in scenarios.indices {
        if !scenarios[index].isItsOwnTwin {
          runs.append(Job(index: index, isTwin: false, number: shared.expect(scenarios[index])))
        }
        guard !isKnown(keys[index]), ownTwins[keys[index].identity] == nil else { continue }
        let twin = Job(index: index, isTwin: true, number: shared.expect(twins[index]))
        ownTwins[keys[index].identity] = twin
        if groups.insert(keys[index].group).inserted { groupTwins.append(twin) }
      }
    }

    /// The runs, each with the twin before it that nobody else's stands for; those that share a beginning one after another.
    func jobs(isKnown: (TwinRecords.Key) -> Bool) -> [Job] {
      var planned: Set<RunIdentity> = []
      let isAsked = Dictionary(grouping: runs, by: \.index)
      var jobs: [(family: Int, job: Job)] = []
      for index in scenarios.indices {
        let key = keys[index]
        if let twin = ownTwins[key.identity], planned.insert(key.identity).inserted {
          if isKnown(key) {
            shared.drop(twin.number)
          } else {
            jobs.append((shared.family(of: twin.number), twin))
          }
        }
        for run in isAsked[index] ?? [] { jobs.append((shared.family(of: run.number), run)) }
      }
      let order = jobs.indices.sorted { (jobs[$0].family, $0) < (jobs[$1].family, $1) }
      return order.map { jobs[$0].job }
    }

    func scenario(of job: Job) -> Scenario { job.isTwin ? twins[job.index] : scenarios[job.index] }
  }

  /// Runs jobs, several at a time, and hands each record over.
  private func run(
    _ jobs: [Job], of batch: Batch, _ body: @escaping @Sendable (Job, RunRecord) throws -> Void
  ) throws {
    if jobs.isEmpty { return }
    let slots = jobs.map { control.add(batch.scenario(of: $0)) }
    let left = Mutex(Array(jobs.indices))
    try Workers.run(min(workers, jobs.count), control: control) {
      let next = left.withLock { left -> Int? in
        if left.isEmpty { return nil }
        // One that need not wait for another, if there is one.
        return left.remove(at: left.firstIndex { !batch.shared.isWaiting(jobs[$0].number) } ?? 0)
      }
      guard let next else { return false }
      let record = try batch.shared.run(jobs[next].number, control: control.runControl(slots[next]))
      control.finish(slots[next])
      try body(jobs[next], record)
      return true
    }
  }
}
