import FleetMetrics
import FleetSimulation
import ScenarioModel
import Testing

/// Experiment 016 with 100 phones: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct CatalogueExperimentTests {
  private func summary(_ client: String, isBusy: Bool = false) throws -> RunSummary {
    let scenario = try ExperimentFiles.decode(
      "016-sdk-catalogue/scenario.json5",
      [
        "fleet.phones.client": client, "fleet.phones.devices": "100",
        "fleet.phones.events": isBusy ? "20/min" : "2/min",
        "tapi.bucket.capacity": isBusy ? "70/s" : "7/s", "tapi.bucket.burst": isBusy ? "70" : "7",
      ]
    ).scenario
    return RunAnalysis.summary(
      of: try Simulation.run(scenario), ReferenceRuns(twin: try Simulation.run(scenario.withoutIncidents)),
      name: client,
      seed: scenario.seed)
  }

  private func minutes(_ summary: RunSummary) -> Double { Double(summary.recoveryTime ?? .max) / 60e6 }

  @Test("016 compares every client that there is")
  func clients() throws {
    let axis = try #require(try ExperimentFiles.decode("016-sdk-catalogue/scenario.json5").axes.first)
    #expect(axis.path == "client" && axis.values == ClientPreset.names)
  }

  @Test(
    "016: who gives up within minutes loses a tenth of the run's events or more in an outage of twenty, and is back at once",
    arguments: ["aws-sdk-standard", "posthog", "amplitude-node", "opentelemetry-collector"])
  func losses(client: String) throws {
    let found = try summary(client)
    #expect(Double(found.undeliveredEvents) > 0.1 * Double(found[.createdEvents]))
    #expect(minutes(found) < 4)
  }

  @Test("016: who keeps everything comes back by the longest wait: two minutes, ten, half an hour")
  func waits() throws {
    let found = try ["grpc", "mixpanel-android", "posthog-js"].map { try summary($0) }
    #expect(found.allSatisfy { $0.undeliveredEvents == 0 })
    let minutes = found.map(minutes)
    #expect(minutes[0] < 5 && minutes[1] > 5 && minutes[1] < 15 && minutes[2] > 20, "\(minutes)")
  }

  @Test("016: Mixpanel's client of 2015 floods the server when phones are busy, the later one does not")
  func mixpanel() throws {
    let old = try summary("mixpanel-android-2015", isBusy: true)
    let later = try summary("mixpanel-android", isBusy: true)
    let quiet = try summary("mixpanel-android-2015")
    #expect(old.attemptsAboveTwinPerDevice > 250 && later.attemptsAboveTwinPerDevice < 0)
    #expect(quiet.attemptsAboveTwinPerDevice < 20)
  }
}
