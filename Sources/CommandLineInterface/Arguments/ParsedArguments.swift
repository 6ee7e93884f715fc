import UploadRetry

/// The arguments of one command, sorted out.
package struct ParsedArguments: Sendable, Hashable {
  /// Values by option name, in the order given; a flag's value is empty.
  package var options: [String: [String]] = [:]
  /// Positional arguments in order.
  package var positional: [String] = []

  package func has(_ option: String) -> Bool { options[option] != nil }
  package func values(_ option: String) -> [String] { options[option] ?? [] }
  package func value(_ option: String) -> String? { options[option]?.first }

  /// What `--color` asks for.
  var colour: Terminal.Colour {
    get throws {
      guard let text = value(OptionSpecification.colour.name) else { return .auto }
      if let colour = Terminal.Colour(rawValue: text) { return colour }
      throw UsageError("The value '\(text)' is invalid for '--color <when>': auto, always or never.")
    }
  }
}

/// The command line was not understood; exit code 64.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }
}

extension CommandSpecification {
  /// Sorts `arguments` by this command's specification.
  ///
  /// Accepts `--opt value`, `--opt=value`, `-o value`, flags, and `--` before arguments that begin with a
  /// dash. A lone `-` is a positional argument. `--help` and `--version` end the parsing at once, whatever
  /// else is wrong.
  /// - Throws: `UsageError`.
  package func parse(_ arguments: [String]) throws -> ParsedArguments {
    var parsed = ParsedArguments()
    let beforeTerminator = arguments.prefix { $0 != "--" }
    for option in [OptionSpecification.help, .version] {
      let spellings = ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
      if beforeTerminator.contains(where: spellings.contains) {
        parsed.options[option.name] = [""]
        return parsed
      }
    }
    var rest = arguments[...]
    var optionsAreOver = false
    while let argument = rest.popFirst() {
      if !optionsAreOver, argument == "--" {
        optionsAreOver = true
      } else if !optionsAreOver, argument.hasPrefix("-"), argument != "-" {
        try parseOption(argument, rest: &rest, into: &parsed)
      } else {
        parsed.positional.append(argument)
      }
    }
    try checkPositional(parsed.positional)
    return parsed
  }

  private func parseOption(
    _ argument: String, rest: inout ArraySlice<String>, into parsed: inout ParsedArguments
  ) throws {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    let option = allOptions.first { "--\($0.name)" == parts[0] || $0.short.map { "-\($0)" } == parts[0] }
    guard let option else { throw unknownOption(parts[0]) }
    var value = parts.count == 2 ? parts[1] : nil
    if let valueName = option.valueName {
      if value == nil, let next = rest.first, !isOption(next) {
        value = next
        rest.removeFirst()
      }
      guard let value, !value.isEmpty else {
        throw UsageError("Missing value for '--\(option.name) <\(valueName)>'")
      }
      guard option.isRepeatable || !parsed.has(option.name) else {
        throw UsageError("The option '--\(option.name)' can be given only once.")
      }
      parsed.options[option.name, default: []].append(value)
    } else {
      if let value {
        throw UsageError(
          "The option '--\(option.name)' does not take any value, but '\(value)' was specified.")
      }
      parsed.options[option.name] = [""]
    }
  }

  /// Whether an argument after an option is the next option rather than a value; negative numbers are values.
  private func isOption(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), let second = argument.dropFirst().first else { return false }
    return !(second.isASCII && second.isNumber)
  }

  private func unknownOption(_ name: String) -> UsageError {
    let known = allOptions.map { "--\($0.name)" }
    let suggestion = nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
    return UsageError("Unknown option '\(name)'.\(suggestion)")
  }

  private func checkPositional(_ values: [String]) throws {
    if values.count > arguments.count, arguments.last?.isRepeatable != true {
      let extra = values.dropFirst(arguments.count)
      throw UsageError(
        extra.count == 1
          ? "Unexpected argument '\(extra.first!)'"
          : "\(extra.count) unexpected arguments: \(extra.map { "'\($0)'" }.joined(separator: ", "))")
    }
    let missing = arguments.dropFirst(values.count).first { !$0.isOptional }
    if let missing { throw UsageError("Missing expected argument '<\(missing.valueName)>'") }
  }
}
