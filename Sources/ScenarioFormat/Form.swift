import ScenarioModel
import UploadRetry

/// One way to write a value. Its name is the one key of an object, or stands there as its `kind`.
package struct Form<Value: Sendable & Equatable>: Sendable {
  package let key: ScenarioSchema.Key
  let read: @Sendable (inout ScenarioDecoder, PositionedValue, String) -> Value?
  /// nil for a value of another form.
  let write: @Sendable (Value) -> PositionedValue?
  package let holds: @Sendable (Value) -> Bool

  init<Part: Sendable & Equatable>(
    _ name: String, _ kind: Kind<Part>, _ meaning: String, make: @escaping @Sendable (Part) -> Value,
    part: @escaping @Sendable (Value) -> Part?
  ) {
    key = ScenarioSchema.Key(
      name: name, shape: kind.shape, meaning: meaning, schema: kind.schema, range: kind.range)
    read = { kind.read(&$0, $1, $2).map(make) }
    write = { part($0).map(kind.write) }
    holds = { part($0) != nil }
  }
}

extension Kind where Value: Equatable {
  /// A short form, or an object with the one key of a form. `ofNone` is said of `{}`.
  static func forms(
    _ forms: [Form<Value>], short: Form<Value>, ofNone: @escaping @Sendable ([String]) -> String
  ) -> Kind {
    let keys = forms.map(\.key)
    var object = ScenarioSchema.object(keys)
    object.setMember("minProperties", to: .number("1"))
    object.setMember("maxProperties", to: .number("1"))
    return Kind(
      shape: .object(keys), schema: .oneOf([short.key.schema, object]), range: short.key.range,
      read: { decoder, node, path in
        guard node.members != nil else { return short.read(&decoder, node, path) }
        guard decoder.object(node, path, keys) != nil else { return nil }
        guard let member = decoder.onlyMember(node, path, of: keys.map(\.name)) else {
          if node.members?.isEmpty ?? false {
            decoder.report(ofNone(keys.map(\.name)), at: node.position, path)
          }
          return nil
        }
        return forms.first { $0.key.name == member.key }?
          .read(&decoder, member.value, decoder.join(path, member.key))
      },
      write: { value in
        short.write(value)
          ?? .members(forms.compactMap { form in form.write(value).map { (form.key.name, $0) } })
      })
  }

  /// An object whose `kind` says which form it has. Every form declares it.
  static func kinds(_ forms: [Form<Value>]) -> Kind {
    let keys = ScenarioSchema.keys(ofAny: forms.map(\.key))
    return Kind(
      shape: .object(keys), schema: ScenarioSchema.anyOf(forms.map(\.key)),
      read: { decoder, node, path in
        let form = node["kind"].flatMap {
          decoder.word($0, decoder.join(path, "kind"), forms.map { ($0.key.name, $0) })
        }
        if let form { return form.read(&decoder, node, path) }
        _ = decoder.object(node, path, keys)
        return nil
      }, write: { value in forms.lazy.compactMap { $0.write(value) }.first ?? .null })
  }
}

extension Field {
  /// `kind` as one of the forms has it.
  static func kind(_ name: String, example: String) -> Field {
    Field(
      key: .init(
        name: "kind", example: quoted(example), isRequired: true, meaning: "What happens.",
        schema: .const(.text(name))), writing: .text(name))
  }
}
