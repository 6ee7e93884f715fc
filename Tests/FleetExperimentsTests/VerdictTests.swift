import FleetExperiments
import FleetMetrics
import FleetStatistics
import TestSupport
import Testing

/// Stories in the order of definitions.md: each says who should win, why, and what the sentence
/// has to admit.
@Suite("The verdict")
struct VerdictTests {
  static let second: Int64 = 1_000_000

  /// A run that recovers after `recovery` seconds, with everything delivered.
  func run(
    _ name: String, recovery: Int64? = 300, lost: Int64 = 0, blocked: Int64 = 0, late: Int64 = 0,
    p99: Int64? = 600, attempts: Double = 100, healthy: Bool = true, incidents: Bool = true, seed: UInt64 = 1
  ) -> RunSummary {
    var run = RunSummary.planted(
      name, seed: seed, recovery: recovery.map(Double.init), within: incidents ? 6_000 : nil, lost: lost,
      of: 100_000)
    run.healthyTime = incidents ? 300 * Self.second : nil
    run[.settledBatches] = 50_000
    run[.blockedEvents] = blocked
    run.lateEvents = late
    run.affectedHorizon = 6_600 * Self.second
    run.affectedDeliveryP99 = p99.map { $0 * Self.second }
    run.attemptsAboveTwinPerDevice = incidents ? attempts : 0
    run.cost.mean[.attempts] = attempts
    run.baseline.grows = !healthy
    return run
  }

  /// Of a seed each.
  func standings(_ runs: [RunSummary], interval: Int64 = 1) -> Standings {
    Standings(runs.map(\.run), rows: runs.map { [$0] }, interval: interval * Self.second)
  }
  func story(_ runs: RunSummary...) -> Story { standings(runs).story }
  /// The name of the metric that decides between the first two, or leaves them open, and who is ahead.
  func decision(_ runs: RunSummary...) -> (best: [String], by: String?) {
    let standings = standings(runs)
    let criterion = standings.pair(0, against: 1).criterion
    let name =
      if case .metric(let index)? = criterion {
        standings.metrics.metrics[index].name
      } else {
        criterion.map { "\($0)" }
      }
    return (standings.leaders.map { standings.variants[$0] }, name)
  }

  @Test("a fleet that does not hold without incidents is said first, and nothing is ranked")
  func unhealthy() {
    let text = story(run("full", healthy: false), run("none", recovery: 1, healthy: false))
    #expect(text.finding == "This fleet does not hold its load even without any incident")
    #expect(text.lines.map(\.subject) == [.unwell])
    #expect(text[.unwell] == ["full and none: its backlog or time to delivery grows over the run"])
  }

  @Test("one variant without a healthy twin is named and ranked behind, however fast it seems")
  func oneUnhealthy() {
    let text = story(run("1000/s", recovery: 1, healthy: false), run("4000/s", recovery: 400))
    #expect(text.finding == "Use 4000/s")
    #expect(text[.unwell] == ["1000/s: its backlog or time to delivery grows over the run"])
    #expect(text[.reason] == ["the fleet holds without incidents; does not hold with 1000/s"])
  }

  @Test("an endpoint that is well sooner decides before the data does")
  func twoTimes() {
    var (best, other) = (run("full", recovery: 3_240), run("none", recovery: 2_000))
    (best.healthyTime, other.healthyTime) = (420 * Self.second, 900 * Self.second)
    let text = story(best, other)
    #expect(text.finding == "Use full")
    #expect(text[.reason] == ["endpoint well after 7 min; 15 min with none"])
    #expect(text[.price] == ["caught up after 54 min; 33 min 20 s with none"])
  }

  @Test(
    "beside a recovery stands how soon any client could have caught up, or that the server is busy throughout"
  )
  func possible() {
    func text(_ recovery: Int64?, possible: Int64?, idle: Double = 100) -> [String] {
      var run = run("full", recovery: recovery)
      run.possibleTime = possible.map { $0 * Self.second }
      run.idleWhileBackloggedSeconds = idle
      return story(run)[.possible]
    }
    #expect(text(316, possible: 300) == ["caught up after 5 min at this capacity"])
    #expect(text(nil, possible: 300) == text(316, possible: 300))
    #expect(text(317, possible: 1) == ["caught up at once at this capacity"])
    #expect(text(317, possible: nil) == [])
    // 60 s of capacity unused is 1 % of the 6,000 s after the incident.
    #expect(text(nil, possible: nil, idle: 61) == [])
    #expect(text(nil, possible: nil, idle: 60).count == 1)
  }

  @Test("one seed of a fleet that recovers and one that does not decide nothing: each is one throw of a die")
  func oneRecovers() {
    let text = story(run("none", recovery: nil, late: 90_000), run("full", recovery: 1_845))
    #expect(text.finding == "Not decided between none and full")
    #expect(text[.open].first == "failed runs: 1 of 1 with none, 0 of 1 with full")
  }

  @Test(
    "what is lost or blocked counts before any recovery time", arguments: [(900, 0), (0, 900), (500, 400)])
  func lost(lost: Int64, blocked: Int64) {
    let text = story(
      run("dropper", recovery: 10, lost: lost, blocked: blocked), run("full", recovery: 900))
    #expect(text.finding == "Use full")
    #expect(text[.reason] == ["0 events lost; 900 with dropper"])
    // The price is told.
    #expect(text[.price] == ["caught up after 15 min; 10 s with dropper"])
  }

  @Test("what is late counts behind the recovery time, before the affected events' p99")
  func late() {
    let sooner = decision(run("tardy", recovery: 10, late: 900), run("full", recovery: 900))
    #expect(sooner == (["tardy"], MetricCatalogue.recovery))
    #expect(
      story(run("tardy", recovery: 10, late: 900), run("full", recovery: 900))[.price]
        == ["900 events late; 0 with full"])
    let less = decision(run("tardy", late: 900, p99: 100), run("full", p99: 900))
    #expect(less == (["full"], MetricCatalogue.late))
  }

  @Test(
    "a loss of more than 1 % fails a run, which is compared first; of one run the count of events decides")
  func losesTooMuch() {
    let one = decision(run("dropper", recovery: 10, lost: 1_100), run("full", recovery: 900))
    #expect(one == (["full"], MetricCatalogue.lost))
    let rows = [1_100, 0].map { lost in (0..<8).map { run("v", recovery: 900 - lost, lost: lost, seed: $0) } }
    let standings = Standings(["dropper", "full"], rows: rows, interval: Self.second)
    #expect(standings.pair(1, against: 0) == (.better, .failures))
  }

  @Test(
    "a run fails by more than 1 % of the affected events beyond its twin's losses, however long it is watched",
    arguments: [(10, 0, false), (11, 0, true), (510, 500, false), (511, 500, true)], [1_000, 100_000])
  func failsByAffected(_ losses: (lost: Int64, twin: Int64, fails: Bool), created: Int64) {
    var run = RunSummary.planted(recovery: 10, within: 600, lost: losses.lost, of: created)
    run.affectedEvents = 1_000
    run.baseline.lostEvents = losses.twin
    #expect(run.fails == losses.fails)
    run.recoveryTime = nil
    #expect(run.fails)
  }

  @Test("the recovery time decides among those that deliver, and the next best is told first")
  func recoveryTime() {
    let text = story(
      run("none", recovery: 4_755), run("additive:10", recovery: 2_160),
      run("full", recovery: 750, p99: 425))
    #expect(text.finding == "Use full")
    #expect(text[.reason] == ["caught up after 12 min 30 s; 36 min with additive:10, 1 h 19 min with none"])
  }

  @Test("the affected events' p99 decides when recovery does not, and one longer than the run is the longest")
  func timeToDelivery() {
    let judged = (["full"], MetricCatalogue.affectedDelivery)
    #expect(decision(run("equal", recovery: 301, p99: 800), run("full", recovery: 300, p99: 600)) == judged)
    #expect(decision(run("equal", p99: nil), run("full", p99: 600)) == judged)
    #expect(
      story(run("equal", p99: nil), run("full", p99: 600))[.reason]
        == ["99 % delivered after 10 min; > 1 h 50 min with equal"])
  }

  @Test("attempts decide last: above the twin's where there is an incident, else all of them")
  func attempts() {
    let extra = decision(run("equal", attempts: 140), run("full", attempts: 1_100.25))
    #expect(extra == (["equal"], MetricCatalogue.attemptsAboveTwin))
    let all = story(
      run("gate", recovery: nil, attempts: 90, incidents: false),
      run("timer", recovery: nil, attempts: 30, incidents: false))
    #expect(all.finding == "Best: timer")
    #expect(all[.reason] == ["30 requests a device and day; 90 with gate"])
  }

  @Test("one seed shows nothing to be as good, and a winner only from 20 % on")
  func ties() {
    let equal = story(
      run("full", recovery: 300), run("equal", recovery: 304), run("decorrelated", recovery: 306))
    #expect(equal.finding == "Not decided between full, equal and decorrelated")
    let near = decision(run("full", recovery: 300), run("equal", recovery: 345))
    #expect(near == (["full", "equal"], MetricCatalogue.recovery))
    #expect(decision(run("full", recovery: 300), run("equal", recovery: 361)).best == ["full"])
    // What differs by less than matters leaves the decision to a later criterion.
    #expect(decision(run("full", recovery: 300), run("equal", recovery: 304, attempts: 900)).best == ["full"])
  }

  @Test("ten seeds show that variants are as good as each other, and the story says from what on")
  func asGood() {
    let rows = (0..<2).map { variant in
      (0..<10).map { run("v", recovery: 300 + ($0 * 7 + Int64(variant) * 3) % 5, seed: UInt64($0)) }
    }
    let standings = Standings(["full", "equal"], rows: rows, interval: Self.second)
    #expect(standings.pair(1, against: 0) == (.asGood, nil))
    let text = standings.story
    #expect(text.title == "No difference that matters between full and equal (10 seeds)")
    #expect(text[.same] == ["differences below 5 % do not matter"])
    // By 6 % and half of an interval.
    let close = [300, 319].map { recovery in
      (0..<10).map { run("v", recovery: recovery, seed: UInt64($0)) }
    }
    let within = Standings(["full", "equal"], rows: close, interval: 40 * Self.second)
    #expect(within.story[.same] == ["differences below 5 % or the interval of 40 s do not matter"])
    // 1 − 0.05^(1/10).
    #expect(text[.risk] == ["none of 10 runs fails; up to 25.9 % may (95 % confidence)"])
  }

  @Test(
    "recovery times within an interval of the series are equal, however short they are", arguments: [10, 1])
  func interval(intervalSeconds: Int64) {
    let standings = standings(
      [run("full", recovery: 20), run("equal", recovery: 28)], interval: intervalSeconds)
    #expect((standings.leaders.count == 2) == (intervalSeconds == 10))
  }

  @Test("a few events among many are no reason, and below 1/10,000 of those created they block none")
  func fewEvents() {
    func best(_ a: RunSummary, _ b: RunSummary) -> [String] { decision(a, b).best }
    let both = ["a", "b"]
    #expect(best(run("a", lost: 0), run("b", lost: 7)) == both)
    // Three standard errors of 40 + 10, lost in batches of two: 3 · √100 = 30, and one seed asks for twice that.
    #expect(best(run("a", lost: 10), run("b", lost: 50)) == both)
    #expect(decision(run("a", lost: 0), run("b", lost: 400)) == (["a"], MetricCatalogue.lost))
    // Of 100,000 created 10 matter.
    #expect(
      decision(run("a", recovery: 400), run("b", recovery: 100, lost: 3)) == (["b"], MetricCatalogue.recovery)
    )
    #expect(best(run("a", recovery: 400), run("b", recovery: 100, lost: 40)) == both)
    // One clump of 9 may be 4.74 of them (Garwood): 42.7 events, 4.3 times what matters, and attempts differ by less.
    #expect(best(run("a", attempts: 120.8), run("b", lost: 9, attempts: 100.5)) == both)
  }

  @Test("if nobody recovers, that is said beside who is least bad")
  func nobodyRecovers() {
    let text = story(run("none", recovery: nil, lost: 5_000), run("full", recovery: nil, lost: 900))
    #expect(text.finding == "Best: full")
    #expect(text[.reason] == ["900 events lost; 5,000 with none"])
    #expect(text[.fails] == ["no variant catches up in any run"])
  }

  @Test("a single run says first whether it recovers")
  func single() {
    #expect(story(run("plain", recovery: 312, lost: 1)).title == "Caught up after 5 min 12 s (one seed)")
    #expect(story(run("plain", recovery: nil)).finding == "Never caught up within the run")
    #expect(
      story(run("plain", recovery: nil, incidents: false)).finding
        == "The fleet holds its load; there is no incident")
    #expect(
      story(run("plain", recovery: 3, healthy: false)).finding
        == "This fleet does not hold its load even without any incident")
  }

  @Test("the order of the variants changes nothing but the order of names in a tie")
  func orderIndependent() {
    let runs = [
      run("a", recovery: 5_000), run("b", lost: 700), run("c", recovery: 100),
      run("d", recovery: 180, p99: 1),
    ]
    #expect(standings(runs).story.finding == "Use c")
    #expect(standings(runs.reversed()).story == standings(runs).story)
  }

  // MARK: Several seeds

  @Test(
    "failing in 10 of 10 runs against none is decided, exactly by McNemar; 6 of 10 against none is not")
  func mcNemar() {
    func standing(_ onlyFirst: Int, _ onlySecond: Int, of seeds: Int) -> MetricRule.Standing {
      MetricRule.finding(onlyFirst: onlyFirst, onlySecond: onlySecond, of: seeds).standing
    }
    // 2 · 2⁻¹⁰ = 0.002; six that disagree: 2 · 2⁻⁶ = 0.031.
    #expect(standing(10, 0, of: 10) == .better)
    #expect(standing(0, 10, of: 10) == .worse)
    #expect(standing(0, 6, of: 10) == .undecided)
    #expect(standing(2, 2, of: 10) == .undecided)
    #expect(standing(0, 0, of: 10) == .asGood)
    // Of 400 runs one only of each: 4.74/400 at most, 1.2 %. Of 100 runs: 4.7 %, less 0.05 %; two: 6.2 %.
    #expect(standing(1, 1, of: 400) == .asGood && standing(1, 1, of: 100) == .asGood)
    #expect(standing(0, 2, of: 100) == .undecided)
    // All of three seeds, but not of two.
    #expect(standing(0, 3, of: 3) == .worse && standing(0, 2, of: 2) == .undecided)
  }

  @Test("as good is what two one-sided tests show, not what a test fails to find")
  func asGoodIsShown() {
    func standing(_ differences: [Double]) -> MetricRule.Standing {
      MetricRule.finding(
        of: differences.map { .value(100 + $0) }, to: differences.map { _ in .value(100) },
        lowerIsBetter: true, floor: 0
      ).standing
    }
    // Half widths of the 90 % interval: t(9) = 1.833 times the standard error.
    #expect(standing([-1, 1, -1, 1, -1, 1, -1, 1, -1, 1]) == .asGood)  // 0 ± 0.61
    #expect(standing([-20, 20, -20, 20, -20, 20, -20, 20, -20, 20]) == .undecided)  // 0 ± 12
    #expect(standing([-30, 10, -30, 10, -30, 10, -30, 10, -30, 10]) == .undecided)  // t = −1.5
    #expect(standing([-11, -9, -11, -9, -11, -9, -11, -9, -11, -9]) == .better)  // t = −30
    #expect(standing([-4, -3.9, -4, -3.9, -4, -3.9, -4, -3.9, -4, -3.9]) == .asGood)  // surely 4 %
    #expect(standing([1]) == .undecided)
    #expect(standing([0.2, -0.2, 0.1]) == .asGood && standing([3, -3, 1]) == .undecided)  // t(2) = 2.92
  }

  @Test(
    "no verdict changes when a variant that did not lead is left out: 150 random tables, exhaustively 1,000")
  func independence() {
    var random = SeededGenerator(seed: 15)
    for table in 0..<TestDepth.cases(150, exhaustively: 1_000) {
      let variants = 3 + Int(random.next() % 4)
      let seeds = [1, 2, 3, 5, 10][Int(random.next() % 5)]
      func pick(_ values: [Int64]) -> Int64 { values[Int(random.next() % UInt64(values.count))] }
      let rows = (0..<variants).map { variant in
        let (mean, lost) = (pick([100, 110, 125, 160]), pick([0, 0, 0, 20, 300]))
        let noise = pick([1, 5, 40])
        let failing = pick([0, 0, 0, 3, 10])
        return (0..<seeds).map { seed in
          run(
            "v\(variant)", recovery: pick(Array(0...9)) < failing ? nil : mean + pick(Array(-noise...noise)),
            lost: lost + pick([0, 0, 0, 5]), p99: pick([500, 505, 700]),
            attempts: Double(pick([90, 100, 130])),
            healthy: pick([0, 0, 0, 0, 0, 1]) == 0, seed: UInt64(seed))
        }
      }
      func leaders(_ kept: [Int]) -> [String] {
        let standings = Standings(
          kept.map { "v\($0)" }, rows: kept.map { rows[$0] }, interval: Self.second)
        return standings.leaders.map { "v\(kept[$0])" }
      }
      let all = Array(0..<variants)
      let winners = leaders(all)
      for variant in all where !winners.contains("v\(variant)") {
        #expect(leaders(all.filter { $0 != variant }) == winners, "table \(table) without v\(variant)")
      }
    }
  }

  @Test(
    "of two variants of one law at most one pair in twenty gets a winner, with few seeds and with many",
    arguments: [1, 3, 10])
  func falseWinners(seeds: Int) {
    var random = SeededGenerator(seed: UInt64(seeds))
    var winners = 0
    let pairs = TestDepth.cases(200, exhaustively: 500)
    for _ in 0..<pairs {
      let rows = ["a", "b"].map { name in
        (0..<seeds).map { seed in
          // As shared/cases/statistics: recovery spread by 4 %, rare losses (6.8 of 40,000), a run in twenty that never recovers.
          run(
            name,
            recovery: random.uniform() < 0.05
              ? nil : Int64(1_000 * (1 + 0.04 * random.normal())),
            lost: random.poisson(3.4) * 2,
            p99: Int64(1_500 * (1 + 0.02 * random.normal())),
            attempts: 100 * (1 + 0.02 * random.normal()),
            seed: UInt64(seed))
        }
      }
      if Standings(["a", "b"], rows: rows, interval: Self.second).leaders.count == 1 { winners += 1 }
    }
    #expect(winners <= pairs / 20, "\(winners) of \(pairs)")
  }

  // MARK: By brute force

  @Test(
    "a stray lost event keeps no recovery from deciding: 1:52 against 6:49, and 0.45 of 10,794 events lost",
    arguments: [(3, 0.85), (5, 0.9), (10, 0.97)])
  func strayLoss(seeds: Int, share: Double) {
    var random = SeededGenerator(seed: UInt64(seeds))
    // In 400 runs: none in 302, one in 50, two in 24, three in 15, four in 9.
    let lost = [302, 50, 24, 15, 9].enumerated().flatMap { Array(repeating: Int64($0), count: $1) }
    var named = 0
    let trials = TestDepth.cases(80, exhaustively: 200)
    for _ in 0..<trials {
      var rows: [[RunSummary]] = [[], []]
      for seed in 0..<UInt64(seeds) {
        for variant in 0..<2 {
          let recovery = variant == 0 ? 112 + 3.3 * random.normal() : 409 + 11.6 * random.normal()
          var row = run(
            "v", recovery: Int64(recovery / 5) * 5,
            lost: variant == 0 ? lost[Int(random.next() % 400)] : 0, seed: seed)
          row[.createdEvents] = 10_794
          row[.settledBatches] = 6_792
          rows[variant].append(row)
        }
      }
      let pair = Standings(["60", "330"], rows: rows, interval: 5 * Self.second).pair(0, against: 1)
      #expect(pair.standing != .worse)
      if pair.standing == .better { named += 1 }
    }
    #expect(Double(named) >= share * Double(trials), "\(named) of \(trials)")
  }

  @Test(
    "of losses in clumps fewer than one in twenty is called as good that is not, once any was seen",
    arguments: [3, 10, 40], [1.0, 6, 30])
  func clumps(seeds: Int, size: Double) {
    var random = SeededGenerator(seed: UInt64(seeds) * 100 + UInt64(size))
    var (wrong, seen) = (0, 0)
    let trials = TestDepth.cases(400, exhaustively: 1_000)
    for _ in 0..<trials {
      // The limit is 10, and the truth 12.
      let second = (0..<seeds).map { _ in
        MetricValue.value(size * Double(random.poisson(12 / size)))
      }
      if !second.contains(where: { $0 != .value(0) }) { continue }
      seen += 1
      let finding = MetricRule.finding(
        of: second, to: second.map { _ in .value(0) }, lowerIsBetter: true, floor: 10, clump: 1)
      if finding.standing == .asGood { wrong += 1 }
    }
    #expect(seen * 2 > trials && wrong * 20 <= seen, "\(wrong) of \(seen)")
  }

  @Test("nobody is best who failed in a run of several where another did not, unless chance is ruled out")
  func rareFailures() {
    var random = SeededGenerator(seed: 12)
    for _ in 0..<TestDepth.cases(60, exhaustively: 200) {
      // As a fleet that never recovers in 9 of 80 runs, against one that loses more in each.
      let fails = (0..<10).map { _ in random.uniform() < 9.0 / 80 }
      let rows = [
        fails.enumerated().map { run("risky", recovery: $1 ? nil : 400, seed: UInt64($0)) },
        fails.indices.map { run("safe", recovery: 190, lost: 800, seed: UInt64($0)) },
      ]
      let standings = Standings(["risky", "safe"], rows: rows, interval: Self.second)
      let failures = fails.count { $0 }
      // Eight that disagree are needed: 2 · 2⁻⁸ < 0.01.
      #expect(
        standings.pair(0, against: 1)
          == (
            failures == 0 ? .better : failures < 8 ? .undecided : .worse,
            failures == 0 ? .metric(0) : .failures
          ))
      if failures == 0 {
        #expect(
          standings.story[.risk] == ["none of 10 runs fails; up to 25.9 % may (95 % confidence)"])
      }
    }
  }
}
