import FleetStatistics

/// Values of metrics as people read them.
package enum MetricText {
  /// `12 min 30 s` of a metric in seconds, otherwise `1,234`, `12.3`, `0.012`.
  package static func value(_ metric: Metric, _ value: Double, isSigned: Bool = false) -> String {
    let sign = value < 0 ? "-" : isSigned && value > 0 ? "+" : ""
    guard metric.unit == "s" else { return sign + plain(abs(value)) }
    guard let microseconds = Int64(exactly: (abs(value) * 1e6).rounded()) else { return "unknown" }
    return sign + FigureText.span(microseconds)
  }

  /// `12 min 30 s ± 4 s`; the value alone without a half width, or where all runs gave the same.
  package static func interval(
    _ metric: Metric, _ value: Double, _ halfWidth: Double?, isSigned: Bool = false
  ) -> String {
    let text = self.value(metric, value, isSigned: isSigned)
    guard let halfWidth, halfWidth > 0 else { return text }
    return text + " ± " + self.value(metric, halfWidth)
  }

  /// Three significant digits below 1,000, whole numbers above; no trailing zeros.
  package static func plain(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "unknown" }
    if value < 0 { return "-" + plain(-value) }
    if value >= 999.5 { return FigureText.grouped(Int64(value.rounded())) }
    var decimals = 0
    var power = 1.0
    while decimals < 6, value * power < 99.95, value > 0 {
      decimals += 1
      power *= 10
    }
    let scaled = Int64((value * power).rounded(.toNearestOrAwayFromZero))
    let whole = Int64(power)
    guard decimals > 0 else { return FigureText.grouped(scaled) }
    let digits = String(scaled % whole)
    var fraction = String(repeating: "0", count: decimals - digits.count) + digits
    while fraction.last == "0" { fraction.removeLast() }
    return "\(scaled / whole)" + (fraction.isEmpty ? "" : "." + fraction)
  }
}

extension MetricText {
  /// The mean of a variant's runs with its interval; `never` and `> 2 h` of a time that no run lived to see, `–` without values.
  /// - Parameter isPlain: without the interval.
  package static func mean(
    _ metrics: ReplicatedMetrics, _ index: Int, _ variant: Int, isPlain: Bool = false
  ) -> String {
    let metric = metrics.metrics[index]
    let sample = metrics.sample(index, variant: variant)
    guard sample.count > 0 else { return "–" }
    if let share = metrics.share(index, variant: variant), share.successes == 0 {
      return metric.name == MetricCatalogue.recovery ? "never" : "> " + value(metric, sample.mean)
    }
    return interval(
      metric, sample.mean, isPlain ? nil : metrics.estimate(index, variant: variant).halfWidth)
  }
}
