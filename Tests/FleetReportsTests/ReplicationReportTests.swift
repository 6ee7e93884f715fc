import FleetExperiments
import FleetReports
import TestScenarios
import Testing

@Suite("The report of replications")
struct ReplicationReportTests {
  /// Three strategies of a synthetic fleet with a seed's own noise; the third loses events.
  static func comparison() throws -> Trial { try ofSixSeeds.get() }

  private static let ofSixSeeds = Result {
    let variants = ["wide <jitter>", "narrow", "dropper"].enumerated().map { i, name in
      Variant(
        name: name,
        scenario: .planted(duration: .seconds(10), incidents: [.outage(for: .seconds(600))], devices: i + 1))
    }
    return try Replications.run(
      variants, plan: ReplicationPlan(firstSeed: 1, count: 6), workers: 2
    ) { scenario, _, _ in
      let isTwin = scenario.tapi.incidents.isEmpty || scenario.isIdeal
      let devices = scenario.fleet[0].devices
      var record = SyntheticFleet.record(
        rows: 3_600, wave: devices == 2 ? 0.9 : 0.3, loses: devices == 3,
        outage: isTwin ? nil : 600..<1_200)
      let noise = Int64((scenario.seed &* 2_654_435_761) % 89)
      for i in record.series.rows.indices where !isTwin && i > 1_200 {
        record.series[i, .retries] += noise
        record.series[i, .backlogEvents] += noise * 30
      }
      record.cost.total[.attempts] += noise * 1_000
      return record
    }
  }

  private static func answer(_ comparison: Trial) -> Answer {
    let report = TrialReport(comparison)
    return report.answer(report.story)
  }

  static func render(_ comparison: Trial) -> String {
    Self.answer(comparison).html(
      title: "herd", question: "Which?", command: "fleetsim compare --seeds 6", scenarioJSON: "{}",
      version: "1.0")
  }

  @Test("It is well-formed, of one file, without script, and leads with the verdict")
  func document() throws {
    let html = Self.render(try Self.comparison())
    HTMLReportTests.check(html)
    try HTMLReportTests.check(
      html,
      has: [
        "aria-label=\"Verdict\"", "<dl class=\"story\">", "6 seeds, ",
        ">Round the incident</h2>", ">Results</h2>",
        "Differences to wide &lt;jitter&gt;",
        ">Offered load</h2>", ">Goodput</h2>", ">Backlog</h2>",
        "<summary>What the statistics mean</summary>", "<summary>What the words mean</summary>",
        "fleetsim compare --seeds 6",
      ])
  }

  @Test("Tables have intervals, curves have bands, and both tell their figures under the pointer")
  func intervals() throws {
    let comparison = try Self.comparison()
    let html = Self.render(comparison)
    for part in [
      "<br/>± ", "fill-opacity=\"0.30\"", "95 % band from ", "standard deviation ", " pairs, ",
    ] { #expect(html.contains(part), "\(part)") }
    let svg = ComparisonPicture(TrialReport(comparison)).svg
    PictureTests.check(svg)
    #expect(svg.contains("6 seeds, ") && svg.contains("mean and its 95\u{A0}% band"))
  }

  private static func whole(_ comparison: Trial) -> [String] {
    answer(comparison).text(width: 150, isWhole: true).split(separator: "\n").map(String.init)
  }

  @Test("The whole terminal has every criterion, and a star where a difference can be told apart")
  func terminal() throws {
    let comparison = try Self.comparison()
    let lines = Self.whole(comparison)
    #expect(lines.contains("Results"))
    #expect(lines.contains("Differences to wide <jitter>, seed by seed (* better or worse)"))
    #expect(lines.last?.hasPrefix("dropper") == true && lines.last?.contains("*") == true)
    // In short there are the criteria alone in which they differ.
    let columns = TrialReport(comparison).table.columns.dropFirst()
    #expect(!columns.isEmpty && columns.count <= 5)
    for place in columns.indices {
      #expect(Set(TrialReport(comparison).table.rows.map { $0[place] }).count > 1)
    }
  }

  @Test("There is no difference to a time that no run lived to see, and no star behind it")
  func neverRecovers() throws {
    let comparison = SyntheticFleet.trial(["today", "new"], seeds: 5) {
      $0.recoveryTime = $0.run == "today" ? nil : 60_000_000
    }
    let lines = Self.whole(comparison)
    let row = try #require(lines.last)
    #expect(lines.contains { $0.contains("never") } && row.hasPrefix("new") && row.contains(" – "))
    #expect(!row.contains("min"))
  }

  @Test("A single variant has means, but no differences and no ranks")
  func single() throws {
    let comparison = try Replications.run(
      [Variant(name: "alone", scenario: SearchReportTests.scenario)],
      plan: ReplicationPlan(firstSeed: 3, count: 3), workers: 1)
    let html = Self.render(comparison)
    #expect(HTMLReportTests.problem(in: html) == nil)
    #expect(!html.contains("Differences to") && !html.contains("<small>#"))
    // There is no incident.
    #expect(
      TrialReport(comparison).table.columns.map(\.title) == [
        "lost", "late", "99 % delivered", "requests/device/day",
      ])
  }
}
