import FleetExperiments
import FleetMetrics

extension HTMLReport {
  private struct Column {
    var title: String
    var text: (RunSummary) -> String
    /// Smaller is better; nil where a column is not ranked on. `.infinity` for never.
    var rank: ((RunSummary) -> Double?)?
  }

  private static let columns: [Column] = [
    Column(title: "recovered in", text: \.recoveryText) {
      $0.hasIncidents ? $0.recoveryTime.map(Double.init) ?? .infinity : nil
    },
    Column(
      title: "drained in", text: { $0.hasIncidents ? duration($0.drainedTime, otherwise: "never") : "–" }),
    Column(title: "events lost", text: { Humanised.count($0.lostEvents) }, rank: { Double($0.lostEvents) }),
    Column(title: "pending at the end", text: { Humanised.count($0.pendingEvents) }),
    Column(title: "p50 delivery", text: { duration($0.timeToDeliveryP50) }),
    Column(title: "p99 delivery", text: { duration($0.timeToDeliveryP99) }) {
      $0.timeToDeliveryP99.map(Double.init)
    },
    Column(title: "attempts / device", text: \.attemptsPerDeviceText, rank: \.attemptsPerDevice),
    Column(title: "ampli­fication", text: { ratio($0.amplification) }),
    Column(title: "peak load", text: { ratio($0.peakOfferedRatio) }),
    Column(title: "herd factor", text: { ratio($0.herdFactor) }),
    Column(title: "idle while backlogged") {
      $0.idleWhileBackloggedSeconds.map { Humanised.duration(Int64(exactly: ($0 * 1e6).rounded()) ?? .max) }
        ?? "–"
    },
  ]

  private static func duration(_ microseconds: Int64?, otherwise: String = "–") -> String {
    microseconds.map(Humanised.duration) ?? otherwise
  }

  private static func ratio(_ value: Double?) -> String { value.map(Humanised.ratio) ?? "–" }

  /// The aligned table; the best value of a ranked column is marked where the strategies differ.
  static func summaryTable(_ results: [VariantResult]) -> String {
    let summaries = results.map(\.namedSummary)
    let best = columns.map { column -> Double? in
      guard let rank = column.rank else { return nil }
      let values = summaries.compactMap(rank)
      return Set(values).count > 1 ? values.min() : nil
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
        let isBest = best != nil && column.rank?(summary) == best
        html += isBest ? "<td class=\"best\">\(text)</td>" : "<td>\(text)</td>"
      }
      html += "</tr>\n"
    }
    html += "</tbody>\n</table>\n</div>\n"
    if best.contains(where: { $0 != nil }) {
      html +=
        "<p class=\"facts\">✓ best of its column. Peak and herd factor are shown, never ranked on.</p>\n"
    }
    return html + "</section>\n"
  }
}
