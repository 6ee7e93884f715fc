import Dispatch
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
    /// The control's number of each job.
    var runs: [Int]
    var running = 0
  }
  private struct State {
    var opened = 0
    var open: [Int: Open] = [:]
    /// Done, but a replication before them is not.
    var waiting: [Int: Reduced] = [:]
    var folded = 0
    var isOver = false
    /// The first failure; a cancellation counts only if there is nothing else to report, for it is what a failure
    /// brings on the other runs.
    var failure: (any Error)?
  }
  private struct Task {
    var replication: Int
    var index: Int
    var job: RunPlan.Job
    var run: Int
  }

  private let count: Int
  private let options: RunOptions
  private let control: ComparisonControl
  private let engine: Comparison.Engine
  private let variants: @Sendable (Int) -> [Variant]
  private let reduce: @Sendable (Int, [VariantResult]) throws -> Reduced
  private let fold: @Sendable (Int, Reduced) -> Bool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - count: the most replications.
  ///   - variants: those of a replication.
  ///   - reduce: called on a worker's thread, in any order.
  ///   - fold: called in the order of replications, one at a time; false when there are enough.
  init(
    count: Int, options: RunOptions, control: ComparisonControl, engine: @escaping Comparison.Engine,
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
    DispatchQueue.concurrentPerform(iterations: max(1, workers)) { _ in
      while let task = take() { perform(task) }
    }
    if let error = state.withLock({ $0.isOver ? nil : $0.failure }) { throw error }
  }

  private func take() -> Task? {
    state.withLock { state in
      guard !state.isOver, state.failure == nil else { return nil }
      for replication in state.open.keys.sorted() {
        if let task = Self.next(of: replication, in: &state) { return task }
      }
      while state.opened < count {
        let replication = state.opened
        let variants = variants(replication)
        let plan = RunPlan(variants)
        state.open[replication] = Open(
          variants: variants, plan: plan, state: RunPlan.State(jobs: plan.firstJobs),
          runs: plan.firstJobs.map { control.add($0.scenario) })
        state.opened += 1
        if let task = Self.next(of: replication, in: &state) { return task }
      }
      return nil
    }
  }

  private static func next(of replication: Int, in state: inout State) -> Task? {
    guard let (index, job) = state.open[replication]?.state.take() else { return nil }
    state.open[replication]?.running += 1
    return Task(
      replication: replication, index: index, job: job, run: state.open[replication]?.runs[index] ?? 0)
  }

  private func perform(_ task: Task) {
    let outcome = Result { try engine(task.job.scenario, options, control.runControl(task.run)) }
    control.finish(task.run)
    let done: Open? = state.withLock { state in
      guard var open = state.open[task.replication] else { return nil }
      for job in open.state.finish(task.job, outcome, plan: open.plan) {
        open.runs.append(control.add(job.scenario))
      }
      open.running -= 1
      fail(open.state.failure, in: &state)
      let isDone = open.running == 0 && !open.state.hasJobs && open.state.failure == nil
      state.open[task.replication] = isDone ? nil : open
      return isDone ? open : nil
    }
    if case .failure = outcome { control.cancel() }
    if let done { finish(task.replication, done) }
  }

  private func finish(_ replication: Int, _ done: Open) {
    let reduced = Result {
      try reduce(
        replication, Comparison.results(of: done.variants, plan: done.plan, state: done.state))
    }
    let isOver = state.withLock { state in
      switch reduced {
      case .failure(let error): fail(error, in: &state)
      case .success(let value): state.waiting[replication] = value
      }
      while !state.isOver, let next = state.waiting.removeValue(forKey: state.folded) {
        state.isOver = !fold(state.folded, next)
        state.folded += 1
      }
      return state.isOver || state.failure != nil
    }
    if isOver { control.cancel() }
  }

  private func fail(_ error: (any Error)?, in state: inout State) {
    guard let error, state.failure == nil || state.failure is CancellationError else { return }
    state.failure = error
  }
}
