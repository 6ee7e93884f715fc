import ScenarioFormat
import ScenarioModel

/// A file of incidents by name: `{ "friday": [{ kind: "outage", at: "1h", for: "5m", status: 503 }] }`.
package enum IncidentFile {
  /// Returns the cases in their order, with incidents as `tapi.incidents` has them.
  /// - Throws: `ScenarioProblems` of a file that is something else.
  package static func cases(_ text: String, name: String) throws -> [(name: String, incidents: String)] {
    let tree = try JSON5Parser.parse(text, file: name)
    func problem(_ value: PositionedValue, _ path: String, _ message: String) -> ScenarioProblems {
      let right = "write { name: [{ kind: \"outage\", at: \"1h\", for: \"5m\", status: 503 }] }"
      return ScenarioProblems(diagnostics: [
        Diagnostic(file: name, line: Int(value.position.line), path: path, message: "\(message): \(right)")
      ])
    }
    guard let members = tree.members, !members.isEmpty else {
      throw problem(tree, "", "a file of incidents is an object of lists by name")
    }
    return try members.map { member in
      guard let elements = member.value.elements, !elements.isEmpty else {
        throw problem(member.value, member.key, "a list of at least one incident is expected")
      }
      return (member.key, JSONText.pretty(member.value))
    }
  }
}
