import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat

/// `fleetsim explore`: a page over the runs of a grid, whose controls choose a run.
struct ExploreCommand {
  var request: RunRequest
  var arguments: [String]
  var environment: CommandEnvironment

  /// Runs of a page at most: its figures are all in it, some kilobytes each.
  static let mostRuns = 1_000

  func execute() throws {
    guard let outputPath = request.outputPath else {
      throw UsageError("Missing expected option '--out <dir>': explore writes a page.")
    }
    let loaded = try LoadedScenario(request.input)
    let base = try loaded.decode()
    let axes = request.axes.isEmpty ? base.axes.map(VariantChoice.axis) : request.axes
    guard !axes.isEmpty else {
      throw UsageError(
        "There is nothing to explore: give --vary once for each key, or the scenario a compare section.")
    }
    let choices = try LoadedScenario.choices(axes, limit: Self.mostRuns)
    let decoded = try loaded.decodeAll(choices)
    printWarnings(decoded, loaded.path)
    let variants = zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) }
    let plan = ReplicationPlan(firstSeed: base.scenario.seed, count: request.replications?.count ?? 1)
    var options = RunOptions()
    let memory = ComparisonMemory(variants, replications: plan.count, options: options)
    let workers = try request.memory.workers(memory, atMost: request.jobs ?? onlineProcessors(), loaded.path)
    options.threads = request.threads ?? (workers == 1 ? nil : 1)
    let output = try OutputDirectory(outputPath)
    try Interruption.check()
    if !request.isQuiet {
      try Console.print(
        "\(loaded.path): \(FigureText.count(variants.count, "run")), \(FigureText.count(plan.count, "seed"))\n"
          + (base.scenario.question.map { $0 + "\n" } ?? "") + "\n")
    }

    let started = environment.monotonicSeconds()
    let control = ComparisonControl()
    let work = BackgroundWork(
      work: { [options] in
        try Replications.run(variants, plan: plan, options: options, workers: workers, control: control)
      }, cancel: control.cancel, progress: { control.progress }, environment: environment)
    let comparison = try work.run(showsProgress: !request.isQuiet)
    let progress = control.progress
    let wall = RunManifest.Wall(
      seconds: environment.monotonicSeconds() - started, workers: workers, runs: progress.finishedRuns,
      virtualSeconds: Double(progress.virtualTime) / 1e6, attempts: progress.attempts)

    try output.write(files(loaded, base, comparison, axes, wall))
    try Console.print(
      "Written to \(output.path): open \(OutputFile.explorer) in a browser; \(OutputFile.summary) and "
        + "\(OutputFile.manifest) are beside it.\n")
  }

  private func files(
    _ loaded: LoadedScenario, _ base: ScenarioFile.Decoded, _ comparison: ReplicatedComparison,
    _ axes: [[VariantChoice]], _ wall: RunManifest.Wall
  ) -> [OutputFile] {
    let table = OutputFile(OutputFile.summary, SummaryCSV.bytes(of: comparison.rows))
    var manifest = RunManifest(
      arguments: arguments, seed: base.scenario.seed, checks: request.checks, scenario: base.normalisedJSON,
      wall: wall)
    manifest.replications = comparison.replications
    manifest.files = [table]
    let page = ExplorerPage(
      comparison,
      axes: axes.map { axis in
        .init(name: axis.first?.overrides.first?.path ?? "", values: axis.map(\.name))
      })
    let text = page.text(
      title: loaded.name, question: base.scenario.question, command: manifest.command,
      version: CommandLineTool.version)
    return [
      table, OutputFile(OutputFile.explorer, Array(text.utf8)),
      OutputFile(OutputFile.manifest, Array(manifest.text.utf8)),
    ]
  }
}
