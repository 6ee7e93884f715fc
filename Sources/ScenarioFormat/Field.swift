import ScenarioModel
import SimulationKernel

/// One key of an object: the only place that says its name, what it may be, what it means and where it goes. Decoding,
/// the normalised scenario, paths, the JSON Schema, the reference and "did you mean" all read it.
package struct Field<Owner: Sendable>: Sendable {
  /// The key without its reading and writing; `defaultValue` gives the value that it has when it is left out. nil for a check.
  let key: (@Sendable (_ defaultValue: Owner) -> ScenarioSchema.Key)?
  /// Reads it into its owner; false after a problem.
  let read: @Sendable (inout ScenarioDecoder, PositionedValue, String, inout Owner) -> Bool
  /// nil where a normalised scenario leaves it out: what is as in `defaultValue` and in `base`, which it will be read over; without
  /// them nothing is.
  let write: @Sendable (_ owner: Owner, _ defaultValue: Owner?, _ base: Owner?) -> PositionedValue?

  /// - Parameters:
  ///   - example: as it would stand in a file; a key that has one must not be left out.
  ///   - defaultValue: of a key that is left out; nil: the owner's own.
  ///   - isLater: whether a normalised scenario has it only where it is not what stands there anyway.
  ///   - isWritten: whether one has it at all.
  ///   - isSettable: whether `--set` and `compare` may change it.
  init<Value: Equatable>(
    _ name: String, _ place: any WritableKeyPath<Owner, Value> & Sendable, _ kind: Kind<Value>,
    _ meaning: String, example: String = "", defaultValue: ScenarioSchema.Default? = nil,
    isLater: Bool = false, isWritten: Bool = true, isSettable: Bool = true, requirement: String = "",
    form: [String] = []
  ) {
    key = { owner in
      let own = kind.write(owner[keyPath: place])
      return ScenarioSchema.Key(
        name: name, shape: kind.shape, example: example, isRequired: !example.isEmpty, isSettable: isSettable,
        isWritten: isWritten, meaning: meaning, requirement: requirement, form: form,
        schema: kind.schema, range: kind.range,
        defaultValue: defaultValue ?? (example.isEmpty && !own.isNull ? .value(own) : nil))
    }
    read = { decoder, node, path, owner in
      let value =
        kind.layering.map { $0.read(&decoder, node, path, owner[keyPath: place]) }
        ?? kind.read(&decoder, node, path)
      guard let value else { return false }
      owner[keyPath: place] = value
      return true
    }
    write = { owner, defaultValue, base in
      if !isWritten { return nil }
      let value = owner[keyPath: place]
      if kind.isLeftOut(value) { return nil }
      guard let base = base ?? defaultValue else { return kind.write(value) }
      let below = base[keyPath: place]
      if isLater, value == below, let defaultValue, value == defaultValue[keyPath: place] {
        return nil
      }
      return kind.layering?.write(value, below) ?? kind.write(value)
    }
  }

  /// A key in which clients differ: the client decides where it is left out.
  static func ofClient<Value: Equatable>(
    _ name: String, _ place: any WritableKeyPath<Owner, Value> & Sendable, _ kind: Kind<Value>,
    _ meaning: String, _ requirement: String, isLater: Bool = false, form: [String] = []
  ) -> Field {
    Field(
      name, place, kind, meaning, defaultValue: .said("by client"), isLater: isLater,
      requirement: requirement, form: form)
  }

  /// An object of keys that go into a part of the owner as it is; what it does not name stays as it was.
  /// - Parameter null: what null makes of the part; nil: it is not allowed.
  package init<Part: Sendable>(
    _ name: String, _ place: any WritableKeyPath<Owner, Part> & Sendable, keys: ObjectKeys<Part>,
    null: Part? = nil, _ meaning: String, isLater: Bool = false, isWritten: Bool = true
  ) {
    key = { owner in
      let inner = keys.keys(defaultValue: owner[keyPath: place])
      let object = keys.schema(defaultValue: owner[keyPath: place])
      return ScenarioSchema.Key(
        name: name, shape: .object(inner), isWritten: isWritten, meaning: meaning,
        schema: null == nil ? object : .oneOf([object, .type("null")]))
    }
    read = { decoder, node, path, owner in
      if let null, node.isNull {
        owner[keyPath: place] = null
        return true
      }
      return keys.read(&decoder, node, path, into: &owner[keyPath: place])
    }
    write = { owner, defaultValue, base in
      if !isWritten { return nil }
      let object = keys.write(
        owner[keyPath: place], defaultValue: defaultValue?[keyPath: place], over: base?[keyPath: place])
      return isLater && object.members?.isEmpty ?? true ? nil : object
    }
  }

  /// A key of a format that is only read.
  package init<Value>(
    reading name: String, _ kind: Kind<Value>, isRequired: Bool = false,
    set: @escaping @Sendable (inout Owner, Value) -> Void
  ) {
    key = { _ in ScenarioSchema.Key(name: name, shape: kind.shape, isRequired: isRequired) }
    read = { decoder, node, path, owner in
      guard let value = kind.read(&decoder, node, path) else { return false }
      set(&owner, value)
      return true
    }
    write = { _, _, _ in nil }
  }

  package init<Value>(
    reading name: String, _ place: any WritableKeyPath<Owner, Value> & Sendable, _ kind: Kind<Value>,
    isRequired: Bool = false
  ) {
    self.init(reading: name, kind, isRequired: isRequired) { $0[keyPath: place] = $1 }
  }

  /// A key that is read elsewhere, or says what it is read of; written where there is something to write.
  package init(
    key: ScenarioSchema.Key, writing value: PositionedValue? = nil,
    read: @escaping Check<Owner> = { _, _, _, _ in true }
  ) {
    var key = key
    key.isWritten = value != nil
    self.key = { [key] _ in key }
    self.read = read
    write = { _, _, _ in value }
  }

  private init(_ check: @escaping Check<Owner>) {
    key = nil
    read = check
    write = { _, _, _ in nil }
  }

  /// A check that no key can make alone. It looks at the object, not at one value, and at everything that has been read of it
  /// before. Where an object with a problem in it counts as nothing, it is asked only if there has been none.
  package static func check(_ check: @escaping Check<Owner>) -> Field { Field(check) }

  /// A check that refuses: what is wrong is said of the key that `keys` lead to, or of the object.
  package static func refusal(
    _ keys: String..., of problem: @escaping @Sendable (PositionedValue, Owner) -> String?
  ) -> Field {
    Field { decoder, node, path, owner in
      guard let message = problem(node, owner) else { return true }
      decoder.report(message, at: node, path, keys)
      return false
    }
  }

  /// Reports a span that is longer than another one, or also one as long. The object stands, so that all orders are looked at.
  static func order(
    _ short: String, _ shorter: @escaping @Sendable (Owner) -> Span?, _ long: String,
    _ longer: @escaping @Sendable (Owner) -> Span?, isBelow: Bool = false
  ) -> Field {
    Field { decoder, node, path, owner in
      guard let least = shorter(owner), let most = longer(owner), isBelow ? least >= most : least > most
      else {
        return true
      }
      let origins = [short, long].map { node[$0] == nil ? " (not given here)" : "" }
      decoder.report(
        "\(short) \(Units.text(least))\(origins[0]) is \(isBelow ? "not below" : "above") \(long), \(Units.text(most))"
          + origins[1], at: node, path, [node[long] == nil ? short : long])
      return true
    }
  }

  /// A check that only warns.
  static func warning(
    _ keys: String..., of problem: @escaping @Sendable (PositionedValue, Owner) -> String?
  ) -> Field {
    Field { decoder, node, path, owner in
      if let message = problem(node, owner) { decoder.report(message, at: node, path, keys, .warning) }
      return true
    }
  }
}

/// false after a problem.
package typealias Check<Owner> =
  @Sendable (inout ScenarioDecoder, PositionedValue, String, inout Owner) -> Bool

/// The keys of an object, with what holds between them.
package struct ObjectKeys<Owner: Sendable>: Sendable {
  /// The value of an object that names none of its keys.
  package let defaultValue: Owner
  /// Its keys in the order of the declaration.
  package let keys: [ScenarioSchema.Key]
  /// Whether what could be read stands in for the whole after a problem, so that what depends on it is looked at all the same.
  let keepsRest: Bool
  /// Keys of which there may be one; where there are more, none of them is read.
  let alternatives: [String]
  /// Of the keys that must not be left out.
  private let required: [ScenarioSchema.Key]
  private let fields: [Field<Owner>]
  /// The key of each field; empty for a check.
  private let names: [String]
  /// Whether a field is looked at where its key is left out.
  private let isAsked: [Bool]

  package init(
    _ defaultValue: Owner, keepsRest: Bool = false, alternatives: [String] = [], _ fields: [Field<Owner>]
  ) {
    self.defaultValue = defaultValue
    self.alternatives = alternatives
    self.keepsRest = keepsRest
    self.fields = fields
    let keys = fields.map { $0.key?(defaultValue) }
    names = keys.map { $0?.name ?? "" }
    isAsked = keys.map { $0?.isRequired ?? true }
    self.keys = keys.compactMap(\.self)
    required = self.keys.filter(\.isRequired)
  }

  /// Its keys, with this owner's values as those of keys that are left out.
  func keys(defaultValue: Owner) -> [ScenarioSchema.Key] { fields.compactMap { $0.key?(defaultValue) } }
  var shape: ScenarioSchema.Shape { .object(keys) }
  var schema: PositionedValue { schema(defaultValue: defaultValue) }
  func schema(defaultValue: Owner) -> PositionedValue {
    ScenarioSchema.object(keys(defaultValue: defaultValue), alternatives: alternatives)
  }

  /// Reads a file of this format.
  /// - Throws: `ScenarioProblems` with every problem in it.
  package func read(
    text: String, name: String, _ wording: Wording = Wording(), isShippedClient: Bool = false
  ) throws(ScenarioProblems) -> Owner {
    let root = try JSON5Parser.parse(text, file: name)
    var decoder = ScenarioDecoder(sources: [name])
    (decoder.wording, decoder.readsShippedClient) = (wording, isShippedClient)
    var owner = defaultValue
    if read(&decoder, root, "", into: &owner), !decoder.hasErrors { return owner }
    throw ScenarioProblems(diagnostics: decoder.all)
  }

  /// Reads every key that is there; false after a problem.
  package func read(
    _ decoder: inout ScenarioDecoder, _ node: PositionedValue, _ path: String, into owner: inout Owner
  ) -> Bool {
    guard decoder.object(node, path, names, required) != nil else { return false }
    var isSound = true
    let isAmbiguous = alternatives.count { node[$0] != nil } > 1
    if isAmbiguous { isSound = decoder.onlyMember(node, path, of: alternatives) != nil }
    for place in node.places(of: names, or: isAsked) {
      let name = names[place]
      if name.isEmpty {
        if isSound || keepsRest { isSound = fields[place].read(&decoder, node, path, &owner) && isSound }
        continue
      }
      if isAmbiguous, alternatives.contains(name) { continue }
      if let value = node[name] {
        isSound = fields[place].read(&decoder, value, decoder.join(path, name), &owner) && isSound
      } else {
        if decoder.wording.tellsFirst, let key = required.first(where: { $0.name == name }) {
          decoder.report(decoder.wording.missing(key), at: node.position, path)
        }
        isSound = false
      }
    }
    return isSound
  }

  /// The normalised object.
  package func write(_ owner: Owner) -> PositionedValue { write(owner, defaultValue: defaultValue) }
  package func write(_ owner: Owner, defaultValue: Owner?, over base: Owner? = nil) -> PositionedValue {
    var members: [PositionedValue.Member] = []
    for place in fields.indices {
      guard let value = fields[place].write(owner, defaultValue, base) else { continue }
      members.append(.init(key: names[place], keyPosition: .commandLine, value: value))
    }
    return PositionedValue(.object(members), at: .commandLine)
  }
}

extension Kind {
  /// An object of these keys.
  package static func object(_ keys: ObjectKeys<Value>) -> Kind {
    let layering = Layering<Value>(
      read: { decoder, node, path, base in
        var value = base
        let isSound = keys.read(&decoder, node, path, into: &value)
        return isSound || keys.keepsRest && node.members != nil ? value : nil
      }, write: { keys.write($0, defaultValue: keys.defaultValue, over: $1) })
    return Kind(
      shape: keys.shape, schema: keys.schema,
      read: { layering.read(&$0, $1, $2, keys.defaultValue) }, write: { keys.write($0) },
      layering: layering)
  }

  /// An object of one key, which stands for its value.
  static func single(
    _ name: String, _ kind: Kind<Value>, _ meaning: String, example: String, _ defaultValue: Value
  )
    -> Kind where Value: Equatable
  {
    Kind.object(ObjectKeys(defaultValue, [Field(name, \.self, kind, meaning, example: example)]))
  }

  /// Declared under a name of its own in the JSON Schema, see `ScenarioSchema.definitions`.
  func named(_ name: String) -> Kind {
    var kind = self
    kind.schema = .reference(name)
    return kind
  }
}
