/// Writes trees as JSON.
enum JSONText {
  /// Two spaces a level, one member a line; lists of scalars on one line. Ends without a line feed.
  static func pretty(_ node: PositionedValue, indent: String = "") -> String {
    let deeper = indent + "  "
    switch node.content {
    case .object(let members) where !members.isEmpty:
      let lines = members.map { deeper + $0.key.asJSON + ": " + pretty($0.value, indent: deeper) }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    case .array(let elements) where elements.contains { $0.isContainer }:
      let lines = elements.map { deeper + pretty($0, indent: deeper) }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + indent + "]"
    default: return compact(node)
    }
  }

  /// On one line.
  static func compact(_ node: PositionedValue) -> String {
    switch node.content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): text
    case .string(let text): text.asJSON
    case .array(let elements): "[" + elements.map(compact).joined(separator: ", ") + "]"
    case .object(let members) where members.isEmpty: "{}"
    case .object(let members):
      "{ " + members.map { $0.key.asJSON + ": " + compact($0.value) }.joined(separator: ", ") + " }"
    }
  }
}

extension String {
  /// In double quotes, escaped as JSON wants it.
  package var asJSON: String {
    var s = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": s += "\\\""
      case "\\": s += "\\\\"
      case "\n": s += "\\n"
      case "\r": s += "\\r"
      case "\t": s += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        s += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: s.unicodeScalars.append(scalar)
      }
    }
    return s + "\""
  }
}

extension PositionedValue {
  fileprivate var isContainer: Bool {
    switch content {
    case .array, .object: true
    default: false
    }
  }
}

extension PositionedValue {
  /// As JSON, pretty-printed with two spaces: text that was written so comes back as it was. Ends without a line feed.
  package var prettyJSON: String { JSONText.pretty(self) }
}
