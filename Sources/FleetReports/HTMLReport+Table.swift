import FleetExperiments
import FleetMetrics

extension HTMLReport {
  private struct Column {
    var title: String
    var text: (RunSummary) -> String
    /// Smaller is better; nil where a column is not ranked on, or the run has no value.
    var rank: ((RunSummary) -> Double?)?
    /// Whether the value is one to worry about.
    var isBad: (RunSummary) -> Bool = { _ in false }
  }

  private static var columns: [Column] {
    [
      Column(
        title: "recovered in", text: \.recoveryText,
        rank: { $0.recoveryTime.map(Double.init) },
        isBad: \.neverRecovers),
      Column(
        title: "drained in", text: { $0.hasIncidents ? duration($0.drainedTime, otherwise: "never") : "–" }),
      Column(title: "events lost", text: { Humanised.count($0.lostEvents) }, isBad: { $0.lostEvents > 0 }),
      Column(title: "pending at the end", text: { Humanised.count($0.pendingEvents) }),
      Column(title: "p50 delivery", text: { duration($0.timeToDeliveryP50) }),
      Column(
        title: "p99 delivery", text: { duration($0.timeToDeliveryP99) },
        rank: { $0.timeToDeliveryP99.map(Double.init) }),
      Column(title: "attempts / device", text: \.attemptsPerDeviceText, rank: \.attemptsPerDevice),
      Column(title: "amplification", text: { ratio($0.amplification) }),
      Column(title: "peak load", text: { ratio($0.peakOfferedRatio) }),
      Column(title: "herd factor", text: { ratio($0.herdFactor) }),
      Column(title: "idle while backlogged", text: { seconds($0.idleWhileBackloggedSeconds) }),
    ]
  }

  private static func seconds(_ seconds: Double?) -> String {
    seconds.map { Humanised.duration(Int64(exactly: ($0 * 1e6).rounded()) ?? .max) } ?? "–"
  }

  private static func duration(_ microseconds: Int64?, otherwise: String = "–") -> String {
    microseconds.map(Humanised.duration) ?? otherwise
  }

  private static func ratio(_ value: Double?) -> String { value.map(Humanised.ratio) ?? "–" }

  /// The aligned table; the best value of a ranked column is marked where the strategies differ.
  ///
  /// Only strategies that recover, and of those only the ones that lose fewest events, can be best at
  /// anything: in the order of the verdict, losing events must never look like recovering fast.
  static func summaryTable(_ results: [VariantResult]) -> String {
    let summaries = results.map(\.namedSummary)
    let recovering = summaries.filter { !$0.neverRecovers }
    let fewestLost = recovering.map(\.lostEvents).min()
    func isEligible(_ summary: RunSummary) -> Bool {
      !summary.neverRecovers && summary.lostEvents == fewestLost
    }
    let best = columns.map { column -> Double? in
      guard let rank = column.rank, Set(summaries.map(rank)).count > 1 else { return nil }
      return summaries.filter(isEligible).compactMap(rank).min()
    }
    var html =
      "<section>\n<h2>Results</h2>\n<div class=\"chart\">\n<table>\n<thead><tr><th scope=\"col\">strategy</th>"
    for column in columns { html += "<th scope=\"col\">\(Markup.escape(column.title))</th>" }
    html += "</tr></thead>\n<tbody>\n"
    for (i, summary) in summaries.enumerated() {
      html +=
        "<tr><th scope=\"row\"><span class=\"swatch\" style=\"background:var(--s\(i % Theme.seriesCount))\">"
      html += "</span>\(Markup.escape(summary.run))</th>"
      for (column, best) in zip(columns, best) {
        let text = Markup.escape(column.text(summary))
        let isBest = best != nil && isEligible(summary) && column.rank?(summary) == best
        let mark = isBest ? " class=\"best\"" : column.isBad(summary) ? " class=\"bad\"" : ""
        html += "<td\(mark)>\(text)</td>"
      }
      html += "</tr>\n"
    }
    html += "</tbody>\n</table>\n</div>\n"
    if best.contains(where: { $0 != nil }) {
      html += """
        <p class="facts">✓ best of its column, among the strategies that recover and lose the fewest events. \
        Peak load and herd factor are shown, never ranked on.</p>

        """
    }
    return html + "</section>\n"
  }
}
