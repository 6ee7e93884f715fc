import ScenarioFormat

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
  /// Of times, microseconds.
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

  private static let record = Record(
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
      // What `timeseries.csv` begins with is the beginning of the run.
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
