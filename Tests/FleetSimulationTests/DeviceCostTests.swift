import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

/// Cost to the device, from a fleet in which every device's cost can be worked out.
@Suite("Device cost")
struct DeviceCostTests {
  /// Cohorts with one event a batch, never refused: a device of the cohort with the period p sends an event of `bytes` every p.
  private static func run(_ cohorts: [(devices: Int, period: Int64, bytes: Int)]) throws -> (
    DeviceCost, [(Int64, Int64)]
  ) {
    let duration: Int64 = 600
    let scenario = Scenario(
      duration: .seconds(duration),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))),
      fleet: cohorts.enumerated().map { index, cohort in
        Cohort(
          name: "c\(index)", devices: cohort.devices,
          events: .periodic(every: .seconds(cohort.period), phase: .flush),
          flush: FlushPolicy(count: nil, interval: .seconds(cohort.period), isSynchronised: true),
          latency: .constant(.milliseconds(50)), eventBytes: cohort.bytes, requestBytes: 7)
      })
    let values = cohorts.flatMap { cohort in
      let attempts = duration / cohort.period
      return [(Int64, Int64)](
        repeating: (attempts, attempts * Int64(cohort.bytes + 7)), count: cohort.devices)
    }
    return (try Simulation.run(scenario).cost, values)
  }

  /// The smallest value that 99 % of the devices do not exceed.
  private static func percentile99(_ values: [Int64]) -> Int64 {
    let sorted = values.sorted()
    return sorted[(sorted.count * 99 + 99) / 100 - 1]
  }

  @Test(
    "percentiles over devices of several cohorts are those of sorting",
    arguments: [[1], [99, 1], [98, 2], [100], [197, 1, 2], [60, 30, 9, 1], [500, 300, 3, 3, 3]])
  func equalsSorting(devices: [Int]) throws {
    let periods: [Int64] = [60, 30, 20, 12, 10]
    let bytes = [1, 40_000, 3_000_000, 99_999_999, 12]
    let (cost, values) = try Self.run(devices.indices.map { (devices[$0], periods[$0], bytes[$0]) })
    #expect(cost.total[.attempts] == values.map(\.0).reduce(0, +))
    #expect(cost.total[.bytes] == values.map(\.1).reduce(0, +))
    #expect(cost.percentile99[.attempts] == Self.percentile99(values.map(\.0)))
    #expect(cost.percentile99[.bytes] == Self.percentile99(values.map(\.1)))
  }
}
