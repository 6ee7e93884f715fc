import FleetMetrics

/// Every metric of a run: the numeric columns of `summary.csv` in the verdict's order, then in the file's.
public enum MetricCatalogue {
  /// What the verdict ranks on, in its order. Attempts are those above the twin's where there is an incident, else all of them.
  package static let ranked = [undelivered, recovery, affectedDelivery, attemptsAboveTwin, attempts]

  public static let all: [Metric] = {
    let first = ranked.compactMap { name in SummaryCSV.columns.first { $0.name == name } }
    let others = SummaryCSV.columns.filter { !ranked.contains($0.name) && $0.direction != nil }
    return (first + others).map(metric)
  }()

  /// The verdict's metrics, in its order.
  package static let headline: [Metric] = all.filter(\.isHeadline)

  /// The metric of that name in `summary.csv`.
  public static func metric(named name: String) -> Metric? { all.first { $0.name == name } }

  public static let undelivered = "undelivered_events"
  public static let lost = "lost_events"
  public static let recovery = "recovery_s"
  public static let timeToDelivery = "time_to_delivery_p99_s"
  /// Of the affected events.
  public static let affectedDelivery = "affected_delivery_p99_s"
  public static let attemptsAboveTwin = "attempts_above_twin_per_device"
  public static let attempts = "attempts_mean_per_device_day"
  /// Where the time of a metric is censored that not every run lives to see.
  private static let horizons = [
    recovery: "recovery_horizon_s", "drained_s": "recovery_horizon_s",
    "affected_delivery_p50_s": "affected_horizon_s", affectedDelivery: "affected_horizon_s",
  ]

  static let columns = Dictionary(uniqueKeysWithValues: SummaryCSV.columns.map { ($0.name, $0) })

  private static let titles = [
    undelivered: "undelivered", lost: "events lost", recovery: "recovered in",
    affectedDelivery: "affected p99", attemptsAboveTwin: "extra attempts",
    timeToDelivery: "p99 delivery", attempts: "attempts/device/day",
  ]

  private static func metric(_ column: CSVColumn<RunSummary>) -> Metric {
    let direction = column.direction ?? .neither
    return Metric(
      name: column.name, unit: column.unit, definition: column.definition,
      title: titles[column.name] ?? column.name, direction: direction,
      isHeadline: ranked.contains(column.name), horizon: horizons[column.name],
      // What has no better side describes; the rest is judged by its intervals.
      tolerance: direction == .neither ? .informational : .notSignificantlyWorse)
  }
}
