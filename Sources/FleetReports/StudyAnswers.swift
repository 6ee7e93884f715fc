import FleetExperiments
import FleetMetrics

extension LiveComparison {
  /// Whether a real server did as predicted, and both runs in one picture.
  /// - Parameters:
  ///   - story: that of a run that was stopped is another than the comparison's.
  ///   - results: the measured run, then the predicted one.
  ///   - folder: where the files of the prediction go.
  package func answer(
    _ story: Story, facts: String, results: [VariantResult], predictedIn folder: String
  ) -> Answer {
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
      .html(Compared.whole(results).overlays()),
      .terms([
        (
          "Measured",
          "The scenario's clients against a real server, by the requests that they made and the answers that came."
        ),
        (
          "Predicted",
          "The same scenario and seed in the simulator, where the server is what the scenario says of it."
        ),
        (
          "Of all seeds",
          "From the least to the most over \(FigureText.count(seeds, "seed")) of the simulator, this one first: what chance alone does. A run with a "
            + "seed of its own would be outside the range of 40 with a chance of 2 in 41, for each figure by itself."
        ),
        ("As predicted", "Within 5 % of the prediction, or within the range of all seeds."),
      ]),
    ]
    return answer
  }
}

/// The findings of a calibration, as tables, pictures and files.
package struct CalibrationReport {
  private let result: CalibrationResult
  package init(_ result: CalibrationResult) { self.result = result }

  /// The values that fit what was measured, and how well.
  /// - Parameter fitted: the fitted scenario as normalised.
  package func answer(facts: String, fitted: String) -> Answer {
    let verdict = CalibrationVerdict(result)
    var answer = Answer(verdict.story, facts: facts)
    let values = TextTable(header: CalibrationVerdict.header, rows: verdict.rows)
    let errors =
      verdict.hasHeldOut ? TextTable(header: CalibrationVerdict.errorHeader, rows: verdict.errorRows) : nil
    answer.terminal = [.table(values)]
    answer.details = errors.map { [.table($0, title: "On the part held out")] } ?? []
    answer.page = [
      .table(values, title: "Fitted values"),
      .figure(
        chart(.variables), title: "Observed and fitted",
        caption:
          "Counts of each interval, observed in blue, expected by the fitted scenario in orange; below each the residuals on the scale "
          + "that is fitted, where chance alone makes about 1. What is shaded was held out."),
    ]
    if let errors {
      answer.page.append(
        .table(
          errors, title: "On the part held out",
          note: "Mean absolute percentage errors over the rows in which something was counted."))
    }
    answer.page.append(
      .terms([
        (
          "95 % interval",
          "Runs of the scenario with known values near the fitted ones were each taken for a measured series and fitted; the interval "
            + "is as wide as those readings were off, and wider where the scenario does not explain the series."
        ),
        (
          "Explained",
          "The squares of the residuals, against those of runs of the fitted scenario itself: as large, but for chance."
        ),
        (
          "Residual",
          "2 √(observed + 3/8) − 2 √(fitted + 3/8) (Anscombe, 1948): of a Poisson count its standard deviation is 1, whatever its size."
        ),
      ]))
    let head = zip(result.study.keys, result.values).map { "// \($0.path): \($1)\n" }.joined()
    answer.data = [
      OutputFile(.fitted, text: "// Fitted by fleetsim calibrate:\n" + head + fitted),
      OutputFile(.residuals, CalibrationCSV(result).residuals),
    ]
    answer.pictures = [OutputFile(.calibrationPicture, text: chart(.fixed))]
    return answer
  }

  // MARK: Picture

  private static let width = Lettering.pictureWidth
  private static let left = 74.0
  private static let right = 16.0
  private static let plotHeight = 110.0
  private static let residualHeight = 44.0
  private static let columns = 300

  private var times: ClosedRange<Double> {
    let observed = result.study.observed
    let interval = Double(observed.interval)
    return Double(observed.rows.first ?? 0) * interval...(Double(observed.rows.last ?? 0) + 1) * interval
  }

  /// By interval from the first row on; nil where the file has none.
  private func laidOut(_ value: (Int) -> Double?) -> [Double?] {
    let rows = result.study.observed.rows
    guard let first = rows.first, let last = rows.last else { return [] }
    var values = [Double?](repeating: nil, count: last - first + 1)
    for (number, row) in rows.enumerated() { values[row - first] = value(number) }
    return values
  }

  private func chart(_ theme: Theme) -> String {
    var canvas = SVGCanvas(theme: theme)
    let width = Self.width
    let ticks = Scale.timeTicks(duration: Int64(times.upperBound), most: 8)
    var y = 4.0
    for (index, weight) in result.study.weights.enumerated() {
      canvas.text(
        "\(weight.column.title) an interval", x: Self.left, y: y + 14, size: Lettering.label, ink: .text,
        isBold: true)
      canvas.text(
        "observed", x: width - Self.right - 60, y: y + 14, size: Lettering.label, anchor: .end, ink: .muted)
      canvas.text(
        "fitted", x: width - Self.right, y: y + 14, size: Lettering.label, anchor: .end, ink: .accent,
        isBold: true)
      y += 22
      let seen = Envelope(laidOut { result.observed(index, $0) }, columns: Self.columns)
      let fitted = Envelope(laidOut { result.expected.values[index][$0] }, columns: Self.columns)
      let limit = max(seen.maximum, fitted.maximum, 1) * 1.05
      let plot = plot(y, Self.plotHeight, limit)
      shadeHeldOut(on: &canvas, plot)
      canvas.drawTimeGrid(ticks, in: plot)
      canvas.drawVerticalAxis(Scale.ticks(upTo: limit, count: 3), in: plot, size: Lettering.small)
      canvas.draw(PlotLine(envelope: seen, times: times, ink: .other), in: plot)
      canvas.draw(PlotLine(envelope: fitted, times: times, ink: .accent), in: plot)
      y += Self.plotHeight + 8
      drawResiduals(index, y, on: &canvas)
      canvas.drawTimeLabels(ticks, in: self.plot(y, Self.residualHeight, 1), size: Lettering.small)
      y += Self.residualHeight + 30
    }
    return canvas.svg(width: width, height: y, label: "Observed and fitted counts by interval, and residuals")
  }

  private func plot(_ y: Double, _ height: Double, _ limit: Double) -> Plot {
    Plot(
      x: Self.left, y: y, width: Self.width - Self.left - Self.right, height: height, times: times,
      scale: .linear(limit: limit))
  }

  private func shadeHeldOut(on canvas: inout SVGCanvas, _ plot: Plot) {
    let study = result.study
    guard study.heldOut < study.observed.rows.count else { return }
    let start = plot.px(time: Double(study.observed.rows[study.heldOut]) * Double(study.observed.interval))
    canvas.rect(
      x: start, y: plot.y, width: plot.x + plot.width - start, height: plot.height, fill: .muted,
      opacity: 0.12)
  }

  /// Round a line at 0, up to the largest to each side.
  private func drawResiduals(_ column: Int, _ y: Double, on canvas: inout SVGCanvas) {
    let values = laidOut { result.residual(column, $0) }
    let most = max(values.reduce(0) { max($0, abs($1 ?? 0)) }, 2)
    let plot = plot(y, Self.residualHeight, 2 * most)
    shadeHeldOut(on: &canvas, plot)
    let envelope = Envelope(values.map { $0.map { $0 + most } }, columns: Self.columns)
    canvas.draw(PlotLine(envelope: envelope, times: times, ink: .muted, style: .thin), in: plot)
    canvas.line(plot.x, plot.py(most), plot.x + plot.width, plot.py(most), ink: .text, width: 0.7)
    for (value, label) in [(2 * most, "+"), (0, "−")] {
      canvas.text(
        label + Humanised.compact(most), x: plot.x - 6, y: plot.py(value) + 5, size: Lettering.small,
        anchor: .end)
    }
  }
}
