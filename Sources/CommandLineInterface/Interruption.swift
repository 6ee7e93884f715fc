import Synchronization

/// SIGINT, SIGQUIT and SIGTERM, noted when they come and acted on where it is safe.
package enum Interruption {
  private static let received = Atomic<Int32>(0)

  /// The signal that has come, if any.
  package static var pending: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// The signal that has come, which counts as acted on from now on.
  static func take() -> Int32? {
    let number = received.exchange(0, ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// The signals that end a command.
  private static let ends = [SIGINT, SIGQUIT, SIGTERM]

  /// From now on signals are only noted; a read that waits is interrupted by them. A closed pipe or a file that may not
  /// grow becomes an error of the write.
  package static func install() {
    received.store(0, ordering: .relaxed)
    handle { Interruption.note($0) }
    // A parent may have started us with them blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in ends { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
  }

  /// From now on a signal ends the process, also in the middle of a computation that never looks: for work that leaves
  /// nothing behind. `silently`: without a message, because a parent has one.
  static func endProcessAtOnce(silently: Bool) {
    if silently {
      handle { _exit(Interruption.code($0).rawValue) }
    } else {
      handle { signal in
        // A handler may not allocate.
        let message: StaticString = "Interrupted: nothing was written.\n"
        _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(Interruption.code(signal).rawValue)
      }
    }
    if let pending { _exit(code(pending).rawValue) }
  }

  private static func handle(_ handler: @escaping @convention(c) (Int32) -> Void) {
    // No SA_RESTART: a blocking read must return.
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    for number in ends { sigaction(number, &action, nil) }
  }

  private static func note(_ number: Int32) { received.store(number, ordering: .relaxed) }

  /// As a shell gives it. A handler calls this: it may not allocate.
  static func code(_ signal: Int32) -> ExitCode { ExitCode(rawValue: 128 + signal) ?? .interrupted }

  static let nothing = "nothing was written"

  static func failure(_ signal: Int32, _ remains: String = nothing) -> CommandFailure {
    let word = signal == SIGTERM ? "Terminated" : signal == SIGQUIT ? "Quit" : "Interrupted"
    return CommandFailure(code(signal), "\(word): \(remains).")
  }

  /// - Throws: `CommandFailure` if a signal has come.
  static func check() throws(CommandFailure) {
    if let pending { throw failure(pending) }
  }
}
