/// An interval about a mean: mean ± half width.
///
/// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed. (2015), 4.5: with t of n − 1 degrees of freedom it is
/// exact for normal observations and close for means of runs.
public struct ConfidenceInterval: Sendable, Hashable {
  public var mean: Double
  public var halfWidth: Double
  /// 0 … 1, as 0.95.
  public var confidence: Double

  public init(mean: Double, halfWidth: Double, confidence: Double = 0.95) {
    self.mean = mean
    self.halfWidth = halfWidth
    self.confidence = confidence
  }

  /// Of the expected value of independent observations; nil of fewer than two.
  public init?(_ sample: SampleStatistics, confidence: Double = 0.95) {
    guard let error = sample.standardError else { return nil }
    let factor = StudentT.factor(confidence: confidence, degreesOfFreedom: sample.count - 1)
    self.init(
      mean: sample.mean, halfWidth: error == 0 ? 0 : factor * error, confidence: confidence)
  }

  public var low: Double { mean - halfWidth }
  public var high: Double { mean + halfWidth }

  public func contains(_ value: Double) -> Bool { low <= value && value <= high }
}

/// The interval of a probability, from how often something came about.
///
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927): it stays within
/// 0 … 1 and means something at 0 and at all of n.
public struct WilsonInterval: Sendable, Hashable {
  public var count: Int
  public var successes: Int
  public var low: Double
  public var high: Double

  /// - `successes`: 0 … `count`; `count` of 0 gives 0 … 1.
  public init(successes: Int, of count: Int, confidence: Double = 0.95) {
    self.count = count
    self.successes = successes
    guard count > 0 else {
      (low, high) = (0, 1)
      return
    }
    let z = -NormalDistribution.quantile((1 - confidence) / 2)
    let n = Double(count)
    let share = Double(successes) / n
    let scale = 1 + z * z / n
    let centre = (share + z * z / (2 * n)) / scale
    let width = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    low = successes == 0 ? 0 : max(0, centre - width)
    high = successes == count ? 1 : min(1, centre + width)
  }

  /// The observed share; 0 of none.
  public var share: Double { count > 0 ? Double(successes) / Double(count) : 0 }
}
