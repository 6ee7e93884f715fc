import FleetExperiments
import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import TestSupport
import Testing

/// Whether proposed Settings are to be published, from runs that a test makes up.
@Suite("Decision")
struct DecisionTests {
  private static let today = Scenario.planted(
    duration: .hours(2), interval: .seconds(10), capacityMilli: 10_000, burst: 20, devices: 100,
    gap: .minutes(1))
  /// Told from today's by its time-out.
  private static let proposed: Scenario = {
    var scenario = today
    scenario.fleet[0].timeout = .seconds(20)
    return scenario
  }()

  /// A run of a case, by its incidents, its Settings and its seed: recovery 1,000 s ± 1 %, nothing lost, 10 attempts.
  private func decision(
    _ terms: Decision.Terms = Decision.Terms(budget: .max),
    change: @escaping (inout RunSummary, _ isProposed: Bool, _ isOutage: Bool) -> Void
  ) throws -> Decision {
    var decision = Decision(Self.cases, terms)
    try decision.run({ Self.runs(of: $0, change) }, failures: { Self.runs(of: $0, change) })
    return decision
  }

  /// The proposed Settings recover from the outage in half the time.
  private static func halved(_ run: inout RunSummary, isProposed: Bool, isOutage: Bool) {
    if isProposed, isOutage { run.recoveryTime = run.recoveryTime.map { $0 / 2 } }
  }
  /// The proposed Settings take twice the requests in the outage.
  private static func doubled(_ run: inout RunSummary, isProposed: Bool, isOutage: Bool) {
    if isProposed, isOutage { run.attemptsAboveTwinPerDevice = 20 }
  }
  private static let cases = IncidentSuite(of: today).cases(today: today, proposed: proposed)

  private static func runs(
    of scenarios: [Scenario], _ change: (inout RunSummary, _ isProposed: Bool, _ isOutage: Bool) -> Void
  ) -> [RunSummary] {
    scenarios.map { scenario in
      let noise = Double((scenario.seed &* 0x9E37_79B9_7F4A_7C15) >> 40) / Double(1 << 24)
      let isCalm = scenario.tapi.incidents.isEmpty
      var run = RunSummary.planted(
        seed: scenario.seed, recovery: isCalm ? nil : 1_000 + 10 * noise, within: isCalm ? nil : 3_600,
        of: 1_000_000)
      run[.firstAttempts] = 1_000
      run.attemptsAboveTwinPerDevice = 10
      change(&run, scenario.fleet[0].timeout == .seconds(20), scenario.tapi.incidents.count == 2)
      return run
    }
  }

  private func state(_ decision: Decision, _ name: String, _ metric: String) -> Decision.Cell.State? {
    decision.cases.first { $0.name == name }?.cells.first { $0.name == metric }?.state
  }

  private static let outage = "outage of 25 min, then half the capacity"

  private func told(_ decision: Decision, trials: KeyTrials? = nil) -> Story {
    var story = Story("")
    decision.tell(&story, trials: trials)
    return story
  }

  @Test("before a proposal is found as many runs are expected as one that differs from today's needs")
  func expected() {
    let suite = IncidentSuite(of: Self.today)
    var other = Self.today
    other.fleet[0].settings.backoff.maxRetryCount = 7
    let counts = [other, nil].map { proposed in
      let left = Decision(suite.cases(today: Self.today, proposed: proposed)).left
      let control = ComparisonControl()
      control.expect(more: left.compared, alone: left.alone)
      return control.progress.runs
    }
    #expect(counts[0] == counts[1] && (12...24).contains(counts[0] / suite.cases.count))
  }

  @Test("figures of two units have two names")
  func names() {
    let names = MetricCatalogue.headline.map(\.words)
    #expect(Set(names).count == names.count, "\(names)")
  }

  @Test("is published where one figure gets better, none worse, and 59 runs of each case do not fail")
  func publish() throws {
    let found = try decision(change: Self.halved)
    #expect(found.outcome == .publish)
    #expect(state(found, "outage", MetricCatalogue.recovery) == .better)
    #expect(state(found, "silence", MetricCatalogue.recovery) == .asGood)
    #expect(found.cases.allSatisfy { $0.proposed.count >= 59 && $0.failures == 0 && $0.risk <= 0.05 })
    // Today's need no more seeds than it takes to see the difference.
    #expect(found.cases.allSatisfy { $0.today.count == Decision.looks[0] })
  }

  @Test("what is known on the way is said from the first look on, while runs are left")
  func soFar() throws {
    var lines: [(pairs: [Int], line: String?, left: Int)] = []
    var decision = Decision(Self.cases)
    try decision.run(
      { Self.runs(of: $0, Self.halved) }, failures: { Self.runs(of: $0, Self.halved) },
      progress: { decision in
        let left = decision.left.compared.count + decision.left.alone.count
        lines.append((decision.cases.map(\.pairs), decision.soFar, left))
      })
    let said = lines.filter { $0.line != nil }
    #expect(!said.isEmpty && said.count < lines.count)
    #expect(lines.allSatisfy { ($0.line != nil) == ($0.left > 0 && $0.pairs.allSatisfy { $0 >= 6 }) })
    #expect(said.allSatisfy { $0.line?.contains(": 1 figure better, 0 worse.") ?? false })
  }

  @Test("stopped after any run, it is on all that were finished, under the same seeds for both Settings")
  func stopped() throws {
    for finished in stride(from: 0, to: 200, by: 7) {
      var left = finished
      func runs(_ scenarios: [Scenario], areWhole: Bool) -> [RunSummary?] {
        Self.runs(of: scenarios) { run, isProposed, isOutage in
          Self.halved(&run, isProposed: isProposed, isOutage: isOutage)
          run.timeToDeliveryP50 = areWhole ? 1 : nil
        }.map { run in
          left -= 1
          return left >= 0 ? run : nil
        }
      }
      var found = Decision(Self.cases)
      do {
        try found.run({ runs($0, areWhole: true) }, failures: { runs($0, areWhole: false) })
      } catch is CancellationError {
        #expect(finished < 4 * Decision.looks[0])
        continue
      }
      #expect(found.isFinished == (left >= 0))
      if finished == 100 - 2 { #expect(found.runCount > 90) }
      for one in found.cases {
        let seeds = one.proposed.map(\.seed)
        #expect(seeds == seeds.indices.map { Self.today.seed &+ UInt64($0) })
        #expect(one.today.map(\.seed) == Array(seeds.prefix(one.today.count)))
        #expect(one.compared.allSatisfy { $0.timeToDeliveryP50 != nil })
      }
    }
  }

  @Test("runs that need only not fail are held against an ideal run where they fail against their twin")
  func alone() throws {
    var (whole, alone): ([Scenario], [Scenario]) = ([], [])
    var found = Decision(Self.cases)
    try found.run(
      { scenarios in
        whole += scenarios
        return Self.runs(of: scenarios, Self.halved)
      },
      failures: { scenarios in
        alone += scenarios
        return Self.runs(of: scenarios) { run, isProposed, isOutage in
          Self.halved(&run, isProposed: isProposed, isOutage: isOutage)
          if isOutage { run.recoveryTime = nil }
        }
      })
    #expect(found.outcome == .publish && found.cases.allSatisfy { $0.failures == 0 })
    #expect(found.cases.allSatisfy { $0.proposed.count == Decision.faultless })
    #expect(alone.count == found.cases.reduce(0) { $0 + $1.proposed.count - $1.pairs })
    let (outage, rest) = (
      alone.filter { $0.tapi.incidents.count == 2 }, alone.count { $0.tapi.incidents.count != 2 }
    )
    #expect(!outage.isEmpty && rest > 0 && outage.allSatisfy(whole.contains))
    #expect(Set(whole).intersection(alone).count == outage.count)
  }

  @Test("a failure in a tenth of the runs is found or said to be open, and figures compare no run made alone")
  func catastrophe() throws {
    var isFoundLate = false
    for fleet in 0..<TestDepth.cases(15, exhaustively: 50) {
      func runs(_ scenarios: [Scenario], areWhole: Bool) -> [RunSummary] {
        Self.runs(of: scenarios) { run, isProposed, isOutage in
          run.timeToDeliveryP50 = areWhole ? 1 : nil
          guard isProposed, isOutage else { return }
          run.attemptsAboveTwinPerDevice = 1
          let draw = ((run.seed &+ UInt64(fleet) &* 1_000) &* 0xD1B5_4A32_D192_ED03) >> 32
          if draw % 10 == 0 { run.recoveryTime = nil }
        }
      }
      var found = Decision(Self.cases)
      try found.run({ runs($0, areWhole: true) }, failures: { runs($0, areWhole: false) })
      #expect(found.outcome != .publish, "fleet \(fleet)")
      for one in found.cases {
        #expect(one.compared.allSatisfy { $0.timeToDeliveryP50 != nil }, "\(one.name)")
        let first = one.proposed.firstIndex(where: \.fails) ?? 0
        // Found when all else is known: then more pairs have to tell whether today's fail as often.
        isFoundLate = isFoundLate || first >= Decision.looks[0] && one.pairs > Decision.looks[0]
      }
    }
    #expect(isFoundLate)
  }

  @Test("is not published where one figure gets worse, and the rest is not run to its end for that")
  func worse() throws {
    let found = try decision(change: Self.doubled)
    #expect(found.outcome == .worse)
    #expect(found.cases.allSatisfy { $0.proposed.count <= 15 })
    #expect(
      told(found)[.worse] == ["\(Self.outage): 20 extra requests a device (today 10)"])
    #expect(told(found)[.same].count == 1)
  }

  private static func trial(_ key: String, _ scenario: Scenario) -> KeyTrials.Trial {
    let suite = IncidentSuite(of: today)
    return (key, suite.cases.map { suite.scenario($0, of: scenario) })
  }

  @Test("keys without whose change nothing is worse are told from the others, by the worst case's runs")
  func causes() throws {
    let found = try decision(change: Self.doubled)
    var asked: [[Scenario]] = []
    func trials(_ harmless: Set<String>) throws -> KeyTrials? {
      try KeyTrials(
        found,
        ["a", "b", "c"].map { Self.trial($0, harmless.contains($0) ? Self.today : Self.proposed) }
      ) { scenarios in
        asked.append(scenarios)
        return Self.runs(of: scenarios, Self.doubled)
      }
    }
    let one = try #require(try trials(["b"]))
    #expect(one.harmful.map(\.key) == ["b"])
    let outage = try #require(found.cases.first { $0.name == "outage" })
    #expect(asked[0].count == 3 * outage.pairs)
    #expect(asked[0].allSatisfy { $0.tapi.incidents.count == 2 })
    #expect(told(found, trials: one)[.cause] == ["b: with today's value neither harm nor gain is left"])
    let two = try #require(try trials(["a", "c"]))
    #expect(two.harmful.map(\.key) == ["a", "c"])
    #expect(told(found, trials: two)[.cause].first?.hasPrefix("a and c together: ") ?? false)
    #expect(
      told(found, trials: try trials([]))[.cause]
        == ["several of the 3 changed keys: with today's value of one it is still worse"])
  }

  @Test("of several causes the one is first without which something is left of the change, and gets better")
  func bestCause() throws {
    var other = Self.proposed
    other.fleet[0].timeout = .seconds(25)
    let found = try decision(change: Self.doubled)
    var trials = try #require(
      try KeyTrials(found, [Self.trial("a", Self.today), Self.trial("b", other)]) {
        scenarios in
        var runs = Self.runs(of: scenarios, Self.doubled)
        for index in runs.indices where scenarios[index].fleet[0].timeout == .seconds(25) {
          runs[index].recoveryTime = runs[index].recoveryTime.map { $0 / 2 }
        }
        return runs
      })
    #expect(trials.harmful.map(\.key) == ["b", "a"])
    // All cases without that key: what gets better there is said.
    #expect(
      told(found, trials: trials)[.cause]
        == ["b and a together: with any as today's value nothing is worse, and a gain is left"])
    trials.instead = found
    #expect(
      told(found, trials: trials)[.cause]
        == ["b and a together: with any as today's value that figure is not worse, others are"])
  }

  @Test("nothing is told apart where nothing is worse, or where one key changes")
  func noCauses() throws {
    let good = try decision { run, isProposed, _ in if isProposed { run.attemptsAboveTwinPerDevice = 5 } }
    let bad = try decision { run, isProposed, _ in if isProposed { run.attemptsAboveTwinPerDevice = 20 } }
    let trial = Self.trial("a", Self.today)
    for (decision, trials) in [(good, [trial, trial]), (bad, [trial])] {
      #expect(try KeyTrials(decision, trials) { _ in throw CancellationError() } == nil)
    }
  }

  @Test("what may get worse does not keep it from being published, and is said")
  func allowed() throws {
    let found = try decision(Decision.Terms(allowed: Set(DecisionCriterion.attempts.metrics))) {
      run, isProposed, isOutage in
      guard isProposed, isOutage else { return }
      run.attemptsAboveTwinPerDevice = 20
      run.recoveryTime = run.recoveryTime.map { $0 / 2 }
    }
    #expect(found.outcome == .publish)
    #expect(told(found)[.price] == ["\(Self.outage): 20 extra requests a device (today 10), allowed"])
  }

  @Test("what is still lost is told by cohort and limit, and why runs fail")
  func remainder() throws {
    let found = try decision { run, isProposed, isOutage in
      guard isOutage else { return }
      var phones = CohortLosses()
      phones.createdEvents = 1_000_000
      phones.lostEvents = isProposed ? 20_000 : 5_000
      phones.givenUp[.droppedByRetryLimit] = phones.lostEvents
      run.cohorts = [phones]
      run[.droppedByRetryLimit] = phones.lostEvents
    }
    let loss = "\(Self.outage): phones (tapi-document) 20,000 events a run: backoffConfig.maxRetryCount "
    #expect(told(found)[.lost].first?.hasPrefix(loss) ?? false, "\(told(found)[.lost])")
    // What fails alike today is told so.
    #expect(
      told(found)[.fails] == [
        "\(Self.outage): 6 of 6 runs fail (today 0 of 6): up to 2 % of the affected events lost"
      ])
  }

  @Test("the time and the requests that kept events take are a price to be allowed")
  func price() throws {
    let found = try decision { run, isProposed, isOutage in
      guard isOutage else { return }
      run[.droppedByRetryLimit] = isProposed ? 0 : 5_000
      run.attemptsAboveTwinPerDevice = isProposed ? 30 : 10
      if isProposed { run.recoveryTime = run.recoveryTime.map { 2 * $0 } }
    }
    #expect(found.outcome == .worse && found.isAtAPrice)
    #expect(told(found)[.better].first == "\(Self.outage): 0 events lost (today 5,000)")
    #expect(
      told(found)[.price] == [
        "\(Self.outage): caught up after 33 min 30 s (today 16 min 45 s), 30 extra requests a device (today 10)"
      ])
    #expect(told(found)[.worse].isEmpty)
    #expect(found.waiver == ["--allow", "recovery", "--allow", "attempts"])
    // What is paid for, and a change without the price that does not have it.
    #expect(found.gains.map { found.cases[$0].phrase } == [Self.outage])
    // A cure of what always fails may have one, however few the runs; without one it takes 59.
    let cures = try [30.0, 10].map { attempts in
      try decision { run, isProposed, isOutage in
        if isOutage, !isProposed { run.recoveryTime = nil }
        if isOutage, isProposed { run.attemptsAboveTwinPerDevice = attempts }
      }
    }
    #expect(cures[0].isAtAPrice && cures[0].waiver == ["--allow", "attempts"])
    #expect(cures[1].outcome == .publish && cures[1].cases.allSatisfy { $0.proposed.count >= 59 })
    let free = try decision { run, isProposed, isOutage in
      guard isOutage else { return }
      run[.droppedByRetryLimit] = 5_000
      run.attemptsAboveTwinPerDevice = isProposed ? 5 : 10
    }
    #expect(!free.isRefused && !free.cells(.better).isEmpty && free.gains.isEmpty)
    var trials = try #require(
      try KeyTrials(found, ["a", "b"].map { Self.trial($0, Self.today) }) { scenarios in
        Self.runs(of: scenarios) { _, _, _ in }
      })
    trials.instead = free
    #expect(
      told(found, trials: trials)[.cause].first?.hasSuffix(
        "nothing is worse, but the gain of 1 case is gone, too") ?? false)
  }

  @Test("a requirement that one run breaks refuses them, or breaking it more often where nothing keeps it")
  func requirement() throws {
    func found(asToday: Bool, _ breaks: @escaping (_ seed: UInt64, _ isProposed: Bool) -> Bool) throws
      -> Decision
    {
      let requirement = try Requirement("lost = 0")
      return try decision(Decision.Terms(requirements: [requirement], breaksAsToday: asToday)) {
        run, isProposed, isOutage in
        guard isOutage else { return }
        if isProposed { run.recoveryTime = run.recoveryTime.map { $0 / 2 } }
        if breaks(run.seed, isProposed) { run[.droppedByRetryLimit] = 1 }
      }
    }
    // An event is less than matters. At the 40th seed there are proposed runs alone.
    let once = try found(asToday: false) { $1 && $0 == 40 }
    #expect(once.outcome == .worse && once.cells(.worse).isEmpty && !once.isAtAPrice)
    #expect(
      told(once)[.worse]
        == ["less than 1 % of the runs break lost = 0 (today 0 %), the worst with 1"])
    for (asToday, outcome) in [(false, Decision.Outcome.worse), (true, .publish)] {
      #expect(try found(asToday: asToday) { _, _ in true }.outcome == outcome)
      #expect(try found(asToday: asToday) { $1 || $0 % 2 == 0 }.outcome == .worse)
    }
  }

  @Test("an objective that is no criterion may get worse, and is a gain where it gets better")
  func objective() throws {
    let retries = try #require(MetricCatalogue.metric(named: "retries"))
    func outcome(_ proposed: Int64, recovers: Bool) throws -> Decision.Outcome {
      try decision(Decision.Terms(objectives: [retries])) { run, isProposed, isOutage in
        run[.retries] = isProposed ? proposed : 1_000
        if recovers, isProposed, isOutage { run.recoveryTime = run.recoveryTime.map { $0 / 2 } }
      }.outcome
    }
    #expect(try outcome(500, recovers: false) == .publish)
    #expect(try outcome(1_000, recovers: false) == .noBetter)
    #expect(try outcome(2_000, recovers: true) == .publish)
  }

  @Test("is not published where nothing gets better")
  func same() throws {
    let found = try decision { _, _, _ in }
    #expect(found.outcome == .noBetter)
    // What can't get better needs no runs that exclude a failure.
    #expect(found.cases.allSatisfy { $0.proposed.count == Decision.looks[0] })
    #expect(told(found)[.worse].isEmpty && told(found)[.better].isEmpty)
    #expect(told(found)[.reason] == ["no figure changes"] && told(found)[.same].count == 1)
  }

  @Test("more seeds follow where nothing is better yet; a kept event is not held against them as late")
  func kept() throws {
    let found = try decision { run, isProposed, isOutage in
      // Every other run: three clumps of six are too few to tell, and 15 of 30 are not.
      guard isOutage, run.seed % 2 == 0 else { return }
      if isProposed { run.lateEvents = 500 } else { run[.droppedByRetryLimit] = 600 }
    }
    #expect(found.outcome == .publish)
    #expect(state(found, "outage", MetricCatalogue.lost) == .better)
    #expect(state(found, "outage", MetricCatalogue.late) == .asGood)
    let outage = try #require(found.cases.first { $0.name == "outage" })
    #expect(outage.today.count == 30)
    let back = try decision { run, isProposed, isOutage in
      guard isOutage else { return }
      if isProposed { run.lateEvents = 1_000 } else { run[.droppedByRetryLimit] = 600 }
    }
    // 400 more than were lost are late.
    #expect(state(back, "outage", MetricCatalogue.late) == .worse)
  }

  @Test("figures are those of the whole fleet")
  func fullSize() throws {
    var today = Self.today
    today.scale = 1_000
    let runs = { (scenarios: [Scenario]) in
      scenarios.map { scenario in
        let loses = scenario.fleet[0].timeout != .seconds(20) && scenario.tapi.incidents.count == 2
        var run = RunSummary.planted(
          seed: scenario.seed, within: nil, lost: loses ? 39_497 : 0, of: 1_000_000)
        run.scale = 1_000
        return run
      }
    }
    var found = Decision(IncidentSuite(of: today).cases(today: today, proposed: Self.proposed))
    try found.run(runs, failures: runs)
    #expect(found.outcome == .publish)
    #expect(told(found)[.better].first == "\(Self.outage): 0 events lost (today 39,497,000)")
  }

  // MARK: The suite

  /// Which cases are watched for longer where runs recover after a time by their incidents and Settings; nil: never.
  private func lengthened(_ recovery: @escaping (Scenario) -> Span?) throws -> (IncidentSuite, longest: Span)
  {
    var longest = Span.zero
    let suite = try IncidentSuite(of: Self.today).lengthened(for: [Self.today, Self.proposed]) { scenarios in
      scenarios.map { scenario in
        let end = scenario.tapi.incidents.map { $0.end - .start }.max() ?? .zero
        let horizon = scenario.duration - end
        longest = max(longest, horizon)
        let time = recovery(scenario).flatMap { $0 <= horizon ? Double($0.microseconds) / 1e6 : nil }
        return .planted(
          seed: scenario.seed, recovery: time, within: Double(horizon.microseconds) / 1e6)
      }
    }
    return (suite, longest)
  }

  @Test("a case that recovers late in one of both Settings, or just within the run, is watched for longer")
  func lateRecovery() throws {
    let (suite, _) = try lengthened {
      $0.tapi.incidents.count == 2 && $0.fleet[0].timeout == .seconds(20) ? .hours(3) : .minutes(20)
    }
    #expect(suite.lengthened.map(\.name) == ["outage"])
    let outage = try #require(suite.lengthened.first)
    // A recovery of three hours is seen, with room for other seeds.
    #expect(suite.duration(of: outage) - outage.end >= .hours(4))
    #expect(suite.scenario(outage, of: Self.today).duration == suite.duration(of: outage))
    // Short incidents leave more of the run.
    let close = try lengthened { _ in .minutes(95) }.0.lengthened.map(\.name)
    #expect(close.contains("outage") && !close.contains("restart"), "\(close)")
    // What never recovers is watched for twelve hours once, and then as long as the rest.
    let (never, longest) = try lengthened { _ in nil }
    #expect(never.lengthened.isEmpty && longest == IncidentSuite.longestWatched)
  }

  @Test("the suite lies at the busiest time, and the run is lengthened to see a recovery")
  func suite() throws {
    var scenario = Self.today
    scenario.duration = .hours(4)
    scenario.fleet[0].events = .varying(
      meanGap: .minutes(1),
      RateCurve(
        .points([
          .init(time: .zero, factorPartsPerMillion: 1_000_000),
          .init(time: .hours(3), factorPartsPerMillion: 2_000_000),
          .init(time: .hours(4), factorPartsPerMillion: 1_000_000),
        ]), period: nil))
    #expect(!IncidentSuite(of: scenario.withoutIncidents).cases.contains { $0.name == "own" })
    // What happens to the clients alone, or what operators do, is the scenario's own case, too.
    var spiked = scenario.withoutIncidents
    spiked.fleet[0].spikes = [Spike(time: .start + .minutes(230), events: 5)]
    let own = IncidentSuite(of: spiked)
    #expect(own.cases[0].name == "own" && own.cases[0].hasIncidents && own.cases[0].phrase == "spike")
    #expect(own.scenario(own.cases[0], of: spiked).fleet == spiked.fleet)
    #expect(own.duration > .minutes(320))
    spiked.fleet[0].spikes = []
    spiked.tapi.actions = [ServerAction(.shed(Shedding()), at: .start + .minutes(5))]
    #expect(IncidentSuite(of: spiked).cases[0].phrase == "what operators do")
    let suite = IncidentSuite(of: scenario)
    let outage = try #require(suite.cases.first { $0.name == "outage" }?.incidents.first)
    let middle = (outage.start.microseconds + outage.end.microseconds) / 2
    #expect(abs(middle - Span.hours(3).microseconds) < Span.minutes(2).microseconds)
    #expect(suite.duration > .hours(4))
    #expect(Set(suite.cases.map { suite.scenario($0, of: scenario).duration }) == [suite.duration])
  }
}
