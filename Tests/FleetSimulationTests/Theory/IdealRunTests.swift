import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import TestSupport
import Testing
import UploadRetry

/// Ideal runs against clients on random servers: the eager ones come close to them, and nobody is ahead of them.
@Suite("Ideal runs")
struct IdealRunTests {
  /// A fleet at 30 to 80 % of its server's capacity, with an outage of 2 to 10 minutes, and half of them with a brownout behind it.
  private static func scenario(_ random: inout SeededGenerator, _ seed: UInt64) -> Scenario {
    let devices = Int.random(in: 300...900, using: &random)
    var cohort = Cohort(name: "phones", devices: devices, events: .poisson(meanGap: .seconds(10)))
    cohort.retries = .timer
    cohort.timeout = .seconds(60)
    cohort.latency = .constant(.milliseconds(100))
    // 30 s of events, each 10 s on average, make a batch unless there are none: 1 - 1/e^3 of the flushes.
    let load = Double(devices) / 30 * (1 - 0.049787)
    let capacity = load / Double.random(in: 0.3...0.8, using: &random)
    let server: TAPIConfiguration.Server
    if Bool.random(using: &random) {
      server = .bucket(.init(capacityMilliRequestsPerSecond: Int64(capacity * 1_000), burst: 5))
    } else {
      let workers = Int64((capacity / 5).rounded(.up))
      server = .workers(
        WorkersConfiguration(
          count: Int(workers),
          serviceTime: .constant(Span(microseconds: workers * 1_000_000 / Int64(capacity))),
          queueLimit: Int(capacity)))
    }
    let length = Span.seconds(Int64.random(in: 120...600, using: &random))
    var incidents = [
      Incident.outage(at: .minutes(5), for: length)
    ]
    if Bool.random(using: &random) {
      incidents.append(
        Incident(
          kind: .brownout(factorPartsPerMillion: 700_000), start: incidents[0].end, duration: .minutes(3)))
    }
    return Scenario(
      seed: seed, duration: .hours(2), interval: .seconds(5),
      tapi: TAPIConfiguration(server: server, overload: Overload(status: 503), incidents: incidents),
      fleet: [cohort])
  }

  private static func changed(_ scenario: Scenario, _ change: (inout BackoffConfig) -> Void) -> Scenario {
    var scenario = scenario
    change(&scenario.fleet[0].settings.backoff)
    return scenario
  }

  @Test(
    "A client that asks each second and never gives up catches up within 5 % of what is possible",
    arguments: [QueuePolicy.Mode.files, .rebatch])
  func idealClient(mode: QueuePolicy.Mode) throws {
    var random = SeededGenerator(seed: 20)
    for seed in 1...UInt64(TestDepth.cases(3, exhaustively: 8, wholly: 20)) {
      var scenario = Self.scenario(&random, seed)
      scenario.fleet[0].queue.mode = mode
      if mode == .rebatch { scenario.fleet[0].behaviour.uploadConcurrency = .max }
      let row = Double(scenario.interval.microseconds)
      let eager = Self.changed(scenario) {
        $0.baseBackoffInterval = 100_000
        $0.maxBackoffInterval = 1_000_000
        $0.maxRetryCount = 1_000
        $0.jitter = .full
      }
      let found = try Self.summary(of: eager)
      let recovery = try #require(found.recoveryTime)
      let possible = try #require(found.possibleTime)
      #expect(recovery >= possible, "seed \(seed)")
      // Two devices in three are served by the last of their waits. What came while one that chunks anew asked goes with its next
      // flush, within 30 s.
      let flush = mode == .rebatch ? 30e6 : 0
      #expect(
        Double(recovery) <= Double(possible) * 1.05 + 2 * row + flush,
        "seed \(seed): \(recovery) of \(possible)")
    }
  }

  @Test(
    "No client of the catalogue is ahead of the ideal run by more than 2 %, with open apps or closed ones"
  )
  func nobodyIsAhead() throws {
    var random = SeededGenerator(seed: 59)
    let clients = ClientPreset.all.filter { $0.page == nil }
    let step = TestDepth.cases(5, exhaustively: 4, wholly: 1)
    for seed in 1...UInt64(TestDepth.cases(2, exhaustively: 4, wholly: 20)) {
      var scenario = Self.scenario(&random, seed)
      scenario.duration = .hours(1)
      if Bool.random(using: &random) {
        scenario.fleet[0].sessions = Sessions(
          sharePartsPerMillion: Int64.random(in: 100_000...500_000, using: &random),
          length: .exponential(mean: .minutes(Int64.random(in: 2...20, using: &random))))
      }
      for client in clients.indices where client % step == Int(seed) % step {
        var own = scenario
        own.fleet[0].take(clients[client])
        own.fleet[0].flush = scenario.fleet[0].flush
        own.fleet[0].timeout = scenario.fleet[0].timeout
        let (record, ideal) = (try Simulation.run(own), try Simulation.run(own.ideal))
        // A client that chunks anew sends what came while it waited in line at its next flush, six rows later.
        let later = own.fleet[0].queue.mode == .rebatch ? 6 : 0
        let rows = record.series.rows.indices
        var (delivered, ahead) = (Int64(0), Int64(0))
        var best = rows.prefix(later).reduce(0) { $0 + ideal.series[$1, .deliveredEvents] }
        for row in rows.dropLast(later) {
          delivered += record.series[row, .deliveredEvents]
          best += ideal.series[row + later, .deliveredEvents]
          // A flush in the outage is tried again behind it, with the events that have come meanwhile.
          let fresh = record.series[row, .createdEvents] * 30 / 5
          ahead = max(ahead, delivered - best - best / 50 - fresh)
        }
        #expect(ahead <= 0, "seed \(seed), \(clients[client].name): \(ahead) of \(best)")
      }
    }
  }

  @Test("Where events that come in the background flush, a closed app sends in the ideal run, too")
  func background() throws {
    var cohort = Cohort(
      name: "phones", devices: 1_000, events: .poisson(meanGap: .seconds(30)),
      flush: FlushPolicy(count: 10, interval: .seconds(30)))
    cohort.sessions = Sessions(
      sharePartsPerMillion: 100_000, length: .exponential(mean: .minutes(3)),
      createsEventsInBackground: true)
    let summary = try Self.summary(
      of: Scenario(
        duration: .hours(2), interval: .seconds(10),
        tapi: TAPIConfiguration(
          server: .bucket(.init(capacityMilliRequestsPerSecond: 100_000, burst: 100)),
          incidents: [.outage(at: .minutes(30), for: .minutes(5))]),
        fleet: [cohort]))
    // Ten events, one in 30 s: a closed app tries again within five minutes in the mean, what the line has served at once.
    #expect(try #require(summary.recoveryTime) > 120_000_000)
    #expect(try #require(summary.possibleTime) <= 20_000_000)
    let (p99, ideal) = (
      try #require(summary.affectedDeliveryP99), try #require(summary.idealDeliveryP99)
    )
    #expect(ideal < p99)
  }

  @Test("Who is back with the network waits for the server, whether its client flushes then or by its timer")
  func networkIsBack() throws {
    var cohort = Cohort(name: "phones", devices: 600, events: .periodic(every: .seconds(20), phase: .random))
    cohort.flush = FlushPolicy(count: 1, interval: .minutes(10))
    (cohort.retries, cohort.uploadConcurrency, cohort.queue.maximumBatchEvents) = (.timer, .max, 1)
    for flushes in [true, false] {
      cohort.connectivity = Connectivity(
        interruptions: [.init(start: .minute(10), duration: .minutes(15))], flushesOnReconnect: flushes)
      let scenario = Scenario(
        duration: .minutes(90), interval: .seconds(5),
        tapi: TAPIConfiguration(
          server: .bucket(.init(capacityMilliRequestsPerSecond: 60_000, burst: 20)),
          overload: Overload(status: 503)), fleet: [cohort])
      // 30 a second for 15 minutes wait, and 60 - 30 a second are to spare.
      let possible = Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
      #expect(abs(possible - 27_000 / 30) <= 30, "\(flushes): \(possible)")
    }
  }

  @Test("A run that has caught up with its twin has caught up with the ideal run, too")
  func twinAlone() throws {
    var random = SeededGenerator(seed: 29)
    let clients = ClientPreset.all.filter { $0.page == nil }
    var (known, failing) = (0, 0)
    for seed in 1...UInt64(TestDepth.cases(12, exhaustively: 40, wholly: 200)) {
      var own = Self.scenario(&random, seed)
      own.duration = .minutes(Int64.random(in: 20...60, using: &random))
      own.fleet[0].take(clients[Int(seed) * 7 % clients.count])
      if seed % 3 == 0 {
        own.fleet[0].sessions = Sessions(
          sharePartsPerMillion: 300_000, length: .exponential(mean: .minutes(5)))
      }
      let (record, twin) = (try Simulation.run(own), try Simulation.run(own.withoutIncidents))
      let alone = RunAnalysis.summary(of: record, ReferenceRuns(twin: twin), name: "", seed: seed)
      let whole = RunAnalysis.summary(
        of: record, ReferenceRuns(twin: twin, ideal: try Simulation.run(own.ideal)), name: "", seed: seed)
      if alone.neverRecovers {
        failing += 1
        continue
      }
      known += 1
      #expect(!whole.neverRecovers && alone.lostOrBlockedEvents == whole.lostOrBlockedEvents, "seed \(seed)")
    }
    #expect(known > 0 && failing > 0)
  }

  @Test(
    "The plain engine and the windowed engine agree on the ideal runs of random scenarios, with every checker"
  )
  func engines() throws {
    for seed in 1...UInt64(TestDepth.cases(12, exhaustively: 60, wholly: 100)) {
      let ideal = RandomScenario.scenario(seed: seed).ideal
      expectSame(PlainEngine.run(ideal).record, try windowed(ideal), "engines", seed: seed)
      let fast = RandomScenario.fastPath(seed: seed).ideal
      expectSame(
        PlainEngine.run(fast).record, try windowed(fast, threads: 2, checks: false), "engines", seed: seed)
    }
  }

  @Test("In an ideal run nothing fails and nothing is given up")
  func noFailures() throws {
    for seed in 1...UInt64(TestDepth.cases(12, exhaustively: 60)) {
      let totals = try windowed(RandomScenario.scenario(seed: seed).ideal).series.totals
      #expect(totals[.retries] == 0 && totals[.unanswered] == 0 && totals.droppedEvents == 0, "seed \(seed)")
      #expect(totals[.answers2xx] + totals[.serverQueue] <= totals.attempts, "seed \(seed)")
    }
  }

  @Test("Nobody is back before operators let everybody in, and then the backlog needs its time")
  func shedding() throws {
    var cohort = Cohort(
      name: "phones", devices: 3_000, events: .periodic(every: .seconds(60), phase: .random))
    cohort.flush = FlushPolicy(count: nil, interval: .seconds(60))
    (cohort.retries, cohort.queue.mode) = (.timer, .rebatch)
    var scenario = Scenario(
      duration: .minutes(40), interval: .seconds(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 100_000, burst: 100)),
        overload: Overload(status: 503),
        incidents: [
          Incident.outage(keepsWork: true, at: .minutes(5), for: .minutes(5))
        ]), fleet: [cohort])
    let end = Instant.start + .minutes(10)
    // One request a device waits, 3,000 of them, and carries what comes meanwhile; 100 a second are served.
    let (backlog, closed) = (30.0, 600.0)
    for (kind, expected) in [
      (nil, backlog), (.shed(Shedding()), closed + backlog),
      // Each attempt is drawn for itself, and a client has as many as it likes.
      (.shed(Shedding(share: 990_000)), backlog), (.readmit(Shedding()), backlog),
      (.shed(Shedding(share: 300_000, isByDevice: true)), closed + backlog * 0.3),
    ] as [(ServerAction.Kind?, Double)] {
      scenario.tapi.actions = kind.map { [ServerAction($0, at: end, for: .minutes(10))] } ?? []
      let found = try Self.summary(of: scenario)
      let possible = Double(try #require(found.possibleTime)) / 1e6
      #expect(abs(possible - expected) <= 5, "\(kind.map { "\($0)" } ?? "no action")")
      if let recovery = found.recoveryTime { #expect(Double(recovery) / 1e6 >= possible - 2) }
    }
    // The last are let in at the end; a tenth may be 1 % of the events that have come since the outage began.
    scenario.tapi.actions = [ServerAction(.readmit(Shedding(isByDevice: true)), at: end, for: .minutes(10))]
    let readmitted = Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
    #expect((closed * 0.9...closed).contains(readmitted))
    // One action ends where the next begins, and that one may be none of the ideal run's.
    scenario.tapi.actions = [
      ServerAction(.shed(Shedding()), at: end),
      ServerAction(.readmit(Shedding()), at: end + .minutes(2), for: .minutes(1)),
    ]
    let possible = Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
    #expect(abs(possible - 120 - backlog) <= 5)
  }

  @Test(
    "What waits behind one upload of each device counts where operators or a limit of its tenant hold it up"
  )
  func behindOneUpload() throws {
    var cohort = Cohort(name: "phones", devices: 600, events: .periodic(every: .seconds(10), phase: .random))
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    (cohort.retries, cohort.uploadConcurrency, cohort.queue.maximumBatchEvents) = (.timer, 1, 1)
    var scenario = Scenario(
      duration: .minutes(90), interval: .seconds(5),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 100_000, burst: 20)),
        overload: Overload(status: 503),
        incidents: [
          Incident.outage(keepsWork: true, at: .minutes(10), for: .minutes(10))
        ]), fleet: [cohort])
    let end = Instant.start + .minutes(20)
    for (action, expected, slack) in [
      // 36,000 wait at the end, 24,000 after 5 minutes at 100 - 60 a second, 42,000 after 5 more without an answer.
      (ServerAction(.restart, at: end + .minutes(5), for: .minutes(5)), 600 + 42_000 / 40, 10),
      // Half of the devices hold 54,000 when they are let in. Which half is chance: 12 devices more or fewer make 54 s.
      (
        ServerAction(.shed(Shedding(share: 500_000, isByDevice: true)), at: end, for: .minutes(20)),
        1_200 + 54_000 / 40, 160
      ),
    ] as [(ServerAction, Double, Double)] {
      scenario.tapi.actions = [action]
      let found = try Self.summary(of: scenario)
      let possible = Double(try #require(found.possibleTime)) / 1e6
      #expect(abs(possible - expected) <= slack, "\(action.kind): \(possible)")
      #expect(try #require(found.recoveryTime) >= #require(found.possibleTime))
    }
    // Of the 80 a second that the tenant may send, 20 are left for the 36,000.
    scenario.tapi.actions = []
    scenario.tapi.server = .bucket(.init(capacityMilliRequestsPerSecond: 1_000_000, burst: 1_000))
    scenario.tapi.rules.keyLimits = [KeyLimit(key: nil, .bucket(rate: 80_000, burst: 80))]
    let limited = Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
    #expect(abs(limited - 36_000 / 20) <= 20, "\(limited)")
  }

  @Test(
    "Clients that gather need as many full requests as their events fill",
    arguments: [QueuePolicy.Mode.files, .rebatch])
  func fullRequests(mode: QueuePolicy.Mode) throws {
    var cohort = Cohort(
      name: "phones", devices: 600, events: .periodic(every: .seconds(10), phase: .random))
    cohort.flush = FlushPolicy(count: nil, interval: .seconds(60))
    (cohort.retries, cohort.queue.mode, cohort.queue.maximumBatchEvents) = (.timer, mode, 30)
    cohort.queue.growsUntilFailure = mode == .files
    let scenario = Scenario(
      duration: .hours(1), interval: .seconds(1),
      tapi: TAPIConfiguration(
        server: .bucket(.init(capacityMilliRequestsPerSecond: 20_000, burst: 20)),
        overload: Overload(status: 503),
        incidents: [
          Incident.outage(keepsWork: true, at: .minutes(5), for: .minutes(20))
        ]), fleet: [cohort])
    // 60 events a second wait for 20 minutes: 2,400 requests of 30. While 20 a second are served, 2 more come each second.
    let possible = Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
    #expect((120...150).contains(possible), "\(possible)")
  }

  @Test(
    "Events that a client gathers cost what events cost, and what is too large for a request takes several")
  func gatheredCost() throws {
    var cohort = Cohort(
      name: "phones", devices: 600, events: .periodic(every: .seconds(10), phase: .random))
    cohort.flush = FlushPolicy(count: nil, interval: .seconds(60))
    (cohort.retries, cohort.queue.mode) = (.timer, .rebatch)
    (cohort.eventBytes, cohort.requestBytes) = (1_000, 0)
    func possible(_ server: TAPIConfiguration.Server, sizeLimit: Int? = nil) throws -> Double {
      var tapi = TAPIConfiguration(
        server: server, overload: Overload(status: 503),
        incidents: [.outage(keepsWork: true, at: .minutes(5), for: .minutes(10))])
      tapi.rules.requestSizeLimit = sizeLimit
      let scenario = Scenario(duration: .hours(1), interval: .seconds(5), tapi: tapi, fleet: [cohort])
      return Double(try #require(try Self.summary(of: scenario).possibleTime)) / 1e6
    }
    // 36,000 events wait, 60 more come in a second, and 100 a second are paid for: 900 s, and at most 6 a request without requests
    // that are larger than a minute's.
    var bucket = TokenBucketConfiguration(capacityMilliRequestsPerSecond: 100_000, burst: 100)
    bucket.costPerEvent = 1_000_000
    #expect((890...1_350).contains(try possible(.bucket(bucket))))
    let workers = WorkersConfiguration(
      count: 1, serviceTime: .constant(.milliseconds(1)), serviceTimePerEvent: .milliseconds(10))
    #expect((890...960).contains(try possible(.workers(workers))))
    // Requests of ten events: 3,600 wait, 6 more come in a second, and 20 are served.
    let requests = TokenBucketConfiguration(capacityMilliRequestsPerSecond: 20_000, burst: 20)
    #expect(abs(try possible(.bucket(requests), sizeLimit: 10_000) - 3_600 / 14) < 40)
  }

  private static func summary(of scenario: Scenario) throws -> RunSummary {
    RunAnalysis.summary(
      of: try Simulation.run(scenario),
      ReferenceRuns(
        twin: try Simulation.run(scenario.withoutIncidents), ideal: try Simulation.run(scenario.ideal)),
      name: "", seed: scenario.seed)
  }
}
