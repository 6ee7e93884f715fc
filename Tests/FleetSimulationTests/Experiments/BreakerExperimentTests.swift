import FleetMetrics
import FleetSimulation
import Testing

/// Experiment 012 with 120 phones: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct BreakerExperimentTests {
  private func summary(_ breaker: String, failing share: String) throws -> RunSummary {
    let scenario = try ExperimentFiles.decode(
      "012-circuit-breaker/scenario.json5",
      [
        "fleet.phones.gates.breaker": breaker, "tapi.incidents.0.share": share, "fleet.phones.devices": "120",
        "tapi.bucket.capacity": "8/s", "tapi.bucket.burst": "8",
      ]
    ).scenario
    return RunAnalysis.summary(
      of: try Simulation.run(scenario), ReferenceRuns(twin: try Simulation.run(scenario.withoutIncidents)),
      name: breaker,
      seed: scenario.seed)
  }

  @Test(
    "012, O6: where everything fails a breaker saves nearly all failing requests, whatever its threshold, and time"
  )
  func outage() throws {
    let without = try summary("null", failing: "100%")
    for breaker in ["{}", "{ threshold: '20%' }"] {
      let with = try summary(breaker, failing: "100%")
      #expect(with.answersOther < without.answersOther / 20)
      #expect((with.recoveryTime ?? .max) < (without.recoveryTime ?? 0))
    }
    let long = try summary("{ openTime: '2m', longestOpenTime: '10m' }", failing: "100%")
    #expect((long.recoveryTime ?? .max) > (without.recoveryTime ?? .max))
  }

  @Test(
    "012, O6: where half of the requests fail by chance a breaker of the host delays those that would pass")
  func partial() throws {
    let without = try summary("null", failing: "50%")
    let with = try summary("{}", failing: "50%")
    let sensitive = try summary("{ minimumFailures: 2, threshold: '20%', window: '10m' }", failing: "50%")
    #expect(Double(with.timeToDeliveryP99 ?? 0) > 5 * Double(without.timeToDeliveryP99 ?? .max))
    #expect(Double(sensitive.timeToDeliveryP99 ?? 0) > 1.25 * Double(with.timeToDeliveryP99 ?? .max))
  }
}
