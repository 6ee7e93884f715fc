import FleetSimulation
import ScenarioFormat

/// fleetsim, but for the process around it.
public enum CommandLineTool {
  public static let version = "0.1.0"

  /// The number of the results: two builds with the same number give the same bytes for the same scenario and seed.
  /// Journals and baselines of another number are refused. `ResultsVersionTests` says when it has to go up: whenever a result
  /// changes.
  public static let resultsVersion = 20

  /// Runs the command that `arguments` (without the program's name) ask for and returns the exit code
  /// (sysexits).
  public static func main(arguments: [String], environment: CommandEnvironment) -> Int32 {
    var environment = environment
    environment.arguments = arguments
    let command = (commands + [HelpCommand.self]).first { $0.help.name == arguments.first }
    do {
      try run(command, &environment)
      return ExitCode.success.rawValue
    } catch {
      let failure = CommandFailure(describing: error, of: command, environment.signals)
      if !failure.description.isEmpty { environment.console.printError(failure.description + "\n") }
      return failure.code.rawValue
    }
  }

  /// Every command, in the order of the help.
  static let commands: [any Command.Type] = [
    InitCommand.self, DecideCommand.self, RunCommand.self, CompareCommand.self, ReportCommand.self,
    CheckCommand.self, TuneCommand.self, CalibrateCommand.self, LimitCommand.self, LiveCommand.self,
    ValidateCommand.self, TraceCommand.self, PresetsCommand.self, ConformanceCommand.self,
  ]

  /// - Parameters:
  ///   - command: nil: the tool itself.
  ///   - environment: gets the colours that the command line asks for.
  private static func run(
    _ command: (any Command.Type)?, _ environment: inout CommandEnvironment
  ) throws {
    let arguments = environment.arguments
    guard let command else {
      // The whole tool is described where it is asked for: a run pays for its own command alone.
      let root = CommandSpecification.fleetsim
      if let first = arguments.first, !first.hasPrefix("-") {
        throw UsageError("Unknown command '\(first)'.\(UsageError.hint(first, root.subcommands.map(\.name)))")
      }
      let parsed = try root.parse(arguments)
      return try environment.console.print(
        parsed["version"] != nil ? version + "\n" : HelpScreen.text(root))
    }
    let specification = command.specification
    let parsed = try specification.parse(Array(arguments.dropFirst()))
    if let text = parsed[ParameterSpecification.colour.name]?.first {
      environment.console.colour = try ValueReader.name.value(
        text, of: ParameterSpecification.colour.synopsis, environment.files)
    }
    if parsed["help"] != nil {
      try environment.console.print(HelpScreen.text(specification))
    } else if parsed["version"] != nil {
      try environment.console.print(version + "\n")
    } else {
      try command.run(parsed, environment)
    }
  }
}

extension CommandSpecification {
  static let toolName = "fleetsim"
  package static let fleetsim = CommandSpecification(
    name: toolName,
    abstract: "Simulates a fleet of analytics clients that retry against an overloaded tracking endpoint.",
    discussion: [
      "A scenario file says who the clients are, what the server can take and what goes wrong; fleetsim runs it on a "
        + "virtual clock. The same scenario and seed give the same bytes in every CSV file."
    ],
    subcommands: (CommandLineTool.commands + [HelpCommand.self]).map { $0.specification },
    examples: [
      .init(
        "fleetsim validate scenario.json5", "Check a scenario and see its normal load against the capacity:"),
      .init(
        "fleetsim compare scenario.json5 --jitter additive:10,full,equal --out out/jitter",
        "Which jitter brings the fleet back best?"),
    ])
}

/// Ends a command with a message and an exit code.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
  package var code: ExitCode
  /// Lines for standard error, without the last line's end; empty: standard output has said it.
  package var description: String

  package init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }

  /// Whatever a command threw, as the user is to see it.
  /// - Parameter command: nil: the tool itself.
  init(describing error: any Error, of command: (any Command.Type)?, _ signals: Signals) {
    switch error {
    case let error as UsageError:
      // Where to read more stands below what is wrong.
      let name = [CommandSpecification.toolName, command?.help.name].compactMap(\.self).joined(separator: " ")
      self.init(.usage, "\(UsageError.label)\(error)\nSee '\(name) --help'.")
    case let failure as CommandFailure: self = failure
    case let problems as ScenarioProblems:
      // Errors that came from the command line alone make it a wrong command line.
      let errors = problems.diagnostics.filter { $0.severity == .error }
      let isUsage = !errors.isEmpty && errors.allSatisfy { $0.file.hasPrefix("--") }
      self.init(isUsage ? .usage : .data, problems.description)
    case is CancellationError: self = Signals.failure(signals.pending ?? 0)
    case let failure as CheckFailure:
      self.init(
        .internalError,
        "A checker found fleetsim inconsistent with itself; please report it with the scenario and the seed:\n"
          + failure.description)
    default: self.init(.internalError, "Internal error: \(error)")
    }
  }
}

/// How fleetsim ends, by sysexits(3) and the shell's habit for signals.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case failed = 1
  case undecided = 2
  case usage = 64
  case data = 65
  case noInput = 66
  case unavailable = 69
  case internalError = 70
  case systemRefuses = 71
  case cannotCreate = 73
  case inputOutput = 74
  case hungUp = 129
  case interrupted = 130
  case quit = 131
  case terminated = 143

  var meaning: String {
    switch self {
    case .success: "Done."
    case .failed:
      "Failed vectors or requirements, worse metrics, broken limits, bad Settings."
    case .undecided: "decide needs more runs than its budget allows, or conformance --exec is inconclusive."
    case .usage: "The command line is wrong: an unknown option or strategy, a missing argument."
    case .data:
      "An input file is wrong, or what the command of --exec printed; or a run lacks memory."
    case .noInput:
      "An input file, or the command of --exec, does not exist or cannot be read."
    case .unavailable:
      "No upload of a live run was answered, or the command of --exec sent none that could be."
    case .internalError: "A checker found the simulator inconsistent with itself: a bug in fleetsim."
    case .systemRefuses: "The system gives no more files, processes or ports (ulimit)."
    case .cannotCreate:
      "The output cannot be created, or is in the place of something fleetsim did not write."
    case .inputOutput: "Writing failed half-way, for example on a full disk; nothing half-written is left."
    case .hungUp:
      "Hung up (SIGHUP); output is as it was; a journal or a live run keeps what it has."
    case .interrupted:
      "Interrupted (Ctrl-C); output is as it was; a journal or a live run keeps what it has."
    case .quit:
      "Quit (Ctrl-\\); output is as it was; a journal or a live run keeps what it has."
    case .terminated:
      "Terminated (SIGTERM); output is as it was; a journal or a live run keeps what it has."
    }
  }

  static let table =
    "EXIT CODES:\n"
    + allCases.map { "  \($0.rawValue)".padded(to: 8) + $0.meaning + "\n" }.joined()
}
