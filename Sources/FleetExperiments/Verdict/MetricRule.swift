import FleetMetrics
import FleetStatistics

/// The one rule by which two variants are told apart on a metric: in verdicts, ranks and marks.
///
/// A difference counts that *matters* and that *chance does not explain*. It matters from 5 % of the better mean on, and beyond a
/// floor below which a figure says nothing: of events 1/10,000 of those created and three standard errors of such a count, of
/// times one interval of the time series, of attempts half a one a device. Chance is ruled out by a paired t test at the 1 %
/// level, so that over all criteria of a verdict fewer than 5 % of equal pairs get a winner. Fewer than five seeds have no such
/// test: there every seed has to show a difference of 20 % (and twice the floor), which equal variants of one law hardly do.
///
/// What does not differ is not the same for that: two variants are equal only where the 90 % interval of their difference lies
/// within what matters (two one-sided tests: D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987)).
///
/// Nothing here looks at a third variant, so leaving one out changes nothing between the others.
package enum MetricRule {
  /// What can be said of a second variant against a first one.
  package enum Standing: String, Sendable, Hashable, CaseIterable {
    /// Better or worse, in a way that counts.
    case better, worse
    /// Better or worse on average, which chance may explain.
    case ahead, behind
    /// No difference that matters, and there is none hidden by chance.
    case equal
    /// No difference that matters on average, but there may be one.
    case open
    /// One of them has no value.
    case incomparable

    package var isDecided: Bool { self == .better || self == .worse }

    var reversed: Standing {
      switch self {
      case .better: .worse
      case .worse: .better
      case .ahead: .behind
      case .behind: .ahead
      case .equal, .open, .incomparable: self
      }
    }
  }

  /// Differences of at most this share of the better mean don't matter.
  package static let relevantShare = 0.05
  /// Without a test every seed must differ by this share.
  package static let plainShare = 0.2
  /// Seeds from which on a test is made.
  package static let fewestForTest = 5
  package static let level = 0.01

  /// - Parameters:
  ///   - first: by seed.
  ///   - second: under the same seeds.
  ///   - floor: no difference up to it matters.
  package static func standing(
    of second: [MetricValue], to first: [MetricValue], lowerIsBetter: Bool, floor: Double
  ) -> Standing {
    let differences = zip(second, first).compactMap { $0.difference(to: $1) }
    guard !differences.isEmpty else { return .incomparable }
    let means = [second, first].map { values in
      SampleStatistics(values.compactMap(\.restricted)).mean
    }
    let better = abs(lowerIsBetter ? min(means[0], means[1]) : max(means[0], means[1]))
    let limit = max(relevantShare * better, floor)
    let sample = SampleStatistics(differences)
    let matters = abs(sample.mean) > limit
    let isBetter = (sample.mean < 0) == lowerIsBetter
    if differences.count < fewestForTest {
      let plain = max(plainShare * better, 2 * floor)
      if differences.allSatisfy({ abs($0) <= limit }) { return .equal }
      if differences.allSatisfy({ $0 > plain }) || differences.allSatisfy({ $0 < -plain }) {
        return isBetter ? .better : .worse
      }
    } else {
      let paired = PairedDifference(sample)
      if matters, (paired.pValue ?? 1) < level { return isBetter ? .better : .worse }
      if let interval = paired.interval(confidence: 0.9), abs(sample.mean) + interval.halfWidth <= limit {
        return .equal
      }
    }
    return matters ? (isBetter ? .ahead : .behind) : .open
  }

  /// The same of how many of the runs came to something good: exact, by the seeds in which only one did (McNemar).
  package static func standing(onlyFirst: Int, onlySecond: Int, of seeds: Int) -> Standing {
    if onlyFirst == 0, onlySecond == 0 { return seeds > 0 ? .equal : .incomparable }
    if onlyFirst == onlySecond { return .open }
    if seeds >= fewestForTest, McNemar.pValue(onlyFirst: onlyFirst, onlySecond: onlySecond) < level {
      return onlySecond > onlyFirst ? .better : .worse
    }
    return onlySecond > onlyFirst ? .ahead : .behind
  }
}
