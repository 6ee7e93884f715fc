import FleetMetrics
import FleetSimulation
import Foundation
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

@Suite("Push messages")
struct PushTests {
  /// Phones whose app is hardly ever open by itself: a minute each some 17 hours.
  private func scenario(
    devices: Int = 40, share: Int64 = 1_000, minutes: Int64 = 60, _ push: [PushCampaign]
  ) -> Scenario {
    var fleet = WorldFleet(devices: devices, minutes: minutes)
    fleet.adjust = {
      $0.events = .poisson(meanGap: .minutes(100))
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30))
      $0.sessions = Sessions(sharePartsPerMillion: share, length: .constant(.minutes(1)))
    }
    var scenario = fleet.scenario
    scenario.push = push
    return scenario
  }

  private func launches(_ scenario: Scenario, device: Int) throws -> [Int64] {
    try Simulation.trace(scenario, device: device).trace.events.filter { $0.kind == .cameToForeground }.map(
      \.time)
  }

  private func run(_ scenario: Scenario) throws -> RunRecord {
    var options = RunOptions()
    options.checks = true
    return try Simulation.run(scenario, options: options)
  }

  @Test(
    "open closed apps at a time within the sending, plus the delay, and each session lasts as long as any")
  func opens() throws {
    let push = PushCampaign(
      time: .minute(10), over: .minutes(5), opensPartsPerMillion: 1_000_000, delay: .constant(.seconds(30)))
    let scenario = scenario([push])
    var times: [Int64] = []
    for device in 0..<40 {
      let events = try Simulation.trace(scenario, device: device).trace.events
      let opened = events.filter { $0.kind == .cameToForeground && $0.time >= 630_000_000 }
      let time = try #require(opened.first { $0.time <= 930_000_000 }?.time, "device \(device)")
      times.append(time)
      let closed = events.first { $0.kind == .wentToBackground && $0.time > time }
      #expect(closed.map { $0.time - time } == 60_000_000)
    }
    // Uniform over five minutes: a mean of 40 is off by 300 / √12 / √40 = 14 s.
    let mean = Double(times.reduce(0, +)) / 40 / 1e6
    #expect(abs(mean - 780) < 42)
    #expect(Set(times).count == 40)
  }

  @Test("are opened by their share of the users, who bring their events along")
  func share() throws {
    let push = PushCampaign(
      time: .minute(10), over: .minutes(5), opensPartsPerMillion: 300_000,
      delay: .exponential(mean: .minutes(2)))
    let scenario = scenario(devices: 20_000, [push])
    let record = try run(scenario)
    let twin = try run(scenario.withoutIncidents)
    // A thousandth of the time makes an event in 100 minutes, so that an open minute makes ten.
    let more = Double(record.sum(.createdEvents) - twin.sum(.createdEvents))
    #expect(abs(more - 20_000 * 0.3 * 10) < 0.05 * 60_000)
    // Openings within the sending: ∫ (1 − e^(−(5 − u)/2)) du / 5 = 1 − 2/5 (1 − e^(−2.5)) of them; some last beyond the row.
    let early = record.series.rows[10..<15].reduce(0) { $0 + $1[.createdEvents] }
    let atFive = 1 - 0.4 * (1 - 0.082_085)
    #expect(Double(early) / more < atFive && Double(early) / more > 0.75 * atFive)
  }

  @Test("change nothing for an app that is in the foreground, nor before they are opened")
  func foreground() throws {
    let push = PushCampaign(
      time: .minute(20), opensPartsPerMillion: 500_000, delay: .exponential(mean: .minutes(5)))
    var scenario = scenario(share: 500_000, minutes: 40, [push])
    scenario.fleet[0].sessions?.length = .exponential(mean: .minutes(10))
    var same = 0
    var earlier = 0
    for device in 0..<40 {
      let with = try launches(scenario, device: device)
      let without = try launches(scenario.withoutIncidents, device: device)
      let before = with.prefix { $0 < 1_200_000_000 }
      #expect(before == without.prefix { $0 < 1_200_000_000 })
      if with == without { same += 1 } else { earlier += with.count >= without.count ? 1 : 0 }
    }
    // Half do not open it, and half of the others have the app open.
    #expect(same >= 22 && same < 40 && earlier > 2)
  }

  @Test("that come again take the place of one that nobody has opened yet")
  func replaced() throws {
    func campaign(_ delay: Span) -> PushCampaign {
      var campaign = PushCampaign(
        time: .minute(5), opensPartsPerMillion: 1_000_000, delay: .constant(delay))
      campaign.every = .minutes(10)
      return campaign
    }
    for device in 0..<10 {
      let opened = try launches(scenario([campaign(.minutes(4))]), device: device)
      let expected = [9, 19, 29, 39, 49, 59].map { (minute: Int64) in minute * 60_000_000 }
      // An app that is in the foreground by itself stays there.
      let missing = expected.filter { time in !opened.contains { $0 <= time && time < $0 + 60_000_000 } }
      #expect(missing == [] && opened.count { expected.contains($0) } >= 5, "\(opened)")
      let late = try launches(scenario([campaign(.minutes(11))]), device: device)
      let without = try launches(scenario([]), device: device)
      #expect(late == without)
    }
  }

  @Test("reach the cohorts they are sent to, and no others")
  func cohorts() throws {
    var scenario = scenario(devices: 2_000, [])
    var tablets = scenario.fleet[0]
    tablets.name = "tablets"
    scenario.fleet.append(tablets)
    var push = PushCampaign(time: .minute(10), opensPartsPerMillion: 1_000_000, delay: .constant(.zero))
    push.cohorts = ["tablets"]
    scenario.push = [push]
    let twin = try run(scenario.withoutIncidents)
    let some = try run(scenario)
    #expect(some.cohorts[0][.createdEvents] == twin.cohorts[0][.createdEvents])
    #expect(some.cohorts[1][.createdEvents] > twin.cohorts[1][.createdEvents] + 18_000)
    push.cohorts = nil
    scenario.push = [push]
    #expect(try run(scenario).cohorts[0][.createdEvents] > twin.cohorts[0][.createdEvents] + 18_000)
    #expect(scenario.devices(of: push) == 4_000)
  }

  @Test("at the very start, or one upon the other, open each app once")
  func edges() throws {
    let first = PushCampaign(time: .start, opensPartsPerMillion: 1_000_000, delay: .constant(.zero))
    let many = (0..<PushCampaign.maximumNumber).map { _ in first }
    for device in 0..<5 {
      let opened = try launches(scenario(many), device: device)
      #expect(opened.first == 1)
      #expect(opened.dropFirst().allSatisfy { $0 > 60_000_000 })
    }
  }

  @Test("that are sent once are missing from the twin, and recovery is measured from when half are open")
  func twin() throws {
    var once = PushCampaign(
      time: .minute(10), over: .minutes(5), opensPartsPerMillion: 500_000,
      delay: .exponential(mean: .minutes(1)))
    once.name = "sale"
    var daily = once
    daily.every = .minutes(20)
    var scenario = scenario(devices: 2_000, minutes: 60, [once, daily])
    #expect(scenario.withoutIncidents.push == [daily])
    #expect(!scenario.isItsOwnTwin && scenario.withoutIncidents.isItsOwnTwin)
    // Half of them open it within ln 2 of a minute, 41.6 s.
    let end = Instant.minute(15) + .seconds(42)
    #expect(scenario.lastIncidentEnd == end)
    scenario.push = [once]
    let record = try run(scenario)
    #expect(
      record.incidents == [
        IncidentSpan(label: "push sale", isOutage: false, start: 600_000_000, end: end.microseconds)
      ])
    let summary = RunAnalysis.summary(
      of: record, ReferenceRuns(twin: try run(scenario.withoutIncidents)), name: "", seed: 1)
    #expect(summary.hasIncidents && summary.baseline.isHealthy)
    // The last openings come minutes after the last message, each with a minute in which events wait for the interval.
    let recovery = try #require(summary.recoveryTime)
    #expect(recovery > 60_000_000 && recovery < 20 * 60_000_000)
    #expect(summary.drainedTime != nil)
  }

  @Test("and incidents behind the end of the run change nothing in it")
  func behindTheEnd() throws {
    func at(_ minute: Double) -> PushCampaign {
      PushCampaign(
        time: .minute(minute), over: .minutes(1), opensPartsPerMillion: 500_000, delay: .constant(.zero))
    }
    let alone = scenario([at(10)])
    #expect(try run(alone).series.totals[.settledOldEvents] > 0)
    var longer = scenario([at(10), at(60)])
    longer.tapi.incidents = [
      Incident.outage(at: .minutes(61), for: .minutes(1))
    ]
    #expect(longer.lastIncidentEnd == .minute(11))
    #expect(try run(longer).series == run(alone).series)
    var never = longer
    never.push = [at(60)]
    #expect(!never.hasIncidents && never.isItsOwnTwin)
    #expect(try run(never).series == run(never.withoutIncidents).series)
  }

  @Test("are forecast: as many apps are open at once as openings and lengths of sessions let be")
  func open() {
    // Openings at the rate a and ends of sessions at the rate b: a / (a − b) (e^−bt − e^−at) of the apps are open, the most at
    // t = ln(a / b) / (a − b), which is (b / a)^(b / (a − b)).
    func most(opening: Double, length: Double) -> Double {
      let (a, b) = (1 / opening, 1 / length)
      return pow(b / a, b / (a - b))
    }
    for (delay, length) in [(5.0, 2.0), (1, 20), (60, 3), (10, 9)] {
      let push = PushCampaign(
        time: .minute(10), opensPartsPerMillion: 500_000,
        delay: .exponential(mean: .seconds(Int64(delay * 60))))
      var scenario = scenario(devices: 10_000, share: 10_000, [push])
      // So many events that every flush has some.
      scenario.fleet[0].events = .poisson(meanGap: .seconds(10))
      scenario.fleet[0].sessions?.length = .exponential(mean: .seconds(Int64(length * 60)))
      let load = NormalLoad(scenario)
      // A flush each 30 s, and one at the end of a session.
      let batches = (1 / (exp(30 / (length * 60)) - 1) + 1) / (length * 60)
      let expected = 10_000 * 0.99 * 0.5 * most(opening: delay, length: length) * batches
      let peak = load.peakBatchesPerSecond - NormalLoad(scenario.withoutIncidents).batchesPerSecond
      #expect(abs(peak / expected - 1) < 0.02, "\(delay) min, \(length) min: \(peak), \(expected)")
    }
  }

  @Test("are forecast: the peak of a fleet that is opened within a minute is that of the run, about")
  func forecast() throws {
    let push = PushCampaign(
      time: .minute(20), over: .minutes(10), opensPartsPerMillion: 1_000_000, delay: .constant(.zero))
    let scenario = scenario(devices: 6_000, [push])
    let record = try run(scenario)
    let busiest = record.series.rows[23..<30].map(\.attempts).max() ?? 0
    #expect(abs(NormalLoad(scenario).peakBatchesPerSecond / (Double(busiest) / 60) - 1) < 0.3)
    #expect(NormalLoad(scenario).batchesPerSecond == NormalLoad(scenario.withoutIncidents).batchesPerSecond)
    var again = push
    again.every = .minutes(20)
    var repeated = scenario
    repeated.push = [again]
    let run = try run(repeated)
    let load = NormalLoad(repeated)
    #expect(abs(load.eventsPerSecond / (Double(run.sum(.createdEvents)) / 3_600) - 1) < 0.1)
  }
}
