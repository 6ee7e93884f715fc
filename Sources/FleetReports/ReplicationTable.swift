import FleetExperiments
import FleetStatistics

/// The short result tables of a comparison with replications.
public enum ReplicationTable {
  /// Aligned text: the variants with their means, half widths and ranks; then each against the first one.
  /// The verdict's best have a tick.
  public static func render(_ comparison: ReplicatedComparison, width: Int = 110) -> String {
    let metrics = comparison.metrics
    let standings = Standings(comparison)
    var table = means(comparison, standings)
    if metrics.variants.count > 1 {
      for i in standings.ticked { table.rows[i][0] = "✓ " + table.rows[i][0] }
    }
    var text = table.terminal(width: width)
    if metrics.variants.count > 1 {
      text +=
        "\nAgainst \(metrics.variants[0]), seed by seed (* can be told apart from it):\n"
        + differences(metrics).terminal(width: width)
    }
    return text
  }

  private static func means(_ comparison: ReplicatedComparison, _ standings: Standings) -> TextTable {
    let metrics = comparison.metrics
    let ranked = metrics.ranked
    let hasRanks = metrics.variants.count > 1
    return TextTable(
      columns: [.init(title: "strategy", isNumber: false)] + (hasRanks ? [.init(title: "rank")] : [])
        + [.init(title: "recovered")] + ranked.map { .init(title: metrics.metrics[$0].title) },
      rows: metrics.variants.indices.map { variant in
        [metrics.variants[variant]] + (hasRanks ? ["\(standings.rank(of: variant))"] : [])
          + [recoveries(metrics, variant)]
          + ranked.map { index in
            let text = MetricText.mean(metrics, index, variant)
            return hasRanks ? standings.rank(of: variant, by: index).map { text + " #\($0)" } ?? text : text
          }
      })
  }

  private static func recoveries(_ metrics: ReplicatedMetrics, _ variant: Int) -> String {
    guard let index = metrics.metrics.firstIndex(where: { $0.name == MetricCatalogue.recovery }),
      let share = metrics.share(index, variant: variant)
    else { return "no incident" }
    return "\(share.successes)/\(share.count)"
  }

  private static func differences(_ metrics: ReplicatedMetrics) -> TextTable {
    let headline = metrics.ranked
    let rankings = headline.map { metrics.ranking($0) }
    return TextTable(
      columns: [.init(title: "strategy", isNumber: false)]
        + headline.map { .init(title: metrics.metrics[$0].title) },
      rows: metrics.variants.indices.dropFirst().map { variant in
        [metrics.variants[variant]]
          + zip(headline, rankings).map { index, ranking in
            let pair = ranking.pair(0, variant)
            return ReplicationText.difference(metrics.metrics[index], pair) + (pair.differs ? " *" : "  ")
          }
      })
  }
}

/// Cells of tables of replications.
enum ReplicationText {
  /// `-12 s ± 4 s`, with the half width of Holm's interval.
  static func difference(_ metric: Metric, _ pair: PairwiseRanking.Pair) -> String {
    guard pair.difference.sample.count > 0 else { return "–" }
    return MetricText.interval(
      metric, pair.difference.mean, pair.interval?.halfWidth, isSigned: true)
  }

  /// What hovering over a mean tells: how many runs, their spread and extremes.
  static func details(_ metrics: ReplicatedMetrics, _ index: Int, _ variant: Int) -> String {
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
        "; \(share.successes) of \(share.count) made it, that is \(percent(share.low)) to \(percent(share.high))"
    }
    return text
  }

  /// The same of a difference.
  static func details(_ metric: Metric, _ pair: PairwiseRanking.Pair) -> String {
    guard let own = pair.difference.interval(), let p = pair.pValue, let adjusted = pair.adjustedP else {
      return "\(metric.name): too few pairs"
    }
    return
      "\(metric.name): \(pair.difference.sample.count) pairs, own 95 % interval "
      + "\(MetricText.value(metric, own.low, isSigned: true)) to \(MetricText.value(metric, own.high, isSigned: true)), "
      + "p \(probability(p)), by Holm \(probability(adjusted))"
  }

  static func probability(_ p: Double) -> String { p < 0.0001 ? "< 0.0001" : MetricText.plain(p) }

  static func percent(_ share: Double) -> String { MetricText.plain(share * 100) + " %" }
}
