import ScenarioModel
import ShippedClients
import ShippedQuirks
import UploadRetry

/// What of a cohort decides how its Settings are read.
struct SettingsReaderKind: Hashable {
  var client: String
  var dialect: SettingsDialect
  var policy: ClientPolicy
  var defaults: HTTPConfig

  /// Two cohorts with the same key read the same out of the same Settings.
  var key: String {
    let name = defaults == ClientPreset.builtIn(client)?.settings ? client : "\(client) \(defaults)"
    return "\(policy.missingSection) \(policy.rateLimitingOff) \(name) \(dialect.rawValue)"
  }
}

extension SettingsDialect {
  /// Whether an `httpConfig` at the top goes before one under `integrations["Segment.io"]`.
  fileprivate var readsTopFirst: Bool { self != .analyticsSwift }
}

/// Settings for clients that read as a shipped SDK does.
extension SettingsTree {
  static let sectionName = "httpConfig"
  private static let integrationPath = ["integrations", "Segment.io", sectionName]
  private static let sections = ["rateLimitConfig", "backoffConfig"]

  /// Settings of a cohort that has none: the SDK's defaults, as if there were an `httpConfig` with nothing in it.
  static let defaults = PositionedValue(
    .object([
      .init(
        key: sectionName, keyPosition: .commandLine,
        value: PositionedValue(.object([]), at: .commandLine))
    ]), at: .commandLine)

  /// Where a client of that kind finds its section, or would.
  static func section(of tree: PositionedValue, in dialect: SettingsDialect) -> [String] {
    if dialect == .document { return section(of: tree) }
    let places = dialect.readsTopFirst ? [[sectionName], integrationPath] : [integrationPath, [sectionName]]
    return places.first { path in path.reduce(Optional(tree)) { $0?[$1] }.map { !$0.isNull } ?? false }
      ?? [sectionName]
  }

  /// Settings inside a scenario may leave `httpConfig` out, which no SDK does; nil: these do not.
  static func unfolded(_ tree: PositionedValue) -> PositionedValue? {
    guard let members = tree.members, tree[sectionName] == nil,
      integrationPath.reduce(Optional(tree), { $0?[$1] }) == nil,
      members.contains(where: { sections.contains($0.key) })
    else { return nil }
    var result = tree
    let inner = members.filter { sections.contains($0.key) }
    let section = PositionedValue(.object(inner), at: tree.position)
    result.content = .object(
      members.filter { !sections.contains($0.key) } + [
        .init(key: sectionName, keyPosition: tree.position, value: section)
      ])
    return result
  }

  /// The part of Settings that an SDK looks at, in numbers that a scenario can say again.
  static func source(_ tree: PositionedValue) -> SettingsValue {
    let names = [sectionName, "retryConfig"]
    func kept(_ node: PositionedValue, _ names: [String]) -> [(key: String, value: SettingsValue)] {
      (node.members ?? []).filter { names.contains($0.key) }.map {
        ($0.key, sayable(settingsValue($0.value)))
      }
    }
    var members = kept(tree, names + sections)
    if let segment = tree["integrations"]?["Segment.io"] {
      let inner = kept(segment, names)
      if !inner.isEmpty { members.append(("integrations", .object([("Segment.io", .object(inner))]))) }
    }
    return .object(members)
  }

  /// A number that is none is text to every SDK, and there is one zero.
  private static func sayable(_ value: SettingsValue) -> SettingsValue {
    switch value {
    case .number(let number) where number.isNaN: .string("NaN")
    case .number(0): .number(0)
    case .array(let elements): .array(elements.map(sayable))
    case .object(let members): .object(members.map { ($0.key, sayable($0.value)) })
    default: value
    }
  }
}

extension SettingsFinding {
  /// Whether a value that was given as an override cannot have been meant so.
  var spoilsOverride: Bool {
    switch effect {
    case .notRead, .repaired, .resetsValues: true
    case .legacy: !path.isEmpty
    case .readDifferently, .losesData, .endsProcess: false
    }
  }
}

extension ScenarioDecoder {
  /// The client, dialect and policy of a cohort without a word about what is wrong in them: how its Settings are read depends on
  /// them (S13), and problems are reported once, with the rest of the cohort.
  func settingsReader(of cohort: PositionedValue, in root: PositionedValue) -> SettingsReaderKind {
    var silent = ScenarioDecoder(sources: [])
    silent.clientFiles = clientFiles
    func value<Value>(_ name: String, _ kind: Kind<Value>) -> Value? {
      cohort[name].flatMap { kind.read(&silent, $0, "") }
    }
    let client = (cohort[Override.clientPath] ?? root[Override.clientPath]).flatMap {
      Kind<ClientPreset>.client.read(&silent, $0, "")
    }
    let preset = client ?? .tapiDocument
    var policy = preset.policy
    for node in [root["policy"], cohort["policy"]].compactMap(\.self) {
      _ = ClientPolicy.keys.read(&silent, node, "", into: &policy)
    }
    return SettingsReaderKind(
      client: preset.name, dialect: value("settingsDialect", .choice) ?? preset.dialect, policy: policy,
      defaults: preset.settings)
  }
}
