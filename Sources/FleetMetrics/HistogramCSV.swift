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
      "upper_s", "s", "End of the bucket; not part of it. Buckets are at most 0.8 % wide."
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

  /// Writes the whole file to `output`.
  public static func write(_ histogram: Histogram, to output: inout some TextOutputStream) {
    output.write(String(decoding: bytes(of: histogram), as: UTF8.self))
  }
}
