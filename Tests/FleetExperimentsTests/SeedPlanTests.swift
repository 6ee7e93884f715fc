import FleetExperiments
import FleetMetrics
import FleetStatistics
import TestSupport
import Testing

/// How many seeds a comparison takes by itself, and how often its verdict is wrong then, by brute force.
@Suite("Seeds until all is decided")
struct SeedPlanTests {
  /// What a run of a made-up fleet comes to.
  struct Law: Sendable, CustomStringConvertible {
    var recovery = 1_000.0
    /// Of a mean, the standard deviation of all figures.
    var spread = 0.1
    /// Mean number of clumps lost in a run.
    var clumps = 0.0
    /// Share of the runs that never recover.
    var failing = 0.0
    var description: String { "recovery \(recovery) ± \(spread), \(clumps) clumps, \(failing) fail" }

    func run(_ name: String, seed: Int, _ random: inout SeededGenerator) -> RunSummary {
      var run = VerdictTests.run(name, seed: UInt64(seed))
      func figure(_ mean: Double) -> Double { mean * max(0, 1 + spread * random.normal()) }
      let fails = random.uniform() < failing
      run.recoveryTime = fails ? nil : Int64(figure(recovery) * 1e6)
      run[.droppedByRetryLimit] = random.poisson(clumps) * 6
      run.affectedDeliveryP99 = Int64(figure(2_000) * 1e6)
      run.attemptsAboveTwinPerDevice = figure(100)
      return run
    }
  }

  static let metrics = MetricCatalogue.ranked.compactMap { MetricCatalogue.metric(named: $0) }

  /// What a comparison that goes on by itself ends with.
  func end(_ laws: [Law], budget: Int64 = .max, _ random: inout SeededGenerator) -> (
    standings: Standings, decision: SeedPlan.Decision
  ) {
    let names = laws.indices.map { "v\($0)" }
    let plan = SeedPlan(budget: budget)
    var rows = laws.map { _ in [RunSummary]() }
    var seeds = 1
    while true {
      for seed in rows[0].count..<seeds {
        for (variant, law) in laws.enumerated() {
          rows[variant].append(law.run(names[variant], seed: seed, &random))
        }
      }
      let standings = Standings(
        names, rows: rows, interval: 1_000_000, metrics: Self.metrics, level: SeedPlan.level)
      // An attempt a run.
      let decision = plan.decision(standings, attempts: Int64(seeds * laws.count))
      guard let next = decision.next else { return (standings, decision) }
      seeds = next
    }
  }

  @Test("looks double from 15 seeds on, and the first seed tells how many the budget carries")
  func looks() {
    let plan = SeedPlan(budget: 1_000)
    #expect(plan.next(after: 1, attempts: 1) == 15 && plan.next(after: 15, attempts: 15) == 30)
    #expect(plan.next(after: 480, attempts: 480) == nil)
    // 125 attempts a seed: eight seeds, and then no more.
    #expect(plan.next(after: 1, attempts: 125) == 8 && plan.next(after: 8, attempts: 1_000) == nil)
    #expect(plan.next(after: 1, attempts: 501) == nil)
    #expect(plan.next(after: 15, attempts: 15 * 56) == nil && plan.next(after: 15, attempts: 15 * 50) == 20)
    #expect(plan.next(after: 1, attempts: 0) == 15)
  }

  @Test("over all looks and criteria the chance of a false winner adds up to less than 5 %")
  func level() {
    // Failures, lost, endpoint well, recovery, late, affected p99, attempts.
    #expect(Double(SeedPlan.looks.count * 7) * SeedPlan.level.difference < 0.05)
    #expect(Double(SeedPlan.looks.count) * SeedPlan.level.equivalence < 0.05)
    #expect(
      SeedPlan.looks.contains { $0 >= ExactBinomial.trials(excluding: MetricRule.relevantRisk) && $0 < 61 })
  }

  @Test(
    "of variants of one law fewer than one comparison in twenty gets a winner, wherever it ends",
    arguments: [
      Law(spread: 0.04), Law(spread: 0.3), Law(spread: 0.6, clumps: 0.2), Law(spread: 0.1, clumps: 3),
      Law(spread: 0.1, failing: 0.1), Law(spread: 0.3, clumps: 0.05, failing: 0.5),
    ], [2, 4])
  func falseWinners(law: Law, variants: Int) {
    var random = SeededGenerator(seed: UInt64(variants))
    let trials = TestDepth.cases(3, exhaustively: 60, wholly: 160)
    var wrong = 0
    for trial in 0..<trials {
      let budget = [Int64.max, 100, 400, .max][trial % 4]
      let end = end(Array(repeating: law, count: variants), budget: budget, &random)
      if end.standings.leaders.count < variants { wrong += 1 }
    }
    #expect(wrong * 20 <= trials, "\(wrong) of \(trials)")
  }

  @Test(
    "a difference that matters is named in the right direction or called open, and never as good",
    arguments: [(1.06, 0.05), (1.1, 0.05), (1.2, 0.2), (1.5, 0.2), (1.2, 0.5)])
  func directions(ratio: Double, spread: Double) {
    var random = SeededGenerator(seed: UInt64(ratio * 100 + spread * 10))
    let trials = TestDepth.cases(4, exhaustively: 60, wholly: 160)
    var (found, wrong, asGood) = (0, 0, 0)
    for _ in 0..<trials {
      let end = end([Law(spread: spread), Law(recovery: 1_000 * ratio, spread: spread)], &random)
      let standing = end.standings.pair(1, against: 0).standing
      if standing == .worse { found += 1 }
      if standing == .better { wrong += 1 }
      if standing == .asGood { asGood += 1 }
      // What is open says how many seeds are missing.
      if end.standings.seeds == 480 { #expect(end.decision.isDecided || end.decision.missing != nil) }
    }
    #expect(wrong == 0 && asGood * 20 <= trials, "\(wrong) wrong, \(asGood) as good")
    if ratio >= 1.2, spread <= 0.2 { #expect(found == trials) }
  }

  @Test("a failure in a tenth of the runs is found, or said to be open", arguments: [Int64.max, 120, 40])
  func catastrophes(budget: Int64) {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: budget) % 1_000)
    let trials = TestDepth.cases(10, exhaustively: 100, wholly: 200)
    var (missed, found) = (0, 0)
    for _ in 0..<trials {
      // What fails is twice as fast where it does not.
      let end = end(
        [Law(recovery: 500, spread: 0.05, failing: 0.1), Law(spread: 0.05)], budget: budget, &random)
      if end.standings.pair(1, against: 0).standing == .better { found += 1 }
      if end.decision.isDecided, end.standings.leaders.contains(0) { missed += 1 }
    }
    #expect(missed * 100 <= trials, "\(missed) of \(trials)")
    if budget == .max { #expect(found * 10 >= trials * 9, "\(found) of \(trials)") }
  }

  @Test("the number of seeds said to be missing is about the one that decides, of which it has seen a tenth")
  func missing() {
    var random = SeededGenerator(seed: 3)
    let told = (0..<31).compactMap { _ -> Int? in
      // Differences of affected p99 and attempts vary by √2 · 30 %, 8.5 times what matters: 8.5 · 2.41 / √n = 1.
      let end = end([Law(spread: 0.3), Law(recovery: 1_200, spread: 0.3)], budget: 80, &random)
      return end.decision.missing.map { end.standings.seeds + $0 }
    }
    let median = told.sorted()[told.count / 2]
    #expect(told.count == 31 && median > 420 / 3 && median < 420 * 3, "\(told)")
  }

  @Test("nothing is open between variants that give the same figures, nor of a fleet that does not hold")
  func nothingToDecide() {
    let rows = ["a", "b"].map { name in (0..<15).map { VerdictTests.run(name, seed: UInt64($0)) } }
    #expect(Standings(["a", "b"], rows: rows, interval: 1).open.isEmpty)
    #expect(!Standings(["a", "b"], rows: rows.map { [$0[0]] }, interval: 1).open.isEmpty)
    let ill = VerdictTests.run("a", healthy: false)
    #expect(Standings(["a", "b"], rows: [[ill], [ill]], interval: 1).open.isEmpty)
  }
}
