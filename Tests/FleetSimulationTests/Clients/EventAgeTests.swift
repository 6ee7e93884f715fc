import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

/// Limits that end what waits, in an outage that lasts. Times are milliseconds.
@Suite("Limits of age and of tries, and the waits that they end")
struct EventAgeTests {
  /// An event each 10 s and a flush each 30 s, from 0 on. A try fails after 100 ms.
  private static func scenario(_ adjust: (inout Cohort) -> Void) throws -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: 1, events: .periodic(every: .seconds(10), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true),
      latency: .constant(.milliseconds(50)))
    (cohort.retries, cohort.uploadConcurrency) = (.timer, .max)
    cohort.policy.waits = try #require(DelayLadder(milliseconds: [4_000]))
    cohort.settings.backoff.jitter = .none
    cohort.settings.backoff.maxRetryCount = 1_000
    adjust(&cohort)
    return Scenario(
      seed: 1, duration: .minutes(6),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 100)),
        incidents: [
          Incident.outage(keepsWork: true, for: .minutes(6))
        ]),
      fleet: [cohort])
  }

  private static func drops(_ scenario: Scenario) throws -> [[Int64]] {
    try Simulation.trace(scenario, device: 0).trace.events.compactMap {
      guard case .dropped(_, let events, _, .limit(.age)) = $0.kind else { return nil }
      return [$0.time, Int64(events)]
    }
  }

  @Test(
    "The age of events ends the tries of their batch, with that of its oldest event",
    arguments: [false, true])
  func files(beforeDue: Bool) throws {
    let scenario = try Self.scenario {
      $0.policy.ageLimit = .eventAgeSinceQueued
      $0.policy.limitsCheck = beforeDue ? .beforeDue : .whenDue
      $0.settings.backoff.maxTotalBackoffDuration = 25_000_000
    }
    var expected: [[Int64]] = []
    for sealed in stride(from: 0 as Int64, to: 360_000, by: 30_000) {
      let oldest = max(0, sealed - 20_000)
      var time = sealed
      while time - oldest <= 25_000 { time += 4_100 }
      let drop = beforeDue ? (oldest + 25_000) * 1_000 + 1 : time * 1_000
      if drop < 360_000_000 { expected.append([drop, sealed == 0 ? 1 : 3]) }
    }
    #expect(try Self.drops(scenario) == expected)
    let record = try Simulation.run(scenario)
    #expect(record.series.totals[.droppedByAge] == expected.reduce(0) { $0 + $1[1] })
  }

  @Test("A client that cuts its batches anew loses the old events alone")
  func rebatch() throws {
    let scenario = try Self.scenario {
      $0.queue.mode = .rebatch
      $0.policy.ageLimit = .eventAgeSinceQueued
      $0.settings.backoff.maxTotalBackoffDuration = 25_000_000
    }
    // Tries leave each 4.1 s from a flush on. That of 8.2 s finds the event of 20 s before the flush older than 25 s, that of
    // 16.4 s the one of 10 s before, and that of 28.7 s the one that came with the flush.
    var expected: [[Int64]] = []
    for flush in stride(from: 0 as Int64, to: 360_000, by: 30_000) {
      for wait: Int64 in flush == 0 ? [28_700] : [8_200, 16_400, 28_700] {
        expected.append([(flush + wait) * 1_000, 1])
      }
    }
    #expect(try Self.drops(scenario) == expected)
    #expect(try Simulation.run(scenario).series.totals[.droppedByAge] == Int64(expected.count))
  }

  @Test("A batch that is too old as its flush comes goes without a try")
  func neverFailed() throws {
    var scenario = try Self.scenario {
      $0.flush = FlushPolicy(count: nil, interval: .seconds(60), isSynchronised: true)
      $0.policy.ageLimit = .eventAgeSinceQueued
      $0.settings.backoff.maxTotalBackoffDuration = 45_000_000
    }
    scenario.tapi.incidents = []
    // Nothing fails. At 0 a batch of one event leaves; those of later flushes have one of 50 s.
    #expect(try Self.drops(scenario) == (1...5).map { [$0 * 60_000_000, 6] })
  }

  @Test("A wait that a limit ends is counted as long as it is", arguments: [false, true])
  func waits(beforeDue: Bool) throws {
    func waited(_ adjust: (inout Cohort) -> Void) throws -> Double {
      var scenario = try Self.scenario {
        // One event at 0.
        $0.events = .periodic(every: .hours(1), phase: .flush)
        $0.policy.limitsCheck = beforeDue ? .beforeDue : .whenDue
        adjust(&$0)
      }
      scenario.duration = .minutes(30)
      scenario.tapi.incidents[0].duration = .minutes(30)
      return Double(try Simulation.run(scenario).series.totals[.backoffMicroseconds]) / 1e6
    }
    // Six tries: 1, 2, 4, 8, 16 s, and after the sixth 32 s only where the limit is looked at when the retry is due.
    let tries = try waited {
      $0.policy.waits =
        DelayLadder(milliseconds: [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]) ?? $0.policy.waits
      $0.settings.backoff.maxRetryCount = 5
    }
    #expect(tries == (beforeDue ? 31 : 63))
    // The first failure is at 0.1 s. Tries leave at 0, 4.1, 8.2, 12.3, … s; the wait until 12.3 s would end 12.2 s after it.
    let age = try waited { $0.settings.backoff.maxTotalBackoffDuration = 10_000_000 }
    #expect(abs(age - (beforeDue ? 4 + 4 + (10.1 - 8.3) : 12)) < 1e-5, "\(age)")
  }
}
