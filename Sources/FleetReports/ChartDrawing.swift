import FleetExperiments

struct ChartDrawing {
  private let chart: Chart
  private let width: Double
  private let margin: Double
  private var canvas: SVGCanvas
  /// How far down it is drawn.
  private var y: Double

  private static let between = 30.0
  private static let line = 19.0
  private static let pixelsPerColumn = 2.0

  static func svg(_ chart: Chart, theme: Theme, width: Double) -> String {
    var drawing = ChartDrawing(chart, theme: theme, width: width)
    if theme == .fixed { drawing.drawTitle() }
    for section in chart.sections { drawing.draw(section) }
    return drawing.canvas.svg(
      width: width, height: drawing.y + drawing.margin, label: chart.title, description: chart.description)
  }

  private init(_ chart: Chart, theme: Theme, width: Double) {
    (self.chart, self.width) = (chart, width)
    margin = theme == .fixed ? Lettering.margin : 2
    canvas = SVGCanvas(theme: theme)
    y = theme == .fixed ? 12 : 0
  }

  private var inner: Double { width - 2 * margin }
  private var edge: Double { width - margin }
  private var isNarrow: Bool { width < Lettering.pictureWidth }

  private mutating func drawTitle() {
    drawLines(chart.title, size: Lettering.title, isBold: true, each: Lettering.titleLine)
    y += 4
    drawLines(chart.facts, most: 2)
    y += 8
  }

  private mutating func drawLines(
    _ text: String, size: Double = Lettering.small, isBold: Bool = false, most: Int = 3,
    each: Double = Self.line
  ) {
    for line in Lettering.lines(text, width: inner, size: size, isBold: isBold, most: most) {
      y += each
      canvas.text(line, x: margin, y: y, size: size, ink: isBold ? .text : .muted, isBold: isBold)
    }
  }

  // MARK: Sections

  struct Frame {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    var horizontal: Axis
    var vertical: Axis

    func px(_ value: Double) -> Double { x + horizontal.share(of: value) * width }
    func py(_ value: Double) -> Double { bottom - vertical.share(of: value) * height }
    var bottom: Double { y + height }
    var right: Double { x + width }
  }

  private mutating func draw(_ section: Chart.Section) {
    if !section.title.isEmpty {
      y += 6
      drawLines(section.title, size: Lettering.label, isBold: true)
      y += 11
    }
    let columns = isNarrow ? 1 : section.columns
    let cell = (inner - Self.between * Double(columns - 1)) / Double(columns)
    let isOneLine = section.panels.allSatisfy { Self.headWidth($0) <= cell }
    let labels = section.panels.flatMap { panel in Self.verticalTicks(panel).map(\.label) }
    let gutter = (labels.map { Lettering.width(of: $0) }.max() ?? 0) + 8
    for first in stride(from: 0, to: section.panels.count, by: columns) {
      let row = section.panels[first..<min(first + columns, section.panels.count)]
      let head = row.map { Self.headHeight($0, isOneLine: isOneLine) }.max() ?? 0
      let height = row.map(\.height).max() ?? 0
      for (place, panel) in zip(row.indices, row) {
        let x = margin + Double(place - first) * (cell + Self.between)
        let frame = Frame(
          x: x + gutter, y: y + head, width: cell - gutter - 6, height: panel.height, horizontal: section.x,
          vertical: panel.y)
        drawHead(panel, x: x, cell: cell, isOneLine: isOneLine)
        draw(panel, in: frame, isLast: place + columns >= section.panels.count)
      }
      y += head + height + 10
    }
    y += 9
    drawFoot(section)
  }

  private static func headWidth(_ panel: Chart.Panel) -> Double {
    Lettering.width(of: panel.name, size: Lettering.label, isBold: true) + 14
      + Lettering.width(of: panel.figures)
  }

  private static func headHeight(_ panel: Chart.Panel, isOneLine: Bool) -> Double {
    let name =
      panel.name.isEmpty && panel.figures.isEmpty ? 8.0 : isOneLine || panel.figures.isEmpty ? 26 : 44
    return name + (panel.shades.contains { !$0.label.isEmpty } ? line : 0)
  }

  private mutating func drawHead(_ panel: Chart.Panel, x: Double, cell: Double, isOneLine: Bool) {
    let name = Lettering.fitting(panel.name, width: cell, size: Lettering.label, isBold: true)
    canvas.text(name, x: x, y: y + 15, size: Lettering.label, ink: panel.ink, isBold: true)
    let behind = Lettering.width(of: name, size: Lettering.label, isBold: true) + 14
    let figures = Lettering.fitting(panel.figures, width: cell)
    canvas.text(figures, x: isOneLine ? x + behind : x, y: isOneLine ? y + 15 : y + 34)
  }

  /// The axis's title to the right, the note to the left or below it, the legend last.
  private mutating func drawFoot(_ section: Chart.Section) {
    if !section.x.title.isEmpty {
      y += 18
      canvas.text(section.x.title, x: edge, y: y, anchor: .end)
    }
    let cut = section.cut.map { "▲: more than \(FigureText.compact($0)). " } ?? ""
    if !(cut + section.note).isEmpty {
      let room = inner - Lettering.width(of: section.x.title) - 14
      let width = Lettering.width(of: cut + section.note)
      if !section.x.title.isEmpty, width <= room { y -= Self.line }
      drawLines(cut + section.note)
    }
    drawLegend(section)
    y += 10
  }

  private mutating func drawLegend(_ section: Chart.Section) {
    let (curves, dots) = (section.panels.flatMap(\.curves), section.panels.flatMap(\.dots))
    let names = (curves.map(\.name) + dots.map(\.name)).uniqued.filter { !$0.isEmpty }
    if names.isEmpty { return }
    var x = margin
    y += 24
    for name in names {
      let text = Lettering.fitting(name, width: inner - 24)
      let length = Lettering.width(of: text) + 24
      if x + length > edge, x > margin { (x, y) = (margin, y + 24) }
      if let curve = curves.first(where: { $0.name == name }) {
        canvas.line(x, y - 5, x + 16, y - 5, ink: curve.ink, width: 3, dash: curve.dash)
      } else if let dot = dots.first(where: { $0.name == name }) {
        canvas.draw(dot, at: [(x + 8, y - 5)])
      }
      canvas.text(text, x: x + 22, y: y, ink: .text)
      x += length + 18
    }
  }

  // MARK: A plot

  private mutating func draw(_ panel: Chart.Panel, in frame: Frame, isLast: Bool) {
    drawShades(panel.shades, in: frame)
    drawVerticalAxis(panel, in: frame)
    drawHorizontalAxis(panel, in: frame, isLabelled: isLast)
    drawCells(panel.cells, in: frame)
    let curves = panel.curves.map { PlottedCurve($0, in: frame) }
    for curve in curves { canvas.draw(curve, bottom: frame.bottom) }
    for curve in panel.curves { markCut(curve, in: frame) }
    drawDots(panel.dots, in: frame)
    drawLabels(panel.labels, clearOf: curves.flatMap(\.boxes), in: frame)
    guard canvas.theme == .variables, !isNarrow else { return }
    for curve in panel.curves where curve.isRead { addReadings(curve, in: frame) }
    for dot in panel.dots where !dot.details.isEmpty {
      canvas.rect(
        x: frame.px(dot.x) - 6, y: frame.py(dot.y) - 6, width: 12, height: 12, tooltip: dot.details)
    }
  }

  /// Stretches with their names; a moment is a line. A name that has no room beside the one before it is left out.
  private mutating func drawShades(_ shades: [Chart.Shade], in frame: Frame) {
    var free = frame.x
    var named: Set<String> = [""]
    for shade in shades.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where shade.range.upperBound >= frame.horizontal.range.lowerBound {
      let (from, to) = (frame.px(shade.range.lowerBound), frame.px(shade.range.upperBound))
      if from == to {
        canvas.line(from, frame.y, from, frame.bottom, ink: shade.ink, dash: "4 3")
      } else {
        canvas.rect(
          x: from, y: frame.y, width: to - from, height: frame.height, fill: shade.ink,
          opacity: Theme.shadeOpacity)
      }
      let label = Lettering.fitting(shade.label, width: frame.width)
      let width = Lettering.width(of: label)
      let x = min(max((from + to - width) / 2, frame.x), frame.right - width)
      guard x >= free, named.insert(shade.label).inserted else { continue }
      free = x + width + 10
      canvas.text(label, x: x, y: frame.y - 6, ink: shade.ink)
    }
  }

  private static func verticalTicks(_ panel: Chart.Panel) -> [Axis.Tick] {
    panel.y.ticks(max(Int(panel.height / 55) + 1, 2))
  }

  private mutating func drawVerticalAxis(_ panel: Chart.Panel, in frame: Frame) {
    var taken: [Double] = []
    for tick in Self.verticalTicks(panel) where panel.y.range.contains(tick.value) {
      let y = frame.py(tick.value)
      if taken.contains(where: { abs($0 - y) < Self.line }) { continue }
      taken.append(y)
      if panel.cells.isEmpty { canvas.line(frame.x, y, frame.right, y, ink: .grid) }
      canvas.text(tick.label, x: frame.x - 6, y: y + 5, anchor: .end)
    }
  }

  private mutating func drawHorizontalAxis(_ panel: Chart.Panel, in frame: Frame, isLabelled: Bool) {
    var taken: [ClosedRange<Double>] = []
    for tick in frame.horizontal.ticks(max(Int(frame.width / 70), 2))
    where frame.horizontal.range.contains(tick.value) {
      let half = Lettering.width(of: tick.label) / 2
      let x = min(frame.px(tick.value), edge - half)
      let room = x - half - 6...x + half + 6
      if taken.contains(where: room.overlaps) { continue }
      taken.append(room)
      if panel.cells.isEmpty {
        canvas.line(frame.px(tick.value), frame.y, frame.px(tick.value), frame.bottom, ink: .grid)
      }
      guard isLabelled else { continue }
      canvas.text(tick.label, x: x, y: frame.bottom + 18, anchor: .middle)
    }
  }

  private mutating func drawCells(_ cells: [Chart.Cell], in frame: Frame) {
    for cell in cells {
      let (x, y) = (frame.px(Double(cell.column)), frame.py(Double(cell.row + 1)))
      let width = frame.px(Double(cell.column + 1)) - x - 2
      let height = frame.py(Double(cell.row)) - y - 2
      canvas.rect(
        x: x, y: y, width: width, height: height, fill: cell.ink, opacity: cell.opacity,
        tooltip: canvas.theme == .fixed ? nil : cell.details)
      guard Lettering.width(of: cell.text) < width - 4 else { continue }
      let ink = cell.opacity < 1 ? Ink.text : .surface
      canvas.text(cell.text, x: x + width / 2, y: y + height / 2 + 5, anchor: .middle, ink: ink)
    }
  }

  /// Triangles at the top where a curve goes beyond it.
  private mutating func markCut(_ curve: Chart.Curve, in frame: Frame) {
    var last = -Double.infinity
    for (place, column) in curve.envelope.enumerated() {
      guard let column, frame.vertical.isBeyond(curve.top(column)) else { continue }
      let x = frame.px(curve.position(of: place))
      guard x - last >= 9 else { continue }
      last = x
      canvas.polygon([(x - 4, frame.y - 1), (x, frame.y - 7), (x + 4, frame.y - 1)], fill: curve.ink)
    }
  }

  /// Small ones of a look and colour are one path.
  private mutating func drawDots(_ dots: [Chart.Dot], in frame: Frame) {
    for dot in dots {
      guard let interval = dot.interval else { continue }
      let x = frame.px(dot.x)
      canvas.line(x, frame.py(interval.lowerBound), x, frame.py(interval.upperBound), ink: dot.ink, width: 2)
    }
    var rest = dots[...]
    while let first = rest.first {
      let alike = rest.prefix { $0.look == first.look && $0.ink == first.ink }
      canvas.draw(first, at: alike.map { (frame.px($0.x), frame.py($0.y)) })
      rest = rest.dropFirst(alike.count)
    }
  }

  /// What a curve has from here to there, under the pointer.
  private mutating func addReadings(_ curve: Chart.Curve, in frame: Frame) {
    let columns = curve.envelope
    let areas = min(36, columns.count)
    let format = frame.vertical.format
    for area in 0..<areas {
      let own = columns.count * area / areas..<columns.count * (area + 1) / areas
      guard let value = Array(columns[own]).cut(to: 1).first ?? nil else { continue }
      let (low, high) = (format(value.low), format(value.high))
      let words =
        curve.look == .band
        ? "mean \(format(value.mean)), 95 % band from \(low) to \(high)"
        : low == high ? low : "\(low) … \(high)"
      let (from, to) = (curve.beginning(of: own.lowerBound), curve.beginning(of: own.upperBound))
      canvas.rect(
        x: frame.px(from), y: frame.y, width: frame.px(to) - frame.px(from), height: frame.height,
        tooltip: "from \(frame.horizontal.format(from)): \(words)")
    }
  }

  // MARK: Labels

  private mutating func drawLabels(_ labels: [Chart.Label], clearOf boxes: [LabelPlaces.Box], in frame: Frame)
  {
    var places = LabelPlaces(
      in: .init(left: frame.x, right: frame.right, top: frame.y, bottom: frame.bottom), clearOf: boxes)
    for label in labels {
      let (x, foot) = (frame.px(label.x), min(frame.py(label.y), frame.bottom))
      let place = places.place(label, x: x, foot: foot)
      if label.mark == .rule { canvas.line(x, frame.y, x, frame.bottom, ink: label.ink, width: 1.5) }
      if let place, label.mark == .moment {
        canvas.line(x, foot - 5, x, place.box.top, ink: label.ink, width: 1.5)
      }
      for (number, line) in (place?.lines ?? []).enumerated() {
        canvas.text(
          line, x: place?.box.left ?? x, y: (place?.box.top ?? 0) + 12 + LabelPlaces.line * Double(number),
          size: Lettering.small, ink: label.ink, isBold: label.isBold, halo: true)
      }
      if label.mark == .moment {
        canvas.path(SVGCanvas.circle(x, foot, 5), fill: .surface, stroke: label.ink, width: 2.5)
      }
    }
  }

  /// A curve by its pixels.
  struct PlottedCurve {
    struct Point {
      var x: Double
      var high: Double
      var low: Double
      var mean: Double
    }
    fileprivate let curve: Chart.Curve
    /// The stretches that have values.
    fileprivate var stretches: [[Point]] = []
    fileprivate let end: Double

    init(_ curve: Chart.Curve, in frame: Frame) {
      var curve = curve
      curve.envelope = curve.envelope.cut(to: Int(frame.width / ChartDrawing.pixelsPerColumn))
      self.curve = curve
      end = frame.px(curve.range.upperBound)
      var isOpen = false
      for (place, column) in curve.envelope.enumerated() {
        if let column {
          if !isOpen { stretches.append([]) }
          let position = curve.look == .steps ? curve.beginning(of: place) : curve.position(of: place)
          stretches[stretches.count - 1].append(
            Point(
              x: frame.px(position), high: frame.py(column.high), low: frame.py(column.low),
              mean: frame.py(column.mean)))
        }
        isOpen = column != nil
      }
    }

    /// What a text should not cover.
    fileprivate var boxes: [LabelPlaces.Box] {
      stretches.flatMap { points in
        zip(points, points.dropFirst()).map { a, b in
          LabelPlaces.Box(left: a.x, right: b.x, top: min(a.high, b.high), bottom: max(a.low, b.low))
        }
      }
    }
  }
}

/// Finds places for texts beside what they name: none covers another, and none a curve if possible.
private struct LabelPlaces {
  struct Box {
    var left: Double
    var right: Double
    var top: Double
    var bottom: Double

    func meets(_ other: Box) -> Bool {
      left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }
  }

  private let bounds: Box
  private let lines: [Box]
  private var texts: [Box] = []
  private var stems: [Box] = []

  static let line = 16.0

  init(in bounds: Box, clearOf lines: [Box]) { (self.bounds, self.lines) = (bounds, lines) }

  /// Beside `x`, as near as can be to the height that suits its mark.
  mutating func place(_ label: Chart.Label, x: Double, foot: Double) -> (box: Box, lines: [String])? {
    let isBold = label.isBold
    func width(_ text: String) -> Double { Lettering.width(of: text, isBold: isBold) }
    let wanted =
      switch label.mark {
      case .none: foot - Self.line - 4
      case .moment: min(foot - 34, bounds.bottom - 38)
      case .rule: bounds.top + 2
      }
    var best: (box: Box, lines: [String], stem: Box, cost: Double)?
    let parts = label.text.split(separator: ": ", maxSplits: 1).map(String.init)
    for words in parts.count == 2 ? [[label.text], parts] : [[label.text]] {
      let (size, height) = (words.map(width).max() ?? 0, Self.line * Double(words.count))
      for isRight in [true, false] {
        let left = isRight ? x + 6 : x - 6 - size
        if left < bounds.left || left + size > bounds.right { continue }
        for top in stride(from: bounds.top + 2, through: bounds.bottom - height - 2, by: 4) {
          let box = Box(left: left, right: left + size, top: top, bottom: top + height)
          let stem = stem(of: label.mark, x: x, from: top, to: max(foot, top))
          if (texts + stems).contains(where: box.meets) || texts.contains(where: stem.meets) { continue }
          let cost =
            abs(top - wanted) + (isRight ? 0 : 60) + (words.count > 1 ? 60 : 0)
            + (lines.contains(where: box.meets) ? 100 : 0)
          if cost < best?.cost ?? .infinity { best = (box, words, stem, cost) }
        }
      }
    }
    guard let best else { return nil }
    texts.append(best.box)
    stems.append(best.stem)
    return (best.box, best.lines)
  }

  private func stem(of mark: Chart.Label.Mark, x: Double, from top: Double, to foot: Double) -> Box {
    switch mark {
    case .none: Box(left: x, right: x, top: foot, bottom: foot)
    case .moment: Box(left: x - 2, right: x + 2, top: top, bottom: foot)
    case .rule: Box(left: x - 2, right: x + 2, top: bounds.top, bottom: bounds.bottom)
    }
  }
}

extension SVGCanvas {
  fileprivate mutating func draw(_ plotted: ChartDrawing.PlottedCurve, bottom: Double) {
    let curve = plotted.curve
    for points in plotted.stretches {
      let means = points.map { ($0.x, $0.mean) }
      let isWide = points.contains { $0.low - $0.high >= 0.3 }
      let (highs, lows) = (points.map { ($0.x, $0.high) }, points.reversed().map { ($0.x, $0.low) })
      switch curve.look {
      case .line: path(PathBuilder.line(means), stroke: curve.ink, width: curve.width, dash: curve.dash)
      case .band:
        if isWide { path(PathBuilder.area(highs, lows), fill: curve.ink, fillOpacity: 0.3) }
        path(PathBuilder.line(means), stroke: curve.ink, width: curve.width, dash: curve.dash)
      case .spikes, .area:
        if curve.look == .area, let first = points.first, let last = points.last {
          let area = PathBuilder.area(highs, [(last.x, bottom), (first.x, bottom)])
          path(area, fill: curve.ink, fillOpacity: 0.16)
        }
        if isWide {
          path(PathBuilder.area(highs, lows), fill: curve.ink, stroke: curve.ink, width: 0.7)
        } else {
          path(PathBuilder.line(highs), stroke: curve.ink, width: curve.width, dash: curve.dash)
        }
      case .steps:
        // A cut interval's rounding is no step.
        var corners = means.prefix(1).map(\.self)
        for (x, y) in means.dropFirst() where abs(corners[corners.count - 1].1 - y) >= 0.5 {
          corners += [(x, corners[corners.count - 1].1), (x, y)]
        }
        corners += corners.suffix(1).map { (plotted.end, $0.1) }
        path(PathBuilder.line(corners), stroke: curve.ink, width: curve.width, dash: curve.dash)
      }
    }
  }

  fileprivate mutating func draw(_ dot: Chart.Dot, at places: [(Double, Double)]) {
    switch dot.look {
    case .point(let width):
      let data = places.map { "M\(Self.px($0.0)) \(Self.px($0.1))h0" }
      path(data.joined(), stroke: dot.ink, width: width, hasRoundEnds: true)
    case .ring:
      for (x, y) in places { path(Self.circle(x, y, 5), fill: .surface, stroke: dot.ink, width: 2) }
    case .star:
      let (a, b) = (9.0, 3.4)
      let corners = [(0, -a), (b, -b), (a, 0), (b, b), (0, a), (-b, b), (-a, 0), (-b, -b)]
      for (x, y) in places { polygon(corners.map { (x + $0.0, y + $0.1) }, fill: dot.ink) }
    }
  }
}
