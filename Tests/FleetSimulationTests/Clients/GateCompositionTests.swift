import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import TestSupport
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

/// Each gate by itself before the document's client, which needs none of them.
@Suite("Gates with any client")
struct GateCompositionTests {
  private func document(
    _ outages: [(status: Int?, at: Double, length: Double)], duration: Int64 = 600,
    _ gates: @escaping (inout ClientGates) -> Void
  ) -> GatedFleet {
    var fleet = GatedFleet(duration: duration, outages: outages)
    fleet.change = {
      // No waits of the client's own: only the gate keeps it from sending at each flush.
      $0.settings.backoff.isEnabled = false
      $0.settings.rateLimit.isEnabled = false
      gates(&$0.gates)
    }
    return fleet
  }

  /// A random fleet whose held requests lie apart, or the same with a second gate: then loops ask for each of them, though that
  /// gate refuses nothing.
  private func k2(seed: UInt64) -> (apart: Scenario, asking: Scenario) {
    var random = SeededGenerator(seed: seed)
    func pick<T>(_ values: [T]) -> T { values[Int(random.next() >> 33) % values.count] }
    let outages = [(pick([429, 503, 413]), 30.0, 120.0), (pick([429, 503, 500]), 200.0, 60.0)]
    var fleet = GatedFleet(
      preset: .keenProposed, devices: 15, duration: 500, eventGap: .seconds(pick([1, 3, 11])),
      flushInterval: .seconds(pick([3, 10])),
      outages: outages.map { (status: $0.0, at: $0.1, length: $0.2) })
    fleet.retryAfter = pick([.none, .fixed(.seconds(20))])
    let (uploads, whileUploading) = (pick([1, 2, .max]), pick([FlushWhileUploading.joins, .ignored]))
    let (retries, limit) = (pick([RetryWakeUp.timer, .timer, .gate]), pick([8, 40, 1_000]))
    let batch = pick([1, 3])
    let (rateLimited, waits) = (pick(RetryPolicy.RateLimited.allCases), pick([true, false]))
    let lifecycle = pick([
      nil, Lifecycle(meanTimeBetweenRestarts: .seconds(90), keepsState: pick([true, false])),
    ])
    var offlineAtTimes = Connectivity(flushesOnReconnect: pick([true, false]))
    offlineAtTimes.periods = Connectivity.Periods(
      online: .exponential(mean: .seconds(60)), offline: .exponential(mean: .seconds(15)))
    let connectivity = pick([nil, offlineAtTimes])
    fleet.change = {
      ($0.uploadConcurrency, $0.flushWhileUploading, $0.retries) = (uploads, whileUploading, retries)
      ($0.queue.limit, $0.queue.maximumBatchEvents) = (limit, batch)
      $0.policy.rateLimited = rateLimited
      ($0.settings.backoff.isEnabled, $0.settings.rateLimit.isEnabled) = (waits, waits)
      ($0.lifecycle, $0.connectivity) = (lifecycle, connectivity)
    }
    let apart = fleet.scenario
    var asking = apart
    asking.fleet[0].gates.retryBudget = RetryBudget()
    return (apart, asking)
  }

  @Test("K2: held requests that lie apart do to the byte as if each loop asked for each of them")
  func heldApart() throws {
    func liesApart(_ scenario: Scenario) -> Bool {
      CohortPlan(
        scenario.fleet[0], firstDevice: 0, scenario: scenario, lastIncidentEnd: scenario.lastIncidentEnd,
        checks: false, windowWidth: 1_000
      ).keepsHeldApart
    }
    var withHolds = 0
    let seeds = TestDepth.cases(20, exhaustively: 60)
    for seed in 1...UInt64(seeds) {
      let (apart, asking) = k2(seed: seed)
      #expect(liesApart(apart) && !liesApart(asking), "seed \(seed)")
      let record = try Simulation.run(apart)
      expectSame(record, try Simulation.run(asking), "apart and asked for", seed: seed)
      let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "apart", seed: 1)
      if summary[.heldLoops] > 0 { withHolds += 1 }
    }
    #expect(withHolds * 4 > seeds * 3)
  }

  @Test("K2: fleets with held requests that share their beginnings and ends do as by themselves")
  func heldInSharedRuns() throws {
    var savings = SharedRuns.Savings()
    for seed in 1...UInt64(TestDepth.cases(8, exhaustively: 30)) {
      let fleets = k2(seed: seed)
      for var scenario in [fleets.apart, fleets.asking] {
        // Time to come back.
        scenario.duration = .seconds(1_500)
        var other = scenario
        other.fleet[0].settings.backoff.baseBackoffInterval = 2_000_000
        other.tapi.incidents[1].duration = .seconds(90)
        try expectSameInTurn([scenario.withoutIncidents, scenario, other], seed: seed, saving: &savings)
      }
    }
    #expect(savings.savedAttempts > savings.attempts / 10)
  }

  @Test("O6: five failures open the breaker for 30 s, then one probe each after 60 s and 2 min")
  func breaker() throws {
    let fleet = document([(503, 0, 1_000)]) {
      $0.breaker = CircuitBreaker()
    }
    let (summary, sent, _) = try fleet.run()
    // The fifth answer is heard of after the fifth upload of the first seconds; flushes are whole seconds.
    let probes = sent.filter { $0 > 20 }
    #expect(sent.filter { $0 <= 20 }.count == 5, "\(sent)")
    #expect(probes.gaps.map { $0.rounded() } == [61, 121, 121, 121, 121], "\(probes)")
    #expect(summary[.breakerOpenings] == 7)
    #expect(summary[.breakerOpenMicroseconds] == (30 + 60 + 5 * 120) * 1_000_000)
  }

  @Test("O6: the first probe that succeeds closes it")
  func breakerCloses() throws {
    let fleet = document([(503, 0, 20)], duration: 60) { $0.breaker = CircuitBreaker() }
    let (summary, sent, _) = try fleet.run()
    #expect(summary[.breakerOpenings] == 1 && summary.pendingEvents <= 1 && sent.count > 60)
  }

  @Test("O6: breakers that opened together close together; with jitter on their open time one after another")
  func openTimeJitter() throws {
    func run(_ jitter: Jitter, fails: Bool) throws -> (attempts: [Int64], summary: RunSummary) {
      var fleet = document([(503, 0, 20)], duration: 80) {
        $0.breaker = CircuitBreaker(failsWhenOpen: fails)
        $0.openTimeJitter = jitter
      }
      fleet.devices = 400
      var scenario = fleet.scenario
      scenario.interval = .seconds(1)
      let record = try Simulation.run(scenario)
      let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "breakers", seed: 1)
      return (record.series.rows.map(\.attempts), summary)
    }
    // A flush is each full second: uploads at 0, 1, 1.2, 2 and 2.2 s, the last of which is heard of at 2.4 s.
    let (together, lost) = try run(.none, fails: true)
    #expect(together[3...32].allSatisfy { $0 == 0 } && together[33] == 400)
    // Three that had failed, and one more each second of 30.
    #expect(lost[.refusedByGate] == 400 * 33)
    #expect(try run(.none, fails: false).summary[.refusedByGate] == 0)
    // Until 32.4 s and uniformly as long again: of 400 so many have closed.
    let spread = try run(.additive(percent: 100), fails: true).attempts
    for second in [38, 43, 48, 53, 58] {
      let share = (Double(second) - 32.4) / 30
      let deviation = (400 * share * (1 - share)).squareRoot()
      #expect(abs(Double(spread[second]) - 400 * share) < 4 * deviation, "\(second) s: \(spread[second])")
    }
    #expect(spread[63] == 400)
  }

  @Test("O3: two retries in a run, however many batches are due")
  func budgetPerRun() throws {
    let fleet = document([(503, 0, 20.5)], duration: 21) { $0.retryBudget = RetryBudget(perRun: 2) }
    let sent = try fleet.run().sent
    // One first attempt and two retries in each flush.
    #expect(sent.filter { $0 >= 10 && $0 < 11 }.count == 3)
    let without = try document([(503, 0, 20.5)], duration: 21) { _ in }.run().sent
    #expect(without.filter { $0 >= 10 && $0 < 10.9 }.count > 3)
  }

  @Test("O3: a bucket of three retries is used up in an outage, and successes earn more")
  func budgetBucket() throws {
    let fleet = document([(503, 0, 60.5)], duration: 61) {
      $0.retryBudget = RetryBudget(bucket: .init(capacity: 3, perSuccess: 1_000))
    }
    #expect(try fleet.run().sent.count == 61 + 3)
    let after = document([(503, 0, 60.5)], duration: 200) {
      $0.retryBudget = RetryBudget(bucket: .init(capacity: 3, perSuccess: 1_000))
    }
    #expect(try after.run().summary.pendingEvents <= 1)
  }

  @Test(
    "Adaptive throttling: in an outage most uploads are rejected at the client, and all arrive when it is over"
  )
  func throttle() throws {
    func run(_ throttle: AdaptiveThrottle?) throws -> RunSummary {
      var fleet = document([(503, 100, 200)], duration: 1_500) { $0.throttle = throttle }
      fleet.devices = 20
      fleet.change = { [change = fleet.change] in
        change(&$0)
        $0.uploadConcurrency = 1
      }
      return try fleet.run().summary
    }
    let (with, without) = (try run(AdaptiveThrottle()), try run(nil))
    #expect(with[.throttledRequests] > 1_000 && without[.throttledRequests] == 0)
    #expect(with[.answers503] * 2 < without[.answers503])
    #expect(with.lostEvents == 0 && with[.deliveredEvents] > 20 * 1_300)
  }

  @Test("O5: after 429s there are fewer uploads at once")
  func controller() throws {
    func most(_ controller: BackpressureController?) throws -> Int {
      var fleet = document([(429, 0, 30.5)], duration: 40) { $0.controller = controller }
      fleet.change = { [change = fleet.change] in
        change(&$0)
        $0.uploadConcurrency = .max
      }
      return try fleet.run().sent.filter { $0 >= 20 && $0 < 30 }.map { $0.rounded(.down) }
        .reduce(into: [Double: Int]()) { $0[$1, default: 0] += 1 }.values.max() ?? 0
    }
    // Uploads take 0.2 s: one at once makes five in a second at most.
    #expect(try most(BackpressureController()) <= 5)
    #expect(try most(nil) > 20)
  }

  @Test("O5: after a 413 batches are smaller")
  func batchSize() throws {
    var fleet = GatedFleet(
      duration: 100, eventGap: .milliseconds(100), flushInterval: .seconds(10), outages: [(413, 15, 10)])
    fleet.change = { $0.gates.controller = BackpressureController(largestBatch: 100, batchStep: 0) }
    let sizes = try fleet.run().events.compactMap { event -> Int? in
      if case .sent(_, let events, _, _) = event.kind { events } else { nil }
    }
    #expect(sizes.prefix(3).max() == 100 && sizes.suffix(4).max() == 50, "\(sizes)")
  }

  @Test(
    "a poll that fails is tried again and again, and the ticks meanwhile ask for nothing and lose nothing")
  func polls() throws {
    var fleet = GatedFleet(
      duration: 1_000, eventGap: .seconds(10), outages: [(503, 95, 200), (nil, 400, 60)])
    fleet.change = {
      $0.holdOnePoll()
      $0.retries = .timer
      $0.policy.waits = DelayLadder(milliseconds: [23_000]) ?? DelayLadder()
      $0.settings.backoff.jitter = .none
      $0.timeout = .seconds(17)
    }
    let (summary, sent, _) = try fleet.run()
    // Tick by tick: one that finds nothing under way and nothing that waits is a request.
    var (expected, polls, busyUntil): ([Double], Int64, Double) = ([], 0, -1)
    for tick in stride(from: 0.0, to: 1_000, by: 10) where tick > busyUntil {
      polls += 1
      var time = tick
      while true {
        expected.append(time)
        let arrives = time + 0.1
        if (95..<295).contains(arrives) {
          time += 0.2 + 23
        } else if (400..<460).contains(arrives) {
          time += 17 + 23
        } else {
          break
        }
      }
      busyUntil = time + 0.2
    }
    #expect(sent.isClose(to: expected), "\(sent)")
    #expect(summary[.createdEvents] == polls && polls < 90, "\(polls)")
    #expect(summary.lostEvents == 0 && summary[.deliveredEvents] == polls)
    #expect(summary[.settledBatches] == polls)
  }

  @Test("a poll whose answers are lost is delivered by the first one that is heard")
  func unheardPolls() throws {
    var cohort = Cohort(
      name: "phones", devices: 20, events: .periodic(every: .seconds(10), phase: .random))
    cohort.holdOnePoll()
    (cohort.retries, cohort.timeout) = (.timer, .seconds(5))
    var tapi = TAPIConfiguration(
      server: .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000)))
    tapi.incidents = [
      Incident(
        kind: .lostAnswers(share: 1_000_000), start: .start + .seconds(100),
        duration: .seconds(200))
    ]
    let record = try Simulation.run(
      Scenario(duration: .seconds(1_000), interval: .seconds(10), tapi: tapi, fleet: [cohort]))
    let rows = record.series.rows
    #expect(rows[10..<30].allSatisfy { $0[.deliveredEvents] == 0 })
    #expect(rows[11..<30].allSatisfy { $0[.backlogEvents] == 20 && $0[.createdEvents] == 0 })
    #expect(record.series.totals[.backlogEvents] < 5 && record.series.totals[.duplicateBatches] == 0)
  }

  @Test("T1: what a window holds leaves as soon as the window lets it, in gate mode too")
  func windowInGateMode() throws {
    var fleet = GatedFleet(duration: 35, eventGap: .seconds(6), flushInterval: .seconds(6))
    fleet.change = { $0.gates.rateGate = RateGate(RateWindow(slots: 1, span: 10_000_000)) }
    #expect(try fleet.run().sent.isClose(to: [0, 10, 20, 30]))
  }

  @Test("T1: a run that a 429 has ended goes on at a trigger in gate mode, whatever the window says")
  func windowAfter429() throws {
    // At 30 s one of two batches leaves; the other would at 40 s. The 429 of the first says 50.2 s; the next flush is at 60 s.
    var fleet = GatedFleet(
      duration: 79, eventGap: .seconds(15), flushInterval: .seconds(30), outages: [(429, 29, 5)])
    fleet.retryAfter = .fixed(.seconds(20))
    fleet.change = {
      $0.queue.maximumBatchEvents = 1
      $0.uploadConcurrency = 2
      $0.gates.rateGate = RateGate(RateWindow(slots: 1, span: 10_000_000))
    }
    #expect(try fleet.run().sent.isClose(to: [0, 30, 60, 70]))
  }

  @Test("K1: a failure window may hold instead of refusing")
  func holds() throws {
    let fleet = document([(404, 0, 10)], duration: 200) {
      $0.failureWindow = FailureWindow(failures: 3, span: 60_000_000)
      $0.failureWindow?.refuses = false
    }
    let (summary, sent, _) = try fleet.run()
    #expect(summary[.refusedByGate] == 0 && summary[.droppedByStatus] == 3)
    #expect(sent.filter { $0 > 3 && $0 < 60 }.isEmpty && summary[.deliveredEvents] > 190)
  }

  @Test("S16: what is flushed during the wait after a 429 is lost and counted, and nothing else is")
  func losesWhileRateLimited() throws {
    func summary(_ loses: Bool) throws -> RunSummary {
      var fleet = GatedFleet(devices: 3, duration: 200, outages: [(429, 50, 5)])
      fleet.retryAfter = .fixed(.seconds(60))
      fleet.change = { $0.gates.losesWhileRateLimited = loses }
      return try fleet.run().summary
    }
    let (loses, holds) = (try summary(true), try summary(false))
    #expect(holds[.refusedByGate] == 0 && holds.lostEvents == 0)
    // An event a second from each of three devices.
    #expect((3 * 58...3 * 61).contains(Int(loses[.refusedByGate])), "\(loses[.refusedByGate])")
    #expect(loses[.deliveredEvents] + loses[.refusedByGate] == holds[.deliveredEvents])
  }

  @Test("O4: asking first avoids the duplicates of uploads that were answered too late")
  func reconciled() throws {
    func run(_ reconciles: Bool) throws -> RunSummary {
      var fleet = GatedFleet(devices: 50, duration: 600, eventGap: .seconds(20), flushInterval: .seconds(20))
      fleet.server = .workers(
        WorkersConfiguration(count: 500, serviceTime: .uniform(.zero, .milliseconds(1_500))))
      fleet.change = {
        $0.timeout = .seconds(1)
        $0.backOffExactly(from: 5)
        $0.gates.reconciles = reconciles
      }
      return try fleet.run().summary
    }
    let (with, without) = (try run(true), try run(false))
    #expect(without[.duplicateEvents] > 100 && without[.statusQueries] == 0)
    #expect(with[.duplicateEvents] == 0 && with[.statusQueries] > 100)
  }

  @Test("O4: what was not applied is sent after all")
  func reconciledAndSent() throws {
    var fleet = GatedFleet(
      duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(10), outages: [(nil, 0, 5)])
    fleet.change = {
      $0.timeout = .seconds(1)
      $0.backOffExactly(from: 8)
      $0.gates.reconciles = true
    }
    let (summary, sent, _) = try fleet.run()
    // The question at 10 s, the upload as soon as it has been answered.
    #expect(sent.isClose(to: [0, 10, 10.2]))
    #expect(summary[.statusQueries] == 1 && summary[.deliveredEvents] == 1)
  }

  @Test(
    "O4: of answers that get lost the server recognises what is sent again; who asks first sends nothing twice",
    arguments: [(5, 1), (15, 2)] as [(Int64, Int64)])
  func lostAnswers(lostFor: Int64, repeats: Int64) throws {
    // Accepted at 0.1 s. Time-outs at 1 s and, if that answer gets lost too, at 11 s: due at 9 s and 27 s, tried at the flush
    // behind.
    let times: [Double] = Array([0, 10, 30].prefix(Int(repeats) + 1))
    for reconciles in [true, false] {
      var fleet = GatedFleet(duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(10))
      fleet.adjustServer = {
        $0.incidents = [
          Incident(kind: .lostAnswers(share: 1_000_000), start: .start, duration: .seconds(lostFor))
        ]
        $0.rules.deduplicationWindow = .hours(1)
      }
      fleet.change = {
        $0.timeout = .seconds(1)
        $0.backOffExactly(from: 8)
        $0.gates.reconciles = reconciles
      }
      let (summary, sent, _) = try fleet.run()
      #expect(sent.isClose(to: times))
      #expect(summary[.deliveredEvents] == 1 && summary.pendingEvents == 0)
      #expect(summary[.statusQueries] == (reconciles ? repeats : 0))
      #expect(summary[.duplicateEvents] == (reconciles ? 0 : repeats))
      #expect(summary[.deduplicatedEvents] == (reconciles ? 0 : repeats))
    }
  }

  @Test("O10: failures by class, retries, time to success, how often breakers open and for how long")
  func measured() throws {
    var fleet = GatedFleet(
      duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(10),
      outages: [(503, 0, 5), (429, 5, 10), (nil, 15, 10), (500, 35, 10)])
    fleet.change = {
      $0.timeout = .seconds(1)
      $0.settings.backoff.isEnabled = false
      $0.settings.rateLimit.isEnabled = false
      $0.gates.breaker = CircuitBreaker(thresholdPercent: 0, minimumFailures: 1, openTime: 4_000_000)
    }
    let (summary, sent, _) = try fleet.run()
    // Open until 4.2 s, 18.2 s, 37 s (the client waits for 1 s) and 72.2 s.
    #expect(sent.isClose(to: [0, 10, 20, 40, 80]))
    let lines = String(decoding: SummaryCSV.bytes(of: [summary]), as: UTF8.self).split(separator: "\n")
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    let fields = Dictionary(uniqueKeysWithValues: zip(lines[0], lines[1]))
    for (name, value) in [
      "attempts": "5", "first_attempts": "1", "retries": "4", "answers_2xx": "1", "answers_429": "1",
      "answers_503": "1", "answers_other": "1", "unanswered_requests": "1", "timed_out_requests": "1",
      "answers_401": "0", "answers_4xx_other": "0", "answers_5xx_other": "1",
      "retries_after_429": "1", "retries_after_5xx": "2", "retries_after_no_answer": "1",
      "retries_after_other": "0",
      "backoff_wait_s": "0.000000", "blocked_events": "0",
      "breaker_openings": "4", "breaker_open_s": "60.000000", "time_to_delivery_max_s": "80.100000",
    ] { #expect(fields[name] == value, "\(name)") }
    // Percentiles are within 0.8 %.
    for name in [
      "time_to_delivery_p50_s", "time_to_delivery_p90_s", "time_to_delivery_p95_s", "time_to_delivery_p99_s",
    ] {
      let time = try #require(fields[name].flatMap(Double.init), "\(name)")
      #expect(abs(time / 80.1 - 1) < 0.008, "\(name)")
    }
  }

  @Test("Jitter on Retry-After spreads what one Retry-After would bring back together")
  func retryAfterJitter() throws {
    func most(_ jitter: Jitter) throws -> Int {
      var fleet = GatedFleet(
        devices: 100, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(1_000),
        outages: [(429, 0, 1)])
      fleet.retryAfter = .fixed(.seconds(20))
      fleet.change = {
        $0.retries = .timer
        $0.policy.retryAfterJitter = jitter
      }
      let record = try Simulation.run(fleet.scenario)
      return Int(record.series.rows.dropFirst(10).map(\.attempts).max() ?? 0)
    }
    #expect(try most(.none) == 100)
    #expect(try most(.additive(percent: 50)) < 30)
    #expect(try most(.additive(upTo: 10_000_000)) == most(.additive(percent: 50)))
  }

  @Test(
    "O6: a restart with state kept finds the breaker open, one without finds it closed",
    arguments: [true, false])
  func restart(keepsState: Bool) throws {
    var fleet = document([(503, 0, 1_000)], duration: 25) { $0.breaker = CircuitBreaker() }
    fleet.change = { [change = fleet.change] in
      change(&$0)
      $0.lifecycle = Lifecycle(
        synchronised: [.init(time: .start + .seconds(15))], keepsState: keepsState)
    }
    let sent = try fleet.run().sent
    #expect(sent.contains { $0 > 15 } == !keepsState)
  }

  @Test("A cohort without gates has no gate table, and one with them pays for the parts that it uses")
  func bytes() {
    #expect(ClientGates().bytesPerDevice == 0)
    #expect(ClientPreset.tapiDocument.gates.bytesPerDevice == 0)
    #expect(ClientPreset.keenExisting.gates.bytesPerDevice == 16 + 10 * 16)
    #expect(ClientPreset.keenProposed.gates.bytesPerDevice == 16 + 24)
    #expect(ClientPreset.toggl.gates.bytesPerDevice == 16 + 4 * 63 + 4)
    #expect(ClientPreset.offlineFirst.gates.bytesPerDevice < 200)
  }
}
