/// A date as RFC 9110 §5.6.7 writes it, in its three forms; all are UTC and case-sensitive.
package struct HTTPDate {
  /// Seconds since 1970-01-01T00:00:00Z.
  let unixSeconds: Int64

  /// nil if `text` is in none of the forms or names a day or time that does not exist. Second 60 is a leap
  /// second.
  init?(_ text: ArraySlice<UInt8>, nowUnixSeconds now: Int64) {
    guard let seconds = Self.fixdate(text) ?? Self.rfc850(text, now: now) ?? Self.asctime(text) else {
      return nil
    }
    unixSeconds = seconds
  }

  // MARK: The three forms

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func fixdate(_ text: ArraySlice<UInt8>) -> Int64? {
    var scanner = Scanner(rest: text)
    guard scanner.skip(oneOf: shortDays), scanner.skip(", "), let day = scanner.number(digits: 2),
      scanner.skip(" "),
      let month = scanner.month(), scanner.skip(" "), let year = scanner.number(digits: 4), scanner.skip(" "),
      let time = scanner.timeOfDay(), scanner.skip(" GMT"), scanner.rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`. The year is the latest one with these digits that is not more than 50
  /// years ahead of now (RFC 9110 §5.6.7).
  private static func rfc850(_ text: ArraySlice<UInt8>, now: Int64) -> Int64? {
    var scanner = Scanner(rest: text)
    guard scanner.skip(oneOf: longDays), scanner.skip(", "), let day = scanner.number(digits: 2),
      scanner.skip("-"),
      let month = scanner.month(), scanner.skip("-"), let digits = scanner.number(digits: 2),
      scanner.skip(" "),
      let time = scanner.timeOfDay(), scanner.skip(" GMT"), scanner.rest.isEmpty
    else { return nil }
    let today = civilDate(unixSeconds: now)
    let limit = daysSince1970(year: today.year + 50, month: today.month, day: today.day) * 86_400 + today.time
    var year = today.year - today.year % 100 + 100 + digits
    while daysSince1970(year: year, month: month, day: day) * 86_400 + time > limit { year -= 100 }
    return seconds(year: year, month: month, day: day, time: time)
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ text: ArraySlice<UInt8>) -> Int64? {
    var scanner = Scanner(rest: text)
    guard scanner.skip(oneOf: shortDays), scanner.skip(" "), let month = scanner.month(), scanner.skip(" "),
      let day = scanner.skip(" ") ? scanner.number(digits: 1) : scanner.number(digits: 2), scanner.skip(" "),
      let time = scanner.timeOfDay(), scanner.skip(" "), let year = scanner.number(digits: 4),
      scanner.rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time)
  }

  private static func seconds(year: Int64, month: Int64, day: Int64, time: Int64) -> Int64? {
    guard day >= 1, day <= daysInMonth(month, year: year) else { return nil }
    return daysSince1970(year: year, month: month, day: day) * 86_400 + time
  }

  // MARK: The calendar

  private static func daysInMonth(_ month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March; `day`
  /// may lie beyond the month's end.
  package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let marchMonth = (month + 9) % 12
    let leapDays = floorDivide(marchYear, 4) - floorDivide(marchYear, 100) + floorDivide(marchYear, 400)
    return 365 * marchYear + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
  }

  /// The reverse; a time before the year 0 or after 9999 is taken as the nearer end.
  static func civilDate(unixSeconds: Int64) -> (year: Int64, month: Int64, day: Int64, time: Int64) {
    let now = min(max(unixSeconds, -62_167_219_200), 253_402_300_799)
    let days = floorDivide(now, 86_400)
    let daysSinceEpoch = days + 719_468  // 0000-03-01, the start of a cycle of 400 years
    let cycle = floorDivide(daysSinceEpoch, 146_097)
    let dayOfCycle = daysSinceEpoch - cycle * 146_097
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (
      year: cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * marchMonth + 2) / 5 + 1, time: now - days * 86_400
    )
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    a / b - (a % b < 0 ? 1 : 0)
  }
}

private let shortDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
private let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/// Takes pieces off the front of a header.
private struct Scanner {
  var rest: ArraySlice<UInt8>

  /// Whether the text was next, and has been taken.
  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest.removeFirst(text.utf8.count)
    return true
  }

  mutating func skip(oneOf texts: [String]) -> Bool {
    for text in texts where skip(text) { return true }
    return false
  }

  /// 1 … 12.
  mutating func month() -> Int64? {
    for (index, name) in months.enumerated() where skip(name) { return Int64(index) + 1 }
    return nil
  }

  mutating func number(digits count: Int) -> Int64? {
    guard rest.count >= count else { return nil }
    var value: Int64 = 0
    for byte in rest.prefix(count) {
      guard let digit = digitValue(byte) else { return nil }
      value = value * 10 + digit
    }
    rest.removeFirst(count)
    return value
  }

  /// `hh:mm:ss` as seconds since midnight.
  mutating func timeOfDay() -> Int64? {
    guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
      let second = number(digits: 2), hour <= 23, minute <= 59, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }
}
