import FleetExperiments
import FleetMetrics

extension HTMLReport {
  private struct Column {
    var title: String
    var text: (RunSummary) -> String
    /// Whether the value is one to worry about.
    var isBad: (RunSummary) -> Bool = { _ in false }
  }

  private static var columns: [Column] {
    [
      Column(title: "recovered in", text: \.recoveryText, isBad: \.neverRecovers),
      Column(
        title: "undelivered", text: { Humanised.count($0.undeliveredEvents) },
        isBad: { $0.undeliveredEvents > 0 }),
      Column(title: "of these lost", text: { Humanised.count($0.lostEvents) }),
      Column(title: "affected p99", text: \.affectedDeliveryText),
      Column(title: "extra attempts / device", text: { MetricText.plain($0.attemptsAboveTwinPerDevice) }),
      Column(title: "attempts / device", text: \.attemptsPerDeviceText),
      Column(
        title: "drained in", text: { $0.hasIncidents ? duration($0.drainedTime, otherwise: "never") : "–" }),
      Column(title: "p99 delivery", text: { duration($0.timeToDeliveryP99) }),
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

  /// The aligned table; the verdict's best are marked.
  static func summaryTable(_ results: [VariantResult]) -> String {
    let summaries = results.map(\.namedSummary)
    let leaders = results.count > 1 ? Standings(results).leaders : []
    var html =
      "<section>\n<h2>Results</h2>\n<div class=\"chart\">\n<table>\n<thead><tr><th scope=\"col\">strategy</th>"
    for column in columns { html += "<th scope=\"col\">\(Markup.escape(column.title))</th>" }
    html += "</tr></thead>\n<tbody>\n"
    for (i, summary) in summaries.enumerated() {
      let mark = leaders.contains(i) ? " class=\"best\"" : ""
      html +=
        "<tr><th scope=\"row\"\(mark)><span class=\"swatch\" style=\"background:var(--s\(i % Theme.seriesCount))\">"
      html += "</span>\(Markup.escape(summary.run))</th>"
      for column in columns {
        let mark = column.isBad(summary) ? " class=\"bad\"" : ""
        html += "<td\(mark)>\(Markup.escape(column.text(summary)))</td>"
      }
      html += "</tr>\n"
    }
    html += "</tbody>\n</table>\n</div>\n"
    if !leaders.isEmpty {
      html += """
        <p class="facts">✓ the verdict's best. It looks at recovery, undelivered events, recovery time, the affected events' \
        p99 and extra attempts, in this order; peak load and herd factor are shown, never ranked on.</p>

        """
    }
    return html + "</section>\n"
  }
}
