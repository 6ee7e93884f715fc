import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadRetry

/// The one key of Settings that the document and the CDN name differently: how long a rate limit may last in all.
package enum RateLimitDurationKey {
  static let document = "maxTotalBackoffDuration"
  static let served = "maxRateLimitDuration"
  private static let section = "rateLimitConfig."

  /// Both names of a path of Settings, the given one first; one of every other key.
  package static func names(of path: String) -> [String] {
    switch path {
    case section + document: [path, section + served]
    case section + served: [path, section + document]
    default: [path]
    }
  }
}

/// Settings as JSON to be published: in the shape that the CDN serves, and in the document's.
package struct SettingsDocument: Sendable {
  fileprivate(set) var tree: PositionedValue
  /// Whether it is a file as clients get it, and not written out or changed here, to be published.
  private(set) var isServed = false

  init(tree: PositionedValue, isServed: Bool = false) { (self.tree, self.isServed) = (tree, isServed) }

  /// The Settings written out in full.
  package init(_ config: HTTPConfig) { tree = PositionedValue(config.encoded()) }

  /// The numbers that a shipped SDK has by default, as far as it reads their keys.
  package init(_ defaults: HTTPConfig, readBy dialect: SettingsDialect) {
    let full = Self.renamed(
      PositionedValue(defaults.encoded()), RateLimitDurationKey.document, to: RateLimitDurationKey.served)
    let read = Set(dialect.readKeyPaths)
    let sections: [PositionedValue.Member] = (full.members ?? []).map { section in
      var section = section
      section.value.content = .object(
        (section.value.members ?? []).filter { read.contains("\(section.key).\($0.key)") })
      return section
    }
    tree = PositionedValue(.object(sections), at: .commandLine)
  }

  /// With `settings.…` overrides put in, wherever the section is; other overrides change nothing.
  package func setting(_ overrides: [Override]) -> SettingsDocument {
    var result = self
    result.isServed = false
    for override in overrides {
      guard let parts = PathText.parse(override.path), parts.first == "settings", parts.count > 1 else {
        continue
      }
      SettingsTree.set(Array(parts.dropFirst()), to: override.tree, in: &result.tree)
    }
    return result
  }

  /// As the CDN serves it: `integrations["Segment.io"].httpConfig`, everything else in the file as it was.
  package var cdnJSON: String { Self.text(cdnTree) }

  /// The path of what a client finds is that inside the section.
  package typealias Finding = (path: String, finding: SettingsFinding)

  /// Returns how a client of that kind reads these Settings when the CDN serves them, a file as it is.
  package func findings(in dialect: SettingsDialect) -> [Finding] {
    inside(dialect.decode(SettingsTree.settingsValue(served)).findings, dialect)
  }

  /// Returns what a client of that kind has of these Settings when the CDN serves them.
  package func config(in dialect: SettingsDialect) -> HTTPConfig {
    dialect.decode(SettingsTree.settingsValue(served)).config
  }

  /// Returns how one client reads them, with values that are allowed one by one and work against each other.
  package func findings(of client: ClientPreset, in dialect: SettingsDialect) -> [Finding] {
    var client = client
    client.settingsDialect = dialect
    return inside(client.findings(in: served), dialect)
  }

  /// The line of the file that has a path inside the section, or what it stands in; nil of what is no file as it was read.
  package func line(of path: String) -> Int? {
    let place = tree.deepest(SettingsTree.section(of: tree) + (PathText.parse(path) ?? [])).position
    return isServed && place.line > 0 ? Int(place.line) : nil
  }

  private var served: PositionedValue { isServed ? tree : cdnTree }

  private func inside(_ findings: [SettingsFinding], _ dialect: SettingsDialect) -> [Finding] {
    let section = SettingsTree.section(of: served, in: dialect)
    return findings.map { finding in
      let parts = PathText.parse(finding.path) ?? []
      let isInside = parts.starts(with: section)
      return (isInside ? parts.dropFirst(section.count).joined(separator: ".") : finding.path, finding)
    }
  }

  /// Whether a shipped client reads the same of these Settings as of what the CDN would serve.
  package func isPublishedAsRead(by dialect: SettingsDialect) -> Bool {
    dialect.decode(SettingsTree.settingsValue(tree)).config
      == dialect.decode(SettingsTree.settingsValue(cdnTree)).config
  }

  private var cdnTree: PositionedValue {
    let path = SettingsTree.section(of: tree)
    if path.first == "integrations" { return tree }
    let section = Self.renamed(section, RateLimitDurationKey.document, to: RateLimitDurationKey.served)
    return Self.nested(["integrations", "Segment.io", "httpConfig"], section)
  }

  /// As the document writes it: `httpConfig`.
  package var documentJSON: String {
    Self.text(
      Self.nested(
        ["httpConfig"], Self.renamed(section, RateLimitDurationKey.served, to: RateLimitDurationKey.document))
    )
  }

  private var section: PositionedValue {
    tree[path: SettingsTree.section(of: tree)] ?? .members([])
  }

  private static func nested(_ path: [String], _ value: PositionedValue) -> PositionedValue {
    path.reversed().reduce(value) { inner, key in .members([(key, inner)]) }
  }

  /// The rate limit's longest duration has one name in the document and another in what is served.
  private static func renamed(_ section: PositionedValue, _ name: String, to other: String) -> PositionedValue
  {
    var section = section
    guard var limit = section["rateLimitConfig"], var members = limit.members,
      let index = members.firstIndex(where: { $0.key == name })
    else { return section }
    members[index].key = other
    limit.content = .object(members)
    section.setMember("rateLimitConfig", to: limit)
    return section
  }

  /// Plain JSON: numbers that only JSON5 can write become ordinary ones.
  private static func text(_ tree: PositionedValue) -> String { JSONText.pretty(plain(tree)) + "\n" }

  private static func plain(_ node: PositionedValue) -> PositionedValue {
    switch node.content {
    case .number(let text):
      guard let first = text.utf8.first, let last = text.utf8.last else { return node }
      let isPlain =
        (Ascii.isDigit(first) || first == Ascii.minus) && Ascii.isDigit(last) && !text.hasPrefix("-.")
        && !text.contains("x") && !text.contains("X")
        && !(text.hasPrefix("0") && text.count > 1 && !text.hasPrefix("0."))
      if isPlain { return node }
      guard let exact = ExactDecimal(text), case .exact(let micro) = exact.times(1_000_000) else {
        return node
      }
      return PositionedValue(.number(Units.seconds(microseconds: micro)), at: node.position)
    case .array(let elements): return PositionedValue(.array(elements.map(plain)), at: node.position)
    case .object(let members):
      return PositionedValue(
        .object(members.map { .init(key: $0.key, keyPosition: $0.keyPosition, value: plain($0.value)) }),
        at: node.position)
    default: return node
    }
  }
}

extension ScenarioFile {
  /// The Settings that all cohorts start with, as they were written; nil if there are none or not the same for all.
  package var settingsDocument: SettingsDocument? {
    if let replacement { return SettingsDocument(tree: replacement, isServed: true) }
    var nodes: [PositionedValue?] = []
    if let cohorts = root["fleet"]?.elements {
      let decoder = newDecoder
      let fetching = cohorts.filter { decoder.settingsReader(of: $0, in: root).fetches }
      nodes = (fetching.isEmpty ? cohorts : fetching).map { $0["settings"] ?? root["settings"] }
    }
    guard let first = nodes.first, let node = first else { return nil }
    switch node.content {
    case .object:
      // Written out in each cohort, they are the same if their text is.
      let text = JSONText.compact(node)
      return nodes.allSatisfy { $0.map(JSONText.compact) == text } ? SettingsDocument(tree: node) : nil
    case .string(let name):
      let isShared = nodes.allSatisfy { other in
        if case .string(name)? = other?.content { true } else { false }
      }
      return isShared ? settingsFiles[name].map { SettingsDocument(tree: $0, isServed: true) } : nil
    default: return nil
    }
  }
}

/// The keys of Settings, which a search may change.
package enum SearchableSettings {
  /// The prefix of their paths.
  package static let prefix = "settings."

  /// Returns the value of a key, as an override would write it: its default where the Settings do not name it. Returns nil where
  /// it is not a single value.
  package static func value(of path: String, in config: HTTPConfig) -> String? {
    guard path.hasPrefix(prefix) else { return nil }
    if path == Override.jitterPath { return config.backoff.jitter.description }
    guard let parts = PathText.parse(String(path.dropFirst(prefix.count))) else { return nil }
    switch PositionedValue(config.encoded())[path: parts]?.content {
    case .number(let text), .string(let text): return text
    case .bool(let value): return "\(value)"
    default: return nil
    }
  }
}

extension ClientPreset {
  /// What it makes of Settings, those among them that are allowed one by one and work against each other.
  fileprivate func findings(in tree: PositionedValue) -> [SettingsFinding] {
    let value = SettingsTree.settingsValue(tree)
    let config = behaviour.settingsDialect.config(
      of: value, policy: behaviour.policy, defaults: behaviour.settingsDefaults)
    return behaviour.settingsDialect.decode(value, defaults: behaviour.settingsDefaults).findings
      + SettingsConsequences(preset: self).findings(of: config, in: tree)
  }
}

/// A Settings file as one client reads it.
package struct SettingsCheck: Sendable {
  /// The findings about the file, from its beginning to its end, and on which lines.
  package private(set) var findings: [(line: Int, finding: SettingsFinding)] = []

  /// Reads the text of a Settings file.
  /// - Throws: `ScenarioProblems` if it is no JSON5 object, or is named .json and no JSON.
  package init(text: String, name: String, client: ClientPreset) throws {
    let tree = try JSON5Parser.parse(text, file: name, "Settings are an object, { … }", isServed: true)
    guard client.settingsFetch != .never else {
      let message = "\(client.name) fetches no Settings: this file does not reach it"
      findings = [(1, SettingsFinding(path: "", effect: .notRead, message: message))]
      return
    }
    var found = client.findings(in: tree)
    if client.settingsDialect == .document, SettingsTree.holdsNothing(tree) {
      found.append(SettingsFinding(path: "", effect: .repaired, message: SettingsTree.nothingFound))
    }
    let placed = found.enumerated().map { order, finding in
      (order, position: tree.deepest(PathText.parse(finding.path) ?? []).position, finding: finding)
    }
    // In the order of the file; what stands in one place stays in the order in which it was found.
    findings = placed.sorted {
      ($0.position.line, $0.position.column, $0.0) < ($1.position.line, $1.position.column, $1.0)
    }.map { (Int($0.position.line), $0.finding) }
  }
}

extension SettingsDocument {
  /// A key that two Settings have differently.
  package struct Difference: Sendable, Hashable {
    /// From the section on: `backoffConfig.maxBackoffInterval`.
    package var path: String
    /// As written there; nil: not there.
    package var old: String?
    package var new: String?
  }

  /// Every key whose value is not the same in `other`, in its order here, then those that `other` alone has.
  package func differences(to other: SettingsDocument) -> [Difference] {
    ScenarioValues(Self.leaves(section)).changes(since: ScenarioValues(Self.leaves(other.section))).map {
      Difference(path: $0.path, old: $0.after, new: $0.before)
    }
  }

  /// Returns the key of which a path is most likely a slip: `backoffConfig.maxRetryCount` for `backoffConfig.maxRetryCont`.
  /// Returns nil for a key that there is, and for one that is like none.
  package static func correction(of path: String) -> String? {
    let names = RateLimitDurationKey.names(of: path)
    let known = HTTPConfig.knownKeyPaths.filter { $0.contains(".") }
    if known.contains(where: { key in names.contains { $0 == key || $0.hasPrefix(key + ".") } }) {
      return nil
    }
    let (parts, sections) = (path.split(separator: ".", maxSplits: 1).map(String.init), HTTPConfig.sections)
    guard let name = nearest(to: parts[0], among: sections.map(\.name)),
      let section = sections.first(where: { $0.name == name }), parts.count > 1 || name != path
    else { return nil }
    return parts.count > 1 ? nearest(to: parts[1], among: section.keys).map { "\(name).\($0)" } : name
  }

  /// With a key as it is in `other`: its value there, or none where `other` has none.
  package func taking(_ path: String, from other: SettingsDocument) -> SettingsDocument {
    let parts = path.split(separator: ".").map(String.init)
    var result = self
    result.isServed = false
    if let value = other.section[path: parts] {
      SettingsTree.set(parts, to: value, in: &result.tree)
    } else {
      result.tree = SettingsTree.removing((SettingsTree.section(of: tree) + parts)[...], from: tree)
    }
    return result
  }

  /// Whether there is no section with retry Settings in it: a file of something else.
  package var holdsNothing: Bool { SettingsTree.holdsNothing(tree) }

  private static func leaves(_ node: PositionedValue, _ path: String = "") -> [ScenarioValues.Value] {
    guard let members = node.members, !members.isEmpty else {
      return path.isEmpty ? [] : [.init(path: path, text: JSONText.compact(plain(node)))]
    }
    return members.flatMap { leaves($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") }
  }
}

extension Cohort {
  /// The values of its client where Settings name none.
  package var ownSettings: HTTPConfig {
    self.settingsDialect == .document
      ? preset.settingsDefaults
      : self.settingsDialect.decode(
        SettingsTree.settingsValue(SettingsTree.defaults), defaults: preset.settingsDefaults
      ).config
  }
}
