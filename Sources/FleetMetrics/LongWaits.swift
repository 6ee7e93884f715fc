/// Deliveries after long waits, by the interval in which the event was created.
///
/// A bucket of `IntervalDeliveries` is as wide as 3 % of the wait. From the interval of acceptance, the creation after a long wait is
/// known within minutes only; an incident may be shorter.
public struct LongWaits: ~Copyable {
  /// A wait so long is counted here, microseconds: where a bucket gets wider than an interval, and than 16 s.
  public let shortest: Int64
  private let rows: Int
  private let interval: Int64
  @usableFromInline let firstBucket: Int
  /// Buckets of a row.
  @usableFromInline let width: Int
  /// Row by row; nil until an event has waited so long.
  @usableFromInline var cells: UnsafeMutablePointer<UInt32>?
  /// The rows that have been written; most runs need few.
  @usableFromInline var used = 0..<0

  /// - Parameters:
  ///   - rows: of the whole run.
  ///   - interval: of a row, microseconds.
  public init(rows: Int, interval: Int64) {
    self.rows = max(rows, 1)
    self.interval = interval
    firstBucket = Self.firstBucket(interval: interval)
    shortest = IntervalDeliveries.bounds(of: firstBucket).lower
    let buckets = IntervalDeliveries.bucket(of: interval * Int64(self.rows)) + 1 - firstBucket
    // Cells are read 32 at a time.
    width = (max(0, buckets) + 31) & ~31
  }

  deinit { cells?.deallocate() }

  /// The first bucket that is counted here.
  package static func firstBucket(interval: Int64) -> Int {
    IntervalDeliveries.bucket(of: Int64(IntervalDeliveries.bucketsPerOctave) * max(interval, 16_000_000))
  }

  /// Bytes of a row.
  package static func bytesPerRow(rows: Int, interval: Int64) -> Int {
    LongWaits(rows: rows, interval: interval).width * MemoryLayout<UInt32>.stride
  }

  /// Counts a wait if it is long.
  /// - Parameters:
  ///   - fine: its bucket in a `Histogram`, of which four make one here.
  ///   - row: of the creation.
  @inlinable @inline(__always)
  public mutating func record(histogramBucket fine: Int, row: Int) {
    let place = fine &>> 2 &+ 64 &- firstBucket
    if UInt(bitPattern: place) >= UInt(bitPattern: width) { return }
    if used.contains(row) {
      cells.unsafelyUnwrapped[row &* width &+ place] &+= 1
    } else {
      add(1, row, place)
    }
  }

  @usableFromInline @inline(never)
  mutating func add(_ events: UInt32, _ row: Int, _ place: Int) {
    precondition(0..<rows ~= row && 0..<width ~= place, "a row or a wait that the run does not have")
    let cells = self.cells ?? .allocate(capacity: rows * width)
    if used.isEmpty { used = row..<row }
    let wanted = min(row, used.lowerBound)..<max(row + 1, used.upperBound)
    for new in [wanted.lowerBound..<used.lowerBound, used.upperBound..<wanted.upperBound] {
      (cells + new.lowerBound * width).initialize(repeating: 0, count: new.count * width)
    }
    (self.cells, used) = (cells, wanted)
    cells[row * width + place] &+= events
  }

  package func copy() -> LongWaits {
    var copy = LongWaits(rows: rows, interval: interval)
    guard let cells else { return copy }
    let copied = UnsafeMutablePointer<UInt32>.allocate(capacity: rows * width)
    (copied + used.lowerBound * width).initialize(
      from: cells + used.lowerBound * width, count: used.count * width)
    (copy.cells, copy.used) = (copied, used)
    return copy
  }

  /// Adds what another run, which ended with `end`, has recorded since.
  package mutating func add(_ end: DeliveryTable, since past: DeliveryTable) {
    for row in 0..<end.rows {
      for cell in end.cells(ofRow: row) {
        add(cell.events, row, Int(cell.bucket) - firstBucket)
      }
      for cell in past.cells(ofRow: row) {
        add(0 &- cell.events, row, Int(cell.bucket) - firstBucket)
      }
    }
  }

  package var isEmpty: Bool { used.isEmpty }

  package var table: DeliveryTable {
    var table = DeliveryTable()
    guard let cells else { return table }
    let all = UnsafeBufferPointer(start: cells + used.lowerBound * width, count: used.count * width)
    table.reserve(cells: all.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }, rows: rows)
    for row in 0..<rows {
      if used.contains(row) {
        IntervalDeliveries.forEachFull(cells + row * width, 0..<width) {
          table.add(bucket: firstBucket + $0, events: $1)
        }
      }
      table.endRow()
    }
    return table
  }
}
