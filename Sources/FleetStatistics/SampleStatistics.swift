/// Count, mean and variance of a sample, taken one value at a time.
///
/// Source: B. P. Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products", Technometrics 4 (1962):
/// no sum of squares is formed, so nothing cancels. Equal values in equal order give equal bits on every machine.
public struct SampleStatistics: Sendable, Hashable {
  public private(set) var count = 0
  /// 0 of an empty sample.
  public private(set) var mean = 0.0
  private var squares = 0.0

  public init() {}

  public init(_ values: some Sequence<Double>) {
    for value in values { add(value) }
  }

  public mutating func add(_ value: Double) {
    count += 1
    let distance = value - mean
    mean += distance / Double(count)
    squares += distance * (value - mean)
  }

  /// The unbiased variance (n − 1 in the denominator); nil of fewer than two values.
  public var variance: Double? { count > 1 ? squares / Double(count - 1) : nil }

  public var standardDeviation: Double? { variance.map { $0.squareRoot() } }

  /// Of the mean: s / √n; nil of fewer than two values.
  public var standardError: Double? { variance.map { ($0 / Double(count)).squareRoot() } }
}
