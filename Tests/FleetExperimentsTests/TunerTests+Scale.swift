import FleetExperiments
import ScenarioFormat
import ScenarioModel
import Testing

extension TunerTests {
  @Test(
    "candidates race on a part of the fleet, and what is said of the finalists is from the whole one",
    arguments: [1, 4, 10])
  func raceScale(seeds: Int) throws {
    // On the small fleet the optimum seems to be a step beside where it is.
    let field = Field(
      noise: 0, time: Self.bowl, devices: 20_000,
      small: { choices in Self.bowl([choices[0] - 1, choices[1]], 0) / Self.bowl(choices, 0) })
    var study = study(seeds: seeds)
    study.raceScale = Scaling(divisor: 4)
    let result = try field.tuned(study)
    #expect(result.winner.candidate.choices == [12, 4, nil])
    let whole = result.standings.filter { $0.scale == .whole }
    #expect(whole.count == study.finalists + 1 && whole.allSatisfy { $0.seeds == seeds })
    #expect(result.winner.scale == .whole && result.isRecommended)
    #expect(result.standings.allSatisfy { $0.scale == .whole || $0.scale == study.raceScale })
    // Today's Settings, the finalists, both keys put back one by one, and a decision, at most.
    let sizes = field.sizes
    #expect(Set(sizes.keys) == [5_000, 20_000])
    let decided = try #require(result.decision).runCount
    #expect(sizes[20_000]! <= seeds * (1 + study.finalists + 3) + decided)
    #expect(sizes[5_000]! >= study.candidates)
  }

  @Test("a race has the smallest fleet that has enough devices and keeps its answer")
  func smallest() throws {
    func scenario(devices: Int, capacity: Int) throws -> Scenario {
      try ScenarioFile(
        text: """
          { format: 1, duration: "10m", network: { latency: { median: "80ms", p99: "600ms", minimum: "20ms" } },
            tapi: { bucket: { capacity: "\(capacity)/s", burst: 100 }, overload: { status: 503 } },
            fleet: [{ name: "phones", devices: \(devices), events: "1/min", flush: { count: 20, interval: "2m" } }] }
          """, name: "fleet.json5"
      ) { _ in "" }.decode().scenario
    }
    // Eight devices at 160 ms a round trip: 50 requests a second are the fewest.
    let cases = [
      (devices: 20_000, capacity: 216, divisor: 4), (20_000, 101, 2), (20_000, 99, 1), (4_999, 1_000, 1),
      (9_999, 1_000, 1), (1_000_000, 100_000, 200),
      // A half leaves whole devices and a third does not; of a prime number no part does.
      (17_000, 1_000, 2), (20_011, 1_000, 4),
    ]
    for (devices, capacity, divisor) in cases {
      let scenario = try scenario(devices: devices, capacity: capacity)
      let scale = Scaling.smallest(of: [scenario], leaving: 5_000)
      #expect(scale.divisor == divisor, "\(devices), \(capacity)")
      #expect(scale.refusal(of: scenario) == nil)
    }
    let both = try [
      scenario(devices: 100_000, capacity: 10_000), scenario(devices: 20_000, capacity: 10_000),
    ]
    #expect(Scaling.smallest(of: both, leaving: 5_000).divisor == 4)
    let largest = try scenario(devices: 4_000_000_000, capacity: 100_000_000)
    #expect(Scaling.smallest(of: [largest], leaving: 1_000).divisor == 1_000_000)
  }
}
