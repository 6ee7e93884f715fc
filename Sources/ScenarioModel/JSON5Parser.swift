import ShippedClients
import UploadRetry

/// The first thing that keeps a text from being JSON5.
package struct JSON5Error: Error, Sendable, Hashable {
  package var position: Position
  package var message: String
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
  /// Whether the text has to be JSON, as a CDN serves it.
  private let isJSON: Bool
  private var depth = 0
  // Positions are asked for in ascending order, so the lines and columns before the last one asked for are
  // never counted again.
  private var mark: (offset: Int, line: Int32, column: Int32) = (0, 1, 1)

  /// Parses a whole text, which is JSON if `isJSON` says that it has to be. `source` goes into every position.
  /// - Throws: `JSON5Error`.
  package static func parse(
    _ text: String, source: Int32 = 0, isJSON: Bool = false
  ) throws(JSON5Error) -> PositionedValue {
    let size = text.utf8.count
    guard size <= maximumBytes else {
      throw JSON5Error(
        position: Position(source: source, line: 1, column: 1),
        message: "the file has \(size) bytes; at most \(maximumBytes) (16 MB) are read")
    }
    var parser = JSON5Parser(bytes: Array(text.utf8), source: source, isJSON: isJSON)
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
      try takeComma(before: Ascii.closeBracket, "\",\" or \"]\" after an element of a list")
    }
    depth -= 1
    return elements
  }

  private mutating func members() throws(JSON5Error) -> [PositionedValue.Member] {
    try descend()
    var members: [PositionedValue.Member] = []
    var seen: Set<String> = []
    while !take(Ascii.closeBrace) {
      let (start, keyPosition) = (offset, position(at: offset))
      let isQuoted = peek == Ascii.doubleQuote || peek == Ascii.singleQuote
      let key = try isQuoted ? string() : identifier()
      if !isQuoted { try refuse("key without quotes", at: start) }
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
      try takeComma(before: Ascii.closeBrace, "\",\" or \"}\" after a member of an object")
    }
    depth -= 1
    return members
  }

  private mutating func takeComma(before close: UInt8, _ expected: String) throws(JSON5Error) {
    let end = offset
    try skipBlanks()
    if take(Ascii.comma) {
      try skipBlanks()
      if peek == close { try refuse("comma behind the last", at: end) }
    } else if peek != close {
      throw missingComma(expected, behind: end)
    }
  }

  // MARK: Positions and failures

  /// Refuses what JSON5 has and JSON has not, where the text has to be JSON.
  private mutating func refuse(_ what: String, at target: Int) throws(JSON5Error) {
    if isJSON { throw failure("JSON has no \(what), and a CDN serves JSON", at: target) }
  }

  /// Lines end at LF, CR or CR LF; columns count Unicode scalars.
  mutating func position(at target: Int) -> Position {
    if target < mark.offset { mark = (0, 1, 1) }
    while mark.offset < target {
      let byte = bytes[mark.offset]
      if byte == Ascii.lineFeed
        || (byte == Ascii.carriageReturn && self.byte(at: mark.offset + 1) != Ascii.lineFeed)
      {
        (mark.line, mark.column) = (mark.line + 1, 1)
      } else if byte & 0xC0 != 0x80 {
        mark.column += 1
      }
      mark.offset += 1
    }
    return Position(source: source, line: mark.line, column: mark.column)
  }

  mutating func failure(_ message: String, at target: Int? = nil) -> JSON5Error {
    JSON5Error(position: position(at: target ?? offset), message: message)
  }

  /// A value has ended at `end`, and something else than the end of the file follows. It is there that the comma is missing, also
  /// where a later line is the first that shows it.
  private mutating func missingComma(_ expected: String, behind end: Int) -> JSON5Error {
    let (place, line) = (position(at: end), position(at: offset).line)
    if line == place.line || offset == bytes.count { return failure("expected \(expected), found \(found)") }
    return JSON5Error(position: place, message: "expected \(expected), found \(found) on line \(line)")
  }

  /// The text at the offset, for messages.
  var found: String { found(at: offset) }

  func found(at target: Int) -> String {
    guard target < bytes.count else { return "the end of the file" }
    let word = identifierBytes(from: target)
    if !word.isEmpty { return quoted(String(decoding: bytes[word], as: UTF8.self)) }
    guard let scalar = scalar(at: target)?.scalar else { return "a broken character" }
    return quoted(String(Character(scalar)))
  }
}

// MARK: - White space and comments

extension JSON5Parser {
  mutating func skipBlanks() throws(JSON5Error) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09...0x0D: offset += 1
      case Ascii.slash: try skipComment()
      case 0x80...:
        guard let (scalar, length) = scalar(at: offset), JavaScript.isSpace(scalar) else { return }
        offset += length
      default: return
      }
    }
  }

  private mutating func skipComment() throws(JSON5Error) {
    let start = offset
    if [Ascii.slash, Ascii.star].contains(byte(at: offset + 1)) { try refuse("comment", at: start) }
    switch byte(at: offset + 1) {
    case Ascii.slash:
      while let byte = peek, byte != Ascii.lineFeed, byte != Ascii.carriageReturn {
        // U+2028 and U+2029 end a line too.
        if byte == 0xE2, lineSeparatorLength(at: offset) > 0 { return }
        offset += 1
      }
    case Ascii.star:
      offset += 2
      while offset < bytes.count {
        if bytes[offset] == Ascii.star, byte(at: offset + 1) == Ascii.slash {
          offset += 2
          return
        }
        offset += 1
      }
      throw failure("this comment is never closed; expected \"*/\"", at: start)
    default:
      throw failure("expected a comment after \"/\", found \(found(at: start + 1))")
    }
  }

  /// 3 at U+2028 or U+2029, else 0.
  func lineSeparatorLength(at target: Int) -> Int {
    byte(at: target) == 0xE2 && byte(at: target + 1) == 0x80
      && (byte(at: target + 2) == 0xA8 || byte(at: target + 2) == 0xA9) ? 3 : 0
  }

  /// The Unicode scalar that starts at a byte. The bytes come from a `String`, so they are valid UTF-8.
  func scalar(at target: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard let first = byte(at: target) else { return nil }
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    if length == 1 { return (Unicode.Scalar(first), 1) }
    let text = String(decoding: bytes[target..<target + length], as: UTF8.self)
    return text.unicodeScalars.first.map { ($0, length) }
  }
}

// MARK: - Identifiers

extension JSON5Parser {
  private func isIdentifierPart(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
    switch scalar.value {
    case 0x24, 0x5F, 0x41...0x5A, 0x61...0x7A: return true
    case 0x30...0x39: return !first
    case 0x00..<0x80: return false
    case 0x200C, 0x200D: return !first
    default: break
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
      return true
    case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: return !first
    default: return false
    }
  }

  /// The bytes of the identifier that starts, or goes on, at `start`, up to an escape; empty if there are none.
  func identifierBytes(from start: Int, goesOn: Bool = false) -> Range<Int> {
    var end = start
    while let (scalar, length) = scalar(at: end), isIdentifierPart(scalar, first: end == start && !goesOn) {
      end += length
    }
    return start..<end
  }

  /// An unquoted key.
  mutating func identifier() throws(JSON5Error) -> String {
    var name = ""
    let start = offset
    while true {
      let run = identifierBytes(from: offset, goesOn: offset > start)
      if !run.isEmpty {
        name += String(decoding: bytes[run], as: UTF8.self)
        offset = run.upperBound
      } else if peek == Ascii.backslash {
        let escape = offset
        guard byte(at: offset + 1) == UInt8(ascii: "u") else {
          throw failure("expected \"\\uXXXX\" in an unquoted key, found \(found(at: offset + 1))")
        }
        offset += 2
        let scalar = try unicodeEscape(startingAt: escape)
        guard isIdentifierPart(scalar, first: escape == start) else {
          throw failure("this character needs a key in quotes", at: escape)
        }
        name.unicodeScalars.append(scalar)
      } else {
        break
      }
    }
    guard offset > start else {
      throw failure("expected a key or \"}\", found \(found)")
    }
    return name
  }
}

// MARK: - Strings

extension JSON5Parser {
  mutating func string() throws(JSON5Error) -> String {
    let start = offset
    if peek == Ascii.singleQuote { try refuse("text in single quotes", at: start) }
    let quote = bytes[offset]
    offset += 1
    var text: [UInt8] = []
    var runStart = offset
    while let byte = peek {
      switch byte {
      case quote:
        defer { offset += 1 }
        if text.isEmpty { return String(decoding: bytes[runStart..<offset], as: UTF8.self) }
        text += bytes[runStart..<offset]
        return String(decoding: text, as: UTF8.self)
      case Ascii.backslash:
        text += bytes[runStart..<offset]
        try escape(into: &text)
        runStart = offset
      case Ascii.lineFeed, Ascii.carriageReturn:
        throw failure(
          "a string cannot go on over the end of a line; expected "
            + quoted(String(Character(Unicode.Scalar(quote)))))
      default: offset += 1
      }
    }
    throw failure("this string is never closed", at: start)
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSON5Error) {
    let start = offset
    offset += 1
    guard let byte = peek else { throw failure("this string is never closed", at: start) }
    offset += 1
    switch byte {
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "v"): text.append(0x0B)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "0"):
      if let next = peek, Ascii.isDigit(next) {
        throw failure("octal escapes do not exist; write \"\\x00\"", at: start)
      }
      text.append(0)
    case UInt8(ascii: "1")...UInt8(ascii: "9"):
      throw failure("octal escapes do not exist; write \"\\xHH\"", at: start)
    case UInt8(ascii: "x"):
      let value = try hexDigits(2, escape: start)
      text += Array(String(Character(Unicode.Scalar(UInt8(value)))).utf8)
    case UInt8(ascii: "u"):
      text += Array(String(Character(try unicodeEscape(startingAt: start))).utf8)
    case Ascii.lineFeed: break
    case Ascii.carriageReturn: _ = take(Ascii.lineFeed)
    default:
      // Any other character stands for itself; a line separator is a continuation.
      offset = start + 1
      let separator = lineSeparatorLength(at: offset)
      let length = scalar(at: offset)?.length ?? 1
      if separator == 0 { text += bytes[offset..<offset + length] }
      offset += length
    }
  }

  /// Returns the scalar that follows `\u`, with the second half of a surrogate pair.
  mutating func unicodeEscape(startingAt start: Int) throws(JSON5Error) -> Unicode.Scalar {
    var value = try hexDigits(4, escape: start)
    if (0xD800..<0xDC00).contains(value), peek == Ascii.backslash, byte(at: offset + 1) == UInt8(ascii: "u") {
      offset += 2
      let low = try hexDigits(4, escape: start)
      if (0xDC00..<0xE000).contains(low) {
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw failure("half a surrogate pair; write both halves, such as \"\\uD83D\\uDE00\"", at: start)
    }
    return scalar
  }

  private mutating func hexDigits(_ count: Int, escape: Int) throws(JSON5Error) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let byte = peek, let digit = Ascii.hexValue(byte) else {
        throw failure("expected \(count) hexadecimal digits in this escape", at: escape)
      }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }
}

// MARK: - Numbers

extension JSON5Parser {
  /// The number as written.
  mutating func number() throws(JSON5Error) -> String {
    let start = offset
    if peek == Ascii.plus || peek == Ascii.minus { offset += 1 }
    let body = offset
    let word = identifierBytes(from: offset)
    if !word.isEmpty {
      let name = String(decoding: bytes[word], as: UTF8.self)
      guard name == "Infinity" || name == "NaN" else {
        throw failure("expected a number after the sign, found \(found)")
      }
      offset = word.upperBound
    } else if peek == Ascii.zero, let x = byte(at: offset + 1), x | 0x20 == UInt8(ascii: "x") {
      offset += 2
      let digits = offset
      while let byte = peek, Ascii.hexValue(byte) != nil { offset += 1 }
      if offset == digits { throw failure("expected hexadecimal digits after \"0x\", found \(found)") }
    } else {
      let whole = skipDigits()
      if whole > 1, bytes[body] == Ascii.zero {
        throw failure("a number cannot start with \"0\" and another digit", at: start)
      }
      let fraction = take(Ascii.dot) ? skipDigits() : 0
      if whole + fraction == 0 { throw failure("expected a digit, found \(found)") }
      if let e = peek, e | 0x20 == UInt8(ascii: "e") {
        offset += 1
        if peek == Ascii.plus || peek == Ascii.minus { offset += 1 }
        if skipDigits() == 0 { throw failure("expected digits in the exponent, found \(found)") }
      }
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if bytes[start] == Ascii.plus || !Ascii.isDigit(bytes[body]) || text.hasSuffix(".") {
      try refuse("number \(text)", at: start)
    }
    let tail = identifierBytes(from: offset)
    if !tail.isEmpty || (peek.map(Ascii.isDigit) ?? false) {
      let unit = String(decoding: bytes[tail], as: UTF8.self)
      throw failure("a number with a unit needs quotes: \(quoted(text + unit))", at: start)
    }
    return text
  }

  /// Skips digits, and says how many there were.
  private mutating func skipDigits() -> Int {
    let start = offset
    while let byte = peek, Ascii.isDigit(byte) { offset += 1 }
    return offset - start
  }
}
