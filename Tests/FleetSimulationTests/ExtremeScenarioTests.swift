import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// Scenarios at the edges of what a scenario file allows.
struct ExtremeScenarioTests {
  @Test("A device may hold more than 65,536 waiting batches") func manyWaitingBatches() throws {
    let outage = Incident.outage(for: .minutes(10))
    let cohort = Cohort(
      name: "one", devices: 1, events: .periodic(every: .milliseconds(1), phase: .random),
      flush: FlushPolicy(count: 1_000, interval: nil),
      queue: QueuePolicy(limit: 1_000_000, maximumBatchEvents: 1), uploadConcurrency: .max,
      latency: .constant(.milliseconds(1)))
    let scenario = Scenario(
      duration: .seconds(100),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 100)),
        incidents: [outage]), fleet: [cohort])
    let record = try Simulation.run(scenario)
    #expect(record.series.totals[.backlogEvents] == 100_000)
    #expect(try #require(record.series.rows.last)[.backlogBatches] > 65_536)
  }

  @Test("More batches than an insertion sort can bear become due at once and are sent oldest first")
  func manyDueAtOnce() throws {
    let outage = Incident.outage(for: .minutes(40))
    var settings = HTTPConfig()
    settings.backoff.jitter = .full
    let cohort = Cohort(
      name: "one", devices: 1, events: .periodic(every: .milliseconds(100), phase: .random),
      flush: FlushPolicy(count: nil, interval: .minutes(20)),
      queue: QueuePolicy(limit: 1_000_000, maximumBatchEvents: 1), uploadConcurrency: 500,
      latency: .constant(.milliseconds(1)), settings: settings)
    let scenario = Scenario(
      duration: .minutes(90),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)),
        incidents: [outage]), fleet: [cohort])
    var options = RunOptions()
    // The checkers compare each batch that the loop takes with the oldest due one, found by a scan.
    options.checks = true
    let record = try Simulation.run(scenario, options: options)
    #expect(record.deliveries.total > 20_000)
  }

  @Test("Ten million workers over eleven days in one interval are no overflow") func manyWorkerDays() throws {
    let scenario = Scenario(
      duration: .hours(24 * 11), interval: .hours(24 * 11),
      tapi: TAPIConfiguration(
        server: .workers(WorkersConfiguration(count: 10_000_000, serviceTime: .constant(.seconds(1))))),
      fleet: [
        Cohort(
          name: "one", devices: 1, events: .poisson(meanGap: .hours(24)),
          flush: FlushPolicy(count: 1, interval: nil), latency: .constant(.seconds(10)))
      ])
    let row = try #require(try Simulation.run(scenario).series.rows.first)
    #expect(row[.availableMicroseconds] == .max)
    // 10^7 requests a second for 950,400 s, in thousandths.
    #expect(row[.capacityMilliRequests] == 9_504_000_000_000_000)
  }

  @Test("The capacity column is exact where capacity times interval is more than 64 bits")
  func exactCapacity() throws {
    let scenario = Scenario(
      duration: .minutes(1), interval: .minutes(1),
      tapi: TAPIConfiguration(
        server: .bucket(
          TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000_000, burst: 1))),
      fleet: [Cohort(name: "one", devices: 1, events: .poisson(meanGap: .seconds(1)))])
    let row = try #require(try Simulation.run(scenario).series.rows.first)
    // 10^9 requests a second for 60 s, in thousandths.
    #expect(row[.capacityMilliRequests] == 60_000_000_000_000)
  }

  @Test("The bytes a device has sent do not wrap at 2^32 events") func manySentEvents() throws {
    var settings = HTTPConfig()
    settings.backoff.isEnabled = false
    let cohort = Cohort(
      name: "one", devices: 1, events: .periodic(every: .milliseconds(1), phase: .random),
      flush: FlushPolicy(count: 50_000, interval: .milliseconds(10)),
      queue: QueuePolicy(mode: .rebatch, limit: 1_000_000, maximumBatchEvents: 50_000),
      uploadConcurrency: 1, latency: .constant(.milliseconds(1)), settings: settings, eventBytes: 1,
      requestBytes: 0)
    let scenario = Scenario(
      duration: .minutes(16),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1, burst: 1)),
        overload: Overload(status: 503)), fleet: [cohort])
    let record = try Simulation.run(scenario)
    // The batch at the head fills up to 50,000 events in 50 s and is then sent a hundred times a second.
    #expect(record.cost.total[.bytes] > 1 << 32)
  }
}
