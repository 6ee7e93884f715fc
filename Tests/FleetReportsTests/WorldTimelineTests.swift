import FleetReports
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing

@Suite("The timeline of a device whose network comes and goes")
struct WorldTimelineTests {
  @Test("counts the events that no flush has made a batch of among those that the device holds")
  func held() throws {
    // Events each 10 s, flushes each minute; offline from 1:30 to 3:30.
    var cohort = Cohort(
      name: "phones", devices: 1, events: .periodic(every: .seconds(10), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .minutes(1), isSynchronised: true),
      latency: .constant(.milliseconds(100)))
    cohort.connectivity = Connectivity(
      interruptions: [.init(start: .start + .seconds(90), duration: .seconds(120))])
    var scenario = Scenario.planted(duration: .minutes(6), capacityMilli: 1_000_000, burst: 100)
    scenario.fleet = [cohort]
    let trace = try Simulation.trace(scenario, device: 0).trace
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
}
