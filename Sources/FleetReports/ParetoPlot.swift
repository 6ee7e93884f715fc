import FleetExperiments

/// Candidates of a search by what they cost in the objectives, relative to today's Settings.
struct ParetoPlot {
  private let result: TuneResult
  private let theme: Theme
  private let points: [Point]
  private let titles: [String]
  private let limits: [ClosedRange<Double>]

  private struct Point {
    /// ln of the ratio to today's, one for each objective.
    var coordinates: [Double]
    var kind: Kind
    var tooltip: String
  }
  enum Kind: Int {
    case broken, beaten, front, today, finalist, recommended

    /// Of the best finalist.
    static func winner(_ result: TuneResult) -> Kind {
      let stays = result.isToday && result.unmetConstraints == nil
      return result.isRecommended || stays ? .recommended : .finalist
    }
  }

  static let width = 1_160.0
  private static let left = 60.0
  private static let gap = 70.0
  private static let top = 40.0
  private static let plotHeight = 300.0
  static let height = top + plotHeight + 84

  init(_ result: TuneResult, theme: Theme) {
    self.result = result
    self.theme = theme
    let verdict = TuneVerdict(result)
    var titles = result.study.objectives.map(verdict.title)
    if titles.count == 1 { titles.append("score") }
    self.titles = titles
    let front = Set(result.front)
    var points = result.standings.enumerated().map { index, standing in
      let kind: Kind =
        standing.candidate == result.today.candidate
        ? .today : standing.violations > 0 ? .broken : front.contains(index) ? .front : .beaten
      return Self.point(standing, kind, result, titles)
    }
    points.append(Self.point(result.winner, .winner(result), result, titles))
    self.points = points.sorted { $0.kind.rawValue < $1.kind.rawValue }
    limits = titles.indices.map { axis in
      let values = points.filter { $0.kind != .broken }.map { $0.coordinates[axis] } + [0]
      let (low, high) = (max(values.min() ?? 0, -2.5), min(values.max() ?? 0, 2.5))
      let margin = max((high - low) * 0.08, 0.03)
      return low - margin...high + margin
    }
  }

  private static func point(_ standing: Standing, _ kind: Kind, _ result: TuneResult, _ titles: [String])
    -> Point
  {
    var coordinates = result.coordinates(standing)
    if coordinates.count == 1 { coordinates.append(standing.score) }
    let verdict = TuneVerdict(result)
    var lines = [
      kind.words
        + (standing.violations > 0
          ? ": \(Humanised.decimal(standing.violations * 100, decimals: 1)) % of its runs" : "")
    ]
    if kind != .today {
      lines += result.study.space.parameters.indices.map {
        "\(verdict.path($0)): \(result.value($0, of: standing.candidate))"
      }
      lines += zip(titles, coordinates).map { "\($0): \(TuneVerdict.change($1)) against today" }
      lines.append(
        "score: \(TuneVerdict.decimal(standing.ratio)), \(standing.seeds) \(FigureText.noun("seed", standing.seeds))"
          + (standing.scale == .whole ? "" : " of \(standing.scale.text) of the fleet")
      )
    }
    return Point(coordinates: coordinates, kind: kind, tooltip: lines.joined(separator: "\n"))
  }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    let panels = titles.count - 1
    let width = (Self.width - Self.left - Self.gap * Double(panels - 1) - 10) / Double(panels)
    for panel in 0..<panels {
      draw(panel + 1, x: Self.left + Double(panel) * (width + Self.gap), width: width, on: &canvas)
    }
    drawLegend(on: &canvas)
    return canvas.svg(
      width: Self.width, height: Self.height,
      label: "Candidates by \(titles.joined(separator: ", ")), relative to today's Settings")
  }

  private func draw(_ axis: Int, x left: Double, width: Double, on canvas: inout SVGCanvas) {
    let bottom = Self.top + Self.plotHeight
    func px(_ value: Double) -> Double {
      left + Self.share(value, limits[0]) * width
    }
    func py(_ value: Double) -> Double { bottom - Self.share(value, limits[axis]) * Self.plotHeight }

    canvas.text("↑ " + titles[axis], x: left - 44, y: Self.top - 16, size: 12.5, ink: .text, isBold: true)
    for tick in Self.ticks(limits[0], apart: 48 / width) {
      canvas.line(px(tick.value), Self.top, px(tick.value), bottom, ink: .grid)
      canvas.text(tick.label, x: px(tick.value), y: bottom + 16, size: 10.5, anchor: .middle)
    }
    for tick in Self.ticks(limits[axis], apart: 24 / Self.plotHeight) {
      canvas.line(left, py(tick.value), left + width, py(tick.value), ink: .grid)
      canvas.text(tick.label, x: left - 6, y: py(tick.value) + 4, size: 10.5, anchor: .end)
    }
    canvas.line(px(0), Self.top, px(0), bottom, ink: .twin, dash: "4 3")
    canvas.line(left, py(0), left + width, py(0), ink: .twin, dash: "4 3")
    canvas.text(
      titles[0] + " →", x: left + width, y: bottom + 34, size: 12.5, anchor: .end, ink: .text, isBold: true)
    for point in points {
      let (x, y) = (px(point.coordinates[0]), py(point.coordinates[axis]))
      mark(point.kind, x: x, y: y, on: &canvas)
    }
    for point in points {
      let (x, y) = (px(point.coordinates[0]), py(point.coordinates[axis]))
      canvas.hover(x: x - 5, y: y - 5, width: 10, height: 10, tooltip: point.tooltip)
    }
  }

  private func mark(_ kind: Kind, x: Double, y: Double, on canvas: inout SVGCanvas) {
    func circle(_ r: Double) -> String { Self.circle(x, y, r) }
    switch kind {
    case .broken: canvas.path(circle(2), fill: .incident, fillOpacity: 0.35)
    case .beaten: canvas.path(circle(2.4), fill: .muted, fillOpacity: 0.5)
    case .front: canvas.path(circle(3.4), fill: .series(0), stroke: .surface, width: 0.7)
    case .today: canvas.path(circle(5), fill: .surface, stroke: .text, width: 2)
    case .finalist, .recommended:
      let (a, b) = (7.0, 2.6)
      let offsets = [(0, -a), (b, -b), (a, 0), (b, b), (0, a), (-b, b), (-a, 0), (-b, -b)]
      let data = offsets.enumerated().map { index, offset in
        "\(index == 0 ? "M" : "L")\(SVGCanvas.px(x + offset.0)) \(SVGCanvas.px(y + offset.1))"
      }
      canvas.path(
        data.joined() + "z", fill: kind == .finalist ? .surface : .series(1),
        stroke: kind == .finalist ? .series(1) : .surface, width: 1)
    }
  }

  static func circle(_ x: Double, _ y: Double, _ r: Double) -> String {
    let (d, r) = (SVGCanvas.px(2 * r), SVGCanvas.px(r))
    return "M\(SVGCanvas.px(x)) \(SVGCanvas.px(y))m-\(r) 0a\(r) \(r) 0 1 0 \(d) 0a\(r) \(r) 0 1 0 -\(d) 0"
  }

  private func drawLegend(on canvas: inout SVGCanvas) {
    let y = Self.top + Self.plotHeight + 66
    var x = Self.left
    let shown: [(Kind, String)] = [
      (.recommended, "recommended"), (.finalist, Kind.finalist.words), (.today, "today"),
      (.front, "on the Pareto front"),
      (.beaten, "beaten by another candidate"), (.broken, "does not always recover, or breaks a constraint"),
    ]
    for (kind, text) in shown where points.contains(where: { $0.kind == kind }) {
      mark(kind, x: x, y: y - 4, on: &canvas)
      canvas.text(text, x: x + 14, y: y, size: 12, ink: .text)
      x += 46 + Double(text.count) * 6.6
    }
  }

  static func share(_ value: Double, _ limits: ClosedRange<Double>) -> Double {
    min(max((value - limits.lowerBound) / (limits.upperBound - limits.lowerBound), 0), 1)
  }

  /// Ratios that people know, no two closer than a share `apart` of the axis.
  static func ticks(_ limits: ClosedRange<Double>, apart: Double) -> [(value: Double, label: String)] {
    let steps: [[(Double, String)]] = [
      [
        (0.1, "÷ 10"), (0.25, "÷ 4"), (0.5, "÷ 2"), (0.7, "-30 %"), (1, "today"), (1.4, "+40 %"), (2, "× 2"),
        (4, "× 4"), (10, "× 10"),
      ],
      [
        (0.5, "-50 %"), (0.6, "-40 %"), (0.7, "-30 %"), (0.8, "-20 %"), (0.9, "-10 %"), (1, "today"),
        (1.1, "+10 %"),
        (1.2, "+20 %"), (1.35, "+35 %"), (1.5, "+50 %"),
      ],
      [
        (0.9, "-10 %"), (0.95, "-5 %"), (0.98, "-2 %"), (0.99, "-1 %"), (1, "today"), (1.01, "+1 %"),
        (1.02, "+2 %"),
        (1.05, "+5 %"), (1.1, "+10 %"),
      ],
    ]
    let width = limits.upperBound - limits.lowerBound
    let chosen = width > 1.4 ? steps[0] : width > 0.3 ? steps[1] : steps[2]
    let inside = chosen.map { (value: Scale.log2($0.0) * 0.693_147_180_559_945_3, label: $0.1) }
      .filter { limits.contains($0.value) }
    var kept: [(value: Double, label: String)] = []
    for tick in inside {
      if let last = kept.last, tick.value - last.value < width * apart {
        if tick.value == 0 { kept[kept.count - 1] = tick }
        continue
      }
      kept.append(tick)
    }
    return kept
  }
}

extension ParetoPlot.Kind {
  var words: String {
    switch self {
    case .broken: "does not always recover, or breaks a constraint"
    case .beaten: "beaten by another candidate"
    case .front: "on the Pareto front"
    case .today: "today's Settings"
    case .finalist: "best finalist, not recommended"
    case .recommended: "recommended"
    }
  }

  /// As `pareto.csv` has it.
  var name: String {
    switch self {
    case .broken: "broken"
    case .beaten: "beaten"
    case .front: "front"
    case .today: "today"
    case .finalist: "finalist"
    case .recommended: "recommended"
    }
  }
}
