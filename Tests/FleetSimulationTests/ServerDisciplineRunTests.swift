import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// What the discipline of the workers' queue does to whole runs.
@Suite struct ServerDisciplineRunTests {
  /// 45 events a second, each a batch of its own, before workers for 30; clients give up after two seconds and try again
  /// 5, 10, 20 … s later.
  private func overloaded(_ change: (inout WorkersConfiguration) -> Void) throws -> RunRecord {
    var workers = WorkersConfiguration(
      count: 3, serviceTime: .exponential(mean: .milliseconds(100)), queueLimit: 300)
    change(&workers)
    var cohort = Cohort(name: "phones", devices: 90, events: .poisson(meanGap: .seconds(2)))
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    cohort.retries = .timer
    cohort.uploadConcurrency = .max
    cohort.latency = .constant(.milliseconds(50))
    cohort.timeout = .seconds(2)
    cohort.settings.backoff.baseBackoffInterval = 5_000_000
    cohort.settings.backoff.jitter = .full
    var options = RunOptions()
    options.checks = true
    return try Simulation.run(
      Scenario(
        duration: .seconds(300),
        tapi: TAPIConfiguration(server: .workers(workers), overload: Overload(status: 503)), fleet: [cohort]),
      options: options)
  }

  private func sum(_ measure: Measure, _ record: RunRecord) -> Double {
    Double(record.series.rows.dropFirst(30).reduce(0) { $0 + $1[measure] })
  }

  @Test(
    "Overloaded by half, first come, first served answers hardly anybody in time; last come, first served nearly all"
  )
  func inTime() throws {
    /// Of what is served: what its client has heard of.
    func confirmed(_ order: QueueOrder) throws -> Double {
      let record = try overloaded { $0.order = order }
      #expect(sum(.answers2xx, record) > 7_800)
      return sum(.settledBatches, record) / sum(.answers2xx, record)
    }
    #expect(try confirmed(.fifo) < 0.1)
    #expect(try confirmed(.lifo) > 0.9)
  }

  @Test(
    "First attempts first delivers fresh events at once and old ones never; retries first the other way round"
  )
  func precedence() throws {
    func delay(_ order: QueueOrder) throws -> Double {
      let record = try overloaded { ($0.order, $0.queueLimit) = (order, 30) }
      return sum(.timeToDeliverySum, record) / sum(.deliveredEvents, record) / 1e6
    }
    let fifo = try delay(.fifo)
    #expect(try delay(.fewestRetries) < fifo / 2)
    #expect(try delay(.mostRetries) > fifo * 2)
  }

  @Test("Workers that wait for a dependency that never answers are busy to the end of the run")
  func waiting() throws {
    let record = try overloaded {
      $0.dependency = Dependency(count: 1, serviceTime: .constant(.hours(1)), queueLimit: nil)
    }
    #expect(record.series.totals[.answers2xx] == 0)
    #expect(sum(.busyMicroseconds, record) == 3 * 270e6)
  }

  @Test("An adaptive limit keeps a server overloaded by half where clients hear of nearly all that is served")
  func limit() throws {
    let record = try overloaded {
      $0.concurrencyLimit = ConcurrencyLimit(initial: 6, minimum: 2, maximum: 300)
    }
    #expect(sum(.answers2xx, record) > 7_800)
    #expect(sum(.settledBatches, record) > 0.9 * sum(.answers2xx, record))
  }
}
