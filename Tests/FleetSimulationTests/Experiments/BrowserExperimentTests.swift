import FleetMetrics
import FleetSimulation
import ScenarioModel
import Testing

/// Experiment 026 with 100 visitors: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct BrowserExperimentTests {
  private static func summary(_ client: String, _ changes: [(String, String)] = []) throws -> RunSummary {
    var overrides = [
      "fleet.visitors.client": client, "fleet.visitors.devices": "100", "tapi.bucket.capacity": "5/s",
      "tapi.bucket.burst": "5",
    ]
    for (key, value) in changes { overrides[key] = value }
    let scenario = try ExperimentFiles.decode("026-browser-pages/scenario.json5", overrides).scenario
    let record = try Simulation.run(scenario)
    return RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: client, seed: scenario.seed)
  }

  private static let open = [("fleet.visitors.sessions", "null")]
  /// What several tests compare with.
  private static let openPages = Result { try summary("segment-browser", open) }

  @Test(
    "026: open pages send more than phones and lose a tenth, polling a hundred thousand times; phones lose nothing"
  )
  func open() throws {
    let page = try Self.openPages.get()
    let phone = try Self.summary("segment-swift", Self.open)
    #expect(page.attempts > phone.attempts)
    #expect(Double(page.lostEvents) > 0.07 * Double(page[.createdEvents]) && phone.lostEvents == 0)
    #expect(page.cost.mean[.polls] * 45 / 1_440 > 100_000 && phone.cost.mean[.polls] == 0)
  }

  @Test("026: by batches there are fewer requests and no polls, and more is lost")
  func batches() throws {
    let one = try Self.openPages.get()
    let other = try Self.summary("segment-browser-batching", Self.open)
    #expect(other.attempts * 3 < one.attempts * 2 && other.cost.mean[.polls] == 0)
    #expect(other.lostEvents > one.lostEvents)
  }

  @Test("026: visits lose less than open pages, and a buffer goes with its page")
  func visits() throws {
    let (visits, open) = (try Self.summary("segment-browser"), try Self.openPages.get())
    #expect(visits.lostEvents * 2 < open.lostEvents && visits[.lostWithPage] == 0)
    let batches = try Self.summary("segment-browser-batching")
    #expect(batches[.lostWithPage] > batches[.droppedByRetryLimit] * 10)
    #expect(batches[.acceptedAfterDropEvents] > 0)
  }

  @Test("026: most of what killed pages lose goes with them")
  func killed() throws {
    let killed = try Self.summary(
      "segment-browser", Self.open + [("fleet.visitors.lifecycle.restarts.meanGap", "10m")])
    #expect(killed[.lostWithPage] > killed[.droppedByRetryLimit])
  }
}
