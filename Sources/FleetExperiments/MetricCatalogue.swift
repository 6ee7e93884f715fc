import FleetMetrics

/// Every metric of a run: the numeric columns of `summary.csv` in the verdict's order, then in the file's.
public enum MetricCatalogue {
  /// Events lost, recovery time, p99 time to delivery, attempts per device: what the verdict ranks on, in its order.
  public static let headline: [Metric] = all.filter(\.isHeadline)

  public static let all: [Metric] = {
    let ranked = order.compactMap { name in SummaryCSV.columns.first { $0.name == name } }
    let others = SummaryCSV.columns.filter { !order.contains($0.name) && $0.direction != nil }
    return (ranked + others).map(metric)
  }()

  /// The metric of that name in `summary.csv`.
  public static func metric(named name: String) -> Metric? { all.first { $0.name == name } }

  public static let lost = "lost_events"
  public static let recovery = "recovery_s"
  public static let timeToDelivery = "time_to_delivery_p99_s"
  public static let attempts = "attempts_mean_per_device_day"
  static let horizon = "recovery_horizon_s"

  static let columns = Dictionary(uniqueKeysWithValues: SummaryCSV.columns.map { ($0.name, $0) })

  private static let order = [lost, recovery, timeToDelivery, attempts]
  private static let censored: Set<String> = [recovery, "drained_s"]
  private static let titles = [
    lost: "events lost", recovery: "recovered in", timeToDelivery: "p99 delivery",
    attempts: "attempts/device/day",
  ]

  private static func metric(_ column: CSVColumn<RunSummary>) -> Metric {
    let direction = column.direction ?? .neither
    return Metric(
      name: column.name, unit: column.unit, definition: column.definition,
      title: titles[column.name] ?? column.name, direction: direction,
      isHeadline: order.contains(column.name), isCensored: censored.contains(column.name),
      // What merely describes may drift a little; the rest is judged by its intervals.
      tolerance: direction == .neither ? .relative(0.05) : .notSignificantlyWorse)
  }
}
