import FleetMetrics
import TestSupport
import Testing

@Suite("Stored records")
struct StoredRecordTests {
  @Test("a record of any numbers comes back as it was")
  func roundTrip() throws {
    for seed in 1...50 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let record = Self.anything(&random)
      let bytes = StoredRecord.bytes(of: record)
      #expect(try StoredRecord.record(bytes[...]) == record, "seed \(seed)")
    }
  }

  /// A property that the text does not hold would be lost in a sweep, and no other test would see it.
  @Test("every stored property of a record is written")
  func completeness() {
    func properties(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
    let text = String(decoding: StoredRecord.bytes(of: record(backlogs: [1])), as: UTF8.self)
    let names = text.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
    let rows = names.suffix(from: names.firstIndex(of: "rows")! + 1)
    #expect(Array(rows) == Measure.allCases.map { "\($0)" })
    #expect(
      names.filter { $0.hasPrefix("cost.") }.count
        == DeviceFigure.allCases.reduce(0) { $0 + ($1.isShare ? 1 : 2) })
    #expect(properties(DeviceCost()) == 2)
    // interval, duration and cells; and of the record: series, deliveries, their table, offered, capacity, incidents, actions,
    // devices, flush, synchrony, cost, unconfirmed, doomed; and the cohorts, connections, proxies, fetches of Settings and whether a
    // limit was reached, which are not kept.
    #expect(properties(TimeSeries(interval: 1, duration: 1, rows: 0)) == 3)
    #expect(properties(record(backlogs: [])) == 18)
    #expect(properties(IncidentSpan(label: "", isOutage: false, start: 0, end: 0)) == 4)
  }

  @Test("a column that stays at nought costs a few bytes however long the run")
  func compactness() {
    let short = StoredRecord.bytes(of: record(backlogs: flat(0, 10))).count
    let long = StoredRecord.bytes(of: record(backlogs: flat(0, 100_000))).count
    #expect(long - short < Measure.allCases.count * 5)
  }

  @Test("text that is cut or changed anywhere is refused or is another record, and never traps")
  func damage() throws {
    var random = SeededGenerator(seed: 7)
    let record = Self.anything(&random)
    let bytes = StoredRecord.bytes(of: record)
    for _ in 0..<400 {
      var damaged = bytes
      let place = Int.random(in: damaged.indices, using: &random)
      if Bool.random(using: &random) {
        damaged = Array(damaged[..<place])
      } else {
        damaged[place] = UInt8.random(in: .min ... .max, using: &random)
      }
      if damaged != bytes { #expect((try? StoredRecord.record(damaged[...])) != record) }
    }
  }

  @Test(
    "a problem names the line that is wrong",
    arguments: [
      ("devices 10", "devices 99999999999999999999", "'devices' has a broken number"),
      ("devices 10", "devices", "'devices' has 0 values instead of 1"),
      ("devices 10", "gadgets 10", "'devices' is expected, 'gadgets' is there"),
      ("rows 2", "rows 9223372036854775807", "'rows' is 9223372036854775807; 0 to 1000000 is expected"),
      ("rows 2", "rows -1", "'rows' is -1; 0 to 1000000 is expected"),
      ("retries 0*2", "retries 0*3", "'retries' has more than 2 values, or one that is no whole number"),
      ("retries 0*2", "retries -", "'retries' has a broken number"),
      ("retries 0*2", "retries 0*-2", "'retries' has more than 2 values, or one that is no whole number"),
      ("timeToDeliveryP99 0*2", "timeToDeliveryP99 0*2\nmore 1", "there is something behind the last line"),
    ])
  func problems(line: String, replacement: String, message: String) throws {
    let text = String(decoding: StoredRecord.bytes(of: record(backlogs: [3, 4])), as: UTF8.self)
    #expect(text.contains("\n\(line)\n"))
    let changed = Array(text.replacing("\n\(line)\n", with: "\n\(replacement)\n").utf8)
    #expect(throws: StoredRecord.Problem(description: message)) { try StoredRecord.record(changed[...]) }
  }

  private static func anything(_ random: inout SeededGenerator) -> RunRecord {
    func value() -> Int64 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: 0
      case 1: [Int64.min, .max, -1].randomElement(using: &random)!
      default: Int64.random(in: -1_000...1_000_000, using: &random)
      }
    }
    let rows = Int.random(in: 0..<40, using: &random)
    var series = TimeSeries(interval: value(), duration: value(), rows: rows)
    for row in 0..<rows {
      for measure in Measure.allCases where Bool.random(using: &random) { series[row, measure] = value() }
    }
    var deliveries = Histogram()
    for _ in 0..<Int.random(in: 0..<100, using: &random) {
      deliveries.record(
        Int64.random(in: 0...10_000_000_000, using: &random), count: Int64.random(in: 0...5, using: &random))
    }
    var cells = IntervalDeliveries(rows: max(rows, 1))
    for _ in 0..<Int.random(in: 0..<100, using: &random) {
      cells.record(
        Int64.random(in: 0...10_000_000_000, using: &random),
        row: Int.random(in: 0..<cells.rows, using: &random))
    }
    var cost = DeviceCost()
    (cost.total[.attempts], cost.percentile99[.bytes], cost.total[.devicesThatLostEvents]) = (
      value(), value(), value()
    )
    var record = RunRecord(
      series: series, deliveries: deliveries,
      offeredPer100ms: (0..<Int.random(in: 0..<50, using: &random)).map { _ in
        UInt32.random(in: 0...3, using: &random)
      },
      nominalCapacityMilli: value(),
      incidents: (0..<Int.random(in: 0..<3, using: &random)).map { _ in
        IncidentSpan(label: "brownout × 0.5", isOutage: .random(using: &random), start: value(), end: value())
      },
      devices: value(), longestFlushInterval: value(), cost: cost,
      acceptedUnconfirmedEvents: value())
    record.deliveryTable = DeliveryTable(cells)
    record.actions = record.incidents.map {
      IncidentSpan(label: "half shed", isOutage: false, start: $0.end, end: $0.end)
    }
    return record
  }
}
