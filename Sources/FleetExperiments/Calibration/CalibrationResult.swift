import FleetStatistics

/// What a calibration found.
package struct CalibrationResult: Sendable {
  package var study: CalibrationStudy
  /// 0 … 1 in each range.
  var point: [Double]
  /// Values that the series leaves possible, as likely as they are often here.
  var draws: [[Double]]
  package var scatter: CalibrationScatter
  /// Mean counts of runs with the fitted values.
  package var expected: SeriesCounts
  package var runs: Int
  /// Whether the search came to rest within its budget.
  package var isSettled: Bool
  /// Whether it came to its end; false: it was stopped, and the point is that of the run that came nearest.
  package var isFinished = true

  /// The fitted value of each key, as a scenario takes it.
  package var values: [String] { study.values(point) }
  package var quantities: [Quantity] { values.compactMap { Quantity($0) } }

  /// Each of the draws, as a scenario takes it.
  package var drawnValues: [[String]] { draws.map { study.values($0) } }

  /// The 95 % interval of a key, 0 … 1 in its range: of n draws the (n + 1) · 2.5 % outermost on each side are left out.
  func share(_ key: Int) -> (low: Double, high: Double) {
    let sorted = draws.map { $0[key] }.sorted()
    let outside = min(max(Int(Double(sorted.count + 1) * 0.025) - 1, 0), max((sorted.count - 1) / 2, 0))
    return (sorted[outside], sorted[sorted.count - 1 - outside])
  }

  package func interval(_ key: Int) -> (low: Quantity, high: Quantity) {
    let share = share(key)
    return (study.keys[key].quantity(at: share.low), study.keys[key].quantity(at: share.high))
  }

  // MARK: What cannot be known

  /// An interval as wide as this part of the range says nothing.
  private static let nothing = 0.75
  /// Of the draws of two keys.
  private static let inseparable = 0.95

  /// Whether the series says nothing of a key.
  package func isUnknown(_ key: Int) -> Bool { share(key).high - share(key).low >= Self.nothing }

  /// Whether the best value lies at an end of the range, beyond which nobody has looked.
  package func isAtEdge(_ key: Int) -> Bool {
    !isUnknown(key) && (point[key] < 0.01 || point[key] > 0.99)
  }

  /// Of the draws of two keys, -1 … 1.
  package func correlation(_ first: Int, _ second: Int) -> Double {
    let (a, b) = (SampleStatistics(draws.map { $0[first] }), SampleStatistics(draws.map { $0[second] }))
    let spread = (a.standardDeviation ?? 0) * (b.standardDeviation ?? 0)
    guard spread > 0, draws.count > 2 else { return 0 }
    let sum = draws.reduce(0) { $0 + ($1[first] - a.mean) * ($1[second] - b.mean) }
    return sum / Double(draws.count - 1) / spread
  }

  /// Pairs of keys that move together so closely that the series can't tell them apart.
  package var inseparable: [(first: Int, second: Int)] {
    study.keys.indices.flatMap { first in
      (first + 1..<max(study.keys.count, first + 1)).compactMap { second in
        abs(correlation(first, second)) > Self.inseparable ? (first, second) : nil
      }
    }
  }
}

/// How far the series is from what the fitted scenario expects, beside how far the scenario's own runs are.
package struct CalibrationScatter: Sendable {
  /// The series' squares divided by those of the runs, on the part that was fitted.
  package var ratio: Double
  /// Whether a run of the fitted scenario could be as far off.
  package var isExplained: Bool
  /// Mean absolute percentage errors on the part held out, by column; nil where nothing was counted or nothing is held out.
  package var errors: [Double?]
  /// The same of the scenario's own runs: what chance alone makes of it.
  package var chance: [Double?]

  init(_ study: CalibrationStudy, _ runs: [SeriesCounts], observed: [Double], weights: [Double]) {
    let features = runs.map { study.features($0) }
    let count = Double(runs.count)
    var means = Array(repeating: 0.0, count: observed.count)
    for run in features { for f in means.indices { means[f] += run[f] / count } }
    func squares(_ series: [Double], times factor: Double) -> Double {
      var sum = 0.0
      for f in means.indices { sum += weights[f] * (series[f] - means[f]) * (series[f] - means[f]) }
      return sum * factor
    }
    // From a mean that a run is part of it is nearer than from that of the others, by (n - 1) / n; the observed series is no part,
    // and farther than from the truth by (n + 1) / n: both are brought to the latter.
    let own = SampleStatistics(features.map { squares($0, times: (count + 1) / max(count - 1, 1)) })
    let seen = squares(observed, times: 1)
    ratio = own.mean > 0 ? seen / own.mean : seen > 0 ? .infinity : 1
    isExplained = seen <= own.mean + 4 * (own.standardDeviation ?? 0) || ratio < 1.1
    let rows = Array(study.heldOut..<study.observed.rows.count)
    let mean = SeriesCounts.mean(runs)
    errors = study.weights.indices.map { column in
      let values = study.observed.values[study.weights[column].column] ?? []
      return Self.percentageError(rows.map { values[$0] }, rows.map { mean.values[column][$0] })
    }
    chance = study.weights.indices.map { column in
      let errors = runs.compactMap { run in
        Self.percentageError(rows.map { run.values[column][$0] }, rows.map { mean.values[column][$0] })
      }
      return errors.mean
    }
  }

  /// Over the rows in which something was counted: of nothing there is no percentage.
  private static func percentageError(_ seen: [Double?], _ expected: [Double]) -> Double? {
    var (sum, count) = (0.0, 0.0)
    for (seen, expected) in zip(seen, expected) {
      guard let seen, seen > 0 else { continue }
      sum += abs(expected - seen) / seen
      count += 1
    }
    return count > 0 ? sum / count : nil
  }
}
