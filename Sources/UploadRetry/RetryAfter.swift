/// Reads the `Retry-After` header (S4; RFC 9110 §10.2.3).
public enum RetryAfter {
  /// The forms of the header that a client reads; a switch of `RetryPolicy`.
  public enum Forms: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Both forms of the RFC.
    case secondsOrDate
    /// Delta-seconds only: a date counts as absent (shipped Swift and Kotlin clients).
    case secondsOnly
  }

  /// Returns the wait that the header asks for, in microseconds, never negative.
  ///
  /// Accepts delta-seconds: a whole number, of which a negative one is 0 and a huge one saturates. It also accepts an
  /// HTTP-date in the three forms of RFC 9110 §5.6.7. `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37
  /// GMT` and `Sun Nov  6 08:49:37 1994` show one of each. A date in the past is 0. Spaces and tabs around the value
  /// are ignored. The name of the day has to be one, but not the right one. The header is no list: several values
  /// joined by commas are none of these.
  ///
  /// - `now`: the wall clock, seconds since 1970-01-01T00:00:00Z; any value is safe.
  /// - `forms`: what the client reads (`RetryPolicy.retryAfterForms`).
  /// - Returns: nil if the header is none of these, which counts as absent (S4).
  public static func parse(
    _ header: String, nowUnixSeconds now: Int64, forms: Forms = .secondsOrDate
  ) -> Int64? {
    let text = ArraySlice(trimmed(header))
    var found = deltaSeconds(text)
    if found == nil && forms == .secondsOrDate { found = secondsUntilDate(text, now: now) }
    return found.map { saturatingProduct($0, 1_000_000) }
  }

  /// Digits with at most a minus before them.
  private static func deltaSeconds(_ text: ArraySlice<UInt8>) -> Int64? {
    var digits = text
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in digits {
      guard let digit = digitValue(byte) else { return nil }
      value = saturatingSum(saturatingProduct(value, 10), digit)
    }
    return isNegative ? 0 : value
  }

  private static func secondsUntilDate(_ text: ArraySlice<UInt8>, now: Int64) -> Int64? {
    HTTPDate.unixSeconds(text, now: now).map { secondsUntil($0, from: now) }
  }
}

/// 0 where the time has come; both are seconds.
private func secondsUntil(_ time: Int64, from now: Int64) -> Int64 {
  let (seconds, overflow) = time.subtractingReportingOverflow(now)
  return overflow ? now < 0 ? .max : 0 : max(0, seconds)
}

/// A text without the spaces and tabs around it.
package func trimmed(_ text: String) -> Substring.UTF8View {
  var bytes = Substring(text).utf8
  while let first = bytes.first, " \t".utf8.contains(first) { bytes.removeFirst() }
  while let last = bytes.last, " \t".utf8.contains(last) { bytes.removeLast() }
  return bytes
}

func digitValue(_ byte: UInt8) -> Int64? {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
}

/// The number that one to `count` digits make; nil for anything else. `count` up to 18.
package func wholeNumber(_ text: some Collection<UInt8>, digits count: Int) -> Int64? {
  guard (1...count).contains(text.count) else { return nil }
  var value: Int64 = 0
  for byte in text {
    guard let digit = digitValue(byte) else { return nil }
    value = value * 10 + digit
  }
  return value
}

/// Reads `X-RateLimit-Reset` (O11), which servers send in two forms: seconds to wait, or a time in seconds since 1970.
public enum RateLimitReset {
  /// How long the header asks to wait, in microseconds, never negative; nil if it is not a whole number.
  ///
  /// A number of 10^9 and more is a time (2001 and later), a smaller one a wait (less than 32 years).
  ///
  /// - `now`: the wall clock, seconds since 1970-01-01T00:00:00Z; any value is safe.
  public static func parse(_ header: String, nowUnixSeconds now: Int64) -> Int64? {
    guard let wait = RetryAfter.parse(header, nowUnixSeconds: now, forms: .secondsOnly) else { return nil }
    if wait == .max || wait < 1_000_000_000 * 1_000_000 { return wait }
    return saturatingProduct(secondsUntil(wait / 1_000_000, from: now), 1_000_000)
  }

  /// Returns the wait, in microseconds, that a server asks for by either header; `Retry-After` is the standard one and
  /// counts first (O11).
  ///
  /// - `forms`: of `Retry-After`, those that the client reads (`RetryPolicy.retryAfterForms`).
  public static func wait(
    retryAfter: String?, rateLimitReset: String?, nowUnixSeconds now: Int64,
    forms: RetryAfter.Forms = .secondsOrDate
  ) -> Int64? {
    retryAfter.flatMap { RetryAfter.parse($0, nowUnixSeconds: now, forms: forms) }
      ?? rateLimitReset.flatMap { parse($0, nowUnixSeconds: now) }
  }
}

/// A date as RFC 9110 §5.6.7 writes it, in its three forms; all are UTC and case-sensitive.
package enum HTTPDate {
  package static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  private static let shortDays = days.map { String(decoding: $0.utf8.prefix(3), as: UTF8.self) }
  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Seconds since 1970-01-01T00:00:00Z; nil if `text` is in none of the forms or names a day or time
  /// that does not exist. Second 60 is a leap second.
  static func unixSeconds(_ text: ArraySlice<UInt8>, now: Int64) -> Int64? {
    fixdate(text) ?? rfc850(text, now: now) ?? asctime(text)
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
    guard scanner.skip(oneOf: days), scanner.skip(", "), let day = scanner.number(digits: 2),
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

  package static func daysInMonth(_ month: Int64, year: Int64) -> Int64 {
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
  package static func civilDate(unixSeconds: Int64) -> (year: Int64, month: Int64, day: Int64, time: Int64) {
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
    for (index, name) in HTTPDate.months.enumerated() where skip(name) { return Int64(index) + 1 }
    return nil
  }

  mutating func number(digits count: Int) -> Int64? {
    guard rest.count >= count, let value = wholeNumber(rest.prefix(count), digits: count) else { return nil }
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
