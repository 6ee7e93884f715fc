import FleetExperiments
import FleetMetrics

/// Pictures of runs as SVG.
public enum SVGChart {
  /// The same as `comparisonPicture` of mean curves with their 95 % bands.
  public static func replicationPicture(_ comparison: ReplicatedComparison) -> String {
    let charts = ReplicationCharts(comparison: comparison, theme: .fixed)
    var offered = charts.offered()
    offered.hovers = 0
    let note = offered.clippedLimit.map { "; ▲: cut off at \($0)" } ?? ""
    return picture(
      "Offered load, requests/s: mean of \(comparison.replications) replications and its 95 % band (dashed: capacity\(note))",
      offered, charts.backlogOverlay(),
      label: "Mean offered load against capacity and mean backlog after the incident: "
        + comparison.variants.joined(separator: ", "))
  }

  /// A picture that stands alone, for a README: offered load against capacity, a strip for each strategy, and
  /// below it all backlogs in one plot. White background, fixed colours, no script, no style sheet.
  ///
  /// 1,160 px wide. Without results it says so; without an incident there is no second part.
  public static func comparisonPicture(_ results: [VariantResult]) -> String {
    var canvas = SVGCanvas(theme: .fixed)
    guard !results.isEmpty else {
      canvas.text("No runs.", x: 20, y: 26, ink: .text)
      return canvas.svg(width: StripChart.width, height: 40, label: "No runs")
    }
    let charts = MetricCharts(results: results, theme: .fixed)
    var offered = charts.offered()
    offered.hovers = 0
    let note = offered.clippedLimit.map { "; ▲: cut off at \($0)" } ?? ""
    let names = results.map(\.name).joined(separator: ", ")
    return picture(
      "Offered load, requests/s (dashed: capacity\(note))", offered, charts.backlogOverlay(),
      label: "Offered load against capacity and backlog after the incident: \(names)")
  }

  private static func picture(
    _ title: String, _ offered: StripChart, _ backlog: OverlayChart?, label: String
  ) -> String {
    var canvas = SVGCanvas(theme: .fixed)
    var y = 8.0
    canvas.text(title, x: 0, y: y + 12, size: 14, ink: .text, isBold: true)
    y += 24
    offered.draw(on: &canvas, top: y)
    y += offered.height + 16
    if let backlog {
      backlog.draw(on: &canvas, top: y)
      y += backlog.height()
    }
    // A margin of 16 px on all sides.
    var framed = SVGCanvas(theme: .fixed)
    framed.append(canvas, x: 16, y: 8)
    return framed.svg(
      width: StripChart.width + 32, height: y + 16,
      label: label)
  }
}
