import FleetExperiments
import FleetReports

/// What a command prints with `--json`: one document, in place of tables and sentences.
struct CommandDocument<Source>: Sendable {
  /// The names of the commands that print it, `run` and `compare`.
  var commands: [String]
  /// What it is of, for the reference.
  var meaning: String
  var shape: JSONShape<Source>

  /// The whole document.
  func text(_ command: String, _ source: Source) -> String {
    let head: [(String, JSONValue)] = [
      ("program", .string("fleetsim")), ("format", .integer(Int64(CommandDocuments.format))),
      ("command", .string(command)), ("version", .string(CommandLineTool.version)),
      ("results", .integer(Int64(CommandLineTool.resultsVersion))),
    ]
    return JSONValue.text(JSONValue.object(head).adding(shape.members.map { ($0.name, $0.value(source)) }))
      + "\n"
  }

  fileprivate var kind: CommandDocuments.Kind {
    CommandDocuments.Kind(
      commands: commands, meaning: meaning, schema: shape.schema(), reference: shape.reference)
  }
}

/// What a study found, with what it was asked.
struct Findings<Found: Sendable>: Sendable {
  /// The scenario file as it was named.
  var path: String
  var question: String?
  var warnings: [String]
  var found: Found
  /// The directory of `--out`.
  var output: String?
}

extension CommandDocument {
  /// The document of a study of one scenario: what it was asked, the members of what it found, where the files went.
  static func study<Found>(
    _ command: String, _ meaning: String, warnings: String = "about the scenario",
    _ members: [JSONShape<Found>.Member]
  ) -> CommandDocument<Findings<Found>> where Source == Findings<Found> {
    CommandDocument(
      commands: [command], meaning: meaning,
      shape: JSONShape(
        [
          .init("scenario", "The scenario file as it was named.") { $0.path },
          .init("question", "The scenario's question.") { $0.question },
          .init("warnings", "What standard error has of warnings \(warnings).") { $0.warnings },
        ] + members.map { $0.part { $0.found } } + [.output { $0.output }]))
  }
}

/// The documents of all commands, described.
enum CommandDocuments {
  /// Goes up when a member is taken away or means something else; members may be added at any time.
  static let format = 1

  fileprivate struct Kind {
    var commands: [String]
    var meaning: String
    var schema: JSONValue
    var reference: [JSONReferenceRow]
  }

  private static var kinds: [Kind] {
    [
      ComparisonFindings.document.kind, CheckFindings.document.kind, TuneFindings.document.kind,
      CalibrationFindings.document.kind,
      StabilityMap.document.kind, Rescue.document.kind, AdversaryResult.document.kind,
      LiveFindings.document.kind,
      ScenarioFindings.document.kind,
      SettingsFindings.document.kind,
      PresetFindings.document.kind, ConformanceFindings.document.kind,
    ]
  }

  private static let head: [(name: String, schema: JSONValue, type: String, meaning: String)] = [
    ("program", .object([("const", .string("fleetsim"))]), "`\"fleetsim\"`", "Always."),
    (
      "format", .object([("const", .integer(Int64(format)))]), "`\(format)`",
      "Goes up when a member is taken away or means something else; members may be added at any time."
    ),
    ("command", JSONType("string").schema, "string", "The command that printed it."),
    ("version", JSONType("string").schema, "string", "Of fleetsim."),
    (
      "results", JSONType("integer").schema, "integer",
      "The version of the results: two builds with the same one give the same figures."
    ),
  ]

  /// The JSON Schema (draft 2020-12) of all documents.
  static var schema: String {
    let documents = kinds.map { kind -> JSONValue in
      let names = kind.commands.map { JSONValue.string($0) }
      return kind.schema.adding([
        ("title", .string("fleetsim \(kind.commands.joined(separator: ", ")) --json: \(kind.meaning)"))
      ]).requiring("command", .object([("enum", .array(names))]))
    }
    let properties = head.map { ($0.name, $0.schema.adding([("description", .string($0.meaning))])) }
    return JSONValue.text(
      .object([
        ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
        ("title", .string("What fleetsim prints with --json")), ("type", .string("object")),
        ("required", .array(head.map { .string($0.name) })), ("properties", .object(properties)),
        ("oneOf", .array(documents)),
      ])) + "\n"
  }

  /// Markdown: a heading of level 3 and a table for each document, as `fleetsim help json` prints it.
  static var markdown: String {
    let first = section(
      "Every document",
      head.map { JSONReferenceRow(path: $0.name, type: $0.type, meaning: $0.meaning) })
    return
      ([first]
      + kinds.map { kind in
        section(
          kind.commands.map { "`\($0)`" }.joined(separator: " and ") + ": " + kind.meaning, kind.reference)
      }).joined(separator: "\n")
  }

  private static func section(_ title: String, _ rows: [JSONReferenceRow]) -> String {
    "### \(title)\n\n| member | what | meaning |\n|---|---|---|\n"
      + rows.map { "| `\($0.path)` | \($0.type) | \($0.meaning) |\n" }.joined()
  }
}

extension JSONValue {
  /// The schema of an object that has one more member, which comes first.
  fileprivate func requiring(_ name: String, _ schema: JSONValue) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(
      members.map { key, value in
        switch (key, value) {
        case ("required", .array(let names)): (key, .array([.string(name)] + names))
        case ("properties", .object(let properties)): (key, .object([(name, schema)] + properties))
        default: (key, value)
        }
      })
  }
}
