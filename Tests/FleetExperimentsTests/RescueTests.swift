import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing
import UploadRetry

/// The smallest action that ends an ill state.
@Suite("Rescue")
struct RescueTests {
  /// Experiment 011 at a third of its size: a queue of 20 s of work before clients that wait for 10 s, and a server slowed to 60 %
  /// for five minutes.
  static let metastable: Scenario = {
    var cohort = Cohort(name: "phones", devices: 200, events: .poisson(meanGap: .seconds(10)))
    cohort.queue.mode = .rebatch
    cohort.retries = .timer
    cohort.timeout = .seconds(10)
    cohort.latency = .logNormal(
      median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(60))
    cohort.settings.backoff.jitter = .full
    cohort.settings.backoff.baseBackoffInterval = 1_000_000
    cohort.settings.backoff.maxBackoffInterval = 10_000_000
    let workers = WorkersConfiguration(
      count: 5, serviceTime: .exponential(mean: .milliseconds(500)), queueLimit: 200)
    return Scenario(
      duration: .minutes(30), interval: .seconds(10),
      tapi: TAPIConfiguration(
        server: .workers(workers), overload: Overload(status: 503),
        incidents: [
          Incident(
            kind: .brownout(factorPartsPerMillion: 600_000), start: .start + .minutes(5),
            duration: .minutes(5))
        ]), fleet: [cohort])
  }()

  /// The tests ask for many of the same runs.
  private static let runs = Runs(.summary, in: MemoryStore(), workers: 2)

  private func rescue(
    _ action: RescueAction, _ scenario: Scenario = metastable, seeds: Int = 2, triesAll: Bool = false
  ) throws -> Rescue {
    try Rescue(scenario, action, seeds: seeds, triesAll: triesAll) { try Self.runs.values(of: $0) }
  }

  @Test(
    "Bisection finds what brute force over the grid does, within one step",
    arguments: [
      (RescueAction.Kind.shed, nil as String?), (.capacity, "100%..250%"), (.readmit, "0s..4m"),
    ])
  func bruteForce(kind: RescueAction.Kind, range: String?) throws {
    let action = try RescueAction(kind, range: range, at: .start + .minutes(15), for: .minutes(5))
    let found = try #require(try rescue(action, seeds: 2).answer?.step)
    let scenarios = (1...2 as ClosedRange<UInt64>).map { Self.metastable.with(seed: $0) }
    let twins = try scenarios.map { try Simulation.run($0.withoutIncidents) }
    /// Asked of the engine itself.
    func allComeBack(_ change: (Scenario) -> Scenario) throws -> Bool {
      try zip(scenarios, twins).allSatisfy { scenario, twin in
        let record = try Simulation.run(change(scenario))
        return RunAnalysis.summary(of: record, ReferenceRuns(twin: twin), name: "", seed: scenario.seed)
          .recoveryTime != nil
      }
    }
    func changed(_ scenario: Scenario, _ step: Int) -> Scenario {
      action.scenario(scenario, with: action.range.quantity(at: Double(step) / Double(Rescue.steps)))
    }
    #expect(try !allComeBack { $0 })
    // Every value without any search, by runs that other tests ask for, too.
    let first = try #require(
      try (0...Rescue.steps).first { step in
        try scenarios.allSatisfy { try Self.runs.values(of: [changed($0, step)])[0].recoveryTime != nil }
      })
    #expect(try first > 0 && !allComeBack { changed($0, first - 1) } && allComeBack { changed($0, first) })
    #expect(abs(found - first) <= 1, "\(kind): \(found) and \(first)")
    #expect(found > 0)
  }

  @Test("Its cost is what a fleet that was never ill would have delivered; the ill state costs far more")
  func cost() throws {
    let action = try RescueAction(.shed, at: .start + .minutes(15), for: .minutes(5))
    let rescue = try rescue(action)
    let answer = try #require(rescue.answer)
    #expect(rescue.untreated.seeds == 2 && rescue.untreated.recovered == 0 && answer.recovered == 2)
    #expect(answer.undeliveredEvents < rescue.untreated.undeliveredEvents / 4)
    let words = RescueVerdict(rescue).sentence
    #expect(words.contains("is the smallest share of the requests to shed that ends it"), "\(words)")
    #expect(words.contains("all 2 seeds that are ill without"), "\(words)")
  }

  @Test(
    "Too much makes a herd of those who were turned away: the largest share does not end it, a smaller one does"
  )
  func tooMuch() throws {
    let rescue = try rescue(RescueAction(.shed, at: .start + .minutes(15), for: .minutes(5)))
    #expect(rescue.trials.last?.step == 32 && rescue.trials.last?.ends == false)
    let tooMuch = try #require(rescue.tooMuch)
    #expect(rescue.trials.last!.undeliveredEvents > rescue.untreated.undeliveredEvents)
    let words = RescueVerdict(rescue).sentence
    #expect(words.contains("From \(tooMuch.value!.words) on it is too much: that brings back "), "\(words)")
  }

  @Test("From where on it is too much is found to a step, as trying every value does")
  func tooMuchFromWhere() throws {
    let action = try RescueAction(.shed, at: .start + .minutes(15), for: .minutes(5))
    let all = try rescue(action, triesAll: true)
    let found = try #require(try rescue(action).tooMuch?.step)
    #expect(all.trials[found - 1].ends && !all.trials[found].ends)
  }

  @Test("One event is one event")
  func oneEvent() throws {
    let action = try RescueAction(.shed, range: "0%..10%", at: .start + .minutes(15), for: .minutes(5))
    let rescue = try Rescue(Self.metastable, action, seeds: 1) { scenarios in
      scenarios.map { _ in
        var summary = RunSummary(run: "", seed: 1)
        summary.hasIncidents = true
        summary[.createdEvents] = 1_000
        summary.lateEvents = 1
        return summary
      }
    }
    #expect(RescueVerdict(rescue).sentence.contains("Left alone it costs 1 delivered event a run "))
  }

  @Test("All values tried give the rows of the grid, and the answer from which on every value ends it")
  func every() throws {
    let action = try RescueAction(.capacity, range: "100%..250%", at: .start + .minutes(15), for: .minutes(5))
    let (all, some) = (try rescue(action, triesAll: true), try rescue(action))
    #expect(all.trials.map(\.step) == (0...32).map { $0 })
    #expect(abs((all.answer?.step ?? -9) - (some.answer?.step ?? 9)) <= 1)
    let known = Dictionary(uniqueKeysWithValues: all.trials.map { ($0.step!, $0) })
    #expect(some.trials.allSatisfy { known[$0.step!] == $0 })
  }

  @Test(
    "A fleet that comes back by itself needs no rescue, one that holds no load has none, a range may be too small"
  )
  func nothingToDo() throws {
    var healthy = Self.metastable
    healthy.tapi.incidents[0].duration = .seconds(30)
    let action = try RescueAction(.shed, at: .start + .minutes(15), for: .minutes(5))
    let well = try rescue(action, healthy)
    #expect(well.answer == nil && well.trials.isEmpty)
    #expect(RescueVerdict(well).sentence.hasPrefix("Nothing to end: "))

    var overloaded = Self.metastable
    overloaded.tapi.server = .workers(
      WorkersConfiguration(count: 1, serviceTime: .exponential(mean: .milliseconds(500)), queueLimit: 200))
    let hopeless = try rescue(action, overloaded)
    #expect(hopeless.trials.isEmpty)
    #expect(RescueVerdict(hopeless).sentence.hasPrefix("The fleet does not hold its load even"))

    let few = try RescueAction(.shed, range: "0%..10%", at: .start + .minutes(15), for: .minutes(5))
    let tooFew = try rescue(few)
    #expect(tooFew.answer == nil && tooFew.trials.count == 33)
    #expect(
      RescueVerdict(tooFew).sentence.hasPrefix(
        "No share from 0% to 10% ends it within the run, of which 10 min are left when the action is over: at best 0 of the 2 "
          + "fleets that are ill without come back."))
  }

  @Test(
    "A range that the action can't have is refused",
    arguments: [
      (RescueAction.Kind.shed, "0%..110%"), (.shed, "1s..2s"), (.capacity, "0%..200%"),
      (.readmit, "0%..50%"), (.readmit, "5m"),
    ])
  func badRange(kind: RescueAction.Kind, range: String) {
    #expect(throws: RangeProblem.self) {
      _ = try RescueAction(kind, range: range, at: .start, for: .minutes(1))
    }
  }
}
