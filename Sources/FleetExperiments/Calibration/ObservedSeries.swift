import FleetMetrics
import ScenarioFormat
import ScenarioModel
import UploadRetry

/// A measured series: what a server counted, interval by interval.
package struct ObservedSeries: Sendable {
  /// Width of a row, microseconds.
  package var interval: Int64
  /// Number of the interval of each row, from the scenario's beginning; ascending.
  package var rows: [Int]
  /// What the file has of each column that can be fitted, in their order.
  package var columns: [Column]

  package typealias Column = (kind: ObservedColumn, values: [Double?])

  private static let mostRows = 100_000

  /// Reads `timeseries.csv`, a CSV file with columns called `time`, `requests`, `2xx` and so on, or the JSON answer of a
  /// Prometheus range query.
  /// - Throws: `ScenarioProblems`.
  package init(text: String, name: String) throws {
    let isJSON = text.utf8.first { $0 > 0x20 } == Ascii.openBrace
    try self.init(isJSON ? PrometheusAnswer.points(text, name) : Self.table(text, name), name)
  }

  /// The points of a file before they are laid on a grid.
  struct Points {
    /// The time at which the scenario begins, seconds; nil: the first row's.
    var start: Double?
    /// Seconds, with their lines.
    var times: [(value: Double, line: Int)] = []
    /// A value for each time, nil where there is none; counts of the interval.
    var columns: [Column] = []
  }

  static func problem(_ file: String, _ line: Int, _ message: String) -> ScenarioProblems {
    ScenarioProblems(diagnostics: [Diagnostic(file: file, line: line, message: message)])
  }

  // MARK: Grid

  private init(_ points: Points, _ name: String) throws {
    let times = points.times
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
    let width = (least * 1e6).rounded()
    guard width >= 1_000, width < 1e13 else {
      throw Self.problem(
        name, times[1].line,
        "rows are \(Quantity.decimal(width, digits: 6)) µs apart; at least 1 ms is expected, with times in seconds"
      )
    }
    interval = Int64(width)
    let start = (points.start ?? times[0].value) * 1e6
    rows = try times.map { time in
      let place = (time.value * 1e6 - start) / width
      guard place >= -0.05 else {
        throw Self.problem(name, time.line, "the row lies before the beginning of the run, the time 0")
      }
      guard place < 1e9, abs(place - place.rounded()) < 0.05 else {
        throw Self.problem(
          name, time.line,
          "the time is no whole number of intervals (\(Quantity.decimal(width / 1e6, digits: 6)) s) after the beginning; rows of "
            + "one width are expected, and gaps of whole rows")
      }
      return Int(place.rounded())
    }
    columns = points.columns
    if let last = rows.last, last >= Self.mostRows {
      throw Self.problem(
        name, times.last?.line ?? 1,
        "the last row is number \(last); at most \(Self.mostRows) rows can be run")
    }
  }

  // MARK: CSV

  private static func table(_ text: String, _ name: String) throws -> Points {
    var lines = CSVLines(text)
    guard let (_, header) = lines.next() else {
      throw problem(name, 1, "the file is empty; a header with the names of columns is expected")
    }
    let names = header.prefix(20).map(CSVLines.shown).joined(separator: ", ")
    let own = columns(in: header, time: "time_s", \.parts.names)
    guard let (time, places) = own ?? columns(in: header, time: "time", { [$0.rawValue] }) else {
      throw problem(
        name, 1,
        "found the columns \(names); expected those of timeseries.csv, or time, requests, 2xx, 429 and 5xx")
    }
    // The beginning of `timeseries.csv` is the beginning of the run.
    var points = Points(start: own == nil ? nil : 0, columns: places.map { ($0.column, []) })
    while let (line, cells) = lines.next() {
      guard cells.count == header.count else {
        throw problem(
          name, line,
          "\(FigureText.count(cells.count, "value")) where the header has \(FigureText.count(header.count, "column"))"
        )
      }
      guard let value = number(cells[time]) else {
        throw problem(
          name, line,
          "'\(CSVLines.shown(cells[time]))' is no time: a number is expected in the column '\(header[time])'")
      }
      points.times.append((value, line))
      for (column, (_, indices)) in places.enumerated() {
        var sum: Double? = 0
        for place in indices {
          if cells[place].isEmpty || cells[place] == "NaN" {
            sum = nil
          } else if let value = number(cells[place]), value >= 0 {
            sum = sum.map { $0 + value }
          } else {
            throw problem(
              name, line,
              "'\(CSVLines.shown(cells[place]))' is no count: a number from 0 on is expected in the column '\(header[place])'"
            )
          }
        }
        points.columns[column].values.append(sum)
      }
    }
    // The first one, offered_rps, is the only rate among our own columns.
    if own != nil, points.times.count > 1, points.columns[0].kind == .requests {
      let width = points.times[1].value - points.times[0].value
      points.columns[0].values = points.columns[0].values.map { $0.map { $0 * width } }
    }
    return points
  }

  /// Where the header has the times and which columns add up to which of ours; nil: it has no times, or none of ours.
  private static func columns(
    in header: [String], time: String, _ names: (ObservedColumn) -> [String]
  ) -> (time: Int, places: [(column: ObservedColumn, indices: [Int])])? {
    guard let time = header.firstIndex(of: time) else { return nil }
    let places: [(column: ObservedColumn, indices: [Int])] = ObservedColumn.allCases.compactMap { column in
      let indices = names(column).compactMap { header.firstIndex(of: $0) }
      return indices.count == names(column).count ? (column: column, indices: indices) : nil
    }
    return places.isEmpty ? nil : (time, places)
  }

  static func number(_ text: String) -> Double? {
    // Nobody measures so many digits, and reading them takes long.
    guard text.utf8.count <= 400, let value = Double(text), value.isFinite, abs(value) < 1e18 else {
      return nil
    }
    return value
  }
}

/// The server's measurements that can be compared with a run, interval by interval.
package enum ObservedColumn: String, Sendable, CaseIterable {
  case requests
  case answers2xx = "2xx"
  case answers429 = "429"
  case answers5xx = "5xx"

  package var title: String { self == .requests ? rawValue : "\(rawValue) answers" }

  /// What adds up to it: counts of a run, and columns of `timeseries.csv`.
  var parts: (measures: [Measure], names: [String]) {
    switch self {
    case .requests: ([.firstAttempts, .retries, .proxyRetries], ["offered_rps"])
    case .answers2xx: ([.answers2xx], ["answers_2xx"])
    case .answers429: ([.answers429], ["answers_429"])
    case .answers5xx: ([.answers503, .answers5xxOther], ["answers_503", "answers_5xx_other"])
    }
  }
}

/// The JSON that Prometheus answers to `/api/v1/query_range`: a series for each status, which its label `code` says.
enum PrometheusAnswer {
  /// - Throws: `ScenarioProblems`.
  static func points(_ text: String, _ name: String) throws -> ObservedSeries.Points {
    let root: PositionedValue
    do {
      root = try JSON5Parser.parse(text)
    } catch {
      throw ObservedSeries.problem(name, Int(error.position.line), error.message)
    }
    func problem(_ node: PositionedValue, _ message: String) -> ScenarioProblems {
      ObservedSeries.problem(name, Int(node.position.line), message)
    }
    // Source: the format of answers in the documentation of the Prometheus HTTP API.
    if let status = root["status"], status.text != "success" {
      let kind = root["errorType"]?.text.map { " (\(CSVLines.shown($0)))" } ?? ""
      let reason = root["error"]?.text.map { ": " + $0.prefix(400) } ?? ""
      throw problem(
        status,
        "Prometheus answered with an error\(kind)\(reason); the answer of a range query that succeeded is expected"
      )
    }
    guard let results = root["data"]?["result"]?.elements else {
      throw problem(root, "there is no data.result; the answer of a Prometheus range query is expected")
    }
    var sums: [ObservedColumn: [Double: Double]] = [:]
    var lines: [Double: Int] = [:]
    for result in results {
      guard let code = result["metric"]?["code"]?.text else {
        throw problem(
          result,
          "a series without the label code; the answer to sum by (code) (increase(requests_total[15s])) is expected"
        )
      }
      guard let values = result["values"]?.elements else {
        throw problem(
          result, "a series without values; the answer of a range query is expected, not of an instant one")
      }
      let columns = ObservedColumn.allCases.filter { column in
        // By their first digit, but for 429.
        column == .requests || (code.first == "4" ? code : "\(code.prefix(1))xx") == column.rawValue
      }
      var seen: Set<Double> = []
      for value in values {
        guard let pair = value.elements, pair.count == 2, let time = number(pair[0]) else {
          throw problem(value, "expected a pair of a time and a value, as [1700000000, \"12\"]")
        }
        guard seen.insert(time).inserted else {
          throw problem(
            value, "a second sample of the time \(Quantity.decimal(time, digits: 6)) in one series")
        }
        lines[time] = lines[time] ?? Int(value.position.line)
        guard let count = number(pair[1]) else { continue }
        guard count >= 0 else { throw problem(value, "a value below 0; counts of an interval are expected") }
        for column in columns { sums[column, default: [:]][time, default: 0] += count }
      }
    }
    let times = lines.sorted { $0.key < $1.key }.map { (value: $0.key, line: $0.value) }
    // A series of a code is not there before its first answer: that is none, where another one has a value.
    let columns = ObservedColumn.allCases.map { column in
      (kind: column, values: times.map { sums[column]?[$0.value] ?? 0 } as [Double?])
    }
    return ObservedSeries.Points(times: times, columns: columns)
  }

  private static func number(_ node: PositionedValue) -> Double? {
    switch node.content {
    case .number(let text), .string(let text): ObservedSeries.number(text)
    default: nil
    }
  }
}
