import Foundation
import ScenarioFormat
import ScenarioModel

/// The keys, kinds and switches of the scenario format that a generator of random scenarios draws.
///
/// A key counts as drawn when it has had two values, each value of a choice when it has been there. Scenarios are looked at as
/// they are written, so that what the format has is asked for, and nothing has to be listed twice.
public struct DrawnKeys {
  private var values: [String: Set<String>] = [:]

  public init() {}

  /// Where it is written down, a line each, what a generator never draws: keys that no single scenario has when it is written, such
  /// as those of all cohorts, and gaps. Recorded as snapshots are.
  public static func file(_ generator: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../NeverDrawn/\(generator).txt").standardizedFileURL
  }

  public mutating func add(_ scenario: Scenario) throws {
    let root = try JSON5Parser.parse(scenario.normalisedJSON)
    for key in ScenarioSchema.root.keys { add(root[key.name], key.shape, key.name) }
  }

  private mutating func add(_ node: PositionedValue?, _ shape: ScenarioSchema.Shape, _ path: String) {
    guard let node else { return note("(absent)", path) }
    switch shape {
    case .object(let keys) where node.members != nil:
      note("(present)", path)
      for key in keys { add(node[key.name], key.shape, path + "." + key.name) }
    case .list(let element), .cohorts(let element):
      note("\(node.elements?.count ?? 0)", path)
      for value in node.elements ?? [] { add(value, element, path + "[]") }
    case .object, .scalar, .settings, .axes: note(node.prettyJSON, path)
    }
  }

  private mutating func note(_ value: String, _ path: String) {
    // More than a few need not be told apart, but no choice has so many.
    if values[path]?.count ?? 0 < 200 { values[path, default: []].insert(value) }
  }

  /// The paths of keys that were never drawn, and `path=value` of choices; sorted.
  public var missing: [String] {
    var missing: [String] = []
    for key in ScenarioSchema.root.keys { look(key, key.name, &missing) }
    return missing.sorted()
  }

  private func look(_ key: ScenarioSchema.Key, _ path: String, _ missing: inout [String]) {
    // A scenario that is run has no axes.
    if case .axes = key.shape { return }
    // A value that stays the same is written without its kind.
    if key.name == "constant" { return }
    var drawn = values[path] ?? []
    if drawn.contains("(absent)"), case .value(let value)? = key.defaultValue {
      drawn.insert(value.prettyJSON)
    }
    guard drawn.contains(where: { $0 != "(absent)" && $0 != "null" }),
      drawn.count > 1 || !key.shape.keys.isEmpty
    else { return missing.append(path) }
    for choice in choices(key.schema) where !drawn.contains(choice) { missing.append("\(path)=\(choice)") }
    look(key.shape, path, &missing)
  }

  private func look(_ shape: ScenarioSchema.Shape, _ path: String, _ missing: inout [String]) {
    switch shape {
    case .object(let keys):
      for key in keys { look(key, path + "." + key.name, &missing) }
    case .list(let element), .cohorts(let element): look(element, path + "[]", &missing)
    case .scalar, .settings, .axes: break
    }
  }

  /// The values that a schema lists, as JSON, and both of a switch.
  private func choices(_ schema: PositionedValue) -> [String] {
    if let listed = schema["enum"]?.elements { return listed.map(\.prettyJSON) }
    if let value = schema["const"] { return [value.prettyJSON] }
    if schema["type"]?.text == "boolean" { return ["false", "true"] }
    return ["oneOf", "anyOf"].flatMap { schema[$0]?.elements ?? [] }.flatMap(choices)
  }
}
