import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel
import Testing

/// Connections in whole runs.
@Suite struct ConnectionRunTests {
  /// Phones 50 ms away that send one event every 30 s each.
  private func scenario(
    devices: Int, keepAlive: Span?, handshakes: Connections.Handshakes,
    _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var cohort = Cohort(
      name: "phones", devices: devices, events: .periodic(every: .seconds(30), phase: .flush))
    cohort.flush = FlushPolicy(count: nil, interval: .seconds(30))
    cohort.latency = .constant(.milliseconds(50))
    cohort.connection.keepAlive = keepAlive
    var tapi = TAPIConfiguration(
      server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000)))
    tapi.connections = Connections(handshakes: handshakes)
    var scenario = Scenario(duration: .seconds(300), interval: .seconds(30), tapi: tapi, fleet: [cohort])
    change(&scenario)
    return scenario
  }

  @Test(
    """
    Counted by hand for one phone: a way, a handshake of 10 ms and two round trips make 260 ms to delivery; with its connection \
    alive, as it is from the start on until a restart at 100 s, it is the way alone
    """,
    arguments: [
      (Span.seconds(40), [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]), (.seconds(20), Array(repeating: 1, count: 10)),
      (nil, Array(repeating: 1, count: 10)),
    ])
  func onePhone(keepAlive: Span?, handshakes: [Int64]) throws {
    let record = try windowed(
      scenario(devices: 1, keepAlive: keepAlive, handshakes: .init(count: 1, time: .milliseconds(10))) {
        $0.fleet[0].flush.isSynchronised = true
        $0.tapi.actions = [ServerAction(.restart, at: Instant(microseconds: 100_000_000))]
      })
    #expect(
      record.series.rows.map { $0[.timeToDeliverySum] } == handshakes.map { $0 == 1 ? 260_000 : 50_000 })
    #expect(record.connections.map { $0[.handshakes] } == handshakes)
    let starts: [Int64] = (0..<10).map { $0 * 30_000_000 }
    #expect(record.connections.map(\.start) == starts)
    // Closed by the end of each row, where the phone keeps it for 20 s; and by the restart.
    let live: [Int64] = [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    #expect(record.connections.map { $0[.live] } == live.map { keepAlive == .seconds(40) ? $0 : 0 })
  }

  @Test("After a restart of the endpoint every phone shakes hands again, once")
  func restart() throws {
    let scenario = scenario(
      devices: 200, keepAlive: .seconds(60), handshakes: .init(count: 1, time: .milliseconds(1))
    ) {
      $0.fleet[0].connection.roundTrips = 0
      $0.tapi.actions = [ServerAction(.restart, at: Instant(microseconds: 120_000_000))]
    }
    let record = try windowed(scenario)
    #expect(record.connections.map { $0[.handshakes] } == [0, 0, 0, 0, 200, 0, 0, 0, 0, 0])
    #expect(record.connections.map { $0[.live] } == Array(repeating: 200, count: 10))
    var twin = scenario.withoutIncidents
    #expect(twin.tapi.connections == scenario.tapi.connections)
    #expect(try windowed(twin).connections.reduce(0) { $0 + $1[.handshakes] } == 0)
    twin.tapi.connections = nil
    #expect(try windowed(twin).connections == [])
  }

  @Test("A phone that is refused at once knows it at once, and nothing counts as a time-out")
  func refusal() throws {
    func record(_ refusal: Connections.Refusal) throws -> RunRecord {
      try windowed(
        scenario(
          devices: 50, keepAlive: .seconds(60), handshakes: .init(count: 1, time: .seconds(5), queueLimit: 0)
        ) {
          $0.tapi.connections?.refusal = refusal
          $0.tapi.actions = [ServerAction(.restart, at: Instant(microseconds: 10_000_000))]
        })
    }
    let (reset, silent) = (try record(.reset), try record(.silent))
    #expect(reset.series.totals[.timeouts] == 0 && reset.series.totals[.unknownOutcomes] == 0)
    #expect(silent.series.totals[.timeouts] > 0 && silent.series.totals[.unknownOutcomes] > 0)
    for record in [reset, silent] {
      let refused = record.connections.reduce(0) { $0 + $1[.refused] }
      #expect(refused > 0 && record.series.totals[.unanswered] == refused)
    }
  }

  @Test(
    "The normal load's handshakes are about those of a run",
    arguments: [
      (EventProcess.poisson(meanGap: .seconds(100)), Span.seconds(45)),
      (.poisson(meanGap: .seconds(60)), .seconds(95)), (.poisson(meanGap: .seconds(20)), .seconds(5)),
      // Just as long as two intervals.
      (.poisson(meanGap: .seconds(70)), .seconds(60)),
      (.periodic(every: .seconds(70), phase: .random), .seconds(60)),
      (.periodic(every: .seconds(70), phase: .random), .seconds(61)),
    ])
  func normalLoad(events: EventProcess, keepAlive: Span) throws {
    let scenario = scenario(
      devices: 500, keepAlive: keepAlive, handshakes: .init(count: 10, time: .milliseconds(1))
    ) {
      $0.fleet[0].events = events
      $0.tapi.connections?.idleTimeout = .seconds(300)
      $0.duration = .seconds(3_000)
    }
    let rows = try windowed(scenario).connections.dropFirst(20)
    let rate = Double(rows.reduce(0) { $0 + $1[.handshakes] }) / Double(rows.count * 30)
    let normal = scenario.normalConnections
    #expect(abs(normal.handshakesPerSecond / rate - 1) < 0.05, "\(normal) and \(rate)")
    let open = Double(rows.reduce(0) { $0 + $1[.live] }) / Double(rows.count)
    #expect(abs(normal.open / open - 1) < 0.05, "\(normal) and \(open)")
  }

  @Test("Without an interval periodic uploads find their connection always, or never")
  func periodic() throws {
    for (keepAlive, shakes) in [(Span.seconds(69), 10.0), (.seconds(71), 0)] {
      let scenario = scenario(
        devices: 700, keepAlive: keepAlive, handshakes: .init(count: 10, time: .milliseconds(1))
      ) {
        $0.fleet[0].events = .periodic(every: .seconds(70), phase: .random)
        $0.fleet[0].flush = FlushPolicy(count: 1, interval: nil)
        $0.tapi.connections?.idleTimeout = .seconds(300)
      }
      let handshakes = try windowed(scenario).connections.dropFirst(3).reduce(0) { $0 + $1[.handshakes] }
      #expect(abs(Double(handshakes) / 210 - shakes) < 0.1)
      #expect(abs(scenario.normalConnections.handshakesPerSecond - shakes) < 1e-9)
    }
  }

  @Test(
    "A fleet begins with the connections of its twin: a spike in the last minute changes nothing before it")
  func spike() throws {
    let scenario = scenario(
      devices: 200, keepAlive: .seconds(40), handshakes: .init(count: 1, time: .milliseconds(1))
    ) {
      $0.fleet[0].events = .poisson(meanGap: .seconds(60))
      $0.fleet[0].spikes = [
        Spike(
          time: .start + .seconds(240), spread: .zero, sharePartsPerMillion: 1_000_000, events: 9,
          flushes: true)
      ]
    }
    let (run, twin) = (try windowed(scenario), try windowed(scenario.withoutIncidents))
    #expect(
      run.connections.prefix(8).map { $0[.handshakes] } == twin.connections.prefix(8).map { $0[.handshakes] })
    let delays = [run, twin].map { $0.series.rows.prefix(8).map { $0[.timeToDeliverySum] } }
    #expect(delays[0] == delays[1])
    #expect(run.series.rows[8][.createdEvents] >= 1_800)
  }

  @Test("A smaller scenario keeps what the tier can do for each phone")
  func scale() {
    var whole = scenario(
      devices: 10_000, keepAlive: .seconds(60),
      handshakes: .init(count: 3, time: .milliseconds(10), queueLimit: 100))
    whole.tapi.connections?.limit = 20_000
    let small = Scaling(divisor: 10).scaled(whole).tapi.connections
    // 300 a second for 10,000 are 30 for 1,000: one server with 33.3 ms.
    #expect(small?.handshakes == .init(count: 1, time: Span(microseconds: 33_333), queueLimit: 10))
    #expect(small?.limit == 2_000)
    let fewer = Scaling(divisor: 3).scaled(whole).tapi.connections
    #expect(fewer?.handshakes.count == 1 && fewer?.handshakes.time == .milliseconds(10))
  }
}
