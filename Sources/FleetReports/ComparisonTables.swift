import FleetExperiments
import FleetMetrics
import FleetStatistics

// The result tables of `run` and `compare`. One seed has the figures of each run. Several seeds have the means with intervals,
// and the differences to the first variant.

extension TrialReport {
  /// Columns of a terminal's table, the names aside.
  private static let mostColumns = 5

  /// The variants by the verdict's criteria: of several those in which they differ. The verdict's best have a tick.
  package var table: TextTable { table(areAll: false) { $0.text } }

  /// Every criterion with its interval, and the differences to the first variant.
  var details: [Answer.Part] {
    var parts = [Answer.Part.table(table(areAll: true) { $0.cell }, title: "All criteria")]
    if !trial.isOfOneRun, names.count > 1 {
      parts.append(
        .table(
          terminalDifferences,
          title: "Against \(names[0]), seed by seed (* can be told apart from it)"))
    }
    return parts
  }

  private func table(areAll: Bool, _ text: (Figure) -> String) -> TextTable {
    let metrics = standings.metrics
    var columns: [(title: String, cells: [String])] = [
      ("failed", names.indices.map { standings.figure($0, .failures).text })
    ]
    columns += metrics.ranked.map { index in
      (metrics.metrics[index].title, names.indices.map { text(metrics.figure(index, $0)) })
    }
    if !areAll {
      columns = columns.filter { title, cells in
        names.count > 1 ? Set(cells).count > 1 : title != "failed" && cells != ["–"]
      }
      columns = Array(columns.prefix(names.count > 1 ? Self.mostColumns : Self.mostColumns + 1))
    }
    if columns.isEmpty { return TextTable(header: [], rows: []) }
    let ticked = Set(standings.ticked)
    let first = names.count > 1 ? names.indices.map { (ticked.contains($0) ? "✓ " : "") + names[$0] } : []
    return TextTable(
      header: (first.isEmpty ? [] : [""]) + columns.map(\.title),
      rows: names.indices.map { row in (first.isEmpty ? [] : [first[row]]) + columns.map { $0.cells[row] } },
      words: first.isEmpty ? 0 : 1)
  }
}

// MARK: - One seed

extension TrialReport {
  /// A column of the page's table of single runs.
  private struct RunColumn {
    var title: String
    var text: (RunSummary) -> String
    /// Whether the value is one to worry about.
    var isBad: (RunSummary) -> Bool = { _ in false }
    /// Whether it says anything of these runs.
    var isShown: ([RunSummary]) -> Bool = { _ in true }
  }

  /// Those of the catalogue, and behind the lost events what they were lost to.
  private static var runColumns: [RunColumn] {
    MetricCatalogue.ofRuns.flatMap { metric -> [RunColumn] in
      var column = RunColumn(title: metric.title, text: { text(metric, of: $0) })
      switch metric.name {
      case MetricCatalogue.recovery: column.isBad = \.neverRecovers
      case MetricCatalogue.late: column.isBad = { $0.lateEvents > 0 }
      case MetricCatalogue.lost:
        column.isBad = { $0.lostOrBlockedEvents > 0 }
        return [
          column,
          RunColumn(
            title: "of these", text: { causes($0).map { "\($1) \($0)" }.joined(separator: "\n") },
            isShown: { $0.contains { !causes($0).isEmpty } }),
        ]
      case "devices_that_lost_events_ratio":
        column.isShown = { $0.contains { $0.cost.mean[.devicesThatLostEvents] > 0 } }
      case MetricCatalogue.herdFactor:
        column.isShown = { $0.contains { $0.herdFactor != $0.peakOfferedRatio } }
      default: break
      }
      return [column]
    }
  }

  /// A metric of a run in words. It has more digits than the value in `summary.csv` where it is named here.
  private static func text(_ metric: Metric, of run: RunSummary) -> String {
    switch metric.name {
    case MetricCatalogue.healthy: sinceIncidents(run.healthyTime, run)
    case MetricCatalogue.recovery: sinceIncidents(run.recoveryTime, run)
    case MetricCatalogue.lost: events(run.lostOrBlockedEvents, of: run)
    case MetricCatalogue.late: events(run.lateEvents, of: run)
    case "devices_that_lost_events_ratio":
      MetricText.plain(run.cost.mean[.devicesThatLostEvents] * 100) + " %"
    case MetricCatalogue.affectedDelivery where run.affectedEvents == 0: "–"
    case MetricCatalogue.affectedDelivery:
      duration(run.judgedDelivery, otherwise: "> " + Humanised.duration(run.affectedHorizon))
    case MetricCatalogue.attemptsAboveTwin: MetricText.plain(run.attemptsAboveTwinPerDevice)
    case MetricCatalogue.attempts where run.devices == 0: "–"
    case MetricCatalogue.attempts:
      Humanised.decimal(attemptsPerDevice(run), decimals: attemptsPerDevice(run) < 99.95 ? 1 : 0)
    case "drained_s": duration(run.drainedTime, otherwise: run.recoveryHorizon == nil ? "–" : "never")
    case MetricCatalogue.timeToDelivery: duration(run.timeToDeliveryP99)
    case "amplification_ratio": ratio(run.amplification)
    case "peak_offered_ratio": ratio(run.peakOfferedRatio)
    case MetricCatalogue.herdFactor: ratio(run.herdFactor)
    case "idle_while_backlogged_s": seconds(run.idleWhileBackloggedSeconds)
    default:
      metric.value(of: run).restricted.map {
        MetricText.value(metric, $0 * Double(metric.isCount ? run.scale : 1))
      }
        ?? "–"
    }
  }

  /// The page's table of single runs, the best first; the verdict's best are marked.
  package var runsHTML: String {
    let scale = trial.first.map(\.summary).commonScale
    let summaries = trial.first.map { result in
      var summary = result.summary
      (summary.run, summary.scale) = (result.name, scale)
      return summary
    }
    let best = standings.ticked
    let columns = Self.runColumns.filter { $0.isShown(summaries) }
    let table = PageTable(
      columns: [.init(title: "variant")] + columns.map { .init(title: $0.title) },
      rows: standings.order.map { i in
        PageTable.Row(
          name: summaries[i].run, isBest: best.contains(i),
          cells: columns.map { column in
            PageTable.Cell(text: column.text(summaries[i]), mark: column.isBad(summaries[i]) ? "bad" : nil)
          })
      })
    return HTMLPage.table(
      "Results", table,
      note: best.isEmpty
        ? nil
        : """
        ✓ the verdict's best. It looks at runs that fail, lost events, endpoint well, recovery, late events, the delivery of \
        the affected events and extra requests, in this order; peak load and herd factor are shown, never ranked on.
        """)
  }

  private static func attemptsPerDevice(_ run: RunSummary) -> Double {
    Double(run.attempts) / Double(run.devices)
  }

  /// `12 min 30 s`, `never`, `not seen` of a run that ends too soon, or `no incident`.
  private static func sinceIncidents(_ time: Int64?, _ run: RunSummary) -> String {
    run.hasIncidents ? duration(time, otherwise: run.endsTooSoon ? "not seen" : "never") : "no incident"
  }

  private static func events(_ count: Int64, of summary: RunSummary) -> String {
    count == 0
      ? "0"
      : Humanised.count(summary.fullSize(count)) + "\n" + Humanised.share(count, of: summary[.createdEvents])
  }

  /// Returns the fates of the lost events: dropped for a cause, or blocked; the most first.
  private static func causes(_ summary: RunSummary) -> [(name: String, count: String)] {
    let columns = SummaryCSV.columns.filter {
      $0.name.hasPrefix("dropped_by_") || ["refused_by_gate_events", "blocked_events"].contains($0.name)
    }
    let fates = columns.map { (name: $0.name, count: $0.value(summary).number ?? 0) }.filter { $0.count > 0 }
    return fates.sorted { $0.count > $1.count }.map { name, count in
      let cause = name.replacing("dropped_by_", with: "").replacing("_events", with: "")
      return (cause.replacing("_", with: " "), Humanised.count(summary.fullSize(Int64(count))))
    }
  }

  private static func seconds(_ seconds: Double?) -> String {
    seconds.map { Humanised.duration(Int64(exactly: ($0 * 1e6).rounded()) ?? .max) } ?? "–"
  }

  private static func duration(_ microseconds: Int64?, otherwise: String = "–") -> String {
    microseconds.map(Humanised.duration) ?? otherwise
  }

  private static func ratio(_ value: Double?) -> String { value.map(Humanised.ratio) ?? "–" }
}

// MARK: - Several seeds

/// Means of several seeds with their intervals, and the differences to the first variant.
extension TrialReport {
  private var metrics: ReplicatedMetrics { standings.metrics }

  // MARK: For a terminal

  /// Each against the first one.
  private var terminalDifferences: TextTable {
    let ranked = metrics.ranked
    let rankings = ranked.map { metrics.ranking($0) }
    return TextTable(
      header: [""] + ranked.map { metrics.metrics[$0].title },
      rows: metrics.variants.indices.dropFirst().map { variant in
        [metrics.variants[variant]]
          + zip(ranked, rankings).map { index, ranking in
            let pair = ranking.pair(0, variant)
            return difference(index, to: variant, pair).map { $0 + (pair.differs ? " *" : "  ") } ?? "–  "
          }
      })
  }

  /// `-12 s ± 4 s`, with the half width of Holm's interval. From or to a time that no run lived to see there is no difference.
  private func difference(_ index: Int, to variant: Int, _ pair: PairwiseRanking.Pair) -> String? {
    let isUnseen = [0, variant].contains { metrics.share(index, variant: $0)?.successes == 0 }
    if isUnseen || pair.difference.sample.count == 0 { return nil }
    return MetricText.interval(
      metrics.metrics[index], pair.difference.mean, pair.interval?.halfWidth, isSigned: true, separator: "\n")
  }

  // MARK: For a page

  var meansHTML: String {
    let ranked = metrics.ranked
    let columns =
      ranked
      + MetricCatalogue.ofMeans.filter {
        $0.name != MetricCatalogue.herdFactor || !isHerdThePeak
      }
      .compactMap { shown in metrics.metrics.firstIndex { $0.name == shown.name } }
    let ranks = columns.map { index in
      metrics.variants.indices.map { ranked.contains(index) ? standings.rank(of: $0, by: index) : nil }
    }
    let table = pageTable(columns, rows: standings.order, best: standings.ticked) { column, variant in
      let index = columns[column]
      let isRanked = ranks[column].contains { ($0 ?? 1) > 1 }
      return PageTable.Cell(
        text: metrics.figure(index, variant).cell,
        details: details(index, variant),
        rank: isRanked ? ranks[column][variant] : nil, note: share(index, variant))
    }
    return HTMLPage.table(
      "Results", table,
      note: """
        ✓ the verdict's best. Mean ± half of its 95 % interval over the replications. Behind # the rank by a metric: one more than \
        the number of variants that are better by the verdict's rule. A run that never recovers counts with the time there was. \
        Every other metric is in statistics.csv.
        """)
  }

  private func share(_ index: Int, _ variant: Int) -> String? {
    guard let share = metrics.share(index, variant: variant), share.successes < share.count else {
      return nil
    }
    return
      "\(share.successes) of \(share.count) (\(Self.percent(share.low)) to \(Self.percent(share.high)))"
  }

  var differencesHTML: String {
    let columns = metrics.ranked
    let rankings = columns.map { metrics.ranking($0) }
    let first = metrics.variants[0]
    let pairs = metrics.variants.count * (metrics.variants.count - 1) / 2
    let table = pageTable(columns, rows: standings.order.filter { $0 != 0 }) { column, variant in
      let pair = rankings[column].pair(0, variant)
      let metric = metrics.metrics[columns[column]]
      let text = difference(columns[column], to: variant, pair).map { $0 + (pair.differs ? " *" : "") }
      return PageTable.Cell(
        text: text ?? "–",
        mark: pair.differs ? nil : "weak", details: Self.details(metric, pair))
    }
    return HTMLPage.table(
      "Differences to \(first)", table,
      note: """
        Variant minus \(first), seed by seed: what both have in common cancels. * can be told apart from 0: the interval, widened \
        by Holm's procedure over the \(pairs) pair\(pairs == 1 ? "" : "s") of a metric, does not contain it.
        """)
  }

  private func pageTable(
    _ columns: [Int], rows: [Int], best: [Int] = [],
    _ cell: (_ column: Int, _ variant: Int) -> PageTable.Cell
  ) -> PageTable {
    PageTable(
      columns: [.init(title: "variant")]
        + columns.map { index in
          let metric = metrics.metrics[index]
          return .init(title: metric.title, meaning: metric.definition)
        },
      rows: rows.map { variant in
        PageTable.Row(
          name: metrics.variants[variant], isBest: best.contains(variant),
          cells: columns.indices.map { cell($0, variant) })
      })
  }

  /// Returns the text under the pointer at a mean: how many runs, their spread and extremes.
  private func details(_ index: Int, _ variant: Int) -> String {
    let metric = metrics.metrics[index]
    let values = metrics.values(of: index, variant: variant).compactMap(\.restricted)
    guard let low = values.min(), let high = values.max() else { return "no run has a value" }
    var text =
      "\(metric.name): \(FigureText.count(values.count, "run")), from \(MetricText.value(metric, low))"
    text += " to \(MetricText.value(metric, high))"
    if let deviation = metrics.sample(index, variant: variant).standardDeviation {
      text += ", standard deviation \(MetricText.value(metric, deviation))"
    }
    let estimate = metrics.estimate(index, variant: variant)
    if let low = estimate.low, let high = estimate.high {
      text += "; 95 % interval \(MetricText.value(metric, low)) to \(MetricText.value(metric, high))"
    } else if estimate.method == .tooRare {
      text += "; no interval: too few runs differ from the rest"
    }
    if let share = metrics.share(index, variant: variant) {
      text +=
        "; \(share.successes) of \(share.count) made it, that is \(Self.percent(share.low)) to \(Self.percent(share.high))"
    }
    return text
  }

  /// Returns the text under the pointer at a difference: its own interval, and how sure it is.
  private static func details(_ metric: Metric, _ pair: PairwiseRanking.Pair) -> String {
    guard let own = pair.difference.interval(), let p = pair.pValue, let adjusted = pair.adjustedP else {
      return "\(metric.name): too few pairs"
    }
    return
      "\(metric.name): \(pair.difference.sample.count) pairs, own 95 % interval "
      + "\(MetricText.value(metric, own.low, isSigned: true)) to \(MetricText.value(metric, own.high, isSigned: true)), "
      + "p \(probability(p)), by Holm \(probability(adjusted))"
  }

  private static func probability(_ p: Double) -> String { p < 0.0001 ? "< 0.0001" : MetricText.plain(p) }

  private static func percent(_ share: Double) -> String { MetricText.plain(share * 100) + " %" }
}

// MARK: - Losses

/// The cohorts that lost events and to which limit, and where late ones wait.
struct LossTable {
  private let rows: [LossReport.Row]
  private let hasVariants: Bool

  /// nil where nothing is lost or late.
  init?(_ report: LossReport) {
    let rows = report.rows
    guard rows.contains(where: \.isHarmed) else { return nil }
    hasVariants = Set(rows.map(\.variant)).count > 1
    // The table leaves out those of several variants that lose nothing and have nothing late.
    self.rows = hasVariants ? rows.filter(\.isHarmed) : rows
  }

  private var hasLost: Bool { rows.contains { $0.lost > 0 } }
  private var hasLate: Bool { rows.contains { $0.late > 0 } }

  var title: String {
    let parts = [hasLost ? "who lost events" : nil, hasLate ? "where late ones wait" : nil]
    let text = parts.compactMap(\.self).joined(separator: ", and ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// Rows that a terminal has at most.
  private static let mostRows = 12

  package var terminal: TextTable {
    TextTable(
      columns: ((hasVariants ? ["variant"] : []) + ["cohort"]).map { .init(title: $0, isNumber: false) }
        + (hasLost ? [.init(title: "lost"), .init(title: "to", isNumber: false)] : [])
        + (hasLate ? [.init(title: "late"), .init(title: "most wait", isNumber: false)] : []),
      rows: rows.prefix(Self.mostRows).map { row in
        (hasVariants ? [row.variantName] : []) + [row.cohort]
          + (hasLost ? [Self.share(row.lost, row), Self.first(row.causes)] : [])
          + (hasLate ? [Self.share(row.late, row), Self.first(row.places)] : [])
      })
  }

  private static func share(_ events: Double, _ row: LossReport.Row) -> String {
    guard events > 0 else { return "0" }
    let share = Humanised.share(Int64(events.rounded(.up)), of: Int64(row.created.rounded()))
    return "\(MetricText.plain(events * row.scale)) (\(share))"
  }

  private static func first(_ parts: [(words: String, events: Double)]) -> String {
    guard let first = parts.first else { return "" }
    let all = parts.reduce(0) { $0 + $1.events }
    return first.words + (parts.count > 1 ? " (\(FigureText.percent(first.events / all)))" : "")
  }

  var html: String {
    let table = PageTable(
      columns: ([hasVariants ? "variant" : nil, "cohort"].compactMap(\.self)
        + (hasLost ? ["lost", "to"] : []) + (hasLate ? ["late", "where they wait"] : []))
        .map { .init(title: $0) },
      rows: rows.map { row in
        PageTable.Row(
          name: hasVariants ? row.variantName : row.cohort,
          cells: (hasVariants ? [.init(text: row.cohort)] : [])
            + (hasLost ? Self.cells(row.lost, row.causes, row) : [])
            + (hasLate ? Self.cells(row.late, row.places, row) : []))
      })
    return HTMLPage.table(
      title, table,
      note:
        "Worst first. In brackets the share of the cohort's events. Late are events pending at the end beyond the twin's."
    )
  }

  private static func cells(
    _ events: Double, _ parts: [(words: String, events: Double)], _ row: LossReport.Row
  ) -> [PageTable.Cell] {
    [
      PageTable.Cell(text: share(events, row), mark: events > 0 ? "bad" : nil),
      PageTable.Cell(
        text: parts.map { "\(MetricText.plain($0.events * row.scale)): \($0.words)" }.joined(separator: "\n")),
    ]
  }
}

// MARK: - Words

extension IncidentSpan {
  /// `outage 503 from 20 min for 10 min`
  var text: String {
    end > start
      ? "\(label) from \(Humanised.duration(start)) for \(Humanised.duration(end - start))"
      : "\(label) at \(Humanised.duration(start))"
  }
}
