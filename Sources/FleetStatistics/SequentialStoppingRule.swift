/// When replications are enough: the interval of the mean is as narrow as was asked for.
///
/// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed. (2015), 9.4.1. Ten replications come first, since a
/// variance from fewer stops too early too often; what remains is a coverage a little below the nominal one.
public struct SequentialStoppingRule: Sendable, Hashable {
  public enum Target: Sendable, Hashable {
    /// The mean is off by at most this share of the expected value, as 0.02.
    case relative(Double)
    /// The mean is off by at most this much.
    case absolute(Double)
  }

  public var target: Target
  public var confidence: Double
  public var minimumReplications: Int

  public init(_ target: Target, confidence: Double = 0.95, minimumReplications: Int = 10) {
    self.target = target
    self.confidence = confidence
    self.minimumReplications = max(2, minimumReplications)
  }

  /// Whether `sample` is large enough.
  public func isMet(by sample: SampleStatistics) -> Bool {
    guard sample.count >= minimumReplications,
      let interval = ConfidenceInterval(sample, confidence: confidence)
    else { return false }
    return isMet(interval.mean, interval.halfWidth)
  }

  /// Whether the interval of a mean is narrow enough; never where there is none, or all values were the same.
  public func isMet(by estimate: MeanEstimate) -> Bool {
    estimate.halfWidth.map { isMet(estimate.mean, $0) } ?? false
  }

  private func isMet(_ mean: Double, _ halfWidth: Double) -> Bool {
    switch target {
    case .absolute(let width): halfWidth <= width
    // γ/(1 + γ) of the mean is γ of the expected value.
    case .relative(let share): halfWidth <= share / (1 + share) * abs(mean)
    }
  }
}
