import FleetMetrics
import FleetSimulation
import PlainEngine
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

@Suite("Devices that are offline at times")
struct ConnectivityTests {
  private func interrupted(
    from start: Double, minutes: Int64, share: Int64 = 1_000_000, flushes: Bool = true
  ) -> Connectivity {
    Connectivity(
      interruptions: [
        .init(start: .minute(start), duration: .minutes(minutes), sharePartsPerMillion: share)
      ], flushesOnReconnect: flushes)
  }

  @Test("a share of the time as long as their offline periods, from the start on")
  func periods() throws {
    let mean = 1_000.0 / 3
    for (online, offline) in [
      (Distribution.exponential(mean: .minutes(2)), Distribution.exponential(mean: .minutes(1))),
      (.constant(.seconds(100)), .constant(.seconds(50))),
      (.exponential(mean: .minutes(4)), .constant(.minutes(2))),
    ] {
      var fleet = WorldFleet(devices: 1_000, minutes: 60)
      fleet.adjust = {
        $0.connectivity = Connectivity()
        $0.connectivity?.periods = .init(online: online, offline: offline)
      }
      let rows = try fleet.run().series.rows
      // A row's number is binomial; rows some minutes apart are nearly independent.
      let average = Double(rows.reduce(0) { $0 + $1[.offlineDevices] }) / 60
      let tolerance = 4 * 15 / 20.0.squareRoot()
      #expect(abs(average - mean) < tolerance, "\(online) \(average)")
      #expect(abs(Double(rows[0][.offlineDevices]) - mean) < 4 * 15, "\(online) \(rows[0][.offlineDevices])")
    }
  }

  @Test("of which only a share has such periods")
  func share() throws {
    var fleet = WorldFleet(devices: 1_000, minutes: 60)
    fleet.adjust = {
      $0.connectivity = Connectivity()
      $0.connectivity?.periods = .init(
        online: .exponential(mean: .minutes(1)), offline: .exponential(mean: .minutes(1)),
        sharePartsPerMillion: 200_000)
    }
    let rows = try fleet.run().series.rows
    let average = Double(rows.reduce(0) { $0 + $1[.offlineDevices] }) / 60
    #expect(abs(average - 100) < 20, "\(average)")
  }

  @Test("D7: nothing leaves while offline, and everything at once when back")
  func flushOnReconnect() throws {
    var fleet = WorldFleet()
    fleet.adjust = { $0.connectivity = interrupted(from: 10.5, minutes: 5) }
    let sent = fleet.sent()
    #expect(!sent.contains { (630..<930).contains($0.time) })
    #expect(sent.filter { $0.time == 930 }.count == 400)
    let rows = try fleet.run().series.rows
    #expect(
      rows[9][.offlineDevices] == 0 && rows[10][.offlineDevices] == 400 && rows[15][.offlineDevices] == 0)
    #expect(rows[15][.deliveredEvents] >= 400 * 27)
    #expect(rows[29][.backlogEvents] == rows[9][.backlogEvents])
  }

  @Test("without the flush on reconnect, events that no flush has sealed wait for the next one")
  func noFlushOnReconnect() {
    var fleet = WorldFleet()
    fleet.adjust = {
      $0.retries = .gate
      $0.connectivity = interrupted(from: 10.5, minutes: 5, flushes: false)
    }
    let sent = fleet.sent()
    #expect(!sent.contains { (630..<960).contains($0.time) })
    // One batch of each flush of the five minutes and one of the sixth, one after another.
    #expect(sent.filter { (960..<1_020).contains($0.time) }.count == 400 * 6)
  }

  @Test("a share of the devices in an interruption, the others go on")
  func partial() throws {
    var fleet = WorldFleet()
    fleet.adjust = { $0.connectivity = interrupted(from: 10.5, minutes: 5, share: 500_000) }
    let rows = try fleet.run().series.rows
    let offline = rows[12][.offlineDevices]
    #expect(abs(offline - 200) < 4 * 10)
    #expect(rows[12][.firstAttempts] == 400 - offline)
  }

  @Test(
    "uploads under way are cut off: the server may have got them, so that they are sent again and are duplicates"
  )
  func cutOff() throws {
    var fleet = WorldFleet(latency: .seconds(1))
    // Flushes are on the minute; half a second later nothing has arrived yet.
    fleet.adjust = {
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .minute(10) + .milliseconds(500), duration: .minutes(2))])
    }
    let record = try fleet.run()
    #expect(record.sum(.unknownOutcomes) == 400)
    #expect(record.series.rows[10][.acceptedBatches] == 400)
    #expect(record.sum(.duplicateBatches) == 400)
    #expect(record.sum(.timeouts) == 0)
  }

  @Test("O8: what is due meanwhile leaves at the reconnect, what is due later then and no sooner")
  func dueWork() throws {
    var fleet = WorldFleet(devices: 1)
    fleet.incidents = [
      Incident(
        kind: .outage(status: 503, retryAfter: .none, keepsWork: true), start: .minute(9.5),
        duration: .minutes(1))
    ]
    fleet.adjust = {
      $0.settings.backoff.baseBackoffInterval = 60_000_000
      $0.connectivity = Connectivity(
        interruptions: [
          .init(start: .minute(10.2), duration: .seconds(24)),
          .init(start: .minute(10.9), duration: .minutes(3)),
        ], flushesOnReconnect: true)
    }
    // The batch of minute 10 fails at 10:00.2 and is due a minute later: behind the first reconnect at 10:36, within the second
    // interruption.
    let events = try fleet.trace()
    let failed = try #require(
      events.compactMap { event -> (Int, Int64)? in
        if case .decided(let batch, .retry(let due)) = event.kind { return (batch, due) }
        return nil
      }.first)
    #expect(failed.1 == 660_200_000)
    let tries = events.compactMap { event -> Int64? in
      if case .sent(failed.0, _, _, _) = event.kind { return event.time }
      return nil
    }
    #expect(tries == [600_000_000, 834_000_000])
    #expect(events.contains { $0.kind == .wentOffline(uploadsCutOff: 0) && $0.time == 654_000_000 })
    #expect(events.contains { $0.kind == .cameOnline && $0.time == 834_000_000 })
    #expect(events.contains { $0.kind == .heldBackOffline })
  }

  @Test("a launch without a network runs on the built-in Settings, and sends nothing")
  func launch() throws {
    var fleet = WorldFleet(devices: 1)
    fleet.adjust = {
      $0.connectivity = interrupted(from: 10.5, minutes: 5)
      $0.lifecycle = Lifecycle(synchronised: [.init(time: .minute(12.25))])
    }
    let events = try fleet.trace()
    #expect(events.contains { $0.kind == .launched(.builtIn, uploadsCutOff: 0) && $0.time == 735_000_000 })
    #expect(!fleet.sent().contains { (630..<930).contains($0.time) })
  }

  @Test("on the engine's short ways too, a wake-up sends nothing while offline")
  func shortWays() throws {
    var fleet = WorldFleet(devices: 50)
    fleet.incidents = [
      Incident(
        kind: .outage(status: 503, retryAfter: .none, keepsWork: true), start: .minute(9.5),
        duration: .minutes(1))
    ]
    fleet.adjust = {
      $0.queue.mode = .rebatch
      $0.settings.backoff.baseBackoffInterval = 30_000_000
      $0.connectivity = interrupted(from: 10.1, minutes: 2)
    }
    // The batch of minute 10 has failed and is due within the interruption.
    let record = try Simulation.run(fleet.scenario)
    #expect(record == PlainEngine.run(fleet.scenario).record)
    #expect(record.series.rows[10][.answers503] == 50)
    #expect(record.series.rows[11][.firstAttempts] + record.series.rows[11][.retries] == 0)
  }
}
