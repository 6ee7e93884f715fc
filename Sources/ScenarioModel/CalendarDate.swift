import UploadRetry

/// A day of the Gregorian calendar, as `2026-11-24`.
public struct CalendarDate: Sendable, Hashable, CustomStringConvertible {
  /// 1970 … 9999.
  public let year: Int
  /// 1 … 12.
  public let month: Int
  /// 1 … 31, no later than the month's last.
  public let day: Int

  /// nil: the text is no day of 1970 to 9999 in this form.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map({ $0.utf8.count }) == [4, 2, 2],
      text.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      year >= 1970, (1...12).contains(month),
      (1...Int(HTTPDate.daysInMonth(Int64(month), year: Int64(year)))).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  public var description: String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month))-\(two(day))"
  }
}
