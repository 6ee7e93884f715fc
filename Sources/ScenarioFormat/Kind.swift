import ScenarioModel
import SimulationKernel
import UploadRetry

/// A kind of value: how it is read, how it is written back, and what an editor and the reference say of it.
package struct Kind<Value: Sendable>: Sendable {
  /// The paths that may be addressed inside it.
  var shape = ScenarioSchema.Shape.scalar
  var schema: PositionedValue
  /// The allowed values, in words, where the schema's own words do not say it: `1ms to 366d`.
  var range = ""
  /// nil after a problem, which has been reported.
  package var read: @Sendable (inout ScenarioDecoder, PositionedValue, String) -> Value?
  var write: @Sendable (Value) -> PositionedValue
  /// Whether a value is written by leaving its key out.
  var isLeftOut: @Sendable (Value) -> Bool = { _ in false }
  /// An object goes over what stands there; nil: a value stands in its place.
  var layering: Layering<Value>?

  /// Another type, written as this one is.
  func mapped<Other: Sendable>(
    _ make: @escaping @Sendable (Value) -> Other, _ unmake: @escaping @Sendable (Other) -> Value
  ) -> Kind<Other> {
    Kind<Other>(
      shape: shape, schema: schema, range: range, read: { read(&$0, $1, $2).map(make) },
      write: { write(unmake($0)) },
      layering: layering.map { layering in
        Layering<Other>(
          read: { layering.read(&$0, $1, $2, unmake($3)).map(make) },
          write: { layering.write(unmake($0), unmake($1)) })
      })
  }

  /// Or null, which is nil.
  var orNull: Kind<Value?> {
    Kind<Value?>(
      shape: shape, schema: .oneOf([schema, .type("null")]), range: range,
      read: { decoder, node, path in
        node.isNull ? .some(nil) : read(&decoder, node, path).map { .some($0) }
      }, write: { $0.map(write) ?? .null },
      layering: layering.map { layering in
        Layering<Value?>(
          read: { decoder, node, path, base in
            if node.isNull { return .some(nil) }
            let value =
              base.map { layering.read(&decoder, node, path, $0) } ?? read(&decoder, node, path)
            return value.map { .some($0) }
          },
          write: { value, base in
            guard let value else { return .null }
            return base.map { layering.write(value, $0) } ?? write(value)
          })
      })
  }

  /// Such an object, or a short form of it.
  /// - Parameter part: of a value that is written in the short form; nil for any other.
  func or<Part>(
    _ short: Kind<Part>, _ make: @escaping @Sendable (Part) -> Value,
    part: @escaping @Sendable (Value) -> Part? = { _ in nil }
  ) -> Kind {
    Kind(
      shape: shape, schema: .oneOf([short.schema, schema]), range: short.range,
      read: { decoder, node, path in
        node.members != nil ? read(&decoder, node, path) : short.read(&decoder, node, path).map(make)
      }, write: { part($0).map(short.write) ?? write($0) })
  }

  /// Or a word, which is nil.
  func or(word: String) -> Kind<Value?> {
    Kind<Value?>(
      shape: shape, schema: .oneOf([.const(.text(word)), schema]),
      read: { decoder, node, path in
        node.text == word ? .some(nil) : read(&decoder, node, path).map { .some($0) }
      }, write: { $0.map(write) ?? .text(word) })
  }

  /// Reads a value without the decoder. `problem` returns the message about a value that can't be read, from its description.
  static func parsed(
    schema: PositionedValue, range: String = "", _ parse: @escaping @Sendable (PositionedValue) -> Value?,
    or problem: @escaping @Sendable (String) -> String, write: @escaping @Sendable (Value) -> PositionedValue
  ) -> Kind {
    Kind(
      schema: schema, range: range,
      read: { decoder, node, path in
        if let value = parse(node) { return value }
        decoder.report(problem(decoder.describe(node)), at: node.position, path)
        return nil
      }, write: write)
  }

  /// Such values but for those of which there is something wrong to say.
  package func refusing(_ problem: @escaping @Sendable (ScenarioDecoder, PositionedValue, Value) -> String?)
    -> Kind
  {
    var kind = self
    kind.read = { decoder, node, path in
      let value = read(&decoder, node, path)
      guard let value, let message = problem(decoder, node, value) else { return value }
      decoder.report(message, at: node.position, path)
      return nil
    }
    return kind
  }

  /// Never null: nil is what is left out.
  package var orNothing: Kind<Value?> {
    Kind<Value?>(
      shape: shape, schema: schema, range: range,
      read: { decoder, node, path in read(&decoder, node, path).map { .some($0) } },
      write: { $0.map(write) ?? .null }, isLeftOut: { $0 == nil })
  }

  /// A list of such values. Wrong ones are reported and left out, so that the list stands after any problem. `what` and `named`
  /// are for messages: `expected a list of limits`, `101 limits; at most 100 are allowed`.
  /// - Parameters:
  ///   - isIndexed: whether messages about an element name its place.
  ///   - check: what holds between them; each with its number in the list.
  package func list(
    _ counts: ClosedRange<Int> = 0...10_000, of what: String = "", named: String = "", isIndexed: Bool = true,
    check: (
      @Sendable (inout ScenarioDecoder, [(index: Int, value: Value)], [PositionedValue], String) -> Void
    )? = nil
  ) -> Kind<[Value]> {
    Kind<[Value]>(
      shape: .list(shape),
      schema: .array(of: schema, counts),
      read: { decoder, node, path in
        guard let elements = node.elements else {
          decoder.unexpected(node, "a list\(what)", path)
          return []
        }
        guard counts.contains(elements.count) else {
          let least = counts.lowerBound > 0 ? "at least \(counts.lowerBound) and " : ""
          decoder.report(
            "\(elements.count) \(named); \(least)at most \(counts.upperBound) are allowed", at: node.position,
            path)
          return []
        }
        let found = elements.enumerated().compactMap { index, element in
          read(&decoder, element, isIndexed ? decoder.element(index, of: path) : path).map { (index, $0) }
        }
        check?(&decoder, found, elements, path)
        return found.map(\.1)
      }, write: { .list($0.map(write)) })
  }
}

/// How an object of keys goes over another: what it leaves out stays as it is there. So a client's preset, its file, the
/// scenario and `--set` lie over one another.
struct Layering<Value: Sendable>: Sendable {
  /// The last argument is what it goes over.
  var read: @Sendable (inout ScenarioDecoder, PositionedValue, String, Value) -> Value?
  /// The second argument is what it will be read over.
  var write: @Sendable (Value, Value) -> PositionedValue
}

// MARK: Of formats that are only read

extension Kind {
  package init(_ read: @escaping @Sendable (inout ScenarioDecoder, PositionedValue, String) -> Value?) {
    self.init(schema: .members([]), read: read, write: { _ in .null })
  }

  /// Reads a value by a function that throws an error if something is wrong with it.
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
  package static let bool = Kind(
    schema: .type("boolean"),
    read: { decoder, node, path in
      if case .bool(let value) = node.content { return value }
      decoder.unexpected(node, "true or false", path)
      return nil
    }, write: { .bool($0) })
}

extension Kind where Value == String {
  package static let text = Kind(schema: .type("string"), read: { $0.string($1, $2) }, write: { .text($0) })
}

extension Kind where Value: Equatable {
  /// One of a few words.
  package static func word(_ words: [(word: String, value: Value)]) -> Kind {
    Kind(
      schema: .words(words.map(\.word)),
      read: { $0.word($1, $2, words) },
      write: { value in .text(words.first { $0.value == value }?.word ?? "") })
  }
}

extension Kind where Value: RawRepresentable<String> & CaseIterable & Equatable {
  /// One of a type's names.
  package static var choice: Kind { word(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension Kind where Value == Int {
  package static func count(_ range: ClosedRange<Int>) -> Kind {
    Kind(schema: .integer(range), read: { $0.count($1, $2, in: range) }, write: { .number("\($0)") })
  }
}

extension Kind where Value == Int? {
  /// A whole number, or a word for nil.
  static func count(_ range: ClosedRange<Int>, or word: String) -> Kind {
    Kind(
      schema: .oneOf([.integer(range), .const(.text(word))]),
      read: { decoder, node, path in
        if case .string(word) = node.content { return .some(nil) }
        return decoder.count(node, path, in: range, orWord: word).map { .some($0) }
      }, write: { $0.map { .number("\($0)") } ?? .text(word) })
  }

  /// Without a limit it is the largest number.
  var orLargest: Kind<Int> { mapped({ $0 ?? .max }, { $0 == .max ? nil : $0 }) }
}

extension Kind where Value == Int64 {
  /// Tokens of a full bucket.
  static let burst = Kind<Int>.count(1...1_000_000_000).mapped({ Int64($0) }, { Int($0) })
}

// MARK: Quantities

extension Kind where Value: Comparable {
  /// A text with a unit, within a range; a bare number lacks its unit. `read` gives nil for more than any range holds.
  static func quantity(
    _ what: String, _ reference: String, example: String, unit: String, in range: ClosedRange<Value>,
    allowed: String, _ read: @escaping @Sendable (String) throws(Units.Problem) -> Value?,
    write: @escaping @Sendable (Value) -> String
  ) -> Kind {
    Kind(
      schema: .reference(reference), range: allowed,
      read: { decoder, node, path in
        guard let text = decoder.unitText(node, path, what, example: example, unit: unit),
          let value = decoder.unit(node, path, { () throws(Units.Problem) in try read(text) })
        else { return nil }
        if let value, range.contains(value) { return value }
        decoder.report("\(quoted(text)) is out of range; allowed: \(allowed)", at: node.position, path)
        return nil
      }, write: { .text(write($0)) })
  }
}

extension Kind where Value == Span {
  static func span(_ range: ClosedRange<Span>) -> Kind {
    quantity(
      "a span", "span", example: "30s", unit: range.upperBound > .hours(1) ? "s" : "ms", in: range,
      allowed: "\(Units.text(range.lowerBound)) to \(Units.text(range.upperBound))",
      { text throws(Units.Problem) in try Units.span(text) }, write: { Units.text($0) })
  }
  /// Any length of time from this one on.
  static func span(from least: Span) -> Kind { span(least...Units.longestSpan) }
}

extension Kind where Value == Int {
  /// Bytes.
  static func size(_ range: ClosedRange<Int>) -> Kind {
    quantity(
      "a size", "size", example: "500KB", unit: "B", in: range,
      allowed: "\(Units.text(bytes: range.lowerBound)) to \(Units.text(bytes: range.upperBound))",
      { text throws(Units.Problem) in Int(exactly: try Units.bytes(text)) },
      write: { Units.text(bytes: $0) })
  }
}

extension Kind where Value == Int64 {
  /// `"50%"` or 0.5, in parts per million. `allowed` says the range where it cannot be read off it, `more` is said behind it.
  static func share(_ range: ClosedRange<Int64> = 0...1_000_000, allowed: String? = nil, more: String = "")
    -> Kind
  {
    let allowed =
      allowed
      ?? "\(Units.text(partsPerMillion: range.lowerBound)) to \(Units.text(partsPerMillion: range.upperBound))"
    return Kind(
      schema: .oneOf([.decimal(range), .pattern("^[0-9.]+%$")]), range: allowed,
      read: { decoder, node, path in
        let parts: Int64?
        switch node.content {
        case .string(let text):
          parts = decoder.unit(node, path) { () throws(Units.Problem) in try Units.partsPerMillion(text) }
        case .number(let text):
          guard let amount = ExactDecimal(text) else { fallthrough }
          parts = decoder.unit(node, path) { () throws(Units.Problem) in
            try Units.share(amount, 1_000_000, text)
          }
        default:
          decoder.report(
            "expected a share such as \"50%\" or 0.5, found \(decoder.describe(node)); allowed: \(allowed)",
            at: node.position, path)
          return nil
        }
        guard let parts, !range.contains(parts) else { return parts }
        decoder.report(
          "\(decoder.shown(node)) is out of range; allowed: \(allowed)\(more)", at: node.position, path)
        return nil
      }, write: { .text(Units.text(partsPerMillion: $0)) })
  }

  /// A decimal number in millionths.
  static func number(_ range: ClosedRange<Int64>, allowed: String) -> Kind {
    Kind(
      schema: .decimal(range),
      read: { $0.number($1, $2, in: range, parts: 1_000_000, finer: "finer than a millionth", allowed) },
      write: { .millionths($0) })
  }
}

extension Kind where Value == Instant {
  /// A time on the run's clock; a warning if the run is over by then.
  static let time = time(whenOver: .warning, ": it never happens")
  /// A time before the run ends.
  static let actionTime = time(whenOver: .error, "; an action happens before its end")

  private static func time(whenOver severity: Diagnostic.Severity, _ consequence: String) -> Kind {
    Kind(
      schema: .reference("span"),
      read: { [span = Kind<Span>.span(from: .zero)] decoder, node, path in
        guard let span = span.read(&decoder, node, path) else { return nil }
        guard let duration = decoder.duration, span >= duration else { return .start + span }
        decoder.add(
          severity, "at \(Units.text(span)) the run of \(Units.text(duration)) is over\(consequence)",
          at: node.position, path)
        return severity == .error ? nil : .start + span
      }, write: { .span($0 - .start) })
  }
}

// MARK: Parts of a JSON Schema

extension PositionedValue {
  static func type(_ name: String) -> Self { .members([("type", .text(name))]) }
  static func reference(_ name: String) -> Self { .members([("$ref", .text("#/$defs/" + name))]) }
  static func const(_ value: Self) -> Self { .members([("const", value)]) }
  static func words(_ words: [String]) -> Self { .members([("enum", .list(words.map { .text($0) }))]) }
  static func pattern(_ pattern: String) -> Self {
    .members([("type", .text("string")), ("pattern", .text(pattern))])
  }
  static func array(of items: Self, _ counts: ClosedRange<Int>) -> Self {
    let least: [(String, Self)] = counts.lowerBound > 0 ? [("minItems", .number("\(counts.lowerBound)"))] : []
    return .members(
      [("type", .text("array")), ("items", items)] + least + [("maxItems", .number("\(counts.upperBound)"))])
  }
  static func decimal(_ range: ClosedRange<Int64>) -> Self {
    .members([
      ("type", .text("number")), ("minimum", .millionths(range.lowerBound)),
      ("maximum", .millionths(range.upperBound)),
    ])
  }
  static func oneOf(_ forms: [Self]) -> Self { .members([("oneOf", .list(forms))]) }
  static func integer(_ range: ClosedRange<some FixedWidthInteger>) -> Self {
    .members([
      ("type", .text("integer")), ("minimum", .number("\(range.lowerBound)")),
      ("maximum", .number("\(range.upperBound)")),
    ])
  }
}
