import ScenarioModel

/// Every value of a scenario by its path, as overrides write it. It tells in which values two scenarios differ, and where they
/// stand.
///
///     let before = ScenarioValues(decoded)        // fleet.phones.settings.backoffConfig.maxRetryCount: 100, …
///     ScenarioValues(other).changes(since: before)   // settings.backoffConfig.maxRetryCount: 100 → 3
public struct ScenarioValues: Sendable, Hashable {
  /// A path and its value as JSON; a list of scalars is one value.
  public struct Value: Sendable, Hashable {
    public var path: String
    public var text: String

    public init(path: String, text: String) {
      self.path = path
      self.text = text
    }
  }

  /// A value that is not as it was.
  public struct Change: Sendable, Hashable {
    /// As overrides write it, `settings.…` where all cohorts changed alike.
    public var path: String
    /// nil: there was none.
    public var before: String?
    /// nil: there is none any more.
    public var after: String?
    /// The first of the paths that it stands for, `fleet.phones.settings.…`.
    public var firstPath: String

    /// `settings.backoffConfig.maxRetryCount 100 → 3`
    public var text: String {
      func plain(_ text: String?) -> String {
        guard let text else { return "none" }
        return text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
      }
      return "\(path) \(plain(before)) → \(plain(after))"
    }
  }

  /// In the order of the normalised scenario.
  public var all: [Value]

  public init(_ all: [Value]) { self.all = all }

  /// Takes every value of a scenario but its seed and its question.
  public init(_ decoded: ScenarioFile.Decoded) {
    all = []
    guard let root = try? JSON5Parser.parse(decoded.normalisedJSON) else { return }
    for member in root.members ?? [] where !["format", "seed", "question"].contains(member.key) {
      add(member.value, member.key)
    }
  }

  private mutating func add(_ node: PositionedValue, _ path: String) {
    switch node.content {
    case .object(let members) where !members.isEmpty:
      for member in members { add(member, path) }
    case .array(let elements) where elements.contains { $0.members != nil }:
      for (index, element) in elements.enumerated() {
        add(element, path == "fleet" ? ScenarioPaths.cohort(index, of: elements) : "\(path).\(index)")
      }
    default: all.append(Value(path: path, text: JSONText.compact(node)))
    }
  }

  private mutating func add(_ member: PositionedValue.Member, _ path: String) {
    // A jitter has one name, however it is written.
    if member.key == "jitterPercent", path.hasSuffix("backoffConfig") {
      let strategy = "additive:" + JSONText.compact(member.value)
      return all.append(Value(path: path + ".jitterStrategy", text: strategy.asJSON))
    }
    let key = PathText.isName(member.key) ? "." + member.key : "[\(member.key.asJSON)]"
    add(member.value, path + key)
  }

  /// Returns the changed values, in the order of the scenario; values that are gone come last.
  public func changes(since before: ScenarioValues) -> [Change] {
    let (old, new) = (before.byPath, byPath)
    let gone = before.all.filter { new[$0.path] == nil }.map(\.path)
    let single = (all.map(\.path) + gone).filter { old[$0] != new[$0] }.map {
      Change(path: $0, before: old[$0], after: new[$0], firstPath: $0)
    }
    let cohorts = Set((all + before.all).compactMap { Self.cohort(of: $0.path)?.name }).count
    // A change that all cohorts share is one change.
    var alike: [Change: Int] = [:]
    for change in single { if let shared = Self.shared(change) { alike[shared, default: 0] += 1 } }
    var told: Set<Change> = []
    return single.compactMap { change in
      guard var shared = Self.shared(change), alike[shared] == cohorts else { return change }
      guard told.insert(shared).inserted else { return nil }
      shared.firstPath = change.firstPath
      return shared
    }
  }

  private var byPath: [String: String] {
    Dictionary(all.map { ($0.path, $0.text) }, uniquingKeysWith: { first, _ in first })
  }

  private static func cohort(of path: String) -> (name: Substring, rest: String)? {
    let parts = path.split(separator: ".", maxSplits: 2)
    return parts.count == 3 && parts[0] == "fleet" ? (parts[1], String(parts[2])) : nil
  }

  /// The change as an override of all cohorts would make it; nil where there is no such override.
  private static func shared(_ change: Change) -> Change? {
    guard let rest = cohort(of: change.path)?.rest,
      ["settings.", "policy."].contains(where: rest.hasPrefix) || rest == Override.clientPath
    else { return nil }
    return Change(path: rest, before: change.before, after: change.after, firstPath: rest)
  }
}

extension ScenarioFile {
  /// Returns the file, as it is named, and the line where the value of a path in `ScenarioValues` stands or would stand.
  /// Returns nil if no part of it is in a file.
  public func place(of path: String) -> (file: String, line: Int)? {
    guard let parts = PathText.parse(path) else { return nil }
    let places = trees(of: parts).flatMap { tree, parts in
      Self.names(of: parts).map(tree.deepest)
    }
    guard let best = places.max(by: { $0.depth < $1.depth })?.keyPosition,
      sources.indices.contains(Int(best.source))
    else { return nil }
    return (sources[Int(best.source)], Int(best.line))
  }

  /// Where a path may stand: the tree, and the path in it.
  private func trees(of parts: [String]) -> [(tree: PositionedValue, parts: [String])] {
    guard parts.first == "fleet", parts.count > 2, let cohorts = root["fleet"]?.elements,
      let cohort = cohorts.place(of: parts[1]).map({ cohorts[$0] })
    else { return [(root, parts)] }
    let rest = Array(parts[2...])
    let inScenario = [(tree: cohort, parts: rest), (root, rest)]
    guard rest.first == "settings" else { return inScenario }
    let node = cohort["settings"] ?? root["settings"]
    guard let tree = replacement ?? node.flatMap({ $0.text.map { settingsFiles[$0] } ?? $0 }) else {
      return inScenario
    }
    let inner = Array(rest.dropFirst())
    return [(tree, SettingsTree.section(of: tree) + inner), (tree, inner)]
  }

  /// Some keys of Settings have two names.
  private static func names(of parts: [String]) -> [[String]] {
    let others = [
      "jitterStrategy": "jitterPercent", RateLimitDurationKey.document: RateLimitDurationKey.served,
    ]
    guard let last = parts.last, let other = others[last] else { return [parts] }
    return [parts, Array(parts.dropLast()) + [other]]
  }
}
