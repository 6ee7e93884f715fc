import FleetExperiments
import FleetMetrics

/// Which figure of the runs goes into which chart.
struct MetricCharts {
  var results: [VariantResult]
  var theme: Theme
  /// In which order legends name the variants: the best first.
  var order: [Int]

  init(results: [VariantResult], theme: Theme) {
    self.results = results
    self.theme = theme
    order = Standings(results).order
  }

  // MARK: Strips

  func offered() -> StripChart {
    let envelopes = results.map { rates($0.record) { $0.attempts } }
    let limit = rateLimit(envelopes)
    return chart(
      "Offered load of each strategy against capacity, requests per second", limit: limit,
      unit: "requests/s"
    ) { i, result in
      var strip = strip(i, result, [line(envelopes[i], result, ink: .series(i), style: .area)])
      strip.reference = capacity(result)
      strip.notes = [
        result.summary.peakOfferedRatio.map { "peak \(Humanised.ratio($0)) capacity" } ?? "",
        // Nearly always the same, for the herd is the peak.
        result.summary.herdFactor.flatMap {
          $0 == result.summary.peakOfferedRatio ? nil : "herd factor \(Humanised.ratio($0))"
        } ?? "",
        "\(Humanised.duration(seconds(result.summary.secondsAboveCapacity))) above capacity",
      ].filter { !$0.isEmpty }
      return strip
    }
  }

  func goodput() -> StripChart {
    let envelopes = results.map { rates($0.record) { $0[.acceptedBatches] } }
    return chart(
      "Goodput of each strategy, batches accepted for the first time per second",
      limit: rateLimit(envelopes), unit: "batches/s"
    ) { i, result in
      var strip = strip(i, result, [line(envelopes[i], result, ink: .series(i), style: .area)])
      strip.reference = capacity(result)
      strip.notes = [
        Humanised.share(result.summary[.deliveredEvents], of: result.summary[.createdEvents]) + " delivered",
        result.summary.idleWhileBackloggedSeconds.map {
          "\(Humanised.duration(seconds($0))) idle"
        } ?? "",
        result.summary.idleWhileBackloggedSeconds == nil ? "" : "while backlogged",
      ].filter { !$0.isEmpty }
      return strip
    }
  }

  func backlog() -> StripChart {
    let envelopes = results.map { gauges($0.record) { Double($0[.backlogEvents]) } }
    let twins = results.map { gauges($0.twin) { Double($0[.backlogEvents]) } }
    let limit = (envelopes + twins).map(\.maximum).max() ?? 0
    return chart("Undelivered events of each strategy over time", limit: limit, unit: "events") { i, result in
      var strip = strip(
        i, result,
        [
          line(twins[i], result, ink: .twin, style: .thin),
          line(envelopes[i], result, ink: .series(i), style: .area),
        ])
      if let end = result.lastIncidentEnd, let recovery = result.summary.recoveryTime {
        strip.flag = (end + recovery, "recovered")
      }
      let summary = result.summary
      strip.notes = [
        summary.recoveryTime.map { "recovered in \(Humanised.duration($0))" }
          ?? (summary.hasIncidents ? "never recovered" : "no incident"),
        "\(Humanised.compact(Double(summary.pendingEvents))) pending at the end",
      ]
      return strip
    }
  }

  /// Dropped events so far, of the strategies that dropped any; nil if none did.
  func drops() -> StripChart? {
    let envelopes = results.map { result in
      var sum = 0.0
      return gauges(result.record) {
        sum += Double($0.droppedEvents)
        return sum
      }
    }
    let limit = envelopes.map(\.maximum).max() ?? 0
    guard limit > 0 else { return nil }
    var figure = chart("Dropped events of each strategy, running total", limit: limit, unit: "events") {
      i, result in
      var strip = strip(i, result, [line(envelopes[i], result, ink: .series(i), style: .area)])
      let lost = result.summary.lostEvents
      strip.notes = [
        "\(Humanised.compact(Double(lost))) lost",
        Humanised.share(lost, of: result.summary[.createdEvents]) + " of all events",
      ]
      return strip
    }
    figure.strips.removeAll { envelopes[$0.index].maximum == 0 }
    return figure
  }

  /// Median and 99th percentile of each interval on a logarithmic axis; nil if nothing was delivered.
  func timeToDelivery() -> StripChart? {
    let medians = results.map { gauges($0.record) { $0.timeToDeliveryP50.map(Double.init) } }
    let p99s = results.map { gauges($0.record) { $0.timeToDeliveryP99.map(Double.init) } }
    let all = (medians + p99s).flatMap { $0.columns.compactMap { $0 } }
    guard let lowest = all.map(\.low).min(), let highest = all.map(\.high).max() else { return nil }
    let times = Scale.logarithmicTimes.map(Double.init)
    let low = times.last { $0 <= lowest } ?? times[0]
    let high = max(highest * 1.15, low * 10)
    var chart = chart("Time to delivery of each strategy, median and 99th percentile", limit: 1, unit: "") {
      i, result in
      var strip = strip(
        i, result,
        [
          line(medians[i], result, ink: .text, style: .line),
          line(p99s[i], result, ink: .series(i), style: .line),
        ])
      strip.notes = [
        "p99 \(result.summary.timeToDeliveryP99.map(Humanised.duration) ?? "–")",
        "p50 \(result.summary.timeToDeliveryP50.map(Humanised.duration) ?? "–")",
        "max \(result.summary.timeToDeliveryMax.map(Humanised.duration) ?? "–")",
      ]
      return strip
    }
    chart.scale = .logarithmic(low: low, high: high)
    chart.format = { "p99 " + Humanised.duration(Int64(exactly: $0.rounded()) ?? 0) }
    chart.ticks = times.filter { $0 >= low && $0 <= high }.map {
      Scale.Tick(value: $0, label: Humanised.duration(Int64($0)))
    }
    return chart
  }

  // MARK: Overlays

  /// Offered load of all strategies round the incident; nil without one.
  func offeredOverlay() -> OverlayChart? {
    guard let capacity = results.map({ Double($0.record.nominalCapacityMilli) / 1_000 }).max() else {
      return nil
    }
    let isSame = Set(results.map(\.record.nominalCapacityMilli)).count == 1
    guard
      var chart = overlay(
        "Offered load, requests/s", noteTitle: "peak",
        value: { result, row in
          let (series, length) = (result.record.series, result.record.series.length(of: row))
          return length > 0 ? Double(series.rows[row].attempts) * 1_000_000 / Double(length) : nil
        },
        note: { $0.summary.peakOfferedRatio.map(Humanised.ratio) ?? "" })
    else { return nil }
    chart.limit = Self.clipped(
      chart.lines.map(\.line.envelope.highestMean).max() ?? 0,
      typical: chart.lines.map { $0.line.envelope.highQuantile(0.9) }.max() ?? 0,
      capacity: isSame ? capacity : 0)
    if isSame && capacity > 0 {
      chart.reference = capacity
      chart.referenceLabel = "capacity"
    }
    return chart
  }

  /// Backlogs of all strategies round the incident, less what the twin has at the same time; nil without an incident.
  func backlogOverlay() -> OverlayChart? {
    overlay(
      "Backlog above normal, events", noteTitle: "recovered in",
      value: { result, row in
        let (backlog, twin) = (result.record.series.rows[row], result.twin.series.rows)
        return Double(backlog[.backlogEvents]) - (row < twin.count ? Double(twin[row][.backlogEvents]) : 0)
      },
      note: \.summary.recoveryText)
  }

  private func overlay(
    _ title: String, noteTitle: String, value: (VariantResult, Int) -> Double?,
    note: (VariantResult) -> String
  ) -> OverlayChart? {
    let recoveries = results.map(\.summary.recoveryTime)
    let times = OverlayChart.times(
      results.map { result in
        guard let end = result.lastIncidentEnd, let start = result.incidents.map(\.start).min() else {
          return nil
        }
        return (Double(start), Double(end), Double(result.record.series.duration))
      },
      slowest: recoveries.contains(nil) ? nil : recoveries.compactMap { $0.map(Double.init) }.max())
    guard let times else { return nil }
    let lines = order.map { i in
      let series = results[i].record.series
      let end = results[i].lastIncidentEnd ?? 0
      let first = max(Int((Double(end) + times.lowerBound) / Double(max(series.interval, 1))), 0)
      let last = min(
        Int((Double(end) + times.upperBound) / Double(max(series.interval, 1))), series.rows.count)
      let rows = first..<max(first, last)
      let from = Double(series.start(of: first) - end)
      let line = PlotLine(
        envelope: Envelope(rows.map { value(results[i], $0) }, columns: OverlayChart.columns),
        times: from...from + Double(rows.count) * Double(series.interval), ink: .series(i), style: .mean,
        dash: Theme.dash(i))
      return OverlayChart.Line(name: results[i].name, line: line, note: note(results[i]))
    }
    let spans = Set(results.map { $0.shaded.map { [$0.start, $0.end] } })
    let end = Double(results[0].lastIncidentEnd ?? 0)
    return OverlayChart(
      title: title, noteTitle: noteTitle, lines: lines, times: times,
      incidents: spans.count == 1
        ? results[0].shaded.map { Double($0.start) - end...Double($0.end) - end } : [times.lowerBound...0],
      limit: max((lines.map(\.line.envelope.highestMean).max() ?? 0) * 1.05, 1), theme: theme)
  }

  // MARK: Parts

  private func chart(
    _ label: String, limit: Double, unit: String, strip: (Int, VariantResult) -> StripChart.Strip
  ) -> StripChart {
    let limit = max(limit, 1)
    return StripChart(
      strips: results.enumerated().map { strip($0.offset, $0.element) }, scale: .linear(limit: limit),
      ticks: Scale.ticks(upTo: limit, count: 3), label: label, format: { Humanised.compact($0) + " " + unit },
      unit: unit, theme: theme, stripHeight: results.count == 1 ? 160 : 78)
  }

  private func strip(_ index: Int, _ result: VariantResult, _ lines: [PlotLine]) -> StripChart.Strip {
    StripChart.Strip(
      name: result.name, index: index, lines: lines, incidents: result.shaded,
      duration: result.record.series.duration)
  }

  private func line(_ envelope: Envelope, _ result: VariantResult, ink: Ink, style: PlotLine.Style)
    -> PlotLine
  {
    let rows = envelope.rows
    return PlotLine(
      envelope: envelope, times: 0...Double(rows) * Double(max(result.record.series.interval, 0)), ink: ink,
      style: style)
  }

  private func capacity(_ result: VariantResult) -> PlotLine {
    let envelope = rates(result.record, unit: 1_000) { $0[.capacityMilliRequests] }
    var line = line(envelope, result, ink: .capacity, style: .line)
    line.dash = "6 4"
    return line
  }

  private func rates(
    _ record: RunRecord, unit: Double = 1, _ count: (TimeSeries.Row) -> Int64
  ) -> Envelope {
    let series = record.series
    return Envelope(
      series.rows.indices.map { i in
        let length = series.length(of: i)
        return length > 0 ? Double(count(series.rows[i])) / unit * 1_000_000 / Double(length) : nil
      }, columns: StripChart.columns)
  }

  private func gauges(_ record: RunRecord, _ value: (TimeSeries.Row) -> Double?) -> Envelope {
    Envelope(record.series.rows.map(value), columns: StripChart.columns)
  }

  private func rateLimit(_ envelopes: [Envelope]) -> Double {
    let highest = envelopes.map(\.maximum).max() ?? 0
    let typical = envelopes.map { $0.highQuantile(0.9) }.max() ?? 0
    let capacity = results.map { Double($0.record.nominalCapacityMilli) / 1_000 }.max() ?? 0
    return Self.clipped(highest, typical: typical, capacity: capacity)
  }

  /// The top of an axis of rates: up to the highest value, but no higher than 4 times capacity or 1.25 times
  /// what 90 % of the columns stay below, so that one spike does not flatten the rest; with room for the
  /// capacity line unless it is far above.
  static func clipped(_ highest: Double, typical: Double, capacity: Double) -> Double {
    let top = min(highest * 1.03, max(4 * capacity, 1.25 * typical))
    return max(top, capacity <= 3 * highest ? capacity * 1.12 : 0, 1)
  }

  private func seconds(_ seconds: Int64) -> Int64 {
    seconds > Int64.max / 1_000_000 ? .max : seconds * 1_000_000
  }
  private func seconds(_ seconds: Double) -> Int64 { Int64(exactly: (seconds * 1e6).rounded()) ?? .max }
}
