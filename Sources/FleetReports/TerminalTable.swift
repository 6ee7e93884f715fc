import FleetExperiments
import FleetMetrics

/// The short result table of `run` and `compare`: one row per strategy.
public enum TerminalTable {
  /// Aligned text, at most `width` columns wide if that can be; lines end in `\n`. The verdict's best have a tick.
  public static func render(_ results: [VariantResult], width: Int = 100) -> String {
    let leaders = Standings(results).ticked
    return render(results.map(\.namedSummary), leaders: leaders, width: width)
  }

  static func render(_ summaries: [RunSummary], leaders: [Int] = [], width: Int = 100) -> String {
    var table = table(summaries)
    for i in leaders { table.rows[i][0] = "✓ " + table.rows[i][0] }
    return table.terminal(width: width)
  }

  private static func table(_ summaries: [RunSummary]) -> TextTable {
    let haveIncidents = summaries.contains(where: \.hasIncidents)
    // Nearly always the herd is the peak.
    let hasHerd = summaries.contains { $0.herdFactor != $0.peakOfferedRatio }
    return TextTable(
      columns: [
        .init(title: "strategy", isNumber: false), .init(title: "recovered in"), .init(title: "undelivered"),
        .init(title: "affected p99"), .init(title: haveIncidents ? "extra attempts" : "attempts/device"),
      ] + (hasHerd ? [.init(title: "herd")] : []) + [.init(title: "peak")],
      rows: summaries.map { summary in
        [
          summary.run, summary.recoveryText, Humanised.count(summary.undeliveredEvents),
          summary.affectedDeliveryText,
          haveIncidents
            ? MetricText.plain(summary.attemptsAboveTwinPerDevice) : summary.attemptsPerDeviceText,
        ] + (hasHerd ? [summary.herdFactor.map(Humanised.ratio) ?? "–"] : [])
          + [summary.peakOfferedRatio.map(Humanised.ratio) ?? "–"]
      })
  }
}

extension VariantResult {
  /// The summary under the variant's own name.
  var namedSummary: RunSummary {
    var summary = summary
    summary.run = name
    return summary
  }

  /// The incidents that happen within the run.
  var incidents: [IncidentSpan] { record.incidents.filter { $0.start < record.series.duration } }

  /// These, and what operators do.
  var shaded: [IncidentSpan] { incidents + record.actions }

  /// End of the last incident, if the run goes on after it.
  var lastIncidentEnd: Int64? {
    incidents.map(\.end).max().flatMap { $0 < record.series.duration ? $0 : nil }
  }
}

extension IncidentSpan {
  /// `outage 503 from 20 min for 10 min`
  var text: String {
    end > start
      ? "\(label) from \(Humanised.duration(start)) for \(Humanised.duration(end - start))"
      : "\(label) at \(Humanised.duration(start))"
  }
}

extension RunSummary {
  /// `12 min 30 s`, `never`, or `no incident`.
  var recoveryText: String {
    hasIncidents ? recoveryTime.map(Humanised.duration) ?? "never" : "no incident"
  }

  /// `12 min 30 s`, `> 2 h`, or `–` without such events.
  var affectedDeliveryText: String {
    guard affectedEvents > 0 else { return "–" }
    return affectedDeliveryP99.map(Humanised.duration) ?? "> " + Humanised.duration(affectedHorizon)
  }

  var neverRecovers: Bool { hasIncidents && recoveryTime == nil }

  var attemptsPerDevice: Double? { devices > 0 ? Double(attempts) / Double(devices) : nil }

  var attemptsPerDeviceText: String {
    attemptsPerDevice.map { Humanised.decimal($0, decimals: $0 < 99.95 ? 1 : 0) } ?? "–"
  }
}
