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

  @Test("tells when it goes and comes, what it cuts off, what is held back and that the reconnect flushes")
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
