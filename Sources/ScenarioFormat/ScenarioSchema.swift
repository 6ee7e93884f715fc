import ScenarioModel
import TAPIModel

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

    /// The keys of an object.
    package var keys: [Key] { if case .object(let keys) = self { keys } else { [] } }
  }

  package struct Key: Sendable {
    package var name: String
    package var shape = Shape.scalar
    /// Written as it would stand in a file; for messages about a missing key.
    package var example = ""
    package var isRequired = false
    /// Whether `--set` and `compare` may change it.
    package var isSettable = true
    /// False: a normalised scenario never has it, as what it says stands elsewhere by then.
    package var isWritten = true

    /// One sentence; for a switch, which has a requirement, without capital and full stop, as a table has it.
    package var meaning = ""
    /// The requirement that it belongs to: `S10`; empty for what no client differs in.
    package var requirement = ""
    /// The values as a table of switches has them, where they cannot be told by the schema.
    package var form: [String] = []
    /// Its JSON Schema, without what it means and what it is by default.
    package var schema = PositionedValue.members([])
    /// The allowed values, where the schema does not say it.
    package var range = ""
    package var defaultValue: Default?

    /// This key where it may be missing.
    var optional: Key {
      var key = self
      key.isRequired = false
      return key
    }
  }

  /// The value of a key that is left out.
  package enum Default: Sendable {
    case value(PositionedValue)
    /// A value that these words describe.
    case said(String)
  }

  package static let root = ScenarioDocument.keys.shape
}

extension ScenarioSchema.Key {
  package init(_ name: String) { self.init(name: name) }
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
      ("retryAfter", Kind.retryAfterForms.schema), ("incident", anyOf(Form<Incident>.incidents.map(\.key))),
      ("action", anyOf(Form<ScenarioAction>.actions.map(\.key))), ("client", ClientFile.keys.schema),
      ("cohort", Cohort.keys.schema),
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

  /// The schema of an object of one of these kinds.
  static func anyOf(_ kinds: [Key]) -> PositionedValue {
    .oneOf(
      kinds.map { kind in
        var schema = kind.schema
        schema.setMember("description", to: .text(kind.meaning))
        return schema
      })
  }

  /// Every key that some kind has, those that all have first; required where all kinds require it.
  static func keys(ofAny kinds: [Key]) -> [Key] {
    let keys = kinds.map(\.shape.keys)
    return keys.joined().reduce(into: []) { found, key in
      if found.contains(where: { $0.name == key.name }) { return }
      let isCommon = keys.allSatisfy { $0.contains { $0.name == key.name && $0.isRequired } }
      found.append(isCommon ? key : key.optional)
    }
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
    if case .said(let words)? = defaultValue { description.append("Default: \(words).") }
    var members = (schema.members ?? []).map { ($0.key, $0.value) }
    members.append(("description", .text(description.filter { !$0.isEmpty }.joined(separator: " "))))
    if case .value(let value)? = defaultValue { members.append(("default", value)) }
    return .members(members)
  }
}

/// Every key of a scenario for readers, made of the keys.
package enum KeyReference {
  /// Markdown: a list for each object, in the order of a file.
  package static var markdown: String {
    var sections = [
      """
      # Keys of a scenario

      As `fleetsim help scenario` prints them. What is not required may be left out.
      Paths of `--set`, `--vary` and `compare` are these, with the name of a cohort for NAME and a number from 0 for N.

      - **share**: `"50%"` or 0.5; **span**: `"30s"`, `"1h30m"`, from 1ms to 366d where no range stands; **rate**: `"4000/s"`; **size**: `"1KB"`,
        1000 bytes.
      - **distribution**: a span up to 1d, `{ uniform: [low, high] }`, `{ exponential: mean }` or `{ logNormal: { median, p99, minimum } }`.
      - **wait**: whole seconds up to 7d, `"none"`, `{ from: "30s", to: "90s" }` (drawn for each answer) or
        `{ backlog: { atLeast: "1s", atMost: "5m" } }`.
      - **by client**: by default as the client has it (`fleetsim presets`).
      """
    ]
    var told: [[String]: String] = [:]
    add(ScenarioSchema.root.keys, path: "", to: &sections, told: &told)
    return sections.joined(separator: "\n\n") + "\n"
  }

  /// - `told`: where the keys of an object were told before, by their lines.
  private static func add(
    _ keys: [ScenarioSchema.Key], path: String, of kind: String? = nil, to sections: inout [String],
    told: inout [[String]: String]
  ) {
    if !path.isEmpty { sections.append("## `\(path)`" + (kind.map { ": \($0)" } ?? "")) }
    // What holds for each key stands above them all.
    let isByClient = keys.allSatisfy(\.isByClient)
    if isByClient { sections.append("By default each is as the client has it.") }
    var lines: [String] = []
    var inside: [(keys: [ScenarioSchema.Key], place: String)] = []
    for key in keys {
      let place = path.isEmpty ? key.name : "\(path).\(key.name)"
      let inner = key.inner(path, place)
      let innerLines = inner.keys.map { $0.line() }
      let before = told[innerLines]
      lines.append(key.line(as: before, withDefault: !isByClient))
      guard before == nil, !inner.keys.isEmpty else { continue }
      told[innerLines] = inner.place
      if inner.keys.count <= 5, inner.place == place, inner.keys.allSatisfy(\.shape.keys.isEmpty) {
        lines += innerLines.map { "  " + $0 }
      } else {
        inside.append(inner)
      }
    }
    sections.append(lines.joined(separator: "\n"))
    for (keys, place) in inside {
      switch place {
      case "tapi.incidents":
        add(kinds: Form<Incident>.incidents.map(\.key), path: place, to: &sections, told: &told)
      case "actions":
        add(kinds: Form<ScenarioAction>.actions.map(\.key), path: place, to: &sections, told: &told)
      default: add(keys, path: place, to: &sections, told: &told)
      }
    }
  }

  private static func add(
    kinds: [ScenarioSchema.Key], path: String, to sections: inout [String], told: inout [[String]: String]
  ) {
    // Keys that every kind has, or all but one, are told once, with the kinds' names.
    let first = kinds.first?.shape.keys ?? []
    var exceptions = ""
    let shared = first.filter { key in
      let others = kinds.filter { kind in
        !kind.shape.keys.contains { $0.name == key.name && $0.line() == key.line() }
      }
      if let other = others.first, others.count == 1 {
        exceptions += " (`\(other.name)` without `\(key.name)`)"
      }
      return others.count < 2
    }
    let names = kinds.map { "`\($0.name)`" }.joined(separator: ", ")
    add(shared, path: "\(path).N", to: &sections, told: &told)
    sections[sections.count - 2] +=
      "\n\nEach has a `kind` (\(names)), these keys\(exceptions), and those of its kind:"
    for kind in kinds {
      let own = kind.shape.keys.filter { key in
        key.name != "kind" && !shared.contains { $0.name == key.name }
      }
      guard !own.isEmpty else {
        sections.append("## `\(path).N`: \(kind.name)\n\n\(kind.meaning)")
        continue
      }
      add(own, path: "\(path).N", of: kind.name, to: &sections, told: &told)
      sections[sections.count - 2] += "\n\n" + kind.meaning
    }
  }
}

extension ScenarioSchema.Key {
  /// The keys inside it that are told apart from it, and their path.
  fileprivate func inner(_ path: String, _ place: String) -> (keys: [ScenarioSchema.Key], place: String) {
    switch shape {
    // Said once, at the top.
    case .object where name == "policy" && path == "" || name == "network" && path != "": ([], place)
    // A span in one of several forms, which one sentence explains.
    case .object(let keys) where keys.contains { ["exponential", "backlog"].contains($0.name) }: ([], place)
    case .object(let keys) where schema["$ref"] == nil: (keys, place)
    case .list(let element) where ["tapi.incidents", "actions"].contains(place): (element.keys, place)
    case .list(let element): (element.keys, place + ".N")
    case .cohorts(let element): (element.keys, place + ".NAME")
    default: ([], place)
    }
  }

  fileprivate var isByClient: Bool {
    if case .said("by client")? = defaultValue { true } else { false }
  }

  /// Its line in a list of the reference.
  /// - Parameter place: where the keys of such an object were told before.
  fileprivate func line(as place: String? = nil, withDefault: Bool = true) -> String {
    let form = place.map { "as `\($0)`" } ?? allowed
    let facts = [form, withDefault ? standardText : ""].filter { !$0.isEmpty }
    return "- `\(name)` (\(facts.joined(separator: "; "))): \(sentence)"
  }

  /// The allowed values, in words.
  fileprivate var allowed: String {
    let kind = Self.words(schema)
    let isUsual = range.isEmpty || kind == "wait" || Self.usualRanges[kind.prefix { $0 != " " }] == range
    return isUsual ? kind : "\(kind), \(range)"
  }

  /// The ranges that the page says once.
  private static let usualRanges: [Substring: String] = [
    "span": "1ms to 366d", "share": "0% to 100%", "rate": "0.001/s to 1000000000/s",
    "distribution": "0s to 1d",
  ]

  fileprivate var standardText: String {
    switch defaultValue {
    case .value(let value): "default `\(JSONText.compact(value))`"
    case .said where isByClient: "by client"
    case .said(let words): "default: \(words)"
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
      // A share may always be a number, too.
      if seen.contains("share") { seen.removeAll { $0.hasPrefix("number") } }
      return seen.joined(separator: " or ")
    }
    let bounds = [schema["minimum"], schema["maximum"]].compactMap { $0.map(JSONText.compact) }
    let limits = bounds.count == 2 ? " " + bounds.joined(separator: " to ") : ""
    switch schema["type"]?.text {
    case "integer"?: return "integer" + limits
    case "number"?: return "number" + limits
    case "array"?: return "list"
    case "string"? where schema["pattern"]?.text?.contains("%") ?? false: return "share"
    case let type?: return type
    case nil: return "object"
    }
  }
}
