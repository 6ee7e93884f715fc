import FleetExperiments

/// What the score is in each draw, by the value of each unknown: the recommended Settings' and those of whatever is better where
/// these are not the best.
struct DrawsPlot {
  private let result: TuneResult
  private let robust: Robustness
  private let theme: Theme
  private let unknowns: [Robustness.Unknown]

  /// The unknowns that tell most.
  private static let most = 3
  private static let left = 60.0
  private static let gap = 50.0
  private static let top = 40.0
  private static let plotHeight = 260.0
  private static let height = top + plotHeight + 84

  /// nil where no unknown has a value to draw.
  init?(_ result: TuneResult, theme: Theme) {
    guard let robust = result.robustness else { return nil }
    unknowns = Array(robust.unknowns.prefix(Self.most))
    if unknowns.isEmpty { return nil }
    (self.result, self.robust, self.theme) = (result, robust, theme)
  }

  private var rival: Standing? { robust.rival.map { robust.others[$0] } }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    let count = Double(unknowns.count)
    let width = min(520, (ParetoPlot.width - Self.left - Self.gap * (count - 1) - 10) / count)
    let scores = robust.winner.scoreBySeed + (rival?.scoreBySeed ?? []) + [0]
    let (low, high) = (scores.min() ?? 0, scores.max() ?? 0)
    let margin = max((high - low) * 0.08, 0.02)
    for (panel, unknown) in unknowns.enumerated() {
      draw(
        unknown, scores: low - margin...high + margin, x: Self.left + Double(panel) * (width + Self.gap),
        width: width,
        on: &canvas)
    }
    drawLegend(on: &canvas)
    return canvas.svg(
      width: ParetoPlot.width, height: Self.height,
      label:
        "Score in each draw by \(unknowns.map(\.path).joined(separator: ", ")), relative to today's Settings")
  }

  private func draw(
    _ unknown: Robustness.Unknown, scores: ClosedRange<Double>, x left: Double, width: Double,
    on canvas: inout SVGCanvas
  ) {
    let bottom = Self.top + Self.plotHeight
    let values = unknown.values.map(\.value)
    let (low, high) = (values.min() ?? 0, values.max() ?? 1)
    func px(_ value: Double) -> Double { left + ((value - low) / (high - low) * 0.96 + 0.02) * width }
    func py(_ score: Double) -> Double { bottom - ParetoPlot.share(score, scores) * Self.plotHeight }
    if left == Self.left {
      canvas.text("↑ score", x: left - 44, y: Self.top - 16, size: 12.5, ink: .text, isBold: true)
    }
    for tick in ParetoPlot.ticks(scores, apart: 24 / Self.plotHeight) {
      canvas.line(left, py(tick.value), left + width, py(tick.value), ink: .grid)
      canvas.text(tick.label, x: left - 6, y: py(tick.value) + 4, size: 10.5, anchor: .end)
    }
    let ends = (unknown.values.min { $0.value < $1.value }, unknown.values.max { $0.value < $1.value })
    let range = ends.0.flatMap { low in
      ends.1.flatMap { try? QuantityRange(path: unknown.path, range: "\(low.text())..\($0.text())") }
    }
    for tick in range?.ticks ?? [] {
      canvas.line(px(tick.value), Self.top, px(tick.value), bottom, ink: .grid)
      canvas.text(tick.text(), x: px(tick.value), y: bottom + 16, size: 10.5, anchor: .middle)
    }
    canvas.line(left, py(0), left + width, py(0), ink: .twin, dash: "4 3")
    canvas.text(
      unknown.path + " →", x: left + width, y: bottom + 34, size: 12.5, anchor: .end, ink: .text, isBold: true
    )
    if unknown.decides {
      let x = px(unknown.threshold.value)
      canvas.line(x, Self.top, x, bottom, ink: .text, dash: "6 4")
    }
    for draw in values.indices {
      if let rival {
        canvas.path(
          ParetoPlot.circle(px(values[draw]), py(rival.scoreBySeed[draw]), 3), fill: .series(0),
          fillOpacity: 0.6)
      }
      canvas.path(
        ParetoPlot.circle(px(values[draw]), py(robust.winner.scoreBySeed[draw]), 3.4), fill: .series(1),
        stroke: .surface, width: 0.7)
    }
    for draw in values.indices {
      let (x, y) = (px(values[draw]), py(robust.winner.scoreBySeed[draw]))
      canvas.hover(x: x - 5, y: y - 5, width: 10, height: 10, tooltip: tooltip(draw))
    }
  }

  private func tooltip(_ draw: Int) -> String {
    let lines = robust.draws[draw].overrides.map { "\($0.path): \(TuneVerdict.readable($0.value))" }
    let scores = [robust.winner] + (rival.map { [$0] } ?? [])
    return
      (["draw \(draw + 1)"] + lines
      + zip(names, scores).map {
        "\($0): \(TuneVerdict.decimal(TuneVerdict.ratio($1.scoreBySeed[draw]))) of today's"
      })
      .joined(separator: "\n")
  }

  private var names: [String] {
    [result.isToday ? "today" : "recommended"]
      + (rival.map { [TuneVerdict(result).difference(of: $0, from: robust.winner)] } ?? [])
  }

  private func drawLegend(on canvas: inout SVGCanvas) {
    let y = Self.top + Self.plotHeight + 66
    var x = Self.left
    for (index, name) in names.enumerated() {
      canvas.path(ParetoPlot.circle(x, y - 4, 3.4), fill: .series(1 - index))
      canvas.text(name, x: x + 14, y: y, size: 12, ink: .text)
      x += 46 + Double(name.count) * 6.6
    }
  }
}
