/// The dependence of a series on the keys within a box. Each feature has a surface of second order, which is fitted by least
/// squares to runs that each had a seed of their own.
///
/// Source: Box and Wilson, "On the experimental attainment of optimum conditions", J. R. Statist. Soc. B 13 (1951).
struct SeriesSurface: Sendable {
  private let keys: Int
  private let terms: Int
  /// Feature after feature, a coefficient for each term.
  private var coefficients: [Double]
  /// The runs' scatter round the surface, by feature.
  private(set) var variances: [Double]

  static func terms(keys: Int) -> Int { (keys + 1) * (keys + 2) / 2 }

  /// - Parameters:
  ///   - places: of each run, -1 … 1 in each key.
  ///   - features: of each run.
  init(places: [[Double]], features: [[Double]]) {
    keys = places.first?.count ?? 0
    terms = Self.terms(keys: keys)
    let count = features.first?.count ?? 0
    let rows = places.map(Self.terms)
    var normal = SymmetricMatrix(size: terms)
    for row in rows { normal.addSquare(of: row) }
    // Runs that all have the same value of a key say nothing of it.
    for i in 0..<terms { normal[i, i] += 1e-6 * Double(max(places.count, 1)) }
    let factor = Cholesky(nearest: normal)
    let solved = rows.map { factor.solution($0) }
    coefficients = Array(repeating: 0, count: count * terms)
    variances = Array(repeating: 0, count: count)
    for (row, values) in zip(solved, features) {
      for f in 0..<count {
        let value = values[f]
        for t in 0..<terms { coefficients[f * terms + t] += row[t] * value }
      }
    }
    let freedom = Double(max(places.count - terms, 1))
    for (row, values) in zip(rows, features) {
      for f in 0..<count {
        var difference = values[f]
        for t in 0..<terms { difference -= row[t] * coefficients[f * terms + t] }
        variances[f] += difference * difference / freedom
      }
    }
  }

  /// 1, the keys, and their products.
  private static func terms(_ place: [Double]) -> [Double] {
    [1] + place + place.indices.flatMap { i in place[i...].map { place[i] * $0 } }
  }

  private func coefficients(of feature: Int) -> ArraySlice<Double> {
    coefficients[feature * terms..<(feature + 1) * terms]
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

  /// Finds where the surface comes nearest to a series, by weighted least squares.
  ///
  /// The squares are a form of second order in the terms, whose matrix does not depend on the series.
  struct Reader: Sendable {
    private let surface: SeriesSurface
    private let weights: [Double]
    private let prior: [(centre: Double, strength: Double)]
    private var matrix: SymmetricMatrix

    /// - Parameter weights: by feature.
    /// - Parameter prior: how strongly each key is drawn to a place where the series says nothing. The squares of (place -
    ///   centre) times the strength are added.
    init(_ surface: SeriesSurface, weights: [Double], prior: [(centre: Double, strength: Double)]) {
      (self.surface, self.weights, self.prior) = (surface, weights, prior)
      matrix = SymmetricMatrix(size: surface.terms)
      for (feature, weight) in weights.enumerated() {
        matrix.addSquare(of: surface.coefficients(of: feature), times: weight)
      }
    }

    /// By Levenberg and Marquardt's method, from the middle.
    /// - Parameter limit: no place is farther from the middle.
    func place(_ series: [Double], limit: Double) -> [Double] {
      var right = Array(repeating: 0.0, count: surface.terms)
      for (feature, value) in series.enumerated() {
        let weighted = weights[feature] * value
        for (t, coefficient) in surface.coefficients(of: feature).enumerated() {
          right[t] += weighted * coefficient
        }
      }
      var place = Array(repeating: 0.0, count: surface.keys)
      var current = derivatives(at: place, right)
      var damping = 1e-3
      for _ in 0..<60 where damping < 1e6 {
        var damped = current.curvature
        for i in 0..<surface.keys { damped[i, i] *= 1 + damping }
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
    ) -> (cost: Double, gradient: [Double], curvature: SymmetricMatrix) {
      let keys = surface.keys
      let values = SeriesSurface.terms(place)
      let slopes = surface.slopes(place)
      let products = matrix.times(values)
      var cost = 0.0
      var gradient = Array(repeating: 0.0, count: keys)
      for t in values.indices {
        cost += values[t] * (products[t] - 2 * right[t])
        for k in 0..<keys { gradient[k] += slopes[k][t] * (products[t] - right[t]) }
      }
      var curvature = SymmetricMatrix(size: keys)
      for i in 0..<keys {
        let product = matrix.times(slopes[i])
        for j in 0..<keys { for t in values.indices { curvature[i, j] += product[t] * slopes[j][t] } }
        let distance = place[i] - prior[i].centre
        cost += prior[i].strength * distance * distance
        gradient[i] += prior[i].strength * distance
        curvature[i, i] += prior[i].strength
      }
      return (cost, gradient, curvature)
    }
  }
}

struct SymmetricMatrix: Sendable {
  let size: Int
  fileprivate var cells: [Double]

  init(size: Int) { (self.size, cells) = (size, Array(repeating: 0, count: size * size)) }

  subscript(i: Int, j: Int) -> Double {
    get { cells[i * size + j] }
    set { cells[i * size + j] = newValue }
  }

  mutating func addSquare(of row: some RandomAccessCollection<Double>, times weight: Double = 1) {
    let row = Array(row)
    for i in 0..<size {
      let value = weight * row[i]
      for j in 0..<size { cells[i * size + j] += value * row[j] }
    }
  }

  func times(_ vector: [Double]) -> [Double] {
    (0..<size).map { i in
      var sum = 0.0
      for j in 0..<size { sum += cells[i * size + j] * vector[j] }
      return sum
    }
  }
}

/// The lower triangle L with L Lᵀ = a positive matrix, row by row.
struct Cholesky {
  private var rows: [Double]
  private let size: Int

  /// Where the matrix is not positive, of the nearest that is.
  init(nearest matrix: SymmetricMatrix) {
    (size, rows) = (matrix.size, matrix.cells)
    for i in 0..<size {
      for j in 0...i {
        let cell = matrix[i, j]
        var sum = cell
        for k in 0..<j { sum -= rows[i * size + k] * rows[j * size + k] }
        rows[i * size + j] =
          i == j ? max(sum, 1e-12 * max(cell, 1e-12)).squareRoot() : sum / rows[j * size + j]
      }
    }
  }

  /// Returns the solution x of the matrix times x = `right`.
  func solution(_ right: [Double]) -> [Double] {
    var x = right
    for i in x.indices {
      var sum = x[i]
      for j in 0..<i { sum -= rows[i * size + j] * x[j] }
      x[i] = sum / rows[i * size + i]
    }
    for i in (0..<size).reversed() {
      var sum = x[i]
      for j in i + 1..<max(size, i + 1) { sum -= rows[j * size + i] * x[j] }
      x[i] = sum / rows[i * size + i]
    }
    return x
  }
}
