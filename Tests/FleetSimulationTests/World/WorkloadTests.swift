import FleetMetrics
import Foundation
import ScenarioModel
import SimulationKernel
import TestScenarios
import Testing

@Suite("Rates that vary in time")
struct VaryingRateTests {
  private let perSecond = 0.1
  private let gap = Span.seconds(10)

  @Test("a sine creates what its integral says, minute by minute")
  func sine() throws {
    let period = 20.0
    let curve = RateCurve(.sine(amplitudePartsPerMillion: 800_000, peak: .minutes(5)), period: .minutes(20))
    let fleet = WorkloadFleet(events: .varying(meanGap: gap, curve))
    func integral(_ minute: Double) -> Double {
      minute + 0.8 * period / (2 * .pi) * sin(2 * .pi * (minute - 5) / period)
    }
    let perMinute = Double(fleet.devices) * perSecond * 60
    let integrals = (0...40).map { integral(Double($0)) }
    let expected = (0..<40).map { perMinute * (integrals[$0 + 1] - integrals[$0]) }
    let created = try fleet.created()
    #expect(abs(poissonScore(created, expected)) < 3.7)
    #expect(created[4] > 5 * created[14])
  }

  @Test("points are joined by straight lines, over the end of the period too")
  func points() throws {
    let curve = RateCurve(
      .points([
        .init(time: .minutes(2), factorPartsPerMillion: 500_000),
        .init(time: .minutes(6), factorPartsPerMillion: 2_500_000),
      ]), period: .minutes(10))
    let fleet = WorkloadFleet(events: .varying(meanGap: gap, curve))
    // From 6 min on it falls by 2 in the 6 min to 2 min of the next period.
    func factor(_ minute: Double) -> Double {
      let m = minute.truncatingRemainder(dividingBy: 10)
      return m < 2 ? 0.5 + (2 - m) / 3 : m < 6 ? 0.5 + (m - 2) / 2 : 2.5 - (m - 6) / 3
    }
    let expected = (0..<40).map { Double(fleet.devices) * perSecond * 60 * factor(Double($0) + 0.5) }
    #expect(abs(poissonScore(try fleet.created(), expected)) < 3.7)
  }

  @Test("without a period the first factor holds before its time, and the last one from then on")
  func onceOnly() throws {
    let curve = RateCurve(
      .points([
        .init(time: .minutes(10), factorPartsPerMillion: 200_000),
        .init(time: .minutes(20), factorPartsPerMillion: 1_000_000),
      ]), period: nil)
    let fleet = WorkloadFleet(events: .varying(meanGap: gap, curve))
    func factor(_ minute: Int) -> Double {
      if minute < 10 { return 0.2 }
      return minute < 20 ? 0.2 + 0.08 * (Double(minute) - 9.5) : 1
    }
    let expected = (0..<40).map { Double(fleet.devices) * perSecond * 60 * factor($0) }
    #expect(abs(poissonScore(try fleet.created(), expected)) < 3.7)
  }

  @Test("measured rates are replayed: each holds from its row to the next, divided over the devices")
  func replay() throws {
    let measured: [(Int64, Double)] = [(5, 40), (10, 0.5), (20, 120.25), (21, 30)]
    let rows = measured.map { minute, rate in
      ArrivalRates.Row(time: .start + .minutes(minute), microEventsPerSecond: Int64(rate * 1e6))
    }
    for (devices, share) in [(1_000, 1.0), (37, 0.5)] {
      let fleet = WorkloadFleet(
        devices: devices,
        events: .replay(ArrivalRates(rows: rows, sharePartsPerMillion: Int64(share * 1e6))))
      let created = try fleet.created()
      #expect(created[..<5].allSatisfy { $0 == 0 })
      let expected = (5..<40).map { minute in
        share * 60 * (minute < 10 ? 40 : minute < 20 ? 0.5 : minute < 21 ? 120.25 : 30)
      }
      #expect(abs(poissonScore(Array(created[5...]), expected)) < 3.7, "\(devices)")
    }
  }

  @Test("event times depend on the seed, the device and the event's number, not on what clients do with them")
  func independence() throws {
    let curve = RateCurve(.sine(amplitudePartsPerMillion: 900_000, peak: .zero), period: .minutes(7))
    var fleet = WorkloadFleet(devices: 50, events: .varying(meanGap: gap, curve))
    fleet.spikes = [Spike(time: .start + .minutes(9), spread: .minutes(1), events: 3, flushes: false)]
    let first = try fleet.created()
    fleet.flush = FlushPolicy(count: 3, interval: nil)
    #expect(try fleet.created() == first)
    fleet.flush = FlushPolicy(count: 20, interval: .seconds(7), isSynchronised: true)
    #expect(try fleet.created() == first)
    fleet.seed = 2
    #expect(try fleet.created() != first)
  }
}

@Suite("Spikes and bursts")
struct SpikeTests {
  private let steady = EventProcess.periodic(every: .seconds(20), phase: .random)

  @Test("each device that takes part creates its events within the spread and flushes behind them")
  func everybody() throws {
    var fleet = WorkloadFleet(
      events: steady, flush: FlushPolicy(count: nil, interval: .minutes(10), isSynchronised: true))
    let before = try fleet.run()
    fleet.spikes = [Spike(time: .start + .minutes(15), spread: .seconds(50), events: 3)]
    let after = try fleet.run()
    for minute in 0..<40 {
      #expect(
        after[minute][.createdEvents] - before[minute][.createdEvents] == (minute == 15 ? 3_000 : 0),
        "\(minute)")
    }
    #expect(after[15][.firstAttempts] - before[15][.firstAttempts] == 1_000)
    // What the spike has flushed need not wait for the interval.
    #expect(before[15][.deliveredEvents] == 0)
    #expect(after[15][.deliveredEvents] >= 1_000 * (15 + 3))
  }

  @Test("a spike on the very instant of a strictly periodic event takes nothing from it")
  func aligned() throws {
    var fleet = WorkloadFleet(
      devices: 20, events: .periodic(every: .seconds(30), phase: .flush),
      flush: FlushPolicy(count: nil, interval: .seconds(30), isSynchronised: true))
    fleet.spikes = [Spike(time: .start + .minutes(3), events: 7)]
    #expect(try fleet.created().reduce(0, +) == 20 * (80 + 7))
  }

  @Test("a share takes part, drawn anew each time: at the top of every hour other devices")
  func share() throws {
    var fleet = WorkloadFleet(devices: 2_000, events: .poisson(meanGap: .hours(300)))
    fleet.flush = FlushPolicy(count: 1_000, interval: nil)
    fleet.spikes = [
      Spike(time: .start + .minutes(1), sharePartsPerMillion: 250_000, events: 1, every: .minutes(10))
    ]
    let rows = try fleet.run()
    for minute in stride(from: 1, to: 40, by: 10) {
      let deviation = (2_000 * 0.25 * 0.75).squareRoot()
      #expect(abs(Double(rows[minute][.createdEvents]) - 500) < 4 * deviation, "\(minute)")
      #expect(rows[minute][.firstAttempts] >= rows[minute][.createdEvents] - 2)
    }
    #expect(Set(stride(from: 1, to: 40, by: 10).map { rows[$0][.createdEvents] }).count > 1)
    #expect(rows.reduce(0) { $0 + $1[.createdEvents] } < 2_200)
  }

  @Test("without events a spike is a flush of what there is")
  func flushOnly() throws {
    var fleet = WorkloadFleet(
      events: steady, flush: FlushPolicy(count: nil, interval: .minutes(30), isSynchronised: true))
    let before = try fleet.run()
    fleet.spikes = [Spike(time: .start + .minutes(35), events: 0)]
    let after = try fleet.run()
    #expect(after.map(\.[.createdEvents]) == before.map(\.[.createdEvents]))
    #expect(after[35][.firstAttempts] == before[35][.firstAttempts] + 1_000)
  }

  @Test("a pull of nine requests: nine events at once, a batch each, all under way together")
  func pull() throws {
    var fleet = WorkloadFleet(devices: 100, events: .poisson(meanGap: .minutes(5)))
    fleet.atOnce = 9
    fleet.flush = FlushPolicy(count: 9, interval: nil)
    fleet.maximumBatchEvents = 1
    let rows = try fleet.run()
    let created = rows.reduce(0) { $0 + $1[.createdEvents] }
    #expect(created % 9 == 0)
    let mean = 100.0 * 8
    #expect(abs(Double(created / 9) - mean) < 4 * mean.squareRoot())
    #expect(rows.reduce(0) { $0 + $1[.firstAttempts] } == created)
  }
}

@Suite("The normal load of varying rates")
struct VaryingLoadTests {
  @Test("is that of a simulated run, on average and at its peak")
  func simulated() throws {
    let curve = RateCurve(.sine(amplitudePartsPerMillion: 900_000, peak: .minutes(10)), period: .minutes(40))
    for flush in [
      FlushPolicy(count: nil, interval: .seconds(30)), FlushPolicy(count: 5, interval: .minutes(1)),
    ] {
      let fleet = WorkloadFleet(events: .varying(meanGap: .seconds(10), curve), flush: flush)
      let rows = try fleet.run(checks: false)
      let load = NormalLoad(fleet.scenario)
      let batches = Double(rows.reduce(0) { $0 + $1[.firstAttempts] }) / 2_400
      #expect(abs(load.batchesPerSecond / batches - 1) < 0.02, "\(load.batchesPerSecond) \(batches)")
      #expect(abs(load.eventsPerSecond / 100 - 1) < 0.001)
      let peak = Double(rows.map(\.[.firstAttempts]).max()!) / 60
      #expect(abs(load.peakBatchesPerSecond / peak - 1) < 0.05, "\(load.peakBatchesPerSecond) \(peak)")
    }
  }

  @Test("has the mean of spikes, and their peak: a share of the devices within the spread")
  func spikes() throws {
    var fleet = WorkloadFleet(events: .poisson(meanGap: .seconds(10)))
    let steady = NormalLoad(fleet.scenario)
    #expect(steady.peakBatchesPerSecond == steady.batchesPerSecond)
    fleet.spikes = [
      Spike(
        time: .start + .minutes(5), spread: .seconds(20), sharePartsPerMillion: 500_000, events: 2,
        every: .minutes(10))
    ]
    let load = NormalLoad(fleet.scenario)
    #expect(abs(load.eventsPerSecond - steady.eventsPerSecond - 4 * 1_000 / 2_400.0) < 1e-9)
    #expect(abs(load.batchesPerSecond - steady.batchesPerSecond - 4 * 500 / 2_400.0) < 1e-9)
    #expect(abs(load.peakBatchesPerSecond - steady.batchesPerSecond - 25) < 1e-9)
    #expect(load.peakUtilisation > load.utilisation)
  }
}
