import FleetExperiments
import FleetMetrics
import ScenarioFormat

// Commands that say what fleetsim knows of itself.

/// `fleetsim schema`: the JSON Schema of a scenario, or of the documents that `--json` prints.
struct SchemaCommand: Command {
  static let help = CommandSpecification(
    name: "schema", abstract: "Print the JSON Schema of a scenario, for editors, or of what --json prints.",
    discussion: [
      "Of a scenario: every key with what it means, what is allowed and what it is by default, as JSON Schema (draft 2020-12): an editor that "
        + "is given it completes a scenario and checks it. 'fleetsim help scenario' has the same for readers."
    ],
    examples: [
      .init("fleetsim schema > scenario.schema.json", "Into a file, to be named in the editor's settings:"),
      .init("fleetsim schema json > fleetsim.schema.json", "What a program may expect of --json:"),
    ])

  @Argument(
    "what",
    help:
      "scenario, or json: the documents that commands print with --json ('fleetsim help json' has them for readers). "
      + "(default: scenario)")
  private var subject: String?

  func execute(_ invocation: Invocation) throws {
    let (scenario, documents) = (HelpTopic.scenario.rawValue, HelpTopic.json.rawValue)
    switch subject {
    case nil, scenario: try invocation.environment.console.printData(ScenarioSchema.json)
    case documents: try invocation.environment.console.printData(CommandDocuments.schema)
    case let name?:
      throw UsageError("There is no schema of '\(name)': there are \(scenario) and \(documents).")
    }
  }
}

/// `fleetsim completions`: what makes a shell complete commands, options and values.
struct CompletionsCommand: Command {
  private static let shells = CompletionScript.allCases.map(\.rawValue)
  static let help = CommandSpecification(
    name: "completions", abstract: "Print what makes a shell complete commands, options and values.",
    examples: [
      .init("source <(fleetsim completions bash)", "In this shell, or from ~/.bashrc in each:"),
      .init("fleetsim completions zsh > ~/.zfunc/_fleetsim", "Into a folder of zsh's fpath:"),
      .init("fleetsim completions fish > ~/.config/fish/completions/fleetsim.fish", "For fish:"),
    ])

  @Argument("shell", .one(of: shells), help: shells.joined(separator: ", ") + ".")
  private var shell: String

  func execute(_ invocation: Invocation) throws {
    guard let script = CompletionScript(rawValue: shell) else {
      throw UsageError(
        "There are no completions for '\(shell)'; there are for \(Self.shells.joined(separator: ", ")).")
    }
    try invocation.environment.console.printData(script.text(of: .fleetsim))
  }
}

/// `fleetsim man`: the manual page.
struct ManualCommand: Command {
  static let help = CommandSpecification(
    name: "man", abstract: "Print the manual page, for man(1).",
    examples: [
      .init("fleetsim man > ~/.local/share/man/man1/fleetsim.1", "Where man finds it:"),
      .init("fleetsim man | man -l -", "To read it now, with man-db:"),
    ])

  func execute(_ invocation: Invocation) throws {
    try invocation.environment.console.printData(ManualPage.text(of: .fleetsim))
  }
}

/// The topics of `fleetsim help` beside commands.
enum HelpTopic: String, CaseIterable {
  case exitCodes = "exit-codes"
  /// Every column of the CSV files.
  case columns
  /// Every key of a scenario.
  case scenario
  /// The documents of `--json`.
  case json

  var text: String {
    switch self {
    case .exitCodes: ExitCode.table
    case .columns: ColumnReference.markdown + "\n" + StatisticsReference.markdown
    case .scenario: KeyReference.markdown
    case .json: CommandDocuments.markdown
    }
  }
}

/// `fleetsim help`: the screen of a command, or a page of reference.
struct HelpCommand: Command {
  static let help = CommandSpecification(
    name: "help",
    abstract: "Show help for a command, for exit-codes, for columns, for scenario or for json.")

  private static let topics =
    CommandLineTool.commands.map { $0.help.name } + HelpTopic.allCases.map(\.rawValue)

  @Argument(
    "topic", .one(of: topics), help: "\(topics.dropLast().joined(separator: ", ")) or \(topics.last!).")
  private var topic: String?

  func execute(_ invocation: Invocation) throws {
    let text = try text()
    // A file of it stays Markdown.
    let console = invocation.environment.console
    let isFile = console.terminal(console.output).columns == nil
    try console.print(isFile ? text : HelpScreen.readable(text))
  }

  private func text() throws -> String {
    let root = CommandSpecification.fleetsim
    guard let topic else { return HelpScreen().text(root) }
    if let command = root.subcommands.first(where: { $0.name == topic }) {
      return HelpScreen().text(command, parent: root.name)
    }
    if let page = HelpTopic(rawValue: topic) { return page.text }
    throw UsageError("There is no help on '\(topic)'.\(UsageError.hint(topic, Self.topics))")
  }
}
