import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioFormat

extension Rescue {
  static let document = CommandDocument.study(
    "rescue", "the smallest action that ends an ill state, and what was tried.",
    [
      .init("verdict", "What was found, in sentences.") { RescueVerdict($0).sentence },
      .choice("action", "What was tried.", RescueAction.Kind.allCases.map(\.rawValue)) {
        $0.action.kind.rawValue
      },
      .init("low", "The smallest value of the range.") { $0.action.range.low.text() },
      .init("high", "The largest.") { $0.action.range.high.text() },
      .init(
        "answer", "The smallest value that ends the ill state; null: none does, or there is nothing to end."
      ) { $0.answer?.value?.text() },
      .init("seeds", "Seeds looked at.") { $0.seeds },
      .init("healthySeeds", "Of these: the fleet holds its load without incidents.") { $0.healthySeeds },
      .init("illSeeds", "Of these: it does not recover without the action.") { $0.untreated.seeds },
      .rows("trials", "The rows of `rescue.csv`.", columns) { $0.table.rows },
    ] as [JSONShape<Rescue>.Member])
}

extension AdversaryResult {
  static let document = CommandDocument.study(
    "adversary", "the incident that hurts most, and the shortest that breaks the limit.",
    [
      .init("verdict", "What was found, in sentences.") { AdversaryVerdict($0).sentence },
      .init("objective", "The column of `summary.csv` that the worst is the worst by.") {
        $0.study.objective.name
      },
      .init("limit", "What an incident breaks, or not.") { $0.study.limit.text },
      .init("isBroken", "Whether an incident was found that breaks it, fresh seeds included.") {
        $0.boundary?.isConfirmed ?? false
      },
      .init("healthySeeds", "Seeds whose fleet holds its load without incidents.") { $0.healthySeeds },
      .init("seeds", "Seeds that an incident was chosen by; as many fresh ones confirm it.") {
        $0.study.seeds
      },
      .rows("incidents", "The rows of `adversary.csv`.", AdversaryRow.columns) { AdversaryRow.rows($0) },
      .init("runsMade", "Runs that were made.") { $0.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.runs.readBack },
    ] as [JSONShape<AdversaryResult>.Member])
}

/// What `live` measured.
struct LiveFindings: Sendable {
  var verdict: String
  var server: String
  var speed: Double
  var comparison: LiveComparison
  var measured: RunSummary
  var lagP99: Int64

  static let document = CommandDocument.study(
    "live", "a run against a real server beside what was predicted of it.",
    warnings: "about the scenario and the run",
    [
      .init("verdict", "Whether the server did as predicted.") { $0.verdict },
      .init("server", "Where the uploads went.") { $0.server },
      .init("speed", "Virtual seconds in one of the wall.") { $0.speed },
      .init("lagP99", "How late things happened, virtual seconds: 99th percentile.") {
        Double($0.lagP99) / 1e6
      },
      .init("predictions", "Seeds predicted.") { $0.comparison.seeds },
      .rows("figures", "The rows of `live.csv`.", LiveComparison.columns) { $0.comparison.figures },
      .rows("measured", "The measured run's row of `summary.csv`.", SummaryCSV.columns) { [$0.measured] },
    ] as [JSONShape<LiveFindings>.Member])
}

extension StabilityMap {
  static let document = CommandDocument.study(
    "stability", "where the fleet recovers, point by point.",
    [
      .init("verdict", "What the map shows, in sentences.") { StabilityVerdict($0).sentence },
      .object("x", "The first parameter.", axis) { $0.x },
      .object("y", "The second parameter.", axis) { $0.y },
      .init("risk", "The chance of not recovering that is put up with.") { $0.risk.risk },
      .rows("points", "The rows of `stability.csv`.", StabilityCSV.columns) { StabilityReport($0).rows },
    ] as [JSONShape<StabilityMap>.Member])

  private static let axis = JSONShape<QuantityRange>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("low", "Where it begins.") { $0.low.text() },
    .init("high", "Where it ends.") { $0.high.text() },
    .init("isLogarithmic", "Whether its steps are even ratios.") { $0.isLogarithmic },
  ])
}
