import FleetExperiments
import FleetMetrics
import ScenarioFormat

// What fleetsim knows of itself.

/// The topics of `fleetsim help` beside commands.
enum HelpTopic: String, CaseIterable {
  case exitCodes = "exit-codes"
  case columns
  case scenario
  /// The JSON Schema of a scenario, or of the documents.
  case schema
  /// A script that makes a shell complete commands, options and values.
  case completions
  /// The words that a shell offers for a line, which the script asks for.
  case complete
  case man

  /// The topics that people ask for.
  static let shown = allCases.filter { $0 != .complete }.map(\.rawValue)
  static let shells = CompletionScript.allCases.map(\.rawValue)
  static let schemas = [scenario.rawValue, json]
  private static let json = "json"

  /// Whether it is printed as it is, for programs.
  var isData: Bool { [.schema, .completions, .complete, .man].contains(self) }

  /// - Parameter what: which schema, or which shell.
  func text(_ what: String?) throws(UsageError) -> String {
    switch (self, what) {
    case (.schema, nil), (.schema, Self.scenario.rawValue?): return ScenarioSchema.json
    case (.schema, Self.json?): return CommandDocuments.schema
    case (.schema, let name?):
      throw UsageError(
        "There is no schema of '\(name)': there are \(Self.schemas.joined(separator: " and ")).")
    case (.completions, let name):
      let shells = Self.shells.joined(separator: ", ")
      guard let name else { throw UsageError("Missing expected argument '<what>': one of \(shells).") }
      guard let script = CompletionScript(rawValue: name) else {
        throw UsageError("There are no completions for '\(name)'; there are for \(shells).")
      }
      return script.text
    case (.complete, let line): return CommandSpecification.fleetsim.offers(line ?? "")
    case (_, let word?): throw UsageError("Unexpected argument '\(word)'")
    case (.exitCodes, nil): return ExitCode.table
    case (.columns, nil): return ColumnReference.markdown + "\n" + StatisticsReference.markdown
    case (.scenario, nil): return KeyReference.markdown
    case (.man, nil): return ManualPage.text(of: .fleetsim)
    }
  }
}

/// `fleetsim help`: a command's screen, a page of reference, or what editors, shells and man read.
struct HelpCommand: Command {
  static let help = CommandSpecification(
    name: "help",
    abstract:
      "Show help for a command; print exit-codes, columns, scenario, schema, completions or man.",
    discussion: [
      "schema has every key of a scenario with what it means, what is allowed and what it is by default, as JSON Schema (draft "
        + "2020-12): an editor that is given it completes a scenario and checks it. 'fleetsim help scenario' has the same for readers. "
        + "schema json is of the documents that commands print with --json. completions make a shell complete commands, options and "
        + "values; man is the manual page."
    ],
    examples: [
      .init(
        "fleetsim help schema > scenario.schema.json", "Into a file, to be named in the editor's settings:"),
      .init("fleetsim help schema json > fleetsim.schema.json", "What a program may expect of --json:"),
      .init("source <(fleetsim help completions bash)", "In this shell, or from ~/.bashrc in each:"),
      .init("fleetsim help completions zsh > ~/.zfunc/_fleetsim", "Into a folder of zsh's fpath:"),
      .init("fleetsim help completions fish > ~/.config/fish/completions/fleetsim.fish", "For fish:"),
      .init("fleetsim help man > ~/.local/share/man/man1/fleetsim.1", "Where man finds it:"),
      .init("fleetsim help man | man -l -", "To read it now, with man-db:"),
    ])

  private static let topics =
    CommandLineTool.commands.map { $0.help.name } + HelpTopic.shown

  @Argument(
    "topic", .one(of: topics), help: "\(topics.dropLast().joined(separator: ", ")) or \(topics.last!).")
  private var topic: String?
  @Argument(
    "what", .one(of: HelpTopic.schemas + HelpTopic.shells),
    help:
      "Of schema: \(HelpTopic.schemas.joined(separator: " or ")) (default: scenario); of completions: "
      + "\(HelpTopic.shells.joined(separator: ", ")).")
  private var what: String?

  func execute(_ environment: CommandEnvironment) throws {
    let console = environment.console
    let page = topic.flatMap { HelpTopic(rawValue: $0) }
    let text = try page?.text(what) ?? screen()
    if let page, page.isData { return try console.printData(text) }
    // A file of it stays Markdown.
    let isFile = console.terminal(console.output).columns == nil
    try console.print(isFile ? text : HelpScreen.readable(text))
  }

  private func screen() throws -> String {
    let root = CommandSpecification.fleetsim
    guard let topic else { return HelpScreen.text(root) }
    guard let command = root.subcommands.first(where: { $0.name == topic }) else {
      throw UsageError("There is no help on '\(topic)'.\(UsageError.hint(topic, Self.topics))")
    }
    if let what { throw UsageError("Unexpected argument '\(what)'") }
    return HelpScreen.text(command)
  }
}
