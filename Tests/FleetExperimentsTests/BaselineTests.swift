import FleetExperiments
import FleetMetrics
import TestSupport
import Testing

@Suite("Baselines")
struct BaselineTests {
  private static let lower = "retries"
  private static let higher = "delivered_events"
  private static let neither = "answers_2xx"

  private static func change(
    _ metric: String, _ tolerance: Metric.Tolerance, then: [Double], now: [Double], others: [String] = []
  ) throws -> BaselineCheck.Change {
    let entries = ([metric] + others).map {
      Baseline.Entry(metric: $0, tolerance: tolerance, values: then.map(MetricValue.value))
    }
    let baseline = Baseline(
      scenario: "s", overrides: [], seeds: SeedRange(first: 1, count: then.count), entries: entries)
    return try #require(changes(from: baseline, to: now.map { summary(metric, $0) }).first)
  }

  private static func changes(from baseline: Baseline, to now: [RunSummary]) -> [BaselineCheck.Change] {
    BaselineCheck(baseline, now, interval: 0).metrics
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

  private static let noisy: [Double] = [103, 96, 110, 88, 101, 95, 107, 99, 92, 105]

  @Test("what every seed does, but hardly, is no regression: it has to be more than 1 %")
  func relevance() throws {
    let many = Self.noisy.map { $0 * 1_000 }
    func judge(_ share: Double, _ tolerance: Metric.Tolerance) throws -> BaselineCheck.Change.Judgement {
      try Self.change(Self.lower, tolerance, then: many, now: many.map { $0 * (1 + share) }).judgement
    }
    #expect(try judge(0.009, .notSignificantlyWorse) == .tolerated)
    #expect(try judge(0.011, .notSignificantlyWorse) == .worse)
    #expect(try judge(0.009, .relative(0)) == .worse)
  }

  @Test("a step that every seed takes is significant; the direction says whether it is worse")
  func directions() throws {
    let up = Self.noisy.map { $0 + 5 }
    let down = Self.noisy.map { $0 - 5 }
    func judge(_ metric: String, _ now: [Double]) throws -> BaselineCheck.Change.Judgement {
      try Self.change(metric, .notSignificantlyWorse, then: Self.noisy, now: now).judgement
    }
    #expect(try judge(Self.lower, up) == .worse)
    #expect(try judge(Self.lower, down) == .better)
    #expect(try judge(Self.higher, up) == .better)
    #expect(try judge(Self.higher, down) == .worse)
    // What the verdict does not decide by is told; better is better.
    #expect(try Self.change(Self.lower, .informational, then: Self.noisy, now: up).judgement == .tolerated)
    #expect(try Self.change(Self.lower, .informational, then: Self.noisy, now: down).judgement == .better)
    // What has no better side keeps the tolerance that somebody has given it.
    for (tolerance, judgement) in [
      (Metric.Tolerance.informational, BaselineCheck.Change.Judgement.tolerated), (.relative(0.01), .worse),
    ] {
      for now in [up, down] {
        #expect(try Self.change(Self.neither, tolerance, then: Self.noisy, now: now).judgement == judgement)
      }
    }
  }

  @Test("a relative or absolute tolerance holds for the mean, up to its very limit")
  func limits() throws {
    let then: [Double] = [100, 100]
    func judge(_ tolerance: Metric.Tolerance, _ now: [Double]) throws -> BaselineCheck.Change.Judgement {
      try Self.change(Self.lower, tolerance, then: then, now: now).judgement
    }
    #expect(try judge(.relative(0.5), [200, 100]) == .tolerated)
    #expect(try judge(.relative(0.5), [201, 100]) == .worse)
    #expect(try judge(.relative(0.5), [0, 50]) == .better)
    #expect(try judge(.absolute(50), [200, 100]) == .tolerated)
    #expect(try judge(.absolute(49), [200, 100]) == .worse)
    for tolerance in [Metric.Tolerance.notSignificantlyWorse, .relative(0), .absolute(0)] {
      #expect(try judge(tolerance, then) == .unchanged)
    }
    #expect(try Self.change(Self.lower, .relative(0.5), then: [0, 0], now: [1, 0]).judgement == .worse)
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

  private static func names(_ changes: [BaselineCheck.Change]) -> [String] { changes.map(\.column) }

  private static let recoveries: [Int64] = [303, 296, 310, 288, 301, 295, 307, 299, 292, 305]
  private static let well = recoveries.map { run(lost: 0, recovery: $0) }

  @Test("nothing that ranks behind what is worse is called better; what ranks before it is")
  func following() {
    let lossy = Self.recoveries.map { Self.run(lost: 50 + $0 % 7, recovery: $0 / 3, attempts: 5) }
    let worse = Self.check(Self.well, lossy)
    #expect(Self.names(worse.worse) == [MetricCatalogue.lost])
    #expect(Self.names(worse.better).isEmpty)
    let costly = Self.recoveries.map { Self.run(lost: 0, recovery: $0 / 3, attempts: 20) }
    let traded = Self.check(Self.well, costly)
    #expect(Self.names(traded.worse) == [MetricCatalogue.attemptsAboveTwin])
    #expect(Self.names(traded.better) == [MetricCatalogue.recovery])
  }

  @Test("runs that fail are a criterion of their own, and too few of them are open")
  func failing() {
    func now(_ failing: Int) -> BaselineCheck {
      Self.check(
        Self.well,
        Self.recoveries.enumerated().map { Self.run(lost: 0, recovery: $0 < failing ? nil : $1) })
    }
    // McNemar: one-sided 2^-10 of ten out of ten, 2^-3 of three.
    #expect(Self.names(now(10).worse).first == "failing_runs")
    #expect(now(10).open == nil)
    #expect(Self.names(now(3).worse).isEmpty)
    #expect(now(3).open.map { [$0.figures.then.text, $0.figures.now.text] } == ["0 of 10", "3 of 10"])
    #expect(now(3).failing == (0, 3) && now(3).runs.failureReasons == "not caught up")
    #expect(now(0).open == nil)
  }

  @Test("a fleet that does not hold its load any more is worse before all else")
  func health() {
    let now = Self.well.map { run in
      var run = run
      run.baseline.grows = true
      return run
    }
    #expect(Self.names(Self.check(Self.well, now).worse) == ["baseline_is_healthy"])
    #expect(Self.names(Self.check(now, Self.well).better) == ["baseline_is_healthy"])
    #expect(Self.names(Self.check(now, now).worse).isEmpty)
  }

  @Test("a stray lost event is no regression, a share of the events is")
  func strayEvent() {
    // Every run loses one event of 10,000: not beyond what the verdict ignores.
    #expect(
      Self.names(Self.check(Self.well, Self.well.map { _ in Self.run(lost: 1, recovery: 300) }).worse).isEmpty
    )
    // One run of ten loses a batch of twenty: one clump.
    let one = Self.well.enumerated().map { $0 == 4 ? Self.run(lost: 20, recovery: 301) : $1 }
    #expect(Self.names(Self.check(Self.well, one).worse).isEmpty)
    #expect(
      Self.names(
        Self.check(Self.well, Self.recoveries.map { Self.run(lost: 20 + $0 % 3, recovery: $0) }).worse)
        == [MetricCatalogue.lost])
  }
}
