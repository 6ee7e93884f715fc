import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioFormat

/// What two numeric keys do to a fleet: a cell for each pair of values, the first key across, the second one up.
///
/// A cell has how many of its runs fail, and where none does how soon they recover.
package struct PairMap {
  /// A key with its values, from the smallest on.
  private struct Key {
    let path: String
    let values: [Quantity]

    /// Nil for fewer than three values, and for what is no number.
    init?(_ overrides: [Override]) {
      guard let path = overrides.first?.path, overrides.allSatisfy({ $0.path == path }) else { return nil }
      let numbers = overrides.compactMap { Quantity($0.value) }.sorted { $0.baseValue < $1.baseValue }
      let values = numbers.reduce(into: [Quantity]()) { values, number in
        if values.last?.baseValue != number.baseValue { values.append(number) }
      }
      guard numbers.count == overrides.count, values.count > 2 else { return nil }
      (self.path, self.values) = (path, values)
    }

    func place(of override: Override) -> Int {
      let value = Quantity(override.value)?.baseValue
      return values.firstIndex { $0.baseValue == value } ?? 0
    }
    var words: [String] { values.map(\.words) }
    /// For `limit --key`.
    var range: String { "\(path)=\(values[0].text())..\(values[values.count - 1].text())" }
  }

  /// The runs of a pair of values.
  private struct Cell {
    let runs: [RunSummary]
    var failed: Int { runs.count(where: \.fails) }
    /// Whether most twins do not hold: there is nothing to come back to.
    var isOverloaded: Bool { runs.count { !$0.baselineIsHealthy } * 2 > runs.count }
    /// The mean, microseconds; nil where a run fails or has not seen it.
    var recovery: Int64? {
      let times = runs.compactMap(\.recoveryTime)
      guard !times.isEmpty, times.count == runs.count, failed == 0, !isOverloaded else { return nil }
      return times.reduce(0, +) / Int64(times.count)
    }
    var text: String {
      if isOverloaded { return "overloaded" }
      if failed > 0 { return runs.count == 1 ? "fails" : "\(failed)/\(runs.count) fail" }
      return recovery.map(FigureText.span) ?? "–"
    }
  }

  private let x: Key
  private let y: Key
  /// Whether the values are somebody's to choose: then there is a best pair.
  private let isChoice: Bool
  /// From the smallest value of the second key on, each from that of the first.
  private var rows: [[Cell]]

  /// Nil unless the variants differ in two keys of three or more numbers, and have incidents.
  package init?(_ trial: Trial, _ choices: [VariantChoice]) {
    guard choices.allSatisfy({ $0.overrides.count == 2 }), let x = Key(choices.map { $0.overrides[0] }),
      let y = Key(choices.map { $0.overrides[1] }), choices.count == x.values.count * y.values.count,
      trial.rows.contains(where: \.hasIncidents)
    else { return nil }
    (self.x, self.y, isChoice) = (x, y, choices.allSatisfy(\.isOption))
    rows = y.values.map { _ in x.values.map { _ in Cell(runs: []) } }
    for (choice, runs) in zip(choices, trial.rowsByVariant) {
      rows[y.place(of: choice.overrides[1])][x.place(of: choice.overrides[0])] = Cell(runs: runs)
    }
  }

  /// Puts the grid in the place of the table, and the picture first on the page.
  func add(to answer: inout Answer) {
    answer.terminal = [.table(table, title: "How many runs fail, or else when the fleet has caught up")]
    answer.page.insert(
      .figure(
        chart.html, title: "By both keys",
        caption: "Overloaded: the fleet does not hold even without the incidents."), at: 0)
    answer.pictures.append(OutputFile(.map, text: chart.svg))
  }

  /// Says where runs fail: of values that nobody chooses in place of who is best.
  package func tell(_ story: inout Story, of path: String) {
    if !isChoice {
      story = Story(title, basis: story.basis)
      story.add(.risk, sureness)
    }
    if failing > 0, failing < rows.joined().count {
      story.add(.next, "where it turns: fleetsim limit \(path) --key \(y.range)")
    }
  }

  // MARK: Terminal

  /// The first key across, the second one up.
  package var table: TextTable {
    TextTable(
      header: ["\(KeyWords.words(y.path)) ↑ \(KeyWords.words(x.path)) →"] + x.words,
      rows: zip(y.words, rows).map { [$0] + $1.map(\.text) }.reversed())
  }

  /// The cells with a run that fails.
  private var failing: Int { rows.joined().count { $0.failed > 0 || $0.isOverloaded } }

  private var title: String {
    let (failing, all) = (failing, rows.joined().count)
    let times = rows.joined().compactMap(\.recovery)
    guard failing == 0, let low = times.min(), let high = times.max() else {
      return "Runs fail at \(failing) of \(all) pairs of values"
    }
    return "Every run recovers, in \(FigureText.span(low)) to \(FigureText.span(high)) in the mean"
  }

  /// What the runs of a pair can't tell.
  private var sureness: String {
    let runs = rows.joined().map(\.runs.count).min() ?? 0
    let bound = FigureText.percent(ExactBinomial.upperBound(of: 0, in: runs))
    return
      "where none of \(FigureText.count(runs, "run")) of a pair fails, up to \(bound) may (95 % confidence)"
  }

  // MARK: Picture

  /// How much of its colour a cell has: text on it is legible.
  package static let opacity = 0.25...0.5

  package var chart: Chart {
    func words(_ words: [String], _ title: String) -> Axis {
      let ticks = words.enumerated().map { Axis.Tick(value: Double($0) + 0.5, label: $1) }
      return .ticked(0...Double(words.count), title: title, ticks)
    }
    let times = rows.joined().compactMap(\.recovery).map { max(Double($0), 1e6) }
    let depths = Axis(range: (times.min() ?? 1)...(times.max() ?? 1), isLogarithmic: true, ticks: { _ in [] })
    let cells = zip(rows.indices, rows).flatMap { row, cells in
      zip(cells.indices, cells).map { column, cell in
        let share = Double(cell.failed) / Double(max(cell.runs.count, 1))
        let depth = cell.recovery.map { depths.share(of: max(Double($0), 1e6)) } ?? share
        let range = cell.isOverloaded ? 1...1 : Self.opacity
        return Chart.Cell(
          column: column, row: row, text: cell.text,
          ink: cell.isOverloaded ? .other : cell.failed > 0 ? .never : .accent,
          opacity: range.lowerBound + (range.upperBound - range.lowerBound) * depth,
          details: "\(x.words[column]), \(y.words[row]): \(cell.text)")
      }
    }
    let panel = Chart.Panel(
      name: "↑ \(KeyWords.words(y.path))", y: words(y.words, ""),
      height: Double(rows.count) * max(28, min(64, 400 / Double(rows.count))), cells: cells)
    return Chart(
      title: title, description: "How many runs fail, or how soon they recover, by \(x.path) and \(y.path)",
      sections: [
        Chart.Section(
          x: words(x.words, "\(KeyWords.words(x.path)) →"), panels: [panel],
          note: "Blue: when the fleet has caught up, the later the darker. Red: how many runs fail.")
      ])
  }
}
