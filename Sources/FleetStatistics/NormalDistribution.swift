/// The standard normal distribution, from + − × ÷ √ alone: the same bits on every machine.
public enum NormalDistribution {
  /// Φ(z), within 1e-14.
  ///
  /// Near 0 the series φ(z)·(z + z³/3 + z⁵/(3·5) + …), beyond 3 Laplace's continued fraction of the tail.
  /// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), 26.2.11 and 26.2.14.
  public static func cumulative(_ z: Double) -> Double {
    if z.isNaN { return z }
    if z < -3 { return tail(-z) }
    if z > 3 { return 1 - tail(z) }
    var term = z
    var sum = z
    var divisor = 1.0
    while abs(term) > 1e-18 * abs(sum) {
      divisor += 2
      term *= z * z / divisor
      sum += term
    }
    return 0.5 + density(z) * sum
  }

  /// z with Φ(z) = p, within 1e-12 for p from 1e-12 to 1 − 1e-12; −∞ for 0, ∞ for 1, NaN outside.
  public static func quantile(_ p: Double) -> Double {
    guard p >= 0, p <= 1 else { return .nan }
    if p == 0 || p == 1 { return p == 0 ? -.infinity : .infinity }
    // The lower half: near 1 the digits of 1 − p are gone.
    if p > 0.5 { return -quantile(1 - p) }
    var low = -40.0
    var high = 0.0
    for _ in 0..<100 where high - low > 1e-15 * -low {
      let middle = low + (high - low) / 2
      if cumulative(middle) < p { low = middle } else { high = middle }
    }
    return low + (high - low) / 2
  }

  static func density(_ z: Double) -> Double {
    // 1/√(2π).
    0.398942280401432677939946 * exponential(-z * z / 2)
  }

  /// P(Z > z) for z > 3.
  private static func tail(_ z: Double) -> Double {
    var fraction = z
    for k in stride(from: 60, through: 1, by: -1) { fraction = z + Double(k) / fraction }
    return density(z) / fraction
  }

  /// e to a power of at most 0: the Taylor series of a 1,024th part of its size, squared ten times, and the reciprocal.
  static func exponential(_ x: Double) -> Double {
    guard x > -745 else { return 0 }
    let part = -x / 1_024
    // e^part − 1, so that squaring does not multiply the rounding of 1 + part.
    var term = part
    var less = part
    for k in 2...12 {
      term *= part / Double(k)
      less += term
    }
    for _ in 0..<10 { less = less * (2 + less) }
    return 1 / (1 + less)
  }
}
