import FleetMetrics
import FleetStatistics

/// `statistics.csv`: one row for each variant and metric.
public enum StatisticsCSV {
  /// The statistics that make a row.
  public struct Row: Sendable {
    public var variant: String
    public var metric: Metric
    public var sample: SampleStatistics
    public var estimate: MeanEstimate
    public var minimum: Double?
    public var maximum: Double?
    /// nil of a metric that doesn't rank, or without values.
    public var rank: Int?
    /// The share of runs, for a time that not every run lives to see.
    public var share: WilsonInterval?
  }

  /// Variants in their order, each with the metrics in theirs; metrics without any value are left out.
  package static func rows(of standings: Standings) -> [Row] {
    let metrics = standings.metrics
    return metrics.variants.indices.flatMap { variant in
      metrics.metrics.indices.compactMap { index in
        let metric = metrics.metrics[index]
        let values = metrics.values(of: index, variant: variant).compactMap(\.restricted)
        guard !values.isEmpty else { return nil }
        return Row(
          variant: metrics.variants[variant], metric: metric,
          sample: metrics.sample(index, variant: variant),
          estimate: metrics.estimate(index, variant: variant),
          minimum: values.min(), maximum: values.max(),
          rank: standings.rank(of: variant, by: index),
          share: metrics.share(index, variant: variant))
      }
    }
  }

  package static func bytes(of standings: Standings) -> [UInt8] {
    CSVFile.bytes(columns, rows(of: standings))
  }

  /// The file's columns in order.
  public static let columns: [CSVColumn<Row>] = [
    .init("variant", "", "Name of the variant.") { .text($0.variant) },
    .init("metric", "", "Column of `summary.csv`.") { .text($0.metric.name) },
    .init("unit", "", "Its unit.") { .text($0.metric.unit) },
    .init("replications", "runs", "Runs in which it has a value.") { .integer(Int64($0.sample.count)) },
    .figure("mean", "Mean; times that a run did not live to see count up to its end.") { $0.sample.mean },
    .figure(
      "half_width_95",
      "95 % interval of the expected value: half its width, empty where there is none (`interval`)."
    ) { $0.estimate.halfWidth },
    .figure("low_95", "95 % interval of the expected value: lower end.") { $0.estimate.low },
    .figure("high_95", "95 % interval of the expected value: upper end.") { $0.estimate.high },
    .figure("standard_deviation", "Spread of single runs.") { $0.sample.standardDeviation },
    .figure("minimum", "Extremes of the runs: minimum.") { $0.minimum },
    .figure("maximum", "Extremes of the runs: maximum.") { $0.maximum },
    .init(
      "rank", "",
      "One more than the number of variants that are better; empty where neither way is."
    ) { $0.rank.map { .integer(Int64($0)) } ?? .empty },
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
    ) { .text($0.estimate.method.rawValue) },
  ]

  private static func share(
    _ name: String, _ definition: String, _ value: @escaping @Sendable (WilsonInterval) -> Double
  ) -> CSVColumn<Row> {
    .init(name, "1", definition) { .decimal($0.share.map(value), decimals: 6) }
  }
}

private protocol RowOfMetric: Sendable {
  var metric: Metric { get }
}
extension StatisticsCSV.Row: RowOfMetric {}
extension DifferencesCSV.Row: RowOfMetric {}

extension CSVColumn where Source: RowOfMetric {
  /// In the metric's unit; a count is that of the whole fleet.
  fileprivate static func figure(
    _ name: String, _ definition: String, _ value: @escaping @Sendable (Source) -> Double?
  ) -> CSVColumn {
    .init(name, "metric's", definition) { row in
      .decimal(value(row).map { $0 * row.metric.factor }, decimals: 6)
    }
  }
}

/// `differences.csv`: one row for each variant but the first, and metric.
public enum DifferencesCSV {
  /// The pair of variants that makes a row.
  public struct Row: Sendable {
    public var variant: String
    public var reference: String
    public var metric: Metric
    public var difference: PairedDifference
    /// What the variant is against the reference; nil of a metric without direction.
    package var standing: MetricRule.Standing?
    public var referenceMean: Double
    /// See `ReplicatedMetrics.commonRandomNumbersFactor`.
    public var commonRandomNumbersFactor: Double?
  }

  /// Variants in their order, each against the first one; metrics without a pair of values are left out.
  package static func rows(of standings: Standings) -> [Row] {
    let metrics = standings.metrics
    return metrics.variants.indices.dropFirst().flatMap { variant in
      metrics.metrics.enumerated().compactMap { index, metric in
        let difference = metrics.difference(index, of: variant, to: 0)
        guard difference.sample.count > 0 else { return nil }
        return Row(
          variant: metrics.variants[variant], reference: metrics.variants[0], metric: metric,
          difference: difference,
          standing: metric.direction == .neither
            ? nil : standings.standing(of: variant, to: 0, on: .metric(index)),
          referenceMean: metrics.sample(index, variant: 0).mean,
          commonRandomNumbersFactor: metrics.commonRandomNumbersFactor(index, of: variant, to: 0))
      }
    }
  }

  package static func bytes(of standings: Standings) -> [UInt8] {
    CSVFile.bytes(columns, rows(of: standings))
  }

  /// The file's columns in order.
  public static let columns: [CSVColumn<Row>] = [
    .init("variant", "", "Name of the variant.") { .text($0.variant) },
    .init("reference", "", "The first variant.") { .text($0.reference) },
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
      $0.referenceMean == 0 ? .empty : .decimal($0.difference.mean / $0.referenceMean, decimals: 6)
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
    ) { $0.standing.map { .text($0.rawValue) } ?? .empty },
    .init(
      "crn_factor_ratio", "1",
      "How much wider the interval of independent runs would be."
    ) { .decimal($0.commonRandomNumbersFactor) },
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

  /// The file's columns in order.
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

/// Columns for what was varied: one for each key that a variant sets, named by the key's path, behind all other columns.
package struct VariedColumns: Sendable {
  private let paths: [String]
  /// By variant and path.
  private let values: [String: [String: String]]

  package init(_ choices: [VariantChoice]) {
    paths = choices.flatMap(\.overrides).map(\.path).uniqued
    values = Dictionary(
      choices.map { choice in
        let pairs = choice.overrides.map { ($0.path, $0.value) }
        return (choice.name, Dictionary(pairs, uniquingKeysWith: { _, last in last }))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// A file with these columns behind its own; a key that is one of those already, as `seed` is, gets none.
  /// - `variant`: the name of the variant that a row is of.
  package func bytes<Row>(
    _ rows: [Row], _ own: [CSVColumn<Row>], variant: @escaping @Sendable (Row) -> String
  ) -> [UInt8] {
    let more = paths.filter { path in !own.contains { $0.name == path } }.map { path in
      CSVColumn<Row>(path, "", "As the variant sets it; empty: as the scenario has it.") { [values] row in
        values[variant(row)]?[path].map(CSVValue.text) ?? .empty
      }
    }
    return CSVFile.bytes(own + more, rows)
  }
}
