import FleetMetrics
import FleetStatistics

/// The quantities that the curves of a report show of a run, cut into a few columns.
public enum CurveQuantity: Int, CaseIterable, Sendable {
  /// Attempts per second.
  case offered
  /// Batches accepted for the first time per second.
  case goodput
  /// Events created and neither accepted nor dropped.
  case backlog
  /// Of the runs without the incidents.
  case twinBacklog
  /// What waits outside closed apps, beyond what does so without the incidents.
  case aboveNormal
}

struct CurveSample: Sendable {
  var record: RunFacts
  /// By quantity and column; rates per second and events.
  var columns: [[Double?]]

  init(_ run: RunRecord, twin: RunRecord) {
    let series = run.series
    let count = min(VariantCurves.columns, series.rows.count)
    record = RunFacts(run, columns: count)
    columns = CurveQuantity.allCases.map { quantity in
      (0..<count).map { Self.mean(quantity, series, twin.series, column: $0, of: count) }
    }
  }

  // MARK: Stored

  private static let facts = "facts"
  private static let capacity = "capacity"

  func write(to writer: inout StoredLines.Writer) {
    writer.line(
      Self.facts, [record.duration, record.interval, record.devices, record.nominalCapacityMilli])
    writer.line(Self.capacity, record.capacity.lazy.flatMap(\.stored))
    writer.spans(record.incidents, actions: record.actions)
    for (quantity, values) in zip(CurveQuantity.allCases, columns) {
      writer.line("\(quantity)", values.lazy.map { $0 == nil ? 0 : 1 })
      writer.line("\(quantity)", values.lazy.flatMap { $0.stored })
    }
  }

  init(_ reader: inout StoredLines.Reader) throws(StoredRecord.Problem) {
    func decimals(_ values: [Int64]) -> [Double] { values.compactMap { Double(stored: [$0]) } }
    let facts = try reader.values(Self.facts, count: 4)
    let capacity = decimals(try reader.values(Self.capacity, atMost: VariantCurves.columns))
    let (incidents, actions) = try reader.spans()
    record = RunFacts(
      duration: facts[0], interval: facts[1], devices: facts[2], nominalCapacityMilli: facts[3],
      capacity: capacity, incidents: incidents, actions: actions)
    columns = []
    for quantity in CurveQuantity.allCases {
      let isThere = try reader.values("\(quantity)", count: capacity.count)
      var known = decimals(try reader.values("\(quantity)", count: isThere.count { $0 != 0 })).makeIterator()
      columns.append(isThere.map { $0 == 0 ? nil : known.next() })
    }
  }

  private static func mean(
    _ quantity: CurveQuantity, _ series: TimeSeries, _ twin: TimeSeries, column: Int, of count: Int
  ) -> Double? {
    let range = VariantCurves.rows(of: column, of: count, in: series.rows.count)
    let withTwin = range.prefix { $0 < twin.rows.count }
    func sum(_ rows: some Sequence<Int>, _ value: (Int) -> Int64) -> Double {
      Double(rows.reduce(0) { $0 + value($1) })
    }
    func rate(_ batches: (TimeSeries.Row) -> Int64) -> Double? {
      let length = sum(range) { series.length(of: $0) }
      return length > 0 ? sum(range) { batches(series.rows[$0]) } * 1e6 / length : nil
    }
    func mean(_ sum: Double) -> Double? { range.isEmpty ? nil : sum / Double(range.count) }
    return switch quantity {
    case .offered: rate(\.attempts)
    case .goodput: rate { $0[.acceptedBatches] }
    case .backlog: mean(sum(range) { series[$0, .backlogEvents] })
    case .twinBacklog: mean(sum(withTwin) { twin[$0, .backlogEvents] })
    case .aboveNormal:
      mean(sum(range) { series.rows[$0].openBacklog } - sum(withTwin) { twin.rows[$0].openBacklog })
    }
  }
}

/// The facts that all replications of a variant have in common.
public struct RunFacts: Sendable, Hashable {
  public var duration: Int64
  /// Width of a row of the time series.
  public var interval: Int64
  public var devices: Int64
  public var nominalCapacityMilli: Int64
  /// Requests per second that could have been served, incidents included, by column.
  public var capacity: [Double]
  /// Those that happen within the run.
  public var incidents: [IncidentSpan]
  /// The operators' actions.
  public var actions: [IncidentSpan]
  package var shaded: [IncidentSpan] { incidents + actions }
  /// `RunSummary.scale`, where it is known.
  package var scale: Int64 = 1
  package var fullSizeDevices: Int64 { devices * scale }
  /// Nominal, requests per second.
  package var fullSizeCapacity: Double { Double(nominalCapacityMilli) / 1_000 * Double(scale) }
}

extension RunFacts {
  package init(_ record: RunRecord, columns: Int) {
    let series = record.series
    duration = series.duration
    interval = series.interval
    devices = record.devices
    nominalCapacityMilli = record.nominalCapacityMilli
    incidents = record.incidents.filter { $0.start < series.duration }
    actions = record.actions
    capacity = (0..<columns).map { column in
      let rows = VariantCurves.rows(of: column, of: columns, in: series.rows.count)
      let sum = rows.reduce(Int64(0)) { $0 + series.rows[$1][.capacityMilliRequests] }
      let length = rows.reduce(Int64(0)) { $0 + series.length(of: $1) }
      return length > 0 ? Double(sum) * 1e3 / Double(length) : 0
    }
  }
}

/// The mean curves of a variant over its replications with 95 % bands, from running sums: memory does not grow with the
/// number of replications. A band holds the expected value at each time by itself, not of the whole curve at once.
public struct VariantCurves: Sendable {
  /// Mean and band of one column; nil where no run has a value, no band of a single one.
  public struct Point: Sendable, Hashable {
    public var mean: Double
    public var low: Double
    public var high: Double

    package init(mean: Double, low: Double, high: Double) {
      (self.mean, self.low, self.high) = (mean, low, high)
    }
  }

  /// A run is cut into as many columns, if it has as many rows.
  static let columns = 300

  public let name: String
  /// The facts of the first replication; nil before there is one.
  public private(set) var facts: RunFacts?
  /// By quantity and column.
  private var samples: [[SampleStatistics]] = []

  init(name: String) { self.name = name }

  mutating func add(_ sample: CurveSample) {
    facts = facts ?? sample.record
    if samples.isEmpty { samples = sample.columns.map { Array(repeating: .init(), count: $0.count) } }
    for (quantity, columns) in sample.columns.enumerated() {
      for (column, value) in columns.enumerated() where column < samples[quantity].count {
        if let value { samples[quantity][column].add(value) }
      }
    }
  }

  /// By column; empty before there is a replication.
  public subscript(quantity: CurveQuantity) -> [Point?] {
    guard quantity.rawValue < samples.count else { return [] }
    return samples[quantity.rawValue].map { sample in
      guard sample.count > 0 else { return nil }
      let halfWidth = ConfidenceInterval(sample)?.halfWidth ?? 0
      return Point(mean: sample.mean, low: sample.mean - halfWidth, high: sample.mean + halfWidth)
    }
  }

  static func rows(of column: Int, of columns: Int, in rows: Int) -> Range<Int> {
    rows * column / columns..<rows * (column + 1) / columns
  }
}
