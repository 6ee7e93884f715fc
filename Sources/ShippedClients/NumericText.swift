import UploadRetry

/// Texts that are numbers in one of the SDKs' senses.
enum NumericText {
  /// ASCII digits, with a point and an exponent or without, and a sign or none; nil for anything else. More than fits is infinite.
  static func double(_ text: some StringProtocol) -> Double? {
    var rest = Array(text.utf8)[...]
    skip("+-", in: &rest)
    var count = digits(in: &rest)
    if skip(".", in: &rest) { count += digits(in: &rest) }
    guard count > 0 else { return nil }
    if skip("eE", in: &rest) {
      skip("+-", in: &rest)
      guard digits(in: &rest) > 0 else { return nil }
    }
    return rest.isEmpty ? Double(String(text)) : nil
  }

  /// Without the spaces and tabs around it.
  static func trimmed(_ text: String) -> Substring {
    var bytes = Substring(text).utf8
    while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return Substring(bytes)
  }

  /// Takes one of the bytes of `characters` off the front; whether there was one.
  @discardableResult
  private static func skip(_ characters: String, in rest: inout ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, characters.utf8.contains(first) else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes digits off the front; how many.
  private static func digits(in rest: inout ArraySlice<UInt8>) -> Int {
    let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    rest.removeFirst(count)
    return count
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}

/// JSON values as JavaScript computes and compares with them.
enum JavaScript {
  /// `Number(value)`; NaN for what is none.
  static func number(_ value: SettingsValue) -> Double {
    switch value {
    case .null: 0
    case .bool(let bool): bool ? 1 : 0
    case .number(let number): number
    case .string(let text): number(text)
    case .array, .object: number(text(value))
    }
  }

  /// `Number(text)`: decimal with a point and an exponent or without, hexadecimal, octal, binary, `Infinity`; 0 for nothing but
  /// white space.
  static func number(_ text: String) -> Double {
    let trimmed = trimmed(text)
    if trimmed.isEmpty { return 0 }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where trimmed.lowercased().hasPrefix(prefix) {
      return whole(trimmed.utf8.dropFirst(prefix.utf8.count), radix: radix)
    }
    switch trimmed {
    case "Infinity", "+Infinity": return .infinity
    case "-Infinity": return -.infinity
    default: return NumericText.double(trimmed) ?? .nan
    }
  }

  /// `a < b`: as text if both are text, objects and arrays counting as their text; else as numbers, and false with a NaN.
  static func less(_ a: SettingsValue, _ b: SettingsValue) -> Bool {
    let (a, b) = (primitive(a), primitive(b))
    if case .string(let a) = a, case .string(let b) = b { return a.utf16.lexicographicallyPrecedes(b.utf16) }
    return number(a) < number(b)
  }

  /// `Math.max`, `NaN` if either is.
  static func max(_ a: Double, _ b: Double) -> Double { a.isNaN || b.isNaN ? .nan : Swift.max(a, b) }

  private static func primitive(_ value: SettingsValue) -> SettingsValue {
    switch value {
    case .array, .object: .string(text(value))
    default: value
    }
  }

  /// `String(value)`.
  private static func text(_ value: SettingsValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .number(let number): shown(number)
    case .string(let text): text
    case .array(let elements): elements.map { $0 == .null ? "" : text($0) }.joined(separator: ",")
    case .object: "[object Object]"
    }
  }

  /// Without the white space around it.
  static func trimmed(_ text: String) -> Substring {
    var scalars = Substring(text).unicodeScalars
    while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
    while let last = scalars.last, isSpace(last) { scalars.removeLast() }
    return Substring(scalars)
  }

  /// What the language takes as white space or the end of a line.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0D, 0x20, 0xA0, 0xFEFF, 0x2028, 0x2029: true
    default: scalar.properties.generalCategory == .spaceSeparator
    }
  }

  private static func whole(_ digits: Substring.UTF8View, radix: Int) -> Double {
    guard !digits.isEmpty else { return .nan }
    var value = 0.0
    for byte in digits {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix else { return .nan }
      value = value * Double(radix) + Double(digit)
    }
    return value
  }
}
