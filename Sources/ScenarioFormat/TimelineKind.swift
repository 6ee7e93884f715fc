import ScenarioModel
import UploadRetry

/// A kind of what happens at a time, an incident or an action: decoding, the normalised scenario, the JSON Schema and the reference
/// read the list of them.
protocol TimelineKind: Sendable {
  associatedtype Values: Sendable
  static var all: [Self] { get }
  var name: String { get }
  /// One sentence.
  var meaning: String { get }
  var record: Record<Values> { get }
}

extension TimelineKind {
  /// Every key that some kind has, those that all have first; required where all kinds require it.
  static var allKeys: [ScenarioSchema.Key] {
    let keys = all.map(\.record.keys)
    return keys.joined().reduce(into: []) { found, key in
      if found.contains(where: { $0.name == key.name }) { return }
      let isCommon = keys.allSatisfy { $0.contains { $0.name == key.name && $0.isRequired } }
      found.append(isCommon ? key : key.optional)
    }
  }

  /// What is of the one of the kinds that has values for it.
  static func written(_ values: (Self) -> Values?) -> PositionedValue {
    for kind in all {
      if let values = values(kind) { return kind.record.write(values) }
    }
    return .null
  }

  /// The forms in the JSON Schema.
  static var schema: PositionedValue {
    .oneOf(
      all.map { kind in
        var schema = kind.record.schema
        schema.setMember("description", to: .text(kind.meaning))
        return schema
      })
  }

  /// `kind` as each of them has it.
  static func nameField(
    _ name: String, _ place: any WritableKeyPath<Values, String> & Sendable, example: String
  ) -> Field<Values> {
    let kind = Kind<String>(
      schema: .const(.text(name)), read: { $0.string($1, $2) }, write: { .text($0) })
    return Field("kind", place, kind, "What happens.", example: quoted(example))
  }
}

extension ScenarioDecoder {
  /// Reads an object of one of the kinds; nil after a problem.
  mutating func timelineKind<Found: TimelineKind>(
    _ node: PositionedValue, _ path: String
  ) -> (kind: Found, values: Found.Values)? {
    let kind = node["kind"].flatMap {
      word($0, join(path, "kind"), Found.all.map { ($0.name, $0) })
    }
    guard let kind else {
      _ = object(node, path, Found.allKeys)
      return nil
    }
    var values = kind.record.standard
    return kind.record.read(&self, node, path, into: &values) ? (kind, values) : nil
  }
}
