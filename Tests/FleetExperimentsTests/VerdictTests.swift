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

  /// A run that recovers after `recovery` seconds, with everything delivered; its endpoint is well after `well`.
  static func run(
    _ name: String, recovery: Int64? = 300, well: Int64 = 300, lost: Int64 = 0, blocked: Int64 = 0,
    late: Int64 = 0, p99: Int64? = 600, attempts: Double = 100, healthy: Bool? = true, incidents: Bool = true,
    seed: UInt64 = 1
  ) -> RunSummary {
    var run = RunSummary.planted(
      name, seed: seed, recovery: recovery.map(Double.init), within: incidents ? 6_000 : nil, lost: lost,
      of: 100_000)
    run.healthyTime = incidents ? well * second : nil
    run[.settledBatches] = 50_000
    run[.blockedEvents] = blocked
    run.lateEvents = late
    run.affectedHorizon = 6_600 * second
    run.affectedDeliveryP99 = p99.map { $0 * second }
    run.attemptsAboveTwinPerDevice = incidents ? attempts : 0
    run.cost.mean[.attempts] = attempts
    run.baseline.grows = healthy.map { !$0 }
    return run
  }

  /// Of a seed each.
  private static func standings(_ runs: [RunSummary], interval: Int64 = 1) -> Standings {
    Standings(runs.map(\.run), rows: runs.map { [$0] }, interval: interval * second)
  }

  /// What is said of a seed of each variant.
  private struct Told: Sendable {
    var finding: String
    var runs: [RunSummary]
    var lines: [Story.Subject: [String]] = [:]
  }

  private static let holdsNot = "This fleet does not hold its load even without any incident"
  private static let grows = "its backlog or time to delivery grows over the run"

  private static let stories = [
    // One variant without a healthy twin is named and ranked behind, however fast it seems.
    Told(
      finding: "Use 4000/s",
      runs: [run("1000/s", recovery: 1, healthy: false), run("4000/s", recovery: 400)],
      lines: [
        .unwell: ["1000/s: \(grows)"],
        .reason: ["the fleet holds without incidents; does not hold with 1000/s"],
      ]),
    // An endpoint that is well sooner decides before the data does.
    Told(
      finding: "Use full",
      runs: [run("full", recovery: 3_240, well: 420), run("none", recovery: 2_000, well: 900)],
      lines: [
        .reason: ["endpoint well after 7 min; 15 min with none"],
        .price: ["caught up after 54 min; 33 min 20 s with none"],
      ]),
    // The recovery time decides among those that deliver, and the next best is told first.
    Told(
      finding: "Use full",
      runs: [
        run("none", recovery: 4_755), run("additive:10", recovery: 2_160),
        run("full", recovery: 750, p99: 425),
      ],
      lines: [.reason: ["caught up after 12 min 30 s; 36 min with additive:10, 1 h 19 min with none"]]),
    // What is cheaper is told of the first, which is today's, too.
    Told(
      finding: "Use c", runs: [run("today", recovery: 900, attempts: 50), run("b", recovery: 600), run("c")],
      lines: [.price: ["100 extra requests a device; 50 with today"]]),
    Told(
      finding: "Use tardy", runs: [run("tardy", recovery: 10, late: 900), run("full", recovery: 900)],
      lines: [.price: ["900 events late; 0 with full"]]),
    Told(
      finding: "Use full", runs: [run("equal", p99: nil), run("full", p99: 600)],
      lines: [.reason: ["99 % delivered after 10 min; > 1 h 50 min with equal"]]),
    Told(
      finding: "Best: timer",
      runs: [
        run("gate", recovery: nil, attempts: 90, incidents: false),
        run("timer", recovery: nil, attempts: 30, incidents: false),
      ],
      lines: [.reason: ["30 requests a device and day; 90 with gate"]]),
    Told(
      finding: "Not decided between full, equal and decorrelated",
      runs: [run("full", recovery: 300), run("equal", recovery: 304), run("decorrelated", recovery: 306)]),
    // One that recovers and one that does not decide nothing: each is one throw of a die.
    Told(
      finding: "Not decided between none and full",
      runs: [run("none", recovery: nil, late: 90_000), run("full", recovery: 1_845)],
      lines: [.open: ["not decided: failed runs"]]),
    // If nobody recovers, that is said beside who is least bad.
    Told(
      finding: "Best: full",
      runs: [run("none", recovery: nil, lost: 5_000), run("full", recovery: nil, lost: 900)],
      lines: [
        .reason: ["900 events lost; 5,000 with none"], .fails: ["no variant catches up in any run"],
      ]),
    // A single run.
    Told(finding: "Caught up after 5 min 12 s", runs: [run("plain", recovery: 312, lost: 1)]),
    Told(finding: "Never caught up within the run", runs: [run("plain", recovery: nil)]),
    Told(
      finding: "The fleet holds its load; there is no incident",
      runs: [run("plain", recovery: nil, incidents: false)]),
    Told(
      finding: "So short a run does not show whether the fleet holds its load; there is no incident",
      runs: [run("plain", recovery: nil, healthy: nil, incidents: false)]),
    Told(
      finding: "Caught up after 5 min 12 s", runs: [run("plain", recovery: 312, healthy: nil)],
      lines: [
        .note: ["so short a run does not show whether the fleet holds its load without any incident"]
      ]),
    // Without an incident only operators tell a run from its twin.
    Told(
      finding:
        "Without what operators do the fleet holds its load; with it 30,000 events lost and 1,200 events late",
      runs: [run("plain", recovery: nil, lost: 30_000, late: 1_200, incidents: false)]),
    Told(finding: holdsNot, runs: [run("plain", recovery: 3, healthy: false)]),
    // A fleet that does not hold without incidents is said first, and nothing is ranked.
    Told(
      finding: holdsNot, runs: [run("full", healthy: false), run("none", recovery: 1, healthy: false)],
      lines: [.unwell: ["full and none: \(grows)"]]),
  ]
  // What is lost or blocked counts before any recovery time, and the price is told.
  private static let losses = [(900, 0), (0, 900), (500, 400)].map { (lost: Int64, blocked: Int64) in
    Told(
      finding: "Use full",
      runs: [run("dropper", recovery: 10, lost: lost, blocked: blocked), run("full", recovery: 900)],
      lines: [
        .reason: ["0 events lost; 900 with dropper"], .price: ["caught up after 15 min; 10 s with dropper"],
      ])
  }

  @Test(
    "of 5 failures in 20 runs between 8.66 and 49.1 % may fail, as tables of Clopper and Pearson's have it")
  func odds() {
    let runs = (0..<20).map { Self.run("plain", recovery: $0 < 5 ? nil : 300, seed: UInt64($0)) }
    let story = Standings(["plain"], rows: [runs], interval: Self.second).story
    #expect(
      story[.fails] == [
        "5 of 20 runs (not caught up); 8.66 to 49.1 % of all such runs may fail (95 % confidence)"
      ])
  }

  @Test("one seed: the finding, what decides, and what it costs", arguments: stories + losses)
  private func told(_ told: Told) {
    let story = Self.standings(told.runs).story
    #expect(story.title == told.finding + " (one seed)")
    for (subject, lines) in told.lines { #expect(story[subject] == lines) }
    if told.finding == Self.holdsNot { #expect(story.lines.map(\.subject) == [.unwell]) }
  }

  @Test("beside a recovery stands how soon any client could have caught up, or that the server is busy")
  func possible() {
    func text(_ recovery: Int64?, possible: Int64?, idle: Double = 100) -> [String] {
      var run = Self.run("full", recovery: recovery)
      run.possibleTime = possible.map { $0 * Self.second }
      run.idleWhileBackloggedSeconds = idle
      return Self.standings([run]).story[.possible]
    }
    #expect(text(316, possible: 300) == ["at best caught up after 5 min at this capacity"])
    #expect(text(nil, possible: 300) == text(316, possible: 300))
    #expect(text(317, possible: 1) == ["at best caught up at once at this capacity"])
    #expect(text(317, possible: nil) == [])
    // Variants of two capacities, and one that loses what would be late.
    var runs = [Self.run("2/s", recovery: 900), Self.run("4/s", recovery: 400)]
    (runs[0].possibleTime, runs[1].possibleTime) = (600 * Self.second, 300 * Self.second)
    #expect(
      Self.standings(runs).story[.possible] == [
        "at best caught up after 5 min with 4/s, after 10 min with 2/s"
      ])
    runs[0].recoveryTime = 500 * Self.second
    #expect(
      Self.standings(runs).story[.possible]
        == [
          "at best caught up after 5 min with 4/s, after 10 min with 2/s; sooner only where events are given up"
        ])
    // 60 s of capacity unused is 1 % of the 6,000 s after the incident.
    #expect(text(nil, possible: nil, idle: 61) == [])
    #expect(text(nil, possible: nil, idle: 60).count == 1)
  }

  /// Two variants of a seed each: the best, and the metric that decides or leaves them open; nil: any.
  private typealias Decided = (first: RunSummary, second: RunSummary, best: [String], by: String?)
  private static let both = ["a", "b"]

  private static let decisions: [Decided] = [
    // What is late counts behind the recovery time, before the affected events' p99.
    (run("a", recovery: 10, late: 900), run("b", recovery: 900), ["a"], MetricCatalogue.recovery),
    (run("a", late: 900, p99: 100), run("b", p99: 900), ["b"], MetricCatalogue.late),
    // More than 1 % lost fails a run; of one run the count of events decides.
    (run("a", recovery: 10, lost: 1_100), run("b", recovery: 900), ["b"], MetricCatalogue.lost),
    // The affected events' p99 decides when recovery does not, and one longer than the run is the longest.
    (run("a", recovery: 301, p99: 800), run("b", p99: 600), ["b"], MetricCatalogue.affectedDelivery),
    (run("a", p99: nil), run("b", p99: 600), ["b"], MetricCatalogue.affectedDelivery),
    // Attempts decide last: above the twin's where there is an incident.
    (run("a", attempts: 140), run("b", attempts: 1_100.25), ["a"], MetricCatalogue.attemptsAboveTwin),
    // A winner there is from 20 % on; what differs by less than matters leaves it to a later criterion.
    (run("a"), run("b", recovery: 345), both, MetricCatalogue.recovery),
    (run("a"), run("b", recovery: 361), ["a"], nil),
    (run("a"), run("b", recovery: 304, attempts: 900), ["a"], nil),
    // A few events among many are no reason, and below 1/10,000 of those created they block none.
    (run("a"), run("b", lost: 7), both, nil),
    // Three standard errors of 40 + 10, lost in batches of two: 3 · √100 = 30, and one seed asks for twice that.
    (run("a", lost: 10), run("b", lost: 50), both, nil),
    (run("a"), run("b", lost: 400), ["a"], MetricCatalogue.lost),
    // Of 100,000 created 10 matter.
    (run("a", recovery: 400), run("b", recovery: 100, lost: 3), ["b"], MetricCatalogue.recovery),
    (run("a", recovery: 400), run("b", recovery: 100, lost: 40), both, nil),
    // One clump of 9 may be 4.74 of them (Garwood): 42.7 events, 4.3 times what matters, and attempts differ by less.
    (run("a", attempts: 120.8), run("b", lost: 9, attempts: 100.5), both, nil),
  ]

  @Test("of two variants under one seed the first criterion that differs decides", arguments: decisions)
  private func decided(_ decided: Decided) {
    let standings = Self.standings([decided.first, decided.second])
    #expect(standings.leaders.map { standings.variants[$0] } == decided.best)
    guard let name = decided.by else { return }
    #expect(standings.pair(0, against: 1).criterion == standings.metrics.index(of: name).map { .metric($0) })
  }

  @Test("a loss of more than 1 % fails a run, which is compared first")
  func losesTooMuch() {
    let rows = [1_100, 0].map { lost in
      (0..<8).map { Self.run("v", recovery: 900 - lost, lost: lost, seed: $0) }
    }
    let standings = Standings(["dropper", "full"], rows: rows, interval: Self.second)
    #expect(standings.pair(1, against: 0) == (.better, .failures))
  }

  @Test(
    "a run fails by more than 1 % of the affected events beyond its twin's losses, however long it is",
    arguments: [(10, 0, false), (11, 0, true), (510, 500, false), (511, 500, true)], [1_000, 100_000])
  func failsByAffected(_ losses: (lost: Int64, twin: Int64, fails: Bool), created: Int64) {
    var run = RunSummary.planted(recovery: 10, within: 600, lost: losses.lost, of: created)
    run.affectedEvents = 1_000
    run.baseline.lostEvents = losses.twin
    #expect(run.fails == losses.fails)
    run.recoveryTime = nil
    #expect(run.fails)
  }

  @Test("ten seeds show that variants are as good as each other, and the story says from what on")
  func asGood() {
    let rows = (0..<2).map { variant in
      (0..<10).map { Self.run("v", recovery: 300 + ($0 * 7 + Int64(variant) * 3) % 5, seed: UInt64($0)) }
    }
    let standings = Standings(["full", "equal"], rows: rows, interval: Self.second)
    #expect(standings.pair(1, against: 0) == (.asGood, nil))
    let text = standings.story
    #expect(text.title == "No difference that matters between full and equal (10 seeds)")
    #expect(text[.same] == ["differences below 5 % do not matter"])
    // By 6 % and half of an interval.
    let close = [300, 319].map { recovery in
      (0..<10).map { Self.run("v", recovery: recovery, seed: UInt64($0)) }
    }
    let within = Standings(["full", "equal"], rows: close, interval: 40 * Self.second)
    #expect(within.story[.same] == ["differences below 5 % or the interval of 40 s do not matter"])
    // 1 − 0.05^(1/10).
    #expect(text[.risk] == ["none of 10 runs fails; up to 25.9 % of all such runs may (95 % confidence)"])
  }

  @Test("recovery times within an interval of the series are equal, however short", arguments: [10, 1])
  func interval(seconds: Int64) {
    let runs = [Self.run("full", recovery: 20), Self.run("equal", recovery: 28)]
    #expect((Self.standings(runs, interval: seconds).leaders.count == 2) == (seconds == 10))
  }

  @Test("the order of the variants changes nothing but the order of names in a tie")
  func orderIndependent() {
    let runs = [
      Self.run("a", recovery: 5_000), Self.run("b", lost: 700), Self.run("c", recovery: 100),
      Self.run("d", recovery: 180, p99: 1),
    ]
    let story = Self.standings(runs).story
    #expect(story.finding == "Use c" && Self.standings(runs.reversed()).story == story)
  }

  // MARK: Several seeds

  @Test("failing in 10 of 10 runs against none is decided, by McNemar; 6 of 10 against none is not")
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
    // All of three seeds, but not of two. Of two that fail alike only one fails in a quarter of the seeds: 2 · 4⁻⁵ = 0.002.
    #expect(standing(0, 3, of: 3) == .worse && standing(0, 2, of: 2) == .undecided)
    #expect(standing(0, 5, of: 5) == .worse && standing(0, 4, of: 5) == .undecided)
    // At one look of several: 2 · 4⁻⁵ is above 0.001, 2 · 4⁻⁶ below.
    let looks = [5, 6].map {
      MetricRule.finding(onlyFirst: $0, onlySecond: 0, of: $0, at: SeedPlan.level).standing
    }
    #expect(looks == [.undecided, .better])
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

  @Test("no verdict changes when a variant that did not lead is left out, in 150 random tables or more")
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
          Self.run(
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
    // As shared/cases/statistics: rare losses, 6.8 of 40,000, and a run in twenty that never recovers.
    let law = SeedPlanTests.Law(spread: 0.04, clumps: 1.1, failing: 0.05)
    var winners = 0
    let pairs = TestDepth.cases(200, exhaustively: 500)
    for _ in 0..<pairs {
      let rows = ["a", "b"].map { name in
        (0..<seeds).map { law.run(name, seed: $0, &random) }
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
          var row = Self.run(
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
}
