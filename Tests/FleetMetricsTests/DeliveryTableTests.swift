import FleetMetrics
import TestSupport
import Testing

extension IntervalDeliveries {
  func record(_ value: Int64, row: Int) { record(histogramBucket: Histogram.bucket(of: value), row: row) }
}

@Suite("Times to delivery by interval")
struct DeliveryTableTests {
  /// The nearest-rank definition on the values themselves; a bucket is 1/32 of an octave, so its middle is off by 1.6 % at most.
  @Test("a row's percentiles are the values of that rank, within a bucket")
  func percentiles() throws {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let rows = Int.random(in: 1...5, using: &random)
      let cells = IntervalDeliveries(rows: rows)
      var values = [[Int64]](repeating: [], count: rows)
      for _ in 0..<Int.random(in: 0...300, using: &random) {
        let row = Int.random(in: 0..<rows, using: &random)
        let value = Int64.random(in: 0...Int64(1) << Int64.random(in: 0...40, using: &random), using: &random)
        values[row].append(value)
        cells.record(value, row: row)
      }
      let table = DeliveryTable(cells)
      for row in 0..<rows {
        let percentiles = table.percentiles([1, 50, 95, 99, 100], row: row)
        if values[row].isEmpty {
          #expect(percentiles == nil)
          continue
        }
        let sorted = values[row].sorted()
        let found = try #require(percentiles)
        for (i, percent) in [1, 50, 95, 99, 100].enumerated() {
          let exact = sorted[max(1, (sorted.count * percent + 99) / 100) - 1]
          #expect(
            abs(Double(found[i]) - Double(exact)) <= Double(exact) / 63,
            "seed \(seed), row \(row), p\(percent)")
        }
      }
    }
  }

  @Test("tables of shards add up, whatever cells they fill")
  func merging() {
    var random = SeededGenerator(seed: 3)
    let a = IntervalDeliveries(rows: 3)
    let b = IntervalDeliveries(rows: 3)
    let both = IntervalDeliveries(rows: 3)
    for i in 0..<500 {
      let (value, row) = (
        Int64.random(in: 0...1 << 45, using: &random), Int.random(in: 0..<3, using: &random)
      )
      if i % 2 == 0 { a.record(value, row: row) } else { b.record(value, row: row) }
      both.record(value, row: row)
    }
    a.merge(into: b)
    #expect(DeliveryTable(b) == DeliveryTable(both))
    let cells = (0..<3).flatMap { DeliveryTable(b).cells(ofRow: $0) }
    #expect(cells.reduce(0) { $0 + Int($1.events) } == 500)
  }
}
