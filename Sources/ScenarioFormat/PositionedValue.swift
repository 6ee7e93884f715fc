import ScenarioModel
import SimulationKernel
import UploadRetry

/// Where a value stands: which file, and where in it.
package struct Position: Sendable, Hashable {
  /// Index into the names of the files read; `Position.commandLine` for `--set`.
  package var source: Int32
  /// From 1.
  package var line: Int32
  /// In Unicode scalars, from 1.
  package var column: Int32

  package init(source: Int32, line: Int32, column: Int32) {
    self.source = source
    self.line = line
    self.column = column
  }

  /// A value that came from `--set`: no file, no line.
  package static let commandLine = Position(source: -1, line: 0, column: 0)

  /// For sentences: ` on line 7`, or of what stands in no file ` given by an option`.
  var clause: String { self == .commandLine ? " given by an option" : " on line \(line)" }
}

/// A JSON5 value that knows where it stands.
package struct PositionedValue: Sendable {
  package var content: Content
  package var position: Position

  package indirect enum Content: Sendable {
    case null
    case bool(Bool)
    /// The number as written, `+0x1F`, `1e3`, `-Infinity`: it is read exactly, and only where it is needed.
    case number(String)
    case string(String)
    case array([PositionedValue])
    case object([Member])
  }

  package struct Member: Sendable {
    package var key: String
    package var keyPosition: Position
    package var value: PositionedValue
  }

  package init(_ content: Content, at position: Position) {
    self.content = content
    self.position = position
  }

  /// The members of an object; nil for anything else.
  package var members: [Member]? {
    if case .object(let members) = content { members } else { nil }
  }

  /// What a string says; nil for anything else.
  package var text: String? {
    if case .string(let text) = content { text } else { nil }
  }

  /// The elements of a list; nil for anything else.
  package var elements: [PositionedValue]? {
    if case .array(let elements) = content { elements } else { nil }
  }

  /// The member `key` of an object.
  package subscript(key: String) -> PositionedValue? {
    members?.first { $0.key == key }?.value
  }

  /// What the value is, with its article, for messages.
  package var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The same value with every position in it replaced: what `--set` and `compare` put into the tree reports
  /// *their* place.
  package func moved(to position: Position) -> PositionedValue {
    var content = content
    switch content {
    case .array(let elements): content = .array(elements.map { $0.moved(to: position) })
    case .object(let members):
      content = .object(
        members.map { .init(key: $0.key, keyPosition: position, value: $0.value.moved(to: position)) })
    default: break
    }
    return PositionedValue(content, at: position)
  }

  /// Replaces or appends the member `key`; anything but an object becomes one.
  mutating func setMember(_ key: String, to value: PositionedValue) {
    var members = members ?? []
    if let index = members.firstIndex(where: { $0.key == key }) {
      members[index].value = value
    } else {
      members.append(.init(key: key, keyPosition: value.position, value: value))
    }
    content = .object(members)
  }
}

extension ExactDecimal {
  /// What a number says; nil for anything else.
  init?(_ node: PositionedValue) {
    guard case .number(let text) = node.content else { return nil }
    self.init(text)
  }
}

/// What a normalised scenario and a schema are made of.
extension PositionedValue {
  static func number(_ text: String) -> Self { Self(.number(text), at: .commandLine) }
  static func text(_ text: String) -> Self { Self(.string(text), at: .commandLine) }
  static func bool(_ value: Bool) -> Self { Self(.bool(value), at: .commandLine) }
  static func span(_ span: Span) -> Self { .text(Units.text(span)) }
  /// A decimal number.
  static func millionths(_ value: Int64) -> Self { .number(Units.seconds(microseconds: value)) }
  static func list(_ elements: [Self]) -> Self { Self(.array(elements), at: .commandLine) }
  static var null: Self { Self(.null, at: .commandLine) }
  static func members(_ members: [(String, Self)]) -> Self {
    Self(.object(members.map { .init(key: $0, keyPosition: .commandLine, value: $1) }), at: .commandLine)
  }

  init(_ value: SettingsValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let value):
      let infinite = value < 0 ? "-1e999" : "1e999"
      self = .number(value.isInfinite ? infinite : Int(exactly: value).map { "\($0)" } ?? "\(value)")
    case .string(let text): self = .text(text)
    case .array(let elements): self = .list(elements.map(Self.init))
    case .object(let members): self = .members(members.map { ($0.key, Self($0.value)) })
    }
  }
}
