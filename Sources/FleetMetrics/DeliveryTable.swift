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

  mutating func add(bucket: Int, events: UInt32) {
    cells.append(Cell(bucket: Int32(truncatingIfNeeded: bucket), events: events))
  }

  mutating func endRow() { ends.append(cells.count) }
}
