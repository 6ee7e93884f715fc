import Dispatch
import FleetExperiments
import Synchronization

/// Does work on other threads while this one draws progress and listens for signals.
struct BackgroundWork<Value: Sendable> {
  var work: @Sendable () throws -> Value
  /// Asks the work to stop, which it does within milliseconds.
  var cancel: () -> Void
  var progress: () -> ComparisonControl.Progress
  var environment: CommandEnvironment
  /// What a signal leaves, for the message.
  var remains = Interruption.nothing
  /// Work that is stopped has a result all the same; the caller looks after the signal.
  var keepsResult = false

  private final class Outcome: Sendable {
    let value = Mutex<Result<Value, any Error>?>(nil)
  }

  /// - Throws: what the work throws; `CommandFailure` 130, 131 or 143 on a signal, within a second.
  func run(showsProgress: Bool) throws -> Value {
    let outcome = Outcome()
    DispatchQueue.global().async { [work] in
      let result = Result { try work() }
      outcome.value.withLock { $0 = result }
    }
    var line = ProgressLine(isShown: showsProgress, startedAt: environment.monotonicSeconds())
    defer { line.clear() }
    var deadline: Double?
    while true {
      if let result = outcome.value.withLock({ $0 }) {
        if !keepsResult, let signal = Interruption.pending { throw Interruption.failure(signal, remains) }
        return try result.get()
      }
      let now = environment.monotonicSeconds()
      if let signal = Interruption.pending {
        cancel()
        if !keepsResult, now > deadline ?? .infinity {
          // A run that does not listen cannot hold the user up: nothing has been written yet, so the process
          // may just end.
          line.clear()
          Console.printError(Interruption.failure(signal, remains).description + "\n")
          _exit(Interruption.code(signal).rawValue)
        }
        deadline = deadline ?? now + 0.7
      } else {
        line.update(progress(), now: now)
      }
      usleep(10_000)
    }
  }
}
