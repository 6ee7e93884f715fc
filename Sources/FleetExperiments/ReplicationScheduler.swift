import FleetMetrics
import FleetSimulation
import Synchronization

/// Makes the runs of one replication after another on several threads, and keeps no more than it must.
///
/// A worker opens a replication only when no run of an open one is left to take, so at most as many replications as there
/// are workers hold records. A replication whose runs are done is reduced at once; what remains of it is folded in the
/// order of replications. So nothing that comes out depends on the number of workers, and memory does not grow with the
/// number of replications.
final class ReplicationScheduler<Reduced: Sendable>: Sendable {
  private struct Open {
    var variants: [Variant]
    var plan: RunPlan
    var state: RunPlan.State
    var shared: SharedRuns
    /// Of each job, the control's number and that among the shared runs.
    var runs: [(control: Int, shared: Int)]
    /// Of the conditional jobs.
    var twins: [RunIdentity: Int]
    var running = 0
  }
  private struct State {
    var opened = 0
    var open: [Int: Open] = [:]
    /// Done, but a replication before them is not.
    var waiting: [Int: Reduced] = [:]
    var folded = 0
    var isOver = false
  }
  private struct Task {
    var replication: Int
    var index: Int
    var shared: SharedRuns
    var job: RunPlan.Job
    var run: (control: Int, shared: Int)
  }

  private let count: Int
  private let options: RunOptions
  private let control: ComparisonControl
  private let engine: Comparison.Engine?
  private let variants: @Sendable (Int) -> [Variant]
  private let reduce: @Sendable (Int, [VariantResult]) throws -> Reduced
  private let fold: @Sendable (Int, Reduced) -> Bool
  private let state = Mutex(State())
  /// Bytes that the beginnings of one replication may take.
  private let budget = Mutex(SharedRuns.memory)

  /// - Parameters:
  ///   - count: the most replications.
  ///   - variants: those of a replication.
  ///   - reduce: called on a worker's thread, in any order.
  ///   - fold: called in the order of replications, one at a time; false when there are enough.
  init(
    count: Int, options: RunOptions, control: ComparisonControl, engine: Comparison.Engine?,
    variants: @escaping @Sendable (Int) -> [Variant],
    reduce: @escaping @Sendable (Int, [VariantResult]) throws -> Reduced,
    fold: @escaping @Sendable (Int, Reduced) -> Bool
  ) {
    self.count = count
    self.options = options
    self.control = control
    self.engine = engine
    self.variants = variants
    self.reduce = reduce
    self.fold = fold
  }

  /// - Throws: `CancellationError` after `control.cancel()`; otherwise the error of the first run that failed.
  func run(workers: Int) throws {
    budget.withLock { $0 = SharedRuns.memory / Int64(max(1, min(workers, count))) }
    do {
      try Workers.run(workers, control: control) {
        guard let task = take() else { return false }
        try perform(task)
        return true
      }
    } catch {
      // With enough replications the rest is stopped, and what it says does not matter.
      if !state.withLock(\.isOver) { throw error }
    }
  }

  private func take() -> Task? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      func next(waiting: Bool) -> Task? {
        for replication in state.open.keys.sorted() {
          if let task = Self.next(of: replication, in: &state, waiting: waiting) { return task }
        }
        return nil
      }
      if let task = next(waiting: false) { return task }
      while state.opened < count {
        state.open[state.opened] = open(state.opened)
        state.opened += 1
        if let task = next(waiting: false) { return task }
      }
      return next(waiting: true)
    }
  }

  private func open(_ replication: Int) -> Open {
    let variants = variants(replication)
    let plan = RunPlan(variants)
    let shared = SharedRuns(options: options, engine: engine, budget: budget.withLock { $0 })
    return Open(
      variants: variants, plan: plan, state: RunPlan.State(jobs: plan.firstJobs), shared: shared,
      runs: plan.firstJobs.map { (control.add($0.scenario), shared.expect($0.scenario)) },
      twins: Dictionary(
        plan.conditionalJobs.map { ($0.identity, shared.expect($0.scenario)) }, uniquingKeysWith: { $1 }))
  }

  /// - Parameter waiting: also one whose beginning is being run by somebody else.
  private static func next(of replication: Int, in state: inout State, waiting: Bool) -> Task? {
    guard let open = state.open[replication],
      let (index, job) = state.open[replication]?.state.take(where: {
        waiting || !open.shared.isWaiting(open.runs[$0].shared)
      })
    else { return nil }
    state.open[replication]?.running += 1
    return Task(
      replication: replication, index: index, shared: open.shared, job: job, run: open.runs[index])
  }

  private func perform(_ task: Task) throws {
    let record = try task.shared.run(task.run.shared, control: control.runControl(task.run.control))
    control.finish(task.run.control)
    let done: Open? = state.withLock { state in
      guard var open = state.open[task.replication] else { return nil }
      for job in open.state.finish(task.job, record, plan: open.plan) {
        let number = open.twins[job.identity] ?? open.shared.expect(job.scenario)
        open.runs.append((control.add(job.scenario), number))
      }
      open.running -= 1
      let isDone = open.running == 0 && !open.state.hasJobs
      state.open[task.replication] = isDone ? nil : open
      return isDone ? open : nil
    }
    if let done { try finish(task.replication, done) }
  }

  private func finish(_ replication: Int, _ done: Open) throws {
    let reduced = try reduce(
      replication, Comparison.results(of: done.variants, plan: done.plan, state: done.state))
    let isOver = state.withLock { state in
      state.waiting[replication] = reduced
      while !state.isOver, let next = state.waiting.removeValue(forKey: state.folded) {
        state.isOver = !fold(state.folded, next)
        state.folded += 1
      }
      return state.isOver
    }
    if isOver { control.cancel() }
  }
}
