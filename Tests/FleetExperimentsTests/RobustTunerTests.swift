import FleetExperiments
import FleetMetrics
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import Testing
import UploadRetry

@Suite("A search for Settings over what is not known")
struct RobustTunerTests {
  /// Runs that are formulas of a choice (0 … 9; today's is 9), the capacity (1,000 to 1,600, in the server's rate) and the seed.
  static func search(
    seeds: Int = 40, fresh: Int = 60, journal: MemoryStore? = nil, life: Int = .max, noise: Double = 0.05,
    constraints: [String] = [],
    time: @escaping @Sendable (_ choice: Int, _ capacity: Double) -> Double
  ) throws -> (result: TuneResult, made: Int) {
    var uncertainty = Uncertainty()
    try uncertainty.add("tapi.bucket.capacity=1000/s..1600/s")
    try uncertainty.add("tapi.incidents.0.for=60s..600s")
    let space = try SearchSpace([SearchParameter("settings.backoffConfig.baseBackoffInterval=1..10:1")])
    var study = TuneStudy(
      space: space, todaysValues: ["10"], objectives: try [TuneObjective("affected_delivery_p99_s")],
      constraints: try constraints.map { try TuneConstraint($0) }, scenarios: ["s"], seeds: seeds)
    study.freshSeeds = fresh
    study.draws = uncertainty.draws([TuneStudy.exploring, seeds, study.freshSeeds], seed: 1)
    let draws = study.draws
    let made = Mutex(0)
    let runs = Runs<RunSummary>.planted(in: journal) { scenario in
      guard
        made.withLock({
          $0 += 1
          return $0
        }) <= life
      else { throw CancellationError() }
      let choice = Int(scenario.fleet[0].settings.backoff.baseBackoffInterval / 1_000_000) - 1
      guard case .bucket(let bucket) = scenario.tapi.server else { throw CancellationError() }
      let capacity = Double(bucket.capacityMilliRequestsPerSecond) / 1_000
      let key = RandomKey(seed: scenario.seed)
      let luck = 1 + noise * (key.unitOpen - 0.5) + noise * (key.child(UInt64(choice)).unitOpen - 0.5)
      var summary = RunSummary(run: "run", seed: scenario.seed)
      summary[.createdEvents] = 1_000_000
      summary.hasIncidents = true
      summary.recoveryTime = 1_000_000
      summary.recoveryHorizon = 100_000_000
      summary.affectedEvents = 1_000
      summary.affectedHorizon = 10_000_000_000
      summary.affectedDeliveryP99 = Int64(time(choice, capacity) * luck * 1e6)
      return summary
    }
    let maker = CandidateRuns(runs) { request in
      var settings = HTTPConfig()
      settings.backoff.baseBackoffInterval = Int64((request.candidate.choices[0] ?? 9) + 1) * 1_000_000
      let capacity = Quantity(draws[request.seed].values[0])!.value
      let server = TAPIConfiguration.Server.bucket(
        TokenBucketConfiguration(capacityMilliRequestsPerSecond: Int64(capacity * 1_000), burst: 1))
      return Scenario(
        duration: .seconds(10), tapi: TAPIConfiguration(server: server),
        fleet: [
          Cohort(name: "phones", devices: 1, events: .poisson(meanGap: .seconds(1)), settings: settings)
        ])
    }
    var tuner = Tuner(study, runs: maker)
    return (try tuner.run(), made.withLock { $0 })
  }

  /// Above 1,200 the fourth is the best, below it the eighth; the fourth is the best on average.
  static let crossing: @Sendable (Int, Double) -> Double = { choice, capacity in
    let distance = Double(abs(choice - 4)) * 20
    return choice == 8 ? (capacity < 1_200 ? 60 : 220) : 100 + distance
  }

  @Test("the best on average is recommended, and the unknown that decides is named with about where it does")
  func decides() throws {
    let result = try Self.search(time: Self.crossing).result
    #expect(result.winner.candidate.choices == [4] && result.isConfirmed)
    let robust = try #require(result.robustness)
    #expect(robust.posterior.best > 0.95)
    // A third of the range lies below 1,200.
    #expect((39...41).contains(robust.bestDraws) && robust.betterDraws == 60)
    let first = try #require(robust.unknowns.first)
    #expect(first.path == "tapi.bucket.capacity" && first.decides && first.rivalSide.isBelow)
    #expect(abs(first.threshold.value - 1_200) < 20)
    #expect(robust.unknowns[1].pValue > 0.05)
    let text = TuneVerdict(result).robustSentences.joined(separator: "\n")
    #expect(
      text.contains("What decides is tapi.bucket.capacity: below about 1")
        && text.contains("baseBackoffInterval 9"),
      "\(text)")
  }

  @Test(
    "the worst tenth is of the draws in which the Settings gain least, and names the worst with its values")
  func worstTenth() throws {
    // The gain shrinks to nothing at the smallest capacity.
    let result = try Self.search(noise: 0) { choice, capacity in
      choice == 2 ? 100 - (capacity - 1_000) / 10 : 100
    }.result
    let robust = try #require(result.robustness)
    #expect(robust.worstTenth.count == 6)
    let worst = robust.worstTenth.map { Quantity(robust.draws[$0].values[0])!.value }
    #expect(worst == worst.sorted() && worst.allSatisfy { $0 < 1_060 })
    // Draws of the six lowest sixtieths of the range: about 1,030 in the mean. Ten seconds are the floor.
    #expect(abs(robust.worstScore - (-0.027)) < 0.01)
    #expect(TuneVerdict(result).robustSentences.last?.contains("tapi.bucket.capacity 10") == true)
  }

  @Test("what is plainly the best takes a part of the draws that all candidates together would have had")
  func saves() throws {
    let robust = try #require(
      try Self.search { choice, _ in choice == 3 ? 50 : 100 }.result.robustness)
    #expect(robust.posterior.best > 0.95)
    #expect(robust.taken <= robust.full / 3)
  }

  @Test("killed after any number of runs and started again, it repeats no run and gives the same answer")
  func resumed() throws {
    let whole = try Self.search(seeds: 10, fresh: 15, time: Self.crossing)
    for life in [1, whole.made / 2, whole.made - 1] {
      let journal = MemoryStore()
      func stopped() throws -> TuneResult {
        try Self.search(seeds: 10, fresh: 15, journal: journal, life: life, time: Self.crossing).result
      }
      if life == 1 {
        #expect(throws: CancellationError.self) { _ = try stopped() }
      } else {
        let result = try stopped()
        #expect(!result.isFinished && !result.isConfirmed)
        #expect(TuneVerdict(result).sentence.contains(" so far "))
      }
      let again = try Self.search(seeds: 10, fresh: 15, journal: journal, time: Self.crossing)
      #expect(again.made == whole.made - life)
      #expect(again.result.winner.candidate == whole.result.winner.candidate)
      #expect(again.result.robustness?.posterior == whole.result.robustness?.posterior)
      #expect(again.result.robustness?.worstScore == whole.result.robustness?.worstScore)
    }
  }

  @Test("where nothing is better, today's Settings stay, and that is as sure as it is")
  func nothing() throws {
    let result = try Self.search { choice, _ in choice == 9 ? 50 : 100 }.result
    #expect(result.isToday)
    let robust = try #require(result.robustness)
    #expect(robust.posterior.best > 0.95 && robust.bestDraws == robust.count)
    #expect(
      TuneVerdict(result).robustSentences.contains { $0.hasPrefix("Nothing that is not known decides") })
  }
}
