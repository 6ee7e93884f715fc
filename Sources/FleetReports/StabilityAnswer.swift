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
        "\(FigureText.count(map.grid.points.count, "point")) instead of the \(FigureText.grouped(Int64(full))) of a full grid.\n"
      ),
    ]
    answer.page = [
      .figure(
        HeatMap(map, theme: .variables, own: own).svg(), title: "Where the cliff is",
        caption: "Blue: recovery time. Grey: undecided, darker where more of the runs failed. "
          + "Dashed: where \(FigureText.percent(map.risk.risk)) of the runs failed, "
          + "between points. Cells are small where neighbouring points differ. Hover a cell for its values."),
      .table(
        TextTable(
          header: [map.x.path, map.y.path], rows: verdict.rows.map { [$0.value, $0.outcome] }),
        title: "Column by column"),
      .terms([
        (
          "Recovers",
          "The backlog came back to within 10 % of the twin's, the same run without incidents, before the run ended; in more than "
            + "\(FigureText.percent(1 - map.risk.risk)) of the seeds, with 95 % confidence (Wilson's interval; of a point whose "
            + "neighbours all did the same in every run, of all of their runs together)."
        ),
        (
          "Rarely recovers",
          "It does within the run in less than \(FigureText.percent(map.risk.risk)) of the seeds, with the same confidence. A longer "
            + "run could tell a slow recovery from none."
        ),
        ("Undecided", "Neither of the two can be said with the seeds that were spent."),
        (
          "Overloaded",
          "The twin itself falls behind or loses more than 1 % of its events, so there is nothing to come back to."
        ),
      ]),
    ]
    answer.data = [OutputFile(OutputFile.stability, map.table.csv)]
    answer.pictures = [OutputFile(OutputFile.stabilityPicture, text: picture)]
    answer.listing = [
      OutputFile.report, OutputFile.stability, OutputFile.stabilityPicture, OutputFile.manifest,
    ]
    answer.offer = "the table, the map and a report"
    return answer
  }
}

/// A stability map as a picture: recovery time by shade, the cliff between it and *rarely recovers*.
struct HeatMap {
  private let map: StabilityMap
  private let theme: Theme
  /// The scenario's own values of both parameters, where they lie on the map.
  private let here: (x: Double, y: Double)?
  private let slowest: Double
  private let fastest: Double

  static let width = 1_160.0
  private static let left = 150.0
  private static let top = 34.0
  private static let plotWidth = 700.0
  private static let plotHeight = 480.0
  static let height = top + plotHeight + 64

  /// - Parameter own: the scenario's own values of both parameters.
  init(_ map: StabilityMap, theme: Theme, own: (x: Quantity, y: Quantity)? = nil) {
    self.map = map
    here = own.flatMap { own in
      map.x.share(of: own.x).flatMap { x in map.y.share(of: own.y).map { (x: x, y: $0) } }
    }
    self.theme = theme
    let recoveries = map.grid.values.values.compactMap { $0.kind == .recovers ? $0.meanRecovery : nil }
    fastest = max(Double(recoveries.min() ?? 1), 1_000_000)
    slowest = max(Double(recoveries.max() ?? 1), fastest)
  }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    draw(on: &canvas)
    return canvas.svg(
      width: Self.width, height: Self.height,
      label: "Where the fleet recovers and where it rarely does, by \(map.x.path) and \(map.y.path)")
  }

  private func px(_ x: Int) -> Double {
    Self.left + Double(x) / Double(map.grid.columns) * Self.plotWidth
  }
  private func py(_ y: Int) -> Double {
    Self.top + (1 - Double(y) / Double(map.grid.rows)) * Self.plotHeight
  }

  private func draw(on canvas: inout SVGCanvas) {
    for cell in map.grid.cells { draw(cell, on: &canvas) }
    drawContour(on: &canvas)
    drawPoints(on: &canvas)
    drawHere(on: &canvas)
    drawAxes(on: &canvas)
    drawLegend(on: &canvas)
    for cell in map.grid.cells {
      let (x, y) = (px(cell.x), py(cell.y + cell.height))
      canvas.hover(
        x: x, y: y, width: px(cell.x + cell.width) - x, height: py(cell.y) - y, tooltip: tooltip(cell))
    }
  }

  private func draw(_ cell: StabilityMap.Grid.Cell, on canvas: inout SVGCanvas) {
    let (x, y) = (px(cell.x), py(cell.y + cell.height))
    let (ink, opacity) = shade(cell)
    canvas.rect(
      x: x, y: y, width: px(cell.x + cell.width) - x, height: py(cell.y) - y, fill: ink, opacity: opacity)
  }

  private func shade(_ cell: StabilityMap.Grid.Cell) -> (Ink, Double) {
    let corners = map.corners(of: cell)
    switch map.kind(of: cell) {
    case .recovers?:
      let recoveries = corners.compactMap(\.meanRecovery)
      let mean = Double(recoveries.reduce(0, +)) / Double(max(recoveries.count, 1))
      return (.series(0), opacity(mean))
    case .neverRecovers?: return (.incident, 0.75)
    case .overloaded?: return (.muted, 0.45)
    case .undecided?, nil:
      let failed = corners.reduce(0.0) { $0 + 1 - Double($1.recoveredSeeds) / Double(max($1.seeds, 1)) }
      return (.text, Self.darkness(failed / Double(max(corners.count, 1))))
    }
  }

  private static func darkness(_ failed: Double) -> Double { 0.22 + 0.6 * failed }

  /// Slower is darker, in ratios.
  private func opacity(_ recovery: Double) -> Double {
    guard slowest > fastest else { return 0.25 }
    let share = Scale.log2(max(recovery, fastest) / fastest) / Scale.log2(slowest / fastest)
    return 0.08 + 0.72 * min(max(share, 0), 1)
  }

  /// Where the share of runs that recovered passes 1 − risk, straight between the corners of each cell.
  private func drawContour(on canvas: inout SVGCanvas) {
    let level = 1 - map.risk.risk
    for cell in map.grid.cells {
      let corners = map.corners(of: cell)
      guard corners.count == 4, !corners.contains(where: \.isOverloaded) else { continue }
      let shares = corners.map { Double($0.recoveredSeeds) / Double(max($0.seeds, 1)) }
      let (x0, x1) = (px(cell.x), px(cell.x + cell.width))
      let (y0, y1) = (py(cell.y), py(cell.y + cell.height))
      let places = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
      let ends = [(0, 1), (1, 3), (3, 2), (2, 0)].compactMap { a, b -> (Double, Double)? in
        guard (shares[a] > level) != (shares[b] > level) else { return nil }
        let part = (level - shares[a]) / (shares[b] - shares[a])
        return (
          places[a].0 + part * (places[b].0 - places[a].0), places[a].1 + part * (places[b].1 - places[a].1)
        )
      }
      for pair in stride(from: 0, to: ends.count - 1, by: 2) {
        let (a, b) = (ends[pair], ends[pair + 1])
        canvas.line(a.0, a.1, b.0, b.1, ink: .text, width: 3.5)
        canvas.line(a.0, a.1, b.0, b.1, ink: .surface, width: 2, dash: "5 3")
      }
    }
  }

  private func drawPoints(on canvas: inout SVGCanvas) {
    for point in map.grid.points {
      let (x, y) = (px(point.x), py(point.y))
      canvas.rect(x: x - 0.8, y: y - 0.8, width: 1.6, height: 1.6, fill: .text, opacity: 0.45)
    }
  }

  /// The scenario as it is: a ring with its name.
  private func drawHere(on canvas: inout SVGCanvas) {
    guard let here else { return }
    let (x, y) = (Self.left + here.x * Self.plotWidth, Self.top + (1 - here.y) * Self.plotHeight)
    let ring =
      "M\(SVGCanvas.px(x - 7)) \(SVGCanvas.px(y))a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z"
    canvas.path(ring, stroke: .surface, width: 5)
    canvas.path(ring, stroke: .text, width: 2)
    let isLeft = here.x > 0.8
    canvas.rect(x: isLeft ? x - 94 : x + 12, y: y - 9, width: 82, height: 18, fill: .surface, opacity: 0.85)
    canvas.text(
      "you are here", x: isLeft ? x - 16 : x + 16, y: y + 4, size: 12, anchor: isLeft ? .end : .start,
      ink: .text, isBold: true)
  }

  private func drawAxes(on canvas: inout SVGCanvas) {
    let bottom = Self.top + Self.plotHeight
    for tick in map.x.ticks {
      guard let share = map.x.share(of: tick) else { continue }
      let x = Self.left + share * Self.plotWidth
      canvas.line(x, bottom, x, bottom + 5, ink: .muted)
      canvas.text(tick.words, x: x, y: bottom + 19, size: 11, anchor: .middle)
    }
    for tick in map.y.ticks {
      guard let share = map.y.share(of: tick) else { continue }
      let y = Self.top + (1 - share) * Self.plotHeight
      canvas.line(Self.left - 5, y, Self.left, y, ink: .muted)
      canvas.text(tick.words, x: Self.left - 9, y: y + 4, size: 11, anchor: .end)
    }
    canvas.text(
      map.x.path + " →", x: Self.left + Self.plotWidth, y: bottom + 40, size: 12.5, anchor: .end, ink: .text,
      isBold: true)
    canvas.text("↑ " + map.y.path, x: 0, y: Self.top - 14, size: 12.5, ink: .text, isBold: true)
  }

  private func drawLegend(on canvas: inout SVGCanvas) {
    let x = Self.left + Self.plotWidth + 40
    var y = Self.top + 10
    func entry(_ ink: Ink, _ opacity: Double, _ text: String) {
      canvas.rect(x: x, y: y - 11, width: 22, height: 14, fill: ink, opacity: opacity)
      canvas.text(text, x: x + 32, y: y, size: 12, ink: .text)
      y += 22
    }
    let present = Set(map.grid.values.values.map(\.kind))
    if present.contains(.recovers) {
      canvas.text("recovers, after the last incident’s end, in", x: x, y: y, size: 12)
      y += 22
      for share in slowest > fastest ? [0, 0.25, 0.5, 0.75, 1.0] : [0] {
        let recovery = fastest * Self.power(slowest / fastest, share)
        entry(.series(0), opacity(recovery), Humanised.duration(Int64(recovery)))
      }
      y += 8
    }
    if present.contains(.neverRecovers) { entry(.incident, 0.75, "rarely recovers within the run") }
    if present.contains(.overloaded) { entry(.muted, 0.45, "overloaded without any incident") }
    if present.count > 1 || present.contains(.undecided) {
      canvas.text("undecided, or the boundary; of the runs failed", x: x, y: y, size: 12)
      y += 22
      for failed in [0, 0.5, 1] { entry(.text, Self.darkness(failed), FigureText.percent(failed)) }
      y += 8
    }
    if map.grid.values.values.contains(where: { $0.recoveredSeeds > 0 }),
      map.grid.values.values.contains(where: { $0.recoveredSeeds < $0.seeds })
    {
      canvas.line(x, y - 4, x + 22, y - 4, ink: .text, width: 3.5)
      canvas.line(x, y - 4, x + 22, y - 4, ink: .surface, width: 2, dash: "5 3")
      canvas.text(
        "\(FigureText.percent(map.risk.risk)) of the runs fail", x: x + 32, y: y, size: 12, ink: .text)
      y += 22
    }
    y += 8
    canvas.rect(x: x + 10, y: y - 6, width: 2, height: 2, fill: .text, opacity: 0.45)
    canvas.text("a point that was simulated", x: x + 32, y: y, size: 12)
  }

  /// `base` to the power of a multiple of a quarter, by square roots: the same on every platform.
  private static func power(_ base: Double, _ quarters: Double) -> Double {
    let root = base.squareRoot().squareRoot()
    return (0..<Int((quarters * 4).rounded())).reduce(1) { result, _ in result * root }
  }

  private func tooltip(_ cell: StabilityMap.Grid.Cell) -> String {
    let corners = map.corners(of: cell)
    func range(_ low: Quantity, _ high: Quantity) -> String {
      "\(low.words) to \(high.words)"
    }
    var lines = [
      "\(map.x.path): \(range(map.xQuantity(cell.x), map.xQuantity(cell.x + cell.width)))",
      "\(map.y.path): \(range(map.yQuantity(cell.y), map.yQuantity(cell.y + cell.height)))",
    ]
    for kind in StabilityPoint.Kind.allCases {
      let count = corners.count { $0.kind == kind }
      if count > 0 {
        lines.append(
          "\(count == corners.count ? "all" : "\(count) of \(corners.count)") corners: \(kind.words)")
      }
    }
    let seeds = corners.map(\.seeds).reduce(0, +)
    if seeds > 0 {
      lines.append(
        "recovered: \(corners.map(\.recoveredSeeds).reduce(0, +)) of \(FigureText.count(seeds, "run"))")
    }
    let recoveries = corners.compactMap(\.meanRecovery)
    if let low = recoveries.min(), let high = recoveries.max() {
      let text =
        low == high ? Humanised.duration(low) : "\(Humanised.duration(low)) to \(Humanised.duration(high))"
      lines.append("recovery time: \(text)")
    }
    if let lost = corners.map(\.lostEvents).max(), lost > 0 {
      lines.append("events lost: up to \(Humanised.count(Int64(lost.rounded())))")
    }
    if let peak = corners.compactMap(\.peakOfferedRatio).max() {
      lines.append("peak load: up to \(Humanised.ratio(peak))")
    }
    return lines.joined(separator: "\n")
  }
}
