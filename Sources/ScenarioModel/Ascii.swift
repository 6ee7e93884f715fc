/// Names for the bytes that the grammar speaks of.
package enum Ascii {
  package static let lineFeed = UInt8(ascii: "\n")
  package static let carriageReturn = UInt8(ascii: "\r")
  package static let doubleQuote = UInt8(ascii: "\"")
  package static let singleQuote = UInt8(ascii: "'")
  package static let backslash = UInt8(ascii: "\\")
  package static let slash = UInt8(ascii: "/")
  package static let star = UInt8(ascii: "*")
  package static let comma = UInt8(ascii: ",")
  package static let colon = UInt8(ascii: ":")
  package static let plus = UInt8(ascii: "+")
  package static let minus = UInt8(ascii: "-")
  package static let dot = UInt8(ascii: ".")
  package static let zero = UInt8(ascii: "0")
  package static let openBrace = UInt8(ascii: "{")
  package static let closeBrace = UInt8(ascii: "}")
  package static let openBracket = UInt8(ascii: "[")
  package static let closeBracket = UInt8(ascii: "]")

  package static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  package static func startsNumber(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == dot || byte == plus || byte == minus
  }

  /// The value of a hexadecimal digit.
  package static func hexValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte) - 0x30
    case 0x41...0x46: UInt32(byte) - 0x41 + 10
    case 0x61...0x66: UInt32(byte) - 0x61 + 10
    default: nil
    }
  }
}
