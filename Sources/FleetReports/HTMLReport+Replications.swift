import FleetExperiments
import FleetMetrics
import FleetStatistics

extension HTMLReport {
  /// Renders the report of a comparison with replications: the verdict, the tables with intervals, differences to the
  /// first variant, then the mean curves with their bands.
  public static func render(
    title: String, question: String? = nil, comparison: ReplicatedComparison, verdict: String,
    scenarioJSON: String, command: String, version: String, clients: ClientDifferences? = nil,
    scaleNote: String? = nil
  ) -> String {
    let standings = Standings(comparison)
    var body = overlay(comparison) + means(comparison, standings)
    if comparison.variants.count > 1 { body += differences(comparison.metrics, standings) }
    body += HTMLPage.folded("The whole run, strategy by strategy", figures(comparison)) + replicationTerms
    return HTMLPage(
      title: title, question: question, verdict: verdict, headline: Headline(standings).html,
      facts: facts(comparison) + (scaleNote.map { " · \($0)" } ?? ""),
      sections: body + table(of: clients) + terms,
      command: command, scenarioJSON: scenarioJSON, version: "\(version), \(comparison.seedsText)"
    ).text
  }

  private static func facts(_ comparison: ReplicatedComparison) -> String {
    let runs = comparison.curves.compactMap(\.facts)
    var facts: [String] = []
    func add<Value: Hashable>(_ value: (RunFacts) -> Value, _ text: (Value) -> String) {
      if let first = runs.first.map(value), runs.allSatisfy({ value($0) == first }) {
        facts.append(text(first))
      }
    }
    add(\.devices) { FigureText.count($0, "device") }
    add(\.duration) { "\(Humanised.duration($0)) of virtual time" }
    add(\.nominalCapacityMilli) { "capacity \(Humanised.compact(Double($0) / 1_000)) requests/s" }
    add(\.shaded) { $0.isEmpty ? "no incident" : $0.map(\.text).joined(separator: " · ") }
    facts.append("\(comparison.replications) replications, \(comparison.seedsText)")
    return facts.joined(separator: " · ")
  }

  // MARK: Tables

  /// What describes a run beside the verdict's metrics.
  private static let shown = [
    MetricCatalogue.lost, "blocked_events", "late_events", MetricCatalogue.timeToDelivery,
    "peak_offered_ratio", "herd_factor_ratio", "idle_while_backlogged_s",
  ]
  static let titles = [
    "blocked_events": "blocked", "late_events": "late",
    "peak_offered_ratio": "peak load, × capacity",
    "herd_factor_ratio": "herd factor", "idle_while_backlogged_s": "idle while backlogged",
  ]

  private static func means(_ comparison: ReplicatedComparison, _ standings: Standings) -> String {
    let metrics = comparison.metrics
    let ranked = metrics.ranked
    let columns =
      ranked
      + shown.filter { $0 != "herd_factor_ratio" || !comparison.isHerdThePeak }.compactMap { name in
        metrics.metrics.firstIndex { $0.name == name }
      }
    let ranks = columns.map { index in
      metrics.variants.indices.map { ranked.contains(index) ? standings.rank(of: $0, by: index) : nil }
    }
    let table = table(metrics, columns, rows: standings.order, best: standings.ticked) { column, variant in
      let index = columns[column]
      let isRanked = ranks[column].contains { ($0 ?? 1) > 1 }
      return PageTable.Cell(
        text: breakable(MetricText.mean(metrics, index, variant)),
        details: ReplicationText.details(metrics, index, variant),
        rank: isRanked ? ranks[column][variant] : nil, note: share(metrics, index, variant))
    }
    return HTMLPage.table(
      "Results", table,
      note: """
        ✓ the verdict's best. Mean ± half of its 95 % interval over the replications. Behind # the rank by a metric: one more than \
        the number of strategies that are better by the verdict's rule. A run that never recovers counts with the time there was. \
        Every other metric is in statistics.csv.
        """)
  }

  private static func share(_ metrics: ReplicatedMetrics, _ index: Int, _ variant: Int) -> String? {
    guard let share = metrics.share(index, variant: variant), share.successes < share.count else {
      return nil
    }
    return
      "\(share.successes) of \(share.count) (\(ReplicationText.percent(share.low)) to \(ReplicationText.percent(share.high)))"
  }

  private static func differences(_ metrics: ReplicatedMetrics, _ standings: Standings) -> String {
    let columns = metrics.ranked
    let rankings = columns.map { metrics.ranking($0) }
    let first = metrics.variants[0]
    let pairs = metrics.variants.count * (metrics.variants.count - 1) / 2
    let table = table(metrics, columns, rows: standings.order.filter { $0 != 0 }) { column, variant in
      let pair = rankings[column].pair(0, variant)
      let metric = metrics.metrics[columns[column]]
      return PageTable.Cell(
        text: breakable(ReplicationText.difference(metric, pair) + (pair.differs ? " *" : "")),
        mark: pair.differs ? nil : "weak", details: ReplicationText.details(metric, pair))
    }
    let chart = DifferenceChart(metrics, theme: .variables)
    return HTMLPage.table(
      "Differences to \(first)", table,
      more: chart.map { "<figure class=\"chart\">\n\($0.svg())</figure>\n" } ?? "",
      note: """
        Strategy minus \(first), seed by seed: what both have in common cancels. * can be told apart from 0: the interval, widened \
        by Holm's procedure over the \(pairs) pair\(pairs == 1 ? "" : "s") of a metric, does not contain it. In the picture as \
        shares of \(first)'s mean.
        """)
  }

  private static func table(
    _ metrics: ReplicatedMetrics, _ columns: [Int], rows: [Int], best: [Int] = [],
    _ cell: (_ column: Int, _ variant: Int) -> PageTable.Cell
  ) -> PageTable {
    PageTable(
      columns: [.init(title: "strategy")]
        + columns.map { index in
          let metric = metrics.metrics[index]
          return .init(title: titles[metric.name] ?? metric.title, meaning: metric.definition)
        },
      rows: rows.map { variant in
        PageTable.Row(
          name: metrics.variants[variant], variant: variant, isBest: best.contains(variant),
          cells: columns.indices.map { cell($0, variant) })
      })
  }

  /// The half width on a line of its own: eleven columns fit only so.
  private static func breakable(_ text: String) -> String { text.replacing(" ± ", with: "\n± ") }

  // MARK: Figures

  private static func figures(_ comparison: ReplicatedComparison) -> String {
    let charts = ReplicationCharts(comparison: comparison, theme: .variables)
    let width = comparison.curves.compactMap(\.facts).map { $0.duration / Int64(max($0.capacity.count, 1)) }
      .max()
    let means = width.map { " Means over \(Humanised.duration($0))." } ?? ""
    let band = "Line: mean of the replications; band: its 95 % interval at each time by itself."
    let offered = charts.offered()
    var html = HTMLPage.figure(
      "Offered load",
      "Upload attempts reaching the server, requests per second. \(band) Dashed: capacity. Shaded: incidents.\(means)"
        + clippingNote(offered), offered.svg())
    let goodput = charts.goodput()
    html += HTMLPage.figure(
      "Goodput",
      "Batches accepted for the first time, per second. \(band) Dashed: capacity.\(means)"
        + clippingNote(goodput), goodput.svg())
    html += HTMLPage.figure(
      "Backlog",
      "Events created and neither accepted nor dropped. \(band) Grey: the twins, the same runs without incidents.",
      charts.backlog().svg())
    return html
  }

  private static func overlay(_ comparison: ReplicatedComparison) -> String {
    guard let overlay = ReplicationCharts(comparison: comparison, theme: .variables).backlogOverlay() else {
      return ""
    }
    return HTMLPage.figure(
      "Round the incident",
      "Normal is the twin, the same runs without incidents. Line: mean of the replications; band: its 95 % interval at each "
        + "time by itself.", overlay.html(label: "Backlog above normal of all strategies, round the incident")
    )
  }
}
