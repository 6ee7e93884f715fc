import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics

// MARK: - Sentences

extension LimitSearch {
  /// `recovery <= 20m and lost = 0`
  fileprivate var goal: String { requirements.map(\.text).joined(separator: " and ") }

  /// `all 59 runs keep it; up to 5 % of such may not`
  private static func surely(_ point: Point) -> String {
    "all \(FigureText.count(point.seeds, "run")) keep it; up to \(FigureText.percent(point.risk)) of such may not (95 % confidence)"
  }

  /// `59 seeds, 1:800 of 800,000 devices`
  private static func basis(_ point: Point) -> String {
    let run = point.runs[0]
    return FigureText.count(point.seeds, "seed") + ", "
      + FigureText.fleet(of: run.fullSize(run.devices), scale: run.scale)
  }

  /// `up to 28.5 million events`
  private static func lost(_ point: Point) -> String {
    "up to \(FigureText.amount(Double(point.mostLostAtFullSize))) events"
  }

  /// `8 min: 2 of 59 runs do not (recovery 31 min)`
  private func failing(_ point: Point) -> String {
    let broken = point.seeds - point.met
    return
      "\(point.value.words): \(broken) of \(FigureText.count(point.seeds, "run")) \(broken == 1 ? "does" : "do") not (\(reason(point)))"
  }

  /// What the worst run of a value that fails comes to: `recovery 31 min`.
  private func reason(_ point: Point) -> String {
    let health = HealthWording(point.baselines).reason
    if !health.isEmpty { return "without incidents \(health)" }
    if point.runs.contains(where: \.endsTooSoon) { return "the run ends too soon to see the fleet catch up" }
    let outcomes = requirements.map { ($0, $0.outcome(of: point.runs)) }
    guard let (broken, worst) = outcomes.first(where: { !$1.isMet }) else { return "nothing fails" }
    let cause =
      broken.isBrokenByLosses(point.runs) ? point.mainCharge(breaking: broken).map { ", \($0.words)" } : nil
    let found = broken.isOfFailures ? point.runs.failureReasons : "\(worst.name) \(worst.measured)"
    return found + (cause ?? "")
  }

  /// The answer first, then what it is worth.
  package var story: Story {
    let values = "\(range.path) from \(range.words)"
    if points.allSatisfy({ $0.baselines.allSatisfy { !$0.isHealthy } }) {
      var story = Story("The fleet does not hold its load even without any incident", basis: values)
      story.add(.unwell, HealthWording(points.flatMap(\.baselines)).reason)
      return story
    }
    if allHold {
      let last = points[points.count - 1]
      var story = Story("Any \(values) keeps \(goal)", basis: Self.basis(last))
      story.add(.reason, "\(last.value.words): \(Self.surely(last))")
      if !isLessBetter { story.add(.next, "a wider range would show the limit") }
      return story
    }
    guard let answer, let beyond else { return nothing(values) }
    let keeps =
      beyond.runs.contains(where: \.endsTooSoon)
      ? "of which so short a run shows that it keeps" : "that keeps"
    var story = Story(
      "\(answer.value.words) is the \(isLeast ? "least" : "greatest") \(range.path) \(isFinished ? "" : "so far ")\(keeps) \(goal)",
      basis: Self.basis(answer))
    story.add(.reason, Self.surely(answer))
    story.add(.note, meaning(answer.value))
    story.add(.fails, [beyond, tooMuch].compactMap { $0.map(failing) })
    if answer.mostLost > 0, !requirements.contains(where: \.isOfLosses) {
      story.add(.lost, Self.lost(answer))
    }
    story.add(
      .note,
      points.filter { $0.holds && isBeyond($0) }.map {
        "\($0.value.words) keeps it again" + ($0.mostLost > 0 ? ", with \(Self.lost($0)) lost" : "")
      }, atMost: 1)
    story.add(.note, own.flatMap { spare(own: $0, to: answer.value) })
    story.add(.note, shortWatch(answer, beyond))
    return story
  }

  /// That the run's end may decide: what fails never catches up, and is watched less than twice as long as the answer takes.
  private func shortWatch(_ answer: Point, _ beyond: Point) -> String? {
    let watched = beyond.runs.filter(\.neverRecovers).compactMap(\.recoveryHorizon).min()
    guard let watched, let taken = answer.longestRecovery, watched < 2 * taken,
      requirements.contains(where: { $0.isOfFailures || $0.name == "recovery" })
    else { return nil }
    return "runs are watched for \(FigureText.span(watched)) only: a longer duration may keep more"
  }

  /// No value keeps the requirements in every run.
  private func nothing(_ values: String) -> Story {
    // Of those that fare alike the last towards the better end.
    let best = (isLessBetter ? points : points.reversed())
      .max { Double($0.met) / Double($0.seeds) < Double($1.met) / Double($1.seeds) }!
    var story = Story("No \(values) keeps \(goal)", basis: Self.basis(best))
    if best.met > 0 {
      story.add(
        .fails,
        best.holds
          ? "at best \(best.met) of \(FigureText.count(best.seeds, "run")) do, with \(best.value.words)"
          : failing(best))
    } else {
      story.add(
        .fails, "all \(FigureText.count(points.map(\.seeds).reduce(0, +), "run")): \(reason(best))")
      story.add(.next, "something else decides; fleetsim run tells what")
    }
    return story
  }

  /// How far the scenario's own value is from the answer.
  private func spare(own: Quantity, to limit: Quantity) -> String? {
    guard let own = own.converted(to: limit.unit) else { return nil }
    let room = isLeast ? own.value - limit.value : limit.value - own.value
    let text = own.words
    if room == 0 { return "the scenario has just that" }
    var distance = limit
    distance.value = abs(room)
    let share = own.value != 0 ? " (\(FigureText.percent(abs(room / own.value))))" : ""
    return room > 0
      ? "the scenario's \(text) leaves \(distance.words)\(share) to spare"
      : "the scenario's \(text) is \(distance.words) too \(isLeast ? "little" : "much")"
  }

  // MARK: Table

  /// A row of `limit.csv`.
  typealias Row = (key: String, point: Point, isAnswer: Bool)

  static let columns: [CSVColumn<Row>] = [
    .init("key", "", "The key, or `length of outage` and the like.") { .text($0.key) },
    .init("value", "", "Its value.") { .text($0.point.value.text()) }
      .shown("value") { $0.point.value.words + ($0.isAnswer ? " ✓" : "") },
    .init("seeds", "runs", "Runs with this value.") { .integer(Int64($0.point.seeds)) },
    .init("met_seeds", "runs", "Of these: kept every requirement.") { .integer(Int64($0.point.met)) }
      .shown("kept") { "\($0.point.met) of \($0.point.seeds)" },
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
    .shown("caught up at the latest") {
      guard $0.point.hasIncidents else { return "" }
      if $0.point.runs.contains(where: \.endsTooSoon) { return "not seen" }
      return $0.point.recovered < $0.point.seeds
        ? "never" : $0.point.longestRecovery.map(FigureText.span) ?? ""
    },
    .init("lost_events_max", "events", "Events that the server never gets, the most of a run.") {
      .integer($0.point.mostLost)
    }.shown("most lost") { FigureText.grouped($0.point.mostLostAtFullSize) },
    .init("peak_offered_max_ratio", "1", "The offered load of the busiest second of all runs, by capacity.") {
      .decimal($0.point.highestLoad)
    }.shown("busiest second") { $0.point.highestLoad.map { FigureText.percent($0) } ?? "" },
    .init("scale", "1", "One of so many devices was simulated; counts are as simulated.") {
      .integer($0.point.runs[0].scale)
    },
  ]

  /// A row for each value that was looked at.
  var table: Table<Row> {
    Table(Self.columns, points.map { (range.path, $0, $0.step == answer?.step) })
  }

  // MARK: Page

  fileprivate var page: [Answer.Part] {
    [
      .figure(
        picture.html, title: "Share of the runs that keep \(goal)",
        caption: "Points: the share of a value's runs. Bars: where it may lie, 95 % (Wilson)."),
      .table(TextTable(table), title: "The values of \(range.path)"),
    ]
  }

  fileprivate var picture: Chart {
    let points = table.rows.compactMap { row in
      let chance = WilsonInterval(successes: row.point.met, of: row.point.seeds)
      return range.share(of: row.point.value).map {
        ($0, chance.share, chance.low...chance.high, row.point.value.words, row.isAnswer)
      }
    }
    return Chart.shares(
      title: story.finding, description: story.text, of: range.path, points,
      own: own.flatMap { range.share(of: $0) })
  }
}

// MARK: - Answer

/// The limits that were looked for, one after another.
package struct Limits: Sendable {
  package var searches: [LimitSearch]
  /// False where it was stopped: what was found so far.
  package var isFinished = true
  /// Of one search its own; of several a line for each answer.
  package var story: Story {
    if searches.count == 1 { return searches[0].story }
    var story = Story("\(searches.count) limits", basis: searches.first.map(\.goal) ?? "")
    for search in searches { story.add(.reason, search.story.finding) }
    return story
  }
  private var rows: [LimitSearch.Row] { searches.flatMap(\.table.rows) }

  static let document = CommandDocument<Findings<Limits>>.study(
    "how far keys can go, value by value.",
    [
      .list("limits", "One of each key, or kind of incident.", limit) { $0.searches },
      .rows("values", "The rows of `limit.csv`.", LimitSearch.columns) { $0.rows },
    ], story: { $0.story })

  private static let limit = JSONShape<LimitSearch>([
    .init("key", "The key, or `length of outage` and the like.") { $0.range.path },
    .init("low", "The smallest value of the range.") { $0.range.low.text() },
    .init("high", "The largest.") { $0.range.high.text() },
    .init("require", "What every run keeps, as given.") { $0.requirements.map(\.text) },
    .init("own", "The scenario's own value; null: it has none.") { $0.own?.text() },
    .init("answer", "The value looked for; null: none will do, or all do.") { $0.answer?.value.text() },
    .init("isLeast", "Whether larger values do rather than smaller ones.") { $0.isLeast },
    .init("allHold", "Whether every value that was looked at does.") { $0.allHold },
    .init("seeds", "Runs of the answer; 0 without one.") { $0.answer?.seeds ?? 0 },
  ])

  func answer(facts: String) -> Answer {
    var answer = Answer(story, facts: facts)
    answer.details = searches.map { .table(TextTable($0.table), title: $0.range.path) }
    answer.page = searches.flatMap(\.page) + [.terms(PageWords.limit.terms)]
    answer.data = [OutputFile(.limit, CSVFile.bytes(LimitSearch.columns, rows))]
    if searches.count == 1 {
      answer.pictures = [OutputFile(.limitPicture, text: searches[0].picture.svg)]
    }
    return answer
  }
}
