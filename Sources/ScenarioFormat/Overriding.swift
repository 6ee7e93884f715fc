import ScenarioModel
import ShippedQuirks
import SimulationKernel
import UploadRetry

/// A change of Settings, for all cohorts or for one.
struct SettingsChange {
  /// nil: every cohort.
  var cohort: Int?
  /// Whether it is about the Settings of the cohort's rollout, not about those that it starts with.
  var isOfRollout: Bool
  /// The path inside the normalised Settings; empty: the whole Settings.
  var parts: [String]
  var value: PositionedValue
  /// The path as the user wrote it.
  var path: String

  /// Whether it is a whole file of Settings, as a CDN serves it.
  var isOfFile: Bool { parts.isEmpty && value.text != nil }
  var isOfEveryCohort: Bool { PathText.parse(path)?.dropFirst().first == Override.everyCohort }
}

/// Applies overrides to the tree of a scenario, before it is decoded: so all checks and messages hold for
/// them too. Changes of Settings are only collected: they go into Settings of whatever shape, in files of
/// their own.
struct Overriding {
  var root: PositionedValue
  private(set) var settingsChanges: [SettingsChange] = []
  var cohort: Int?

  private struct PathProblem: Error {
    var message: String
  }

  /// Applies one override, or reports why its path leads nowhere.
  mutating func apply(_ override: Override, reporting decoder: inout ScenarioDecoder) {
    guard let parts = PathText.parse(override.path) else {
      decoder.report(
        "\(quoted(override.path)) is not a path; write keys with dots between them, like tapi.bucket.capacity",
        at: .commandLine, "")
      return
    }
    do throws(PathProblem) {
      cohort = nil
      root = try setting(root, parts[...], ScenarioSchema.root, "", override)
      if parts[0] == "policy" { try setPolicies(parts[1...], override) }
      if parts == [Override.clientPath] { removeClients() }
    } catch {
      decoder.report(error.message, at: .commandLine, override.path)
    }
  }

  /// `policy.…` reaches the cohorts that have a policy of their own too.
  private mutating func setPolicies(_ parts: ArraySlice<String>, _ override: Override) throws(PathProblem) {
    guard let fleet = root["fleet"], var cohorts = fleet.elements else { return }
    for index in cohorts.indices {
      guard let policy = cohorts[index]["policy"] else { continue }
      cohorts[index].setMember(
        "policy", to: try setting(policy, parts, .object(ClientPolicy.keys.keys), "policy", override))
    }
    root.setMember("fleet", to: PositionedValue(.array(cohorts), at: fleet.position))
  }

  /// `client` reaches the cohorts that name one of their own too.
  private mutating func removeClients() {
    guard let fleet = root["fleet"], let cohorts = fleet.elements else { return }
    let changed = cohorts.map { $0.members == nil ? $0 : $0.taking([Override.clientPath], from: .null) }
    root.setMember("fleet", to: PositionedValue(.array(changed), at: fleet.position))
  }

  /// `node` with the value put where `parts` lead.
  private mutating func setting(
    _ node: PositionedValue?, _ parts: ArraySlice<String>, _ shape: ScenarioSchema.Shape, _ path: String,
    _ override: Override
  ) throws(PathProblem) -> PositionedValue {
    if case .settings = shape {
      try checkSettings(parts, path)
      settingsChanges.append(
        SettingsChange(
          cohort: cohort, isOfRollout: isRollout(String(path.dropLast(".settings".count))),
          parts: Array(parts), value: override.tree, path: override.path))
      // The Settings in the tree stay as they are.
      return node ?? .members([])
    }
    guard let part = parts.first else {
      // A whole rollout that is given anew brings its Settings along.
      if isRollout(path) { settingsChanges.removeAll { $0.isOfRollout && $0.cohort == cohort } }
      return override.tree
    }
    switch shape {
    case .scalar, .settings:
      throw PathProblem(message: "\(path) has no members")
    case .object(let keys):
      guard let key = keys.first(where: { $0.name == part }) else {
        throw PathProblem(message: Self.unknown(part, in: path, keys.filter(\.isSettable).map(\.name)))
      }
      guard key.isSettable else {
        throw PathProblem(message: "\(quoted(part)) cannot be changed from outside the file")
      }
      let child = try setting(
        node?[part], parts.dropFirst(), key.shape, path.isEmpty ? part : "\(path).\(part)", override)
      var object = node?.members == nil ? .members([]) : node!
      // A cohort without Settings has the scenario's; a rollout has its own or none.
      if case .settings = key.shape, node?[part] == nil, !isRollout(path) { return object }
      object.setMember(part, to: child)
      return object
    case .list(let element), .cohorts(let element):
      guard let node, case .array(var elements) = node.content else {
        throw PathProblem(message: "there is no list \(path) in the file")
      }
      var isOfCohorts = false
      if case .cohorts = shape { isOfCohorts = true }
      let isOfAll = isOfCohorts && part == Override.everyCohort
      guard let place = isOfAll ? 0 : elements.place(of: part) else {
        throw PathProblem(message: Self.noElement(part, of: elements, path, isOfCohorts: isOfCohorts))
      }
      for index in isOfAll ? elements.indices : place..<place + 1 {
        if isOfCohorts { cohort = index }
        elements[index] = try setting(
          elements[index], parts.dropFirst(), element, "\(path).\(part)", override)
      }
      return PositionedValue(.array(elements), at: node.position)
    }
  }

  /// Whether a path on the way down leads to a cohort's `rollout`; a cohort can have that name too.
  private func isRollout(_ path: String) -> Bool {
    let parts = PathText.parse(path) ?? []
    return parts.count == 3 && parts[0] == "fleet" && parts[2] == "rollout"
  }

  private static func noElement(
    _ part: String, of elements: [PositionedValue], _ path: String, isOfCohorts: Bool
  ) -> String {
    let names = elements.compactMap(ScenarioPaths.name(of:))
    if isOfCohorts { return ScenarioPaths.noCohort(part, among: names) }
    if elements.isEmpty { return "\(path) is empty" }
    let known =
      names.isEmpty
      ? ";" : "\(Spelling.hint(for: part, among: names)) Its names: \(names.joined(separator: ", "));"
    return "\(path) has no element \(quoted(part))\(known) its elements are 0 to \(elements.count - 1)"
  }

  private func checkSettings(_ parts: ArraySlice<String>, _ path: String) throws(PathProblem) {
    guard let part = parts.first else { return }
    let sections = HTTPConfig.sections
    guard let keys = sections.first(where: { $0.name == part })?.keys else {
      throw PathProblem(message: Self.unknown(part, in: path, sections.map(\.name)))
    }
    guard let key = parts.dropFirst().first else { return }
    guard keys.contains(key) else {
      throw PathProblem(message: Self.unknown(key, in: "\(path).\(part)", keys))
    }
    guard parts.count == 2 || (key == "statusCodeOverrides" && parts.count == 3) else {
      throw PathProblem(message: "\(path).\(part).\(key) has no members")
    }
  }

  private static func unknown(_ part: String, in path: String, _ allowed: [String]) -> String {
    let place = path.isEmpty ? "a scenario" : path
    return
      "there is no \(quoted(part)) in \(place)\(Spelling.hint(for: part, among: allowed)) Allowed there: \(allowed.joined(separator: ", "))"
  }
}

/// `path=value` from the command line or from `compare:`.
public struct Override: Sendable, Hashable {
  /// Dotted keys of the normalised scenario: `tapi.bucket.capacity`, `fleet.phones.flush.interval`, `settings.…`.
  public var path: String
  /// JSON5 if it parses as such, else a plain string.
  public var value: String
  public init(path: String, value: String) {
    self.path = path
    self.value = value
  }

  /// The value as a tree that has no place in a file.
  var tree: PositionedValue {
    let parsed = try? JSON5Parser.parse(value)
    return (parsed ?? PositionedValue(.string(value), at: .commandLine)).moved(to: .commandLine)
  }

  /// The path of the jitter strategy, for every cohort.
  public static let jitterPath = "settings.backoffConfig.jitterStrategy"
  /// Whether backoff plus jitter is clamped to the cap again, as shipped SDKs do (S10).
  public static let clampPath = "policy.clampAfterJitter"
  /// The path of the whole Settings, for every cohort.
  public static let settingsPath = "settings"
  /// The path of the part that is simulated.
  public static let scalePath = "scale"
  /// In place of a cohort's name: every cohort, as in `fleet.*.flush.interval`.
  public static let everyCohort = "*"
  /// The path of the client, for every cohort.
  public static let clientPath = "client"
  /// Behind the name of a strategy it sets `clampPath` too: `additive:10+clamp`.
  public static let clampSuffix = "+clamp"

  /// Returns the overrides that choosing a value to compare sets: one path, or for a strategy with `+clamp` two.
  public static func choosing(_ path: String, _ value: String) -> [Override] {
    guard path == jitterPath, value.hasSuffix(clampSuffix) else {
      return [Override(path: path, value: value)]
    }
    return [
      Override(path: path, value: String(value.dropLast(clampSuffix.count))),
      Override(path: clampPath, value: "true"),
    ]
  }

  /// Whether a path begins with a key of scenarios.
  public static func isPath(_ text: String) -> Bool {
    guard let first = PathText.parse(text)?.first, case .object(let keys) = ScenarioSchema.root else {
      return false
    }
    return keys.contains { $0.name == first && $0.isSettable }
  }

  /// Gives a share of every cohort's devices other Settings from the start of the run. If the share is nothing, nothing changes.
  /// - Parameters:
  ///   - file: the Settings file.
  ///   - partsPerMillion: the share.
  public static func rollout(of file: String, partsPerMillion: Int64) -> [Override] {
    if partsPerMillion == 0 { return [] }
    let rollout = "fleet.\(everyCohort).rollout"
    return [
      Override(path: rollout + ".at", value: "0s"),
      Override(path: rollout + ".share", value: Units.text(partsPerMillion: partsPerMillion)),
      Override(path: rollout + ".settings", value: file),
    ]
  }

  /// The Settings file that it names; nil: none.
  public var settingsFile: String? {
    guard let keys = PathText.parse(path), let last = keys.last else { return nil }
    return last == Self.settingsPath ? tree.text : last == "rollout" ? tree[Self.settingsPath]?.text : nil
  }

  /// The client file that it names; nil: none.
  public var clientFile: String? {
    guard path.hasSuffix(Self.clientPath), let name = tree.text,
      ClientPreset.isFileName(name)
    else { return nil }
    return name
  }

  /// Returns the value that a normalised scenario has at a path, as it is written there without quotes. Returns nil where there
  /// is none, or where the cohorts that the path means have different ones.
  public static func value(at path: String, in normalisedJSON: String) -> String? {
    guard let scenario = try? JSON5Parser.parse(normalisedJSON) else { return nil }
    var keys = path.split(separator: ".").map(String.init)
    var places = [scenario]
    if ["settings", "policy", "client"].contains(keys.first) {
      // Every cohort has its own.
      guard let cohorts = scenario.member("fleet")?.elements else { return nil }
      places = cohorts
    }
    while !keys.isEmpty, !places.isEmpty {
      let key = keys.removeFirst()
      places = places.flatMap { place in
        key == everyCohort ? place.elements ?? [] : [place.member(key)].compactMap(\.self)
      }
    }
    let texts = Set(places.map(\.scalar))
    return texts.count == 1 ? texts.first ?? nil : nil
  }
}

extension PositionedValue {
  /// Returns the member that has that key, that number in a list, or that name.
  fileprivate func member(_ key: String) -> PositionedValue? {
    elements.map { elements in elements.place(of: key).map { elements[$0] } } ?? self[key]
  }

  fileprivate var scalar: String? {
    switch content {
    case .number(let text), .string(let text): text
    default: nil
    }
  }
}
