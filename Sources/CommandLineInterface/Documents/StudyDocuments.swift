import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics
import ScenarioFormat

/// What `run` and `compare` found, of one seed or of several.
struct ComparisonFindings: Sendable {
  /// What limits the verdict.
  var notes: [String]
  var compared: Compared
  var verdict: String
  var standings: Standings
  var choices: [VariantChoice]
  var clients: ClientDifferences

  private struct Variant: Sendable {
    var choice: VariantChoice
    var rank: Int
    var isBest: Bool
    var runs: [RunSummary]
    var statistics: [StatisticsCSV.Row]
  }

  private var best: [String] { standings.leaders.map { standings.variants[$0] } }

  private var variants: [Variant] {
    let statistics = compared.isOfOneSeed ? [] : StatisticsCSV.rows(of: standings)
    let rows = compared.rows
    return choices.indices.map { index in
      Variant(
        choice: choices[index], rank: standings.rank(of: index), isBest: standings.leaders.contains(index),
        runs: rows[index], statistics: statistics.filter { $0.variant == choices[index].name })
    }
  }

  static let document = CommandDocument.study(
    "how each variant fared.",
    [
      .init("notes", "What limits the verdict: in what the scenario is so small that chance decides.") {
        $0.notes
      },
      .init("verdict", "What is said of it all, in sentences.") { $0.verdict },
      .init(
        "best",
        "The names of those that are better than all the others; all of them where nothing is decided between them."
      ) { $0.best },
      .init("seeds", "The seeds of the runs, the same for every variant.") {
        $0.compared.rows.first?.map(\.seed) ?? []
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
            "runs", "A row of `summary.csv` for each seed: its columns by name.", SummaryCSV.columns
          ) { $0.runs },
          .rows(
            "statistics",
            "The variant's rows of `statistics.csv`: mean, interval and rank of each metric; empty of one seed.",
            StatisticsCSV.columns
          ) { $0.statistics },
        ])
      ) { $0.variants },
      .rows(
        "differences", "The rows of `differences.csv`: each variant against the first; empty of one seed.",
        DifferencesCSV.columns
      ) { $0.compared.isOfOneSeed ? [] : DifferencesCSV.rows(of: $0.standings.metrics) },
      .list(
        "presetDifferences", "In what cohorts are not as the client preset that they name.",
        Self.presetDifference
      ) { $0.clients.lines },
    ] as [JSONShape<ComparisonFindings>.Member])

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

/// What `check` found.
struct CheckFindings: Sendable {
  var outcomes: [CheckOutcome]

  static let document = CommandDocument<CheckFindings>(
    meaning: "what moved against the baseline.",
    shape: JSONShape([
      .init("verdict", "A sentence for each scenario.") {
        $0.outcomes.map(CheckReport.heading).joined(separator: "\n")
      },
      .init("isWorse", "Whether a metric is worse than its tolerance allows: the exit code is 1.") {
        $0.outcomes.contains { !$0.worse.isEmpty }
      },
      .list("scenarios", "In the order asked for.", scenario) { $0.outcomes },
    ]))

  private static let scenario = JSONShape<CheckOutcome>([
    .init("scenario", "The scenario file as it was named.") { $0.scenarioPath },
    .init("name", "Its name in the baseline.") { $0.baseline.scenario },
    .init("baseline", "The baseline's file.") { $0.file.path },
    .init("set", "`path=value`, as recorded.") { $0.baseline.overrides },
    .init("firstSeed", "The first seed.") { $0.baseline.seeds.first },
    .init("seedCount", "How many seeds from there on.") { $0.baseline.seeds.count },
    .init(
      "verdict", "How many metrics moved, and why the fleet does not hold without incidents if it does not."
    ) { CheckReport.heading($0) },
    .list("metrics", "Every metric of the baseline.", change) { outcome in
      outcome.changes.map { Change(change: $0, line: outcome.line($0)) }
    },
  ])

  private struct Change: Sendable {
    var change: MetricChange
    var line: Int
    var recorded: ConfidenceInterval? { ConfidenceInterval(change.recorded) }
    var present: ConfidenceInterval? { ConfidenceInterval(change.present) }
    var interval: ConfidenceInterval? { change.difference.interval() }

    static func mean(_ sample: SampleStatistics) -> Double? { sample.count > 0 ? sample.mean : nil }
  }

  private static let change = JSONShape<Change>([
    .init("metric", "Column of `summary.csv`.") { $0.change.metric.name },
    .init("unit", "Of the figures that follow.") { $0.change.metric.unit },
    .choice(
      "level",
      "`worse`: by more than is allowed; `tolerated`: moved, and that is allowed; `unchanged`: every seed as recorded.",
      MetricChange.Judgement.allCases.map(\.rawValue)
    ) { $0.change.judgement.rawValue },
    .anything("tolerance", "As it stands in the baseline.", ["string", "object"]) {
      .raw(BaselineFile.text($0.change.entry.tolerance))
    },
    .init("recordedMean", "Mean over the seeds then; null: no run had a value.") {
      Change.mean($0.change.recorded)
    },
    .init("recordedLow95", "Lower end of its 95 % interval.") { $0.recorded?.low },
    .init("recordedHigh95", "Upper end of the same.") { $0.recorded?.high },
    .init("presentMean", "Mean over the seeds now.") { Change.mean($0.change.present) },
    .init("presentLow95", "Lower end of its 95 % interval.") { $0.present?.low },
    .init("presentHigh95", "Upper end of the same.") { $0.present?.high },
    .init("difference", "Mean of now minus then, seed by seed; of times up to the shorter of both horizons.")
    { Change.mean($0.change.difference.sample) },
    .init("differenceLow95", "Lower end of its 95 % interval (paired t).") { $0.interval?.low },
    .init("differenceHigh95", "Upper end of the same.") { $0.interval?.high },
    .init("pHolm", "P value by Holm's step-down; null of what is not tested.") { $0.change.adjustedP },
    .init("appearances", "Runs that have a value in only one of the two.") { $0.change.appearances },
    .init("line", "Where the metric stands in the baseline.") { $0.line },
  ])
}

/// What `tune` found.
struct TuneFindings: Sendable {
  var paths: [String]
  var result: TuneResult
  /// As JSON text; nil: nothing is recommended.
  var settings: (cdn: String, document: String)?

  /// A key, a constraint or a scenario, by its place in the study.
  private struct Part: Sendable {
    var found: TuneFindings
    var index: Int
    var result: TuneResult { found.result }
    var effect: KeyEffect? { result.effects.first { $0.parameter == index } }
    var unmet: Standing? { result.unmetConstraints?.best.first { $0.constraint == index }?.standing }
  }

  private func parts(_ indices: some Sequence<Int>) -> [Part] {
    indices.map { Part(found: self, index: $0) }
  }

  private static let robustness = JSONShape<Robustness>([
    .init(
      "choiceIsBest", "Probability that nothing that raced has a lower expected score, given the draws made."
    ) {
      $0.posterior.best
    },
    .init("choiceIsWithin5Percent", "Probability that nothing has one lower by more than 5 %.") {
      $0.posterior.near
    },
    .init("racers", "Candidates that raced, today's Settings among them.") { $0.racers },
    .init("drawsTaken", "Draws of all of them together.") { $0.taken },
    .init("draws", "Fresh draws that the following is from.") { $0.count },
    .init("bestDraws", "Those in which nothing compared has a lower score.") { $0.bestDraws },
    .init("within5PercentDraws", "Those in which nothing has one lower by more than 5 %.") { $0.nearDraws },
    .init("betterThanTodayDraws", "Those in which the score is below today's.") { $0.betterDraws },
    .init("decidingUnknown", "The path whose value changes what is best; null: none beyond chance.") {
      $0.unknowns.first.flatMap { $0.decides ? $0.path : nil }
    },
    .init("decidingThreshold", "About where it does.") {
      $0.unknowns.first.flatMap { $0.decides ? $0.threshold.text() : nil }
    },
    .init("worstTenthScoreRatio", "The mean score in the worst tenth of the draws, divided by today's.") {
      TuneVerdict.ratio($0.worstScore)
    },
    .init("worstTenthDraws", "Their numbers, the worst first: rows of `draws.csv`.") {
      $0.worstTenth.map { $0 + 1 }
    },
  ])

  static let document = CommandDocument.study(
    "the Settings to publish, and every candidate.", isOfOne: false, warnings: "about the scenarios",
    [
      .init("verdict", "What to do, in sentences.") { TuneVerdict($0.result).sentence },
      .init("isRecommended", "Whether there are Settings to publish, confirmed by fresh seeds.") {
        $0.settings != nil
      },
      .list(
        "keys", "What the best finalist changes; `isRecommended` says whether to do it.",
        JSONShape<Part>([
          .init("path", "A key of Settings.") { $0.result.study.space.parameters[$0.index].path },
          .init("value", "The new value.") { $0.result.value($0.index, of: $0.result.winner.candidate) },
          .init("today", "Today's; null: not set.") { $0.result.study.todaysValues[$0.index] },
          .init("scoreRatio", "The score with it, divided by that with today's value of this key alone.") {
            $0.effect.map { TuneVerdict.ratio($0.score) }
          },
          .init("scoreRatioLow95", "Lower end of its 95 % interval.") {
            $0.effect?.scoreInterval.map { TuneVerdict.ratio($0.low) }
          },
          .init("scoreRatioHigh95", "Upper end of the same.") {
            $0.effect?.scoreInterval.map { TuneVerdict.ratio($0.high) }
          },
        ])
      ) { found in
        let choices = found.result.winner.candidate.choices
        return found.parts(choices.indices.filter { choices[$0] != nil })
      },
      .init("scoreRatio", "On fresh seeds: the score divided by today's; below 1 is better.") {
        TuneVerdict.ratio($0.result.confirmed.winner.score)
      },
      .init("scoreRatioLow95", "Lower end of its 95 % interval; null of a single seed.") {
        $0.result.freshInterval.map { TuneVerdict.ratio($0.low) }
      },
      .init("scoreRatioHigh95", "Upper end of the same.") {
        $0.result.freshInterval.map { TuneVerdict.ratio($0.high) }
      },
      .init("seeds", "How many seeds the finalists had, and how many fresh ones the verdict is from.") {
        $0.result.study.seeds
      },
      .init(
        "raceScale", "The part of the fleets on which candidates raced; the finalists had the whole, `1:1`."
      ) {
        $0.result.study.raceScale.text
      },
      .list(
        "robustness", "With `--uncertain` one object, how it stands what is not known; else none.",
        Self.robustness
      ) { $0.result.robustness.map { [$0] } ?? [] },
      .list(
        "scenarios", "How it fares in each, on fresh seeds.",
        JSONShape<Part>([
          .init("name", "The scenario's name.") { $0.result.study.scenarios[$0.index] },
          .init("scenario", "Its file as it was named.") { $0.found.paths[$0.index] },
          .choice(
            "standing", "What `compare` says of it against today's Settings.",
            MetricRule.Standing.allCases.map(\.rawValue)
          ) { $0.result.confirmed.winner.comparison[$0.index].standing.rawValue },
          .init("scoreRatio", "The score divided by today's.") {
            TuneVerdict.ratio($0.result.confirmed.winner.scenarioScores[$0.index])
          },
        ])
      ) { $0.parts($0.paths.indices) },
      .anything("settings", "What to publish, as the CDN serves it; null: nothing.", ["object", "null"]) {
        $0.settings.map { .raw($0.cdn) } ?? .null
      },
      .anything("settingsDocument", "The same in the document's shape.", ["object", "null"]) {
        $0.settings.map { .raw($0.document) } ?? .null
      },
      .list(
        "constraints", "What every run had to keep; without that nothing is recommended.",
        JSONShape<Part>([
          .init("constraint", "As it was given.") { $0.result.study.constraints[$0.index].text },
          .init(
            "isMet", "Whether a candidate or today's Settings keep it in every run that they had."
          ) { $0.unmet == nil },
          .init(
            "nearest",
            "Where it is not met: the nearest to the limit that the worst run of a candidate came, in the metric's unit; null: a time "
              + "that came in no run, or it is met."
          ) { $0.unmet?.constraints[$0.index].worst.flatMap { $0.isCensored ? nil : $0.restricted } },
          .init("brokenRatio", "Share of the best finalist's fresh runs that break it.") {
            $0.result.confirmed.winner.constraints[$0.index].broken
          },
          .init("todayBrokenRatio", "The same of today's Settings.") {
            $0.result.confirmed.today.constraints[$0.index].broken
          },
        ])
      ) { $0.parts($0.result.study.constraints.indices) },
      .init("objectives", "Columns of `summary.csv` that the score is made of.") {
        $0.result.study.objectives.map(\.metric.name)
      },
      .rows(
        "candidates",
        "The rows of `pareto.csv`: the best finalist first, then every candidate, with a column for each key, objective and "
          + "scenario.", columns: TuneReport.firstColumns
      ) {
        let report = TuneReport($0.result)
        return report.rows.map { .row(report.columns, $0) }
      },
      .init("runsMade", "Runs that were made.") { $0.result.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.result.runs.readBack },
    ] as [JSONShape<TuneFindings>.Member])
}

/// What `calibrate` found.
struct CalibrationFindings: Sendable {
  var observedPath: String
  var result: CalibrationResult
  /// As JSON text.
  var fitted: String
  var runs: (made: Int, readBack: Int)

  /// A key or a column, by its place in the study.
  private struct Part: Sendable {
    var result: CalibrationResult
    var index: Int
    var interval: (low: Quantity, high: Quantity) { result.interval(index) }
  }

  static let document = CommandDocument.study(
    "the values that fit what was measured, and how well.",
    [
      .init("observed", "The measured file as it was named.") { $0.observedPath },
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
        JSONShape<Part>([
          .init("path", "A key of the scenario.") { $0.result.study.keys[$0.index].path },
          .init("value", "The fitted value, as a scenario takes it.") { $0.result.values[$0.index] },
          .init("low95", "Lower end of its 95 % interval.") { $0.interval.low.text() },
          .init("high95", "Upper end of the same.") { $0.interval.high.text() },
          .init("isUnknown", "Whether the series says nothing of it.") { $0.result.isUnknown($0.index) },
          .init("isAtEdge", "Whether it lies at the edge of its range.") { $0.result.isAtEdge($0.index) },
        ])
      ) { findings in
        findings.result.study.keys.indices.map { Part(result: findings.result, index: $0) }
      },
      .list(
        "columns", "What it was fitted to.",
        JSONShape<Part>([
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
        findings.result.study.weights.indices.map { Part(result: findings.result, index: $0) }
      },
      .anything("fitted", "The fitted scenario, as normalised.", ["object"]) { .raw($0.fitted) },
      .init("runsMade", "Runs that were made.") { $0.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.runs.readBack },
    ] as [JSONShape<CalibrationFindings>.Member])
}

extension Rescue {
  static let document = CommandDocument.study(
    "the smallest action that ends an ill state, and what was tried.",
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
    "the incident that hurts most, and the shortest that breaks the limit.",
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

extension StabilityMap {
  static let document = CommandDocument.study(
    "where the fleet recovers, point by point.",
    [
      .init("verdict", "What the map shows, in sentences.") { StabilityVerdict($0).sentence },
      .object("x", "The first parameter.", axis) { $0.x },
      .object("y", "The second parameter.", axis) { $0.y },
      .init("risk", "The chance of not recovering that is put up with.") { $0.risk.risk },
      .rows("points", "The rows of `stability.csv`.", columns) { $0.table.rows },
    ] as [JSONShape<StabilityMap>.Member])

  private static let axis = JSONShape<QuantityRange>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("low", "Where it begins.") { $0.low.text() },
    .init("high", "Where it ends.") { $0.high.text() },
    .init("isLogarithmic", "Whether its steps are even ratios.") { $0.isLogarithmic },
  ])
}
