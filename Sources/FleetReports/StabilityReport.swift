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

  /// Where the fleet recovers and where it does not.
  package func answer(facts: String) -> Answer {
    let verdict = StabilityVerdict(map)
    var answer = Answer(verdict: verdict.sentence, facts: facts)
    let width = verdict.rows.map(\.value.count).max() ?? 0
    let lines = verdict.rows.map { row in
      "  \(String(repeating: " ", count: width - row.value.count))\(row.value)  \(row.outcome)\n"
    }
    let full = (map.grid.columns + 1) * (map.grid.rows + 1)
    answer.terminal = [
      .text("\(map.x.path), \(map.y.path)\n" + lines.joined()),
      .verdict,
      .text(
        "\(FigureText.count(map.grid.points.count, "point")) instead of the "
          + "\(FigureText.grouped(Int64(full))) of a full grid.\n"),
    ]
    answer.page = [
      .figure(
        HeatMap(map, theme: .variables, own: own).svg(), title: "Where the cliff is",
        caption: "Blue: recovery time. Grey: undecided, darker where more of the runs failed. "
          + "Dashed: where \(StabilityVerdict.percent(map.risk.risk)) of the runs failed, "
          + "between points. Cells are small where neighbouring points differ. Hover a cell for its values."),
      .table(
        TextTable(
          header: [map.x.path, map.y.path], rows: verdict.rows.map { [$0.value, $0.outcome] }),
        title: "Column by column"),
      .terms([
        (
          "Recovers",
          "The backlog came back to within 10 % of the twin's, the same run without incidents, before the run ended; in more than "
            + "\(StabilityVerdict.percent(1 - map.risk.risk)) of the seeds, with 95 % confidence (Wilson's interval; of a point whose "
            + "neighbours all did the same in every run, of all of their runs together)."
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
      ]),
    ]
    answer.data = [OutputFile(OutputFile.stability, table)]
    answer.pictures = [OutputFile(OutputFile.stabilityPicture, text: picture)]
    answer.listing = [
      OutputFile.report, OutputFile.stability, OutputFile.stabilityPicture, OutputFile.manifest,
    ]
    answer.offer = "the table, the map and a report"
    return answer
  }
}
