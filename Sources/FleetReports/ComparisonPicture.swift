import FleetExperiments
import FleetMetrics

/// A comparison as a picture that stands alone, for a README, with the finding as its title. One plot shows the events that wait
/// on the devices of all strategies. Below it a panel for each strategy shows the load that reaches the server.
///
/// The best one has the accent, all others are grey. Each line has its name and its figure beside it. Without an incident there
/// is no first plot. Where there are many strategies some are left out, and the picture says how many.
package struct ComparisonPicture {
  private let charts: ComparisonCharts
  private let standings: Standings
  /// The names of the strategies beside their lines.
  private let labels: [String]
  /// `, by uploadConcurrency`, where labels are the values of one key alone.
  private let key: String
  private let seeds: String
  /// The variants that are shown, the best first.
  private let shown: [Int]
  private let times: ClosedRange<Double>
  private let isRoundIncident: Bool

  private static let width = Lettering.pictureWidth
  /// Strategies at most.
  package static let most = 8
  private static let margin = Lettering.margin
  private static let left = 58.0
  private static let inner = width - 2 * margin
  private static let between = 30.0

  private var titles: [String] { standings.titles }
  private var compared: Compared { charts.compared }

  /// - Parameter choices: the difference between the strategies; without any, they go by their names.
  package init(_ compared: Compared, choices: [VariantChoice] = []) {
    charts = ComparisonCharts(compared, theme: .fixed)
    standings = charts.standings.telling(choices)
    let titles = standings.titles
    // Titles have their key with them, unless that makes them long.
    let isLong = titles.contains { $0.count > 26 } && Set(compared.names).count == compared.names.count
    labels = isLong ? compared.names : titles
    key = isLong ? Self.commonKey(titles).map { ", by \($0)" } ?? "" : ""
    seeds =
      switch compared {
      case .means(let comparison): comparison.seedsText
      case .whole(let results): results.first.map { "seed \($0.summary.seed)" } ?? ""
      }
    shown = Self.choice(charts.standings.order)
    let round = charts.timesRoundIncident
    let longest = charts.facts.compactMap { $0?.duration }.max() ?? 0
    isRoundIncident = round != nil
    times = round ?? 0...Double(max(longest, 1))
  }

  /// Returns the last part of the key before the values, if all titles have the same: `uploadConcurrency` for
  /// `uploadConcurrency = 2` and `uploadConcurrency = 5`. Returns nil where they differ.
  private static func commonKey(_ titles: [String]) -> Substring? {
    let keys = Set(titles.map { title in title.firstRange(of: " = ").map { title[..<$0.lowerBound] } ?? "" })
    guard keys.count == 1, let key = keys.first else { return nil }
    return key.split(separator: ".").last
  }

  /// The best ones, the first variant, which is as a rule today's, and the worst ones.
  package static func choice(_ order: [Int]) -> [Int] {
    guard order.count > most else { return order }
    let best = order.prefix(most / 2)
    let rest = order.dropFirst(most / 2)
    let today = rest.filter { $0 == 0 }
    let worst = rest.filter { $0 != 0 }.suffix(most - best.count - today.count)
    let kept = Set(best + today + worst)
    return order.filter(kept.contains)
  }

  /// The finding.
  private var title: String { standings.story.finding }

  // MARK: Lines

  /// Whether a strategy is the best or among the best.
  private func isBest(_ variant: Int) -> Bool { standings.ticked.contains(variant) }

  /// The same look wherever the strategy is drawn.
  private func styled(_ line: PlotLine, _ variant: Int) -> PlotLine {
    var line = line
    line.ink = isBest(variant) ? .accent : .other
    line.width = isBest(variant) ? 3 : 1.6
    let alike = shown.filter { isBest($0) == isBest(variant) }
    line.dash = alike.firstIndex(of: variant).flatMap(Theme.dash)
    return line
  }

  private func metric(_ name: String) -> Int? { standings.metrics.metrics.firstIndex { $0.name == name } }

  private func text(_ name: String, _ variant: Int) -> String? {
    metric(name).map { standings.metrics.figure($0, variant).text }.flatMap { $0 == "–" ? nil : $0 }
  }

  /// Microseconds from the last incident's end, the mean of those runs that recovered; nil if none did.
  private func recovery(_ variant: Int) -> Double? {
    mean(compared.rows[variant].compactMap(\.recoveryTime))
  }

  /// The same until the server turns nobody away; nil where a run never came so far, or never recovered.
  private func healthy(_ variant: Int) -> Double? {
    let rows = compared.rows[variant]
    let times = rows.map(\.healthyTime)
    return times.contains(nil) || rows.contains { $0.recoveryTime == nil }
      ? nil : mean(times.compactMap(\.self))
  }

  private func mean(_ times: [Int64]) -> Double? {
    times.isEmpty ? nil : times.reduce(0) { $0 + Double($1) } / Double(times.count)
  }

  private func recoveryText(_ variant: Int) -> String? { text(MetricCatalogue.recovery, variant) }

  /// `recovered in 12 min, nothing lost`
  private func figures(_ variant: Int) -> String {
    let recovery = recoveryText(variant).map { $0 == "never" ? "never recovered" : "recovered in \($0)" }
    let lost = text(MetricCatalogue.lost, variant).map {
      $0 == "0" ? "nothing lost" : "\($0) \($0 == "1" ? "event" : "events") lost"
    }
    return [recovery, lost].compactMap(\.self).joined(separator: ", ")
  }

  // MARK: The whole

  package var svg: String {
    var canvas = SVGCanvas(theme: .fixed)
    var y = drawTitle(on: &canvas)
    if !compared.names.isEmpty {
      if isRoundIncident, let chart = charts.backlogOverlay() { y = draw(chart, on: &canvas, top: y) + 14 }
      y = drawPanels(on: &canvas, top: y)
    }
    return canvas.svg(
      width: Self.width, height: y + Self.margin, label: title, description: description)
  }

  /// The figures of every strategy, for a reader who does not see the picture.
  private var description: String {
    shown.map { "\(titles[$0]): \(figures($0))." }.joined(separator: " ") + leftOut.map { " \($0)" }.joined()
  }

  private var leftOut: [String] {
    let count = compared.names.count - shown.count
    return count > 0 ? ["Left out: \(FigureText.count(count, "variant")) between these in rank."] : []
  }

  private func drawTitle(on canvas: inout SVGCanvas) -> Double {
    var y = canvas.drawTitle(title, top: 12)
    guard !compared.names.isEmpty else { return y }
    y += 4
    for line in Lettering.lines(compared.factsLine(seeds), width: Self.inner, size: Lettering.small, most: 2)
    {
      y += 19
      canvas.text(line, x: Self.margin, y: y, size: Lettering.small)
    }
    return y + 12
  }

  /// The incident's names above a plot, and where nothing else says it what time is counted from.
  private func drawIncidentNames(
    _ spans: [(range: ClosedRange<Double>, label: String)], on canvas: inout SVGCanvas, in plot: Plot
  ) {
    var free = plot.x
    var seen: Set<String> = []
    for span in spans where span.range.upperBound > plot.times.lowerBound && seen.insert(span.label).inserted
    {
      let width = Lettering.width(of: span.label, size: Lettering.small)
      let (from, to) = (plot.px(time: span.range.lowerBound), plot.px(time: span.range.upperBound))
      let x = min(max((from + to - width) / 2, plot.x), plot.x + plot.width - width)
      guard x >= free else { continue }
      free = x + width + 10
      canvas.text(span.label, x: x, y: plot.y - 6, size: Lettering.small, ink: .incident)
    }
  }

  private func shade(_ ranges: [ClosedRange<Double>], on canvas: inout SVGCanvas, in plot: Plot) {
    for range in ranges where range.upperBound > plot.times.lowerBound {
      let (from, to) = (plot.px(time: range.lowerBound), plot.px(time: range.upperBound))
      canvas.rect(
        x: from, y: plot.y, width: max(to - from, 1), height: plot.height, fill: .incident,
        opacity: Theme.incidentOpacity)
    }
  }

  /// Incidents and actions in the picture's time.
  private func spans(_ variant: Int) -> [(range: ClosedRange<Double>, label: String)] {
    let origin = Double(origin(variant))
    return (charts.facts[variant]?.shaded ?? []).map {
      (Double($0.start) - origin...max(Double($0.end), Double($0.start)) - origin, $0.label)
    }
  }

  /// The common label of all incidents that are shown.
  private var commonLabel: String {
    let labels = Set(shown.flatMap { spans($0).map(\.label) })
    return labels.count == 1 ? labels.first ?? "" : "incident"
  }

  private func origin(_ variant: Int) -> Int64 { isRoundIncident ? charts.end(variant) : 0 }

  // MARK: Time

  private var unit: Scale.TimeUnit { Scale.TimeUnit(duration: length) }
  private var length: Int64 { Int64(exactly: (times.upperBound - times.lowerBound).rounded()) ?? 1 }

  /// So many numbers of the unit at most.
  private func timeTicks(most: Int64) -> [Scale.Tick] {
    let step = unit.step(of: length, most: most)
    let (first, last) = (Int64(times.lowerBound) / step, Int64(times.upperBound) / step)
    guard first <= last, last - first < 100 else { return [] }
    return (first...last).map {
      Scale.Tick(
        value: Double($0 * step), label: $0 < 0 ? "−\(unit.number(-$0 * step))" : unit.number($0 * step))
    }
  }

  private var timeCaption: String {
    unit.plural + (isRoundIncident ? " since the end of the last incident" : " of the run")
  }

  private func drawTimes(_ ticks: [Scale.Tick], on canvas: inout SVGCanvas, in plot: Plot) {
    for tick in ticks where plot.times.contains(tick.value) {
      canvas.text(
        tick.label, x: plot.px(time: tick.value), y: plot.bottom + 18, size: Lettering.small, anchor: .middle)
    }
  }

  // MARK: What waits

  /// Room to the right of the plot for the names of those that recover last.
  private static let labelRoom = 90.0

  /// - Returns: where it ends.
  private func draw(_ chart: OverlayChart, on canvas: inout SVGCanvas, top: Double) -> Double {
    canvas.text(
      Lettering.fitting(
        "Events that wait on the devices, above normal\(key)", width: Self.inner, size: Lettering.label,
        isBold: true), x: Self.margin, y: top + 16, size: Lettering.label,
      ink: .text, isBold: true)
    let lines = shown.compactMap { variant in
      standings.order.firstIndex(of: variant).map {
        (variant: variant, line: styled(chart.lines[$0].line, variant))
      }
    }
    let highest =
      lines.map(\.line.envelope).map { compared.isOfOneSeed ? $0.highestMean : $0.maximum }.max() ?? 0
    let plot = Plot(
      x: Self.margin + Self.left, y: top + 44, width: plotWidth,
      height: isCrowded ? 170 : 200,
      times: times, scale: .linear(limit: max(highest * 1.05, 1)))
    let ticks = timeTicks(most: 10)
    let spans =
      Set(shown.map { self.spans($0).map(\.range) }).count == 1
      ? self.spans(shown[0]) : [(times.lowerBound...0, commonLabel)]
    shade(spans.map(\.range), on: &canvas, in: plot)
    canvas.drawTimeGrid(ticks, in: plot)
    canvas.drawVerticalAxis(
      Scale.ticks(upTo: max(highest * 1.05, 1), count: 3), in: plot, size: Lettering.small)
    drawIncidentNames(spans, on: &canvas, in: plot)
    for (_, line) in lines.reversed() { canvas.draw(line, in: plot) }
    drawTimes(ticks, on: &canvas, in: plot)
    canvas.text(timeCaption, x: plot.x + plot.width, y: plot.bottom + 37, size: Lettering.small, anchor: .end)
    drawLabels(lines, on: &canvas, in: plot)
    return plot.bottom + 40
  }

  /// A box that a text fills above its baseline, and the stem to its left.
  private struct Label {
    var x: Double
    var y: Double
    var width: Double
    var stem: Double?

    func meets(_ other: Label) -> Bool {
      let isBeside = x + width + 8 < other.x || other.x + other.width + 8 < x
      return !isBeside && abs(y - other.y) < 19 || isCrossed(by: other) || other.isCrossed(by: self)
    }
    /// Whether the other one's stem stands in its text.
    private func isCrossed(by other: Label) -> Bool {
      guard let stem = other.stem else { return false }
      return other.y < y + 8 && stem > x - 2 && stem < x + width + 4
    }
  }

  /// `full: 12 min`
  private func text(_ variants: [Int]) -> String {
    let figure = recoveryText(variants[0]).map { ": \($0)" } ?? ""
    let room = 330 - Lettering.width(of: figure, size: Lettering.label, isBold: true)
    let names = variants.map { labels[$0] }.joined(separator: ", ")
    return Lettering.fitting(names, width: room, size: Lettering.label, isBold: true) + figure
  }

  /// As wide as leaves room for the names to the right of where they recover.
  private var plotWidth: Double {
    let widest = Self.inner - Self.left - Self.labelRoom
    let widths = shown.compactMap { variant -> Double? in
      guard let time = recovery(variant) else { return nil }
      let share = min(max((time - times.lowerBound) / max(times.upperBound - times.lowerBound, 1), 0.01), 1)
      let width = Lettering.width(of: text([variant]), size: Lettering.label, isBold: isBest(variant))
      return (Self.inner - Self.left - 8 - width) / share
    }
    return min(widest, max(widths.min() ?? widest, 440))
  }

  /// The moment at which each has recovered, with its name beside; the name of one that never does stands at the end of its line.
  ///
  /// Where there is no room left a name is left out: the panels have them all.
  private func drawLabels(
    _ lines: [(variant: Int, line: PlotLine)], on canvas: inout SVGCanvas, in plot: Plot
  ) {
    var placed: [Label] = []
    let edge = Self.width - Self.margin
    func place(_ label: Label, steps: [Double]) -> Label? {
      for step in steps {
        var label = label
        while label.y > plot.y + 12, label.y < plot.bottom {
          if !placed.contains(where: label.meets) {
            placed.append(label)
            return label
          }
          label.y += step
        }
      }
      return nil
    }
    func draw(_ text: String, _ label: Label, _ variant: Int) {
      canvas.text(
        text, x: label.x, y: label.y, size: Lettering.label, ink: isBest(variant) ? .accent : .muted,
        isBold: isBest(variant), halo: true)
    }
    for (variant, line) in lines where recovery(variant) == nil {
      guard let last = line.envelope.columns.last(where: { $0 != nil })??.mean else { continue }
      let text = self.text([variant])
      let width = Lettering.width(of: text, size: Lettering.label, isBold: isBest(variant))
      let y = max(plot.py(last) - 8, plot.y + 14)
      guard let label = place(Label(x: edge - width, y: y, width: width), steps: [-19, 19]) else { continue }
      draw(text, label, variant)
    }
    // Those that recover at the same moment share a label.
    var groups: [(time: Double, variants: [Int])] = []
    for (variant, _) in lines {
      guard let time = recovery(variant) else { continue }
      let known = groups.firstIndex {
        recoveryText($0.variants[0]) == recoveryText(variant) && isBest($0.variants[0]) == isBest(variant)
      }
      if let known { groups[known].variants.append(variant) } else { groups.append((time, [variant])) }
    }
    // The last one lowest, so that no stem stands in another's name.
    for (time, variants) in groups.sorted(by: { $0.time > $1.time }) {
      guard let line = lines.first(where: { $0.variant == variants[0] })?.line else { continue }
      let text = self.text(variants)
      let width = Lettering.width(of: text, size: Lettering.label, isBold: isBest(variants[0]))
      let x = plot.px(time: time)
      let column = line.envelope.columns.indices.last { line.time(of: $0) <= time }
      let value = column.flatMap { line.envelope.columns[$0]?.mean } ?? 0
      let foot = min(plot.py(value), plot.bottom)
      let height = max(min(foot - 22, plot.bottom - 24), plot.y + 14)
      let isLeft = x + 6 + width > edge
      let label = place(
        Label(x: isLeft ? x - 6 - width : x + 6, y: height, width: width, stem: x), steps: [-19, 19])
      if let label {
        canvas.line(x, foot - 5, x, label.y - 11, ink: line.ink, width: 1.5)
        draw(text, label, variants[0])
      }
      canvas.path(ParetoPlot.circle(x, foot, 5), fill: .surface, stroke: line.ink, width: 2.5)
    }
  }

  /// Whether there are so many that everything is made lower.
  private var isCrowded: Bool { shown.count > 6 }

  // MARK: What reaches the server

  /// - Returns: where they end.
  private func drawPanels(on canvas: inout SVGCanvas, top: Double) -> Double {
    let columns = shown.count > 3 ? 2 : 1
    let cell = (Self.inner - Self.between * Double(columns - 1)) / Double(columns)
    let width = cell - Self.left
    let lines = shown.map {
      styled(charts.rate(.offered, $0, times, from: origin($0), columns: Int(width / 1.5)), $0)
    }
    let limit = ComparisonCharts.clipped(
      lines.map(\.envelope.maximum).max() ?? 0,
      typical: lines.map { $0.envelope.highQuantile(0.9) }.max() ?? 0,
      capacity: shown.map(charts.capacity).max() ?? 0)
    let isCut = lines.contains { $0.envelope.maximum > limit * 1.000_001 }
    let mean = compared.isOfOneSeed ? "" : ", mean and its 95 % band"
    canvas.text(
      Lettering.fitting(
        "Requests a second that reach the server\(key)\(mean)"
          + (isCut ? " (▲: more than \(Humanised.compact(limit)))" : ""), width: Self.inner,
        size: Lettering.label,
        isBold: true),
      x: Self.margin, y: top + 16, size: Lettering.label, ink: .text, isBold: true)
    let names = shown.map { Lettering.width(of: labels[$0], size: Lettering.label, isBold: true) }
    let isOneLine = zip(shown, names).allSatisfy {
      $1 + 14 + Lettering.width(of: figures($0), size: Lettering.small) <= cell
    }
    let (header, height) = (isOneLine ? 26.0 : 44.0, columns == 1 ? 84.0 : isCrowded ? 50.0 : 64.0)
    let pitch = header + height + (isCrowded ? 8 : 14)
    let ticks = timeTicks(most: columns == 1 ? 10 : 5)
    let rows = (shown.count + columns - 1) / columns
    let first = top + 28
    for (place, variant) in shown.enumerated() {
      let (row, column) = (place / columns, place % columns)
      let x = Self.margin + Double(column) * (cell + Self.between)
      let y = first + Double(row) * pitch
      let plot = Plot(
        x: x + Self.left, y: y + header, width: width, height: height, times: times,
        scale: .linear(limit: limit))
      let name = Lettering.fitting(labels[variant], width: cell, size: Lettering.label, isBold: true)
      canvas.text(
        name, x: x, y: y + 15, size: Lettering.label, ink: isBest(variant) ? .accent : .text, isBold: true)
      canvas.text(
        figures(variant), x: isOneLine ? x + names[place] + 14 : x, y: isOneLine ? y + 15 : y + 34,
        size: Lettering.small)
      drawPanel(variant, lines[place], ticks, isFirst: place == 0, on: &canvas, in: plot)
      let isLast = row == rows - 1 || place + columns >= shown.count
      if isLast { drawTimes(ticks, on: &canvas, in: plot) }
    }
    let bottom = first + Double(rows - 1) * pitch + header + height
    canvas.text(timeCaption, x: Self.width - Self.margin, y: bottom + 37, size: Lettering.small, anchor: .end)
    for note in leftOut { canvas.text(note, x: Self.margin, y: bottom + 37, size: Lettering.small) }
    return bottom + 40
  }

  private func drawPanel(
    _ variant: Int, _ line: PlotLine, _ ticks: [Scale.Tick], isFirst: Bool, on canvas: inout SVGCanvas,
    in plot: Plot
  ) {
    var line = line
    line.dash = nil
    line.width = isBest(variant) ? 2 : 1.4
    shade(spans(variant).map(\.range), on: &canvas, in: plot)
    canvas.drawTimeGrid(ticks, in: plot)
    guard case .linear(let limit) = plot.scale else { return }
    canvas.drawVerticalAxis(Scale.ticks(upTo: limit, count: 2), in: plot, size: Lettering.small)
    canvas.draw(line, in: plot)
    canvas.drawSteps(
      charts.rate(.capacity, variant, times, from: origin(variant), columns: Int(plot.width / 1.5)), in: plot)
    canvas.markClipping(of: line, in: plot)
    let capacity = charts.capacity(variant)
    if isFirst, capacity > 0, capacity <= limit {
      canvas.text(
        "capacity", x: plot.x + plot.width - 4, y: max(plot.py(capacity) - 5, plot.y + 11),
        size: Lettering.small,
        anchor: .end, ink: .text, halo: true)
    }
    guard isRoundIncident, let healthy = healthy(variant) else { return }
    let x = plot.px(time: healthy)
    canvas.line(x, plot.y, x, plot.bottom, ink: .text, width: 1.5)
    let time = healthy < 1_000_000 ? "at once" : Humanised.duration(Int64(exactly: healthy.rounded()) ?? 0)
    // The time behind it is calm as a rule: the label goes to the right, on two lines if need be.
    let right = plot.x + plot.width + Self.margin - x - 6
    func isFitting(_ text: String, _ room: Double) -> Bool {
      Lettering.width(of: text, size: Lettering.small) <= room
    }
    let whole = "healthy again: \(time)"
    let lines = isFitting(whole, right) ? [whole] : ["healthy again", time]
    let isLeft = !lines.allSatisfy { isFitting($0, right) }
    for (number, line) in (isLeft ? [whole] : lines).enumerated() {
      canvas.text(
        line, x: x + (isLeft ? -6 : 6), y: plot.y + 13 + 16 * Double(number), size: Lettering.small,
        anchor: isLeft ? .end : .start, ink: .text, halo: true)
    }
  }
}
