import ScenarioModel
import UploadRetry

/// A scenario file with everything it refers to, before overrides.
///
/// Text → positioned tree (`JSON5Parser`) → overrides (`Overriding`) → Settings of each cohort (`SettingsResolution`) →
/// `Scenario` (`ScenarioDecoder`). `ScenarioSchema` has the keys.
public struct ScenarioFile: Sendable {
  /// The result of `decode`.
  public struct Decoded: Sendable {
    public var scenario: Scenario
    /// Repairs of Settings and the like.
    public var warnings: [Diagnostic]
    /// The whole scenario as normalised JSON (for `run.json`), pretty-printed, two spaces. Without `compare`:
    /// it is one run's scenario. Written when it is asked for, as a search decodes hundreds and writes one.
    public var normalisedJSON: String { scenario.normalisedJSON }
    /// The `compare:` section: one axis per path, values as written.
    public var axes: [Axis]
    /// Its fleet before anything is made of it, and the overrides under which it was read.
    var fleet: FleetReading?
    /// Whether the fleet was read, not that of the scenario of which it is a variant.
    package var hasOwnFleet = true
  }
  public struct Axis: Sendable, Hashable {
    public var path: String
    public var values: [String]
    public init(path: String, values: [String]) {
      self.path = path
      self.values = values
    }
  }

  let root: PositionedValue
  private(set) var sources: [String]
  private(set) var replacement: PositionedValue?
  private var lacksReplacement = false
  /// Whether Settings for all cohorts reach only the clients that fetch any: they are a file that a CDN serves.
  package var isServed = false
  private(set) var settingsFiles: [String: PositionedValue] = [:]
  private(set) var clientFiles: [String: PositionedValue?] = [:]
  private var rateFiles: [String: [ArrivalRates.Row]] = [:]
  /// Problems of the files that the scenario refers to: reported with everything else by `decode`.
  private var fileProblems: [Diagnostic] = []

  /// Parses scenario text. `readFile` resolves paths in it (`settings: "settings.json"`, relative to the scenario) to text. It
  /// may throw an error, whose description is shown; it is called at most once a path. Problems of those files are reported by
  /// `decode`, with all the others.
  /// - Throws: `ScenarioProblems` if the scenario itself is no JSON5 object.
  public init(
    text: String, name: String, settingsText: (text: String, name: String)? = nil, isServed: Bool = false,
    readFile: (String) throws -> String
  ) throws {
    sources = [name]
    self.isServed = isServed
    root = try JSON5Parser.parse(text, file: name)
    guard root.members != nil else {
      let message = "a scenario is an object, { format: 1, … }; found \(root.kind)"
      throw JSON5Error(position: root.position, message: message).problems(in: name)
    }
    if let settingsText {
      replacement = parseSettings(settingsText.text, name: settingsText.name)
      lacksReplacement = replacement == nil
    }
    let publishing = PublishingActions(root)
    // Clients that a served file does not reach keep what the scenario gives them.
    let isReplaced = settingsText != nil && !isServed
    for (path, node) in FileReferences.settings(in: publishing.root, onlyCompared: isReplaced) {
      if let text = fileText(of: node, at: publishing.path(of: path) ?? path, with: readFile),
        let name = node.text
      {
        settingsFiles[name] = parseSettings(text, name: name)
      }
    }
    for (path, node) in FileReferences.clients(in: root) {
      if let text = fileText(of: node, at: path, with: readFile), let name = node.text {
        addClient(text, name: name)
      }
    }
    for (path, node) in FileReferences.rates(in: root) {
      if let text = fileText(of: node, at: path, with: readFile), let name = node.text {
        rateFiles[name] = parseRates(text, name: name)
      }
    }
  }

  /// Whether a client file of that name has been read, or could not be.
  public func hasClient(_ name: String) -> Bool { clientFiles.keys.contains(name) }

  /// Whether a Settings file of that name has been read, or could not be.
  public func hasSettings(_ name: String) -> Bool { settingsFiles.keys.contains(name) }

  /// Adds a Settings file that overrides name, with its contents. Problems in them are reported by `decode`, with everything
  /// else.
  public mutating func addSettings(_ text: String, name: String) {
    settingsFiles[name] = parseSettings(text, name: name)
  }

  /// The same scenario with these Settings for all cohorts, as if they were the file that it was read with.
  package func with(settings: SettingsDocument) -> ScenarioFile {
    var file = self
    (file.replacement, file.lacksReplacement) = (settings.tree, false)
    return file
  }

  /// Adds a client file that overrides name, with its contents. Problems in them are reported by `decode`, with everything else.
  public mutating func addClient(_ text: String, name: String) {
    clientFiles[name] = parseObject(
      text, name: name, isCalled: "a client is an object, { name: \"…\", switches: { … } }")
  }

  /// Applies overrides in order, then decodes.
  /// - `allowsUnread`: whether an override may be of a key of Settings that a cohort's client does not read.
  /// - `isVariant`: of a scenario that has been decoded before, so `compare` is not read again: with it, n variants took n² decodings.
  /// - `base`: the scenario with the first of the overrides; its fleet is not read again where the others leave it as it is.
  /// - Throws: `ScenarioProblems` with every problem there is, warnings last.
  public func decode(
    overrides: [Override] = [], allowsUnread: Bool = false, isVariant: Bool = false, of base: Decoded? = nil
  ) throws -> Decoded {
    var decoder = newDecoder
    for problem in fileProblems { decoder.add(problem) }
    decoder.fleetReading = base?.fleet.flatMap { $0.holds(under: overrides) ? $0 : nil }
    let hasOwnFleet = decoder.fleetReading == nil
    let scenario = scenario(overrides, &decoder, allowsUnread: allowsUnread)
    let fleet = decoder.fleetReading
    let axes = isVariant ? [] : axes(overrides, &decoder)
    let diagnostics = decoder.all
    guard !decoder.hasErrors, let scenario else {
      throw ScenarioProblems(
        diagnostics: diagnostics.filter { $0.severity == .error }
          + diagnostics.filter { $0.severity == .warning })
    }
    return Decoded(
      scenario: scenario, warnings: diagnostics, axes: axes, fleet: fleet, hasOwnFleet: hasOwnFleet)
  }

  private func scenario(
    _ overrides: [Override], _ decoder: inout ScenarioDecoder, allowsUnread: Bool = false
  ) -> Scenario? {
    var overriding = Overriding(root: root)
    for override in overrides { overriding.apply(override, reporting: &decoder) }
    let publishing = PublishingActions(overriding.root)
    decoder.publishing = publishing
    if let reading = decoder.fleetReading {
      for problem in reading.ofSettings { decoder.add(problem) }
      return decoder.scenario(publishing.root, settings: [])
    }
    let reported = decoder.diagnostics.count
    var resolution = SettingsResolution(
      replacement: replacement, files: settingsFiles, changes: overriding.settingsChanges,
      allowsUnread: allowsUnread, lacksReplacement: lacksReplacement, decoder: decoder)
    resolution.reachesOnlyFetching = isServed
    let settings = resolution.configs(of: publishing.root)
    decoder = resolution.decoder
    let ofSettings = Array(decoder.diagnostics[reported...])
    let scenario = decoder.scenario(publishing.root, settings: settings)
    decoder.fleetReading?.ofSettings = ofSettings
    decoder.fleetReading?.overrides = overrides
    // What is wrong has to be said with its number, which is not kept.
    if decoder.hasErrors || decoder.unreported > 0 { decoder.fleetReading = nil }
    return scenario
  }

  // MARK: Files

  /// The text of the file that a value names; nil after a problem.
  private mutating func fileText(
    of reference: PositionedValue, at path: String, with readFile: (String) throws -> String
  ) -> String? {
    guard let name = reference.text else { return nil }
    do {
      return try readFile(name)
    } catch {
      let reasons =
        (error as? ScenarioProblems)?.diagnostics.map(\.message).joined(separator: "; ") ?? "\(error)"
      fileProblems.append(
        Diagnostic(
          file: sources[0], line: Int(reference.position.line), column: Int(reference.position.column),
          path: path, message: "cannot read \(quoted(name)): \(reasons)"))
      return nil
    }
  }

  private mutating func parseRates(_ text: String, name: String) -> [ArrivalRates.Row]? {
    let table = ArrivalRateTable(text)
    for problem in table.problems {
      fileProblems.append(Diagnostic(file: name, line: problem.line, message: problem.message))
    }
    return table.problems.isEmpty ? table.rows : nil
  }

  var newDecoder: ScenarioDecoder {
    var decoder = ScenarioDecoder(sources: sources)
    decoder.rateFiles = rateFiles
    decoder.clientFiles = clientFiles.compactMapValues(\.self)
    return decoder
  }

  /// Bad values in Settings are repaired, but a file that is no JSON object is no Settings at all.
  private mutating func parseSettings(_ text: String, name: String) -> PositionedValue? {
    parseObject(text, name: name, isCalled: "Settings are an object, { … }")
  }

  private mutating func parseObject(_ text: String, name: String, isCalled what: String) -> PositionedValue? {
    sources.append(name)
    do throws(JSON5Error) {
      let tree = try JSON5Parser.parse(text, source: Int32(sources.count - 1))
      if tree.members != nil { return tree }
      throw JSON5Error(position: tree.position, message: "\(what); found \(tree.kind)")
    } catch {
      fileProblems += error.problems(in: name).diagnostics
      return nil
    }
  }

  // MARK: Axes

  private static let maximumAxisValues = 200

  /// Reads `compare`, and decodes the scenario once for every value in it.
  private func axes(_ overrides: [Override], _ decoder: inout ScenarioDecoder) -> [Axis] {
    guard let compare = root["compare"] else { return [] }
    guard let members = compare.members else {
      decoder.report(
        "expected an object of paths and lists of values, found \(decoder.describe(compare))",
        at: compare.position, "compare")
      return []
    }
    var base = newDecoder
    _ = scenario(overrides, &base)
    let known = Set(base.diagnostics)
    let fleet = base.fleetReading
    var axes: [Axis] = []
    var total = 0
    for member in members {
      let path = "compare[\(quoted(member.key))]"
      guard let elements = Self.axisElements(member.key, member.value), !elements.isEmpty else {
        decoder.report(
          "expected a list of at least one value, found "
            + (member.value.isEmptyList ? "an empty one" : decoder.describe(member.value)),
          at: member.value.position, path)
        continue
      }
      total += elements.count
      guard total <= Self.maximumAxisValues else {
        decoder.report(
          "more than \(Self.maximumAxisValues) values to compare", at: member.value.position, "compare")
        break
      }
      var values: [String] = []
      for (index, element) in elements.enumerated() {
        let value = Self.axisText(element)
        if let first = values.firstIndex(of: value) {
          decoder.report("the same as value \(first)", at: element.position, "\(path)[\(index)]")
        }
        values.append(value)
        check(
          Override.choosing(member.key, value), overrides, element.position, "\(path)[\(index)]", known,
          fleet, &decoder)
      }
      axes.append(Axis(path: member.key, values: values))
    }
    return axes
  }

  /// The values of a list; of a client, `"all"` stands for the list of those that ship.
  private static func axisElements(_ path: String, _ value: PositionedValue) -> [PositionedValue]? {
    if case .array(let elements) = value.content { return elements }
    guard case .string("all") = value.content, path.split(separator: ".").last == "client" else { return nil }
    return ClientPreset.names.map { PositionedValue(.string($0), at: value.position) }
  }

  /// Returns the value of `--set path=…`: text without quotes, unless it would then be taken for something else.
  private static func axisText(_ element: PositionedValue) -> String {
    guard let text = element.text else { return JSONText.compact(element) }
    return (try? JSON5Parser.parse(text)) == nil ? text : text.asJSON
  }

  /// Reports what is wrong with the scenario with this override, and is not without it.
  private func check(
    _ choice: [Override], _ overrides: [Override], _ position: Position, _ path: String,
    _ known: Set<Diagnostic>, _ fleet: FleetReading?, _ decoder: inout ScenarioDecoder
  ) {
    var trial = newDecoder
    trial.fleetReading = fleet.flatMap { $0.holds(under: overrides + choice) ? $0 : nil }
    _ = scenario(overrides + choice, &trial)
    for problem in trial.diagnostics where problem.severity == .error && !known.contains(problem) {
      let place = problem.path == choice[0].path || problem.path.isEmpty ? "" : problem.path + ": "
      decoder.report(place + problem.message, at: position, path)
    }
  }
}

/// A fleet that has been read, with what there was to say of it.
struct FleetReading: Sendable {
  /// Keys of a scenario on which nothing in a fleet depends.
  private static let others: Set = ["tapi", "seed", "question", "interval", "push", "scale"]

  var cohorts: [Cohort]
  var diagnostics: [Diagnostic]
  /// Said of its Settings, before anything else.
  var ofSettings: [Diagnostic] = []
  /// It was read under these.
  var overrides: [Override] = []

  /// Whether it is read the same under these overrides: those under which it was read, and some of other things.
  func holds(under overrides: [Override]) -> Bool {
    overrides.starts(with: self.overrides)
      && overrides.dropFirst(self.overrides.count).allSatisfy { override in
        PathText.parse(override.path)?.first.map(Self.others.contains) ?? false
      }
  }
}

extension PositionedValue {
  fileprivate var isEmptyList: Bool {
    if case .array(let elements) = content { elements.isEmpty } else { false }
  }
}

/// The other files that a scenario names.
enum FileReferences {
  typealias Reference = (path: String, node: PositionedValue)

  /// The names of Settings files in the scenario, each once, with where it first stands. `onlyCompared`: the
  /// Settings that cohorts start with are replaced, so their files are not read.
  static func settings(in root: PositionedValue, onlyCompared: Bool) -> [Reference] {
    let start = onlyCompared ? [] : [["settings"]]
    return values(
      in: root, atRoot: start, ofCohorts: start + [["rollout", "settings"]],
      compared: [["settings"], ["rollout", "settings"]])
  }

  /// The names of client files, each once, with where it first stands.
  static func clients(in root: PositionedValue) -> [Reference] {
    let paths = [["client"]]
    return values(in: root, atRoot: paths, ofCohorts: paths, compared: paths)
      .filter { ClientPreset.isFileName($0.node.text ?? "") }
  }

  /// The names of files with arrival rates, each once, with where it first stands.
  static func rates(in root: PositionedValue) -> [Reference] {
    let paths = [["events", "csv"]]
    return values(in: root, atRoot: [], ofCohorts: paths, compared: paths)
      .filter { !ArrivalRateTable.isTable($0.node) }
  }

  /// The texts at these paths of the scenario and of its cohorts, and those that `compare` puts there; each once.
  private static func values(
    in root: PositionedValue, atRoot: [[String]], ofCohorts: [[String]], compared: [[String]]
  ) -> [Reference] {
    var values: [(path: String, node: PositionedValue?)] = []
    func add(_ path: some Sequence<String>, of node: PositionedValue, _ place: String) {
      let path = Array(path)
      let places = (place.isEmpty ? [] : [place]) + path
      values.append((places.joined(separator: "."), path.reduce(Optional(node)) { $0?[$1] }))
    }
    for path in atRoot { add(path, of: root, "") }
    let cohorts = root["fleet"]?.elements ?? []
    for (index, cohort) in cohorts.enumerated() {
      for path in ofCohorts { add(path, of: cohort, ScenarioPaths.cohort(index, of: cohorts)) }
    }
    for axis in root["compare"]?.members ?? [] {
      let parts = PathText.parse(axis.key) ?? []
      let rest = parts.first == "fleet" && parts.count > 2 ? Array(parts[2...]) : parts
      for (index, element) in (axis.value.elements ?? []).enumerated() {
        for path in compared where !rest.isEmpty && path.starts(with: rest) {
          add(path.dropFirst(rest.count), of: element, "compare[\(quoted(axis.key))][\(index)]")
        }
      }
    }
    var seen: Set<String> = []
    return values.compactMap { path, node in
      guard let node, let name = node.text, seen.insert(name).inserted else { return nil }
      return (path, node)
    }
  }
}
