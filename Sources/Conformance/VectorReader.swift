import ScenarioFormat
import ScenarioModel
import UploadRetry

/// Reads pieces of a vector file and collects what is wrong, with file, line and path.
struct VectorReader {
  let file: String
  private(set) var problems: [Diagnostic] = []
  /// Those of the file, for cases without their own.
  var settings = SettingsValue.object([])

  init(file: String) { self.file = file }

  mutating func report(_ message: String, at position: Position, _ path: String) {
    problems.append(Diagnostic(file: file, line: Int(position.line), path: path, message: message))
  }

  private mutating func unexpected(_ node: PositionedValue, _ expected: String, _ path: String) {
    report("expected \(expected), found \(node.kind)", at: node.position, path)
  }

  /// An object with members of known keys only; after a report null.
  mutating func object(_ node: PositionedValue, _ path: String, known: [String]) -> PositionedValue {
    guard let members = node.members else {
      unexpected(node, "an object", path)
      return PositionedValue(.null, at: node.position)
    }
    for member in members where !known.contains(member.key) {
      let hint = nearest(to: member.key, among: known).map { "did you mean \(quoted($0))?" }
      report(
        "unknown key; \(hint ?? "known are " + known.joined(separator: ", "))", at: member.keyPosition,
        join(path, member.key))
    }
    return node
  }

  mutating func members(_ node: PositionedValue, _ path: String) -> [PositionedValue.Member] {
    if let members = node.members { return members }
    unexpected(node, "an object", path)
    return []
  }

  mutating func list(_ node: PositionedValue, _ path: String) -> [PositionedValue] {
    if case .array(let elements) = node.content { return elements }
    unexpected(node, "a list", path)
    return []
  }

  mutating func text(_ node: PositionedValue, _ path: String) -> String {
    if case .string(let text) = node.content, !text.isEmpty { return text }
    if case .string = node.content {
      report("is empty", at: node.position, path)
    } else {
      unexpected(node, "a string", path)
    }
    return ""
  }

  mutating func bool(_ node: PositionedValue, _ path: String) -> Bool {
    if case .bool(let value) = node.content { return value }
    unexpected(node, "true or false", path)
    return false
  }

  /// One of some words.
  mutating func word<Word: RawRepresentable & CaseIterable>(
    _ node: PositionedValue, _ path: String, as type: Word.Type
  ) -> Word? where Word.RawValue == String {
    let text = text(node, path)
    if let word = Word(rawValue: text) { return word }
    let allowed = Word.allCases.map(\.rawValue)
    if !text.isEmpty { unknown(text, allowed: allowed, at: node.position, path) }
    return nil
  }

  mutating func unknown(_ text: String, allowed: [String], at position: Position, _ path: String) {
    let hint = nearest(to: text, among: allowed).map { "; did you mean \(quoted($0))?" } ?? ""
    report(
      "\(quoted(text)) is not allowed; allowed are \(allowed.joined(separator: ", "))\(hint)",
      at: position, path)
  }

  mutating func whole(_ node: PositionedValue, _ path: String, in range: ClosedRange<Int>) -> Int {
    let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let text) = node.content else {
      unexpected(node, allowed, path)
      return range.lowerBound
    }
    if case .exact(let value)? = ExactDecimal(text)?.times(1), let value = Int(exactly: value),
      range.contains(value)
    {
      return value
    }
    report("expected \(allowed), found \(text)", at: node.position, path)
    return range.lowerBound
  }

  /// Seconds as microseconds, exactly; up to a hundred years either way.
  mutating func seconds(_ node: PositionedValue, _ path: String) -> Int64 {
    let allowed = "seconds with at most 6 decimals"
    guard case .number(let text) = node.content else {
      unexpected(node, allowed, path)
      return 0
    }
    if case .exact(let value)? = ExactDecimal(text)?.times(1_000_000),
      value.magnitude <= 3_200_000_000_000_000
    {
      return value
    }
    report("expected \(allowed), found \(text)", at: node.position, path)
    return 0
  }

  /// Seconds, or the lowest and the highest of a range.
  mutating func secondsRange(_ node: PositionedValue, _ path: String) -> ClosedRange<Int64> {
    guard case .array(let ends) = node.content else {
      let value = seconds(node, path)
      return value...value
    }
    guard ends.count == 2 else {
      report("a range has two ends, found \(ends.count)", at: node.position, path)
      return 0...0
    }
    let (low, high) = (seconds(ends[0], path + "[0]"), seconds(ends[1], path + "[1]"))
    if low > high { report("the range ends before it begins", at: node.position, path) }
    return min(low, high)...max(low, high)
  }

  func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : path + "." + key }

  static func settings(_ node: PositionedValue) -> SettingsValue {
    switch node.content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let text): .number(Double(text) ?? .nan)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(settings))
    case .object(let members): .object(members.map { ($0.key, settings($0.value)) })
    }
  }
}
