import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim stability`: a map over two parameters.
struct StabilityCommand {
  private var input: InputRequest
  private var x: QuantityRange
  private var y: QuantityRange
  private var resolution = StabilityMap.Resolution()
  private var risk: StabilityRisk
  private var after: Span?
  private var invocation: SearchInvocation

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, arguments: [String], environment: CommandEnvironment) throws {
    input = try InputRequest(parsed)
    x = try Self.range(parsed, "x")
    y = try Self.range(parsed, "y")
    guard x.path != y.path else {
      throw UsageError("'--x' and '--y' both vary \(x.path); a map has two different parameters.")
    }
    resolution.fine =
      try RunRequest.count(parsed, "resolution", "n", from: 2, through: 512) ?? resolution.fine
    resolution.coarse =
      try RunRequest.count(parsed, "coarse", "n", from: 1, through: 512)
      ?? min(resolution.coarse, resolution.fine)
    guard resolution.coarse <= resolution.fine else {
      throw UsageError(
        "'--coarse' is \(resolution.coarse) and '--resolution' \(resolution.fine): the coarse grid has at most as many "
          + "cells as the fine one.")
    }
    risk = StabilityRisk(
      risk: try Self.risk(parsed), most: try RunRequest.count(parsed, "seeds", "n", through: 10_000))
    after = try RunRequest.span(parsed, "after")
    invocation = try SearchInvocation(parsed, arguments: arguments, environment: environment)
  }

  private static func risk(_ parsed: ParsedArguments) throws -> Double {
    guard let text = parsed.value("risk") else { return StabilityRisk().risk }
    do {
      let parts = try Units.partsPerMillion(text)
      if (10_000...500_000).contains(parts) { return Double(parts) / 1e6 }
    } catch {}
    throw UsageError("The value '\(text)' is invalid for '--risk <share>': a share from 1% to 50%.")
  }

  private static func range(_ parsed: ParsedArguments, _ option: String) throws -> QuantityRange {
    guard let text = parsed.value(option) else {
      throw UsageError("Missing expected option '--\(option) <path=lo..hi>'")
    }
    do {
      return try QuantityRange(text)
    } catch {
      throw UsageError("The value '\(text)' is invalid for '--\(option) <path=lo..hi>': \(error)")
    }
  }

  func execute() throws {
    let loaded = try LoadedScenario(input)
    let base = try loaded.decode()
    let warnings = printWarnings([base], loaded.path)
    guard !base.scenario.tapi.incidents.isEmpty else {
      throw CommandFailure(
        .data,
        "\(loaded.path): tapi.incidents: there is no incident to recover from; a stability map needs one")
    }
    let corners = try corners(loaded)
    let workers = try invocation.workers(corners, loaded.path)
    let output = try invocation.outputPath.map { try OutputDirectory($0) }
    try Interruption.check()
    if invocation.isTalkative { try Console.print(heading(loaded, base.scenario)) }

    let (map, wall) = try invocation.run(workers: workers) { [self] runner in
      try StabilityMap(
        x: x, y: y, resolution: resolution, risk: risk, scenario: { try scenario(loaded, $0, $1) },
        run: { try runner.summaries(of: $0) })
    }

    let verdict = StabilityVerdict(map)
    let printed = Result {
      guard invocation.isJSON else { return try Console.print(text(map, verdict)) }
      let findings = StabilityFindings(
        path: loaded.path, question: base.scenario.question, warnings: warnings, map: map,
        output: invocation.outputPath)
      try Console.printData(StabilityFindings.document.text("stability", findings))
    }
    if let output { try output.write(files(map, loaded, base, wall)) }
    try printed.get()
    guard invocation.isTalkative else { return }
    try Console.print(
      output.map {
        "\nWritten to \($0.path): \(OutputFile.report), \(OutputFile.stability), \(OutputFile.stabilityPicture), "
          + "\(OutputFile.manifest)\n"
      } ?? "\nNo files written; --out DIR writes the table, the map and a report.\n")
  }

  // MARK: Scenarios

  private func scenario(_ loaded: LoadedScenario, _ x: String, _ y: String) throws -> Scenario {
    let choice = VariantChoice(
      name: "", overrides: [Override(path: self.x.path, value: x), Override(path: self.y.path, value: y)])
    let scenario = try loaded.decode(choice).scenario
    return after.flatMap { scenario.ending(afterIncidents: $0) } ?? scenario
  }

  /// The scenarios at the four corners.
  /// - Throws: `ScenarioProblems` as of the command line.
  private func corners(_ loaded: LoadedScenario) throws -> [Scenario] {
    let ends = [(x.low, y.low), (x.high, y.low), (x.low, y.high), (x.high, y.high)]
    do {
      return try ends.map { try scenario(loaded, $0.0.text(), $0.1.text()) }
    } catch var problems as ScenarioProblems {
      for i in problems.diagnostics.indices where problems.diagnostics[i].file == "--set" {
        let path = problems.diagnostics[i].path
        problems.diagnostics[i].file = path == y.path ? "--y" : "--x"
      }
      throw problems
    }
  }

  // MARK: Output

  private func heading(_ loaded: LoadedScenario, _ scenario: Scenario) -> String {
    "\(loaded.path): seed \(scenario.seed), \(facts(scenario))\n"
      + (scenario.question.map { $0 + "\n" } ?? "")
      + "\n"
  }

  private func facts(_ scenario: Scenario) -> String {
    let length =
      after.map { "until \(FigureText.span($0.microseconds)) after the last incident" }
      ?? FigureText.span(scenario.duration.microseconds)
    return
      "\(scenario.sizeText), \(length), risk \(StabilityVerdict.percent(risk.risk)), "
      + (risk.first == risk.most
        ? FigureText.count(risk.most, "seed") + " a point"
        : "\(FigureText.count(risk.first, "seed")) a point, up to \(risk.most) where the cliff may be")
  }

  private func text(_ map: StabilityMap, _ verdict: StabilityVerdict) -> String {
    if invocation.isQuiet { return verdict.sentence + "\n" }
    let width = verdict.rows.map(\.value.count).max() ?? 0
    var text = "\(map.x.path), \(map.y.path)\n"
    for row in verdict.rows {
      text +=
        "  " + String(repeating: " ", count: width - row.value.count) + row.value + "  " + row.outcome + "\n"
    }
    let full = (map.grid.columns + 1) * (map.grid.rows + 1)
    return text
      + "\n\(Terminal.emphasised(verdict.sentence))\n\(FigureText.count(map.grid.points.count, "point")) instead of the "
      + "\(FigureText.grouped(Int64(full))) of a full grid.\n"
  }

  private func files(
    _ map: StabilityMap, _ loaded: LoadedScenario, _ base: ScenarioFile.Decoded, _ wall: RunManifest.Wall
  ) -> [OutputFile] {
    func own(_ path: String) -> Quantity? {
      Override.value(at: path, in: base.normalisedJSON).flatMap { Quantity($0) }
    }
    let report = StabilityReport(map, own: own(x.path).flatMap { x in own(y.path).map { (x: x, y: $0) } })
    let table = OutputFile(OutputFile.stability, report.table)
    var manifest = RunManifest(
      arguments: invocation.arguments, seed: base.scenario.seed, checks: false, scenario: base.normalisedJSON,
      wall: wall
    )
    manifest.files = [table]
    let page = report.page(
      title: loaded.name, question: base.scenario.question, facts: facts(base.scenario),
      command: manifest.command, version: CommandLineTool.version)
    return [
      table, OutputFile(OutputFile.report, Array(page.utf8)),
      OutputFile(OutputFile.stabilityPicture, Array(report.picture.utf8)),
      OutputFile(OutputFile.manifest, Array(manifest.text.utf8)),
    ]
  }
}
