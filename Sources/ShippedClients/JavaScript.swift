import UploadRetry

/// JSON values as JavaScript computes and compares with them.
package enum JavaScript {
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

  /// Whether the language takes the character as white space or the end of a line.
  package static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
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

/// The dates that JavaScript's `Date.parse` makes of what servers send, as the engine V8 reads them in a host in UTC.
///
/// These are ISO 8601, and the three forms of RFC 9110 with any weekday and with an offset in place of `GMT`. Looser forms of
/// the same pieces are dates too, as `5, 10` for the tenth of May 2001. V8 makes a date of more: names of American zones, `pm`
/// and remarks in parentheses. Here they are no date; no server was seen to send them. Hermes, the engine of many React Native
/// apps, may read odd texts in another way.
enum JavaScriptDate {
  /// Milliseconds since 1970-01-01T00:00:00Z; nil if the text is no date.
  static func milliseconds(_ text: String) -> Int64? {
    let text = JavaScript.trimmed(text)
    return iso(text) ?? loose(text)
  }

  /// `yyyy-MM-dd[Thh:mm[:ss[.fff]][zone]]`.
  private static func iso(_ text: Substring) -> Int64? {
    let halves = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let days = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard days.map({ $0.utf8.count }) == [4, 2, 2], let year = number(days[0]), let month = number(days[1]),
      let day = number(days[2])
    else { return nil }
    if halves.count == 1 { return instant(year, month, day) }
    let clock = halves[1].prefix { !"Z+-".contains($0) }
    let zone = halves[1].dropFirst(clock.count)
    guard let time = time(clock), let offset = zone.isEmpty || zone == "Z" ? 0 : offset(zone) else {
      return nil
    }
    return instant(year, month, day, time - offset)
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Numbers, names of months, a time of day and a zone, in any order that leaves no doubt. A word before the first number means
  /// nothing.
  private static func loose(_ text: Substring) -> Int64? {
    var days: [Int64] = []
    var namedMonth: Int64?
    var time: Int64?
    var zone: Int64 = 0
    for field in text.split(whereSeparator: { " ,/".contains($0) }) {
      if time != nil, let offset = offset(field) {
        zone = offset
        continue
      }
      for part in field.split(separator: "-") {
        if let number = number(part) {
          days.append(number)
        } else if time == nil, let read = Self.time(part) {
          time = read
        } else if let month = months.firstIndex(of: part.prefix(3).lowercased()) {
          namedMonth = Int64(month) + 1
        } else if days.isEmpty ? !part.allSatisfy({ $0.isLetter }) : !["GMT", "UTC", "Z"].contains(part) {
          return nil
        }
      }
    }
    guard let first = days.first, days.count <= 3 else { return nil }
    let isDay = (1...31).contains(first)
    days += [1, 1]
    var (year, month, day) = isDay ? (days[2], first, days[1]) : (first, days[1], days[2])
    if let namedMonth {
      (year, month, day) = isDay ? (days[1], namedMonth, first) : (first, namedMonth, days[1])
    }
    // Two digits are a year from 1950 to 2049; without any year it is 2001.
    if year < 100 { year += year < 50 ? 2000 : 1900 }
    return instant(year, month, day, (time ?? 0) - zone)
  }

  /// A day beyond the month's end is one of the next month.
  private static func instant(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64 = 0) -> Int64? {
    guard year < 270_000, (1...12).contains(month), (1...31).contains(day) else { return nil }
    return HTTPDate.daysSince1970(year: year, month: month, day: day) * 86_400_000 + time
  }

  /// `hh:mm[:ss[.fff]]` in milliseconds; at most 24:00, the end of the day.
  private static func time(_ text: Substring) -> Int64? {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard 2...3 ~= fields.count, let hour = number(fields[0]), let minute = number(fields[1]) else {
      return nil
    }
    let seconds = (fields.count == 3 ? fields[2] : "0").split(separator: ".", maxSplits: 1)
    guard let first = seconds.first, let second = number(first), hour <= 24, minute <= 59, second <= 59,
      let thousandths = number(((seconds.count == 2 ? seconds[1] : "0") + "00").prefix(3))
    else { return nil }
    let time = ((hour * 60 + minute) * 60 + second) * 1000 + thousandths
    return time <= 86_400_000 ? time : nil
  }

  /// `+hh:mm` or `+hhmm` in milliseconds.
  private static func offset(_ text: Substring) -> Int64? {
    guard let sign = text.first, "+-".contains(sign) else { return nil }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard digits.utf8.count == 4, let value = number(digits[...]), value % 100 <= 59 else { return nil }
    return (value / 100 * 60 + value % 100) * (sign == "-" ? -60_000 : 60_000)
  }

  /// Reads a number of at most nine digits.
  private static func number(_ text: Substring) -> Int64? { wholeNumber(text.utf8, digits: 9) }
}

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
}
