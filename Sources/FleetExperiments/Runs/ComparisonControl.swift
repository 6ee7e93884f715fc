import FleetSimulation
import ScenarioModel
import SimulationKernel
import Synchronization

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
