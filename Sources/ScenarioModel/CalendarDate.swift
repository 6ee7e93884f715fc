import UploadRetry

/// A day of the Gregorian calendar, as `2026-11-24`.
public struct CalendarDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 1970 … 9999.
  public let year: Int
  /// 1 … 12.
  public let month: Int
  /// 1 … 31, no later than the month's last.
  public let day: Int

  /// nil: the text is no day of 1970 to 9999 in this form.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      text.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      year >= 1970, (1...12).contains(month),
      (1...Int(HTTPDate.daysInMonth(Int64(month), year: Int64(year)))).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The day in UTC of a time since 1970; one outside of 1970 to 9999 is taken as the nearer end.
  public init(unixSeconds: Double) {
    let date = HTTPDate.civilDate(unixSeconds: Int64(min(max(unixSeconds, 0), 253_402_300_799)))
    (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
  }

  /// Whether more than a year lies between this day and a later one.
  public func isOlderThanAYear(on day: CalendarDate) -> Bool {
    (year + 1, month, self.day) < (day.year, day.month, day.day)
  }

  public static func < (a: Self, b: Self) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }

  public var description: String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month))-\(two(day))"
  }
}
