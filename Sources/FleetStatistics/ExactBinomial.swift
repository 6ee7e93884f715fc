/// The bound of a probability from how often something came about, exact for any number of trials.
///
/// Source: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
/// Biometrika 26 (1934).
public enum ExactBinomial {
  public static let confidence = 0.95

  /// The largest probability with which at most `successes` of `count` trials come about in 5 % of the cases: one-sided.
  ///
  /// 1 where all came about, and of no trials. - Complexity: O(successes).
  public static func upperBound(of successes: Int, in count: Int) -> Double {
    guard successes < count else { return 1 }
    var (low, high) = (0.0, 1.0)
    while true {
      let middle = (low + high) / 2
      if middle <= low || middle >= high { return high }
      if chance(of: successes, in: count, middle) > 1 - confidence { low = middle } else { high = middle }
    }
  }

  /// The probability of at most `most` successes.
  private static func chance(of most: Int, in count: Int, _ probability: Double) -> Double {
    guard probability < 1 else { return 0 }
    var term = 1.0
    for _ in 0..<count { term *= 1 - probability }
    var sum = term
    for k in 0..<max(0, most) {
      term *= Double(count - k) / Double(k + 1) * probability / (1 - probability)
      sum += term
    }
    return sum
  }
}
