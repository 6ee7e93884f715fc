import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioFormat

/// What two numeric keys do to a fleet: a cell for each pair of values, the first key across, the second one up.
///
/// A cell has how many of its runs fail, and where none does how soon they recover.
package struct PairMap {
  /// A key with its values, from the smallest on.
  private struct Axis {
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

  private let x: Axis
  private let y: Axis
  /// Whether the values are somebody's to choose: then there is a best pair.
  private let isChoice: Bool
  /// From the smallest value of the second key on, each from that of the first.
  private var rows: [[Cell]]

  /// Nil unless the variants differ in two keys with three or more numbers each, and have incidents.
  package init?(_ compared: Compared, _ choices: [VariantChoice]) {
    guard choices.allSatisfy({ $0.overrides.count == 2 }), let x = Axis(choices.map { $0.overrides[0] }),
      let y = Axis(choices.map { $0.overrides[1] }), choices.count == x.values.count * y.values.count,
      compared.rows.joined().contains(where: \.hasIncidents)
    else { return nil }
    (self.x, self.y, isChoice) = (x, y, choices.allSatisfy(\.isOption))
    rows = y.values.map { _ in x.values.map { _ in Cell(runs: []) } }
    for (choice, runs) in zip(choices, compared.rows) {
      rows[y.place(of: choice.overrides[1])][x.place(of: choice.overrides[0])] = Cell(runs: runs)
    }
  }

  /// Puts the grid in the place of the table, and the picture first on the page.
  func add(to answer: inout Answer) {
    answer.terminal = [.table(table, title: "How many runs fail, or else the mean recovery")]
    answer.page.insert(
      .figure(svg(.variables), title: "By both keys", caption: "\(Self.key) \(Self.overload)"), at: 0)
    answer.pictures.append(OutputFile(.map, text: svg(.fixed)))
  }

  /// Says where runs fail: of values that nobody chooses in place of who is best.
  package func tell(_ story: inout Story) {
    if !isChoice {
      story = Story(title, basis: story.basis)
      story.add(.risk, sureness)
    }
    if failing > 0, failing < rows.joined().count {
      story.add(.next, "where it turns: fleetsim limit SCENARIO --key \(y.range)")
    }
  }

  private static let key = "Blue: the mean recovery, the slower the darker. Red: how many runs fail."
  private static let overload = "Overloaded: the fleet does not hold even without the incidents."

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

  package func svg(_ theme: Theme) -> String {
    var canvas = SVGCanvas(theme: theme)
    let (small, label) = (Lettering.small, Lettering.label)
    let top = (theme == .fixed ? canvas.drawTitle(title) : 4) + 46
    let left = Lettering.margin + 12 + (y.words.map { Lettering.width(of: $0, size: small) }.max() ?? 0)
    let wide = (Lettering.pictureWidth - Lettering.margin - left) / Double(x.values.count)
    let high = max(28, min(64, 400 / Double(y.values.count)))
    let bottom = top + high * Double(rows.count)
    let times = rows.joined().compactMap(\.recovery).map(Double.init).map { max($0, 1e6) }
    let scale = VerticalScale.logarithmic(low: times.min() ?? 1, high: times.max() ?? 1)
    for (row, cells) in zip(rows.indices, rows) {
      let middle = bottom - (Double(row) + 0.5) * high
      canvas.text(y.words[row], x: left - 10, y: middle + 5, size: small, anchor: .end)
      for (column, cell) in zip(cells.indices, cells) {
        let (from, share) = (
          left + Double(column) * wide, Double(cell.failed) / Double(max(cell.runs.count, 1))
        )
        let ink: Ink = cell.isOverloaded ? .other : cell.failed > 0 ? .never : .accent
        let depth = cell.recovery.map { scale.position(of: max(Double($0), 1e6)) } ?? share
        let range = cell.isOverloaded ? 1...1 : Self.opacity
        canvas.rect(
          x: from, y: middle - high / 2, width: wide - 2, height: high - 2, fill: ink,
          opacity: range.lowerBound + (range.upperBound - range.lowerBound) * depth,
          tooltip: theme == .fixed ? nil : "\(x.words[column]), \(y.words[row]): \(cell.text)")
        guard Lettering.width(of: cell.text, size: small) < wide - 6 else { continue }
        canvas.text(
          cell.text, x: from + wide / 2 - 1, y: middle + 4, size: small, anchor: .middle,
          ink: cell.isOverloaded ? .surface : .text)
      }
    }
    let every = Int(
      (((x.words.map { Lettering.width(of: $0, size: small) }.max() ?? 0) + 8) / wide).rounded(.up))
    for (column, words) in zip(x.words.indices, x.words) where column % max(every, 1) == 0 {
      canvas.text(
        words, x: left + (Double(column) + 0.5) * wide - 1, y: bottom + 20, size: small, anchor: .middle)
    }
    canvas.text(
      "↑ \(KeyWords.words(y.path))", x: Lettering.margin, y: top - 16, size: label, ink: .text, isBold: true)
    canvas.text(
      "\(KeyWords.words(x.path)) →", x: Lettering.pictureWidth - Lettering.margin, y: bottom + 46,
      size: label,
      anchor: .end, ink: .text, isBold: true)
    canvas.text(Self.key, x: Lettering.margin, y: bottom + 74, size: small)
    return canvas.svg(
      width: Lettering.pictureWidth, height: bottom + 90, label: title,
      description: "How many runs fail, or how soon they recover, by \(x.path) and \(y.path)")
  }
}
