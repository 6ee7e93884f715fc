import CSystem
import FleetExperiments
import FleetSimulation
import Synchronization

/// SIGHUP, SIGINT, SIGQUIT and SIGTERM, noted when they come and acted on where it is safe.
package final class Signals: Sendable {
  private let received = Atomic<Int32>(0)
  private let held = Atomic<Bool>(false)

  /// The signals of this process. A handler reaches nothing else, and only these end the process.
  static let process = Signals()

  package init() {}

  package var pending: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// The signal that has come, which counts as acted on from now on.
  func take() -> Int32? {
    let number = received.exchange(0, ordering: .relaxed)
    return number == 0 ? nil : number
  }

  private static let ends = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

  /// Takes a signal down, which whoever waits or computes will see.
  package func receive(_ number: Int32) { received.store(number, ordering: .relaxed) }

  /// From now on a signal ends the process at once, however large the input is that is being read, until something is left
  /// behind (`hold`). A closed pipe or a file that may not grow becomes an error of the write.
  func install() {
    let handler: @convention(c) (Int32) -> Void = { number in
      Signals.process.receive(number)
      if Signals.process.isHeld { return }
      Signals.sayThatNothingWasWritten(number)
      _exit(Signals.code(number).rawValue)
    }
    // No SA_RESTART: a blocking read must return.
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    // nohup has us ignore it.
    for number in Self.ends where !(number == SIGHUP && fleetsim_ignores(number)) {
      sigaction(number, &action, nil)
    }
    // A parent may have started us with them blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in Self.ends { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
    // Who ignores it is not told how a child ended.
    _ = signal(SIGCHLD, SIG_DFL)
  }

  /// From now on signals are only noted, and a read that waits is interrupted by them: files, processes or runs are begun that
  /// have to be ended in order.
  func hold() { held.store(true, ordering: .relaxed) }

  /// From now on a signal ends the process at once again: nothing of what was begun is left.
  func release() { held.store(false, ordering: .relaxed) }

  /// Whether a signal is only noted.
  package var isHeld: Bool { held.load(ordering: .relaxed) }

  /// Writes without allocating, as a handler has to.
  private static func sayThatNothingWasWritten(_ signal: Int32) {
    func say(_ text: StaticString) { _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount) }
    say(word(signal))
    say(": nothing was written.\n")
  }

  /// As a shell gives it. A handler calls this: it may not allocate.
  static func code(_ signal: Int32) -> ExitCode { ExitCode(rawValue: 128 + signal) ?? .interrupted }

  static let nothing = "nothing was written"

  /// - Parameter remains: what the signal leaves.
  static func failure(_ signal: Int32, _ remains: String = nothing) -> CommandFailure {
    CommandFailure(code(signal), "\(word(signal)): \(remains).")
  }

  /// How a message about it begins.
  private static func word(_ signal: Int32) -> StaticString {
    switch signal {
    case SIGHUP: "Hung up"
    case SIGQUIT: "Quit"
    case SIGTERM: "Terminated"
    default: "Interrupted"
    }
  }

  /// - Throws: `CommandFailure` if a signal has come.
  func check() throws(CommandFailure) {
    if let pending { throw Self.failure(pending) }
  }
}

extension CommandEnvironment {
  /// Does a command's runs on other threads while this one draws progress and listens for signals.
  /// - Parameters:
  ///   - workers: runs at a time, for the manifest.
  ///   - remains: what a signal leaves, for the message.
  ///   - waits: whether the work may take as long as it likes to stop.
  ///   - work: stops within milliseconds when its control is cancelled.
  /// - Returns: what the work returns, also after a signal, which the caller looks after.
  /// - Throws: what the work throws; `CommandFailure` 129, 130, 131 or 143 after a signal that left nothing, within a second.
  func inBackground<Value: Sendable>(
    workers: Int = 1, remains: String = Signals.nothing, waits: Bool = false,
    showsProgress: Bool, _ work: @escaping @Sendable (ComparisonControl) throws -> Value
  ) throws -> (value: Value, wall: RunManifest.Wall) {
    signals.hold()
    try Descriptors.check()
    let (outcome, control) = (Shared<Result<Value, any Error>>(), ComparisonControl())
    let started = monotonicSeconds()
    do throws(SystemThreads.Failure) {
      try SystemThreads.start(stack: SystemThreads.deepStack) {
        let result = Result { try work(control) }
        outcome.value.withLock { $0 = result }
      }
    } catch {
      throw CommandFailure.tooFewThreads("a command takes one for its runs", error)
    }
    var line = ProgressLine(isShown: showsProgress, startedAt: started, console)
    defer { line.clear() }
    var deadline: Double?
    while true {
      let now = monotonicSeconds()
      if let result = outcome.value.withLock({ $0 }) {
        if case .failure(is CancellationError) = result, let signal = signals.pending {
          throw Signals.failure(signal, remains)
        }
        let progress = control.progress
        return (
          try result.get(),
          RunManifest.Wall(
            seconds: now - started, workers: workers, runs: progress.finishedRuns,
            virtualSeconds: Double(progress.virtualTime) / 1e6, attempts: progress.attempts)
        )
      }
      if let signal = signals.pending {
        control.cancel()
        if !waits, now > deadline ?? .infinity {
          // A run that does not listen cannot hold the user up: nothing has been written yet, so the command
          // may just end.
          throw Signals.failure(signal, remains)
        }
        deadline = deadline ?? now + 0.7
      } else {
        line.update(control.progress, now: now)
      }
      usleep(10_000)
    }
  }
}

/// How far, how fast, how long still: one line on a terminal, rewritten in place; in a log a line each half minute.
package struct ProgressLine {
  private enum Place { case nowhere, terminal, log }
  private let place: Place
  private let startedAt: Double
  private let console: Console
  private var shownAt: Double?
  private static let secondsBetweenLogLines = 30.0

  /// Shows nothing on a terminal that cannot rewrite a line.
  package init(isShown: Bool, startedAt: Double, _ console: Console) {
    (self.startedAt, self.console) = (startedAt, console)
    place =
      !isShown ? .nowhere : isatty(console.errors) == 0 ? .log : console.isDumb ? .nowhere : .terminal
  }

  /// Shows how far it is, on a terminal at most five times a second, after half a second.
  /// - Parameter progress: asked only if it is shown, since it sums over all runs.
  package mutating func update(_ progress: @autoclosure () -> ComparisonControl.Progress, now: Double) {
    switch place {
    case .nowhere: break
    case .terminal:
      guard now - startedAt > 0.5, now - (shownAt ?? 0) > 0.2 else { return }
      shownAt = now
      // One column less than there are: some terminals wrap when the last one is written.
      let columns = (console.terminal(console.errors).columns ?? 80) - 1
      console.drawError(Console.newLine + Self.text(progress(), elapsed: now - startedAt).prefix(columns))
    case .log:
      guard now - (shownAt ?? startedAt) > Self.secondsBetweenLogLines else { return }
      shownAt = now
      console.printError(Self.text(progress(), elapsed: now - startedAt) + "\n")
    }
  }

  mutating func clear() {
    guard place == .terminal, shownAt != nil else { return }
    shownAt = nil
    console.drawError(Console.newLine)
  }

  static func text(_ progress: ComparisonControl.Progress, elapsed: Double) -> String {
    let virtual = Double(progress.virtualTime) / 1e6
    var text =
      progress.runs > 1
      ? "\(progress.finishedRuns) of \(progress.runs) runs done"
      : "virtual \(clock(virtual)) of \(clock(Double(progress.duration) / 1e6))"
    guard elapsed > 0, progress.share > 0 else { return text }
    text += ", \(FigureText.grouped(whole(virtual / elapsed)))x real time"
    return text + ", \(clock(elapsed * (1 - progress.share) / progress.share)) left"
  }

  private static func clock(_ seconds: Double) -> String {
    let total = whole(seconds)
    let (hours, minutes, rest) = (total / 3_600, total / 60 % 60, total % 60)
    let two = { (n: Int64) in n < 10 ? "0\(n)" : "\(n)" }
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  private static func whole(_ value: Double) -> Int64 {
    value >= 0 && value < 1e15 ? Int64(value.rounded()) : 0
  }
}
