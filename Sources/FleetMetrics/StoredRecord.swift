/// A run's record as lines of text, and back without loss.
///
/// One line a quantity: its name, then its values, repeated ones as `value*times`. So columns that stay
/// at nought cost nothing, and a record of other columns than this program's is told from one that is damaged. What became of each
/// cohort apart (`RunRecord.cohorts`) is not kept, nor whether a limit was reached, which only searches ask for.
public enum StoredRecord {
  /// What was wrong with a text, without a place: nobody writes it by hand.
  public struct Problem: Error, Hashable, CustomStringConvertible {
    public var description: String
    package init(description: String) { self.description = description }
  }

  /// The lines, each ending in a line feed. O(rows).
  public static func bytes(of record: RunRecord) -> [UInt8] {
    var writer = StoredLines.Writer()
    for scalar in scalars { writer.line(scalar.name, CollectionOfOne(record[keyPath: scalar.path])) }
    writer.spans(record.incidents, actions: record.actions)
    writer.line(deliveryTotalsName, record.deliveries.totals)
    writer.line(deliveriesName, record.deliveries.counts)
    let table = record.deliveryTable
    writer.line(tableRowsName, (0..<table.rows).lazy.map { Int64(table.cells(ofRow: $0).count) })
    writer.line(tableBucketsName, table.cells.lazy.map { Int64($0.bucket) })
    writer.line(tableEventsName, table.cells.lazy.map { Int64($0.events) })
    writer.line(offeredName, record.offeredPer100ms.lazy.map(Int64.init))
    writer.line(rowsName, CollectionOfOne(Int64(record.series.rows.count)))
    for measure in Measure.allCases {
      writer.line("\(measure)", record.series.rows.lazy.map { $0[measure] })
    }
    return writer.bytes
  }

  /// The record that `bytes(of:)` made `bytes` of. O(rows).
  public static func record(_ bytes: ArraySlice<UInt8>) throws(Problem) -> RunRecord {
    var reader = StoredLines.Reader(bytes)
    var record = RunRecord.empty
    for scalar in scalars { record[keyPath: scalar.path] = try reader.value(scalar.name) }
    (record.incidents, record.actions) = try reader.spans()
    let totals = try reader.values(deliveryTotalsName, count: 3)
    let counts = try reader.values(deliveriesName, count: Histogram.bucketCount)
    guard let deliveries = Histogram(counts: counts, totals: totals) else {
      throw Problem(description: "'\(deliveriesName)' holds a negative count")
    }
    record.deliveries = deliveries
    record.deliveryTable = try table(&reader)
    for value in try reader.values(offeredName, atMost: Int(Int32.max)) {
      guard let value = UInt32(exactly: value) else {
        throw Problem(description: "'\(offeredName)' holds \(value), which is no count of attempts")
      }
      record.offeredPer100ms.append(value)
    }
    let rows = try reader.count(rowsName, atMost: 1_000_000)
    record.series = TimeSeries(
      interval: record.series.interval, duration: record.series.duration, rows: rows)
    for measure in Measure.allCases {
      for (row, value) in try reader.values("\(measure)", count: rows).enumerated() {
        record.series[row, measure] = value
      }
    }
    try reader.end()
    return record
  }

  private static func table(_ reader: inout StoredLines.Reader) throws(Problem) -> DeliveryTable {
    let lengths = try reader.values(tableRowsName, atMost: 1_000_000)
    var total = 0
    for length in lengths {
      guard length >= 0, length <= IntervalDeliveries.bucketCount else {
        throw Problem(description: "'\(tableRowsName)' holds \(length), which is no number of buckets")
      }
      total += Int(length)
    }
    let buckets = try reader.values(tableBucketsName, count: total)
    let events = try reader.values(tableEventsName, count: total)
    var table = DeliveryTable()
    var next = 0
    for length in lengths {
      for _ in 0..<length {
        guard (0..<Int64(IntervalDeliveries.bucketCount)).contains(buckets[next]),
          let count = UInt32(exactly: events[next])
        else {
          throw Problem(description: "'\(tableEventsName)' holds a bucket or count that there cannot be")
        }
        table.add(bucket: Int(buckets[next]), events: count)
        next += 1
      }
      table.endRow()
    }
    return table
  }

  // MARK: What there is

  private typealias Path<Root> = any WritableKeyPath<Root, Int64> & Sendable

  private static let deliveryTotalsName = "deliveryTotals"
  private static let deliveriesName = "deliveries"
  private static let tableRowsName = "deliveryTable.rows"
  private static let tableBucketsName = "deliveryTable.buckets"
  private static let tableEventsName = "deliveryTable.events"
  private static let offeredName = "offeredPer100ms"
  private static let rowsName = "rows"

  private static let scalars: [(name: String, path: Path<RunRecord>)] = [
    ("interval", \.series.interval), ("duration", \.series.duration),
    ("nominalCapacityMilli", \.nominalCapacityMilli), ("devices", \.devices),
    ("longestFlushInterval", \.longestFlushInterval),
    ("cost.attempts", \.cost.attempts), ("cost.bytes", \.cost.bytes),
    ("cost.radioWakeUps", \.cost.radioWakeUps), ("cost.attemptsP99", \.cost.attemptsP99),
    ("cost.bytesP99", \.cost.bytesP99), ("cost.radioWakeUpsP99", \.cost.radioWakeUpsP99),
    ("cost.devicesThatLostEvents", \.cost.devicesThatLostEvents),
    ("acceptedUnconfirmedEvents", \.acceptedUnconfirmedEvents),
  ]
}

extension RunRecord {
  fileprivate static var empty: RunRecord {
    RunRecord(
      series: TimeSeries(interval: 0, duration: 0, rows: 0), deliveries: Histogram(), offeredPer100ms: [],
      nominalCapacityMilli: 0, incidents: [], devices: 0, longestFlushInterval: 0, cost: DeviceCost())
  }
}
