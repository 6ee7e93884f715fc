/// Whether one of two systems does something more often than the other, from runs in pairs (the same seed for both).
///
/// Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
/// Psychometrika 12 (1947); exact, by the binomial distribution of the pairs that disagree.
public enum McNemar {
  /// The two-sided p value that both do it equally often.
  ///
  /// - Parameters:
  ///   - onlyFirst: pairs in which the first does it and the second does not.
  ///   - onlySecond: the other way round.
  /// - Complexity: O(pairs that disagree).
  public static func pValue(onlyFirst: Int, onlySecond: Int) -> Double {
    let n = onlyFirst + onlySecond
    guard n > 0 else { return 1 }
    // P(X <= k) of n fair throws: the sum of n over i from 0 to k, over 2^n, each term from the one before.
    let k = min(onlyFirst, onlySecond)
    var term = 1.0
    // Halved as the sum grows, so that neither under- nor overflows.
    var halvings = 0
    var sum = term
    for i in stride(from: 1, through: k, by: 1) {
      term *= Double(n - i + 1) / Double(i)
      sum += term
      while sum > 0x1p512 {
        sum *= 0x1p-512
        term *= 0x1p-512
        halvings += 512
      }
    }
    var left = n - halvings
    while left > 512 {
      sum *= 0x1p-512
      left -= 512
    }
    for _ in 0..<max(left, 0) { sum /= 2 }
    return min(1, 2 * sum)
  }
}
