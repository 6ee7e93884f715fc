/// The dependence of a series on the keys within a box, and where it comes nearest to another one.
///
/// Each feature has a surface of second order, which is fitted by least squares to runs that each
/// had a seed of their own. The squares of the differences to a series are a form of second order in
/// the terms, whose matrix does not depend on the series.
///
/// Source: Box and Wilson, "On the experimental attainment of optimum conditions", J. R. Statist. Soc. B 13 (1951).
struct SeriesSurface: Sendable {
  private let keys: Int
  private let terms: Int
  private let prior: [(centre: Double, strength: Double)]
  /// By feature, a coefficient for each term.
  private var coefficients: [[Double]]
  /// By feature: one divided by the runs' scatter round the surface.
  let weights: [Double]
  private var matrix: [[Double]]
  /// No interval is trusted more than to half the standard deviation of a Poisson count.
  private static let leastVariance = 0.25

  static func terms(keys: Int) -> Int { (keys + 1) * (keys + 2) / 2 }

  /// - Parameters:
  ///   - places: of each run, -1 … 1 in each key.
  ///   - features: of each run.
  ///   - prior: how strongly each key is drawn to a place where the series says nothing. The squares
  ///     of (place - centre) times the strength are added.
  init(places: [[Double]], features: [[Double]], prior: [(centre: Double, strength: Double)]) {
    keys = places.first?.count ?? 0
    terms = Self.terms(keys: keys)
    self.prior = prior
    let count = features.first?.count ?? 0
    let rows = places.map(Self.terms)
    var normal = [[Double]](size: terms)
    for row in rows { normal.addSquare(of: row) }
    // Runs that all have the same value of a key say nothing of it.
    for i in 0..<terms { normal[i][i] += 1e-6 * Double(max(places.count, 1)) }
    let factor = Cholesky(nearest: normal)
    coefficients = Array(repeating: Array(repeating: 0, count: terms), count: count)
    for (row, values) in zip(rows.map(factor.solution), features) {
      for f in 0..<count {
        for t in 0..<terms { coefficients[f][t] += row[t] * values[f] }
      }
    }
    var variances = Array(repeating: 0.0, count: count)
    let freedom = Double(max(places.count - terms, 1))
    for (row, values) in zip(rows, features) {
      for f in 0..<count {
        var difference = values[f]
        for t in 0..<terms { difference -= row[t] * coefficients[f][t] }
        variances[f] += difference * difference / freedom
      }
    }
    weights = variances.map { 1 / max($0, Self.leastVariance) }
    matrix = [[Double]](size: terms)
    for (coefficients, weight) in zip(coefficients, weights) {
      matrix.addSquare(of: coefficients, times: weight)
    }
  }

  /// 1, the keys, and their products.
  private static func terms(_ place: [Double]) -> [Double] {
    [1] + place + place.indices.flatMap { i in place[i...].map { place[i] * $0 } }
  }

  /// For each key how each term changes with it.
  private func slopes(_ place: [Double]) -> [[Double]] {
    (0..<keys).map { key in
      var slopes = [0.0] + (0..<keys).map { $0 == key ? 1 : 0 }
      for i in 0..<keys {
        for j in i..<keys { slopes.append((i == key ? place[j] : 0) + (j == key ? place[i] : 0)) }
      }
      return slopes
    }
  }

  /// Finds where the surface comes nearest to a series: weighted least squares, by Levenberg and
  /// Marquardt's method, from the middle.
  /// - Parameter limit: no place is farther from the middle.
  func place(_ series: [Double], limit: Double) -> [Double] {
    var right = Array(repeating: 0.0, count: terms)
    for (feature, value) in series.enumerated() {
      let weighted = weights[feature] * value
      for t in right.indices { right[t] += weighted * coefficients[feature][t] }
    }
    var place = Array(repeating: 0.0, count: keys)
    var current = derivatives(at: place, right)
    var damping = 1e-3
    for _ in 0..<60 where damping < 1e6 {
      var damped = current.curvature
      for i in 0..<keys { damped[i][i] *= 1 + damping }
      let step = Cholesky(nearest: damped).solution(current.gradient)
      let next = zip(place, step).map { min(max($0 - $1, -limit), limit) }
      let found = derivatives(at: next, right)
      let moved = zip(place, next).map { abs($0 - $1) }.max() ?? 0
      if found.cost <= current.cost {
        (place, current) = (next, found)
        damping = max(damping / 10, 1e-9)
      } else {
        damping *= 10
      }
      // No series tells a ten-thousandth of the box.
      if moved < 1e-4 { break }
    }
    return place
  }

  /// The cost but for what does not depend on the place, and half of its derivatives.
  private func derivatives(
    at place: [Double], _ right: [Double]
  ) -> (cost: Double, gradient: [Double], curvature: [[Double]]) {
    let values = Self.terms(place)
    let slopes = self.slopes(place)
    let products = matrix.times(values)
    var cost = values.indices.reduce(0.0) { $0 + values[$1] * (products[$1] - 2 * right[$1]) }
    var gradient = slopes.times(zip(products, right).map { $0 - $1 })
    var curvature = slopes.map { slopes.times(matrix.times($0)) }
    for i in 0..<keys {
      let distance = place[i] - prior[i].centre
      cost += prior[i].strength * distance * distance
      gradient[i] += prior[i].strength * distance
      curvature[i][i] += prior[i].strength
    }
    return (cost, gradient, curvature)
  }
}

/// A matrix, row by row.
extension [[Double]] {
  init(size: Int) { self = Array(repeating: [Double](repeating: 0, count: size), count: size) }

  fileprivate mutating func addSquare(of row: [Double], times weight: Double = 1) {
    for i in indices {
      let value = weight * row[i]
      for j in indices { self[i][j] += value * row[j] }
    }
  }

  fileprivate func times(_ vector: [Double]) -> [Double] {
    map { zip($0, vector).reduce(0) { $0 + $1.0 * $1.1 } }
  }
}

/// The lower triangle L with L Lᵀ = a positive matrix.
struct Cholesky {
  private var rows: [[Double]]

  /// Where the matrix is not positive, of the nearest that is.
  init(nearest matrix: [[Double]]) {
    rows = matrix
    for i in rows.indices {
      for j in 0...i {
        let cell = matrix[i][j]
        var sum = cell
        for k in 0..<j { sum -= rows[i][k] * rows[j][k] }
        rows[i][j] = i == j ? max(sum, 1e-12 * max(cell, 1e-12)).squareRoot() : sum / rows[j][j]
      }
    }
  }

  /// Returns the solution x of the matrix times x = `right`.
  func solution(_ right: [Double]) -> [Double] {
    var x = right
    for i in x.indices {
      for j in 0..<i { x[i] -= rows[i][j] * x[j] }
      x[i] /= rows[i][i]
    }
    for i in x.indices.reversed() {
      for j in i + 1..<max(x.count, i + 1) { x[i] -= rows[j][i] * x[j] }
      x[i] /= rows[i][i]
    }
    return x
  }
}
