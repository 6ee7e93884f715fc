import SimulationKernel

/// A metric to make small (or large, if that is its better direction).
package struct TuneObjective: Sendable {
  package var metric: Metric
  package var weight: Double

  /// The verdict's metrics: undelivered events, recovery time, the affected events' p99, attempts above the twin's.
  package static let standard: [TuneObjective] =
    [
      MetricCatalogue.undelivered, MetricCatalogue.recovery, MetricCatalogue.affectedDelivery,
      MetricCatalogue.attemptsAboveTwin,
    ]
    .compactMap { MetricCatalogue.metric(named: $0) }.map { TuneObjective(metric: $0, weight: 1) }

  init(metric: Metric, weight: Double) {
    self.metric = metric
    self.weight = weight
  }

  /// Reads `name` or `name:weight`.
  package init(_ text: String) throws(RangeProblem) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let metric = MetricCatalogue.metric(named: parts[0]) else {
      throw RangeProblem(
        "'\(text)' is no metric: an objective is a column of summary.csv that measures something, as "
          + "\(MetricCatalogue.timeToDelivery), and may have a weight, as \(MetricCatalogue.timeToDelivery):2."
      )
    }
    self.init(metric: metric, weight: 1)
    if parts.count == 2 {
      guard let quantity = Quantity(parts[1]), quantity.unit == .number, quantity.value > 0 else {
        throw RangeProblem("'\(parts[1])' in '\(text)' is no weight: write a number above 0.")
      }
      weight = quantity.value
    }
  }

  /// ln(value / reference), the other way round where more is better; nil where both have none. Who has a value where the other
  /// has none is e times as good.
  ///
  /// A floor is added to both, so that none against few does not become infinitely many times: of counts of events a thousandth of
  /// those created, of attempts above the twin's a tenth of the twin's, of times ten seconds.
  func logRatio(_ trial: Trial, to reference: Trial) -> Double? {
    let (value, other) = (metric.value(trial.column), metric.value(reference.column))
    if value == .none, other == .none { return nil }
    guard let value = value.restricted else { return 1 }
    guard let other = other.restricted else { return -1 }
    let floor = floor(reference)
    let (a, b) = (max(value, 0) + floor, max(other, 0) + floor)
    if a == b { return 0 }
    guard a > 0, b > 0 else { return a < b ? -1 : 1 }
    let ratio = DeterministicMath.log(a / b)
    return metric.direction == .higherIsBetter ? -ratio : ratio
  }

  private func floor(_ reference: Trial) -> Double {
    if metric.unit == "events" { return (reference.column("created_events") ?? 0) / 1_000 }
    if metric.unit == "s" { return 10 }
    guard metric.name == MetricCatalogue.attemptsAboveTwin else { return 0 }
    let days = (reference.column("duration_s") ?? 0) / 86_400
    let all = (reference.column(MetricCatalogue.attempts) ?? 0) * days
    return max(0.5, (all - (reference.column(metric.name) ?? 0)) / 10)
  }
}
