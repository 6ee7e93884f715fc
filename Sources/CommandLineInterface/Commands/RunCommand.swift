import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat

/// `fleetsim run` and `fleetsim compare`: a plain run is a comparison of one.
struct RunCommand {
  var request: RunRequest
  var arguments: [String]
  var environment: CommandEnvironment

  func execute() throws {
    if let asked = request.replications { return try executeReplications(asked) }
    let loaded = try LoadedScenario(request.input)
    let base = try loaded.decode()
    let choices = try choices(base, loaded)
    let decoded = try loaded.decodeAll(choices)
    let warnings = printWarnings(decoded, loaded.path)
    var options = RunOptions()
    options.checks = request.checks
    let variants = zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) }
    let workers = try workers(variants, options, loaded.path)
    options.threads = request.threads ?? (workers == 1 ? nil : 1)
    let output = try request.outputPath.map { try OutputDirectory($0) }
    try Interruption.check()
    let clients = ClientDifferences(variants)
    if request.isTable { try Console.print(heading(loaded, decoded, clients)) }

    let started = environment.monotonicSeconds()
    let runner = BackgroundComparison(
      variants: variants, options: options, workers: workers, environment: environment)
    let (results, progress) = try runner.run(showsProgress: !request.isQuiet)
    let seconds = environment.monotonicSeconds() - started

    let sentence = Verdict.sentence(results)
    let verdict = request.isQuiet ? sentence : verdict(sentence, noting: variants)
    // A terminal that is gone must not cost the files.
    let printed = Result {
      guard request.isJSON else { return try Console.print(resultText(results, verdict)) }
      let findings = ComparisonFindings(
        path: loaded.path, question: base.scenario.question, warnings: warnings,
        notes: notesOfSmallness(variants), verdict: sentence, standings: Standings(results),
        choices: choices, rows: results.map { [$0.summary] }, clients: clients, output: request.outputPath)
      try Console.printData(ComparisonFindings.document.text(request.compares ? "compare" : "run", findings))
    }
    if let output {
      let wall = RunManifest.Wall(
        seconds: seconds, workers: runner.workers, runs: progress.runs,
        virtualSeconds: Double(progress.duration) / 1e6, attempts: progress.attempts)
      let manifest = RunManifest(
        arguments: arguments, seed: base.scenario.seed, checks: request.checks, scenario: base.normalisedJSON,
        wall: wall)
      let files = ResultFiles(
        results: results, choices: choices, isComparison: request.compares, title: loaded.name,
        question: base.scenario.question, verdict: verdict, manifest: manifest, clients: clients,
        scaleNote: decoded[0].scenario.scaleNote, extras: request.extras)
      try output.write(files.all)
    }
    try printed.get()
    if request.isTable { try Console.print(closing(output)) }
  }

  /// Runs at a time: as many as were asked for, or as fit into memory.
  func workers(
    _ variants: [Variant], _ options: RunOptions, _ path: String, replications: Int = 1
  ) throws -> Int {
    let asked = request.jobs ?? onlineProcessors()
    let memory = ComparisonMemory(variants, replications: replications, options: options)
    let workers = try request.memory.workers(memory, atMost: asked, path)
    if workers < asked {
      Console.printError(
        "\(path): warning: \(workers) \(FigureText.noun("run", workers)) at a time instead of "
          + "\(min(asked, memory.runs)), which would need about "
          + "\(MemorySize.text(memory.expected(workers: asked))) of memory\n")
    }
    return workers
  }

  func choices(_ base: ScenarioFile.Decoded, _ loaded: LoadedScenario) throws -> [VariantChoice] {
    guard request.compares else { return [VariantChoice(name: loaded.name, overrides: [])] }
    let axes = request.axes.isEmpty ? base.axes.map(VariantChoice.axis) : request.axes
    guard !axes.isEmpty else {
      throw UsageError(
        "There is nothing to compare: give --client, --jitter or --vary, or the scenario a compare section, as "
          + "compare: { \"\(Override.jitterPath)\": [\"additive:10\", \"full\"] }.")
    }
    return try LoadedScenario.choices(axes)
  }

  private func heading(
    _ loaded: LoadedScenario, _ decoded: [ScenarioFile.Decoded], _ clients: ClientDifferences
  )
    -> String
  {
    let scenario = decoded[0].scenario
    var text =
      "\(loaded.path): seed \(scenario.seed), \(scenario.sizeText), "
      + "\(FigureText.span(scenario.duration.microseconds))"
    if decoded.count > 1 { text += ", \(decoded.count) variants" }
    return text + "\n" + (scenario.question.map { $0 + "\n" } ?? "")
      + (clients.headline.map { $0 + "\n" } ?? "") + "\n"
  }

  private func resultText(_ results: [VariantResult], _ verdict: String) -> String {
    request.isQuiet
      ? verdict + "\n"
      : TerminalTable.render(results, width: Console.columns) + "\n" + Terminal.emphasised(verdict) + "\n"
  }

  private func closing(_ output: OutputDirectory?) -> String {
    guard let output else { return "\nNo files written; --out DIR writes the CSV files and a report.\n" }
    let twin = request.extras.twin ? ", \(OutputFile.twinTimeSeries)" : ""
    let tables = "\(OutputFile.timeSeries)\(twin) and \(OutputFile.deliveries)"
    let rest = request.compares ? "\(OutputFile.picture); a folder per variant with \(tables)" : tables
    let metrics = request.extras.openMetrics ? "\(OutputFile.openMetrics), " : ""
    return
      "\nWritten to \(output.path): \(OutputFile.report), \(OutputFile.summary), \(OutputFile.manifest), \(metrics)\(rest)\n"
  }
}

/// Cores that are there to be used.
func onlineProcessors() -> Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
