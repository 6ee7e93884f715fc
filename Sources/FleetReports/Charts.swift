import FleetExperiments
import FleetMetrics
import FleetStatistics

/// Small multiples: one strip per strategy under one another, all on the same two axes.
struct StripChart {
  struct Strip {
    var name: String
    /// The strategy whose colour the strip has.
    var index: Int
    var lines: [PlotLine]
    /// A step line to compare with: capacity.
    var reference: PlotLine?
    var incidents: [IncidentSpan]
    /// Notes for the reader to take away, to the right of the strip.
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
  /// The unit of the vertical axis, above its first.
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
      if let reference = strip.reference { canvas.drawSteps(reference, in: plot) }
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

/// All strategies in one plot, time counted from the end of the last incident.
package struct OverlayChart {
  package struct Line {
    package var name: String
    /// In the plot's own time: microseconds since the incident's end.
    package var line: PlotLine
    var note: String
  }
  var title: String
  /// The title of the lines' notes.
  var noteTitle: String
  package var lines: [Line]
  var reference: Double?
  var referenceLabel = ""
  /// Microseconds since the last incident's end.
  package var times: ClosedRange<Double>
  package var incidents: [ClosedRange<Double>] = []
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

  /// Returns the part of the time axis that is shown of runs of several variants. It reaches to the time when the slowest
  /// has recovered. Incidents are shown as far as they leave most of the picture to the time behind them.
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
        x: start, y: plot.y, width: end - start, height: plot.height, fill: .incident,
        opacity: Theme.incidentOpacity)
      canvas.line(end, plot.y, end, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
    }
    for line in lines { canvas.draw(line.line, in: plot) }
    for line in lines { canvas.markClipping(of: line.line, in: plot) }
    if let reference, reference <= limit {
      let y = plot.py(reference)
      canvas.line(plot.x, y, plot.x + plot.width, y, ink: .capacity, width: 1.3, dash: "6 4")
      canvas.text(
        referenceLabel, x: plot.x + plot.width - 4, y: y - 5, anchor: .end, ink: .text)
    }
    canvas.drawTimeLabels(ticks, in: plot)
    canvas.text(
      "time since the end of the last incident", x: plot.x + plot.width / 2, y: plot.bottom + 31, size: 10.5,
      anchor: .middle)
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

/// Paired differences to the first variant as a share of its mean. Each variant and headline metric has a point and its
/// interval, beside a line at no difference.
struct DifferenceChart {
  private struct Mark {
    var variant: Int
    var interval: ClosedRange<Double>
    var mean: Double
    var pair: PairwiseRanking.Pair
  }
  private struct Panel {
    var metric: Metric
    var marks: [Mark]
  }

  private let names: [String]
  private let panels: [Panel]
  private let theme: Theme
  private static let left = 190.0
  private static let header = 26.0
  private static let row = 22.0
  private static let gap = 26.0

  /// nil where there is nothing to draw: one variant, or nothing that differs.
  init?(_ standings: Standings, theme: Theme) {
    let metrics = standings.metrics
    names = metrics.variants
    self.theme = theme
    panels = metrics.ranked.compactMap { index in
      let reference = metrics.sample(index, variant: 0).mean
      // A share of next to nothing says nothing, nor does a difference to a time that no run lived to see.
      func isSeen(_ variant: Int) -> Bool { metrics.share(index, variant: variant)?.successes != 0 }
      guard reference > 0, isSeen(0) else { return nil }
      let ranking = metrics.ranking(index)
      let marks = metrics.variants.indices.dropFirst().compactMap { variant -> Mark? in
        let pair = ranking.pair(0, variant)
        guard let interval = pair.interval, isSeen(variant), reference > standings.floor(index, 0, variant)
        else { return nil }
        return Mark(
          variant: variant, interval: interval.low / reference...interval.high / reference,
          mean: interval.mean / reference, pair: pair)
      }
      return marks.isEmpty ? nil : Panel(metric: metrics.metrics[index], marks: marks)
    }
    if panels.isEmpty { return nil }
  }

  private var rows: Int { panels.map(\.marks.count).max() ?? 0 }
  private var height: Double { Self.header + Double(rows) * Self.row + 34 }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    let width = (StripChart.width - Self.left) / Double(panels.count)
    for (i, name) in names.dropFirst().enumerated() {
      let y = Self.header + (Double(i) + 0.5) * Self.row
      canvas.line(0, y, 16, y, ink: .series(i + 1), width: 4)
      canvas.text(TextTable.shortened(name, to: 24), x: 22, y: y + 4, size: 12, ink: .text, isBold: true)
    }
    for (i, panel) in panels.enumerated() {
      draw(panel, x: Self.left + Double(i) * width, width: width - Self.gap, on: &canvas)
    }
    return canvas.svg(
      width: StripChart.width, height: height,
      label: "Differences to \(names.first ?? "") with their intervals, as shares of its mean")
  }

  private func draw(_ panel: Panel, x: Double, width: Double, on canvas: inout SVGCanvas) {
    let low = min(panel.marks.map(\.interval.lowerBound).min() ?? 0, 0)
    let high = max(panel.marks.map(\.interval.upperBound).max() ?? 0, 0)
    let span = max((high - low) * 1.1, 1e-6)
    let start = low - (span - (high - low)) / 2
    func px(_ value: Double) -> Double { x + min(max((value - start) / span, 0), 1) * width }
    let bottom = Self.header + Double(rows) * Self.row
    canvas.text(panel.metric.title, x: x, y: 13, size: 12.5, ink: .text, isBold: true)
    if panel.metric.direction != .neither {
      let isLower = panel.metric.direction == .lowerIsBetter
      canvas.text(isLower ? "← better" : "better →", x: x + width, y: 13, size: 10.5, anchor: .end)
    }
    canvas.rect(x: x, y: Self.header, width: width, height: bottom - Self.header, fill: .grid, opacity: 0.35)
    canvas.line(px(0), Self.header - 4, px(0), bottom + 4, ink: .text, width: 1.2)
    for (value, anchor) in Self.labels(low, high) {
      canvas.text(Self.percent(value), x: px(value), y: bottom + 17, size: 10.5, anchor: anchor)
    }
    for mark in panel.marks {
      let y = Self.header + (Double(mark.variant - 1) + 0.5) * Self.row
      let (from, to) = (px(mark.interval.lowerBound), px(mark.interval.upperBound))
      let ink = Ink.series(mark.variant)
      canvas.line(from, y, to, y, ink: ink, width: 2)
      for end in [from, to] { canvas.line(end, y - 5, end, y + 5, ink: ink, width: 2) }
      canvas.rect(x: px(mark.mean) - 3.5, y: y - 3.5, width: 7, height: 7, fill: ink)
      let text = ReplicationText.difference(panel.metric, mark.pair)
      canvas.hover(
        x: x, y: y - Self.row / 2, width: width, height: Self.row,
        tooltip: "\(names[mark.variant]), \(panel.metric.title): \(Self.percent(mark.mean)), \(text); "
          + (mark.pair.differs ? "can be told apart" : "can't be told apart"))
    }
  }

  /// Labels of an axis that can't collide: 0, and the ends where they are far enough from it.
  private static func labels(_ low: Double, _ high: Double) -> [(Double, SVGCanvas.Anchor)] {
    var labels: [(Double, SVGCanvas.Anchor)] = []
    let far = (high - low) * 0.3
    if low < -far { labels.append((low, .start)) }
    labels.append((0, low == 0 ? .start : high == 0 ? .end : .middle))
    if high > far { labels.append((high, .end)) }
    return labels
  }

  private static func percent(_ share: Double) -> String {
    let text = MetricText.plain(abs(share) * 100)
    return (share < 0 && text != "0" ? "−" : share > 0 && text != "0" ? "+" : "") + text + " %"
  }
}
