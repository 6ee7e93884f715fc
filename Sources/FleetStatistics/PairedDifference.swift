/// The expected difference of two systems from replications under common random numbers: observation i of both had the
/// same seed, so only the differences count, and what the two have in common cancels.
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

  /// Of the two-sided paired t test that the expected difference is 0; nil of fewer than two pairs.
  ///
  /// Where every pair has the same difference there is nothing to test: 1 if it is 0, otherwise 0.
  public var pValue: Double? {
    guard let error = sample.standardError else { return nil }
    if error == 0 { return mean == 0 ? 1 : 0 }
    return StudentT.twoSidedP(mean / error, degreesOfFreedom: sample.count - 1)
  }
}
