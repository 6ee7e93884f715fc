import FleetMetrics

/// Says in one sentence which variant is best, and by what.
///
/// The order is that of Definitions.md: unhealthy twin; never recovers; events lost; recovery time; p99
/// time to delivery; attempts per device. Each criterion keeps the variants that are as good as the best one
/// within 5 % (of recovery times also within one interval of the time series, their resolution); the first
/// that leaves a single one decides. The herd factor never counts: the strategy that keeps the server idle
/// longest can have the lowest peak.
public enum Verdict {
  /// The verdict on `results`; on a single one, how it fared.
  public static func sentence(_ results: [VariantResult]) -> String {
    if results.count > 1, results.allSatisfy({ $0.record == results[0].record }) {
      return
        "All variants gave the same result to the last byte: in this scenario nothing ever used what differs between them."
    }
    return sentence(results.map(\.summary), interval: results.map(\.record.series.interval).max() ?? 0)
  }

  /// The same from the summaries alone; `interval` is the width of a row of the time series, microseconds.
  public static func sentence(_ runs: [RunSummary], interval: Int64) -> String {
    guard let first = runs.first else { return "Nothing was run." }
    return runs.count == 1 ? VerdictWording.single(first) : comparison(runs, interval: interval)
  }

  /// What decides, in this order.
  enum Criterion: CaseIterable {
    case health, recovery, losses, recoveryTime, timeToDelivery, attempts
  }

  /// How a comparison was decided.
  struct Ranking {
    /// Those that no criterion separates, in their given order.
    var best: [RunSummary]
    /// Who was left behind where, in the order of the criteria.
    var eliminations: [(criterion: Criterion, runs: [RunSummary])] = []
    var decidedBy: Criterion? { best.count == 1 ? eliminations.last?.criterion : nil }
  }

  static func rank(_ runs: [RunSummary], interval: Int64) -> Ranking {
    var ranking = Ranking(best: runs)
    for criterion in Criterion.allCases where ranking.best.count > 1 {
      let candidates = ranking.best
      let badness = candidates.map { self.badness($0, criterion, among: candidates) }
      guard let least = badness.min() else { continue }
      let limit = limit(least, criterion, interval: interval)
      let worse = candidates.indices.filter { badness[$0] > limit }
      guard !worse.isEmpty else { continue }
      ranking.best = candidates.indices.filter { badness[$0] <= limit }.map { candidates[$0] }
      // The best of those left behind first: it is the one to compare with.
      ranking.eliminations.append(
        (
          criterion,
          worse.sorted { badness[$0] < badness[$1] || (badness[$0] == badness[$1] && $0 < $1) }
            .map { candidates[$0] }
        ))
    }
    return ranking
  }

  /// The smaller the better; infinite for what never came about.
  private static func badness(_ run: RunSummary, _ criterion: Criterion, among candidates: [RunSummary])
    -> Double
  {
    // A recovery can be compared only where everybody has something to recover from.
    let allHaveIncidents = candidates.allSatisfy(\.hasIncidents)
    switch criterion {
    case .health: return run.baselineIsHealthy ? 0 : 1
    case .recovery: return run.hasIncidents && run.recoveryTime == nil ? 1 : 0
    case .losses: return Double(max(0, run.lostEvents))
    case .recoveryTime: return allHaveIncidents ? run.recoveryTime.map(Double.init) ?? .infinity : 0
    case .timeToDelivery: return run.timeToDeliveryP99.map(Double.init) ?? .infinity
    case .attempts: return run.attemptsPerDeviceDay
    }
  }

  /// Figures within 5 % count as alike: seeds move the recovery of a fleet of 20,000 by some 4 %.
  private static let likeness = 1.05

  /// The largest badness that one seed cannot tell from `least`.
  private static func limit(_ least: Double, _ criterion: Criterion, interval: Int64) -> Double {
    switch criterion {
    case .health, .recovery: least
    case .losses, .timeToDelivery, .attempts: least * likeness
    case .recoveryTime: max(least * likeness, least + Double(interval))
    }
  }

  private static func comparison(_ runs: [RunSummary], interval: Int64) -> String {
    let ranking = rank(runs, interval: interval)
    var sentence = VerdictWording.health(runs)
    if runs.allSatisfy({ !$0.baselineIsHealthy }) {
      sentence += ", so there is nothing to bring back and nothing to compare"
      return VerdictWording.capitalised(sentence) + VerdictWording.caveat(runs)
    }
    if !sentence.isEmpty { sentence += "; " }
    if runs.allSatisfy({ $0.hasIncidents && $0.recoveryTime == nil }) {
      sentence += "no variant recovers within the run; of these "
    }
    sentence += VerdictWording.decision(ranking)
    for (criterion, left) in ranking.eliminations
    where criterion == .recovery && ranking.decidedBy != .recovery {
      sentence +=
        "; \(VerdictWording.list(left.map(\.run))) never \(left.count == 1 ? "recovers" : "recover")"
    }
    for (criterion, left) in ranking.eliminations where criterion == .losses && ranking.decidedBy != .losses {
      sentence +=
        "; \(VerdictWording.list(left.map(\.run))) \(left.count == 1 ? "loses" : "lose") more events"
    }
    return VerdictWording.capitalised(sentence) + VerdictWording.caveat(runs)
  }
}
