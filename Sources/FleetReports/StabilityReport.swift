import FleetExperiments
import FleetMetrics

/// The files of a stability map: page, picture and table.
package struct StabilityReport {
  private let map: StabilityMap
  package init(_ map: StabilityMap) { self.map = map }

  /// A picture that stands alone: white background, fixed colours, no script.
  package var picture: String { HeatMap(map, theme: .fixed).svg() }

  /// `stability.csv`.
  package var table: [UInt8] {
    StabilityCSV.bytes(
      of: map.grid.points.compactMap { point in
        guard let value = map.grid.values[point] else { return nil }
        var row = StabilityRow(
          x: map.xQuantity(point.x).text(), y: map.yQuantity(point.y).text(), outcome: value.kind.words)
        row.seeds = Int64(value.seeds)
        row.healthySeeds = Int64(value.healthySeeds)
        row.recoveredSeeds = Int64(value.recoveredSeeds)
        row.meanRecovery = value.meanRecovery
        row.longestRecovery = value.longestRecovery
        row.lostEvents = value.lostEvents
        row.peakOfferedRatio = value.peakOfferedRatio
        row.timeToDeliveryP99 = value.timeToDeliveryP99
        return row
      })
  }

  /// `report.html`: verdict, map, where the cliff is by column.
  package func page(
    title: String, question: String?, facts: String, command: String, version: String
  ) -> String {
    let verdict = StabilityVerdict(map)
    var sections = HTMLPage.figure(
      "Where the cliff is",
      "Shade: recovery time. Cells are small where neighbouring points differ; the boundary is known to "
        + "1/\(map.grid.columns) of the width and 1/\(map.grid.rows) of the height. Hover a cell for its values.",
      HeatMap(map, theme: .variables).svg())
    sections += HTMLPage.table(
      "Column by column", header: [map.x.path, map.y.path],
      rows: verdict.rows.map { [$0.value, $0.outcome] })
    sections += HTMLPage.terms([
      (
        "Recovers",
        "In more than half of the seeds the backlog came back to within 10 % of the twin's, the same run without "
          + "incidents, before the run ended."
      ),
      ("Never recovers", "It did not, within the run. A longer run could tell a slow recovery from none."),
      ("Overloaded", "The twin itself does not hold its load, so there is nothing to come back to."),
    ])
    return HTMLPage(
      title: title, question: question, verdict: verdict.sentence, facts: facts, sections: sections,
      command: command, version: version
    ).text
  }
}
