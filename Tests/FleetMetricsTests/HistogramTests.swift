import FleetMetrics
import TestSupport
import Testing

@Suite("Histogram")
struct HistogramTests {
  @Test("Buckets tile the numbers without gap or overlap and are at most 1/128 wide")
  func buckets() {
    #expect(Histogram.lowerBound(of: 0) == 0)
    for i in 0..<Histogram.bucketCount {
      let lower = Histogram.lowerBound(of: i)
      let upper = Histogram.lowerBound(of: i + 1)
      #expect(lower < upper)
      #expect(Histogram.bucket(of: lower) == i)
      #expect(Histogram.bucket(of: upper - 1) == i)
      #expect(upper - lower == 1 || (upper - lower) * 128 <= lower)
    }
    #expect(Histogram.bucket(of: .max) == Histogram.bucketCount - 1)
    #expect(Histogram.bucket(of: -1) == 0)
  }

  @Test("Quantiles agree with sorting to within a bucket", arguments: 1...40 as ClosedRange<UInt64>)
  func quantilesAgreeWithSorting(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var histogram = Histogram()
    // Magnitudes from single microseconds to years.
    let values = (0..<Int.random(in: 1...700, using: &generator)).map { _ in
      Int64.random(in: 0...1 << Int64.random(in: 0...46, using: &generator), using: &generator)
    }
    for value in values { histogram.record(value) }
    let sorted = values.sorted()
    var previous: Int64 = 0
    for (numerator, denominator) in [
      (0, 1), (1, 1000), (1, 10), (1, 2), (9, 10), (99, 100), (999, 1000), (1, 1),
    ] {
      let exact = sorted[max((numerator * sorted.count + denominator - 1) / denominator, 1) - 1]
      let found = try #require(histogram.quantile(Int64(numerator), of: Int64(denominator)))
      #expect(abs(found - exact) * 128 <= max(exact, 127), "seed \(seed): \(numerator)/\(denominator)")
      #expect(found >= previous && found <= histogram.maximum, "seed \(seed)")
      previous = found
    }
    #expect(histogram.sum == values.reduce(0, +), "seed \(seed)")
    #expect(histogram.maximum == sorted.last)
  }

  @Test("Merging halves gives the whole")
  func merging() {
    var generator = SeededGenerator(seed: 7)
    var whole = Histogram()
    var halves = [Histogram(), Histogram()]
    for i in 0..<1_000 {
      let value = Int64.random(in: 0...1 << 40, using: &generator)
      whole.record(value)
      halves[i % 2].record(value)
    }
    halves[0].merge(halves[1])
    #expect(halves[0] == whole)
    whole.merge(Histogram())
    #expect(halves[0] == whole)
  }

  @Test("Totals and sums beyond 64-bit products do not overflow")
  func hugeCounts() {
    var histogram = Histogram()
    // 10^16 events: the rank of a quantile times its denominator is beyond 64 bits.
    histogram.record(100, count: 9_900_000_000_000_000)
    histogram.record(200, count: 100_000_000_000_000)
    #expect(histogram.quantile(9_900, of: 10_000) == 100)
    #expect(histogram.quantile(9_901, of: 10_000) == 200)
    // The sum passes 2^63 µs; the mean stays right.
    var long = Histogram()
    for _ in 0..<10 { long.record(1 << 40, count: 1 << 22) }
    #expect(long.sum == .max)
    #expect(long.mean == 0x1p40)
    var both = long
    both.merge(long)
    #expect(both.mean == 0x1p40)
  }

  @Test("A recorder's sum beyond 63 bits stays right")
  func hugeRecorderSum() {
    let recorder = DeliveryRecorder()
    let counters = IntervalCounters<DeviceSide>(rows: 2)
    for n in 0..<5 {
      _ = recorder.record(1 << 61)
      counters.add(1 << 61, to: .timeToDeliverySum, row: n / 3)
    }
    var histogram = Histogram()
    recorder.merge(into: &histogram, sums: counters, maximum: 1 << 61)
    #expect(histogram.mean == 0x1p61)
    recorder.merge(into: &histogram, sums: counters, maximum: 1 << 61)
    #expect(histogram.mean == 0x1p61)
    #expect(histogram.sum == .max)
  }

  @Test("An empty histogram has no quantile and no mean")
  func empty() {
    #expect(Histogram().quantile(1, of: 2) == nil)
    #expect(Histogram().mean == nil)
    #expect(Histogram().sum == 0)
  }
}
