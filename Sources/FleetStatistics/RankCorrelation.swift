/// How far two quantities grow together, by their ranks; equal values share the mean of theirs.
///
/// Source: C. Spearman, "The proof and measurement of association between two things", Am. J. Psychol. 15 (1904); the p value by
/// Student's t of n − 2 degrees of freedom (M. G. Kendall, *Rank Correlation Methods*, 1948).
public struct RankCorrelation: Sendable, Hashable {
  /// −1 … 1; 0 where one of them does not vary.
  public private(set) var coefficient = 0.0
  /// Two-sided, of no correlation; 1 of fewer than three pairs.
  public private(set) var pValue = 1.0

  public init(_ first: [Double], _ second: [Double]) {
    let (a, b) = (Self.ranks(first), Self.ranks(second))
    let middle = Double(a.count + 1) / 2
    var (product, squaresA, squaresB) = (0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
      product += (x - middle) * (y - middle)
      squaresA += (x - middle) * (x - middle)
      squaresB += (y - middle) * (y - middle)
    }
    guard a.count > 2, squaresA > 0, squaresB > 0 else { return }
    coefficient = product / (squaresA * squaresB).squareRoot()
    let left = max(1 - coefficient * coefficient, 1e-300)
    pValue = StudentT.twoSidedP(
      coefficient * (Double(a.count - 2) / left).squareRoot(), degreesOfFreedom: a.count - 2)
  }

  private static func ranks(_ values: [Double]) -> [Double] {
    let order = values.indices.sorted { values[$0] < values[$1] }
    var ranks = values
    var start = 0
    while start < order.count {
      var end = start
      while end + 1 < order.count, values[order[end + 1]] == values[order[start]] { end += 1 }
      for position in start...end { ranks[order[position]] = Double(start + end) / 2 + 1 }
      start = end + 1
    }
    return ranks
  }
}
