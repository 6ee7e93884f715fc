import FleetExperiments
import FleetMetrics

/// What `rescue` found.
struct RescueFindings: Sendable {
  var path: String
  var question: String?
  var warnings: [String]
  var rescue: Rescue
  var output: String?

  static let document = CommandDocument<RescueFindings>(
    commands: ["rescue"], meaning: "the smallest action that ends an ill state, and what was tried.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("question", "The scenario's question.") { $0.question },
      .init("warnings", "What standard error has of warnings about the scenario.") { $0.warnings },
      .init("verdict", "What was found, in sentences.") { RescueVerdict($0.rescue).sentence },
      .choice("action", "What was tried.", RescueAction.Kind.allCases.map(\.rawValue)) {
        $0.rescue.action.kind.rawValue
      },
      .init("low", "The smallest value of the range.") { $0.rescue.action.range.low.text() },
      .init("high", "The largest.") { $0.rescue.action.range.high.text() },
      .init(
        "answer", "The smallest value that ends the ill state; null: none does, or there is nothing to end."
      ) {
        $0.rescue.answer?.value?.text()
      },
      .init("seeds", "Seeds looked at.") { $0.rescue.seeds },
      .init("healthySeeds", "Of these: the fleet holds its load without incidents.") {
        $0.rescue.healthySeeds
      },
      .init("illSeeds", "Of these: it does not recover without the action.") { $0.rescue.untreated.seeds },
      .rows("trials", "The rows of `rescue.csv`.", columns: RescueCSV.columns) {
        ([$0.rescue.untreated] + $0.rescue.trials).map { .row(RescueCSV.columns, $0) }
      },
      .output { $0.output },
    ]))
}
