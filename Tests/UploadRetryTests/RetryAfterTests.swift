import Foundation
import TestSupport
import Testing
import UploadRetry

@Suite("Retry-After (S4, RFC 9110)")
struct RetryAfterTests {
  /// 1994-11-06T08:49:37Z, the RFC's example.
  private let example: Int64 = 784_111_777

  @Test(
    "Delta-seconds",
    arguments: [
      ("0", 0), ("1", 1_000_000), ("120", 120_000_000), (" 5\t", 5_000_000), ("007", 7_000_000), ("-5", 0),
      ("-0", 0), ("99999999999999999999999999", .max), ("9223372036854775807", .max),
      ("-99999999999999999999999999", 0), ("9223372036854", 9_223_372_036_854_000_000),
      ("9223372036855", .max),
    ] as [(String, Int64)])
  func deltaSeconds(header: String, microseconds: Int64) {
    #expect(RetryAfter.parse(header, nowUnixSeconds: example) == microseconds)
  }

  @Test(
    "The three forms of a date",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
  func dates(header: String) {
    #expect(RetryAfter.parse(header, nowUnixSeconds: example - 90) == 90_000_000)
    #expect(RetryAfter.parse(header, nowUnixSeconds: example) == 0)
    #expect(RetryAfter.parse(header, nowUnixSeconds: example + 1) == 0)
    #expect(RetryAfter.parse("\t \(header) ", nowUnixSeconds: example - 90) == 90_000_000)
  }

  @Test(
    "Anything else counts as absent",
    arguments: [
      "", " ", "-", "--5", "+5", "5.5", "5 s", "1e3", "0x10", "５", "soon", "Sun", "Sun,",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 GMT+1", "sun, 06 nov 1994 08:49:37 gmt", "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 31 Nov 1994 08:49:37 GMT", "Tue, 29 Feb 1994 08:49:37 GMT", "Wed, 29 Feb 1900 00:00:00 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:00:61 GMT",
      "Sun, 06 Abc 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
      "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 29-Feb-93 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
      "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
    ])
  func unparsable(header: String) {
    #expect(RetryAfter.parse(header, nowUnixSeconds: example) == nil)
  }

  @Test("A leap second, a leap day and a wrong day of the week are read")
  func leniency() {
    #expect(RetryAfter.parse("Sat, 31 Dec 2016 23:59:60 GMT", nowUnixSeconds: 1_483_228_799) == 1_000_000)
    #expect(RetryAfter.parse("Tue, 29 Feb 2000 00:00:01 GMT", nowUnixSeconds: 951_782_400) == 1_000_000)
    #expect(RetryAfter.parse("Mon, 06 Nov 1994 08:49:37 GMT", nowUnixSeconds: example - 1) == 1_000_000)
    #expect(RetryAfter.parse("Mon Dec 31 23:59:59 2018", nowUnixSeconds: 1_546_300_798) == 1_000_000)
  }

  @Test("Two digits of a year mean at most 50 years ahead, else the past")
  func twoDigitYears() {
    let of2024: Int64 = 1_704_067_200  // 2024-01-01T00:00:00Z
    let of2074: Int64 = 3_281_990_400
    let day: Int64 = 86_400
    func wait(_ header: String, _ now: Int64) -> Int64? { RetryAfter.parse(header, nowUnixSeconds: now) }
    #expect(wait("Monday, 01-Jan-74 00:00:00 GMT", of2024) == (of2074 - of2024) * 1_000_000)
    #expect(wait("Monday, 01-Jan-74 00:00:01 GMT", of2024) == 0)
    #expect(wait("Sunday, 31-Dec-73 00:00:00 GMT", of2024) == (of2074 - day - of2024) * 1_000_000)
    #expect(wait("Friday, 01-Jan-99 00:00:00 GMT", of2024) == 0)
    // From the last days of a century into the next: 2099-12-31 to 2100-01-01.
    #expect(wait("Friday, 01-Jan-00 00:00:00 GMT", 4_102_358_400) == 86_400_000_000)
  }

  @Test("Dates agree with Foundation's calendar, from 1583 (the Gregorian reform) to 9999")
  func calendar() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    var gregorian = Calendar(identifier: .iso8601)
    gregorian.timeZone = formatter.timeZone
    formatter.calendar = gregorian
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let seed: UInt64 = 11
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let time = Int64(truncatingIfNeeded: random.next() % 265_614_854_400) - 12_212_553_600
      let header = formatter.string(from: Date(timeIntervalSince1970: Double(time)))
      #expect(RetryAfter.parse(header, nowUnixSeconds: time - 3) == 3_000_000, "seed \(seed): \(header)")
    }
  }

  @Test("Two-digit years agree with a walk over the centuries")
  func twoDigitYearsByBruteForce() {
    var utc = Calendar(identifier: .gregorian)
    utc.timeZone = TimeZone(identifier: "GMT")!
    let seed: UInt64 = 12
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let now = Int64(truncatingIfNeeded: random.next() % 8_000_000_000)  // 1970 … 2223
      let digits = Int(random.next() % 100)
      let limit = utc.date(byAdding: .year, value: 50, to: Date(timeIntervalSince1970: Double(now)))!
      let years = stride(from: 1800 + digits, through: 2500, by: 100)
      let dates = years.map { utc.date(from: DateComponents(year: $0, month: 3, day: 1))! }
      let expected = Int64(dates.last { $0 <= limit }!.timeIntervalSince1970)
      let header = "Sunday, 01-Mar-\(digits < 10 ? "0" : "")\(digits) 00:00:00 GMT"
      #expect(
        RetryAfter.parse(header, nowUnixSeconds: now) == max(0, expected - now) * 1_000_000,
        "seed \(seed): \(header) at \(now)")
    }
  }

  @Test("No clock makes it trap", arguments: [Int64.min, -62_167_219_201, -1, 0, 253_402_300_800, .max])
  func anyClock(now: Int64) {
    for header in [
      "Fri, 31 Dec 9999 23:59:60 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sunday, 29-Feb-00 08:49:37 GMT", "5", "-5",
    ] {
      if let wait = RetryAfter.parse(header, nowUnixSeconds: now) { #expect(wait >= 0) }
    }
  }
}
