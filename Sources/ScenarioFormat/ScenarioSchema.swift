import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// Every key that a scenario may have, in one place. Its readers are unknown-key reports, "did you mean", the
/// paths of `--set` and `compare`, and the test of `experiments/scenario.schema.json`.
package enum ScenarioSchema {
  /// The form of a value at a place. Many objects have a short form too (`latency: "50ms"`): the decoder
  /// knows those.
  package indirect enum Shape: Sendable {
    /// Nothing with members.
    case scalar
    case object([Key])
    /// A list, its elements addressed by number from 0.
    case list(Shape)
    /// The fleet: cohorts addressed by name, or by number from 0.
    case cohorts(Shape)
    /// The Settings: a file name or any JSON; its paths are those of `HTTPConfig.knownKeyPaths`.
    case settings
    /// `compare`: its keys are paths.
    case axes

    /// The keys of an object.
    package var keys: [Key] { if case .object(let keys) = self { keys } else { [] } }
  }

  package struct Key: Sendable {
    package var name: String
    package var shape: Shape
    /// Written as it would stand in a file; for messages about a missing key.
    package var example: String
    package var isRequired: Bool
    /// Whether `--set` and `compare` may change it.
    package var isSettable: Bool
    /// False: a normalised scenario never has it, as what it says stands elsewhere by then.
    package var isWritten = true

    /// One sentence; for a switch, which has a requirement, without capital and full stop, as a table has it.
    package var meaning: String
    /// The requirement that it belongs to: `S10`; empty for what no client differs in.
    package var requirement = ""
    /// The text that a table of switches has for its values, where they cannot be told by the schema.
    package var form = ""
    /// Its JSON Schema, without what it means and what it is by default.
    package var schema: PositionedValue
    /// The allowed values, where the schema does not say it.
    package var range: String
    package var defaultValue: Default?

    package init(
      _ name: String, _ shape: Shape = .scalar, example: String = "", required: Bool = false,
      settable: Bool = true, meaning: String = "", schema: PositionedValue = .members([]), range: String = "",
      defaultValue: Default? = nil
    ) {
      self.name = name
      self.shape = shape
      self.example = example
      isRequired = required
      isSettable = settable
      self.meaning = meaning
      self.schema = schema
      self.range = range
      self.defaultValue = defaultValue
    }

    /// The same key where it may be missing.
    var optional: Key {
      var key = self
      key.isRequired = false
      return key
    }
  }

  /// The value of a key that is left out.
  package enum Default: Sendable {
    case value(PositionedValue)
    case words(String)
  }

  package static let root = ScenarioDocument.keys.shape
}

/// The JSON Schema of a scenario (draft 2020-12), made of the keys.
extension ScenarioSchema {
  /// As `fleetsim help schema` prints it, and as it is committed beside the experiments.
  package static var json: String {
    let object = object(root.keys).members ?? []
    return JSONText.pretty(
      .members(
        [
          ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
          ("title", .text("fleetsim scenario, format 1")),
          (
            "description",
            .text(
              "A fleet of uploading devices, the server it talks to, and what goes wrong. JSON5: comments, trailing commas and "
                + "unquoted keys are fine.")
          ),
        ] + object.map { ($0.key, $0.value) } + [("$defs", .members(definitions))])) + "\n"
  }

  /// The definitions that several places refer to.
  private static var definitions: [(String, PositionedValue)] {
    func text(_ pattern: String, _ description: String) -> PositionedValue {
      .members([("type", .text("string")), ("pattern", .text(pattern)), ("description", .text(description))])
    }
    return [
      (
        "span",
        text(
          "^([0-9.]+(d|h|m|s|ms|us|µs))+$",
          "A length of time, such as \"30s\", \"250ms\" or \"1h30m\"; at most 366d.")
      ),
      ("rate", text("^[0-9.]+/(s|min|h|day)$", "Such as \"4000/s\" or \"6/min\".")),
      ("size", text("^[0-9.]+(B|KB|MB|GB)$", "Such as \"500KB\"; powers of 1000.")),
      ("serviceTime", Kind.serviceTimeForms.schema), ("period", Kind.periodForms.schema),
      ("retryAfter", Kind.retryAfterForms.schema), ("incident", IncidentKind.schema),
      ("action", ActionKind.schema), ("client", ClientFile.record.schema), ("cohort", Cohort.keys.schema),
    ]
  }

  /// The schema of an object with these keys and no others, one of the `alternatives` among them.
  static func object(_ keys: [Key], alternatives: [String] = []) -> PositionedValue {
    let required = keys.filter(\.isRequired).map { PositionedValue.text($0.name) }
    return .members(
      [("type", .text("object")), ("properties", .members(keys.map { ($0.name, $0.fullSchema) }))]
        + (required.isEmpty ? [] : [("required", .list(required))])
        + [("additionalProperties", .bool(false))]
        + (alternatives.isEmpty
          ? []
          : [("oneOf", .list(alternatives.map { .members([("required", .list([.text($0)]))]) }))]))
  }
}

extension ScenarioSchema.Key {
  package var sentence: String {
    requirement.isEmpty
      ? meaning : meaning.prefix(1).uppercased() + meaning.dropFirst() + " (\(requirement))."
  }

  /// With what it means and what it is by default.
  fileprivate var fullSchema: PositionedValue {
    var description = [sentence]
    if !range.isEmpty { description.append("Allowed: \(range).") }
    if case .words(let words)? = defaultValue { description.append("Default: \(words).") }
    var members = (schema.members ?? []).map { ($0.key, $0.value) }
    members.append(("description", .text(description.filter { !$0.isEmpty }.joined(separator: " "))))
    if case .value(let value)? = defaultValue { members.append(("default", value)) }
    return .members(members)
  }
}

/// Every key of a scenario for readers, made of the keys.
package enum KeyReference {
  /// Markdown: a table for each object, in the order of a file.
  package static var markdown: String {
    var sections = [
      "# Keys of a scenario\n\n"
        + "All keys as the program declares them; `fleetsim help scenario` prints this page. What is not required may be left out.\n"
        + "Paths of `--set`, `--vary` and `compare` are these, with the name of a cohort for NAME and a number from 0 for N."
    ]
    add(ScenarioSchema.root.keys, path: "", to: &sections)
    return sections.joined(separator: "\n\n") + "\n"
  }

  private static func add(
    _ keys: [ScenarioSchema.Key], path: String, of kind: String? = nil, to sections: inout [String]
  ) {
    if !path.isEmpty { sections.append("## `\(path)`" + (kind.map { ": \($0)" } ?? "")) }
    let head = ["| key | value | default | meaning |", "|---|---|---|---|"]
    sections.append((head + keys.map(\.row)).joined(separator: "\n"))
    for key in keys {
      let place = path.isEmpty ? key.name : "\(path).\(key.name)"
      switch key.shape {
      // Said once, at the top.
      case .object where key.name == "policy" && path == "" || key.name == "network" && path != "": break
      case .object(let keys) where !key.isDistribution: add(keys, path: place, to: &sections)
      case .list where place == "tapi.incidents": add(IncidentKind.all, path: place, to: &sections)
      case .list where place == "actions": add(ActionKind.all, path: place, to: &sections)
      case .list(let element) where element.keys.isEmpty: break
      case .list(let element): add(element.keys, path: place + ".N", to: &sections)
      case .cohorts(let element): add(element.keys, path: place + ".NAME", to: &sections)
      default: break
      }
    }
  }
}

extension ScenarioSchema.Key {
  /// Its row in a table of the reference.
  fileprivate var row: String {
    let cells = ["`\(name)`", allowed, standardText, sentence]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }
}

extension KeyReference {
  private static func add(_ kinds: [some TimelineKind], path: String, to sections: inout [String]) {
    // Keys that every kind has are told once, with the kinds' names.
    let first = kinds.first?.record.keys ?? []
    let shared = first.filter { key in
      kinds.allSatisfy { kind in kind.record.keys.contains { $0.name == key.name && $0.row == key.row } }
    }
    let names = kinds.map { "`\($0.name)`" }.joined(separator: ", ")
    add(shared, path: "\(path).N", to: &sections)
    sections[sections.count - 2] += "\n\nEach has a `kind` (\(names)), these keys, and those of its kind:"
    for kind in kinds {
      let own = kind.record.keys.filter { key in
        key.name != "kind" && !shared.contains { $0.name == key.name }
      }
      guard !own.isEmpty else {
        sections.append("## `\(path).N`: \(kind.name)\n\n\(kind.meaning)")
        continue
      }
      add(own, path: "\(path).N", of: kind.name, to: &sections)
      sections[sections.count - 2] += "\n\n" + kind.meaning
    }
  }
}

extension ScenarioSchema.Key {
  /// A span in one of several forms, which one sentence explains.
  fileprivate var isDistribution: Bool {
    shape.keys.contains { $0.name == "exponential" } || schema["$ref"] != nil
  }

  /// The allowed values, in words.
  fileprivate var allowed: String {
    let kind = Self.words(schema)
    return range.isEmpty ? kind : "\(kind), \(range)"
  }

  fileprivate var standardText: String {
    switch defaultValue {
    case .value(let value): "`\(JSONText.compact(value))`"
    case .words(let words): words
    case nil: isRequired ? "required" : ""
    }
  }

  private static func words(_ schema: PositionedValue) -> String {
    if let text = schema["$ref"]?.text {
      let name = String(text.dropFirst("#/$defs/".count))
      return ["serviceTime": "distribution", "period": "span or `{ exponential }`", "retryAfter": "wait"][
        name] ?? name
    }
    if let value = schema["const"] { return "`\(JSONText.compact(value))`" }
    if let words = schema["enum"]?.elements {
      guard words.compactMap(\.text) != ClientPreset.names else {
        return "a name that `fleetsim presets` lists"
      }
      return words.map { "`\(JSONText.compact($0))`" }.joined(separator: ", ")
    }
    if let forms = schema["oneOf"]?.elements {
      var seen: [String] = []
      for form in forms.map(words) where !seen.contains(form) { seen.append(form) }
      return seen.joined(separator: " or ")
    }
    let bounds = [schema["minimum"], schema["maximum"]].compactMap { $0.map(JSONText.compact) }
    let limits = bounds.count == 2 ? ", " + bounds.joined(separator: " to ") : ""
    switch schema["type"]?.text {
    case "integer"?: return "whole number" + limits
    case "number"?: return "number" + limits
    case "boolean"?: return "`true` or `false`"
    case "array"?: return "list"
    case "string"? where schema["pattern"]?.text?.contains("%") ?? false: return "share"
    case let type?: return type
    case nil: return "object"
    }
  }
}
