import FleetMetrics
import FleetStatistics
import SimulationKernel

/// The question to a calibration: its keys, their ranges, and the series.
package struct CalibrationStudy: Sendable {
  package var keys: [QuantityRange]
  package let observed: ObservedSeries
  /// Rows from this one on are held out.
  package let heldOut: Int
  /// The rows and columns that are fitted, column after column.
  let fitted: [(column: Int, row: Int)]
  /// Runs in all, but for those that tell the error on the part held out.
  package var budget: Int

  package static let mostKeys = 8
  package static let leastBudget = 200
  /// The part of the rows, from the end, that nothing is fitted to.
  static let holdOut = 0.2

  /// Enough for a surface of second order and the race before it.
  package static func defaultBudget(keys: Int) -> Int { 200 + 150 * keys }

  package init(keys: [QuantityRange], observed: ObservedSeries, budget: Int? = nil) {
    self.keys = keys
    self.observed = observed
    let heldOut = observed.rows.count - Int((Double(observed.rows.count) * Self.holdOut).rounded())
    self.heldOut = heldOut
    fitted = observed.columns.enumerated().flatMap { index, column in
      (0..<heldOut).filter { column.values[$0] != nil }.map { (index, $0) }
    }
    self.budget = budget ?? Self.defaultBudget(keys: keys.count)
  }

  /// The counts of a run in the rows of the observed series, by column.
  package typealias Counts = [[Double]]

  // MARK: Points

  /// A place in the ranges: 0 … 1 for each key.
  typealias Point = [Double]

  /// The values there as a scenario takes them.
  func values(_ point: Point) -> [String] { zip(keys, point).map { $0.fitText($0.quantity(at: $1)) } }

  /// The place that those values really have: what was rounded lies elsewhere.
  func rounded(_ point: Point) -> Point {
    zip(keys, point).map { key, share in
      Quantity(key.fitText(key.quantity(at: share))).flatMap { key.share(of: $0) } ?? share
    }
  }

  /// Returns half of the narrowest box of a key. Three whole numbers lie in it wherever it is, as many as a surface of second
  /// order takes.
  func leastHalf(_ key: Int) -> Double { 1.51 * keys[key].widestGap }

  /// A box round a centre, no narrower than the values of its keys allow.
  func box(centre: Point, half: [Double]) -> CalibrationBox {
    CalibrationBox(centre: centre, half: half.enumerated().map { max($1, leastHalf($0)) })
  }

  /// The `index`-th point of a Halton sequence in a box, shifted by the seed.
  func spread(_ index: Int, in box: CalibrationBox, round: Int) -> Point {
    let key = RandomKey(seed: 1).child(UInt64(round))
    let point = HaltonSequence.point(index, dimensions: keys.count, key: key)
    return keys.indices.map { box.low[$0] + (box.high[$0] - box.low[$0]) * point[$0] }
  }

  // MARK: Features

  /// Returns the count of a run as a number whose scatter hardly depends on its size. The number 2 √(n + 3/8) is nearly normal
  /// with variance 1 where n is Poisson.
  ///
  /// Source: Anscombe, "The transformation of Poisson, binomial and negative-binomial data", Biometrika 35 (1948).
  static func stabilised(_ count: Double) -> Double { 2 * (max(0, count) + 0.375).squareRoot() }

  /// Returns the stabilised count of each of `fitted`.
  func features(_ counts: Counts) -> [Double] {
    fitted.map { Self.stabilised(counts[$0.column][$0.row]) }
  }

  /// The counts of a run in the rows of the observed series; 0 where the run has ended before.
  package func counts(of series: TimeSeries) -> Counts {
    let rows = series.rows
    return observed.columns.map { column in
      observed.rows.map { row in
        row < rows.count
          ? Double(column.kind.parts.measures.reduce(0) { $0 + rows[rows.startIndex + row][$1] }) : 0
      }
    }
  }

  /// The mean counts of at least one run.
  static func mean(_ runs: [Counts]) -> Counts {
    runs[0].indices.map { column in
      runs[0][column].indices.map { row in runs.reduce(0) { $0 + $1[column][row] } / Double(runs.count) }
    }
  }
}

/// A part of the ranges.
struct CalibrationBox: Sendable, Hashable {
  var low: [Double]
  var high: [Double]

  /// Round a centre, moved into the ranges.
  init(centre: [Double], half: [Double]) {
    (low, high) = ([], [])
    for (centre, half) in zip(centre, half) {
      let half = min(half, 0.5)
      let middle = min(max(centre, half), 1 - half)
      low.append(middle - half)
      high.append(middle + half)
    }
  }

  var centre: [Double] { zip(low, high).map { ($0 + $1) / 2 } }
  var half: [Double] { zip(low, high).map { ($1 - $0) / 2 } }

  func contains(_ point: [Double]) -> Bool {
    point.indices.allSatisfy { point[$0] >= low[$0] - 1e-9 && point[$0] <= high[$0] + 1e-9 }
  }

  /// -1 … 1 in each key.
  func inside(_ point: [Double]) -> [Double] {
    point.indices.map { (point[$0] * 2 - low[$0] - high[$0]) / (high[$0] - low[$0]) }
  }

  func outside(_ place: [Double]) -> [Double] {
    place.indices.map { (low[$0] + high[$0] + place[$0] * (high[$0] - low[$0])) / 2 }
  }
}

extension QuantityRange {
  /// A value as every key of a scenario takes it: no more decimals than its unit has there.
  package func fitText(_ quantity: Quantity) -> String {
    var quantity = quantity
    let scale: Double
    switch quantity.unit {
    case .number: scale = 1e6
    case .percent: scale = 1e4
    case .rate: scale = 1e3
    // Whole milliseconds, unless the range is below a second.
    case .span: scale = high.value - low.value >= 1e6 ? 1e-3 : 1
    case .bytes: return quantity.text()
    }
    quantity.value = (quantity.value * scale).rounded() / scale
    return quantity.text()
  }
}

package struct CalibrationResult: Sendable {
  package var study: CalibrationStudy
  /// 0 … 1 in each range.
  var point: [Double]
  /// Values that the series leaves possible, as likely as they are often here.
  package var draws: [[Double]]
  package var scatter: CalibrationScatter
  /// Mean counts of runs with the fitted values.
  package var expected: CalibrationStudy.Counts
  package var runs: Int
  /// Whether the search came to rest within its budget.
  package var isSettled: Bool

  /// The fitted value of each key, as a scenario takes it.
  package var values: [String] { study.values(point) }
  package var quantities: [Quantity] { values.compactMap { Quantity($0) } }

  /// Returns the 95 % interval of a key, 0 … 1 in its range. The interval leaves out the (n + 1) · 2.5 % outermost of n draws on
  /// each side.
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
  /// The correlation, by its absolute value, of the draws of two keys from which on the series cannot separate them.
  private static let inseparable = 0.95

  /// Whether the series says nothing of a key.
  package func isUnknown(_ key: Int) -> Bool { share(key).high - share(key).low >= Self.nothing }

  /// Whether the best value lies at an end of the range, beyond which nobody has looked.
  package func isAtEdge(_ key: Int) -> Bool {
    !isUnknown(key) && (point[key] < 0.01 || point[key] > 0.99)
  }

  /// Returns the correlation of the draws of two keys, -1 … 1.
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
  /// The first column of which something was counted on the part held out; nil: none is.
  package var heldOut: HeldOut?

  /// Mean absolute percentage errors of a column on the part held out.
  package struct HeldOut: Sendable {
    package var column: ObservedColumn
    package var error: Double
    /// That of the scenario's own runs: what chance alone makes of it.
    package var chance: Double?
  }

  init(_ study: CalibrationStudy, _ runs: [CalibrationStudy.Counts], observed: [Double], weights: [Double]) {
    let features = runs.map { study.features($0) }
    let count = Double(runs.count)
    var means = Array(repeating: 0.0, count: observed.count)
    for run in features { for f in means.indices { means[f] += run[f] / count } }
    func squares(_ series: [Double], times factor: Double) -> Double {
      factor
        * means.indices.reduce(0.0) { $0 + weights[$1] * (series[$1] - means[$1]) * (series[$1] - means[$1]) }
    }
    // A run is nearer to a mean that it is part of than to that of the others, by (n - 1) / n. The observed series is no part,
    // and is farther from the mean than from the truth by (n + 1) / n. Both are brought to the latter.
    let own = SampleStatistics(features.map { squares($0, times: (count + 1) / max(count - 1, 1)) })
    let seen = squares(observed, times: 1)
    ratio = own.mean > 0 ? seen / own.mean : seen > 0 ? .infinity : 1
    isExplained = seen <= own.mean + 4 * (own.standardDeviation ?? 0) || ratio < 1.1
    let rows = Array(study.heldOut..<study.observed.rows.count)
    let mean = CalibrationStudy.mean(runs)
    for (index, column) in study.observed.columns.enumerated() where heldOut == nil {
      let expected = rows.map { mean[index][$0] }
      guard let error = Self.percentageError(rows.map { column.values[$0] }, expected) else { continue }
      let chance = runs.compactMap { run in Self.percentageError(rows.map { run[index][$0] }, expected) }
      heldOut = HeldOut(column: column.kind, error: error, chance: chance.mean)
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
