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
  @inlinable public static var last: Measure { .closedAppEvents }
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

  /// By column, over all rows or those before one.
  func columnSums(before end: Int? = nil) -> [Int64] {
    var sums = [Int64](repeating: 0, count: columns)
    sums.withUnsafeMutableBufferPointer { sums in
      guard let sums = sums.baseAddress else { return }
      var row = cells
      for _ in 0..<(end ?? rows) {
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
