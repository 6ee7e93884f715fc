import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TestScenarios
import TestSupport
import Testing
import UploadGating
import UploadRetry

/// What destroyed events, and that it did: without the limit they are not lost so.
@Suite("Loss charges")
struct LossChargeTests {
  /// Two cohorts before a server that is down for a while; one limit of each is low enough to be reached in most.
  private static func lossy(_ random: inout SeededGenerator, _ seed: UInt64) -> Scenario {
    let isLimited = Bool.random(using: &random)
    let fleet = ["phones", "tablets"].map { name in
      var cohort = Cohort(name: name, devices: 40, events: .poisson(meanGap: .seconds(10)))
      cohort.retries = .timer
      cohort.latency = .constant(.milliseconds(200))
      cohort.settings.backoff.maxBackoffInterval = 20_000_000
      cohort.settings.rateLimit.maxRetryInterval = 20_000_000
      switch Int.random(in: 0..<4, using: &random) {
      case 0: cohort.settings.backoff.maxRetryCount = Int.random(in: 1...5, using: &random)
      case 1: cohort.settings.rateLimit.maxRetryCount = Int.random(in: 1...5, using: &random)
      case 2:
        let age = Int64.random(in: 60...200, using: &random) * 1_000_000
        cohort.settings.backoff.maxTotalBackoffDuration = age
        cohort.settings.rateLimit.maxTotalBackoffDuration = age
      default: cohort.queue.limit = Int.random(in: 5...20, using: &random)
      }
      return cohort
    }
    var scenario = Scenario.planted(
      seed: seed, duration: .minutes(40), interval: .seconds(10), capacityMilli: 10_000,
      incidents: [.outage(status: isLimited ? 429 : 503, at: .minutes(5), for: .minutes(10))])
    scenario.fleet = fleet
    return scenario
  }

  @Test("Without the limit that is named, nothing is lost by it: 20 scenarios that lose events")
  func removal() throws {
    var random = SeededGenerator(seed: 33)
    var found = 0
    var limits: Set<LossCharge.Limit> = []
    for seed in 1...100 as ClosedRange<UInt64> where found < 20 {
      let scenario = Self.lossy(&random, seed)
      let record = try Simulation.run(scenario)
      let charges = LossCharge.charges(of: record.losses(beyond: ReferenceRuns(twin: record), late: 0))
      #expect(
        charges.reduce(0) { $0 + $1.events } - record.series.totals[.acceptedAfterDropEvents]
          == record.series.totals.lostEvents + record.series.totals[.blockedEvents])
      guard let worst = charges.first else { continue }
      found += 1
      #expect(charges.allSatisfy { $0.events <= worst.events })
      limits.insert(try #require(worst.limit))
      var lifted = scenario
      try #require(worst.limit).remove(from: &lifted.fleet[worst.cohort])
      let without = try Simulation.run(lifted)
      #expect(without.cohorts[worst.cohort][worst.reason] == 0, "seed \(seed): \(worst)")
    }
    #expect(found == 20)
    #expect(limits.count >= 4)
  }

  @Test("Another incident hours later hides no loss: the run still fails")
  func laterIncident() throws {
    var random = SeededGenerator(seed: 33)
    var scenario = Self.lossy(&random, 1)
    scenario.duration = .hours(4)
    var other = scenario
    other.tapi.incidents.append(.outage(at: .hours(3), for: .seconds(1)))
    let runs = try Comparison.run(
      [Variant(name: "one", scenario: scenario), Variant(name: "two", scenario: other)], workers: 2
    ).map(\.summary)
    #expect(runs[0].affectedEvents > 1_000 && runs[0].fails && runs[1].fails)
    #expect(abs(Double(runs[1].affectedEvents) / Double(runs[0].affectedEvents) - 1) < 0.05)
  }

  @Test("The cohorts' late events are the fleet's, wherever a run ends")
  func late() throws {
    var random = SeededGenerator(seed: 33)
    let variants = (1...12 as ClosedRange<UInt64>).map { seed in
      var scenario = Self.lossy(&random, seed)
      scenario.duration = .minutes(Int64(15 + seed))
      return Variant(name: "v\(seed)", scenario: scenario)
    }
    let results = try Comparison.run(variants, workers: 2)
    #expect(results.count { $0.summary.lateEvents > 0 && $0.summary.cohorts.count > 1 } > 5)
    for result in results {
      let sum = result.summary.cohorts.reduce(0) { $0 + $1.late.total }
      #expect(sum == result.summary.lateEvents, "\(result.name)")
    }
  }

  /// A run in which each cohort gave up so many of a thousand events.
  private static func run(_ cohorts: (retries: Int64, page: Int64)...) -> RunSummary {
    var run = RunSummary(run: "s", seed: 1)
    run.cohorts = cohorts.map { retries, page in
      var losses = CohortLosses()
      (losses.createdEvents, losses.lostEvents) = (1_000, retries + page)
      losses.givenUp = [.droppedByRetryLimit: retries, .lostWithPage: page].filter { $0.value > 0 }
      return losses
    }
    return run
  }

  private static func run(_ scenario: Scenario) throws -> RunSummary {
    try Comparison.run([Variant(name: "s", scenario: scenario)], workers: 1)[0].summary
  }

  private static func report(_ scenario: Scenario, _ runs: RunSummary...) -> LossReport {
    LossReport([Variant(name: "s", scenario: scenario)], runs: [runs])
  }
  /// Of a run under each seed, with its worst charge checked.
  /// - Parameter planted: in place of the runs under these seeds.
  private static func checked(
    _ scenario: Scenario, _ planted: RunSummary? = nil, seeds: [UInt64] = [1], few: Int64 = 10_000_000
  ) throws -> (report: LossReport, runs: [RunSummary]) {
    let runs = try planted.map { [$0] } ?? seeds.map { try run(scenario.with(seed: $0)) }
    var report = LossReport([Variant(name: "s", scenario: scenario)], runs: [runs])
    try report.checkLimit(few: few)
    return (report, runs)
  }

  @Test("What was accepted after it was given up is in no line")
  func acceptedAfterAll() {
    func notes(lost: Int64) -> [String] {
      var run = Self.run((retries: 40, page: 90))
      run.cohorts[0].lostEvents = lost
      return Self.report(Self.outage(minutes: 10), run).notes
    }
    let (page, limit) = ("lost with the page that held them", "backoffConfig.maxRetryCount 100")
    #expect(
      notes(lost: 130)
        == ["90 events: \(page)", "40 events: \(limit)"].map { "phones (tapi-document) " + $0 })
    #expect(notes(lost: 100) == ["phones (tapi-document) 100 events: \(page) or \(limit)"])
    #expect(notes(lost: 0).isEmpty)
  }

  @Test("Cohorts that lose to one cause are one line, and another cause is another")
  func severalCohorts() {
    var scenario = Self.outage(minutes: 10)
    scenario.fleet = ["a", "b", "c", "d"].map { name in
      var cohort = scenario.fleet[0]
      cohort.name = name
      return cohort
    }
    // The largest loss of a single cohort is no more than the second line.
    let run = Self.run((30, 0), (50, 0), (0, 60), (7, 0))
    let notes = Self.report(scenario, run).notes
    let client = "(tapi-document)"
    #expect(
      notes == [
        "b \(client) 50, a \(client) 30 and 1 more cohort 7 events: backoffConfig.maxRetryCount 100",
        "c \(client) 60 events: lost with the page that held them",
      ])
  }

  @Test("Variants that lose to one cause are one line, of the one that loses most")
  func severalVariants() {
    let variants = ["a", "b", "c"].map { Variant(name: $0, scenario: Self.outage(minutes: 10)) }
    let runs = [(30, 0), (50, 0), (0, 10)].map { [Self.run($0)] }
    #expect(
      LossReport(variants, runs: runs).notes == [
        "2 variants, most with b: phones (tapi-document) 50 events: backoffConfig.maxRetryCount 100",
        "c: phones (tapi-document) 10 events: lost with the page that held them",
      ])
  }

  @Test(
    "The worst charge is checked with as much as Settings allow, of several runs in the one that loses most",
    arguments: [[1], [1, 2]] as [[UInt64]])
  func check(seeds: [UInt64]) throws {
    var scenario = Self.outage(minutes: 10) { $0.maxRetryCount = 3 }
    let (report, runs) = try Self.checked(scenario, seeds: seeds)
    let lost = runs.map(\.lostOrBlockedEvents)
    #expect(Set(lost).count == seeds.count && !lost.contains(0))
    let mean = FigureText.amount(Double(lost.reduce(0, +)) / Double(lost.count))
    let note =
      seeds.count == 1
      ? "\(mean) events: backoffConfig.maxRetryCount 3; with 1000: none"
      : "\(mean) events a run: backoffConfig.maxRetryCount 3; with 1000 the worst run loses none"
    #expect(report.notes == ["phones (tapi-document) " + note])
    #expect(report.cure == "backoffConfig.maxRetryCount to 1000")
    // The run that a user would make loses what the note says.
    scenario.fleet[0].settings.backoff.maxRetryCount = 1_000
    #expect(try Simulation.run(scenario).series.totals.lostOrBlockedEvents == 0)
  }

  /// analytics-react-native makes 100 of any higher count (config-validation.ts:42-48).
  @Test("A limit is raised to what its clients take; a value beyond that is no cure")
  func clamped() throws {
    var scenario = Self.outage(minutes: 10) { $0.maxBackoffInterval = 1_000_000 }
    scenario.tapi.server = .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 2_000))
    scenario.fleet.append(scenario.fleet[0])
    scenario.fleet[1].name = "others"
    func set(_ counts: [Int]) {
      for place in [0, 1] { scenario.fleet[place].settings.backoff.maxRetryCount = counts[place] }
    }
    func lost(_ counts: [Int]) throws -> Int64 {
      set(counts)
      return try Self.run(scenario).lostOrBlockedEvents
    }
    func checked(_ counts: [Int]) throws -> LossReport {
      set(counts)
      return try Self.checked(scenario).report
    }
    // 600 s at a wait of one second and more are no more than 600 tries.
    #expect(try lost([1_000, 1_000]) == 0)
    #expect(try checked([3, 3]).cure == "backoffConfig.maxRetryCount to 1000")
    scenario.fleet[0].behaviour.settingsDialect = .analyticsReactNative
    let left = try lost([100, 1_000])
    #expect(left > 0)
    let both = try checked([3, 3])
    #expect(both.cure == nil)
    #expect(both.notes.first?.contains(" events: backoffConfig.maxRetryCount 3; with ") == true)
    #expect(
      both.notes.first?.contains(": \(FigureText.grouped(left)), in place of ") == true, "\(both.notes)")
    let alone = try checked([100, 1_000])
    #expect(alone.cure == nil && alone.notes.first?.hasSuffix("; without that limit: none") == true)
    // Whom no file reaches a file does not cure.
    scenario.fleet[0].behaviour.settingsDialect = .document
    for place in [0, 1] { scenario.fleet[place].behaviour.settingsFetch = .never }
    #expect(try checked([3, 3]).cure == nil)
  }

  /// Settings allow 168 h at most (S14); a client with waits of its own may have more.
  @Test("An age beyond what Settings allow is taken away, not lowered; two ages are both told")
  func ages() throws {
    let (age, only) = ("maxTotalBackoffDuration ", "rateLimitConfig.maxRateLimitDuration 12 h; with")
    for (backoff, rateLimit, delays, told) in [
      (Span.hours(720), Span.hours(720), false, age + "720 h; without that limit: none"),
      (.hours(720), .hours(12), false, only + "out that limit: none"),
      (.hours(168), .hours(12), false, only + " 168 h: none"),
      (.hours(12), .minutes(10), false, age + "12 h (10 min after a 429); with 168 h in both sections: none"),
      (.hours(12), .hours(12), false, age + "12 h; with 168 h in both sections: none"),
      // A client to which a 429 is a failure as any has one limit.
      (.hours(12), .minutes(10), true, "backoffConfig." + age + "12 h; with 168 h: none"),
      // Clients without such a limit on 429s have the largest number there (NativeSettings).
      (.hours(12), Span(microseconds: .max), false, "backoffConfig." + age + "12 h; with 168 h: none"),
    ] {
      var scenario = Self.outage(minutes: 1) { $0.maxTotalBackoffDuration = backoff.microseconds }
      scenario.fleet[0].settings.rateLimit.maxTotalBackoffDuration = rateLimit.microseconds
      if delays { scenario.fleet[0].policy.rateLimited = .delaysBatch }
      var run = RunSummary(run: "s", seed: 1)
      (run[.droppedByAge], run[.backlogEvents], run.cohorts) = (40, 1_000, [CohortLosses()])
      (run.cohorts[0].lostEvents, run.cohorts[0].givenUp) = (40, [.droppedByAge: 40])
      #expect(try Self.checked(scenario, run).report.notes == ["phones (tapi-document) 40 events: \(told)"])
    }
  }

  @Test("Where another limit takes over, the note has what is lost all the same; nothing lost is not checked")
  func otherLimit() throws {
    var scenario = Self.outage(minutes: 10) {
      ($0.maxRetryCount, $0.maxTotalBackoffDuration) = (1, 60_000_000)
    }
    let (report, runs) = try Self.checked(scenario)
    let before = FigureText.grouped(runs[0].lostOrBlockedEvents)
    scenario.fleet[0].settings.backoff.maxRetryCount = 1_000
    let left = try Simulation.run(scenario).series.totals.lostOrBlockedEvents
    #expect(left > 0)
    #expect(
      report.notes.first?.hasSuffix(
        "; with 1000: \(FigureText.grouped(left)), in place of \(before), most by phones (tapi-document): "
          + "maxTotalBackoffDuration 1 min (12 h after a 429) reached"
      ) == true, "\(report.notes)")

    let none = try Self.checked(Self.outage(minutes: 1)).report
    #expect(none.check == nil && none.notes.isEmpty)
  }

  @Test("As good as all that is lost without a limit, too, is hardly fewer, rather than one figure twice")
  func hardlyFewer() throws {
    var scenario = Self.outage(minutes: 10) {
      ($0.maxRetryCount, $0.maxTotalBackoffDuration) = (1, 60_000_000)
    }
    scenario.fleet[0].events = .poisson(meanGap: .seconds(1))
    var run = try Self.run(scenario)
    scenario.fleet[0].settings.backoff.maxRetryCount = 1_000
    // One event more is no other amount than what a run with the higher limit loses.
    let left = try Simulation.run(scenario).series.totals.lostOrBlockedEvents
    scenario.fleet[0].settings.backoff.maxRetryCount = 1
    run.scale = 1_000
    run[.droppedByRetryLimit] += left + 1 - run.lostOrBlockedEvents
    #expect(run.lostOrBlockedEvents == left + 1)
    #expect(try Self.checked(scenario, run).report.notes.first?.contains(": hardly fewer, most by ") == true)
  }

  @Test("A limit that no run is long enough to reach is told of as one that ends before the app opens again")
  func doomed() throws {
    // Apps are open for two minutes, every 17 hours in the mean; the run is of four hours, the limit of ten.
    let age: Int64 = 10 * 3_600_000_000
    var scenario = Self.outage(minutes: 10) { ($0.maxRetryCount, $0.maxTotalBackoffDuration) = (1, age) }
    scenario.duration = .hours(4)
    scenario.fleet[0].devices = 4_000
    scenario.fleet[0].events = .poisson(meanGap: .hours(1))
    scenario.fleet[0].sessions = Sessions(
      sharePartsPerMillion: 2_000, length: .constant(.minutes(2)), createsEventsInBackground: true)
    scenario.fleet[0].settings.rateLimit.maxTotalBackoffDuration = age
    let (report, runs) = try Self.checked(scenario)
    #expect(runs[0].doomedEvents > 0)
    #expect(report.notes.joined().contains("maxTotalBackoffDuration 10 h ends before the app opens again"))
    #expect(!report.notes.joined().contains("10 h reached"), "\(report.notes)")
    #expect(
      report.notes.first?.contains("most by phones (tapi-document): maxTotalBackoffDuration 10 h ends")
        == true)
  }

  @Test("A run without the limit that makes over four times the requests is stopped, and the note says so")
  func endless() throws {
    var scenario = Self.outage(minutes: 10) { ($0.maxBackoffInterval, $0.maxRetryCount) = (1_000_000, 1_000) }
    let endless = try Self.run(scenario)
    scenario.fleet[0].settings.backoff.maxRetryCount = 1
    for (few, end) in [(1, "with 1000: over 4 times the requests"), (endless.attempts, "with 1000: none")] {
      let (report, runs) = try Self.checked(scenario, few: few)
      #expect(report.notes.first?.contains("; " + end) == true, "\(report.notes)")
      #expect(endless.attempts > 4 * runs[0].attempts && endless.lostOrBlockedEvents == 0)
    }
  }

  /// - Parameter change: of the backoff, which has its defaults otherwise.
  private static func outage(
    minutes: Int64, _ change: (inout BackoffConfig) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario.planted(
      duration: .minutes(40), interval: .seconds(10), capacityMilli: 10_000, burst: 20,
      incidents: [.outage(at: .minutes(5), for: .minutes(minutes))], devices: 40, gap: .seconds(10))
    scenario.fleet[0].retries = .timer
    scenario.fleet[0].preset.name = "tapi-document"
    change(&scenario.fleet[0].settings.backoff)
    return scenario
  }

  @Test("Late events are charged to where they wait: a long Retry-After, a backoff, a gate")
  func places() throws {
    func late(_ change: (inout Scenario) -> Void) throws -> [PendingPlace] {
      var scenario = Self.outage(minutes: 34)
      change(&scenario)
      let run = try Self.run(scenario)
      #expect(run.cohorts[0].late.total == run.lateEvents)
      return run.cohorts[0].late.places
    }
    let backoff = try late {
      $0.fleet[0].settings.backoff.baseBackoffInterval = 3_600_000_000
      $0.fleet[0].settings.backoff.maxBackoffInterval = 3_600_000_000
    }
    #expect(backoff.first == .backoff)
    let held = try late {
      $0.fleet[0].gates.retryBudget = RetryBudget(
        bucket: .init(capacity: 1, perSuccess: 0, trickle: 3_600_000_000))
    }
    #expect(held.first == .gate)
    // No client could have delivered what waits in closed apps, or without a network.
    let closed = try late {
      $0.fleet[0].flush.count = nil
      $0.fleet[0].sessions = Sessions(
        sharePartsPerMillion: 2_000, length: .constant(.minutes(5)), createsEventsInBackground: true)
    }
    let offline = try late {
      $0.fleet[0].connectivity = Connectivity(interruptions: [
        .init(start: .start + .minutes(30), duration: .hours(1))
      ])
    }
    #expect(closed.isEmpty && offline.isEmpty)
    let refused = try late {
      $0.tapi.incidents[0].kind = .outage(status: 429, retryAfter: .fixed(.hours(1)), keepsWork: false)
      $0.fleet[0].settings.rateLimit.maxRetryInterval = 3_600_000_000
    }
    #expect(refused.first == .rateLimit)
    let unanswered = try late {
      $0.tapi.incidents[0].kind = .outage(status: nil, retryAfter: .none, keepsWork: false)
      $0.fleet[0].timeout = .hours(2)
    }
    #expect(unanswered.first == .underway)
  }
}
