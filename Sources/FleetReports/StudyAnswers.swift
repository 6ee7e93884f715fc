import FleetExperiments
import FleetMetrics

extension LiveComparison {
  /// Whether a real server did as predicted, and both runs in one picture.
  /// - Parameters:
  ///   - story: that of a run that was stopped is another than the comparison's.
  ///   - results: the measured run, then the predicted one.
  package func answer(_ story: Story, facts: String, results: [VariantResult]) -> Answer {
    var answer = Answer(story, facts: facts)
    let summary = results[0].summary
    func count(_ events: Int64) -> String { FigureText.grouped(events) }
    let events =
      "Events: \(count(summary[.createdEvents])) created, of which \(count(summary[.deliveredEvents])) delivered, "
      + "\(count(summary.lostEvents)) lost, \(count(summary.openEvents)) on devices or on their way.\n"
    let shown = TextTable(table)
    answer.terminal = (figures.isEmpty ? [] : [.table(shown)]) + [.text(events)]
    answer.page = [
      .table(shown, title: "Measured and predicted"),
      TrialReport(Trial(results)).overlays(),
      .terms(PageWords.live.terms),
    ]
    return answer
  }
}

extension CalibrationResult {
  /// The values that fit what was measured, and how well.
  /// - Parameter fitted: the fitted scenario as normalised.
  package func answer(_ story: Story, facts: String, fitted: String) -> Answer {
    var answer = Answer(story, facts: facts)
    let values = TextTable(header: Self.header, rows: rows)
    answer.terminal = [.table(values)]
    answer.page = [
      .table(values, title: "Fitted values"),
      .figure(
        chart.html, title: "Observed and fitted",
        caption:
          "Counts of each interval, and below them the residuals on the scale that is fitted, where chance alone makes about 1. What is "
          + "shaded was held out."),
      .terms(PageWords.calibration.terms),
    ]
    let head = zip(study.keys, self.values).map { "// \($0.path): \($1)\n" }.joined()
    answer.data = [
      OutputFile(.fitted, text: "// Fitted by fleetsim calibrate:\n" + head + fitted)
    ]
    answer.pictures = [OutputFile(.calibrationPicture, text: chart.svg)]
    return answer
  }

  // MARK: Picture

  /// By interval from the first row on; no value where the file has none.
  private func curve(_ look: Chart.Curve.Look, _ ink: Ink, _ name: String = "", _ value: (Int) -> Double?)
    -> Chart.Curve
  {
    let observed = study.observed
    let (first, last) = (observed.rows.first ?? 0, observed.rows.last ?? -1)
    var values = [Double?](repeating: nil, count: last - first + 1)
    for (number, row) in observed.rows.enumerated() { values[row - first] = value(number) }
    let interval = Double(observed.interval)
    return Chart.Curve(
      envelope: Envelope(finite: values), range: Double(first) * interval...Double(last + 1) * interval,
      ink: ink,
      look: look, name: name)
  }

  /// For each column what was counted, and below it the residuals round a line at 0.
  private var chart: Chart {
    let panels = study.observed.columns.enumerated().flatMap { index, column in
      let seen = curve(.spikes, .other, "observed") { column.values[$0] }
      let fitted = curve(.spikes, .accent, "fitted") { expected[index][$0] }
      let residuals = curve(.spikes, .muted) { residual(index, $0) }
      let most = residuals.envelope.reduce(2) { max($0, abs($1?.mean ?? 0)) }
      var shades: [Chart.Shade] = []
      if study.heldOut < study.observed.rows.count {
        let start = Double(study.observed.rows[study.heldOut]) * Double(study.observed.interval)
        shades = [Chart.Shade(range: start...max(seen.range.upperBound, start), ink: .muted)]
      }
      let limit = max(seen.envelope.maximum, fitted.envelope.maximum, 1) * 1.05
      return [
        Chart.Panel(
          name: "\(column.kind.title) an interval", y: .counts(to: limit), height: 110, shades: shades,
          curves: [seen, fitted]),
        Chart.Panel(
          figures: "residual",
          y: .ticked(
            -most...most, [-most, 0, most].map { Axis.Tick(value: $0, label: FigureText.compact($0)) }),
          height: 44, shades: shades, curves: [residuals]),
      ]
    }
    let range = panels.first?.curves[0].range ?? 0...1
    return Chart(
      title: "Observed and fitted counts by interval, and residuals",
      sections: [Chart.Section(x: .time(range, "of the run"), panels: panels)])
  }
}

extension Chart {
  /// The share of a key's runs that keep a limit, by its value.
  /// - Parameters:
  ///   - points: by place from 0 to 1 on the axis, in this order; `words` name the value.
  ///   - own: the place of the scenario's own value.
  package static func shares(
    title: String, description: String, of key: String,
    _ points: [(place: Double, share: Double, interval: ClosedRange<Double>, words: String, isAnswer: Bool)],
    own: Double?
  ) -> Chart {
    let dots = points.map { point in
      Dot(
        x: point.place, y: point.share, look: .point(width: point.isAnswer ? 12 : 8),
        ink: point.isAnswer ? .accent : .other, interval: point.interval,
        details: "\(point.words): \(FigureText.percent(point.share))")
    }
    let answers = points.filter(\.isAnswer).map {
      Shade(range: $0.place...$0.place, label: $0.words, ink: .accent)
    }
    let now = own.map { Shade(range: $0...$0, label: "now", ink: .muted) }
    let shares = [0, 1, 0.5].map { Axis.Tick(value: $0, label: FigureText.percent($0)) }
    let panel = Panel(
      y: .ticked(0...1, shares), height: 240, shades: answers + (now.map { [$0] } ?? []), dots: dots)
    // What was run is marked, the ends first.
    let marked = [points.first, points.last].compactMap(\.self) + points
    let x = Axis.ticked(0...1, title: key, marked.map { Axis.Tick(value: $0.place, label: $0.words) })
    return Chart(title: title, description: description, sections: [Section(x: x, panels: [panel])])
  }
}
