/// How fleetsim ends, by sysexits(3) and the shell's habit for signals.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case usage = 64
  case data = 65
  case noInput = 66
  case internalError = 70
  case cannotCreate = 73
  case inputOutput = 74
  case interrupted = 130
  case terminated = 143

  package var meaning: String {
    switch self {
    case .success: "Done."
    case .usage: "The command line is wrong: an unknown option or strategy, a missing argument."
    case .data: "The scenario or the Settings file is wrong; every problem is listed with file, line and path."
    case .noInput: "An input file does not exist, is a directory or cannot be read."
    case .internalError: "A checker found the simulator inconsistent with itself: a bug in fleetsim."
    case .cannotCreate: "The output directory cannot be created, or holds something that fleetsim did not write."
    case .inputOutput: "Writing failed half-way, for example on a full disk; nothing half-written is left."
    case .interrupted: "Interrupted (Ctrl-C); the output directory is as it was."
    case .terminated: "Terminated (SIGTERM); the output directory is as it was."
    }
  }
}

/// Ends a command with a message and an exit code.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
  package var code: ExitCode
  /// Complete lines for standard error.
  package var description: String
  package init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
