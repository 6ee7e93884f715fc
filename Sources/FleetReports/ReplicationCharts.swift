import FleetExperiments
import FleetMetrics

/// Mean curves of replications with their 95 % bands.
struct ReplicationCharts {
  var comparison: ReplicatedComparison
  var theme: Theme
  private var curves: [VariantCurves] { comparison.curves }

  init(comparison: ReplicatedComparison, theme: Theme) {
    self.comparison = comparison
    self.theme = theme
  }

  // MARK: Strips

  func offered() -> StripChart {
    rates("Offered load, mean of the replications, requests per second", unit: "requests/s", \.offered)
  }

  func goodput() -> StripChart {
    rates("Goodput, mean of the replications, batches per second", unit: "batches/s", \.goodput)
  }

  func backlog() -> StripChart {
    let envelopes = curves.map { Self.envelope($0.backlog) }
    let limit = envelopes.map(\.maximum).max() ?? 0
    var chart = chart(
      "Undelivered events, mean of the replications", limit: limit, unit: "events", envelopes: envelopes)
    for (i, curve) in curves.enumerated() {
      var twin = line(Self.envelope(curve.twinBacklog), curve, ink: .twin, style: .mean)
      twin.dash = "3 2"
      chart.strips[i].lines.insert(twin, at: 0)
      chart.strips[i].notes = notes(MetricCatalogue.recovery, i) { "recovered in " + $0 }
    }
    return chart
  }

  private func rates(
    _ label: String, unit: String, _ values: KeyPath<VariantCurves, [VariantCurves.Point?]>
  ) -> StripChart {
    let envelopes = curves.map { Self.envelope($0[keyPath: values]) }
    let capacity = curves.map { Double($0.facts?.nominalCapacityMilli ?? 0) / 1_000 }.max() ?? 0
    let limit = MetricCharts.clipped(
      envelopes.map(\.maximum).max() ?? 0, typical: envelopes.map { $0.highQuantile(0.9) }.max() ?? 0,
      capacity: capacity)
    var chart = chart(label, limit: limit, unit: unit, envelopes: envelopes)
    for (i, curve) in curves.enumerated() {
      let reference = Envelope((curve.facts?.capacity ?? []).map { $0 }, columns: Int.max)
      var steps = line(reference, curve, ink: .capacity, style: .line)
      steps.dash = "6 4"
      chart.strips[i].reference = steps
      chart.strips[i].notes =
        values == \.offered
        ? notes("peak_offered_ratio", i) { "peak \($0)×" }
          + (comparison.isHerdThePeak ? [] : notes("herd_factor_ratio", i) { "herd factor \($0)×" })
        : notes("idle_while_backlogged_s", i) { "\($0) idle" }
    }
    return chart
  }

  private func notes(_ metric: String, _ variant: Int, _ text: (String) -> String) -> [String] {
    guard let index = comparison.metrics.metrics.firstIndex(where: { $0.name == metric }) else { return [] }
    let value = MetricText.mean(comparison.metrics, index, variant)
    if value == "–" { return [] }
    let note = value == "never" ? "never recovered" : text(value)
    // Beside a strip there is room for some 26 letters.
    guard note.count > 26, let range = note.firstRange(of: " ± ") else { return [note] }
    return [String(note[..<range.lowerBound]), "± " + note[range.upperBound...]]
  }

  private func chart(_ label: String, limit: Double, unit: String, envelopes: [Envelope]) -> StripChart {
    let limit = max(limit, 1)
    let strips = curves.enumerated().map { i, curve in
      StripChart.Strip(
        name: curve.name, index: i, lines: [line(envelopes[i], curve, ink: .series(i), style: .band)],
        incidents: curve.facts?.shaded ?? [], duration: curve.facts?.duration ?? 0)
    }
    var chart = StripChart(
      strips: strips, scale: .linear(limit: limit), ticks: Scale.ticks(upTo: limit, count: 3), label: label,
      format: { Humanised.compact($0) + " " + unit }, unit: unit, theme: theme,
      stripHeight: curves.count == 1 ? 160 : 78)
    chart.hovers = 60
    return chart
  }

  private func line(_ envelope: Envelope, _ curve: VariantCurves, ink: Ink, style: PlotLine.Style) -> PlotLine
  {
    PlotLine(
      envelope: envelope, times: 0...Double(max(curve.facts?.duration ?? 0, 1)), ink: ink, style: style)
  }

  private static func envelope(_ points: [VariantCurves.Point?]) -> Envelope {
    Envelope(
      columns: points.map { $0.map { .init(low: max($0.low, 0), high: $0.high, mean: $0.mean) } },
      rows: points.count)
  }

  // MARK: Overlay

  /// All backlogs less the twins' in one plot, round the incident; nil without one.
  func backlogOverlay() -> OverlayChart? {
    let facts = curves.map(\.facts)
    let times = OverlayChart.times(
      facts.map { facts in
        guard let facts, let start = facts.incidents.map(\.start).min(),
          let end = facts.incidents.map(\.end).max()
        else { return nil }
        return (Double(start), Double(end), Double(facts.duration))
      }, slowest: slowestRecovery)
    guard let times else { return nil }
    func end(_ i: Int) -> Double { Double(facts[i]?.incidents.map(\.end).max() ?? 0) }
    let lines = Standings(comparison).order.map { i -> OverlayChart.Line in
      let curve = curves[i]
      let points = zip(curve.backlog, curve.twinBacklog).map { point, twin -> Envelope.Column? in
        let normal = twin?.mean ?? 0
        return point.map {
          .init(low: max($0.low - normal, 0), high: $0.high - normal, mean: $0.mean - normal)
        }
      }
      let width = Double(curve.facts?.duration ?? 0) / Double(max(points.count, 1))
      let first = max(Int((end(i) + times.lowerBound) / width), 0)
      let last = min(Int((end(i) + times.upperBound) / width) + 1, points.count)
      let range = first..<max(first, last)
      let line = PlotLine(
        envelope: Envelope(columns: Array(points[range]), rows: range.count),
        times: Double(range.lowerBound) * width - end(i)...Double(range.upperBound) * width - end(i),
        ink: .series(i), style: .band, dash: Theme.dash(i))
      return OverlayChart.Line(
        name: curve.name, line: line, note: notes(MetricCatalogue.recovery, i) { $0 }.joined(separator: " "))
    }
    let spans = Set(facts.map { $0?.shaded.map { [$0.start, $0.end] } ?? [] })
    return OverlayChart(
      title: "Backlog above normal, events", noteTitle: "recovered in", lines: lines, times: times,
      incidents: spans.count == 1
        ? (facts[0]?.shaded ?? []).map { Double($0.start) - end(0)...Double($0.end) - end(0) }
        : [times.lowerBound...0],
      limit: max((lines.map(\.line.envelope.maximum).max() ?? 0) * 1.05, 1), theme: theme)
  }

  /// Microseconds, if every replication of every variant recovers.
  private var slowestRecovery: Double? {
    let metrics = comparison.metrics
    guard let index = metrics.metrics.firstIndex(where: { $0.name == MetricCatalogue.recovery }) else {
      return nil
    }
    var slowest = 0.0
    for variant in metrics.variants.indices {
      for value in metrics.values(of: index, variant: variant) {
        guard case .time(let time, _) = value else { return nil }
        slowest = max(slowest, time * 1e6)
      }
    }
    return slowest
  }
}

extension ReplicatedComparison {
  /// Whether every run had its peak after an incident.
  var isHerdThePeak: Bool { rows.allSatisfy { $0.herdFactor == $0.peakOfferedRatio } }
}
