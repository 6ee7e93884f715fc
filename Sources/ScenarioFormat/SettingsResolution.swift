import ScenarioModel
import ShippedClients
import ShippedQuirks
import UploadRetry

/// The Settings of one cohort: those that it starts with, and those that its rollout publishes.
struct CohortSettings {
  var base = PublishedSettings()
  /// nil: the cohort has no rollout, or one without usable Settings, which has been reported.
  var rollout: PublishedSettings?
}

/// The Settings of each cohort (S13), with the changes of `--set` and the repairs that they needed (S14).
///
/// A value in a file that needs a repair is a warning, as an SDK would do. One that was given as an override is an error: a user
/// who runs `compare` on a strategy that does not exist wants to know. One that only some clients read is a warning, too.
struct SettingsResolution {
  /// `--settings FILE`: replaces what the scenario says.
  var replacement: PositionedValue?
  /// The files that the scenario names, by name.
  var files: [String: PositionedValue]
  var changes: [SettingsChange]
  /// Whether an override of what a cohort's client does not read is no error: one file is published for all of a fleet.
  var allowsUnread: Bool
  /// Whether `--settings` named what is no Settings, which has been reported: nothing more can be said of any.
  var lacksReplacement: Bool
  /// Collects what is to be said.
  var decoder: ScenarioDecoder
  var decoded: [String: PublishedSettings] = [:]
  var reported: Set<Diagnostic> = []
  /// Problems of the files that `replacement` stands for: reported where a cohort keeps its own.
  var problemsOfReplaced: [Diagnostic] = []
  /// How those clients read Settings that a key for all reaches.
  var dialects: Set<SettingsDialect> = []
  /// Paths of overrides of which it has been said that a client does not read them.
  var unread: Set<String> = []

  /// Settings as they stand somewhere, and the prefix that their paths have in messages; it is empty in a file.
  private typealias Settings = (tree: PositionedValue, prefix: String)

  /// Settings on their way to a client.
  private struct Version {
    var tree: PositionedValue
    let prefix: String
    let changes: [SettingsChange]
    let client: ClientPreset
    /// Whether `httpConfig` has been put round them. Only what stands in the scenario may leave it out, not a file that is published.
    let isUnfolded: Bool

    init(_ settings: Settings, _ changes: [SettingsChange], _ client: ClientPreset) {
      let mayLeaveOut = client.settingsDialect != .document && !settings.prefix.isEmpty
      let unfolded = mayLeaveOut ? SettingsTree.unfolded(settings.tree) : nil
      (tree, prefix, isUnfolded) = (unfolded ?? settings.tree, settings.prefix, unfolded != nil)
      (self.changes, self.client) = (changes, client)
    }
  }

  /// The Settings of every cohort, in order.
  mutating func configs(of root: PositionedValue) -> [CohortSettings] {
    guard let cohorts = root["fleet"]?.elements else {
      // Still say what is wrong with the Settings.
      if let node = root["settings"] { _ = tree(node, "settings") }
      return []
    }
    let readers = cohorts.map { decoder.settingsReader(of: $0, in: root) }
    // Where no client fetches Settings, keys for all are those of the clients' code.
    let keysReachAll = !readers.contains(where: \.fetches)
    dialects = Set(readers.filter { $0.fetches || keysReachAll }.map(\.settingsDialect))
    if replacement != nil, !readers.allSatisfy(\.fetches) {
      for problem in problemsOfReplaced { decoder.add(problem) }
    }
    var configs: [CohortSettings] = []
    for (index, cohort) in cohorts.enumerated() {
      let isOwn = cohort["settings"] != nil
      let place = isOwn ? ScenarioPaths.cohort(index, of: cohorts) + ".settings" : "settings"
      let node = cohort["settings"] ?? root["settings"]
      let client = readers[index]
      let targeted = changes.contains { $0.cohort == index && !$0.isOfRollout }
      var key: String? = targeted || isOwn ? nil : "shared"
      if !targeted, isOwn, let name = node?.text { key = "file " + name }
      key?.append(" " + client.readingKey)
      let ofCohort = changes.filter { change in
        change.cohort == index
          || change.cohort == nil && (client.fetches || keysReachAll && !change.isOfFile)
      }
      var settings = CohortSettings()
      if let key, let version = decoded[key] {
        settings.base = version
      } else {
        settings.base = base(
          node, place, ofCohort.filter { !$0.isOfRollout }, client,
          declaredAt: (node ?? cohort).position)
        if let key { decoded[key] = settings.base }
      }
      let published = decoder.publications[index]
      if let node = published?.node["settings"] ?? cohort["rollout"]?["settings"] {
        let place = published?.path ?? ScenarioPaths.cohort(index, of: cohorts) + ".rollout"
        let isOfAll = changes.contains { $0.cohort == index && $0.isOfRollout && $0.isOfEveryCohort }
        settings.rollout =
          isOfAll && !client.fetches
          ? settings.base : rollout(node, place + ".settings", cohort: index, client)
      }
      configs.append(settings)
    }
    return configs
  }

  private mutating func base(
    _ node: PositionedValue?, _ place: String, _ changes: [SettingsChange], _ client: ClientPreset,
    declaredAt position: Position
  ) -> PublishedSettings {
    let replacement = client.fetches ? replacement : nil
    let none =
      client.settingsDialect == .document
      ? .members([]) : SettingsTree.defaults
    let own = node.flatMap { tree($0, place) }
    // Unusable Settings have been reported; a warning about their stand-in would be false.
    if replacement == nil, lacksReplacement || (node != nil && own == nil) {
      return PublishedSettings(config: client.settingsDefaults)
    }
    var settings = own ?? (tree: none, prefix: place)
    if let replacement { settings = (replacement, "") }
    return version(settings, changes, client, declaredAt: position)
  }

  /// The Settings of a rollout are a version of their own: nothing in them comes from the ones before.
  private mutating func rollout(
    _ node: PositionedValue, _ place: String, cohort: Int, _ client: ClientPreset
  ) -> PublishedSettings? {
    let changes = changes.filter { $0.cohort == cohort && $0.isOfRollout }
    guard let settings = tree(node, place) else { return nil }
    return version(settings, changes, client, declaredAt: node.position)
  }

  private mutating func version(
    _ original: Settings, _ changes: [SettingsChange], _ client: ClientPreset,
    declaredAt position: Position
  ) -> PublishedSettings {
    var settings = Version(original, changes, client)
    for change in changes {
      if !change.parts.isEmpty {
        SettingsTree.set(change.parts, to: change.value, in: &settings.tree, as: client.settingsDialect)
      } else if let whole = tree(change.value, change.path) {
        settings = Version(whole, changes, client)
      }
    }
    let value = SettingsTree.settingsValue(settings.tree)
    if client.settingsDialect != .document {
      for finding in client.settingsDialect.decode(value, defaults: client.settingsDefaults).findings {
        report(finding, in: settings)
      }
      let source = SettingsTree.source(settings.tree)
      let config = client.settingsDialect.decode(source, defaults: client.settingsDefaults).config
      reportConsequences(of: config, in: settings)
      return PublishedSettings(config: config, source: source)
    }
    let policy = client.policy
    let (config, repairs) = HTTPConfig.decode(
      value, missingSection: policy.missingSection, overrides429: policy.overridden429 != .ignored,
      // What stands in the scenario is in the code of a client that asks for nothing.
      isBounded: client.fetches || settings.prefix.isEmpty, defaults: client.settingsDefaults)
    for repair in repairs {
      let (position, path, _) = place(of: repair.path, in: settings)
      if SettingsTree.isNone(PathText.parse(repair.path) ?? [], in: settings.tree) {
        add(SettingsTree.noneIsBounded, at: position, path)
        continue
      }
      let isOverride = position == .commandLine
      add(
        isOverride ? Self.withoutRemedy(repair.message) : repair.message, at: position, path,
        isOverride ? .error : .warning)
    }
    reportConsequences(of: config, in: settings)
    let missing =
      Self.whatIsMissing(in: value, config, policy, client.settingsDefaults)
      ?? (SettingsTree.holdsNothing(original.tree) ? SettingsTree.nothingFound : nil)
    if let missing {
      let isCommandLine = settings.tree.position == .commandLine
      let path = settings.prefix.isEmpty ? "httpConfig" : settings.prefix
      add(missing, at: isCommandLine ? position : settings.tree.position, path, .warning)
    }
    if config.backoff.jitter.additivePercent != nil { return PublishedSettings(config: config) }
    if let change = changes.last(where: { $0.parts == ["backoffConfig", "jitterPercent"] }) {
      let message = "has no effect: jitterStrategy is \(config.backoff.jitter)"
      add(message, at: .commandLine, change.path, .warning)
    }
    return PublishedSettings(config: config)
  }

  private mutating func report(_ finding: SettingsFinding, in settings: Version) {
    let (position, path, change) = place(of: finding.path, in: settings)
    let isUnread = finding.effect == .notRead
    let key = change?.parts.joined(separator: ".")
    let isRead = change?.cohort == nil && dialects.contains { key.map($0.reads) ?? false }
    let isAllowed = isUnread && (allowsUnread || isRead)
    let isError = position == .commandLine && finding.spoilsOverride && !isAllowed
    var message = finding.message
    if isError, isUnread, let change {
      // Once of a key, however many clients do not read it.
      guard unread.insert(change.path).inserted else { return }
      let conclusion = "; no client of this fleet reads it: this key of the CDN is useless to you"
      message += change.cohort == nil ? conclusion : ""
      message += " (what it would do: --set 'fleet.*.settingsDialect=document')"
    }
    add(message, at: position, path, isError ? .error : .warning)
  }

  private mutating func reportConsequences(of config: HTTPConfig, in settings: Version) {
    for finding in SettingsConsequences(preset: settings.client).findings(of: config, in: settings.tree) {
      report(finding, in: settings)
    }
  }

  /// Where a value of Settings stands, its path for messages, and the change that gave it.
  private func place(
    of path: String, in settings: Version
  ) -> (position: Position, path: String, change: SettingsChange?) {
    let parts = PathText.parse(path) ?? []
    let position = settings.tree.deepest(parts).position
    let section = SettingsTree.section(of: settings.tree, in: settings.client.settingsDialect)
    let change = settings.changes.last { !$0.parts.isEmpty && parts.starts(with: section + $0.parts) }
    if position == .commandLine, let changed = change?.path ?? settings.changes.last?.path {
      return (position, changed, change)
    }
    if settings.prefix.isEmpty { return (position, path, change) }
    if position == .commandLine { return (position, settings.prefix, change) }
    var inner = path[...]
    if settings.isUnfolded, parts.first == SettingsTree.sectionName {
      inner = inner.dropFirst(SettingsTree.sectionName.count + (parts.count > 1 ? 1 : 0))
    }
    let separator = inner.isEmpty || inner.hasPrefix("[") ? "" : "."
    return (position, settings.prefix + separator + inner, change)
  }

  /// What is behind a `settings` value.
  private mutating func tree(_ node: PositionedValue, _ place: String) -> Settings? {
    switch node.content {
    case .object: return (node, place)
    case .string(let name):
      if let tree = files[name] { return (tree, "") }
      // A file that could not be read has been reported; one that no one knew of comes from the command line.
      if node.position == .commandLine {
        let isOfRollout = place.hasSuffix(".rollout.settings") || place.hasPrefix("actions.")
        let remedy = isOfRollout ? "name the file in the scenario" : "give the file with --settings"
        add("\(quoted(name)) was not read; \(remedy)", at: node.position, place)
      }
    default:
      let message =
        "expected the name of a Settings file or the Settings themselves, found \(decoder.describe(node))"
      add(message, at: node.position, place)
    }
    return nil
  }

  /// Sections that the client takes as switched off because they are not there (S13); nil: none.
  private static func whatIsMissing(
    in value: SettingsValue, _ config: HTTPConfig, _ policy: ClientPolicy, _ defaults: HTTPConfig
  ) -> String? {
    let wouldBe = HTTPConfig.decode(value, missingSection: .defaultsOn, defaults: defaults).config
    var missing: [String] = []
    if config.backoff.isEnabled != wouldBe.backoff.isEnabled {
      missing.append("backoffConfig (a failed batch is tried again at every flush, without waits or limits)")
    }
    if config.rateLimit.isEnabled != wouldBe.rateLimit.isEnabled {
      let effect = policy.rateLimitingOff == .drop ? "a 429 drops its batch" : "a 429 makes nothing wait"
      missing.append("rateLimitConfig (\(effect))")
    }
    if missing.isEmpty { return nil }
    return "no " + missing.joined(separator: ", no ")
      + ": with missingSection \"off\" (fleetsim presets) a missing section is switched off; write {} to switch it on with its defaults"
  }

  private mutating func add(
    _ message: String, at position: Position, _ path: String,
    _ severity: Diagnostic.Severity = .error
  ) {
    let diagnostic = Diagnostic(
      severity: severity, file: ScenarioDecoder.name(of: position, in: decoder.sources),
      line: Int(position.line), path: path, message: message)
    if reported.insert(diagnostic).inserted { decoder.add(severity, message, at: position, path) }
  }

  /// A repair says last what is used instead; for an error nothing is.
  static func withoutRemedy(_ message: String) -> String {
    guard message.hasSuffix(" is used") || message.hasSuffix(" is ignored") || message.hasSuffix(" are used")
    else {
      return message
    }
    if let question = message.lastIndex(of: "?") { return String(message[...question]) }
    guard let semicolon = message.lastIndex(of: ";") else { return message }
    return String(message[..<semicolon])
  }
}

/// Settings as a positioned tree.
package enum SettingsTree {
  /// Where the section with `rateLimitConfig` and `backoffConfig` is: `HTTPConfig.decode` takes the first of
  /// these.
  static func section(of tree: PositionedValue) -> [String] {
    let names = ["httpConfig", "retryConfig"]
    for name in names where tree[name]?.members != nil { return [name] }
    if let segment = tree["integrations"]?["Segment.io"] {
      for name in names where segment[name]?.members != nil { return ["integrations", "Segment.io", name] }
    }
    return tree["rateLimitConfig"] != nil || tree["backoffConfig"] != nil || tree.members?.isEmpty ?? true
      ? [] : ["httpConfig"]
  }

  /// Whether there is something, and no section in any of these places: a file of something else, or a name misspelt.
  static func holdsNothing(_ tree: PositionedValue) -> Bool {
    guard let members = tree.members, !members.isEmpty else { return false }
    return section(of: tree) == ["httpConfig"] && tree["httpConfig"] == nil
  }

  /// The message that there is no such section, and where it would be.
  package static let nothingFound =
    "no retry settings here: neither httpConfig nor integrations[\"Segment.io\"].httpConfig nor rateLimitConfig or "
    + "backoffConfig; the client's defaults are used"

  /// Puts a value into the section, wherever that is.
  static func set(
    _ parts: [String], to value: PositionedValue, in tree: inout PositionedValue,
    as dialect: SettingsDialect = .document
  ) {
    tree = setting(tree, (section(of: tree, in: dialect) + parts)[...], value)
  }

  private static func setting(
    _ node: PositionedValue?, _ parts: ArraySlice<String>, _ value: PositionedValue
  ) -> PositionedValue {
    guard let part = parts.first else { return value }
    var object = node?.members == nil ? .members([]) : node!
    if parts.count == 1 { object.removeSecondNames(of: part) }
    object.setMember(part, to: setting(object[part], parts.dropFirst(), value))
    return object
  }

  /// The tree with a value taken out, if it is there, and an object that is empty then.
  static func removing(_ parts: ArraySlice<String>, from node: PositionedValue) -> PositionedValue {
    guard let part = parts.first, let old = node[part] else { return node }
    let new = removing(parts.dropFirst(), from: old)
    if parts.count == 1 || new.members?.isEmpty ?? false { return node.taking([part], from: .null) }
    var object = node
    object.setMember(part, to: new)
    return object
  }

  /// Whether a limit is to be `"none"`.
  static func isNone(_ parts: [String], in tree: PositionedValue) -> Bool {
    guard let key = parts.last,
      ["maxRetryCount", "maxTotalBackoffDuration", "maxRateLimitDuration"].contains(key)
    else { return false }
    return tree[path: parts]?.text == "none"
  }

  /// What is said of one in Settings.
  static let noneIsBounded =
    "no Settings may say \"none\": retries are 0 to 1000, ages 0 to 604800 s. It is for a client that asks for none "
    + "(settingsFetch: \"never\"), in its file or the scenario"

  package static func settingsValue(_ node: PositionedValue) -> SettingsValue {
    switch node.content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let text): .number(Double(text) ?? .nan)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(settingsValue))
    case .object(let members): .object(members.map { ($0.key, settingsValue($0.value)) })
    }
  }
}

extension PositionedValue {
  /// Some keys of Settings say the same under two names; a change of the one takes the other's place.
  fileprivate mutating func removeSecondNames(of key: String) {
    switch key {
    case RateLimitDurationKey.document: self = taking([RateLimitDurationKey.served], from: .null)
    case RateLimitDurationKey.served: self = taking([RateLimitDurationKey.document], from: .null)
    case "jitterPercent" where self["jitterStrategy"]?.text?.hasPrefix("additive") ?? false:
      self = taking(["jitterStrategy"], from: .null)
    default: break
    }
  }
}

extension ClientPreset {
  /// Whether it asks for its Settings.
  var fetches: Bool { behaviour.settingsFetch != .never }

  /// Two cohorts with the same key read the same out of the same Settings.
  fileprivate var readingKey: String {
    let isUsual = behaviour.settingsDefaults == Self.builtIn(name)?.behaviour.settingsDefaults
    let (policy, dialect) = (behaviour.policy, behaviour.settingsDialect.rawValue)
    return
      "\(policy.missingSection) \(policy.rateLimitingOff) \(isUsual ? name : "\(name) \(behaviour.settingsDefaults)") "
      + "\(dialect) \(fetches)"
  }
}

/// Settings for clients that read as a shipped SDK does.
extension SettingsTree {
  static let sectionName = "httpConfig"
  private static let integrationPath = ["integrations", "Segment.io", sectionName]
  private static let sections: Set = ["rateLimitConfig", "backoffConfig"]

  /// Settings of a cohort that has none: the SDK's defaults, as if there were an `httpConfig` with nothing in it.
  static let defaults = PositionedValue.members([(sectionName, .members([]))])

  /// Where a client of that kind finds its section, or would.
  static func section(of tree: PositionedValue, in dialect: SettingsDialect) -> [String] {
    if dialect == .document { return section(of: tree) }
    let top = [sectionName]
    let places = dialect == .analyticsSwift ? [integrationPath, top] : [top, integrationPath]
    return places.first { tree[path: $0].map { !$0.isNull } ?? false }
      ?? [sectionName]
  }

  /// Settings inside a scenario may leave `httpConfig` out, which no SDK does; nil: these do not.
  static func unfolded(_ tree: PositionedValue) -> PositionedValue? {
    guard let members = tree.members, tree[sectionName] == nil,
      tree[path: integrationPath] == nil,
      members.contains(where: { sections.contains($0.key) })
    else { return nil }
    var result = tree.taking(sections, from: .null)
    result.setMember(
      sectionName, to: PositionedValue(.object([]), at: tree.position).taking(sections, from: tree))
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

extension SettingsDialect {
  /// Whether this client reads a key of a section, or the object that it is in.
  package func reads(_ key: String) -> Bool {
    readKeyPaths.contains { $0 == key || $0.contains(".") && key.hasPrefix($0 + ".") }
  }
}

extension SettingsFinding {
  /// Whether a value that was given as an override cannot have been meant so.
  var spoilsOverride: Bool {
    switch effect {
    case .notRead, .repaired, .resetsValues: true
    case .legacy: !path.isEmpty
    case .readDifferently, .contradicts, .losesData, .endsProcess: false
    }
  }
}

extension ScenarioDecoder {
  /// Returns the client of a cohort, with what the cohort changes in the way it reads Settings, without a word about problems. How
  /// its Settings are read depends on that (S13), and problems are reported once, with the rest of the cohort.
  func settingsReader(of cohort: PositionedValue, in root: PositionedValue) -> ClientPreset {
    var silent = ScenarioDecoder(sources: [])
    silent.clientFiles = clientFiles
    let named = (cohort[Override.clientPath] ?? root[Override.clientPath]).flatMap {
      Kind<ClientPreset>.client.read(&silent, $0, "")
    }
    var client = named ?? .tapiDocument
    for node in [root["policy"], cohort["policy"]].compactMap(\.self) {
      _ = ClientPolicy.keys.read(&silent, node, "", into: &client.behaviour.policy)
    }
    let dialect = cohort["settingsDialect"].flatMap { Kind<SettingsDialect>.choice.read(&silent, $0, "") }
    let fetch = cohort["settingsFetch"].flatMap { Kind<SettingsFetch>.choice.read(&silent, $0, "") }
    if let dialect { client.behaviour.settingsDialect = dialect }
    if let fetch { client.behaviour.settingsFetch = fetch }
    return client
  }
}
