import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// `MemoryEstimate` where the right figure can be worked out. Against measured peaks it is checked by `fleetsim-bench`,
/// which prints both.
@Suite("Memory estimate")
struct MemoryEstimateTests {
  private static func scenario(_ change: (inout Cohort) -> Void = { _ in }) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: 1_000_000, events: .periodic(every: .seconds(30), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .seconds(30)),
      queue: QueuePolicy(mode: .rebatch, maximumBatchEvents: 1_000), retries: .timer,
      latency: .constant(.milliseconds(50)))
    change(&cohort)
    return Scenario(
      duration: .hours(1),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 50_000_000, burst: 5_000)),
        incidents: [
          Incident.outage(at: .minutes(10), for: .minutes(10))
        ]), fleet: [cohort])
  }

  private static func bytes(_ part: MemoryEstimate.Part, _ scenario: Scenario) -> Int64 {
    MemoryEstimate(scenario).byPart.first { $0.part == part }?.expected ?? 0
  }

  @Test("a device's row takes a cache line and a half, and what a cohort does not use takes nothing")
  func records() {
    let lean = Self.scenario()
    // A record of 64 bytes, and 32 behind it for its own batch or its loop.
    #expect(Self.bytes(.deviceRecords, lean) == 96_000_000)
    #expect(Self.bytes(.deviceTables, lean) == 0)
    #expect(Self.bytes(.waitingBatches, lean) == 0)
    // 24 bytes of events drawn ahead, 16 of triggers.
    let rich = Self.scenario {
      $0.queue.mode = .files
      $0.flush.count = 20
    }
    #expect(Self.bytes(.deviceRecords, rich) == 96_000_000)
    #expect(Self.bytes(.deviceTables, rich) == 40_000_000)
    #expect(Self.bytes(.waitingBatches, rich) > 0)
    // Another 16 of restarts.
    let restarting = Self.scenario {
      $0.queue.mode = .files
      $0.flush.count = 20
      $0.lifecycle = Lifecycle()
    }
    #expect(Self.bytes(.deviceTables, restarting) == 56_000_000)
  }

  @Test("saved states and pages have rows, and the largest part is that of all cohorts together")
  func tables() {
    let saving = Self.scenario {
      $0.lifecycle = Lifecycle()
      $0.saving = .atOnce
    }
    var late = saving
    late.fleet[0].saving = .afterAnswers
    // A gate, a batch's record and what the pipeline counts.
    let saved = Self.bytes(.deviceTables, late) - Self.bytes(.deviceTables, saving)
    #expect(saved >= 48_000_000 && saved <= 128_000_000)
    var many = Self.scenario { $0.devices = 1 }
    many.fleet = Array(repeating: many.fleet[0], count: 20_000)
    let largest = MemoryEstimate(many).largest
    #expect(largest?.cohort == nil && largest?.part == .metrics)
    #expect(MemoryEstimate(Self.scenario()).largest?.cohort == "phones")
  }

  @Test("in an outage a device that keeps files has one for each flush, one that re-chunks has one in all")
  func backlog() {
    // 20 flushes in ten minutes, some more while the last backoff runs; 32 bytes each, 16 with its retry state beside it.
    let files = Self.bytes(.batches, Self.scenario { $0.queue.mode = .files })
    #expect(files >= 20 * 48_000_000 && files <= 30 * 48_000_000)
    let rebatch = Self.bytes(.batches, Self.scenario())
    // It lies in the device's row.
    #expect(rebatch < 1_000_000)
  }

  @Test("a queue's limit cuts the backlog")
  func limit() {
    let scenario = Self.scenario {
      $0.queue.mode = .files
      $0.queue.limit = 5
    }
    #expect(Self.bytes(.batches, scenario) == 5 * 48_000_000)
  }

  @Test("a fleet that its server can't serve piles its backlog up for the whole run")
  func overload() {
    var scenario = Self.scenario { $0.queue.mode = .files }
    scenario.tapi.incidents = []
    let healthy = Self.bytes(.batches, scenario)
    // Half of the load: 60 of the 120 batches of the hour are left.
    let load = NormalLoad(scenario).batchesPerSecond
    scenario.tapi.server = .bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: Int64(load * 500), burst: 1))
    let overloaded = Self.bytes(.batches, scenario)
    // A device has a batch for some tenths of a second in thirty.
    #expect(healthy < 2_000_000)
    #expect(overloaded > 60 * 48_000_000 && overloaded < 70 * 48_000_000)
  }

  @Test("two outages that touch are one; a brownout counts with what it leaves")
  func incidents() {
    func batches(_ incidents: [Incident]) -> Int64 {
      var scenario = Self.scenario { $0.queue.mode = .files }
      scenario.tapi.incidents = incidents
      return Self.bytes(.batches, scenario)
    }
    func outage(_ start: Int64, _ length: Int64) -> Incident {
      Incident.outage(at: .minutes(start), for: .minutes(length))
    }
    #expect(batches([outage(10, 5), outage(15, 5)]) == batches([outage(10, 10)]))
    // The load takes two thirds of the capacity: half an hour's outage is worked off at half that speed.
    #expect(batches([outage(5, 10), outage(50, 10)]) == batches([outage(5, 10)]))
    let brownout = Incident(
      kind: .brownout(factorPartsPerMillion: 0), start: .start + .minutes(10), duration: .minutes(10))
    #expect(batches([brownout]) == batches([outage(10, 10)]))
  }

  @Test("parts and cohorts add up, and no fleet is too large to estimate")
  func sums() {
    for devices in [1, 1_000, 4_000_000_000] {
      var scenario = Self.scenario {
        $0.devices = devices
        $0.queue = QueuePolicy(mode: .files, limit: 1_000_000)
        $0.uploadConcurrency = .max
      }
      scenario.fleet.append(scenario.fleet[0])
      scenario.fleet[1].name = "tablets"
      scenario.duration = .hours(24 * 366)
      scenario.interval = .hours(1)
      let estimate = MemoryEstimate(scenario)
      #expect(estimate.byPart.map(\.expected).reduce(0, +) == estimate.expected)
      #expect(estimate.items.allSatisfy { $0.expected >= 0 })
      #expect(Set(estimate.items.compactMap(\.cohort)) == ["phones", "tablets"])
      #expect(estimate.resultBytes > 366 * 864_000 * 4)
    }
  }

  @Test(
    "workers, the requests that wait for them and their calls at a dependency count, no more than are sent")
  func workers() {
    func bytes(workers: Int, queueLimit: Int?, _ dependency: Dependency? = nil) -> Int64 {
      var scenario = Self.scenario()
      scenario.tapi.server = .workers(
        WorkersConfiguration(
          count: workers, serviceTime: .constant(.milliseconds(10)), queueLimit: queueLimit,
          dependency: dependency))
      return Self.bytes(.server, scenario)
    }
    let few = bytes(workers: 1_000, queueLimit: 0)
    #expect(bytes(workers: 1_000, queueLimit: 1_000) > few)
    #expect(bytes(workers: 1_000_000_000, queueLimit: nil) < few + 1_000_000_000)
    let dependency = Dependency(
      count: 100, serviceTime: .constant(.seconds(1)), queueLimit: 100, timeout: .seconds(1))
    #expect(bytes(workers: 1_000, queueLimit: 0, dependency) > few)
  }

  @Test("one device for a year over a network of one millisecond needs no more than its tables")
  func oneDevice() throws {
    var scenario = Self.scenario {
      $0.devices = 1
      $0.latency = .constant(.milliseconds(1))
    }
    scenario.duration = .hours(24 * 366)
    scenario.interval = .hours(1)
    #expect(Self.bytes(.calendars, scenario) < 50_000_000)
  }
}
