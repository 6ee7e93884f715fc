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
}
