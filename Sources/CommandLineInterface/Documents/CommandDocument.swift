import FleetExperiments
import FleetMetrics

/// The output of a command with `--json`: one document, in place of tables and sentences.
struct CommandDocument<Source>: Sendable {
  /// The subject of the document, for its title in the schema.
  var meaning: String
  var shape: JSONShape<Source>

  func text(_ command: String, _ source: Source) -> String {
    JSONValue.text(
      CommandDocuments.head.json(command).adding(shape.members.map { ($0.name, $0.value(source)) })) + "\n"
  }

  var kind: CommandDocuments.Kind { .init(meaning: meaning) { [shape] in shape.schema(of: $0) } }
}

/// The findings of a study, with the question that it answers.
struct Findings<Found: Sendable>: Sendable {
  /// The scenario file as it was named.
  var path: String
  var question: String?
  var warnings: [String]
  /// Whether all runs were made.
  var isFinished: Bool
  var found: Found
  /// The directory of `--out`.
  var output: String?
}

extension CommandDocument {
  /// The document of a study: what it was asked, what it found, where the files went.
  /// - Parameter isOfOne: whether it is about one scenario, which has a question.
  /// - Parameter story: what is said of it.
  static func study<Found>(
    _ meaning: String, isOfOne: Bool = true, warnings: String = "about the scenario",
    _ members: [JSONShape<Found>.Member], story: @escaping @Sendable (Found) -> Story
  ) -> Self where Source == Findings<Found> {
    let asked: [JSONShape<Source>.Member] = [
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("question", "The scenario's question.") { $0.question },
    ]
    return CommandDocument(
      meaning: meaning,
      shape: JSONShape(
        (isOfOne ? asked : []) + [
          .init("warnings", "What standard error has of warnings \(warnings).") { $0.warnings },
          .init(
            "isFinished",
            "Whether all runs were made; false: it was stopped, and this is what was known then."
          ) { $0.isFinished },
        ] + (JSONShape<Found>.told(story) + members).map { $0.part { $0.found } } + [
          .init("output", "The directory of `--out`; null: no files.") { $0.output }
        ]))
  }
}

extension JSONShape {
  /// The members of what is said of something.
  static func told(_ story: @escaping @Sendable (Source) -> Story) -> [Member] {
    let line = JSONShape<Story.Line>([
      .choice("subject", "What it is about.") { $0.subject },
      .init("text", "As a terminal has it.") { $0.text },
    ])
    return [
      .init("verdict", "The answer in one line.") { story($0).finding },
      .list("story", "What it rests on, a line each.", line) { story($0).lines },
    ]
  }
}

/// The documents of all commands, described.
package enum CommandDocuments {
  /// A document whatever it is made of, for the schema.
  package struct Kind: Sendable {
    var meaning: String
    var schema: @Sendable (_ commands: [String]) -> JSONValue
  }

  /// The members of every document, made of the command's name.
  fileprivate static let head = JSONShape<String>([
    .constant("program", "Always.", "fleetsim"),
    .constant(
      "format",
      "Goes up when a member is taken away or means something else; members may be added at any time.",
      2),
    .init("command", "The command that printed it.") { $0 },
    .init("version", "Of fleetsim.") { _ in CommandLineTool.version },
    .init("results", "The version of the results: two builds with the same one give the same figures.") { _ in
      CommandLineTool.resultsVersion
    },
  ])

  /// The JSON Schema (draft 2020-12) of all documents.
  static var schema: String {
    var kinds: [(kind: Kind, commands: [String])] = []
    for command in CommandLineTool.commands {
      for kind in command.documents {
        if kinds.last?.kind.meaning != kind.meaning { kinds.append((kind, [])) }
        kinds[kinds.count - 1].commands.append(command.help.name)
      }
    }
    let documents = kinds.map { kind, commands in
      kind.schema(commands).adding([
        ("title", .string("fleetsim \(commands.joined(separator: ", ")) --json: \(kind.meaning)"))
      ])
    }
    let all: JSONValue = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "What fleetsim prints with --json",
    ]
    return JSONValue.text(all.adding(head.schema().members).adding([("oneOf", .array(documents))])) + "\n"
  }
}

/// The members of one kind of JSON object: each one's name, meaning, schema and value.
///
/// Writer and JSON Schema are made from it, so a member is declared in one place.
struct JSONShape<Source>: Sendable {
  struct Member: Sendable {
    var name: String
    var meaning: String
    /// Its JSON Schema but for the meaning.
    var schema: JSONValue
    var value: @Sendable (Source) -> JSONValue
  }

  var members: [Member]

  init(_ members: [Member]) { self.members = members }

  /// An object for each row of a CSV file: the columns by their names, null where a cell is empty.
  init(columns: [CSVColumn<Source>]) {
    members = columns.map { column in
      let isNumber = !column.unit.isEmpty
      return Member(
        name: column.name, meaning: column.definition,
        schema: .types(isNumber ? ["number", "null"] : ["string", "boolean", "integer", "null"]),
        value: { column.value($0).json })
    }
  }

  func json(_ source: Source) -> JSONValue { .object(members.map { ($0.name, $0.value(source)) }) }

  /// - Parameters:
  ///   - commands: those whose name a document has first; none: it is no document.
  ///   - open: whether there are members with names of their own beside these.
  func schema(of commands: [String] = [], open: JSONValue? = nil) -> JSONValue {
    let properties: [(String, JSONValue)] =
      (commands.isEmpty ? [] : [("command", ["enum": commands])])
      + members.map { ($0.name, $0.schema.adding([("description", .string($0.meaning))])) }
    return [
      "type": "object", "required": properties.map(\.0), "properties": JSONValue.object(properties),
      "additionalProperties": open,
    ]
  }
}

extension JSONShape.Member {
  /// The same member of a whole that the source is a part of.
  func part<Whole>(_ part: @escaping @Sendable (Whole) -> Source) -> JSONShape<Whole>.Member {
    JSONShape<Whole>.Member(
      name: name, meaning: meaning, schema: schema, value: { [value] in value(part($0)) })
  }

  /// A value of a type that says what it is in JSON.
  init<Value: JSONRepresentable>(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Source) -> Value
  ) {
    self.init(name: name, meaning: meaning, schema: Value.schema, value: { value($0).json })
  }

  fileprivate static func constant(
    _ name: String, _ meaning: String, _ value: some JSONRepresentable
  ) -> Self {
    Self(name: name, meaning: meaning, schema: ["const": value], value: { [value = value.json] _ in value })
  }

  /// One of a few words.
  static func choice(
    _ name: String, _ meaning: String, _ words: [String], _ value: @escaping @Sendable (Source) -> String
  ) -> Self {
    Self(name: name, meaning: meaning, schema: ["enum": words], value: { .string(value($0)) })
  }

  /// One of the names of an enumeration.
  static func choice<Word: CaseIterable & RawRepresentable<String> & SendableMetatype>(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Source) -> Word
  ) -> Self {
    .choice(name, meaning, Word.allCases.map(\.rawValue)) { value($0).rawValue }
  }

  static func object<Inner>(
    _ name: String, _ meaning: String, _ shape: JSONShape<Inner>,
    _ value: @escaping @Sendable (Source) -> Inner
  ) -> Self {
    Self(name: name, meaning: meaning, schema: shape.schema(), value: { shape.json(value($0)) })
  }

  static func list<Inner>(
    _ name: String, _ meaning: String, _ shape: JSONShape<Inner>,
    _ value: @escaping @Sendable (Source) -> [Inner]
  ) -> Self {
    Self(
      name: name, meaning: meaning, schema: .list(of: shape.schema()),
      value: { .array(value($0).map(shape.json)) })
  }

  /// Rows of a CSV file. Beside `columns` there may be others, which the data name.
  static func rows<Row>(
    _ name: String, _ meaning: String, columns: [CSVColumn<Row>],
    _ value: @escaping @Sendable (Source) -> [JSONValue]
  ) -> Self {
    let other = JSONValue.types(["string", "number", "boolean", "null"])
    return Self(
      name: name, meaning: meaning,
      schema: .list(of: JSONShape<Row>(columns: columns).schema(open: other)),
      value: { .array(value($0)) })
  }

  /// The rows of a table that is a file, too.
  static func rows<Row>(
    _ name: String, _ meaning: String, _ columns: [CSVColumn<Row>],
    _ rows: @escaping @Sendable (Source) -> [Row]
  ) -> Self {
    let columns = columns.filter { !$0.name.isEmpty }
    let shape = JSONShape<Row>(columns: columns)
    return .rows(name, meaning, columns: columns) { rows($0).map(shape.json) }
  }

  /// JSON of any shape, or null.
  static func anything(
    _ name: String, _ meaning: String, _ types: [String], _ value: @escaping @Sendable (Source) -> JSONValue
  ) -> Self {
    Self(name: name, meaning: meaning, schema: .types(types), value: value)
  }
}

/// A type whose values are plain JSON.
protocol JSONRepresentable: SendableMetatype {
  static var schema: JSONValue { get }
  var json: JSONValue { get }
}

extension String: JSONRepresentable {
  static var schema: JSONValue { ["type": "string"] }
  var json: JSONValue { .string(self) }
}
extension Bool: JSONRepresentable {
  static var schema: JSONValue { ["type": "boolean"] }
  var json: JSONValue { .raw(self ? "true" : "false") }
}
extension FixedWidthInteger where Self: JSONRepresentable {
  static var schema: JSONValue { ["type": "integer"] }
  var json: JSONValue { .raw(String(self)) }
}
extension Int: JSONRepresentable {}
extension Int64: JSONRepresentable {}
extension UInt64: JSONRepresentable {}
extension Double: JSONRepresentable {
  static var schema: JSONValue { ["type": "number"] }
  /// With six decimals, as statistics.csv has it.
  var json: JSONValue { CSVValue.decimal(self, decimals: 6).json }
}
extension Optional: JSONRepresentable where Wrapped: JSONRepresentable {
  static var schema: JSONValue {
    guard case .string(let name)? = Wrapped.schema.members.first?.1 else { return Wrapped.schema }
    return .types([name, "null"])
  }
  var json: JSONValue { self?.json ?? .null }
}
extension Array: JSONRepresentable where Element: JSONRepresentable {
  static var schema: JSONValue { .list(of: Element.schema) }
  var json: JSONValue { .array(map(\.json)) }
}

extension CSVValue {
  /// A number with the digits that the file has, null for an empty cell.
  var json: JSONValue {
    switch self {
    case .empty: .null
    case .flag(let flag): flag.json
    case .text(let text): .string(text)
    case .integer, .unsigned, .fixed: .raw(digits)
    }
  }
}

/// A tree that is written as JSON, pretty-printed with two spaces.
indirect enum JSONValue: Sendable {
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])
  /// A number or a word of JSON, or pretty-printed JSON from elsewhere, which is indented to fit.
  case raw(String)

  static let null = JSONValue.raw("null")
  fileprivate static func types(_ names: [String]) -> JSONValue {
    ["type": names.count == 1 ? JSONValue.string(names[0]) : names.json]
  }
  fileprivate static func list(of items: JSONValue) -> JSONValue { ["type": "array", "items": items] }
  /// Rounded to three decimals.
  static func decimal(_ number: Double) -> JSONValue {
    number.isFinite && abs(number) < 9e15 ? .raw("\((number * 1_000).rounded() / 1_000)") : .null
  }

  static func text(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .string(let string): return string.asJSON
    case .array(let items):
      if items.isEmpty { return "[]" }
      return "[\n" + items.map { inner + text($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { inner + $0.0.asJSON + ": " + text($0.1, indent: inner) }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .raw(let json):
      return json.split(separator: "\n").joined(separator: "\n" + indent)
    }
  }
}

extension JSONValue: JSONRepresentable, ExpressibleByDictionaryLiteral {
  static var schema: JSONValue { [:] }
  var json: JSONValue { self }

  /// An object. A member that is nil is left out.
  init(dictionaryLiteral members: (String, (any JSONRepresentable)?)...) {
    self = .object(members.compactMap { name, value in value.map { (name, $0.json) } })
  }

  /// Of an object.
  fileprivate var members: [(String, JSONValue)] {
    if case .object(let members) = self { members } else { [] }
  }

  /// An object with more members.
  func adding(_ more: [(String, JSONValue)]) -> JSONValue { .object(members + more) }
}
