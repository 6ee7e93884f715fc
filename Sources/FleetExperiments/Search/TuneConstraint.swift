import SimulationKernel

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
    let shares = trials.map { trials in
      Double(trials.count { !constraint.isKept(by: $0) }) / Double(max(trials.count, 1))
    }
    broken = shares.reduce(0, +) / Double(max(shares.count, 1))
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
