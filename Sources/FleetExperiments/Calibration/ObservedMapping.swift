import ScenarioFormat
import UploadRetry

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
  private static let keys = ["time", "unit", "start", "stamp", "values", "columns"]

  /// - Throws: `ScenarioProblems` with every problem in the file.
  package init(text: String, name: String) throws {
    let root = try JSON5Parser.parse(text, file: name)
    var problems: [Diagnostic] = []
    func report(_ node: PositionedValue, _ path: String, _ message: String) {
      problems.append(Diagnostic(file: name, line: Int(node.position.line), path: path, message: message))
    }
    func word<Value>(_ key: String, _ words: [String: Value]) -> Value? {
      guard let node = root[key] else { return nil }
      if case .string(let text) = node.content, let value = words[text] { return value }
      report(node, key, "expected \(words.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", "))")
      return nil
    }
    guard let members = root.members else {
      report(root, "", "a mapping is an object, { time: \"…\", columns: { … } }; found \(root.kind)")
      throw ScenarioProblems(diagnostics: problems)
    }
    for member in members where !Self.keys.contains(member.key) {
      let hint = nearest(to: member.key, among: Self.keys).map { "; did you mean '\($0)'?" } ?? "."
      report(
        member.value, member.key,
        "there is no such key in a mapping\(hint) Allowed: \(Self.keys.joined(separator: ", "))")
    }
    if let node = root["time"] {
      if case .string(let text) = node.content {
        time = text
      } else {
        report(node, "time", "expected the name of a column")
      }
    }
    unit = word("unit", Self.units) ?? unit
    stampsEnd = word("stamp", ["start": false, "end": true]) ?? stampsEnd
    areRates = word("values", ["counts": false, "per second": true]) ?? areRates
    if let node = root["start"] {
      if case .number(let text) = node.content, let value = Double(text), value.isFinite {
        start = value
      } else {
        report(node, "start", "expected a number, the time in the file at which the scenario begins")
      }
    }
    let names = ObservedColumn.allCases.map(\.rawValue)
    for member in root["columns"]?.members ?? [] {
      let path = "columns[\"\(member.key)\"]"
      guard let column = ObservedColumn(rawValue: member.key) else {
        report(member.value, path, "there is no such column; allowed: \(names.joined(separator: ", "))")
        continue
      }
      if let source = Self.source(member.value) {
        sources[column] = source
      } else {
        report(
          member.value, path,
          "expected the name of a column, a list of such names, or an object of labels, as { code: \"2*\" }")
      }
    }
    if sources.isEmpty, problems.isEmpty {
      report(
        root["columns"] ?? root, "columns",
        "an object is expected that says where to find \(names.joined(separator: ", ")), as { requests: \"hits\" }"
      )
    }
    if !problems.isEmpty { throw ScenarioProblems(diagnostics: problems) }
  }

  private static func source(_ node: PositionedValue) -> Source? {
    switch node.content {
    case .string(let name): return .columns([name])
    case .array(let elements):
      let names = elements.compactMap { if case .string(let name) = $0.content { name } else { nil } }
      return names.count == elements.count && !names.isEmpty ? .columns(names) : nil
    case .object(let members):
      var labels: [String: String] = [:]
      for member in members {
        guard case .string(let value) = member.value.content else { return nil }
        labels[member.key] = value
      }
      return .labels(labels)
    default: return nil
    }
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
