import FleetMetrics

/// The results of a real server beside the simulator's prediction.
package struct LiveComparison: Sendable {
  /// A difference of at most this share of the prediction is none.
  package static let tolerance = 0.05
  /// Seeds that a prediction is made for by default. A run with a seed of its own would lie outside the range of 40 with a chance
  /// of 2 in 41, whatever the distribution. For each figure by itself that is a prediction interval of 95 %. The measured run
  /// shares its seed with the first of them, so that it is outside less often.
  package static let defaultPredictions = 40

  /// One metric.
  package struct Figure: Sendable {
    package var metric: Metric
    package var measured: MetricValue
    /// The predictions under all seeds, that of the measured run first.
    package var all: [MetricValue]

    package var predicted: MetricValue { all[0] }

    /// Over all seeds; a time that did not come counts as how long was watched.
    package var low: MetricValue? { all.filter { $0.restricted != nil }.min(by: isLess) }
    package var high: MetricValue? { all.filter { $0.restricted != nil }.max(by: isLess) }

    private func isLess(_ a: MetricValue, _ b: MetricValue) -> Bool {
      (a.isCensored ? 1 : 0, a.restricted ?? 0) < (b.isCensored ? 1 : 0, b.restricted ?? 0)
    }

    /// Measured minus predicted, as a share of predicted; nil where there is none.
    package var difference: Double? {
      guard let measured = measured.restricted, let predicted = predicted.restricted else { return nil }
      return measured == predicted ? 0 : predicted == 0 ? nil : (measured - predicted) / predicted
    }

    /// Within the tolerance, or within the range of the seeds that had as much of it: a value, or a time that did not come.
    package var agrees: Bool {
      let alike = all.filter { $0.isCensored == measured.isCensored }
      let values = alike.compactMap(\.restricted)
      guard let value = measured.restricted else { return values.count < alike.count }
      guard let low = values.min(), let high = values.max() else { return false }
      if measured.isCensored { return true }
      if !predicted.isCensored, let difference, abs(difference) <= LiveComparison.tolerance { return true }
      return (low...high).contains(value)
    }
  }

  package var figures: [Figure]
  /// How many seeds the prediction has.
  package var seeds: Int

  /// The compared metrics, in this order; status codes that neither side had are left out.
  private static let names = [
    "attempts", "answers_2xx", "answers_429", "answers_503", "answers_5xx_other", "answers_401",
    "answers_4xx_other", "timed_out_requests", "delivered_events", "lost_events", MetricCatalogue.recovery,
    "time_to_delivery_p50_s", MetricCatalogue.timeToDelivery,
  ]

  /// - `predictions`: of the measured run's seed first, then of others.
  package init(measured: RunSummary, predictions: [RunSummary]) {
    seeds = predictions.count
    figures = Self.names.compactMap { name in
      guard let metric = MetricCatalogue.metric(named: name), !predictions.isEmpty else { return nil }
      let (measured, all) = (metric.value(of: measured), predictions.map(metric.value))
      // No value on either side, or a time for which nothing was watched.
      let isNothing = ([measured] + all).allSatisfy { ($0.horizon ?? $0.restricted ?? 0) == 0 }
      return isNothing ? nil : Figure(metric: metric, measured: measured, all: all)
    }
  }

  /// Whether the server did as predicted, and where it did not.
  package var story: Story {
    let others = figures.filter { !$0.agrees }
    var story = Story(
      others.isEmpty ? "As predicted" : "Not as predicted",
      basis:
        "\(figures.count - others.count) of \(figures.count) figures within 5 % or the range of \(FigureText.count(seeds, "seed"))"
    )
    story.add(
      .worse,
      others.map { figure in
        "\(figure.metric.name) \(Self.text(figure.metric, figure.measured)), predicted "
          + Self.text(figure.metric, figure.predicted)
          + (figure.difference.map { " (\(Self.percent($0)))" } ?? "")
      })
    return story
  }

  /// The columns of `live.csv` in order.
  package static let columns: [CSVColumn<Figure>] = [
    .init("metric", "", "Column of `summary.csv`.") { .text($0.metric.name) }
      .shown("metric", \.metric.name),
    .init("unit", "", "Its unit.") { .text($0.metric.unit) },
    .init(
      "measured", "the metric's",
      "Against the real server; a time that the run did not live to see counts up to its end."
    ) { .decimal($0.measured.restricted, decimals: 6) }
    .shown("measured") { text($0.metric, $0.measured) },
    .init("predicted", "the metric's", "Predicted: with the same seed.") {
      .decimal($0.predicted.restricted, decimals: 6)
    }.shown("predicted") { text($0.metric, $0.predicted) },
    .init("predicted_low", "the metric's", "Predicted: the least of all seeds.") {
      .decimal($0.low?.restricted, decimals: 6)
    },
    .init("predicted_high", "the metric's", "Predicted: the most.") {
      .decimal($0.high?.restricted, decimals: 6)
    },
    .init("difference_ratio", "1", "Measured minus predicted, over predicted; empty where that is 0.") {
      .decimal($0.difference, decimals: 6)
    }.shown("difference") { $0.difference.map(percent) ?? "–" },
    .onlyShown("of all seeds") { figure in
      guard let low = figure.low, let high = figure.high else { return "–" }
      return "\(text(figure.metric, low)) to \(text(figure.metric, high))"
    },
    .init("agrees", "", "Within 5 % of the prediction, or between the least and the most.") {
      .flag($0.agrees)
    }.shown("as predicted") { $0.agrees ? "yes" : "no" },
  ]

  package var table: Table<Figure> { Table(Self.columns, figures) }

  private static func text(_ metric: Metric, _ value: MetricValue) -> String {
    switch value {
    case .none: "–"
    case .value(let value), .time(let value, _): MetricText.value(metric, value)
    case .censored(let horizon):
      MetricCatalogue.isReturn(metric) ? "never" : "> " + MetricText.value(metric, horizon)
    }
  }

  private static func percent(_ share: Double) -> String {
    let tenths = (share * 1_000).rounded()
    return FigureText.signed(tenths, MetricText.plain(abs(tenths) / 10)) + " %"
  }
}
