/// All strategies in one plot, time counted from the end of the last incident.
struct OverlayChart {
  struct Line {
    var name: String
    /// In the plot's own time: microseconds since the incident's end.
    var line: PlotLine
    var note: String
  }
  var title: String
  /// What the lines' notes are.
  var noteTitle: String
  var lines: [Line]
  var reference: Double?
  var referenceLabel = ""
  /// Microseconds since the last incident's end.
  var times: ClosedRange<Double>
  /// On the same axis.
  var incidents: [ClosedRange<Double>] = []
  var limit: Double
  var theme: Theme
  var plotHeight = 230.0

  static let columns = 300
  private static let header = 26.0
  private static let left = 70.0
  private static let row = 18.0
  /// Room for the legend beside the plot.
  private static let right = 290.0
  /// With the legend below the plot, for narrow screens.
  private static let narrowWidth = 560.0

  /// What of the time axis is shown of runs of several variants: the incidents as far as they leave most of the picture to what
  /// comes after them, and all until the slowest has recovered.
  /// - Parameters:
  ///   - runs: the first incident's start, the last one's end and the run's, of each variant; nil where there is none.
  ///   - slowest: the longest recovery, if every run recovers.
  static func times(
    _ runs: [(start: Double, end: Double, duration: Double)?], slowest: Double?
  ) -> ClosedRange<Double>? {
    let known = runs.compactMap(\.self).filter { $0.end < $0.duration }
    guard known.count == runs.count, let longest = known.map({ $0.duration - $0.end }).max() else {
      return nil
    }
    let shown = min(longest, slowest.map { $0 * 1.25 + 120e6 } ?? longest)
    let before = known.map { $0.end - max($0.start, 0) }.max() ?? 0
    return -(min(before, shown * 0.6) + shown / 25)...max(shown, 1)
  }

  /// Both versions, of which a style sheet shows the one that fits.
  func html(label: String) -> String {
    "<div class=\"wide\">\n\(svg(label: label))</div>\n<div class=\"narrow\">\n\(svg(label: label, isNarrow: true))</div>\n"
  }

  /// Long names stand above their notes.
  private var isTall: Bool { lines.contains { $0.name.count > 20 } }
  private var legendHeight: Double { Double(lines.count) * Self.row * (isTall ? 1.8 : 1) }

  func height(isNarrow: Bool = false) -> Double {
    let legend = legendHeight
    return Self.header + 40 + (isNarrow ? plotHeight + legend + 16 : max(plotHeight, legend))
  }

  func svg(label: String, isNarrow: Bool = false) -> String {
    var canvas = SVGCanvas(theme: theme)
    draw(on: &canvas, top: 0, isNarrow: isNarrow)
    return canvas.svg(
      width: isNarrow ? Self.narrowWidth : StripChart.width, height: height(isNarrow: isNarrow), label: label)
  }

  func draw(on canvas: inout SVGCanvas, top: Double, isNarrow: Bool = false) {
    let width = isNarrow ? Self.narrowWidth : StripChart.width
    let plot = Plot(
      x: Self.left, y: top + Self.header, width: width - Self.left - (isNarrow ? 16 : Self.right),
      height: plotHeight, times: times, scale: .linear(limit: limit))
    let ticks = timeTicks(every: isNarrow ? 2 : 1)
    canvas.text(title, x: 0, y: top + 12, size: 12.5, ink: .text, isBold: true)
    canvas.drawTimeGrid(ticks, in: plot)
    canvas.drawVerticalAxis(Scale.ticks(upTo: limit, count: 4), in: plot)
    for incident in incidents where incident.upperBound > times.lowerBound {
      let (start, end) = (plot.px(time: incident.lowerBound), plot.px(time: incident.upperBound))
      canvas.rect(
        x: start, y: plot.y, width: end - start, height: plot.height, fill: .incident, opacity: 0.14)
      canvas.line(end, plot.y, end, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
    }
    for line in lines { canvas.draw(line.line, in: plot) }
    for line in lines { canvas.markClipping(of: line.line, in: plot) }
    if let reference, reference <= limit {
      let y = plot.py(reference)
      canvas.line(plot.x, y, plot.x + plot.width, y, ink: .capacity, width: 1.3, dash: "6 4")
      canvas.text(
        referenceLabel, x: plot.x + plot.width + (isNarrow ? -4 : 4), y: isNarrow ? y - 5 : y + 4,
        anchor: isNarrow ? .end : .start, ink: .text)
    }
    canvas.drawTimeLabels(ticks, in: plot)
    canvas.text(
      "time since the end of the last incident", x: plot.x + plot.width / 2, y: plot.bottom + 31,
      size: 10.5, anchor: .middle)
    let legend = (
      x: isNarrow ? plot.x : plot.x + plot.width + 16, y: isNarrow ? plot.bottom + 56 : plot.y + 12
    )
    canvas.text(noteTitle, x: width, y: legend.y - 16, size: 10.5, anchor: .end)
    for (i, line) in lines.enumerated() {
      let (x, y) = (legend.x, legend.y + Double(i) * legendHeight / Double(lines.count))
      canvas.line(x, y, x + 30, y, ink: line.line.ink, width: 2.2, dash: line.line.dash)
      canvas.text(
        TextTable.shortened(line.name, to: isTall ? 38 : 22), x: x + 38, y: y + 4, size: isTall ? 11 : 12,
        ink: .text)
      canvas.text(line.note, x: width, y: isTall ? y + 18 : y + 4, anchor: .end)
    }
  }

  /// From the incident's end in both directions.
  private func timeTicks(every: Int) -> [Scale.Tick] {
    let all = Scale.timeTicks(duration: Int64(times.upperBound - times.lowerBound))
    let ticks = all.enumerated().filter { $0.offset % every == 0 }.map(\.element)
    return ticks.dropFirst().reversed().map { Scale.Tick(value: -$0.value, label: "−" + $0.label) }
      + ticks.prefix(1) + ticks.dropFirst().map { Scale.Tick(value: $0.value, label: "+" + $0.label) }
  }
}
