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

  private func perform(_ task: Task) throws {
    let record = try engine(task.job.scenario, options, control.runControl(task.run))
    control.finish(task.run)
    let done: Open? = state.withLock { state in
      guard var open = state.open[task.replication] else { return nil }
      for job in open.state.finish(task.job, record, plan: open.plan) {
        open.runs.append(control.add(job.scenario))
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
