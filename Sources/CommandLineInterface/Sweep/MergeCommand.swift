import FleetExperiments
import FleetMetrics
import FleetReports

/// `fleetsim merge`: the result files of a sweep from its runs, or what is missing.
struct MergeCommand: Command {
  static let help = CommandSpecification(
    name: "merge", abstract: "Make tables and report of a sweep, or say what is missing.",
    discussion: [
      "Writes what compare would have written: the same bytes whatever the parts that the sweep was made in. If runs are "
        + "missing or damaged it names them, writes nothing, and the exit code is 1."
    ],
    examples: [.init("fleetsim merge out/sweep", "Files in out/sweep/merged:")])

  @Argument("dir", help: "The directory of the sweep.") private var path: String
  @Flag(
    "partial",
    help: "Leave out the seeds that lack a run, and merge the others; what is missing is still named.")
  private var isPartial: Bool
  @Option(
    "out", "dir", .text, help: "Write the files into this directory. (default: merged, in the sweep's)")
  private var outputPath: String?
  @Flag("quiet", short: "q", help: "Print the verdict alone.") private var isQuiet: Bool

  func execute(_ invocation: Invocation) throws {
    let (directory, file) = try SweepDirectory.existing(path)
    try ResultsVersion.check(
      file.plan.results, of: "\(path)/\(SweepDirectory.planName): the sweep was made with",
      "merge it with the build that made it, or sweep again")
    let output = try OutputDirectory(outputPath ?? "\(path)/\(SweepDirectory.mergedName)")
    let reader = SweepResults(file.plan, in: directory.runs)
    var comparison = ReplicatedComparison(merging: file.plan.variants.map(\.name), seeds: file.plan.seeds)
    var shown: [VariantResult] = []
    var missing: [SweepResults.Missing] = []
    for seed in file.plan.seeds.all {
      try Interruption.check()
      switch try reader.results(of: seed) {
      case .success(let results):
        comparison.add(results)
        if shown.isEmpty { shown = results }
      case .failure(let lacking): missing += lacking.runs
      }
    }
    if !missing.isEmpty {
      try directory.runs.refuseRunsOfOtherResults()
      report(missing, file)
    }
    guard missing.isEmpty || isPartial, !shown.isEmpty else {
      throw CommandFailure(.failed, refusal(shown.isEmpty))
    }
    try write(file, shown, comparison, to: output)
  }

  private static var mostNamed: Int { 20 }

  private func report(_ missing: [SweepResults.Missing], _ file: SweepPlanFile) {
    let all = file.plan.variants.count * file.plan.seeds.count
    let runs = missing.count { !$0.isTwin }
    let twins = missing.count - runs
    var text =
      "\(path): missing: \(runs) of \(FigureText.count(all, "run")) and \(FigureText.count(twins, "twin"))\n"
    for run in missing.prefix(Self.mostNamed) {
      text +=
        "  \(run.isTwin ? "twin of " : "")\(run.variant), seed \(run.seed): "
        + "\(SweepDirectory.runsName)/\(run.name.file)\n"
    }
    if missing.count > Self.mostNamed { text += "  and \(missing.count - Self.mostNamed) more\n" }
    Console.printError(text)
  }

  private func refusal(_ hasNone: Bool) -> String {
    "\(path): the sweep is not complete: the command that began it makes what is missing"
      + (hasNone
        ? "; no seed has all of its runs yet" : "; --partial merges the seeds that have all of their runs")
  }

  /// The files and the table of `compare`, as it writes them for one seed and for several.
  private func write(
    _ file: SweepPlanFile, _ shown: [VariantResult], _ comparison: ReplicatedComparison,
    to output: OutputDirectory
  ) throws {
    let choices = file.plan.variants.map { VariantChoice(name: $0.name, overrides: $0.overrides) }
    let compared: Compared = comparison.replications > 1 ? .means(comparison) : .whole(shown)
    var manifest = RunManifest(
      arguments: file.arguments, seed: comparison.seeds.first ?? file.plan.seeds.first, checks: false,
      scenario: file.scenario)
    manifest.describe(compared, choices)
    var answer = compared.answer(seed: manifest.seed, choices: choices, width: Console.columns)
    answer.listing = []
    try AnswerWriter(
      title: file.title, question: file.question, output: output, isQuiet: isQuiet, isJSON: false
    ).write(answer, manifest, showsScenario: true) { "" }
  }
}
