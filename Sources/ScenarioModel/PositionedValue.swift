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

    package init(key: String, keyPosition: Position, value: PositionedValue) {
      self.key = key
      self.keyPosition = keyPosition
      self.value = value
    }
  }

  package init(_ content: Content, at position: Position) {
    self.content = content
    self.position = position
  }

  /// The members of an object; nil for anything else.
  package var members: [Member]? {
    if case .object(let members) = content { members } else { nil }
  }

  /// The text of a string; nil for anything else.
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

  /// The places in a list of keys of those that an object has, and of those that are asked for in any case.
  package func places(of keys: [String], or isAsked: [Bool]) -> [Int] {
    let members = members ?? []
    return keys.indices.filter { place in isAsked[place] || members.contains { $0.key == keys[place] } }
  }

  /// The members of an object whose keys are not in a list, or empty.
  package func members(besides keys: [String]) -> [Member] {
    (members ?? []).filter { $0.key.isEmpty || !keys.contains($0.key) }
  }

  /// The kind of the value, with its article, for messages.
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

  /// This value with every position in it replaced: what `--set` and `compare` put into the tree reports
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
}
