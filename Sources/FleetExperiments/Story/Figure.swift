import FleetStatistics

/// What runs came to by one criterion, before it is text.
package struct Figure: Sendable {
  package enum Value: Sendable {
    /// No run has one.
    case none
    /// Whether the fleet holds its load without incidents.
    case health(Bool)
    /// So many of the runs fail.
    case failures(Int, of: Int)
    /// Where not all runs lived to see a time, it is at least that.
    case mean(Double, isLeast: Bool = false)
    /// A time that no run lived to see: so many seconds were watched.
    case unseen(Double)
  }

  package var value: Value
  /// nil of health and of failures.
  package var metric: Metric?
  /// Makes the interval of the mean, which may take a thousand resamples; nil: there is none.
  private let estimate: (@Sendable () -> MeanEstimate)?

  package init(
    value: Value, metric: Metric? = nil, estimate: (@Sendable () -> MeanEstimate)? = nil
  ) {
    (self.value, self.metric, self.estimate) = (value, metric, estimate)
  }

  /// `26 min 17 s`, `872,000`, `3 of 8`, `never`, `> 2 h`; `–` where no run has a value.
  package var text: String {
    switch (value, metric) {
    case (.health(let holds), _): holds ? "holds" : "does not hold"
    case (.failures(let count, let runs), _): "\(count) of \(runs)"
    case (.mean(let mean, let isLeast), let metric?): (isLeast ? "> " : "") + MetricText.value(metric, mean)
    case (.unseen(let watched), let metric?):
      MetricCatalogue.isReturn(metric) ? "never" : "> " + MetricText.value(metric, watched)
    default: "–"
    }
  }

  /// The 95 % interval of the mean: `± 4 s`, or `(25 min to 28 min)` where it is uneven; nil without one.
  ///
  /// It is uneven where one side is more than a quarter longer than the other, or ends at 0, and both ends can be told from the
  /// mean. Only attempts above the twin's can be less than none.
  package var interval: String? {
    guard case .mean(_, isLeast: false) = value, let metric, let estimate = estimate?(),
      var low = estimate.low,
      let high = estimate.high, high > low
    else { return nil }
    let endsAtNone = low < 0 && metric.name != MetricCatalogue.attemptsAboveTwin
    if endsAtNone { low = 0 }
    let (below, above) = (estimate.mean - low, high - estimate.mean)
    let isUneven = endsAtNone || max(below, above) > 1.25 * min(below, above)
    let texts = [low, high].map { MetricText.value(metric, $0) }
    return isUneven && !texts.contains(text)
      ? "(\(texts[0]) to \(texts[1]))" : "± " + MetricText.value(metric, (high - low) / 2)
  }

  /// The figure with its interval behind it, if it has one.
  package func withInterval(_ separator: String = " ") -> String {
    interval.map { text + separator + $0 } ?? text
  }

  /// The figure as a table has it: a line may break before the interval.
  package var cell: String { withInterval("\n") }

  /// The figure with what it counts: `caught up after 26 min`, `872,000 events lost`.
  package var phrase: String {
    guard let metric else {
      return switch value {
      case .failures(let count, _): "\(text) runs \(count == 1 ? "fails" : "fail")"
      default: "the fleet \(text)" + " without incidents"
      }
    }
    switch metric.name {
    case MetricCatalogue.lost: return "\(counted("event")) lost"
    case MetricCatalogue.late: return "\(counted("event")) late"
    case MetricCatalogue.healthy: return isNever ? "endpoint never well" : "endpoint well after \(text)"
    case MetricCatalogue.recovery: return isNever ? "never caught up" : "caught up after \(text)"
    case MetricCatalogue.affectedDelivery: return "\(metric.title) after \(text)"
    case MetricCatalogue.attemptsAboveTwin: return "\(counted("extra request")) a device"
    case MetricCatalogue.attempts: return "\(counted("request")) a device and day"
    default: return "\(metric.title) \(text)"
    }
  }

  private func counted(_ things: String) -> String { "\(text) \(things)\(text == "1" ? "" : "s")" }

  /// Whether no run lived to see it.
  package var isNever: Bool { if case .unseen = value { true } else { false } }

  /// In the metric's unit, of the whole fleet; of failures their share; nil where there is none.
  package var number: Double? {
    switch value {
    case .none, .health: nil
    case .failures(let count, let runs): runs > 0 ? Double(count) / Double(runs) : nil
    case .mean(let mean, _): mean * (metric?.factor ?? 1)
    case .unseen(let watched): watched
    }
  }
}

extension ReplicatedMetrics {
  package func figure(_ index: Int, _ variant: Int) -> Figure {
    let (sample, share) = (sample(index, variant: variant), share(index, variant: variant))
    let value: Figure.Value =
      if sample.count == 0 {
        .none
      } else if share?.successes == 0 {
        .unseen(sample.mean)
      } else {
        .mean(sample.mean, isLeast: share.map { $0.successes < $0.count } ?? false)
      }
    return Figure(value: value, metric: metrics[index]) {
      self.estimate(index, variant: variant)
    }
  }
}

extension Standings {
  package func figure(_ variant: Int, _ criterion: Criterion) -> Figure {
    switch criterion {
    case .health: Figure(value: .health(isHealthy(variant)))
    case .failures: Figure(value: .failures(runs[variant].count(where: \.fails), of: runs[variant].count))
    case .metric(let index): metrics.figure(index, variant)
    }
  }
}
