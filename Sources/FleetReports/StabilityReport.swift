import FleetExperiments
import FleetMetrics

/// The files of a stability map: page, picture and table.
package struct StabilityReport {
  private let map: StabilityMap
  private let own: (x: Quantity, y: Quantity)?

  /// - Parameter own: the scenario's own values of both parameters, to be marked on the map.
  package init(_ map: StabilityMap, own: (x: Quantity, y: Quantity)? = nil) {
    self.map = map
    self.own = own
  }

  /// A picture that stands alone: white background, fixed colours, no script.
  package var picture: String { HeatMap(map, theme: .fixed, own: own).svg() }

  /// `stability.csv`.
  package var table: [UInt8] { StabilityCSV.bytes(of: rows) }

  package var rows: [StabilityRow] {
    map.grid.points.compactMap { point in
      guard let value = map.grid.values[point] else { return nil }
      let (x, y) = (map.xQuantity(point.x), map.yQuantity(point.y))
      var row = StabilityRow(x: x.text(), y: y.text(), kind: value.kind.words)
      (row.xValue, row.yValue) = (x.baseValue, y.baseValue)
      row.seeds = Int64(value.seeds)
      row.healthySeeds = Int64(value.healthySeeds)
      row.recoveredSeeds = Int64(value.recoveredSeeds)
      (row.low, row.high, row.runs) = (value.chance.low, value.chance.high, Int64(value.chance.count))
      row.meanRecovery = value.meanRecovery
      row.longestRecovery = value.longestRecovery
      row.lostEvents = value.lostEvents
      row.peakOfferedRatio = value.peakOfferedRatio
      row.timeToDeliveryP99 = value.timeToDeliveryP99
      return row
    }
  }

  /// `report.html`: verdict, map, where the cliff is by column.
  package func page(
    title: String, question: String?, facts: String, command: String, version: String
  ) -> String {
    let verdict = StabilityVerdict(map)
    var sections = HTMLPage.figure(
      "Where the cliff is",
      "Blue: recovery time. Grey: undecided, darker where more of the runs failed. "
        + "Dashed: where \(StabilityVerdict.percent(map.risk.risk)) of the runs failed, "
        + "between points. Cells are small where neighbouring points differ. Hover a cell for its values.",
      HeatMap(map, theme: .variables, own: own).svg())
    sections += HTMLPage.table(
      "Column by column", header: [map.x.path, map.y.path],
      rows: verdict.rows.map { [$0.value, $0.outcome] })
    sections += HTMLPage.terms([
      (
        "Recovers",
        "The backlog came back to within 10 % of the twin's, the same run without incidents, before the run ended; in more than "
          + "\(StabilityVerdict.percent(1 - map.risk.risk)) of the seeds, with 95 % confidence (Wilson's interval; of a point whose neighbours "
          + "all did the same in every run, of all of their runs together)."
      ),
      (
        "Never recovers",
        "It did not within the run, in all but less than \(StabilityVerdict.percent(map.risk.risk)) of the seeds, with the same "
          + "confidence. A longer run could tell a slow recovery from none."
      ),
      ("Undecided", "Neither of the two can be said with the seeds that were spent."),
      (
        "Overloaded",
        "The twin itself falls behind or loses more than 1 % of its events, so there is nothing to come back to."
      ),
    ])
    return HTMLPage(
      title: title, question: question, verdict: verdict.sentence, facts: facts, sections: sections,
      command: command, version: version
    ).text
  }
}
