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
}
