import Foundation
import ScenarioFormat
import ScenarioModel
import TAPIModel
import TestSupport
import Testing

/// The JSON Schema for editors is made of the keys that the decoder reads.
@Suite("The JSON Schema of a scenario")
struct ScenarioSchemaTests {
  static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../experiments/scenario.schema.json").standardizedFileURL

  /// Every key in the table with its path: `fleet.[].flush.count`.
  private func keys(of shape: ScenarioSchema.Shape, _ prefix: String) -> [(
    path: String, key: ScenarioSchema.Key
  )] {
    switch shape {
    case .scalar, .settings: []
    case .list(let element), .cohorts(let element): keys(of: element, prefix + "[].")
    case .object(let keys):
      keys.flatMap { key in [(prefix + key.name, key)] + self.keys(of: key.shape, prefix + key.name + ".") }
    }
  }

  @Test("is committed as fleetsim help schema prints it")
  func isCommitted() throws {
    let committed = try Snapshot.recorded(in: Self.file, now: ScenarioSchema.json)
    #expect(committed == ScenarioSchema.json, "fleetsim help schema > experiments/scenario.schema.json")
  }

  @Test("says of every key what it means and what it may be")
  func isComplete() {
    let keys = keys(of: ScenarioSchema.root, "")
    #expect(keys.contains { $0.path == "fleet.[].network.latency.logNormal.p99" })
    for (path, key) in keys {
      #expect(key.sentence.hasSuffix(".") || key.sentence.hasSuffix("…"), "\(path)")
      #expect(key.schema.members?.isEmpty == false, "\(path)")
    }
  }

  @Test("names every definition that it refers to")
  func hasDefinitions() throws {
    let schema = try JSON5Parser.parse(ScenarioSchema.json)
    let names = Set(schema["$defs"]?.members?.map(\.key) ?? [])
    let references = Set(ScenarioSchema.json.matches(of: /#\/\$defs\/(\w+)/).map { String($0.1) })
    #expect(references == names)
  }

  @Test("the page of the keys is as fleetsim help scenario prints it")
  func reference() throws {
    let page = Self.file.deletingLastPathComponent().appending(
      path: "../Sources/fleetsim/fleetsim.docc/3-reference/keys.md")
    let committed = try Snapshot.recorded(in: page, now: KeyReference.markdown)
    #expect(committed == KeyReference.markdown, "fleetsim help scenario > \(page.lastPathComponent)")
  }

  @Test("every kind of incident is read from its examples, and written back the same")
  func incidentKinds() throws {
    for kind in Form<Incident>.incidents {
      let given = kind.key.shape.keys.compactMap { key -> String? in
        if key.name == "kind" { return "kind: '\(kind.key.name)'" }
        if !key.example.isEmpty { return "\(key.name): \(key.example)" }
        guard case .value(let value)? = key.defaultValue else { return nil }
        return "\(key.name): \(JSONText.compact(value))"
      }
      var text = ScenarioText(tapi: "incidents: [{ \(given.joined(separator: ", ")) }]")
      text.cohort += ", holdsOpen: true"
      let decoded = try text.decode()
      #expect(kind.holds(decoded.scenario.tapi.incidents[0]), "\(kind.key.name)")
      let again = try ScenarioFile(text: decoded.normalisedJSON, name: "s") { _ in "" }.decode()
      #expect(again.scenario == decoded.scenario, "\(kind.key.name)")
    }
  }
}
