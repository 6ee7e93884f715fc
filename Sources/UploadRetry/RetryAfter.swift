/// Reads the `Retry-After` header (S4; RFC 9110 §10.2.3).
public enum RetryAfter {
  /// Which forms of the header a client reads; a switch of `RetryPolicy`.
  public enum Forms: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Both forms of the RFC.
    case secondsOrDate
    /// Delta-seconds only: a date counts as absent (shipped Swift and Kotlin clients).
    case secondsOnly
  }

  /// How long the header asks to wait, in microseconds, never negative.
  ///
  /// Accepts delta-seconds (a whole number; a negative one is 0, a huge one saturates) and an HTTP-date in
  /// the three forms of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`
  /// and `Sun Nov  6 08:49:37 1994`. A date in the past is 0. Spaces and tabs around the value are ignored.
  /// The name of the day has to be one, but not the right one. The header is
  /// no list: several values joined by commas are none of these.
  ///
  /// - `now`: the wall clock, seconds since 1970-01-01T00:00:00Z; any value is safe.
  /// - `forms`: what the client reads (`RetryPolicy.retryAfterForms`).
  /// - Returns: nil if the header is none of these, which counts as absent (S4).
  public static func parse(
    _ header: String, nowUnixSeconds now: Int64, forms: Forms = .secondsOrDate
  ) -> Int64? {
    let blank: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var text = ArraySlice(header.utf8)
    while let first = text.first, blank.contains(first) { text.removeFirst() }
    while let last = text.last, blank.contains(last) { text.removeLast() }
    var found = deltaSeconds(text)
    if found == nil && forms == .secondsOrDate { found = secondsUntilDate(text, now: now) }
    guard let seconds = found else { return nil }
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : microseconds
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
      let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
      value = overflow ? .max : saturatingSum(tenfold, digit)
    }
    return isNegative ? 0 : value
  }

  private static func secondsUntilDate(_ text: ArraySlice<UInt8>, now: Int64) -> Int64? {
    guard let date = HTTPDate(text, nowUnixSeconds: now) else { return nil }
    let (seconds, overflow) = date.unixSeconds.subtractingReportingOverflow(now)
    if overflow { return now < 0 ? .max : 0 }
    return max(0, seconds)
  }
}

func digitValue(_ byte: UInt8) -> Int64? {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
}

/// The number that one to `count` digits make; nil for anything else. `count` up to 18.
func wholeNumber(_ text: Substring.UTF8View, digits count: Int) -> Int64? {
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
    if wait == .max { return wait }
    if wait >= 1_000_000_000 * 1_000_000 {
      let (rest, overflow) = (wait / 1_000_000).subtractingReportingOverflow(now)
      let (microseconds, tooMany) = max(overflow ? .max : rest, 0).multipliedReportingOverflow(by: 1_000_000)
      return tooMany ? .max : microseconds
    }
    return wait
  }

  /// What a server asks to wait by either header; `Retry-After` is the standard one and counts first (O11).
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
