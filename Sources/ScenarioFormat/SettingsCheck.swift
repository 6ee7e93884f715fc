import ScenarioModel
import ShippedClients

/// A Settings file as one client reads it.
package struct SettingsCheck: Sendable {
  /// What is to be said of the file, from its beginning to its end, and on which lines.
  package private(set) var findings: [(line: Int, finding: SettingsFinding)] = []

  /// Reads the text of a Settings file.
  /// - Throws: `ScenarioProblems` if it is no JSON5 object.
  package init(text: String, name: String, client: ClientPreset) throws {
    let tree = try JSON5Parser.parse(text, file: name)
    guard tree.members != nil else {
      throw JSON5Error(
        position: tree.position, message: "Settings are an object, { … }; found \(tree.kind)"
      ).problems(in: name)
    }
    var found = client.dialect.decode(SettingsTree.settingsValue(tree), defaults: client.settings).findings
    if client.dialect == .document, SettingsTree.holdsNothing(tree) {
      found.append(SettingsFinding(path: "", effect: .repaired, message: SettingsTree.nothingFound))
    }
    let placed = found.map { finding in
      let parts = PathText.parse(finding.path) ?? []
      return (position: SettingsTree.deepestPosition(parts, in: tree), finding: finding)
    }
    // In the order of the file; what stands in one place stays in the order in which it was found.
    let sorted = placed.enumerated().sorted { a, b in
      let (first, second) = (a.element.position, b.element.position)
      return (first.line, first.column, a.offset) < (second.line, second.column, b.offset)
    }
    findings = sorted.map { (line: Int($0.element.position.line), finding: $0.element.finding) }
  }
}
