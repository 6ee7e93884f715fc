import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel

/// `fleetsim sweep`: the runs of a grid that are not there yet.
struct SweepCommand: Study {
  static let help = CommandSpecification(
    name: "sweep", abstract: "Run a grid of variants and seeds, on as many machines as there are.",
    discussion: [
      "Every combination of the values of --jitter and --vary (or of the scenario's compare section) runs under every "
        + "seed. Each run is kept in --out under a name made from all it depends on: scenario, overrides, seed and version. A "
        + "run that is there is not made again, so the same command continues what was interrupted or killed; with more "
        + "seeds or values it adds to what is there.",
      "With --shard only a part is made, such that the parts together are the whole and share nothing: they may run at once, "
        + "on several machines with a common directory or in directories copied together afterwards. Without it the part "
        + "comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (Kubernetes), AWS_BATCH_JOB_ARRAY_INDEX, or with "
        + "--shards from PARALLEL_SEQ (GNU parallel). 'fleetsim merge' makes tables and report.",
    ],
    examples: [
      .init(
        "fleetsim sweep scenario.json5 --jitter none,full --seeds 20 --out out/sweep",
        "Forty runs; once more after Ctrl-C, and they go on:"),
      .init(
        "fleetsim sweep scenario.json5 --vary duration=1h,2h --out out/grid --shard 1/4",
        "A quarter of a grid:"),
      .init(
        "seq 4 | parallel fleetsim sweep scenario.json5 --seeds 20 --out out/sweep --shard {}/4",
        "Four processes:"),
    ])

  /// Runs of a sweep: more are a mistake rather than a question.
  static let mostRuns = 1_000_000

  @Argument(.scenario) private var scenario: String
  private var axes = AxisOptions(comparesClients: false)
  @Option(
    "seeds", "n", .count(1...mostRuns),
    help: "Seeds of each variant, from the scenario's or --seed on.")
  private var seeds = 1
  @Option(
    "out", "dir", .text, because: ": a sweep keeps its runs there.",
    help: "Keep plan and runs in this directory; made if need be.")
  private var path: String
  @Option("shard", "i/N", .text, help: "Make part i of N, as 2/4. (default: all)")
  private var shardText: String?
  @Option(
    "shards", "n", .count(1...SweepShard.maximumCount),
    help: "How many parts there are, where the job scheduler does not say.")
  private var shards: Int?
  let options = StudyOptions(
    .threads, .check, without: [.journal, .out, .json],
    quiet: "Print the last line alone: no heading or progress.")

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Sweep.Outcome> {
    let asked = try axes.axes()
    let (shard, source) = try shard(environment.variables.all)
    let input = try StudyInput(scenario, options, environment) { base, loaded in
      let choices = try loaded.choices(asked, of: base, limit: Self.mostRuns, seeds: seeds)
      if choices.contains(where: \.variesSeed) {
        throw UsageError(
          "A sweep cannot vary 'seed' as a variant: '--seeds <n>' runs every variant under n seeds.")
      }
      return choices.isEmpty ? [VariantChoice(name: loaded.name, overrides: [])] : choices
    }
    let scenarios = input.decoded.map(\.scenario)
    let plan = SweepPlan(
      results: CommandLineTool.resultsVersion,
      variants: zip(input.choices, scenarios).map { (choice: $0, scenario: $1) },
      seeds: SeedRange(first: input.scenario.seed, count: seeds))
    let file = SweepPlanFile(
      title: input.loaded[0].name, question: input.scenario.question, arguments: arguments,
      scenario: input.bases[0].normalisedJSON, plan: plan)
    return StudyPlan(
      input: input, heading: heading(plan, shard, source),
      memory: ComparisonMemory(leaving: scenarios, seeds: 2 * seeds),
      store: { try SweepDirectory.prepared(path, for: file, environment).runs },
      remains: "what was complete is kept, and the same command makes the rest",
      find: { runs in
        try Sweep.run(
          plan, scenarios: scenarios, shard: shard, options: runs.options, workers: runs.workers,
          store: runs.journal!, control: runs.control)
      }, report: .own { outcome, _ in try environment.console.print(closing(outcome, shard)) })
  }

  /// The part to make, and the variable of the job scheduler that said so; nil: the command line.
  private func shard(_ variables: [String: String]) throws -> (SweepShard, source: String?) {
    do throws(SweepShard.Problem) {
      guard let shardText else {
        let found = try SweepShard.from(environment: variables, count: shards)
        return (found?.shard ?? .whole, found?.source)
      }
      let shard = try SweepShard.parse(shardText)
      if let shards, shards != shard.count {
        throw SweepShard.Problem(
          description:
            "'--shard \(shardText)' and '--shards \(shards)' do not agree: '--shard' alone says both.")
      }
      return (shard, nil)
    } catch {
      throw UsageError(error.description)
    }
  }

  /// The command line without what does not change the results, in a fixed order.
  private var arguments: [String] {
    ["sweep", scenario] + axes.words + $seeds.words + options.input.words
  }

  private func heading(_ plan: SweepPlan, _ shard: SweepShard, _ source: String?) -> String {
    let variants = plan.variants.count
    let part = shard.count > 1 ? "; shard \(shard.text)" + (source.map { " by \($0)" } ?? "") : ""
    return
      "\(scenario): \(FigureText.count(variants * plan.seeds.count, "run")), \(FigureText.count(variants, "variant")) under "
      + "\(FigureText.count(plan.seeds.count, "seed")) from \(plan.seeds.first)\(part)\n"
  }

  private func closing(_ outcome: Sweep.Outcome, _ shard: SweepShard) -> String {
    let made = outcome.planned - outcome.foundComplete
    var text = "\(path): \(FigureText.count(outcome.planned, "run"))"
    if shard.count > 1 { text += " of shard \(shard.text)" }
    text += " with their twins complete, \(FigureText.grouped(Int64(made))) of them made now.\n"
    if !options.isQuiet {
      text +=
        shard.count > 1
        ? "When all shards are: fleetsim merge \(path)\n"
        : "Their summary and report: fleetsim merge \(path)\n"
    }
    return text
  }
}

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
  @Flag(.verbose) private var isVerbose: Bool
  @Flag("quiet", short: "q", help: "Print the verdict alone.") private var isQuiet: Bool

  func execute(_ invocation: Invocation) throws {
    let environment = invocation.environment
    let form = try AnswerForm(isQuiet: isQuiet, isVerbose: isVerbose)
    let (directory, file) = try SweepDirectory.existing(path, environment)
    try ResultsVersion.check(
      file.plan.results, of: "\(path)/\(SweepDirectory.planName): the sweep was made with",
      "merge it with the build that made it, or sweep again")
    let output = try OutputDirectory(outputPath ?? "\(path)/\(SweepDirectory.mergedName)", environment)
    let reader = SweepResults(file.plan, in: directory.runs)
    var trial = Trial(merging: file.plan.variants.map(\.name), seeds: file.plan.seeds)
    var first: [VariantResult] = []
    var missing: [SweepResults.Missing] = []
    for seed in file.plan.seeds.all {
      try environment.signals.check()
      switch try reader.results(of: seed) {
      case .success(let results):
        trial.add(results)
        if first.isEmpty { first = results }
      case .failure(let lacking): missing += lacking.runs
      }
    }
    if !missing.isEmpty {
      try directory.runs.refuseRunsOfOtherResults()
      environment.console.printError(report(missing, file))
    }
    guard missing.isEmpty || isPartial, !first.isEmpty else {
      throw CommandFailure(.failed, refusal(first.isEmpty))
    }
    try write(file, trial.replications > 1 ? trial : Trial(first), to: output, form, environment)
  }

  private static var mostNamed: Int { 20 }

  private func report(_ missing: [SweepResults.Missing], _ file: SweepPlanFile) -> String {
    let all = file.plan.variants.count * file.plan.seeds.count
    let runs = missing.count { $0.role.isEmpty }
    let twins = missing.count - runs
    var text =
      "\(path): missing: \(runs) of \(FigureText.count(all, "run")) and \(FigureText.count(twins, "twin"))\n"
    for run in missing.prefix(Self.mostNamed) {
      text +=
        "  \(run.role)\(run.variant), seed \(run.seed): "
        + "\(SweepDirectory.runsName)/\(run.name.file)\n"
    }
    return text + (missing.count > Self.mostNamed ? "  and \(missing.count - Self.mostNamed) more\n" : "")
  }

  private func refusal(_ hasNone: Bool) -> String {
    "\(path): the sweep is not complete: the command that began it makes what is missing"
      + (hasNone
        ? "; no seed has all of its runs yet" : "; --partial merges the seeds that have all of their runs")
  }

  /// The files and the table of `compare`, as it writes them for one seed and for several.
  private func write(
    _ file: SweepPlanFile, _ trial: Trial, to output: OutputDirectory, _ form: AnswerForm,
    _ environment: CommandEnvironment
  ) throws {
    let choices = file.plan.variants.map { VariantChoice(name: $0.name, overrides: $0.overrides) }
    var manifest = RunManifest(
      executable: environment.executable, arguments: file.arguments,
      seed: trial.seeds.first ?? file.plan.seeds.first, checks: false,
      scenario: file.scenario)
    manifest.describe(trial, choices)
    manifest.scale = file.plan.variants.first?.scale ?? 1
    let report = TrialReport(trial, choices: choices)
    let answer = report.answer(report.story)
    try AnswerWriter(
      title: file.title, question: file.question, output: output, form: form, isJSON: false,
      console: environment.console, showsScenario: true
    ).write(answer, manifest)
  }
}
