import ScenarioFormat
import UploadRetry

/// A measured series: what a server counted, interval by interval.
package struct ObservedSeries: Sendable {
  /// Width of a row, microseconds.
  package var interval: Int64
  /// Number of the interval of each row, from the scenario's beginning; ascending.
  package var rows: [Int]
  /// A value for each row, nil where there is none; counts of the interval.
  package var values: [ObservedColumn: [Double?]]

  static let mostRows = 100_000

  /// Reads a CSV file, or the JSON answer of a Prometheus range query.
  /// - Parameter mapping: nil: `timeseries.csv`, or columns called `time`, `requests`, `2xx` and so on.
  /// - Throws: `ScenarioProblems`.
  package init(text: String, name: String, mapping: ObservedMapping?) throws {
    let isJSON = text.first { !$0.isWhitespace } == "{"
    var points: Points
    if isJSON {
      guard let mapping else {
        throw Self.problem(
          name, 1,
          "a Prometheus answer needs --mapping, which says what labels belong to requests, 2xx, 429 and 5xx")
      }
      points = try PrometheusAnswer.points(text, name, mapping)
    } else {
      points = try Self.table(text, name, mapping)
    }
    try self.init(&points, name)
  }

  /// What was read, before it is laid on a grid.
  struct Points {
    var mapping: ObservedMapping
    /// In the file's unit, with their lines.
    var times: [(value: Double, line: Int)] = []
    var values: [ObservedColumn: [Double?]] = [:]
  }

  static func problem(_ file: String, _ line: Int, _ message: String) -> ScenarioProblems {
    ScenarioProblems(diagnostics: [Diagnostic(file: file, line: line, message: message)])
  }

  // MARK: Grid

  private init(_ points: inout Points, _ name: String) throws {
    let (times, mapping) = (points.times, points.mapping)
    guard times.count >= 8 else {
      throw Self.problem(
        name, times.last?.line ?? 1,
        "\(FigureText.count(times.count, "row")) \(times.count == 1 ? "is" : "are") too few to fit anything to; at least 8 are expected"
      )
    }
    var least = Double.infinity
    for (last, next) in zip(times, times.dropFirst()) {
      guard next.value > last.value else {
        throw Self.problem(name, next.line, "the time does not come after that of the row before")
      }
      least = min(least, next.value - last.value)
    }
    let width = (least * mapping.unit).rounded()
    guard width >= 1_000, width < 1e13 else {
      throw Self.problem(
        name, times[1].line,
        "rows are \(Quantity.decimal(width, digits: 6)) µs apart; at least 1 ms is expected: say the unit of times in --mapping"
      )
    }
    interval = Int64(width)
    let start =
      mapping.start.map { $0 * mapping.unit } ?? times[0].value * mapping.unit
      - (mapping.stampsEnd ? width : 0)
    rows = []
    var kept: [Int] = []
    for (index, time) in times.enumerated() {
      let place = (time.value * mapping.unit - start) / width - (mapping.stampsEnd ? 1 : 0)
      guard abs(place) < 1e9, abs(place - place.rounded()) < 0.05 else {
        throw Self.problem(
          name, time.line,
          "the time is no whole number of intervals (\(Quantity.decimal(width / 1e6, digits: 6)) s) after the beginning; rows of "
            + "one width are expected, and gaps of whole rows")
      }
      let row = Int(place.rounded())
      // What lies before the scenario's beginning is nobody's.
      if row < 0 { continue }
      if let last = rows.last, row <= last {
        throw Self.problem(name, time.line, "a second row of the same interval")
      }
      rows.append(row)
      kept.append(index)
    }
    guard let last = rows.last, last < Self.mostRows else {
      throw Self.problem(
        name, times.last?.line ?? 1,
        rows.isEmpty
          ? "all rows lie before the scenario's beginning, which --mapping says with start"
          : "the last row is number \(rows.last ?? 0); at most \(Self.mostRows) rows can be run")
    }
    let factor = mapping.areRates ? width / 1e6 : 1
    values = points.values.mapValues { column in kept.map { index in column[index].map { $0 * factor } } }
  }

  // MARK: CSV

  private static func table(_ text: String, _ name: String, _ given: ObservedMapping?) throws -> Points {
    // Spreadsheets put a mark of byte order in front.
    let text = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard let first = lines.first, !first.isEmpty else {
      throw problem(name, 1, "the file is empty; a header with the names of columns is expected")
    }
    let header = CSVLine.fields(first)
    let names = header.prefix(20).joined(separator: ", ")
    guard let mapping = given ?? .standard(for: header) else {
      throw problem(
        name, 1,
        "found the columns \(names); expected those of timeseries.csv, or time, requests, 2xx, 429 and 5xx; --mapping FILE says which "
          + "is which")
    }
    func place(_ column: String) throws -> Int {
      if let index = header.firstIndex(of: column) { return index }
      let hint = nearest(to: column, among: header).map { "; did you mean '\($0)'?" } ?? "."
      throw problem(name, 1, "there is no column '\(column)'\(hint) There are: \(names)")
    }
    let time = try place(mapping.time)
    var points = Points(mapping: mapping)
    var places: [(column: ObservedColumn, indices: [Int], isRate: Bool)] = []
    for column in ObservedColumn.allCases {
      switch mapping.sources[column] {
      case .columns(let sources):
        // The only rate among our own columns.
        places.append((column, try sources.map(place), given == nil && sources == ["offered_rps"]))
        points.values[column] = []
      case .labels:
        throw problem(
          name, 1,
          "'\(column.rawValue)' has labels in the mapping, but this is a CSV file; give the name of a column")
      case nil: break
      }
    }
    var rates: Set<ObservedColumn> = []
    for (index, line) in lines.enumerated().dropFirst() where !line.allSatisfy(\.isWhitespace) {
      let cells = CSVLine.fields(line)
      guard cells.count == header.count else {
        throw problem(
          name, index + 1,
          "\(FigureText.count(cells.count, "value")) where the header has \(FigureText.count(header.count, "column"))"
        )
      }
      guard let value = number(cells[time]) else {
        throw problem(
          name, index + 1, "'\(cells[time])' is no time: a number is expected in the column '\(mapping.time)'"
        )
      }
      points.times.append((value, index + 1))
      for (column, indices, isRate) in places {
        if isRate { rates.insert(column) }
        var sum: Double? = 0
        for place in indices {
          if cells[place].isEmpty || cells[place] == "NaN" {
            sum = nil
          } else if let value = number(cells[place]), value >= 0 {
            sum = sum.map { $0 + value }
          } else {
            throw problem(
              name, index + 1,
              "'\(cells[place])' is no count: a number from 0 on is expected in the column '\(header[place])'"
            )
          }
        }
        points.values[column]?.append(sum)
      }
    }
    if points.times.count > 1, !rates.isEmpty {
      let width = (points.times[1].value - points.times[0].value) * mapping.unit / 1e6
      for column in rates { points.values[column] = points.values[column]?.map { $0.map { $0 * width } } }
    }
    return points
  }

  static func number(_ text: String) -> Double? {
    guard let value = Double(text), value.isFinite, abs(value) < 1e18 else { return nil }
    return value
  }
}
