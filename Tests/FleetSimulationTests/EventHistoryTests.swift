import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
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
      KeyLimit(key: nil, isPerDevice: true, rateMilliRequestsPerSecond: 300, burst: 2)
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
}
