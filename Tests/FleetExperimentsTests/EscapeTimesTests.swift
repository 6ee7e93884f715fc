import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing

/// How long ill runs take to come back, of runs whose recovery is known.
@Suite("Times to escape")
struct EscapeTimesTests {
  private static let minute: Int64 = 60_000_000

  /// Minutes of a recovery, of its floor and of the watch.
  private func run(_ recovery: Int64?, floor: Int64? = nil, of horizon: Int64 = 60) -> RunSummary {
    var summary = RunSummary(run: "", seed: 1)
    summary.hasIncidents = true
    summary.recoveryTime = recovery.map { $0 * Self.minute }
    summary.possibleTime = floor.map { $0 * Self.minute }
    summary.recoveryHorizon = horizon * Self.minute
    return summary
  }

  @Test("ill is what took longer than twice its floor, or two minutes: by hand")
  func ill() {
    // Not ill: 1 of 2 min, 9 of 10. Ill for 30 − 2, 20 − 10 and, to the end, 60 − 2 and 60 − 20.
    let escapes = EscapeTimes([
      run(1), run(9, floor: 5), run(30), run(20, floor: 5), run(nil), run(nil, floor: 10),
    ])
    #expect(escapes.illRuns == 4 && escapes.escapedRuns == 2)
    #expect(escapes.mean == Double((28 + 10 + 58 + 40) * Self.minute) / 2)
    #expect(escapes.recoveries.count == 6 && escapes.recoveries.occurrences == 4)
    var unknown = run(nil)
    unknown.recoveryHorizon = nil
    #expect(EscapeTimes([unknown]).recoveries.count == 0)
  }

  @Test("the sentence says the mean, its interval and of how many runs it is")
  func sentences() throws {
    // 1 of 4: 28 + 58 · 3 min at risk over χ²/2 of 4 and 2 degrees of freedom: 5.572 and 0.02532.
    let few = EscapeTimes([run(30), run(nil), run(nil), run(nil)])
    #expect(
      few.sentence("An ill fleet")
        == "An ill fleet comes back by chance after 3 h 22 min in the mean (95 %: 36 min 15 s to 132 h 59 min; "
        + "1 of 4 ill runs did in up to 58 min).")
    // None: 4 · 58 min over ln 40.
    let none = EscapeTimes([run(nil), run(nil), run(nil), run(nil)])
    #expect(
      none.sentence("An ill fleet")
        == "An ill fleet takes at least 1 h 03 min in the mean to come back by chance (95 %: none of 4 ill runs came back in "
        + "up to 58 min).")
    // The limit of illness is the time of an ordinary recovery: 90 s beyond it are none, and four times 20 s tell nothing.
    #expect(EscapeTimes([run(21, floor: 10), run(22, floor: 10)]).sentence("An ill fleet") == nil)
    #expect(
      EscapeTimes((0..<4).map { _ in run(nil, floor: 10, of: 21) }).sentence("An ill fleet")
        == "The runs are too short to tell how long it takes to come back by chance: none of 4 ill runs came back in up to 1 min."
    )
    #expect(EscapeTimes([run(1), run(2)]).sentence("An ill fleet") == nil)
    let clock = EscapeTimes((0..<12).map { run(30 + $0 % 3) })
    #expect(try #require(clock.sentence("It")).contains(" They come later than one constant chance would"))
  }

  @Test("of runs with a known mean at least 95 % of the intervals hold it, however many runs are cut short")
  func coverage() throws {
    var generator = SeededGenerator(seed: 36)
    let (mean, repetitions) = (40.0, 400)
    var held = 0
    for _ in 0..<repetitions {
      let times = CensoredTimes(
        (0..<20).map { _ in
          // A geometric number of seconds, by its quantile: as good as exponential for a mean of 40 · 60 s.
          let draw = 1 - Double.random(in: 0..<1, using: &generator)
          let perSecond = NaturalLogarithm.of(1 - 1 / (mean * 60))
          let seconds = (NaturalLogarithm.of(draw) / perSecond).rounded(.down)
          return .init(length: min(seconds, 3_600), cameAbout: seconds < 3_600)
        })
      let interval = try #require(times.interval())
      if interval.low <= mean * 60, mean * 60 <= interval.high ?? .infinity { held += 1 }
    }
    // 95 % less three standard deviations of 400 coins.
    #expect(held >= 367, "\(held)")
  }

  @Test("one scenario by itself says how likely it recovers and how long it takes")
  func single() throws {
    let scenario = Scenario(
      seed: 7, duration: .seconds(10),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 1))),
      fleet: [Cohort(name: "a", devices: 1, events: .poisson(meanGap: .seconds(1)))])
    var seeds: [UInt64] = []
    let point = try StabilityCase(scenario, risk: StabilityRisk(risk: 0.2, most: 40)) { scenarios in
      seeds = scenarios.map(\.seed)
      return scenarios.indices.map { run($0 < 10 ? 1 : $0 < 30 ? 10 + Int64($0) : nil) }
    }
    #expect(seeds == (7..<47).map { UInt64($0) })
    #expect(point.point.kind == .undecided && point.isFinished)
    #expect(
      point.sentence.hasPrefix(
        "Whether the fleet recovers within the run is undecided: it does in 30 of 40 seeds (95 %: 60 % to 86 %). An ill fleet "
          + "comes back by chance after "), "\(point.sentence)")
    // A quarter of 40 are the ten after a minute; the others come one a minute from 20 min to 39 min.
    #expect(point.quartiles.map(\.time) == ["1 min", "29 min", "39 min"])
    #expect(point.steps.first?.occurrences == 10 && abs((point.steps.last?.left ?? 0) - 0.25) < 1e-12)
    #expect(point.table.rows.count == 1)
    let part = try StabilityCase(scenario, risk: StabilityRisk(risk: 0.2, most: 4)) { scenarios in
      scenarios.indices.map { $0 < 2 ? run(nil) : nil }
    }
    #expect(!part.isFinished && part.sentence.hasPrefix("Of a part of the seeds: "))
    #expect(throws: CancellationError.self) {
      try StabilityCase(scenario, risk: StabilityRisk()) { $0.map { _ in nil } }
    }
  }
}
