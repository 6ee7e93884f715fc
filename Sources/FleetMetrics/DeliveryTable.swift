/// How many events were accepted after which time to delivery, interval by interval: `IntervalDeliveries` without its empty cells.
public struct DeliveryTable: Sendable, Hashable {
  struct Cell: Sendable, Hashable {
    /// As `IntervalDeliveries` has them: 32 an octave.
    var bucket: Int32
    var events: UInt32
  }

  /// Row by row, in the order of the buckets.
  private(set) var cells: [Cell] = []
  /// Where each row's cells end.
  private var ends: [Int] = []

  public init() {}

  public init(_ counters: borrowing IntervalDeliveries) {
    for row in 0..<counters.rows {
      counters.forEachBucket(ofRow: row) { add(bucket: $0, events: $1) }
      endRow()
    }
  }

  public var rows: Int { ends.count }

  func cells(ofRow row: Int) -> ArraySlice<Cell> { cells[(row > 0 ? ends[row - 1] : 0)..<ends[row]] }

  /// Percentiles of one row, each the middle of the bucket that it lies in; nil if nothing was delivered in it.
  ///
  /// - `percents`: ascending.
  public func percentiles<let n: Int>(_ percents: InlineArray<n, Int64>, row: Int) -> InlineArray<n, Int64>? {
    let cells = cells(ofRow: row)
    var total: Int64 = 0
    for cell in cells { total += Int64(cell.events) }
    if total == 0 { return nil }
    var results = InlineArray<n, Int64>(repeating: 0)
    var (place, seen) = (cells.startIndex, Int64(cells[cells.startIndex].events))
    for i in percents.indices {
      let rank = max((total * percents[i] + 99) / 100, 1)
      while seen < rank {
        place += 1
        seen += Int64(cells[place].events)
      }
      results[i] = IntervalDeliveries.middle(of: Int(cells[place].bucket))
    }
    return results
  }

  mutating func add(bucket: Int, events: UInt32) {
    cells.append(Cell(bucket: Int32(truncatingIfNeeded: bucket), events: events))
  }

  mutating func endRow() { ends.append(cells.count) }
}
