import FleetMetrics
import FleetStatistics

/// A metric of a variant: what makes a row of `statistics.csv`, and of `differences.csv`.
public struct MetricRow: Sendable {
  fileprivate let standings: Standings
  package let variant: Int
  fileprivate let index: Int
  fileprivate let sample: SampleStatistics
  /// To the first variant.
  fileprivate let difference: PairedDifference
  /// It may take a thousand resamples; nil of a difference.
  fileprivate var estimate: MeanEstimate?

  package var name: String { standings.variants[variant] }
  fileprivate var metrics: ReplicatedMetrics { standings.metrics }
  fileprivate var metric: Metric { metrics.metrics[index] }
  fileprivate var values: [Double] { metrics.values(of: index, variant: variant).compactMap(\.restricted) }

  /// Variants in their order from that one on, each with the metrics in theirs.
  fileprivate static func all(_ standings: Standings, from first: Int) -> [MetricRow] {
    standings.variants.indices.dropFirst(first).flatMap { variant in
      standings.metrics.metrics.indices.map { index in
        MetricRow(
          standings: standings, variant: variant, index: index,
          sample: standings.metrics.sample(index, variant: variant),
          difference: standings.metrics.difference(index, of: variant, to: 0))
      }
    }
  }
}

/// `statistics.csv`: one row for each variant and metric.
public enum StatisticsCSV {
  /// Metrics without any value are left out.
  package static func rows(of standings: Standings) -> [MetricRow] {
    MetricRow.all(standings, from: 0).filter { $0.sample.count > 0 }.map { row in
      var row = row
      row.estimate = row.metrics.estimate(row.index, variant: row.variant)
      return row
    }
  }

  package static func bytes(of standings: Standings) -> [UInt8] {
    CSVFile.bytes(columns, rows(of: standings))
  }

  public static let columns: [CSVColumn<MetricRow>] = [
    .init("variant", "", "Name of the variant.") { .text($0.name) },
    .init("metric", "", "Column of `summary.csv`.") { .text($0.metric.name) },
    .init("unit", "", "Its unit.") { .text($0.metric.unit) },
    .init("replications", "runs", "Runs in which it has a value.") { .integer(Int64($0.sample.count)) },
    .figure("mean", "Mean; times that a run did not live to see count up to its end.") { $0.sample.mean },
    .figure(
      "half_width_95",
      "95 % interval of the expected value: half its width, empty where there is none (`interval`)."
    ) { $0.estimate?.halfWidth },
    .figure("low_95", "95 % interval of the expected value: lower end.") { $0.estimate?.low },
    .figure("high_95", "95 % interval of the expected value: upper end.") { $0.estimate?.high },
    .figure("standard_deviation", "Spread of single runs.") { $0.sample.standardDeviation },
    .figure("minimum", "Extremes of the runs: minimum.") { $0.values.min() },
    .figure("maximum", "Extremes of the runs: maximum.") { $0.values.max() },
    .init(
      "rank", "",
      "One more than the number of variants that are better; empty where neither way is."
    ) { $0.standings.rank(of: $0.variant, by: $0.index).map { .integer(Int64($0)) } ?? .empty },
    share("made_it_ratio", "Runs that lived to see a time: their share.") { $0.share },
    share("made_it_low_95_ratio", "Runs that lived to see a time: lower end of its 95 % interval (Wilson).") {
      $0.low
    },
    share("made_it_high_95_ratio", "Runs that lived to see a time: upper end.") { $0.high },
    .init(
      "interval", "",
      """
      How the interval was made: `student` (t), `bootstrap` (bootstrap-t), `constant` (all runs gave the same), `too rare` \
      (too few runs differ to tell).
      """
    ) { .text($0.estimate?.method.rawValue ?? "") },
  ]

  private static func share(
    _ name: String, _ definition: String, _ value: @escaping @Sendable (WilsonInterval) -> Double
  ) -> CSVColumn<MetricRow> {
    .init(name, "1", definition) {
      .decimal($0.metrics.share($0.index, variant: $0.variant).map(value), decimals: 6)
    }
  }
}

extension CSVColumn<MetricRow> {
  /// In the metric's unit; a count is that of the whole fleet.
  fileprivate static func figure(
    _ name: String, _ definition: String, _ value: @escaping @Sendable (MetricRow) -> Double?
  ) -> CSVColumn {
    .init(name, "metric's", definition) { row in
      .decimal(value(row).map { $0 * row.metric.factor }, decimals: 6)
    }
  }
}

/// `differences.csv`: one row for each variant but the first, and metric.
public enum DifferencesCSV {
  /// Metrics without a pair of values are left out.
  package static func rows(of standings: Standings) -> [MetricRow] {
    MetricRow.all(standings, from: 1).filter { $0.difference.sample.count > 0 }
  }

  package static func bytes(of standings: Standings) -> [UInt8] {
    CSVFile.bytes(columns, rows(of: standings))
  }

  public static let columns: [CSVColumn<MetricRow>] = [
    .init("variant", "", "Name of the variant.") { .text($0.name) },
    .init("reference", "", "The first variant.") { .text($0.standings.variants[0]) },
    .init("metric", "", "Column of `summary.csv`.") { .text($0.metric.name) },
    .init("unit", "", "Its unit.") { .text($0.metric.unit) },
    .init("pairs", "runs", "Seeds for which both have a value.") {
      .integer(Int64($0.difference.sample.count))
    },
    .figure("difference", "Mean of variant minus reference, seed by seed.") { $0.difference.mean },
    .init(
      "relative_difference_ratio", "1",
      "Difference as a share of the reference's mean; empty for a mean of 0."
    ) {
      let reference = $0.metrics.sample($0.index, variant: 0).mean
      return reference == 0 ? .empty : .decimal($0.difference.mean / reference, decimals: 6)
    },
    .figure("half_width_95", "95 % interval of the difference (paired t): half its width.") {
      $0.difference.interval()?.halfWidth
    },
    .figure("low_95", "95 % interval of the difference (paired t): lower end.") {
      $0.difference.interval()?.low
    },
    .figure("high_95", "95 % interval of the difference (paired t): upper end.") {
      $0.difference.interval()?.high
    },
    .init("p_value", "1", "P value of no difference (paired t test).") {
      .decimal($0.difference.pValue, decimals: 9)
    },
    .init(
      "standing", "",
      "What the variant is by the verdict's rule: better, worse, as good or not decided; empty where neither way is."
    ) { row in
      row.metric.direction == .neither
        ? .empty : .text(row.standings.standing(of: row.variant, to: 0, on: .metric(row.index)).rawValue)
    },
    .init(
      "crn_factor_ratio", "1",
      "How much wider the interval of independent runs would be."
    ) { .decimal($0.metrics.commonRandomNumbersFactor($0.index, of: $0.variant, to: 0)) },
  ]
}

/// The reference of the columns of replicated comparisons, as `fleetsim help columns` prints it.
public enum StatisticsReference {
  /// Markdown: a heading of level 3 and a list for each file.
  public static var markdown: String {
    [
      ColumnReference.section(
        "statistics.csv",
        """
        One row for each variant and metric of a comparison of several seeds. `replications.csv` has a row of \
        `summary.csv` for each run. Both end in a column for each key that is varied.
        """,
        StatisticsCSV.columns),
      ColumnReference.section(
        "differences.csv", "One row for each variant but the first, and metric, of the same.",
        DifferencesCSV.columns),
      ColumnReference.section(
        "curves.csv",
        "Mean curves of the same: each run cut into at most 300 stretches, one row for each variant and stretch.",
        CurvesCSV.columns),
      ColumnReference.section(
        "live.csv",
        "One row for each figure by which `live` compares a run over HTTP with the simulated one.",
        LiveComparison.columns),
    ].joined(separator: "\n")
  }
}

/// `curves.csv`: the mean curves of each variant of a comparison with several seeds.
public enum CurvesCSV {
  /// The points that make a row.
  public struct Row: Sendable {
    public var variant: String
    /// Microseconds since the start of the run.
    public var start: Int64
    public var capacity: Double
    /// Of each `CurveQuantity`.
    public var points: [VariantCurves.Point?]
  }

  /// Variants in their order, each from the start of the run to its end.
  public static func rows(of curves: [VariantCurves]) -> [Row] {
    curves.flatMap { curve -> [Row] in
      guard let facts = curve.facts else { return [] }
      let (count, rows) = (facts.capacity.count, Int((facts.duration - 1) / max(facts.interval, 1)) + 1)
      let points = CurveQuantity.allCases.map { curve[$0] }
      return (0..<count).map { column in
        Row(
          variant: curve.name,
          start: Int64(VariantCurves.rows(of: column, of: count, in: rows).lowerBound) * facts.interval,
          capacity: facts.capacity[column], points: points.map { $0[column] })
      }
    }
  }

  public static func bytes(of curves: [VariantCurves]) -> [UInt8] { CSVFile.bytes(columns, rows(of: curves)) }

  public static let columns: [CSVColumn<Row>] =
    [
      .init("variant", "", "Name of the variant.") { .text($0.variant) },
      .init("time_s", "s", "Start of the stretch.") { .seconds($0.start) },
      .init("capacity_rps", "requests/s", "What the server can serve, incidents included.") {
        .decimal($0.capacity)
      },
    ] + curve(.offered, "offered", "rps", "requests/s", "Offered load")
    + curve(.goodput, "goodput", "rps", "batches/s", "Goodput")
    + curve(.backlog, "backlog", "events", "events", "Backlog")
    + curve(.twinBacklog, "twin_backlog", "events", "events", "Backlog without the incidents")

  private static func curve(
    _ quantity: CurveQuantity, _ name: String, _ suffix: String, _ unit: String, _ what: String
  ) -> [CSVColumn<Row>] {
    [
      ("", "mean over the seeds", \VariantCurves.Point.mean),
      ("low_95_", "lower end of its 95 % interval, at this time alone", \.low),
      ("high_95_", "upper end", \.high),
    ].map { part, meaning, value in
      .init("\(name)_\(part)\(suffix)", unit, "\(what): \(meaning).") {
        .decimal($0.points[quantity.rawValue]?[keyPath: value])
      }
    }
  }
}

extension [VariantChoice] {
  /// A file with a column behind its own for each key that a variant sets, named by the key's path.
  /// A key that is one of those already, as `seed` is, gets none.
  /// - `variant`: the name of the variant that a row is of.
  package func bytes<Row>(
    _ rows: [Row], _ own: [CSVColumn<Row>], variant: @escaping @Sendable (Row) -> String
  ) -> [UInt8] {
    let paths = flatMap(\.overrides).map(\.path).uniqued.filter { path in !own.contains { $0.name == path } }
    let more = paths.map { path in
      let values = Dictionary(
        map { choice in (choice.name, choice.overrides.last { $0.path == path }?.value) },
        uniquingKeysWith: { first, _ in first })
      return CSVColumn<Row>(path, "", "As the variant sets it; empty: as the scenario has it.") { row in
        values[variant(row)]?.map(CSVValue.text) ?? .empty
      }
    }
    return CSVFile.bytes(own + more, rows)
  }
}
