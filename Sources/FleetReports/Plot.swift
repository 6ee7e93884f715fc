import FleetMetrics
import TextEscaping

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

package struct PlotLine {
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
  package var envelope: Envelope
  /// Where the first row begins and the last one ends, microseconds.
  var times: ClosedRange<Double>
  var ink: Ink
  var style = Style.line
  var dash: String?
  /// The width of its stroke; nil: as the style has it.
  var width: Double?

  func time(of column: Int) -> Double {
    times.lowerBound + envelope.position(of: column) * (times.upperBound - times.lowerBound)
  }
}

extension SVGCanvas {
  /// Draws a series, cut to the plot; a gap where it has no value.
  mutating func draw(_ line: PlotLine, in plot: Plot) {
    for run in Self.runs(of: line.envelope.columns) {
      func points(isMean: Bool) -> [(x: Double, high: Double, low: Double)] {
        run.map { c in
          let column = line.envelope.columns[c]!
          return (
            plot.px(time: line.time(of: c)), plot.py(isMean ? column.mean : column.high),
            plot.py(isMean ? column.mean : column.low)
          )
        }
      }
      if line.style == .band {
        let band = Self.outline(points(isMean: false))
        if band.isBand { path(band.data, fill: line.ink, fillOpacity: 0.3) }
      }
      let points = points(isMean: line.style == .mean || line.style == .band)
      if line.style == .area {
        var area = PathBuilder()
        area.move(points[0].x, plot.bottom)
        for p in Self.withoutFlats(points.map { ($0.x, $0.high) }) { area.line(p.0, p.1) }
        area.line(points[points.count - 1].x, plot.bottom)
        area.close()
        path(area.data, fill: line.ink, fillOpacity: 0.16)
      }
      let (data, isBand) = Self.outline(points)
      let width = isBand ? 0.7 : line.width ?? (line.style == .thin ? 0.8 : 1.6)
      path(data, fill: isBand ? line.ink : nil, stroke: line.ink, width: width, dash: line.dash)
    }
  }

  /// A line through the highest values, and back through the lowest where they can be told apart: then it is a band.
  private static func outline(
    _ points: [(x: Double, high: Double, low: Double)]
  ) -> (data: String, isBand: Bool) {
    let isBand = points.contains { $0.low - $0.high >= 0.3 }
    var path = PathBuilder()
    path.move(points[0].x, points[0].high)
    for p in withoutFlats(points.map { ($0.x, $0.high) }).dropFirst() { path.line(p.0, p.1) }
    if isBand {
      for p in withoutFlats(points.reversed().map { ($0.x, $0.low) }) { path.line(p.0, p.1) }
      path.close()
    } else if points.count == 1 {
      path.line(points[0].x + 1, points[0].high)
    }
    return (path.data, isBand)
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

  mutating func shade(_ incidents: [IncidentSpan], in plot: Plot) {
    for incident in incidents {
      let from = plot.px(time: Double(incident.start))
      let to = max(plot.px(time: Double(incident.end)), from + 1)
      rect(
        x: from, y: plot.y, width: to - from, height: plot.height, fill: .incident,
        opacity: incident.isOutage ? Theme.incidentOpacity : 0.6 * Theme.incidentOpacity)
      line(from, plot.y, from, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
      line(to, plot.y, to, plot.bottom, ink: .incident, width: 0.7, dash: "2 2")
    }
  }

  /// Horizontal grid lines with labels to the left.
  mutating func drawVerticalAxis(_ ticks: [Scale.Tick], in plot: Plot, size: Double = 10) {
    for tick in ticks {
      let y = plot.py(tick.value)
      line(plot.x, y, plot.x + plot.width, y, ink: .grid)
      text(tick.label, x: plot.x - 6, y: y + 0.35 * size, size: size, anchor: .end)
    }
  }

  /// A line of steps: it is level until the value changes.
  mutating func drawSteps(_ steps: PlotLine, in plot: Plot) {
    var data = PathBuilder()
    var previous: Double?
    let columns = steps.envelope.columns
    let width = (steps.times.upperBound - steps.times.lowerBound) / Double(max(columns.count, 1))
    for (c, column) in columns.enumerated() {
      guard let value = column?.mean else { continue }
      let start = plot.px(time: steps.time(of: c) - width / 2)
      let y = plot.py(value)
      if let last = previous {
        // A cut interval's rounding is no step.
        if abs(last - y) >= 0.5 {
          data.line(start, last)
          data.line(start, y)
          previous = y
        }
      } else {
        data.move(start, y)
        previous = y
      }
    }
    guard let previous else { return }
    data.line(plot.px(time: steps.times.upperBound), previous)
    path(data.data, stroke: steps.ink, width: 1.3, dash: steps.dash)
  }

  /// Vertical grid lines, `ticks` in microseconds of the plot's own time.
  mutating func drawTimeGrid(_ ticks: [Scale.Tick], in plot: Plot) {
    for tick in ticks where plot.times.contains(tick.value) {
      let x = plot.px(time: tick.value)
      line(x, plot.y, x, plot.bottom, ink: .grid)
    }
  }

  mutating func drawTimeLabels(_ ticks: [Scale.Tick], in plot: Plot, size: Double = 10.5) {
    for tick in ticks where plot.times.contains(tick.value) {
      text(tick.label, x: plot.px(time: tick.value), y: plot.bottom + 4.5 + size, size: size, anchor: .middle)
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

/// Ticks at round values, and logarithms without the platform's mathematics library.
package enum Scale {
  package struct Tick {
    package var value: Double
    package var label: String
  }

  /// Up to `count` steps of 1, 2 or 5 times a power of ten from 0 to `limit`; 0 included.
  package static func ticks(upTo limit: Double, count: Int, label: (Double) -> String = Humanised.compact)
    -> [Tick]
  {
    guard limit.isFinite, limit > 0 else { return [Tick(value: 0, label: label(0))] }
    var power = 1.0
    while power * Double(count) < limit && power < 1e300 { power *= 10 }
    while power * Double(count) > limit * 10 && power > 1e-300 { power /= 10 }
    let step = [0.1, 0.2, 0.5, 1].map { $0 * power }.first { $0 * Double(count) >= limit } ?? power
    return (0...count).map { Double($0) * step }.filter { $0 <= limit * 1.000_001 }
      .map { Tick(value: $0, label: label($0)) }
  }

  /// A unit of time that an axis counts in.
  struct TimeUnit {
    var length: Int64
    var name: String
    /// The unit's name on an axis that has numbers alone.
    var plural: String
    /// How far apart ticks may be, microseconds.
    var steps: [Int64]

    /// For an axis of so many microseconds.
    init(duration: Int64) {
      let second: Int64 = 1_000_000
      if duration <= 180 * second {
        (length, name, plural) = (second, "s", "seconds")
        steps = [1, 2, 5, 10, 15, 20, 30, 60].map { $0 * second }
      } else if duration <= 3 * 3_600 * second {
        (length, name, plural) = (60 * second, "min", "minutes")
        steps = [1, 2, 5, 10, 15, 20, 30, 60].map { $0 * 60 * second }
      } else if duration <= 5 * 86_400 * second {
        (length, name, plural) = (3_600 * second, "h", "hours")
        steps = [1, 2, 4, 6, 12, 24, 48].map { $0 * 1_800 * second }
      } else {
        (length, name, plural) = (86_400 * second, "d", "days")
        steps = [1, 2, 5, 10, 20, 50].map { $0 * 86_400 * second }
      }
    }

    /// The first step of which no more than `most` fit.
    func step(of duration: Int64, most: Int64) -> Int64 {
      let most = max(most, 1)
      return steps.first { duration / $0 <= most } ?? max(duration / most, 1)
    }

    func number(_ time: Int64) -> String { Humanised.compact(Double(time) / Double(length)) }
  }

  /// Ticks of a time axis from 0 to `duration` microseconds, all in one unit: at most so many and the one at 0.
  package static func timeTicks(duration: Int64, most: Int64 = 12) -> [Tick] {
    let unit = TimeUnit(duration: duration)
    let step = unit.step(of: duration, most: most)
    return (0...max(duration / step, 0)).map { i in
      let value = i * step
      return Tick(
        value: Double(value), label: unit.number(value) + " " + unit.name)
    }
  }

  /// Times worth a tick on a logarithmic axis, microseconds.
  static let logarithmicTimes: [Int64] = [
    1_000, 10_000, 100_000, 1_000_000, 10_000_000, 60_000_000, 600_000_000, 3_600_000_000, 36_000_000_000,
    864_000_000_000, 8_640_000_000_000,
  ]

  /// Binary logarithm of a positive finite number to 2^-24, by squaring: the same on every platform.
  package static func log2(_ x: Double) -> Double {
    guard x.isFinite, x > 0 else { return 0 }
    var rest = x.significand
    var result = Double(x.exponent)
    var bit = 0.5
    for _ in 0..<24 {
      rest *= rest
      if rest >= 2 {
        rest /= 2
        result += bit
      }
      bit /= 2
    }
    return result
  }
}

/// A long series cut into a few columns that each keep their smallest and largest value, so that a spike
/// survives.
package struct Envelope {
  package struct Column: Hashable {
    package var low: Double
    package var high: Double
    package var mean: Double
  }
  /// nil where no row of the column has a value.
  package var columns: [Column?]
  /// Rows that went in; column c stands for rows c · rows / columns ..< (c + 1) · rows / columns.
  var rows: Int
}

extension Envelope {
  /// Cuts `values` into at most `limit` columns. Values that are not finite count as missing. O(rows).
  package init(_ values: [Double?], columns limit: Int) {
    rows = values.count
    let count = min(max(limit, 1), values.count)
    columns = (0..<count).map { c in
      var column: Column?
      var sum = 0.0
      var n = 0.0
      for case let value? in values[values.count * c / count..<values.count * (c + 1) / count]
      where value.isFinite {
        sum += value
        n += 1
        column = Column(
          low: min(column?.low ?? value, value), high: max(column?.high ?? value, value), mean: sum / n)
      }
      return column
    }
  }

  var highestMean: Double { columns.reduce(0) { max($0, $1?.mean ?? 0) } }

  package var maximum: Double { columns.reduce(0) { max($0, $1?.high ?? 0) } }

  /// The middle of column `index` as a share of the rows, 0 … 1.
  func position(of index: Int) -> Double { (Double(index) + 0.5) / Double(columns.count) }

  /// The value that `share` of the columns' maxima do not exceed; 0 if there is none.
  package func highQuantile(_ share: Double) -> Double {
    let sorted = columns.compactMap { $0?.high }.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(Int(share * Double(sorted.count)), sorted.count - 1)]
  }
}

/// The role of a stroke or a fill; a theme gives it a colour.
package enum Ink: Hashable {
  /// The n-th strategy.
  case series(Int)
  /// The best strategy, and everything else beside it.
  case accent, other
  /// The pairs of a map at which runs fail.
  case never
  case text, muted, grid, capacity, twin, incident, surface
}

/// Where colours come from.
package enum Theme {
  /// CSS variables: they follow light mode, dark mode and print (`HTMLPage`).
  case variables
  /// Colours for light pages, and a style sheet that changes them on dark ones: for a picture that stands alone.
  case fixed

  package func colour(_ ink: Ink) -> String {
    switch self {
    case .variables: "var(--\(Self.name(ink)))"
    case .fixed: Self.light[Self.name(ink)] ?? "#000"
    }
  }

  package static func name(_ ink: Ink) -> String {
    switch ink {
    case .series(let i): "s\(i % seriesCount)"
    case .accent: "accent"
    case .other: "other"
    case .never: "never"
    case .text: "text"
    case .muted: "muted"
    case .grid: "grid"
    case .capacity: "capacity"
    case .twin: "twin"
    case .incident: "incident"
    case .surface: "surface"
    }
  }

  static let seriesCount = light.keys.count { $0.wholeMatch(of: /s[0-9]+/) != nil }

  /// First Okabe and Ito's palette, without its yellow (illegible on white) and black (taken by text).
  package static let light: [String: String] = [
    "s0": "#0072b2", "s1": "#d55e00", "s2": "#009e73", "s3": "#b9528f", "s4": "#c98500", "s5": "#3a9bd8",
    "s6": "#7b5ea7", "s7": "#6b6b00", "s8": "#8c3b12", "s9": "#00767a", "s10": "#d6246e", "s11": "#3f4db8",
    "accent": "#0064a8", "other": "#6e7781", "never": "#b3261b",
    "text": "#1b1f24", "muted": "#5c6570", "grid": "#e3e7eb",
    "capacity": "#1b1f24", "twin": "#8b949e", "incident": "#c0392b", "surface": "#ffffff",
  ]
  package static let dark: [String: String] = [
    "s0": "#58aef0", "s1": "#f48b45", "s2": "#2fc79c", "s3": "#e595c4", "s4": "#efb73e", "s5": "#9fd6f7",
    "s6": "#b79ae8", "s7": "#c9c94b", "s8": "#d98a5f", "s9": "#3fc1c6", "s10": "#ff6fa5", "s11": "#8f9bff",
    "accent": "#58b3ff", "other": "#9aa3ad", "never": "#ff5c4d",
    "text": "#e6e9ed", "muted": "#9aa5b1", "grid": "#2c333b",
    "capacity": "#e6e9ed", "twin": "#8b949e", "incident": "#ff7a6b", "surface": "#14181d",
  ]

  /// Changes the colours that `body` has to those for dark pages: what stands in an attribute gives way to any style sheet.
  package static func style(of body: String) -> String {
    let changes = Dictionary(light.map { ($1, dark[$0] ?? $1) }) { first, _ in first }
      .filter { $0.key != $0.value && body.contains("\"\($0.key)\"") }
    let rules = changes.sorted { $0.key < $1.key }.map { light, dark in
      "[fill=\"\(light)\"]{fill:\(dark)}[stroke=\"\(light)\"]{stroke:\(dark)}"
    }
    return "<style>@media (prefers-color-scheme:dark){\(rules.joined())}</style>\n"
  }

  /// How much of the incident's colour its time is shaded with.
  package static let incidentOpacity = 0.2

  /// Dashes, so that strategies differ by more than colour where their lines share a chart.
  package static func dash(_ index: Int) -> String? {
    let dashes = [
      nil, "7 3", "2 2", "9 3 2 3", "4 2", "12 3 2 3 2 3", "1 3", "14 4", "5 5", "9 2 1 2 1 2", "3 6",
      "18 3 4 3",
    ]
    // Colours begin anew behind the last one: the dashes then don't.
    return dashes[(index + index / seriesCount) % dashes.count]
  }
}

/// Collects SVG elements; coordinates are rounded to a tenth of a pixel.
package struct SVGCanvas {
  package var theme: Theme
  private(set) var body = ""

  package init(theme: Theme) { self.theme = theme }

  /// At most one decimal, without a trailing zero; never an exponent.
  static func px(_ value: Double) -> String {
    guard let tenths = Int32(exactly: (value * 10).rounded()) else { return "0" }
    let sign = tenths < 0 ? "-" : ""
    let whole = tenths.magnitude / 10
    let fraction = tenths.magnitude % 10
    return fraction == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(fraction)"
  }

  package enum Anchor: String { case start, middle, end }

  /// - Parameter halo: whether a rim of the background keeps it legible on lines.
  package mutating func text(
    _ string: String, x: Double, y: Double, size: Double = 11, anchor: Anchor = .start, ink: Ink = .muted,
    isBold: Bool = false, halo: Bool = false
  ) {
    body += "<text x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" font-size=\"\(Self.px(size))\""
    if anchor != .start { body += " text-anchor=\"\(anchor.rawValue)\"" }
    if isBold { body += " font-weight=\"600\"" }
    if halo { body += " stroke=\"\(theme.colour(.surface))\" stroke-width=\"4\" paint-order=\"stroke\"" }
    body += " fill=\"\(theme.colour(ink))\">\(Escaping.markup(string))</text>\n"
  }

  package mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, ink: Ink, width: Double = 1, dash: String? = nil
  ) {
    path(
      "M\(Self.px(x1)) \(Self.px(y1))L\(Self.px(x2)) \(Self.px(y2))", stroke: ink, width: width, dash: dash)
  }

  package mutating func rect(
    x: Double, y: Double, width: Double, height: Double, fill: Ink, opacity: Double = 1,
    tooltip: String? = nil
  ) {
    body += "<rect x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" width=\"\(Self.px(max(width, 0)))\""
    body += " height=\"\(Self.px(max(height, 0)))\" fill=\"\(theme.colour(fill))\""
    if opacity < 1 { body += " opacity=\"\(Humanised.decimal(opacity, decimals: 2))\"" }
    body += tooltip.map { "><title>\(Escaping.markup($0))</title></rect>\n" } ?? "/>\n"
  }

  package mutating func path(
    _ data: String, fill: Ink? = nil, fillOpacity: Double = 1, stroke: Ink? = nil, width: Double = 1,
    dash: String? = nil, hasRoundEnds: Bool = false
  ) {
    guard !data.isEmpty else { return }
    body += "<path d=\"\(data)\" fill=\"\(fill.map(theme.colour) ?? "none")\""
    if fill != nil && fillOpacity < 1 {
      body += " fill-opacity=\"\(Humanised.decimal(fillOpacity, decimals: 2))\""
    }
    if let stroke {
      body += " stroke=\"\(theme.colour(stroke))\""
      if width != 1 { body += " stroke-width=\"\(Self.px(width))\"" }
    }
    if let dash { body += " stroke-dasharray=\"\(dash)\"" }
    if hasRoundEnds { body += " stroke-linecap=\"round\"" }
    body += "/>\n"
  }

  /// Transparent area that shows `tooltip` under the pointer.
  mutating func hover(x: Double, y: Double, width: Double, height: Double, tooltip: String) {
    body += "<rect x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" width=\"\(Self.px(width))\""
    body += " height=\"\(Self.px(height))\" fill=\"none\" pointer-events=\"all\">"
    body += "<title>\(Escaping.markup(tooltip))</title></rect>\n"
  }

  /// The whole element. A picture that stands alone gets a background, and colours for dark pages.
  /// - Parameter description: what it shows, for those who cannot see it; of a picture that stands alone.
  package func svg(width: Double, height: Double, label: String, description: String = "") -> String {
    let size = "\(Self.px(width)) \(Self.px(height))"
    let frame =
      " viewBox=\"0 0 \(size)\""
      + (theme == .fixed ? " width=\"\(Self.px(width))\" height=\"\(Self.px(height))\"" : "")
      + " stroke-linejoin=\"round\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif\">\n"
    let opening = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\""
    if theme == .variables {
      return opening + " aria-label=\"\(Escaping.markup(label))\"" + frame + body + "</svg>\n"
    }
    let background = "<rect width=\"100%\" height=\"100%\" fill=\"\(theme.colour(.surface))\"/>\n"
    return opening + " aria-labelledby=\"t d\"" + frame
      + "<title id=\"t\">\(Escaping.markup(label))</title>\n<desc id=\"d\">\(Escaping.markup(description))</desc>\n"
      + Theme.style(of: background + body) + background + body + "</svg>\n"
  }
}
