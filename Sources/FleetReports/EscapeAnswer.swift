import FleetExperiments
import FleetMetrics
import FleetStatistics

/// The files of a scenario by itself: how likely it recovers, and when.
package struct EscapeReport {
  private let point: StabilityCase
  package init(_ point: StabilityCase) { self.point = point }

  static let illTerm = (
    term: "Ill",
    meaning:
      "A run that has not recovered after twice the time that is possible, at least 2 min. The mean time to come back by chance "
      + "counts from any moment of the illness: the time that all ill runs were ill, divided by how many came back (exponential "
      + "law, Garwood's interval). Runs that were ill until their end count with their time."
  )

  /// A picture that stands alone: for light and dark pages, no script.
  package var picture: String { EscapePlot(point, theme: .fixed).svg() }

  package func answer(facts: String) -> Answer {
    var answer = Answer(Story(point.sentence), facts: facts)
    let quartiles = TextTable(
      header: ["of the runs", "recovered after"], rows: point.quartiles.map { [$0.share, $0.time] })
    answer.terminal = [.table(quartiles)]
    answer.page = [
      .figure(
        EscapePlot(point, theme: .variables).svg(), title: "How many are still ill",
        caption:
          "Steps: the share of runs that had not recovered, by time from the last incident’s end (Kaplan and Meier). "
          + "Dashed: the share by the mean time to come back by chance."),
      .table(quartiles, title: "Quartiles"),
      .terms([
        (
          "Recovers",
          "The backlog came back to within 10 % of the twin's, the same run without incidents, before the run ended; in more than "
            + "\(FigureText.percent(1 - point.risk.risk)) of the seeds, with 95 % confidence (Wilson's interval)."
        ), Self.illTerm,
      ]),
    ]
    answer.data = [
      OutputFile(.stability, point.table.csv),
      OutputFile(.escape, Table(EscapeTimes.columns, point.steps).csv),
    ]
    answer.pictures = [OutputFile(.stabilityPicture, text: picture)]
    return answer
  }
}

/// The share of runs that have not recovered, by time.
struct EscapePlot {
  private let point: StabilityCase
  private let theme: Theme
  private static let left = 76.0
  private static let plotHeight = 260.0

  init(_ point: StabilityCase, theme: Theme) { (self.point, self.theme) = (point, theme) }

  private var title: String { point.sentence }

  func svg() -> String {
    var canvas = SVGCanvas(theme: theme)
    let top = 24 + (theme == .fixed ? canvas.drawTitle(title) + 20 : 8)
    let recoveries = point.point.escapes?.recoveries ?? CensoredTimes()
    let end = max(recoveries.watches.last?.length ?? 0, 1)
    let plot = Plot(
      x: Self.left, y: top, width: Lettering.pictureWidth - Self.left - 24, height: Self.plotHeight,
      times: 0...end, scale: .linear(limit: 1))
    let ticks = Scale.timeTicks(duration: Int64(end), most: 8)
    canvas.drawTimeGrid(ticks, in: plot)
    canvas.drawTimeLabels(ticks, in: plot, size: Lettering.small)
    for share in [0, 0.25, 0.5, 0.75, 1] {
      let y = plot.py(share)
      canvas.line(plot.x, y, plot.x + plot.width, y, ink: .grid)
      canvas.text(FigureText.percent(share), x: plot.x - 9, y: y + 5, size: Lettering.small, anchor: .end)
    }
    drawExpected(on: &canvas, plot)
    var steps = PathBuilder()
    steps.move(plot.px(time: 0), plot.py(1))
    var left = 1.0
    for step in recoveries.steps {
      steps.line(plot.px(time: step.time), plot.py(left))
      left = step.left
      steps.line(plot.px(time: step.time), plot.py(left))
    }
    steps.line(plot.px(time: end), plot.py(left))
    canvas.path(steps.data, stroke: .accent, width: 2.4)
    canvas.text(
      "↑ runs that have not recovered", x: 16, y: top - 12, size: Lettering.label, ink: .text, isBold: true)
    canvas.text(
      "time from the last incident’s end →", x: plot.x + plot.width, y: plot.bottom + 44,
      size: Lettering.label,
      anchor: .end, ink: .text, isBold: true)
    let label = "Share of runs that have not recovered, by time from the last incident’s end"
    return canvas.svg(
      width: Lettering.pictureWidth, height: plot.bottom + 60, label: theme == .fixed ? title : label,
      description: label)
  }

  /// The exponential law of the ill runs, from where they are ill.
  private func drawExpected(on canvas: inout SVGCanvas, _ plot: Plot) {
    guard let escapes = point.point.escapes, let mean = escapes.mean, escapes.recoveries.count > 0 else {
      return
    }
    let onset = escapes.meanOnset
    let first = Double(escapes.illRuns) / Double(escapes.recoveries.count)
    let (columns, end) = (120, plot.times.upperBound)
    let step = (end - onset) / Double(columns)
    guard step > 0 else { return }
    let factor = NormalDistribution.exponential(-step / mean)
    var path = PathBuilder()
    var left = first
    path.move(plot.px(time: onset), plot.py(left))
    for column in 1...columns {
      left *= factor
      path.line(plot.px(time: onset + Double(column) * step), plot.py(left))
    }
    canvas.path(path.data, stroke: .text, width: 1.8, dash: "6 4")
    canvas.text(
      "dashed: by one constant chance, after \(FigureText.span(Int64(mean))) in the mean",
      x: plot.x + plot.width - 8, y: plot.y + 24, size: Lettering.label, anchor: .end, ink: .text, halo: true)
  }
}
