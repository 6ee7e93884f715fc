import FleetExperiments
import FleetMetrics

extension HTMLReport {
  private struct Column {
    var title: String
    var text: (RunSummary) -> String
    /// Whether the value is one to worry about.
    var isBad: (RunSummary) -> Bool = { _ in false }
    /// Whether it says anything of these runs.
    var isShown: ([RunSummary]) -> Bool = { _ in true }
  }

  private static var columns: [Column] {
    [
      Column(title: "recovered in", text: \.recoveryText, isBad: \.neverRecovers),
      Column(
        title: "undelivered",
        text: { "\(Humanised.count($0.undeliveredEvents))\n" + undeliveredShare($0) },
        isBad: { $0.undeliveredEvents > 0 }),
      Column(
        title: "of these", text: { causes($0).map { "\($1) \($0)" }.joined(separator: "\n") },
        isShown: { $0.contains { !causes($0).isEmpty } }),
      Column(
        title: "devices that lost events",
        text: { MetricText.plain($0.devicesThatLostEventsShare * 100) + " %" },
        isShown: { $0.contains { $0.devicesThatLostEventsShare > 0 } }),
      Column(title: "affected p99", text: \.affectedDeliveryText),
      Column(title: "extra attempts / device", text: { MetricText.plain($0.attemptsAboveTwinPerDevice) }),
      Column(title: "attempts / device", text: \.attemptsPerDeviceText),
      Column(
        title: "drained in", text: { $0.hasIncidents ? duration($0.drainedTime, otherwise: "never") : "–" }),
      Column(title: "p99 delivery", text: { duration($0.timeToDeliveryP99) }),
      Column(title: "amplification", text: { ratio($0.amplification) }),
      Column(title: "peak load", text: { ratio($0.peakOfferedRatio) }),
      Column(
        title: "herd factor", text: { ratio($0.herdFactor) },
        isShown: { $0.contains { $0.herdFactor != $0.peakOfferedRatio } }),
      Column(title: "idle while backlogged", text: { seconds($0.idleWhileBackloggedSeconds) }),
    ]
  }

  private static func undeliveredShare(_ summary: RunSummary) -> String {
    summary.undeliveredEvents == 0
      ? "" : Humanised.share(summary.undeliveredEvents, of: summary[.createdEvents])
  }

  /// What became of the undelivered events: dropped for a cause, blocked or late; the most first.
  private static func causes(_ summary: RunSummary) -> [(name: String, count: String)] {
    let columns = SummaryCSV.columns.filter {
      $0.name.hasPrefix("dropped_by_")
        || ["refused_by_gate_events", "blocked_events", "late_events"].contains($0.name)
    }
    return columns.map { ($0.name, $0.value(summary).number ?? 0) }.filter { $0.1 > 0 }
      .sorted { $0.1 > $1.1 }
      .map { name, count in
        let words = name.replacing("dropped_by_", with: "").replacing("_events", with: "").replacing(
          "_", with: " ")
        return (words, Humanised.count(Int64(count)))
      }
  }

  private static func seconds(_ seconds: Double?) -> String {
    seconds.map { Humanised.duration(Int64(exactly: ($0 * 1e6).rounded()) ?? .max) } ?? "–"
  }

  private static func duration(_ microseconds: Int64?, otherwise: String = "–") -> String {
    microseconds.map(Humanised.duration) ?? otherwise
  }

  private static func ratio(_ value: Double?) -> String { value.map(Humanised.ratio) ?? "–" }

  /// The aligned table, the best first; the verdict's best are marked.
  static func summaryTable(_ results: [VariantResult], _ standings: Standings) -> String {
    let summaries = results.map(\.namedSummary)
    let leaders = standings.ticked
    let columns = columns.filter { $0.isShown(summaries) }
    let table = PageTable(
      columns: [.init(title: "strategy")] + columns.map { .init(title: $0.title) },
      rows: standings.order.map { i in
        PageTable.Row(
          name: summaries[i].run, variant: i, isBest: leaders.contains(i),
          cells: columns.map { column in
            PageTable.Cell(text: column.text(summaries[i]), mark: column.isBad(summaries[i]) ? "bad" : nil)
          })
      })
    return HTMLPage.table(
      "Results", table,
      note: leaders.isEmpty
        ? nil
        : """
        ✓ the verdict's best. It looks at recovery, undelivered events, recovery time, the affected events' p99 and extra \
        attempts, in this order; peak load and herd factor are shown, never ranked on.
        """)
  }
}
