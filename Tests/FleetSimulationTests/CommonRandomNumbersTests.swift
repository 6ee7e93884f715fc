import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestSupport
import Testing
import UploadRetry

/// Under one seed two strategies live in the same world.
@Suite struct CommonRandomNumbersTests {
  private func scenario(
    _ jitter: Jitter, seed: UInt64, mode: QueuePolicy.Mode, duration: Span = .seconds(300),
    interval: Span = .seconds(1)
  ) -> Scenario {
    var cohort = Cohort(name: "phones", devices: 40, events: .poisson(meanGap: .milliseconds(2_500)))
    cohort.settings.backoff.jitter = jitter
    cohort.retries = .timer
    cohort.timeout = .seconds(5)
    cohort.flush = FlushPolicy(count: 5, interval: .seconds(10))
    cohort.queue.mode = mode
    cohort.latency = .logNormal(
      median: .milliseconds(80), p99: .milliseconds(900), minimum: .milliseconds(10))
    return Scenario(
      seed: seed, duration: duration, interval: interval,
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 8_000, burst: 2)),
        overload: Overload(status: 503),
        incidents: [
          Incident(
            kind: .outage(status: 503, retryAfter: .none, keepsWork: false),
            start: Instant(microseconds: 60_000_000),
            duration: .seconds(60))
        ]), fleet: [cohort])
  }

  private struct Attempt: Hashable {
    var device: UInt32
    var firstOrdinal: UInt32
    var attempt: UInt16
  }

  private func latencies(_ sent: [UploadRequest]) -> [Attempt: [UInt32]] {
    Dictionary(
      uniqueKeysWithValues: sent.map {
        (
          Attempt(device: $0.device, firstOrdinal: $0.firstOrdinal, attempt: $0.attempt),
          [$0.uplink, $0.downlink]
        )
      })
  }

  @Test(
    "Two strategies see every event at the same time, and the k-th attempt of a batch meets the same network",
    arguments: 1...UInt64(TestDepth.cases(1, exhaustively: 3)))
  func sameWorld(seed: UInt64) {
    let strategies: [Jitter] = [.none, .additive(percent: 10), .full, .equal, .decorrelated]
    let results = strategies.map {
      PlainEngine.run(
        scenario($0, seed: seed, mode: .files, duration: .seconds(200), interval: .milliseconds(5)))
    }
    func created(_ record: RunRecord) -> [Int64] {
      record.series.rows.indices.map { record.series[$0, .createdEvents] }
    }
    let events = created(results[0].record)
    let first = latencies(results[0].sent)
    for (strategy, result) in zip(strategies, results).dropFirst() {
      // Rows of 5 ms: each event's creation time, to 5 ms, across the fleet; device by device it is the ordinals below.
      #expect(created(result.record) == events, "seed \(seed), \(strategy)")
      let own = latencies(result.sent)
      let common = own.keys.filter { first[$0] != nil }
      #expect(common.count > 500, "seed \(seed), \(strategy): too few attempts in common to tell")
      #expect(common.filter { $0.attempt > 1 }.count > 100)
      #expect(common.allSatisfy { own[$0] == first[$0] }, "seed \(seed), \(strategy)")
      #expect(
        result.sent.map(\.arrival) != results[0].sent.map(\.arrival),
        "the strategies made no difference at all")
    }
  }

  @Test(
    "Batches are the same under all strategies: the same events in each, sealed at the same times",
    arguments: 1...UInt64(TestDepth.cases(1, exhaustively: 3)))
  func sameBatches(seed: UInt64) {
    func firstAttempts(_ jitter: Jitter) -> Set<[UInt32]> {
      Set(
        PlainEngine.run(scenario(jitter, seed: seed, mode: .files)).sent.filter { $0.attempt == 1 }
          .map { [$0.device, $0.firstOrdinal, UInt32($0.events)] })
    }
    let none = firstAttempts(.none)
    let full = firstAttempts(.full)
    // Batches sealed close to the end may be sent under one strategy only.
    #expect(none.symmetricDifference(full).count * 20 < none.count, "seed \(seed)")
    let byStart = Dictionary(none.map { (Array($0.prefix(2)), $0[2]) }, uniquingKeysWith: { a, _ in a })
    #expect(full.allSatisfy { byStart[Array($0.prefix(2))] == nil || byStart[Array($0.prefix(2))] == $0[2] })
  }

  @Test("Another seed is another world")
  func otherSeed() throws {
    let one = try Simulation.run(scenario(.full, seed: 1, mode: .rebatch))
    let again = try Simulation.run(scenario(.full, seed: 1, mode: .rebatch))
    let two = try Simulation.run(scenario(.full, seed: 2, mode: .rebatch))
    #expect(one == again)
    #expect(one != two)
  }
}
