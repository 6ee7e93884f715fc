import ScenarioFormat
import ScenarioModel

/// A file of incidents by name: `{ "friday": [{ kind: "outage", at: "1h", for: "5m", status: 503 }] }`.
package struct IncidentFile: Sendable {
  /// In the order of the file; the incidents as a scenario's `tapi.incidents` has them.
  package private(set) var cases: [(name: String, incidents: String)] = []

  /// - Throws: `ScenarioProblems` of a file that is something else.
  package init(text: String, name: String) throws {
    let tree = try JSON5Parser.parse(text, file: name)
    let right = "write { name: [{ kind: \"outage\", at: \"1h\", for: \"5m\", status: 503 }] }"
    guard let members = tree.members, !members.isEmpty else {
      throw ScenarioProblems(diagnostics: [
        Diagnostic(
          file: name, line: Int(tree.position.line),
          message: "a file of incidents is an object of lists by name: \(right)")
      ])
    }
    for member in members {
      guard let elements = member.value.elements, !elements.isEmpty else {
        throw ScenarioProblems(diagnostics: [
          Diagnostic(
            file: name, line: Int(member.value.position.line), path: member.key,
            message: "a list of at least one incident is expected: \(right)")
        ])
      }
      cases.append((member.key, JSONText.pretty(member.value)))
    }
  }
}
