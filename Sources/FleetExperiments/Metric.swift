import FleetMetrics

/// A figure of a run that replications are compared by: a column of `summary.csv`, and what statistics has to know of it.
public struct Metric: Sendable {
  public typealias Direction = Measure.Direction
  /// How a later run may differ from a recorded one before it counts as worse.
  public enum Tolerance: Sendable, Hashable {
    /// By this share of the recorded mean.
    case relative(Double)
    /// By this much, in the metric's unit.
    case absolute(Double)
    /// By what chance can explain, and by what doesn't matter: `relevantShare` of the recorded mean, or what the verdict ignores.
    case notSignificantlyWorse
    /// Not at all: it is told, never judged.
    case informational
  }

  /// A change of less than this share of the recorded mean is no regression.
  public static let relevantShare = 0.01

  /// The column's name in `summary.csv`.
  public let name: String
  public let unit: String
  public let definition: String
  /// As a heading of a table, and in sentences before a figure.
  public package(set) var title: String
  /// In sentences without a figure.
  package var words: String {
    switch name {
    case MetricCatalogue.lost, MetricCatalogue.late: title + " events"
    case MetricCatalogue.attemptsAboveTwin: "extra requests"
    case MetricCatalogue.attempts: "requests a day"
    default: title
    }
  }
  public let direction: Direction
  /// Whether the verdict ranks on it.
  public let isHeadline: Bool
  /// The column that tells how long a time was watched that a run may not live to see (`MetricValue`).
  public let horizon: String?
  /// One of so many was simulated: what people read of counts is so many times as much.
  package var scale: Int64 = 1

  /// Whether it counts things of the whole fleet, so that a smaller fleet has fewer.
  package var isCount: Bool { ["events", "requests", "answers", "batches", "devices"].contains(unit) }
  /// The factor of a value where people read it.
  package var factor: Double { isCount ? Double(scale) : 1 }

  /// The same metric of runs that simulated one of so many.
  func scaled(by scale: Int64) -> Metric {
    var metric = self
    metric.scale = scale
    return metric
  }

  /// Whether it is a time that a run may not live to see.
  public var isCensored: Bool { horizon != nil }

  /// Up to which difference it says nothing, in its unit: of events `relevantEvents` of those created, of times a row of the time series.
  /// - Parameter interval: width of that row, seconds.
  func floor(createdEvents: @autoclosure () -> Double, interval: Double) -> Double {
    if name == MetricCatalogue.attemptsAboveTwin { return 0.5 }
    if isCensored { return interval }
    return unit == "events" ? createdEvents() * Self.relevantEvents : 0
  }

  /// Differences of at most this share of all events do not matter.
  package static let relevantEvents = 0.0001

  /// The value of a run by its columns in `summary.csv`, so that a file read back gives the same statistics as the run itself.
  /// - Parameter column: the number in a column, nil if it is empty.
  public func value(_ column: (_ name: String) -> Double?) -> MetricValue {
    let value = column(name)
    guard let name = self.horizon else { return value.map(MetricValue.value) ?? .none }
    guard let horizon = column(name) else { return .none }
    return value.map { .time($0, horizon: horizon) } ?? .censored(horizon: horizon)
  }

  public func value(of summary: RunSummary) -> MetricValue {
    value(summary.column)
  }
}

extension RunSummary {
  /// The number in a column of `summary.csv`, with the digits that stand there; nil if it is empty.
  func column(_ name: String) -> Double? { MetricCatalogue.columns[name]?.value(self).number }
}

extension Collection<Double> {
  package var mean: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}

extension Sequence where Element: Hashable {
  /// Each once, in the order of the first ones.
  package var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }

  /// The first one that is there a second time.
  package var firstRepeated: Element? {
    var seen: Set<Element> = []
    return first { !seen.insert($0).inserted }
  }
}

/// The value of a metric in one run.
public enum MetricValue: Sendable, Hashable {
  /// The run has none: no incident to recover from, nothing delivered.
  case none
  case value(Double)
  /// A time that could have been watched up to the horizon.
  case time(Double, horizon: Double)
  /// Not within the horizon.
  case censored(horizon: Double)

  /// Whether it is a time that did not come.
  package var isCensored: Bool { if case .censored = self { true } else { false } }

  /// The value, of a time what it is up to the horizon; nil where there is none.
  ///
  /// A mean over those that made it would reward a variant for its failures: min(time, horizon) every run has.
  /// Source: P. Royston and M. K. B. Parmar, "Restricted mean survival time", BMC Med. Res. Methodol. 13 (2013), 152.
  public var restricted: Double? {
    switch self {
    case .none: nil
    case .value(let value): value
    case .time(let time, let horizon): min(time, horizon)
    case .censored(let horizon): horizon
    }
  }

  /// How long could be watched; nil of what is no time.
  public var horizon: Double? {
    switch self {
    case .none, .value: nil
    case .time(_, let horizon), .censored(let horizon): horizon
    }
  }

  /// This value minus another one; times up to the shorter of both horizons, for beyond it only one was watched.
  public func difference(to other: MetricValue) -> Double? {
    guard let value = restricted, let reference = other.restricted else { return nil }
    let horizon = min(horizon ?? .infinity, other.horizon ?? .infinity)
    return min(value, horizon) - min(reference, horizon)
  }
}

/// Every metric of a run: the numeric columns of `summary.csv` in the verdict's order, then in the file's.
public enum MetricCatalogue {
  /// The metrics that the verdict ranks on with or without incidents, in its order.
  package static let ranked = [lost, healthy, recovery, late, affectedDelivery, attemptsAboveTwin, attempts]

  /// Returns the metrics that the verdict decides by, in its order. Attempts are those above the twin's where there is an
  /// incident, else all of them.
  package static func criteria(hasIncidents: Bool) -> [String] {
    ranked.filter { $0 != (hasIncidents ? attempts : attemptsAboveTwin) }
  }

  public static let all: [Metric] = {
    let first = ranked.compactMap { name in SummaryCSV.columns.first { $0.name == name } }
    let others = SummaryCSV.columns.filter { !ranked.contains($0.name) && $0.direction != nil }
    return (first + others).map { column in
      let entry = entries.first { $0.name == column.name } ?? Entry(name: column.name)
      return Metric(
        name: column.name, unit: column.unit, definition: column.definition,
        title: entry.title ?? column.name, direction: column.direction ?? .neither,
        isHeadline: ranked.contains(column.name), horizon: entry.horizon)
    }
  }()

  /// The columns of a page's table beside the verdict's metrics.
  package static let shown: [Metric] = entries.filter(\.isShown).compactMap { metric(named: $0.name) }

  package static let headline: [Metric] = all.filter(\.isHeadline)

  /// Whether it is a time after the last incident: that of a run which does not live to see it is `never`.
  package static func isReturn(_ metric: Metric) -> Bool { metric.horizon == recoveryHorizon }

  /// The metric of that name in `summary.csv`.
  public static func metric(named name: String) -> Metric? { all.first { $0.name == name } }

  public static let undelivered = "undelivered_events"
  /// Lost for good, or blocked: the server never gets them.
  public static let lost = "lost_or_blocked_events"
  /// Not there when the run ended, although they could have been.
  public static let late = "late_events"
  /// How soon the server turns nobody away.
  public static let healthy = "healthy_s"
  /// How soon the data is where it could be.
  public static let recovery = "recovery_s"
  public static let timeToDelivery = "time_to_delivery_p99_s"
  /// The column of the affected events' time to delivery, at the percentile that the ideal run reaches.
  public static let affectedDelivery = "affected_delivery_judged_s"
  public static let attemptsAboveTwin = "attempts_above_twin_per_device"
  public static let attempts = "attempts_mean_per_device_day"
  package static let created = "created_events"
  private static let recoveryHorizon = "recovery_horizon_s"

  /// The title of the affected events' time to delivery.
  static func delivered(_ percent: Int) -> String { "\(percent) % delivered" }

  /// The facts that reports and statistics know of a metric beside its column in `summary.csv`.
  private struct Entry {
    var name: String
    /// nil: the name.
    var title: String?
    /// Whether a page's table has it, though the verdict does not rank on it.
    var isShown = false
    /// The horizon of a time that not every run lives to see.
    var horizon: String?
  }

  /// In the order in which the tables of pages have them.
  private static let entries = [
    Entry(name: lost, title: "lost"),
    Entry(name: healthy, title: "endpoint well", horizon: recoveryHorizon),
    Entry(name: recovery, title: "caught up", horizon: recoveryHorizon),
    Entry(name: late, title: "late"),
    Entry(name: undelivered, title: "undelivered"),
    Entry(name: "affected_delivery_p50_s", horizon: "affected_horizon_s"),
    Entry(name: "affected_delivery_p90_s", horizon: "affected_horizon_s"),
    Entry(name: "affected_delivery_p99_s", horizon: "affected_horizon_s"),
    Entry(name: affectedDelivery, title: delivered(99), horizon: "affected_horizon_s"),
    Entry(name: attemptsAboveTwin, title: "extra/device"),
    Entry(name: attempts, title: "requests/device/day"),
    Entry(name: "blocked_events", title: "blocked", isShown: true),
    Entry(name: "drained_s", title: "drained in", horizon: recoveryHorizon),
    Entry(name: timeToDelivery, title: "p99 of all delivered", isShown: true),
    Entry(name: "amplification_ratio", title: "amplification"),
    Entry(name: "peak_offered_ratio", title: "peak load", isShown: true),
    Entry(name: "herd_factor_ratio", title: "herd factor"),
    Entry(name: "idle_while_backlogged_s", title: "idle while backlogged"),
  ]

  static let columns = Dictionary(uniqueKeysWithValues: SummaryCSV.columns.map { ($0.name, $0) })
}

/// Values of metrics as people read them.
package enum MetricText {
  /// `12 min 30 s` of a metric in seconds, otherwise `1,234`, `12.3`, `0.012`; a count is that of the whole fleet (`Metric.scale`).
  package static func value(_ metric: Metric, _ value: Double, isSigned: Bool = false) -> String {
    let sign = value < 0 ? "-" : isSigned && value > 0 ? "+" : ""
    return sign + (metric.unit == "s" ? span(seconds: abs(value)) : plain(abs(value) * metric.factor))
  }

  /// `12 min 30 s`
  static func span(seconds: Double) -> String {
    Int64(exactly: (seconds * 1e6).rounded()).map { FigureText.span($0) } ?? "unknown"
  }

  /// Three significant digits below 1,000, whole numbers above; no trailing zeros.
  package static func plain(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "unknown" }
    if value < 0 { return "-" + plain(-value) }
    if value >= 999.5 { return FigureText.grouped(Int64(value.rounded())) }
    return Quantity.decimal(value, most: 6)
  }
}
