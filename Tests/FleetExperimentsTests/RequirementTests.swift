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

  /// A run whose incident affects events, 99 % of which are delivered within so many seconds; nil: it affects none.
  private static func affected(_ seconds: Int64?) -> RunSummary {
    var run = Self.run()
    run.affectedHorizon = 3_600_000_000
    if let seconds { run.affectedDeliveryP99 = seconds * 1_000_000 } else { run.affectedEvents = 0 }
    return run
  }

  private static func offered(_ ratio: Double) -> RunSummary {
    var run = Self.run()
    run.peakOfferedRatio = ratio
    return run
  }

  private static let scaled: RunSummary = {
    var run = Self.run(lost: 31)
    run.scale = 1_000
    return run
  }()

  private static let outcomes: [(requirement: String, runs: [RunSummary], outcome: String)] = {
    let several = [run(recovery: 600), run(lost: 7, recovery: 900), run(recovery: 300)]
    let failing = [run(recovery: nil), run(lost: 101), run(lost: 100), run()]
    let under = RunSummary.planted(recovery: 600, within: 3_600, lost: 99_999, of: 10_000_000)
    return [
      // A limit is kept up to its very value.
      ("recovery<=10m", [run()], "✓ recovery <= 10m: 10 min"),
      ("recovery < 10m", [run()], "✗ recovery < 10m: 10 min"),
      ("recovery_s >= 600", [run()], "✓ recovery_s >= 600: 10 min"),
      ("lost == 0", [run(lost: 31)], "✗ lost = 0: 31"),
      ("Lost ≤ 0.5%", [run(lost: 31)], "✓ Lost <= 0.5%: 31 (0.31 % of all events)"),
      ("health = true", [run(healthy: false)], "✗ health = true: false"),
      ("health", [run()], "✓ health = true: true"),
      ("created_events > 9999", [run()], "✓ created_events > 9999: 10,000"),
      // A number of events is that of the whole fleet, a share and a time are what they are.
      ("lost <= 30999", [scaled], "✗ lost <= 30999: 31,000"),
      ("lost <= 31000", [scaled], "✓ lost <= 31000: 31,000"),
      ("lost <= 0.5%", [scaled], "✓ lost <= 0.5%: 31,000 (0.31 % of all events)"),
      ("recovery <= 10m", [scaled], "✓ recovery <= 10m: 10 min"),
      // Every run has to keep it, and the worst of them is told.
      ("recovery <= 20m", several, "✓ recovery <= 20m: 15 min at worst of 3 runs"),
      ("recovery <= 10m", several, "✗ recovery <= 10m: 15 min at worst, not met in 1 of 3 runs"),
      ("lost = 0", several, "✗ lost = 0: 7 at worst, not met in 1 of 3 runs"),
      ("recovery > 5m", several, "✗ recovery > 5m: 5 min at worst, not met in 1 of 3 runs"),
      // A fleet that does not come back keeps no limit on its recovery, however long.
      (
        "recovery <= 10h", [run(), run(recovery: nil)],
        "✗ recovery <= 10h: not within 1 h at worst, not met in 1 of 2 runs"
      ),
      ("recovery <= 10m", [.planted(within: nil)], "✗ recovery <= 10m: no value"),
      // A run whose incident affects no event keeps every limit on their delivery.
      ("affected-p99 <= 5m", [affected(nil)], "✓ affected-p99 <= 5m: no event is affected"),
      (
        "affected-p99 <= 5m", [affected(nil), affected(360), affected(nil)],
        "✗ affected-p99 <= 5m: 6 min at worst, not met in 1 of 3 runs"
      ),
      // A figure that is printed as the limit itself is told to be over or under it.
      ("peak_offered_ratio <= 100%", [offered(1.003)], "✗ peak_offered_ratio <= 100%: over 1"),
      ("peak_offered_ratio >= 1", [offered(1.003)], "✓ peak_offered_ratio >= 1: over 1"),
      ("peak_offered_ratio <= 1", [offered(1)], "✓ peak_offered_ratio <= 1: 1"),
      ("lost <= 1%", [under], "✓ lost <= 1%: 99,999 (under 1 % of all events)"),
      // Runs that never recover or lose more than 1 % fail, and their number or share has a limit.
      ("failures <= 50%", failing, "✓ failures <= 50%: 2 of 4 runs"),
      ("failures = 0", failing, "✗ failures = 0: 2 of 4 runs"),
    ]
  }()

  @Test("a requirement says whether it is kept, with the figure beside it", arguments: outcomes)
  func text(requirement: String, runs: [RunSummary], outcome: String) throws {
    let found = try Requirement(requirement).outcome(of: runs)
    #expect(found.text == outcome)
    if runs.last?.recoveryTime == nil { #expect(found.worst == nil) }
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

  @Test("the verdict's criteria have names of one word")
  func names() {
    #expect(
      Requirement.criteriaNames
        == "failures, health, lost, endpoint-well, recovery, late, affected-p99, extra-attempts")
    for name in ["affected p99", "affected_p99", "affected-p99", "affected_delivery_p99_s"] {
      #expect((try? Requirement("\(name) <= 1h")) != nil, "\(name)")
    }
  }
}
