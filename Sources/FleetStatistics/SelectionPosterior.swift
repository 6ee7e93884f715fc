/// The probability that the system chosen from several has the lowest expected value, judged by samples under common random
/// numbers. Value i of each system is of the same draw, and each system has the first so many draws.
///
/// The largest of several noisy advantages is partly luck. So the expected values are themselves drawn from one normal
/// distribution of unknown width. Where all systems are nearly alike the advantage shrinks, where they lie far apart it stays.
/// Only differences to the chosen system count, with their covariance. A variance from few draws leans on those of the others. It
/// is drawn anew for each part of the simulation, which makes the tails those of Student's t.
///
/// Source: S. E. Chick and K. Inoue, "New two-stage and sequential procedures for selecting the best simulated system",
/// Operations Research 49 (2001); the shared distribution: A. Gelman, "Prior distributions for variance parameters in
/// hierarchical models", Bayesian Analysis 1 (2006). How often it is right: results/search.
public struct SelectionPosterior: Sendable, Hashable {
  /// The probability that no other system has a lower expected value.
  public private(set) var best: Double
  /// The probability that no other system has an expected value lower by more than the tolerance.
  public private(set) var near: Double

  /// Draws that a variance of its own is worth less than: what the others' add to it.
  static let borrowed = 3.0
  private static let spreads = 24
  private static let widths = 8

  /// - Parameter values: by system; two or more of each, and of the chosen one as many as of any other.
  /// - Parameter chosen: the system whose probability is asked.
  /// - Parameter tolerance: by how much the chosen one may be above the lowest and still be near it.
  /// - Complexity: O(systems² × draws + 480 × systems³).
  public init(_ values: [[Double]], chosen: Int, tolerance: Double = 0) {
    self.init(Differences(contendersOf: values, chosen: chosen), tolerance: tolerance, samples: 6_000)
  }

  init(_ rivals: Differences, tolerance: Double, samples: Int) {
    (best, near) = (1, 1)
    if rivals.means.isEmpty { return }
    let count = rivals.means.count
    var random = SplitMix(state: UInt64(count))
    var parts: [Part] = []
    var most = -Double.infinity
    for _ in 0..<Self.spreads {
      guard let estimate = rivals.estimate(&random) else { continue }
      let covariance = estimate.factor.square
      for width in rivals.widths(Self.widths) {
        var sum = covariance
        for i in 0..<count {
          for j in 0..<count { sum[i * count + j] += width * width * (i == j ? 2 : 1) }
        }
        guard let cholesky = Cholesky(sum) else { continue }
        let weight = cholesky.logDensity(of: estimate.means) + rivals.logPrior(width)
        most = max(most, weight)
        parts.append(Part(estimate: estimate, sum: cholesky, width: width, logWeight: weight))
      }
    }
    let weights = parts.map { NormalDistribution.exponential(max($0.logWeight - most, -700)) }
    let total = weights.reduce(0, +)
    guard total > 0 else {
      // Nothing varies.
      let lowest = rivals.means.min() ?? 0
      (best, near) = (lowest >= 0 ? 1 : 0, lowest >= -tolerance ? 1 : 0)
      return
    }
    var (right, close, all) = (0.0, 0.0, 0.0)
    var (prior, misfit) = (rivals.means, rivals.means)
    for (part, weight) in zip(parts, weights) {
      let share = weight / total
      let wanted = Int((share * Double(samples)).rounded(.up))
      if share * Double(samples) < 0.02 { continue }
      var (rightHere, closeHere) = (0, 0)
      for _ in 0..<wanted {
        let lowest = part.lowest(&prior, &misfit, &random)
        if lowest >= 0 { rightHere += 1 }
        if lowest >= -tolerance { closeHere += 1 }
      }
      right += share * Double(rightHere) / Double(wanted)
      close += share * Double(closeHere) / Double(wanted)
      all += share
    }
    (best, near) = (right / all, close / all)
  }

  /// One pair of covariance and width.
  private struct Part {
    var estimate: Differences.Estimate
    var sum: Cholesky
    var width: Double
    var logWeight: Double

    /// Returns the lowest of the rivals' expected differences, drawn from the posterior by Matheron's rule. The rule moves a draw
    /// from the prior by its misfit to the data.
    func lowest(_ prior: inout [Double], _ misfit: inout [Double], _ random: inout SplitMix) -> Double {
      let means = estimate.means
      let own = random.nextNormal()
      for i in means.indices {
        prior[i] = width * (random.nextNormal() - own)
        misfit[i] = random.nextNormal()
      }
      estimate.factor.multiply(&misfit)
      for i in means.indices { misfit[i] = means[i] - prior[i] - misfit[i] }
      sum.solve(&misfit)
      var all = 0.0
      for value in misfit { all += value }
      var lowest = Double.infinity
      for i in means.indices { lowest = min(lowest, prior[i] + width * width * (misfit[i] + all)) }
      return lowest
    }
  }
}

/// The rivals' values less the chosen system's, draw by draw.
///
/// A rival with fewer draws than others is compared over those that it has. The deviation of the others over these draws from all
/// of theirs is taken from it in proportion to the covariance. The result is the likelihood's estimate for normal values of which
/// later ones are missing.
/// Source: T. W. Anderson, "Maximum likelihood estimates for a multivariate normal distribution when some observations are
/// missing", JASA 52 (1957).
struct Differences {
  /// Expected differences and the factor of their covariance.
  struct Estimate {
    var means: [Double]
    var factor: Cholesky
  }

  /// The mean differences of the rivals that ever differ from the chosen system, those with most draws first.
  private(set) var means: [Double] = []
  /// The number of each among the systems.
  private(set) var systems: [Int] = []
  private var counts: [Int] = []
  private var errors: [Double] = []
  /// The variance of one draw, by rival.
  private(set) var variances: [Double] = []
  private var correlations: [Double] = []
  /// The means of the rivals up to the i-th over the draws that this one has.
  private var meansOver: [[Double]] = []

  /// The number of standard errors from which on a rival is too far behind to be the best. Such a rival tells nothing of how far
  /// apart the candidates for the best lie.
  static let behind = 4.0
  /// Rivals that are looked at whatever they are behind.
  static let fewest = 3

  /// Without the rivals that are far behind.
  init(contendersOf values: [[Double]], chosen: Int) {
    let all = Differences(values, chosen: chosen)
    let distances = all.means.indices.map { all.means[$0] / all.errors[$0] }
    let order = distances.indices.sorted { distances[$0] < distances[$1] }
    let count = max(distances.count { $0 < Self.behind }, min(Self.fewest, order.count))
    let kept = Set(order.prefix(count).map { all.systems[$0] } + [chosen])
    self.init(values.indices.map { kept.contains($0) ? values[$0] : [] }, chosen: chosen)
  }

  init(_ values: [[Double]], chosen: Int) {
    let own = values[chosen]
    var found = values.indices.filter { $0 != chosen }.map { system in
      (system: system, row: zip(values[system], own).map { $0 - $1 })
    }
    found.removeAll { $0.row.count < 2 || !$0.row.contains { $0 != 0 } }
    found.sort { ($1.row.count, $0.system) < ($0.row.count, $1.system) }
    if found.isEmpty { return }
    systems = found.map(\.system)
    let rows = found.map(\.row)
    counts = rows.map(\.count)
    let samples = rows.map { SampleStatistics($0) }
    let sorted = samples.map { $0.variance ?? 0 }.sorted()
    let pooled = sorted[sorted.count / 2]
    let largest = samples.map { abs($0.mean) }.max() ?? 0
    variances = samples.map { sample in
      let freedom = Double(sample.count - 1)
      let borrowed = SelectionPosterior.borrowed
      let variance = (borrowed * pooled + freedom * (sample.variance ?? 0)) / (borrowed + freedom)
      return max(variance, 1e-12 * largest * largest, 1e-300)
    }
    correlate(rows)
    meansOver = rows.indices.map { i in
      (0...i).map { j in SampleStatistics(rows[j].prefix(counts[i])).mean }
    }
    let estimate = estimate(deviations: variances.map { $0.squareRoot() })
    means = estimate?.means ?? samples.map(\.mean)
    let square = estimate?.factor.square
    errors = rows.indices.map { i in
      (square?[i * rows.count + i] ?? variances[i] / Double(counts[i])).squareRoot()
    }
  }

  /// Correlations over the draws that both have, drawn toward ½, that of independent systems of one variance.
  private mutating func correlate(_ rows: [[Double]]) {
    let count = rows.count
    correlations = Array(repeating: 1, count: count * count)
    for i in 0..<count {
      for j in 0..<i {
        let common = counts[i]
        var (a, b) = (SampleStatistics(), SampleStatistics())
        for k in 0..<common {
          a.add(rows[i][k])
          b.add(rows[j][k])
        }
        var product = 0.0
        for k in 0..<common { product += (rows[i][k] - a.mean) * (rows[j][k] - b.mean) }
        let spread = ((a.variance ?? 0) * (b.variance ?? 0)).squareRoot() * Double(common - 1)
        let own = spread > 0 ? product / spread : 0
        let trust = Double(common) / (Double(common) + Double(count) + 2)
        let value = trust * own + (1 - trust) / 2
        correlations[i * count + j] = value
        correlations[j * count + i] = value
      }
    }
  }

  func standardError(_ rival: Int) -> Double { errors[rival] }

  /// With variances drawn from what the samples leave open; nil where they leave no covariance.
  func estimate(_ random: inout SplitMix) -> Estimate? {
    estimate(
      deviations: means.indices.map { i in
        let freedom = Double(counts[i] - 1) + SelectionPosterior.borrowed
        return (variances[i] / Self.chiSquaredShare(freedom, &random)).squareRoot()
      })
  }

  private func estimate(deviations: [Double]) -> Estimate? {
    let count = deviations.count
    var matrix = correlations
    for i in 0..<count {
      for j in 0..<count { matrix[i * count + j] *= deviations[i] * deviations[j] }
    }
    guard var factor = Cholesky(matrix) else { return nil }
    // A rival's mean beyond the part that those before it tell, in standard deviations.
    var means = meansOver.map { over in
      var own = over
      factor.forward(&own)
      return own[own.count - 1]
    }
    factor.multiply(&means)
    factor.scaleColumns(counts.map { 1 / Double($0).squareRoot() })
    return Estimate(means: means, factor: factor)
  }

  /// χ² over its degrees of freedom, by Wilson and Hilferty (1931).
  private static func chiSquaredShare(_ freedom: Double, _ random: inout SplitMix) -> Double {
    let part = 2 / (9 * freedom)
    let root = max(1 - part + random.nextNormal() * part.squareRoot(), 0.05)
    return root * root * root
  }

  /// The widths to try, in even ratios from a fifth of the smallest standard error to thrice the spread of the means.
  func widths(_ count: Int) -> [Double] {
    let low = (errors.min() ?? 1) / 5
    let high = 3 * max(spread, errors.max() ?? 1)
    let ratio = Self.root(high / low, count - 1)
    var widths = [low]
    while widths.count < count { widths.append(widths[widths.count - 1] * ratio) }
    return widths
  }

  private var spread: Double {
    let sample = SampleStatistics(means + [0])
    return sample.standardDeviation ?? 0
  }

  private static func root(_ value: Double, _ n: Int) -> Double {
    var (low, high) = (1.0, max(value, 1))
    for _ in 0..<80 {
      let middle = (low + high) / 2
      var power = 1.0
      for _ in 0..<n { power *= middle }
      if power < value { low = middle } else { high = middle }
    }
    return low
  }

  /// Even in the width itself: widths in even ratios count by their size.
  func logPrior(_ width: Double) -> Double {
    let scale = max(spread, standardError(0))
    return NaturalLogarithm.of(width / (1 + width * width / (scale * scale)))
  }
}

enum NaturalLogarithm {
  static func of(_ x: Double) -> Double {
    guard x > 0 else { return -.infinity }
    let exponent = Double(x.exponent)
    let y = (x.significand - 1) / (x.significand + 1)
    let square = y * y
    var (term, sum, k) = (y, y, 3.0)
    while abs(term) > 1e-17 {
      term *= square
      sum += term / k
      k += 2
    }
    return 2 * sum + exponent * 0.693147180559945309417
  }
}

/// The lower triangle L with L Lᵀ = a positive matrix, row by row.
package struct Cholesky {
  private var rows: [Double]
  private let size: Int

  /// nil if the matrix is not positive, or nearly so.
  init?(_ matrix: [Double]) {
    self.init(matrix) { sum, cell in sum > 1e-10 * cell ? sum : nil }
  }

  /// Where the matrix is not positive, of the nearest that is.
  package init(nearest matrix: [Double]) {
    self.init(matrix) { sum, cell in max(sum, 1e-12 * max(cell, 1e-12)) }!
  }

  /// - Parameter pivot: what is taken on the diagonal for a sum and the matrix's cell there.
  private init?(_ matrix: [Double], pivot: (_ sum: Double, _ cell: Double) -> Double?) {
    size = Int(Double(matrix.count).squareRoot())
    rows = matrix
    for i in 0..<size {
      for j in 0...i {
        var sum = matrix[i * size + j]
        for k in 0..<j { sum -= rows[i * size + k] * rows[j * size + k] }
        if i == j {
          guard let pivot = pivot(sum, matrix[i * size + i]) else { return nil }
          rows[i * size + i] = pivot.squareRoot()
        } else {
          rows[i * size + j] = sum / rows[j * size + j]
        }
      }
    }
  }

  /// L Lᵀ.
  var square: [Double] {
    var matrix = rows
    for i in 0..<size {
      for j in 0...i {
        var sum = 0.0
        for k in 0...j { sum += rows[i * size + k] * rows[j * size + k] }
        matrix[i * size + j] = sum
        matrix[j * size + i] = sum
      }
    }
    return matrix
  }

  mutating func scaleColumns(_ factors: [Double]) {
    for i in 0..<size {
      for j in 0...i { rows[i * size + j] *= factors[j] }
    }
  }

  func multiply(_ vector: inout [Double]) {
    for i in (0..<size).reversed() {
      var sum = 0.0
      for j in 0...i { sum += rows[i * size + j] * vector[j] }
      vector[i] = sum
    }
  }

  /// As many rows of them as the vector has.
  func forward(_ vector: inout [Double]) {
    for i in vector.indices {
      var sum = vector[i]
      for j in 0..<i { sum -= rows[i * size + j] * vector[j] }
      vector[i] = sum / rows[i * size + i]
    }
  }

  func solve(_ vector: inout [Double]) {
    forward(&vector)
    for i in (0..<size).reversed() {
      var sum = vector[i]
      for j in i + 1..<max(size, i + 1) { sum -= rows[j * size + i] * vector[j] }
      vector[i] = sum / rows[i * size + i]
    }
  }

  /// Returns the solution x of the matrix times x = `right`.
  package func solution(_ right: [Double]) -> [Double] {
    var x = right
    solve(&x)
    return x
  }

  /// Returns the logarithm of the density at `vector` of a normal distribution about 0 with this covariance, but for a constant.
  func logDensity(of vector: [Double]) -> Double {
    var (sum, log) = (0.0, 0.0)
    var vector = vector
    forward(&vector)
    for (i, value) in vector.enumerated() {
      sum += value * value
      log += NaturalLogarithm.of(rows[i * size + i])
    }
    return -sum / 2 - log
  }
}

/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA (2014).
package struct SplitMix {
  var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    z ^= z >> 31
    return z
  }

  package mutating func next(below count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(count)).high)
  }

  /// Standard normal, one of 4,096 values of equal probability.
  package mutating func nextNormal() -> Double { Self.normals[Int(next() >> 52)] }

  private static let normals: [Double] = (0..<4_096).map {
    NormalDistribution.quantile((Double($0) + 0.5) / 4_096)
  }
}
