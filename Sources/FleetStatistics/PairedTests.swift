/// The expected difference of two systems from replications under common random numbers. Observation i of both has the same
/// seed: only the differences count, and the systems' common part cancels.
///
/// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed. (2015), 10.2.1 and 11.2.
public struct PairedDifference: Sendable, Hashable {
  public var sample: SampleStatistics

  public init(_ sample: SampleStatistics) { self.sample = sample }

  /// `values[i] − reference[i]`, where both have a value.
  public init(_ values: [Double?], minus reference: [Double?]) {
    sample = SampleStatistics()
    for case (let value?, let other?) in zip(values, reference) { sample.add(value - other) }
  }

  public var mean: Double { sample.mean }

  /// nil of fewer than two pairs.
  public func interval(confidence: Double = 0.95) -> ConfidenceInterval? {
    ConfidenceInterval(sample, confidence: confidence)
  }

  /// The p value of the two-sided paired t test that the expected difference is 0; nil for fewer than two pairs.
  ///
  /// Where every pair has the same difference there is nothing to test: 1 if it is 0, otherwise 0.
  public var pValue: Double? {
    guard let error = sample.standardError else { return nil }
    if error == 0 { return mean == 0 ? 1 : 0 }
    return StudentT.twoSidedP(mean / error, degreesOfFreedom: sample.count - 1)
  }
}

/// Whether one of two systems does something more often than the other, from runs in pairs (the same seed for both).
///
/// Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
/// Psychometrika 12 (1947). The test is exact, by the binomial distribution of the pairs that disagree.
public enum McNemar {
  /// Returns the two-sided p value of the hypothesis that both do it equally often.
  ///
  /// - Parameter onlyFirst: pairs in which the first does it and the second does not.
  /// - Parameter onlySecond: pairs in which the second does it and the first does not.
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
