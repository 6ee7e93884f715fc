import FleetExperiments
import FleetMetrics

/// The files of a stability map: page, picture and table.
package struct StabilityReport {
  private let map: StabilityMap
  private let own: (x: Quantity, y: Quantity)?
  private let limit: Limit?

  /// A value of one of the parameters beyond which theory does not expect what it expects before it.
  package struct Limit: Sendable {
    package var path: String
    package var value: Quantity
    /// The meaning of the limit: `a full queue takes the clients' time-out, 10 s`.
    package var words: String
    package init(path: String, value: Quantity, words: String) {
      (self.path, self.value, self.words) = (path, value, words)
    }
  }

  /// - Parameters:
  ///   - own: the scenario's own values of both parameters, to be marked on the map.
  ///   - limit: what theory says, to be drawn on it.
  package init(_ map: StabilityMap, own: (x: Quantity, y: Quantity)? = nil, limit: Limit? = nil) {
    self.map = map
    self.own = own
    self.limit = limit
  }

  /// A picture that stands alone: for light and dark pages, no script.
  package var picture: String { HeatMap(map, theme: .fixed, own: own, limit: limit).svg() }

  /// Where the fleet recovers and where it does not.
  package func answer(facts: String) -> Answer {
    let verdict = StabilityVerdict(map)
    var answer = Answer(Story(verdict.sentence), facts: facts)
    let width = verdict.rows.map(\.value.count).max() ?? 0
    let lines = verdict.rows.map { row in
      "  \(String(repeating: " ", count: width - row.value.count))\(row.value)  \(row.outcome)\n"
    }
    let full = (map.grid.columns + 1) * (map.grid.rows + 1)
    answer.terminal = [
      .text("\(map.x.path), \(map.y.path)\n" + lines.joined()),
      .text(
        "\(FigureText.count(map.grid.points.count, "point")) instead of the \(FigureText.grouped(Int64(full))) of a full grid.\n"
      ),
    ]
    answer.page = [
      .figure(
        HeatMap(map, theme: .variables, own: own, limit: limit).svg(), title: "Where the cliff is",
        caption: "Dashed: where \(FigureText.percent(map.risk.risk)) of the runs failed, "
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
        EscapeReport.illTerm,
        (
          "Overloaded",
          "The twin itself falls behind or loses more than 1 % of its events, so there is nothing to come back to."
        ),
      ]),
    ]
    answer.data = [OutputFile(.stability, map.table.csv)]
    answer.pictures = [OutputFile(.stabilityPicture, text: picture)]
    return answer
  }
}

/// A stability map as a picture: recovery time by shade, the cliff between it and *rarely recovers*.
package struct HeatMap {
  private let map: StabilityMap
  private let theme: Theme
  /// The scenario's own values of both parameters, where they lie on the map.
  private let here: (x: Double, y: Double)?
  private let limit: StabilityReport.Limit?
  private let slowest: Double
  private let fastest: Double
  private let top: Double

  private static let width = Lettering.pictureWidth
  private static let left = 76.0
  private static let right = 24.0
  private static let plotWidth = width - left - right
  private static let plotHeight = 380.0

  /// - Parameter own: the scenario's own values of both parameters.
  init(
    _ map: StabilityMap, theme: Theme, own: (x: Quantity, y: Quantity)? = nil,
    limit: StabilityReport.Limit? = nil
  ) {
    self.map = map
    self.limit = limit
    here = own.flatMap { own in
      map.x.share(of: own.x).flatMap { x in map.y.share(of: own.y).map { (x: x, y: $0) } }
    }
    self.theme = theme
    let recoveries = map.grid.values.values.compactMap { $0.kind == .recovers ? $0.meanRecovery : nil }
    fastest = max(Double(recoveries.min() ?? 1), 1_000_000)
    slowest = max(Double(recoveries.max() ?? 1), fastest)
    top =
      46
      + (theme == .fixed ? 8 + Lettering.titleLine * Double(Lettering.titleLines(Self.title(map)).count) : 0)
  }

  private static func title(_ map: StabilityMap) -> String {
    StabilityVerdict(map).title(x: KeyWords.words(map.x.path), y: KeyWords.words(map.y.path))
  }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    if theme == .fixed { _ = canvas.drawTitle(Self.title(map)) }
    let height = draw(on: &canvas)
    let label = "Where the fleet recovers and where it rarely does, by \(map.x.path) and \(map.y.path)"
    return canvas.svg(
      width: Self.width, height: height, label: theme == .fixed ? Self.title(map) : label, description: label)
  }

  private func px(_ x: Int) -> Double {
    (Self.left + Double(x) / Double(map.grid.columns) * Self.plotWidth).rounded()
  }
  private func py(_ y: Int) -> Double {
    (top + (1 - Double(y) / Double(map.grid.rows)) * Self.plotHeight).rounded()
  }
  private var bottom: Double { top + Self.plotHeight }

  /// - Returns: the height of all.
  private func draw(on canvas: inout SVGCanvas) -> Double {
    drawCells(on: &canvas)
    drawPoints(on: &canvas)
    drawLimit(on: &canvas)
    drawContour(on: &canvas)
    drawHere(on: &canvas)
    drawAxes(on: &canvas)
    let height = drawLegend(on: &canvas)
    guard theme == .variables else { return height }
    for cell in map.grid.cells {
      let (x, y) = (px(cell.x), py(cell.y + cell.height))
      canvas.hover(
        x: x, y: y, width: px(cell.x + cell.width) - x, height: py(cell.y) - y, tooltip: tooltip(cell))
    }
    return height
  }

  /// A colour, and how much of it.
  private struct Shade: Hashable {
    var ink: Ink
    /// Percent.
    var opacity: Int
  }

  /// Cells of one shade are one path.
  private func drawCells(on canvas: inout SVGCanvas) {
    var order: [Shade] = []
    var data: [Shade: String] = [:]
    for cell in map.grid.cells {
      let shade = shade(cell)
      if data[shade] == nil { order.append(shade) }
      let (x, y) = (px(cell.x), py(cell.y + cell.height))
      let (width, height) = (px(cell.x + cell.width) - x, py(cell.y) - y)
      data[shade, default: ""] +=
        "M\(SVGCanvas.px(x)) \(SVGCanvas.px(y))h\(SVGCanvas.px(width))v\(SVGCanvas.px(height))h\(SVGCanvas.px(-width))z"
    }
    for shade in order {
      canvas.path(
        data[shade] ?? "", fill: shade.ink, fillOpacity: Double(shade.opacity) / 100, hasSharpEdges: true)
    }
  }

  private func shade(_ cell: StabilityMap.Grid.Cell) -> Shade {
    switch map.kind(of: cell) {
    case .recovers?:
      let recoveries = map.corners(of: cell).compactMap(\.meanRecovery)
      let mean = Double(recoveries.reduce(0, +)) / Double(max(recoveries.count, 1))
      return Shade(ink: .accent, opacity: opacity(mean))
    case .neverRecovers?: return Self.never
    case .overloaded?: return Self.overloaded
    case .undecided?, nil: return Self.undecided
    }
  }

  private static let never = Shade(ink: .never, opacity: 100)
  private static let overloaded = Shade(ink: .other, opacity: 100)
  private static let undecided = Shade(ink: .undecided, opacity: 100)
  /// Percent of the accent: of the fastest recovery and of the slowest.
  package static let recoveryOpacity = 18...100

  /// Slower is darker, in ratios; twelve steps.
  private func opacity(_ recovery: Double) -> Int {
    let (low, high) = (Double(Self.recoveryOpacity.lowerBound), Double(Self.recoveryOpacity.upperBound))
    guard slowest > fastest else { return Int(low) }
    let share = Scale.log2(max(recovery, fastest) / fastest) / Scale.log2(slowest / fastest)
    return Int(low + (high - low) * (min(max(share, 0), 1) * 12).rounded() / 12)
  }

  /// Where the share of runs that recovered passes 1 − risk, straight between the corners of each cell.
  private func drawContour(on canvas: inout SVGCanvas) {
    let level = 1 - map.risk.risk
    var line = ""
    var highest: (x: Double, y: Double)?
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
        for (x, y) in ends[pair...pair + 1] where y < highest?.y ?? .infinity { highest = (x, y) }
        let (a, b) = (ends[pair], ends[pair + 1])
        line += "M\(SVGCanvas.px(a.0)) \(SVGCanvas.px(a.1))L\(SVGCanvas.px(b.0)) \(SVGCanvas.px(b.1))"
      }
    }
    canvas.path(line, stroke: .surface, width: 4.5)
    canvas.path(line, stroke: .text, width: 2, dash: "6 3")
    guard let highest else { return }
    // Along a cliff that is level the scenario's own place may be: then below it.
    let words = "\(FigureText.percent(map.risk.risk)) of the runs fail"
    let isLeft =
      highest.x + 10 + Lettering.width(of: words, size: Lettering.label) > Self.left + Self.plotWidth
    canvas.text(
      words, x: highest.x + (isLeft ? -8 : 8), y: min(highest.y + 22, bottom - 8), size: Lettering.label,
      anchor: isLeft ? .end : .start, ink: .text, halo: true)
  }

  /// Where theory has its limit: a line across the map with its words.
  private func drawLimit(on canvas: inout SVGCanvas) {
    guard let limit else { return }
    let words = "limit by theory: " + limit.words
    if limit.path == map.y.path, let share = map.y.share(of: limit.value) {
      let y = top + (1 - share) * Self.plotHeight
      canvas.line(Self.left, y, Self.left + Self.plotWidth, y, ink: .text, width: 2)
      canvas.text(
        words, x: Self.left + Self.plotWidth - 8, y: y > top + 30 ? y - 12 : y + 24, size: Lettering.label,
        anchor: .end,
        ink: .text, halo: true)
    } else if limit.path == map.x.path, let share = map.x.share(of: limit.value) {
      let x = Self.left + share * Self.plotWidth
      canvas.line(x, top, x, bottom, ink: .text, width: 2)
      canvas.text(
        words, x: share > 0.5 ? x - 8 : x + 8, y: bottom - 12, size: Lettering.label,
        anchor: share > 0.5 ? .end : .start,
        ink: .text, halo: true)
    }
  }

  private func drawPoints(on canvas: inout SVGCanvas) {
    let dots = map.grid.points.map { "M\(SVGCanvas.px(px($0.x))) \(SVGCanvas.px(py($0.y)))h0" }
    canvas.path(dots.joined(), stroke: .muted, width: 1.6, hasRoundEnds: true)
  }

  /// The scenario as it is: a ring with its name.
  private func drawHere(on canvas: inout SVGCanvas) {
    guard let here else { return }
    let (x, y) = (Self.left + here.x * Self.plotWidth, top + (1 - here.y) * Self.plotHeight)
    canvas.path(ParetoPlot.circle(x, y, 7), stroke: .surface, width: 5)
    canvas.path(ParetoPlot.circle(x, y, 7), stroke: .text, width: 2)
    let isLeft = here.x > 0.8
    canvas.text(
      "you are here", x: isLeft ? x - 16 : x + 16, y: min(max(y + 5, top + 18), bottom - 8),
      size: Lettering.label,
      anchor: isLeft ? .end : .start, ink: .text, isBold: true, halo: true)
  }

  private func drawAxes(on canvas: inout SVGCanvas) {
    for tick in map.x.ticks {
      guard let share = map.x.share(of: tick) else { continue }
      let x = Self.left + share * Self.plotWidth
      canvas.line(x, bottom, x, bottom + 5, ink: .muted)
      canvas.text(tick.words, x: x, y: bottom + 21, size: Lettering.small, anchor: .middle)
    }
    for tick in map.y.ticks {
      guard let share = map.y.share(of: tick) else { continue }
      let y = top + (1 - share) * Self.plotHeight
      canvas.line(Self.left - 5, y, Self.left, y, ink: .muted)
      canvas.text(tick.words, x: Self.left - 9, y: y + 5, size: Lettering.small, anchor: .end)
    }
    let x = KeyWords.words(map.x.path) + " →"
    let y = "↑ " + KeyWords.words(map.y.path)
    let right = Self.left + Self.plotWidth
    let width = Self.width - 32
    canvas.text(x, x: right, y: bottom + 45, size: Lettering.label, anchor: .end, ink: .text, isBold: true)
    canvas.text(y, x: 16, y: top - 14, size: Lettering.label, ink: .text, isBold: true)
    for (axis, path, isX) in [(x, map.x.path, true), (y, map.y.path, false)] {
      let room = width - Lettering.width(of: axis, size: Lettering.label, isBold: true) - 16
      let key = Lettering.fitting(path, width: room, size: Lettering.small)
      canvas.text(
        key, x: isX ? 16 : Self.width - 16, y: isX ? bottom + 45 : top - 14, size: Lettering.small,
        anchor: isX ? .start : .end)
    }
  }

  /// Below the map, in as many rows as it takes.
  /// - Returns: the height of all.
  private func drawLegend(on canvas: inout SVGCanvas) -> Double {
    var (x, y) = (16.0, bottom + 80)
    func put(_ text: String, _ mark: (ink: Ink, opacity: Int)? = nil, isMuted: Bool = false) {
      let width = Lettering.width(of: text, size: Lettering.small) + (mark == nil ? 14 : 44)
      if x + width > Self.width - 8, x > 16 { (x, y) = (16, y + 26) }
      if let mark {
        canvas.rect(
          x: x, y: y - 12, width: 22, height: 15, fill: mark.ink, opacity: Double(mark.opacity) / 100)
      }
      canvas.text(
        text, x: x + (mark == nil ? 0 : 28), y: y, size: Lettering.small, ink: isMuted ? .muted : .text)
      x += width
    }
    func row() { if x > 16 { (x, y) = (16, y + 26) } }
    let present = Set(map.grid.values.values.map(\.kind))
    if present.contains(.recovers) {
      put("recovers in", isMuted: true)
      for share in slowest > fastest ? [0, 0.25, 0.5, 0.75, 1.0] : [0] {
        let recovery = fastest * Self.power(slowest / fastest, share)
        put(Humanised.duration(Int64(recovery)), (.accent, opacity(recovery)))
      }
      row()
    }
    func put(_ text: String, _ shade: Shade) { put(text, (shade.ink, shade.opacity)) }
    if present.contains(.neverRecovers) { put("rarely recovers within the run", Self.never) }
    if present.contains(.overloaded) { put("overloaded without any incident", Self.overloaded) }
    if present.count > 1 || present.contains(.undecided) {
      put("undecided, or the boundary", Self.undecided)
    }
    put("·  a point that was simulated", isMuted: true)
    return y + 16
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
    if let note = StabilityPoint.escapes(of: corners).note { lines.append(note) }
    if let peak = corners.compactMap(\.peakOfferedRatio).max() {
      lines.append("peak load: up to \(Humanised.ratio(peak))")
    }
    return lines.joined(separator: "\n")
  }
}
