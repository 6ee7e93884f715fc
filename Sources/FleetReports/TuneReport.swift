import FleetExperiments
import FleetMetrics

/// The files of a search: page, picture, table of candidates.
package struct TuneReport {
  private let result: TuneResult
  package init(_ result: TuneResult) { self.result = result }

  /// A picture that stands alone: white background, fixed colours, no script.
  package var picture: String { ParetoPlot(result, theme: .fixed).svg() }

  /// The same of the score by draw; nil without unknowns.
  package var drawsPicture: String? { DrawsPlot(result, theme: .fixed)?.svg() }

  /// `draws.csv`: each fresh draw with the unknowns' values and the score of everything that was compared in it; nil without unknowns.
  package var drawsTable: [UInt8]? {
    guard let robust = result.robustness else { return nil }
    let verdict = TuneVerdict(result)
    let unknowns = (robust.draws.first?.overrides ?? []).enumerated().map { index, override in
      CSVColumn<Int>(override.path, "", "Its value.") { .text(robust.draws[$0].values[index]) }
    }
    let others = robust.others.map { other in
      CSVColumn<Int>(
        "\(verdict.difference(of: other, from: robust.winner)): score_ratio", "1", "Of these Settings."
      ) {
        Self.ratio(other.scoreBySeed[$0])
      }
    }
    return CSVFile.bytes(
      [CSVColumn<Int>("draw", "", "Its number.") { .integer(Int64($0 + 1)) }] + unknowns
        + [
          CSVColumn<Int>("score_ratio", "1", "The best finalist's, divided by today's.") {
            Self.ratio(robust.winner.scoreBySeed[$0])
          }
        ] + others, robust.draws.indices)
  }

  /// `pareto.csv`: the best finalist first, then every candidate in the order of the search.
  package var table: [UInt8] { CSVFile.bytes(columns, rows) }

  /// One line of `pareto.csv`.
  package struct Row: Sendable {
    fileprivate var number: Int64
    fileprivate var kind: ParetoPlot.Kind
    fileprivate var standing: Standing
  }

  package var rows: [Row] {
    let front = Set(result.front)
    return [Row(number: 0, kind: .winner(result), standing: result.winner)]
      + result.standings.enumerated().map { index, standing in
        let kind: ParetoPlot.Kind =
          standing.candidate == result.today.candidate
          ? .today : standing.violations > 0 ? .broken : front.contains(index) ? .front : .beaten
        return Row(number: Int64(index + 1), kind: kind, standing: standing)
      }
  }

  /// The columns that `pareto.csv` has of every search.
  package static let firstColumns: [CSVColumn<Row>] = [
    .init("candidate", "", "Its number; 0: the best finalist.") { .integer($0.number) },
    .init(
      "kind", "",
      "`recommended`, `finalist` (the best one, where it is not recommended), `today`, `front`, `beaten` or `broken` (a constraint)."
    ) {
      .text($0.kind.name)
    },
    .init("seeds", "runs", "Seeds that it had.") { .integer(Int64($0.standing.seeds)) },
    .init("scale", "", "The part of the fleets that it had: `1:1`, the whole.") {
      .text($0.standing.scale.text)
    },
    .init("violations_ratio", "1", "Share of the runs that do not recover or break a constraint.") {
      .decimal($0.standing.violations, decimals: 6)
    },
    .init("score_ratio", "1", "The score divided by today's; below 1 is better.") {
      ratio($0.standing.score)
    },
  ]

  /// Those, and one for each key, objective and scenario.
  package var columns: [CSVColumn<Row>] {
    let (result, study) = (result, result.study)
    let keys = study.space.parameters.enumerated().map { index, parameter in
      CSVColumn<Row>(parameter.path, "", "Its value.") {
        .text(result.value(index, of: $0.standing.candidate))
      }
    }
    let objectives = study.objectives.enumerated().map { index, objective in
      CSVColumn<Row>("\(objective.metric.name)_vs_today_ratio", "1", "Divided by today's.") {
        Self.ratio(result.coordinates($0.standing)[index])
      }
    }
    let scenarios = study.scenarios.enumerated().map { index, scenario in
      CSVColumn<Row>("\(scenario)_score_ratio", "1", "The score divided by today's.") {
        Self.ratio($0.standing.scenarioScores[index])
      }
    }
    return Self.firstColumns + keys + objectives + scenarios
  }

  private static func ratio(_ log: Double) -> CSVValue { .decimal(TuneVerdict.ratio(log), decimals: 6) }

  /// The Settings to publish, what each key buys, and how they fare against today's.
  /// - Parameters:
  ///   - settings: to publish, as the CDN serves them and in the document's shape; nil: none are recommended.
  ///   - clients: what each shipped client makes of them.
  package func answer(
    facts: String, settings: (cdn: String, document: String)?, clients: [(client: String, lines: [String])]
  ) -> Answer {
    let verdict = TuneVerdict(result)
    let (keys, robust, scenarios) = (verdict.keySentences, verdict.robustSentences, verdict.comparisons)
    let comparison = TextTable(header: verdict.comparison.header, rows: verdict.comparison.rows)
    var answer = Answer(verdict: verdict.sentence, facts: facts)
    answer.terminal =
      [.verdict, .list(robust + keys + scenarios), .table(comparison)]
      + clients.map { .list($0.lines, title: "What \($0.client) makes of these Settings:") }
    if !keys.isEmpty {
      answer.page.append(
        .list(
          keys, title: "What each key buys",
          note: """
            Measured by putting that one key back to today's value, with the same seeds; changes are over all scenarios, in \
            brackets 95 % intervals. Objectives without a difference that could be measured are left out.
            """))
    }
    if !robust.isEmpty { answer.page.append(.list(robust, title: "Over what is not known")) }
    if let plot = DrawsPlot(result, theme: .variables) {
      answer.page.append(
        .figure(
          plot.svg(), title: "Draw by draw",
          caption:
            "The score against today's Settings in each fresh draw, by the value of what is not known; down is better. The other colour is "
            + "what would be better where these Settings are not the best. Hover a mark for the draw."))
    }
    if !scenarios.isEmpty { answer.page.append(.list(scenarios, title: "Scenario by scenario")) }
    let fresh = result.confirmed.winner.seeds
    answer.page += [
      .table(
        comparison, title: "Against today's Settings",
        note:
          "Means over \(fresh) fresh \(FigureText.noun(result.study.repetition, fresh)), on which no choice was based: "
          + "today → \(result.isRecommended ? "recommended" : "the best finalist, which is not recommended")."
      ),
      .figure(
        ParetoPlot(result, theme: .variables).svg(), title: "Candidates",
        caption:
          "Each against today's Settings under the same seeds, as a geometric mean over the scenarios; left and down is "
          + "better. Hover a mark for its Settings."),
    ]
    if let settings { answer.page.append(.text(settings.cdn, title: "The Settings to publish")) }
    answer.page.append(.terms(Self.terms(result)))

    let pareto = [
      OutputFile(OutputFile.pareto, table), OutputFile(OutputFile.paretoPicture, text: picture),
    ]
    let draws = [
      drawsTable.map { OutputFile(OutputFile.draws, $0) },
      drawsPicture.map { OutputFile(OutputFile.drawsPicture, text: $0) },
    ].compactMap(\.self)
    let published = settings.map {
      [
        OutputFile(OutputFile.settings, text: $0.cdn),
        OutputFile(OutputFile.documentSettings, text: $0.document),
      ]
    }
    answer.data = pareto.prefix(1) + draws.prefix(1) + (published ?? [])
    answer.pictures = pareto.suffix(1) + draws.dropFirst()
    answer.listing =
      ((published ?? []) + pareto + draws).map(\.path) + [OutputFile.report, OutputFile.manifest]
    answer.offer = "the Settings, the table and a report"
    return answer
  }

  private static func terms(_ result: TuneResult) -> [(String, String)] {
    [
      (
        "Score",
        "The geometric mean of the objectives divided by today's, run by run with the same seed; 1 is as today, smaller is "
          + "better. A floor is added to both (a thousandth of the events created, ten seconds, a tenth of the twin's attempts), "
          + "so that none against a few counts as little. What neither has, as a recovery without an incident, has no weight."
      ),
      (
        "Holds",
        "A setting is recommended only if every run keeps every constraint; if in each scenario its runs recover and keep the "
          + "constraints more often than today's, or as often with a score at most 5 % above today's; if no scenario "
          + "delivers less than today, and compare's verdict ranks it behind today in none; and if "
          + "fresh seeds confirm all of that and a score below 1."
      ),
      (
        "Pareto front",
        "Candidates that no other candidate beats in one objective without being beaten in another."
      ),
    ]
      + (result.robustness == nil
        ? []
        : [
          (
            "How sure the choice is",
            "The probability that no other candidate of the race has a lower expected score, given that only so many draws were made: "
              + "more draws make it larger. It is not the share of draws in which these Settings are the best, which is a property of what "
              + "is not known and stays what it is."
          ),
          (
            "The worst tenth",
            "The mean score over the tenth of the fresh draws in which these Settings do worst against today's (the conditional value "
              + "at risk)."
          ),
        ]) + result.study.objectives.map { (TuneVerdict(result).title($0), $0.metric.definition) }
  }
}
