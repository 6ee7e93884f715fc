import FleetExperiments
import FleetMetrics
import TestSupport
import Testing

@Suite("Baselines")
struct BaselineTests {
  private static let lower = "retries"
  private static let higher = "delivered_events"
  private static let neither = "answers_2xx"

  /// A metric of some runs then and now.
  private struct Step: Sendable {
    var metric = lower
    var tolerance = Metric.Tolerance.notSignificantlyWorse
    var then = noisy
    var now: [Double]
    var judgement: BaselineCheck.Change.Judgement
  }

  private static func summary(_ metric: String, _ value: Double) -> RunSummary {
    var summary = RunSummary(run: "s", seed: 1)
    switch metric {
    case lower: summary[.retries] = Int64(value)
    case higher: summary[.deliveredEvents] = Int64(value)
    default: summary[.answers2xx] = Int64(value)
    }
    return summary
  }

  private static func changes(from baseline: Baseline, to now: [RunSummary]) -> [BaselineCheck.Change] {
    BaselineCheck(baseline, now, interval: 0).metrics
  }

  private static let noisy: [Double] = [103, 96, 110, 88, 101, 95, 107, 99, 92, 105]

  private static let many = noisy.map { $0 * 1_000 }
  private static let up = noisy.map { $0 + 5 }
  private static let down = noisy.map { $0 - 5 }
  private static let steps =
    [
      // What every seed does, but hardly, is no regression: more than 1 % is.
      Step(then: many, now: many.map { $0 * 1.009 }, judgement: .tolerated),
      Step(then: many, now: many.map { $0 * 1.011 }, judgement: .worse),
      Step(tolerance: .relative(0), then: many, now: many.map { $0 * 1.009 }, judgement: .worse),
      // A step that every seed takes is significant; the direction says whether it is worse.
      Step(now: up, judgement: .worse), Step(now: down, judgement: .better),
      Step(metric: higher, now: up, judgement: .better), Step(metric: higher, now: down, judgement: .worse),
      // What the verdict does not decide by is told; better is better.
      Step(tolerance: .informational, now: up, judgement: .tolerated),
      Step(tolerance: .informational, now: down, judgement: .better),
      // A relative or absolute tolerance holds for the mean, up to its very limit.
      Step(tolerance: .relative(0.5), then: [100, 100], now: [200, 100], judgement: .tolerated),
      Step(tolerance: .relative(0.5), then: [100, 100], now: [201, 100], judgement: .worse),
      Step(tolerance: .relative(0.5), then: [100, 100], now: [0, 50], judgement: .better),
      Step(tolerance: .absolute(50), then: [100, 100], now: [200, 100], judgement: .tolerated),
      Step(tolerance: .absolute(49), then: [100, 100], now: [200, 100], judgement: .worse),
      Step(tolerance: .relative(0.5), then: [0, 0], now: [1, 0], judgement: .worse),
    ]
    + [up, down].flatMap { now in
      // What has no better side keeps the tolerance that somebody has given it.
      [
        Step(metric: neither, tolerance: .informational, now: now, judgement: .tolerated),
        Step(metric: neither, tolerance: .relative(0.01), now: now, judgement: .worse),
      ]
    }
    + [Metric.Tolerance.notSignificantlyWorse, .relative(0), .absolute(0)].map {
      Step(tolerance: $0, then: [100, 100], now: [100, 100], judgement: .unchanged)
    }

  @Test("a change is judged by its metric's direction and tolerance", arguments: steps)
  private func judged(_ step: Step) throws {
    let entry = Baseline.Entry(
      metric: step.metric, tolerance: step.tolerance, values: step.then.map(MetricValue.value))
    let baseline = Baseline(
      scenario: "s", overrides: [], seeds: SeedRange(first: 1, count: step.then.count), entries: [entry])
    let changes = Self.changes(from: baseline, to: step.now.map { Self.summary(step.metric, $0) })
    #expect(try #require(changes.first).judgement == step.judgement)
  }

  @Test("of checks on the same law with other draws at most one in twenty calls anything worse")
  func sameLaw() {
    var random = SeededGenerator(seed: 20)
    func summary() -> RunSummary {
      var summary = RunSummary.planted(recovery: 600 * (1 + 0.03 * random.normal()), within: 3_600)
      summary[.retries] = Int64(10_000 * (1 + 0.02 * random.normal()))
      summary[.firstAttempts] = 20_000
      // What stands at the last instant jumps by half of itself.
      summary[.backlogEvents] = Int64(50 * (1 + 0.3 * random.normal()))
      summary.secondsAboveCapacity = Int64(100 + 20 * random.normal())
      summary.excessLoadSeconds = 400 * (1 + 0.02 * random.normal())
      summary.attemptsAboveTwinPerDevice = 200 * (1 + 0.01 * random.normal())
      summary.affectedHorizon = 4_000_000_000
      summary.affectedDeliveryP99 = Int64(900e6 * (1 + 0.02 * random.normal()))
      summary[.droppedByAge] = random.uniform() < 0.3 ? Int64(random.uniform() * 20) : 0
      return summary
    }
    var alarms = 0
    let checks = TestDepth.cases(60, exhaustively: 200)
    for _ in 0..<checks {
      let (then, now) = ((0..<10).map { _ in summary() }, (0..<10).map { _ in summary() })
      if Self.check(then, now).metrics.contains(where: { $0.judgement == .worse }) { alarms += 1 }
    }
    #expect(alarms * 20 <= checks, "\(alarms) of \(checks)")
  }

  @Test("a recorded run failed as it did then")
  func failed() {
    let runs = [0, 20, 0, 20].map { (lost: Int64) in
      var run = RunSummary.planted(recovery: 100, within: 1_000, lost: lost, of: 100_000)
      run.affectedEvents = 1_000
      return run
    }
    let recorded = Self.record(runs, first: 7)
    #expect(recorded.failedSeeds == [8, 10])
    #expect(BaselineCheck(recorded, runs, interval: 1).failing == (2, 2))
  }

  @Test("a fleet that recovers no more is worse by what is left of the run")
  func censoring() throws {
    func runs(_ recoveries: Double?...) -> [RunSummary] {
      recoveries.map { .planted(recovery: $0, within: 1_000) }
    }
    let recorded = Self.record(runs(100, 110, 95, 105))
    let changes = Self.changes(from: recorded, to: runs(nil, nil, nil, nil))
    let recovery = try #require(changes.first { $0.column == "recovery_s" })
    #expect(recovery.judgement == .worse)
    #expect(recovery.difference.mean == 1_000 - 102.5)
    #expect(recovery.appearances == 0)
    #expect(recovery.figures.then.isNever == false && recovery.figures.now.isNever)
    // A tolerance says by how much a recovery may be later, not that there may be none.
    var tolerant = recorded
    for index in tolerant.entries.indices { tolerant.entries[index].tolerance = .relative(100) }
    let never = Self.changes(from: tolerant, to: runs(110, 100, 95, nil))
    #expect(never.first { $0.column == "recovery_s" }?.judgement == .worse)
    let back = Self.changes(from: Self.record(runs(nil, nil, nil, nil)), to: runs(100, 110, 95, 105))
    #expect(back.first { $0.column == "recovery_s" }?.judgement == .better)
  }

  @Test("a metric that has a value no more is worse where it is judged")
  func disappearance() throws {
    func summary(_ p99: Int64?) -> RunSummary {
      var summary = RunSummary(run: "s", seed: 1)
      summary.timeToDeliveryP99 = p99
      return summary
    }
    let name = "time_to_delivery_p99_s"
    for (tolerances, judgement) in [
      ([:], BaselineCheck.Change.Judgement.tolerated), ([name: Metric.Tolerance.absolute(1e9)], .worse),
    ] {
      let recorded = Self.record([summary(5), summary(6)], tolerances: tolerances)
      let changes = Self.changes(from: recorded, to: [summary(5), summary(nil)])
      let change = try #require(changes.first { $0.column == name })
      #expect(change.judgement == judgement)
      #expect(change.appearances == 1)
    }
  }

  /// A run with an incident: how many events it loses of 10,000, and after how many seconds of 1,000 it recovers.
  private static func run(lost: Int64, recovery: Int64?, attempts: Double = 10) -> RunSummary {
    var summary = RunSummary.planted(
      recovery: recovery.map(Double.init), within: 1_000, lost: lost, of: 10_000)
    summary.attemptsAboveTwinPerDevice = attempts
    return summary
  }

  private static func check(_ then: [RunSummary], _ now: [RunSummary]) -> BaselineCheck {
    BaselineCheck(record(then), now, interval: 1_000_000)
  }

  private static func record(
    _ runs: [RunSummary], first: UInt64 = 1, tolerances: [String: Metric.Tolerance] = [:]
  ) -> Baseline {
    Baseline(
      scenario: "s", overrides: [], seeds: SeedRange(first: first, count: runs.count), summaries: runs,
      tolerances: tolerances)
  }

  private static let recoveries: [Int64] = [303, 296, 310, 288, 301, 295, 307, 299, 292, 305]
  private static let well = recoveries.map { run(lost: 0, recovery: $0) }

  /// Runs now against the recorded ones, and which metrics are worse and better.
  private typealias Ranked = (then: [RunSummary], now: [RunSummary], worse: [String], better: [String]?)
  private static let unhealthy = well.map { run in
    var run = run
    run.baseline.grows = true
    return run
  }
  private static let ranked: [Ranked] = [
    // Nothing that ranks behind what is worse is called better; what ranks before it is.
    (
      well, recoveries.map { run(lost: 50 + $0 % 7, recovery: $0 / 3, attempts: 5) }, [MetricCatalogue.lost],
      []
    ),
    (
      well, recoveries.map { run(lost: 0, recovery: $0 / 3, attempts: 20) },
      [MetricCatalogue.attemptsAboveTwin], [MetricCatalogue.recovery]
    ),
    // A fleet that does not hold its load any more is worse before all else.
    (well, unhealthy, ["baseline_is_healthy"], nil), (unhealthy, well, [], ["baseline_is_healthy"]),
    (unhealthy, unhealthy, [], nil),
    // Every run loses one event of 10,000: not beyond what the verdict ignores.
    (well, well.map { _ in run(lost: 1, recovery: 300) }, [], nil),
    // One run of ten loses a batch of twenty: one clump.
    (well, well.enumerated().map { $0 == 4 ? run(lost: 20, recovery: 301) : $1 }, [], nil),
    (well, recoveries.map { run(lost: 20 + $0 % 3, recovery: $0) }, [MetricCatalogue.lost], nil),
  ]

  @Test("what is worse and better is told in the verdict's order", arguments: ranked)
  private func told(_ ranked: Ranked) {
    let check = Self.check(ranked.then, ranked.now)
    #expect(check.worse.map(\.column) == ranked.worse)
    if let better = ranked.better { #expect(check.better.map(\.column) == better) }
  }

  @Test("runs that fail are a criterion of their own, and too few of them are open")
  func failing() {
    func now(_ failing: Int) -> BaselineCheck {
      Self.check(
        Self.well,
        Self.recoveries.enumerated().map { Self.run(lost: 0, recovery: $0 < failing ? nil : $1) })
    }
    // McNemar: one-sided 2^-10 of ten out of ten, 2^-3 of three.
    #expect(now(10).worse.first?.column == "failing_runs")
    #expect(now(10).open == nil)
    #expect(now(3).worse.isEmpty)
    #expect(now(3).open.map { [$0.figures.then.text, $0.figures.now.text] } == ["0 of 10", "3 of 10"])
    #expect(now(3).failing == (0, 3) && now(3).runs.failureReasons == "not caught up")
    #expect(now(0).open == nil)
  }
}
