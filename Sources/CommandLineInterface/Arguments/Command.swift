import ScenarioFormat
import SimulationKernel
import Synchronization
import UploadRetry

/// A command of the tool: a type whose properties declare what it accepts.
package protocol Command: ParameterGroup {
  /// Its name and what the help says; arguments and options come from the properties.
  static var help: CommandSpecification { get }
  /// The documents that it prints with `--json`.
  static var documents: [CommandDocuments.Kind] { get }
  init()
  /// Does what the command line asks for.
  /// - Throws: `UsageError` where the options do not go together; what else goes wrong.
  func execute(_ environment: CommandEnvironment) throws
}

extension Command {
  package static var documents: [CommandDocuments.Kind] { [] }

  package static var specification: CommandSpecification {
    var specification = help
    for one in Self().parameters.lazy.map({ $0.specification }) {
      if one.isArgument { specification.arguments.append(one) } else { specification.options.append(one) }
    }
    return specification
  }

  /// Does what a command line asks for.
  /// - Throws: `UsageError` of all options that are wrong, a line each.
  static func run(_ parsed: ParsedArguments, _ environment: CommandEnvironment) throws {
    let command = Self()
    var problems: [String] = []
    for parameter in command.parameters {
      do { try parameter.take(parsed, environment.files) } catch let error as UsageError {
        problems.append(error.description)
      }
    }
    guard problems.isEmpty else { throw UsageError(all: problems) }
    try command.execute(environment)
  }
}

/// One declaration of a command: an option, a flag or an argument.
package protocol DeclaredParameter: Sendable {
  /// What the help says of it.
  var specification: ParameterSpecification { get }
  /// Whether the command line has it.
  var isGiven: Bool { get }
  /// Takes its value from a command line.
  /// - Parameter files: those that a value may name.
  /// - Throws: `UsageError`.
  func take(_ parsed: ParsedArguments, _ files: Files) throws
}

extension DeclaredParameter {
  var name: String { specification.name }
}

/// Parameters that commands have in common, or those of one command, in the order of the help.
package protocol ParameterGroup: Sendable {
  /// Names of parameters that a command does without.
  var omitted: Set<String> { get }
}

extension ParameterGroup {
  package var omitted: Set<String> { [] }

  /// The parameters that the properties declare, those of groups among them too.
  package var parameters: [any DeclaredParameter] {
    var found: [any DeclaredParameter] = []
    for child in Mirror(reflecting: self).children {
      if let group = child.value as? any ParameterGroup {
        found += group.parameters
      } else if let parameter = child.value as? any DeclaredParameter {
        found.append(parameter)
      }
    }
    return omitted.isEmpty ? found : found.filter { !omitted.contains($0.name) }
  }

  /// - Throws: `UsageError` of `reason` about the first of these parameters that is given.
  func refuse(_ names: String..., reason: (_ option: String) -> String) throws(UsageError) {
    guard let given = parameters.first(where: { names.contains($0.name) && $0.isGiven }) else { return }
    throw UsageError(reason("'--\(given.name)'"))
  }
}

/// What copies and threads share; nil until it is there.
final class Shared<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}

/// A parameter of the command line: its name, placeholder, reader, help and default in one place.
///
/// A property of an optional type is an option that may be left out, and a list may be given several times. A property with an
/// initial value has a default, and any other must be given. The help says of the last two what it is.
@propertyWrapper
package struct Option<Value: Sendable>: DeclaredParameter {
  package let specification: ParameterSpecification
  /// Said after the option's name where it is missing.
  private var reason = ""
  /// nil: it must be given.
  private let defaultValue: (@Sendable () -> Value)?
  private let read: @Sendable ([String], ParameterSpecification, Files) throws -> Value
  /// By the command line.
  private var given = Shared<(value: Value, texts: [String])>()

  package var wrappedValue: Value {
    if let (value, _) = given.value.withLock({ $0 }) { return value }
    guard let defaultValue else {
      preconditionFailure("\(specification.synopsis) is read before the command line")
    }
    return defaultValue()
  }
  package var projectedValue: Self { self }
  var synopsis: String { specification.synopsis }
  private var texts: [String] { given.value.withLock { $0?.texts } ?? [] }
  package var isGiven: Bool { !texts.isEmpty }
  /// As given: `--seed 7`.
  var words: [String] { texts.flatMap { ["--\(name)", $0] } }

  package func take(_ parsed: ParsedArguments, _ files: Files) throws {
    if let texts = parsed[name] {
      let value = try read(texts, specification, files)
      given.value.withLock { $0 = (value, texts) }
    } else if defaultValue == nil {
      throw UsageError("Missing expected option '\(specification.synopsis)'" + reason)
    }
  }
}

extension Option {
  /// An option with a default, which the help states unless it does so in words of its own.
  package init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ name: String, _ placeholder: String,
    _ reader: ValueReader<Value>, help: String
  ) {
    let stated = help.contains("(default: ") ? "" : " (default: \(wrappedValue()))"
    self.init(
      specification: ParameterSpecification(name, value: placeholder, reader.choice, help: help + stated),
      defaultValue: wrappedValue, read: { try reader.value($0[0], of: $1.synopsis, $2) })
  }

  /// An option that must be given.
  package init(
    _ name: String, _ placeholder: String, _ reader: ValueReader<Value>, because reason: String = "",
    help: String
  ) {
    self.init(
      specification: ParameterSpecification(
        name, value: placeholder, reader.choice, help: help + " (required)"),
      reason: reason, defaultValue: nil, read: { try reader.value($0[0], of: $1.synopsis, $2) })
  }

  /// An option that may be left out.
  package init<Wrapped: Sendable>(
    _ name: String, _ placeholder: String, _ reader: ValueReader<Wrapped>, help: String
  ) where Value == Wrapped? {
    self.init(
      specification: ParameterSpecification(name, value: placeholder, reader.choice, help: help),
      defaultValue: { nil }, read: { try reader.value($0[0], of: $1.synopsis, $2) })
  }

  /// An option that may be given several times.
  package init<Element: Sendable>(
    _ name: String, _ placeholder: String, each reader: ValueReader<Element>, isRequired: Bool = false,
    help: String
  ) where Value == [Element] {
    let none: @Sendable () -> Value = { [] }
    self.init(
      specification: ParameterSpecification(
        name, value: placeholder, reader.choice, isRepeatable: true,
        help: help + (isRequired ? " (required)" : "")),
      defaultValue: isRequired ? nil : none,
      read: { texts, option, files in try texts.map { try reader.value($0, of: option.synopsis, files) } })
  }

  /// A parameter that several commands have.
  init(_ shared: Self) { self = shared }

  package init(_ name: String, short: Character? = nil, help: String) where Value == Bool {
    self.init(
      specification: ParameterSpecification(name, short: short, help: help), defaultValue: { false },
      read: { _, _, _ in true })
  }

  package init(_ name: String, _ choice: ValueChoice? = nil, help: String) where Value == String {
    self.init(
      specification: ParameterSpecification(argument: name, choice, help: help), defaultValue: nil,
      read: { texts, _, _ in texts[0] })
  }

  init(_ name: String, _ choice: ValueChoice? = nil, help: String) where Value == String? {
    self.init(
      specification: ParameterSpecification(argument: name, choice, help: help, isOptional: true),
      defaultValue: { nil }, read: { texts, _, _ in texts[0] })
  }

  init(_ name: String, isOptional: Bool = false, help: String) where Value == [String] {
    self.init(
      specification: ParameterSpecification(
        argument: name, help: help, isOptional: isOptional, isRepeatable: true),
      defaultValue: { [] }, read: { texts, _, _ in texts })
  }
}

/// An option without a value.
package typealias Flag = Option<Bool>

/// A positional argument: the text of one, which may be left out, or of all that are left.
package typealias Argument<Value: Sendable> = Option<Value>

extension UsageError {
  /// A name of something that there is not: `The client 'x' does not exist; there are a, b. Did you mean 'b'?`
  init(no kind: String, _ name: String, among names: [String]) {
    self.init(
      "The \(kind) '\(name)' does not exist; there are \(names.joined(separator: ", ")).\(Self.hint(name, names))"
    )
  }

  /// ` Did you mean 'shed'?`, or nothing.
  static func hint(_ word: String, _ words: [String]) -> String {
    nearest(to: word, among: words).map { " Did you mean '\($0)'?" } ?? ""
  }
}

/// Why a value is not taken. Readers throw it, and the option adds the text and its name.
struct InvalidValue: Error {
  /// The part of the text that is wrong; nil: all of it.
  var part: String?
  /// The rest of the message after the option's name, with its punctuation.
  var rest: String

  /// - Parameter reason: what would be right, as a sentence's second half.
  init(_ reason: String) { rest = ": \(reason)" }
  init(_ part: String? = nil, rest: String) { (self.part, self.rest) = (part, rest) }

  /// `; did you mean 'shed'?`, or the end of the sentence. A letter is near to every other one.
  static func hint(_ word: String, _ words: [String]) -> String {
    let near = word.count > 1 ? nearest(to: word, among: words) : nil
    return near.map { "; did you mean '\($0)'?" } ?? "."
  }
}

/// How the text of an option becomes its value, and what there is to choose from.
package struct ValueReader<Value: Sendable>: Sendable {
  /// nil: what the placeholder says.
  var choice: ValueChoice?
  let read: @Sendable (String, Files) throws -> Value

  /// - Parameter read: throws `InvalidValue` or an error that says what would be right; a `UsageError` is the whole message.
  init(_ choice: ValueChoice? = nil, read: @escaping @Sendable (String) throws -> Value) {
    self.init(choice, readingFiles: { text, _ in try read(text) })
  }

  /// - Parameters:
  ///   - allowed: what would be right, as a sentence's second half.
  ///   - value: nil for a text that has none.
  init(
    _ allowed: @autoclosure @escaping @Sendable () -> String, value: @escaping @Sendable (String) -> Value?
  ) {
    self.init { text in
      if let value = value(text) { return value }
      throw InvalidValue(allowed())
    }
  }

  /// A reader of texts that name files.
  init(_ choice: ValueChoice? = nil, readingFiles read: @escaping @Sendable (String, Files) throws -> Value) {
    (self.choice, self.read) = (choice, read)
  }

  /// nil for a word, else the value that another reader gives.
  static func word<Wrapped>(_ word: String, or other: ValueReader<Wrapped>) -> ValueReader
  where Value == Wrapped? {
    ValueReader(other.choice, readingFiles: { $0 == word ? nil : try other.read($0, $1) })
  }

  /// The value of an option or an argument, which errors call by its synopsis: `--seeds <n>`.
  /// - Throws: `UsageError` that names the option; `CommandFailure`, `ScenarioProblems` of a file.
  package func value(_ text: String, of synopsis: String, _ files: Files) throws -> Value {
    func failure(_ part: String?, _ rest: String) -> UsageError {
      UsageError("The value '\(part ?? text)' is invalid for '\(synopsis)'\(rest)")
    }
    do {
      return try read(text, files)
    } catch let error as InvalidValue {
      throw failure(error.part, error.rest)
    } catch let error as Units.Problem {
      throw failure(nil, ": \(error.message).")
    } catch let error where error is UsageError || error is CommandFailure || error is ScenarioProblems {
      throw error
    } catch {
      let reason = "\(error)"
      throw failure(nil, ": " + reason + (reason.hasSuffix(".") ? "" : "."))
    }
  }
}
