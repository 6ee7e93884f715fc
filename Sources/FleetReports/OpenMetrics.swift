import FleetMetrics
import TextEscaping

/// Time series as OpenMetrics text, which Prometheus can backfill: every column of `timeseries.csv` as a gauge, every run under a
/// label of its own.
///
/// Runs have virtual time alone; here they all start at a fixed moment, so that they lie over each other in a graph.
package enum OpenMetrics {
  package typealias Run = (name: String, seed: UInt64, series: TimeSeries)

  /// 2026-01-01 00:00:00 UTC, in Unix seconds: where every run starts.
  package static let epoch: Int64 = 1_767_225_600

  /// The whole file. Columns that are 0 or empty throughout all runs are left out.
  package static func bytes(of runs: [Run]) -> [UInt8] {
    var text: [UInt8] = []
    for column in TimeSeriesCSV.columns where column.name != "time_s" && isUsed(column, runs) {
      let name = name(of: column)
      text += "# TYPE \(name) gauge\n# HELP \(name) \(Escaping.label(column.definition))\n".utf8
      for run in runs {
        let series = "\(name){run=\"\(Escaping.label(run.name))\",seed=\"\(run.seed)\"}"
        for row in run.series.rows {
          let digits = column.value(row).digits
          if !digits.isEmpty { text += "\(series) \(digits) \(timestamp(row.start))\n".utf8 }
        }
      }
    }
    return text + Array("# EOF\n".utf8)
  }

  /// `fleetsim_offered_rps`; seconds are spelled out, as Prometheus wants it.
  package static func name(of column: CSVColumn<TimeSeries.Row>) -> String {
    let name = "fleetsim_" + column.name
    return column.unit == "s" && name.hasSuffix("_s") ? name.dropLast() + "seconds" : name
  }

  private static func isUsed(_ column: CSVColumn<TimeSeries.Row>, _ runs: [Run]) -> Bool {
    runs.contains { run in run.series.rows.contains { (column.value($0).number ?? 0) != 0 } }
  }

  /// Unix seconds, with a fraction only where there is one.
  private static func timestamp(_ start: Int64) -> String {
    let (seconds, rest) = (epoch + start / 1_000_000, start % 1_000_000)
    return rest == 0 ? String(seconds) : "\(seconds)." + String(String(rest + 1_000_000).dropFirst())
  }
}
