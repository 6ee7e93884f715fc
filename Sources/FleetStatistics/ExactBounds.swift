/// The bound of a probability from how often something came about, exact for any number of trials.
///
/// Source: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
/// Biometrika 26 (1934).
public enum ExactBinomial {
  public static let confidence = 0.95

  /// Returns the largest probability at which at most `successes` of `count` trials succeed in 1 − `confidence` of the cases.
  /// The bound is one-sided.
  ///
  /// It is 1 where all trials succeed, and where there are none. For no success of n it is 1 − 0.05^(1/n), the exact form of
  /// the rule of three.
  /// - Complexity: O(successes).
  public static func upperBound(of successes: Int, in count: Int, confidence: Double = confidence) -> Double {
    guard successes < count else { return 1 }
    return crossing(in: 0...1) { chance(of: successes, in: count, $0) > 1 - confidence }
  }

  /// Returns the smallest probability at which at least `successes` of `count` trials succeed in 1 − `confidence` of the cases.
  /// The bound is one-sided.
  ///
  /// It is 0 where no trial succeeds.
  /// - Complexity: O(count − successes).
  public static func lowerBound(of successes: Int, in count: Int, confidence: Double = confidence) -> Double {
    successes > 0 ? 1 - upperBound(of: count - successes, in: count, confidence: confidence) : 0
  }

  /// The fewest trials without any success of which it is known that fewer than `share` of all succeed; 59 for 5 %.
  public static func trials(excluding share: Double, confidence: Double = confidence) -> Int {
    guard share > 0 else { return .max }
    var (count, chance) = (0, 1.0)
    while chance > 1 - confidence { (count, chance) = (count + 1, chance * (1 - share)) }
    return count
  }

  /// The probability of at most `most` successes.
  private static func chance(of most: Int, in count: Int, _ probability: Double) -> Double {
    guard probability < 1 else { return 0 }
    // Scaled, since of many trials even the chance of no success is too small for a number.
    var scale = 0
    var term = 1.0
    for _ in 0..<count {
      term *= 1 - probability
      if term < 0x1p-512 { (term, scale) = (term * 0x1p512, scale + 1) }
    }
    var sum = term
    for k in 0..<max(0, most) {
      term *= Double(count - k) / Double(k + 1) * probability / (1 - probability)
      sum += term
      if sum > 0x1p512 { (term, sum, scale) = (term * 0x1p-512, sum * 0x1p-512, scale - 1) }
    }
    for _ in 0..<max(0, scale) { sum *= 0x1p-512 }
    return sum
  }
}

/// The bounds of the expected number of rare occurrences from how many came about, exact however few they are.
///
/// Source: F. Garwood, "Fiducial Limits for the Poisson Distribution", Biometrika 28 (1936). The confidence is that of
/// `ExactBinomial`, on one side.
public enum ExactPoisson {
  /// Returns the largest expected number of which at most `count` come about in 1 − `confidence` of the cases.
  ///
  /// It is 2.996 for none in 5 % of the cases.
  /// - Parameters:
  ///   - count: at most 500.
  ///   - confidence: at most 0.9999.
  /// - Complexity: O(count).
  public static func upperBound(of count: Int, confidence: Double = ExactBinomial.confidence) -> Double {
    let count = max(count, 0)
    // At 99.99 % the bound of none is 9.2, and that of many some 3.7 deviations above them.
    let most = Double(count) + 6 * Double(count).squareRoot() + 10
    return crossing(in: 0...most) { chance(of: count, $0) > 1 - confidence }
  }

  /// The smallest expected number of which at least `count` come about in 1 − `confidence` of the cases; 0 of none.
  ///
  /// - `count`: at most 500.
  /// - Complexity: O(count).
  public static func lowerBound(of count: Int, confidence: Double = ExactBinomial.confidence) -> Double {
    guard count > 0 else { return 0 }
    return crossing(in: 0...Double(count)) { chance(of: count - 1, $0) > confidence }
  }

  /// The probability of at most `most` occurrences where `mean` are expected.
  private static func chance(of most: Int, _ mean: Double) -> Double {
    var term = NormalDistribution.exponential(-mean)
    var sum = term
    for k in 0..<most {
      term *= mean / Double(k + 1)
      sum += term
    }
    return sum
  }
}

/// Where a condition that holds at the lower end ceases to hold, to the last bit.
private func crossing(in range: ClosedRange<Double>, _ holds: (Double) -> Bool) -> Double {
  var (low, high) = (range.lowerBound, range.upperBound)
  while true {
    let middle = (low + high) / 2
    if middle <= low || middle >= high { return high }
    if holds(middle) { low = middle } else { high = middle }
  }
}
