import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestClients
import Testing
import UploadRetry

/// S19: which Settings a device runs on, told by the wait after its first failure, worked out by hand (see
/// `LifecycleFleet`).
///
/// Events and flushes every 60 s from 0; a restart at 90 moves the flushes to 150, 210 …. A short outage at a flush makes that
/// upload fail; it left at the flush, so the retry reaches the server 0.2 s + the wait + 0.1 s after it: 8.3 s
/// with the base Settings, 16.3 s with the new ones, 0.8 s with the built-in ones and up to 10 % of 0.5 s more.
@Suite struct SettingsAtLaunchTests {
  private func fleet(devices: Int = 1, outagesAt flushes: Int64...) -> LifecycleFleet {
    var fleet = LifecycleFleet(devices: devices, duration: 400, events: 60)
    fleet.flush.interval = .seconds(60)
    // 0.5 s, so that even the built-in Settings retry after it.
    fleet.incidents = flushes.map { flush in
      var outage = Incident.outage(flush, until: flush + 1)
      outage.duration = .milliseconds(500)
      return outage
    }
    return fleet
  }

  /// How many devices retry on which Settings after the flush at a second.
  private struct Retries: Equatable {
    var base = 0
    var new = 0
    var builtIn = 0
  }

  private func retries(_ record: RunRecord, afterFlushAt flush: Int) -> Retries {
    let first = flush * 10
    let found = Retries(
      base: record.offered(first + 83..<first + 84), new: record.offered(first + 163..<first + 164),
      builtIn: record.offered(first + 8..<first + 9))
    // The first attempts come in the tenth of a second after 0.1 s; nothing else is offered until the next flush.
    let first100ms = record.offered(first + 1..<first + 2)
    let all = record.offered(first..<first + 300)
    #expect(all == first100ms + found.base + found.new + found.builtIn, "flush at \(flush)")
    return found
  }

  @Test("Published Settings are picked up at the next launch, and not before")
  func nextLaunch() throws {
    // Published at 30; the upload of 60 fails on the old ones; the restart at 90 brings the new ones.
    var fleet = fleet(devices: 5, outagesAt: 60, 150)
    fleet.rollout = SettingsRollout(time: .second(30), settings: LifecycleFleet.backoff(from: 16))
    fleet.lifecycle = .at(90)
    let record = try fleet.run()
    #expect(retries(record, afterFlushAt: 60) == Retries(base: 5))
    #expect(retries(record, afterFlushAt: 150) == Retries(new: 5))
  }

  @Test("A launch at the instant of publication gets the new Settings, one before it the old ones")
  func boundary() throws {
    var fleet = fleet(devices: 5, outagesAt: 150)
    fleet.lifecycle = .at(90)
    fleet.rollout = SettingsRollout(time: .second(90), settings: LifecycleFleet.backoff(from: 16))
    #expect(retries(try fleet.run(), afterFlushAt: 150) == Retries(new: 5))
    fleet.rollout?.time = Instant(microseconds: 90_000_001)
    #expect(retries(try fleet.run(), afterFlushAt: 150) == Retries(base: 5))
  }

  @Test("A running app picks them up at its next fetch, at a time of its own, if the CDN is up then")
  func fetches() throws {
    // Of the first fetches, evenly in 30…90, half lie before 60. While the CDN is down until 95 nobody's does; of the second, in
    // 90…150, 25 of 60 seconds lie in 95…120. Four deviations and a half of a binomial count of 1000 are 71.
    var fleet = fleet(devices: 1_000, outagesAt: 60, 120, 180)
    fleet.rollout = SettingsRollout(time: .second(30), settings: LifecycleFleet.backoff(from: 16))
    fleet.rollout?.fetch = .seconds(60)
    let record = try fleet.run()
    let half = retries(record, afterFlushAt: 60)
    #expect((429...571).contains(half.new) && half.base == 1_000 - half.new, "\(half)")
    #expect(retries(record, afterFlushAt: 120) == Retries(new: 1_000))
    fleet.incidents.append(.cdnOutage(20, until: 95))
    let late = try fleet.run()
    #expect(retries(late, afterFlushAt: 60) == Retries(base: 1_000))
    #expect((346...488).contains(retries(late, afterFlushAt: 120).new))
    #expect(retries(late, afterFlushAt: 180) == Retries(new: 1_000))
  }

  @Test("Settings that an action publishes are not in the twin, and are shown; a rollout's are, and are not")
  func actions() throws {
    var fleet = fleet(outagesAt: 60)
    fleet.rollout = SettingsRollout(time: .second(30), settings: LifecycleFleet.backoff(from: 16))
    #expect(fleet.scenario.withoutIncidents.fleet == fleet.scenario.fleet)
    #expect(try fleet.run().actions == [])
    fleet.rollout?.isAction = true
    #expect(fleet.scenario.withoutIncidents.fleet[0].rollout == nil)
    let shown = try fleet.run().actions
    #expect(shown.map(\.label) == ["Settings for phones"] && shown.map(\.start) == [30_000_000])
  }

  @Test("What is published at the start is there from the start, without a restart")
  func fromTheStart() throws {
    var fleet = fleet(devices: 5, outagesAt: 60)
    fleet.rollout = SettingsRollout(time: .start, settings: LifecycleFleet.backoff(from: 16))
    #expect(retries(try fleet.run(), afterFlushAt: 60) == Retries(new: 5))
    fleet.rollout?.time = Instant(microseconds: 1)
    #expect(retries(try fleet.run(), afterFlushAt: 60) == Retries(base: 5))
  }

  @Test("A staged rollout reaches its share of the devices, and the same ones at every launch")
  func share() throws {
    // 300 of 1000, ± 14.5 (binomial); the bounds are at four deviations and a half. A second restart at 240 moves the flushes
    // to 300.
    var fleet = fleet(devices: 1_000, outagesAt: 150, 300)
    fleet.rollout = SettingsRollout(
      time: .second(30), sharePartsPerMillion: 300_000, settings: LifecycleFleet.backoff(from: 16))
    fleet.lifecycle = .at(90, 240)
    let record = try fleet.run()
    let found = retries(record, afterFlushAt: 150)
    #expect((235...365).contains(found.new), "\(found)")
    #expect(found.base + found.new == 1_000 && found.builtIn == 0)
    #expect(retries(record, afterFlushAt: 300) == found)
    fleet.rollout?.sharePartsPerMillion = 0
    #expect(retries(try fleet.run(), afterFlushAt: 150) == Retries(base: 1_000))
    fleet.rollout?.sharePartsPerMillion = 1_000_000
    #expect(retries(try fleet.run(), afterFlushAt: 150) == Retries(new: 1_000))
  }

  @Test("A launch while the CDN is down runs on the built-in defaults, until the next launch")
  func cdnOutage() throws {
    // Down at the restart of 90; back at that of 240, which moves the flushes to 300.
    var fleet = fleet(devices: 5, outagesAt: 60, 150, 300)
    fleet.incidents.append(.cdnOutage(80, until: 100))
    fleet.lifecycle = .at(90, 240)
    let record = try fleet.run()
    #expect(retries(record, afterFlushAt: 60) == Retries(base: 5))
    #expect(retries(record, afterFlushAt: 150) == Retries(builtIn: 5))
    #expect(retries(record, afterFlushAt: 300) == Retries(base: 5))
    // A client that fetches no Settings has its own.
    var scenario = fleet.scenario
    scenario.fleet[0].behaviour.settingsFetch = .never
    #expect(retries(try Simulation.run(scenario), afterFlushAt: 150) == Retries(base: 5))
    // Nor does a launch without a network take them from it: it lasts from 80 to 100.
    scenario.tapi.incidents.removeLast()
    scenario.fleet[0].connectivity = Connectivity(interruptions: [
      .init(start: .second(80), duration: .seconds(20))
    ])
    #expect(retries(try Simulation.run(scenario), afterFlushAt: 150) == Retries(base: 5))
  }

  @Test(
    "The CDN's outage concerns launches alone: who runs keeps the Settings, and its end is not part of it")
  func cdnOutageBetweenLaunches() throws {
    var fleet = fleet(devices: 5, outagesAt: 60, 150)
    fleet.lifecycle = .at(90)
    fleet.incidents.append(.cdnOutage(50, until: 90))
    let record = try fleet.run()
    #expect(retries(record, afterFlushAt: 60) == Retries(base: 5))
    #expect(retries(record, afterFlushAt: 150) == Retries(base: 5))
  }

  @Test("The start of the run is a launch, and a rollout is not reached while the CDN is down")
  func cdnOutageAtTheStart() throws {
    var fleet = fleet(devices: 5, outagesAt: 60, 150)
    fleet.incidents.append(.cdnOutage(0, until: 1))
    fleet.rollout = SettingsRollout(time: .start, settings: LifecycleFleet.backoff(from: 16))
    fleet.lifecycle = .at(90)
    let record = try fleet.run()
    #expect(retries(record, afterFlushAt: 60) == Retries(builtIn: 5))
    #expect(retries(record, afterFlushAt: 150) == Retries(new: 5))
  }

  @Test("Built in is what a client makes of no Settings: legacy, for one that reads a missing section as off")
  func builtInLegacy() throws {
    // The upload of 150 fails, and without a backoff it is tried again at the next flush, 210, before that flush's own.
    var fleet = fleet(outagesAt: 150)
    fleet.policy = ClientPreset.segmentSwift.policy
    fleet.policy.missingSection = .off
    fleet.incidents.append(.cdnOutage(80, until: 100))
    fleet.lifecycle = .at(90)
    let sent = try fleet.story().sent
    #expect(sent == [0, 60, 150, 210, 210.2, 270, 330, 390])
    fleet.incidents.removeLast()
    #expect(try fleet.story().sent == [0, 60, 150, 158.2, 210, 270, 330, 390])
  }
}
