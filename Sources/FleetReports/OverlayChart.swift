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
  /// Microseconds since the incident's end.
  var times: ClosedRange<Double>
  var limit: Double
  var theme: Theme
  var plotHeight = 230.0

  static let columns = 300
  private static let header = 26.0
  private static let left = 70.0
  private static let right = 290.0

  var height: Double { Self.header + max(plotHeight, Double(lines.count) * 18) + 40 }

  func svg(label: String) -> String {
    var canvas = SVGCanvas(theme: theme)
    draw(on: &canvas, top: 0)
    return canvas.svg(width: StripChart.width, height: height, label: label)
  }

  func draw(on canvas: inout SVGCanvas, top: Double) {
    let plot = Plot(
      x: Self.left, y: top + Self.header, width: StripChart.width - Self.left - Self.right,
      height: plotHeight,
      times: times, scale: .linear(limit: limit))
    let ticks = Scale.timeTicks(duration: Int64(times.upperBound), sign: "+")
    canvas.text(title, x: 0, y: top + 12, size: 12.5, ink: .text, isBold: true)
    canvas.drawTimeGrid(ticks, in: plot)
    canvas.drawVerticalAxis(Scale.ticks(upTo: limit, count: 4), in: plot)
    if times.lowerBound < 0 {
      let end = plot.px(time: 0)
      canvas.rect(
        x: plot.x, y: plot.y, width: end - plot.x, height: plot.height, fill: .incident, opacity: 0.14)
      canvas.line(end, plot.y, end, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
    }
    for line in lines { canvas.draw(line.line, in: plot) }
    for line in lines { canvas.markClipping(of: line.line, in: plot) }
    if let reference, reference <= limit {
      let y = plot.py(reference)
      canvas.line(plot.x, y, plot.x + plot.width, y, ink: .capacity, width: 1.3, dash: "6 4")
      canvas.text(referenceLabel, x: plot.x + plot.width + 4, y: y + 4, ink: .text)
    }
    canvas.drawTimeLabels(ticks, in: plot)
    canvas.text(
      "time since the end of the last incident", x: plot.x + plot.width / 2, y: plot.bottom + 31,
      size: 10.5, anchor: .middle)
    canvas.text(noteTitle, x: StripChart.width, y: plot.y - 4, size: 10.5, anchor: .end)
    for (i, line) in lines.enumerated() {
      let y = plot.y + 12 + Double(i) * 18
      let x = plot.x + plot.width + 16
      canvas.line(x, y, x + 30, y, ink: line.line.ink, width: 2.2, dash: line.line.dash)
      canvas.text(TextTable.shortened(line.name, to: 22), x: x + 38, y: y + 4, size: 12, ink: .text)
      canvas.text(line.note, x: StripChart.width, y: y + 4, anchor: .end)
    }
  }
}
