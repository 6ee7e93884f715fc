import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// Pages of a browser in front of a server that has room for all.
@Suite("Browsers in a fleet")
struct BrowserFleetTests {
  private func scenario(
    _ client: String = "segment-browser", devices: Int = 40, minutes: Int64 = 30,
    eventGap: Span = .seconds(60),
    outage: Range<Int64>? = 300..<900, _ change: (inout Cohort) -> Void = { _ in }
  ) throws -> Scenario {
    var cohort = Cohort(name: "pages", devices: devices, events: .poisson(meanGap: eventGap))
    cohort.latency = .constant(.milliseconds(100))
    cohort.take(try #require(ClientPreset.builtIn(client)))
    cohort.settings = cohort.settingsDefaults
    change(&cohort)
    let incidents = outage.map {
      [
        Incident(
          kind: .outage(status: 503, retryAfter: .none, keepsWork: true),
          start: Instant(microseconds: $0.lowerBound * 1_000_000),
          duration: .seconds($0.upperBound - $0.lowerBound))
      ]
    }
    let server = TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)
    return Scenario(
      duration: .minutes(minutes), interval: .seconds(10),
      tapi: TAPIConfiguration(server: .bucket(server), incidents: incidents ?? []), fleet: [cohort])
  }

  private func run(_ scenario: Scenario) throws -> RunSummary {
    let record = try windowed(scenario)
    return RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "pages", seed: 1)
  }

  @Test("without an incident each event is one request, delivered at once, and nothing polls")
  func healthy() throws {
    let summary = try run(scenario(outage: nil))
    #expect(summary[.createdEvents] > 1_000)
    #expect(summary.attempts == summary[.createdEvents] || summary.openEvents > 0)
    #expect(summary.lostEvents == 0 && summary.cost.mean[.polls] == 0)
    #expect(summary[.duplicateEvents] == 0)
  }

  @Test("batches are fewer requests than events")
  func batches() throws {
    let summary = try run(scenario("segment-browser-batching", eventGap: .seconds(5), outage: nil))
    #expect(summary.attempts * 3 < summary[.createdEvents] * 2)
    #expect(summary.lostEvents == 0)
  }

  @Test(
    "an outage of ten minutes loses what was tracked in its first minutes, and polls hundreds of times a second"
  )
  func outage() throws {
    let (one, other) = (try run(scenario()), try run(scenario("segment-browser-batching")))
    // A wait is up to 512 s: ten sends are over after 511 to 1,025 s.
    #expect(one[.droppedByRetryLimit] > 0 && one.lostEvents < one[.createdEvents] / 8)
    // A buffer that failed for 219 to 268 s is lost whole.
    #expect(other[.droppedByRetryLimit] > one[.droppedByRetryLimit])
    #expect(one.cost.mean[.polls] > 1_000_000 && other.cost.mean[.polls] == 0)
  }

  @Test("the same bytes come out of one thread and of four, and of two shards")
  func threads() throws {
    for client in ["segment-browser", "segment-browser-batching"] {
      let scenario = try scenario(client) {
        $0.sessions = Sessions(sharePartsPerMillion: 500_000, length: .constant(.minutes(4)))
        $0.latency = .logNormal(
          median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10))
      }
      let record = try windowed(scenario)
      #expect(try windowed(scenario, shards: 4, threads: 4) == record)
      #expect(try windowed(scenario, window: .milliseconds(5)) == record)
    }
  }

  // MARK: The life of a page

  @Test(
    "a page that goes saves what waits, and the next sends it; one that is killed loses all that it holds")
  func ends() throws {
    let visits = try run(
      scenario { $0.sessions = Sessions(sharePartsPerMillion: 500_000, length: .constant(.minutes(4))) })
    #expect(visits[.lostWithPage] == 0)
    let killed = try run(
      scenario { $0.lifecycle = Lifecycle(meanTimeBetweenRestarts: .minutes(5)) })
    #expect(killed[.lostWithPage] > 100)
  }

  @Test("a buffer goes with its page, with one request more in which it may have arrived")
  func batchesEnd() throws {
    let sessions = Sessions(sharePartsPerMillion: 500_000, length: .constant(.minutes(4)))
    let healthy = try run(scenario("segment-browser-batching", outage: nil) { $0.sessions = sessions })
    // What was in the buffer is lost to the page, and accepted all the same.
    #expect(healthy[.lostWithPage] > 0 && healthy[.acceptedAfterDropEvents] == healthy[.lostWithPage])
    let outage = try run(scenario("segment-browser-batching") { $0.sessions = sessions })
    #expect(outage.lostEvents > outage[.droppedByRetryLimit])
  }

  @Test("a page whose Settings can't be fetched sends nothing, and loses all when it goes")
  func withoutSettings() throws {
    var scenario = try scenario(minutes: 20, outage: nil) {
      $0.sessions = Sessions(sharePartsPerMillion: 500_000, length: .constant(.minutes(4)))
    }
    scenario.tapi.incidents = [
      Incident(kind: .cdnOutage, start: Instant(microseconds: 0), duration: .minutes(20))
    ]
    let summary = try run(scenario)
    #expect(summary.attempts == 0 && summary[.lostWithPage] > 100)
  }
}
