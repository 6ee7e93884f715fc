import FleetExperiments
import FleetMetrics
import FleetReports

/// `fleetsim explore`: a page over the runs of a grid, whose controls choose a run.
struct ExploreCommand: Study {
  static let help = CommandSpecification(
    name: "explore", abstract: "Make a page in which controls choose between the runs of a grid.",
    discussion: [
      "Runs every combination of what varies, as compare does, and writes explore.html: one self-contained page with a slider or "
        + "a choice for each key, charts and the verdict that follow, a map of all runs, and two runs pinned side by side. It opens on the "
        + "scenario's own values. Its address holds the choice. At most "
        + "\(mostRuns) runs; summary.csv and run.json are beside it."
    ],
    examples: [
      .init(
        "fleetsim explore s.json5 --vary tapi.bucket.capacity=800/s,1200/s --jitter none,full --out map",
        "What do capacity and jitter do together?")
    ])

  /// Runs of a page at most: its figures are all in it, some kilobytes each.
  private static let mostRuns = 1_000

  @Argument(.scenario) private var path: String
  private var axes = AxisOptions(comparesClients: true)
  @Option(
    "seeds", "n", .count(2...ReplicationOptions.mostSeeds),
    help: "Show means over n seeds, from 2. (default: one seed)")
  private var seeds: Int?
  let options = StudyOptions(.threads, .check, without: [.json], severalSettings: true)

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<ReplicatedComparison> {
    let asked = try axes.axes(settings: options.input.settingsFiles)
    guard options.outputPath != nil else {
      throw UsageError("Missing expected option '\(options.$outputPath.synopsis)': explore writes a page.")
    }
    let input = try StudyInput(path, options, environment) { [axes] base, loaded in
      try axes.check(base.scenario)
      let choices = try loaded.choices(loaded.located(asked), of: base, limit: Self.mostRuns)
      guard !choices.isEmpty else {
        throw UsageError(
          "There is nothing to explore: give --vary once for each key, or the scenario a compare section.")
      }
      return choices
    }
    let variants = input.variants
    let plan = ReplicationPlan(firstSeed: input.scenario.seed, count: seeds ?? 1)
    let axes = (asked.isEmpty ? input.bases[0].axes.map(VariantChoice.axis) : asked).map { axis in
      ExplorerPage.Axis(
        name: axis.first?.overrides.first?.path ?? "", values: axis.map(\.name),
        today: axis.firstIndex { (try? input.loaded[0].decode($0).scenario) == input.scenario })
    }
    return StudyPlan(
      input: input,
      heading:
        "\(path): \(FigureText.count(variants.count, "run")), \(FigureText.count(plan.count, "seed"))\n"
        + (input.scenario.question.map { $0 + "\n" } ?? "") + "\n",
      memory: ComparisonMemory(variants, replications: plan.count),
      find: { try $0.replications(variants, plan) },
      report: .own { comparison, end in
        try write(ExplorerPage(comparison, axes: axes), comparison, end)
      })
  }

  private func write(_ page: ExplorerPage, _ comparison: ReplicatedComparison, _ end: StudyEnd) throws {
    guard let output = end.writer.output else { return }
    let table = OutputFile(.summary, SummaryCSV.bytes(of: comparison.rows))
    var manifest = end.manifest
    manifest.replications = comparison.replications
    manifest.files = [table]
    let text = page.text(
      title: end.writer.title, question: end.writer.question, command: manifest.command,
      version: CommandLineTool.version)
    try output.write([
      table, OutputFile(.explorer, text: text),
      OutputFile(.manifest, text: manifest.text),
    ])
    try end.writer.console.print(
      "Written to \(output.path): open \(FileName.explorer) in a browser; \(FileName.summary) and "
        + "\(FileName.manifest) are beside it.\n"
        + (options.isQuiet ? "" : RunDirectory.notNeeded(end.journal)))
  }
}
