import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat

/// `fleetsim compare --seeds` and `--precision`.
extension Comparing {
  func run(_ path: String, _ asked: ReplicationPlan) throws {
    let loaded = try LoadedScenario(options.input.request(path))
    let base = try loaded.decode()
    let choices = try choices(base, loaded)
    if choices.contains(where: { $0.overrides.contains { $0.path == "seed" } }) {
      throw UsageError(
        "Seeds can't be compared with --seeds or --precision, which run every variant with several.")
    }
    let decoded = try loaded.decodeAll(choices)
    let warnings = printWarnings(decoded, loaded.path)
    let variants = zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) }
    var plan = asked
    plan.firstSeed = base.scenario.seed
    let workers = try workers(variants, loaded.path, replications: plan.count)
    let runOptions = options.execution.options(workers: workers, spare: false)
    let output = try options.outputPath.map { try OutputDirectory($0) }
    try Interruption.check()
    let clients = ClientDifferences(variants)
    if options.isTable { try Console.print(heading(loaded, decoded, plan, clients)) }

    let started = invocation.environment.monotonicSeconds()
    let control = ComparisonControl()
    let work = BackgroundWork(
      work: { [plan] in
        try Replications.run(variants, plan: plan, options: runOptions, workers: workers, control: control)
      }, cancel: control.cancel, progress: { control.progress }, environment: invocation.environment)
    let comparison = try work.run(showsProgress: !options.isQuiet)
    let seconds = invocation.environment.monotonicSeconds() - started

    let sentence = Verdict.text(comparison)
    let verdict = options.isQuiet ? sentence : verdict(sentence, noting: variants)
    let printed = Result {
      if options.isJSON {
        let findings = ComparisonFindings(
          path: loaded.path, question: base.scenario.question, warnings: warnings,
          notes: notesOfSmallness(variants), verdict: sentence, standings: Standings(comparison),
          choices: choices, rows: choices.indices.map { comparison.rows(of: $0) },
          metrics: comparison.metrics, clients: clients, output: options.outputPath)
        return try Console.printData(ComparisonFindings.document.text("compare", findings))
      }
      try Console.print(
        options.isQuiet
          ? verdict + "\n"
          : ReplicationTable.render(comparison, width: Console.columns) + "\n" + Terminal.emphasised(verdict)
            + "\n")
    }
    if let output {
      let progress = control.progress
      let wall = RunManifest.Wall(
        seconds: seconds, workers: workers, runs: progress.finishedRuns,
        virtualSeconds: Double(progress.virtualTime) / 1e6, attempts: progress.attempts)
      var manifest = RunManifest(
        arguments: invocation.arguments, seed: base.scenario.seed, checks: options.execution.checks,
        scenario: base.normalisedJSON,
        wall: wall)
      manifest.replications = comparison.replications
      let files = ReplicatedResultFiles(
        comparison: comparison, choices: choices, title: loaded.name, question: base.scenario.question,
        verdict: verdict, manifest: manifest, clients: clients, scaleNote: decoded[0].scenario.scaleNote)
      try output.write(files.all)
    }
    try printed.get()
    if options.isTable { try Console.print(replicationsClosing(output)) }
  }

  private func heading(
    _ loaded: LoadedScenario, _ decoded: [ScenarioFile.Decoded], _ plan: ReplicationPlan,
    _ clients: ClientDifferences
  ) -> String {
    let scenario = decoded[0].scenario
    var text =
      "\(loaded.path): \(scenario.sizeText), \(FigureText.span(scenario.duration.microseconds))"
    if decoded.count > 1 { text += ", \(decoded.count) variants" }
    if plan.precision.isEmpty {
      text += ", \(plan.count) replications (seeds from \(plan.firstSeed))"
    } else {
      let metrics = plan.precision.map(\.metric).joined(separator: ", ")
      text +=
        ", 10 to \(plan.count) replications (seeds from \(plan.firstSeed)) until \(metrics) and the risk of never recovering are precise"
    }
    return text + "\n" + (scenario.question.map { $0 + "\n" } ?? "")
      + (clients.headline.map { $0 + "\n" } ?? "") + "\n"
  }

  private func replicationsClosing(_ output: OutputDirectory?) -> String {
    guard let output else { return "\nNo files written; --out DIR writes the CSV files and a report.\n" }
    let files = [
      OutputFile.report, OutputFile.statistics, OutputFile.differences, OutputFile.replications,
      OutputFile.curves,
      OutputFile.manifest, OutputFile.picture,
    ]
    return "\nWritten to \(output.path): \(files.joined(separator: ", "))\n"
  }
}
