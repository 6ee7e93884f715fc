import ScenarioModel

/// The JSON Schema of a scenario (draft 2020-12), made of the keys.
extension ScenarioSchema {
  /// As `fleetsim schema` prints it, and as it is committed beside the experiments.
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

  /// What stands in several places.
  private static var definitions: [(String, PositionedValue)] {
    func text(_ pattern: String, _ description: String) -> PositionedValue {
      .members([
        ("type", .text("string")), ("pattern", .text(pattern)), ("description", .text(description)),
      ])
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
  var sentence: String {
    requirement.isEmpty
      ? meaning : meaning.prefix(1).uppercased() + meaning.dropFirst() + " (\(requirement))."
  }

  /// With what it means and what it is by default.
  fileprivate var fullSchema: PositionedValue {
    var description = [sentence]
    if !range.isEmpty { description.append("Allowed: \(range).") }
    if case .words(let words)? = standard { description.append("Default: \(words).") }
    var members = (schema.members ?? []).map { ($0.key, $0.value) }
    members.append(("description", .text(description.filter { !$0.isEmpty }.joined(separator: " "))))
    if case .value(let value)? = standard { members.append(("default", value)) }
    return .members(members)
  }
}
