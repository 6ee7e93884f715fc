/// How fleetsim ends, by sysexits(3) and the shell's habit for signals.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case failed = 1
  case usage = 64
  case data = 65
  case noInput = 66
  case unavailable = 69
  case internalError = 70
  case cannotCreate = 73
  case inputOutput = 74
  case interrupted = 130
  case quit = 131
  case terminated = 143

  var meaning: String {
    switch self {
    case .success: "Done."
    case .failed:
      "Failed vectors, worse metrics, missing runs, or Settings that harm a client: each is named."
    case .usage: "The command line is wrong: an unknown option or strategy, a missing argument."
    case .data:
      "A scenario, Settings, vector or baseline file is wrong, or a sweep's; or a run lacks memory."
    case .noInput: "An input file does not exist, is a directory or cannot be read."
    case .unavailable: "No upload of a live run was answered."
    case .internalError: "A checker found the simulator inconsistent with itself: a bug in fleetsim."
    case .cannotCreate:
      "The output cannot be created, or is in the place of something fleetsim did not write."
    case .inputOutput: "Writing failed half-way, for example on a full disk; nothing half-written is left."
    case .interrupted:
      "Interrupted (Ctrl-C); output is as it was; a sweep or a live run keeps what it has."
    case .quit:
      "Quit (Ctrl-\\); output is as it was; a sweep or a live run keeps what it has."
    case .terminated:
      "Terminated (SIGTERM); output is as it was; a sweep or a live run keeps what it has."
    }
  }

  static let table =
    "EXIT CODES:\n"
    + allCases.map { code in
      let number = "  \(code.rawValue)"
      return number + String(repeating: " ", count: 8 - number.count) + code.meaning + "\n"
    }.joined()
}
