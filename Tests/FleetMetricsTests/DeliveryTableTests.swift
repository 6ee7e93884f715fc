import FleetMetrics
import TestSupport
import Testing

extension IntervalDeliveries {
  mutating func record(_ value: Int64, row: Int) {
    record(histogramBucket: Histogram.bucket(of: value), row: row)
  }
}

extension LongWaits {
  var table: DeliveryTable {
    var parts: [DeliveryTable.Part] = []
    addParts(to: &parts)
    return DeliveryTable(sumOf: parts, rows: rows)
  }
}

@Suite("Times to delivery by interval")
struct DeliveryTableTests {
  /// The nearest-rank definition on the values themselves; a bucket is 1/32 of an octave, so its middle is off by 1.6 % at most.
  @Test("a row's percentiles are the values of that rank, within a bucket")
  func percentiles() throws {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let rows = Int.random(in: 1...5, using: &random)
      var cells = IntervalDeliveries(rows: rows, openRows: [1, 2, 4, 64].randomElement(using: &random)!)
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

  /// Against a dictionary of what was recorded.
  @Test("tables of shards add up, in whatever order rows are recorded", arguments: [1, 2, 16])
  func sums(openRows: Int) {
    var random = SeededGenerator(seed: 3)
    let rows = 40
    var shards = 3
    var tables: [DeliveryTable.Part] = []
    var expected: [[Int: UInt32]] = Array(repeating: [:], count: rows)
    while shards > 0 {
      shards -= 1
      var deliveries = IntervalDeliveries(rows: rows, openRows: openRows)
      for i in 0..<500 {
        // Time goes on, and some tell of what was long ago.
        let now = i * rows / 500
        let row = max(0, now - Int(random.next() % 4 == 0 ? random.next() % 20 : 0))
        let value = Int64.random(in: 1 << 20...1 << 24, using: &random)
        deliveries.record(value, row: row)
        // 32 buckets an octave.
        let octave = 63 - value.leadingZeroBitCount
        expected[row][(octave - 4) * 32 + Int(value >> (octave - 5)) - 32, default: 0] += 1
      }
      tables += deliveries.tables()
    }
    let sum = DeliveryTable(sumOf: tables, rows: rows)
    #expect(sum.rows == rows)
    for row in 0..<rows {
      let found = sum.cells(ofRow: row).map { (Int($0.bucket), $0.events) }
      #expect(Dictionary(uniqueKeysWithValues: found) == expected[row], "row \(row)")
      #expect(found.map(\.0) == found.map(\.0).sorted())
    }
  }

  @Test(
    "long waits of a run that goes on from a copy, or ends as another did, are those of one that did it all")
  func longWaits() {
    var random = SeededGenerator(seed: 4)
    let rows = 2_000
    func record(_ events: Int, _ into: inout LongWaits, also: inout LongWaits) {
      for _ in 0..<events {
        let row = Int.random(in: 0..<rows, using: &random)
        let bucket = Histogram.bucket(of: .random(in: 0..<2_000_000_000, using: &random))
        into.record(histogramBucket: bucket, row: row)
        also.record(histogramBucket: bucket, row: row)
      }
    }
    func empty() -> LongWaits { LongWaits(rows: rows, interval: 1_000_000) }
    var first = empty()
    var whole = empty()
    record(300, &first, also: &whole)
    first.note()
    record(200, &first, also: &whole)
    // Copied with a part that is noted and one that is not.
    var copy = first.copy()
    #expect(copy.table == whole.table)
    copy.note()
    let past = copy.noted.count
    var other = empty()
    var both = empty()
    record(100, &copy, also: &both)
    copy.note()
    record(150, &copy, also: &both)
    record(50, &other, also: &both)
    copy.note()
    other.add(copy.noted[past...])
    #expect(other.table == both.table)
    #expect(first.table == whole.table)
    // A short wait is none of them.
    let cells = (0..<rows).flatMap { both.table.cells(ofRow: $0) }
    #expect(
      cells.allSatisfy { Int($0.bucket) >= LongWaits.firstBucket(interval: 1_000_000) } && cells.count > 100)
  }

  @Test("a run that ends as another did has what both recorded", arguments: [1, 4, 64])
  func endsThatAreShared(openRows: Int) {
    var random = SeededGenerator(seed: 9)
    var whole = IntervalDeliveries(rows: 30, openRows: openRows)
    var other = IntervalDeliveries(rows: 30, openRows: openRows)
    let wholeRecorder = DeliveryRecorder()
    let otherRecorder = DeliveryRecorder()
    var both = IntervalDeliveries(rows: 30, openRows: openRows)
    func record(
      _ rows: Range<Int>, _ into: inout IntervalDeliveries, _ recorder: borrowing DeliveryRecorder,
      _ also: Bool
    ) {
      for row in rows {
        for _ in 0..<20 {
          let bucket = recorder.record(Int64.random(in: 0...1 << 30, using: &random))
          into.record(histogramBucket: bucket, row: row)
          if also { both.record(histogramBucket: bucket, row: row) }
        }
      }
    }
    record(0..<12, &other, otherRecorder, false)
    let past = other.deliveries(otherRecorder, keptFrom: 10)
    record(12..<30, &other, otherRecorder, true)
    let end = other.deliveries(otherRecorder, keptFrom: 0)
    record(0..<12, &whole, wholeRecorder, true)
    whole.add(end, since: past)
    #expect(DeliveryTable(whole) == DeliveryTable(both))
  }
}
