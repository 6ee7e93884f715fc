import FleetExperiments
import FleetReports
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// `fleetsim rescue`: the smallest action that ends an ill state.
struct RescueCommand {
  static let defaultSeeds = 5
  private static let span = Span.minutes(10)

  private var input: InputRequest
  private var kind: RescueAction.Kind
  private var range: String?
  private var at: Span?
  private var length: Span?
  private var key: String?
  private var isByDevice: Bool
  private var seeds: Int
  private var triesAll: Bool
  private var invocation: SearchInvocation

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, arguments: [String], environment: CommandEnvironment) throws {
    input = try InputRequest(parsed)
    guard let name = parsed.value("action") else {
      throw UsageError("Missing expected option '--action <kind>'")
    }
    let names = RescueAction.Kind.allCases.map(\.rawValue)
    guard let kind = RescueAction.Kind(rawValue: name) else {
      throw UsageError(
        "The value '\(name)' is invalid for '--action <kind>'\(Self.hint(name, names)) Allowed: \(names.joined(separator: ", "))."
      )
    }
    self.kind = kind
    range = parsed.value("range")
    at = try RunRequest.span(parsed, "at")
    length = try RunRequest.span(parsed, "for")
    if length == .zero {
      throw UsageError("'--for 0s' is no time at all: write how long it holds, like 10m.")
    }
    if length != nil, kind == .readmit {
      throw UsageError(
        "'--for' does not go with readmit, whose length is what is looked for: give '--range'.")
    }
    key = parsed.value("key")
    isByDevice = parsed.value("by") == "device"
    for option in ["key", "by"] where parsed.has(option) && kind == .capacity {
      throw UsageError("'--\(option)' goes with shed and readmit: capacity serves everybody.")
    }
    if let by = parsed.value("by"), !["request", "device"].contains(by) {
      throw UsageError("The value '\(by)' is invalid for '--by <what>'. Allowed: request, device.")
    }
    seeds = try RunRequest.count(parsed, "seeds", "n", through: 10_000) ?? Self.defaultSeeds
    triesAll = parsed.has("every")
    invocation = try SearchInvocation(parsed, arguments: arguments, environment: environment)
  }

  private static func hint(_ word: String, _ words: [String]) -> String {
    nearest(to: word, among: words).map { "; did you mean '\($0)'?" } ?? "."
  }

  func execute() throws {
    let loaded = try LoadedScenario(input)
    let base = try loaded.decode()
    let warnings = printWarnings([base], loaded.path)
    let scenario = base.scenario
    let action = try action(in: scenario, loaded.path)
    let widest = action.scenario(scenario, with: action.range.high)
    let workers = try invocation.workers([widest], loaded.path)
    let output = try invocation.outputPath.map { try OutputDirectory($0) }
    try Interruption.check()
    let facts = facts(scenario, action)
    if invocation.isTalkative {
      try Console.print(
        "\(loaded.path): seed \(scenario.seed), \(facts)\n" + (scenario.question.map { $0 + "\n" } ?? "")
          + "\n")
    }

    let (rescue, wall) = try invocation.run(workers: workers) { [seeds, triesAll] runner in
      try Rescue(scenario, action, seeds: seeds, triesAll: triesAll) { try runner.summaries(of: $0) }
    }

    let printed = Result {
      guard invocation.isJSON else { return try Console.print(text(rescue)) }
      let findings = RescueFindings(
        path: loaded.path, question: scenario.question, warnings: warnings, rescue: rescue,
        output: invocation.outputPath
      )
      try Console.printData(RescueFindings.document.text("rescue", findings))
    }
    if let output {
      var manifest = RunManifest(
        arguments: invocation.arguments, seed: scenario.seed, checks: false, scenario: base.normalisedJSON,
        wall: wall)
      let table = OutputFile(OutputFile.rescue, RescueCSV.bytes(of: rescue))
      manifest.files = [table]
      let page = RescueReport.page(
        rescue, title: loaded.name, question: scenario.question, facts: facts, command: manifest.command,
        version: CommandLineTool.version)
      try output.write([
        table, OutputFile(OutputFile.report, Array(page.utf8)),
        OutputFile(OutputFile.manifest, Array(manifest.text.utf8)),
      ])
    }
    try printed.get()
    guard invocation.isTalkative else { return }
    try Console.print(
      output.map {
        "\nWritten to \($0.path): \(OutputFile.report), \(OutputFile.rescue), \(OutputFile.manifest)\n"
      } ?? "\nNo files written; --out DIR writes the table and a report.\n")
  }

  // MARK: The action

  /// - Throws: `CommandFailure` 65 where the scenario has no room for it; `UsageError`.
  private func action(in scenario: Scenario, _ path: String) throws -> RescueAction {
    guard let lastEnd = scenario.tapi.incidents.map(\.end).max() else {
      throw CommandFailure(
        .data,
        "\(path): tapi.incidents: there is no incident that could leave the fleet ill; rescue needs one")
    }
    let end = Instant.start + scenario.duration
    func quarter(from time: Instant) -> Span { Self.wholeSeconds((end - time).microseconds / 4) }
    guard at != nil || lastEnd < end else {
      throw CommandFailure(
        .data,
        "\(path): the last incident ends with the run or after it: nothing is left to recover in; give a longer duration"
      )
    }
    let start = at.map { Instant.start + $0 } ?? lastEnd + min(Self.span, quarter(from: lastEnd))
    guard start < end else {
      throw UsageError(
        "'--at' is \(Units.text(start - .start)), when the run of \(Units.text(scenario.duration)) is over.")
    }
    let keys = scenario.fleet.map(\.effectiveWriteKey)
    if let key, !keys.contains(key) {
      throw UsageError(
        "No cohort has the writeKey '\(key)'\(Self.hint(key, keys)) There are: \(keys.joined(separator: ", "))."
      )
    }
    var range = range
    if range == nil, kind == .readmit {
      range = "0s..\(Units.text(min(.minutes(30), Self.wholeSeconds((end - start).microseconds / 2))))"
    }
    var action: RescueAction
    do {
      action = try RescueAction(
        kind, range: range, at: start, for: length ?? min(Self.span, quarter(from: start)))
    } catch {
      throw UsageError("The value '\(range ?? "")' is invalid for '--range <lo..hi>': \(error)")
    }
    (action.key, action.isByDevice) = (key, isByDevice)
    let longest = action.scenario(scenario, with: action.range.high).tapi.actions
    if let last = longest.last, longest.count > scenario.tapi.actions.count {
      guard longest.ends[longest.count - 1] < end else {
        throw UsageError(
          "The action would last from \(Units.text(start - .start)) for \(Units.text(last.duration ?? .zero)) and the run ends at "
            + "\(Units.text(scenario.duration)): nothing is left to recover in.")
      }
    }
    if let (_, other) = longest.contradictions.first(where: {
      $0.action == longest.count - 1 || $0.other == longest.count - 1
    }) {
      throw UsageError(
        "The action contradicts action \(min(other, longest.count - 2)) of the scenario, which decides on the same then: "
          + "give another '--at' or '--for'.")
    }
    return action
  }

  private static func wholeSeconds(_ microseconds: Int64) -> Span {
    .seconds(max(1, microseconds / 1_000_000))
  }

  // MARK: Output

  private func facts(_ scenario: Scenario, _ action: RescueAction) -> String {
    let start = FigureText.span(action.start.microseconds)
    let low = StabilityVerdict.text(action.range.low)
    let high = StabilityVerdict.text(action.range.high)
    let length = kind == .readmit ? "" : " for \(FigureText.span(action.duration.microseconds))"
    return
      "\(scenario.sizeText), \(FigureText.span(scenario.duration.microseconds)), \(kind.rawValue) from \(low) to \(high) at "
      + "\(start)\(length), \(FigureText.noun("\(seeds) seed", seeds))"
  }

  private func text(_ rescue: Rescue) -> String {
    let verdict = RescueVerdict(rescue)
    if invocation.isQuiet { return verdict.sentence + "\n" }
    let table = TerminalTable.plain(header: RescueVerdict.header, rows: verdict.rows, width: 100)
    return table + "\n\(Terminal.emphasised(verdict.sentence))\n"
  }
}
