import FleetMetrics

/// The vertical axis of a plot.
enum VerticalScale {
  case linear(limit: Double)
  case logarithmic(low: Double, high: Double)

  /// 0 at the bottom … 1 at the top; values outside are moved to the edge.
  func position(of value: Double) -> Double {
    let share: Double =
      switch self {
      case .linear(let limit): value / limit
      case .logarithmic(let low, let high):
        value <= low ? 0 : Scale.log2(value / low) / Scale.log2(high / low)
      }
    return share.isFinite ? min(max(share, 0), 1) : 0
  }

  func isClipped(_ value: Double) -> Bool {
    if case .linear(let limit) = self { value > limit * 1.000_001 } else { false }
  }
}

/// A rectangle on the canvas with its two axes.
struct Plot {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
  /// Microseconds at the left and the right edge.
  var times: ClosedRange<Double>
  var scale: VerticalScale

  func px(time: Double) -> Double {
    let length = max(times.upperBound - times.lowerBound, 1)
    return x + min(max((time - times.lowerBound) / length, 0), 1) * width
  }

  func py(_ value: Double) -> Double { y + height - scale.position(of: value) * height }

  var bottom: Double { y + height }
}

/// Path data in relative coordinates of a tenth of a pixel: half the bytes of absolute ones, and no drift.
struct PathBuilder {
  private(set) var data = ""
  private var x: Int32 = 0
  private var y: Int32 = 0

  mutating func move(_ x: Double, _ y: Double) {
    self.x = Self.tenths(x)
    self.y = Self.tenths(y)
    data += "M" + Self.text(self.x) + " " + Self.text(self.y)
    data += "l"
    isFirst = true
  }

  private var isFirst = true

  mutating func line(_ x: Double, _ y: Double) {
    let newX = Self.tenths(x)
    let newY = Self.tenths(y)
    let dx = Self.text(newX - self.x)
    let dy = Self.text(newY - self.y)
    if !isFirst && !dx.hasPrefix("-") { data += " " }
    data += dx + (dy.hasPrefix("-") ? "" : " ") + dy
    self.x = newX
    self.y = newY
    isFirst = false
  }

  mutating func close() { data += "z" }

  private static func tenths(_ value: Double) -> Int32 { Int32(exactly: (value * 10).rounded()) ?? 0 }

  private static func text(_ tenths: Int32) -> String {
    let magnitude = tenths.magnitude
    let sign = tenths < 0 ? "-" : ""
    if magnitude % 10 == 0 { return "\(sign)\(magnitude / 10)" }
    return magnitude < 10 ? "\(sign).\(magnitude)" : "\(sign)\(magnitude / 10).\(magnitude % 10)"
  }
}

/// A series in a plot.
struct PlotLine {
  enum Style {
    /// A line with the area below it lightly filled.
    case area
    case line
    /// Thin, in the background.
    case thin
    /// One value a column, its mean: for charts with many lines.
    case mean
    /// The mean in a band from low to high: an interval about it.
    case band
  }
  var envelope: Envelope
  /// Where the first row begins and the last one ends, microseconds.
  var times: ClosedRange<Double>
  var ink: Ink
  var style = Style.line
  var dash: String?

  func time(of column: Int) -> Double {
    times.lowerBound + envelope.position(of: column) * (times.upperBound - times.lowerBound)
  }
}

extension SVGCanvas {
  /// Draws a series, cut to the plot; a gap where it has no value.
  mutating func draw(_ line: PlotLine, in plot: Plot) {
    for run in Self.runs(of: line.envelope.columns) {
      let points = run.map { c in
        let column = line.envelope.columns[c]!
        let isMean = line.style == .mean || line.style == .band
        return (
          x: plot.px(time: line.time(of: c)), high: plot.py(isMean ? column.mean : column.high),
          low: plot.py(isMean ? column.mean : column.low)
        )
      }
      if line.style == .band { drawBand(line, run, in: plot) }
      if line.style == .area {
        var area = PathBuilder()
        area.move(points[0].x, plot.bottom)
        for p in Self.withoutFlats(points.map { ($0.x, $0.high) }) { area.line(p.0, p.1) }
        area.line(points[points.count - 1].x, plot.bottom)
        area.close()
        path(area.data, fill: line.ink, fillOpacity: 0.16)
      }
      var path = PathBuilder()
      path.move(points[0].x, points[0].high)
      for p in Self.withoutFlats(points.map { ($0.x, $0.high) }).dropFirst() { path.line(p.0, p.1) }
      let isBand = points.contains { $0.low - $0.high >= 0.3 }
      if isBand {
        for p in Self.withoutFlats(points.reversed().map { ($0.x, $0.low) }) { path.line(p.0, p.1) }
        path.close()
      } else if points.count == 1 {
        path.line(points[0].x + 1, points[0].high)
      }
      let width = line.style == .thin ? 0.8 : isBand ? 0.7 : 1.6
      self.path(path.data, fill: isBand ? line.ink : nil, stroke: line.ink, width: width, dash: line.dash)
    }
  }

  private mutating func drawBand(_ line: PlotLine, _ run: Range<Int>, in plot: Plot) {
    let points = run.map { c in
      let column = line.envelope.columns[c]!
      return (x: plot.px(time: line.time(of: c)), high: plot.py(column.high), low: plot.py(column.low))
    }
    guard points.contains(where: { $0.low - $0.high >= 0.3 }) else { return }
    var band = PathBuilder()
    band.move(points[0].x, points[0].high)
    for p in Self.withoutFlats(points.map { ($0.x, $0.high) }).dropFirst() { band.line(p.0, p.1) }
    for p in Self.withoutFlats(points.reversed().map { ($0.x, $0.low) }) { band.line(p.0, p.1) }
    band.close()
    path(band.data, fill: line.ink, fillOpacity: 0.3)
  }

  /// Triangles at the top edge where a series is cut off there.
  mutating func markClipping(of line: PlotLine, in plot: Plot) {
    var last = -Double.infinity
    for (c, column) in line.envelope.columns.enumerated() {
      guard let column, plot.scale.isClipped(line.style == .mean ? column.mean : column.high) else {
        continue
      }
      let x = plot.px(time: line.time(of: c))
      guard x - last >= 9 else { continue }
      last = x
      let top = plot.y - 1
      path(
        "M\(Self.px(x - 4)) \(Self.px(top))L\(Self.px(x)) \(Self.px(top - 6))L\(Self.px(x + 4)) \(Self.px(top))z",
        fill: line.ink)
    }
  }

  /// Shades the incidents over the height of the plot.
  mutating func shade(_ incidents: [IncidentSpan], in plot: Plot) {
    for incident in incidents {
      let from = plot.px(time: Double(incident.start))
      let to = max(plot.px(time: Double(incident.end)), from + 1)
      rect(
        x: from, y: plot.y, width: to - from, height: plot.height, fill: .incident,
        opacity: incident.isOutage ? 0.14 : 0.08)
      line(from, plot.y, from, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
      line(to, plot.y, to, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
    }
  }

  /// Horizontal grid lines with labels to the left.
  mutating func drawVerticalAxis(_ ticks: [Scale.Tick], in plot: Plot) {
    for tick in ticks {
      let y = plot.py(tick.value)
      line(plot.x, y, plot.x + plot.width, y, ink: .grid)
      text(tick.label, x: plot.x - 6, y: y + 3.5, size: 10, anchor: .end)
    }
  }

  /// Vertical grid lines, `ticks` in microseconds of the plot's own time.
  mutating func drawTimeGrid(_ ticks: [Scale.Tick], in plot: Plot) {
    for tick in ticks where plot.times.contains(tick.value) {
      let x = plot.px(time: tick.value)
      line(x, plot.y, x, plot.bottom, ink: .grid)
    }
  }

  mutating func drawTimeLabels(_ ticks: [Scale.Tick], in plot: Plot) {
    for tick in ticks where plot.times.contains(tick.value) {
      text(tick.label, x: plot.px(time: tick.value), y: plot.bottom + 15, size: 10.5, anchor: .middle)
    }
  }

  /// The stretches of columns that have a value.
  private static func runs(of columns: [Envelope.Column?]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start: Int?
    for c in 0...columns.count {
      if c < columns.count && columns[c] != nil {
        start = start ?? c
      } else if let first = start {
        runs.append(first..<c)
        start = nil
      }
    }
    return runs
  }

  /// Leaves out points in the middle of a level stretch: less than a tenth of a pixel.
  private static func withoutFlats(_ points: [(Double, Double)]) -> [(Double, Double)] {
    guard points.count > 2 else { return points }
    var kept = [points[0]]
    for i in 1..<points.count - 1 {
      let y = (points[i].1 * 10).rounded()
      if (points[i - 1].1 * 10).rounded() != y || (points[i + 1].1 * 10).rounded() != y {
        kept.append(points[i])
      }
    }
    kept.append(points[points.count - 1])
    return kept
  }
}
