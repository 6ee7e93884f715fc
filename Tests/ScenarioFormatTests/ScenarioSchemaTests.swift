import Foundation
import TAPIModel
import Testing
import UploadRetry

@testable import ScenarioFormat
@testable import ScenarioModel

/// The JSON Schema for editors and the table of the decoder say the same.
@Suite("The JSON Schema of a scenario")
struct ScenarioSchemaTests {
  static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../experiments/scenario.schema.json").standardizedFileURL

  private func schema() throws -> PositionedValue {
    try JSON5Parser.parse(try String(contentsOf: Self.file, encoding: .utf8))
  }

  /// Every key path in the table: `fleet.[].flush.count`.
  private func paths(of shape: ScenarioSchema.Shape, _ prefix: String) -> Set<String> {
    switch shape {
    case .scalar, .settings, .axes: []
    case .list(let element), .cohorts(let element): paths(of: element, prefix + "[].")
    case .object(let keys):
      keys.reduce(into: []) { found, key in
        found.insert(prefix + key.name)
        found.formUnion(paths(of: key.shape, prefix + key.name + "."))
      }
    }
  }

  /// Every key path in the JSON Schema.
  private func paths(of node: PositionedValue, in schema: PositionedValue, _ prefix: String) -> Set<String> {
    var found: Set<String> = []
    if case .string(let reference)? = node["$ref"]?.content,
      let target = schema["$defs"]?[String(reference.dropFirst("#/$defs/".count))]
    {
      found.formUnion(paths(of: target, in: schema, prefix))
    }
    if case .array(let forms)? = node["oneOf"]?.content {
      for form in forms { found.formUnion(paths(of: form, in: schema, prefix)) }
    }
    if let items = node["items"] { found.formUnion(paths(of: items, in: schema, prefix + "[].")) }
    for member in node["properties"]?.members ?? [] {
      found.insert(prefix + member.key)
      found.formUnion(paths(of: member.value, in: schema, prefix + member.key + "."))
    }
    return found
  }

  @Test("has every key that the decoder knows, and no other")
  func sameKeys() throws {
    let schema = try schema()
    let documented = paths(of: schema, in: schema, "")
    let known = paths(of: ScenarioSchema.root, "")
    #expect(documented.subtracting(known).sorted() == [])
    #expect(known.subtracting(documented).sorted() == [])
    #expect(known.contains("fleet.[].network.latency.logNormal.p99"))
  }

  @Test("allows the clients and the values of switches that there are")
  func sameValues() throws {
    let schema = try schema()
    func texts(_ node: PositionedValue?) -> [String] {
      guard case .array(let elements)? = node?.content else { return [] }
      return elements.compactMap { if case .string(let text) = $0.content { text } else { nil } }
    }
    let cohort = schema["$defs"]?["cohort"]?["properties"]
    #expect(texts(cohort?["client"]?["enum"]) == ClientPreset.all.map(\.name))
    let policy = schema["$defs"]?["policy"]?["properties"]
    for entry in RetryPolicy.switches {
      let node = policy?[entry.name]
      if entry.isBool {
        #expect(node?["type"]?.content.text == "boolean", "\(entry.name)")
      } else if entry.values.contains("additive:P") {
        #expect(node?["pattern"]?.content.text == "^(none|additive:([1-9][0-9]?|100))$")
      } else if entry.values.contains("fixed:S") {
        guard case .array(let forms)? = node?["oneOf"]?.content else {
          Issue.record("\(entry.name) has no oneOf")
          continue
        }
        let names = texts(forms.first?["enum"])
        #expect(names == entry.values.filter { $0 != "fixed:S" }, "\(entry.name)")
        #expect(forms.last?["pattern"]?.content.text == "^fixed:[0-9]{1,4}$")
      } else {
        #expect(texts(node?["enum"]) == entry.values, "\(entry.name)")
      }
    }
  }

  @Test("requires what the decoder requires")
  func sameRequiredKeys() throws {
    let schema = try schema()
    func required(_ node: PositionedValue?) -> Set<String> {
      guard case .array(let names)? = node?["required"]?.content else { return [] }
      return Set(
        names.compactMap { name in
          if case .string(let text) = name.content { text } else { nil }
        })
    }
    func required(_ shape: ScenarioSchema.Shape) -> Set<String> {
      Set(shape.keys.filter(\.isRequired).map(\.name))
    }
    let tapi = schema["$defs"]?["tapi"]?["properties"]
    #expect(required(schema) == required(ScenarioSchema.root))
    #expect(required(tapi?["bucket"]) == required(TokenBucketConfiguration.keys.shape))
    #expect(required(tapi?["workers"]) == required(WorkersConfiguration.keys.shape))
    #expect(required(schema["$defs"]?["cohort"]) == required(ScenarioSchema.cohort))
    func cohortPart(_ name: String) -> PositionedValue? {
      guard case .array(let forms)? = schema["$defs"]?["cohort"]?["properties"]?[name]?["oneOf"]?.content
      else { return nil }
      return forms.first
    }
    #expect(required(cohortPart("rollout")) == required(ScenarioSchema.rollout))
    #expect(required(cohortPart("lifecycle")) == required(ScenarioSchema.lifecycle))
    #expect(required(schema["$defs"]?["logNormal"]) == Set(["median", "p99"]))
  }
}

extension PositionedValue.Content {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
