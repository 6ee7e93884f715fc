/// Ranks systems by a metric; two tie when the interval of their paired difference contains 0.
///
/// The intervals are those of Holm's procedure over all pairs, so that the chance of any false order is at most 5 %. A rank
/// is one more than the number of systems that are significantly better: ties share a rank and need not be transitive.
public struct PairwiseRanking: Sendable, Hashable {
  /// What is known of one pair.
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

  /// - Parameters:
  ///   - systems: how many.
  ///   - lowerIsBetter: whether less is better.
  ///   - hasValues: whether a system has a value to rank at all.
  ///   - difference: of system `second` to system `first`.
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
