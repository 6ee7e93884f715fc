import FleetMetrics
import Testing

/// What a new measure needs is an entry in the table and a place where it is counted: here each of them is followed to all files.
@Suite("Measures")
struct MeasureTests {
  @Test("the table has one entry for each measure")
  func table() {
    #expect(Measure.table.count == Measure.count)
    #expect(Set(Measure.table.map(\.measure)).count == Measure.count)
  }

  @Test("both sides' tables hold other measures, and gauges are formed of changes")
  func sides() {
    let counted = Array(DeviceSide.measures) + ServerSide.measures
    #expect(Set(counted).count == counted.count)
    let devices = IntervalCounters<DeviceSide>(rows: 3)
    let server = IntervalCounters<ServerSide>(rows: 3)
    for row in 0..<3 {
      for measure in DeviceSide.measures { devices.add(Int64(measure.rawValue + row), to: measure, row: row) }
      for measure in ServerSide.measures { server.add(Int64(measure.rawValue + row), to: measure, row: row) }
    }
    var series = TimeSeries(interval: 1, duration: 3, rows: 3)
    series.take(devices)
    series.take(server)
    for measure in counted {
      let value = Int64(measure.rawValue)
      let row = [value, value + 1, value + 2]
      let expected = measure.kind == .gauge ? [row[0], row[0] + row[1], row[0] + row[1] + row[2]] : row
      #expect(series.rows.map { $0[measure] } == expected, "\(measure)")
    }
  }

  @Test("every measure stands in the files that it declares, and in no other", arguments: Measure.allCases)
  func columns(_ measure: Measure) {
    let files = measure.declaration.files
    var run = record(interval: 1_000_000, backlogs: [0, 0])
    run.series[0, measure] = 1_000
    run.series[1, measure] = 2_000
    // Of all columns those count whose value comes of this measure and of no other.
    let row = run.series.rows[1]
    let empty = record(interval: 1_000_000, backlogs: [0, 0]).series.rows[1]
    let inSeries = TimeSeriesCSV.columns.filter { $0.value(row) != $0.value(empty) }.map(\.name)
    let column = measure.declaration.seriesColumn
    #expect(inSeries.contains(column.name) == files.contains(.series))
    if files.contains(.series) { #expect(TimeSeriesCSV.columns.count { $0.name == column.name } == 1) }

    let summary = RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "", seed: 0)
    let total: CSVColumn<RunSummary> = measure.declaration.totalColumn()
    #expect(SummaryCSV.columns.contains { $0.name == total.name } == files.contains(.summary))
    if files.contains(.summary) {
      #expect(SummaryCSV.columns.first { $0.name == total.name }?.direction == total.direction)
      #expect(total.value(summary).number == (total.unit == "s" ? 0.003 : 3_000))
    }

    var cohort = CohortRecord(name: "", devices: 1)
    cohort.totals[measure] = 5
    let part: CSVColumn<CohortRecord> = measure.declaration.totalColumn()
    #expect(CohortCSV.columns.contains { $0.name == part.name } == files.contains(.cohorts))
    if files.contains(.cohorts) { #expect(part.value(cohort) == .integer(5)) }
  }

  @Test("totals add counts up, and take gauges as they stand at the end")
  func totals() {
    var series = TimeSeries(interval: 1, duration: 3, rows: 3)
    for row in 0..<3 {
      for measure in Measure.allCases { series[row, measure] = Int64((row + 1) * (measure.rawValue + 1)) }
    }
    let totals = series.totals
    for measure in Measure.allCases {
      let unit = Int64(measure.rawValue + 1)
      let expected =
        switch measure.kind {
        case .count: 6 * unit
        case .gauge: 3 * unit
        case .ofInterval: 0 as Int64
        }
      #expect(totals[measure] == expected, "\(measure)")
    }
  }

  @Test(
    "a way of dropping events is counted by the devices, has a column in each file of totals, and fewer are better"
  )
  func drops() {
    for measure in Measure.drops {
      #expect(DeviceSide.measures.contains(measure))
      // The series has had its columns since before there were pages.
      #expect(
        measure.declaration.files
          == (measure == .lostWithPage ? [.summary, .cohorts] : [.series, .summary, .cohorts]))
      #expect(measure.declaration.direction == .lowerIsBetter)
    }
    let named = Measure.allCases.filter { "\($0)".hasPrefix("dropped") || "\($0)".hasPrefix("refused") }
    #expect(named + [.lostWithPage] == Measure.drops)
  }
}
