import FleetMetrics

/// A figure of a run that replications are compared by: a column of `summary.csv`, and what statistics has to know of it.
public struct Metric: Sendable {
  public typealias Direction = Measure.Direction
  /// How a later run may differ from a recorded one before it counts as worse; the default for this metric.
  public enum Tolerance: Sendable, Hashable {
    /// By this share of the recorded mean.
    case relative(Double)
    /// By this much, in the metric's unit.
    case absolute(Double)
    /// By what chance can explain, and by what doesn't matter: `relevantShare` of the recorded mean.
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
  /// As a heading of a table.
  public let title: String
  public let direction: Direction
  /// Whether the verdict ranks on it.
  public let isHeadline: Bool
  /// Of a time that a run may not live to see (`MetricValue`): the column that tells how long it was watched.
  public let horizon: String?
  public let tolerance: Tolerance

  /// Whether it is a time that a run may not live to see.
  public var isCensored: Bool { horizon != nil }

  /// The value of a run by its columns in `summary.csv`, so that a file read back gives the same statistics as the run itself.
  /// - Parameter column: the number in a column, nil if it is empty.
  public func value(_ column: (_ name: String) -> Double?) -> MetricValue {
    let value = column(name)
    guard let name = self.horizon else { return value.map(MetricValue.value) ?? .none }
    guard let horizon = column(name) else { return .none }
    return value.map { .time($0, horizon: horizon) } ?? .censored(horizon: horizon)
  }

  public func value(of summary: RunSummary) -> MetricValue {
    value { MetricCatalogue.columns[$0]?.value(summary).number }
  }
}

/// What a metric is in one run.
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
