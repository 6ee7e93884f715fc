import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat
import ScenarioModel

/// `fleetsim run`: one scenario.
struct RunCommand: Command {
  static let help = CommandSpecification(
    name: "run", abstract: "Run one scenario and say how its fleet fared.",
    discussion: [
      "Runs the scenario and, beside it, its twin without incidents: recovery is measured against the twin. Prints a "
        + "table and a verdict. Files are written only with --out: timeseries.csv, summary.csv, "
        + "delivery_histogram.csv, report.html and run.json."
    ],
    examples: [
      .init("fleetsim run scenario.json5", "Print how the fleet fares:"),
      .init(
        "fleetsim run scenario.json5 --set tapi.bucket.capacity=2000/s --seed 7 --out out/half",
        "Half the capacity, another seed, and files to look into:"),
    ])

  @Argument(.scenario) private var scenario: String
  private var options = ComparisonOptions()

  func execute(_ invocation: Invocation) throws {
    try ScenarioComparison(options: options).run(scenario, invocation)
  }
}

/// `fleetsim compare`: variants of a scenario side by side.
struct CompareCommand: Command {
  static let help = CommandSpecification(
    name: "compare", abstract: "Run variants of a scenario side by side and say which is best.",
    discussion: [
      "What varies comes from --client, --jitter and --vary (every combination of their values), or without them from the "
        + "scenario's compare section. All variants see the same events at the same times. With --out there is a "
        + "folder for each variant (timeseries.csv, delivery_histogram.csv) beside summary.csv, report.html, "
        + "comparison.svg and run.json.",
      "With --seeds or --precision every variant runs with several seeds, the same ones for all (the scenario's seed, "
        + "the next one and so on), and the result says how sure it is: means with 95 % intervals, paired differences "
        + "to the first variant, ranks with ties. With --out it writes statistics.csv, differences.csv, "
        + "replications.csv (a row of summary.csv for each run), curves.csv (mean curves), report.html, comparison.svg and run.json.",
    ],
    examples: [
      .init("fleetsim compare scenario.json5", "What the scenario's compare section says:"),
      .init(
        "fleetsim compare scenario.json5 --jitter none,full,full+clamp --settings cdn.json",
        "Three strategies on the Settings file that the CDN serves:"),
      .init(
        "fleetsim compare scenario.json5 --jitter none,full --vary fleet.phones.retries=gate,timer",
        "Every combination, four variants:"),
      .init(
        "fleetsim compare scenario.json5 --jitter additive:10,full --precision 2%",
        "How much better, and how sure is it?"),
    ])

  @Argument(.scenario) private var scenario: String
  @Option(.clients) private var clients: [VariantChoice]?
  private var axes = AxisOptions()
  private var replications = ReplicationOptions()
  private var options = ComparisonOptions()

  func execute(_ invocation: Invocation) throws {
    try ScenarioComparison(
      options: options, axes: axes.axes(clients: clients), plan: replications.plan(),
      journalPath: replications.journalPath
    ).run(scenario, invocation)
  }
}

/// How many runs go at a time, on how many threads, and within which memory.
struct ExecutionOptions: ParameterGroup {
  @Option(.jobs) private var jobs: Int?
  @Option(.threads) var threads: Int?
  @Option(.memoryLimit) private var memory: MemoryLimit
  @Flag(.check) var checks: Bool

  /// Runs at a time that were asked for.
  var asked: Int { jobs ?? onlineProcessors() }

  /// Runs at a time: as many as were asked for, or as fit into memory.
  func workers(_ memory: ComparisonMemory, _ path: String) throws -> Int {
    try self.memory.workers(memory, atMost: asked, path)
  }

  /// - Parameter spare: whether a run that goes alone takes as many threads as the engine likes.
  func options(workers: Int, spare: Bool = true) -> RunOptions {
    var options = RunOptions()
    options.checks = checks
    options.threads = threads ?? (spare && workers == 1 ? nil : 1)
    return options
  }
}

/// What `run` and `compare` have in common.
struct ComparisonOptions: ParameterGroup {
  var input = InputOptions()
  @Option(.out) var outputPath: String?
  @Flag(
    "twin-series",
    help: "With --out: write twin_timeseries.csv, the run without its incidents, beside timeseries.csv.")
  private var writesTwin: Bool
  @Flag(
    "openmetrics",
    help:
      "With --out: write timeseries.openmetrics, the series of every run as text that Prometheus can backfill."
  )
  private var writesOpenMetrics: Bool
  var execution = ExecutionOptions()
  @Flag(.json) var isJSON: Bool
  @Flag(.quiet) var isQuiet: Bool

  /// Whether there is a heading, a table and a line about the files.
  var isTable: Bool { !isQuiet && !isJSON }
  var extras: Compared.Extras { .init(twin: writesTwin, openMetrics: writesOpenMetrics) }

  /// - Throws: `UsageError`.
  func check(hasSeveralSeeds: Bool) throws {
    for (isGiven, option) in [(writesTwin, "--twin-series"), (writesOpenMetrics, "--openmetrics")]
    where isGiven {
      if outputPath == nil { throw UsageError("The option '\(option)' goes with '--out <dir>'.") }
      if hasSeveralSeeds {
        throw UsageError(
          "The option '\(option)' writes the series of single runs, which several seeds don't keep: leave it out, or "
            + "'--seeds' and '--precision'; \(OutputFile.curves) has the mean curves.")
      }
    }
  }
}

/// A comparison of variants; a plain run is one of a single variant.
struct ScenarioComparison {
  let options: ComparisonOptions
  /// nil: the scenario itself; empty: what it says in its compare section.
  var axes: [[VariantChoice]]?
  /// nil: one seed.
  var plan: ReplicationPlan?
  /// Where the runs of several seeds are kept; nil: beside the output.
  var journalPath: String?

  func run(_ path: String, _ invocation: Invocation) throws {
    try options.check(hasSeveralSeeds: plan != nil)
    let loaded = try LoadedScenario(options.input.request(path))
    let base = try loaded.decode()
    let choices = try choices(base, loaded)
    let decoded = try loaded.decodeAll(choices)
    let warnings = printWarnings(decoded, loaded.path)
    let variants = zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) }
    var plan = plan
    plan?.firstSeed = base.scenario.seed
    let workers = try workers(variants, loaded.path, replications: plan?.count ?? 1)
    let runOptions = options.execution.options(workers: workers, spare: plan == nil)
    let output = try options.outputPath.map { try OutputDirectory($0) }
    let journal = try plan.flatMap { _ in try RunDirectory(journal: journalPath, besides: options.outputPath)
    }
    try Interruption.check()
    let clients = ClientDifferences(variants)
    if options.isTable { try Console.print(heading(loaded, decoded, plan, clients)) }

    let remains = RunDirectory.remains(journal)
    let (compared, wall) = try invocation.environment.inBackground(
      workers: workers, remains: remains, onSignal: plan == nil ? .fails : .tells,
      showsProgress: !options.isQuiet
    ) { [plan] control -> Compared in
      guard let plan else {
        return .whole(
          try Comparison.run(variants, options: runOptions, workers: workers, control: control))
      }
      return .means(
        try Replications.run(
          variants, plan: plan, in: journal, options: runOptions, workers: workers, control: control))
    }
    var manifest = RunManifest(
      arguments: invocation.arguments, seed: base.scenario.seed, checks: options.execution.checks,
      scenario: base.normalisedJSON, wall: wall)
    let compares = axes != nil
    manifest.describe(compared, choices, isComparison: compares)

    let notes = notesOfSmallness(variants)
    let answer = compared.answer(
      seed: manifest.seed,
      notes: options.isQuiet ? [] : notes.map { "Small enough for chance to decide: \($0)." },
      choices: choices, isComparison: compares, clients: clients, scaleNote: decoded[0].scenario.scaleNote,
      extras: options.extras, width: Console.columns)
    let writer = AnswerWriter(
      title: loaded.name, question: base.scenario.question, output: output, isQuiet: options.isQuiet,
      isJSON: options.isJSON)
    if let signal = Interruption.pending {
      if case .means(let comparison) = compared, !comparison.isFinished { try writer.printUnfinished(answer) }
      throw Interruption.failure(signal, remains)
    }
    try writer.write(
      answer, manifest, showsScenario: true, after: RunDirectory.notNeeded(journal)
    ) {
      ComparisonFindings.document.text(
        compares ? "compare" : "run",
        Findings(
          path: loaded.path, question: base.scenario.question, warnings: warnings,
          found: ComparisonFindings(
            notes: notes, compared: compared, verdict: answer.brief, standings: compared.standings,
            choices: choices, clients: clients), output: options.outputPath))
    }
  }

  /// Runs at a time: as many as were asked for, or as fit into memory.
  private func workers(_ variants: [Variant], _ path: String, replications: Int = 1) throws -> Int {
    let asked = options.execution.asked
    let memory = ComparisonMemory(variants, replications: replications)
    let workers = try options.execution.workers(memory, path)
    if workers < asked {
      Console.printError(
        "\(path): warning: \(workers) \(FigureText.noun("run", workers)) at a time instead of "
          + "\(min(asked, memory.runs)), which would need about "
          + "\(MemorySize.text(memory.expected(workers: asked))) of memory\n")
    }
    return workers
  }

  private func choices(_ base: ScenarioFile.Decoded, _ loaded: LoadedScenario) throws -> [VariantChoice] {
    guard var axes else { return [VariantChoice(name: loaded.name, overrides: [])] }
    if axes.isEmpty { axes = base.axes.map(VariantChoice.axis) }
    guard !axes.isEmpty else {
      throw UsageError(
        "There is nothing to compare: give --client, --jitter or --vary, or the scenario a compare section, as "
          + "compare: { \"\(Override.jitterPath)\": [\"additive:10\", \"full\"] }.")
    }
    let choices = try LoadedScenario.choices(axes)
    if plan != nil, choices.contains(where: { $0.overrides.contains { $0.path == "seed" } }) {
      throw UsageError(
        "Seeds can't be compared with --seeds or --precision, which run every variant with several.")
    }
    return choices
  }

  private func heading(
    _ loaded: LoadedScenario, _ decoded: [ScenarioFile.Decoded], _ plan: ReplicationPlan?,
    _ clients: ClientDifferences
  ) -> String {
    let scenario = decoded[0].scenario
    var text =
      "\(loaded.path): \(plan == nil ? "seed \(scenario.seed), " : "")\(scenario.sizeText), "
      + "\(FigureText.span(scenario.duration.microseconds))"
    if decoded.count > 1 { text += ", \(decoded.count) variants" }
    if let plan {
      let metrics = plan.precision.map(\.metric).joined(separator: ", ")
      text += ", \(metrics.isEmpty ? "" : "10 to ")\(plan.count) replications (seeds from \(plan.firstSeed))"
      if !metrics.isEmpty { text += " until \(metrics) and the risk of never recovering are precise" }
    }
    return text + "\n" + (scenario.question.map { $0 + "\n" } ?? "")
      + (clients.headline.map { $0 + "\n" } ?? "") + "\n"
  }
}

/// Cores that are there to be used.
func onlineProcessors() -> Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
