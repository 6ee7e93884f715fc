import FleetExperiments
import FleetMetrics
import ReportFiles
import TextEscaping

/// The parts of self-contained pages.
enum HTMLPage {
  /// - Parameter script: of the page; no other can run in it, whatever stands in a text, nor is anything loaded.
  static func opening(
    title: String, question: String?, style: String = "", script: String? = nil
  ) -> String {
    let scripts = script.map { "'sha256-\(SHA256.base64(Array($0.utf8)))'" } ?? "'none'"
    let question = question.map { "<p class=\"question\">\(Escaping.markup($0))</p>\n" } ?? ""
    func variables(_ palette: [Ink: String]) -> String {
      palette.map { "--\($0.key.rawValue):\($0.value);" }.sorted().joined()
    }
    let (light, dark) = (variables(Theme.light), variables(Theme.dark))
    return """
      <!DOCTYPE html>
      <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src \(scripts); style-src 'unsafe-inline'; \
      base-uri 'none'; form-action 'none'"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <title>\(Escaping.markup(title))</title>
      <style>
      :root{color-scheme:light dark;\(light)--panel:#f4f6f8;--best:#0b6e4f;}
      @media (prefers-color-scheme:dark){:root{\(dark)--panel:#1d232a;--best:#4fd1a5;}}
      @media print{:root{color-scheme:light;\(light)--panel:#f4f6f8;--best:#0b6e4f;}}
      \(String(cString: fleetsim_report_css()))\(style)</style>
      </head>
      <body>
      <main>
      <header>
      <h1>\(Escaping.markup(title))</h1>
      \(question)</header>

      """
  }

  /// How to run it again.
  static func again(_ command: String) -> String {
    "<h2>How to run it again</h2>\n<pre><code>\(Escaping.markup(command))</code></pre>\n"
  }

  /// Sections that are there for whoever wants them; in print they are open.
  static func folded(_ title: String, _ sections: String) -> String {
    sections.isEmpty
      ? "" : "<details class=\"more\">\n<summary>\(Escaping.markup(title))</summary>\n\(sections)</details>\n"
  }

  static func section(_ title: String, _ html: String, note: String? = nil) -> String {
    let note = note.map { "<p class=\"facts\">\(Escaping.markup($0))</p>\n" } ?? ""
    return "<section>\n<h2>\(Escaping.markup(title))</h2>\n\(html)\(note)</section>\n"
  }
}

extension TextTable {
  /// Each row has a heading, and cells with what belongs to them.
  var html: String {
    var html = "<div class=\"chart\">\n<table>\n<thead><tr>"
    for column in columns {
      html +=
        "<th scope=\"col\"\(Self.attribute("title", column.meaning))>\(Escaping.markup(column.title))</th>"
    }
    html += "</tr></thead>\n<tbody>\n"
    for (row, cells) in rows.enumerated() {
      let heading = best.contains(row) ? " class=\"best\"" : ""
      html += "<tr><th scope=\"row\"\(heading)>\(Escaping.markup(cells[0]))</th>"
      for place in columns.indices.dropFirst() {
        let extra = extras.isEmpty ? nil : extras[row][place]
        html +=
          "<td\(Self.attribute("class", extra?.mark))\(Self.attribute("data-label", columns[place].title))"
        html += "\(Self.attribute("title", extra?.details))>" + text(cells[place], extra) + "</td>"
      }
      html += "</tr>\n"
    }
    return html + "</tbody>\n</table>\n</div>\n"
  }

  private func text(_ cell: String, _ extra: Extra?) -> String {
    if extras.isEmpty { return Escaping.markup(cell) }
    var html = cell.split(separator: "\n").map { Escaping.markup(String($0)) }.joined(separator: "<br/>")
    if let rank = extra?.rank {
      html += " <small class=\"rank\(rank == 1 ? " first" : "")\">#\(rank)</small>"
    }
    if let note = extra?.note { html += "<br/><small>\(Escaping.markup(note))</small>" }
    return "<span>\(html)</span>"
  }

  private static func attribute(_ name: String, _ value: String?) -> String {
    value.map { " \(name)=\"\(Escaping.markup($0))\"" } ?? ""
  }
}

/// `explore.html`: one self-contained page over the runs of a grid. Its controls choose a run, its charts follow.
///
/// Everything is in the page: the figures of all runs as JSON and the script that draws them. A table has the figures for readers
/// without script. The choice stands in the page's address.
public struct ExplorerPage {
  /// A key that was varied, and the names of its values.
  public struct Axis: Sendable, Hashable {
    public var name: String
    public var values: [String]
    /// The value that the scenario itself has; nil: it is none of these.
    public var today: Int?
    public init(name: String, values: [String], today: Int? = nil) {
      (self.name, self.values, self.today) = (name, values, today)
    }
  }

  private let trial: Trial
  private let standings: Standings
  private let axes: [Axis]

  /// - `report`: its variants are every combination of the axes' values, the last axis turning fastest.
  package init(_ report: TrialReport, axes: [Axis]) {
    (trial, standings, self.axes) = (report.trial, report.standings, axes)
  }

  /// The whole page.
  public func text(title: String, question: String?, command: String, version: String)
    -> String
  {
    """
    \(HTMLPage.opening(
      title: title, question: question, style: String(cString: fleetsim_explore_css()), script: Self.script))\
    <form id="controls" class="controls" aria-label="Which run is shown"></form>
    <p class="keys">Arrow keys move a focused control or the cursor of a focused chart. The address holds the choice and both pins.</p>
    <section class="verdict" aria-label="Verdict" aria-live="polite"><p id="verdict"></p><p id="against"></p></section>
    <div id="map"></div>
    <div id="figures"></div>
    <div id="charts"></div>
    <details class="more" id="all">
    <summary>All \(FigureText.count(trial.variants.count, "run")) as a table</summary>
    \(table)</details>
    \(HTMLPage.again(command))<p class="facts">fleetsim \(Escaping.markup(version)), \(trial.seedsText)</p>
    </main>
    <script type="application/json" id="data">
    \(json)
    </script>
    <script>\(Self.script)</script>
    </body>
    </html>

    """
  }

  /// The metrics that are shown: those of the verdict, then the peak.
  private var shown: [Int] {
    let metrics = standings.metrics
    return metrics.ranked
      + metrics.metrics.indices.filter { metrics.metrics[$0].name == "peak_offered_ratio" }
  }

  /// The run with the scenario's own values; nil where one of them is not in the grid.
  private var today: Int? {
    axes.reduce(0) { run, axis in
      guard let run, let today = axis.today else { return nil }
      return run * axis.values.count + today
    }
  }

  private var table: String {
    let metrics = standings.metrics
    return TextTable(
      header: ["run"] + shown.map { metrics.metrics[$0].title },
      rows: trial.variants.indices.map { variant in
        [trial.variants[variant]] + shown.map { metrics.figure($0, variant).cell }
      }
    ).html
  }

  // MARK: The figures

  private static let script = "\n//<![CDATA[\n\(String(cString: fleetsim_explore_js()))//]]>\n"

  /// The data for the script, which no text of a scenario can end.
  private var json: String {
    let metrics = standings.metrics
    let best = standings.firstChoice ?? 0
    let scale = Double(trial.rows.commonScale)
    let columns = shown.map { index in
      let metric = metrics.metrics[index]
      return Self.object([
        "name": Self.text(metric.name), "title": Self.text(metric.title), "unit": Self.text(metric.unit),
        "lower": "\(metric.direction != .higherIsBetter)",
      ])
    }
    let runs = trial.variants.indices.map { variant in
      let curve = trial.curves[variant]
      let values = shown.map { index in
        let sample = metrics.sample(index, variant: variant)
        return sample.count > 0 ? Self.number(sample.mean) : "null"
      }
      let texts = shown.map { Self.text(metrics.figure($0, variant).withInterval()) }
      let facts = curve.facts
      let incidents = (facts?.shaded ?? []).map {
        Self.array([$0.start, min($0.end, facts?.duration ?? $0.end)].map { Double($0) / 1e6 })
      }
      let damage = curve[.aboveNormal].map { $0.map { scale * max(0, $0.mean) } }
      let reference = today ?? best
      let standing =
        variant == reference ? "same" : standings.pair(variant, against: reference).standing.rawValue
      func rates(_ points: [VariantCurves.Point?]) -> String {
        Self.array(points.map { $0.map { scale * $0.mean } })
      }
      return Self.object([
        "name": Self.text(curve.name), "values": Self.array(values), "texts": Self.array(texts),
        "duration": Self.number(Double(facts?.duration ?? 0) / 1e6),
        "capacity": Self.number(scale * Double(facts?.nominalCapacityMilli ?? 0) / 1e3),
        "verdict": Self.text(trial.story(of: variant).text), "standing": Self.text(standing),
        "incidents": Self.array(incidents),
        "curves": Self.array([Self.array(damage), rates(curve[.offered]), rates(curve[.goodput])]),
      ])
    }
    let axes = axes.map { axis in
      Self.object([
        "name": Self.text(axis.name), "values": Self.array(axis.values.map(Self.text)),
        "today": axis.today.map(String.init) ?? "null",
        "isScale": "\(axis.values.count > 2 && axis.values.allSatisfy { Quantity($0) != nil })",
      ])
    }
    return Self.object([
      "best": "\(best)", "today": today.map(String.init) ?? "null", "axes": Self.array(axes),
      "metrics": Self.array(columns),
    ]).dropLast() + ",\n\"runs\":[\n" + runs.joined(separator: ",\n") + "]}"
  }

  private static func text(_ text: String) -> String { Escaping.script(text) }

  private static func object(_ members: KeyValuePairs<String, String>) -> String {
    "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  private static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  private static func array(_ values: [Double?]) -> String { array(values.map { $0.map(number) ?? "null" }) }

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
