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

/// Student's t distribution with whole degrees of freedom, from + − × ÷ √ alone: the same bits on every machine.
public enum StudentT {
  /// Returns P(|T| > |t|), the p value of a two-sided test. The error is below 1e-13, so a smaller value is not told from 0.
  ///
  /// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), 26.7.3 and 26.7.4: closed forms in θ =
  /// arctan(t / √ν). Above 2,000 degrees of freedom 26.7.8, whose error there is below 1e-7.
  public static func twoSidedP(_ t: Double, degreesOfFreedom: Int) -> Double {
    guard degreesOfFreedom > 0, !t.isNaN else { return .nan }
    let t = abs(t)
    // Its square would be infinite long before it is.
    guard t < 1e150 else { return 0 }
    let freedom = Double(degreesOfFreedom)
    if degreesOfFreedom > closedFormLimit {
      let z = t * (1 - 1 / (4 * freedom)) / (1 + t * t / (2 * freedom)).squareRoot()
      return 2 * NormalDistribution.cumulative(-z)
    }
    let root = (freedom + t * t).squareRoot()
    let sine = t / root
    let cosineSquared = freedom / (freedom + t * t)
    let isOdd = degreesOfFreedom % 2 == 1
    // An odd number of degrees sums cos θ (1 + 2/3 cos² θ + (2·4)/(3·5) cos⁴ θ + …). An even one sums 1 + 1/2 cos² θ +
    // (1·3)/(2·4) cos⁴ θ + ….
    var term = isOdd ? freedom.squareRoot() / root : 1
    var sum = 0.0
    var k = isOdd ? 3 : 2
    while k <= degreesOfFreedom {
      sum += term
      term *= cosineSquared * Double(k - 1) / Double(k)
      k += 2
    }
    let inside = isOdd ? (arctangent(t / freedom.squareRoot()) + sine * sum) * 2 / .pi : sine * sum
    return min(max(1 - inside, 0), 1)
  }

  /// t with P(T ≤ t) = p; −∞ for 0, ∞ for 1, NaN outside or without a degree of freedom.
  ///
  /// The method is bisection of the closed form. Above 2,000 degrees of freedom it is the expansion about the normal quantile.
  /// The expansion is good to 12 digits there (Abramowitz and Stegun, 26.7.5).
  public static func quantile(_ p: Double, degreesOfFreedom: Int) -> Double {
    guard p >= 0, p <= 1, degreesOfFreedom > 0 else { return .nan }
    if p < 0.5 { return -upperQuantile(tail: p, degreesOfFreedom) }
    return upperQuantile(tail: 1 - p, degreesOfFreedom)
  }

  /// t such that an interval of mean ± t standard errors has this confidence (0 … 1).
  public static func factor(confidence: Double, degreesOfFreedom: Int) -> Double {
    guard confidence >= 0, confidence <= 1, degreesOfFreedom > 0 else { return .nan }
    return upperQuantile(tail: (1 - confidence) / 2, degreesOfFreedom)
  }

  private static let closedFormLimit = 2_000

  private static func upperQuantile(tail: Double, _ degreesOfFreedom: Int) -> Double {
    if tail <= 0 { return .infinity }
    if tail >= 0.5 { return 0 }
    if degreesOfFreedom > closedFormLimit { return expansion(tail, Double(degreesOfFreedom)) }
    var low = 0.0
    var high = 1.0
    while twoSidedP(high, degreesOfFreedom: degreesOfFreedom) > 2 * tail {
      low = high
      high *= 2
      if high > 1e15 { return .infinity }
    }
    for _ in 0..<80 where high - low > 4e-16 * high {
      let middle = low + (high - low) / 2
      if twoSidedP(middle, degreesOfFreedom: degreesOfFreedom) > 2 * tail {
        low = middle
      } else {
        high = middle
      }
    }
    return low + (high - low) / 2
  }

  private static func expansion(_ tail: Double, _ n: Double) -> Double {
    let x = -NormalDistribution.quantile(tail)
    let s = x * x
    let g1 = x * (s + 1) / 4
    let g2 = x * ((5 * s + 16) * s + 3) / 96
    let g3 = x * (((3 * s + 19) * s + 17) * s - 15) / 384
    return x + (g1 + (g2 + g3 / n) / n) / n
  }

  /// Returns arctan x for x ≥ 0: it halves the angle three times and then sums the Taylor series.
  private static func arctangent(_ x: Double) -> Double {
    guard x < 1e100 else { return .pi / 2 }
    var y = x
    for _ in 0..<3 { y /= 1 + (1 + y * y).squareRoot() }
    let square = -y * y
    var power = y
    var sum = y
    var k = 3.0
    while abs(power) > 1e-19 * sum {
      power *= square
      sum += power / k
      k += 2
    }
    return 8 * sum
  }
}
