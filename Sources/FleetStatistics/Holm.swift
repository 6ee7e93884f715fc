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

  /// The confidence of each test's interval such that it excludes 0 exactly where the procedure rejects: the level at
  /// which the procedure stops (or ends) for those that it does not reject, the one it was tested at for the others.
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
