extension CalibrationResult {
  private var keys: Range<Int> { study.keys.indices }

  /// The finding, the reason to believe it or not, and what the series can't say.
  package var story: Story {
    var story = Story(finding, basis: FigureText.count(runs, "run"))
    story.add(
      .reason,
      "squared residuals \(Quantity.decimal(scatter.ratio)) times those of the fitted scenario's own runs"
        + (scatter.isExplained ? ", as chance can do" : "; intervals are widened for that"))
    story.add(.note, scatter.heldOut.map(words))
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

  private func words(_ heldOut: CalibrationScatter.HeldOut) -> String {
    let share = Self.percent(
      Double(study.observed.rows.count - study.heldOut) / Double(study.observed.rows.count))
    return
      "off by \(Self.percent(heldOut.error)) a row on the last \(share), which was not fitted (\(heldOut.column.title))"
      + (heldOut.chance.map { "; chance alone \(Self.percent($0))" } ?? "")
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

  /// On the scale that is fitted.
  package func residual(_ column: Int, _ row: Int) -> Double? {
    study.observed.columns[column].values[row].map {
      CalibrationStudy.stabilised($0) - CalibrationStudy.stabilised(expected[column][row])
    }
  }
}
