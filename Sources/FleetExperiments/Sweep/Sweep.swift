import FleetMetrics
import FleetSimulation
import ScenarioModel
import Synchronization

/// Where the runs of a sweep are kept.
public protocol SweepStore: Sendable {
  /// The run of that name; nil if it is not there, or not whole.
  func record(_ name: RunName) throws -> RunRecord?
  /// Keeps a run, whole or not at all.
  func keep(_ record: RunRecord, as name: RunName) throws
}

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
    store: some SweepStore, control: ComparisonControl = .init()
  ) throws -> Outcome {
    try run(
      plan, scenarios: scenarios, shard: shard, options: options, workers: workers, store: store,
      control: control, engine: nil)
  }

  package static func run(
    _ plan: SweepPlan, scenarios: [Scenario], shard: Shard, options: RunOptions, workers: Int,
    store: some SweepStore, control: ComparisonControl, engine: Comparison.Engine?
  ) throws -> Outcome {
    let all = SweepJobs(plan)
    let mine = shard.part(of: all.jobs)
    let state = Mutex(State(all: all, unchecked: mine))
    // Two rounds, so that what is to be done is known before it begins.
    try Workers.run(min(workers, mine.count), control: control) {
      guard let job = state.withLock({ $0.nextUnchecked() }) else { return false }
      let record = try store.record(job.name)
      state.withLock { state in
        for job in state.checked(job, record) { _ = control.add(job.scenario(scenarios)) }
      }
      return true
    }
    let shared = SharedRuns(options: options, engine: engine)
    state.withLock { state in
      for job in state.toDo { state.numbers.append(shared.expect(job.scenario(scenarios))) }
      // One family after another, so that few beginnings wait at a time.
      let families = state.numbers.map(shared.family)
      state.order.sort { (families[$0], $0) < (families[$1], $1) }
    }
    try Workers.run(min(workers, mine.count), control: control) {
      let next = state.withLock { $0.next(unless: shared.isWaiting) }
      guard let (index, number, job) = next else { return false }
      let record = try shared.run(number, control: control.runControl(index))
      try store.keep(record, as: job.name)
      control.finish(index)
      let more = state.withLock { $0.followers(of: job, record) }
      for job in more where try store.record(job.name) == nil {
        state.withLock { state in
          _ = control.add(job.scenario(scenarios))
          state.order.append(state.toDo.count)
          state.toDo.append(job)
          state.numbers.append(shared.expect(job.scenario(scenarios)))
        }
      }
      return true
    }
    return state.withLock { $0.outcome }
  }

  private struct State {
    var all: SweepJobs
    var unchecked: [SweepJobs.Job]
    var toDo: [SweepJobs.Job] = []
    /// Their numbers among `SharedRuns`.
    var numbers: [Int] = []
    /// Those that nobody has taken, in the order in which they are to be.
    var order: [Int] = []
    var outcome = Outcome()
    private var nextToCheck = 0

    init(all: SweepJobs, unchecked: [SweepJobs.Job]) {
      self.all = all
      self.unchecked = unchecked
      outcome.planned = unchecked.count
    }

    mutating func nextUnchecked() -> SweepJobs.Job? {
      guard nextToCheck < unchecked.count else { return nil }
      defer { nextToCheck += 1 }
      return unchecked[nextToCheck]
    }

    /// The jobs that are to be done now that `job` was found, or not.
    mutating func checked(_ job: SweepJobs.Job, _ record: RunRecord?) -> [SweepJobs.Job] {
      guard let record else {
        order.append(toDo.count)
        toDo.append(job)
        return [job]
      }
      outcome.foundComplete += 1
      unchecked += followers(of: job, record)
      return []
    }

    mutating func followers(of job: SweepJobs.Job, _ record: RunRecord) -> [SweepJobs.Job] {
      let followers = record.sawNoFailure ? [] : all.followers(of: job)
      outcome.planned += followers.count
      return followers
    }

    /// The next that need not wait for another, or the next.
    mutating func next(unless isWaiting: (Int) -> Bool) -> (index: Int, number: Int, SweepJobs.Job)? {
      if order.isEmpty { return nil }
      let index = order.remove(at: order.firstIndex { !isWaiting(numbers[$0]) } ?? 0)
      return (index, numbers[index], toDo[index])
    }
  }
}
