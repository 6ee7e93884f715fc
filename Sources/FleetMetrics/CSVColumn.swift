import TextEscaping

/// One column of a table: its name, what it means, how to get it, and how people see it.
///
/// The lists of columns (`TimeSeriesCSV.columns`, `SummaryCSV.columns`, `StatisticsCSV.columns`) are the only place that defines a
/// column. Files, JSON documents, terminal, pages and the reference (`ColumnReference`) are made from them.
public struct CSVColumn<Source>: Sendable {
  /// snake_case, the unit last.
  public let name: String
  /// `s`, `events`, `requests/s`, …
  public let unit: String
  /// One line, for the reference.
  public let definition: String
  /// The better direction; nil of a column that a run is given or decided by, not one that comes of it.
  public let direction: Measure.Direction?
  public let value: @Sendable (Source) -> CSVValue
  /// Its title where people see it; nil of a column that only programs read.
  package private(set) var title: String?
  /// The text of a row that people see.
  package private(set) var text: @Sendable (Source) -> String = { _ in "" }

  package init(
    _ name: String, _ unit: String, _ definition: String, _ direction: Measure.Direction? = nil,
    _ value: @escaping @Sendable (Source) -> CSVValue
  ) {
    self.name = name
    self.unit = unit
    self.definition = definition
    self.direction = direction
    self.value = value
  }

  /// A statistic of times to delivery, microseconds.
  static func delivery(
    _ name: String, _ definition: String, _ time: @escaping @Sendable (Source) -> Int64?
  ) -> CSVColumn {
    .init("time_to_delivery_\(name)_s", "s", "Creation to first acceptance, \(definition).") {
      .seconds(time($0))
    }
  }

  /// This column, which people see under a title.
  package func shown(_ title: String, _ text: @escaping @Sendable (Source) -> String) -> CSVColumn {
    var column = self
    (column.title, column.text) = (title, text)
    return column
  }

  /// A column that people see and no file has.
  package static func onlyShown(_ title: String, _ text: @escaping @Sendable (Source) -> String) -> CSVColumn
  {
    CSVColumn("", "", "") { _ in .empty }.shown(title, text)
  }
}

/// Rows under columns that are each declared once. A file, a JSON document, a terminal and a page are made from one table.
/// Example:
///
/// ```swift
/// let table = Table(LossReport.columns, report.rows)
/// table.csv      // the columns that have a name
/// table.cells    // the columns that have a title, as texts
/// ```
package struct Table<Row: Sendable>: Sendable {
  package var columns: [CSVColumn<Row>]
  package var rows: [Row]

  package init(_ columns: [CSVColumn<Row>], _ rows: [Row]) {
    self.columns = columns
    self.rows = rows
  }

  /// The whole file.
  package var csv: [UInt8] { CSVFile.bytes(columns.filter { !$0.name.isEmpty }, rows) }

  /// Titles and rows as people see them.
  package var header: [String] { columns.compactMap(\.title) }
  package var cells: [[String]] {
    let shown = columns.filter { $0.title != nil }
    return rows.map { row in shown.map { $0.text(row) } }
  }
}

/// A field before it becomes text. Text is made from integers alone, so it has the same bytes on every
/// platform.
public enum CSVValue: Sendable, Hashable {
  /// Nothing to say: prints as an empty field.
  case empty
  case integer(Int64)
  case unsigned(UInt64)
  /// `scaled` / 10^`decimals`, printed with exactly that many decimals.
  case fixed(Int64, decimals: Int)
  case flag(Bool)
  /// Quoted as RFC 4180 asks where it has to be.
  case text(String)

  /// Seconds with six decimals.
  package static func seconds(_ microseconds: Int64?) -> CSVValue {
    microseconds.map { .fixed($0, decimals: 6) } ?? .empty
  }

  /// A count over a length in microseconds as a rate per second with three decimals; `unitsPerCount` is 1,000
  /// for counts in thousandths.
  static func rate(_ count: Int64, per microseconds: Int64, unitsPerCount: Int64 = 1) -> CSVValue {
    DecimalText.rounded(count, times: 1_000_000_000 / unitsPerCount, over: microseconds)
      .map { .fixed($0, decimals: 3) } ?? .empty
  }

  /// A number with `decimals` decimals, halves rounded away from zero; empty when it is not finite or beyond
  /// 64 bits.
  package static func decimal(_ value: Double?, decimals: Int = 3) -> CSVValue {
    value.flatMap { DecimalText.scaled($0, decimals: decimals) }.map { .fixed($0, decimals: decimals) }
      ?? .empty
  }

  /// The value as a number, just as the text says it; nil of what is none.
  public var number: Double? {
    switch self {
    case .empty, .flag, .text: nil
    case .integer(let n): Double(n)
    case .unsigned(let n): Double(n)
    case .fixed(let n, let decimals): Double(n) / (0..<decimals).reduce(1) { power, _ in power * 10 }
    }
  }

  /// The digits of a number as the file has them; empty where there is none.
  package var digits: String {
    guard number != nil else { return "" }
    var text: [UInt8] = []
    append(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  func append(to text: inout [UInt8]) {
    switch self {
    case .empty: break
    case .integer(let n): DecimalText.append(n, to: &text)
    case .unsigned(let n): DecimalText.append(magnitude: n, to: &text)
    case .fixed(let n, let decimals): DecimalText.append(n, decimals: decimals, to: &text)
    case .flag(let isSet): text.append(contentsOf: (isSet ? "true" : "false").utf8)
    case .text(let string): Self.append(quoting: Escaping.visible(string), to: &text)
    }
  }

  private static func append(quoting string: String, to text: inout [UInt8]) {
    let mustQuote = string.utf8.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
        || byte == UInt8(ascii: "\r")
    }
    guard mustQuote else { return text.append(contentsOf: string.utf8) }
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      if byte == UInt8(ascii: "\"") { text.append(byte) }
      text.append(byte)
    }
    text.append(UInt8(ascii: "\""))
  }
}

/// Header and rows of one file; lines end in `\n`.
package enum CSVFile {
  package static func bytes<Source>(_ columns: [CSVColumn<Source>], _ rows: some Sequence<Source>) -> [UInt8]
  {
    var text: [UInt8] = []
    for (i, column) in columns.enumerated() {
      if i > 0 { text.append(UInt8(ascii: ",")) }
      CSVValue.text(column.name).append(to: &text)
    }
    text.append(UInt8(ascii: "\n"))
    for row in rows {
      // By its place, a column is not copied for each of its cells.
      for i in columns.indices {
        if i > 0 { text.append(UInt8(ascii: ",")) }
        columns[i].value(row).append(to: &text)
      }
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }
}

/// Decimal numbers for files, made from whole numbers alone, so that every platform writes the same bytes.
package enum DecimalText {
  /// Appends `value` / 10^`decimals` with exactly that many decimals.
  package static func append(_ value: Int64, decimals: Int = 0, to text: inout [UInt8]) {
    if value < 0 { text.append(UInt8(ascii: "-")) }
    append(magnitude: value.magnitude, decimals: decimals, to: &text)
  }

  static func append(magnitude: UInt64, decimals: Int = 0, to text: inout [UInt8]) {
    let first = text.count
    var rest = magnitude
    var written = 0
    while rest > 0 || written <= decimals {
      if written == decimals && decimals > 0 { text.append(UInt8(ascii: ".")) }
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
      written += 1
    }
    // By hand: `text[first...].reverse()` would copy the digits of every field to the heap and back.
    var (low, high) = (first, text.count - 1)
    while low < high {
      text.swapAt(low, high)
      low += 1
      high -= 1
    }
  }

  /// Returns `value` · `factor` / `divisor`, rounded to the nearest whole number, halves up. `nil`: `divisor` is not positive,
  /// a factor is negative or the result needs more than 63 bits.
  package static func rounded(_ value: Int64, times factor: Int64, over divisor: Int64) -> Int64? {
    floored(value, times: factor, plus: divisor / 2, over: divisor)
  }

  /// Returns (`value` · `factor` + `rest`) / `divisor`, rounded down; nil as `rounded` does.
  static func floored(
    _ value: Int64, times factor: Int64, plus rest: Int64 = 0, over divisor: Int64
  ) -> Int64? {
    guard value >= 0, factor >= 0, divisor > 0 else { return nil }
    return Int64(exactly: (Int128(value) * Int128(factor) + Int128(rest)) / Int128(divisor))
  }

  /// `value` · 10^`decimals` rounded to the nearest whole number, halves away from zero; nil if that is not
  /// an `Int64`.
  static func scaled(_ value: Double, decimals: Int) -> Int64? {
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    return Int64(exactly: (value * power).rounded(.toNearestOrAwayFromZero))
  }
}
