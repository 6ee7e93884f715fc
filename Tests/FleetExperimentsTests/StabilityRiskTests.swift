import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing

/// Maps of fleets whose chance to recover is known.
@Suite("Classes of a stability map")
struct StabilityRiskTests {
  /// A map on which a point at x, y (0 … 1) recovers with this chance, each seed by itself.
  private func map(
    risk: StabilityRisk = .init(), draw: UInt64 = 1, coarse: Int = 4, fine: Int = 8,
    _ chance: @escaping (Double, Double) -> Double
  ) throws -> StabilityMap {
    let server = TAPIConfiguration.Server.bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))
    return try StabilityMap(
      x: QuantityRange("fleet.a.devices=1000..2000"), y: QuantityRange("fleet.a.eventSize=1000B..2000B"),
      resolution: .init(coarse: coarse, fine: fine), risk: risk,
      scenario: { x, y in
        var scenario = Scenario(
          seed: 7, duration: .seconds(10), tapi: TAPIConfiguration(server: server),
          fleet: [Cohort(name: "a", devices: 1, events: .poisson(meanGap: .seconds(1)))])
        scenario.fleet[0].devices = Int(x) ?? 0
        scenario.fleet[0].eventBytes = Int(Quantity(y)?.value ?? 0)
        return scenario
      },
      run: { scenarios in
        scenarios.map { scenario in
          let (x, y) = (scenario.fleet[0].devices, scenario.fleet[0].eventBytes)
          var generator = SeededGenerator(
            seed: scenario.seed &* 0x9E37 &+ UInt64(x) &* 0x1_0000_0001 &+ UInt64(y) &* 0x85EB_CA6B &+ draw
              &* 0xC2B2_AE35_07)
          let uniform = Double(generator.next() >> 11) / 0x1p53
          var summary = RunSummary(run: "", seed: scenario.seed)
          summary.hasIncidents = true
          let recovers = uniform < chance(Double(x - 1_000) / 1_000, Double(y - 1_000) / 1_000)
          summary.recoveryTime = recovers ? 60_000_000 : nil
          return summary
        }
      })
  }

  @Test(
    "as many seeds decide as Wilson's interval of n in n needs: n / (n + z²) above 1 − risk",
    arguments: [(0.5, 4), (0.25, 12), (0.2, 16), (0.1, 35), (0.05, 73)])
  func deciding(risk: Double, seeds: Int) {
    let plan = StabilityRisk(risk: risk)
    #expect(plan.deciding == seeds)
    #expect(plan.first * 4 >= seeds && plan.first * 4 < seeds + 4)
    #expect(plan.most == 2 * seeds)
  }

  @Test(
    "where the chance is just the limit of a class, at most one point in twenty is put into it",
    arguments: [(0.2, 0.8), (0.2, 0.2), (0.1, 0.9)])
  func limit(risk: Double, chance: Double) throws {
    var (wrong, all) = (0, 0)
    let draws = TestDepth.cases(7, exhaustively: 30)
    for draw in 0..<draws {
      let map = try map(risk: .init(risk: risk), draw: UInt64(draw), coarse: 5, fine: 5) { _, _ in chance }
      all += map.grid.values.count
      wrong += map.counts[chance > 0.5 ? .recovers : .neverRecovers] ?? 0
    }
    #expect(all >= draws * 36)
    #expect(Double(wrong) < 0.05 * Double(all), "\(wrong) of \(all)")
  }

  @Test("a coin decides nothing, and costs little: what can't be decided any more is left alone")
  func coin() throws {
    var (claims, runs, all) = (0, 0, 0)
    for draw in 0..<7 {
      let map = try map(draw: UInt64(draw), coarse: 5, fine: 5) { _, _ in 0.5 }
      claims += (map.counts[.recovers] ?? 0) + (map.counts[.neverRecovers] ?? 0)
      runs += map.runs.all
      all += map.grid.values.count
    }
    #expect(claims == 0)
    // Of four runs 10 in 16 coins leave at most one that differs; those go on to 16.
    #expect(Double(runs) < 12 * Double(all))
  }

  @Test("seeds are spent at the cliff: far from it a point keeps the few that it began with")
  func economy() throws {
    let map = try map(fine: 16) { x, y in y < 0.2 + 0.6 * x ? 1 : 0 }
    #expect(map.counts[.undecided, default: 0] == 0)
    #expect(map.runs.fewest == 4 && map.runs.most == 16)
    for (point, value) in map.grid.values {
      let distance = abs(Double(point.y) / 16 - 0.2 - 0.6 * Double(point.x) / 16)
      if distance > 0.5 { #expect(value.seeds == 4) }
      #expect(
        value.kind == (Double(point.y) / 16 < 0.2 + 0.6 * Double(point.x) / 16 ? .recovers : .neverRecovers))
    }
    #expect(map.runs.all < 16 * map.grid.values.count * 3 / 4)
  }

  @Test("every class is what its interval says, and undecided points have used up what could decide them")
  func consistent() throws {
    let map = try map(fine: 16) { x, y in 1 / (1 + 20 * max(0, y - 0.5 * x)) }
    #expect(Set(map.counts.keys).isSuperset(of: [.recovers, .undecided]))
    for value in map.grid.values.values {
      switch value.kind {
      case .recovers: #expect(value.chance.low > 0.8)
      case .neverRecovers: #expect(value.chance.high < 0.2)
      default: #expect(value.chance.low <= 0.8 && value.chance.high >= 0.2)
      }
      #expect(value.chance.count >= value.seeds)
    }
  }

  @Test("the headline names the cliff where both sides are decided, and counts the classes")
  func headline() throws {
    let map = try map(fine: 16) { _, y in y < 0.4 ? 1 : y > 0.7 ? 0 : 0.5 }
    let sentence = StabilityVerdict(map).sentence
    #expect(
      sentence.hasPrefix("There is a cliff for fleet.a.devices from 1000 to 2000 and fleet.a.eventSize"))
    let counts = map.counts
    #expect(
      sentence.contains(
        "it recovers in more than 80 % of the seeds at \(counts[.recovers] ?? 0) of \(map.grid.values.count) points and in "
          + "less than 20 % at \(counts[.neverRecovers] ?? 0); \(counts[.undecided] ?? 0) are undecided"),
      "\(sentence)")
    #expect(
      sentence.contains(" it recovers in more than 80 % of the seeds up to ")
        && sentence.contains(" and in less than 20 % from "), "\(sentence)")
    #expect(!sentence.contains("never"), "a few runs of such a point do recover")
    #expect(try !StabilityVerdict(self.map { _, _ in 0.5 }).sentence.contains("cliff"))
  }

  @Test("one seed a point decides nothing, and says in how many seeds a point may fail all the same")
  func oneSeed() throws {
    let map = try map(risk: .init(risk: 0.2, most: 1)) { _, y in y < 0.4 ? 1 : 0 }
    #expect(map.runs.fewest == 1 && map.runs.most == 1)
    let sentence = StabilityVerdict(map).sentence
    #expect(sentence.hasPrefix("Nothing is decided for "), "\(sentence)")
    // Wilson of 1 in 1: from 1 / (1 + 3.84) on.
    #expect(
      sentence.hasSuffix(
        "One seed a point: a point that is said to recover by its own runs may still fail in up to 79 % of the seeds; "
          + "a risk of 20 % takes 16."), "\(sentence)")
  }
}
