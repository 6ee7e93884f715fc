import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios
import Testing
import UploadGating
import UploadPipeline
import UploadRetry

/// The clients of the other documents, each in front of a server, with the documents' own numbers.
@Suite("Clients of the other documents")
struct ClientPresetTests {
  // MARK: Toggl

  @Test("T1: a device with far too much to sync sends at most 60 in any half-open minute and 3 in any second")
  func togglLimits() throws {
    var fleet = GatedFleet(
      preset: .toggl, duration: 600, eventGap: .milliseconds(100), flushInterval: .seconds(30))
    fleet.change = { $0.gates.reservesWholeRun = false }
    let sent = try fleet.run().sent
    #expect(sent.most(within: 60) == 60)
    #expect(sent.most(within: 1) == 3)
    #expect(sent.count >= 9 * 60)
  }

  @Test("T1: without its windows the same device sends many more")
  func withoutWindows() throws {
    var fleet = GatedFleet(
      preset: .toggl, duration: 100, eventGap: .milliseconds(100), flushInterval: .seconds(30))
    fleet.change = { $0.gates = ClientGates() }
    #expect(try fleet.run().sent.most(within: 60) > 200)
  }

  @Test("T2: the nine requests of a pull leave in three waves, a second apart")
  func pull() throws {
    let fleet = GatedFleet(
      preset: .toggl, duration: 60, eventGap: .seconds(1), flushInterval: .seconds(9))
    let sent = try fleet.run().sent.filter { $0 >= 9 && $0 < 18 }.map { $0 - 9 }
    #expect(sent.isClose(to: [0, 0, 0, 1, 1, 1, 2, 2, 2]))
  }

  @Test("T2: a pull that does not find all of its slots waits until they are there, and then starts over")
  func pullWaits() throws {
    // 45 requests leave from 45 s to 59 s. At 90 s there are 15 slots; the other 30 are those of 45 s to 54 s.
    let fleet = GatedFleet(
      preset: .toggl, duration: 134, eventGap: .seconds(1), flushInterval: .seconds(45))
    let sent = try fleet.run().sent
    #expect(sent.first { $0 >= 90 } == 114)
    #expect(sent.filter { $0 >= 45 && $0 < 90 }.count == 45)
    #expect(sent.most(within: 60) <= 60)
  }

  @Test("T4: what fails with a 429 waits for the next sync")
  func togglFailure() throws {
    let fleet = GatedFleet(
      preset: .toggl, duration: 60, eventGap: .seconds(100), flushInterval: .seconds(20),
      outages: [(429, 0, 1)])
    #expect(try fleet.run().sent.isClose(to: [0, 20]))
  }

  @Test("T3: a push sends one request at a time, whatever is due")
  func push() throws {
    var fleet = GatedFleet(
      preset: .toggl, duration: 60, eventGap: .seconds(1), flushInterval: .seconds(9))
    fleet.change = { $0.uploadConcurrency = 1 }
    let (summary, sent, _) = try fleet.run()
    // An answer takes 0.2 s, so no two leave sooner after one another.
    #expect(sent.gaps.allSatisfy { $0 > 0.2 - 1e-6 } && sent.most(within: 1) == 3)
    #expect(summary[.deliveredEvents] > 50)
  }

  // MARK: Keen

  @Test("K1: after ten 4xx a query is refused until an hour after the first, then it starts over")
  func keenExisting() throws {
    var preset = ClientPreset.keenExisting
    preset.gates.failureWindow = FailureWindow(queries: 1)
    let fleet = GatedFleet(
      preset: preset, duration: 3_700, eventGap: .seconds(10), flushInterval: .seconds(10),
      outages: [(404, 0, 3_000)])
    let (summary, sent, _) = try fleet.run()
    // The first failure is heard of at 0.2 s.
    let expected: [Double] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 3_610]
    #expect(Array(sent.prefix(11)).isClose(to: expected))
    #expect(summary[.droppedByStatus] == 10)
    #expect(summary[.refusedByGate] == 351)
    #expect(summary.lostEvents == 361)
  }

  @Test("K1: no failure is delayed: what got a 429 is asked for again at the next trigger")
  func keenIsNotDelayed() throws {
    let fleet = GatedFleet(
      preset: .keenExisting, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(5),
      outages: [(429, 0, 12)])
    #expect(try fleet.run().sent.isClose(to: [0, 5, 10, 15]))
  }

  @Test("K1: 503 is not handled: a hundred of them block nothing")
  func keenIgnores503() throws {
    let fleet = GatedFleet(
      preset: .keenExisting, duration: 300, eventGap: .seconds(1_000), flushInterval: .seconds(2),
      outages: [(503, 0, 250)])
    let (summary, sent, _) = try fleet.run()
    #expect(sent.count == 126 && summary[.refusedByGate] == 0)
  }

  @Test(
    "K2: after a 429 or a 503 queries are held, not lost, and no longer than 30 s, 60 s, 120 s …",
    arguments: [429, 503])
  func keenProposed(status: Int) throws {
    let fleet = GatedFleet(
      preset: .keenProposed, devices: 30, duration: 1_200, eventGap: .seconds(1_000),
      flushInterval: .seconds(1),
      outages: [(status, 0, 200)])
    let (summary, sent, events) = try fleet.run()
    #expect(summary.lostEvents == 0 && summary[.heldLoops] > 0)
    for (n, gap) in sent.gaps.prefix(4).enumerated() { #expect(gap <= 30 * Double(1 << n) + 1.3, "\(sent)") }
    #expect(events.contains { if case .heldByGate = $0.kind { true } else { false } })
    // Without the wait each query would be tried at every trigger.
    #expect(summary.attempts < 30 * 50)
  }

  @Test("K2: each loop notes each held request once, in the queue's order, and each leaves as its wait ends")
  func keenHolds() throws {
    let fleet = GatedFleet(
      preset: .keenProposed, duration: 900, eventGap: .seconds(7), flushInterval: .seconds(10),
      outages: [(503, 100, 400)])
    let (summary, sent, events) = try fleet.run()
    var loops: [(time: Int64, ends: [Int64])] = []
    for event in events {
      guard case .heldByGate(let until?) = event.kind else { continue }
      // Several loops may come at one instant.
      let isNew = loops.last.map { $0.time != event.time || $0.ends.contains(until) } ?? true
      if isNew { loops.append((event.time, [])) }
      loops[loops.count - 1].ends.append(until)
    }
    #expect(loops.contains { $0.ends.count > 10 })
    for (loop, next) in zip(loops, loops.dropFirst()) {
      for end in loop.ends where end <= next.time {
        // A loop that has passed it waits for its answers first.
        #expect(sent.contains { 0...0.2001 ~= $0 - Double(end) / 1e6 }, "held until \(end)")
      }
      // A loop that goes on after an answer passes what is behind that batch only.
      #expect(loop.ends.filter(next.ends.contains) == next.ends.filter(loop.ends.contains))
    }
    // A device that nobody follows adds its holds up.
    let record = try Simulation.run(fleet.scenario)
    let alone = RunAnalysis.summary(of: record, ReferenceRuns(twin: record), name: "alone", seed: 1)
    #expect(alone[.heldLoops] == Int64(loops.reduce(0) { $0 + $1.ends.count }))
    #expect(alone[.heldLoops] == summary[.heldLoops] && alone.attempts == summary.attempts)
  }

  @Test("K2: a success clears the wait")
  func keenRecovers() throws {
    let fleet = GatedFleet(
      preset: .keenProposed, duration: 600, eventGap: .seconds(10), flushInterval: .seconds(10),
      outages: [(429, 0, 5)])
    let (summary, sent, _) = try fleet.run()
    #expect(summary[.answers429] == 1 && summary.pendingEvents <= 1 && sent.count >= 60)
  }

  @Test("K2: the wait survives a restart where it is stored, and only there", arguments: [true, false])
  func keenRestarts(keepsState: Bool) throws {
    var fleet = GatedFleet(
      preset: .keenProposed, duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(1),
      outages: [(429, 0, 1)])
    fleet.change = {
      // Of waits of up to a day one in a thousand would be over by then.
      $0.gates.projectDelay = ProjectDelay(base: 86_400_000_000, longest: 86_400_000_000)
      $0.lifecycle = Lifecycle(
        synchronised: [.init(time: .start + .seconds(50))], keepsState: keepsState, flushesAtLaunch: false)
    }
    let sent = try fleet.run().sent
    #expect(sent.count == (keepsState ? 1 : 2) && sent.dropFirst().allSatisfy { $0 >= 50 }, "\(sent)")
  }

  @Test(
    "K3: a hundred queries a minute for the whole project: its clients share them, and all get through in time"
  )
  func projectLimit() throws {
    var fleet = GatedFleet(
      preset: .keenProposed, devices: 150, duration: 1_800, eventGap: .seconds(3_600),
      flushInterval: .seconds(60))
    fleet.server = .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_667, burst: 100))
    let summary = try fleet.run().summary
    #expect(summary[.answers429] >= 50 && summary[.deliveredEvents] == 150 && summary.lostEvents == 0)
  }

  // MARK: Datafly

  @Test(
    "D4: seven tries, 1–1.5 s, 2–3 s, 4–6 s, 8–12 s, 16–24 s and 32–48 s apart, then the next trigger; nothing is lost"
  )
  func datafly() throws {
    let fleet = GatedFleet(
      preset: .datafly, duration: 400, eventGap: .seconds(1_000), flushInterval: .seconds(30),
      outages: [(503, 0, 150)])
    let (summary, sent, _) = try fleet.run()
    try #require(sent.count > 7)
    // An answer takes 0.2 s.
    for (n, gap) in sent.gaps.prefix(6).enumerated() {
      let base = Double(1 << n)
      #expect((base...base * 1.5).contains(gap - 0.2), "\(sent)")
    }
    let next = sent[7]
    #expect(next.truncatingRemainder(dividingBy: 30) == 0 && next - sent[6] <= 30.2)
    #expect(summary.lostEvents == 0 && summary.pendingEvents == 0)
  }

  @Test("D5: 404, 413 and 429 are retried, 400, 401 and 403 lose the events")
  func dataflyStatuses() throws {
    for status in [404, 413, 429, 400, 401, 403] {
      let fleet = GatedFleet(
        preset: .datafly, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(30),
        outages: [(status, 0, 1)])
      #expect(try fleet.run().summary.lostEvents == ([400, 401, 403].contains(status) ? 1 : 0), "\(status)")
    }
  }

  @Test("D1: the queue holds 1000 events, D3: a batch at most 500")
  func dataflyQueue() throws {
    let fleet = GatedFleet(
      preset: .datafly, duration: 400, eventGap: .milliseconds(100), flushInterval: .seconds(30),
      outages: [(503, 0, 200)])
    let (summary, _, events) = try fleet.run()
    #expect(summary[.droppedByOverflow] > 0)
    let sizes = events.compactMap { event -> Int? in
      if case .sent(_, let events, _, _) = event.kind { events } else { nil }
    }
    #expect(sizes.max() == 500)
  }

  @Test("D1: a full queue drops the oldest events")
  func dataflyOverflow() throws {
    // Without a network from 1 s on. Back at 190.05 s, with 1 … 1900 behind it, it has the last thousand of them.
    var fleet = GatedFleet(
      preset: .datafly, duration: 200, eventGap: .milliseconds(100), flushInterval: .seconds(30))
    fleet.change = {
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start + .seconds(1), duration: .milliseconds(189_050))])
    }
    let (summary, _, events) = try fleet.run()
    let sent = events.compactMap { event -> [Int]? in
      if case .sent(let batch, let events, _, _) = event.kind { [batch, events] } else { nil }
    }
    #expect(sent == [[0, 1], [901, 500], [1_401, 500]])
    #expect(summary[.droppedByOverflow] == 900)
  }

  @Test("D3: an upload has at most 500 KB, and what does not fit goes with the next")
  func dataflyBytes() throws {
    var fleet = GatedFleet(
      preset: .datafly, duration: 70, eventGap: .milliseconds(100), flushInterval: .seconds(60))
    fleet.change = { $0.eventBytes = 2_000 }
    let sizes = try fleet.run().events.compactMap { event -> Int? in
      if case .sent(_, let events, _, _) = event.kind { events } else { nil }
    }
    // 500 bytes around (512,000 − 500) / 2,000 events; 600 of them come in a minute.
    #expect(sizes == [1, 255, 255, 90])
  }

  @Test("D1: what was uploading when the app was killed is pending at the next launch")
  func dataflyRelaunch() throws {
    var fleet = GatedFleet(
      preset: .datafly, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(30))
    fleet.change = {
      $0.lifecycle = Lifecycle(
        synchronised: [.init(time: .start + .milliseconds(50))], flushesAtLaunch: false)
    }
    let (summary, sent, _) = try fleet.run()
    #expect(sent.count == 2 && summary.pendingEvents == 0 && summary.lostEvents == 0)
  }

  @Test("D2: every 30 s or at 20 events, whichever comes first")
  func dataflyTriggers() throws {
    var fleet = GatedFleet(preset: .datafly, duration: 100, eventGap: .seconds(1))
    fleet.change = { $0.flush = FlushPolicy(isSynchronised: true) }
    let events = try fleet.run().events
    func times(_ trigger: DeviceTrace.Trigger) -> [Int64] {
      events.compactMap { event in
        if case .trigger(trigger, _) = event.kind { event.time / 1_000_000 } else { nil }
      }
    }
    #expect(times(.interval) == [0, 30, 60, 90])
    #expect(times(.count) == [20, 50, 80])
  }

  @Test("D2: when the app asks for it, and as soon as the connection is back (D7)")
  func dataflyOtherTriggers() throws {
    var fleet = GatedFleet(
      preset: .datafly, duration: 65, eventGap: .seconds(1), flushInterval: .seconds(30))
    fleet.change = {
      $0.spikes = [Spike(time: .start + .milliseconds(10_500), events: 0)]
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start + .milliseconds(40_500), duration: .seconds(10))])
    }
    #expect(try fleet.run().sent.isClose(to: [0, 10.5, 30, 50.5, 60]))
  }

  @Test("D6: what is accepted twice is delivered once and counted as a duplicate")
  func dataflyDuplicates() throws {
    var fleet = GatedFleet(
      preset: .datafly, duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(30))
    fleet.server = .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.seconds(2))))
    fleet.change = { $0.timeout = .seconds(1) }
    let summary = try fleet.run().summary
    #expect(summary[.deliveredEvents] == 1 && summary[.duplicateEvents] > 0)
  }

  // MARK: Offline-first

  @Test("O3: what the server refuses for good is blocked, not lost")
  func blocked() throws {
    let fleet = GatedFleet(
      preset: .offlineFirst, duration: 60, eventGap: .seconds(10), flushInterval: .seconds(10),
      outages: [(422, 0, 25)])
    let (summary, _, events) = try fleet.run()
    #expect(summary[.blockedEvents] == 3 && summary.lostEvents == 0 && summary[.deliveredEvents] == 3)
    #expect(events.contains { if case .dropped(_, _, _, .blocked) = $0.kind { true } else { false } })
  }

  @Test("O3: at most four requests are under way at the host")
  func offlineFirstConcurrency() throws {
    var fleet = GatedFleet(preset: .offlineFirst, duration: 20, flushInterval: .seconds(1))
    fleet.server = .workers(WorkersConfiguration(count: 100, serviceTime: .constant(.seconds(10))))
    fleet.change = { $0.gates.controller = nil }
    // An answer takes 10.2 s.
    #expect(try fleet.run().sent.isClose(to: [0, 1, 2, 3, 10.2, 11.2, 12.2, 13.2]))
  }

  @Test("O3: a run sends twenty retries, the others wait for the next one")
  func offlineFirstBudget() throws {
    var fleet = GatedFleet(
      preset: .offlineFirst, duration: 110, flushInterval: .seconds(1), outages: [(503, 0, 29.5)])
    fleet.change = {
      $0.backOffExactly(from: 60)
      $0.gates.breaker = nil
      $0.gates.controller = nil
      $0.connectivity = Connectivity(
        interruptions: [.init(start: .start + .milliseconds(29_500), duration: .seconds(71))])
    }
    // Thirty batches have failed and are due when the network is back at 100.5 s, with 71 fresh ones. Twenty uploads take a
    // second, so that this run goes on beyond 105 s.
    let retries = try fleet.run().events.compactMap { event -> Int64? in
      if case .sent(_, _, let attempt, _) = event.kind, attempt > 1 { event.time / 1_000_000 } else { nil }
    }
    #expect(retries.filter { $0 < 105 }.count == 20 && retries.count == 30, "\(retries)")
  }

  @Test(
    "O9: after a 401 credentials are refreshed and the operation is sent once more; a second 401 blocks it")
  func refresh() throws {
    var fleet = GatedFleet(
      preset: .offlineFirst, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(30),
      outages: [(401, 0, 0.5)])
    let (summary, sent, _) = try fleet.run()
    #expect(sent.isClose(to: [0, 1.2]))
    #expect(summary[.credentialRefreshes] == 1 && summary[.deliveredEvents] == 1)
    fleet.outages = [(401, 0, 30)]
    let (second, again, _) = try fleet.run()
    #expect(again.isClose(to: [0, 1.2]))
    #expect(second[.blockedEvents] == 1 && second[.deliveredEvents] == 0)
  }

  @Test("O9: a client with one retry record for all its batches refreshes once for a batch, too")
  func refreshWithOneRecord() throws {
    var fleet = GatedFleet(
      preset: .offlineFirst, duration: 60, eventGap: .seconds(1_000), flushInterval: .seconds(30),
      outages: [(401, 0, 60)])
    fleet.change = { $0.queue.mode = .rebatch }
    let (summary, sent, _) = try fleet.run()
    #expect(sent.isClose(to: [0, 1.2]))
    #expect(summary[.credentialRefreshes] == 1 && summary[.deliveredEvents] == 0)
  }

  @Test("O8: one operation that fails does not hold the others back")
  func othersGoOn() throws {
    var fleet = GatedFleet(
      preset: .offlineFirst, duration: 100, eventGap: .seconds(10), flushInterval: .seconds(10),
      outages: [(503, 0, 1)])
    fleet.change = {
      $0.backOffExactly(from: 60)
    }
    let sent = try fleet.run().sent
    #expect(sent.isClose(to: [0, 10, 20, 30, 40, 50, 60, 60.2, 70, 80, 90]))
  }

  @Test("O8: a restart does not reset what waits: only due work runs")
  func waitsOverRestart() throws {
    var fleet = GatedFleet(
      preset: .offlineFirst, duration: 100, eventGap: .seconds(1_000), flushInterval: .seconds(10),
      outages: [(503, 0, 1)])
    fleet.change = {
      $0.backOffExactly(from: 60)
      $0.lifecycle = Lifecycle(synchronised: [.init(time: .start + .seconds(20))])
    }
    #expect(try fleet.run().sent.isClose(to: [0, 60.2]))
  }

  @Test("All thirteen documented clients are there, each by name, and a scenario can name each")
  func names() throws {
    #expect(ClientPreset.documented.count == 13 && Set(ClientPreset.names).count == ClientPreset.all.count)
    for preset in ClientPreset.all {
      let text = """
        { format: 1, duration: "1m", tapi: { bucket: { capacity: "10/s" } },
          fleet: [{ name: "phones", devices: 1, events: "6/min", client: "\(preset.name)" }] }
        """
      let cohort = try ScenarioFile(text: text, name: "s") { _ in "" }.decode(overrides: []).scenario.fleet[0]
      var expected = Cohort(
        name: "phones", devices: 1, events: .poisson(meanGap: .seconds(10)), settings: cohort.settings)
      expected.take(preset)
      expected.settingsSource = cohort.settingsSource
      #expect(cohort == expected)
      #expect((cohort.settingsSource == nil) == (preset.settingsDialect == .document))
      if preset.settingsDialect == .document { #expect(cohort.settings == preset.settingsDefaults) }
    }
  }
}
