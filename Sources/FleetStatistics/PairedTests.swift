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

/// Several tests at once such that the chance of any wrong rejection stays below the one of a single test.
///
/// Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6 (1979). It needs no
/// independence, and never rejects less than Bonferroni's.
public enum Holm {
  /// The adjusted p values in the order given: reject where one is below the level asked for.
  public static func adjusted(_ pValues: [Double]) -> [Double] {
    var result = pValues
    var highest = 0.0
    for (position, index) in order(pValues).enumerated() {
      highest = max(highest, min(1, pValues[index] * Double(pValues.count - position)))
      result[index] = highest
    }
    return result
  }

  /// Returns the confidence of each test's interval at which the interval excludes 0 exactly where the procedure rejects. For a
  /// rejected test that is the level it was tested at. For the others it is the level at which the procedure stops (or ends).
  public static func confidences(_ pValues: [Double], confidence: Double = 0.95) -> [Double] {
    let alpha = 1 - confidence
    var result = pValues
    var stopped: Double?
    for (position, index) in order(pValues).enumerated() {
      let level = alpha / Double(pValues.count - position)
      if stopped == nil, pValues[index] >= level { stopped = level }
      result[index] = 1 - (stopped ?? level)
    }
    return result
  }

  private static func order(_ pValues: [Double]) -> [Int] {
    pValues.indices.sorted { (pValues[$0], $0) < (pValues[$1], $1) }
  }
}

/// Ranks systems by a metric; two tie when the interval of their paired difference contains 0.
///
/// The intervals are those of Holm's procedure over all pairs, so that the chance of any false order is at most 5 %. A rank
/// is one more than the number of systems that are significantly better: ties share a rank and need not be transitive.
public struct PairwiseRanking: Sendable, Hashable {
  /// The comparison of one pair of systems.
  public struct Pair: Sendable, Hashable {
    /// Indices of systems: the difference is `second` − `first`, and `first` < `second`.
    public var first: Int
    public var second: Int
    public var difference: PairedDifference
    /// nil of fewer than two pairs of values.
    public var pValue: Double?
    /// The same by Holm over all pairs.
    public var adjustedP: Double?
    /// Wider than 95 %, so that it excludes 0 exactly where Holm's procedure tells the two apart.
    public var interval: ConfidenceInterval?
    /// Whether the two differ significantly.
    public var differs: Bool { adjustedP.map { $0 < 1 - PairwiseRanking.confidence } ?? false }
  }

  public static let confidence = 0.95

  /// Every pair, by first and then second.
  public private(set) var pairs: [Pair] = []
  /// By system, from 1; nil of systems without values.
  public private(set) var ranks: [Int?]
  private let systems: Int

  /// - Parameter systems: how many.
  /// - Parameter lowerIsBetter: whether less is better.
  /// - Parameter hasValues: whether a system has a value to rank at all.
  /// - Parameter difference: that of system `second` to system `first`.
  public init(
    systems: Int, lowerIsBetter: Bool, hasValues: (Int) -> Bool = { _ in true },
    difference: (_ first: Int, _ second: Int) -> PairedDifference
  ) {
    self.systems = systems
    ranks = (0..<systems).map { hasValues($0) ? 1 : nil }
    for first in 0..<systems {
      for second in first + 1..<max(systems, first + 1) {
        let difference = difference(first, second)
        pairs.append(
          Pair(first: first, second: second, difference: difference, pValue: difference.pValue))
      }
    }
    let tested = pairs.indices.filter { pairs[$0].pValue != nil }
    let pValues = tested.compactMap { pairs[$0].pValue }
    let adjusted = Holm.adjusted(pValues)
    let confidences = Holm.confidences(pValues, confidence: Self.confidence)
    for (position, index) in tested.enumerated() {
      pairs[index].adjustedP = adjusted[position]
      pairs[index].interval = pairs[index].difference.interval(confidence: confidences[position])
    }
    for pair in pairs where pair.differs {
      let secondIsBetter = (pair.difference.mean < 0) == lowerIsBetter
      let worse = secondIsBetter ? pair.first : pair.second
      ranks[worse] = ranks[worse].map { $0 + 1 }
    }
  }

  /// The pair of two different systems.
  public func pair(_ first: Int, _ second: Int) -> Pair {
    let (low, high) = (min(first, second), max(first, second))
    return pairs[low * systems - low * (low + 1) / 2 + high - low - 1]
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
