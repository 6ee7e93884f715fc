import FleetMetrics
import FleetStatistics

/// Says which variant is best, what the replications show, and what they can't.
///
/// The order is that of `Verdict`: unhealthy twin; never recovers; events lost; recovery time; p99 time to delivery;
/// attempts per device. A criterion leaves behind the variants that are worse than the best one of it in a way that
/// chance can't explain (the paired difference differs from 0 by Holm's procedure over all pairs) and that is worth
/// it: by at least 1 % of the better mean, of recovery times also by an interval of the time series.
public enum ReplicatedVerdict {
  /// A few sentences, one a line: what was found, what can be concluded, what can't, and from what.
  public static func text(_ comparison: ReplicatedComparison) -> String {
    guard comparison.replications > 1, !comparison.variants.isEmpty else { return "Nothing was run." }
    return ReplicatedVerdictWording(comparison).lines.joined(separator: "\n")
  }

  enum Criterion {
    case health, recovery
    case metric(Int)
  }

  struct Ranking {
    /// Those that no criterion separates, in their given order.
    var best: [Int]
    /// Who was left behind where, the best of them first.
    var eliminations: [(criterion: Criterion, variants: [Int])] = []
    var decidedBy: Criterion? { best.count == 1 ? eliminations.last?.criterion : nil }
  }

  static func rank(_ comparison: ReplicatedComparison, _ pairs: [PairwiseRanking]) -> Ranking {
    let metrics = comparison.metrics
    var ranking = Ranking(best: Array(metrics.variants.indices))
    func leave(_ criterion: Criterion, _ worse: [Int]) {
      guard !worse.isEmpty, worse.count < ranking.best.count else { return }
      ranking.best.removeAll(where: worse.contains)
      ranking.eliminations.append((criterion, worse))
    }
    leave(.health, ranking.best.filter { isUnhealthy(comparison, $0) })
    leave(.recovery, behindInRecovery(metrics, ranking.best))
    for (index, metric) in metrics.metrics.enumerated() where metric.isHeadline {
      let candidates = ranking.best
      guard candidates.count > 1 else { break }
      let means = candidates.map { metrics.sample(index, variant: $0) }
      // A recovery or delivery can be compared only where everybody has one.
      guard !means.contains(where: { $0.count == 0 }) else { continue }
      guard let best = zip(candidates, means).min(by: { $0.1.mean < $1.1.mean }) else { continue }
      let resolution = metric.isCensored ? interval(comparison) : 0
      let worse = zip(candidates, means).filter { variant, sample in
        variant != best.0 && pairs[index].pair(best.0, variant).differs
          && sample.mean - best.1.mean > max(Metric.relevantShare * abs(best.1.mean), resolution)
      }
      leave(.metric(index), worse.sorted { $0.1.mean < $1.1.mean }.map(\.0))
    }
    return ranking
  }

  /// Whether the twin of most replications does not hold its load.
  static func isUnhealthy(_ comparison: ReplicatedComparison, _ variant: Int) -> Bool {
    let rows = comparison.rows(of: variant)
    return rows.count { !$0.baselineIsHealthy } * 2 > rows.count
  }

  /// Those whose share of recoveries is below that of the best one, interval against interval.
  private static func behindInRecovery(_ metrics: ReplicatedMetrics, _ candidates: [Int]) -> [Int] {
    guard let index = metrics.metrics.firstIndex(where: { $0.name == MetricCatalogue.recovery }) else {
      return []
    }
    let shares = candidates.map { metrics.share(index, variant: $0) }
    guard !shares.contains(where: { $0 == nil }), let best = shares.compactMap({ $0?.low }).max() else {
      return []
    }
    return zip(candidates, shares).filter { ($0.1?.high ?? 1) < best }
      .sorted { ($0.1?.share ?? 0) > ($1.1?.share ?? 0) }.map(\.0)
  }

  /// Width of a row of the time series, seconds.
  private static func interval(_ comparison: ReplicatedComparison) -> Double {
    Double(comparison.curves.compactMap(\.facts?.interval).max() ?? 0) / 1e6
  }
}
