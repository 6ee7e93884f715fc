/// Every key of a scenario for readers, made of the keys.
package enum KeyReference {
  /// Markdown: a table for each object, in the order of a file.
  package static var markdown: String {
    var sections = [
      "# Keys of a scenario\n\n"
        + "All keys as the program declares them; `fleetsim help scenario` prints this page. What is not required may be left out.\n"
        + "Paths of `--set`, `--vary` and `compare` are these, with the name of a cohort for NAME and a number from 0 for N."
    ]
    add(ScenarioSchema.root.keys, path: "", to: &sections)
    return sections.joined(separator: "\n\n") + "\n"
  }

  private static func add(
    _ keys: [ScenarioSchema.Key], path: String, of kind: String? = nil, to sections: inout [String]
  ) {
    if !path.isEmpty { sections.append("## `\(path)`" + (kind.map { ": \($0)" } ?? "")) }
    let rows = keys.map { key in
      let cells = ["`\(key.name)`", key.allowed, key.standardText, key.sentence]
      return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
    sections.append(
      (["| key | value | default | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n"))
    for key in keys {
      let place = path.isEmpty ? key.name : "\(path).\(key.name)"
      switch key.shape {
      // Said once, at the top.
      case .object where key.name == "policy" && path == "" || key.name == "network" && path != "": break
      case .object(let keys) where !key.isDistribution: add(keys, path: place, to: &sections)
      case .list where place == "tapi.incidents": add(IncidentKind.all, path: place, to: &sections)
      case .list where place == "actions": add(ActionKind.all, path: place, to: &sections)
      case .list(let element): add(element.keys, path: place + ".N", to: &sections)
      case .cohorts(let element): add(element.keys, path: place + ".NAME", to: &sections)
      default: break
      }
    }
  }
}

extension KeyReference {
  private static func add(_ kinds: [some TimelineKind], path: String, to sections: inout [String]) {
    for kind in kinds {
      add(kind.record.keys, path: "\(path).N", of: kind.name, to: &sections)
      sections[sections.count - 2] += "\n\n" + kind.meaning
    }
  }
}

extension ScenarioSchema.Key {
  /// A span in one of several forms, which one sentence explains.
  fileprivate var isDistribution: Bool {
    shape.keys.contains { $0.name == "exponential" } || schema["$ref"] != nil
  }

  /// What may stand there, in words.
  fileprivate var allowed: String {
    let kind = Self.words(schema)
    return range.isEmpty ? kind : "\(kind), \(range)"
  }

  fileprivate var standardText: String {
    switch standard {
    case .value(let value): "`\(JSONText.compact(value))`"
    case .words(let words): words
    case nil: isRequired ? "required" : ""
    }
  }

  private static func words(_ schema: PositionedValue) -> String {
    if let text = schema["$ref"]?.text {
      let name = String(text.dropFirst("#/$defs/".count))
      return ["serviceTime": "distribution", "period": "span or `{ exponential }`", "retryAfter": "wait"][
        name] ?? name
    }
    if let value = schema["const"] { return "`\(JSONText.compact(value))`" }
    if let words = schema["enum"]?.elements {
      return words.map { "`\(JSONText.compact($0))`" }.joined(separator: ", ")
    }
    if let forms = schema["oneOf"]?.elements {
      var seen: [String] = []
      for form in forms.map(words) where !seen.contains(form) { seen.append(form) }
      return seen.joined(separator: " or ")
    }
    let bounds = [schema["minimum"], schema["maximum"]].compactMap { $0.map(JSONText.compact) }
    let limits = bounds.count == 2 ? ", " + bounds.joined(separator: " to ") : ""
    switch schema["type"]?.text {
    case "integer"?: return "whole number" + limits
    case "number"?: return "number" + limits
    case "boolean"?: return "`true` or `false`"
    case "array"?: return "list"
    case "string"? where schema["pattern"]?.text?.contains("%") ?? false: return "share"
    case let type?: return type
    case nil: return "object"
    }
  }
}
