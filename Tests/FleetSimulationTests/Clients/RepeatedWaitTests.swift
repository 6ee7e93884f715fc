import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadGating
import UploadRetry

/// Draws are named by device, batch and attempt: a client that counts from 0 again, or that counts nothing on its batch, draws
/// another word all the same.
@Suite("Waits that one batch draws again and again")
struct RepeatedWaitTests {
  /// Each request of such a client is on its own: tries that arrive in the outage are counted one by one, without a client.
  @Test("Requests that overlap are each tried again when due, and not when there are none under way")
  func overlapping() throws {
    var cohort = Cohort(
      name: "calls", devices: 1, events: .periodic(every: .milliseconds(100), phase: .flush),
      flush: FlushPolicy(count: 1, interval: nil), latency: .constant(.milliseconds(76)))
    (cohort.retries, cohort.timeout, cohort.uploadConcurrency) = (.timer, .seconds(2), .max)
    cohort.queue.maximumBatchEvents = 1
    cohort.policy.waits = try #require(DelayLadder(milliseconds: [1_000]))
    cohort.settings.backoff.jitter = .none
    let outage = Incident.outage(status: nil, keepsWork: true, at: .seconds(60), for: .seconds(10))
    let scenario = Scenario(
      duration: .minutes(10), interval: .seconds(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000)),
        incidents: [outage]), fleet: [cohort])
    var (retries, latest) = (0, Int64(0))
    for event in stride(from: 0 as Int64, to: 75_000, by: 100) {
      var arrival = event + 76
      while (60_000..<70_000).contains(arrival) { (retries, arrival) = (retries + 1, arrival + 3_000) }
      if arrival > event + 76 { latest = max(latest, arrival) }
    }
    let rows = try Simulation.run(scenario).series.rows
    #expect(abs(rows.reduce(0) { $0 + $1[.retries] } - Int64(retries)) <= 4)
    let last = try #require(rows.indices.last { rows[$0][.retries] > 0 })
    #expect(abs(Int64(last) - latest / 1_000) <= 1)
  }

  @Test("D4: no round of Datafly's seven tries repeats the jitter of another")
  func rounds() throws {
    let hours: Int64 = 6
    let fleet = GatedFleet(
      preset: .datafly, duration: hours * 3_600, eventGap: .seconds(60), flushInterval: .seconds(30),
      outages: [(503, 0, Double(hours * 3_600 - 1))])
    var waits: [Int64: [Int64]] = [:]
    for event in try fleet.run().events {
      guard case .decided(_, .retry(let due)) = event.kind else { continue }
      // 1, 2, 4 … 32 s, plus 0 to 50 %.
      let base = try #require([32, 16, 8, 4, 2, 1].first { due - event.time >= $0 * 1_000_000 })
      waits[base, default: []].append(due - event.time)
    }
    #expect(waits.keys.sorted() == [1, 2, 4, 8, 16, 32])
    for (base, waits) in waits {
      // The mean of a round is 63 s · 1.25, and up to a flush more.
      #expect(waits.count > 150, "\(base) s")
      #expect(Set(waits).count >= waits.count - 1, "\(base) s: of \(waits.count) waits")
      let shares = waits.map { Double($0) / Double(base * 1_000_000) - 1 }
      #expect(shares.allSatisfy { (0...0.5).contains($0) })
      // Uniform: the mean is 25 %, with a deviation of 50 % / √12 for each.
      let mean = shares.reduce(0, +) / Double(shares.count)
      let deviation: Double = 0.5 / (12 * Double(shares.count)).squareRoot()
      #expect(abs(mean - 0.25) < 4 * deviation, "\(base) s: \(mean)")
    }
  }

  @Test("A Retry-After that is spread is spread anew at each 429 of one batch")
  func spreadRetryAfter() throws {
    var fleet = GatedFleet(
      duration: 3_600, eventGap: .seconds(4_000), flushInterval: .seconds(4_000), outages: [(429, 0, 3_590)])
    fleet.retryAfter = .fixed(.seconds(20))
    fleet.change = {
      $0.retries = .timer
      $0.policy.retryAfterJitter = .additive(percent: 50)
    }
    let waits = try fleet.run().events.compactMap { event -> Int64? in
      guard case .decided(_, .pause(let until)) = event.kind else { return nil }
      return until - event.time
    }
    // 3,590 s of 25.2 s each in the mean; a limit of 100 retries ends none of them.
    #expect(waits.count > 100 && waits.allSatisfy { (20_000_000...30_000_000).contains($0) })
    #expect(Set(waits).count >= waits.count - 1)
  }

  @Test("A client that throttles itself is asked once at an instant, however many answers come then")
  func throttle() throws {
    var fleet = GatedFleet(
      duration: 400, eventGap: .milliseconds(500), flushInterval: .seconds(1), outages: [(503, 20, 300)])
    fleet.change = {
      $0.retries = .timer
      $0.uploadConcurrency = .max
      $0.settings.backoff.jitter = .none
      $0.settings.backoff.baseBackoffInterval = 5_000_000
      $0.settings.backoff.maxBackoffInterval = 20_000_000
      $0.gates.throttle = AdaptiveThrottle()
    }
    let (summary, _, events) = try fleet.run()
    var holds: Set<Int64> = []
    var answers: [Int64: Int] = [:]
    for event in events {
      switch event.kind {
      case .heldByGate: holds.insert(event.time)
      case .answered: answers[event.time, default: 0] += 1
      default: break
      }
    }
    #expect(answers.values.contains { $0 > 1 }, "some answers come together")
    #expect(holds.count > 20)
    #expect(summary[.throttledRequests] == Int64(holds.count))
  }
}
