import ScenarioModel
import Testing

@Suite("Days of the calendar")
struct CalendarDateTests {
  @Test(
    "a day is written as it was read, and what is no day is not read",
    arguments: [
      ("2026-11-24", true), ("2024-02-29", true), ("2000-02-29", true), ("1970-01-01", true),
      ("9999-12-31", true),
      ("2026-02-29", false), ("2100-02-29", false), ("2026-04-31", false), ("2026-00-10", false),
      ("2026-13-01", false), ("2026-01-00", false), ("1969-12-31", false), ("2026-1-24", false),
      ("20261124", false),
      ("2026-11-24 ", false), ("+026-11-24", false), ("", false),
    ])
  func reading(text: String, isDay: Bool) {
    #expect(CalendarDate(text)?.description == (isDay ? text : nil))
  }

  // Seconds as `date -u -d DAY +%s` gives them.
  @Test(
    "a time since 1970 is on its day, to the last second",
    arguments: [
      (0, "1970-01-01"), (86_399.999, "1970-01-01"), (86_400, "1970-01-02"), (951_782_400, "2000-02-29"),
      (951_868_799, "2000-02-29"), (951_868_800, "2000-03-01"), (1_735_689_599, "2024-12-31"),
      (1_735_689_600, "2025-01-01"), (1_795_478_400, "2026-11-24"), (253_402_300_799, "9999-12-31"),
      (-5, "1970-01-01"), (1e18, "9999-12-31"),
    ])
  func times(seconds: Double, day: String) {
    #expect(CalendarDate(unixSeconds: seconds).description == day)
  }

  @Test("a day is more than a year old from the day after the same day of the next year on")
  func age() throws {
    func isOld(_ day: String, _ today: String) throws -> Bool {
      try #require(CalendarDate(day)).isOlderThanAYear(on: try #require(CalendarDate(today)))
    }
    #expect(try !isOld("2026-11-24", "2026-11-24"))
    #expect(try !isOld("2026-11-24", "2027-11-24"))
    #expect(try isOld("2026-11-24", "2027-11-25"))
    #expect(try isOld("2023-06-20", "2026-11-24"))
    #expect(try !isOld("2024-02-29", "2025-02-28") && isOld("2024-02-29", "2025-03-01"))
    #expect(try !isOld("2026-11-24", "2020-01-01"))
  }
}
