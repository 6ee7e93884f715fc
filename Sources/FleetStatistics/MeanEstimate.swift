/// What a sample says of the expected value behind it, or that it can't say anything.
///
/// Student's t is right for means of nearly symmetric values. Of skewed ones it is too sure on the side of the long tail, so
/// there the interval is a bootstrap-t. And where nearly all values are the same, and a few are not (events lost in one run of
/// twenty), no interval of a mean is right: what can be told is how often the others come about.
/// Source: B. Efron and R. Tibshirani, *An Introduction to the Bootstrap* (1993), 12.5; coverage of each way, and of choosing
/// between them by the sample: `results/coverage`.
public struct MeanEstimate: Sendable, Hashable {
  /// How the interval was made.
  public enum Method: Sendable, Hashable {
    /// All values are the same: nothing is known of how they vary.
    case constant
    case student, bootstrap
    /// Too few values differ from the most common one, or a few of them make the mean: there is no interval.
    case tooRare
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
    } else if abs(Self.skewness(values, sample)) > Self.skewed,
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

  /// The same sample gives the same interval. nil of fewer than two values, of equal ones, and where so many resamples are of
  /// equal values that the interval has no end.
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
