/// Times until something comes about, some of which were only watched up to an end without it.
///
/// A watch that ended first is *censored*: the time is known to be longer, and no more. Times are in a unit of the caller's, and
/// each is counted from the moment from which its subject could be seen at risk.
public struct CensoredTimes: Sendable, Hashable {
  /// One subject's watch.
  public struct Watch: Sendable, Hashable {
    /// At least 0.
    public var length: Double
    /// Whether it ended by that which was waited for; false: it is censored.
    public var cameAbout: Bool
    public init(length: Double, cameAbout: Bool) {
      self.length = max(0, length)
      self.cameAbout = cameAbout
    }
  }

  /// From the shortest on; of equal length, what came about stands first.
  public private(set) var watches: [Watch]

  public init(_ watches: [Watch] = []) {
    self.watches = watches.sorted { ($0.length, $1.cameAbout ? 1 : 0) < ($1.length, $0.cameAbout ? 1 : 0) }
  }

  public var count: Int { watches.count }
  /// How many came about.
  public var occurrences: Int { watches.count(where: \.cameAbout) }
  /// The time that all subjects were at risk together.
  public var timeAtRisk: Double { watches.reduce(0) { $0 + $1.length } }

  /// The mean time, where the chance to come about in the next moment is always the same (exponential law): time at risk over
  /// occurrences. Nil without any occurrence.
  ///
  /// Source: B. Epstein and M. Sobel, "Life Testing", Journal of the American Statistical Association 48 (1953).
  public var mean: Double? { occurrences > 0 ? timeAtRisk / Double(occurrences) : nil }

  /// The two-sided interval of that mean: the time at risk over Garwood's limits of the number of occurrences.
  ///
  /// The limits are exact where the watch goes on until a fixed time at risk, and near to it where each has an end of its own.
  /// - Parameter confidence: at most 0.9998.
  /// - Returns: nil without time at risk. `high` is nil without any occurrence.
  public func interval(confidence: Double = 0.95) -> (low: Double, high: Double?)? {
    let (time, count, side) = (timeAtRisk, occurrences, (1 + confidence) / 2)
    guard time > 0 else { return nil }
    let most = Self.bound(count, side, isUpper: true)
    let fewest = Self.bound(count, side, isUpper: false)
    return (time / most, count > 0 ? time / fewest : nil)
  }

  /// Garwood's limit. Of more than 500 by the approximation of the χ² distribution by E. B. Wilson and M. M. Hilferty,
  /// Proceedings of the National Academy of Sciences 17 (1931), within 1 in 10,000.
  private static func bound(_ count: Int, _ confidence: Double, isUpper: Bool) -> Double {
    if count <= 500 {
      return isUpper
        ? ExactPoisson.upperBound(of: count, confidence: confidence)
        : ExactPoisson.lowerBound(of: count, confidence: confidence)
    }
    let n = Double(isUpper ? count + 1 : count)
    let z = NormalDistribution.quantile(confidence) * (isUpper ? 1 : -1)
    let root = 1 - 1 / (9 * n) + z / (3 * n.squareRoot())
    return n * root * root * root
  }

  /// How far the occurrences stand from one chance that is always the same, in standard deviations.
  ///
  /// Laplace's trend test: under such a chance the time at risk before an occurrence is an even share of the whole. Above 0 they
  /// come later than that, as where something has to run down first; below 0 sooner, as where a part was never far from it.
  /// An occurrence that ends the whole watch tells nothing, since it is always there. Nil without any other.
  ///
  /// Source: D. R. Cox and P. A. W. Lewis, *The Statistical Analysis of Series of Events* (1966), 3.3.
  public var trend: Double? {
    let whole = timeAtRisk
    var (sum, count, before, last) = (0.0, 0, 0.0, 0.0)
    for (index, watch) in watches.enumerated() {
      before += (watch.length - last) * Double(watches.count - index)
      last = watch.length
      if watch.cameAbout, index < watches.count - 1 { (sum, count) = (sum + before, count + 1) }
    }
    guard whole > 0, count > 0 else { return nil }
    return (sum / whole / Double(count) - 0.5) * (12 * Double(count)).squareRoot()
  }

  /// A step down of the share for which it did not yet come about.
  public struct Step: Sendable, Hashable {
    public var time: Double
    /// Subjects that were still watched just before.
    public var watched: Int
    /// How many of them it came about for.
    public var occurrences: Int
    /// The share left from here on, 0 to 1.
    public var left: Double
  }

  /// The share for which it did not yet come about, by time; a step for each time at which it came about.
  ///
  /// Source: E. L. Kaplan and P. Meier, "Nonparametric Estimation from Incomplete Observations", Journal of the American
  /// Statistical Association 53 (1958).
  public var steps: [Step] {
    var steps: [Step] = []
    var (left, index) = (1.0, 0)
    while index < watches.count {
      let time = watches[index].length
      let rest = watches[index...].prefix { $0.length == time }
      let (watched, came) = (watches.count - index, rest.count(where: \.cameAbout))
      index += rest.count
      guard came > 0 else { continue }
      left *= Double(watched - came) / Double(watched)
      steps.append(Step(time: time, watched: watched, occurrences: came, left: left))
    }
    return steps
  }

  /// The earliest time by which it came about for such a share, 0 to 1; nil: for fewer, as far as was watched.
  public func quantile(_ share: Double) -> Double? { steps.first { $0.left <= 1 - share + 1e-12 }?.time }
}
