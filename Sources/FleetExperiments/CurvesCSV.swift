import FleetMetrics

/// `curves.csv`: the mean curves of each variant of a comparison with several seeds.
public enum CurvesCSV {
  /// What a row is made from.
  public struct Row: Sendable {
    public var variant: String
    /// Microseconds since the start of the run.
    public var start: Int64
    public var capacity: Double
    public var offered: VariantCurves.Point?
    public var goodput: VariantCurves.Point?
    public var backlog: VariantCurves.Point?
    public var twinBacklog: VariantCurves.Point?
  }

  /// Variants in their order, each from the start of the run to its end.
  public static func rows(of curves: [VariantCurves]) -> [Row] {
    curves.flatMap { curve -> [Row] in
      guard let facts = curve.facts else { return [] }
      let (count, rows) = (facts.capacity.count, Int((facts.duration - 1) / max(facts.interval, 1)) + 1)
      let (offered, goodput) = (curve.offered, curve.goodput)
      let (backlog, twinBacklog) = (curve.backlog, curve.twinBacklog)
      return (0..<count).map { column in
        Row(
          variant: curve.name,
          start: Int64(VariantCurves.rows(of: column, of: count, in: rows).lowerBound) * facts.interval,
          capacity: facts.capacity[column], offered: offered[column], goodput: goodput[column],
          backlog: backlog[column], twinBacklog: twinBacklog[column])
      }
    }
  }

  public static func bytes(of curves: [VariantCurves]) -> [UInt8] { CSVFile.bytes(columns, rows(of: curves)) }

  /// The file's columns in order.
  public static let columns: [CSVColumn<Row>] =
    [
      .init("variant", "", "Name of the variant.") { .text($0.variant) },
      .init("time_s", "s", "Start of the stretch, since the start of the run.") { .seconds($0.start) },
      .init("capacity_rps", "requests/s", "What the server could have served, incidents included.") {
        .decimal($0.capacity)
      },
    ] + curve("offered", "rps", "requests/s", "Offered load", \.offered)
    + curve("goodput", "rps", "batches/s", "Batches accepted for the first time", \.goodput)
    + curve("backlog", "events", "events", "Events created and neither accepted nor dropped", \.backlog)
    + curve("twin_backlog", "events", "events", "The same without the incidents", \.twinBacklog)

  private static func curve(
    _ name: String, _ suffix: String, _ unit: String, _ what: String,
    _ point: @escaping @Sendable (Row) -> VariantCurves.Point?
  ) -> [CSVColumn<Row>] {
    [
      .init("\(name)_\(suffix)", unit, "\(what): mean over the seeds.") { .decimal(point($0)?.mean) },
      .init("\(name)_low_95_\(suffix)", unit, "Lower end of its 95 % interval, at this time by itself.") {
        .decimal(point($0)?.low)
      },
      .init("\(name)_high_95_\(suffix)", unit, "Upper end of the same.") { .decimal(point($0)?.high) },
    ]
  }
}
