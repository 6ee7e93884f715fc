import FleetExperiments
import FleetStatistics

/// Paired differences to the first variant as a share of its mean: a point and its interval for each variant and headline
/// metric, beside a line at no difference.
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
  init?(_ metrics: ReplicatedMetrics, theme: Theme) {
    names = metrics.variants
    self.theme = theme
    panels = metrics.ranked.compactMap { index in
      let reference = metrics.sample(index, variant: 0).mean
      guard reference > 0 else { return nil }
      let ranking = metrics.ranking(index)
      let marks = metrics.variants.indices.dropFirst().compactMap { variant -> Mark? in
        let pair = ranking.pair(0, variant)
        guard let interval = pair.interval else { return nil }
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
      canvas.text(
        Self.percent(value), x: px(value), y: bottom + 17, size: 10.5, anchor: anchor)
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
