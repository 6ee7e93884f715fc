import ScenarioModel
import Synchronization
import TAPIModel
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
    /// What was read of it and of its variants.
    let readings: Readings
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
  private(set) var settingsFiles: [String: PositionedValue] = [:]
  private(set) var clientFiles: [String: PositionedValue?] = [:]
  private var rateFiles: [String: [ArrivalRates.Row]] = [:]
  /// Problems of the files that the scenario refers to: reported with everything else by `decode`.
  private var fileProblems: [Diagnostic] = []
  /// Problems of the files that `--settings` replaces: reported where a cohort keeps its own.
  private var problemsOfReplaced: [Diagnostic] = []

  /// Parses scenario text. `readFile` resolves paths in it (`settings: "settings.json"`, relative to the scenario) to text. It
  /// may throw an error, whose description is shown; it is called at most once a path. Problems of those files are reported by
  /// `decode`, with all the others.
  /// - Throws: `ScenarioProblems` if the scenario itself is no JSON5 object.
  public init(
    text: String, name: String, settingsText: (text: String, name: String)? = nil,
    readFile: (String) throws -> String
  ) throws {
    sources = [name]
    root = try JSON5Parser.parse(text, file: name, "a scenario is an object, { format: 1, … }")
    if let settingsText {
      replacement = parseSettings(settingsText.text, name: settingsText.name)
      lacksReplacement = replacement == nil
    }
    let references = FileReferences.settings(in: root, onlyCompared: settingsText != nil)
    read(references, with: readFile) { $0.addSettings($1, name: $2) }
    if settingsText != nil {
      // Clients that a file does not reach keep what the scenario gives them.
      let (known, read) = (fileProblems.count, Set(references.map(\.node.text)))
      let replaced = FileReferences.settings(in: root, onlyCompared: false)
      self.read(replaced.filter { !read.contains($0.node.text) }, with: readFile) {
        $0.addSettings($1, name: $2)
      }
      problemsOfReplaced = Array(fileProblems[known...])
      fileProblems.removeSubrange(known...)
    }
    self.read(FileReferences.clients(in: root), with: readFile) { $0.addClient($1, name: $2) }
    self.read(FileReferences.rates(in: root), with: readFile) {
      $0.rateFiles[$2] = $0.parseRates($1, name: $2)
    }
  }

  /// Reads the files that values name, and adds each with its text and its name; problems are kept.
  private mutating func read(
    _ references: [FileReferences.Reference], with readFile: (String) throws -> String,
    _ add: (inout ScenarioFile, String, String) -> Void
  ) {
    for (path, node) in references {
      guard let name = node.text else { continue }
      do {
        add(&self, try readFile(name), name)
      } catch {
        let reasons =
          (error as? ScenarioProblems)?.diagnostics.map(\.message).joined(separator: "; ") ?? "\(error)"
        fileProblems.append(
          Diagnostic(
            file: sources[0], line: Int(node.position.line), column: Int(node.position.column),
            path: path, message: "cannot read \(quoted(name)): \(reasons)"))
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

  /// Returns this scenario with these Settings for all cohorts, as if they were the file that it was read with.
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
  /// - `base`: a scenario of this file; what it and its variants have in common with this one is not read again.
  /// - Throws: `ScenarioProblems` with every problem there is, warnings last.
  public func decode(
    overrides: [Override] = [], allowsUnread: Bool = false, isVariant: Bool = false, of base: Decoded? = nil
  ) throws -> Decoded {
    var decoder = newDecoder
    for problem in fileProblems { decoder.add(problem) }
    let readings = base?.readings ?? Readings()
    let (scenario, hasOwnFleet) = scenario(overrides, &decoder, readings, allowsUnread: allowsUnread)
    let axes = isVariant ? [] : axes(overrides, &decoder)
    let diagnostics = decoder.all
    guard !decoder.hasErrors, let scenario else {
      throw ScenarioProblems(
        diagnostics: diagnostics.filter { $0.severity == .error }
          + diagnostics.filter { $0.severity == .warning })
    }
    return Decoded(
      scenario: scenario, warnings: diagnostics, axes: axes, readings: readings, hasOwnFleet: hasOwnFleet)
  }

  private func scenario(
    _ overrides: [Override], _ decoder: inout ScenarioDecoder, _ readings: Readings,
    allowsUnread: Bool = false
  ) -> (scenario: Scenario?, hasOwnFleet: Bool) {
    let keyed = overrides.map { (override: $0, key: PathText.parse($0.path)?.first ?? "") }
    let fleetOverrides = keyed.filter { !Readings.others.contains($0.key) }.map(\.override)
    let serverOverrides = keyed.filter { [Readings.server, "duration"].contains($0.key) }.map(\.override)
    let (fleet, server) = (readings.fleets.known(fleetOverrides), readings.servers.known(serverOverrides))
    (decoder.fleet, decoder.server) = (fleet, server)
    var overriding = Overriding(root: fleet?.tree ?? root)
    if let server { overriding.root.setMember(Readings.server, to: server.tree) }
    for (override, key) in keyed {
      let isKnown = key == Readings.server ? server != nil : fleet != nil && !Readings.others.contains(key)
      if !isKnown { overriding.apply(override, reporting: &decoder) }
    }
    decoder.publications = Publication.all(in: overriding.root)
    var settings: [CohortSettings] = []
    let reported = decoder.diagnostics.count
    if let fleet {
      for problem in fleet.ofSettings { decoder.add(problem) }
    } else {
      var resolution = SettingsResolution(
        replacement: replacement, files: settingsFiles, changes: overriding.settingsChanges,
        allowsUnread: allowsUnread, lacksReplacement: lacksReplacement, decoder: decoder)
      resolution.problemsOfReplaced = problemsOfReplaced
      settings = resolution.configs(of: overriding.root)
      decoder = resolution.decoder
    }
    let ofSettings = Array(decoder.diagnostics[reported...])
    let scenario = decoder.scenario(overriding.root, settings: settings)
    // What is wrong has to be said with its number, which is not kept.
    if !decoder.hasErrors, decoder.unreported == 0 {
      if fleet == nil, var own = decoder.fleet {
        own.tree = overriding.root.taking(Readings.others, from: root)
        own.ofSettings = ofSettings
        readings.fleets.keep(own, under: fleetOverrides)
      }
      if server == nil, var own = decoder.server, let tree = overriding.root[Readings.server] {
        own.tree = tree
        readings.servers.keep(own, under: serverOverrides)
      }
    }
    return (scenario, fleet == nil)
  }

  // MARK: Files

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
    parseObject(text, name: name, isCalled: "Settings are an object, { … }", isServed: true)
  }

  private mutating func parseObject(
    _ text: String, name: String, isCalled what: String, isServed: Bool = false
  ) -> PositionedValue? {
    sources.append(name)
    do throws(ScenarioProblems) {
      return try JSON5Parser.parse(
        text, file: name, source: Int32(sources.count - 1), what, isServed: isServed)
    } catch {
      fileProblems += error.diagnostics
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
    // A key that no client reads has an answer, not an error: these readings are none of a variant's.
    let readings = Readings()
    var base = newDecoder
    _ = scenario(overrides, &base, readings, allowsUnread: true)
    let known = Set(base.diagnostics)
    var axes: [Axis] = []
    var total = 0
    for member in members {
      let path = "compare[\(quoted(member.key))]"
      guard let elements = Self.axisElements(member.key, member.value), !elements.isEmpty else {
        let isEmpty = member.value.elements?.isEmpty ?? false
        decoder.report(
          "expected a list of at least one value, found "
            + (isEmpty ? "an empty one" : decoder.describe(member.value)),
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
        // As `--set` takes it: text without quotes, unless it would then be taken for something else.
        let value =
          element.text.map { (try? JSON5Parser.parse($0)) == nil ? $0 : $0.asJSON }
          ?? JSONText.compact(element)
        if let first = values.firstIndex(of: value) {
          decoder.report("the same as value \(first)", at: element.position, "\(path)[\(index)]")
        }
        values.append(value)
        check(
          Override.choosing(member.key, value), overrides, element.position, "\(path)[\(index)]", known,
          readings, &decoder)
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

  /// Reports what is wrong with the scenario with this override, and is not without it.
  private func check(
    _ choice: [Override], _ overrides: [Override], _ position: Position, _ path: String,
    _ known: Set<Diagnostic>, _ readings: Readings, _ decoder: inout ScenarioDecoder
  ) {
    var trial = newDecoder
    _ = scenario(overrides + choice, &trial, readings, allowsUnread: true)
    for problem in trial.diagnostics where problem.severity == .error && !known.contains(problem) {
      let place = problem.path == choice[0].path || problem.path.isEmpty ? "" : problem.path + ": "
      decoder.report(place + problem.message, at: position, path)
    }
  }
}

/// The fleets and servers of a scenario and of its variants, each read once.
final class Readings: Sendable {
  static let server = "tapi"
  /// Keys of a scenario on which nothing in a fleet depends. On a server's own and the duration alone a server depends.
  static let others: Set = [server, "seed", "question", "interval", "push", "scale"]

  let fleets = ReadingsOfPart<[Cohort]>()
  let servers = ReadingsOfPart<TAPIConfiguration?>()
}

/// What has been read of a part, by the overrides on which it depends.
final class ReadingsOfPart<Value: Sendable>: Sendable {
  private let known = Mutex<[[Override]: Reading<Value>]>([:])
  /// All are forgotten when there are so many.
  private static var most: Int { 1_024 }

  func known(_ overrides: [Override]) -> Reading<Value>? { known.withLock { $0[overrides] } }

  func keep(_ reading: Reading<Value>, under overrides: [Override]) {
    known.withLock { known in
      if known.count >= Self.most { known = [:] }
      known[overrides] = reading
    }
  }
}

/// A part of a scenario that has been read, with what there was to say of it.
struct Reading<Value: Sendable>: Sendable {
  var value: Value
  var diagnostics: [Diagnostic]
  /// Said of a fleet's Settings, before anything else.
  var ofSettings: [Diagnostic] = []
  /// Of a fleet the scenario with what its fleet depends on, of a server its own.
  var tree = PositionedValue.null
}

/// The other files that a scenario names.
enum FileReferences {
  typealias Reference = (path: String, node: PositionedValue)

  /// The names of Settings files in the scenario, each once, with where it first stands. `onlyCompared`: the
  /// Settings that cohorts start with are replaced, so their files are not read.
  static func settings(in root: PositionedValue, onlyCompared: Bool) -> [Reference] {
    let start = onlyCompared ? [] : [["settings"]]
    return values(
      in: root, atRoot: start, ofCohorts: start + [rolloutSettings],
      compared: [["settings"], rolloutSettings])
  }

  private static let rolloutSettings = ["rollout", "settings"]

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
      values.append((places.joined(separator: "."), node[path: path]))
    }
    for path in atRoot { add(path, of: root, "") }
    let cohorts = root["fleet"]?.elements ?? []
    let publications = compared.contains(rolloutSettings) ? Publication.all(in: root) : [:]
    for (index, cohort) in cohorts.enumerated() {
      for path in ofCohorts { add(path, of: cohort, ScenarioPaths.cohort(index, of: cohorts)) }
      if let action = publications[index] { add(["settings"], of: action.node, action.path) }
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
