import FleetMetrics

/// A small table of text, as a terminal and a page show it.
package struct TextTable: Sendable {
  package struct Column: Sendable {
    package var title: String
    package var isNumber: Bool
    /// Shown under the pointer.
    var meaning: String?

    package init(title: String, isNumber: Bool = true, meaning: String? = nil) {
      (self.title, self.isNumber, self.meaning) = (title, isNumber, meaning)
    }
  }

  /// What a page has with a cell.
  struct Extra: Sendable {
    /// A class of the style sheet.
    var mark: String?
    /// Shown under the pointer.
    var details: String?
    var rank: Int?
    /// In small letters below the text.
    var note: String?
  }

  package var columns: [Column]
  /// One text for each column.
  package var rows: [[String]]
  /// The rows that have a tick.
  package var best: Set<Int> = []
  /// By row and column; empty: there are none.
  var extras: [[Extra?]] = []

  package init(columns: [Column], rows: [[String]]) { (self.columns, self.rows) = (columns, rows) }

  /// A table whose first column names its rows.
  /// - Parameter words: how many columns are no numbers.
  package init(header: [String], rows: [[String]], words: Int = 1) {
    self.init(columns: header.enumerated().map { Column(title: $1, isNumber: $0 >= words) }, rows: rows)
  }

  /// Takes the part of a table that people see.
  package init<Row>(_ table: Table<Row>) { self.init(header: table.header, rows: table.cells) }

  /// The rows with their ticks.
  package var tickedRows: [[String]] {
    var rows = rows
    for row in best { rows[row][0] = "✓ " + rows[row][0] }
    return rows
  }

  /// Columns two spaces apart, numbers to the right. Lines end in `\n`.
  ///
  /// A table wider than `width` gives way step by step. Titles are broken between words. The first column is shortened in the
  /// middle of its texts, down to 14 characters. Cells are broken where they have a `\n`. The first column
  /// goes down to 8. No two of its texts become the same. Where all that does not do, each row becomes a block of its cells.
  package func terminal(width: Int) -> String {
    let rows = tickedRows
    var lines = Layout(
      titles: columns.map { [$0.title] },
      cells: rows.map { $0.map { [$0.replacing("\n", with: " ")] } })
    if lines.width > width { lines.titles = columns.map { $0.title.split(separator: " ").map(String.init) } }
    if lines.width > width, !shortenNames(rows, in: &lines, to: width, atLeast: 14) {
      lines.cells = rows.map { cells in
        cells.map { $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
      }
      if lines.width > width { _ = shortenNames(rows, in: &lines, to: width, atLeast: 8) }
    }
    // At last, what other columns say in words is cut.
    for i in columns.indices.dropFirst() where !columns[i].isNumber && lines.width > width {
      let room = max(lines.widths[i] - (lines.width - width), 20)
      for row in lines.cells.indices {
        lines.cells[row][i] = lines.cells[row][i].map { $0.count > room ? $0.prefix(room - 1) + "…" : $0 }
      }
    }
    if lines.width > width { return blocks(rows) }
    let widths = lines.widths
    lines.titles = zip(lines.titles, widths).map { words, width in
      words.filled { line, _ in line.count <= width }
    }
    let height = lines.titles.map(\.count).max() ?? 0
    var text = ""
    for line in 0..<height {
      text += row(lines.titles.map { line + $0.count >= height ? $0[line + $0.count - height] : "" }, widths)
    }
    for cells in lines.cells {
      for line in 0..<(cells.map(\.count).max() ?? 0) {
        text += row(cells.map { line < $0.count ? $0[line] : "" }, widths)
      }
    }
    return text
  }

  /// A row's name, and below it each of its other cells behind the column's title.
  private func blocks(_ rows: [[String]]) -> String {
    let titles = columns.dropFirst().map(\.title)
    let width = titles.map(\.count).max() ?? 0
    return rows.map { cells in
      cells[0] + "\n"
        + zip(titles, cells.dropFirst()).map { title, cell in
          "  " + title + String(repeating: " ", count: width - title.count) + "  "
            + cell.replacing("\n", with: " ").trimmingPrefix { $0 == " " } + "\n"
        }.joined()
    }.joined()
  }

  /// Titles and cells, each of one line or several.
  private struct Layout {
    var titles: [[String]]
    var cells: [[[String]]]
    var widths: [Int] {
      titles.indices.map { i in
        cells.reduce(titles[i].map(\.count).max() ?? 0) { max($0, $1[i].map(\.count).max() ?? 0) }
      }
    }
    var width: Int { widths.reduce(2 * (titles.count - 1), +) }
  }

  /// Shortens the first column's texts so that the table is as wide as that; whether it is.
  private func shortenNames(
    _ rows: [[String]], in lines: inout Layout, to width: Int, atLeast least: Int
  ) -> Bool {
    let names = rows.map { $0[0] }
    let (full, different) = (lines.widths[0], Set(names).count)
    var count = max(full - (lines.width - width), min(least, full))
    while count < full, Set(names.map { Self.shortened($0, to: count) }).count < different { count += 1 }
    var shorter = lines
    for i in rows.indices { shorter.cells[i][0][0] = Self.shortened(names[i], to: count) }
    guard shorter.width <= width || least <= 8 else { return false }
    lines = shorter
    return lines.width <= width
  }

  private func row(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (i, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: max(widths[i] - cell.count, 0))
      line += (i > 0 ? "  " : "") + (columns[i].isNumber ? padding + cell : cell + padding)
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }

  /// Both ends of a name tell variants apart, so the middle goes.
  static func shortened(_ text: String, to count: Int) -> String {
    guard text.count > count, count > 1 else { return text }
    return text.prefix(count / 2) + "…" + text.suffix(count - count / 2 - 1)
  }
}
