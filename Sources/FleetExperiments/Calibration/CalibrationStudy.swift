import FleetMetrics
import SimulationKernel

/// What a calibration is asked: which keys, within which ranges, to which series.
package struct CalibrationStudy: Sendable {
  package var keys: [QuantityRange]
  package let observed: ObservedSeries
  /// The columns that count, and how much.
  package let weights: [(column: ObservedColumn, weight: Double)]
  /// Rows from this one on are held out.
  package let heldOut: Int
  /// The rows and columns that are fitted, column after column.
  let fitted: [(column: Int, row: Int)]
  /// Runs in all, but for those that tell the error on the part held out.
  package var budget: Int
  /// Of the draw of candidates.
  package var seed: UInt64 = 1

  package static let mostKeys = 8
  package static let leastBudget = 200
  package static let defaultHoldOut = 0.2

  /// Enough for a surface of second order and the race before it.
  package static func defaultBudget(keys: Int) -> Int { 200 + 150 * keys }

  /// - Parameter holdOut: share of the rows, from the end.
  package init(
    keys: [QuantityRange], observed: ObservedSeries, weights: [(column: ObservedColumn, weight: Double)],
    holdOut: Double = defaultHoldOut, budget: Int? = nil
  ) {
    self.keys = keys
    self.observed = observed
    self.weights = weights
    let heldOut = observed.rows.count - Int((Double(observed.rows.count) * holdOut).rounded())
    self.heldOut = heldOut
    fitted = weights.enumerated().flatMap { column, weight in
      let values = weight.weight > 0 ? observed.values[weight.column] : nil
      return (0..<heldOut).filter { values?[$0] != nil }.map { (column, $0) }
    }
    self.budget = budget ?? Self.defaultBudget(keys: keys.count)
  }

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

  /// The `index`-th point of a Halton sequence in a box, shifted by the seed.
  func spread(_ index: Int, in box: CalibrationBox, round: Int) -> Point {
    let key = RandomKey(seed: seed).child(UInt64(round))
    return keys.indices.map { number in
      var point = SearchSpace.radicalInverse(index + 1, base: SearchSpace.prime(number))
      point += key.child(UInt64(number)).unitOpen
      if point >= 1 { point -= 1 }
      return box.low[number] + (box.high[number] - box.low[number]) * point
    }
  }

  // MARK: Features

  /// The counts of a run as numbers whose scatter hardly depends on their size: 2 √(n + 3/8) is nearly normal with variance 1
  /// where n is Poisson.
  ///
  /// Source: Anscombe, "The transformation of Poisson, binomial and negative-binomial data", Biometrika 35 (1948).
  static func stabilised(_ count: Double) -> Double { 2 * (max(0, count) + 0.375).squareRoot() }

  /// Of each of `fitted`.
  func features(_ counts: SeriesCounts) -> [Double] {
    fitted.map { Self.stabilised(counts.values[$0.column][$0.row]) }
  }

  var observedFeatures: [Double] {
    fitted.map { Self.stabilised((observed.values[weights[$0.column].column]?[$0.row] ?? nil) ?? 0) }
  }
}

/// What a run counted in the rows of the observed series, by column.
package struct SeriesCounts: Sendable, Hashable {
  package var values: [[Double]]
  package init(values: [[Double]]) { self.values = values }
}

/// A part of the ranges.
struct CalibrationBox: Sendable, Hashable {
  var low: [Double]
  var high: [Double]

  static func whole(_ count: Int) -> CalibrationBox {
    CalibrationBox(low: Array(repeating: 0, count: count), high: Array(repeating: 1, count: count))
  }

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

  private init(low: [Double], high: [Double]) { (self.low, self.high) = (low, high) }

  /// The smallest that holds the points, and a margin.
  init(around points: [[Double]], margin: Double) {
    let keys = points.first?.indices ?? 0..<0
    let ends = keys.map { key in
      let values = points.map { $0[key] }
      let (least, most) = (values.min() ?? 0, values.max() ?? 1)
      let half = max((most - least) / 2 * (1 + margin), 0.02)
      return (centre: (least + most) / 2, half: half)
    }
    self.init(centre: ends.map(\.centre), half: ends.map(\.half))
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

extension CalibrationStudy {
  /// What a run has in the rows of the observed series; nothing where it has ended before.
  package func counts(of series: TimeSeries) -> SeriesCounts {
    let rows = series.rows
    return SeriesCounts(
      values: weights.map { weight in
        observed.rows.map { $0 < rows.count ? Double(weight.column.count(rows[rows.startIndex + $0])) : 0 }
      })
  }
}
