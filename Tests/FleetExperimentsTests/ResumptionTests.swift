import FleetExperiments
import FleetMetrics
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing

/// Every study over one store of runs: killed after any number of them it goes on where it stood.
@Suite("Studies that go on where they stood")
struct ResumptionTests {
  private static let empty = Scenario.planted(duration: .minutes(60))

  /// Makes a study with a store, then with what was left of that after some of its runs.
  private func resumes<Answer: Equatable>(_ study: (MemoryStore) throws -> Answer) throws {
    let store = MemoryStore()
    let whole = try study(store)
    let count = store.files.count
    #expect(count > 3)
    for life in Set([1, count / 2, count - 1, count]) {
      let left = store.cutOff(after: life)
      #expect(left.files.count == life)
      #expect(try study(left) == whole, "after \(life) of \(count)")
      #expect(left.kept.count == count - life)
      #expect(left.files == store.files && left.damaged.isEmpty)
    }
  }

  @Test("a calibration")
  func calibration() throws {
    try resumes { store in
      let result = try Self.calibration(in: store)
      return [result.values, result.draws.map { "\($0)" }]
    }
  }

  private static func calibration(in store: MemoryStore) throws -> CalibrationResult {
    var text = "time,requests\n"
    for row in 0..<60 { text += "\(row * 10),\(100 + row % 7)\n" }
    let study = CalibrationStudy(
      keys: [try QuantityRange("fleet.a.devices=20..500")],
      observed: try ObservedSeries(text: text, name: "m.csv"),
      budget: CalibrationStudy.leastBudget)
    let runs = Runs(.counts(of: study), in: store, workers: 2) { scenario, _, _ in
      var series = TimeSeries(interval: 10_000_000, duration: 600_000_000, rows: 60)
      for row in 0..<60 {
        let noise = RandomKey(seed: scenario.seed).child(UInt64(row)).unitOpen
        series[row, .firstAttempts] = Int64(Double(scenario.fleet[0].devices) * (0.95 + 0.1 * noise))
      }
      return .planted(series)
    }
    var calibrator = Calibrator(study) { requests in
      try runs.values(
        of: requests.map { request in
          var scenario = Self.empty.with(seed: UInt64(request.seed))
          scenario.fleet[0].devices = Int(Quantity(request.values[0])?.value ?? 0)
          return scenario
        })
    }
    return try calibrator.run()
  }

  @Test("a search")
  func search() throws {
    var study = TunerTests().study()
    study.candidates = 40
    try resumes { store in
      let found = try TunerTests.Field(journal: store, time: TunerTests.bowl).tuned(study)
      return (found.standings + [found.winner]).map { "\($0.candidate.choices) \($0.score)" }
    }
  }

  private struct Replicated: Equatable {
    var rows: [RunSummary]
    var offered: [[VariantCurves.Point?]]
    var twinBacklog: [[VariantCurves.Point?]]
    var facts: [RunFacts?]
  }

  @Test("replications, curves too")
  func replications() throws {
    let tests = ReplicationTests()
    let plan = ReplicationPlan(firstSeed: 5, count: 12)
    try resumes { store in
      let found = try Replications.run(
        tests.variants, plan: plan, in: store, workers: 1, engine: ReplicationTests.engine().stand)
      return Replicated(
        rows: found.rows, offered: found.curves.map { $0[.offered] },
        twinBacklog: found.curves.map { $0[.twinBacklog] }, facts: found.curves.map(\.facts))
    }
  }

  @Test("a study takes the runs of another that are there, and makes none of them")
  func shared() throws {
    let tests = ReplicationTests()
    let (engine, store) = (ReplicationTests.engine(), MemoryStore())
    let found = try Replications.run(
      tests.variants, plan: ReplicationPlan(firstSeed: 5, count: 3), in: store, workers: 2,
      engine: engine.stand)
    let runs = Runs(.summary, in: store, workers: 2) { scenario, options, control in
      Issue.record("seed \(scenario.seed) is run")
      return try engine.stand(scenario, options, control)
    }
    let summaries = try runs.values(of: (5...7).map { tests.variants[1].scenario.with(seed: $0) })
    #expect(runs.counts.made == 0 && runs.counts.readBack == 3)
    #expect(
      summaries
        == found.rows(of: 1).map { row in
          var row = row
          row.run = ""
          return row
        })
  }

  /// The names under which a store keeps scenarios, in their order.
  private func names(_ scenarios: [Scenario]) throws -> [String] {
    try scenarios.map { scenario in
      let store = MemoryStore()
      _ = try Runs<RunSummary>.planted(in: store, Self.summary).values(of: [scenario])
      return try #require(store.files.keys.first)
    }
  }

  @Test("a name changes with everything that a run depends on, and with nothing else")
  func naming() throws {
    let text = """
      { format: 1, seed: 5, duration: "20m", interval: "10s", tapi: { bucket: { capacity: "4/s" } },
        fleet: [{ name: "a", devices: 20, events: "6/min" }, { name: "b", devices: 30, events: "6/min" }] }
      """
    func scenario(_ text: String) throws -> Scenario {
      try ScenarioFile(text: text, name: "s") { _ in "" }.decode().scenario
    }
    let base = try scenario(text)
    func changed(_ change: (inout Scenario) -> Void) -> Scenario {
      var scenario = base
      change(&scenario)
      return scenario
    }
    let different = [
      base, base.ideal, base.with(seed: 6), changed { $0.fleet.reverse() }, changed { $0.fleet.removeLast() },
      changed { $0.fleet[1].devices += 1 }, changed { $0.fleet[0].name = "c" },
      changed { $0.interval = .seconds(9) }, changed { $0.tapi.rules.retryCountLimit = 3 },
      changed { $0.fleet[0].writeKey = "b" },
      changed { ($0.fleet[0].name, $0.fleet[1].name) = ("b", "a") },
      try scenario(text.replacing("4/s", with: "4.001/s")),
    ]
    // A question, a comment and the order of keys are no part of it.
    let same = [
      changed { $0.question = "Why?" }, try scenario("// Ours\n" + text),
      try scenario(text.replacing("seed: 5, duration: \"20m\"", with: "duration: \"20m\", seed: 5")),
    ]
    let found = try names(different)
    #expect(Set(found).count == different.count)
    #expect(Set(try names(same)) == [found[0]])
  }

  @Test("what is damaged in a store is said to be, and made again")
  func damaged() throws {
    let store = MemoryStore()
    let scenarios = (1...4).map { Self.empty.with(seed: $0) }
    func run() throws -> (made: Int, readBack: Int) {
      let runs = Runs<RunSummary>.planted(in: store, Self.summary)
      #expect(try runs.values(of: scenarios) == scenarios.map(Self.summary))
      return runs.counts
    }
    #expect(try run() == (4, 0))
    let names = store.files.keys.sorted()
    store.files[names[0]]?.removeLast(9)
    store.files[names[1]]?[60] ^= 1
    store.files[names[2]] = []
    #expect(try run() == (3, 1))
    #expect(store.damaged.sorted() == Array(names[..<3]))
    #expect(try run() == (0, 4))
  }

  @Test("a tuning that is stopped in its first round names the best of the candidates whose runs it has")
  func stoppedTuning() throws {
    func tune(_ life: Int) throws -> TuneResult {
      try TunerTests.Field(life: life, time: TunerTests.bowl).tuned(TunerTests().study(seeds: 2))
    }
    let result = try tune(12)
    // One of the candidates is as today's Settings, and has their run.
    #expect(!result.isFinished && result.standings.count == 12 && result.runs.made == 12)
    #expect(result.story.basis.hasPrefix("12 candidates, "))
    #expect(throws: CancellationError.self) { try tune(0) }
  }

  private static let summary: @Sendable (Scenario) throws -> RunSummary = { scenario in
    var summary = RunSummary(run: "", seed: scenario.seed)
    summary.hasIncidents = true
    let luck = 200 * RandomKey(seed: scenario.seed).unitOpen
    summary.recoveryTime = Double(scenario.fleet[0].devices) + luck < 2_000 ? 60_000_000 : nil
    return summary
  }
}
