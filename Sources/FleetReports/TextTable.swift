/// A small table of text: aligned for a terminal, or as Markdown.
struct TextTable {
  struct Column {
    var title: String
    var isNumber = true
  }
  var columns: [Column]
  /// One text for each column.
  var rows: [[String]]

  /// Columns two spaces apart, numbers to the right, a rule under the titles. Lines end in `\n`.
  ///
  /// If the table is wider than `width`, the first column is shortened in the middle of its texts, down to 8
  /// characters, as long as no two of them become the same.
  func terminal(width: Int) -> String {
    var table = self
    var widths = table.widths
    let excess = widths.reduce(2 * (columns.count - 1), +) - width
    if excess > 0 {
      let names = rows.map { $0[0] }
      let (full, different) = (widths[0], Set(names).count)
      widths[0] = max(full - excess, 8)
      while widths[0] < full, Set(names.map { Self.shortened($0, to: widths[0]) }).count < different {
        widths[0] += 1
      }
      for i in rows.indices { table.rows[i][0] = Self.shortened(rows[i][0], to: widths[0]) }
    }
    let titles = columns.map(\.title)
    let rule = widths.map { String(repeating: "─", count: $0) }
    return ([titles, rule] + table.rows).map { cells in
      var line = ""
      for (i, cell) in cells.enumerated() {
        let padding = String(repeating: " ", count: max(widths[i] - cell.count, 0))
        line += (i > 0 ? "  " : "") + (columns[i].isNumber ? padding + cell : cell + padding)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }

  /// GitHub's Markdown. Lines end in `\n`.
  func markdown() -> String {
    let titles = columns.map(\.title)
    let rule = columns.map { $0.isNumber ? "---:" : "---" }
    return ([titles, rule] + rows).map { cells in
      "| "
        + cells.map { cell in
          cell.map { $0 == "|" ? "\\|" : $0 == "\n" ? " " : String($0) }.joined()
        }.joined(separator: " | ") + " |\n"
    }.joined()
  }

  private var widths: [Int] {
    columns.indices.map { i in
      rows.reduce(columns[i].title.count) { max($0, $1[i].count) }
    }
  }

  /// Both ends of a name tell variants apart, so the middle goes.
  static func shortened(_ text: String, to count: Int) -> String {
    guard text.count > count, count > 1 else { return text }
    return text.prefix(count / 2) + "…" + text.suffix(count - count / 2 - 1)
  }
}
