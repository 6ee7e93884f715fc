import FleetExperiments
import FleetMetrics

/// What `calibrate` found.
struct CalibrationFindings: Sendable {
  var path: String
  var observedPath: String
  var question: String?
  var warnings: [String]
  var result: CalibrationResult
  /// As JSON text.
  var fitted: String
  var runs: (made: Int, readBack: Int)
  var output: String?

  private struct Key: Sendable {
    var result: CalibrationResult
    var index: Int
    var interval: (low: Quantity, high: Quantity) { result.interval(index) }
  }

  private struct Column: Sendable {
    var result: CalibrationResult
    var index: Int
  }

  static let document = CommandDocument<CalibrationFindings>(
    commands: ["calibrate"], meaning: "the values that fit what was measured, and how well.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("observed", "The measured file as it was named.") { $0.observedPath },
      .init("question", "The scenario's question.") { $0.question },
      .init("warnings", "What standard error has of warnings about the scenario.") { $0.warnings },
      .init("verdict", "What was found, in sentences.") { CalibrationVerdict($0.result).sentence },
      .init("doubts", "What the series can't say, a sentence each.") {
        CalibrationVerdict($0.result).warnings
      },
      .init("isExplained", "Whether a run of the fitted scenario could be as far off as the series.") {
        $0.result.scatter.isExplained
      },
      .init("isSettled", "Whether the search came to rest within its budget.") { $0.result.isSettled },
      .init("scatterRatio", "How far the series is from what is expected, divided by how far runs are.") {
        $0.result.scatter.ratio
      },
      .list(
        "keys", "What was fitted.",
        JSONShape<Key>([
          .init("path", "A key of the scenario.") { $0.result.study.keys[$0.index].path },
          .init("value", "The fitted value, as a scenario takes it.") { $0.result.values[$0.index] },
          .init("low95", "Lower end of its 95 % interval.") { $0.interval.low.text() },
          .init("high95", "Upper end of the same.") { $0.interval.high.text() },
          .init("isUnknown", "Whether the series says nothing of it.") { $0.result.isUnknown($0.index) },
          .init("isAtEdge", "Whether it lies at the edge of its range.") { $0.result.isAtEdge($0.index) },
        ])
      ) { findings in
        findings.result.study.keys.indices.map { Key(result: findings.result, index: $0) }
      },
      .list(
        "columns", "What it was fitted to.",
        JSONShape<Column>([
          .choice("column", "Which.", ObservedColumn.allCases.map(\.rawValue)) {
            $0.result.study.weights[$0.index].column.rawValue
          },
          .init("weight", "How much it counted.") { $0.result.study.weights[$0.index].weight },
          .init(
            "error", "Mean absolute percentage error on the part held out, as a share; null: nothing there."
          ) {
            $0.result.scatter.errors[$0.index]
          },
          .init("chanceError", "The same of runs of the fitted scenario.") {
            $0.result.scatter.chance[$0.index]
          },
        ])
      ) { findings in
        findings.result.study.weights.indices.map { Column(result: findings.result, index: $0) }
      },
      .anything("fitted", "The fitted scenario, as normalised.", ["object"]) { .raw($0.fitted) },
      .init("runsMade", "Runs that were made.") { $0.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.runs.readBack },
      .output { $0.output },
    ]))
}
