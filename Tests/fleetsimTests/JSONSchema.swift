import Foundation

/// JSON as Foundation reads it, with booleans that are no numbers.
indirect enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// - Parameter value: of `JSONSerialization`.
  private init(_ value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let elements as [Any]: self = .array(elements.map { JSON($0) })
    case let members as [String: Any]: self = .object(members.mapValues { JSON($0) })
    case let number as NSNumber:
      // That of a boolean is of a character.
      self = number.objCType.pointee == 0x63 ? .bool(number.boolValue) : .number(number.doubleValue)
    default: self = .null
    }
  }

  /// Strict about what is one document: anything behind it is refused.
  init(text: String) throws {
    self.init(try JSONSerialization.jsonObject(with: Data(text.utf8)))
  }

  subscript(key: String) -> JSON? { if case .object(let members) = self { members[key] } else { nil } }
  var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }
  var texts: [String] { elements.compactMap(\.text) }
  var keys: [String] { if case .object(let members) = self { members.keys.sorted() } else { [] } }
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }

  private var types: [String] {
    switch self {
    case .null: ["null"]
    case .bool: ["boolean"]
    case .number(let number): number == number.rounded() ? ["number", "integer"] : ["number"]
    case .string: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }

  /// What is wrong with it by a JSON Schema, as far as fleetsim's schemas go; empty: nothing.
  func violations(of schema: JSON, at path: String = "$") -> [String] {
    var found: [String] = []
    let allowed = schema["type"].map { $0.elements.isEmpty ? [$0] : $0.elements }?.compactMap(\.text)
    if let allowed, Set(allowed).isDisjoint(with: types) { found.append("\(path): is no \(allowed)") }
    if let value = schema["const"], value != self { found.append("\(path): is not \(value)") }
    if let values = schema["enum"]?.elements, !values.contains(self) {
      found.append("\(path): is none of \(values)")
    }
    if case .object(let members) = self {
      for name in schema["required"]?.elements.compactMap(\.text) ?? [] where members[name] == nil {
        found.append("\(path).\(name): is missing")
      }
      for (name, value) in members {
        let known = schema["properties"]?[name] ?? schema["additionalProperties"]
        if let known { found += value.violations(of: known, at: "\(path).\(name)") }
      }
    }
    if case .array(let elements) = self, let items = schema["items"] {
      for (index, element) in elements.enumerated() {
        found += element.violations(of: items, at: "\(path)[\(index)]")
      }
    }
    if let choices = schema["oneOf"]?.elements {
      let all = choices.map { violations(of: $0, at: path) }
      let fitting = all.count { $0.isEmpty }
      if fitting != 1 {
        found.append("\(path): fits \(fitting) of the schemas; \(all.min { $0.count < $1.count } ?? [])")
      }
    }
    return found
  }

  /// Members that the schema doesn't name, where it names any and has no rule for others.
  func undeclared(in schema: JSON, at path: String = "$") -> [String] {
    switch self {
    case .object(let members):
      return members.flatMap { name, value in
        guard let known = schema["properties"]?[name] else {
          return schema["properties"] == nil || schema["additionalProperties"] != nil
            ? [] : ["\(path).\(name)"]
        }
        return value.undeclared(in: known, at: "\(path).\(name)")
      }
    case .array(let elements):
      return elements.flatMap { $0.undeclared(in: schema["items"] ?? .null, at: path + "[]") }
    default: return []
    }
  }
}
