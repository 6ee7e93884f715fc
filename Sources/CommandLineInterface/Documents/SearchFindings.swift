import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics

/// What `tune` found.
struct TuneFindings: Sendable {
  var paths: [String]
  var warnings: [String]
  var result: TuneResult
  /// As JSON text; nil: nothing is recommended.
  var settings: (cdn: String, document: String)?
  var output: String?

  private struct Key: Sendable {
    var path: String
    var value: String
    var today: String?
    var effect: KeyEffect?
  }

  private var keys: [Key] {
    let candidate = result.winner.candidate
    return candidate.choices.indices.filter { candidate.choices[$0] != nil }.map { index in
      Key(
        path: result.study.space.parameters[index].path, value: result.value(index, of: candidate),
        today: result.study.todaysValues[index],
        effect: result.effects.first { $0.parameter == index })
    }
  }

  private struct Constraint: Sendable {
    var text: String
    var isMet: Bool
    var best: Double?
    var finalist: ConstraintRecord
    var today: ConstraintRecord
  }

  private var constraints: [Constraint] {
    let unmet = result.unmetConstraints?.best ?? []
    return result.study.constraints.indices.map { index in
      let best = unmet.first { $0.constraint == index }?.standing
      return Constraint(
        text: result.study.constraints[index].text, isMet: best == nil,
        best: best.flatMap { $0.constraints[index].worst }.flatMap { $0.isCensored ? nil : $0.restricted },
        finalist: result.confirmed.winner.constraints[index], today: result.confirmed.today.constraints[index]
      )
    }
  }

  private struct Scenario: Sendable {
    var name: String
    var path: String
    var standing: MetricRule.Standing
    var score: Double
  }

  private var scenarios: [Scenario] {
    let fresh = result.confirmed.winner
    return result.study.scenarios.indices.map { index in
      Scenario(
        name: result.study.scenarios[index], path: paths[index], standing: fresh.comparison[index].standing,
        score: TuneVerdict.ratio(fresh.scenarioScores[index]))
    }
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

  static let document = CommandDocument<TuneFindings>(
    commands: ["tune"], meaning: "the Settings to publish, and every candidate.",
    shape: JSONShape([
      .init("warnings", "What standard error has of warnings about the scenarios.") { $0.warnings },
      .init("verdict", "What to do, in sentences.") { TuneVerdict($0.result).sentence },
      .init("isRecommended", "Whether there are Settings to publish, confirmed by fresh seeds.") {
        $0.settings != nil
      },
      .list(
        "keys", "What the best finalist changes; `isRecommended` says whether to do it.",
        JSONShape<Key>([
          .init("path", "A key of Settings.") { $0.path },
          .init("value", "The new value.") { $0.value },
          .init("today", "Today's; null: not set.") { $0.today },
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
      ) { $0.keys },
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
        JSONShape<Scenario>([
          .init("name", "The scenario's name.") { $0.name },
          .init("scenario", "Its file as it was named.") { $0.path },
          .choice(
            "standing", "What `compare` says of it against today's Settings.",
            MetricRule.Standing.allCases.map(\.rawValue)
          ) { $0.standing.rawValue },
          .init("scoreRatio", "The score divided by today's.") { $0.score },
        ])
      ) { $0.scenarios },
      .anything("settings", "What to publish, as the CDN serves it; null: nothing.", ["object", "null"]) {
        $0.settings.map { .raw($0.cdn) } ?? .null
      },
      .anything("settingsDocument", "The same in the document's shape.", ["object", "null"]) {
        $0.settings.map { .raw($0.document) } ?? .null
      },
      .list(
        "constraints", "What every run had to keep; without that nothing is recommended.",
        JSONShape<Constraint>([
          .init("constraint", "As it was given.") { $0.text },
          .init(
            "isMet", "Whether a candidate or today's Settings keep it in every run that they had."
          ) {
            $0.isMet
          },
          .init(
            "nearest",
            "Where it is not met: the nearest to the limit that the worst run of a candidate came, in the metric's unit; null: a time "
              + "that came in no run, or it is met."
          ) { $0.best },
          .init("brokenRatio", "Share of the best finalist's fresh runs that break it.") {
            $0.finalist.broken
          },
          .init("todayBrokenRatio", "The same of today's Settings.") { $0.today.broken },
        ])
      ) { $0.constraints },
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
      .output { $0.output },
    ]))
}
