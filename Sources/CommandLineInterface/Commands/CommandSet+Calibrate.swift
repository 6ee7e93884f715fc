import FleetExperiments

extension CommandSpecification {
  package static let calibrate: CommandSpecification = {
    var command = CommandSpecification(
      name: "calibrate", abstract: "Fit unknown keys of a scenario to what was measured.")
    let columns = ObservedColumn.allCases.map(\.rawValue)
    command.discussion = [
      "Looks for the values with which the scenario gives the measured series: requests, 2xx, 429 and 5xx by interval, each on a scale "
        + "where chance counts alike whatever the size (Anscombe's 2 √(n + 3/8)). Candidates are spread over the ranges and the "
        + "search narrows to where the best lie; then a surface of second order through runs with seeds of their own says "
        + "where the series lies. How far off that reading is, the same runs tell, each taken for a measured series in turn: "
        + "that makes the 95 % intervals. The verdict says whether the fitted scenario explains the series, how far off it is on the "
        + "part held out, and warns of keys that the series says nothing of, or that can't be told apart.",
      "A measured file is a timeseries.csv, a CSV with the columns time (seconds), requests, 2xx, 429, 5xx (counts of the interval), any "
        + "CSV with --mapping, or the JSON of a Prometheus range query with --mapping.",
      "With --out it writes fitted.json5 (the fitted scenario, which runs as it is), residuals.csv, draws.csv (values that the series "
        + "leaves possible, jointly), calibration.svg, report.html and run.json. Every run is kept in the journal: a calibration that "
        + "was killed goes on where it stood and gives the same answer.",
    ]
    command.arguments = [scenario]
    command.options =
      [
        OptionSpecification(
          "observed", value: "file", help: "What was measured: CSV, or Prometheus JSON. (required)"),
        OptionSpecification(
          "mapping", value: "file",
          help:
            "What the file's columns are, as JSON5: { time: \"ts\", unit: \"ms\", start: 1700000000000, stamp: \"end\", values: \"per "
            + "second\", columns: { requests: \"hits\", \"5xx\": [\"e500\", \"e503\"] } }; for Prometheus labels, as "
            + "{ \"2xx\": { code: \"2*\" } }."),
        OptionSpecification(
          "fit", value: "path=lo..hi", isRepeatable: true,
          help: "A key to fit and its range, as tapi.bucket.capacity=500/s..2000/s, fleet.old.share=5%..60%, "
            + "fleet.phones.flush.phase=0s..30s; with :log behind it in even ratios. At most \(CalibrationStudy.mostKeys). (required)"
        ),
        OptionSpecification(
          "weight", value: "column=w", isRepeatable: true,
          help:
            "How much a column counts, 0 to leave it out: \(columns.joined(separator: ", ")). (default: 1 for those of "
            + ObservedColumn.standard.map(\.rawValue).joined(separator: ", ") + " that the file has)"),
        OptionSpecification(
          "hold-out", value: "share",
          help: "Part of the rows, from the end, that nothing is fitted to, 0% to 80%. (default: 20%)"),
        OptionSpecification(
          "budget", value: "runs",
          help:
            "Runs, from \(CalibrationStudy.leastBudget). (default: \(CalibrationStudy.defaultBudget(keys: 0)), and "
            + "\(CalibrationStudy.defaultBudget(keys: 1) - CalibrationStudy.defaultBudget(keys: 0)) for each key)"
        ),
        journal,
      ] + searchOptions
    command.examples = [
      Example(
        "fleetsim calibrate s.json5 --observed monday.csv --fit tapi.bucket.capacity=1000/s..2000/s",
        "What could the server take on Monday?")
    ]
    return command
  }()
}
