import FleetExperiments
import FleetMetrics
import ScenarioModel
import SimulationKernel
import Synchronization
import TestScenarios
import TestSupport
import Testing
import UploadRetry

@Suite("A search for Settings")
struct TunerTests {
  typealias Formula<Value> = @Sendable (_ choices: [Int], _ scenario: Int) -> Value
  typealias BySeed<Value> = @Sendable (_ choices: [Int], _ seed: UInt64) -> Value

  /// Runs that are formulas: a scenario carries the candidate's choices, its number and the seed.
  struct Field: Sendable {
    var journal: MemoryStore?
    /// Runs after which the search is stopped.
    var life = Int.max
    /// Of each run, in ratios; the same for all candidates but for a tenth of it.
    var noise = 0.1
    var time: Formula<Double>
    var attempts: Formula<Double> = { _, _ in 100 }
    /// Lost and blocked, of a million events.
    var lost: Formula<(lost: Int64, blocked: Int64)> = { _, _ in (0, 0) }
    var hasIncidents: @Sendable (_ scenario: Int) -> Bool = { _ in true }
    /// Whether a run never recovers.
    var fails: BySeed<Bool> = { _, _ in false }
    /// Events that a run loses beside `lost`.
    var loses: BySeed<Int64> = { _, _ in 0 }
    /// Devices of the whole fleet; what a smaller one makes of a candidate's time.
    var devices = 1
    var small: @Sendable (_ choices: [Int]) -> Double = { _ in 1 }
    let log = Log()

    final class Log: Sendable {
      let state = Mutex<(made: Int, seeds: [[Int]: Set<UInt64>], sizes: [Int: Int])>((0, [:], [:]))
    }
    var made: Int { log.state.withLock { $0.made } }
    /// Of each candidate.
    var seeds: [[Int]: Set<UInt64>] { log.state.withLock { $0.seeds } }
    /// Runs by devices.
    var sizes: [Int: Int] { log.state.withLock { $0.sizes } }

    private func summary(_ scenario: Scenario) throws -> RunSummary {
      let settings = scenario.fleet[0].settings
      let number = Int(scenario.duration.microseconds / 1_000_000) - 10
      let size = scenario.fleet[0].devices
      let choices = [
        Int(settings.backoff.baseBackoffInterval / 1_000_000) - 1, settings.rateLimit.maxRetryCount - 1,
        settings.backoff.maxRetryCount - 1,
      ]
      try log.state.withLock { state in
        state.made += 1
        if state.made > life { throw CancellationError() }
        state.sizes[size, default: 0] += 1
        state.seeds[choices, default: []].insert(scenario.seed)
      }
      let common = RandomKey(seed: scenario.seed).unitOpen - 0.5
      let own = RandomKey(seed: scenario.seed).child(UInt64(choices[0] * 1_000 + choices[1])).unitOpen - 0.5
      let factor = 1 + noise * common + noise * own / 10
      var summary = RunSummary.planted(
        "run", seed: scenario.seed, recovery: fails(choices, scenario.seed) ? nil : 1, within: 100,
        of: 1_000_000)
      let (lost, blocked) = lost(choices, number)
      summary[.droppedByRetryLimit] = Int64(Double(lost) * factor) + loses(choices, scenario.seed)
      summary[.blockedEvents] = Int64(Double(blocked) * factor)
      if !hasIncidents(number) {
        (summary.hasIncidents, summary.recoveryTime, summary.recoveryHorizon) = (false, nil, nil)
      }
      summary.peakOfferedRatio = 3
      summary.affectedHorizon = 10_000_000_000
      summary.affectedDeliveryP99 = Int64(
        time(choices, number) * (size < devices ? small(choices) : 1) * factor * 1e6)
      summary.attemptsAboveTwinPerDevice = attempts(choices, number) * factor
      return summary
    }

    func tuner(_ study: TuneStudy) -> Tuner {
      Tuner(study, runs: Runs<RunSummary>.planted(in: journal, summary)) { candidate, place in
        // Today: 2 s, 1, 1.
        let choices = zip(candidate.choices, [1, 0, 0]).map { $0 ?? $1 }
        var settings = HTTPConfig()
        settings.backoff.baseBackoffInterval = Int64(choices[0] + 1) * 1_000_000
        settings.rateLimit.maxRetryCount = choices[1] + 1
        settings.backoff.maxRetryCount = choices[2] + 1
        return .planted(
          duration: .seconds(Int64(10 + place)), devices: devices, settings: settings)
      }
    }
    func tuned(_ study: TuneStudy) throws -> TuneResult {
      var tuner = tuner(study)
      return try tuner.run()
    }
    func best(_ study: TuneStudy) throws -> SearchCandidate? {
      var tuner = tuner(study)
      return try tuner.best()
    }
  }

  /// 20 × 15 values that matter and 3 that do not.
  let space = try! SearchSpace([
    SearchParameter("settings.backoffConfig.baseBackoffInterval=1..20:1"),
    SearchParameter("settings.rateLimitConfig.maxRetryCount=1..15:1"),
    SearchParameter("settings.backoffConfig.maxRetryCount=1..3:1"),
  ])

  /// With half of the candidates that there are by default: the space is small.
  func study(
    scenarios: Int = 1, seeds: Int = 4, allowed: Set<String> = [],
    objectives: [TuneObjective] = TuneObjective.standard
  ) -> TuneStudy {
    var study = TuneStudy(
      space: space, todaysValues: ["2", "1", "1"], objectives: objectives, requirements: [],
      scenarios: (0..<scenarios).map { "s\($0)" }, seeds: seeds)
    study.allowed = allowed
    study.candidates = TuneStudy.defaultCandidates / 2
    return study
  }

  private static let timeAlone = Result { [try TuneObjective("affected_delivery_p99_s")] }

  /// A bowl round (12, 4), steeper along one axis than along the other.
  static let bowl: Formula<Double> = { choices, _ in
    let (a, b) = (Double(choices[0] - 12), Double(choices[1] - 4))
    return 60 + 2 * a * a + 5 * b * b + a * b
  }

  @Test(
    "the planted optimum is found within one step for a tenth of the runs that trying everything takes",
    arguments: [1, 2, 3, 4, 5] as [UInt64])
  func planted(seed: UInt64) throws {
    let field = Field(time: Self.bowl)
    var study = study()
    study.seed = seed
    let bruteForce = space.size * study.seeds
    study.candidates = try #require(study.candidates(budget: bruteForce / 10))
    let winner = try #require(try field.best(study))
    #expect(abs(winner.choices[0]! - 12) <= 1 && abs(winner.choices[1]! - 4) <= 1)
    #expect(field.made <= bruteForce / 10)
  }

  @Test("a key without effect is left as it is today, and what the others buy is measured")
  func idle() throws {
    let result = try Field(time: Self.bowl).tuned(study())
    #expect(result.winner.candidate.choices[2] == nil)
    #expect(result.effects.map(\.parameter) == [0, 1])
    for effect in result.effects {
      #expect(effect.score.mean < 1)
      #expect(try #require(effect.score.interval).high < 1)
    }
  }

  @Test("what is better on average but worse than today by more than 5 % in one scenario is not recommended")
  func holds() throws {
    // The first scenario gains without end, the second loses beyond the fifth value.
    let field = Field(
      time: { choices, scenario in
        scenario == 0 ? 1_000 / Double(1 + choices[0]) : choices[0] > 5 ? 200 : 100
      })
    let result = try field.tuned(study(scenarios: 2))
    #expect(result.winner.candidate.choices[0] == 5)
    #expect(result.winner.holdsEverywhere)
  }

  @Test(
    "nothing is recommended that loses more than today in a scenario, unless allowed",
    arguments: [true, false])
  func deliversLess(blocks: Bool) throws {
    // The faster, the more is given up in the second scenario: a percent at the end.
    let field = Field(
      time: { choices, _ in 1_000 / Double(1 + choices[0]) },
      lost: { choices, scenario in
        let events = scenario == 0 ? 5_000 : 5_000 + Int64(max(0, choices[0] - 6)) * 800
        return blocks ? (0, events) : (events, 0)
      })
    let result = try field.tuned(study(scenarios: 2, seeds: 5))
    #expect(result.winner.candidate.choices[0] == 6)
    #expect(result.isRecommended && result.decision?.isRefused == false)
    let loose = study(
      scenarios: 2, seeds: 5, allowed: [MetricCatalogue.lost], objectives: try Self.timeAlone.get())
    #expect(
      try field.tuned(loose).standings.contains {
        ($0.candidate.choices[0] ?? 0) > 6 && $0.holdsEverywhere
      })
  }

  @Test("what may get worse keeps nothing from being recommended, and is said")
  func allowed() throws {
    for (events, state) in [(0, Decision.Cell.State.asGood), (500, .worse)] as [(Int64, Decision.Cell.State)]
    {
      let field = Field(
        noise: 0, time: Self.bowl, lost: { choices, _ in (choices == [1, 0, 0] ? 0 : events, 0) })
      let result = try field.tuned(
        study(seeds: 5, allowed: [MetricCatalogue.lost], objectives: try Self.timeAlone.get()))
      let lost = try cell(result, MetricCatalogue.lost)
      #expect(result.isRecommended && lost.isAllowed && lost.state == state)
      #expect(try #require(result.decision).cases[0].proposed.count >= Decision.faultless)
    }
  }

  /// What fresh seeds show by a criterion in the first scenario.
  private func cell(_ result: TuneResult, _ name: String) throws -> Decision.Cell {
    try #require(result.decision?.cases[0].cells.first { $0.name == name })
  }

  @Test("a scenario without an incident changes no recommendation: what neither side has, has no weight")
  func withoutIncident() throws {
    func winner(_ scenarios: Int) throws -> SearchCandidate {
      let field = Field(time: Self.bowl, hasIncidents: { $0 == 0 })
      let result = try field.tuned(study(scenarios: scenarios, seeds: 5))
      #expect(result.isRecommended)
      if scenarios == 2 { #expect(try #require(result.fresh).logRatios[1][1] == nil) }
      return result.winner.candidate
    }
    #expect(try winner(1) == winner(2))
  }

  @Test("of searches over keys without effect at most one in twenty recommends a change")
  func withoutEffect() throws {
    var recommended = 0
    let searches = TestDepth.cases(12, exhaustively: 40)
    for seed in 1...UInt64(searches) {
      // The noise of a candidate is its own, so one of them looks best.
      let field = Field(noise: 1, time: { _, _ in 100 })
      var study = study(seeds: 10)
      study.seed = seed
      study.candidates = 60
      let result = try field.tuned(study)
      if result.isRecommended { recommended += 1 }
    }
    #expect(recommended * 20 <= searches, "\(recommended) of \(searches)")
  }

  @Test("the story names keys by their whole path, what is better with both figures, and every criterion")
  func sentence() throws {
    // Today's first value is 1: an extra attempt in 101 doesn't matter, six do.
    let field = Field(noise: 0, time: Self.bowl, attempts: { choices, _ in 100 + Double(choices[0]) })
    let result = try field.tuned(study(seeds: 5))
    // 2 · 6² + 5 - 6 + 60 and today's 2 · 11² + 5 · 4² + 11 · 4 + 60 seconds.
    #expect(result.winner.candidate.choices == [6, 5, nil])
    let story = result.story
    #expect(
      story.finding.hasPrefix("Change settings.backoffConfig.baseBackoffInterval 7 (today 2) and "))
    // Six of both, and of the new as many more as exclude a failure.
    #expect(story.basis.hasSuffix("65 runs on fresh seeds"))
    #expect(story[.better] == ["99 % delivered after 2 min 11 s (today 7 min 06 s)"])
    #expect(
      story[.same] == ["failed runs, lost events, endpoint well, caught up, late events, extra requests"])
    // 1 - 0.05^(1/59) = 4.95 %
    #expect(
      story[.risk] == ["none of 59 runs fails; up to 5 % of a case's may (95 % confidence)"])
  }

  @Test("what is better by the score and worse by a criterion is not recommended, whatever was asked for")
  func worseByACriterion() throws {
    // Every step to the optimum costs attempts.
    let field = Field(
      noise: 0, time: Self.bowl, attempts: { choices, _ in choices == [1, 0, 0] ? 100 : 120 })
    let result = try field.tuned(study(seeds: 5, objectives: try Self.timeAlone.get()))
    #expect(!result.isRecommended && result.isToday)
    let story = result.story
    #expect(story.finding == "Leave the Settings as they are")
    #expect(story[.open].first?.hasSuffix("but worse: 120 extra requests a device (today 100)") ?? false)
  }

  @Test("what fresh seeds show to be worse is refused with both figures, and no seeds are promised to help")
  func worseOnFreshSeeds() throws {
    let result = try searched(loses: { choices, seed in
      choices != [1, 0, 0] && seed > Self.firstSeed + 4 ? 5_000 : 0
    }).result
    #expect(!result.isToday && !result.isRecommended && result.decision?.outcome == .worse)
    // The first look shows it.
    #expect(result.decision?.cases[0].pairs == Decision.looks[0])
    #expect(result.story[.worse].contains("5,000 events lost (today 0)"))
  }

  /// The scenarios' seed: from it on five of the search, then fresh ones.
  private static let firstSeed: UInt64 = 1

  /// Of a search over the bowl: the result, and how many seeds today's Settings had and those at the optimum.
  private func searched(
    _ requirements: [String] = [], seeds: Int = 5, noise: Double = 0,
    fails: @escaping BySeed<Bool> = { _, _ in false }, loses: @escaping BySeed<Int64> = { _, _ in 0 }
  ) throws -> (result: TuneResult, today: Int, new: Int) {
    let field = Field(noise: noise, time: Self.bowl, fails: fails, loses: loses)
    var study = study(seeds: seeds)
    study.requirements = try requirements.map { try Requirement($0) }
    let result = try field.tuned(study)
    return (result, field.seeds[[1, 0, 0]]?.count ?? 0, field.seeds[[12, 4, 0]]?.count ?? 0)
  }

  @Test(
    "a run of the new Settings that fails is compared with today's under the same seed",
    arguments: [true, false])
  func failsAlone(failsToday: Bool) throws {
    // The 25th fresh seed: between the first look and the second.
    let bad = Self.firstSeed + 5 + 24
    let (result, today, new) = try searched { choices, seed in
      seed == bad && (failsToday || choices != [1, 0, 0])
    }
    // From there on both are compared, until a failure in 5 % of the runs is excluded, or the looks are at their end.
    #expect(result.isRecommended == failsToday)
    #expect(today == (failsToday ? 5 + 60 : 5 + 120) && new == today)
    let failures = try cell(result, "failures").figures
    #expect(
      [failures.today.text, failures.proposed.text]
        == (failsToday ? ["1 of 60", "1 of 60"] : ["0 of 120", "1 of 120"]))
  }

  @Test(
    "an event that the new Settings lose in a run alone is compared with today's, whatever else is shown",
    arguments: [true, false], [true, false])
  func losesAlone(isConstraint: Bool, failsToday: Bool) throws {
    // The 45th fresh seed: between the second look and the third. One event is no failure, and less than matters.
    let bad = Self.firstSeed + 5 + 44
    let (result, today, new) = try searched(isConstraint ? ["lost_events<=0"] : []) { choices, _ in
      failsToday && choices == [1, 0, 0]
    } loses: { choices, seed in
      seed == bad && choices != [1, 0, 0] ? 1 : 0
    }
    // A requirement is broken by that run alone.
    #expect(isConstraint ? new == 5 + 59 : today == 5 + 60 && new == today)
    // A requirement is to be kept in every run; today's keep it, too.
    #expect(result.isRecommended == !isConstraint)
  }

  @Test("each changed key is kept for a reason with both figures, and what it costs is no gain")
  func reasons() throws {
    // The first key brings time; the second brings attempts and costs half of that time.
    let field = Field(
      noise: 0,
      time: { choices, _ in 400 - 15 * Double(min(choices[0], 10)) + (choices[1] > 0 ? 60 : 0) },
      attempts: { choices, _ in choices[1] > 0 ? 60 : 100 })
    let result = try field.tuned(study(seeds: 5))
    #expect(result.isRecommended && result.winner.candidate.choices[1] != nil)
    let sentences = result.keySentences
    #expect(sentences.count == 2)
    #expect(
      sentences[0].hasSuffix(": 99 % delivered after 5 min 10 s (without it 7 min 25 s)"), "\(sentences)")
    #expect(
      sentences[1].hasSuffix(
        ": 60 extra requests a device (without it 100); costs 99 % delivered after 5 min 10 s (without it 4 min 10 s)"
      ), "\(sentences)")
  }

  /// Whether they are those of the bowl's lowest point, which is far below all others with little noise.
  private static func isBest(_ choices: [Int?]) -> Bool { Array(choices.prefix(2)) == [12, 4] }

  /// Runs of ten seeds that fail or lose, so that the best finalist is not taken, and the share of the winner's that fail.
  private static let refusing:
    [(requirements: [String], fails: BySeed<Bool>, loses: BySeed<Int64>, share: Double)] = [
      // Fresh seeds refuse it.
      ([], { isBest($0) && $1 > firstSeed + 9 }, { _, _ in 0 }, 0),
      // All others fail under the first two seeds, in 40 % of five runs and in 20 % of ten, as today's: a finalist
      // that fails where today's Settings fail, too, is not lost for having had few seeds.
      ([], { isBest($0) ? $1 > firstSeed + 9 : $1 < firstSeed + 2 }, { _, _ in 0 }, 0.2),
      // A finalist that breaks a requirement under a later seed is not tried before one that keeps it.
      (
        ["lost_events<=0"], { _, _ in false },
        { choices, seed in
          if choices == [1, 0, 0] { return (firstSeed + 7..<firstSeed + 10).contains(seed) ? 1 : 0 }
          return isBest(choices) && seed == firstSeed + 6 ? 1 : 0
        }, 0
      ),
    ]

  @Test("where the best finalist is refused, the next one is tried", arguments: refusing.indices)
  func nextFinalist(index: Int) throws {
    let (requirements, fails, loses, share) = Self.refusing[index]
    let result = try searched(requirements, seeds: 10, noise: 0.01, fails: fails, loses: loses).result
    #expect(result.isRecommended && !Self.isBest(result.winner.candidate.choices))
    #expect(result.winner.seeds == 10 && result.winner.violations == share)
    #expect(result.winner.keepsRequirements)
  }

  @Test("a recommended value at the end of its range is said to be there, one inside is not")
  func endOfTheRange() throws {
    func story(_ time: @escaping Formula<Double>) throws -> Story {
      try Field(time: time).tuned(study()).story
    }
    func isAtTheEnd(_ story: Story) -> Bool {
      story[.open].contains { $0.contains("at the end of what was searched") }
    }
    #expect(isAtTheEnd(try story { choices, _ in Double(100 - choices[0]) }))
    let inside = try story { choices, _ in Double(100 + abs(choices[0] - 10)) }
    #expect(inside.finding.hasPrefix("Change") && !isAtTheEnd(inside))
  }

  @Test("the front has what no other candidate beats in one objective without being beaten in another")
  func front() throws {
    let field = Field(
      noise: 0, time: { c, _ in Double(10 + c[0]) }, attempts: { c, _ in Double(10 + abs(19 - c[0]) + c[1]) })
    let result = try field.tuned(study(seeds: 1))
    for i in result.front {
      let point = result.coordinates(result.standings[i])
      for standing in result.standings {
        let other = result.coordinates(standing)
        #expect(other == point || zip(other, point).contains { $0 > $1 })
      }
    }
  }

  @Test(
    "the budget is kept, whatever the number of scenarios and seeds, with races on a part of the fleet, too",
    arguments: [
      (1, 1, 40, 1), (2, 3, 300, 1), (3, 10, 1_000, 1), (2, 1, 60, 2), (2, 3, 300, 2), (2, 10, 1_000, 2),
    ])
  func budget(scenarios: Int, seeds: Int, budget: Int, divisor: Int) throws {
    let field = Field(time: Self.bowl, devices: 8_000)
    var study = study(scenarios: scenarios, seeds: seeds)
    study.raceScale = Scaling(divisor: divisor)
    study.candidates = try #require(study.candidates(budget: budget))
    _ = try field.best(study)
    #expect(field.made <= budget)
    #expect(study.candidates(budget: 3) == nil)
  }
}
