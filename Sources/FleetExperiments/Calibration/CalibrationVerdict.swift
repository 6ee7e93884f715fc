import FleetMetrics

/// A calibration in words and figures.
extension CalibrationResult {
  private var keys: Range<Int> { study.keys.indices }

  /// The finding, the reason to believe it or not, and what the series can't say.
  package var story: Story {
    let basis = FigureText.count(runs, "run")
    if !isFinished {
      let values = keys.map { "\(study.keys[$0].path) \(Self.text(quantities[$0]))" }
      var story = Story("Nearest so far: \(Story.list(values))", basis: basis)
      story.add(.open, "how far that may be off is not known yet")
      return story
    }
    var story = Story(finding, basis: basis)
    story.add(
      .reason,
      "squared residuals \(Quantity.decimal(scatter.ratio)) times those of the fitted scenario's own runs"
        + (scatter.isExplained ? ", as chance can do" : "; intervals are widened for that"))
    story.add(.note, heldOut)
    for key in keys where isUnknown(key) {
      let interval = interval(key)
      story.add(
        .open,
        "\(study.keys[key].path): from \(Self.text(interval.low)) to \(Self.text(interval.high)) all fit alike; measure what depends on it"
      )
    }
    for (first, second) in inseparable {
      story.add(
        .open,
        "\(study.keys[first].path) and \(study.keys[second].path) can't be told apart (correlation "
          + "\(Quantity.decimal(correlation(first, second)))): fix one with --set, or add a column")
    }
    for key in keys where isAtEdge(key) {
      story.add(
        .open, "\(study.keys[key].path) lies at the edge of its range, \(values[key]): widen the range"
      )
    }
    return story
  }

  private var finding: String {
    if keys.allSatisfy(isUnknown) { return "The series says nothing of what was asked" }
    if !scatter.isExplained { return "No values within the ranges explain the series" }
    return isSettled
      ? "The scenario explains the series" : "The search did not come to rest: give a larger --budget"
  }

  /// The error on what was not fitted; nil where nothing was held out.
  private var heldOut: String? {
    guard let column = study.weights.indices.first(where: { scatter.errors[$0] != nil }),
      let error = scatter.errors[column]
    else { return nil }
    let share = Self.percent(
      Double(study.observed.rows.count - study.heldOut) / Double(study.observed.rows.count))
    return
      "off by \(Self.percent(error)) a row on the last \(share), which was not fitted "
      + "(\(study.weights[column].column.title))"
      + (scatter.chance[column].map { "; chance alone \(Self.percent($0))" } ?? "")
  }

  // MARK: Table

  package static let header = ["key", "fitted", "95 % from", "to", "range"]

  package var rows: [[String]] {
    keys.map { key in
      let interval = interval(key)
      let range = study.keys[key]
      return [
        range.path, isUnknown(key) ? "unknown" : Self.text(quantities[key]),
        Self.text(interval.low),
        Self.text(interval.high), "\(Self.text(range.low)) to \(Self.text(range.high))",
      ]
    }
  }

  package var hasHeldOut: Bool { study.heldOut < study.observed.rows.count }

  package static let errorHeader = ["column", "weight", "error on the part held out", "by chance alone"]

  package var errorRows: [[String]] {
    study.weights.indices.map { column in
      [
        study.weights[column].column.title, Quantity.decimal(study.weights[column].weight, digits: 4),
        scatter.errors[column].map(Self.percent) ?? "–",
        scatter.chance[column].map(Self.percent) ?? "–",
      ]
    }
  }

  // MARK: Words

  private static func text(_ quantity: Quantity) -> String {
    if quantity.unit == .span, quantity.value > 0, quantity.value < 600e6 {
      return quantity.value < 1e6
        ? Quantity.decimal(quantity.value / 1e3, digits: 4) + " ms"
        : Quantity.decimal(quantity.value / 1e6, digits: 4) + " s"
    }
    return quantity.words
  }

  private static func percent(_ share: Double) -> String { Quantity.decimal(share * 100, digits: 2) + " %" }
}

/// A row of `residuals.csv`.
package struct ResidualRow: Sendable {
  fileprivate var number: Int
  fileprivate var time: Int64
  fileprivate var isHeldOut: Bool

  /// The columns that `residuals.csv` has in any case.
  package static let firstColumns: [CSVColumn<ResidualRow>] = [
    .init("time_s", "s", "Start of the interval, since the start of the run.") { .seconds($0.time) },
    .init("held_out", "", "Whether nothing was fitted to the row.") { .flag($0.isHeldOut) },
  ]
}

extension CalibrationResult {
  /// `residuals.csv`: the first columns, and three for each column that was fitted.
  package var residuals: [UInt8] {
    let columns = study.weights.enumerated().flatMap { index, weight in
      let name = weight.column.rawValue
      return [
        CSVColumn<ResidualRow>("\(name)_observed", "1", "Counted in the interval.") {
          .decimal(observed(index, $0.number))
        },
        CSVColumn<ResidualRow>(
          "\(name)_fitted", "1", "Expected by the fitted scenario: the mean of its runs."
        ) {
          .decimal(expected.values[index][$0.number])
        },
        CSVColumn<ResidualRow>(
          "\(name)_residual", "1",
          "2 √(observed + 3/8) − 2 √(fitted + 3/8): about 1 in size where chance alone is at work."
        ) { .decimal(residual(index, $0.number)) },
      ]
    }
    return CSVFile.bytes(
      ResidualRow.firstColumns + columns,
      study.observed.rows.enumerated().map { number, row in
        ResidualRow(
          number: number, time: Int64(row) * study.observed.interval, isHeldOut: number >= study.heldOut)
      })
  }

  /// Returns the count of a column in a row; nil where the file has nothing.
  package func observed(_ column: Int, _ row: Int) -> Double? {
    study.observed.values[study.weights[column].column]?[row] ?? nil
  }

  /// On the scale that is fitted.
  package func residual(_ column: Int, _ row: Int) -> Double? {
    observed(column, row).map {
      CalibrationStudy.stabilised($0) - CalibrationStudy.stabilised(expected.values[column][row])
    }
  }
}
