import FleetExperiments
import FleetMetrics

/// What `live` measured.
struct LiveFindings: Sendable {
  var path: String
  var question: String?
  var warnings: [String]
  var verdict: String
  var server: String
  var speed: Double
  var comparison: LiveComparison
  var measured: RunSummary
  var lagP99: Int64
  var output: String?

  static let document = CommandDocument<LiveFindings>(
    commands: ["live"], meaning: "a run against a real server beside what was predicted of it.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("question", "The scenario's question.") { $0.question },
      .init("warnings", "What standard error has of warnings about the scenario and the run.") {
        $0.warnings
      },
      .init("verdict", "Whether the server did as predicted.") { $0.verdict },
      .init("server", "Where the uploads went.") { $0.server },
      .init("speed", "Virtual seconds in one of the wall.") { $0.speed },
      .init("lagP99", "How late things happened, virtual seconds: 99th percentile.") {
        Double($0.lagP99) / 1e6
      },
      .init("predictions", "Seeds predicted.") { $0.comparison.seeds },
      .rows("figures", "The rows of `live.csv`.", columns: LiveCSV.columns) {
        $0.comparison.figures.map { .row(LiveCSV.columns, $0) }
      },
      .rows("measured", "The measured run's row of `summary.csv`.", columns: SummaryCSV.columns) {
        [.row(SummaryCSV.columns, $0.measured)]
      },
      .output { $0.output },
    ]))
}
