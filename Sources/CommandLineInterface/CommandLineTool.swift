import UploadRetry

/// What the tool takes from the machine that it runs on. Only the executable reads clocks.
public struct CommandEnvironment: Sendable {
  /// Seconds of a clock that never goes back; wall time is measured with it and no result depends on it.
  public var monotonicSeconds: @Sendable () -> Double
  /// Seconds since 1970, for dates in the headers of a live run.
  public var unixSeconds: @Sendable () -> Double

  public init(
    monotonicSeconds: @escaping @Sendable () -> Double, unixSeconds: @escaping @Sendable () -> Double
  ) {
    self.monotonicSeconds = monotonicSeconds
    self.unixSeconds = unixSeconds
  }
}

/// fleetsim, but for the process around it.
public enum CommandLineTool {
  public static let version = "0.1.0"

  /// Of the results: two builds with the same number give the same bytes for the same scenario and seed. Sweeps, journals and
  /// baselines of another number are refused. `ResultsVersionTests` says when it has to go up: whenever a result changes.
  public static let resultsVersion = 3

  /// Runs the command that `arguments` (without the program's name) ask for and returns the exit code
  /// (sysexits).
  public static func main(arguments: [String], environment: CommandEnvironment) -> Int32 {
    Interruption.install()
    do {
      try dispatch(arguments, environment)
      return ExitCode.success.rawValue
    } catch {
      let failure = CommandFailure(describing: error)
      Console.printError(failure.description + "\n")
      return failure.code.rawValue
    }
  }

  /// Every command, in the order of the help.
  static let commands: [any Command.Type] = [
    InitCommand.self, RunCommand.self, CompareCommand.self, ExploreCommand.self, SweepCommand.self,
    MergeCommand.self, CheckCommand.self, TuneCommand.self, CalibrateCommand.self, StabilityCommand.self,
    RescueCommand.self, AdversaryCommand.self, LiveCommand.self, ValidateCommand.self, SchemaCommand.self,
    TraceCommand.self, PresetsCommand.self, ConformanceCommand.self, BenchCommand.self,
    CompletionsCommand.self, ManualCommand.self,
  ]

  private static func dispatch(_ arguments: [String], _ environment: CommandEnvironment) throws {
    let root = CommandSpecification.fleetsim
    guard let first = arguments.first, !first.hasPrefix("-") else {
      let parsed = try checkingUsage(of: root) { try root.parse(arguments) }
      return try Console.print(parsed.has("version") ? version + "\n" : HelpScreen().text(root))
    }
    guard let command = (commands + [HelpCommand.self]).first(where: { $0.help.name == first }) else {
      let hint = nearest(to: first, among: root.subcommands.map(\.name)).map { " Did you mean '\($0)'?" }
      throw CommandFailure(usage: "Unknown command '\(first)'.\(hint ?? "")", of: root, parent: nil)
    }
    let specification = command.specification
    try checkingUsage(of: specification, parent: root.name) {
      let parsed = try specification.parse(Array(arguments.dropFirst()))
      Terminal.use(try parsed.colour)
      if parsed.has("help") {
        try Console.print(HelpScreen().text(specification, parent: root.name))
      } else if parsed.has("version") {
        try Console.print(version + "\n")
      } else {
        try command.run(parsed, Invocation(arguments: arguments, environment: environment))
      }
    }
  }

  /// Gives a `UsageError` the usage line of its command.
  private static func checkingUsage<Result>(
    of command: CommandSpecification, parent: String? = nil, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as UsageError {
      throw CommandFailure(usage: error.description, of: command, parent: parent)
    }
  }
}

extension CommandSpecification {
  /// The tool with all its commands.
  package static let fleetsim = CommandSpecification(
    name: "fleetsim",
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
