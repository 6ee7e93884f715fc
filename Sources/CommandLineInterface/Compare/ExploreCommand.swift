import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat

/// `fleetsim explore`: a page over the runs of a grid, whose controls choose a run.
struct ExploreCommand: Command {
  static let help = CommandSpecification(
    name: "explore", abstract: "Make a page in which controls choose between the runs of a grid.",
    discussion: [
      "Runs every combination of what varies, as compare does, and writes explore.html: one self-contained page with a slider or "
        + "a choice for each key, charts that follow, and two runs pinned side by side. Its address holds the choice. At most "
        + "\(mostRuns) runs; summary.csv and run.json are beside it."
    ],
    examples: [
      .init(
        "fleetsim explore s.json5 --vary tapi.bucket.capacity=800/s,1200/s --jitter none,full --out map",
        "What do capacity and jitter do together?")
    ])

  /// Runs of a page at most: its figures are all in it, some kilobytes each.
  private static let mostRuns = 1_000

  @Argument(.scenario) private var scenario: String
  @Option(.clients) private var clients: [VariantChoice]?
  private var axes = AxisOptions()
  @Option(
    "seeds", "n", .count(2...ReplicationOptions.mostSeeds),
    help: "Show means over n seeds, from 2. (default: one seed)")
  private var seeds: Int?
  @Option(.journal) private var askedJournal: String?
  private var input = InputOptions()
  @Option(.out) private var outputPath: String?
  private var execution = ExecutionOptions()
  @Flag(.quiet) private var isQuiet: Bool

  func execute(_ invocation: Invocation) throws {
    let asked = try axes.axes(clients: clients)
    guard let outputPath else {
      throw UsageError("Missing expected option '\($outputPath.synopsis)': explore writes a page.")
    }
    let loaded = try LoadedScenario(input.request(scenario))
    let base = try loaded.decode()
    let axes = asked.isEmpty ? base.axes.map(VariantChoice.axis) : asked
    guard !axes.isEmpty else {
      throw UsageError(
        "There is nothing to explore: give --vary once for each key, or the scenario a compare section.")
    }
    let choices = try LoadedScenario.choices(axes, limit: Self.mostRuns)
    let decoded = try loaded.decodeAll(choices)
    printWarnings(decoded, loaded.path)
    let variants = zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) }
    let plan = ReplicationPlan(firstSeed: base.scenario.seed, count: seeds ?? 1)
    let memory = ComparisonMemory(variants, replications: plan.count)
    let workers = try execution.workers(memory, loaded.path)
    let options = execution.options(workers: workers)
    let output = try OutputDirectory(outputPath)
    let journal = try RunDirectory(journal: askedJournal, besides: outputPath)
    try Interruption.check()
    if !isQuiet {
      try Console.print(
        "\(loaded.path): \(FigureText.count(variants.count, "run")), \(FigureText.count(plan.count, "seed"))\n"
          + (base.scenario.question.map { $0 + "\n" } ?? "") + "\n")
    }

    let (comparison, wall) = try invocation.environment.inBackground(
      workers: workers, remains: RunDirectory.remains(journal), showsProgress: !isQuiet
    ) { control in
      try Replications.run(
        variants, plan: plan, in: journal, options: options, workers: workers, control: control)
    }

    try output.write(files(loaded, base, comparison, axes, wall, invocation))
    try Console.print(
      "Written to \(output.path): open \(OutputFile.explorer) in a browser; \(OutputFile.summary) and "
        + "\(OutputFile.manifest) are beside it.\n" + (isQuiet ? "" : RunDirectory.notNeeded(journal)))
  }

  private func files(
    _ loaded: LoadedScenario, _ base: ScenarioFile.Decoded, _ comparison: ReplicatedComparison,
    _ axes: [[VariantChoice]], _ wall: RunManifest.Wall,
    _ invocation: Invocation
  ) -> [OutputFile] {
    let table = OutputFile(OutputFile.summary, SummaryCSV.bytes(of: comparison.rows))
    var manifest = RunManifest(
      arguments: invocation.arguments, seed: base.scenario.seed, checks: execution.checks,
      scenario: base.normalisedJSON,
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
      table, OutputFile(OutputFile.explorer, text: text),
      OutputFile(OutputFile.manifest, text: manifest.text),
    ]
  }
}
