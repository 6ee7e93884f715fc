/// The reference of every column of every file, as `fleetsim help columns` prints it.
public enum ColumnReference {
  /// Markdown: a heading of level 3 and a list for each file.
  public static var markdown: String {
    [
      section(
        "timeseries.csv",
        """
        One row per interval; `twin_timeseries.csv` is of the run without incidents. What waits or is under way is counted at the \
        interval's end.
        """,
        TimeSeriesCSV.columns + [TimeSeriesCSV.synchrony(of: [], every: 1)]),
      section(
        "summary.csv",
        """
        One row per run, with a last column for each key that a comparison varies. What an incident would have to begin is empty without \
        one, and a time is empty if it never came.
        """,
        SummaryCSV.columns, told: ("timeseries.csv", TimeSeriesCSV.columns.map(\.row))),
      section("delivery_histogram.csv", "One row per bucket that is not empty.", HistogramCSV.columns),
      section(
        "cohorts.csv", "One row per cohort, where a fleet has several or priority lanes.", CohortCSV.columns,
        told: ("summary.csv", SummaryCSV.columns.map(\.row))),
      section(
        "connections.csv", "One row per interval, where the scenario has `tapi.connections`.",
        SideRow<ConnectionCount>.columns, told: ("timeseries.csv", TimeSeriesCSV.columns.map(\.row))),
      section(
        "settings.csv", "One row per interval, where the scenario has `tapi.settingsEndpoint`.",
        SideRow<SettingsCount>.columns, told: ("timeseries.csv", TimeSeriesCSV.columns.map(\.row))),
      section(
        "proxies.csv", "One row per interval, where the scenario has `tapi.proxies`.",
        SideRow<ProxyCount>.columns, told: ("timeseries.csv", TimeSeriesCSV.columns.map(\.row))),
    ].joined(separator: "\n")
  }

  /// - `told`: a file described before, and its rows; columns that have one of them are only named.
  package static func section<Source>(
    _ file: String, _ rows: String, _ columns: [CSVColumn<Source>],
    told: (file: String, rows: [String]) = ("", [])
  ) -> String {
    let named = columns.filter { !$0.name.isEmpty }
    let known = named.filter { told.rows.contains($0.row) }.map { "`\($0.name)`" }
    let also = known.isEmpty ? "" : "\n\nAs in `\(told.file)`: \(known.joined(separator: ", "))."
    var groups: [[CSVColumn<Source>]] = []
    for column in named where !told.rows.contains(column.row) {
      let place = groups.firstIndex { $0[0].unit == column.unit && $0[0].subject == column.subject }
      if let place, column.subject != nil {
        groups[place].append(column)
      } else {
        groups.append([column])
      }
    }
    let lines = groups.map { group in
      let names = group.map { "`\($0.name)`" }.joined(separator: ", ")
      let more = group.dropFirst().map { $0.definition.dropFirst(($0.subject?.count ?? 0) + 2).dropLast() }
      let meaning = ([group[0].definition.dropLast()] + more).joined(separator: "; ")
      let unit = group.allSatisfy(\.saysUnit) ? "" : " (\(group[0].unit))"
      return "- \(names)\(unit): \(meaning).\n"
    }
    return "### `\(file)`\n\n\(rows)\(also)\n\n\(lines.joined())"
  }
}

extension CSVColumn {
  /// What says whether two files have the same column.
  fileprivate var row: String { "\(name) \(unit) \(definition)" }

  /// Whether its name has the unit, or there is none.
  fileprivate var saysUnit: Bool {
    ["", "1"].contains(unit) || name.hasSuffix("_\(unit)") || name.hasPrefix(unit)
      || name.hasSuffix("_per_device_day") || name.hasSuffix("_rps") && unit == "requests/s"
  }

  /// What its definition says first, `Answers by status: 429.`: columns with one subject share a line.
  fileprivate var subject: Substring? { definition.firstRange(of: ": ").map { definition[..<$0.lowerBound] } }
}
