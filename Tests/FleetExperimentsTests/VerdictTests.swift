import FleetExperiments
import FleetMetrics
import FleetStatistics
import TestSupport
import Testing

/// Stories in the order of Definitions.md: each says who should win, why, and what the sentence
/// has to admit.
@Suite("The verdict")
struct VerdictTests {
  @Test(
    "What a verdict says first is what was found",
    arguments: [
      ("full brings the fleet back best: it is fast; so", "full brings the fleet back best"),
      ("Change one key: settings.a.b 77 (today 300). Over", "Change one key: settings.a.b 77 (today 300)"),
      ("The fleet recovers 5 min after; nothing", "The fleet recovers 5 min after"),
      ("Nothing was run.", "Nothing was run."),
      ("short\nnext line: of more words", "short"), ("", ""),
    ])
  func headline(text: String, first: String) {
    #expect(Verdict.headline(of: text) == first)
  }

  static let second: Int64 = 1_000_000

  /// A run that recovers after `recovery` seconds, with everything delivered.
  func run(
    _ name: String, recovery: Int64? = 300, lost: Int64 = 0, blocked: Int64 = 0, late: Int64 = 0,
    p99: Int64? = 600, attempts: Double = 100, healthy: Bool = true, incidents: Bool = true, seed: UInt64 = 1
  ) -> RunSummary {
    var run = RunSummary(run: name, seed: seed)
    run.hasIncidents = incidents
    run.recoveryTime = recovery.map { $0 * Self.second }
    run.recoveryHorizon = incidents ? 6_000 * Self.second : nil
    run[.createdEvents] = 100_000
    run[.settledBatches] = 50_000
    run[.droppedByRetryLimit] = lost
    run[.blockedEvents] = blocked
    run.lateEvents = late
    run.affectedEvents = 1_000
    run.affectedHorizon = 6_600 * Self.second
    run.affectedDeliveryP99 = p99.map { $0 * Self.second }
    run.attemptsAboveTwinPerDevice = incidents ? attempts : 0
    run.cost.mean[.attempts] = attempts
    run.baseline.grows = !healthy
    return run
  }

  func sentence(_ runs: RunSummary...) -> String { Verdict.sentence(runs, interval: Self.second) }
  func headline(_ runs: RunSummary...) -> String {
    Verdict.sentence(runs, interval: Self.second).split(separator: "\n").first.map(String.init) ?? ""
  }

  @Test("a fleet that does not hold without incidents is said first, and nothing is ranked")
  func unhealthy() {
    #expect(
      sentence(run("full", healthy: false), run("none", recovery: 1, healthy: false))
        == "This fleet does not hold even without any incident: its backlog or time to delivery grows over the run; "
        + "there is nothing to bring back and nothing to compare (one seed, 1).")
  }

  @Test("one variant without a healthy twin is named first and ranked behind, however fast it seems")
  func oneUnhealthy() {
    let text = sentence(run("1000/s", recovery: 1, healthy: false), run("4000/s", recovery: 400))
    #expect(text.hasPrefix("With 1000/s this fleet does not hold even without any incident: "))
    #expect(
      text.contains("; 4000/s brings the fleet back best: it keeps the fleet healthy without incidents"))
  }

  @Test("one seed of a fleet that recovers and one that does not decide nothing: each is one throw of a die")
  func oneRecovers() {
    let text = sentence(run("none", recovery: nil, late: 90_000), run("full", recovery: 1_845))
    #expect(text.hasPrefix("Undecided between none and full: "))
    #expect(
      text.contains(
        "full is the first choice as it stands. So far: full is ahead of none"))
    #expect(text.contains("recovers in 1 of 1 run against 0 of 1 run"))
  }

  @Test(
    "what is not delivered counts before any recovery time, whether it is lost, blocked or late",
    arguments: [(5_000, 0, 0), (0, 5_000, 0), (0, 0, 5_000), (2_000, 2_000, 1_000)])
  func undelivered(lost: Int64, blocked: Int64, late: Int64) {
    #expect(
      headline(
        run("dropper", recovery: 10, lost: lost, blocked: blocked, late: late), run("full", recovery: 900))
        == "full brings the fleet back best: it leaves 0 events undelivered, dropper 5,000; recovered 15 min after the "
        + "last incident, 99 % of the affected events delivered within 10 min, 100 extra attempts a device (one seed, 1)."
    )
  }

  @Test("the recovery time decides among those that deliver, and every other figure of it is told")
  func recoveryTime() {
    #expect(
      headline(
        run("none", recovery: 4_755), run("additive:10", recovery: 2_160),
        run("full", recovery: 750, p99: 425))
        == "full brings the fleet back best: it recovers 12 min 30 s after the last incident, additive:10 (next) 36 min "
        + "and none 1 h 19 min; nothing undelivered, 99 % of the affected events delivered "
        + "within 7 min 05 s, 100 extra attempts a device (one seed, 1).")
  }

  @Test("the affected events' p99 decides when recovery does not, and one longer than the run is the longest")
  func timeToDelivery() {
    #expect(
      headline(run("equal", recovery: 301, p99: 800), run("full", recovery: 300, p99: 600)).hasPrefix(
        "full brings the fleet back best: 99 % of the affected events are delivered within 10 min, equal 13 min 20 s; "
      ))
    #expect(
      headline(run("equal", p99: nil), run("full", p99: 600)).hasPrefix(
        "full brings the fleet back best: 99 % of the affected events are delivered within 10 min, equal > 1 h 50 min"
      ))
  }

  @Test("attempts decide last: above the twin's where there is an incident, else all of them")
  func attempts() {
    #expect(
      headline(run("equal", attempts: 140), run("full", attempts: 1_100.25)).hasPrefix(
        "equal brings the fleet back best: it costs 140 extra attempts a device, full 1,100; "))
    #expect(
      headline(
        run("gate", recovery: nil, attempts: 90, incidents: false),
        run("timer", recovery: nil, attempts: 30, incidents: false)
      ).hasPrefix("timer does best: it needs 30 attempts a device and day, gate 90"))
  }

  @Test(
    "within 5 % everywhere there is no winner, and between 5 and 20 % one seed shows who is ahead, not who is best"
  )
  func ties() {
    #expect(
      headline(run("full", recovery: 300), run("equal", recovery: 304), run("decorrelated", recovery: 306))
        == "No difference that matters between full, equal and decorrelated: nothing undelivered, recovered 5 min to "
        + "5 min 06 s after the last incident, 99 % of the affected events delivered within 10 min, 100 extra attempts a "
        + "device (one seed, 1).")
    let text = sentence(run("full", recovery: 300), run("equal", recovery: 345))
    #expect(text.hasPrefix("Undecided between full and equal: "))
    #expect(
      text.contains(
        "full is ahead of equal: recovered in 5 min against 5 min 45 s. With one seed a difference counts from 20 % on"
      ))
    #expect(sentence(run("full", recovery: 300), run("equal", recovery: 361)).hasPrefix("full brings"))
  }

  @Test(
    "recovery times within an interval of the series are equal, however short they are", arguments: [10, 1])
  func interval(intervalSeconds: Int64) {
    let runs = [run("full", recovery: 20), run("equal", recovery: 28)]
    let sentence = Verdict.sentence(runs, interval: intervalSeconds * Self.second)
    #expect(sentence.hasPrefix("No difference") == (intervalSeconds == 10), "\(sentence)")
  }

  @Test(
    "a few events among many are no reason: the floor is 1/10,000 of those created and three standard errors")
  func fewEvents() {
    // 100,000 created: 10. In batches of two, three standard errors of 7 + 0 are 3 · √14 = 11.2.
    #expect(headline(run("a", lost: 0), run("b", lost: 7)).hasPrefix("No difference that matters"))
    // Of 40 + 10: 3 · √100 = 30, and one seed asks for twice that.
    #expect(headline(run("a", lost: 10), run("b", lost: 50)).hasPrefix("Undecided"))
    #expect(
      headline(run("a", lost: 0), run("b", lost: 400)).hasPrefix("a brings the fleet back best: it leaves 0"))
  }

  @Test("if nobody recovers, that is said before who is least bad")
  func nobodyRecovers() {
    #expect(
      headline(run("none", recovery: nil, lost: 5_000), run("full", recovery: nil, lost: 900)).hasPrefix(
        "No variant recovers in any run; of these full does best: it leaves 900 events undelivered, none 5,000"
      ))
  }

  @Test("the herd factor never counts")
  func herdFactor() {
    var idle = run("idle", recovery: 900)
    idle.herdFactor = 0.5
    var busy = run("busy", recovery: 300)
    busy.herdFactor = 9
    #expect(sentence(idle, busy).hasPrefix("busy brings the fleet back best"))
  }

  @Test("events accepted after their client dropped them are not lost")
  func acceptedAfterDrop() {
    var full = run("full", recovery: 300, lost: 500)
    full[.acceptedAfterDropEvents] = 500
    #expect(
      sentence(full, run("none", recovery: 900)).hasPrefix("full brings the fleet back best: it recovers"))
  }

  @Test("a single run says whether it recovers, what is undelivered and how late events come")
  func single() {
    #expect(
      sentence(run("plain", recovery: 312, lost: 1))
        == "The fleet recovers 5 min 12 s after the last incident; 1 event undelivered, 99 % of the affected events "
        + "delivered within 10 min, 100 extra attempts a device (one seed, 1).")
    #expect(
      sentence(run("plain", recovery: nil, late: 12_000)).hasPrefix(
        "The fleet never recovers from the last incident within the run; 12,000 events undelivered, "))
    #expect(
      sentence(run("plain", recovery: nil, incidents: false)).hasPrefix(
        "No incident to recover from; nothing undelivered, "))
    #expect(
      sentence(run("plain", recovery: 3, healthy: false)).hasPrefix(
        "This fleet does not hold even without any incident"))
  }

  @Test("the order of the variants changes nothing but the order of names in a tie")
  func orderIndependent() {
    let runs = [
      run("a", recovery: 5_000), run("b", lost: 700), run("c", recovery: 100),
      run("d", recovery: 180, p99: 1),
    ]
    let expected = Verdict.sentence(runs, interval: Self.second)
    #expect(expected.hasPrefix("c brings the fleet back best"))
    #expect(Verdict.sentence(runs.reversed(), interval: Self.second) == expected)
  }

  // MARK: Several seeds

  /// Thirty seeds of fleets that recover in about `mean` seconds, and never in every tenth run where `fails`.
  func seeds(_ name: String, mean: Int64, fails: Bool = false) -> [RunSummary] {
    (0..<30).map { i in
      run(name, recovery: fails && i % 10 == 3 ? nil : mean + Int64(i % 7) - 3, seed: UInt64(i))
    }
  }

  @Test(
    "a variant that never recovers in 3 of 30 runs does not tie by its variance: it is behind on average, undecided"
  )
  func varianceBuysNoTie() {
    let rows = [seeds("60", mean: 600), seeds("80", mean: 800), seeds("100", mean: 610, fails: true)]
    let standings = Standings(["60", "80", "100"], rows: rows, interval: Self.second)
    #expect(standings.pair(0, against: 1).standing == .better)
    #expect(standings.pair(0, against: 2).standing == .ahead)
    #expect(standings.pair(0, against: 2).criterion == .recovers)
    #expect(standings.favourite == 0)
  }

  @Test(
    "recovering in 0 of 10 runs against 10 of 10 is decided, exactly by McNemar; 4 of 10 against 10 of 10 is not"
  )
  func mcNemar() {
    // 2 · 2⁻¹⁰ = 0.002; six that disagree: 2 · 2⁻⁶ = 0.031.
    #expect(MetricRule.standing(onlyFirst: 0, onlySecond: 10, of: 10) == .better)
    #expect(MetricRule.standing(onlyFirst: 6, onlySecond: 0, of: 10) == .behind)
    #expect(MetricRule.standing(onlyFirst: 2, onlySecond: 2, of: 10) == .open)
    #expect(MetricRule.standing(onlyFirst: 0, onlySecond: 0, of: 10) == .equal)
  }

  @Test("equal is what two one-sided tests show, not what a test fails to find")
  func equalIsShown() {
    func standing(_ differences: [Double]) -> MetricRule.Standing {
      MetricRule.standing(
        of: differences.map { .value(100 + $0) }, to: differences.map { _ in .value(100) },
        lowerIsBetter: true,
        floor: 0)
    }
    // Half widths of the 90 % interval: t(9) = 1.833 times the standard error.
    #expect(standing([-1, 1, -1, 1, -1, 1, -1, 1, -1, 1]) == .equal)  // 0 ± 0.61
    #expect(standing([-20, 20, -20, 20, -20, 20, -20, 20, -20, 20]) == .open)  // 0 ± 12
    #expect(standing([-30, 10, -30, 10, -30, 10, -30, 10, -30, 10]) == .ahead)  // t = −1.5
    #expect(standing([-11, -9, -11, -9, -11, -9, -11, -9, -11, -9]) == .better)  // t = −30
    #expect(standing([-4, -3.9, -4, -3.9, -4, -3.9, -4, -3.9, -4, -3.9]) == .equal)  // surely 4 %
  }

  @Test(
    "no verdict changes when a variant that did not lead is left out: 500 random tables, exhaustively 2,000")
  func independence() {
    var random = SeededGenerator(seed: 15)
    for table in 0..<TestDepth.cases(500, exhaustively: 2_000) {
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
    func uniform() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
    func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + uniform() } }
    /// Poisson, by exponential steps.
    func poisson(_ mean: Double) -> Int64 {
      var (count, left) = (Int64(0), mean)
      while true {
        left += NaturalLogarithm.of(uniform() + 1e-300)
        if left < 0 { return count }
        count += 1
      }
    }
    var winners = 0
    let pairs = 500
    for _ in 0..<pairs {
      let rows = ["a", "b"].map { name in
        (0..<seeds).map { seed in
          // As shared/cases/statistics: recovery spread by 4 %, rare losses (6.8 of 40,000), a run in twenty that never recovers.
          run(
            name, recovery: uniform() < 0.05 ? nil : Int64(1_000 * (1 + 0.04 * normal())),
            lost: poisson(3.4) * 2,
            p99: Int64(1_500 * (1 + 0.02 * normal())), attempts: 100 * (1 + 0.02 * normal()),
            seed: UInt64(seed))
        }
      }
      if Standings(["a", "b"], rows: rows, interval: Self.second).leaders.count == 1 { winners += 1 }
    }
    #expect(winners <= pairs / 20, "\(winners) of \(pairs)")
  }
}

/// ln by its series, so that a test needs no mathematics library.
enum NaturalLogarithm {
  static func of(_ x: Double) -> Double {
    let mantissa = x.significand
    let y = (mantissa - 1) / (mantissa + 1)
    var (sum, power) = (0.0, y)
    for k in stride(from: 1, through: 61, by: 2) {
      sum += power / Double(k)
      power *= y * y
    }
    return 2 * sum + Double(x.exponent) * 0.693147180559945309
  }
}
