import Foundation
import ScenarioFormat
import ScenarioModel

/// The keys, kinds and switches of the scenario format that a generator of random scenarios draws.
///
/// A key counts as drawn when it has had two values, each value of a choice when it has been there. Scenarios are looked at as
/// they are written, so that what the format has is asked for, and nothing has to be listed twice.
public struct DrawnKeys {
  /// What becomes of the scenarios, and so which values of a cohort count.
  public enum Use: Sendable {
    /// They are written and read: a key that the text leaves out, as the client has it so, has no value.
    case text
    /// They are run: such a key has the client's value, as a run knows nothing else.
    case run
  }

  private let use: Use
  private var values: [String: Set<String>] = [:]

  public init(_ use: Use) { self.use = use }

  /// Where it is written down, a line each, what a generator never draws and could. Recorded as snapshots are.
  public static func file(_ generator: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../NeverDrawn/\(generator).txt").standardizedFileURL
  }

  /// What is read and never written, so that no generator can draw it. Keys that the format declares as such
  /// (`ScenarioSchema.Key.isWritten`) are not named here: those of all cohorts, and what a written scenario has resolved.
  private static let neverWritten: Set<String> = [
    // A log-normal latency is written under its kind, as every other log-normal time.
    "fleet[].network.latency.median", "fleet[].network.latency.p99", "fleet[].network.latency.minimum",
    // The decoder refuses it: it comes arbitrarily close to 0, and no latency may.
    "fleet[].network.latency.exponential",
    // A word for the list of them all, which is written as a list.
    "fleet[].uploadLoop.triggers=\"all\"",
  ]

  public mutating func add(_ scenario: Scenario) throws {
    let root = try JSON5Parser.parse(scenario.normalisedJSON)
    for key in ScenarioSchema.root.keys {
      guard use == .run, case .cohorts(let cohort) = key.shape else {
        add(root[key.name], key.shape, key.name)
        continue
      }
      for value in scenario.fleet { add(value.everyKey, cohort, key.name + "[]") }
      note("\(scenario.fleet.count)", key.name)
    }
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
    case .object, .scalar, .settings: note(JSONText.pretty(node), path)
    }
  }

  private mutating func note(_ value: String, _ path: String) {
    // More than a few need not be told apart, but no choice has so many.
    if values[path]?.count ?? 0 < 200 { values[path, default: []].insert(value) }
  }

  /// The paths of keys that were never drawn, and `path=value` of choices; sorted. What is said never to be written and has been
  /// is among them, too.
  public var missing: [String] {
    var missing: [String] = []
    for key in ScenarioSchema.root.keys { look(key, key.name, &missing) }
    for path in Self.neverWritten {
      let parts = path.split(separator: "=").map(String.init)
      let drawn = values[parts[0]] ?? []
      if parts.count > 1 ? drawn.contains(parts[1]) : drawn.contains(where: isValue) {
        missing.append("\(path) is written after all")
      }
    }
    return missing.sorted()
  }

  private func isValue(_ text: String) -> Bool { text != "(absent)" && text != "null" }

  private func look(_ key: ScenarioSchema.Key, _ path: String, _ missing: inout [String]) {
    // A value that stays the same is written without its kind.
    if key.name == "constant" || Self.neverWritten.contains(path) { return }
    var drawn = values[path] ?? []
    if !key.isWritten {
      if drawn.contains(where: isValue) { missing.append("\(path) is written after all") }
      return
    }
    if drawn.contains("(absent)"), case .value(let value)? = key.defaultValue {
      drawn.insert(JSONText.pretty(value))
    }
    // There is one value of `format`. The schema of a `kind` is that of the first.
    let isConstant = key.schema["const"] != nil && key.name != "kind"
    guard drawn.contains(where: isValue), drawn.count > 1 || isConstant || !key.shape.keys.isEmpty
    else { return missing.append(path) }
    for choice in choices(key.schema)
    where !drawn.contains(choice) && !Self.neverWritten.contains("\(path)=\(choice)") {
      missing.append("\(path)=\(choice)")
    }
    look(key.shape, path, &missing)
  }

  private func look(_ shape: ScenarioSchema.Shape, _ path: String, _ missing: inout [String]) {
    switch shape {
    case .object(let keys):
      for key in keys { look(key, path + "." + key.name, &missing) }
    case .list(let element), .cohorts(let element): look(element, path + "[]", &missing)
    case .scalar, .settings: break
    }
  }

  /// The values that a schema lists, as JSON, and both of a switch.
  private func choices(_ schema: PositionedValue) -> [String] {
    if let listed = schema["enum"]?.elements { return listed.map { JSONText.pretty($0) } }
    if let value = schema["const"] { return [JSONText.pretty(value)] }
    if schema["type"]?.text == "boolean" { return ["false", "true"] }
    return ["oneOf", "anyOf"].flatMap { schema[$0]?.elements ?? [] }.flatMap(choices)
  }
}
