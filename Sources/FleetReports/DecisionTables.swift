import FleetExperiments
import FleetMetrics

extension Decision {
  /// A row of `decision.csv`: a criterion of a case.
  package typealias Row = (one: Case, cell: Cell)

  package static let columns: [CSVColumn<Row>] = [
    .init("case", "", "Name of the case.") { .text($0.one.name) },
    .init("criterion", "", "What is compared: failures, or a column of `summary.csv`.") {
      .text($0.cell.name)
    },
    .init(
      "state", "",
      "What the proposed Settings are by it: \(Cell.State.allCases.map(\.rawValue).joined(separator: ", "))."
    ) { .text($0.cell.state.rawValue) },
    .init("is_allowed", "", "Whether it may get worse, as `--allow` says.") { .flag($0.cell.isAllowed) },
    .init(
      "is_price", "",
      "Whether fewer runs fail, or fewer events are lost, in the same case: if it is worse, that may be the price."
    ) { .flag($0.cell.isPrice) },
    .init("today", "", "Mean with today's Settings, of the whole fleet, as a person reads it.") {
      .text($0.cell.figures.today.text)
    },
    .init("proposed", "", "The same with the proposed Settings.") { .text($0.cell.figures.proposed.text) },
    .init("unit", "", "Of the means: that of the column of `summary.csv`; of failures a share.") {
      .text($0.cell.metric?.unit ?? "ratio")
    },
    .init(
      "today_mean", "",
      "The same as a number. Of a time that a run does not live to see, the time that it was watched."
    ) { .decimal($0.cell.figures.today.number) },
    .init("proposed_mean", "", "The same with the proposed Settings.") {
      .decimal($0.cell.figures.proposed.number)
    },
    .init("difference", "", "Proposed less today, of the whole fleet, under the same seeds.") {
      .decimal($0.cell.difference?.mean)
    },
    .init("difference_low", "", "The least that the difference may be, at the level of the decision.") {
      .decimal($0.cell.difference?.low)
    },
    .init("difference_high", "", "The most that it may be.") { .decimal($0.cell.difference?.high) },
    .init("today_runs", "runs", "Runs with today's Settings.") { .integer(Int64($0.one.today.count)) },
    .init("proposed_runs", "runs", "Runs with the proposed Settings, under the same seeds first.") {
      .integer(Int64($0.one.proposed.count))
    },
    .init("seeds_needed", "runs", "About how many seeds would decide it; empty where it is decided.") {
      $0.cell.seedsNeeded.map { .integer(Int64($0)) } ?? .empty
    },
  ]

  package var rows: [Row] { cases.flatMap { one in one.cells.map { (one, $0) } } }

  /// Every figure: today beside the proposed, with what each comes to, and the battery.
  package var figures: TextTable {
    let rows = cases.flatMap { one in
      var rows = one.cells.filter { $0.criterion != .health }.map { cell in
        let figures = [cell.figures.today.text, cell.figures.proposed.text]
        // Of runs none of which fails, some still may.
        let mayFail = cell.criterion == .failures && cell.state == .open && one.failures == 0
        let bounds = mayFail ? "none to +\(FigureText.percent(one.risk))" : cell.bounds ?? "–"
        // Events that one loses and the other has late are judged as lost alone.
        let isElsewhere = cell.metric != nil && bounds == "none" && figures[0] != figures[1]
        let state =
          cell.state != .worse
          ? cell.state.rawValue : cell.isAllowed ? "allowed" : cell.isPrice ? "worse (price)" : "worse"
        return [cell.words] + figures
          + [state, isElsewhere ? "counted as lost" : bounds.replacing(" to ", with: " to\n")]
      }
      if let possible = one.possible {
        let text = FigureText.span(Int64(possible * 1e6))
        rows.append(["possible", text, text, "–", "–"])
      }
      rows.append(
        ["radio wake-ups"] + [one.today, one.compared].map { MetricText.plain($0.wakeUps) } + ["–", "–"])
      return rows.enumerated().map { [$0 == 0 ? one.name : ""] + $1 }
    }
    return TextTable(
      header: ["case", "figure", "today", "proposed", "proposed is", "the difference may be"], rows: rows,
      words: 2)
  }

  /// The cohorts that lose events, to which limit, and where late events wait, the worst first.
  package func losses(atMost count: Int) -> TextTable {
    TextTable(
      header: ["case", "Settings", "who", "lost to", "late ones wait", "lost", "late"],
      rows: losses.rows.filter(\.isHarmed).prefix(count).map { row in
        [
          row.variantName, row.variant % 2 == 1 ? "proposed" : "today", row.cohort, row.causeText,
          row.places.first?.words ?? "–",
        ] + [row.lost, row.late].map { FigureText.amount($0 * row.scale) }
      }, words: 5)
  }
}
