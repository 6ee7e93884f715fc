import FleetMetrics
import FleetStatistics

/// Says which variant is best, by what, and what cannot be told: of one seed and of many by the same rule (`MetricRule`).
///
/// The criteria follow in their order.
/// - A twin that holds its load.
/// - The number of runs that fail (they never recover, or they lose more than 1 %).
/// - Events lost or blocked.
/// - Recovery time.
/// - Events late at the end of the run.
/// - The 99th percentile of the affected events' time to delivery.
/// - Attempts.
///
/// The herd factor never counts: the strategy that keeps the server idle longest can have the lowest peak.
public enum Verdict {
  /// The verdict on one run of each variant; on a single one, how it fared.
  /// - `choices`: what differs between the variants; without any, sentences call them by their names.
  public static func sentence(_ results: [VariantResult], choices: [VariantChoice] = []) -> String {
    if results.count > 1, results.allSatisfy({ $0.record == results[0].record }) {
      return
        "All variants gave the same result to the last byte: in this scenario nothing ever used what differs between them."
    }
    return sentence(Standings(results).telling(choices), seeds: results.map { [$0.summary.seed] })
  }

  /// The same from the summaries alone; `interval` is the width of a row of the time series, microseconds.
  public static func sentence(_ runs: [RunSummary], interval: Int64) -> String {
    sentence(
      Standings(runs.map(\.run), rows: runs.map { [$0] }, interval: interval), seeds: runs.map { [$0.seed] })
  }

  private static func sentence(_ standings: Standings, seeds: [[UInt64]]) -> String {
    guard !standings.variants.isEmpty else { return "Nothing was run." }
    return VerdictWording(standings, seeds: seeds).lines.joined(separator: "\n")
  }

  /// The verdict on replications: what was found, what is open, and from what.
  /// - `choices`: what differs between the variants; without any, sentences call them by their names.
  public static func text(_ comparison: ReplicatedComparison, choices: [VariantChoice] = []) -> String {
    guard comparison.replications > 1, !comparison.variants.isEmpty else { return "Nothing was run." }
    let standings = Standings(comparison)
    let wording = VerdictWording(
      standings.telling(choices),
      seeds: comparison.variants.indices.map { comparison.rows(of: $0).map(\.seed) }
    )
    let effort = effort(comparison, standings).map { [$0] } ?? []
    return (wording.lines + effort + [basis(comparison)]).joined(separator: "\n")
  }

  /// The same finding in one line, for the title of a picture; nil without runs.
  package static func title(_ standings: Standings) -> String? {
    guard !standings.variants.isEmpty, standings.seeds > 0 else { return nil }
    return VerdictWording(standings, seeds: []).title
  }

  /// How many seeds it took, or what is open after so many and how many more would tell; nil where their number was given.
  package static func effort(_ comparison: ReplicatedComparison, _ standings: Standings) -> String? {
    guard let until = comparison.plan.until, let decision = comparison.decision, comparison.isFinished else {
      return nil
    }
    var names: [String] = []
    for open in standings.open {
      let name = standings.name(of: open.criterion)
      if !names.contains(name) { names.append(name) }
    }
    return until.text(
      decision, seeds: comparison.replications, attempts: comparison.attempts,
      known: comparison.variants.count == 1 ? "known" : "decided or shown as good", open: names,
      scale: comparison.rows.commonScale)
  }

  /// How the runs of one variant of a comparison fared, in one line.
  package static func text(of variant: Int, in comparison: ReplicatedComparison) -> String {
    let rows = comparison.rows(of: variant)
    guard !rows.isEmpty else { return "Nothing was run." }
    let standings = Standings(
      [comparison.variants[variant]], rows: [rows],
      interval: comparison.curves[variant].facts?.interval ?? 0)
    return VerdictWording(standings, seeds: [rows.map(\.seed)]).lines.joined(separator: " ")
  }

  /// Returns the first statement of a text, up to a colon, semicolon or stop: the finding, or the advice. Other few words go on
  /// to the next one.
  package static func headline(of text: String) -> Substring {
    var end = text.startIndex
    repeat {
      let ends = [": ", "; ", ". ", "\n"].compactMap { text[end...].firstRange(of: $0)?.lowerBound }
      guard let next = ends.min() else { return text[...] }
      // Text in parentheses is not cut in two.
      let found = text[..<next]
      let isInside = found.count { $0 == "(" } > found.count { $0 == ")" }
      let isAdvice = found.hasPrefix(VerdictWording.advice)
      if text[next] == "\n" || !isInside && (isAdvice || found.count >= 20) { return found }
      end = text.index(after: next)
    } while true
  }

  private static func basis(_ comparison: ReplicatedComparison) -> String {
    "From \(comparison.replications) replications (\(comparison.seedsText), the same for every variant); "
      + "± is half a 95 % interval of the expected value, (a to b) an uneven one."
  }
}
