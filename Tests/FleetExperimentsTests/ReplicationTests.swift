import FleetExperiments
import FleetMetrics
import TestScenarios
import Testing
import UploadRetry

/// Replications with a stand-in for the engine, so that which runs are made can be seen.
@Suite("Replications")
struct ReplicationTests {
  struct Failure: Error {}

  /// A run's attempts depend on its seed, and on the devices of its scenario: "noise of the seed + effect of the variant".
  static func engine(failsAt failing: UInt64? = nil) -> CountingEngine {
    CountingEngine { scenario, _, _ in
      if scenario.seed == failing { throw Failure() }
      let noise = Int64((scenario.seed &* 2_654_435_761) % 97)
      let isTwin = scenario.tapi.incidents.isEmpty || scenario.isIdeal
      let effect = isTwin ? 0 : Int64(scenario.fleet[0].devices)
      var series = TimeSeries(interval: 1_000_000, duration: 200_000_000, rows: 200)
      for i in 0..<200 {
        series[i, .firstAttempts] = 1_000 + noise * 10 + effect
        series[i, .backlogEvents] = !isTwin && i >= 10 && i < 60 + Int(noise) / 10 ? 100 : 10
      }
      var record = RunRecord.planted(series)
      record.cost.total[.attempts] = 1_000 + noise * 10 + effect
      if !isTwin {
        record.incidents = [IncidentSpan(label: "outage 503", isOutage: true, start: 0, end: 10_000_000)]
      }
      return record
    }
  }

  func variant(_ name: String, effect: Int) -> Variant {
    Variant(
      name: name,
      scenario: .planted(
        seed: 99, duration: .seconds(200), incidents: [.outage(for: .seconds(10))], devices: effect))
  }

  var variants: [Variant] { [variant("a", effect: 1), variant("b", effect: 4), variant("c", effect: 4)] }

  func run(_ plan: ReplicationPlan, _ engine: CountingEngine = engine(), workers: Int = 2) throws -> Trial {
    try Replications.run(variants, plan: plan, workers: workers, engine: engine.stand)
  }

  /// A fixed number of seeds, and one that ends as soon as all is decided.
  private static let plans = [
    ReplicationPlan(firstSeed: 1, count: 13), ReplicationPlan(firstSeed: 1, until: SeedPlan()),
  ]
  private static let ofOneWorker = Result { try plans.map { try ReplicationTests().run($0, workers: 1) } }

  @Test("nothing that comes out depends on the number of workers", arguments: [1, 2, 3, 8])
  func workers(count: Int) throws {
    for (plan, expected) in zip(Self.plans, try Self.ofOneWorker.get()) {
      let found = try run(plan, workers: count)
      #expect(found.rows == expected.rows)
      #expect(StatisticsCSV.bytes(of: Standings(found)) == StatisticsCSV.bytes(of: Standings(expected)))
      #expect(found.curves.map { $0[.offered] } == expected.curves.map { $0[.offered] })
    }
  }

  @Test("the parts of anything are a partition of it in its order, and differ by one item at most")
  func partition() throws {
    for count in [1, 2, 3, 7, 64, 65] {
      let parts = try (1...count).map { try #require(RunShard("\($0)/\(count)")).part(of: 64) }
      #expect(parts.flatMap(\.self) == Array(0..<64))
      #expect(parts.map(\.count).max()! - parts.map(\.count).min()! <= 1)
    }
  }

  @Test(
    "a shard that there is not is none",
    arguments: [
      "0/0", "0/4", "5/4", "-1/4", "1/-4", "+1/4", "1", "1/", "/", "", "1/2/3", "a/b", "1.5/2", "1/1000001",
      "99999999999999999999/99999999999999999999", "9223372036854775807/4", " 1/4", "１/４",
    ])
  func noShard(text: String) { #expect(RunShard(text) == nil) }

  @Test("any number of shards makes the runs of a comparison, each once, and none is left")
  func shards() throws {
    let variants = (1...3).map { variant("\($0)", effect: $0) }
    let plan = ReplicationPlan(firstSeed: 5, count: 4)
    let (whole, wholeEngine) = (MemoryStore(), Self.engine())
    let compared = try Replications.run(
      variants, plan: plan, in: whole, workers: 2, engine: wholeEngine.stand)
    for count in [1, 2, 3, 4, 8, 12, 20] {
      let (parts, engine) = (MemoryStore(), Self.engine())
      for number in 1...count {
        try Replications.make(
          try #require(RunShard("\(number)/\(count)")), of: variants, plan: plan, in: parts, workers: 2,
          engine: engine.stand)
      }
      #expect(parts.files == whole.files && parts.files.count == 12)
      #expect(parts.kept.allSatisfy { $0.value == 1 }, "\(count) shards")
      let read = try Replications.run(variants, plan: plan, in: parts, workers: 2) { _, _, _ in
        throw Failure()
      }
      #expect(read.rows == compared.rows)
      // A shard of whole seeds makes no twin that another makes.
      if [1, 2, 4].contains(count) {
        #expect(engine.runs.map(\.seed).sorted() == wholeEngine.runs.map(\.seed).sorted())
      }
    }
  }

  @Test("a run that fails ends the comparison with its error")
  func failure() {
    #expect(throws: Failure.self) {
      _ = try run(ReplicationPlan(firstSeed: 1, count: 50), Self.engine(failsAt: 5))
    }
  }

  @Test("a stopped comparison makes no further run and says what it knows; without a whole seed it throws")
  func stopped() throws {
    func stopped(at seed: UInt64, _ engine: CountingEngine) throws -> Trial {
      let control = ComparisonControl()
      return try Replications.run(
        variants, plan: ReplicationPlan(firstSeed: 1, count: 1_000), workers: 1, control: control
      ) { scenario, options, runControl in
        if scenario.seed == seed { control.cancel() }
        if runControl.isCancelled { throw CancellationError() }
        return try engine.stand(scenario, options, runControl)
      }
    }
    let engine = Self.engine()
    let known = try stopped(at: 3, engine)
    #expect(!known.isFinished && known.replications == 2 && known.seeds == [1, 2])
    #expect(try run(ReplicationPlan(firstSeed: 1, count: 2)).rows == known.rows)
    #expect(engine.runs.count < 100)
    #expect(throws: CancellationError.self) { _ = try stopped(at: 1, engine) }
  }

  @Test("variants that no seed tells apart are said to be the same, and one variant is only described")
  func same() throws {
    func finding(_ variants: [Variant]) throws -> String {
      let plan = ReplicationPlan(firstSeed: 1, count: 5)
      let trial = try Replications.run(variants, plan: plan, workers: 2, engine: Self.engine().stand)
      return Standings(trial).story.finding
    }
    #expect(
      try finding([variant("a", effect: 1), variant("b", effect: 1)])
        == "All 2 variants gave the same figures")
    #expect(try finding([variant("alone", effect: 1)]).hasPrefix("Caught up after "))
  }

  @Test("a curve's band holds the mean of the runs and narrows with their number")
  func curves() throws {
    let few = try run(ReplicationPlan(firstSeed: 1, count: 5)).curves[0]
    let many = try run(ReplicationPlan(firstSeed: 1, count: 40)).curves[0]
    #expect(few[.offered].count == 200)
    let (a, b) = (try #require(few[.offered][50]), try #require(many[.offered][50]))
    #expect(a.low < a.mean && a.mean < a.high)
    #expect(b.high - b.low < (a.high - a.low) / 2)
    #expect(few[.backlog][5]?.mean == 10 && few[.backlog][40]?.mean == 100)
    #expect(few[.twinBacklog][40]?.mean == 10)
    #expect(few.facts?.incidents.count == 1)
  }
}
