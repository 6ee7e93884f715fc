import FleetExperiments
import FleetMetrics

/// The figures of the runs by chart. One seed has every interval with its smallest and largest value; several seeds have their
/// mean in its 95 % band. Figures that need every interval of a run are nil for several seeds.
package struct ComparisonCharts {
  enum Quantity { case offered, goodput, backlog, twinBacklog, capacity }

  let compared: Compared
  let theme: Theme
  let standings: Standings
  let facts: [RunFacts?]

  package init(_ compared: Compared, theme: Theme) {
    self.compared = compared
    self.theme = theme
    standings = compared.standings
    facts = compared.facts
  }

  // MARK: Series

  private func line(_ quantity: Quantity, _ variant: Int) -> PlotLine {
    let ink: Ink =
      switch quantity {
      case .capacity: .capacity
      case .twinBacklog: .twin
      case .offered, .goodput, .backlog: .series(variant)
      }
    switch compared {
    case .whole(let results):
      let result = results[variant]
      let (record, twin, scale) = (result.record, result.twin, scale(variant))
      let envelope =
        switch quantity {
        case .offered: Self.rates(record.series, times: scale) { $0.attempts }
        case .goodput: Self.rates(record.series, times: scale) { $0[.acceptedBatches] }
        case .capacity: Self.rates(record.series, times: scale / 1_000) { $0[.capacityMilliRequests] }
        case .backlog: Self.gauges(record.series) { scale * Double($0[.backlogEvents]) }
        case .twinBacklog: Self.gauges(twin.series) { scale * Double($0[.backlogEvents]) }
        }
      let style: PlotLine.Style =
        quantity == .capacity ? .line : quantity == .twinBacklog ? .thin : .area
      return Self.line(envelope, result, ink, style, dash: quantity == .capacity ? "6 4" : nil)
    case .means(let comparison):
      let curve = comparison.curves[variant]
      let scale = scale(variant)
      let columns: [Envelope.Column?] =
        switch quantity {
        case .capacity:
          (curve.facts?.capacity ?? []).map { .init(low: scale * $0, high: scale * $0, mean: scale * $0) }
        case .offered: Self.columns(curve.offered, times: scale)
        case .goodput: Self.columns(curve.goodput, times: scale)
        case .backlog: Self.columns(curve.backlog, times: scale)
        case .twinBacklog: Self.columns(curve.twinBacklog, times: scale)
        }
      return PlotLine(
        envelope: Envelope(columns: columns, rows: columns.count),
        times: 0...Double(max(curve.facts?.duration ?? 0, 1)), ink: ink,
        style: quantity == .capacity ? .line : quantity == .twinBacklog ? .mean : .band,
        dash: quantity == .capacity ? "6 4" : quantity == .twinBacklog ? "3 2" : nil)
    }
  }

  /// Returns the factor that counts are multiplied by, so that all is of the whole fleet.
  func scale(_ variant: Int) -> Double { Double(facts[variant]?.scale ?? 1) }

  private static func columns(_ points: [VariantCurves.Point?], times scale: Double) -> [Envelope.Column?] {
    points.map { point in
      point.map { .init(low: scale * max($0.low, 0), high: scale * $0.high, mean: scale * $0.mean) }
    }
  }

  private static func line(
    _ envelope: Envelope, _ result: VariantResult, _ ink: Ink, _ style: PlotLine.Style, dash: String? = nil
  ) -> PlotLine {
    PlotLine(
      envelope: envelope, times: 0...Double(envelope.rows) * Double(max(result.record.series.interval, 0)),
      ink: ink, style: style, dash: dash)
  }

  private static func rates(
    _ series: TimeSeries, times scale: Double, _ count: (TimeSeries.Row) -> Int64
  ) -> Envelope {
    Envelope(
      series.rows.indices.map { i in
        let length = series.length(of: i)
        return length > 0 ? Double(count(series.rows[i])) * scale * 1_000_000 / Double(length) : nil
      }, columns: StripChart.columns)
  }

  private static func gauges(_ series: TimeSeries, _ value: (TimeSeries.Row) -> Double?) -> Envelope {
    Envelope(series.rows.map(value), columns: StripChart.columns)
  }

  // MARK: Strips

  func offered() -> StripChart {
    rates(
      .offered, "Offered load of each strategy against capacity", "Offered load, mean of the replications",
      "requests")
  }

  func goodput() -> StripChart {
    rates(
      .goodput, "Goodput of each strategy, batches accepted for the first time",
      "Goodput, mean of the replications, batches", "batches")
  }

  private func rates(_ quantity: Quantity, _ label: String, _ meanLabel: String, _ things: String)
    -> StripChart
  {
    let lines = compared.names.indices.map { line(quantity, $0) }
    let limit = Self.clipped(
      lines.map(\.envelope.maximum).max() ?? 0,
      typical: lines.map { $0.envelope.highQuantile(0.9) }.max() ?? 0,
      capacity: compared.names.indices.map(capacity).max() ?? 0)
    let label = compared.isOfOneSeed ? label : meanLabel
    return chart(
      label + (quantity == .offered ? ", requests per second" : " per second"), limit: limit,
      unit: things + "/s"
    ) { i in
      var strip = strip(i, [lines[i]])
      strip.reference = line(.capacity, i)
      strip.notes = quantity == .offered ? offeredNotes(i) : goodputNotes(i)
      return strip
    }
  }

  /// Nominal, requests per second of the whole fleet.
  func capacity(_ variant: Int) -> Double { facts[variant]?.fullSizeCapacity ?? 0 }

  private func offeredNotes(_ i: Int) -> [String] {
    guard case .whole(let results) = compared else {
      return notes("peak_offered_ratio", i) { "peak \($0)×" }
        + (compared.isHerdThePeak ? [] : notes("herd_factor_ratio", i) { "herd factor \($0)×" })
    }
    let summary = results[i].summary
    let herd = summary.herdFactor == summary.peakOfferedRatio ? nil : summary.herdFactor
    return [
      summary.peakOfferedRatio.map { "peak \(Humanised.ratio($0)) capacity" },
      herd.map { "herd factor \(Humanised.ratio($0))" },
      "\(Humanised.duration(seconds(summary.secondsAboveCapacity))) above capacity",
    ].compactMap(\.self)
  }

  private func goodputNotes(_ i: Int) -> [String] {
    guard case .whole(let results) = compared else {
      return notes("idle_while_backlogged_s", i) { "\($0) idle" }
    }
    let summary = results[i].summary
    let idle = summary.idleWhileBackloggedSeconds.map { "\(Humanised.duration(seconds($0))) idle" }
    return [Humanised.share(summary[.deliveredEvents], of: summary[.createdEvents]) + " delivered"]
      + (idle.map { [$0, "while backlogged"] } ?? [])
  }

  func backlog() -> StripChart {
    let lines = compared.names.indices.map { line(.backlog, $0) }
    let twins = compared.names.indices.map { line(.twinBacklog, $0) }
    let limit = (lines + (compared.isOfOneSeed ? twins : [])).map(\.envelope.maximum).max() ?? 0
    return chart(
      compared.isOfOneSeed
        ? "Undelivered events of each strategy over time" : "Undelivered events, mean of the replications",
      limit: limit, unit: "events"
    ) { i in
      var strip = strip(i, [twins[i], lines[i]])
      guard case .whole(let results) = compared else {
        strip.notes = notes(MetricCatalogue.recovery, i) { "recovered in " + $0 }
        return strip
      }
      let summary = results[i].summary
      if let end = results[i].lastIncidentEnd, let recovery = summary.recoveryTime {
        strip.flag = (end + recovery, "recovered")
      }
      strip.notes = [
        summary.recoveryTime.map { "recovered in \(Humanised.duration($0))" }
          ?? (summary.endsTooSoon
            ? "recovery not seen" : summary.neverRecovers ? "never recovered" : "no incident"),
        "\(Humanised.compact(scale(i) * Double(summary.pendingEvents))) pending at the end",
      ]
      return strip
    }
  }

  /// Dropped events so far, of the strategies that dropped any; nil if none did.
  func drops() -> StripChart? {
    guard case .whole(let results) = compared else { return nil }
    let envelopes = results.indices.map { i in
      var sum = 0.0
      return Self.gauges(results[i].record.series) {
        sum += scale(i) * Double($0.droppedEvents)
        return sum
      }
    }
    let limit = envelopes.map(\.maximum).max() ?? 0
    guard limit > 0 else { return nil }
    var figure = chart("Dropped events of each strategy, running total", limit: limit, unit: "events") { i in
      var strip = strip(i, [Self.line(envelopes[i], results[i], .series(i), .area)])
      let lost = results[i].summary.lostEvents
      strip.notes = [
        "\(Humanised.compact(scale(i) * Double(lost))) lost",
        Humanised.share(lost, of: results[i].summary[.createdEvents]) + " of all events",
      ]
      return strip
    }
    figure.strips.removeAll { envelopes[$0.index].maximum == 0 }
    return figure
  }

  /// Median and 99th percentile of each interval on a logarithmic axis; nil if nothing was delivered.
  func timeToDelivery() -> StripChart? {
    guard case .whole(let results) = compared else { return nil }
    let medians = results.map { Self.gauges($0.record.series) { $0.timeToDeliveryP50.map(Double.init) } }
    let p99s = results.map { Self.gauges($0.record.series) { $0.timeToDeliveryP99.map(Double.init) } }
    let all = (medians + p99s).flatMap { $0.columns.compactMap { $0 } }
    guard let lowest = all.map(\.low).min(), let highest = all.map(\.high).max() else { return nil }
    let times = Scale.logarithmicTimes.map(Double.init)
    let low = times.last { $0 <= lowest } ?? times[0]
    let high = max(highest * 1.15, low * 10)
    var chart = chart("Time to delivery of each strategy, median and 99th percentile", limit: 1, unit: "") {
      i in
      var strip = strip(
        i,
        [Self.line(medians[i], results[i], .text, .line), Self.line(p99s[i], results[i], .series(i), .line)])
      let summary = results[i].summary
      strip.notes = [
        ("p99", summary.timeToDeliveryP99), ("p50", summary.timeToDeliveryP50),
        ("max", summary.timeToDeliveryMax),
      ].map { "\($0) \($1.map(Humanised.duration) ?? "–")" }
      return strip
    }
    chart.scale = .logarithmic(low: low, high: high)
    chart.format = { "p99 " + Humanised.duration(Int64(exactly: $0.rounded()) ?? 0) }
    chart.ticks = times.filter { $0 >= low && $0 <= high }.map {
      Scale.Tick(value: $0, label: Humanised.duration(Int64($0)))
    }
    return chart
  }

  private func chart(
    _ label: String, limit: Double, unit: String, strip: (Int) -> StripChart.Strip
  ) -> StripChart {
    let limit = max(limit, 1)
    return StripChart(
      strips: compared.names.indices.map(strip), scale: .linear(limit: limit),
      ticks: Scale.ticks(upTo: limit, count: 3), label: label, format: { Humanised.compact($0) + " " + unit },
      unit: unit, theme: theme, stripHeight: compared.names.count == 1 ? 160 : 78,
      hovers: compared.isOfOneSeed ? 36 : 60)
  }

  private func strip(_ index: Int, _ lines: [PlotLine]) -> StripChart.Strip {
    StripChart.Strip(
      name: compared.names[index], index: index, lines: lines, incidents: facts[index]?.shaded ?? [],
      duration: facts[index]?.duration ?? 0)
  }

  /// The mean of a metric, with what surrounds it.
  private func notes(_ metric: String, _ variant: Int, _ text: (String) -> String) -> [String] {
    let metrics = standings.metrics
    guard let index = metrics.metrics.firstIndex(where: { $0.name == metric }) else { return [] }
    let figure = metrics.figure(index, variant)
    if case .none = figure.value { return [] }
    let isNever = figure.isNever && MetricCatalogue.isReturn(metrics.metrics[index])
    let note = isNever ? "never recovered" : text(figure.text)
    // Beside a strip there is room for some 26 letters.
    guard let interval = figure.interval else { return [note] }
    return note.count + interval.count < 26 ? ["\(note) \(interval)"] : [note, interval]
  }

  /// Returns the top of an axis of rates, which is the highest value within limits, so that one spike does not flatten the rest.
  /// The limit is 4 times capacity or 1.25 times the value that 90 % of the columns stay below, whichever is higher. The axis has
  /// room for the capacity line unless that is far above.
  package static func clipped(_ highest: Double, typical: Double, capacity: Double) -> Double {
    let top = min(highest * 1.03, max(4 * capacity, 1.25 * typical))
    return max(top, capacity <= 3 * highest ? capacity * 1.12 : 0, 1)
  }

  private func seconds(_ seconds: Int64) -> Int64 {
    seconds > Int64.max / 1_000_000 ? .max : seconds * 1_000_000
  }
  private func seconds(_ seconds: Double) -> Int64 { Int64(exactly: (seconds * 1e6).rounded()) ?? .max }

  // MARK: Overlays

  /// Offered load of all strategies round the incident; nil without one.
  func offeredOverlay() -> OverlayChart? {
    guard case .whole(let results) = compared, let capacity = results.indices.map(capacity).max() else {
      return nil
    }
    let isSame = Set(results.indices.map(self.capacity)).count == 1
    guard
      var chart = overlay(
        "Offered load, requests/s", noteTitle: "peak",
        line: { i, times in
          wholeLine(results[i], i, times) { row in
            let (series, length) = (results[i].record.series, results[i].record.series.length(of: row))
            return length > 0
              ? scale(i) * Double(series.rows[row].attempts) * 1_000_000 / Double(length) : nil
          }
        }, note: { results[$0].summary.peakOfferedRatio.map(Humanised.ratio) ?? "" })
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

  /// Backlogs of all strategies round the incident, less what the twins have at the same time; nil without an incident.
  package func backlogOverlay() -> OverlayChart? {
    overlay(
      "Backlog above normal, events", noteTitle: "recovered in",
      line: { i, times in
        switch compared {
        case .whole(let results):
          return wholeLine(results[i], i, times) { row in
            let (backlog, twin) = (results[i].record.series.rows[row], results[i].twin.series.rows)
            return scale(i)
              * Double(backlog[.backlogEvents] - (row < twin.count ? twin[row][.backlogEvents] : 0))
          }
        case .means(let comparison): return meanLine(comparison.curves[i], i, times)
        }
      },
      note: { i in
        if case .whole(let results) = compared { return results[i].summary.recoveryText }
        return notes(MetricCatalogue.recovery, i) { $0 }.joined(separator: " ")
      })
  }

  /// When the last incident of a variant ends.
  func end(_ variant: Int) -> Int64 { facts[variant]?.incidents.map(\.end).max() ?? 0 }

  /// - Parameter columns: as many at most.
  private func wholeLine(
    _ result: VariantResult, _ variant: Int, _ times: ClosedRange<Double>,
    from origin: Int64? = nil, columns: Int = OverlayChart.columns, value: (Int) -> Double?
  ) -> PlotLine {
    let (series, end) = (result.record.series, origin ?? end(variant))
    let interval = Double(max(series.interval, 1))
    let first = max(Int((Double(end) + times.lowerBound) / interval), 0)
    let last = min(Int((Double(end) + times.upperBound) / interval), series.rows.count)
    let rows = first..<max(first, last)
    let from = Double(series.start(of: first) - end)
    return PlotLine(
      envelope: Envelope(rows.map(value), columns: columns),
      times: from...from + Double(rows.count) * Double(series.interval), ink: .series(variant), style: .mean,
      dash: Theme.dash(variant))
  }

  /// The backlog above the twin's.
  private func meanLine(_ curve: VariantCurves, _ variant: Int, _ times: ClosedRange<Double>) -> PlotLine {
    let scale = scale(variant)
    let points = zip(curve.backlog, curve.twinBacklog).map { point, twin -> Envelope.Column? in
      let normal = twin?.mean ?? 0
      return point.map {
        .init(
          low: scale * max($0.low - normal, 0), high: scale * ($0.high - normal),
          mean: scale * ($0.mean - normal))
      }
    }
    return meanLine(points, curve, variant, times)
  }

  private func meanLine(
    _ points: [Envelope.Column?], _ curve: VariantCurves, _ variant: Int, _ times: ClosedRange<Double>,
    from origin: Int64? = nil
  ) -> PlotLine {
    let end = Double(origin ?? end(variant))
    let width = max(Double(curve.facts?.duration ?? 0), 1) / Double(max(points.count, 1))
    let first = max(Int((end + times.lowerBound) / width), 0)
    let last = min(Int((end + times.upperBound) / width) + 1, points.count)
    let range = first..<max(first, last)
    return PlotLine(
      envelope: Envelope(columns: Array(points[range]), rows: range.count),
      times: Double(range.lowerBound) * width - end...Double(range.upperBound) * width - end,
      ink: .series(variant), style: .band, dash: Theme.dash(variant))
  }

  /// Offered load or capacity of a variant in a part of its time.
  /// - Parameters:
  ///   - times: since `origin`.
  ///   - columns: as many at most.
  func rate(
    _ quantity: Quantity, _ variant: Int, _ times: ClosedRange<Double>, from origin: Int64, columns: Int
  ) -> PlotLine {
    var line: PlotLine
    switch compared {
    case .whole(let results):
      let (series, scale) = (results[variant].record.series, scale(variant))
      line = wholeLine(results[variant], variant, times, from: origin, columns: columns) { row in
        let length = series.length(of: row)
        let count =
          quantity == .capacity
          ? Double(series.rows[row][.capacityMilliRequests]) / 1_000 : Double(series.rows[row].attempts)
        return length > 0 ? scale * count * 1_000_000 / Double(length) : nil
      }
      line.style = quantity == .capacity ? .line : .area
    case .means(let comparison):
      let curve = comparison.curves[variant]
      let whole = self.line(quantity, variant)
      line = meanLine(whole.envelope.columns, curve, variant, times, from: origin)
      line.style = whole.style
    }
    line.dash = quantity == .capacity ? "6 4" : nil
    if quantity == .capacity { line.ink = .capacity }
    return line
  }

  private func overlay(
    _ title: String, noteTitle: String, line: (Int, ClosedRange<Double>) -> PlotLine,
    note: (Int) -> String
  ) -> OverlayChart? {
    guard let times = timesRoundIncident else { return nil }
    let lines = standings.order.map { i in
      OverlayChart.Line(name: compared.names[i], line: line(i, times), note: note(i))
    }
    let spans = Set(facts.map { $0?.shaded.map { [$0.start, $0.end] } ?? [] })
    let end = Double(end(0))
    let highest = lines.map(\.line.envelope).map { compared.isOfOneSeed ? $0.highestMean : $0.maximum }
    return OverlayChart(
      title: title, noteTitle: noteTitle, lines: lines, times: times,
      incidents: spans.count == 1
        ? (facts[0]?.shaded ?? []).map { Double($0.start) - end...Double($0.end) - end }
        : [times.lowerBound...0],
      limit: max((highest.max() ?? 0) * 1.05, 1), theme: theme)
  }

  /// The part of the time since the last incident's end that is shown; nil where a variant has none.
  var timesRoundIncident: ClosedRange<Double>? {
    OverlayChart.times(
      facts.map { facts in
        guard let facts, let start = facts.incidents.map(\.start).min(),
          let end = facts.incidents.map(\.end).max()
        else { return nil }
        return (Double(start), Double(end), Double(facts.duration))
      }, slowest: slowestRecovery)
  }

  /// Microseconds, if every run of every variant recovers.
  var slowestRecovery: Double? {
    let metrics = standings.metrics
    guard let index = metrics.index(of: MetricCatalogue.recovery) else { return nil }
    var slowest = 0.0
    for variant in metrics.variants.indices {
      for value in metrics.values(of: index, variant: variant) {
        guard case .time(let time, _) = value else { return nil }
        slowest = max(slowest, (time * 1e6).rounded())
      }
    }
    return slowest
  }
}
