import FleetMetrics
import FleetSimulation
import ScenarioModel
import Testing

/// Experiment 026 with 200 visitors: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct BrowserExperimentTests {
  private func summary(_ client: String, _ changes: [(String, String)] = []) throws -> RunSummary {
    var overrides = [
      "fleet.visitors.client": client, "fleet.visitors.devices": "200", "tapi.bucket.capacity": "10/s",
      "tapi.bucket.burst": "10",
    ]
    for (key, value) in changes { overrides[key] = value }
    let scenario = try ExperimentFiles.decode("026-browser-pages/scenario.json5", overrides).scenario
    let record = try Simulation.run(scenario)
    return RunAnalysis.summary(of: record, twin: record, name: client, seed: scenario.seed)
  }

  private static let open = [("fleet.visitors.sessions", "null")]

  @Test(
    "026: open pages send more than phones and lose a tenth, polling a hundred thousand times; phones lose nothing"
  )
  func open() throws {
    let page = try summary("segment-browser", Self.open)
    let phone = try summary("segment-swift", Self.open)
    #expect(page.attempts > phone.attempts)
    #expect(Double(page.lostEvents) > 0.07 * Double(page[.createdEvents]) && phone.lostEvents == 0)
    #expect(page.cost.mean[.polls] * 45 / 1_440 > 100_000 && phone.cost.mean[.polls] == 0)
  }

  @Test("026: by batches there are fewer requests and no polls, and more is lost")
  func batches() throws {
    let (one, other) = (
      try summary("segment-browser", Self.open), try summary("segment-browser-batching", Self.open)
    )
    #expect(other.attempts * 3 < one.attempts * 2 && other.cost.mean[.polls] == 0)
    #expect(other.lostEvents > one.lostEvents)
  }

  @Test("026: visits lose less than open pages, and a buffer goes with its page")
  func visits() throws {
    let (visits, open) = (try summary("segment-browser"), try summary("segment-browser", Self.open))
    #expect(visits.lostEvents * 2 < open.lostEvents && visits[.lostWithPage] == 0)
    let batches = try summary("segment-browser-batching")
    #expect(batches[.lostWithPage] > batches[.droppedByRetryLimit] * 10)
    #expect(batches[.acceptedAfterDropEvents] > 0)
  }

  @Test("026: most of what killed pages lose goes with them")
  func killed() throws {
    let killed = try summary(
      "segment-browser", Self.open + [("fleet.visitors.lifecycle.restarts.meanGap", "10m")])
    #expect(killed[.lostWithPage] > killed[.droppedByRetryLimit])
  }
}
