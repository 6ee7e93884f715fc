import FleetExperiments
import FleetMetrics
import ReportFiles

/// `explore.html`: one self-contained page over the runs of a grid. Its controls choose a run, its charts follow.
///
/// Everything is in the page: the figures of all runs as JSON, the script that draws them, and a table of them for readers without
/// script. The choice stands in the page's address.
public struct ExplorerPage {
  /// A key that was varied, and the names of its values.
  public struct Axis: Sendable, Hashable {
    public var name: String
    public var values: [String]
    public init(name: String, values: [String]) {
      self.name = name
      self.values = values
    }
  }

  private let comparison: ReplicatedComparison
  private let axes: [Axis]

  /// - `comparison`: the variants are every combination of the axes' values, the last axis turning fastest.
  public init(_ comparison: ReplicatedComparison, axes: [Axis]) {
    self.comparison = comparison
    self.axes = axes
  }

  /// The whole page.
  public func text(title: String, question: String?, command: String, version: String)
    -> String
  {
    """
    \(HTMLPage.opening(title: title, question: question, style: String(cString: fleetsim_explore_css())))\
    <form id="controls" class="controls" aria-label="Which run is shown"></form>
    <p class="keys">Arrow keys move a focused control or the cursor of a focused chart. The address holds the choice and both pins.</p>
    <div id="figures"></div>
    <div id="charts"></div>
    <details class="more" id="all">
    <summary>All \(FigureText.count(comparison.variants.count, "run")) as a table</summary>
    \(table)</details>
    <h2>How to run it again</h2>
    <pre><code>\(Markup.escape(command))</code></pre>
    <p class="facts">fleetsim \(Markup.escape(version)), \(comparison.seedsText)</p>
    </main>
    <script>
    //<![CDATA[
    const data = \(json);
    \(String(cString: fleetsim_explore_js()))\
    //]]>
    </script>
    </body>
    </html>

    """
  }

  /// The metrics that are shown: those of the verdict, then the peak.
  private var shown: [Int] {
    let metrics = comparison.metrics
    return metrics.ranked
      + metrics.metrics.indices.filter { metrics.metrics[$0].name == "peak_offered_ratio" }
  }

  private var table: String {
    let metrics = comparison.metrics
    return PageTable(
      columns: [.init(title: "run")] + shown.map { .init(title: metrics.metrics[$0].pageTitle) },
      rows: comparison.variants.indices.map { variant in
        PageTable.Row(
          name: comparison.variants[variant],
          cells: shown.map { PageTable.Cell(text: MetricText.mean(metrics, $0, variant)) })
      }
    ).html
  }

  // MARK: The figures

  /// What the script reads; `<` never stands in it, so that no text of a scenario can end it.
  private var json: String {
    let metrics = comparison.metrics
    let columns = shown.map { index in
      let metric = metrics.metrics[index]
      return
        "{\"name\":\(Self.text(metric.name)),\"title\":\(Self.text(metric.pageTitle)),\"unit\":\(Self.text(metric.unit)),"
        + "\"lower\":\(metric.direction != .higherIsBetter)}"
    }
    let runs = comparison.variants.indices.map { variant in
      let curve = comparison.curves[variant]
      let values = shown.map { index in
        let sample = metrics.sample(index, variant: variant)
        return sample.count > 0 ? Self.number(sample.mean) : "null"
      }
      let texts = shown.map { Self.text(MetricText.mean(metrics, $0, variant)) }
      let facts = curve.facts
      let incidents = (facts?.shaded ?? []).map {
        "[\(Self.number(Double($0.start) / 1e6)),\(Self.number(Double(min($0.end, facts?.duration ?? $0.end)) / 1e6))]"
      }
      let damage = zip(curve.backlog, curve.twinBacklog).map { backlog, twin in
        backlog.map { max(0, $0.mean - (twin?.mean ?? 0)) }
      }
      return "{\"name\":\(Self.text(curve.name)),\"values\":[\(values.joined(separator: ","))],"
        + "\"texts\":[\(texts.joined(separator: ","))],\"duration\":\(Self.number(Double(facts?.duration ?? 0) / 1e6)),"
        + "\"capacity\":\(Self.number(Double(facts?.nominalCapacityMilli ?? 0) / 1e3)),"
        + "\"incidents\":[\(incidents.joined(separator: ","))],"
        + "\"curves\":[\(Self.array(damage)),\(Self.array(curve.offered.map { $0?.mean })),"
        + "\(Self.array(curve.goodput.map { $0?.mean }))]}"
    }
    let axes = axes.map { axis in
      "{\"name\":\(Self.text(axis.name)),\"values\":[\(axis.values.map(Self.text).joined(separator: ","))],"
        + "\"isScale\":\(axis.values.count > 2 && axis.values.allSatisfy { Quantity($0) != nil })}"
    }
    let best = Standings(comparison).firstChoice ?? 0
    return
      "{\"best\":\(best),\"axes\":[\(axes.joined(separator: ","))],\"metrics\":[\(columns.joined(separator: ","))],\n\"runs\":[\n"
      + runs.joined(separator: ",\n") + "]}"
  }

  private static func text(_ text: String) -> String {
    text.asJSON.replacing("<", with: "\\u003c").replacing("]]>", with: "]]\\u003e")
  }

  private static func array(_ values: [Double?]) -> String {
    "[" + values.map { $0.map(number) ?? "null" }.joined(separator: ",") + "]"
  }

  /// Four significant digits.
  private static func number(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "null" }
    if value == value.rounded(), abs(value) < 1e4 { return String(Int64(value)) }
    var scale = 1.0
    while abs(value) * scale < 1_000, scale < 1e6 { scale *= 10 }
    let rounded = (value * scale).rounded() / scale
    return rounded == rounded.rounded() ? String(Int64(rounded)) : "\(rounded)"
  }
}
