import FleetMetrics

/// Small multiples: one strip per strategy under one another, all on the same two axes.
struct StripChart {
  struct Strip {
    var name: String
    /// Which strategy's colour.
    var index: Int
    var lines: [PlotLine]
    /// A step line to compare with: capacity.
    var reference: PlotLine?
    var incidents: [IncidentSpan]
    /// What the reader should take away, to the right of the strip.
    var notes: [String] = []
    /// A point in time worth a flag, microseconds.
    var flag: (time: Int64, label: String)?
    /// Length of the run, microseconds.
    var duration: Int64
  }
  var strips: [Strip]
  var scale: VerticalScale
  var ticks: [Scale.Tick]
  var label: String
  /// A unit for the hover texts.
  var format: (Double) -> String
  /// Of the vertical axis, above its first.
  var unit = ""
  var theme: Theme
  var stripHeight = 78.0
  /// Hover areas per strip; 0 for a picture that is not interactive.
  var hovers = 36

  static let width = 1_160.0
  static let left = 190.0
  static let right = 196.0
  static let columns = 600
  private static let gap = 16.0
  private static let header = 22.0

  var height: Double { Self.header + Double(strips.count) * (stripHeight + Self.gap) + 12 }

  /// Where the axis ends, if a series goes beyond it.
  var clippedLimit: String? {
    guard case .linear(let limit) = scale else { return nil }
    let isCut = strips.contains { $0.lines.contains { scale.isClipped($0.envelope.maximum) } }
    return isCut ? Humanised.compact(limit) : nil
  }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    draw(on: &canvas, top: 0)
    return canvas.svg(width: Self.width, height: height, label: label)
  }

  func draw(on canvas: inout SVGCanvas, top: Double) {
    let duration = strips.map(\.duration).max() ?? 0
    let timeTicks = Scale.timeTicks(duration: duration)
    var plot = Plot(
      x: Self.left, y: top + Self.header, width: Self.width - Self.left - Self.right, height: stripHeight,
      times: 0...Double(max(duration, 1)), scale: scale)
    drawIncidentLabels(on: &canvas, in: plot)
    canvas.text(unit, x: plot.x - 6, y: plot.y - 8, size: 10, anchor: .end)
    for strip in strips {
      canvas.drawTimeGrid(timeTicks, in: plot)
      canvas.drawVerticalAxis(ticks, in: plot)
      canvas.shade(strip.incidents, in: plot)
      for line in strip.lines { canvas.draw(line, in: plot) }
      if let reference = strip.reference { drawSteps(reference, on: &canvas, in: plot) }
      if let line = strip.lines.last { canvas.markClipping(of: line, in: plot) }
      if let flag = strip.flag { drawFlag(flag.time, flag.label, on: &canvas, in: plot) }
      drawName(strip, on: &canvas, in: plot)
      for (i, note) in strip.notes.enumerated() {
        canvas.text(
          note, x: plot.x + plot.width + 12, y: plot.y + 13 + Double(i) * 16, size: i == 0 ? 12 : 11,
          ink: i == 0 ? .text : .muted, isBold: i == 0)
      }
      addHovers(strip, on: &canvas, in: plot)
      plot.y += stripHeight + Self.gap
    }
    plot.y -= stripHeight + Self.gap
    canvas.drawTimeLabels(timeTicks, in: plot)
  }

  private func drawName(_ strip: Strip, on canvas: inout SVGCanvas, in plot: Plot) {
    canvas.line(0, plot.y + 9, 16, plot.y + 9, ink: .series(strip.index), width: 4)
    // Two lines, broken after a separator where there is one.
    let limit = 16
    var first = strip.name
    var second = ""
    if first.count > limit {
      let head = strip.name.prefix(limit)
      let end = head.lastIndex { ",;:/=- ".contains($0) }.map(head.index(after:)) ?? head.endIndex
      first = String(strip.name[..<end])
      second = TextTable.shortened(String(strip.name[end...]), to: limit)
    }
    canvas.text(first, x: 22, y: plot.y + 13, size: 12, ink: .text, isBold: true)
    if !second.isEmpty { canvas.text(second, x: 22, y: plot.y + 28, size: 12, ink: .text, isBold: true) }
  }

  private func drawIncidentLabels(on canvas: inout SVGCanvas, in plot: Plot) {
    var seen: Set<IncidentSpan> = []
    var free = plot.x
    for incident in strips.flatMap(\.incidents).sorted(by: { $0.start < $1.start }) {
      guard seen.insert(incident).inserted else { continue }
      let width = Double(incident.label.count) * 5.8
      let middle = plot.px(time: Double(incident.start) / 2 + Double(incident.end) / 2)
      let start = min(max(middle - width / 2, plot.x), plot.x + plot.width - width)
      guard start >= free else { continue }
      free = start + width + 8
      canvas.text(incident.label, x: start, y: plot.y - 8, size: 10.5, ink: .incident)
    }
  }

  private func drawFlag(_ time: Int64, _ label: String, on canvas: inout SVGCanvas, in plot: Plot) {
    let x = plot.px(time: Double(time))
    canvas.line(x, plot.y, x, plot.bottom, ink: .text, width: 1.2, dash: "4 3")
    let isLeft = x > plot.x + plot.width - 120
    canvas.text(label, x: x + (isLeft ? -5 : 5), y: plot.y + 11, anchor: isLeft ? .end : .start, ink: .text)
  }

  private func drawSteps(_ line: PlotLine, on canvas: inout SVGCanvas, in plot: Plot) {
    var path = PathBuilder()
    var previous: Double?
    let width =
      1 / Double(max(line.envelope.columns.count, 1)) * (line.times.upperBound - line.times.lowerBound)
    for (c, column) in line.envelope.columns.enumerated() {
      guard let value = column?.mean else { continue }
      let start = plot.px(time: line.time(of: c) - width / 2)
      let y = plot.py(value)
      if let last = previous {
        // A cut interval's rounding is no step.
        if abs(last - y) >= 0.5 {
          path.line(start, last)
          path.line(start, y)
          previous = y
        }
      } else {
        path.move(start, y)
        previous = y
      }
    }
    guard let previous else { return }
    path.line(plot.px(time: line.times.upperBound), previous)
    canvas.path(path.data, stroke: line.ink, width: 1.3, dash: line.dash)
  }

  private func addHovers(_ strip: Strip, on canvas: inout SVGCanvas, in plot: Plot) {
    guard hovers > 0, let line = strip.lines.last else { return }
    let count = line.envelope.columns.count
    let areas = min(hovers, count)
    for area in 0..<areas {
      let columns = count * area / areas..<count * (area + 1) / areas
      let values = line.envelope.columns[columns].compactMap { $0 }
      guard let low = values.map(\.low).min(), let high = values.map(\.high).max() else { continue }
      let span = line.times.upperBound - line.times.lowerBound
      let from = line.times.lowerBound + span * Double(columns.lowerBound) / Double(count)
      let to = line.times.lowerBound + span * Double(columns.upperBound) / Double(count)
      let range: String
      if line.style == .band {
        let mean = values.reduce(0) { $0 + $1.mean } / Double(values.count)
        range = "mean \(format(mean)), 95 % band from \(format(low)) to \(format(high))"
      } else {
        range = format(low) == format(high) ? format(low) : "\(format(low)) … \(format(high))"
      }
      let x = plot.px(time: from)
      canvas.hover(
        x: x, y: plot.y, width: plot.px(time: to) - x, height: plot.height,
        tooltip: "\(strip.name), from \(Humanised.duration(Int64(from))): \(range)")
    }
  }
}
