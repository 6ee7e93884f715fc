import FleetExperiments
import FleetMetrics

// The result tables of `run` and `compare`, the same for a terminal and for a page, for one seed and for several.

extension TrialReport {
  /// Columns of a terminal's table, the names aside.
  private static let mostColumns = 5

  private var metrics: ReplicatedMetrics { standings.metrics }
  /// Whether there is nothing to compare.
  private var isAlone: Bool { names.count == 1 }

  /// The variants by the verdict's criteria: of several those in which they differ. The verdict's best have a tick.
  package var table: TextTable {
    let failed: (title: String, cells: [String]) = (
      "failed", names.indices.map { standings.figure($0, .failures).text }
    )
    let others = metrics.ranked.map { index in
      (title: metrics.metrics[index].title, cells: names.indices.map { metrics.figure(index, $0).text })
    }
    let columns = (isAlone ? others.filter { $0.cells != ["–"] } : [failed] + others)
      .filter { isAlone || Set($0.cells).count > 1 }
      .prefix(isAlone ? Self.mostColumns + 1 : Self.mostColumns)
    if columns.isEmpty { return TextTable(header: [], rows: []) }
    var table = TextTable(
      header: (isAlone ? [] : [""]) + columns.map(\.title),
      rows: names.indices.map { row in (isAlone ? [] : [labels[row]]) + columns.map { $0.cells[row] } },
      words: isAlone ? 0 : 1)
    if !isAlone { table.best = Set(standings.ticked) }
    return table
  }

  /// Every criterion with its interval, and the differences to the first variant.
  /// - Parameter isPage: with what a page shows beside the criteria.
  func details(isPage: Bool) -> [Answer.Part] { [results(isPage: isPage), differences].compactMap(\.self) }

  /// Every criterion, the best variant first.
  private func results(isPage: Bool) -> Answer.Part {
    let ranked = metrics.ranked
    let shown = isPage ? MetricCatalogue.shown.compactMap { metrics.index(of: $0.name) } : []
    let columns = (ranked + shown).filter { index in
      let figures = names.indices.map { metrics.figure(index, $0) }
      return ranked.contains(index)
        ? figures.contains { $0.text != "–" } : figures.contains { ($0.number ?? 0) > 0 }
    }
    let failures = names.indices.map { standings.figure($0, .failures) }
    let hasFailures = !isPage || failures.contains { ($0.number ?? 0) > 0 }
    var table = TextTable(
      columns: [.init(title: isAlone ? "run" : "variant", isNumber: false)]
        + (hasFailures ? [.init(title: "failed")] : [])
        + columns.map { .init(title: metrics.metrics[$0].title, meaning: metrics.metrics[$0].definition) },
      rows: standings.order.map { variant in
        [labels[variant]] + (hasFailures ? [failures[variant].text] : [])
          + columns.map { metrics.figure($0, variant).cell }
      })
    let ranks = columns.map { index -> [Int?] in
      let ranks = names.indices.map { ranked.contains(index) ? standings.rank(of: $0, by: index) : nil }
      return ranks.contains { $0 ?? 1 > 1 } ? ranks : names.map { _ in nil }
    }
    table.extras = standings.order.map { variant in
      (hasFailures ? [nil, nil] : [nil])
        + zip(columns, ranks).map { index, ranks in
          TextTable.Extra(
            mark: isBad(index, variant) ? "bad" : nil, details: details(index, variant),
            rank: ranks[variant], note: share(index, variant))
        }
    }
    table.best = Set(standings.order.indices.filter { standings.ticked.contains(standings.order[$0]) })
    return .table(
      table, title: "Results",
      note: (table.best.isEmpty
        ? ""
        : "✓ the verdict's best. It looks at runs that fail, lost events, endpoint well, recovery, late events, the delivery of the "
          + "affected events and extra requests, in this order. ")
        + (trial.replications == 1
          ? ""
          : "Mean ± half of its 95 % interval over the replications. Behind # the rank by a metric: one more than the number of "
            + "variants that are better by the verdict's rule. A run that never recovers counts with the time there was. ")
        + "Every other metric is in \(trial.isOfOneRun ? FileName.summary : .statistics).")
  }

  private func isBad(_ index: Int, _ variant: Int) -> Bool {
    let figure = metrics.figure(index, variant)
    return switch metrics.metrics[index].name {
    case MetricCatalogue.recovery: figure.isNever
    case MetricCatalogue.lost, MetricCatalogue.late: figure.number ?? 0 > 0
    default: false
    }
  }

  /// How many runs made it, where not all did; of events what part of all they are.
  private func share(_ index: Int, _ variant: Int) -> String? {
    let (name, rows) = (metrics.metrics[index].name, trial.rows(of: variant))
    if name == MetricCatalogue.lost || name == MetricCatalogue.late {
      let sum = metrics.values(of: index, variant: variant).reduce(0) { $0 + ($1.restricted ?? 0) }
      if sum == 0 { return nil }
      let share = FigureText.share(Int64(sum), of: rows.reduce(0) { $0 + $1[.createdEvents] })
      guard let devices = rows.map(\.cost.mean[.devicesThatLostEvents]).mean, devices > 0,
        name == MetricCatalogue.lost
      else { return share }
      return "\(share), on \(Self.percent(devices)) of the devices"
    }
    guard trial.replications > 1, let share = metrics.share(index, variant: variant),
      share.successes < share.count
    else { return nil }
    return
      "in \(share.successes) of \(share.count) runs (\(Self.percent(share.low)) to \(Self.percent(share.high)))"
  }

  /// Returns the text under the pointer at a mean: how many runs, their spread and extremes.
  private func details(_ index: Int, _ variant: Int) -> String {
    let metric = metrics.metrics[index]
    let values = metrics.values(of: index, variant: variant).compactMap(\.restricted)
    guard let low = values.min(), let high = values.max() else { return "no run has a value" }
    if values.count == 1 { return "\(metric.name): \(MetricText.value(metric, low))" }
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

  /// Each variant against the first one, seed by seed; nil of one variant, or of one seed.
  private var differences: Answer.Part? {
    if trial.isOfOneRun || names.count < 2 { return nil }
    let (columns, others) = (metrics.ranked, standings.order.filter { $0 != 0 })
    func isDecided(_ index: Int, _ variant: Int) -> Bool {
      standings.standing(of: variant, to: 0, on: .metric(index)).isDecided
    }
    var table = TextTable(
      columns: [.init(title: "variant", isNumber: false)]
        + columns.map { .init(title: metrics.metrics[$0].title, meaning: metrics.metrics[$0].definition) },
      rows: others.map { variant in
        [labels[variant]]
          + columns.map { index in
            difference(index, to: variant).map { $0 + (isDecided(index, variant) ? " *" : "  ") } ?? "–  "
          }
      })
    table.extras = others.map { variant in
      [nil]
        + columns.map {
          TextTable.Extra(mark: isDecided($0, variant) ? nil : "weak", details: details($0, against: variant))
        }
    }
    return .table(
      table, title: "Differences to \(labels[0]), seed by seed (* better or worse)",
      note:
        "Variant minus \(labels[0]), with its 95 % interval: what both have in common cancels. * by the verdict's rule."
    )
  }

  /// `-12 s ± 4 s`. From or to a time that no run lived to see there is no difference.
  private func difference(_ index: Int, to variant: Int) -> String? {
    let isUnseen = [0, variant].contains { metrics.share(index, variant: $0)?.successes == 0 }
    let difference = metrics.difference(index, of: variant, to: 0)
    if isUnseen || difference.sample.count == 0 { return nil }
    let (metric, halfWidth) = (metrics.metrics[index], difference.interval()?.halfWidth ?? 0)
    return MetricText.value(metric, difference.mean, isSigned: true)
      + (halfWidth > 0 ? "\n± " + MetricText.value(metric, halfWidth) : "")
  }

  /// Returns the text under the pointer at a difference: its interval, and what the rule says.
  private func details(_ index: Int, against variant: Int) -> String {
    let (metric, difference) = (metrics.metrics[index], metrics.difference(index, of: variant, to: 0))
    guard let interval = difference.interval() else { return "\(metric.name): too few pairs" }
    let ends = [interval.low, interval.high].map { MetricText.value(metric, $0, isSigned: true) }
    return "\(metric.name): \(difference.sample.count) pairs, \(ends[0]) to \(ends[1]), "
      + standings.standing(of: variant, to: 0, on: .metric(index)).rawValue
  }

  private static func percent(_ share: Double) -> String { MetricText.plain(share * 100) + " %" }
}

extension LossReport {
  /// Rows that a terminal has at most.
  private static let mostRows = 12

  /// Two columns of the table.
  private struct Kind {
    var title: String
    var place: String
    var heading: String
    var count: (Row) -> Double
    var parts: (Row) -> [(words: String, events: Double)]
  }

  /// The cohorts that lost events and to which limit, and where late ones wait; nil where nothing is lost or late.
  /// - Parameter isWhole: with all rows, and every cause and place of each.
  package func table(isWhole: Bool) -> Answer.Part? {
    let cohorts = self.rows
    if !cohorts.contains(where: \.isHarmed) { return nil }
    let hasVariants = Set(cohorts.map(\.variant)).count > 1
    // Of several variants those that lose nothing and have nothing late are left out.
    let rows = (hasVariants ? cohorts.filter(\.isHarmed) : cohorts).prefix(isWhole ? .max : Self.mostRows)
    let all = [
      Kind(title: "lost", place: "to", heading: "who lost events", count: \.lost, parts: \.causes),
      Kind(
        title: "late", place: "where they wait", heading: "where late ones wait", count: \.late,
        parts: \.places),
    ]
    let kinds = all.filter { kind in rows.contains { kind.count($0) > 0 } }
    var table = TextTable(
      columns: (hasVariants ? ["variant", "cohort"] : ["cohort"]).map { .init(title: $0, isNumber: false) }
        + kinds.flatMap { [.init(title: $0.title), .init(title: $0.place, isNumber: false)] },
      rows: rows.map { row in
        (hasVariants ? [row.variantName] : []) + [row.cohort]
          + kinds.flatMap {
            [Self.share($0.count(row), row), Self.words($0.parts(row), row, isWhole: isWhole)]
          }
      })
    table.extras = rows.map { row in
      Array(repeating: nil, count: hasVariants ? 2 : 1)
        + kinds.flatMap { [$0.count(row) > 0 ? TextTable.Extra(mark: "bad") : nil, nil] }
    }
    let title = kinds.map(\.heading).joined(separator: ", and ")
    return .table(
      table, title: title.prefix(1).uppercased() + title.dropFirst() + ", worst first",
      note:
        "In brackets the share of the cohort's events. Late are events pending at the end beyond the twin's.")
  }

  private static func share(_ events: Double, _ row: Row) -> String {
    guard events > 0 else { return "0" }
    let share = FigureText.share(Int64(events.rounded(.up)), of: Int64(row.created.rounded()))
    return "\(MetricText.plain(events * row.scale)) (\(share))"
  }

  private static func words(
    _ parts: [(words: String, events: Double)], _ row: Row, isWhole: Bool
  ) -> String {
    if isWhole {
      return parts.map { "\(MetricText.plain($0.events * row.scale)): \($0.words)" }.joined(separator: "\n")
    }
    guard let first = parts.first else { return "" }
    let all = parts.reduce(0) { $0 + $1.events }
    return first.words + (parts.count > 1 ? " (\(FigureText.percent(first.events / all)))" : "")
  }
}

extension IncidentSpan {
  /// `outage 503 from 20 min for 10 min`
  var text: String {
    end > start
      ? "\(label) from \(FigureText.duration(start)) for \(FigureText.duration(end - start))"
      : "\(label) at \(FigureText.duration(start))"
  }
}
