import UploadRetry

/// `Date.parse` of JavaScript as the engine V8 has it, for a host in UTC: ISO 8601, and else whatever numbers, names of months and
/// times of day can be made out.
///
/// Hermes, the engine of many React Native apps, may read odd texts in another way.
struct JavaScriptDate {
  /// Milliseconds since 1970-01-01T00:00:00Z; nil if the text is no date.
  static func milliseconds(_ text: String) -> Int64? {
    var date = JavaScriptDate(text)
    switch date.readISO() {
    case .isDate: return date.result
    case .isNone: return nil
    case .isSomethingElse: return date.readFreely() ? date.result : nil
    }
  }

  private enum Token: Equatable {
    /// Value of at most nine digits, and how many there were.
    case number(Int64, digits: Int)
    /// The first three letters, in lower case, and how many there were.
    case word(String, letters: Int)
    case space
    case symbol(UInt8)
    case end
  }

  private var tokens: [Token]
  private var index = 0
  private var days: [Int64] = []
  private var namedMonth: Int64?
  private var isISO = false
  /// Hour, minute, second, millisecond.
  private var time: [Int64] = []
  /// Hours to add: 0 for am, 12 for pm.
  private var halfDay: Int64?
  private var zoneSign: Int64?
  private var zoneHour: Int64?
  private var zoneMinute: Int64?

  private init(_ text: String) { tokens = Self.tokens(JavaScript.trimmed(text)) }

  // MARK: Tokens

  private static func tokens(_ text: Substring) -> [Token] {
    var tokens: [Token] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.first {
      if isDigit(first) {
        let digits = rest.prefix(while: isDigit)
        let value = digits.drop { $0 == UInt8(ascii: "0") }.prefix(9).reduce(Int64(0)) {
          $0 * 10 + Int64($1 - UInt8(ascii: "0"))
        }
        tokens.append(.number(value, digits: digits.count))
        rest = rest.dropFirst(digits.count)
      } else if first >= UInt8(ascii: "A") {
        let letters = rest.prefix { $0 >= UInt8(ascii: "A") }
        let start = String(decoding: letters.prefix(3), as: UTF8.self).lowercased()
        tokens.append(.word(start, letters: letters.count))
        rest = rest.dropFirst(letters.count)
      } else {
        tokens.append(first <= UInt8(ascii: " ") ? .space : .symbol(first))
        rest = rest.dropFirst()
      }
    }
    return tokens
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private var next: Token { index < tokens.count ? tokens[index] : .end }

  private mutating func take() -> Token {
    let token = next
    index += 1
    return token
  }

  private mutating func skip(_ symbol: Unicode.Scalar) -> Bool {
    guard next == .symbol(UInt8(ascii: symbol)) else { return false }
    index += 1
    return true
  }

  private var nextIsNumber: Bool {
    if case .number = next { true } else { false }
  }

  // MARK: ISO 8601

  private enum ISOOutcome { case isDate, isSomethingElse, isNone }

  /// `yyyy[-MM[-dd]][Thh:mm[:ss[.fff]][zone]]`. A text that goes wrong before its `T` may still be another date, of which what has
  /// been read so far is the beginning.
  private mutating func readISO() -> ISOOutcome {
    var year = digits(4)
    if year == nil, let sign = sign() {
      year = digits(6).map { $0 * sign }
      if year == nil { index -= 1 }
    }
    guard let year else { return .isSomethingElse }
    days = [year]
    while days.count < 3, skip("-") {
      guard case .number(let part, 2) = next, (1...(days.count == 1 ? 12 : 31)).contains(part) else {
        return .isSomethingElse
      }
      index += 1
      days.append(part)
    }
    if case .word("t", 1) = next {
      index += 1
      guard readISOTime(), next == .end else { return .isNone }
    } else if next == .end {
      zoneSign = 1
    } else {
      return .isSomethingElse
    }
    isISO = true
    return .isDate
  }

  private mutating func readISOTime() -> Bool {
    guard let hour = digits(2), skip(":"), let minute = digits(2), minute <= 59 else { return false }
    time = [hour, minute]
    if skip(":") {
      guard let second = digits(2), second <= 59 else { return false }
      time.append(second)
      if skip(".") {
        guard case .number(let value, let count) = take() else { return false }
        time.append(Self.thousandths(value, digits: count))
      }
    }
    if case .word("z", 1) = next {
      index += 1
      zoneSign = 1
    } else if let sign = sign() {
      zoneSign = sign
      if let both = digits(4) {
        (zoneHour, zoneMinute) = (both / 100, both % 100)
      } else {
        guard let hour = digits(2), skip(":"), let minute = digits(2) else { return false }
        (zoneHour, zoneMinute) = (hour, minute)
      }
      return zoneHour! <= 23 && zoneMinute! <= 59
    }
    return true
  }

  private mutating func digits(_ count: Int) -> Int64? {
    guard case .number(let value, count) = next else { return nil }
    index += 1
    return value
  }

  private mutating func sign() -> Int64? {
    if skip("+") { return 1 }
    return skip("-") ? -1 : nil
  }

  /// The digits behind a point as milliseconds.
  private static func thousandths(_ value: Int64, digits: Int) -> Int64 {
    var value = value
    var digits = min(digits, 9)
    while digits < 3 { (value, digits) = (value * 10, digits + 1) }
    while digits > 3 { (value, digits) = (value / 10, digits - 1) }
    return value
  }

  // MARK: Anything else

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  private static let zones: [String: Int64] = [
    "ut": 0, "utc": 0, "z": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8,
    "pdt": -7,
  ]

  /// Whether nothing forbids it to be a date.
  private mutating func readFreely() -> Bool {
    var hasNumber = !days.isEmpty
    while index < tokens.count {
      switch take() {
      case .number(let value, _):
        hasNumber = true
        guard readNumber(value) else { return false }
      case .word(let start, let letters):
        guard readWord(start, letters, hasNumber) else { return false }
      case .symbol(UInt8(ascii: "+")) where allowsZone: guard readZone(1, &hasNumber) else { return false }
      case .symbol(UInt8(ascii: "-")) where allowsZone: guard readZone(-1, &hasNumber) else { return false }
      case .symbol(UInt8(ascii: "+")), .symbol(UInt8(ascii: "-")), .symbol(UInt8(ascii: ")")):
        if hasNumber { return false }
      case .symbol(UInt8(ascii: "(")): skipParentheses()
      case .symbol, .space, .end: break
      }
    }
    return true
  }

  /// A zone's offset comes behind a time or the name of UTC.
  private var allowsZone: Bool { zoneHour == 0 && zoneMinute == 0 || !time.isEmpty }

  private mutating func readNumber(_ value: Int64) -> Bool {
    if skip(":") {
      if skip(":") {
        guard time.isEmpty else { return false }
        time = [value, 0]
        return true
      }
      guard time.count < 4 else { return false }
      time.append(value)
      _ = skip(".")
      return true
    }
    if next == .symbol(UInt8(ascii: ".")), isExpectedInTime(value) {
      index += 1
      guard case .number(let fraction, let count) = take() else { return false }
      time.append(value)
      if time.count < 4 { time.append(Self.thousandths(fraction, digits: count)) }
      fillTime()
      return true
    }
    _ = skip(".")
    if zoneHour != nil, zoneMinute == nil, value <= 59 {
      zoneMinute = value
      return true
    }
    if isExpectedInTime(value) {
      time.append(value)
      fillTime()
      switch next {
      case .end, .space, .word("z", 1), .symbol(UInt8(ascii: "+")), .symbol(UInt8(ascii: "-")): return true
      default: return false
      }
    }
    guard days.count < 3 else { return false }
    days.append(value)
    _ = skip("-")
    return true
  }

  private func isExpectedInTime(_ value: Int64) -> Bool {
    switch time.count {
    case 1, 2: value <= 59
    case 3: value <= 999
    default: false
    }
  }

  private mutating func fillTime() {
    while time.count < 4 { time.append(0) }
  }

  /// Words before the first number mean nothing, and later ones have to.
  private mutating func readWord(_ start: String, _ letters: Int, _ hasNumber: Bool) -> Bool {
    if let month = Self.months.firstIndex(of: start) {
      namedMonth = Int64(month) + 1
      _ = skip("-")
    } else if letters == 2, start == "am" || start == "pm", !time.isEmpty {
      halfDay = start == "pm" ? 12 : 0
    } else if letters <= 3, let hours = Self.zones[start], hasNumber {
      zoneSign = hours < 0 ? -1 : 1
      (zoneHour, zoneMinute) = (abs(hours), 0)
    } else if hasNumber || nextIsNumber {
      return false
    }
    return true
  }

  private mutating func readZone(_ sign: Int64, _ hasNumber: inout Bool) -> Bool {
    zoneSign = sign
    hasNumber = true
    var (value, count): (Int64, Int) = (0, 0)
    if case .number(let next, let digits) = next {
      index += 1
      (value, count) = (next, digits)
    }
    if next == .symbol(UInt8(ascii: ":")) {
      (zoneHour, zoneMinute) = (value, nil)
    } else if (1...2).contains(count) {
      (zoneHour, zoneMinute) = (value, 0)
    } else if (3...4).contains(count) {
      (zoneHour, zoneMinute) = (value / 100, value % 100)
    } else {
      return false
    }
    return true
  }

  private mutating func skipParentheses() {
    var depth = 1
    while depth > 0, index < tokens.count {
      switch take() {
      case .symbol(UInt8(ascii: "(")): depth += 1
      case .symbol(UInt8(ascii: ")")): depth -= 1
      default: break
      }
    }
  }

  // MARK: The time

  /// What has been read as milliseconds; nil if it is no day, time or zone. A day beyond the month's end is one of the next month.
  private var result: Int64? {
    guard let date = civilDate, let clock = milliseconds, abs(date.year) < 300_000 else { return nil }
    let days = HTTPDate.daysSince1970(year: date.year, month: date.month, day: date.day)
    let zone = (zoneSign ?? 1) * ((zoneHour ?? 0) * 3600 + (zoneMinute ?? 0) * 60)
    let result = (days * 86_400 - zone) * 1000 + clock
    return abs(result) <= 8_640_000_000_000_000 ? result : nil
  }

  private var civilDate: (year: Int64, month: Int64, day: Int64)? {
    guard let first = days.first else { return nil }
    let all = days + [1, 1]
    let isDay = (1...31).contains(first)
    var year: Int64
    let month: Int64
    let day: Int64
    if let namedMonth {
      month = namedMonth
      (year, day) = isDay ? (all[1], first) : (first, all[1])
    } else if isISO || !isDay {
      (year, month, day) = (first, all[1], all[2])
    } else {
      (year, month, day) = (all[2], first, all[1])
    }
    if !isISO, (0...99).contains(year) { year += year < 50 ? 2000 : 1900 }
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    return (year, month, day)
  }

  private var milliseconds: Int64? {
    let all = time + [0, 0, 0, 0]
    var hour = all[0]
    if let halfDay {
      guard (0...12).contains(hour) else { return nil }
      hour = hour % 12 + halfDay
    }
    let (minute, second, millisecond) = (all[1], all[2], all[3])
    let isMidnight = hour == 24 && minute == 0 && second == 0 && millisecond == 0
    guard isMidnight || hour <= 23 && minute <= 59 && second <= 59 && millisecond <= 999 else { return nil }
    return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
  }
}
