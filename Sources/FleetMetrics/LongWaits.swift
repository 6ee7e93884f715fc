/// Deliveries after long waits, by the interval in which the event was created.
///
/// A bucket of `IntervalDeliveries` is as wide as 2 to 3 % of the wait. From the interval of acceptance, the creation after a wait
/// of hours is known within minutes only; an incident may be shorter.
public struct LongWaits: ~Copyable {
  /// A wait so long is counted here, microseconds: 32 intervals, or 512 s where that is more.
  public let shortest: Int64
  package let rows: Int
  private let interval: Int64
  @usableFromInline let firstBucket: Int
  /// Buckets of a row.
  @usableFromInline let width: Int
  /// Row by row; nil until an event has waited so long.
  @usableFromInline var cells: UnsafeMutablePointer<UInt32>?
  /// The rows that have been written since the latest `note`; most runs need few.
  @usableFromInline var used = 0..<0
  /// What was counted up to each `note`, since the one before.
  package private(set) var noted: [DeliveryTable.Part] = []

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

  package var bytesPerRow: Int { width * MemoryLayout<UInt32>.stride }

  /// Counts a wait if it is long.
  /// - Parameters:
  ///   - fine: its bucket in a `Histogram`.
  ///   - row: of the creation.
  @inlinable @inline(__always)
  public mutating func record(histogramBucket fine: Int, row: Int) {
    let place = IntervalDeliveries.wideBucket(ofFine: fine) &- firstBucket
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
    copy.noted = noted
    guard let cells, !used.isEmpty else { return copy }
    let copied = UnsafeMutablePointer<UInt32>.allocate(capacity: rows * width)
    (copied + used.lowerBound * width).initialize(
      from: cells + used.lowerBound * width, count: used.count * width)
    (copy.cells, copy.used) = (copied, used)
    return copy
  }

  /// Appends tables whose sum has all: `noted`, and what was counted since.
  package func addParts(to parts: inout [DeliveryTable.Part]) {
    parts += noted
    if !used.isEmpty { parts.append(latest) }
  }

  /// Ends a part, so that it can be told from what comes later.
  package mutating func note() {
    if used.isEmpty { return }
    noted.append(latest)
    used = 0..<0
  }

  /// Adds what another run has counted.
  package mutating func add(_ others: ArraySlice<DeliveryTable.Part>) {
    for other in others {
      for row in 0..<other.table.rows {
        for cell in other.table.cells(ofRow: row) {
          add(cell.events, other.first + row, Int(cell.bucket) - firstBucket)
        }
      }
    }
  }

  private var latest: DeliveryTable.Part {
    var table = DeliveryTable()
    if let cells {
      let all = UnsafeBufferPointer(start: cells + used.lowerBound * width, count: used.count * width)
      table.reserve(cells: all.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }, rows: used.count)
      for row in used {
        IntervalDeliveries.forEachFull(cells + row * width, 0..<width) {
          table.add(bucket: firstBucket + $0, events: $1)
        }
        table.endRow()
      }
    }
    return DeliveryTable.Part(table: table, first: used.lowerBound)
  }
}
