/// The course of one run, interval by interval. Whole numbers only; rates are formed when a row is written or drawn.
public struct TimeSeries: Sendable, Hashable {
  /// Width of a row, microseconds. The last row may be cut by the end of the run.
  public var interval: Int64
  /// Length of the run, microseconds.
  public var duration: Int64
  /// Row after row, a cell for each measure.
  private var cells: [Int64]

  /// `rows` intervals in which nothing happened.
  public init(interval: Int64, duration: Int64, rows: Int) {
    self.interval = interval
    self.duration = duration
    cells = Array(repeating: 0, count: rows * Measure.count)
  }

  /// Forgets what lies after `time`, microseconds; the first interval stays.
  public mutating func cut(after time: Int64) {
    if time >= duration { return }
    duration = max(time, 1)
    cells.removeLast(cells.count - Int((duration + interval - 1) / interval) * Measure.count)
  }

  package static var bytesPerRow: Int { Measure.count * MemoryLayout<Int64>.stride }

  /// Start of row `index`, microseconds.
  public func start(of index: Int) -> Int64 { Int64(index) * interval }
  /// Length of row `index`, microseconds.
  public func length(of index: Int) -> Int64 { min(interval, duration - start(of: index)) }

  public subscript(row: Int, measure: Measure) -> Int64 {
    get { cells[row * Measure.count + measure.rawValue] }
    set { cells[row * Measure.count + measure.rawValue] = newValue }
  }

  /// Takes what one side of the run counted; gauges become the sums of their changes.
  public mutating func take<Side>(_ counters: borrowing IntervalCounters<Side>) {
    for measure in Side.measures {
      let isGauge = measure.kind == .gauge
      for row in 0..<counters.rows {
        self[row, measure] = counters[row, measure] + (isGauge && row > 0 ? self[row - 1, measure] : 0)
      }
    }
  }

  public var totals: MeasureTotals {
    var totals = MeasureTotals()
    for measure in Measure.allCases {
      switch measure.kind {
      case .count: totals[measure] = rows.reduce(0) { $0 + $1[measure] }
      case .gauge: totals[measure] = rows.last?[measure] ?? 0
      case .ofInterval: break
      }
    }
    return totals
  }

  public var rows: Rows { Rows(series: self) }

  public struct Rows: RandomAccessCollection, Sendable {
    fileprivate let series: TimeSeries
    public var startIndex: Int { 0 }
    public var endIndex: Int { series.cells.count / Measure.count }
    public subscript(index: Int) -> Row { Row(series: series, index: index) }
  }

  /// One interval.
  public struct Row: Measured {
    fileprivate let series: TimeSeries
    fileprivate let index: Int

    /// Microseconds since the start of the run.
    public var start: Int64 { series.start(of: index) }
    /// Microseconds; the last interval may be cut by the end of the run.
    public var length: Int64 { series.length(of: index) }
    public subscript(measure: Measure) -> Int64 { series[index, measure] }
    /// The percentile of the times to delivery of the events first accepted here, microseconds; nil where there are none.
    public var timeToDeliveryP50: Int64? { self[.deliveredEvents] > 0 ? self[.timeToDeliveryP50] : nil }
    public var timeToDeliveryP95: Int64? { self[.deliveredEvents] > 0 ? self[.timeToDeliveryP95] : nil }
    public var timeToDeliveryP99: Int64? { self[.deliveredEvents] > 0 ? self[.timeToDeliveryP99] : nil }
    /// Events that wait at its end but for those in closed apps, which nobody can deliver.
    package var openBacklog: Int64 { self[.backlogEvents] - self[.closedAppEvents] }
  }
}

/// `timeseries.csv`: one row per interval.
public enum TimeSeriesCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<TimeSeries.Row>] =
    [.init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.start) }]
    + measures(.capacityMilliRequests, .capacityMilliRequests) + [offered]
    + measures(.firstAttempts, .timeouts) + [utilisation]
    + measures(.serverQueue, .inFlight) + delivery
    + measures(.refusedByGate, .unknownOutcomes) + [delivery95] + measures(.answers401)

  private static func measures(_ first: Measure, _ last: Measure? = nil) -> [CSVColumn<TimeSeries.Row>] {
    Measure.declared(in: .series, first, last).map { $0.seriesColumn }
  }

  private static let offered = CSVColumn<TimeSeries.Row>(
    "offered_rps", "requests/s",
    "Upload attempts that reach the server, retries of proxies among them."
  ) { .rate($0.attempts, per: $0.length) }

  private static let utilisation = CSVColumn<TimeSeries.Row>(
    "utilisation_ratio", "1",
    "Share of the server's time in use; a burst can take a bucket above 1."
  ) {
    DecimalText.rounded($0[.busyMicroseconds], times: 1_000, over: $0[.availableMicroseconds])
      .map { .fixed($0, decimals: 3) } ?? .empty
  }

  private static let delivery: [CSVColumn<TimeSeries.Row>] = [
    .delivery("mean", "of the events accepted here: mean, empty if there are none") {
      $0[.deliveredEvents] > 0 ? $0[.timeToDeliverySum] / $0[.deliveredEvents] : nil
    },
    .delivery("p50", "of the events accepted here: median") { $0.timeToDeliveryP50 },
    .delivery("p99", "of the events accepted here: 99th percentile") { $0.timeToDeliveryP99 },
  ]

  private static let delivery95 = CSVColumn<TimeSeries.Row>.delivery(
    "p95", "of the events accepted here: 95th percentile"
  ) { $0.timeToDeliveryP95 }

  /// The whole file.
  public static func bytes(of series: TimeSeries) -> [UInt8] { CSVFile.bytes(columns, series.rows) }

  /// The whole file, with `Synchrony` as a last column where flush phases change.
  public static func bytes(of record: RunRecord) -> [UInt8] {
    record.synchronyPeriod > 0
      ? CSVFile.bytes(columns + [synchrony(of: record)], record.series.rows) : bytes(of: record.series)
  }
}
