import ShippedClients
import Testing

/// What each client makes of the header's forms; nil: as if it were absent.
@Suite("Retry-After of the shipped SDKs")
struct ShippedRetryAfterTests {
  /// 1994-11-06T08:48:37Z, in microseconds.
  static let november: Int64 = 784_111_717_000_000

  @Test(
    "analytics-swift reads what Swift's Int reads",
    arguments: [
      ("0", 0), ("1", 1), ("007", 7), ("+30", 30), ("-5", 0), (" 30", 30), ("30 ", 30), ("", nil),
      ("1.5", nil),
      ("1e2", nil), ("0x10", nil), ("30s", nil), ("30, 60", nil), ("٣٠", nil), ("99999999999999999999", nil),
      ("9223372036854775808", nil), ("Thu, 01 Jan 2026 00:01:40 GMT", nil),
    ] as [(String, Int64?)])
  func analyticsSwift(header: String, seconds: Int64?) {
    let wait = SettingsDialect.analyticsSwift.retryAfter(header, nowUnixMicroseconds: 0)
    #expect(wait == seconds.map { $0 * 1_000_000 })
  }

  @Test("more seconds than fit are the largest wait there is")
  func saturated() {
    #expect(
      SettingsDialect.analyticsSwift.retryAfter("9223372036854775807", nowUnixMicroseconds: 0) == .max)
    #expect(SettingsDialect.analyticsReactNative.retryAfter("1e300", nowUnixMicroseconds: 0) == .max)
  }

  @Test(
    "analytics-kotlin reads what Kotlin's toIntOrNull reads, digits of other scripts too",
    arguments: [
      ("7", 7), ("+5", 5), ("007", 7), ("-5", 0), ("٣", 3), ("٣٠", 30), (" 7\t", 7),
      ("2147483647", 2_147_483_647),
      ("2147483648", nil), ("-2147483648", 0), ("-2147483649", nil), ("", nil), (" ", nil), ("+", nil),
      ("+-5", nil), ("1.5", nil), ("7s", nil), ("1e2", nil), ("0x10", nil), ("𝟑", nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT", nil),
    ] as [(String, Int64?)])
  func analyticsKotlin(header: String, seconds: Int64?) {
    let wait = SettingsDialect.analyticsKotlin.retryAfter(header, nowUnixMicroseconds: 0)
    #expect(wait == seconds.map { $0 * 1_000_000 })
  }

  @Test(
    "analytics-react-native reads numbers and dates as JavaScript does",
    arguments: [
      ("120", 120), ("-5", nil), ("-0", 0), ("1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e2", 100), ("0x10", 16),
      ("0b11", 3), ("0o17", 15), ("+5", 5), ("007", 7), ("", nil), (" 7 ", 7), ("soon", nil), ("30s", nil),
      ("Infinity", nil), ("NaN", nil), ("٣", nil), ("1_0", nil), ("0x", nil), ("+0x10", nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 60), ("Sunday, 06-Nov-94 08:49:37 GMT", 60),
      ("Sun Nov  6 08:49:37 1994", 60), ("Mon, 06 Nov 1994 08:49:37 GMT", 60),
      ("Sun, 31 Feb 1994 08:49:37 GMT", 0),
      ("Sun, 06 Nov 1994 08:49:37 +0100", 0), ("Sun, 06 Nov 1994 09:49:37 +01:00", 60),
      ("1994/11/06 08:49:37", 60), ("06 Nov 1994 8:49", 23),
      ("1994-11-06T08:49:37Z", 60), ("1994-11-06T08:49:37.250Z", 61), ("1994-11-06T09:49:37+01:00", 60),
      ("1994-11-07", 54_683), ("1994-11-06T24:00:00Z", 54_683), ("1994-11-06T24:00:01Z", nil),
      ("1994-11-06T08:49:37Q", nil), ("Nov 1994", 0), ("32 Nov 94", nil),
      ("Sun, 06 Nov 1994 25:00:00 GMT", nil),
      ("Sun, 06 Nov 1994 08:61:00 GMT", nil), ("06 Nov 1994 x", nil), ("1 2 3 4", nil),
    ] as [(String, Double?)])
  func analyticsReactNative(header: String, seconds: Double?) {
    let wait = SettingsDialect.analyticsReactNative.retryAfter(header, nowUnixMicroseconds: Self.november)
    #expect(wait == seconds.map { Int64($0 * 1_000_000) })
  }

  @Test(
    "day and month alone are of the year 2001, two digits of a year mean 1950 to 2049",
    arguments: [
      ("5, 10", 989_452_800), ("1,5", 978_652_800), ("retry 2", 980_985_600), ("Jan 1 49", 2_493_072_000),
      ("1 Jan 70", 0), ("13, 14", nil),
    ] as [(String, Int64?)])
  func partialDates(header: String, unixSeconds: Int64?) {
    let wait = SettingsDialect.analyticsReactNative.retryAfter(header, nowUnixMicroseconds: 0)
    #expect(wait == unixSeconds.map { $0 * 1_000_000 })
  }

  @Test(
    "analytics-react-native waits for a date in whole seconds, rounded up, of a clock of whole milliseconds")
  func roundedUp() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    for (later, seconds) in [(1, 60), (999, 60), (1000, 60), (999_000, 60), (1_000_000, 59), (60_000_000, 0)]
    {
      let wait = SettingsDialect.analyticsReactNative.retryAfter(
        date, nowUnixMicroseconds: Self.november + Int64(later))
      #expect(wait == Int64(seconds) * 1_000_000, "\(later)")
    }
  }

  @Test("the document's dialect reads both forms of the RFC")
  func document() {
    let dialect = SettingsDialect.document
    #expect(dialect.retryAfter("-5", nowUnixMicroseconds: 0) == 0)
    #expect(dialect.retryAfter("1.5", nowUnixMicroseconds: 0) == nil)
    #expect(
      dialect.retryAfter("Sun, 06 Nov 1994 08:49:37 GMT", nowUnixMicroseconds: Self.november + 999_999)
        == 60_000_000)
    #expect(
      dialect.retryAfter("Thu, 01 Jan 1970 00:00:00 GMT", nowUnixMicroseconds: -1) == 1_000_000)
  }

  @Test("no header and no clock crashes a reader")
  func hostile() {
    let headers = [
      "\0", "T", ":::", "1::", "(((", "1(", "+", "-", "1.", "1994-11-06T", "999999999 Jan 1", "é",
      "\u{FEFF}5",
    ]
    for dialect in SettingsDialect.allCases {
      for header in headers {
        for now in [Int64.min, -1, 0, .max] {
          #expect(dialect.retryAfter(header, nowUnixMicroseconds: now) ?? 0 >= 0)
        }
      }
    }
  }
}
