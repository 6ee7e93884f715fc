/// The reference of every column of every file, as `fleetsim help columns` prints it.
public enum ColumnReference {
  /// Markdown: a heading of level 3 and a table for each file.
  public static var markdown: String {
    [
      section(
        "timeseries.csv",
        "One row per interval. `twin_timeseries.csv` has the same of the run without its incidents.",
        TimeSeriesCSV.columns),
      section(
        "summary.csv",
        "One row per run. Behind these columns stands one for each key that a comparison varies, named by its path.",
        SummaryCSV.columns),
      section("delivery_histogram.csv", "One row per bucket that is not empty.", HistogramCSV.columns),
      section(
        "cohorts.csv", "One row per cohort, where a fleet has several or priority lanes.", CohortCSV.columns),
    ].joined(separator: "\n")
  }

  package static func section<Source>(_ file: String, _ rows: String, _ columns: [CSVColumn<Source>])
    -> String
  {
    var text = "### `\(file)`\n\n\(rows)\n\n| column | unit | meaning |\n|---|---|---|\n"
    for column in columns where !column.name.isEmpty {
      text += "| `\(column.name)` | \(column.unit) | \(column.definition) |\n"
    }
    return text
  }
}
