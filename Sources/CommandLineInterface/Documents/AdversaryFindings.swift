import FleetExperiments
import FleetMetrics
import ScenarioFormat

/// What `adversary` found.
struct AdversaryFindings: Sendable {
  var path: String
  var question: String?
  var warnings: [String]
  var result: AdversaryResult
  var output: String?

  static let document = CommandDocument<AdversaryFindings>(
    commands: ["adversary"], meaning: "the incident that hurts most, and the shortest that breaks the limit.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("question", "The scenario's question.") { $0.question },
      .init("warnings", "What standard error has of warnings about the scenario.") { $0.warnings },
      .init("verdict", "What was found, in sentences.") { AdversaryVerdict($0.result).sentence },
      .init("objective", "The column of `summary.csv` that the worst is the worst by.") {
        $0.result.study.objective.name
      },
      .init("limit", "What an incident breaks, or not.") { $0.result.study.limit.text },
      .init("isBroken", "Whether an incident was found that breaks it, fresh seeds included.") {
        $0.result.boundary?.isConfirmed ?? false
      },
      .init("healthySeeds", "Seeds whose fleet holds its load without incidents.") { $0.result.healthySeeds },
      .init("seeds", "Seeds that an incident was chosen by; as many fresh ones confirm it.") {
        $0.result.study.seeds
      },
      .rows("incidents", "The rows of `adversary.csv`.", columns: AdversaryCSV.columns) {
        AdversaryRow.rows($0.result).map { .row(AdversaryCSV.columns, $0) }
      },
      .init("runsMade", "Runs that were made.") { $0.result.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.result.runs.readBack },
      .output { $0.output },
    ]))
}
