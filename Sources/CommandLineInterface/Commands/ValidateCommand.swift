import FleetExperiments
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel

/// `fleetsim validate`: every problem at once, or what the scenario amounts to; with `--client`, what a client makes of Settings.
struct ValidateCommand: Command {
  static let documents = [ScenarioFindings.document.kind, SettingsFindings.document.kind]
  static let help = CommandSpecification(
    name: "validate", abstract: "Check a scenario without running it, or Settings for a client.",
    discussion: [
      "Reports every problem at once, one a line, as file:line: path: what is wrong and what is allowed. Of a valid "
        + "scenario it shows the fleet, its normal load against the server's capacity, the memory that a run takes, and every "
        + "key in which a cohort differs from its client preset. It warns of a Retry-After at or just above the flush "
        + "interval of clients that retry at a flush.",
      "With --client and --settings, and without a scenario, it says what each of these clients makes of the Settings: which "
        + "values end the app's process, lose data, make the client ignore or reset the others, work against each other, mean "
        + "something else than in the document or are not read, and where in the SDK's source that is to be seen. The exit "
        + "code is 1 if it is one of the first four.",
    ],
    examples: [
      .init("fleetsim validate scenario.json5 --settings cdn.json", "With another Settings file:"),
      .init(
        "fleetsim validate --settings cdn.json --client segment-swift,segment-kotlin",
        "What do shipped clients make of the file that the CDN serves?"),
    ])

  @Argument("scenario", help: "The scenario file (JSON5). (none with --client)")
  private var path: String?
  @Option(
    "client", "a,b,c", each: .clientsOrFiles,
    help:
      "Check the Settings file as these clients read it: names that fleetsim presets lists, or client files.")
  private var clients: [[ClientPreset]]
  private var input = InputOptions(without: ["seed"])
  @Flag(.json) private var isJSON: Bool
  @Flag(
    "quiet", short: "q",
    help: "Print nothing about a valid scenario but warnings, and of clients nothing but findings.")
  private var isQuiet: Bool

  func execute(_ environment: CommandEnvironment) throws {
    if !clients.isEmpty { return try checkSettings(of: clients.flatMap(\.self), environment) }
    guard let path else {
      throw UsageError(
        "Missing expected argument '<scenario>', or '\($clients.synopsis)' and '--settings <file>'")
    }
    try validate(LoadedScenario(path, input, environment.files), environment.console)
  }

  private func validate(_ loaded: LoadedScenario, _ console: Console) throws {
    let base = try loaded.decode()
    let asked = try loaded.choices(of: base)
    let useless = try loaded.useless(asked, of: base)
    let choices = useless == nil ? asked : []
    let variants = try loaded.decodeAll(choices, of: base)
    let warnings = console.printOnce(
      loaded.warnings(of: choices, [base] + variants)
        + (useless ?? []).map { "\(loaded.path): warning: compare: \($0)" })
    let all =
      choices.isEmpty
      ? [Variant(name: "", scenario: base.scenario)]
      : zip(choices, variants).map { Variant(name: $0.name, scenario: $1.scenario) }
    let findings = ScenarioFindings(
      path: loaded.path, scenario: base.scenario, warnings: warnings, choices: choices,
      clients: ClientDifferences(all), notes: notesOfSmallness(all))
    if isJSON {
      try console.printData(ScenarioFindings.document.text("validate", findings))
    } else if !isQuiet {
      try console.print(findings.text)
    }
  }

  // MARK: Settings for a client

  /// - Throws: `UsageError`; `CommandFailure` 1 if a finding does harm, 65, 66; `ScenarioProblems`.
  private func checkSettings(of clients: [ClientPreset], _ environment: CommandEnvironment) throws {
    if let path {
      throw UsageError(
        "'--client' checks a Settings file by itself, and a scenario names its clients: leave out '\(path)' or '--client'."
      )
    }
    if !input.settings.isEmpty {
      throw UsageError("'--set' changes a scenario, and there is none with '--client'.")
    }
    guard let path = input.settingsPath else {
      throw UsageError(
        "Missing expected option '--settings <file>': '--client' says how that file is read.")
    }
    if let name = clients.map(\.name).firstRepeated {
      throw UsageError("'--client' names '\(name)' twice.")
    }
    let (console, text) = (environment.console, try environment.files.text(path))
    let readings = try clients.map { client in
      SettingsFindings.Reading(
        client: client.name, findings: try SettingsCheck(text: text, name: path, client: client).findings)
    }
    if isJSON {
      try console.printData(
        SettingsFindings.document.text("validate", SettingsFindings(path: path, readings: readings)))
    } else {
      try console.print(readings.map { lines($0, path) }.joined())
    }
    let harmed = readings.filter { $0.harmful > 0 }.map { reading in
      "\(reading.client): \(reading.harmful) of \(FigureText.count(reading.findings.count, "finding")) "
        + (reading.harmful == 1 ? "does harm" : "do harm")
    }
    if !harmed.isEmpty {
      throw CommandFailure(.failed, "\(path): not for \(harmed.joined(separator: "; not for "))")
    }
  }

  /// Returns the lines about one client.
  private func lines(_ reading: SettingsFindings.Reading, _ path: String) -> String {
    let lines = reading.findings.map { line, finding in
      let message = finding.message + (finding.source.map { " (\($0))" } ?? "")
      return Diagnostic(file: path, line: line, path: finding.path, message: message).description
    }
    return (lines + (isQuiet ? [] : [reading.verdict(on: path)])).map { $0 + "\n" }.joined()
  }
}

extension Scenario {
  /// What the Settings change in clients that have their own, those that fetch none and those of files: a line for each.
  fileprivate var settingsChanges: [String] {
    fleet.compactMap { cohort -> String? in
      guard !cohort.fetchesSettings || !cohort.preset.isBuiltIn else { return nil }
      let changes = SettingsDocument(cohort.ownSettings).differences(
        to: SettingsDocument(cohort.settings))
      if changes.isEmpty { return nil }
      let texts = changes.map { "\($0.path) \($0.old ?? "not set") → \($0.new ?? "not set")" }
      let fetches = cohort.fetchesSettings ? "" : ", which fetches none"
      return "the Settings change \(cohort.client)\(fetches): \(texts.joined(separator: ", "))"
    }.uniqued
  }
}

/// A ratio in whole percent.
func percent(_ ratio: Double) -> String {
  ratio < 1e9 ? "\(Int64((ratio * 100).rounded())) %" : "infinitely many %"
}

/// The findings of `validate` about a scenario that can be run.
struct ScenarioFindings: Sendable {
  var path: String
  var scenario: Scenario
  var warnings: [String]
  var choices: [VariantChoice]
  var clients: ClientDifferences
  var notes: [String]
  var load: NormalLoad { NormalLoad(scenario) }

  private static func span(_ span: Span) -> String { FigureText.span(span.microseconds) }
  /// - Parameter length: 0: it is over at once; nil: it lasts.
  private static func time(_ start: Instant, _ length: Span?) -> String {
    let start = span(start - .start)
    return length == .zero ? "at \(start)" : "from \(start) " + (length.map { "for \(span($0))" } ?? "on")
  }

  fileprivate var text: String {
    let load = load
    let cohorts = scenario.fleet.map { "\($0.name) \(FigureText.grouped(Int64($0.devices)))" }
    let noted = warnings.isEmpty ? "" : ", with \(FigureText.count(warnings.count, "warning"))"
    var text = "\(path): valid\(noted)\n"
    // As answers do, it tells of the whole fleet.
    func rate(_ simulated: Double) -> String { FigureText.rate(simulated * Double(scenario.scale)) }
    func row(_ label: String, _ words: String) {
      text += "  \(label.padded(to: 10))\(words)\n"
    }
    row("run", "\(Self.span(scenario.duration)), seed \(scenario.seed)")
    row("fleet", "\(scenario.sizeText): \(cohorts.joined(separator: ", "))")
    row(
      "load",
      "\(rate(load.batchesPerSecond)) batches/s with \(rate(load.eventsPerSecond)) "
        + "events/s when nothing fails")
    row(
      "capacity",
      "\(rate(load.capacityPerSecond)) requests/s, of which the load takes \(percent(load.utilisation))"
    )
    if load.peakBatchesPerSecond > load.batchesPerSecond * 1.001 {
      row(
        "peak",
        "\(rate(load.peakBatchesPerSecond)) batches/s, \(percent(load.peakUtilisation)) of the capacity; "
          + "the load above is the mean over the run")
    }
    if let connections = scenario.tapi.connections {
      row(
        "handshake",
        "about \(rate(scenario.normalConnections.handshakesPerSecond)) a second when nothing fails, of "
          + "\(rate(Double(connections.handshakes.capacityMilli) / 1_000)) that the server can make"
      )
    }
    if let endpoint = scenario.tapi.settings {
      let own = endpoint.capacityMilliRequestsPerSecond.map {
        ", of \(rate(Double($0) / 1_000)) that their endpoint can answer"
      }
      row(
        "settings",
        "about \(rate(scenario.normalFetchesPerSecond)) fetches a second when nothing fails"
          + (own ?? ", to the server itself"))
    }
    if let proxies = scenario.tapi.proxies {
      let budget = proxies.budget.map {
        "retries at once are \(Units.text(partsPerMillion: $0.share)) of the requests there, or \($0.minimum)"
      }
      row(
        "proxies",
        "\(FigureText.grouped(Int64(proxies.count))); a request comes to the server up to "
          + "\(FigureText.count(proxies.retries + 1, "time")), "
          + (budget ?? "with any number of retries at once"))
    }
    row("memory", MemoryEstimate(scenario).description)
    for incident in scenario.tapi.incidents {
      row("incident", "\(incident.kind.wording.phrase) \(Self.time(incident.start, incident.duration))")
    }
    for campaign in scenario.push {
      row(
        "push",
        "\(campaign.name.map { "\($0), " } ?? "")at \(Self.span(campaign.time - .start)) to "
          + "\(FigureText.count(scenario.devices(of: campaign), "device")) over \(Self.span(campaign.over))"
          + (campaign.every.map { ", every \(Self.span($0))" } ?? ""))
    }
    for action in scenario.tapi.actions {
      let length = action.duration ?? (action.kind == .restart ? .zero : nil)
      row("action", "\(action.kind.wording.phrase) \(Self.time(action.start, length))")
    }
    for cohort in scenario.fleet {
      guard let rollout = cohort.rollout, rollout.isAction else { continue }
      let share = rollout.sharePartsPerMillion
      let whose = share == 1_000_000 ? cohort.name : "\(Units.text(partsPerMillion: share)) of \(cohort.name)"
      row("action", "Settings published for \(whose) at \(Self.span(rollout.time - .start))")
    }
    if !choices.isEmpty {
      row(
        "compare",
        "\(FigureText.count(choices.count, "variant")): \(choices.map(\.name).joined(separator: ", "))")
    }
    for note in notes { row("small", note) }
    for line in scenario.settingsChanges { row("changes", line) }
    for (index, line) in clients.text.enumerated() {
      row(index > 0 ? "" : clients.lines.isEmpty ? "clients" : "differs", line)
    }
    return text
  }

  // MARK: JSON

  private static func finite(_ ratio: Double) -> Double? { ratio.isFinite ? ratio : nil }

  static let document = CommandDocument<ScenarioFindings>(
    meaning: "what a scenario amounts to, beside what it says itself.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named. One that is wrong prints no document.") {
        $0.path
      },
      .init("verdict", "That it is valid.") { "\($0.path): valid" },
      .init("question", "The scenario's question.") { $0.scenario.question },
      .init("warnings", "What standard error has of warnings.") { $0.warnings },
      .init("notes", "In what the scenario is so small that chance decides.") { $0.notes },
      .object(
        "load", "What the fleet asks of the server when nothing fails.",
        JSONShape<NormalLoad>([
          .init("batches_per_second", "Mean over the run.") { $0.batchesPerSecond },
          .init("events_per_second", "Mean over the run.") { $0.eventsPerSecond },
          .init("peak_batches_per_second", "At its peak.") { $0.peakBatchesPerSecond },
          .init("capacity_rps", "Requests that the server can serve a second.") { $0.capacityPerSecond },
          .init("utilisation_ratio", "Load divided by capacity; null: there is none.") {
            finite($0.utilisation)
          },
          .init("peak_utilisation_ratio", "The same at the peak.") { finite($0.peakUtilisation) },
        ])
      ) { $0.load },
      .init("memory_bytes", "What one run is expected to take.") { MemoryEstimate($0.scenario).expected },
      .init("variants", "The names of what its compare section asks for.") { $0.choices.map(\.name) },
      .init(
        "settingsChanges",
        "What the Settings change in clients that have their own: those that fetch none, and those of client files."
      ) { $0.scenario.settingsChanges },
      .list(
        "presetDifferences", "In what cohorts are not as the client preset that they name.",
        ComparisonFindings.presetDifference
      ) { $0.clients.lines },
    ]))
}

/// The findings of `validate --client` about a Settings file.
struct SettingsFindings: Sendable {
  var path: String
  var readings: [Reading]

  /// How one client reads the file.
  struct Reading: Sendable {
    var client: String
    var findings: [(line: Int, finding: SettingsFinding)]

    /// How many findings do harm.
    var harmful: Int { findings.count(where: \.finding.effect.isHarmful) }

    /// How many findings there are, and of which kind; the worst first.
    func verdict(on path: String) -> String {
      let effects = findings.map(\.finding.effect)
      if effects.isEmpty { return "\(path): no finding for \(client)" }
      let parts = SettingsFinding.Effect.allCases.reversed().compactMap { effect -> String? in
        let count = effects.count { $0 == effect }
        return count == 0 ? nil : "\(count) \(Self.words(effect, isOne: count == 1))"
      }
      return
        "\(path): \(FigureText.count(effects.count, "finding")) for \(client): \(parts.joined(separator: ", "))"
    }

    private static func words(_ effect: SettingsFinding.Effect, isOne: Bool) -> String {
      switch effect {
      case .endsProcess: isOne ? "ends the process" : "end the process"
      case .losesData: isOne ? "loses data" : "lose data"
      case .legacy: isOne ? "makes it legacy" : "make it legacy"
      case .resetsValues: isOne ? "resets all values" : "reset all values"
      case .contradicts: isOne ? "works against another" : "work against others"
      case .readDifferently: isOne ? "is read differently" : "are read differently"
      case .notRead: isOne ? "is not read" : "are not read"
      case .repaired: isOne ? "is repaired" : "are repaired"
      }
    }
  }

  static let document = CommandDocument<SettingsFindings>(
    meaning: "with `--client`: what clients make of a Settings file.",
    shape: JSONShape([
      .init("settings", "The Settings file as it was named.") { $0.path },
      .init("clients", "The clients, as asked for.") { $0.readings.map(\.client) },
      .init("verdict", "How many findings there are, and of which kind, client by client.") { found in
        found.readings.map { $0.verdict(on: found.path) }.joined(separator: "; ")
      },
      .init("isHarmful", "Whether these Settings harm a client: the exit code is 1.") {
        $0.readings.contains { $0.harmful > 0 }
      },
      .list(
        "findings", "By client, in the order of the file.",
        JSONShape<(client: String, line: Int, finding: SettingsFinding)>([
          .init("client", "Whose it is.") { $0.client },
          .init("line", "Where it stands.") { $0.line },
          .init("path", "In the file; empty: the file as a whole.") { $0.finding.path },
          .choice("effect", "What it leads to.") { $0.finding.effect },
          .init("isHarmful", "Whether Settings with it are better not published.") {
            $0.finding.effect.isHarmful
          },
          .init("message", "What is wrong, what it does, what would be right.") { $0.finding.message },
          .init("source", "The place in the SDK's source.") { $0.finding.source },
        ])
      ) { found in
        found.readings.flatMap { reading in
          reading.findings.map { (reading.client, $0.line, $0.finding) }
        }
      },
    ]))
}
