import ScenarioFormat

/// A tree that is written as JSON, pretty-printed with two spaces.
indirect enum JSONValue {
  case string(String)
  case integer(Int64)
  case unsigned(UInt64)
  /// Rounded to three decimals.
  case decimal(Double)
  case bool(Bool)
  case null
  case array([JSONValue])
  case object([(String, JSONValue)])
  /// Pretty-printed JSON from elsewhere, indented to fit.
  case raw(String)

  static func text(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .string(let string): return string.asJSON
    case .integer(let number): return String(number)
    case .unsigned(let number): return String(number)
    case .decimal(let number):
      guard number.isFinite, abs(number) < 9e15 else { return "null" }
      return "\((number * 1_000).rounded() / 1_000)"
    case .bool(let flag): return flag ? "true" : "false"
    case .null: return "null"
    case .array(let items):
      if items.isEmpty { return "[]" }
      return "[\n" + items.map { inner + text($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { inner + $0.0.asJSON + ": " + text($0.1, indent: inner) }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .raw(let json):
      return json.split(separator: "\n").joined(separator: "\n" + indent)
    }
  }
}
