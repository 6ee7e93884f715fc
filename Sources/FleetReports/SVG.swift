import FleetExperiments
import TextEscaping

/// The role of a stroke or a fill; a theme gives it a colour.
package enum Ink: String {
  /// The best variant, and everything else beside it.
  case accent, other
  /// The second and the third run of the explorer.
  case second, third
  /// The pairs of a map at which runs fail.
  case never
  case text, muted, grid, twin, incident, surface
}

/// Where colours come from.
package enum Theme {
  /// CSS variables: they follow light mode, dark mode and print (`HTMLPage`).
  case variables
  /// Colours for light pages, and a style sheet that changes them on dark ones: for a picture that stands alone.
  case fixed

  package func colour(_ ink: Ink) -> String {
    switch self {
    case .variables: "var(--\(ink.rawValue))"
    case .fixed: Self.light[ink] ?? "#000"
    }
  }

  package static let light: [Ink: String] = [
    .accent: "#0064a8", .other: "#6e7781", .second: "#d55e00", .third: "#009e73", .never: "#b3261b",
    .text: "#1b1f24", .muted: "#5c6570", .grid: "#e3e7eb", .twin: "#8b949e", .incident: "#c0392b",
    .surface: "#ffffff",
  ]
  package static let dark: [Ink: String] = [
    .accent: "#58b3ff", .other: "#9aa3ad", .second: "#f48b45", .third: "#2fc79c", .never: "#ff5c4d",
    .text: "#e6e9ed", .muted: "#9aa5b1", .grid: "#2c333b", .twin: "#8b949e", .incident: "#ff7a6b",
    .surface: "#14181d",
  ]

  /// Changes the colours that `body` has to those for dark pages: what stands in an attribute gives way to any style sheet.
  package static func style(of body: String) -> String {
    let changes = light.map { ($1, dark[$0] ?? $1) }.filter { $0 != $1 && body.contains("\"\($0)\"") }
    let rules = changes.sorted { $0.0 < $1.0 }.map { light, dark in
      "[fill=\"\(light)\"]{fill:\(dark)}[stroke=\"\(light)\"]{stroke:\(dark)}"
    }
    return "<style>@media (prefers-color-scheme:dark){\(rules.joined())}</style>\n"
  }

  /// How much of its colour a stretch of time is shaded with.
  package static let shadeOpacity = 0.2

  /// Dashes, so that lines of one colour differ.
  package static func dash(_ index: Int) -> String? {
    let dashes = [nil, "7 3", "2 2", "9 3 2 3", "4 2", "12 3 2 3 2 3", "1 3", "14 4"]
    return dashes[index % dashes.count]
  }
}

/// Collects SVG elements; coordinates are rounded to a tenth of a pixel.
struct SVGCanvas {
  var theme: Theme
  private(set) var body = ""

  init(theme: Theme) { self.theme = theme }

  /// At most one decimal, without a trailing zero; never an exponent.
  static func px(_ value: Double) -> String {
    let tenths = PathBuilder.tenths(value)
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  enum Anchor: String { case start, middle, end }

  /// - Parameter halo: whether a rim of the background keeps it legible on lines.
  mutating func text(
    _ string: String, x: Double, y: Double, size: Double = Lettering.small, anchor: Anchor = .start,
    ink: Ink = .muted,
    isBold: Bool = false, halo: Bool = false
  ) {
    body += "<text x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" font-size=\"\(Self.px(size))\""
    if anchor != .start { body += " text-anchor=\"\(anchor.rawValue)\"" }
    if isBold { body += " font-weight=\"600\"" }
    if halo { body += " stroke=\"\(theme.colour(.surface))\" stroke-width=\"4\" paint-order=\"stroke\"" }
    body += " fill=\"\(theme.colour(ink))\">\(Escaping.markup(string))</text>\n"
  }

  mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, ink: Ink, width: Double = 1, dash: String? = nil
  ) {
    path(
      "M\(Self.px(x1)) \(Self.px(y1))L\(Self.px(x2)) \(Self.px(y2))", stroke: ink, width: width, dash: dash)
  }

  /// - Parameter fill: nil: transparent, for a text under the pointer.
  mutating func rect(
    x: Double, y: Double, width: Double, height: Double, fill: Ink? = nil, opacity: Double = 1,
    tooltip: String? = nil
  ) {
    body += "<rect x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" width=\"\(Self.px(max(width, 0)))\""
    body += " height=\"\(Self.px(max(height, 0)))\""
    body += " fill=" + (fill.map { "\"\(theme.colour($0))\"" } ?? "\"none\" pointer-events=\"all\"")
    if opacity < 1 { body += " opacity=\"\(FigureText.decimal(opacity, decimals: 2))\"" }
    body += tooltip.map { "><title>\(Escaping.markup($0))</title></rect>\n" } ?? "/>\n"
  }

  mutating func path(
    _ data: String, fill: Ink? = nil, fillOpacity: Double = 1, stroke: Ink? = nil, width: Double = 1,
    dash: String? = nil, hasRoundEnds: Bool = false
  ) {
    guard !data.isEmpty else { return }
    body += "<path d=\"\(data)\" fill=\"\(fill.map(theme.colour) ?? "none")\""
    if fill != nil && fillOpacity < 1 {
      body += " fill-opacity=\"\(FigureText.decimal(fillOpacity, decimals: 2))\""
    }
    if let stroke {
      body += " stroke=\"\(theme.colour(stroke))\""
      if width != 1 { body += " stroke-width=\"\(Self.px(width))\"" }
    }
    if let dash { body += " stroke-dasharray=\"\(dash)\"" }
    if hasRoundEnds { body += " stroke-linecap=\"round\"" }
    body += "/>\n"
  }

  mutating func polygon(_ corners: [(Double, Double)], fill: Ink) {
    let places = corners.map { "\(Self.px($0.0)) \(Self.px($0.1))" }
    path("M" + places.joined(separator: "L") + "z", fill: fill)
  }

  static func circle(_ x: Double, _ y: Double, _ r: Double) -> String {
    let (d, r) = (px(2 * r), px(r))
    return "M\(px(x)) \(px(y))m-\(r) 0a\(r) \(r) 0 1 0 \(d) 0a\(r) \(r) 0 1 0 -\(d) 0"
  }

  /// The whole element. A picture that stands alone gets a background, and colours for dark pages.
  /// - Parameter description: what it shows, for those who cannot see it; of a picture that stands alone.
  func svg(width: Double, height: Double, label: String, description: String = "") -> String {
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

/// Path data in relative coordinates of a tenth of a pixel: half the bytes of absolute ones, and no drift.
enum PathBuilder {
  /// A line through points; a level stretch has its ends alone.
  static func line(_ points: [(Double, Double)]) -> String {
    guard let last = points.last else { return "" }
    return through(points.count == 1 ? points + [(last.0 + 1, last.1)] : withoutFlats(points))
  }

  /// Round what is between two lines, the second of which comes back.
  static func area(_ line: [(Double, Double)], _ back: [(Double, Double)]) -> String {
    through(withoutFlats(line) + withoutFlats(back)) + "z"
  }

  private static func through(_ points: [(Double, Double)]) -> String {
    guard let first = points.first else { return "" }
    var (x, y) = (tenths(first.0), tenths(first.1))
    var data = "M\(text(x)) \(text(y))l"
    for point in points.dropFirst() {
      for step in [tenths(point.0) - x, tenths(point.1) - y] {
        data += step < 0 || data.hasSuffix("l") ? text(step) : " " + text(step)
      }
      (x, y) = (tenths(point.0), tenths(point.1))
    }
    return data
  }

  private static func withoutFlats(_ points: [(Double, Double)]) -> [(Double, Double)] {
    points.indices.filter { i in
      let isEnd = i == 0 || i + 1 == points.count
      return isEnd || [i - 1, i + 1].contains { tenths(points[$0].1) != tenths(points[i].1) }
    }.map { points[$0] }
  }

  static func tenths(_ value: Double) -> Int32 { Int32(exactly: (value * 10).rounded()) ?? 0 }

  private static func text(_ tenths: Int32) -> String {
    let magnitude = tenths.magnitude
    let sign = tenths < 0 ? "-" : ""
    if magnitude % 10 == 0 { return "\(sign)\(magnitude / 10)" }
    return magnitude < 10 ? "\(sign).\(magnitude)" : "\(sign)\(magnitude / 10).\(magnitude % 10)"
  }
}
