import TestSupport
import Testing

@testable import FleetMetrics

@Suite("Healthy twin")
struct BaselineTests {
  /// Two hours in rows of 10 s, a thousand events created and delivered in each.
  func twin(rows: Int = 720, flush: Int64 = 30 * second, _ backlog: (Int) -> Int64) -> RunRecord {
    var twin = record(backlogs: (0..<rows).map(backlog), flush: flush)
    for i in twin.series.rows.indices {
      twin.series[i, .createdEvents] = 1_000
      twin.series[i, .deliveredEvents] = 1_000
      twin.series[i, .timeToDeliveryP99] = 30 * second
    }
    return twin
  }

  @Test("A steady backlog is healthy, whatever its level and its warm-up")
  func steady() {
    #expect(RunAnalysis.isHealthy(twin { _ in 1_500 }))
    #expect(RunAnalysis.isHealthy(twin { _ in 0 }))
    #expect(RunAnalysis.isHealthy(twin { min(Int64($0) * 1_000, 100_000) }))
    #expect(RunAnalysis.isHealthy(twin { max(100_000 - Int64($0) * 500, 1_500) }))
  }

  @Test("A backlog that grows with a tenth too little capacity is ill")
  func growing() {
    #expect(!RunAnalysis.isHealthy(twin { Int64($0) * 100 }))
    #expect(!RunAnalysis.isHealthy(twin { 1_500 + Int64($0) * 100 }))
  }

  @Test("A collapse in the middle of the run that is not mended is ill")
  func collapse() {
    #expect(!RunAnalysis.isHealthy(twin { $0 < 400 ? 1_500 : 60_000 }))
    #expect(!RunAnalysis.isHealthy(twin { $0 < 560 ? 1_500 : 60_000 }))
  }

  @Test("Poisson noise and a flush sawtooth are healthy", arguments: 1...50 as ClosedRange<UInt64>)
  func noise(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // A small fleet, each row anywhere between empty and twice its mean.
    #expect(
      RunAnalysis.isHealthy(twin { _ in Int64.random(in: 0...3_000, using: &generator) }), "seed \(seed)")
    // All devices flush together, once in 2 … 25 minutes.
    let period = Int64.random(in: 12...90, using: &generator)
    let phase = Int64.random(in: 0..<period, using: &generator)
    let sawtooth = twin(flush: period * 10 * second) { (Int64($0) + phase) % period * 1_000 }
    #expect(RunAnalysis.isHealthy(sawtooth), "seed \(seed): period \(period)0 s")
  }

  @Test("A backlog that follows the load over the day is healthy")
  func diurnal() {
    var twin = twin { 500 + Int64($0) * 10 }
    for i in twin.series.rows.indices { twin.series[i, .createdEvents] = 200 + Int64(i) * 4 }
    #expect(RunAnalysis.isHealthy(twin))
  }

  @Test("Time to delivery that grows is ill, and noise in it is not")
  func timeToDelivery() {
    var slow = twin { _ in 1_500 }
    for i in slow.series.rows.indices { slow.series[i, .timeToDeliveryP99] = Int64(i) * second }
    #expect(!RunAnalysis.isHealthy(slow))
    var noisy = twin { _ in 1_500 }
    for i in noisy.series.rows.indices {
      noisy.series[i, .timeToDeliveryP99] = Int64(20 + i % 7 * 10) * second
      if i % 3 == 0 { noisy.series[i, .deliveredEvents] = 0 }
    }
    #expect(RunAnalysis.isHealthy(noisy))
  }

  @Test("A full queue that throws events away is ill although nothing grows")
  func overflowing() {
    var full = twin { _ in 10_000 }
    for i in full.series.rows.indices { full.series[i, .droppedByOverflow] = 10 }
    #expect(RunAnalysis.isHealthy(full))
    full.series[700, .droppedByOverflow] = 11
    #expect(!RunAnalysis.isHealthy(full))
  }

  @Test("A run too short to tell is healthy")
  func short() {
    #expect(RunAnalysis.isHealthy(twin(rows: 3) { Int64($0) * 1_000 }))
    #expect(RunAnalysis.isHealthy(twin(rows: 20) { Int64($0) * 1_000 }))
  }
}
