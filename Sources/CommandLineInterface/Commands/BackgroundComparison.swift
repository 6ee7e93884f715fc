import Dispatch
import FleetExperiments
import FleetSimulation
import Synchronization

/// Runs a comparison on other threads while this one draws progress and listens for signals.
struct BackgroundComparison {
  var variants: [Variant]
  var options: RunOptions
  var workers: Int
  var environment: CommandEnvironment

  private final class Outcome: Sendable {
    let value = Mutex<Result<[VariantResult], any Error>?>(nil)
  }

  /// - Throws: what `Comparison.run` throws; `CommandFailure` 130 or 143 on a signal, within a second.
  func run(showsProgress: Bool) throws -> ([VariantResult], ComparisonControl.Progress) {
    let control = ComparisonControl()
    let outcome = Outcome()
    DispatchQueue.global().async { [variants, options, workers] in
      let result = Result {
        try Comparison.run(variants, options: options, workers: workers, control: control)
      }
      outcome.value.withLock { $0 = result }
    }
    var line = ProgressLine(isShown: showsProgress, startedAt: environment.monotonicSeconds())
    defer { line.clear() }
    var deadline: Double?
    while true {
      if let result = outcome.value.withLock({ $0 }) {
        try Interruption.check()
        return (try result.get(), control.progress)
      }
      let now = environment.monotonicSeconds()
      if let signal = Interruption.pending {
        control.cancel()
        if now > deadline ?? .infinity {
          // A run that does not listen cannot hold the user up: nothing has been written yet, so the process
          // may just end.
          line.clear()
          Console.printError(Interruption.failure(signal).description + "\n")
          _exit(Interruption.code(signal).rawValue)
        }
        deadline = deadline ?? now + 0.7
      } else {
        line.update(control.progress, now: now)
      }
      usleep(10_000)
    }
  }
}
