import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// What the server's rules do to whole runs; figures by hand.
@Suite struct ServerRuleRunTests {
  /// Devices with an event every `every`, each a batch of its own, sent at once; retries by timer after 10, 20, 40 … s.
  private func scenario(
    devices: Int = 1, every: Span, duration: Span, server: TAPIConfiguration.Server,
    incidents: [Incident] = []
  ) -> Scenario {
    var cohort = Cohort(name: "phones", devices: devices, events: .periodic(every: every, phase: .random))
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    cohort.retries = .timer
    cohort.uploadConcurrency = .max
    cohort.latency = .constant(.milliseconds(50))
    cohort.settings.backoff.baseBackoffInterval = 10_000_000
    cohort.settings.backoff.jitter = .none
    return Scenario(
      duration: duration, tapi: TAPIConfiguration(server: server, incidents: incidents), fleet: [cohort])
  }

  private func run(_ scenario: Scenario) throws -> RunSummary {
    var options = RunOptions()
    options.checks = true
    let record = try Simulation.run(scenario, options: options)
    return RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "run", seed: scenario.seed)
  }

  private var bucket: TAPIConfiguration.Server {
    .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))
  }

  private func incident(_ kind: Incident.Kind, seconds: Int64) -> Incident {
    Incident(kind: kind, start: .start, duration: .seconds(seconds))
  }

  @Test(
    "A request that its client has given up on still occupies its worker to the end, and nobody hears the answer"
  )
  func abandonedWork() throws {
    var scenario = scenario(
      devices: 20, every: .seconds(100), duration: .seconds(1_000),
      server: .workers(WorkersConfiguration(count: 100, serviceTime: .constant(.seconds(5)))))
    scenario.fleet[0].timeout = .seconds(2)
    let record = try Simulation.run(scenario)
    let rows = record.series.rows
    let served = rows.reduce(0) { $0 + $1[.answers2xx] }
    #expect(served > 400)
    #expect(rows.reduce(0) { $0 + $1[.unheardAnswers] } == served)
    #expect(rows.reduce(0) { $0 + $1[.timeouts] } >= served)
    // Work that the end of the run cuts off counts up to there: at most the last five seconds of it.
    let busy = rows.reduce(0) { $0 + $1[.busyMicroseconds] }
    #expect(busy >= served * 5_000_000 && busy < (served + 40) * 5_000_000)
    #expect(rows.reduce(0) { $0 + $1[.duplicateEvents] } > 0)
  }

  @Test("D6: what is accepted again within the window is recognised, and what comes later is stored twice")
  func deduplication() throws {
    func summary(_ window: Span?) throws -> RunSummary {
      var scenario = scenario(
        devices: 50, every: .seconds(1_000), duration: .seconds(300), server: bucket,
        incidents: [incident(.lostAnswers(share: 1_000_000), seconds: 300)])
      scenario.fleet[0].timeout = .seconds(1)
      scenario.fleet[0].events = .periodic(every: .seconds(1_000), phase: .flush)
      scenario.tapi.rules.deduplicationWindow = window
      return try run(scenario)
    }
    // Events at 0 s, time-outs of 1 s, waits of 10, 20, 40 and 80 s: accepted again 11, 32, 73 and 154 s after the first time.
    let none = try summary(nil)
    #expect(none[.deliveredEvents] == 50 && none[.duplicateEvents] == 200 && none[.deduplicatedEvents] == 0)
    #expect(none[.lostAnswers] == 250)
    #expect(try summary(.seconds(10))[.deduplicatedEvents] == 0)
    #expect(try summary(.seconds(11))[.deduplicatedEvents] == 50)
    #expect(try summary(.seconds(100))[.deduplicatedEvents] == 150)
    #expect(try summary(.hours(1))[.deduplicatedEvents] == 200)
  }

  @Test(
    "A refused connection is known after the way there and back, without a status; silence takes the time-out"
  )
  func refused() throws {
    // The first try at 0; waits of 10, 20, 40 … s begin 0.1 s after each refusal, or 30 s after each silence.
    func retries(_ kind: Incident.Kind) throws -> [Int: Int64] {
      var scenario = scenario(
        devices: 10, every: .seconds(1_000), duration: .seconds(120), server: bucket,
        incidents: [incident(kind, seconds: 60)])
      scenario.fleet[0].events = .periodic(every: .seconds(1_000), phase: .flush)
      let rows = try Simulation.run(scenario).series.rows
      #expect(rows.reduce(0) { $0 + $1[.timeouts] } == (kind == .refused(keepsWork: false) ? 0 : 20))
      #expect(rows.reduce(0) { $0 + $1[.answers503] } == 0)
      var found: [Int: Int64] = [:]
      for (second, row) in rows.enumerated() where row[.retries] > 0 { found[second] = row[.retries] }
      return found
    }
    #expect(try retries(.refused(keepsWork: false)) == [10: 10, 30: 10, 70: 10])
    #expect(
      try retries(.outage(status: nil, retryAfter: .none, keepsWork: false)) == [40: 10, 90: 10])
  }

  @Test("A retry whose X-Retry-Count has reached the server's limit gets 422, and its client drops it")
  func retryCount() throws {
    // Tries at 0, 10, 30, 70 and 150 s, counting 0 … 4; the server is back before the last.
    func summary(_ limit: Int?) throws -> RunSummary {
      var scenario = scenario(
        devices: 10, every: .seconds(1_000), duration: .seconds(400), server: bucket,
        incidents: [incident(.outage(status: 500, retryAfter: .none, keepsWork: true), seconds: 100)])
      scenario.fleet[0].events = .periodic(every: .seconds(1_000), phase: .flush)
      scenario.tapi.rules.retryCountLimit = limit
      return try run(scenario)
    }
    #expect(try summary(nil)[.deliveredEvents] == 10)
    #expect(try summary(5)[.deliveredEvents] == 10)
    let refused = try summary(4)
    #expect(refused[.deliveredEvents] == 0 && refused[.droppedByStatus] == 10)
  }

  @Test("One tenant's limit leaves another tenant's uploads alone (S1)")
  func tenants() throws {
    func delivered(limited: Bool, key: String) throws -> Int64 {
      var scenario = scenario(devices: 20, every: .seconds(10), duration: .seconds(300), server: bucket)
      scenario.fleet.append(scenario.fleet[0])
      scenario.fleet[1].name = "others"
      scenario.fleet[1].devices = 30
      if limited {
        scenario.tapi.rules.keyLimits = [KeyLimit(key: key, .bucket(rate: 1, burst: 1))]
      }
      return try run(scenario)[.deliveredEvents]
    }
    // 300 s at a thousandth of a request per second: each time one batch of the limited tenant, and all of the other's.
    let all = try delivered(limited: false, key: "")
    #expect(all > 1_400)
    #expect(
      try delivered(limited: true, key: "phones") + delivered(limited: true, key: "others") == all + 2)
  }

  @Test(
    "A quota of 600 a minute serves 3,000 at once in five minutes, 600 of them in each, and refuses 6,000 times"
  )
  func quota() throws {
    // FCM's 600,000 a minute against three million messages on the hour, in thousands.
    var scenario = scenario(devices: 3_000, every: .hours(1), duration: .minutes(8), server: bucket)
    scenario.fleet[0].events = .periodic(every: .hours(1), phase: .flush)
    scenario.fleet[0].policy.retryAfterOnOtherCodes = .delaysBatch
    scenario.fleet[0].policy.rateLimited = .delaysBatch
    scenario.fleet[0].settings.backoff.baseBackoffInterval = 1_000
    scenario.interval = .minutes(1)
    var limit = KeyLimit(key: nil, per: .all, .window(.init(.minutes(1)), requests: 600))
    limit.saysWindowEnd = true
    scenario.tapi.rules.keyLimits = [limit]
    let rows = try Simulation.run(scenario).series.rows
    #expect(rows.map { $0[.deliveredEvents] } == [600, 600, 600, 600, 600, 0, 0, 0])
    // 2,400 + 1,800 + 1,200 + 600.
    #expect(rows.reduce(0) { $0 + $1[.answers429] } == 6_000)
    // Nobody is ahead of the quota: the last of them are let in at 240 s, in the row that ends 240 s after the outage.
    scenario.interval = .seconds(1)
    scenario.tapi.incidents = [
      incident(.outage(status: 503, retryAfter: .none, keepsWork: true), seconds: 1)
    ]
    let summary = RunAnalysis.summary(
      of: try Simulation.run(scenario),
      ReferenceRuns(
        twin: try Simulation.run(scenario.withoutIncidents), ideal: try Simulation.run(scenario.ideal)),
      name: "", seed: 1)
    #expect(summary.possibleTime == 240 * 1_000_000 && summary.recoveryTime == 240 * 1_000_000)
  }

  @Test("cohorts.csv: each cohort's events apart, and together the run's", arguments: UInt64(1)...20)
  func cohorts(seed: UInt64) throws {
    let record = try Simulation.run(RandomScenario.scenario(seed: seed))
    let total = record.series.rows.reduce(0) { $0 + $1[.createdEvents] }
    #expect(record.cohorts.reduce(0) { $0 + $1[.createdEvents] } == total)
    #expect(record.cohorts.reduce(0) { $0 + $1.openEvents } == record.series.totals[.backlogEvents])
    #expect(record.cohorts.reduce(0) { $0 + $1.devices } == record.devices)
    #expect(
      record.cohorts.reduce(0) { $0 + $1.devicesThatLostEvents } == record.cost.total[.devicesThatLostEvents])
    #expect(record.cohorts.compactMap(\.timeToDeliveryMax).max() ?? 0 == record.deliveries.maximum)
  }

  @Test("The capacity column follows a warm-up and the autoscaler")
  func capacityColumn() throws {
    var outage = incident(.outage(status: 503, retryAfter: .none, keepsWork: true), seconds: 10)
    outage.warmUp = .seconds(10)
    var scenario = scenario(
      every: .seconds(1_000), duration: .seconds(60),
      server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 100_000, burst: 100)),
      incidents: [outage])
    scenario.tapi.rules.autoscaling = Autoscaling(
      interval: .seconds(30), delay: .seconds(10), minimum: 250_000, maximum: 1_000_000)
    let capacity = try Simulation.run(scenario).series.rows.map(\.[.capacityMilliRequests])
    #expect(capacity[9] == 0)
    #expect(capacity[10] == 5_000 && capacity[15] == 55_000 && capacity[20] == 100_000)
    #expect(capacity[39] == 100_000 && capacity[40] == 25_000)
  }
}
