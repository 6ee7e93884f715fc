#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The side of a run that counts, with a table of its own.
public protocol CountingSide {
  static var first: Measure { get }
  static var last: Measure { get }
}

extension CountingSide {
  @usableFromInline static var columns: Int { last.rawValue - first.rawValue + 1 }
  package static var measures: ArraySlice<Measure> { Measure.allCases[first.rawValue...last.rawValue] }
}

public enum DeviceSide: CountingSide {
  @inlinable public static var first: Measure { .createdEvents }
  @inlinable public static var last: Measure { .unknownOutcomes }
}

public enum ServerSide: CountingSide {
  @inlinable public static var first: Measure { .firstAttempts }
  @inlinable public static var last: Measure { .proxyRetries }
}

/// A table of whole-number counters, a row an interval and a column a measure of its side, in one flat block of zeroed memory.
/// For gauges it holds the changes.
///
/// Counting is one addition. Tables of shards are added up in any order, because integers are.
public struct IntervalCounters<Side: CountingSide>: ~Copyable {
  public let rows: Int
  @usableFromInline let columns: Int
  @usableFromInline let cells: UnsafeMutablePointer<Int64>

  public init(rows: Int) {
    self.rows = max(rows, 1)
    columns = Side.columns
    cells = .allocate(capacity: self.rows * columns)
    cells.initialize(repeating: 0, count: self.rows * columns)
  }

  deinit { cells.deallocate() }

  /// Bytes of a row, all of which are touched.
  package static var bytesPerRow: Int { Side.columns * MemoryLayout<Int64>.stride }

  @inlinable
  public func add(_ n: Int64, to measure: Measure, row: Int) { self[row][measure] &+= n }

  @inlinable
  public subscript(row: Int, measure: Measure) -> Int64 { self[row][measure] }

  @inlinable @inline(__always)
  public subscript(row: Int) -> CounterRow<Side> { CounterRow(cells: cells + row &* columns) }

  public func merge(into total: borrowing IntervalCounters) {
    for i in 0..<rows * columns { total.cells[i] &+= cells[i] }
  }

  /// Over all rows, by column.
  func columnSums() -> [Int64] {
    var sums = [Int64](repeating: 0, count: columns)
    sums.withUnsafeMutableBufferPointer { sums in
      guard let sums = sums.baseAddress else { return }
      var row = cells
      for _ in 0..<rows {
        for column in 0..<columns { sums[column] &+= row[column] }
        row += columns
      }
    }
    return sums
  }
}

/// A row of `IntervalCounters`; not to be kept beyond their life.
public struct CounterRow<Side: CountingSide> {
  @usableFromInline let cells: UnsafeMutablePointer<Int64>

  @inlinable @inline(__always)
  init(cells: UnsafeMutablePointer<Int64>) { self.cells = cells }

  @inlinable @inline(__always)
  public subscript(measure: Measure) -> Int64 {
    get { cells[place(of: measure)] }
    nonmutating set { cells[place(of: measure)] = newValue }
  }

  @inlinable @inline(__always)
  func place(of measure: Measure) -> Int {
    assert(measure.rawValue >= Side.first.rawValue && measure.rawValue <= Side.last.rawValue)
    return measure.rawValue &- Side.first.rawValue
  }
}

/// Times to delivery by interval, in coarse buckets: 32 an octave, so that a percentile is known within 1.6 %.
///
/// Memory is reserved for all rows but only touched pages count: some 4 KB a row in practice.
public struct IntervalDeliveries: ~Copyable {
  @inlinable static var subBucketBits: Int { 5 }
  @inlinable static var bucketCount: Int { 40 << 5 }

  public let rows: Int
  @usableFromInline let cells: UnsafeMutablePointer<UInt32>

  public init(rows: Int) {
    self.rows = max(rows, 1)
    // Fresh memory from the system is zero without being touched.
    let raw = zeroedMemory(byteCount: self.rows * Self.bytesPerRow)
    cells = raw.bindMemory(to: UInt32.self, capacity: self.rows * Self.bucketCount)
  }

  deinit { releaseZeroedMemory(cells) }

  /// Bytes reserved for a row; only touched pages count.
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
  public func record(histogramBucket fine: Int, row: Int) {
    cells[row &* Self.bucketCount &+ Self.bucket(ofFine: fine)] &+= 1
  }

  /// `Histogram` has 128 buckets an octave, so four of them make one here; below 128 µs they are single values.
  @inlinable @inline(__always)
  static func bucket(ofFine fine: Int) -> Int {
    if fine < 128 { return bucket(of: Int64(truncatingIfNeeded: fine)) }
    return min(fine &>> 2 &+ 64, bucketCount &- 1)
  }

  public func merge(into total: borrowing IntervalDeliveries) {
    Self.forEachFull(cells, count: rows * Self.bucketCount) { total.cells[$0] &+= $1 }
  }

  /// The buckets of one row that are not empty, in their order.
  func forEachBucket(ofRow row: Int, _ body: (_ bucket: Int, _ events: UInt32) -> Void) {
    Self.forEachFull(cells + row * Self.bucketCount, count: Self.bucketCount, body)
  }

  /// Nearly all cells of a row are empty, and lie beside others that are.
  @inline(__always)
  private static func forEachFull(
    _ cells: UnsafeMutablePointer<UInt32>, count: Int, _ body: (_ place: Int, _ events: UInt32) -> Void
  ) {
    let raw = UnsafeRawPointer(cells)
    for first in stride(from: 0, to: count, by: 8) {
      let eight = raw + first &* MemoryLayout<UInt32>.stride
      var any: UInt64 = 0
      for pair in 0..<4 { any |= eight.loadUnaligned(fromByteOffset: 8 &* pair, as: UInt64.self) }
      if any == 0 { continue }
      for place in first..<first + 8 where cells[place] != 0 { body(place, cells[place]) }
    }
  }
}

/// The buckets of `Histogram` as a flat block that a hot loop can count into.
public struct DeliveryRecorder: ~Copyable {
  @usableFromInline let counts: UnsafeMutablePointer<Int64>
  @usableFromInline var maximum: Int64 = 0

  public init() {
    counts = .allocate(capacity: Histogram.bucketCount)
    counts.initialize(repeating: 0, count: Histogram.bucketCount)
  }

  deinit { counts.deallocate() }

  /// Records `value`: microseconds, 0 … 2^62. Returns its bucket.
  @inlinable @inline(__always)
  public mutating func record(_ value: Int64) -> Int {
    let bucket = Histogram.bucket(of: value)
    counts[bucket] &+= 1
    if value > maximum { maximum = value }
    return bucket
  }

  /// - `counters`: where the recorder's owner has added the values up by interval (`timeToDeliverySum`).
  public func merge(into histogram: inout Histogram, sums counters: borrowing IntervalCounters<DeviceSide>) {
    // In base 2^62, as `Histogram` keeps it.
    var (high, low): (Int64, Int64) = (0, 0)
    for row in 0..<counters.rows {
      let sum = counters[row, .timeToDeliverySum]
      low += sum & (1 << 62 - 1)
      high += sum >> 62 + low >> 62
      low &= 1 << 62 - 1
    }
    histogram.add(counts: counts, sumHigh: high, sumLow: low, maximum: maximum)
  }
}

/// How many events were accepted after which time to delivery, interval by interval: `IntervalDeliveries` without its empty cells.
public struct DeliveryTable: Sendable, Hashable {
  package struct Cell: Sendable, Hashable {
    /// As `IntervalDeliveries` has them: 32 an octave.
    var bucket: Int32
    package var events: UInt32
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

  package func cells(ofRow row: Int) -> ArraySlice<Cell> { cells[(row > 0 ? ends[row - 1] : 0)..<ends[row]] }

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

/// Copies of what a run counts into, so that runs which begin alike need to be begun only once.
extension IntervalCounters {
  package func copy() -> IntervalCounters {
    let copy = IntervalCounters(rows: rows)
    copy.cells.update(from: cells, count: rows * columns)
    return copy
  }

  /// Counts nothing of a measure so far.
  package func clear(_ measure: Measure) {
    for row in 0..<rows { self[row][measure] = 0 }
  }
}

extension IntervalDeliveries {
  package func copy() -> IntervalDeliveries {
    let copy = IntervalDeliveries(rows: rows)
    merge(into: copy)
    return copy
  }
}

extension DeliveryRecorder {
  package func copy() -> DeliveryRecorder {
    var copy = DeliveryRecorder()
    copy.counts.update(from: counts, count: Histogram.bucketCount)
    copy.maximum = maximum
    return copy
  }
}

/// Zeroed memory whose pages cost nothing until they are written.
func zeroedMemory(byteCount: Int) -> UnsafeMutableRawPointer {
  guard let memory = calloc(byteCount, 1) else {
    fatalError("out of memory: \(byteCount) bytes for a time series")
  }
  return memory
}

func releaseZeroedMemory(_ memory: UnsafeMutableRawPointer) { free(memory) }
