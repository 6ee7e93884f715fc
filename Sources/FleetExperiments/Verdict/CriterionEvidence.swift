import FleetMetrics
import FleetStatistics
import SimulationKernel

/// The evidence of runs on new Settings against today's by one criterion of the verdict, by the verdict's rule (`MetricRule`).
///
/// New Settings are shown *not worse* if they are better or as good, or if their interval leaves open only what does not matter.
/// The test is one of non-inferiority (G. Piaggio et al., JAMA 308 (2012)). Failures and lost events that no run has shown are
/// excluded by 59 runs. So many exclude them in 5 % of all runs, with 95 % confidence.
package struct CriterionEvidence: Sendable, Hashable {
  package var criterion: Criterion
  package var finding: MetricRule.Finding
  package var isNotWorse = false
  /// Means over the seeds that both have, of a metric in its unit; how many runs fail; nil where no run has a value.
  package var today: Double?
  package var new: Double?
  /// The runs of each that tell how many fail or lose events: the new Settings may have had more seeds.
  package var todaysRuns = 0
  package var newRuns = 0
  /// One of so many was simulated: what people read of counts is so many times as much.
  package var scale: Int64 = 1
  /// About how many seeds would show that they are not worse; nil: these do, or no number is likely to.
  package var seedsNeeded: Int?
  /// Whether runs of the new Settings alone may show that they are not worse: no run of theirs has failed, or has lost an event.
  package var needsOnlyNew = false
  /// Whether runs of the new Settings alone show what none beside today's does: a failure, or events lost. Then today's have to be
  /// seen under the same seeds.
  package var needsToday = false

  /// The judgement on the new Settings.
  package enum Shown: String, Sendable, CaseIterable {
    case better, worse
    case asGood = "as good"
    case notWorse = "not worse"
    case undecided = "not decided"
  }

  package var shown: Shown {
    switch finding.standing {
    case .better: .better
    case .worse: .worse
    case .asGood: isNotWorse ? .asGood : .undecided
    case .undecided, .incomparable: isNotWorse ? .notWorse : .undecided
    }
  }

  /// Whether the runs' means are worse by what matters.
  var looksWorse: Bool { finding.standing == .worse || finding.mean > 1 }

  /// How many times what doesn't matter the means are worse, as ln; 0 where they are not.
  var harm: Double { DeterministicMath.log(max(1, finding.mean)) }
}

extension Standings {
  /// Returns the evidence on `second` against `first` by each criterion of which they have values.
  /// - Parameter allowedLoss: share of the events created that `second` may lose beyond those of `first`.
  /// - Parameter alone: runs of `second` under seeds that `first` did not have. They tell how often it fails or loses an event.
  package func evidence(
    of second: Int, against first: Int, allowedLoss: Double = 0, alone: [RunSummary] = []
  ) -> [CriterionEvidence] {
    evidence(
      of: second, against: first, on: criteria(first, second), allowedLoss: allowedLoss, alone: alone)
  }

  /// The same by some criteria.
  func evidence(
    of second: Int, against first: Int, on criteria: [Criterion], allowedLoss: Double = 0,
    alone: [RunSummary] = []
  ) -> [CriterionEvidence] {
    let failingAlone = alone.count(where: \.fails)
    return criteria.compactMap { criterion in
      let finding = finding(of: second, to: first, on: criterion, allowedLoss: allowedLoss)
      guard finding.standing != .incomparable else { return nil }
      var evidence = CriterionEvidence(criterion: criterion, finding: finding)
      (evidence.today, evidence.new) = (mean(criterion, first), mean(criterion, second))
      (evidence.todaysRuns, evidence.newRuns) = (seeds, seeds + alone.count)
      let isTested = seeds >= MetricRule.fewestForTest && finding.standing != .worse
      switch criterion {
      case .health: evidence.isNotWorse = finding.standing != .worse
      case .failures:
        evidence.new = evidence.new.map { $0 + Double(failingAlone) }
        evidence.isNotWorse =
          isTested
          && (finding.standing == .better
            || excludesMoreFailures(second, first, alone: alone.count, failing: failingAlone))
        if !evidence.isNotWorse { evidence.seedsNeeded = seedsForFailures(second, first, finding) }
        evidence.needsOnlyNew = isTested && evidence.new == 0
        evidence.needsToday = failingAlone > 0
      case .metric(let index):
        evidence.scale = metrics.metrics[index].scale
        // An interval of events that no run has lost takes it that none ever does.
        let enough = ExactBinomial.trials(excluding: MetricRule.relevantRisk)
        let isOfNone = finding.isOfEvents && finding.standing != .better && finding.reach.upperBound <= 0
        let isNeverSeen = hasNone(of: index, second, alone)
        evidence.needsToday = finding.isOfEvents && !isNeverSeen && hasNone(of: index, second, [])
        let isUnseen = isOfNone && (isNeverSeen ? evidence.newRuns : seeds) < enough
        evidence.isNotWorse = isTested && finding.reach.upperBound <= 1 && !isUnseen
        if !evidence.isNotWorse { evidence.seedsNeeded = isUnseen ? enough : seedsNeeded(finding) }
        evidence.needsOnlyNew = isTested && isUnseen && isNeverSeen
      }
      return evidence
    }
  }

  /// Whether no run of a variant has any of the events that a metric counts, and fewer are better.
  private func hasNone(of index: Int, _ variant: Int, _ alone: [RunSummary]) -> Bool {
    let metric = metrics.metrics[index]
    let values = metrics.values(of: index, variant: variant) + alone.map { metric.value(of: $0) }
    return metric.direction == .lowerIsBetter && values.allSatisfy { $0.restricted == 0 }
  }

  private func mean(_ criterion: Criterion, _ variant: Int) -> Double? {
    switch criterion {
    case .health: return nil
    case .failures: return Double(runs[variant].count(where: \.fails))
    case .metric(let index):
      let sample = metrics.sample(index, variant: variant)
      return sample.count > 0 ? sample.mean : nil
    }
  }

  /// Whether a failure of `second` alone in 5 % of the runs, beyond those of `first` alone, is excluded. A failure that no run
  /// has shown counts with the share that so many runs cannot exclude. Runs of `second` under seeds that `first` did not have count
  /// as if `first` had not failed there: a failure of `second` alone is no more frequent than a failure of it.
  /// - Parameter factor: as if there were so many times the runs.
  /// - Parameter alone: how many runs of `second` have no run of `first` beside them.
  /// - Parameter failing: how many of these fail.
  private func excludesMoreFailures(
    _ second: Int, _ first: Int, times factor: Int = 1, alone: Int = 0, failing: Int = 0
  ) -> Bool {
    let pairs = zip(runs[first], runs[second])
    let (onlyFirst, onlySecond) = (
      pairs.count { $0.fails && !$1.fails }, pairs.count { !$0.fails && $1.fails }
    )
    let count = seeds * factor
    guard count > 0 else { return false }
    return ExactBinomial.upperBound(of: onlySecond * factor + failing, in: count + alone)
      - ExactBinomial.lowerBound(of: onlyFirst * factor, in: count) <= MetricRule.relevantRisk
  }

  private func seedsForFailures(_ second: Int, _ first: Int, _ finding: MetricRule.Finding) -> Int? {
    if finding.standing == .worse || seeds == 0 { return nil }
    if !zip(runs[first], runs[second]).contains(where: { !$0.fails && $1.fails }) {
      return ExactBinomial.trials(excluding: MetricRule.relevantRisk)
    }
    return [2, 4, 8, 16, 32, 64].first { excludesMoreFailures(second, first, times: $0) }.map { $0 * seeds }
  }

  /// An interval narrows with the root of the number of seeds; it has to end where differences begin to matter.
  private func seedsNeeded(_ finding: MetricRule.Finding) -> Int? {
    guard finding.standing != .worse, finding.mean < 1, finding.reach.upperBound.isFinite else { return nil }
    let ratio = (finding.reach.upperBound - finding.mean) / (1 - finding.mean)
    return SeedPlan.rounded(max(Double(seeds) * ratio * ratio, Double(MetricRule.fewestForTest)))
  }
}

extension MetricRule.Finding {
  /// About how many seeds would show that it is better, of which `seeds` were made; nil where it doesn't look better by what matters.
  func seedsToShowBetter(of seeds: Int, at level: MetricRule.Level) -> Int? {
    guard mean < -1, reach.upperBound.isFinite, reach.lowerBound.isFinite else { return nil }
    let error = (reach.upperBound - reach.lowerBound) / 2 / -NormalDistribution.quantile(level.equivalence)
    let ratio = -NormalDistribution.quantile(level.difference / 2) * error / -mean
    return SeedPlan.rounded(
      max(Double(seeds) * ratio * ratio, Double(seeds + 1), Double(MetricRule.fewestForTest)))
  }
}
