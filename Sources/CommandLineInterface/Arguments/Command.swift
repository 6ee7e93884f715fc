/// A command of the tool: a type whose properties declare what it accepts.
///
/// ```swift
/// struct MergeCommand: Command {
///   static let help = CommandSpecification(name: "merge", abstract: "Make tables and report of a sweep.")
///   @Argument("dir", help: "The directory of the sweep.") var path: String
///   @Flag(.quiet) var isQuiet: Bool
///   func execute(_ invocation: Invocation) throws { … }
/// }
/// ```
protocol Command: ParameterGroup {
  /// Its name and what the help says; arguments and options come from the properties.
  static var help: CommandSpecification { get }
  init()
  /// Does what the command line asks for.
  /// - Throws: `UsageError` where the options do not go together; what else goes wrong.
  func execute(_ invocation: Invocation) throws
}

/// What a command is told beside its own options.
struct Invocation: Sendable {
  /// The command line, without the program's name.
  var arguments: [String]
  var environment: CommandEnvironment
}

extension Command {
  static var specification: CommandSpecification {
    var specification = help
    for parameter in Self().parameters { parameter.declare(in: &specification) }
    return specification
  }

  /// Does what a command line asks for.
  static func run(_ parsed: ParsedArguments, _ invocation: Invocation) throws {
    let command = Self()
    for parameter in command.parameters { try parameter.take(parsed) }
    try command.execute(invocation)
  }
}
