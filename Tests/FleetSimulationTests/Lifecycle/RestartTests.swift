import FleetMetrics
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing
import UploadRetry

/// When apps restart and what a launch does to flushes, worked out by hand (see `LifecycleFleet`).
@Suite struct RestartTests {
  private typealias Flush = LifecycleFleet.Flush

  private func launches(_ record: RunRecord) -> [Int64] { record.series.rows.map(\.[.launches]) }

  @Test("A synchronised restart happens once on every device, at its time")
  func synchronised() throws {
    var fleet = LifecycleFleet(devices: 7, duration: 60)
    fleet.lifecycle = .at(20, 45)
    let rows = launches(try fleet.run())
    #expect(rows.indices.filter { rows[$0] > 0 } == [20, 45])
    #expect(rows[20] == 7 && rows[45] == 7)
  }

  @Test("A spread restart happens once on every device, evenly over the spread")
  func spread() throws {
    var fleet = LifecycleFleet(devices: 1_000, duration: 120)
    fleet.lifecycle = Lifecycle(
      synchronised: [.init(time: .second(20), spread: .seconds(40))], flushesAtLaunch: false)
    let rows = launches(try fleet.run())
    #expect(rows.reduce(0, +) == 1_000)
    #expect(rows[..<20].allSatisfy { $0 == 0 } && rows[61...].allSatisfy { $0 == 0 })
    // Each quarter has 250 ± 13.7 of 1000 (binomial); the bounds are at four deviations and a half.
    for quarter in 0..<4 {
      let n = rows[(20 + 10 * quarter)..<(30 + 10 * quarter)].reduce(0, +)
      #expect((188...312).contains(n), "quarter \(quarter): \(n)")
    }
  }

  @Test("Restarts at random come at their rate, independent of one another")
  func atRandom() throws {
    // One a minute on each of 100 devices over 10 min. Launches a second are Poisson with mean 100/60: 1000 ± 31.6 in all, and
    // over the 600 rows the variance is the mean, ± 5.8 %. Restarts on a grid would have a variance near 0.
    var fleet = LifecycleFleet(devices: 100, duration: 600)
    fleet.lifecycle = Lifecycle(meanTimeBetweenRestarts: .seconds(60), flushesAtLaunch: false)
    let rows = launches(try fleet.run()).map(Double.init)
    let sum = rows.reduce(0, +)
    #expect(abs(sum - 1_000) < 4.5 * 31.6, "\(sum)")
    let mean = sum / 600
    let variance = rows.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 599
    #expect(abs(variance / mean - 1) < 4.5 * 0.058, "\(variance) \(mean)")
    // The first half has no more than the second: a device doesn't stop restarting, nor speed up.
    let firstHalf = rows[..<300].reduce(0, +)
    #expect(abs(firstHalf - 500) < 4.5 * 22.4, "\(firstHalf)")
  }

  @Test("A launch is a flush trigger: what no flush has sealed leaves with it, and the interval starts anew")
  func flushAtLaunch() throws {
    // Events every 10 s, flushes every 30 s from 0, a restart at 45: the flush at 0 finds the event of 0, that at 30 those
    // of 10, 20, 30; the launch that of 40; the next flush is 45 + 30 = 75 with those of 50, 60, 70.
    var fleet = LifecycleFleet(duration: 110, events: 10)
    fleet.flush.interval = .seconds(30)
    fleet.lifecycle = .at(45, flushesAtLaunch: true)
    let story = try fleet.story()
    #expect(story.triggers(.launch) == [Flush(time: 45, newEvents: 1)])
    #expect(
      story.triggers(.interval) == [
        Flush(time: 0, newEvents: 1), Flush(time: 30, newEvents: 3), Flush(time: 75, newEvents: 3),
        Flush(time: 105, newEvents: 3),
      ])
    #expect(story.sent == [0, 30, 45, 75, 105])
    // Time to delivery: 0.1 s after the flush; 0 | 20, 10, 0 | 5 | 25, 15, 5 | 25, 15, 5 s before it: 125 s and 11 · 0.1 s.
    #expect(story.delivered == 11)
    #expect(story.record.series.rows.reduce(0) { $0 + $1[.timeToDeliverySum] } == 126_100_000)
  }

  @Test("A launch that is no trigger leaves the events for the next flush")
  func noFlushAtLaunch() throws {
    // As above, but the flush at 75 finds the events of 40, 50, 60, 70.
    var fleet = LifecycleFleet(duration: 110, events: 10)
    fleet.flush.interval = .seconds(30)
    fleet.lifecycle = .at(45)
    let story = try fleet.story()
    #expect(story.triggers(.launch) == [])
    #expect(
      story.triggers(.interval) == [
        Flush(time: 0, newEvents: 1), Flush(time: 30, newEvents: 3), Flush(time: 75, newEvents: 4),
        Flush(time: 105, newEvents: 3),
      ])
    #expect(story.sent == [0, 30, 75, 105])
  }

  @Test("The event count starts over at a launch's flush, as at any other")
  func count() throws {
    // Three events make a flush, one comes every 10 s from 0: at 20 (events of 0, 10, 20). The launch at 35 takes
    // that of 30; the next three are those of 40, 50, 60.
    var fleet = LifecycleFleet(duration: 100, events: 10)
    fleet.flush = FlushPolicy(count: 3, interval: nil)
    fleet.lifecycle = .at(35, flushesAtLaunch: true)
    let story = try fleet.story()
    #expect(story.triggers(.launch) == [Flush(time: 35, newEvents: 1)])
    #expect(
      story.triggers(.count) == [
        Flush(time: 20, newEvents: 3), Flush(time: 60, newEvents: 3), Flush(time: 90, newEvents: 3),
      ])
  }

  @Test(
    "A kill cuts an upload off; the client sends it again at its launch, and the server sees a duplicate",
    arguments: [true, false])
  func killedUpload(keepsState: Bool) throws {
    // Flushes at 0, 20, 40 …; the app is killed 0.15 s after the second, when the server has accepted (at 20.1)
    // and the client does not know (until 20.2). The launch sends the batch again: no failure is known, so
    // X-Retry-Count is 0. Its answer comes at 20.35, and the next flush is 20.15 + 20.
    var fleet = LifecycleFleet(duration: 40, events: 20)
    fleet.flush.interval = .seconds(20)
    fleet.lifecycle = Lifecycle(
      synchronised: [.init(time: Instant(microseconds: 20_150_000))], keepsState: keepsState)
    let story = try fleet.story()
    #expect(story.sent == [0, 20, 20.15])
    #expect(story.retryCounts == [0, 0, 0])
    #expect(story.delivered == 2 && story.duplicates == 1)
    #expect(
      story.record.series.totals[.settledBatches] == 2 && story.record.series.totals[.sealedBatches] == 2)
    #expect(story.losses == [])
  }
}
