/// A distribution of spans.
///
/// Every draw is the quantile function at one uniform number, the draw of its key, rounded to the nearest microsecond. So
/// under one key, a larger mean or median gives a larger sample (common random numbers). Samples are never negative and never
/// longer than `longestSample`. Parameters that make no sense together are the scenario's to refuse; here they degenerate as
/// the cases say, and never trap.
public enum Distribution: Sendable, Hashable {
  case constant(Span)
  /// Every microsecond from the smaller to the larger bound, both included, equally likely.
  case uniform(Span, Span)
  /// Zero gaps occur, by rounding. A mean of zero or less gives zero.
  case exponential(mean: Span)
  /// `minimum` + log-normal, such that the whole has this median and this 99th percentile.
  /// A median not above the minimum gives the minimum always; a p99 not above the median gives the median always.
  case logNormal(median: Span, p99: Span, minimum: Span)

  /// The longest span that a sample can be: 400 days. Longer ones are cut to it, so that sums of samples can't overflow.
  @inlinable public static var longestSample: Span { Span(microseconds: 400 * 86_400_000_000) }

  /// One sample. For many from one distribution prepare a `Sampler` once.
  public func sample(_ key: RandomKey) -> Span { Sampler(self).sample(key) }

  /// The lower end of the support: no sample is shorter.
  public var minimum: Span {
    switch self {
    case .constant(let span): Distribution.clamp(span)
    case .uniform(let a, let b): Distribution.clamp(min(a, b))
    case .exponential: .zero
    case .logNormal(_, _, let minimum): Distribution.clamp(minimum)
    }
  }

  /// The mean in microseconds, by formula: before samples are rounded or cut at `longestSample`.
  public var mean: Double {
    switch Sampler(self).form {
    case .constant(let value): Double(value)
    case .uniform(let low, let high): (Double(low) + Double(high)) / 2
    case .exponential(let mean): mean
    case .logNormal(let body):
      body.minimum + DeterministicMath.exp(body.mu + body.sigma * body.sigma / 2)
    }
  }

  /// The span that a share `p` of all samples are no longer than, microseconds, by formula as `mean`; 0 < p < 1.
  package func quantile(_ p: Double) -> Double {
    switch Sampler(self).form {
    case .constant(let value): Double(value)
    case .uniform(let low, let high): Double(low) + p * (Double(high) - Double(low))
    case .exponential(let mean): -DeterministicMath.log(1 - p) * mean
    case .logNormal(let body):
      body.minimum + DeterministicMath.exp(body.mu + body.sigma * DeterministicMath.inverseNormalCDF(p))
    }
  }

  static func clamp(_ span: Span) -> Span { min(max(span, .zero), longestSample) }

  /// One gap of a Poisson process, in microseconds: −ln(U)·mean rounded, U in (0, 1] from the key's draw.
  ///
  /// - `mean`: mean gap in microseconds; not above zero gives 0. At most `longestSample` comes back.
  public static func exponentialGap(mean: Double, key: RandomKey) -> Int64 {
    mean > 0
      ? QuantileTables.shared.exponentialGap(mean: mean, key: key) : exactExponentialGap(mean: mean, key: key)
  }

  @usableFromInline @inline(never)
  static func exactExponentialGap(mean: Double, key: RandomKey) -> Int64 {
    roundedMicroseconds(-DeterministicMath.log(key.unitAboveZero) * mean)
  }

  /// The nearest whole microsecond, within 0 … `longestSample`; NaN counts as too long.
  @inlinable static func roundedMicroseconds(_ x: Double) -> Int64 {
    guard x < Double(longestSample.microseconds) else { return longestSample.microseconds }
    return x > 0 ? Int64(x + 0.5) : 0
  }
}

extension QuantileTables {
  /// `Distribution.exponentialGap`, where the tables are at hand.
  ///
  /// - `mean`: not negative.
  @inlinable @inline(__always)
  public func exponentialGap(mean: Double, key: RandomKey) -> Int64 {
    let gap = exponential(key) * mean
    if let gap = Self.rounded(gap, within: (mean + gap) * Self.exponentialError) { return gap }
    return Distribution.exactExponentialGap(mean: mean, key: key)
  }
}

/// A distribution prepared for the hot loop: constants computed once, no allocation, one branch per sample.
///
/// A sample equals `Distribution.sample` of the same key, bit for bit.
@frozen
public struct Sampler: Sendable, Hashable, BitwiseCopyable {
  @frozen @usableFromInline
  enum Form: Sendable, Hashable, BitwiseCopyable {
    case constant(Int64)
    case uniform(Int64, Int64)
    case exponential(mean: Double)
    case logNormal(LogNormal)
  }

  @frozen @usableFromInline
  struct LogNormal: Sendable, Hashable, BitwiseCopyable {
    @usableFromInline let minimum: Double
    @usableFromInline let mu: Double
    @usableFromInline let sigma: Double
    /// `mu` and `sigma` in steps of `QuantileTables.power`, and the relative error of what the tables give.
    @usableFromInline let muInSteps: Double
    @usableFromInline let sigmaInSteps: Double
    @usableFromInline let error: Double

    init(minimum: Int64, mu: Double, sigma: Double) {
      (self.minimum, self.mu, self.sigma) = (Double(minimum), mu, sigma)
      let step = QuantileTables.logOfStep
      (muInSteps, sigmaInSteps) = (mu / step, sigma / step)
      error = sigma * QuantileTables.normalError + QuantileTables.powerError
    }

    @inlinable @inline(__always)
    func sample(_ key: RandomKey, _ tables: QuantileTables) -> Int64 {
      let body = tables.power(muInSteps + sigmaInSteps * tables.normal(key))
      return QuantileTables.rounded(minimum + body, within: body * error + 1e-6)
        ?? Self.exactSample(minimum: minimum, mu: mu, sigma: sigma, key: key)
    }

    /// Not a method: for one, every sample would put the whole in memory.
    @usableFromInline @inline(never)
    static func exactSample(minimum: Double, mu: Double, sigma: Double, key: RandomKey) -> Int64 {
      let z = DeterministicMath.inverseNormalCDF(key.unitOpen)
      return Distribution.roundedMicroseconds(minimum + DeterministicMath.exp(mu + sigma * z))
    }
  }

  @usableFromInline let form: Form
  @usableFromInline let tables: QuantileTables

  /// The 99 % quantile of the standard normal distribution.
  static var z99: Double { DeterministicMath.inverseNormalCDF(0.99) }

  public init(_ distribution: Distribution) {
    tables = .shared
    func bounded(_ span: Span) -> Int64 { Distribution.clamp(span).microseconds }
    switch distribution {
    case .constant(let span):
      form = .constant(bounded(span))
    case .uniform(let a, let b):
      form = .uniform(bounded(min(a, b)), bounded(max(a, b)))
    case .exponential(let mean):
      form = .exponential(mean: Double(bounded(mean)))
    case .logNormal(let median, let p99, let minimum):
      let body = bounded(median) - bounded(minimum)
      let tail = bounded(p99) - bounded(minimum)
      guard body > 0, tail > body else {
        form = .constant(bounded(minimum) + max(body, 0))
        return
      }
      let mu = DeterministicMath.log(Double(body))
      let sigma = (DeterministicMath.log(Double(tail)) - mu) / Sampler.z99
      form = .logNormal(LogNormal(minimum: bounded(minimum), mu: mu, sigma: sigma))
    }
  }

  /// One sample: a function of the key's draw alone.
  @inlinable public func sample(_ key: RandomKey) -> Span {
    switch form {
    case .constant(let value):
      return Span(microseconds: value)
    case .uniform(let low, let high):
      return Span(microseconds: key.uniform(low, through: high))
    case .exponential(let mean):
      return Span(microseconds: tables.exponentialGap(mean: mean, key: key))
    case .logNormal(let body):
      return Span(microseconds: body.sample(key, tables))
    }
  }
}
