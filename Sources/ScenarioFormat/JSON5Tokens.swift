import ScenarioModel
import UploadRetry

// MARK: - White space and comments

extension JSON5Parser {
  mutating func skipBlanks() throws(JSON5Error) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09...0x0D: offset += 1
      case Ascii.slash: try skipComment()
      case 0x80...:
        guard let (scalar, length) = scalar(at: offset), Self.isSpace(scalar) else { return }
        offset += length
      default: return
      }
    }
  }

  private mutating func skipComment() throws(JSON5Error) {
    let start = offset
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

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xA0, 0x2028, 0x2029, 0xFEFF: true
    default: scalar.properties.generalCategory == .spaceSeparator
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
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for index in 1..<length {
      guard let next = byte(at: target + index) else { return nil }
      value = value << 6 | UInt32(next & 0x3F)
    }
    return Unicode.Scalar(value).map { ($0, length) }
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

  /// The bytes of the identifier that starts at `start`, escapes left out; empty if there is none.
  func identifierBytes(from start: Int) -> Range<Int> {
    var end = start
    while let (scalar, length) = scalar(at: end), isIdentifierPart(scalar, first: end == start) {
      end += length
    }
    return start..<end
  }

  /// An unquoted key.
  mutating func identifier() throws(JSON5Error) -> String {
    var name = ""
    let start = offset
    while true {
      let run = identifierBytes(from: offset)
      // A run that is not the first may start with a digit, which `identifierBytes` takes for no identifier.
      if !run.isEmpty {
        name += String(decoding: bytes[run], as: UTF8.self)
        offset = run.upperBound
      } else if let (scalar, length) = scalar(at: offset), isIdentifierPart(scalar, first: offset == start) {
        name.unicodeScalars.append(scalar)
        offset += length
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
            + quoted(String(Character(Unicode.Scalar(quote))))
        )
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

  /// What follows `\u`, with the second half of a surrogate pair.
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
