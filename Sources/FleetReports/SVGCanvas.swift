/// What a stroke or a fill stands for; a theme gives it a colour.
package enum Ink: Hashable {
  /// The n-th strategy.
  case series(Int)
  case text, muted, grid, capacity, twin, incident, surface
}

/// Where colours come from.
package enum Theme {
  /// CSS variables: they follow light mode, dark mode and print (`HTMLPage`).
  case variables
  /// Fixed colours on white, for a picture that stands alone.
  case fixed

  func colour(_ ink: Ink) -> String {
    switch self {
    case .variables: "var(--\(Self.name(ink)))"
    case .fixed: Self.light[Self.name(ink)] ?? "#000"
    }
  }

  static func name(_ ink: Ink) -> String {
    switch ink {
    case .series(let i): "s\(i % seriesCount)"
    case .text: "text"
    case .muted: "muted"
    case .grid: "grid"
    case .capacity: "capacity"
    case .twin: "twin"
    case .incident: "incident"
    case .surface: "surface"
    }
  }

  /// As many as there are colours.
  static let seriesCount = light.keys.count { $0.wholeMatch(of: /s[0-9]+/) != nil }

  /// First Okabe and Ito's palette, without its yellow (illegible on white) and black (taken by text).
  static let light: [String: String] = [
    "s0": "#0072b2", "s1": "#d55e00", "s2": "#009e73", "s3": "#b9528f", "s4": "#c98500", "s5": "#3a9bd8",
    "s6": "#7b5ea7", "s7": "#6b6b00", "s8": "#8c3b12", "s9": "#00767a", "s10": "#d6246e", "s11": "#3f4db8",
    "text": "#1b1f24", "muted": "#5c6570", "grid": "#e3e7eb",
    "capacity": "#1b1f24", "twin": "#8b949e", "incident": "#c0392b", "surface": "#ffffff",
  ]
  static let dark: [String: String] = [
    "s0": "#58aef0", "s1": "#f48b45", "s2": "#2fc79c", "s3": "#e595c4", "s4": "#efb73e", "s5": "#9fd6f7",
    "s6": "#b79ae8", "s7": "#c9c94b", "s8": "#d98a5f", "s9": "#3fc1c6", "s10": "#ff6fa5", "s11": "#8f9bff",
    "text": "#e6e9ed", "muted": "#9aa5b1", "grid": "#2c333b",
    "capacity": "#f2f4f6", "twin": "#8b949e", "incident": "#ff7a6b", "surface": "#14181d",
  ]

  /// Dashes, so that strategies differ by more than colour where their lines share a chart.
  static func dash(_ index: Int) -> String? {
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

  package mutating func text(
    _ string: String, x: Double, y: Double, size: Double = 11, anchor: Anchor = .start, ink: Ink = .muted,
    isBold: Bool = false
  ) {
    body += "<text x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" font-size=\"\(Self.px(size))\""
    if anchor != .start { body += " text-anchor=\"\(anchor.rawValue)\"" }
    if isBold { body += " font-weight=\"600\"" }
    body += " fill=\"\(theme.colour(ink))\">\(Markup.escape(string))</text>\n"
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
    body += tooltip.map { "><title>\(Markup.escape($0))</title></rect>\n" } ?? "/>\n"
  }

  package mutating func path(
    _ data: String, fill: Ink? = nil, fillOpacity: Double = 1, stroke: Ink? = nil, width: Double = 1,
    dash: String? = nil
  ) {
    guard !data.isEmpty else { return }
    body += "<path d=\"\(data)\" fill=\"\(fill.map(theme.colour) ?? "none")\""
    if fill != nil && fillOpacity < 1 {
      body += " fill-opacity=\"\(Humanised.decimal(fillOpacity, decimals: 2))\""
    }
    if let stroke {
      body +=
        " stroke=\"\(theme.colour(stroke))\" stroke-width=\"\(Self.px(width))\" stroke-linejoin=\"round\""
    }
    if let dash { body += " stroke-dasharray=\"\(dash)\"" }
    body += "/>\n"
  }

  /// Transparent area that shows `tooltip` under the pointer.
  mutating func hover(x: Double, y: Double, width: Double, height: Double, tooltip: String) {
    body += "<rect x=\"\(Self.px(x))\" y=\"\(Self.px(y))\" width=\"\(Self.px(width))\""
    body += " height=\"\(Self.px(height))\" fill=\"none\" pointer-events=\"all\">"
    body += "<title>\(Markup.escape(tooltip))</title></rect>\n"
  }

  /// Adds another canvas, moved to (x, y).
  mutating func append(_ other: SVGCanvas, x: Double, y: Double) {
    body += "<g transform=\"translate(\(Self.px(x)) \(Self.px(y)))\">\n" + other.body + "</g>\n"
  }

  /// The whole element. A picture that stands alone gets a white background.
  package func svg(width: Double, height: Double, label: String) -> String {
    let size = "\(Self.px(width)) \(Self.px(height))"
    var svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"\(Markup.escape(label))\""
    svg += " viewBox=\"0 0 \(size)\""
    if case .fixed = theme { svg += " width=\"\(Self.px(width))\" height=\"\(Self.px(height))\"" }
    svg += " font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif\">\n"
    if case .fixed = theme {
      svg += "<rect width=\"100%\" height=\"100%\" fill=\"\(theme.colour(.surface))\"/>\n"
    }
    return svg + body + "</svg>\n"
  }
}
