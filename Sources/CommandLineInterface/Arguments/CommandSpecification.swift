import ScenarioModel

/// One command of a tool: what it accepts and what its help says.
package struct CommandSpecification: Sendable {
  package var name: String
  /// One line, for lists of commands.
  package var abstract: String
  /// Paragraphs below the abstract.
  package var discussion: [String] = []
  package var arguments: [ArgumentSpecification] = []
  package var options: [OptionSpecification] = []
  package var examples: [Example] = []
  package var subcommands: [CommandSpecification] = []

  package struct Example: Sendable {
    package var command: String
    package var meaning: String
    package init(_ command: String, _ meaning: String) {
      self.command = command
      self.meaning = meaning
    }
  }

  package init(
    name: String, abstract: String, discussion: [String] = [], subcommands: [CommandSpecification] = [],
    examples: [Example] = []
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.subcommands = subcommands
    self.examples = examples
  }

  /// The options, with those that every command has.
  var allOptions: [OptionSpecification] { options + [.colour, .version, .help] }
}

/// What there is to choose from for a value, as shells complete it.
package enum ValueChoice: Sendable, Hashable {
  /// A number, a time, a path of keys.
  case anything
  case file
  case directory
  case one(of: [String])
  /// With commas between.
  case several(of: [String])

  /// What a value is by its name, where nothing else is said.
  init(_ valueName: String?) {
    switch valueName {
    case "file", "scenario": self = .file
    case "dir": self = .directory
    case "preset": self = .one(of: ClientPreset.names)
    default: self = .anything
    }
  }
}

/// A positional argument.
package struct ArgumentSpecification: Sendable {
  package var valueName: String
  package var help: String
  package var isOptional: Bool
  /// Takes all that is left; the last argument only.
  package var isRepeatable: Bool
  package var choice: ValueChoice
  package init(
    _ valueName: String, _ choice: ValueChoice? = nil, help: String, isOptional: Bool = false,
    isRepeatable: Bool = false
  ) {
    self.valueName = valueName
    self.choice = choice ?? ValueChoice(valueName)
    self.help = help
    self.isOptional = isOptional
    self.isRepeatable = isRepeatable
  }
  var synopsis: String {
    (isOptional ? "[<\(valueName)>]" : "<\(valueName)>") + (isRepeatable ? " ..." : "")
  }
}

/// An option with a value, or a flag.
package struct OptionSpecification: Sendable {
  /// Without its dashes.
  package var name: String
  package var short: Character?
  /// nil for a flag.
  package var valueName: String?
  package var choice: ValueChoice
  package var help: String
  package var isRepeatable: Bool

  package init(
    _ name: String, short: Character? = nil, value valueName: String? = nil, _ choice: ValueChoice? = nil,
    isRepeatable: Bool = false, help: String
  ) {
    self.name = name
    self.short = short
    self.valueName = valueName
    self.choice = choice ?? ValueChoice(valueName)
    self.isRepeatable = isRepeatable
    self.help = help
  }

  static let colour = OptionSpecification(
    "color", value: "when", .one(of: Terminal.Colour.allCases.map(\.rawValue)),
    help: "auto: colours where there is a terminal and NO_COLOR is not set; always; never. (default: auto)")
  static let help = OptionSpecification("help", short: "h", help: "Show help information.")
  static let version = OptionSpecification("version", help: "Show the version.")

  /// `--seed <n>`, as errors and usage lines name it.
  var synopsis: String { "--\(name)" + (valueName.map { " <\($0)>" } ?? "") }
  var usage: String { "[\(synopsis)]" + (isRepeatable ? " ..." : "") }
  /// `-h, --help`, as the list of options names it.
  var label: String { (short.map { "-\($0), " } ?? "") + synopsis }
}
