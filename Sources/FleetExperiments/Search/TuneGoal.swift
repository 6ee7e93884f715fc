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

/// What every run of a setting has to keep.
package struct TuneConstraint: Sendable {
  package var metric: Metric
  package var isUpper: Bool
  package var limit: Double
  package var text: String

  /// Reads `name<=value` or `name>=value`; times may have a unit.
  package init(_ text: String) throws(RangeProblem) {
    let upper = text.firstRange(of: "<=")
    guard let sign = upper ?? text.firstRange(of: ">=") else {
      throw RangeProblem("'\(text)' is no constraint: it is written as lost_events<=0 or drained_s<=20m.")
    }
    let name = String(text[..<sign.lowerBound])
    guard let metric = MetricCatalogue.metric(named: name) else {
      throw RangeProblem("'\(name)' in '\(text)' is no metric: a constraint is on a column of summary.csv.")
    }
    let value = String(text[sign.upperBound...])
    guard let quantity = Quantity(value),
      quantity.unit == .number || (quantity.unit == .span && metric.unit == "s")
    else {
      throw RangeProblem(
        "'\(value)' in '\(text)' is no limit: write a number"
          + (metric.unit == "s" ? ", or a span as 20m." : "."))
    }
    self.metric = metric
    isUpper = upper != nil
    limit = quantity.unit == .span ? quantity.value / 1e6 : quantity.value
    self.text = text
  }

  func isKept(by trial: Trial) -> Bool { isKept(metric.value(trial.column)) }

  private func isKept(_ value: MetricValue) -> Bool {
    switch value {
    case .none: true
    case .value(let value), .time(let value, _): isUpper ? value <= limit : value >= limit
    case .censored(let horizon): isUpper ? false : horizon >= limit
    }
  }

  /// Whether `a` is nearer to the limit than `b`, or further inside it. A time that did not come is the longest.
  func isBetter(_ a: MetricValue, than b: MetricValue) -> Bool {
    let (x, y) = ((a.isCensored ? 1 : 0, a.restricted ?? 0), (b.isCensored ? 1 : 0, b.restricted ?? 0))
    return isUpper ? x < y : x > y
  }

  /// `1 min 10 s`; of a time that did not come `more than 8 min`.
  package func text(_ value: MetricValue) -> String {
    (value.isCensored ? "more than " : "") + MetricText.value(metric, value.restricted ?? 0)
  }
}

/// How the runs of a setting keep a constraint.
package struct ConstraintRecord: Sendable {
  /// Share of the runs that break it, the mean over the scenarios.
  package var broken: Double
  /// The value of the run that is furthest from keeping it; nil where no run has one.
  package var worst: MetricValue?

  /// - Parameter trials: by scenario.
  init(_ constraint: TuneConstraint, _ trials: [[Trial]]) {
    broken = trials.map { Ensemble($0).share { !constraint.isKept(by: $0) } }.mean ?? 0
    worst = trials.joined().map { constraint.metric.value($0.column) }.filter { $0 != .none }
      .max { constraint.isBetter($0, than: $1) }
  }
}

/// That nothing that was searched keeps all constraints.
package struct UnmetConstraints: Sendable {
  /// Whether that is so of all candidates, or of those that had all seeds.
  package var isOfAll: Bool
  /// Of how many it is so.
  package var count: Int
  /// The constraints that none of them keeps, each with the candidate whose worst run is nearest to it. Empty: each is kept by some
  /// of them, all together by none.
  package var best: [(constraint: Int, standing: Standing)]
}

extension TuneResult {
  /// Nil without constraints, and where a candidate or today's Settings keep all of them in every run of the search.
  package var unmetConstraints: UnmetConstraints? {
    guard !study.constraints.isEmpty else { return nil }
    let judged = standings.filter {
      $0.scale == .whole && $0.seeds >= (study.isRobust ? TuneStudy.fewestDraws : study.seeds)
    }
    guard !(judged + [today, winner]).contains(where: \.keepsConstraints) else { return nil }
    // What a part of a fleet reaches is no figure of the whole.
    let isOfAll = study.raceScale == .whole && !standings.contains(where: \.keepsConstraints)
    let field = (isOfAll ? standings : judged) + [today, winner]
    let best = study.constraints.indices.compactMap { index -> (Int, Standing)? in
      guard !field.contains(where: { $0.constraints[index].broken == 0 }) else { return nil }
      let reached = field.compactMap { standing in
        standing.constraints[index].worst.map { (standing, $0) }
      }
      return reached.min { study.constraints[index].isBetter($0.1, than: $1.1) }.map { (index, $0.0) }
    }
    return UnmetConstraints(isOfAll: isOfAll, count: isOfAll ? standings.count : judged.count, best: best)
  }
}
