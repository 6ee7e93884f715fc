import FleetExperiments
import FleetMetrics
import FleetReports

/// `compare --explore`: a page over the runs of a grid, whose controls choose a run.
extension CompareCommand {
  /// Runs of a page at most: its figures are all in it, some kilobytes each.
  static let mostExplored = 1_000

  /// - Throws: `UsageError` about options that a page of all runs has no use for.
  func checkExploration() throws {
    try refuse("shard") { "\($0) does not go with '--explore', whose page has all runs." }
    guard options.outputPath != nil else {
      throw UsageError(
        "Missing expected option '\(options.$outputPath.synopsis)': '--explore' writes a page.")
    }
    try refuse("budget", "twin-series", "openmetrics", "json") {
      "\($0) does not go with '--explore', which writes a page of one seed, or of as many as '--seeds' says: "
        + "leave it out."
    }
  }

  /// - Parameter asked: the axes of the options; empty: those of the scenario.
  func exploration(
    _ input: StudyInput, _ asked: [[VariantChoice]], seeds: Int
  ) -> StudyPlan<ComparisonFindings> {
    let variants = input.variants
    let plan = ReplicationPlan(firstSeed: input.scenario.seed, count: seeds)
    let axes = (asked.isEmpty ? input.bases[0].axes.map(VariantChoice.axis) : asked).map { axis in
      ExplorerPage.Axis(
        name: axis.first?.overrides.first?.path ?? "", values: axis.map(\.name),
        today: axis.firstIndex { (try? input.loaded[0].decode($0.overrides).scenario) == input.scenario })
    }
    return StudyPlan(
      input: input,
      heading: input.heading(
        "\(FigureText.count(variants.count, "variant")), \(FigureText.count(plan.count, "seed"))"),
      memory: ComparisonMemory(variants.map(\.scenario), seeds: plan.count),
      find: { runs in
        ComparisonFindings(
          try runs.replications(variants, plan), choices: [], clients: ClientDifferences([]))
      },
      report: .own { found, end in
        try write(ExplorerPage(found.report, axes: axes), found.trial, end)
      })
  }

  private func write(_ page: ExplorerPage, _ trial: Trial, _ end: StudyEnd) throws {
    guard let output = end.output else { return }
    let table = OutputFile(.summary, SummaryCSV.bytes(of: trial.rows))
    var manifest = end.manifest
    manifest.replications = trial.replications
    manifest.files = [table]
    let text = page.text(
      title: end.title, question: end.question, command: manifest.command,
      version: CommandLineTool.version)
    try output.write([
      table, OutputFile(.explorer, text: text),
      OutputFile(.manifest, text: manifest.text),
    ])
    try end.console.print(
      "Written to \(output.path): open \(FileName.explorer) in a browser; \(FileName.summary) and "
        + "\(FileName.manifest) are beside it\(options.isQuiet ? "" : RunDirectory.notNeeded(end.journal))\n")
  }
}
