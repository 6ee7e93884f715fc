import FleetMetrics
import FleetSimulation
import Foundation
import ScenarioModel
import SimulationKernel
import TAPIModel

/// A cohort at a server that answers everything at once, a row a minute.
struct WorkloadFleet {
  var devices = 1_000
  var events: EventProcess
  var flush = FlushPolicy(count: nil, interval: .seconds(30))
  var spikes: [Spike] = []
  var atOnce = 1
  var minutes: Int64 = 40
  var seed: UInt64 = 1
  var maximumBatchEvents = 500

  var cohort: Cohort {
    var cohort = Cohort(
      name: "phones", devices: devices, events: events, flush: flush, latency: .constant(.milliseconds(50)))
    cohort.spikes = spikes
    cohort.eventsAtOnce = atOnce
    cohort.queue.maximumBatchEvents = maximumBatchEvents
    return cohort
  }

  var scenario: Scenario {
    Scenario(
      seed: seed, duration: .minutes(minutes), interval: .minutes(1),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))),
      fleet: [cohort])
  }

  func run(checks: Bool = true) throws -> TimeSeries.Rows {
    var options = RunOptions()
    options.checks = checks
    return try Simulation.run(scenario, options: options).series.rows
  }

  func created() throws -> [Int] { try run().map { Int($0[.createdEvents]) } }
}

/// Chi-square of Poisson counts whose means are known, as a standard normal number (Wilson–Hilferty).
func poissonScore(_ observed: [Int], _ expected: [Double]) -> Double {
  let statistic = zip(observed, expected).reduce(0) {
    $0 + (Double($1.0) - $1.1) * (Double($1.0) - $1.1) / $1.1
  }
  let n = Double(observed.count)
  return (cbrt(statistic / n) - (1 - 2 / (9 * n))) / (2 / (9 * n)).squareRoot()
}
