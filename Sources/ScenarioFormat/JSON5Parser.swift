import ScenarioModel
import UploadRetry

/// The first thing that keeps a text from being JSON5.
package struct JSON5Error: Error, Sendable, Hashable {
  package var position: Position
  package var message: String

  func problems(in file: String) -> ScenarioProblems {
    ScenarioProblems(diagnostics: [
      Diagnostic(file: file, line: Int(position.line), column: Int(position.column), message: message)
    ])
  }
}

/// Parses JSON5 (json5.org, specification 1.0.0) into a tree in which every value knows its line and column.
///
/// Stricter than JSON5 in two places: a duplicate key is an error, and so is half a surrogate pair (a Swift
/// string cannot hold one). Works on UTF-8 bytes in one pass, O(bytes). Neither depth nor size can hurt it:
/// nesting ends at `maximumDepth`, texts at `maximumBytes`.
package struct JSON5Parser {
  package static let maximumDepth = 64
  package static let maximumBytes = 16 * 1024 * 1024

  let bytes: [UInt8]
  var offset = 0
  private let source: Int32
  private var depth = 0
  // Positions are asked for in ascending order, so the lines and columns before the last one asked for are
  // never counted again.
  private var markOffset = 0
  private var markLine: Int32 = 1
  private var markColumn: Int32 = 1

  /// Parses a whole text. `source` goes into every position.
  /// - Throws: `JSON5Error`.
  package static func parse(_ text: String, source: Int32 = 0) throws(JSON5Error) -> PositionedValue {
    let size = text.utf8.count
    guard size <= maximumBytes else {
      throw JSON5Error(
        position: Position(source: source, line: 1, column: 1),
        message: "the file has \(size) bytes; at most \(maximumBytes) (16 MB) are read")
    }
    var parser = JSON5Parser(bytes: Array(text.utf8), source: source)
    try parser.skipBlanks()
    guard parser.peek != nil else {
      throw parser.failure("the file is empty; expected a value such as { … }")
    }
    let value = try parser.value()
    try parser.skipBlanks()
    if parser.peek != nil {
      throw parser.failure("expected the end of the file, found \(parser.found)")
    }
    return value
  }

  /// The same of a file, for a user to mend.
  package static func parse(_ text: String, file: String) throws(ScenarioProblems) -> PositionedValue {
    do {
      return try parse(text)
    } catch {
      throw error.problems(in: file)
    }
  }

  private init(bytes: [UInt8], source: Int32) {
    self.bytes = bytes
    self.source = source
  }

  var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

  mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    offset += 1
    return true
  }

  // MARK: Values

  private mutating func value() throws(JSON5Error) -> PositionedValue {
    let start = position(at: offset)
    switch peek {
    case Ascii.openBrace:
      return PositionedValue(.object(try members()), at: start)
    case Ascii.openBracket:
      return PositionedValue(.array(try elements()), at: start)
    case Ascii.doubleQuote, Ascii.singleQuote:
      return PositionedValue(.string(try string()), at: start)
    case .some(let byte) where Ascii.startsNumber(byte):
      return PositionedValue(.number(try number()), at: start)
    default:
      let word = identifierBytes(from: offset)
      let content: PositionedValue.Content? =
        switch String(decoding: bytes[word], as: UTF8.self) {
        case "null": .null
        case "true": .bool(true)
        case "false": .bool(false)
        case "Infinity": .number("Infinity")
        case "NaN": .number("NaN")
        default: nil
        }
      guard let content else {
        throw failure("expected a value, found \(found)" + (word.isEmpty ? "" : "; text needs quotes"))
      }
      offset = word.upperBound
      return PositionedValue(content, at: start)
    }
  }

  private mutating func descend() throws(JSON5Error) {
    guard depth < Self.maximumDepth else {
      throw failure("nested deeper than \(Self.maximumDepth) levels")
    }
    depth += 1
    offset += 1
    try skipBlanks()
  }

  private mutating func elements() throws(JSON5Error) -> [PositionedValue] {
    try descend()
    var elements: [PositionedValue] = []
    while !take(Ascii.closeBracket) {
      elements.append(try value())
      try skipBlanks()
      if take(Ascii.comma) {
        try skipBlanks()
      } else if peek != Ascii.closeBracket {
        throw failure("expected \",\" or \"]\" after an element of a list, found \(found)")
      }
    }
    depth -= 1
    return elements
  }

  private mutating func members() throws(JSON5Error) -> [PositionedValue.Member] {
    try descend()
    var members: [PositionedValue.Member] = []
    var seen: Set<String> = []
    while !take(Ascii.closeBrace) {
      let keyOffset = offset
      let keyPosition = position(at: keyOffset)
      let key = try key()
      let isNew =
        members.count < 8 ? !members.contains { $0.key == key } : seen.insert(key).inserted
      guard isNew else {
        let line = members.first { $0.key == key }?.keyPosition.line ?? 0
        throw JSON5Error(
          position: keyPosition, message: "duplicate key \(quoted(key)); it is on line \(line) already")
      }
      try skipBlanks()
      guard take(Ascii.colon) else {
        throw failure("expected \":\" after the key \(quoted(key)), found \(found)")
      }
      try skipBlanks()
      members.append(.init(key: key, keyPosition: keyPosition, value: try value()))
      if members.count == 8 { seen = Set(members.map(\.key)) }
      try skipBlanks()
      if take(Ascii.comma) {
        try skipBlanks()
      } else if peek != Ascii.closeBrace {
        throw failure("expected \",\" or \"}\" after a member of an object, found \(found)")
      }
    }
    depth -= 1
    return members
  }

  private mutating func key() throws(JSON5Error) -> String {
    switch peek {
    case Ascii.doubleQuote, Ascii.singleQuote: return try string()
    default: return try identifier()
    }
  }

  // MARK: Positions and failures

  /// Lines end at LF, CR or CR LF; columns count Unicode scalars.
  mutating func position(at target: Int) -> Position {
    if target < markOffset {
      markOffset = 0
      markLine = 1
      markColumn = 1
    }
    while markOffset < target {
      let byte = bytes[markOffset]
      if byte == Ascii.lineFeed
        || (byte == Ascii.carriageReturn && self.byte(at: markOffset + 1) != Ascii.lineFeed)
      {
        markLine += 1
        markColumn = 1
      } else if byte & 0xC0 != 0x80 {
        markColumn += 1
      }
      markOffset += 1
    }
    return Position(source: source, line: markLine, column: markColumn)
  }

  mutating func failure(_ message: String, at target: Int? = nil) -> JSON5Error {
    JSON5Error(position: position(at: target ?? offset), message: message)
  }

  /// What stands at the offset, for messages.
  var found: String { found(at: offset) }

  func found(at target: Int) -> String {
    guard target < bytes.count else { return "the end of the file" }
    let word = identifierBytes(from: target)
    if !word.isEmpty { return quoted(String(decoding: bytes[word], as: UTF8.self)) }
    guard let scalar = scalar(at: target)?.scalar else { return "a broken character" }
    return quoted(String(Character(scalar)))
  }
}
