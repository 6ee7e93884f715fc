/// Counts of a run up to a moment, kept to tell what it counts from then on.
///
/// Hardly anything is counted in rows that lie far behind; those are not kept, and `areWhole` tells whether that was right.
package struct CountsUntil<Side: CountingSide>: Sendable {
  /// The first row that is kept.
  package let first: Int
  /// Row by row, without the rows of zeros at the end.
  fileprivate let cells: [Int64]
  /// The sum of what is not kept, by measure.
  fileprivate let before: [Int64]

  package var byteCount: Int { (cells.count + before.count) * MemoryLayout<Int64>.stride }
}

extension IntervalCounters {
  /// - Parameter first: the first row that is kept.
  package func counts(keptFrom first: Int) -> CountsUntil<Side> {
    let first = min(max(first, 0), rows)
    var end = rows * columns
    while end > first * columns, cells[end - 1] == 0 { end -= 1 }
    let kept = (first * columns..<end).map { cells[$0] }
    return CountsUntil(first: first, cells: kept, before: columnSums(before: first))
  }

  /// Whether nothing has been counted since in a row that was not kept.
  package func areWhole(since past: CountsUntil<Side>) -> Bool {
    columnSums(before: past.first) == past.before
  }

  /// Adds what another run, which ended with `cells`, has counted since.
  package func add(_ end: [Int64], since past: CountsUntil<Side>) {
    for place in past.first * columns..<rows * columns {
      let index = place - past.first * columns
      cells[place] &+= end[place] &- (index < past.cells.count ? past.cells[index] : 0)
    }
  }

  package var allCells: [Int64] { Array(UnsafeBufferPointer(start: cells, count: rows * columns)) }
}

/// Times to delivery of a run up to a moment, or to its end.
package struct DeliveriesUntil: Sendable {
  fileprivate let first: Int
  /// Those of the rows from `first` on.
  fileprivate let parts: [DeliveryTable.Part]
  /// Few of a histogram's buckets are used, and a run keeps tens of these for each cohort.
  fileprivate let buckets: [(place: Int, events: Int64)]

  package var byteCount: Int {
    parts.reduce(buckets.count * MemoryLayout<(Int, Int64)>.stride) { $0 + $1.table.byteCount }
  }
}

extension IntervalDeliveries {
  /// Rows that are not kept get no more deliveries if they get no more delivered events (`IntervalCounters.areWhole`).
  ///
  /// - Parameters:
  ///   - recorder: of the same run, whose buckets are kept whole.
  ///   - first: the first row that is kept.
  package func deliveries(_ recorder: borrowing DeliveryRecorder, keptFrom first: Int) -> DeliveriesUntil {
    let first = min(max(first, 0), rows)
    return DeliveriesUntil(first: first, parts: tables(from: first), buckets: recorder.usedBuckets)
  }

  /// Adds what another run, which ended with `end`, has recorded since.
  package mutating func add(_ end: DeliveriesUntil, since past: DeliveriesUntil) {
    let ends = end.parts.map { part in
      DeliveryTable.Part(table: part.table.rows(from: past.first - part.first), first: past.first)
    }
    let pasts = past.parts.map { DeliveryTable.Part(table: $0.table, first: $0.first, isTakenAway: true) }
    become(DeliveryTable(sumOf: tables() + ends + pasts, rows: rows))
  }
}

extension DeliveryRecorder {
  fileprivate var usedBuckets: [(place: Int, events: Int64)] {
    (0..<Histogram.bucketCount).filter { counts[$0] != 0 }.map { ($0, counts[$0]) }
  }

  /// Adds to the recorder that goes with the deliveries what they add.
  package func add(_ end: DeliveriesUntil, since past: DeliveriesUntil) {
    for bucket in end.buckets { counts[bucket.place] &+= bucket.events }
    for bucket in past.buckets { counts[bucket.place] &-= bucket.events }
  }
}
