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

  /// The standard error of the mean, s / √n; nil for fewer than two values.
  public var standardError: Double? { variance.map { ($0 / Double(count)).squareRoot() } }
}

/// An interval about a mean: mean ± half width.
///
/// Source: A. M. Law, *Simulation Modeling and Analysis*, 5th ed. (2015), 4.5. With t of n − 1 degrees of freedom the interval
/// is exact for normal observations and close for means of runs.
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

  /// Makes the interval of the expected value of independent observations; nil for fewer than two.
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
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927). The interval
/// stays within 0 … 1 and means something at 0 and at all of n.
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

/// An estimate of the expected value behind a sample, or the finding that the sample allows none.
///
/// Student's t is right for means of nearly symmetric values. For skewed values it is too sure on the side of the long tail, so
/// the interval there is a bootstrap-t. No interval of a mean is right where nearly all values are equal and a few differ
/// (events lost in one run of twenty). There the estimate tells how often the others come about.
/// Source: B. Efron and R. Tibshirani, *An Introduction to the Bootstrap* (1993), 12.5; coverage of each way, and of choosing
/// between them by the sample: `results/coverage`.
public struct MeanEstimate: Sendable, Hashable {
  /// How the interval was made.
  public enum Method: String, Sendable {
    /// All values are the same: nothing is known of how they vary.
    case constant
    case student, bootstrap
    /// Too few values differ from the most common one, or a few of them make the mean: there is no interval.
    case tooRare = "too rare"
  }

  public var mean: Double
  public var method: Method
  /// nil without an interval.
  public var low: Double?
  public var high: Double?
  /// How many values differ from the most common one.
  public var others: WilsonInterval

  /// Values that have to differ from the most common one before an interval is given.
  public static let fewestOthers = 5
  /// A sample is skewed whose skewness is beyond this on either side.
  public static let skewed = 0.5
  /// The smallest sample that is resampled. Of five, one resample in ten has two values at most: they alone make the tails, and
  /// intervals of five are up to five times as wide as Student's.
  public static let fewestResampled = 6
  /// - `values`: independent; two or more, or nothing is known but their mean.
  /// - Complexity: O(n log n), and 999 resamples of n where the sample is skewed.
  public init(_ values: [Double], confidence: Double = 0.95) {
    let sample = SampleStatistics(values)
    mean = sample.mean
    let others = values.count - Self.mostCommon(values)
    self.others = WilsonInterval(successes: others, of: values.count, confidence: confidence)
    if others == 0 {
      method = .constant
    } else if others < min(Self.fewestOthers, values.count - 1) {
      method = .tooRare
    } else if let deviation = sample.standardDeviation, deviation > abs(sample.mean),
      values.count(where: { abs($0) > abs(sample.mean) }) < Self.fewestOthers
    {
      // A spread larger than the mean: a few values make it, and which ones is chance.
      method = .tooRare
    } else if values.count >= Self.fewestResampled, abs(Self.skewness(values, sample)) > Self.skewed,
      let interval = BootstrapT.interval(values, confidence: confidence)
    {
      method = .bootstrap
      (low, high) = (interval.low, interval.high)
    } else {
      method = .student
      if let interval = ConfidenceInterval(sample, confidence: confidence) {
        (low, high) = (interval.low, interval.high)
      }
    }
  }

  /// Takes the interval back: the values are of two kinds, of one of which too few were seen.
  public mutating func refuse() {
    method = .tooRare
    (low, high) = (nil, nil)
  }

  /// Half of the interval's width; nil without one.
  public var halfWidth: Double? { low.flatMap { low in high.map { ($0 - low) / 2 } } }

  /// How often the most common value comes up.
  private static func mostCommon(_ values: [Double]) -> Int {
    var most = 0
    var run = 0
    var latest: Double?
    for value in values.sorted() {
      run = value == latest ? run + 1 : 1
      latest = value
      most = max(most, run)
    }
    return most
  }

  /// Unbiased for normal values (Fisher's G1); 0 of fewer than three.
  static func skewness(_ values: [Double], _ sample: SampleStatistics) -> Double {
    guard values.count > 2, let deviation = sample.standardDeviation, deviation > 0 else { return 0 }
    let n = Double(values.count)
    let cubes = values.reduce(0) { sum, value in
      let distance = (value - sample.mean) / deviation
      return sum + distance * distance * distance
    }
    return cubes * n / ((n - 1) * (n - 2))
  }
}

/// The interval of a mean from the distribution of its t statistic in samples drawn from the sample.
public enum BootstrapT {
  private static let resamples = 999

  /// The same sample gives the same interval. The result is nil for fewer than two values and for equal ones. It is also nil
  /// where so many resamples have equal values that the interval has no end.
  public static func interval(_ values: [Double], confidence: Double = 0.95) -> (low: Double, high: Double)? {
    let sample = SampleStatistics(values)
    guard let error = sample.standardError, error > 0 else { return nil }
    var random = SplitMix(state: UInt64(values.count))
    var quotients: [Double] = []
    quotients.reserveCapacity(resamples)
    for _ in 0..<resamples {
      var resample = SampleStatistics()
      for _ in values { resample.add(values[random.next(below: values.count)]) }
      let distance = resample.mean - sample.mean
      let spread = resample.standardError ?? 0
      quotients.append(
        spread > 0 ? distance / spread : distance == 0 ? 0 : distance < 0 ? -.infinity : .infinity)
    }
    quotients.sort()
    let tail = Int(((1 - confidence) / 2 * Double(resamples + 1)).rounded())
    let (least, most) = (quotients[max(tail - 1, 0)], quotients[min(resamples - tail, resamples - 1)])
    guard least.isFinite, most.isFinite else { return nil }
    return (sample.mean - most * error, sample.mean - least * error)
  }
}

/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA (2014).
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    z ^= z >> 31
    return z
  }

  mutating func next(below count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(count)).high)
  }
}
