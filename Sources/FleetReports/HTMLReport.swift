import FleetExperiments
import FleetMetrics

/// `report.html`: one self-contained file with inline SVG and CSS and no script, legible in light and dark
/// mode and in print.
///
/// It leads with the verdict and its figures, then all strategies in one plot round the incident, then the summary table; folded
/// below are one figure per quantity with a strip for each strategy on shared axes, and what the words mean. The document is
/// well-formed XML as well as HTML.
public enum HTMLReport {
  /// Renders the whole document.
  /// - `title`: what was run, for the heading.
  /// - `question`: the scenario's question, if it asks one.
  /// - `results`: the strategies in the order to show them; may be a single one.
  /// - `verdict`: a sentence or a few; lines are shown as paragraphs.
  /// - `scenarioJSON`: the scenario as normalised.
  /// - `command`: the command line that makes this report again.
  /// - `version`: of the program.
  /// - `clients`: in what cohorts are not as their client presets.
  /// - `scaleNote`: what is to be said of a scenario that is a part of a larger one.
  public static func render(
    title: String, question: String? = nil, results: [VariantResult], verdict: String, scenarioJSON: String,
    command: String, version: String, seed: UInt64, clients: ClientDifferences? = nil,
    scaleNote: String? = nil
  ) -> String {
    let standings = Standings(results)
    let body =
      results.isEmpty
      ? ""
      : overlays(results) + summaryTable(results, standings)
        + (results.count == 1
          ? figures(results)
          : HTMLPage.folded("The whole run, strategy by strategy", figures(results)))
    return HTMLPage(
      title: title, question: question, verdict: verdict, headline: Headline(standings).html,
      facts: facts(results, seed: seed) + (scaleNote.map { " · \($0)" } ?? ""),
      sections: body + table(of: clients) + terms, command: command, scenarioJSON: scenarioJSON,
      version: "\(version), seed \(seed)"
    ).text
  }

  /// What in the scenario is not as the client presets that it names.
  static func table(of clients: ClientDifferences?) -> String {
    guard let clients else { return "" }
    let title = "In what the clients differ from their presets"
    guard !clients.lines.isEmpty else {
      return HTMLPage.section(title, "<p>In nothing: \(Markup.escape(clients.text.joined())).</p>\n")
    }
    let most = 100
    let rows = clients.lines.indices.prefix(most).map { index in
      let line = clients.lines[index]
      let scope = clients.scope(index)
      return [
        line.path + (scope.isEmpty ? "" : " (\(scope))"), line.difference.value,
        "\(line.difference.preset) (\(line.client))", line.difference.meaning,
      ]
    }
    return HTMLPage.table(
      title, TextTable(header: ["key", "here", "in the preset", "what it decides"], rows: rows).page,
      note: clients.lines.count > most ? "And \(clients.lines.count - most) more." : nil)
  }

  /// `20,000 devices, 2 h of virtual time, capacity 1,267 requests/s, outage without answer from 20 min for
  /// 10 min, seed 1`
  private static func facts(_ results: [VariantResult], seed: UInt64) -> String {
    func unique<Value: Equatable>(_ value: (VariantResult) -> Value) -> Value? {
      guard let first = results.first.map(value), results.allSatisfy({ value($0) == first }) else {
        return nil
      }
      return first
    }
    var facts: [String] = []
    if let devices = unique(\.record.devices) { facts.append(FigureText.count(devices, "device")) }
    if let duration = unique(\.record.series.duration) {
      facts.append("\(Humanised.duration(duration)) of virtual time")
    }
    if let capacity = unique(\.record.nominalCapacityMilli) {
      facts.append("capacity \(Humanised.compact(Double(capacity) / 1_000)) requests/s")
    }
    if let shaded = unique(\.shaded) { facts += shaded.map(\.text) }
    return (facts + ["seed \(seed)"]).joined(separator: " · ")
  }

  private static func figures(_ results: [VariantResult]) -> String {
    let charts = MetricCharts(results: results, theme: .variables)
    let shaded = [
      results.contains { !$0.incidents.isEmpty } ? "incidents" : nil,
      results.contains { !$0.record.actions.isEmpty } ? "actions" : nil,
    ].compactMap(\.self).joined(separator: " and ")
    let incidents = shaded.isEmpty ? "" : " Shaded: \(shaded)."
    var html = ""
    let offered = charts.offered()
    html += HTMLPage.figure(
      "Offered load",
      "Upload attempts reaching the server, requests per second. Dashed line: capacity.\(incidents)"
        + clippingNote(offered), offered.svg())
    let goodput = charts.goodput()
    html += HTMLPage.figure(
      "Goodput",
      "Batches accepted for the first time, per second. Dashed line: capacity." + clippingNote(goodput),
      goodput.svg())
    html += HTMLPage.figure(
      "Backlog",
      "Events created and neither accepted nor dropped. Grey line: the twin, the same run without incidents.",
      charts.backlog().svg())
    if let drops = charts.drops() {
      let others = results.indices.filter { i in !drops.strips.contains { $0.index == i } }
      let note =
        others.isEmpty ? "" : " Without drops: \(others.map { results[$0].name }.joined(separator: ", "))."
      html += HTMLPage.figure(
        "Dropped events", "Running total over the run, for all reasons.\(note)", drops.svg())
    } else {
      html += HTMLPage.section("Dropped events", "<p>No events were dropped.</p>\n")
    }
    if let delivery = charts.timeToDelivery() {
      html += HTMLPage.figure(
        "Time to delivery",
        "Of the events accepted in each interval, from creation to acceptance, on a logarithmic axis. "
          + "Coloured: 99th percentile. Dark or white: median. A gap: nothing was accepted.", delivery.svg())
    }
    return html
  }

  /// All strategies round the incident; nothing without one.
  static func overlays(_ results: [VariantResult]) -> String {
    let charts = MetricCharts(results: results, theme: .variables)
    let overlays = [charts.backlogOverlay(), charts.offeredOverlay()].compactMap { $0 }
    guard let first = overlays.first else { return "" }
    let width = (first.times.upperBound - first.times.lowerBound) / Double(OverlayChart.columns)
    let isCut = overlays.contains { chart in
      chart.lines.contains { $0.line.envelope.highestMean > chart.limit }
    }
    return HTMLPage.figure(
      "Round the incident",
      "Normal is the twin, the same run without incidents. Means over about \(Humanised.duration(Int64(width)))"
        + (isCut ? "; ▲ marks where a value is higher." : "."),
      overlays.map { $0.html(label: "\($0.title), round the incident") }.joined())
  }

  static func clippingNote(_ chart: StripChart) -> String {
    chart.clippedLimit.map { " Cut off at \($0); ▲ marks where a value is higher." } ?? ""
  }
}
