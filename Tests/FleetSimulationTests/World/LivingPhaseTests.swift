import FleetMetrics
import FleetSimulation
import Foundation
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing

@Suite("Flush phases that change")
struct LivingPhaseTests {
  private static let second: Int64 = 1_000_000

  private func times(
    of trigger: DeviceTrace.Trigger, _ events: [DeviceTrace.Event]
  ) -> [Int64] {
    events.compactMap { event in
      if case .trigger(trigger, _) = event.kind { event.time } else { nil }
    }
  }

  @Test(
    "Clocks that drift evenly by up to D spread a fleet that starts together: R = |sin x / x| with x = 2πDt/T"
  )
  func drift() throws {
    var fleet = WorldFleet(devices: 4_000, minutes: 60)
    fleet.latency = .milliseconds(10)
    fleet.adjust = {
      $0.events = .periodic(every: .seconds(30), phase: .flush)
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true)
      $0.flush.driftPartsPerMillion = 10_000
    }
    let record = try fleet.run()
    #expect(record.synchronyPeriod == 30 * Self.second)
    let values = Synchrony.values(of: record, period: record.synchronyPeriod)
    for minute in [5, 10, 15, 20, 25, 30, 40, 50] {
      // The rows are minutes; the latest interval lies 15 s before a row's end in the mean.
      let x = 2 * Double.pi * 0.01 * (Double(minute) * 60 - 15) / 30
      let value = try #require(values[minute - 1])
      // 4,000 devices: 0.89/√4000 is 0.014.
      #expect(abs(value - abs(sin(x) / x)) < 0.04, "after \(minute) min")
    }
  }

  @Test(
    "Kuramoto's order parameter of known counts: 1 at one phase, 0 at even or opposite phases, ½ of half and half"
  )
  func order() throws {
    func value(_ counts: [UInt32]) -> Double? {
      var record = RunRecord(
        series: TimeSeries(interval: 1_000_000, duration: 1_000_000, rows: 1), deliveries: Histogram(),
        offeredPer100ms: counts, nominalCapacityMilli: 0, incidents: [], devices: 1, longestFlushInterval: 0,
        cost: DeviceCost())
      record.synchronyPeriod = 1_000_000
      return Synchrony.values(of: record, period: 1_000_000)[0]
    }
    let together = try #require(value([0, 0, 7, 0, 0, 0, 0, 0, 0, 0]))
    #expect(abs(together - 1) < 1e-12)
    let even = try #require(value(Array(repeating: 5, count: 10)))
    #expect(even < 1e-12)
    let opposite = try #require(value([3, 0, 0, 0, 0, 3, 0, 0, 0, 0]))
    #expect(opposite < 1e-12)
    let half = try #require(value([14, 1, 1, 1, 1, 5, 1, 1, 1, 1]))
    // By hand: the eight ones cancel, and 14 − 5 of 27 are left.
    #expect(abs(half - 9.0 / 27) < 1e-12)
    #expect(value(Array(repeating: 0, count: 10)) == nil)
  }

  @Test(
    "After a flush of the count the interval starts anew with afterFlush, and goes on at its rate with fixedRate"
  )
  func afterFlush() throws {
    for rearm in [FlushPolicy.Rearm.fixedRate, .afterFlush] {
      var fleet = WorldFleet(devices: 1, minutes: 30)
      fleet.adjust = {
        $0.events = .poisson(meanGap: .seconds(9))
        $0.flush = FlushPolicy(count: 4, interval: .seconds(30))
        $0.flush.rearm = rearm
      }
      let trace = try fleet.trace()
      let intervals = times(of: .interval, trace)
      let all = (intervals + times(of: .count, trace)).sorted()
      try #require(intervals.count > 10 && all.count > intervals.count + 5)
      for time in intervals.dropFirst() {
        let before = rearm == .afterFlush ? all.last { $0 < time } : intervals.last { $0 < time }
        #expect(time - (before ?? 0) == 30 * Self.second, "\(rearm)")
      }
    }
  }

  @Test(
    "With afterAnswer an interval begins when the answer is there: 30 s and twice the way lie between two flushes"
  )
  func afterAnswer() throws {
    var fleet = WorldFleet(devices: 1, minutes: 30)
    fleet.latency = .seconds(2)
    fleet.adjust = {
      $0.events = .periodic(every: .seconds(3), phase: .random)
      $0.flush = FlushPolicy(count: nil, interval: .seconds(30))
      $0.flush.rearm = .afterAnswer
    }
    let flushes = times(of: .interval, try fleet.trace())
    try #require(flushes.count > 40)
    #expect(zip(flushes, flushes.dropFirst()).allSatisfy { $1 - $0 == 34 * Self.second })
    // A way that takes longer than the interval: none ends while the upload runs.
    fleet.latency = .seconds(20)
    let adjust = fleet.adjust
    fleet.adjust = {
      adjust(&$0)
      $0.timeout = .minutes(2)
    }
    let slow = times(of: .interval, try fleet.trace())
    #expect(zip(slow, slow.dropFirst()).allSatisfy { $1 - $0 == 70 * Self.second })
  }

  @Test("A launch moves the phase of a timer, and not that of the wall clock")
  func wallClock() throws {
    for (rearm, isMoved) in [(FlushPolicy.Rearm.fixedRate, true), (.wallClock, false)] {
      var fleet = WorldFleet(devices: 1, minutes: 60)
      fleet.adjust = {
        $0.flush = FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true)
        $0.flush.phase = .seconds(7)
        $0.flush.rearm = rearm
        $0.lifecycle = Lifecycle(meanTimeBetweenRestarts: .minutes(7))
      }
      let trace = try fleet.trace()
      #expect(trace.contains { if case .launched = $0.kind { true } else { false } })
      let phases = Set(times(of: .interval, trace).map { $0 % (30 * Self.second) })
      #expect((phases != [7 * Self.second]) == isMoved)
    }
  }

  @Test("A share of a fleet flushes together within its spread, and the rest at random phases")
  func share() throws {
    var fleet = WorldFleet(devices: 6_000, minutes: 10)
    fleet.latency = .milliseconds(10)
    fleet.adjust = {
      $0.events = .periodic(every: .seconds(60), phase: .flush)
      $0.flush = FlushPolicy(count: nil, interval: .seconds(60), isSynchronised: true)
      $0.flush.phase = .seconds(20)
      $0.flush.togetherPartsPerMillion = 300_000
      $0.flush.spread = .seconds(3)
    }
    let record = try fleet.run()
    // The steps of 100 ms of one minute, whose first 100 ms hold what left 10 ms before.
    let minute = record.offeredPer100ms[1_200..<1_800].map(Int.init)
    #expect(minute.reduce(0, +) == 6_000)
    let together = minute[200...230].reduce(0, +)
    // 1,800 together and 3.1 of 60 s of the others: 2,017, and 37 are one standard deviation.
    #expect(abs(together - 2_017) < 150)
  }
}
