import FleetExperiments
import FleetMetrics
import ScenarioFormat
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

  private static func dispatch(_ arguments: [String], _ environment: CommandEnvironment) throws {
    let root = CommandSpecification.fleetsim
    guard let first = arguments.first, !first.hasPrefix("-") else {
      let parsed = try checkingUsage(of: root) { try root.parse(arguments) }
      return try Console.print(parsed.has("version") ? version + "\n" : HelpScreen().text(root))
    }
    guard let command = root.subcommands.first(where: { $0.name == first }) else {
      let hint = nearest(to: first, among: root.subcommands.map(\.name)).map {
        " Did you mean '\($0)'?"
      }
      throw CommandFailure(usage: "Unknown command '\(first)'.\(hint ?? "")", of: root, parent: nil)
    }
    try checkingUsage(of: command, parent: root.name) {
      let parsed = try command.parse(Array(arguments.dropFirst()))
      Terminal.use(try parsed.colour)
      if parsed.has("help") {
        try Console.print(HelpScreen().text(command, parent: root.name))
      } else if parsed.has("version") {
        try Console.print(version + "\n")
      } else {
        try execute(command, parsed, arguments, environment)
      }
    }
  }

  private static func execute(
    _ command: CommandSpecification, _ parsed: ParsedArguments, _ arguments: [String],
    _ environment: CommandEnvironment
  ) throws {
    switch command.name {
    case "init":
      try InitCommand(parsed).execute()
    case "run", "compare":
      let request = try RunRequest(parsed, compares: command.name == "compare")
      try RunCommand(request: request, arguments: arguments, environment: environment).execute()
    case "explore":
      let request = try RunRequest(parsed, compares: true)
      try ExploreCommand(request: request, arguments: arguments, environment: environment).execute()
    case "sweep":
      try SweepCommand(request: SweepRequest(parsed), environment: environment).execute()
    case "merge":
      try MergeCommand(parsed).execute()
    case "check":
      try CheckCommand(request: CheckRequest(parsed), environment: environment).execute()
    case "validate":
      try parsed.has("client") ? SettingsCheckCommand(parsed).execute() : ValidateCommand(parsed).execute()
    case "schema":
      try Console.printData(schema(parsed.positional.first))
    case "presets":
      try PresetsCommand(parsed).execute()
    case "trace":
      try TraceCommand(parsed, environment: environment).execute()
    case "tune":
      let request = try TuneRequest(parsed)
      let invocation = try SearchInvocation(parsed, arguments: arguments, environment: environment)
      try TuneCommand(request: request, invocation: invocation).execute()
    case "calibrate":
      let invocation = try SearchInvocation(parsed, arguments: arguments, environment: environment)
      try CalibrateCommand(request: CalibrateRequest(parsed), invocation: invocation).execute()
    case "stability":
      try StabilityCommand(parsed, arguments: arguments, environment: environment).execute()
    case "rescue":
      try RescueCommand(parsed, arguments: arguments, environment: environment).execute()
    case "adversary":
      try AdversaryCommand(parsed, arguments: arguments, environment: environment).execute()
    case "live":
      try LiveCommand(parsed, arguments: arguments, environment: environment).execute()
    case "bench":
      try BenchCommand(parsed, environment: environment).execute()
    case "conformance":
      try ConformanceCommand(parsed).execute()
    case "completions":
      try Console.printData(CompletionScript(parsed).text(of: .fleetsim))
    case "man":
      try Console.printData(ManualPage.text(of: .fleetsim))
    default:
      let text = try helpText(parsed.positional.first)
      // A file of it stays Markdown.
      try Console.print(Terminal(of: STDOUT_FILENO).columns == nil ? text : HelpScreen.readable(text))
    }
  }

  /// The help topic that defines every column of the CSV files.
  static let columnsTopic = "columns"

  /// The help topic that lists every key of a scenario.
  static let scenarioTopic = "scenario"

  /// The help topic that describes what `--json` prints, and the name of its schema.
  static let jsonTopic = "json"

  private static func schema(_ name: String?) throws -> String {
    switch name {
    case nil, scenarioTopic: return ScenarioSchema.json
    case jsonTopic: return CommandDocuments.schema
    case let name?:
      throw UsageError("There is no schema of '\(name)': there are \(scenarioTopic) and \(jsonTopic).")
    }
  }

  private static func helpText(_ topic: String?) throws -> String {
    let root = CommandSpecification.fleetsim
    guard let topic else { return HelpScreen().text(root) }
    if let command = root.subcommands.first(where: { $0.name == topic }) {
      return HelpScreen().text(command, parent: root.name)
    }
    if topic == ExitCode.topic { return ExitCode.table }
    if topic == columnsTopic { return ColumnReference.markdown + "\n" + StatisticsReference.markdown }
    if topic == scenarioTopic { return KeyReference.markdown }
    if topic == jsonTopic { return CommandDocuments.markdown }
    let hint = nearest(to: topic, among: CommandSpecification.helpTopics)
    throw UsageError("There is no help on '\(topic)'.\(hint.map { " Did you mean '\($0)'?" } ?? "")")
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
