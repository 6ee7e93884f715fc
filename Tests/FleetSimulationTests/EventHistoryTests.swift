import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// What becomes of events whose uploads ended without an answer, after others have been chunked anew.
@Suite struct EventHistoryTests {
  @Test(
    "Events that the server has are not lost when their time-out itself gives them up, behind others chunked anew"
  )
  func givenUpAtTheTimeOut() throws {
    // Every answer comes 10 s after the client has given up; the request is there after 50 ms, and is accepted.
    let slow = Incident(
      kind: .latency(added: .constant(.seconds(40)), factor: 1_000_000), start: .start,
      duration: .seconds(600))
    var phone = Cohort(name: "phones", devices: 1, events: .periodic(every: .seconds(10), phase: .flush))
    phone.flush = FlushPolicy(count: nil, interval: .seconds(10), isSynchronised: true)
    phone.queue = QueuePolicy(mode: .rebatch, limit: 3)
    phone.uploadConcurrency = .max
    phone.latency = .constant(.milliseconds(50))
    phone.settings.backoff.maxRetryCount = 1
    phone.settings.backoff.jitter = .none
    phone.policy.limitsCheck = .beforeDue
    phone.policy.backoffHolds = .client
    let scenario = Scenario(
      duration: .seconds(45),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 100)),
        incidents: [slow]), fleet: [phone])
    var options = RunOptions()
    options.checks = true
    let totals = try Simulation.run(scenario, options: options).series.totals
    // Events at 0, 10 … 40 s. The server has those that leave before the first time-out, at 30 s: the client gives up the first of
    // them as its queue is full, and the second at its own time-out, as its retries are used up. The others wait.
    #expect(totals[.createdEvents] == 5)
    #expect(totals[.deliveredEvents] == 3)
    #expect(totals[.droppedByRetryLimit] == 0 && totals[.droppedByOverflow] == 0)
  }

  @Test(
    "Events that join a batch after a question about it are not those of the upload that the server accepts later"
  )
  func joinedAfterAQuestion() throws {
    var phone = Cohort(name: "phones", devices: 1, events: .periodic(every: .seconds(4), phase: .flush))
    phone.flush = FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true)
    phone.queue.mode = .rebatch
    phone.latency = .constant(.milliseconds(50))
    phone.gates.reconciles = true
    // The second launch cuts off the upload of the first, so that its client asks about it.
    phone.lifecycle = Lifecycle(
      meanTimeBetweenRestarts: nil,
      synchronised: [10, 10].map { .init(time: .start + .seconds($0), spread: .zero) }, keepsState: true,
      flushesAtLaunch: true)
    var scenario = Scenario(
      duration: .seconds(60),
      tapi: TAPIConfiguration(
        server: .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.seconds(2))))),
      fleet: [phone])
    // The upload after the question is refused, while the first is at work.
    scenario.tapi.rules.keyLimits = [
      KeyLimit(key: nil, per: .device, .bucket(rate: 300, burst: 2))
    ]
    var options = RunOptions()
    options.checks = true
    let record = try Simulation.run(scenario, options: options)
    // Events at 0, 4 … 56 s, of which the server has those of the first two flushes, at 0 and 10 s. The others wait for the end of
    // a wait of five minutes.
    #expect(record.series.totals[.createdEvents] == 15)
    #expect(record.series.totals[.deliveredEvents] == 3)
    #expect(record.cohorts[0].openEvents == 12)
  }

  /// A phone whose batch grows while it waits for fresh credentials, from 1.3 s to 14 s, and its first upload is at work.
  ///
  /// An upload takes 50 ms there and back, and 10.1 s of work with one event. The first one leaves at 0 s, with the event of 0 s,
  /// and the launch at 1 s cuts it off. The question about it finds nothing applied; the second upload, at 1.2 s, is answered 401.
  /// From the launch on the phone flushes every 8 s: at 9 s the events of 4 and 8 s join the batch. The server accepts the first
  /// upload at 10.15 s.
  private func growing(until end: Int64, launches: [Int64] = [1], refusals: [(status: Int, at: Double)])
    -> Scenario
  {
    var phone = Cohort(name: "phones", devices: 1, events: .periodic(every: .seconds(4), phase: .flush))
    phone.flush = FlushPolicy(count: nil, interval: .seconds(8), isSynchronised: true)
    phone.queue.growsUntilFailure = true
    phone.retries = .timer
    phone.latency = .constant(.milliseconds(50))
    phone.timeout = .seconds(60)
    phone.gates.reconciles = true
    phone.policy.unauthorized = .refreshThenRetryOnce
    phone.credentialRefresh = .milliseconds(12_700)
    phone.settings.backoff.jitter = .none
    phone.settings.backoff.baseBackoffInterval = 40_000_000
    phone.lifecycle = Lifecycle(
      synchronised: launches.map { .init(time: .start + .seconds($0)) }, keepsState: true,
      flushesAtLaunch: true)
    var workers = WorkersConfiguration(count: 9, serviceTime: .constant(.milliseconds(100)))
    workers.serviceTimePerEvent = .seconds(10)
    let incidents = ([(401, 1.22)] + refusals).map { status, time in
      Incident(
        kind: .errors(status: status, share: 1_000_000, afterWork: false, retryAfter: .none),
        start: Instant(microseconds: Int64(time * 1e6)), duration: .milliseconds(80))
    }
    return Scenario(
      duration: .seconds(end), tapi: TAPIConfiguration(server: .workers(workers), incidents: incidents),
      fleet: [phone])
  }

  private func run(_ scenario: Scenario) throws -> (totals: MeasureTotals, record: RunRecord) {
    var options = RunOptions()
    options.checks = true
    let record = try Simulation.run(scenario, options: options)
    return (record.series.totals, record)
  }

  @Test("A batch that grows while it waits apart, an upload of it open, leaves once, when its wait is over")
  func grownWhileItWaits() throws {
    let (totals, record) = try run(growing(until: 46, refusals: []))
    // Two uploads and a question by 1.2 s; the grown batch at 14 s, which is answered at 44.2 s; then what has come meanwhile.
    #expect(record.cost.total[.attempts] == 5 && totals[.statusQueries] == 1)
    // The server has the events of 0, 4 and 8 s, and the first of them twice. The others wait behind the grown batch.
    #expect(totals[.createdEvents] == 12)
    #expect(totals[.deliveredEvents] == 3 && totals[.duplicateEvents] == 1)
    #expect(record.cohorts[0].openEvents == 9)
  }

  @Test("A batch that grows has the retry record of the batch that it was: its second 401 is the last")
  func grownKeepsItsRetryRecord() throws {
    let (totals, record) = try run(growing(until: 46, refusals: [(401, 14.02)]))
    // It is given up at 14.1 s, with the events of 4 and 8 s; the server has that of 0 s.
    #expect(totals[.credentialRefreshes] == 1 && totals[.droppedByStatus] == 2)
    #expect(record.cohorts[0].lostEvents == 2)
  }

  @Test("A waiting batch that is given up while an upload of it is open keeps its record until both are over")
  func givenUpWhileItWaits() throws {
    // The grown batch is at work from 14 to 44.15 s. The second launch cuts it off, and the upload after the question is answered
    // 503 at 15.3 s: the batch waits until 55.3 s. The batch behind it is answered 401 at 15.4 s and waits until 28.05 s, so that
    // it comes up first.
    var scenario = growing(until: 60, launches: [1, 15], refusals: [(503, 15.22), (401, 15.32)])
    scenario.fleet[0].queue.limit = 5
    let (totals, record) = try run(scenario)
    // Flushes at 15, 23, 31 … 55 s. The queue is full at 23 s, where the first batch goes; events 16 and 20 have joined the second,
    // which is at work from 28.1 to 58.2 s. Events 24 … 36 go at 39 s, 40 … 52 at 55 s.
    #expect(totals[.createdEvents] == 15 && totals[.statusQueries] == 2)
    #expect(totals[.droppedByOverflow] == 2 + 4 + 4)
    #expect(totals[.deliveredEvents] == 6 && totals[.duplicateEvents] == 1)
    #expect(totals[.acceptedAfterDropEvents] == 2)
    #expect(record.cohorts[0].openEvents == 1)
    // Four by 14 s, three at 15 s, and the second batch.
    #expect(record.cost.total[.attempts] == 4 + 3 + 1)
  }
}
