import ScenarioFormat

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
        for value in values {
          guard let pair = value.elements, pair.count == 2, let time = number(pair[0]) else {
            throw problem(value, "expected a pair of a time and a value, as [1700000000, \"12\"]")
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
