import FleetMetrics
import FleetSimulation
import Testing

/// Experiment 013 with 60 users and an hour: each claim of its README, by a margin that is gone when the mechanism is.
@Suite struct SharedTokenExperimentTests {
  private func run(_ overrides: [String: String]) throws -> RunRecord {
    let small = ["fleet.app.devices": "60", "fleet.other.devices": "60", "duration": "1h"]
    return try Simulation.run(
      ExperimentFiles.decode("013-shared-token/scenario.json5", small.merging(overrides) { $1 }).scenario)
  }

  private func limited(_ record: RunRecord) -> Int64 { record.series.rows.reduce(0) { $0 + $1[.keyLimited] } }

  @Test(
    "013, T4: other traffic of the token draws no 429 below its limit, and at the limit the app's data come late"
  )
  func traffic() throws {
    let (below, at) = (try run(["fleet.other.events": "20/min"]), try run(["fleet.other.events": "40/min"]))
    #expect(limited(below) == 0)
    #expect(limited(at) > at.series.rows.reduce(0) { $0 + $1.attempts } / 30)
    let late = try #require(at.cohorts.first { $0.name == "app" }?.timeToDeliveryP99)
    let usual = try #require(below.cohorts.first { $0.name == "app" }?.timeToDeliveryP99)
    #expect(late > 2 * usual)
  }

  @Test("013, T1: the client's own buckets draw fewer 429s than none, and a stricter one fewer still")
  func windows() throws {
    let found = try ["null", "[{slots:60,span:'60s'},{slots:3,span:'1s'}]", "[{slots:30,span:'60s'}]"].map {
      limited(try run(["fleet.other.events": "35/min", "fleet.app.gates.rateWindows": $0]))
    }
    #expect(found[0] * 2 / 3 > found[1] && found[1] / 2 > found[2], "\(found)")
  }

  @Test("013: ten events a request, and nothing is refused")
  func batches() throws {
    #expect(
      limited(try run(["fleet.other.events": "40/min", "fleet.app.queue.maximumBatchEvents": "10"])) == 0)
  }
}
