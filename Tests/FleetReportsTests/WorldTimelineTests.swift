import FleetReports
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

@Suite("The timeline of a device whose network comes and goes")
struct WorldTimelineTests {
  private func text(_ adjust: (inout Cohort) -> Void) throws -> String {
    var cohort = Cohort(
      name: "phones", devices: 1, events: .periodic(every: .seconds(10), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .minutes(1), isSynchronised: true),
      latency: .constant(.milliseconds(100)))
    cohort.settings.backoff.jitter = .none
    adjust(&cohort)
    let scenario = Scenario(
      seed: 1, duration: .minutes(6),
      tapi: TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000, burst: 100))),
      fleet: [cohort])
    return DeviceTimeline.text(try Simulation.trace(scenario, device: 0).trace)
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
