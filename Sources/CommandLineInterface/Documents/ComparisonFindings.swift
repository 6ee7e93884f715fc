import FleetExperiments
import FleetMetrics
import ScenarioFormat

/// What `run` and `compare` found, of one seed or of several.
struct ComparisonFindings: Sendable {
  var path: String
  var question: String?
  var warnings: [String]
  /// What limits the verdict.
  var notes: [String]
  var verdict: String
  var standings: Standings
  var choices: [VariantChoice]
  /// By variant, in the order of the seeds.
  var rows: [[RunSummary]]
  /// nil of one seed.
  var metrics: ReplicatedMetrics?
  var clients: ClientDifferences
  var output: String?

  private struct Variant: Sendable {
    var choice: VariantChoice
    var rank: Int
    var isBest: Bool
    var runs: [RunSummary]
    var statistics: [StatisticsCSV.Row]
  }

  private var best: [String] { standings.leaders.map { standings.variants[$0] } }

  private var variants: [Variant] {
    let statistics = metrics == nil ? [] : StatisticsCSV.rows(of: standings)
    return choices.indices.map { index in
      Variant(
        choice: choices[index], rank: standings.rank(of: index), isBest: standings.leaders.contains(index),
        runs: rows[index], statistics: statistics.filter { $0.variant == choices[index].name })
    }
  }

  static let document = CommandDocument<ComparisonFindings>(
    commands: ["run", "compare"], meaning: "how each variant fared.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named.") { $0.path },
      .init("question", "The scenario's question.") { $0.question },
      .init("warnings", "What standard error has of warnings about the scenario.") { $0.warnings },
      .init("notes", "What limits the verdict: in what the scenario is so small that chance decides.") {
        $0.notes
      },
      .init("verdict", "What is said of it all, in sentences.") { $0.verdict },
      .init(
        "best",
        "The names of those that are better than all the others; all of them where nothing is decided between them."
      ) { $0.best },
      .init("seeds", "The seeds of the runs, the same for every variant.") {
        $0.rows.first?.map(\.seed) ?? []
      },
      .list(
        "variants", "In the order asked for.",
        JSONShape<Variant>([
          .init("name", "As in tables and files.") { $0.choice.name },
          .list("overrides", "What sets it apart from the scenario.", Self.override) { $0.choice.overrides },
          .init("rank", "One more than the number of variants that are better by the verdict's rule.") {
            $0.rank
          },
          .init("isBest", "Whether it is one of the best.") { $0.isBest },
          .rows(
            "runs", "A row of `summary.csv` for each seed: its columns by name.", columns: SummaryCSV.columns
          ) { $0.runs.map { .row(SummaryCSV.columns, $0) } },
          .rows(
            "statistics",
            "The variant's rows of `statistics.csv`: mean, interval and rank of each metric; empty of one seed.",
            columns: StatisticsCSV.columns
          ) { $0.statistics.map { .row(StatisticsCSV.columns, $0) } },
        ])
      ) { $0.variants },
      .rows(
        "differences", "The rows of `differences.csv`: each variant against the first; empty of one seed.",
        columns: DifferencesCSV.columns
      ) {
        $0.metrics.map { DifferencesCSV.rows(of: $0).map { .row(DifferencesCSV.columns, $0) } } ?? []
      },
      .list(
        "presetDifferences", "In what cohorts are not as the client preset that they name.",
        Self.presetDifference
      ) { $0.clients.lines },
      .output { $0.output },
    ]))

  private static let override = JSONShape<Override>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("value", "As it would stand in a scenario.") { $0.value },
  ])

  static let presetDifference = JSONShape<ClientDifferences.Line>([
    .init("path", "The key, from the scenario's root.") { $0.path },
    .init("cohort", "Its name.") { $0.cohort },
    .init("client", "The preset.") { $0.client },
    .init("value", "As the scenario has it.") { $0.difference.value },
    .init("preset", "As the preset has it.") { $0.difference.preset },
    .init("meaning", "What the key decides.") { $0.difference.meaning },
    .init("variants", "Those of which it holds; none of a scenario without variants.") {
      $0.variants.filter { !$0.isEmpty }
    },
  ])
}

extension JSONShape.Member {
  /// Where the files went.
  static func output(_ value: @escaping @Sendable (Source) -> String?) -> Self {
    Self("output", "The directory of `--out`; null: no files.", value)
  }
}
