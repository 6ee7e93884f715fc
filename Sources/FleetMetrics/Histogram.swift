/// A mergeable log-linear histogram of non-negative microseconds: 128 buckets an octave, so a value is known
/// within 0.8 %.
///
/// Values below 128 µs are exact. Memory: 5,248 counters (42 KB). Recording is O(1), quantiles O(buckets).
public struct Histogram: Sendable, Hashable {
  public static let subBucketBits = 7
  public private(set) var counts: [Int64]
  /// Ten million devices with an hour's delays are more than 64 bits of microseconds.
  private var wideSum: Int128 = 0
  public private(set) var maximum: Int64 = 0
  public private(set) var total: Int64 = 0

  public init() { counts = [Int64](repeating: 0, count: Self.bucketCount) }

  /// Exact sum of the recorded values, microseconds; `Int64.max` where it is more than that (`mean` stays
  /// right).
  public var sum: Int64 { Int64(clamping: wideSum) }

  public static let bucketCount = 41 << subBucketBits

  /// The bucket of `value`: values below 2^8 have a bucket each, above that each octave has 128.
  ///
  /// Negative values count as 0; values from 2^47 µs (4.4 years) on share the last bucket.
  @inlinable
  public static func bucket(of value: Int64) -> Int {
    let v = UInt64(truncatingIfNeeded: max(value, 0))
    if v < 128 { return Int(truncatingIfNeeded: v) }
    let exponent = 63 &- v.leadingZeroBitCount &- 7
    return min((exponent &+ 1) << 7 &+ Int(truncatingIfNeeded: (v >> UInt64(exponent)) & 127), (41 << 7) &- 1)
  }

  /// The smallest value of bucket `index`; `lowerBound(of: index + 1)` is the bucket's exclusive end.
  public static func lowerBound(of index: Int) -> Int64 {
    if index < 128 { return Int64(index) }
    let exponent = (index >> 7) - 1
    return (128 + Int64(index & 127)) << Int64(exponent)
  }

  /// Records `value` (microseconds, not negative) `count` times. O(1).
  public mutating func record(_ value: Int64, count: Int64 = 1) {
    precondition(value >= 0 && count >= 0, "a histogram holds non-negative values")
    counts[Self.bucket(of: value)] += count
    wideSum += Int128(value) * Int128(count)
    total += count
    maximum = max(maximum, value)
  }

  /// Adds counts recorded elsewhere with the same buckets.
  mutating func add(counts other: UnsafePointer<Int64>, sum: Int128, maximum: Int64) {
    for i in 0..<Self.bucketCount {
      counts[i] += other[i]
      total += other[i]
    }
    wideSum += sum
    self.maximum = max(self.maximum, maximum)
  }

  public mutating func merge(_ other: Histogram) {
    other.counts.withUnsafeBufferPointer {
      add(counts: $0.baseAddress!, sum: other.wideSum, maximum: other.maximum)
    }
  }

  /// The middle of the bucket that holds the `numerator`/`denominator` quantile, at most `maximum`; nil if
  /// empty.
  ///
  /// The quantile is the smallest recorded value that at least this share of all values does not exceed.
  /// - `numerator`: 0 … `denominator`; 0 gives the smallest value, `denominator` the largest.
  public func quantile(_ numerator: Int64, of denominator: Int64) -> Int64? {
    guard total > 0 else { return nil }
    precondition((0...denominator).contains(numerator) && denominator > 0, "a quantile is a share")
    // The rank is the smallest k with k >= q * total, at least 1; the product may need more than 64 bits.
    let (quotient, remainder) = denominator.dividingFullWidth(total.multipliedFullWidth(by: numerator))
    let rank = remainder > 0 || quotient == 0 ? quotient + 1 : quotient
    var seen: Int64 = 0
    for (i, c) in counts.enumerated() where c > 0 {
      seen += c
      if seen >= rank {
        let lower = Self.lowerBound(of: i)
        return min((lower + Self.lowerBound(of: i + 1) - 1) / 2, maximum)
      }
    }
    return maximum
  }

  /// Arithmetic mean of the exact sum, microseconds; nil if empty.
  public var mean: Double? { total > 0 ? Double(wideSum) / Double(total) : nil }
}

/// `delivery_histogram.csv`: time to delivery of every event of the run, one row per bucket that is not
/// empty.
public enum HistogramCSV {
  /// A bucket with events in it.
  public struct Bucket: Sendable {
    /// Smallest value, microseconds.
    public var lower: Int64
    /// Exclusive end, microseconds.
    public var upper: Int64
    public var events: Int64
    /// Events in this bucket and the ones before.
    public var cumulativeEvents: Int64
    public var total: Int64
  }

  /// The file's columns in order.
  public static let columns: [CSVColumn<Bucket>] = [
    .init("lower_s", "s", "Smallest time to delivery of the bucket.") { .seconds($0.lower) },
    .init(
      "upper_s", "s", "End of the bucket, outside of it; at most 0.8 % on."
    ) { .seconds($0.upper) },
    .init("events", "events", "Events delivered after such a time.") { .integer($0.events) },
    .init(
      "cumulative_share_ratio", "1",
      "Share of delivered events up to here, rounded down: 1 in the last row only."
    ) {
      DecimalText.floored($0.cumulativeEvents, times: 1_000_000, over: $0.total).map {
        .fixed($0, decimals: 6)
      }
        ?? .empty
    },
  ]

  /// The buckets that are not empty, in order. O(buckets).
  public static func buckets(of histogram: Histogram) -> [Bucket] {
    var seen: Int64 = 0
    var buckets: [Bucket] = []
    for (i, count) in histogram.counts.enumerated() where count > 0 {
      seen += count
      buckets.append(
        Bucket(
          lower: Histogram.lowerBound(of: i), upper: Histogram.lowerBound(of: i + 1), events: count,
          cumulativeEvents: seen, total: histogram.total))
    }
    return buckets
  }

  /// The whole file.
  public static func bytes(of histogram: Histogram) -> [UInt8] {
    CSVFile.bytes(columns, buckets(of: histogram))
  }
}
