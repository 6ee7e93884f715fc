import FleetMetrics
import ScenarioModel

extension Recording where Value == RunSummary {
  /// A row of `summary.csv`, without its name.
  package static let summary = Recording(
    text: Text(
      name: "summary", isPartOf: ReplicationSample.name,
      bytes: { summary in
        var writer = StoredLines.Writer()
        StoredSummary.write(summary, to: &writer)
        return writer.bytes
      },
      value: { body throws(StoredRecord.Problem) in
        var reader = StoredLines.Reader(body)
        return try StoredSummary.read(&reader)
      })
  ) { scenario, record, twin in
    RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenario.seed)
  }
}

extension Runs where Value == RunSummary {
  /// Runs whose summaries are a formula of the scenario, for searches that can be looked through.
  package static func planted(
    in store: (any RunStore)? = nil, _ summary: @escaping @Sendable (Scenario) throws -> RunSummary
  ) -> Runs {
    var record = RunRecord(
      series: TimeSeries(interval: 1, duration: 0, rows: 0), deliveries: Histogram(), offeredPer100ms: [],
      nominalCapacityMilli: 0, incidents: [], devices: 0, longestFlushInterval: 0, cost: DeviceCost())
    // Limits on retries count in the formula.
    record.reachedRetryLimit = true
    let recording = Recording(needsTwin: false, text: Recording.summary.text) { scenario, _, _ in
      try summary(scenario)
    }
    return Runs(recording, in: store, workers: 1, engine: { [record] _, _, _ in record })
  }
}

/// What replications keep of a run.
package struct ReplicationSample: Sendable {
  var summary: RunSummary
  var curves: CurveSample

  static let name = "replication"
}

extension Recording where Value == ReplicationSample {
  /// A row of `summary.csv` without its name, and the curves of a report.
  package static let replication = Recording(
    text: Text(
      name: ReplicationSample.name,
      bytes: { sample in
        var writer = StoredLines.Writer()
        StoredSummary.write(sample.summary, to: &writer)
        sample.curves.write(to: &writer)
        return writer.bytes
      },
      value: { body throws(StoredRecord.Problem) in
        var reader = StoredLines.Reader(body)
        let summary = try StoredSummary.read(&reader)
        let curves = try CurveSample(&reader)
        try reader.end()
        return ReplicationSample(summary: summary, curves: curves)
      })
  ) { scenario, record, twin in
    ReplicationSample(
      summary: RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenario.seed),
      curves: CurveSample(record, twin: twin))
  }
}

extension Recording where Value == VariantResult {
  /// Everything, which no store keeps.
  static let result = Recording { scenario, record, twin in
    VariantResult(
      name: "", record: record, twin: twin,
      summary: RunAnalysis.summary(of: record, twin: twin, name: "", seed: scenario.seed))
  }
}

extension Recording where Value == SeriesCounts {
  /// What can be compared with the observed series of a study.
  package static func counts(of study: CalibrationStudy) -> Recording {
    let columns = study.weights.map(\.column.rawValue).joined(separator: ",")
    let rows = study.observed.rows.count
    return Recording(
      needsTwin: false,
      text: Text(
        name: "counts " + columns + " " + study.observed.rows.map(String.init).joined(separator: ","),
        bytes: { counts in
          var writer = StoredLines.Writer()
          for column in counts.values { writer.line("column", column.lazy.map { Int64($0) }) }
          return writer.bytes
        },
        value: { body throws(StoredRecord.Problem) in
          var reader = StoredLines.Reader(body)
          var counts = SeriesCounts(values: [])
          for _ in study.weights {
            counts.values.append(try reader.values("column", count: rows).map(Double.init))
          }
          try reader.end()
          return counts
        })
    ) { _, record, _ in study.counts(of: record.series) }
  }
}
