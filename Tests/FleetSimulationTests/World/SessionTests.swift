import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadPipeline

@Suite("Apps that are open at times")
struct SessionTests {
  /// Phones that are open a fifth of the time, three minutes each.
  private func fleet(
    devices: Int = 400, minutes: Int64 = 120, inBackground: Bool = false,
    length: Distribution = .exponential(mean: .minutes(3)),
    _ adjust: @escaping (inout Cohort) -> Void = { _ in }
  ) -> WorldFleet {
    var fleet = WorldFleet(devices: devices, minutes: minutes)
    fleet.adjust = {
      $0.events = .poisson(meanGap: .seconds(20))
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30))
      $0.sessions = Sessions(
        sharePartsPerMillion: 200_000, length: length, createsEventsInBackground: inBackground)
      adjust(&$0)
    }
    return fleet
  }

  /// From the trace: when the device was in the foreground.
  private func sessions(_ events: [DeviceTrace.Event], minutes: Int64) -> [Range<Int64>] {
    var sessions: [Range<Int64>] = []
    var start: Int64?
    var isFirst = true
    for event in events {
      switch event.kind {
      case .cameToForeground: start = event.time
      case .wentToBackground:
        sessions.append((isFirst ? 0 : start ?? 0)..<event.time)
        start = nil
      default: continue
      }
      isFirst = false
    }
    if let start { sessions.append(start..<minutes * 60_000_000) }
    return sessions
  }

  @Test(
    "are open for their share of the time",
    arguments: [Distribution.exponential(mean: .minutes(3)), .constant(.minutes(3))])
  func share(length: Distribution) throws {
    var open: Int64 = 0
    var lengths: [Int64] = []
    for seed in 0..<60 as Range<UInt64> {
      var one = fleet(devices: 1, minutes: 600, length: length)
      one.seed = seed
      let trace = try one.trace()
      let sessions = sessions(trace, minutes: 600)
      open += sessions.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
      lengths += sessions.dropFirst().dropLast().map { $0.upperBound - $0.lowerBound }
    }
    // Some 40 sessions a device: 2,400 sessions, whose sum is off by 2 % or so, and that of the gaps likewise.
    let total: Double = 60 * 600 * 60e6
    let share = Double(open) / total
    #expect(abs(share - 0.2) < 0.032)
    let sum = Double(lengths.reduce(0, +))
    let mean = sum / Double(lengths.count) / 60e6
    let tolerance = 12 / Double(lengths.count).squareRoot() + 0.05
    #expect(abs(mean - 3) < tolerance)
  }

  @Test("create as many events as without sessions, and none while they are closed")
  func events() throws {
    let record = try fleet().run()
    let expected = 400.0 * 120 * 3
    // Overdispersed by the sessions: 20 periods a device and 6 minutes of it, so the sum is off by a few times its root.
    #expect(abs(Double(record.sum(.createdEvents)) - expected) < 0.05 * expected)
    for device in 0..<20 {
      let trace = try fleet(devices: 20).trace(device: device)
      let open = sessions(trace, minutes: 120)
      for event in trace {
        guard case .trigger(let kind, let new) = event.kind, new > 0 else { continue }
        let isOpen = open.contains { $0.lowerBound < event.time && event.time <= $0.upperBound }
        #expect(isOpen || kind == .foreground, "\(event)")
        if kind == .foreground { #expect(new == 0, "an event of the background: \(event)") }
      }
    }
  }

  @Test("of a rate that varies, too, are created in sessions only")
  func varying() throws {
    let curve = RateCurve(
      .points([
        .init(time: .zero, factorPartsPerMillion: 0),
        .init(time: .minutes(60), factorPartsPerMillion: 2_000_000),
      ]), period: .minutes(120))
    let record = try fleet(devices: 4_000) { $0.events = .varying(meanGap: .seconds(20), curve) }.run()
    let rows = record.series.rows
    let created = Double(record.sum(.createdEvents))
    #expect(abs(created - 1_440_000) < 0.03 * 1_440_000)
    // A quarter of the area of a triangle lies in its outer halves.
    let outer =
      rows[..<30].reduce(0) { $0 + $1[.createdEvents] } + rows[90...].reduce(0) { $0 + $1[.createdEvents] }
    let share = Double(outer) / 1_440_000
    #expect(abs(share - 0.25) < 0.03)
  }

  @Test("S17: neither the interval nor a wait that is over wakes a closed app")
  func closed() throws {
    var fleet = fleet(devices: 20, inBackground: true)
    fleet.incidents = [
      Incident.outage(keepsWork: true, at: .minutes(20), for: .minutes(20))
    ]
    var background = 0
    for device in 0..<20 {
      let trace = try fleet.trace(device: device)
      let open = sessions(trace, minutes: 120)
      for event in trace {
        guard case .trigger(let kind, _) = event.kind else { continue }
        if !open.contains(where: { $0.lowerBound <= event.time && event.time <= $0.upperBound }) {
          Issue.record("\(event)")
        }
        background += kind == .background ? 1 : 0
      }
    }
    #expect(background > 20 * 4)
  }

  @Test("D2: a client without a background trigger keeps what the session's end leaves for the next session")
  func noBackgroundTrigger() throws {
    let fleet = fleet(devices: 20) { $0.triggers.subtract(ClientTriggers([.background])) }
    var foreground = 0
    for device in 0..<20 {
      for event in try fleet.trace(device: device) {
        guard case .trigger(let kind, let new) = event.kind else { continue }
        #expect(kind == .interval || kind == .foreground, "\(event)")
        if kind == .foreground, new > 0 { foreground += 1 }
      }
    }
    #expect(foreground > 20 * 3)
  }

  @Test("start the flush interval anew with each session")
  func interval() throws {
    let trace = try fleet(devices: 1).trace()
    var start: Int64?
    for event in trace {
      switch event.kind {
      case .cameToForeground: start = event.time
      case .wentToBackground: start = nil
      case .trigger(.interval, _):
        if let start { #expect((event.time - start) % 30_000_000 == 0) }
      default: continue
      }
    }
  }

  @Test("lose nothing: what was created is delivered or still held")
  func conservation() throws {
    // The run checks it itself.
    let record = try fleet(inBackground: true) {
      $0.lifecycle = Lifecycle(meanTimeBetweenRestarts: .minutes(20))
    }.run()
    #expect(record.sum(.deliveredEvents) > 112_000)
  }
}
