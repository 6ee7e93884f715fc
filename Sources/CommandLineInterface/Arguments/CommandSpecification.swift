import ScenarioModel

/// One command of a tool: what it accepts and what its help says.
package struct CommandSpecification: Sendable {
  package var name: String
  /// One line, for lists of commands.
  package var abstract: String
  /// Makes `discussion`: a command is found among all others by its name, and only its help needs the paragraphs.
  private let paragraphs: @Sendable () -> [String]
  package var arguments: [ParameterSpecification] = []
  package var options: [ParameterSpecification] = []
  package var subcommands: [CommandSpecification]
  var examples: [Example]

  package init(
    name: String, abstract: String, discussion: @autoclosure @escaping @Sendable () -> [String] = [],
    subcommands: [CommandSpecification] = [], examples: [Example] = []
  ) {
    (self.name, self.abstract, paragraphs) = (name, abstract, discussion)
    (self.subcommands, self.examples) = (subcommands, examples)
  }

  /// As it is called: `fleetsim run`; one with commands of its own is the tool.
  var call: String { subcommands.isEmpty ? "\(Self.toolName) \(name)" : name }
  /// Paragraphs below the abstract.
  package var discussion: [String] { paragraphs() }

  package struct Example: Sendable {
    var command: String
    var meaning: String
    init(_ command: String, _ meaning: String) { (self.command, self.meaning) = (command, meaning) }
  }

  /// The options, with those that every command has.
  var allOptions: [ParameterSpecification] { options + [.colour, .version, .help] }
}

/// The choices that a value has, as shells complete it.
package enum ValueChoice: Sendable, Hashable {
  /// A number, a time, a path of keys.
  case anything
  case file
  case directory
  case one(of: [String])
  /// With commas between.
  case several(of: [String])

  /// The kind that a value's name implies, where nothing else is said.
  init(_ valueName: String?) {
    switch valueName {
    case "file", "scenario": self = .file
    case "dir": self = .directory
    case "preset": self = .one(of: ClientPreset.names)
    default: self = .anything
    }
  }
}

/// An argument, an option with a value, or a flag.
package struct ParameterSpecification: Sendable {
  /// An option's stands without its dashes.
  package var name: String
  package var short: Character?
  /// nil for a flag.
  package var valueName: String?
  package var choice: ValueChoice
  package var help: String
  /// Of an argument: it takes all that is left.
  package var isRepeatable: Bool
  /// Of an argument.
  package var isOptional = true
  package private(set) var isArgument = false

  package init(
    argument name: String, _ choice: ValueChoice? = nil, help: String, isOptional: Bool = false,
    isRepeatable: Bool = false
  ) {
    self.init(name, value: name, choice, isRepeatable: isRepeatable, help: help)
    (self.isOptional, isArgument) = (isOptional, true)
  }

  /// An option with a value, or a flag.
  package init(
    _ name: String, short: Character? = nil, value valueName: String? = nil, _ choice: ValueChoice? = nil,
    isRepeatable: Bool = false, help: String
  ) {
    (self.name, self.short, self.valueName) = (name, short, valueName)
    self.choice = choice ?? ValueChoice(valueName)
    (self.isRepeatable, self.help) = (isRepeatable, help)
  }

  static let colour = ParameterSpecification(
    "color", value: "when", .one(of: Terminal.Colour.allCases.map(\.rawValue)),
    help: "auto: colours where there is a terminal and NO_COLOR is not set; always; never. (default: auto)")
  static let help = ParameterSpecification("help", short: "h", help: "Show help information.")
  static let version = ParameterSpecification("version", help: "Show the version.")

  /// Whether an argument names this option: `--quiet`, `-q`.
  func isSpelled(_ argument: String) -> Bool {
    argument.hasPrefix("--")
      ? argument.dropFirst(2) == name : argument.count == 2 && argument.first == "-" && argument.last == short
  }

  /// `<scenario>` or `--seed <n>`, as errors name it.
  package var synopsis: String {
    isArgument ? "<\(name)>" : "--\(name)" + (valueName.map { " <\($0)>" } ?? "")
  }
  /// As usage lines have it.
  var usage: String { (isOptional ? "[\(synopsis)]" : synopsis) + (isRepeatable ? " ..." : "") }
  /// `-h, --help`, as the list of options names it.
  var label: String { (short.map { "-\($0), " } ?? "") + synopsis }
}

/// The texts of a command line by the name of option or argument, in order; a flag's is empty.
package typealias ParsedArguments = [String: [String]]

/// The command line was not understood; exit code 64.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }

  /// Several, a line each.
  init(all problems: [String]) { description = problems.joined(separator: "\n" + Self.label) }

  /// The word before each.
  static let label = "Error: "
}

extension CommandSpecification {
  /// Sorts `arguments` by this command's specification.
  ///
  /// Accepts `--opt value`, `--opt=value`, `-o value`, flags, and `--` before arguments that begin with a
  /// dash. A lone `-` is a positional argument. `--help` and `--version` end the parsing at once, whatever
  /// else is wrong.
  package func parse(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
    for option in [ParameterSpecification.help, .version] {
      for argument in arguments {
        if argument == "--" { break }
        if option.isSpelled(argument) { return [option.name: [""]] }
      }
    }
    var (parsed, positional) = (ParsedArguments(), [String]())
    var rest = arguments[...]
    var optionsAreOver = false
    while let argument = rest.popFirst() {
      if !optionsAreOver, argument == "--" {
        optionsAreOver = true
      } else if !optionsAreOver, argument.hasPrefix("-"), argument != "-" {
        try parseOption(argument, rest: &rest, into: &parsed)
      } else {
        positional.append(argument)
      }
    }
    try assign(positional, in: &parsed)
    return parsed
  }

  private func parseOption(
    _ argument: String, rest: inout ArraySlice<String>, into parsed: inout ParsedArguments
  ) throws(UsageError) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    guard let option = allOptions.first(where: { $0.isSpelled(parts[0]) }) else {
      let known = allOptions.map { "--\($0.name)" }
      throw UsageError("Unknown option '\(parts[0])'.\(UsageError.hint(parts[0], known))")
    }
    var value = parts.count == 2 ? parts[1] : nil
    if option.valueName != nil {
      if value == nil, let next = rest.first, !isOption(next) {
        value = next
        rest.removeFirst()
      }
      guard let value, !value.isEmpty else {
        throw UsageError("Missing value for '\(option.synopsis)'")
      }
      guard option.isRepeatable || parsed[option.name] == nil else {
        throw UsageError("The option '--\(option.name)' can be given only once.")
      }
      parsed[option.name, default: []].append(value)
    } else {
      if let value {
        throw UsageError(
          "The option '--\(option.name)' does not take any value, but '\(value)' was specified.")
      }
      parsed[option.name] = [""]
    }
  }

  /// Whether an argument after an option is the next option rather than a value; negative numbers are values.
  private func isOption(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), let second = argument.dropFirst().first else { return false }
    return !(second.isASCII && second.isNumber)
  }

  /// Gives each argument its texts, the last one all that are left where it takes several.
  private func assign(_ texts: [String], in parsed: inout ParsedArguments) throws(UsageError) {
    var rest = texts[...]
    for argument in arguments {
      let own = rest.prefix(argument.isRepeatable ? rest.count : 1)
      if !own.isEmpty {
        parsed[argument.name] = Array(own)
      } else if !argument.isOptional {
        throw UsageError("Missing expected argument '\(argument.synopsis)'")
      }
      rest = rest.dropFirst(own.count)
    }
    if rest.isEmpty { return }
    throw UsageError(
      (rest.count == 1 ? "Unexpected argument " : "\(rest.count) unexpected arguments: ")
        + rest.map { "'\($0)'" }.joined(separator: ", "))
  }
}
