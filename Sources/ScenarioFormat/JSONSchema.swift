/// The JSON Schema of a scenario (draft 2020-12), made of the keys.
extension ScenarioSchema {
  /// The schema of an object with these keys and no others.
  static func object(_ keys: [Key]) -> PositionedValue {
    let required = keys.filter(\.isRequired).map { PositionedValue.text($0.name) }
    return .members(
      [("type", .text("object")), ("properties", .members(keys.map { ($0.name, $0.fullSchema) }))]
        + (required.isEmpty ? [] : [("required", .list(required))])
        + [("additionalProperties", .bool(false))])
  }
}

extension ScenarioSchema.Key {
  /// With what it means and what it is by default.
  fileprivate var fullSchema: PositionedValue {
    var description = [meaning]
    if !range.isEmpty { description.append("Allowed: \(range).") }
    if case .words(let words)? = standard { description.append("Default: \(words).") }
    var members = (schema.members ?? []).map { ($0.key, $0.value) }
    members.append(("description", .text(description.filter { !$0.isEmpty }.joined(separator: " "))))
    if case .value(let value)? = standard { members.append(("default", value)) }
    return .members(members)
  }
}
