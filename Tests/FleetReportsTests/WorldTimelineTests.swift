import FleetReports
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadRetry

@Suite("The timeline of a device whose network comes and goes")
struct WorldTimelineTests {
  private func text(
    incidents: [Incident.Kind] = [], _ adjust: (inout Cohort) -> Void
  ) throws -> String {
    DeviceTimeline.text(try trace(incidents: incidents, adjust))
  }

  /// - Parameter incidents: each lasts for the whole run.
  private func trace(
    incidents: [Incident.Kind] = [], _ adjust: (inout Cohort) -> Void
  ) throws -> DeviceTrace {
    var cohort = Cohort(
      name: "phones", devices: 1, events: .periodic(every: .seconds(10), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .minutes(1), isSynchronised: true),
      latency: .constant(.milliseconds(100)))
    cohort.settings.backoff.jitter = .none
    adjust(&cohort)
    var scenario = Scenario.planted(
      duration: .minutes(6), capacityMilli: 1_000_000, burst: 100,
      incidents: incidents.map { Incident(kind: $0, start: .start, duration: .minutes(6)) })
    scenario.fleet = [cohort]
    return try Simulation.trace(scenario, device: 0).trace
  }

  @Test("tells when it goes and comes, what it cuts off and holds back, and the flush at its return")
  func offline() throws {
    let text = try text {
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start + .milliseconds(60_050), duration: .seconds(130))])
    }
    for words in [
      "0:01:00.050", "the network is gone; an upload is cut off", "held back: offline",
      ": offline\n",
      "0:03:10.050", "the network is back", "online again, ",
    ] { #expect(text.contains(words), "\(words)\n\(text)") }
  }

  @Test("counts the events that no flush has made a batch of among those that the device holds")
  func held() throws {
    // Events each 10 s, flushes each minute; offline from 1:30 to 3:30.
    let trace = try trace {
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start + .seconds(90), duration: .seconds(120))])
    }
    var (gone, sizes) = (0, [Int: Int]())
    for (event, next) in zip(trace.events, trace.events.dropFirst()) {
      if case .sent(let batch, let events, _, _) = event.kind { sizes[batch] = events }
      if case .decided(let batch, .delivered) = event.kind { gone += sizes[batch] ?? 0 }
      // Within a moment a flush has yet to be told.
      if next.time == event.time { continue }
      #expect(event.queuedEvents == Int(event.time / 10_000_000) + 1 - gone, "\(event)")
    }
    // 36 events, and a last flush at 5:00 that takes the 31st.
    #expect(trace.queuedAtEnd == 5)
    #expect(
      DeviceTimeline.text(trace).hasSuffix("31 events delivered, 0 given up, 5 still queued at the end.\n"))
  }

  @Test("tells of no wait where a limit has the batch given up at once")
  func noWait() throws {
    for (check, waits) in [(RetryPolicy.LimitsCheck.whenDue, 2), (.beforeDue, 1)] {
      let text = try text(incidents: [.outage(status: 503, retryAfter: .none, keepsWork: true)]) {
        $0.retries = .timer
        $0.events = .periodic(every: .hours(1), phase: .flush)
        $0.policy.limitsCheck = check
        $0.settings.backoff.maxRetryCount = 1
      }
      #expect(text.split(separator: "backs off").count - 1 == waits, "\(text)")
      #expect(text.split(separator: "a wait is over").count - 1 == waits, "\(text)")
      #expect(text.contains("1 event lost: the batch's retries are used up"))
    }
  }

  @Test("tells a connection that is refused from an answer that does not come")
  func refused() throws {
    let refused = try text(incidents: [.refused(keepsWork: true)]) { _ in }
    #expect(refused.contains("connection refused after 0.2 s") && !refused.contains("time-out"), "\(refused)")
    let unanswered = try text(incidents: [.outage(status: nil, retryAfter: .none, keepsWork: true)]) { _ in }
    #expect(unanswered.contains("time-out") && !unanswered.contains("refused"), "\(unanswered)")
  }

  @Test("calls events lost only if the server never has them")
  func dropped() throws {
    func text(_ adjust: (inout Cohort) -> Void) throws -> String {
      try self.text {
        $0.retries = .timer
        $0.settings.backoff.maxRetryCount = 0
        adjust(&$0)
      }
    }
    // Every minute a flush, each dropped after its one try; the last is still held.
    let lost = try text { $0.link.requestLossPartsPerMillion = 1_000_000 }
    #expect(lost.contains("6 events lost: the batch's retries are used up"))
    #expect(lost.contains(" given up, "), "\(lost)")
    let answered = try text { $0.link.answerLossPartsPerMillion = 1_000_000 }
    #expect(answered.contains("1 event given up, though the server has it: the batch's retries are used up"))
    #expect(answered.contains("6 events given up, though the server has them: "))
    // At 0 a flush of one event, then one of six each minute to 5:00.
    #expect(answered.contains(" 31 given up (the server has 31 of them), "), "\(answered)")
    // A request takes 30 s, and the client gives up after 5.
    let late = try text {
      $0.latency = .constant(.seconds(30))
      $0.timeout = .seconds(5)
    }
    #expect(late.contains("6 events given up, though the server accepts them later: "))
    #expect(!late.contains("lost") && !answered.contains(" lost: "))
  }

  @Test("tells what gets lost, and of a connection that does not come about")
  func lost() throws {
    #expect(
      try text { $0.link.requestLossPartsPerMillion = 1_000_000 }.contains("try 1: the request gets lost"))
    #expect(
      try text { $0.link.answerLossPartsPerMillion = 1_000_000 }.contains("try 1: the answer will get lost"))
    #expect(try text { $0.connectTimeout = .milliseconds(150) }.contains("try 1: no connection in time"))
    #expect(
      try text { $0.link.uploadBytesPerSecond = 10 }.contains("too large for this link within the time-out"))
  }
}
