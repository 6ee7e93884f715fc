import FleetExperiments
import FleetMetrics

/// A comparison as a picture, the same on a page and by itself, with the finding as its title. One plot shows the events that the
/// devices of all variants hold back, those of closed apps aside. Below it a panel for each variant shows the load that reaches
/// the server.
///
/// The best one has the accent, all others are grey. Each line has its name and its figure beside it. Without an incident there
/// is no first plot. Where there are many variants some are left out, and the picture says how many.
package struct ComparisonPicture {
  private let report: TrialReport
  private var trial: Trial { report.trial }
  private let facts: [RunFacts?]
  private var standings: Standings { report.standings }
  private var names: [String] { report.names }
  private var isOfOneRun: Bool { trial.isOfOneRun }
  /// The names of the variants beside their lines.
  private let labels: [String]
  /// `, by uploadConcurrency`, where labels are the values of one key alone.
  private let key: String
  /// The variants that are shown, the best first.
  private let shown: [Int]
  /// Whether time counts from the end of the last incident.
  package let isRoundIncident: Bool
  private let times: Axis
  /// Of all that was run.
  private let wholeTimes: Axis

  /// All of it, as a page and a file have it.
  package private(set) var chart = Chart(title: "", sections: [])

  package static let most = 8

  package init(_ report: TrialReport) {
    self.report = report
    let facts = report.trial.facts
    self.facts = facts
    wholeTimes = .time(0...Double(max(facts.compactMap { $0?.duration }.max() ?? 0, 1)), "of the run")
    let standings = report.standings
    // Titles have their key with them, unless that makes them long.
    let isLong = standings.titles.contains { $0.count > 26 } && Set(report.names).count == report.names.count
    labels = isLong ? report.labels : standings.titles
    let paths = Set(
      report.choices.map { $0.overrides.count == 1 && !$0.isLabelled ? $0.overrides[0].path : "" })
    let common = isLong && paths.count == 1 ? paths.first?.split(separator: ".").last : nil
    key = common.map { ", by \($0)" } ?? ""
    shown = Self.choice(standings.order)
    let times = report.trial.rows.map { $0.recoveryHorizon == nil ? nil : $0.recoveryTime }
    let slowest = times.contains(nil) ? nil : times.compactMap(\.self).max()
    let round = Self.timesRoundIncident(facts, slowest: slowest.map(Double.init))
    isRoundIncident = round != nil
    self.times = round.map { .time($0, "since the end of the last incident") } ?? wholeTimes
    chart = whole
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

  package var svg: String { chart.svg }

  private var whole: Chart {
    guard !names.isEmpty else { return Chart(title: "Nothing was run", sections: []) }
    let story = report.story
    return Chart(
      title: story.finding, facts: "\(story.basis) · \(report.factsLine)",
      description: shown.map { "\(standings.titles[$0]): \(figures($0))." }.joined(separator: " ") + leftOut,
      sections: (isRoundIncident ? [waiting] : []) + [requests])
  }

  private var leftOut: String {
    let count = names.count - shown.count
    return count > 0 ? "Left out: \(FigureText.count(count, "variant")) between these in rank." : ""
  }

  // MARK: Variants

  private func isBest(_ variant: Int) -> Bool {
    standings.ticked.contains(variant) || names.count == 1
  }
  private func ink(_ variant: Int) -> Ink { isBest(variant) ? .accent : .other }
  private func origin(_ variant: Int) -> Int64 {
    isRoundIncident ? facts[variant]?.incidents.map(\.end).max() ?? 0 : 0
  }

  /// nil where no run has one.
  private func figure(_ name: String, _ variant: Int) -> Figure? {
    let figure = standings.metrics.index(of: name).map { standings.metrics.figure($0, variant) }
    return figure?.text == "–" ? nil : figure
  }

  private func recoveryText(_ variant: Int) -> String? { figure(MetricCatalogue.recovery, variant)?.text }

  /// Microseconds from the last incident's end, mean of the runs that recovered; nil if none did.
  private func recovery(_ variant: Int) -> Double? {
    trial.rows(of: variant).compactMap(\.recoveryTime).map(Double.init).mean
  }

  /// The same until the server turns nobody away; nil where a run never came so far or recovered.
  private func healthy(_ variant: Int) -> Double? {
    let rows = trial.rows(of: variant)
    let isSeen = rows.allSatisfy { $0.healthyTime != nil && $0.recoveryTime != nil }
    return isSeen ? rows.compactMap(\.healthyTime).map(Double.init).mean : nil
  }

  /// `caught up after 12 min, nothing lost`
  private func figures(_ variant: Int) -> String {
    let lost = figure(MetricCatalogue.lost, variant).map { $0.text == "0" ? "nothing lost" : $0.phrase }
    return [figure(MetricCatalogue.recovery, variant)?.phrase, lost].compactMap(\.self).joined(
      separator: ", ")
  }

  private func shades(_ variant: Int, from origin: Int64 = 0, isNamed: Bool) -> [Chart.Shade] {
    let origin = Double(origin)
    return (facts[variant]?.shaded ?? []).map {
      let start = Double($0.start) - origin
      return Chart.Shade(
        range: start...max(Double($0.end) - origin, start), label: isNamed ? $0.label : "")
    }
  }

  // MARK: Plots

  /// Whether there are so many that everything is made lower.
  private var isCrowded: Bool { shown.count > 6 }

  private var waiting: Chart.Section {
    let lines = shown.map { variant in
      var curve = curve(
        .aboveNormal, variant, isOfOneRun ? .line : .band, in: times.range, from: origin(variant))
      curve.ink = ink(variant)
      curve.width = isBest(variant) ? 3 : 1.6
      let alike = shown.filter { isBest($0) == isBest(variant) }
      curve.dash = alike.firstIndex(of: variant).flatMap(Theme.dash)
      return curve
    }
    let highest = lines.flatMap(\.envelope).compactMap(\.self).map { isOfOneRun ? $0.mean : $0.high }.max()
    let each = shown.map { shades($0, from: origin($0), isNamed: true) }
    let incidents = Set(each.joined().map(\.label))
    let common = Chart.Shade(
      range: times.range.lowerBound...0, label: incidents.count == 1 ? incidents.first ?? "" : "incident")
    return Chart.Section(
      title: "Events held back on the devices, above normal\(key)", x: times,
      panels: [
        Chart.Panel(
          y: .counts(to: max((highest ?? 0) * 1.05, 1), of: "events"), height: isCrowded ? 140 : 200,
          shades: Set(each.map { $0.map(\.range) }).count == 1 ? each[0] : [common],
          curves: lines.reversed(), labels: labels(beside: lines))
      ])
  }

  /// The moment at which each has recovered, with its name beside; the name of one that never does stands at the end of its line.
  private func labels(beside lines: [Chart.Curve]) -> [Chart.Label] {
    func label(_ variants: [Int]) -> Chart.Label {
      let figure = recoveryText(variants[0]).map { ": \($0)" } ?? ""
      let names = labels.count == 1 ? "caught up" : variants.map { labels[$0] }.joined(separator: ", ")
      return Chart.Label(
        text: Lettering.fitting(names, width: 220) + figure, x: 0, y: 0,
        ink: ink(variants[0]), isBold: isBest(variants[0]))
    }
    // Those that recover at the same moment share a label.
    var groups: [[Int]] = []
    for variant in shown where recovery(variant) != nil {
      let known = groups.firstIndex {
        recoveryText($0[0]) == recoveryText(variant) && isBest($0[0]) == isBest(variant)
      }
      if let known { groups[known].append(variant) } else { groups.append([variant]) }
    }
    let moments = groups.compactMap { variants -> Chart.Label? in
      guard let time = recovery(variants[0]), let line = shown.firstIndex(of: variants[0]) else { return nil }
      var label = label(variants)
      (label.x, label.y, label.mark) = (time, lines[line].value(at: time), .moment)
      return label
    }
    let ends = zip(shown, lines).filter { recovery($0.0) == nil }.map { variant, line in
      var label = label([variant])
      (label.x, label.y) = (times.range.upperBound, line.value(at: times.range.upperBound))
      return label
    }
    // The best have their places first; of the others the last one is lowest, so that no stem stands in another's name.
    return moments.filter(\.isBold) + ends + moments.filter { !$0.isBold }.sorted { $0.x > $1.x }
  }

  private var requests: Chart.Section {
    let lines = shown.map { rate(.offered, $0, in: times.range, from: origin($0)) }
    let limit = top(of: lines, shown)
    return Chart.Section(
      title: "Requests a second that reach the server\(key)"
        + (isOfOneRun ? "" : ", mean and its 95 % band"),
      x: times,
      panels: zip(shown, lines).map { variant, line in
        let level = capacity(variant)
        var labels: [Chart.Label] = []
        if isRoundIncident, let healthy = healthy(variant), healthy <= times.range.upperBound {
          let time = healthy < 1e6 ? "at once" : FigureText.duration(Int64(exactly: healthy.rounded()) ?? 0)
          labels.append(
            Chart.Label(text: "endpoint well: \(time)", x: healthy, y: limit, mark: .rule))
        }
        if variant == shown[0], level > 0, level <= limit {
          labels.append(Chart.Label(text: "capacity", x: times.range.upperBound, y: level))
        }
        return Chart.Panel(
          name: self.labels[variant], ink: isBest(variant) ? .accent : .text, figures: figures(variant),
          y: .counts(to: limit, of: "requests/s"),
          height: shown.count <= 3 ? 84 : isCrowded ? 50 : 64,
          shades: shades(variant, from: origin(variant), isNamed: !isRoundIncident && variant == shown[0]),
          curves: [line, curve(.capacity, variant, .steps, in: times.range, from: origin(variant))],
          labels: labels)
      }, columns: shown.count > 3 ? 2 : 1, note: leftOut)
  }

  private func rate(
    _ quantity: Quantity, _ variant: Int, in times: ClosedRange<Double>, from origin: Int64 = 0
  ) -> Chart.Curve {
    var curve = curve(quantity, variant, isOfOneRun ? .area : .band, in: times, from: origin)
    (curve.ink, curve.isRead) = (ink(variant), true)
    return curve
  }

  /// Returns the top of an axis of rates, which is the highest value within limits, so that one spike does not flatten the rest.
  /// The limit is 4 times capacity or 1.25 times the value that 90 % of the columns stay below, whichever is higher. The axis has
  /// room for the capacity line unless that is far above.
  package static func clipped(_ highest: Double, typical: Double, capacity: Double) -> Double {
    let top = min(highest * 1.03, max(4 * capacity, 1.25 * typical))
    return max(top, capacity <= 3 * highest ? capacity * 1.12 : 0, 1)
  }

  private func top(of rates: [Chart.Curve], _ variants: [Int]) -> Double {
    Self.clipped(
      rates.map(\.envelope.maximum).max() ?? 0,
      typical: rates.map { $0.envelope.highQuantile(0.9) }.max() ?? 0,
      capacity: variants.map(capacity).max() ?? 0)
  }

  // MARK: The whole run

  /// A chart for each quantity, with a panel for each variant, and what it shows.
  var wholeRun: [(chart: Chart, meaning: String)] {
    let (whole, order) = (wholeTimes.range, standings.order)
    func strips(_ title: String, _ y: Axis, _ meaning: String, _ lines: [[Chart.Curve]]) -> (Chart, String) {
      let panels = zip(order, lines).map { variant, lines in
        Chart.Panel(
          name: names.count == 1 ? "" : labels[variant], ink: isBest(variant) ? .accent : .text, y: y,
          shades: shades(variant, isNamed: variant == order[0]), curves: lines)
      }
      return (Chart(title: title, sections: [Chart.Section(x: wholeTimes, panels: panels)]), meaning)
    }
    func rates(_ title: String, _ quantity: Quantity, of things: String, _ meaning: String) -> (
      Chart, String
    ) {
      let lines = order.map { rate(quantity, $0, in: whole) }
      let limit = top(of: lines, order)
      let capacities = order.map { curve(.capacity, $0, .steps, in: whole) }
      return strips(
        title, .counts(to: limit, of: things), meaning + " Dashed line: capacity.",
        zip(lines, capacities).map { [$0, $1] })
    }
    let backlogs = order.map {
      [curve(.twinBacklog, $0, .line, in: whole), rate(.backlog, $0, in: whole)]
    }
    // Nothing is known of several seeds.
    let delivery = order.map { variant in
      [Quantity.p99, .median].map { quantity in
        var curve = curve(quantity, variant, .spikes, in: whole)
        curve.ink = quantity == .p99 ? ink(variant) : .text
        (curve.name, curve.isRead) = (quantity == .p99 ? "" : "median", quantity == .p99)
        return curve
      }
    }
    let times = delivery.joined().flatMap { $0.envelope.compactMap(\.self) }
    return [
      rates(
        "Offered load", .offered, of: "requests/s",
        "Upload attempts reaching the server, requests per second."),
      rates("Goodput", .goodput, of: "batches/s", "Batches accepted for the first time, per second."),
      strips(
        "Backlog",
        .counts(to: max(backlogs.joined().map(\.envelope.maximum).max() ?? 0, 1), of: "events"),
        "Events created and neither accepted nor dropped. Thin line: the twin, the same run without incidents.",
        backlogs),
    ]
      + (times.isEmpty
        ? []
        : [
          strips(
            "Time to delivery",
            .spans(from: times.map(\.low).min() ?? 0, to: times.map(\.high).max() ?? 0),
            "Of the events accepted in each interval, from creation to acceptance, on a logarithmic axis. "
              + "Dark or white: median; the other: 99th percentile. A gap: nothing was accepted.", delivery)
        ])
  }

  // MARK: Curves

  /// What changes in the time of the runs, of the whole fleet. One seed has every interval with its smallest and largest value;
  /// several seeds have their mean in its 95 % band.
  private enum Quantity { case offered, goodput, capacity, backlog, twinBacklog, aboveNormal, median, p99 }

  /// A curve has as many at most.
  private static let columns = 600

  /// Nominal, requests per second of the whole fleet.
  private func capacity(_ variant: Int) -> Double { facts[variant]?.fullSizeCapacity ?? 0 }

  /// - Parameter times: since `origin`.
  private func curve(
    _ quantity: Quantity, _ variant: Int, _ look: Chart.Curve.Look, in times: ClosedRange<Double>,
    from origin: Int64 = 0
  ) -> Chart.Curve {
    let (columns, width) = columns(quantity, variant)
    let count = Double(columns.count)
    func place(_ time: Double) -> Double { min(max((Double(origin) + time) / width, 0), count) }
    let first = Int(place(times.lowerBound))
    let shown = first..<max(first, Int(place(times.upperBound).rounded(.up)))
    let start = Double(first) * width - Double(origin)
    return Chart.Curve(
      envelope: Array(columns[shown]).cut(to: Self.columns),
      range: start...start + Double(shown.count) * width, ink: quantity == .twinBacklog ? .twin : .text,
      look: look, width: look == .steps ? 1.3 : quantity == .twinBacklog ? 0.8 : 1.6,
      dash: look == .steps ? "6 4" : nil)
  }

  /// The values of a run, and how long each stands for, microseconds.
  private func columns(_ quantity: Quantity, _ variant: Int) -> (columns: Envelope, width: Double) {
    let scale = Double(facts[variant]?.scale ?? 1)
    if trial.isOfOneRun {
      let result = trial.first[variant]
      let (series, twin) = (result.record.series, result.twin.series.rows)
      let values = series.rows.indices.map { row in
        value(quantity, series.rows[row], row < twin.count ? twin[row] : nil, series.length(of: row))
      }
      let factor = quantity == .median || quantity == .p99 ? 1 : scale
      return (Envelope(finite: values.map { $0.map { factor * $0 } }), Double(max(series.interval, 1)))
    }
    let columns = means(quantity, trial.curves[variant]).map { column in
      column.map {
        VariantCurves.Point(mean: scale * $0.mean, low: scale * max($0.low, 0), high: scale * $0.high)
      }
    }
    return (columns, max(Double(facts[variant]?.duration ?? 0), 1) / Double(max(columns.count, 1)))
  }

  private func value(
    _ quantity: Quantity, _ row: TimeSeries.Row, _ twin: TimeSeries.Row?, _ length: Int64
  ) -> Double? {
    func rate(_ count: Double) -> Double? { length > 0 ? count * 1e6 / Double(length) : nil }
    return switch quantity {
    case .offered: rate(Double(row.attempts))
    case .goodput: rate(Double(row[.acceptedBatches]))
    case .capacity: rate(Double(row[.capacityMilliRequests]) / 1_000)
    case .backlog: Double(row[.backlogEvents])
    case .twinBacklog: twin.map { Double($0[.backlogEvents]) }
    case .aboveNormal: Double(row.openBacklog - (twin?.openBacklog ?? 0))
    case .median: row.timeToDeliveryP50.map(Double.init)
    case .p99: row.timeToDeliveryP99.map(Double.init)
    }
  }

  private func means(_ quantity: Quantity, _ curves: VariantCurves) -> Envelope {
    switch quantity {
    case .offered: curves[.offered]
    case .goodput: curves[.goodput]
    case .capacity: Envelope(finite: curves.facts?.capacity ?? [])
    case .backlog: curves[.backlog]
    case .twinBacklog: curves[.twinBacklog]
    case .aboveNormal: curves[.aboveNormal]
    case .median, .p99: []
    }
  }

  /// Returns the part of the time axis that is shown round the incident, counted from the last one's end; nil where a variant has
  /// none, or ends with it. It reaches to the time when the slowest has recovered, and for half as long as the incidents, which are
  /// whole in it where the run is long enough.
  /// - Parameter slowest: the longest recovery, if every run recovers.
  private static func timesRoundIncident(_ facts: [RunFacts?], slowest: Double?) -> ClosedRange<Double>? {
    var (longest, before) = (0.0, 0.0)
    for facts in facts {
      guard let facts, let start = facts.incidents.map(\.start).min(),
        let end = facts.incidents.map(\.end).max(), end < facts.duration
      else { return nil }
      longest = max(longest, Double(facts.duration - end))
      before = max(before, Double(end) - Double(max(start, 0)))
    }
    let shown = min(longest, slowest.map { max($0 * 1.25 + 120e6, before / 2) } ?? longest)
    return shown > 0 ? -(min(before, shown * 2) + shown / 25)...max(shown, 1) : nil
  }
}
