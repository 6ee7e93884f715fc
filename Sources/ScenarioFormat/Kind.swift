import ScenarioModel
import SimulationKernel

/// A kind of value: how it is read, how it is written back, and what an editor and the reference say of it.
package struct Kind<Value: Sendable>: Sendable {
  /// What may be addressed inside it.
  var shape = ScenarioSchema.Shape.scalar
  /// Its JSON Schema.
  var schema: PositionedValue
  /// What is allowed, in words, where the schema's own words do not say it: `1ms to 366d`.
  var range = ""
  /// nil after a problem, which has been reported.
  package var read: @Sendable (inout ScenarioDecoder, PositionedValue, String) -> Value?
  var write: @Sendable (Value) -> PositionedValue
  /// Whether a value is written by leaving its key out.
  var isLeftOut: @Sendable (Value) -> Bool = { _ in false }

  /// The same text for another type.
  func mapped<Other: Sendable>(
    _ make: @escaping @Sendable (Value) -> Other, _ unmake: @escaping @Sendable (Other) -> Value
  ) -> Kind<Other> {
    Kind<Other>(
      shape: shape, schema: schema, range: range, read: { read(&$0, $1, $2).map(make) },
      write: { write(unmake($0)) })
  }

  /// Or null, which is nil.
  var orNull: Kind<Value?> {
    Kind<Value?>(
      shape: shape, schema: .oneOf([schema, .type("null")]), range: range,
      read: { decoder, node, path in
        node.isNull ? .some(nil) : read(&decoder, node, path).map { .some($0) }
      }, write: { $0.map(write) ?? .null })
  }

  /// Never null: nil is what is left out.
  package var orNothing: Kind<Value?> {
    Kind<Value?>(
      shape: shape, schema: schema, range: range,
      read: { decoder, node, path in read(&decoder, node, path).map { .some($0) } },
      write: { $0.map(write) ?? .null }, isLeftOut: { $0 == nil })
  }

  /// A list of such values; those that are wrong are reported and left out, so that it stands after any problem. `what` and `named` are for messages:
  /// `expected a list of limits`, `101 limits; at most 100 are allowed`.
  /// - Parameter isIndexed: whether messages about an element name its place.
  package func list(
    _ counts: ClosedRange<Int> = 0...10_000, of what: String = "", named: String = "", isIndexed: Bool = true
  ) -> Kind<[Value]> {
    Kind<[Value]>(
      shape: .list(shape),
      schema: .members([
        ("type", .text("array")), ("items", schema), ("maxItems", .number("\(counts.upperBound)")),
      ]),
      read: { decoder, node, path in
        guard let elements = node.elements else {
          decoder.unexpected(node, "a list\(what)", path)
          return []
        }
        guard elements.count <= counts.upperBound else {
          decoder.report(
            "\(elements.count) \(named); at most \(counts.upperBound) are allowed", at: node.position, path)
          return []
        }
        return elements.enumerated().compactMap { index, element in
          read(&decoder, element, isIndexed ? decoder.element(index, of: path) : path)
        }
      }, write: { .list($0.map(write)) })
  }
}

// MARK: Of formats that are only read

extension Kind {
  package init(_ read: @escaping @Sendable (inout ScenarioDecoder, PositionedValue, String) -> Value?) {
    self.init(schema: .members([]), read: read, write: { _ in .null })
  }

  /// What is made of a value, or an error that describes what is wrong with it.
  package static func made(_ make: @escaping @Sendable (PositionedValue) throws -> Value) -> Kind {
    Kind { decoder, node, path in
      do {
        return try make(node)
      } catch {
        decoder.report("\(error)", at: node.position, path)
        return nil
      }
    }
  }
}

extension Kind {
  /// What the members of an object add up to; those that are wrong are reported.
  /// - Parameter unless: what is wrong with the whole.
  package static func members(
    _ start: Value, unless problem: @escaping @Sendable (PositionedValue) -> String? = { _ in nil },
    add: @escaping @Sendable (inout Value, PositionedValue.Member) throws -> Void
  ) -> Kind {
    Kind { decoder, node, path in
      if let problem = problem(node) {
        decoder.report(problem, at: node.position, path)
        return nil
      }
      var value = start
      for member in node.members ?? [] {
        do {
          try add(&value, member)
        } catch {
          decoder.report("\(error)", at: member.value.position, "\(path)[\"\(member.key)\"]")
        }
      }
      return value
    }
  }
}

extension Kind where Value: FixedWidthInteger & Sendable {
  /// Plain digits.
  package static func digits(_ range: ClosedRange<Value>) -> Kind {
    Kind { decoder, node, path in
      if case .number(let text) = node.content, let value = Value(text), range.contains(value) {
        return value
      }
      decoder.report(
        "'\(decoder.key(of: path))' is a whole number from \(range.lowerBound) to \(range.upperBound)",
        at: node.position, path)
      return nil
    }
  }
}

// MARK: Scalars

extension Kind where Value == Bool {
  package static let bool = Kind(schema: .type("boolean"), read: { $0.bool($1, $2) }, write: { .bool($0) })
}

extension Kind where Value == String {
  package static let text = Kind(schema: .type("string"), read: { $0.string($1, $2) }, write: { .text($0) })
}

extension Kind where Value: Equatable {
  /// One of a few words.
  static func word(_ words: [(word: String, value: Value)]) -> Kind {
    Kind(
      schema: .members([("enum", .list(words.map { .text($0.word) }))]),
      read: { $0.word($1, $2, words) },
      write: { value in .text(words.first { $0.value == value }?.word ?? "") })
  }
}

extension Kind where Value: RawRepresentable<String> & CaseIterable & Equatable {
  /// One of a type's names.
  static var choice: Kind { word(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension Kind where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> Kind {
    Kind(schema: .integer(range), read: { $0.count($1, $2, in: range) }, write: { .number("\($0)") })
  }

  /// Bytes.
  static func size(_ range: ClosedRange<Int>) -> Kind {
    Kind(
      schema: .reference("size"),
      range: "\(Units.text(bytes: range.lowerBound)) to \(Units.text(bytes: range.upperBound))",
      read: { $0.bytes($1, $2, in: range) }, write: { .text(Units.text(bytes: $0)) })
  }
}

extension Kind where Value == Int? {
  /// A whole number, or a word for nil.
  static func count(_ range: ClosedRange<Int>, or word: String) -> Kind {
    Kind(
      schema: .oneOf([.integer(range), .members([("const", .text(word))])]),
      read: { decoder, node, path in
        if case .string(word) = node.content { return .some(nil) }
        return decoder.count(node, path, in: range, orWord: word).map { .some($0) }
      }, write: { $0.map { .number("\($0)") } ?? .text(word) })
  }
}

// MARK: Quantities

extension Kind where Value == Span {
  static func span(_ range: ClosedRange<Span>) -> Kind {
    Kind(
      schema: .reference("span"), range: "\(Units.text(range.lowerBound)) to \(Units.text(range.upperBound))",
      read: { $0.span($1, $2, in: range) }, write: { .span($0) })
  }
  /// Any length of time from this one on.
  static func span(from least: Span) -> Kind { span(least...Units.longestSpan) }
}

extension Kind where Value == Int64 {
  /// A share in parts per million. `allowed` says the range where it cannot be read off it, `more` is said behind it.
  static func share(_ range: ClosedRange<Int64> = 0...1_000_000, allowed: String? = nil, more: String = "")
    -> Kind
  {
    let allowed =
      allowed
      ?? "\(Units.text(partsPerMillion: range.lowerBound)) to \(Units.text(partsPerMillion: range.upperBound))"
    return Kind(
      schema: .oneOf([
        .members([
          ("type", .text("number")), ("minimum", .millionths(range.lowerBound)),
          ("maximum", .millionths(range.upperBound)),
        ]), .members([("type", .text("string")), ("pattern", .text("^[0-9.]+%$"))]),
      ]), range: allowed,
      read: { $0.share($1, $2, in: range, allowed: allowed, more: more) },
      write: { .text(Units.text(partsPerMillion: $0)) })
  }

  /// A decimal number in millionths.
  static func number(_ range: ClosedRange<Int64>, allowed: String) -> Kind {
    Kind(
      schema: .members([
        ("type", .text("number")), ("minimum", .millionths(range.lowerBound)),
        ("maximum", .millionths(range.upperBound)),
      ]),
      read: { $0.number($1, $2, in: range, allowed: allowed) }, write: { .millionths($0) })
  }
}

extension Kind where Value == Instant {
  /// A time on the run's clock.
  static let time = Kind(
    schema: .reference("span"), read: { $0.time($1, $2) }, write: { .span($0 - .start) })
}

// MARK: Parts of a JSON Schema

extension PositionedValue {
  static func type(_ name: String) -> Self { .members([("type", .text(name))]) }
  static func reference(_ name: String) -> Self { .members([("$ref", .text("#/$defs/" + name))]) }
  static func oneOf(_ forms: [Self]) -> Self { .members([("oneOf", .list(forms))]) }
  static func integer(_ range: ClosedRange<Int>) -> Self {
    .members([
      ("type", .text("integer")), ("minimum", .number("\(range.lowerBound)")),
      ("maximum", .number("\(range.upperBound)")),
    ])
  }
}
