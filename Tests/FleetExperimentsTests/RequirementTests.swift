import FleetExperiments
import FleetMetrics
import Testing

@Suite("Requirements")
struct RequirementTests {
  /// A run that could be watched for an hour after its incident.
  private static func run(lost: Int64 = 0, recovery: Int64? = 600, healthy: Bool = true) -> RunSummary {
    var summary = RunSummary.planted(
      recovery: recovery.map(Double.init), within: 3_600, lost: lost, of: 10_000)
    summary.baseline.grows = !healthy
    return summary
  }

  private static func text(_ requirement: String, _ runs: [RunSummary]) throws -> String {
    try Requirement(requirement).outcome(of: runs).text
  }

  @Test("a limit is kept up to its very value, and the figure stands beside it")
  func oneRun() throws {
    #expect(try Self.text("recovery<=10m", [Self.run()]) == "✓ recovery <= 10m: 10 min")
    #expect(try Self.text("recovery < 10m", [Self.run()]) == "✗ recovery < 10m: 10 min")
    #expect(try Self.text("recovery_s >= 600", [Self.run()]) == "✓ recovery_s >= 600: 10 min")
    #expect(try Self.text("lost = 0", [Self.run()]) == "✓ lost = 0: 0")
    #expect(try Self.text("lost == 0", [Self.run(lost: 31)]) == "✗ lost = 0: 31")
    #expect(try Self.text("Lost ≤ 0.5%", [Self.run(lost: 31)]) == "✓ Lost <= 0.5%: 31 (0.31 % of all events)")
    #expect(try Self.text("health = true", [Self.run(healthy: false)]) == "✗ health = true: false")
    #expect(try Self.text("created_events > 9999", [Self.run()]) == "✓ created_events > 9999: 10,000")
  }

  @Test("a number of events is that of the whole fleet, a share and a time are what they are")
  func scaled() throws {
    var run = Self.run(lost: 31)
    run.scale = 1_000
    #expect(try Self.text("lost <= 30999", [run]) == "✗ lost <= 30999: 31,000")
    #expect(try Self.text("lost <= 31000", [run]) == "✓ lost <= 31000: 31,000")
    #expect(try Self.text("lost <= 0.5%", [run]) == "✓ lost <= 0.5%: 31,000 (0.31 % of all events)")
    #expect(try Self.text("recovery <= 10m", [run]) == "✓ recovery <= 10m: 10 min")
  }

  @Test("every run has to keep it, and the worst of them is told")
  func severalRuns() throws {
    let runs = [Self.run(recovery: 600), Self.run(lost: 7, recovery: 900), Self.run(recovery: 300)]
    #expect(try Self.text("recovery <= 20m", runs) == "✓ recovery <= 20m: 15 min at worst of 3 runs")
    #expect(
      try Self.text("recovery <= 10m", runs)
        == "✗ recovery <= 10m: 15 min at worst, not met in 1 of 3 runs")
    #expect(try Self.text("lost = 0", runs) == "✗ lost = 0: 7 at worst, not met in 1 of 3 runs")
    #expect(try Self.text("recovery > 5m", runs) == "✗ recovery > 5m: 5 min at worst, not met in 1 of 3 runs")
  }

  @Test("a fleet that does not come back keeps no limit on its recovery, however long")
  func never() throws {
    let outcome = try Requirement("recovery <= 10h").outcome(of: [Self.run(), Self.run(recovery: nil)])
    #expect(outcome.text == "✗ recovery <= 10h: not within 1 h at worst, not met in 1 of 2 runs")
    #expect(outcome.worst == nil)
    #expect(try Self.text("recovery <= 10m", [.planted(within: nil)]) == "✗ recovery <= 10m: no value")
  }

  @Test("a run whose incident affects no event keeps every limit on their delivery")
  func nothingAffected() throws {
    var (calm, late) = (Self.run(), Self.run())
    (calm.affectedEvents, calm.affectedHorizon) = (0, 3_600_000_000)
    #expect(
      try Self.text("affected-p99 <= 5m", [calm]) == "✓ affected-p99 <= 5m: no event is affected")
    (late.affectedHorizon, late.affectedDeliveryP99) = (3_600_000_000, 360_000_000)
    #expect(
      try Self.text("affected-p99 <= 5m", [calm, late, calm])
        == "✗ affected-p99 <= 5m: 6 min at worst, not met in 1 of 3 runs")
  }

  @Test("a figure that is printed as the limit itself is told to be over or under it")
  func nearTheLimit() throws {
    var run = Self.run(lost: 1)
    run.peakOfferedRatio = 1.003
    #expect(
      try Self.text("peak_offered_ratio <= 100%", [run]) == "✗ peak_offered_ratio <= 100%: over 1")
    #expect(try Self.text("peak_offered_ratio >= 1", [run]) == "✓ peak_offered_ratio >= 1: over 1")
    run.peakOfferedRatio = 1
    #expect(try Self.text("peak_offered_ratio <= 1", [run]) == "✓ peak_offered_ratio <= 1: 1")
    run[.createdEvents] = 10_000_000
    run[.droppedByRetryLimit] = 99_999
    #expect(
      try Self.text("lost <= 1%", [run]) == "✓ lost <= 1%: 99,999 (under 1 % of all events)")
  }

  @Test("losses are of events that never come, and break the requirements on them")
  func losses() throws {
    for (text, isOfLosses) in [
      ("lost = 0", true), ("lost_events = 0", true), ("undelivered_events = 0", true),
      ("dropped_by_age_events = 0", true), ("blocked_by_status_events = 0", true),
      ("devices_that_lost_events_ratio <= 1%", true), ("late = 0", false), ("created_events > 0", false),
      ("recovery <= 1h", false),
    ] {
      let requirement = try Requirement(text)
      #expect(requirement.isOfLosses == isOfLosses, "\(text)")
      #expect(requirement.isBrokenByLosses([Self.run()]) == isOfLosses, "\(text)")
    }
    #expect(try Requirement("failures = 0").isBrokenByLosses([Self.run(lost: 200)]))
    #expect(try !Requirement("failures = 0").isBrokenByLosses([Self.run(recovery: nil)]))
  }

  @Test("runs that never recover or lose more than 1 % fail, and their number or share has a limit")
  func failures() throws {
    let runs = [Self.run(recovery: nil), Self.run(lost: 101), Self.run(lost: 100), Self.run()]
    #expect(try Self.text("failures <= 50%", runs) == "✓ failures <= 50%: 2 of 4 runs")
    #expect(try Self.text("failures = 0", runs) == "✗ failures = 0: 2 of 4 runs")
  }

  @Test("the verdict's criteria have names of one word")
  func names() {
    #expect(
      Requirement.criteriaNames
        == "failures, health, lost, endpoint-well, recovery, late, affected-p99, extra-attempts")
    for name in ["affected p99", "affected_p99", "affected-p99", "affected_delivery_p99_s"] {
      #expect((try? Requirement("\(name) <= 1h")) != nil, "\(name)")
    }
  }

  @Test(
    "a text that is no requirement is refused with what would be right",
    arguments: [
      ("recovery", "a name, one of <= >= < > = and a limit, as in 'recovery <= 20m'"),
      ("recovry <= 20m", "neither a criterion (failures, health, lost, "),
      ("recovry <= 20m", "did you mean 'recovery'?"),
      ("run = 0", "'run' is a text, which has no limit"),
      ("recovery <= soon", "'soon' is no limit of 'recovery', which is a time: write 20m or 90s"),
      ("recovery <= 5%", "which is a time"),
      ("lost <= 20m", "which counts events: write 0, or 0.1% of the events created"),
      ("failures <= 20m", "which counts runs: write 0, or 5% of the runs"),
      ("peak_offered_ratio <= 1s", "which is a ratio: write 1.5 or 150%"),
      ("retries <= 5%", "which is in requests: write a number"),
      ("recovery <= 20", "'20' is no limit of 'recovery', which is a time: write 20m or 90s"),
      ("health = yes", "'health' is true or false, not 'yes'"),
      ("lost <= ", "'' is no limit of 'lost'"),
    ])
  func wrong(text: String, message: String) {
    let problem = #expect(throws: Requirement.Problem.self) { try Requirement(text) }
    #expect(problem?.description.contains(message) == true, "\(problem?.description ?? "")")
  }
}
