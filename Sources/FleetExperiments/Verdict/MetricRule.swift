import FleetStatistics

/// The one rule by which two variants are told apart on a criterion: in verdicts, ranks and marks.
///
/// A difference counts that *matters* and that *chance does not explain*. A difference matters from 5 % of the better mean on,
/// and beyond a floor below which a figure says nothing. The floor of events is 1/10,000 of those created. The floor of times is
/// one interval of the time series, that of extra attempts half a one a device. Chance is ruled out by a paired t test at the 1 %
/// level. So over all criteria of a verdict fewer than 5 % of equal pairs get a winner. Fewer than five seeds have no such test.
/// There every seed has to show a difference of 20 % and of twice the floor, which equal variants of one law hardly do.
///
/// A pair that does not differ is not as good for that. Two variants are as good as each other only where the 90 % interval of
/// their difference lies within what matters. These are two one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15
/// (1987)).
///
/// Events are lost in clumps: a batch, or all that a device holds. Where a few clumps make the difference, a t interval is too
/// sure of itself. The number of clumps has an exact interval.
///
/// Nothing here looks at a third variant, so leaving one out changes nothing between the others.
package enum MetricRule {
  /// The judgement on a second variant against a first one.
  package enum Standing: String, Sendable, Hashable, CaseIterable {
    /// They differ in a way that counts.
    case better, worse
    /// No difference that matters is left open.
    case asGood = "as good"
    /// They may differ, or they may not.
    case undecided = "not decided"
    /// One of them has no value.
    case incomparable

    package var isDecided: Bool { self == .better || self == .worse }

    var reversed: Standing {
      switch self {
      case .better: .worse
      case .worse: .better
      case .asGood, .undecided, .incomparable: self
      }
    }
  }

  /// The evidence of the runs on a second variant against a first one by a criterion.
  ///
  /// Differences are in units of what matters, and above 0 where the second is worse.
  package struct Finding: Sendable, Hashable {
    package var standing = Standing.incomparable
    package var mean = 0.0
    /// The range of the possible difference, by its interval; with fewer than five seeds, the observed range.
    package var reach = 0.0...0.0
    /// Whether it is of events, which are counted.
    package var isOfEvents = false
    /// The standard error of the mean difference; 0: not known.
    package var error = 0.0
    /// The least difference that matters, in the metric's unit; of failures a share of the runs. The figures above are in units
    /// of it.
    package var unit = 0.0

    /// About how many seeds would show which it is, of which `seeds` were made: an interval narrows with the root of their
    /// number.
    ///
    /// A difference that matters has to be told from none, and one that does not from one that does. The distance is known no
    /// better than the mean. `nil`: the standing is known, or no number is.
    package func seedsNeeded(of seeds: Int, at level: Level) -> Double? {
      guard standing == .undecided, error > 0 else { return nil }
      let (chance, distance) =
        abs(mean) > 1 ? (level.difference / 2, abs(mean)) : (level.equivalence, max(1 - abs(mean), error))
      let needed = -NormalDistribution.quantile(chance) * error / distance
      return max(Double(seeds) * needed * needed, Double(seeds + 1))
    }

    /// Whether the criterion, not decided, may outweigh what a later one decided.
    ///
    /// It may where the opposite of that decision is possible and matters. Events that came to less than matters may not, if even
    /// the most that they allow is below the least that was decided. Both are in units of what matters.
    package func mayOutweigh(_ decision: Finding) -> Bool {
      guard standing == .undecided else { return false }
      let isBetter = decision.standing == .better
      let (opposite, most) = isBetter ? (mean, reach.upperBound) : (-mean, -reach.lowerBound)
      let least = isBetter ? -decision.reach.upperBound : decision.reach.lowerBound
      return most > 1 && !(isOfEvents && opposite <= 1 && most <= least)
    }
  }

  /// How often a finding may be wrong.
  package struct Level: Sendable, Hashable {
    /// The chance that two variants of one law are said to differ by a criterion.
    package var difference: Double
    /// The chance that two are called as good by a criterion of which the difference matters.
    package var equivalence: Double

    /// The level of a number of seeds that was chosen before any was looked at.
    package static let once = Level(difference: 0.01, equivalence: 0.05)
  }

  /// Differences of at most this share of the better mean don't matter.
  package static let relevantShare = 0.05
  /// Without a test every seed must differ by this share.
  package static let plainShare = 0.2
  /// Seeds from which on a test is made.
  package static let fewestForTest = 5
  /// Shares of runs that fail don't matter up to this difference, if chance may explain it; beyond chance every one does.
  package static let relevantRisk = 0.05

  /// Events come and go in batches: the mean size of one.
  package static func clump(createdEvents: Double, settledBatches: Double) -> Double {
    settledBatches > 0 ? max(1, createdEvents / settledBatches) : 1
  }

  /// - Parameter first: by seed.
  /// - Parameter second: under the same seeds.
  /// - Parameter floor: no difference up to it matters.
  /// - Parameter clump: of events, how many are lost together at least; nil of other metrics.
  /// - Parameter share: no difference up to this share of the better mean matters.
  package static func finding(
    of second: [MetricValue], to first: [MetricValue], lowerIsBetter: Bool, floor: Double,
    clump: Double? = nil, share: Double = relevantShare, at level: Level = .once
  ) -> Finding {
    let raw = zip(second, first).compactMap { $0.difference(to: $1) }
    guard !raw.isEmpty else { return Finding() }
    let count = Double(raw.count)
    let means = [second, first].map { SampleStatistics($0.compactMap(\.restricted)).mean }
    let better = abs(lowerIsBetter ? min(means[0], means[1]) : max(means[0], means[1]))
    let limit = max(share * better, floor, 1e-9)
    let differences = raw.map { (lowerIsBetter ? $0 : -$0) / limit }
    let paired = PairedDifference(SampleStatistics(differences))
    let extent = (differences.min() ?? 0)...(differences.max() ?? 0)
    var finding = Finding(
      standing: .undecided, mean: paired.mean, isOfEvents: clump != nil,
      error: paired.sample.standardError ?? 0, unit: limit)

    let isPlain = raw.count < fewestForTest
    var interval = paired.interval(confidence: 1 - 2 * level.equivalence).map { $0.low...$0.high }
    var isRare = false
    if let clump, isPlain || self.isRare(differences) {
      isRare = true
      interval = self.interval(
        ofRare: differences, clump: clump / limit, confidence: 1 - level.equivalence)
    }
    if isPlain {
      // Three standard errors of a count: what equal variants differ by.
      let chance = clump.map { 3 * ((abs(means[0]) + abs(means[1])) * $0 / count).squareRoot() } ?? 0
      let plain = max(plainShare * better, 2 * max(floor, chance)) / limit
      if extent.lowerBound > plain || extent.upperBound < -plain {
        finding.reach = extent
        finding.standing = finding.mean < 0 ? .better : .worse
        return finding
      }
    }
    finding.reach = isPlain && !isRare ? extent : interval ?? extent
    if !isPlain, !isRare, abs(paired.mean) > 1, (paired.pValue ?? 1) < level.difference {
      finding.standing = paired.mean < 0 ? .better : .worse
    } else if let interval,
      [interval, finding.reach].allSatisfy({ $0.lowerBound >= -1 && $0.upperBound <= 1 })
    {
      finding.standing = .asGood
    }
    return finding
  }

  /// Returns the late events of `second` as they are held against those of `first`: what is late with one and lost with the other is
  /// judged as lost alone.
  /// - Parameter lost: the lost events of both, under the same seeds.
  static func late(
    of second: [MetricValue], to first: [MetricValue], lost: (second: [MetricValue], first: [MetricValue])
  ) -> [MetricValue] {
    zip(zip(second, first), zip(lost.second, lost.first)).map { late, lost in
      guard let value = late.0.restricted, let more = late.0.difference(to: late.1),
        let fewer = lost.1.difference(to: lost.0), more * fewer > 0
      else { return late.0 }
      return .value(value - (more > 0 ? min(more, fewer) : max(more, fewer)))
    }
  }

  /// Whether differences come in so few clumps that a t test is too sure of itself: (Σ|d|)² / Σd² of equal size.
  private static func isRare(_ differences: [Double]) -> Bool {
    let sum = differences.reduce(0) { $0 + abs($1) }
    let squares = differences.reduce(0) { $0 + $1 * $1 }
    return (squares > 0 ? sum * sum / squares : 0) < Double(min(fewestForTest, differences.count - 1))
  }

  /// Returns the range of the expected difference if it comes in clumps, as many of them as chance would have it: compound
  /// Poisson.
  ///
  /// The size of a clump is Σd² / Σ|d|, or `clump` if that is more. Clumps of both signs have exact bounds of their own. A sign
  /// that no run has shown counts as nothing: what so few runs cannot exclude is said beside the verdict.
  private static func interval(ofRare differences: [Double], clump: Double, confidence: Double)
    -> ClosedRange<Double>
  {
    let sums = [1.0, -1].map { sign in differences.reduce(0) { $0 + max(0, sign * $1) } }
    let squares = differences.reduce(0) { $0 + $1 * $1 }
    guard squares > 0 else { return 0...0 }
    let size = max(clump, squares / (sums[0] + sums[1]))
    let most = sums.map {
      $0 > 0 ? ExactPoisson.upperBound(of: Int(($0 / size).rounded(.up)), confidence: confidence) : 0
    }
    let least = sums.map {
      ExactPoisson.lowerBound(of: Int(($0 / size).rounded(.down)), confidence: confidence)
    }
    let scale = size / Double(differences.count)
    return (least[0] - most[1]) * scale...(most[0] - least[1]) * scale
  }

  /// The same of how many of the runs failed: exact, by the seeds in which only one did (McNemar, Clopper and Pearson).
  ///
  /// With three or four seeds all of them have to agree. One or two decide nothing. Where all of more seeds agree, that is rarer than the
  /// pairs tell: of two variants that fail equally often, with the share p, only the second fails in p (1 − p) of the seeds, at most
  /// a quarter.
  ///
  /// - Parameter byOneThrow: whether a run failed that another kept from it by not recovering. That is one throw of a die, and all
  ///   that follows from it is the same throw, so with one or two seeds it may outweigh everything.
  package static func finding(
    onlyFirst: Int, onlySecond: Int, of seeds: Int, byOneThrow: Bool = true, at level: Level = .once
  ) -> Finding {
    guard seeds > 0 else { return Finding() }
    func bound(_ failures: Int, _ others: Int) -> Double {
      failures == 0
        ? 0
        : (ExactBinomial.upperBound(of: failures, in: seeds, confidence: 1 - level.equivalence)
          - ExactBinomial.lowerBound(of: others, in: seeds, confidence: 1 - level.equivalence))
          / relevantRisk
    }
    var finding = Finding(
      standing: .undecided, mean: Double(onlySecond - onlyFirst) / Double(seeds) / relevantRisk,
      error: Double(onlyFirst + onlySecond).squareRoot() / Double(seeds) / relevantRisk, unit: relevantRisk)
    finding.reach = min(0, -bound(onlyFirst, onlySecond))...max(0, bound(onlySecond, onlyFirst))
    if onlyFirst + onlySecond > 0, seeds < 3 {
      if byOneThrow { finding.reach = -.infinity...(.infinity) }
    } else if seeds < fewestForTest
      ? max(onlyFirst, onlySecond) == seeds
      : McNemar.pValue(onlyFirst: onlyFirst, onlySecond: onlySecond) < level.difference
        || max(onlyFirst, onlySecond) == seeds
          && Double(sign: .plus, exponent: 1 - 2 * seeds, significand: 1) < level.difference
    {
      finding.standing = onlySecond < onlyFirst ? .better : .worse
    } else if finding.reach.lowerBound >= -1, finding.reach.upperBound <= 1 {
      finding.standing = .asGood
    }
    return finding
  }
}
