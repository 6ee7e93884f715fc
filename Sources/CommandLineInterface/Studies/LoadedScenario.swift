import FleetExperiments
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import UploadRetry

/// A scenario file read with what it refers to, and the variants asked of it.
struct LoadedScenario {
  let path: String
  private let settingsPath: String?
  private(set) var overrides: [Override]
  /// Whether an override may be of a key of Settings that a cohort's client does not read.
  private let allowsUnread: Bool
  private let files: Files
  private var file: ScenarioFile

  /// - Throws: `CommandFailure` 65, 66; `ScenarioProblems`.
  init(_ path: String, _ input: InputOptions, allowsUnread: Bool = false, _ files: Files) throws {
    try self.init(
      path, settingsPath: input.settingsPath, overrides: input.overrides, allowsUnread: allowsUnread,
      files)
  }

  /// - Throws: `CommandFailure` 65, 66; `ScenarioProblems`.
  init(
    _ path: String, settingsPath: String? = nil, overrides: [Override] = [], allowsUnread: Bool = false,
    _ files: Files
  ) throws {
    (self.path, self.settingsPath, self.overrides, self.allowsUnread, self.files) =
      (path, settingsPath, overrides, allowsUnread, files)
    let text = try files.text(path)
    let settings = try settingsPath.map { (text: try files.text($0), name: $0) }
    let folder = OutputDirectory.split(path).parent
    file = try ScenarioFile(text: text, name: path, settingsText: settings) { name in
      try files.text(name.hasPrefix("/") || folder == "." ? name : folder + "/" + name)
    }
  }

  /// Names a plain run and titles a report: the file's name without extension, or of a `scenario.json5` the
  /// name of its folder.
  var name: String { Self.name(of: path) }

  /// The same wherever the command is given: in the folder itself a `scenario.json5` has that folder's name too.
  var resolvedName: String { files.realPath(path).map(Self.name) ?? name }

  private static func name(of path: String) -> String {
    let (folder, file) = OutputDirectory.split(path)
    guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return file }
    let name = String(file[..<dot])
    let folderName = OutputDirectory.split(folder).name
    return name == "scenario" && !["", ".", ".."].contains(folderName) ? folderName : name
  }

  /// Returns choices from the command line whose Settings files lie where the command is given. A file of the same name that the
  /// scenario names lies beside the scenario.
  func located(_ axes: [[VariantChoice]]) -> [[VariantChoice]] {
    if OutputDirectory.split(path).parent == "." { return axes }
    return axes.map { axis in
      axis.map { choice in
        var choice = choice
        for (place, override) in choice.overrides.enumerated()
        where override.settingsFile == override.value
          && !["/", "./"].contains(where: override.value.hasPrefix)
        {
          choice.overrides[place].value = "./" + override.value
        }
        return choice
      }
    }
  }

  /// Where the value of a path of `ScenarioValues` stands: the file from the working directory, and the line.
  func place(of key: String) -> (file: String, line: Int)? {
    file.place(of: key).map { place in
      // The command line names its files from where it is given, a scenario from where it lies.
      let isNamedHere = [path, settingsPath].contains(place.file)
      return (
        file: isNamedHere ? place.file : OutputDirectory.sibling(of: path, place.file), line: place.line
      )
    }
  }

  /// The Settings that all cohorts start with, as they were written.
  var settingsDocument: SettingsDocument? { file.settingsDocument }

  /// The same scenario with these Settings for all cohorts.
  func with(settings: SettingsDocument) -> LoadedScenario {
    var loaded = self
    loaded.file = file.with(settings: settings)
    return loaded
  }

  /// The same scenario at another scale.
  func with(scale: Scaling) -> LoadedScenario {
    var loaded = self
    loaded.overrides.append(Override(path: Override.scalePath, value: scale.text))
    return loaded
  }

  /// - Parameters:
  ///   - chosen: nil: the scenario itself, which answers for its compare section.
  ///   - base: the scenario itself, if it is at hand.
  func decode(
    _ chosen: [Override]? = nil, of base: ScenarioFile.Decoded? = nil
  ) throws -> ScenarioFile.Decoded {
    let isVariant = chosen != nil
    let chosen = chosen ?? []
    do {
      // Whole Settings come first, so that what `--set` changes in Settings is changed in these.
      let whole = chosen.filter { $0.path == Override.settingsPath }
      let overrides =
        whole + overrides.filter { whole.isEmpty || $0.path != Override.settingsPath }
        + chosen.filter { $0.path != Override.settingsPath }
      var file = file
      for name in overrides.compactMap(\.settingsFile) where !file.hasSettings(name) {
        file.addSettings(try files.text(name), name: name)
      }
      for name in overrides.compactMap(\.clientFile) where !file.hasClient(name) {
        file.addClient(try files.text(name), name: name)
      }
      return try file.decode(
        overrides: overrides, allowsUnread: allowsUnread, isVariant: isVariant, of: base)
    } catch let problems as ScenarioProblems {
      let missing = Set(problems.diagnostics.map(\.path))
      if !isVariant, missing.isSuperset(of: ["format", "duration", "tapi", "fleet"]), isSettings {
        throw CommandFailure(
          .data,
          "\(path): these are Settings, not a scenario; fleetsim validate --settings \(path) --client NAME tells what a client makes of them"
        )
      }
      throw problems.naming { $0 == Override.scalePath ? "--scale" : nil }
    }
  }

  /// Whether the file has the names of Settings in it.
  private var isSettings: Bool {
    let text = (try? files.text(path)) ?? ""
    return ["httpConfig", "backoffConfig", "rateLimitConfig", "integrations"].contains { text.contains($0) }
  }

  /// Decodes every choice; all problems of all of them at once, each once. The scenario itself has been
  /// decoded before, so a problem with an override is one with a choice, which came from the compare section or `--vary`.
  /// - Throws: `ScenarioProblems`.
  func decodeAll(
    _ choices: [VariantChoice], of base: ScenarioFile.Decoded
  ) throws -> [ScenarioFile.Decoded] {
    var problems: [Diagnostic] = []
    var decoded: [ScenarioFile.Decoded] = []
    for choice in choices {
      let isOfSection = choice.overrides.allSatisfy { override in
        override == Self.reading
          || base.axes.contains { $0.path == override.path && $0.values.contains(override.value) }
      }
      let origin = isOfSection ? path : "--vary"
      do {
        var variant = try decode(choice.overrides, of: base)
        for index in variant.warnings.indices where variant.warnings[index].file == "--set" {
          if !base.warnings.contains(variant.warnings[index]) { variant.warnings[index].file = origin }
        }
        decoded.append(variant)
      } catch let error as ScenarioProblems {
        for var problem in error.diagnostics where problem.severity == .error {
          if problem.file == "--set" { problem.file = origin }
          if !problems.contains(problem) { problems.append(problem) }
        }
      }
    }
    if !problems.isEmpty { throw ScenarioProblems(diagnostics: problems) }
    return decoded
  }

  /// What every command warns of that reads the scenario and these variants of it.
  func warnings(of choices: [VariantChoice], _ decoded: [ScenarioFile.Decoded]) -> [String] {
    decoded.flatMap { $0.allWarnings(path) } + reach(of: choices, decoded)
  }

  /// Warns of Settings for all that do not reach some cohort of the scenario or of its variants.
  private func reach(of choices: [VariantChoice], _ decoded: [ScenarioFile.Decoded]) -> [String] {
    let overrides = (self.overrides + choices.flatMap(\.overrides)).filter {
      $0.path == Override.settingsPath || $0.path.hasPrefix(SearchableSettings.prefix)
    }
    let files = [settingsPath].compactMap(\.self) + overrides.compactMap(\.settingsFile)
    let keys = overrides.map(\.path).filter { $0 != Override.settingsPath }
    let cohorts = decoded.flatMap(\.scenario.fleet)
    func names(_ fetch: Bool) -> [String] {
      cohorts.filter { $0.fetchesSettings == fetch }.map(\.nameWithClient).uniqued
    }
    let (reached, others) = (names(true), names(false))
    let asked = (reached.isEmpty ? files : files + keys).uniqued
    if asked.isEmpty || others.isEmpty { return [] }
    let shown = asked.count > 3 ? asked.prefix(2) + ["\(asked.count - 2) more"] : asked
    let isOne = (asked.count == 1, others.count == 1)
    return [
      "\(path): warning: \(Story.list(shown)) \(isOne.0 ? "reaches" : "reach") "
        + (reached.isEmpty ? "no client" : Story.list(reached) + " alone")
        + ": \(Story.list(others)) \(isOne.1 ? "fetches" : "fetch") no Settings"
    ]
  }

  /// More variants than this are a mistake rather than a question.
  static let mostVariants = 256

  /// The combinations of the axes that were asked for, or of the scenario's compare section; none without either.
  /// - Throws: `UsageError` if there are too many or two have one name, `ScenarioProblems` if the section alone is the reason.
  func choices(
    _ asked: [[VariantChoice]] = [], of base: ScenarioFile.Decoded, limit: Int = mostVariants
  ) throws -> [VariantChoice] {
    let axes = asked.isEmpty ? base.axes.map(VariantChoice.axis) : asked
    if axes.isEmpty { return [] }
    guard axes.reduce(1.0, { $0 * Double($1.count) }) <= Double(limit) else {
      let product = axes.map { String($0.count) }.joined(separator: " times ")
      throw refusal(
        "\(product) values make too many variants: at most \(limit) can be compared",
        isOfSection: asked.isEmpty)
    }
    let choices = VariantChoice.combinations(axes)
    if let name = choices.map(\.name).firstRepeated {
      throw refusal("Two variants would both be named '\(name)'", isOfSection: asked.isEmpty)
    }
    return choices
  }

  /// The conclusions where no client reads any key that varies; nil: one does.
  /// - Throws: `ScenarioProblems` about values that no client could read.
  func useless(_ choices: [VariantChoice], of base: ScenarioFile.Decoded) throws -> [String]? {
    let common = (choices.first?.overrides ?? []).filter { one in
      choices.allSatisfy { $0.overrides.contains(one) }
    }
    let varying = choices.flatMap(\.overrides).filter { !common.contains($0) }.map(\.path).uniqued
    // What is no key of Settings is read by nobody, and does something.
    if varying.isEmpty || !varying.allSatisfy({ $0.hasPrefix(SearchableSettings.prefix) }) { return nil }
    func decoded(_ overrides: [Override]) throws -> Scenario {
      try decodeAll([VariantChoice(name: "", overrides: overrides)], of: base)[0].scenario
    }
    let fleet = try common.isEmpty ? base.scenario.fleet : decoded(common).fleet
    let useless = varying.compactMap(fleet.useless)
    if useless.count < varying.count { return nil }
    for choice in choices { _ = try decoded([Self.reading] + choice.overrides) }
    return useless
  }

  /// Makes all clients read all of Settings.
  static let reading = Override(path: "fleet.*.settingsDialect", value: "document")

  /// An error of the command line, or of the scenario's compare section.
  private func refusal(_ message: String, isOfSection: Bool) -> any Error {
    if !isOfSection { return UsageError(message + ".") }
    let place = place(of: "compare")
    return ScenarioProblems(diagnostics: [
      Diagnostic(file: place?.file ?? path, line: place?.line, path: "compare", message: message)
    ])
  }
}

/// Does something whose problems with overrides name the option that these came from.
/// - Parameters:
///   - given: what the problems name so far.
///   - option: the option by the problem's path; nil: `given`.
func naming<Value>(
  _ given: String = "--set", in body: @autoclosure () throws -> Value, _ option: (String) -> String?
) throws -> Value {
  do { return try body() } catch let problems as ScenarioProblems { throw problems.naming(given, option) }
}

extension ScenarioProblems {
  /// Names the option that an override came from in place of `given`.
  /// - Parameters:
  ///   - given: what the problems name so far.
  ///   - option: the option by the problem's path; nil: `given`.
  func naming(_ given: String = "--set", _ option: (String) -> String?) -> ScenarioProblems {
    var problems = self
    for i in diagnostics.indices where diagnostics[i].file == given {
      let named = option(diagnostics[i].path) ?? given
      problems.diagnostics[i].file = named
      if named == "--" + diagnostics[i].path { problems.diagnostics[i].path = "" }
    }
    return problems
  }
}

/// In what variants are so small that chance between single requests decides, each once.
func notesOfSmallness(_ variants: [Variant]) -> [String] {
  variants.flatMap { Discreteness($0.scenario).notes }.uniqued
}

/// Returns a note of smallness as it stands beside an answer, without a full stop.
func warning(ofSmallness note: String) -> String { "Small enough for chance to decide: \(note)" }

extension ScenarioFile.Decoded {
  /// Repairs, a load that the server cannot take, and flushes that clients miss.
  func allWarnings(_ path: String) -> [String] {
    var all = warnings.map(\.description)
    func text(_ span: Span) -> String { FigureText.span(span.microseconds) }
    let load = NormalLoad(scenario)
    if load.utilisation > 1 {
      let fewest = load.share(load.fewestBatchesPerSecond)
      all.append(
        "\(path): warning: the normal load is \(percent(load.utilisation)) of the capacity; "
          + (fewest > 1
            ? "this fleet does not hold even without an incident"
            : "it is \(percent(fewest)) where clients fill each request with what waits"))
    } else if let first = load.overloads.first {
      let busiest = percent(load.busiestBatchesPerSecond / load.capacityPerSecond)
      all.append(
        "\(path): warning: the normal load reaches \(busiest) of the capacity from about \(text(first.lowerBound)) to "
          + "\(text(first.upperBound))\(load.overloads.count > 1 ? ", the first of \(load.overloads.count) times" : ""): this "
          + "fleet falls behind then even without an incident")
    }
    func warn(_ key: String, _ message: String) {
      all.append(Diagnostic(severity: .warning, file: path, path: key, message: message).description)
    }
    for late in LateRetry.all(in: scenario) {
      warn(
        late.path,
        "\(text(late.asked)) is at or just above a multiple of the flush interval, \(text(late.interval)), of "
          + "\(late.cohorts.joined(separator: ", ")): clients that retry at a flush wait \(text(late.real)), one flush more; "
          + "\(text(late.enough)) is enough")
    }
    for tie in TimeOutTie.all(in: scenario) {
      let count = tie.interval.microseconds / tie.timeout.microseconds
      warn(
        "fleet.\(tie.cohort).timeout",
        "\(FigureText.count(Int(count), "time-out")) of \(text(tie.timeout)) \(count == 1 ? "takes" : "take") "
          + "exactly the flush interval, \(text(tie.interval)): in a silent outage the flush then finds the client "
          + "free, as no real clock has it; \(Units.text(tie.enough)) simulates what real clients do")
    }
    return all
  }
}

extension Console {
  /// Prints warnings, a line each, each once, and returns what it printed.
  @discardableResult
  func printOnce(_ warnings: [String]) -> [String] {
    let once = warnings.uniqued
    for warning in once { printError(warning + "\n") }
    return once
  }
}

extension Scenario {
  var devices: Int64 { fleet.reduce(0) { $0 + Int64($1.devices) } }
  /// The devices of the scenario that it is a part of.
  var fullSize: Int64 { devices * Int64(scale) }

  /// `5,000 devices`, or `5,000 devices (1:1000 of 5,000,000)`.
  var sizeText: String {
    FigureText.count(devices, "device")
      + (scale > 1 ? " (1:\(scale) of \(FigureText.grouped(fullSize)))" : "")
  }

  /// A report's note on a scaled scenario; nil at full size.
  var scaleNote: String? {
    scale > 1 ? "scale 1:\(scale) (--scale 1:1 runs all of it); counts are the whole fleet's" : nil
  }
}

extension Cohort {
  /// Whether its client reads the key of Settings at a path of a scenario; of what is none, something else is said.
  func reads(_ path: String) -> Bool {
    let key = String(path.dropFirst(SearchableSettings.prefix.count))
    return !path.hasPrefix(SearchableSettings.prefix) || !HTTPConfig.knownKeyPaths.contains(key)
      || self.settingsDialect.reads(key)
  }
}

extension [Cohort] {
  /// The conclusion from a key that no client reads, without a full stop; nil: one reads it.
  func useless(_ path: String) -> String? {
    // Where no client fetches Settings, keys for all are those of the clients' code.
    let reached = contains(where: \.fetchesSettings) ? filter(\.fetchesSettings) : self
    if reached.contains(where: { $0.reads(path) }) { return nil }
    return
      "'\(path)' is not read by \(reached.map(\.preset.name).uniqued.joined(separator: " nor ")): this key of the CDN is useless to you"
  }
}
