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
  /// A value for each row, nil where there is none; counts of the interval.
  package var values: [ObservedColumn: [Double?]]

  static let mostRows = 100_000
  /// Of a CSV file; rows may lie before the scenario's beginning.
  static let mostColumns = 10_000
  static let mostLines = 1_000_000

  /// Reads a CSV file, or the JSON answer of a Prometheus range query.
  /// - Parameter mapping: nil: `timeseries.csv`, or columns called `time`, `requests`, `2xx` and so on.
  /// - Throws: `ScenarioProblems`.
  package init(text: String, name: String, mapping: ObservedMapping?) throws {
    let isJSON = text.utf8.first { $0 > 0x20 } == Ascii.openBrace
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

  /// The points of a file before they are laid on a grid.
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
      // Rows before the scenario's beginning do not count.
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
    var lines = CSVLines(text)
    guard let (_, header) = lines.next() else {
      throw problem(name, 1, "the file is empty; a header with the names of columns is expected")
    }
    guard header.count <= mostColumns else {
      throw problem(name, 1, "\(header.count) columns; at most \(mostColumns) are read")
    }
    let names = header.prefix(20).map(CSVLines.shown).joined(separator: ", ")
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
          "'\(CSVLines.shown(cells[time]))' is no time: a number is expected in the column '\(mapping.time)'")
      }
      points.times.append((value, line))
      guard points.times.count <= mostLines else {
        throw problem(
          name, line,
          "more than \(FigureText.grouped(Int64(mostLines))) rows; leave out those that the run does not reach"
        )
      }
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
              name, line,
              "'\(CSVLines.shown(cells[place]))' is no count: a number from 0 on is expected in the column '\(header[place])'"
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
  case answers4xx = "4xx"
  case unanswered

  /// Those that a fit rests on where the file has them and nothing else is asked.
  package static let standard: [ObservedColumn] = [.requests, .answers2xx, .answers429, .answers5xx]

  package var title: String { self == .requests || self == .unanswered ? rawValue : "\(rawValue) answers" }

  /// Returns the count of an interval of a run.
  func count(_ row: TimeSeries.Row) -> Int64 { facts.measures.reduce(0) { $0 + row[$1] } }

  package var meaning: String { facts.meaning }
  /// The columns of `timeseries.csv` that add up to it.
  var ownNames: [String] { facts.ownNames }

  private var facts: (meaning: String, measures: [Measure], ownNames: [String]) {
    switch self {
    case .requests:
      ("Requests that reached the server.", [.firstAttempts, .retries, .proxyRetries], ["offered_rps"])
    case .answers2xx: ("Answers with a 2xx status.", [.answers2xx], ["answers_2xx"])
    case .answers429: ("Answers with status 429.", [.answers429], ["answers_429"])
    case .answers5xx:
      ("Answers with a 5xx status.", [.answers503, .answers5xxOther], ["answers_503", "answers_5xx_other"])
    case .answers4xx:
      (
        "Answers with another 4xx status.", [.answers401, .answers4xxOther],
        ["answers_401", "answers_4xx_other"]
      )
    case .unanswered:
      ("Requests that the server never answered.", [.unanswered], ["unanswered_requests"])
    }
  }
}

/// A mapping file (JSON5): which of a file's columns or series are which of `ObservedColumn`, and in which units.
package struct ObservedMapping: Sendable {
  package enum Source: Sendable, Hashable {
    /// Names of columns of a CSV file, which add up.
    case columns([String])
    /// Labels of the series of a Prometheus answer, which add up; `*` stands for any text.
    case labels([String: String])
  }

  /// The column of times of a CSV file.
  package var time = "time"
  /// The unit of times, in microseconds.
  package var unit = 1_000_000.0
  /// The time in the file at which the scenario begins, in its unit; nil: the first row's.
  package var start: Double?
  /// Whether a time is the end of its interval.
  package var stampsEnd = false
  /// Whether values are rates per second; otherwise counts of the interval.
  package var areRates = false
  package var sources: [ObservedColumn: Source] = [:]

  private static let units = ["s": 1e6, "ms": 1e3, "us": 1.0, "min": 60e6, "h": 3_600e6]

  /// - Throws: `ScenarioProblems` with every problem in the file.
  package init(text: String, name: String) throws {
    self = try Self.record.read(
      text: text, name: name, .file(of: "a mapping", as: "{ time: \"…\", columns: { … } }"))
  }

  private static let record = ObjectKeys(
    ObservedMapping(),
    [
      Field(reading: "time", \.time, made("expected the name of a column") { $0.text }),
      Field(reading: "unit", \.unit, word(units)),
      Field(
        reading: "start", \.start,
        made("expected a number, the time in the file at which the scenario begins") { node in
          guard case .number(let text) = node.content, let value = Double(text) else { return nil }
          return value.isFinite ? .some(value) : nil
        }),
      Field(reading: "stamp", \.stampsEnd, word(["start": false, "end": true])),
      Field(reading: "values", \.areRates, word(["counts": false, "per second": true])),
      Field(reading: "columns", \.sources, .members([:], add: add)),
      .check { decoder, node, _, mapping in
        guard mapping.sources.isEmpty, !decoder.hasErrors else { return true }
        decoder.report(
          "an object is expected that says where to find \(names), as { requests: \"hits\" }",
          at: (node["columns"] ?? node).position, "columns")
        return false
      },
    ])

  private static let names = ObservedColumn.allCases.map(\.rawValue).joined(separator: ", ")

  private static func made<Value>(
    _ expected: String, _ make: @escaping @Sendable (PositionedValue) -> Value?
  ) -> Kind<Value> {
    .made { node in
      guard let value = make(node) else { throw RangeProblem(expected) }
      return value
    }
  }

  private static func word<Value: Sendable>(_ words: [String: Value]) -> Kind<Value> {
    made("expected \(words.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", "))") { node in
      node.text.flatMap { words[$0] }
    }
  }

  private static func add(
    _ sources: inout [ObservedColumn: Source], _ member: PositionedValue.Member
  ) throws(RangeProblem) {
    guard let column = ObservedColumn(rawValue: member.key) else {
      throw RangeProblem("there is no such column; allowed: \(names)")
    }
    sources[column] = source(member.value)
    if sources[column] != nil { return }
    throw RangeProblem(
      "expected the name of a column, a list of such names, or an object of labels, as { code: \"2*\" }")
  }

  private static func source(_ node: PositionedValue) -> Source? {
    if let name = node.text { return .columns([name]) }
    if let elements = node.elements {
      let names = elements.compactMap(\.text)
      return names.count == elements.count && !names.isEmpty ? .columns(names) : nil
    }
    guard let members = node.members, members.allSatisfy({ $0.value.text != nil }) else { return nil }
    return .labels(
      Dictionary(members.map { ($0.key, $0.value.text ?? "") }, uniquingKeysWith: { _, last in last }))
  }

  private init() {}

  /// For a file with that header: our own, or one with the names of `ObservedColumn`; nil: neither.
  static func standard(for header: [String]) -> ObservedMapping? {
    var mapping = ObservedMapping()
    if header.contains("time_s") {
      mapping.time = "time_s"
      for column in ObservedColumn.allCases where column.ownNames.allSatisfy(header.contains) {
        mapping.sources[column] = .columns(column.ownNames)
      }
      // The beginning of `timeseries.csv` is the beginning of the run.
      mapping.start = 0
    }
    if mapping.sources.isEmpty {
      mapping.time = "time"
      guard header.contains(mapping.time) else { return nil }
      for column in ObservedColumn.allCases where header.contains(column.rawValue) {
        mapping.sources[column] = .columns([column.rawValue])
      }
    }
    return mapping.sources.isEmpty ? nil : mapping
  }
}

/// The JSON that Prometheus answers to `/api/v1/query_range`: series by labels.
enum PrometheusAnswer {
  /// - Throws: `ScenarioProblems`.
  static func points(_ text: String, _ name: String, _ mapping: ObservedMapping) throws
    -> ObservedSeries.Points
  {
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
    for column in ObservedColumn.allCases {
      guard let source = mapping.sources[column] else { continue }
      guard case .labels(let labels) = source else {
        throw problem(
          root,
          "'\(column.rawValue)' has the name of a column in the mapping, but this is JSON; give labels, as { code: \"2*\" }"
        )
      }
      sums[column] = [:]
      for result in results {
        let matches = labels.allSatisfy { label, pattern in
          result["metric"]?[label]?.text.map { fits($0, pattern) } ?? false
        }
        guard matches else { continue }
        guard let values = result["values"]?.elements else {
          throw problem(
            result, "a series without values; the answer of a range query is expected, not of an instant one")
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
          guard count >= 0 else {
            throw problem(value, "a value below 0; counts of an interval are expected, or rates")
          }
          sums[column]?[time, default: 0] += count
        }
      }
      if sums[column]?.isEmpty == true {
        let wanted = labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ", ")
        throw problem(
          root, "no series has the labels that the mapping gives for '\(column.rawValue)' (\(wanted))")
      }
    }
    var points = ObservedSeries.Points(mapping: mapping)
    points.times = lines.keys.sorted().map { ($0, lines[$0] ?? 1) }
    // A series of a code is not there before its first answer: that is none, where another one has a value.
    points.values = sums.mapValues { sum in points.times.map { sum[$0.value] ?? 0 } }
    return points
  }

  private static func number(_ node: PositionedValue) -> Double? {
    switch node.content {
    case .number(let text), .string(let text): ObservedSeries.number(text)
    default: nil
    }
  }

  /// Whether a text fits a pattern in which `*` stands for any text.
  static func fits(_ text: String, _ pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return text == pattern }
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
