/// Times to delivery by interval, in coarse buckets: 32 an octave, so that a percentile is known within 1.6 %.
///
/// Only the latest rows are counted in. Earlier ones, in which hardly anything is delivered any more, are kept without their empty
/// cells: some 0.5 KB a row in practice, in place of the 5 KB that a row has.
public struct IntervalDeliveries: ~Copyable {
  package static var bucketsPerOctave: Int { 32 }
  @inlinable static var bucketCount: Int { 40 << 5 }

  public let rows: Int
  /// The open rows, each at its place in a ring.
  @usableFromInline let cells: UnsafeMutablePointer<UInt32>
  @usableFromInline let openMask: Int
  @usableFromInline var firstOpen = 0
  /// The rows before the first open one.
  private var closed = DeliveryTable()
  /// Deliveries in closed rows.
  private var late: [(row: UInt32, bucket: UInt32)] = []

  /// - Parameters:
  ///   - rows: of the whole run.
  ///   - openRows: how many are counted in at a time, rounded up to a power of two; it decides on nothing but speed.
  public init(rows: Int, openRows: Int = 4) {
    self.rows = max(rows, 1)
    var ring = 1
    while ring < min(openRows, self.rows) { ring *= 2 }
    openMask = ring - 1
    cells = .allocate(capacity: ring * Self.bucketCount)
    cells.initialize(repeating: 0, count: ring * Self.bucketCount)
    // As many as rows of small fleets have.
    closed.reserve(cells: 8 * self.rows, rows: self.rows)
  }

  deinit { cells.deallocate() }

  /// Bytes of an open row.
  package static var bytesPerRow: Int { bucketCount * MemoryLayout<UInt32>.stride }

  @inlinable static func bucket(of value: Int64) -> Int {
    let v = UInt64(truncatingIfNeeded: max(value, 0))
    if v < 32 { return Int(truncatingIfNeeded: v) }
    let exponent = 63 &- v.leadingZeroBitCount &- 5
    return min(
      (exponent &+ 1) << 5 &+ Int(truncatingIfNeeded: (v >> UInt64(exponent)) & 31), bucketCount &- 1)
  }

  static func middle(of bucket: Int) -> Int64 {
    let bounds = bounds(of: bucket)
    return (bounds.lower + bounds.upper - 1) / 2
  }

  /// A bucket's smallest value, and its exclusive end.
  static func bounds(of bucket: Int) -> (lower: Int64, upper: Int64) {
    func lower(_ index: Int) -> Int64 {
      index < 32 ? Int64(index) : (32 + Int64(index & 31)) << Int64((index >> 5) - 1)
    }
    return (lower(bucket), lower(bucket + 1))
  }

  /// Records a value by its bucket in a `Histogram`, whose buckets are finer.
  @inlinable @inline(__always)
  public mutating func record(histogramBucket fine: Int, row: Int) {
    let bucket = Self.bucket(ofFine: fine)
    if UInt(bitPattern: row &- firstOpen) > UInt(bitPattern: openMask), !opens(row: row, for: bucket) {
      return
    }
    cells[(row & openMask) &* Self.bucketCount &+ bucket] &+= 1
  }

  /// `Histogram` has 128 buckets an octave, so four of them make one here; below 128 µs they are single values.
  @inlinable @inline(__always)
  static func bucket(ofFine fine: Int) -> Int {
    if fine < 128 { return bucket(of: Int64(truncatingIfNeeded: fine)) }
    return min(wideBucket(ofFine: fine), bucketCount &- 1)
  }

  /// Of 128 µs and more, without an end.
  @inlinable @inline(__always)
  static func wideBucket(ofFine fine: Int) -> Int { fine &>> 2 &+ 64 }

  /// Opens a row behind the open ones, and closes the first of these for it. A delivery in a closed row is noted apart: false.
  @usableFromInline @inline(never)
  mutating func opens(row: Int, for bucket: Int) -> Bool {
    if row < firstOpen {
      late.append((UInt32(truncatingIfNeeded: row), UInt32(truncatingIfNeeded: bucket)))
      return false
    }
    let first = row - openMask
    // The rows behind the ring are empty.
    for closing in firstOpen..<first {
      if closing <= firstOpen + openMask {
        Self.takeFull(cells + (closing & openMask) * Self.bucketCount, 0..<Self.bucketCount) {
          closed.add(bucket: $0, events: $1)
        }
      }
      closed.endRow()
    }
    firstOpen = first
    return true
  }

  /// Tables whose sum has all deliveries.
  ///
  /// - Parameter first: the first row.
  package func tables(from first: Int = 0) -> [DeliveryTable.Part] {
    var table = closed.rows(from: first)
    for row in max(first, firstOpen)..<max(first, min(firstOpen + openMask + 1, rows)) {
      Self.forEachFull(cells + (row & openMask) * Self.bucketCount, 0..<Self.bucketCount) {
        table.add(bucket: $0, events: $1)
      }
      table.endRow()
    }
    let parts = [DeliveryTable.Part(table: table, first: first)]
    return late.isEmpty
      ? parts : parts + [DeliveryTable.Part(table: lateTable.rows(from: first), first: first)]
  }

  private var lateTable: DeliveryTable {
    var table = DeliveryTable()
    var events: UInt32 = 0
    let sorted = late.sorted { ($0.row, $0.bucket) < ($1.row, $1.bucket) }
    for (index, one) in sorted.enumerated() {
      while table.rows < Int(one.row) { table.endRow() }
      events += 1
      if index + 1 < sorted.count, sorted[index + 1] == one { continue }
      table.add(bucket: Int(one.bucket), events: events)
      events = 0
    }
    table.endRow()
    return table
  }

  /// Nearly all cells of a row are empty, and lie beside others that are.
  @inline(__always)
  static func forEachFull(
    _ cells: UnsafeMutablePointer<UInt32>, _ buckets: Range<Int>,
    _ body: (_ bucket: Int, _ events: UInt32) -> Void
  ) {
    let raw = UnsafeRawPointer(cells)
    for first in stride(from: buckets.lowerBound & ~31, to: buckets.upperBound, by: 32) {
      let octave = raw + first &* MemoryLayout<UInt32>.stride
      var any: UInt64 = 0
      for pair in 0..<16 { any |= octave.loadUnaligned(fromByteOffset: 8 &* pair, as: UInt64.self) }
      if any == 0 { continue }
      // No branch for each cell, which nothing could predict.
      var full: UInt32 = 0
      for i in 0..<32 { full |= (cells[first &+ i] == 0 ? 0 : 1) &<< UInt32(truncatingIfNeeded: i) }
      while full != 0 {
        let place = first &+ full.trailingZeroBitCount
        body(place, cells[place])
        full &= full &- 1
      }
    }
  }

  /// Empties the cells, too.
  @inline(__always)
  fileprivate static func takeFull(
    _ cells: UnsafeMutablePointer<UInt32>, _ buckets: Range<Int>,
    _ body: (_ bucket: Int, _ events: UInt32) -> Void
  ) {
    forEachFull(cells, buckets) {
      body($0, $1)
      cells[$0] = 0
    }
  }
}

extension IntervalDeliveries {
  package func copy() -> IntervalDeliveries {
    var copy = IntervalDeliveries(rows: rows, openRows: openMask + 1)
    copy.cells.update(from: cells, count: (openMask + 1) * Self.bucketCount)
    (copy.firstOpen, copy.closed, copy.late) = (firstOpen, closed, late)
    return copy
  }

  /// Takes a table in place of its own. Nothing is recorded from then on but what is late.
  mutating func become(_ table: DeliveryTable) {
    cells.update(repeating: 0, count: (openMask + 1) * Self.bucketCount)
    (firstOpen, closed, late) = (rows, table, [])
  }
}

/// How many events were accepted after which time to delivery, interval by interval: `IntervalDeliveries` without its empty cells.
public struct DeliveryTable: Sendable, Hashable {
  package struct Cell: Sendable, Hashable {
    /// As `IntervalDeliveries` has them: 32 an octave.
    package var bucket: Int32
    package var events: UInt32
  }

  /// Row by row, in the order of the buckets.
  private var cells: [Cell] = []
  /// Where each row's cells end.
  private var ends: [Int] = []

  public init() {}

  public init(_ deliveries: borrowing IntervalDeliveries) {
    self.init(sumOf: deliveries.tables(), rows: deliveries.rows)
  }

  public var rows: Int { ends.count }

  package var byteCount: Int {
    cells.count * MemoryLayout<Cell>.stride + ends.count * MemoryLayout<Int>.stride
  }

  /// Empty of a row that it does not have.
  package func cells(ofRow row: Int) -> ArraySlice<Cell> {
    ends.indices.contains(row) ? cells[(row > 0 ? ends[row - 1] : 0)..<ends[row]] : []
  }

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

  mutating func reserve(cells count: Int, rows: Int) {
    cells.reserveCapacity(count)
    ends.reserveCapacity(rows)
  }

  /// A table as a part of a sum.
  package struct Part {
    package var table: DeliveryTable
    /// Where its first row belongs.
    package var first = 0
    /// Whether others have its events, from whom they are taken.
    package var isTakenAway = false

    package init(table: DeliveryTable, first: Int = 0, isTakenAway: Bool = false) {
      (self.table, self.first, self.isTakenAway) = (table, first, isTakenAway)
    }

    fileprivate func cells(ofRow row: Int) -> ArraySlice<Cell> { table.cells(ofRow: row - first) }
  }

  /// The sum of tables. O(rows · parts + cells).
  package init(sumOf parts: [Part], rows: Int) {
    self.init()
    if parts.count == 1, parts[0].first == 0 {
      self = parts[0].table
      if self.rows < rows { ends.reserveCapacity(rows) }
      while self.rows < rows { endRow() }
      return
    }
    reserve(cells: parts.reduce(0) { $0 + $1.table.cells.count }, rows: rows)
    let sums = UnsafeMutablePointer<UInt32>.allocate(capacity: IntervalDeliveries.bucketCount)
    sums.initialize(repeating: 0, count: IntervalDeliveries.bucketCount)
    defer { sums.deallocate() }
    for row in 0..<rows {
      defer { endRow() }
      guard let first = parts.firstIndex(where: { !$0.cells(ofRow: row).isEmpty }) else { continue }
      if parts[(first + 1)...].contains(where: { !$0.cells(ofRow: row).isEmpty }) {
        addSum(of: parts, row, sums)
      } else {
        assert(!parts[first].isTakenAway, "nobody has the events that are taken away")
        cells += parts[first].cells(ofRow: row)
      }
    }
  }

  /// - Parameter sums: zeros, before and after.
  private mutating func addSum(of parts: [Part], _ row: Int, _ sums: UnsafeMutablePointer<UInt32>) {
    var (low, high) = (IntervalDeliveries.bucketCount, 0)
    for part in parts {
      for cell in part.cells(ofRow: row) {
        let place = Int(cell.bucket)
        (low, high) = (min(low, place), max(high, place + 1))
        sums[place] = part.isTakenAway ? sums[place] &- cell.events : sums[place] &+ cell.events
      }
    }
    IntervalDeliveries.takeFull(sums, low..<high) { add(bucket: $0, events: $1) }
  }

  /// The rows from `first` on.
  func rows(from first: Int) -> DeliveryTable {
    if first <= 0 { return self }
    var part = DeliveryTable()
    if first >= rows { return part }
    let start = ends[first - 1]
    part.cells = Array(cells[start...])
    part.ends = ends[first...].map { $0 - start }
    return part
  }
}

/// The buckets of `Histogram` as a flat block that a hot loop can count into.
public struct DeliveryRecorder: ~Copyable {
  @usableFromInline let counts: UnsafeMutablePointer<Int64>

  public init() {
    counts = .allocate(capacity: Histogram.bucketCount)
    counts.initialize(repeating: 0, count: Histogram.bucketCount)
  }

  deinit { counts.deallocate() }

  /// Records `value`: microseconds, 0 … 2^62. Returns its bucket.
  @inlinable @inline(__always)
  public func record(_ value: Int64) -> Int {
    let bucket = Histogram.bucket(of: value)
    counts[bucket] &+= 1
    return bucket
  }

  /// - `counters`: where the recorder's owner has added the values up by interval (`timeToDeliverySum`).
  /// - `maximum`: the largest value.
  public func merge(
    into histogram: inout Histogram, sums counters: borrowing IntervalCounters<DeviceSide>, maximum: Int64
  ) {
    var sum: Int128 = 0
    for row in 0..<counters.rows { sum += Int128(counters[row, .timeToDeliverySum]) }
    histogram.add(counts: counts, sum: sum, maximum: maximum)
  }
}

extension DeliveryRecorder {
  package func copy() -> DeliveryRecorder {
    let copy = DeliveryRecorder()
    copy.counts.update(from: counts, count: Histogram.bucketCount)
    return copy
  }
}
