import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadGating

/// A device that uploads one event at a time is a server of its own: its events wait as customers of two classes do.
@Suite("Priority lanes before a server (O8)")
struct PriorityLaneTests {
  /// Events at random, 0.7 of what a device can send in the 1 s that an upload takes.
  private func phones(_ lanes: PriorityLanes?, seconds: Int64, uploads: Int = 1) throws -> CohortRecord {
    var cohort = Cohort(
      name: "phones", devices: 100, events: .poisson(meanGap: Span(microseconds: 1_000_000 * 10 / 7)),
      flush: FlushPolicy(count: 1, interval: nil), latency: .constant(.milliseconds(500)))
    cohort.queue = QueuePolicy(mode: .files, maximumBatchEvents: 1)
    cohort.uploadConcurrency = uploads
    cohort.gates.lanes = lanes
    let server = TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)
    let scenario = Scenario(
      duration: .seconds(seconds), tapi: TAPIConfiguration(server: .bucket(server)), fleet: [cohort])
    return try Simulation.run(scenario).cohorts[0]
  }

  // Cobham 1954: W₁ = R / (1 − ρ₁), W₂ = R / ((1 − ρ₁)(1 − ρ)); with a constant service of 1 s R = ρ / 2.
  @Test("M/D/1 with two classes: Cobham's waits", arguments: [0.2, 0.5])
  func waits(share: Double) throws {
    let found = try phones(
      PriorityLanes(interactivePartsPerMillion: Int(share * 1e6)),
      seconds: Int64(TestDepth.cases(6_000, exhaustively: 20_000))
    ).lanes
    let (residual, interactive, all) = (0.35, 0.7 * share, 0.7)
    // An event arrives half an upload after it has left.
    let waits = found.map { ($0.mean ?? 0) / 1e6 - 0.5 }
    let theory = [residual / (1 - interactive), residual / ((1 - interactive) * (1 - all))]
    for (wait, expected) in zip(waits, theory) {
      #expect(abs(wait / expected - 1) < 0.03, "\(waits) \(theory)")
    }
    let count = Double(found[0].total + found[1].total)
    #expect(abs(Double(found[0].total) / count - share) < 0.005)
  }

  @Test("lanes lose nothing: each delivered event is in one of them, and without lanes there is none")
  func conservation() throws {
    for uploads in [1, 3] {
      let found = try phones(PriorityLanes(oneBelowAfter: 2), seconds: 500, uploads: uploads)
      #expect(found.lanes.reduce(0) { $0 + $1.total } == found[.deliveredEvents])
      #expect(found[.deliveredEvents] > 30_000)
    }
    #expect(try phones(nil, seconds: 10).lanes == [])
  }
}
