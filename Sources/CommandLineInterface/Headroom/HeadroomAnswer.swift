import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics

extension HeadroomGoal {
  /// The words behind "the fleet": `recovers within 20 min`.
  var predicate: String {
    switch self {
    case .recovers(nil): "recovers"
    case .recovers(let limit?): "recovers within \(FigureText.span(limit.microseconds))"
    case .losesNothing: "loses nothing"
    case .staysBelow(let share): "stays below \(FigureText.percent(share)) of the capacity"
    }
  }
}

// MARK: - Sentences

extension Headroom {
  private var goal: String { goals.map(\.predicate).joined(separator: " and ") }

  private static func text(_ point: Point) -> String { point.value.words }

  /// `in all of 59 runs, so at most 5 % may not`
  private static func surely(_ point: Point) -> String {
    "in all of \(FigureText.count(point.seeds, "run")), so at most \(FigureText.percent(point.risk)) may not"
  }

  /// Where runs with a value that fails fall short, the first goal of them: `a second offers up to 107 % of the capacity`.
  private static func reason(_ point: Point) -> String {
    switch point.unmet.first {
    case .staysBelow:
      return "a second offers up to \(FigureText.percent(point.highestLoad ?? 0)) of the capacity"
    case .losesNothing:
      return "up to \(FigureText.count(point.mostLostOrBlocked, "event")) are lost or blocked"
    case .recovers:
      let health = HealthWording(point.baselines).reason
      if !health.isEmpty { return "without incidents \(health)" }
      if point.recovered < point.seeds {
        return "\(point.seeds - point.recovered) of \(FigureText.count(point.seeds, "run")) "
          + "\(point.seeds - point.recovered == 1 ? "does" : "do") not recover"
      }
      return "the slowest recovery takes \(FigureText.span(point.longestRecovery))"
    case nil: return "nothing fails"
    }
  }

  /// The answer first, then what it is worth.
  package var verdict: String {
    let (low, high) = (range.low.words, range.high.words)
    if points.allSatisfy({ $0.baselines.allSatisfy { !$0.isHealthy } }) {
      return
        "The fleet does not hold its load even without any incident, for \(range.path) from \(low) to \(high): "
        + "\(HealthWording(points.flatMap(\.baselines)).reason)."
    }
    if allHold {
      let weakest = points[0].seeds < points[points.count - 1].seeds ? points[0] : points[points.count - 1]
      return
        "The fleet \(goal) for \(range.path) at both ends, \(low) and \(high), and between: \(Self.surely(weakest)). "
        + "A wider range would show the limit."
    }
    guard let answer, let beyond else {
      let best = points.max {
        ($0.seeds > 0 ? Double($0.met) / Double($0.seeds) : 0, $1.step)
          < ($1.seeds > 0 ? Double($1.met) / Double($1.seeds) : 0, $0.step)
      }!
      guard best.met > 0 else {
        let runs = FigureText.count(points.map(\.seeds).reduce(0, +), "run")
        return
          "No value of \(range.path) from \(low) to \(high) will do: the fleet \(goal) in none of \(runs). Another limit decides; "
          + "'fleetsim run' names it."
      }
      return "No value of \(range.path) from \(low) to \(high) will do: the fleet \(goal) in \(best.met) of "
        + "\(FigureText.count(best.seeds, "run")) at best, with \(Self.text(best))."
    }
    var text =
      "\(Self.text(answer)) is the \(isLeast ? "least" : "greatest") \(range.path) with which the fleet \(goal): "
    text += "\(Self.surely(answer))."
    if let meaning = meaning(answer.value) { text += " \(meaning)" }
    text += " With \(Self.text(beyond)) it does in \(beyond.met) of \(beyond.seeds): \(Self.reason(beyond))."
    if let tooMuch {
      text +=
        " \(Self.text(tooMuch)) is too \(isLeast ? "much" : "little"): it does in \(tooMuch.met) of \(tooMuch.seeds)."
    }
    return text + (own.flatMap { spare(own: $0, to: answer.value) } ?? "")
  }

  /// How far the scenario's own value is from the answer.
  private func spare(own: Quantity, to limit: Quantity) -> String? {
    guard let own = own.converted(to: limit.unit) else { return nil }
    let room = isLeast ? own.value - limit.value : limit.value - own.value
    let text = own.words
    if room == 0 { return " The scenario has just that." }
    var distance = limit
    distance.value = abs(room)
    let share = own.value != 0 ? " (\(FigureText.percent(abs(room / own.value))))" : ""
    return room > 0
      ? " The scenario's own \(text) leaves \(distance.words)\(share) to spare."
      : " The scenario's own \(text) is \(distance.words) too \(isLeast ? "little" : "much")."
  }
}

// MARK: - Table

extension Headroom {
  /// A row of `headroom.csv`.
  struct Row: Sendable {
    var point: Point
    var isAnswer: Bool
  }

  /// The columns of `headroom.csv` in order.
  static let columns: [CSVColumn<Row>] = [
    .init("value", "", "The key's value.") { .text($0.point.value.text()) }
      .shown("value") { text($0.point) + ($0.isAnswer ? " ✓" : "") },
    .init("seeds", "runs", "Runs with this value.") { .integer(Int64($0.point.seeds)) },
    .init("met_seeds", "runs", "Of these: all that was asked for was so.") { .integer(Int64($0.point.met)) }
      .shown("does") { "\($0.point.met) of \($0.point.seeds)" },
    .init(
      "risk_high_95_ratio", "1",
      "The largest share of such runs that may not, with 95 % confidence (Clopper and Pearson, one-sided)."
    ) { .decimal($0.point.risk) }
    .shown("may not, at most") { FigureText.decimal($0.point.risk * 100) + " %" },
    .init("is_answer", "", "Whether this is the answer.") { .flag($0.isAnswer) },
    .init("recovered_seeds", "runs", "Runs that recovered within the run.") {
      .integer(Int64($0.point.recovered))
    },
    .init(
      "recovery_max_s", "s",
      "From the end of the last incident, the longest of the runs that recovered; empty if none did."
    ) { .seconds($0.point.longestRecovery) }
    .shown("longest recovery") {
      guard $0.point.hasIncidents else { return "" }
      return $0.point.recovered < $0.point.seeds
        ? "never" : $0.point.longestRecovery.map(FigureText.span) ?? ""
    },
    .init("lost_events_max", "events", "Events that were destroyed, the most of a run.") {
      .integer($0.point.mostLost)
    }.shown("most lost") { FigureText.grouped($0.point.mostLostAtFullSize) },
    .init("peak_offered_max_ratio", "1", "The offered load of the busiest second of all runs, by capacity.") {
      $0.point.highestLoad.map { .decimal($0) } ?? .empty
    }.shown("busiest second") { $0.point.highestLoad.map { FigureText.percent($0) } ?? "" },
  ]

  /// A row for each value that was looked at.
  var table: Table<Row> { Table(Self.columns, points.map { Row(point: $0, isAnswer: $0 == answer) }) }
}

// MARK: - Answer

extension Headroom {
  static let document = CommandDocument.study(
    "how far a key can go, value by value.",
    [
      .init("verdict", "The answer and what it is worth, in sentences.") { $0.verdict },
      .init("key", "The key.") { $0.range.path },
      .init("low", "The smallest value of the range.") { $0.range.low.text() },
      .init("high", "The largest.") { $0.range.high.text() },
      .init("goal", "What the fleet does in every run: `recovers`.") { $0.goal },
      .init("own", "The scenario's own value; null: it has none.") { $0.own?.text() },
      .init("answer", "The value looked for; null: none will do, or all do.") { $0.answer?.value.text() },
      .init("isLeast", "Whether larger values do rather than smaller ones.") { $0.isLeast },
      .init("allHold", "Whether every value that was looked at does.") { $0.allHold },
      .init("seeds", "Runs of the answer.") { $0.seeds },
      .rows("values", "The rows of `headroom.csv`.", columns) { $0.table.rows },
    ] as [JSONShape<Headroom>.Member])

  func answer(facts: String) -> Answer {
    var answer = Answer(verdict: verdict, facts: facts)
    let shown = TextTable(table)
    let title = "Share of the runs in which the fleet \(goal)"
    answer.terminal = [.table(shown), .verdict]
    answer.page = [
      .figure(
        picture(.variables), title: title,
        caption: "Points: the share of a value's runs. Bars: where it may lie, 95 % (Wilson)."),
      .table(shown, title: "The values"),
      .terms([
        ("Does", "In how many runs all was so that was asked for. The answer does in all of its runs."),
        (
          "May not, at most",
          "The largest share of such runs that may fail, with 95 % confidence (Clopper and Pearson, one-sided)."
        ),
        ("Longest recovery", "From the end of the last incident, over the runs; never: not in every run."),
        ("Busiest second", "The largest offered load of a second of any run, by the capacity."),
      ]),
    ]
    answer.data = [OutputFile(.headroom, table.csv)]
    answer.pictures = [OutputFile(.headroomPicture, text: picture(.fixed))]
    answer.offer = "the table, a picture and a report"
    return answer
  }

  private func picture(_ theme: Theme) -> String {
    let (left, top, width, height) = (56.0, 36.0, 760.0, 240.0)
    var canvas = SVGCanvas(theme: theme)
    func px(_ value: Quantity) -> Double { left + (range.share(of: value) ?? 0) * width }
    func py(_ share: Double) -> Double { top + (1 - share) * height }
    for share in [0, 0.5, 1] {
      canvas.line(left, py(share), left + width, py(share), ink: .grid)
      canvas.text(FigureText.percent(share), x: left - 8, y: py(share) + 5, size: 14, anchor: .end)
    }
    for tick in range.ticks {
      canvas.text(tick.words, x: px(tick), y: top + height + 22, size: 14, anchor: .middle)
    }
    canvas.text(range.path, x: left + width, y: top + height + 46, size: 14, anchor: .end, ink: .text)
    if let own, range.share(of: own) != nil {
      canvas.line(px(own), top, px(own), top + height, ink: .twin, dash: "4 3")
      canvas.text("now", x: px(own), y: top - 12, size: 14, anchor: .middle)
    }
    for point in points {
      let chance = WilsonInterval(successes: point.met, of: point.seeds)
      let ink = point == answer ? Ink.series(1) : .twin
      canvas.line(px(point.value), py(chance.low), px(point.value), py(chance.high), ink: ink, width: 2)
      let radius = point == answer ? 6.0 : 4
      canvas.rect(
        x: px(point.value) - radius, y: py(chance.share) - radius, width: 2 * radius, height: 2 * radius,
        fill: ink, tooltip: "\(point.value.words): \(point.met) of \(point.seeds)")
    }
    if let answer {
      let isRight = px(answer.value) > left + width / 2
      canvas.text(
        answer.value.words, x: px(answer.value) + (isRight ? -10 : 10), y: top + 20,
        size: 16,
        anchor: isRight ? .end : .start, ink: .text, isBold: true)
    }
    return canvas.svg(width: left + width + 24, height: top + height + 60, label: verdict)
  }
}
