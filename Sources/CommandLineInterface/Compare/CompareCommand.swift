import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioFormat

/// `fleetsim run`: one scenario.
struct RunCommand: Study {
  static let document: CommandDocument<Findings<ComparisonFindings>>? = ComparisonFindings.document
  static let help = CommandSpecification(
    name: "run", abstract: "Run one scenario and say how its fleet fared.",
    discussion: [
      "Runs the scenario and, beside it, its twin without incidents: recovery is measured against the twin. Prints a "
        + "verdict and a table. There are as many seeds as it takes to know within 5 % how many of the runs fail, how soon the fleet is "
        + "back, how late the affected events are and what it costs in attempts, as far as --budget carries; --seed asks for one. "
        + ReplicationOptions.fleetOfSeveral,
      "Files are written only with --out: timeseries.csv, summary.csv, delivery_histogram.csv, report.html and run.json. "
        + ReplicationOptions.filesOfSeveral,
      "With --require the exit code is 1 unless every run keeps every limit. A limit is on a criterion "
        + "(\(Requirement.criteriaNames)) or on a column of summary.csv, in its unit; failures are runs that never recover or lose "
        + "over 1 % of the affected events.",
    ],
    examples: [
      .init("fleetsim run scenario.json5", "Print how the fleet fares:"),
      .init(
        "fleetsim run scenario.json5 --require 'lost = 0' --require 'recovery <= 20m'",
        "Fail unless the fleet loses nothing and is back in 20 minutes:"),
      .init(
        "fleetsim run scenario.json5 --set tapi.bucket.capacity=2000/s --seed 7 --out out/half",
        "Half the capacity, another seed, and files to look into:"),
    ])

  @Argument(.scenario) private var path: String
  private var replications = ReplicationOptions()
  @Option(
    "require", "limit", each: ValueReader { try Requirement($0) },
    help:
      "A limit that every run has to keep, as 'lost = 0', 'recovery <= 20m' or 'lost <= 0.1%'; else the exit code is 1."
  )
  private var requirements: [Requirement]
  let options = StudyOptions("twin-series", "openmetrics", "threads", "check")

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<ComparisonFindings> {
    let plan = try replications.plan(options)
    let input = try StudyInput(path, options, environment) { [VariantChoice(name: $1.name, overrides: [])] }
    if replications.shard != nil, !requirements.isEmpty {
      throw UsageError("'--require' does not go with '--shard', which judges nothing yet.")
    }
    return try .comparison(
      input, plan, options, shard: replications.shard, isComparison: false, requirements: requirements)
  }
}

/// `fleetsim compare`: variants of a scenario side by side.
struct CompareCommand: Study {
  static let document: CommandDocument<Findings<ComparisonFindings>>? = ComparisonFindings.document
  static let help = CommandSpecification(
    name: "compare", abstract: "Run variants of a scenario side by side and say which is best.",
    discussion: [
      "What varies comes from --client, --jitter, --settings with several files, --rollout and --vary (every combination of "
        + "their values), or without them from the scenario's compare section. All variants see the same events at the same times. "
        + "With --out there is a "
        + "folder for each variant (timeseries.csv, delivery_histogram.csv) beside summary.csv, report.html, "
        + "comparison.svg and run.json. Two keys with three or more numbers each make a map (map.svg): how many runs fail at each "
        + "pair of values, or how soon they recover.",
      "Every variant runs with several seeds, the same ones for all (the scenario's seed, the next one and so on), until each "
        + "criterion of the verdict is decided or shown as good, a failure in 5 % of the runs is excluded or found, or --budget is used "
        + "up. --seeds asks for so many, --seed for one. The result says how sure it is: means "
        + "with 95 % intervals, paired differences to the first variant, ranks with ties. "
        + ReplicationOptions.fleetOfSeveral,
      ReplicationOptions.filesOfSeveral,
      "With --explore and --out it writes explore.html in place of all that: one self-contained page with a slider or a choice for "
        + "each key, charts and the verdict that follow, a map of all runs, and two runs pinned side by side. It opens on the "
        + "scenario's own values. Its address holds the choice. summary.csv and run.json are beside it.",
    ],
    examples: [
      .init("fleetsim compare scenario.json5", "What the scenario's compare section says:"),
      .init(
        "fleetsim compare scenario.json5 --jitter none,full,full+clamp --settings cdn.json",
        "Three strategies on the Settings file that the CDN serves:"),
      .init(
        "fleetsim compare scenario.json5 --settings today.json,new.json",
        "Today's Settings against new ones:"),
      .init(
        "fleetsim compare scenario.json5 --settings today.json --rollout new.json --share 0,50,100",
        "Nobody, half of the fleet and all of it on the new ones:"),
      .init(
        "fleetsim compare s.json5 --vary 'new=settings=new.json' --vary 'new=fleet.*.flush.interval=60s'",
        "A variant with a name of its own, and two keys:"),
      .init(
        "fleetsim compare scenario.json5 --jitter none,full --vary fleet.phones.retries=gate,timer",
        "Every combination, four variants:"),
      .init(
        "fleetsim compare s.json5 --vary tapi.incidents.0.for=1m,2m,4m --vary tapi.workers.count=4,8,16",
        "A map of where the fleet stops recovering:"),
      .init(
        "fleetsim compare s.json5 --vary tapi.workers.count=4,8 --jitter none,full --explore --out map",
        "A page to turn both knobs:"),
      .init(
        "seq 4 | parallel fleetsim compare s.json5 --seeds 20 --journal runs --shard {}/4",
        "Four processes, on any machines; then the same without --shard:"),
    ])

  @Argument(.scenario) private var path: String
  private var axes = AxisOptions()
  let replications = ReplicationOptions()
  @Flag(
    "explore",
    help:
      "Write a page in which controls choose between the runs, at most \(mostExplored), of the whole fleet with one seed or as many "
      + "as --seeds says."
  )
  private var explores: Bool
  let options = StudyOptions("twin-series", "openmetrics", "threads", "check", severalSettings: true)
  /// Runs of a journal at most.
  private static let mostSpread = 1_000_000

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<ComparisonFindings> {
    let asked = try axes.axes(settings: options.input.settingsFiles)
    if explores { try checkExploration() }
    var plan = try explores ? replications.plan(isOneSeed: true) : replications.plan(options)
    // Runs that a journal keeps may be made on any number of machines.
    let isSpread = options.journalPath != nil && !plan.keepsFirst
    let most =
      explores
      ? Self.mostExplored
      : max(LoadedScenario.mostVariants, isSpread ? Self.mostSpread / plan.count : 0)
    // The conclusions where no client reads any key that varies.
    var useless: [String]?
    func choices(_ base: ScenarioFile.Decoded, _ loaded: LoadedScenario) throws -> [VariantChoice] {
      try axes.check(base.scenario)
      let choices = try loaded.choices(loaded.located(asked), of: base, limit: most)
      guard !choices.isEmpty else {
        throw UsageError(
          "There is nothing to compare: give --client, --jitter, --settings a.json,b.json, --rollout or --vary, "
            + "or the scenario a compare section, as compare: { \"\(Override.jitterPath)\": [\"additive:10\", \"full\"] }."
        )
      }
      if choices.contains(where: { $0.overrides.contains { $0.path == "seed" } }) {
        guard !explores, plan.keepsFirst else {
          throw UsageError(
            "Seeds can't be compared with --seeds or --explore, which say the seeds of every variant."
          )
        }
        plan = .one(seed: 0)
      }
      useless = try loaded.useless(choices, of: base)
      return useless == nil ? choices : []
    }
    let input = try naming(
      "--vary", in: StudyInput(path, options, environment, choices: choices), axes.option)
    if let useless { return answer(useless, input, environment) }
    if explores { return exploration(input, asked, seeds: plan.count) }
    return try .comparison(input, plan, options, shard: replications.shard, isComparison: true)
  }

  /// The answer where no client reads what varies.
  private func answer(
    _ useless: [String], _ input: StudyInput, _ environment: CommandEnvironment
  ) -> StudyPlan<ComparisonFindings> {
    var story = Story(
      "No difference: no client of this fleet reads what varies",
      basis: "\(FigureText.fleet(of: input.scenario.fullSize, scale: 1)), no run")
    story.add(.unread, useless)
    let other =
      environment.arguments + ["--set", "\(LoadedScenario.reading.path)=\(LoadedScenario.reading.value)"]
    story.add(.next, "what it would do: \(other.shellCommand)")
    return StudyPlan(
      input: input, heading: input.heading("no run"),
      find: { [story] _ in
        var found = ComparisonFindings(Trial([]), choices: [], clients: ClientDifferences([]))
        found.story = story
        return found
      }, report: .answer { Answer($0.story) })
  }

  // MARK: A page over the runs of a grid, whose controls choose a run

  /// Runs of a page at most: its figures are all in it, some kilobytes each.
  private static let mostExplored = 1_000

  /// - Throws: `UsageError` about options that a page of all runs has no use for.
  private func checkExploration() throws {
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
  private func exploration(
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

extension ReplicationOptions {
  /// The fleet where nobody says how many seeds there are, for the help.
  fileprivate static let fleetOfSeveral =
    "Unless --seed, --seeds or --scale says otherwise, a small part of the fleet is run that keeps its answer, "
    + "so that there are many seeds. Counts are those of the whole fleet; --scale 1:1 runs all of it."
  /// The files of several seeds, for the help.
  fileprivate static let filesOfSeveral =
    "Of several seeds --out writes statistics.csv, differences.csv, replications.csv (a row of summary.csv for each run), curves.csv "
    + "(mean curves), report.html and run.json. Where their number was left to fleetsim, the files of the first seed's run are there too, and "
    + "only --journal keeps a journal."

  /// - Throws: `UsageError`, also where files of single runs are asked for that won't be written.
  fileprivate func plan(_ options: StudyOptions) throws -> ReplicationPlan {
    let plan = try plan(isOneSeed: options.input.seed != nil)
    if options.outputPath == nil {
      try options.refuse("twin-series", "openmetrics") { "The option \($0) goes with '--out <dir>'." }
    } else if !plan.keepsFirst {
      try options.refuse("twin-series", "openmetrics") {
        "The option \($0) writes the series of single runs, which several seeds don't keep: leave it out, or "
          + "'--seeds'; \(FileName.curves) has the mean curves."
      }
    }
    return plan
  }
}

extension StudyPlan<ComparisonFindings> {
  /// The runs of one shard, which the journal keeps.
  private static func part(
    _ shard: RunShard, of variants: [Variant], _ replications: ReplicationPlan, _ options: StudyOptions,
    _ input: StudyInput, heading: String
  ) throws -> StudyPlan {
    guard let journal = options.journalPath else {
      throw UsageError("'--shard' goes with '--journal <dir>', where the runs of all shards are kept.")
    }
    try options.refuse("out", "json") { "\($0) does not go with '--shard', which compares nothing yet." }
    let runs = FigureText.count(shard.part(of: variants.count * replications.count).count, "run")
    return StudyPlan(
      input: input, heading: heading,
      memory: ComparisonMemory(variants.map(\.scenario), seeds: replications.count, isLeft: true),
      find: { runs in
        try Replications.make(
          shard, of: variants, plan: replications, in: runs.journal, options: runs.options,
          workers: runs.workers, control: runs.control)
        return ComparisonFindings(Trial([]), choices: [], clients: ClientDifferences([]))
      },
      report: .own { _, end in
        try end.console.print(
          "\(journal): \(runs) of shard \(shard.number)/\(shard.count) are there\n"
            + (options.isQuiet
              ? "" : "When all shards are, the same command without --shard compares them.\n"))
      })
  }

  /// A comparison of variants, or a part of its runs; a plain run is one of a single variant.
  fileprivate static func comparison(
    _ input: StudyInput, _ replications: ReplicationPlan, _ options: StudyOptions, shard: RunShard?,
    isComparison: Bool, requirements: [Requirement] = []
  ) throws -> StudyPlan {
    var (input, replications) = (input, replications)
    // Several seeds of a small fleet tell more than one of the whole.
    if replications.until != nil { try input.takeSmallFleet() }
    replications.firstSeed = input.scenario.seed
    let (variants, choices, path) = (input.variants, input.choices, input.path)
    let (clients, notes) = (ClientDifferences(variants), notesOfSmallness(variants))
    let heading = heading(input, replications, clients)
    if let shard {
      return try part(shard, of: variants, replications, options, input, heading: heading)
    }
    var plan = StudyPlan(
      input: input, heading: heading,
      memory: ComparisonMemory(variants.map(\.scenario), seeds: replications.count),
      find: { [replications] runs in
        let trial = try runs.replications(variants, replications)
        var found = ComparisonFindings(trial, choices: choices, clients: clients)
        found.losses = LossReport(variants, runs: trial.rowsByVariant)
        try found.losses.checkLimit(options: runs.options, control: runs.control)
        // A map has too many variants for the losses of each.
        if isComparison, let map = PairMap(trial, choices) {
          map.tell(&found.story, of: path)
        } else {
          found.story.add(.lost, found.losses.notes, atMost: 2)
        }
        found.story.add(.note, notes.map(warning(ofSmallness:)))
        found.requirements = requirements.map { $0.outcome(of: trial.rows(of: 0)) }
        found.story.add(.required, found.requirements.map(\.text), atMost: .max)
        return found
      },
      isFinished: \.trial.isFinished,
      report: .answer { found in
        found.report.answer(
          found.story, isComparison: isComparison, losses: found.losses, clients: clients,
          scaleNote: input.decoded[0].scenario.scaleNote,
          extras: Set(
            (options.writesTwin ? [.twinTimeSeries] : []) + (options.writesOpenMetrics ? [.openMetrics] : []))
        )
      })
    plan.finish = { found in
      let unmet = found.requirements.filter { !$0.isMet }
      guard !unmet.isEmpty else { return }
      // The text has said it all.
      let names = unmet.map(\.requirement).joined(separator: ", ")
      throw CommandFailure(.failed, options.isJSON ? "Not met: \(names)." : "")
    }
    // One seed or a budget is used up before a journal pays; whoever asks for one gets it.
    plan.keepsOnlyAsked = replications.keepsFirst
    plan.showsScenario = true
    plan.describe = { $0.describe($1.trial, choices, isComparison: isComparison) }
    return plan
  }

  private static func heading(
    _ input: StudyInput, _ plan: ReplicationPlan, _ clients: ClientDifferences
  ) -> String {
    let scenario = input.decoded[0].scenario
    let isOne = plan.count == 1
    var text =
      "\(input.path): \(isOne ? "seed \(scenario.seed), " : "")\(FigureText.count(scenario.fullSize, "device")), "
      + "\(FigureText.span(scenario.duration.microseconds))"
    if input.decoded.count > 1 { text += ", \(input.decoded.count) variants" }
    if let until = plan.until {
      text += ", seeds from \(plan.firstSeed) on until all is decided, at most \(until.budgetText)"
    } else if !isOne {
      text += ", \(plan.count) replications (seeds from \(plan.firstSeed))"
    }
    return text + "\n" + (scenario.question.map { $0 + "\n" } ?? "")
      + (clients.headline.map { $0 + "\n" } ?? "") + "\n"
  }
}

/// The findings of `run` and `compare`, of one seed or of several.
struct ComparisonFindings: Sendable {
  let report: TrialReport
  let clients: ClientDifferences
  var story: Story
  var losses = LossReport([], runs: [])
  /// The requirements on the runs and whether they are met, in the order asked for.
  var requirements: [Requirement.Outcome] = []

  init(_ trial: Trial, choices: [VariantChoice], clients: ClientDifferences) {
    report = TrialReport(trial, choices: choices)
    story = report.story
    self.clients = clients
  }

  var trial: Trial { report.trial }
  private var choices: [VariantChoice] { report.choices }
  private var standings: Standings { report.standings }

  private var best: [String] { standings.leaders.map { standings.variants[$0] } }

  /// A variant's place, and its rows of `statistics.csv`.
  private typealias Variant = (found: ComparisonFindings, place: Int, statistics: [MetricRow])

  private var variants: [Variant] {
    let statistics = trial.isOfOneRun ? [] : StatisticsCSV.rows(of: standings)
    return choices.indices.map { place in
      (self, place, statistics.filter { $0.variant == place })
    }
  }

  static let document = CommandDocument.study(
    "how each variant fared.",
    [
      .init(
        "isDecided",
        "Whether every criterion is decided or shown as good; null: the number of seeds was asked for."
      ) { $0.trial.decision?.isDecided },
      .init(
        "missingSeeds",
        "About how many more seeds would decide what is open at the end of the budget; null where nothing is."
      ) { $0.trial.decision?.missing },
      .init(
        "best",
        "The names of those that are better than all the others; all of them where nothing is decided between them."
      ) { $0.best },
      .list("requirements", "What `--require` asked for, in that order.", Self.requirement) {
        $0.requirements
      },
      .init("seeds", "The seeds of the runs, the same for every variant.") { $0.trial.seeds },
      .list(
        "variants", "In the order asked for.",
        JSONShape<Variant>([
          .init("name", "As in tables and files.") { $0.found.choices[$0.place].name },
          .list("overrides", "What sets it apart from the scenario.", Self.override) {
            $0.found.choices[$0.place].overrides
          },
          .init("rank", "One more than the number of variants that are better by the verdict's rule.") {
            $0.found.standings.rank(of: $0.place)
          },
          .init("isBest", "Whether it is one of the best.") {
            $0.found.standings.leaders.contains($0.place)
          },
          .rows(
            "runs", "A row of `summary.csv` for each seed: its columns by name.", SummaryCSV.columns
          ) { $0.found.trial.rows(of: $0.place) },
          .rows(
            "statistics",
            "The variant's rows of `statistics.csv`: mean, interval and rank of each metric; empty of one seed.",
            StatisticsCSV.columns
          ) { $0.statistics },
        ])
      ) { $0.variants },
      .rows(
        "differences", "The rows of `differences.csv`: each variant against the first; empty of one seed.",
        DifferencesCSV.columns
      ) { $0.trial.isOfOneRun ? [] : DifferencesCSV.rows(of: $0.standings) },
      .rows(
        "losses", "What became of each cohort's events that the server does not have, the worst first.",
        LossReport.columns
      ) { $0.losses.rows },
      .list(
        "presetDifferences", "In what cohorts are not as the client preset that they name.",
        Self.presetDifference
      ) { $0.clients.lines },
    ] as [JSONShape<ComparisonFindings>.Member], story: { $0.story })

  private static let requirement = JSONShape<Requirement.Outcome>([
    .init("requirement", "The limit.") { $0.requirement },
    .init("isMet", "Whether every run keeps it; if not, the exit code is 1.") { $0.isMet },
    .init(
      "worst",
      "The worst of the runs in the column's unit, of a count that of the whole fleet, of `failures` how many fail; null: a run has "
        + "no value or never got there."
    ) { $0.worst },
    .init("measured", "The same as people read it.") { $0.measured },
    .init("failingRuns", "Runs that do not keep it.") { $0.failing },
  ])

  static let override = JSONShape<Override>([
    .init("path", "A key of the scenario.") { $0.path },
    .init("value", "As it would stand in a scenario.") { $0.value },
  ])

  static let presetDifference = JSONShape<ClientDifferences.Line>([
    .init("path", "The key, from the scenario's root.") { $0.path },
    .init("cohort", "Its name.") { $0.cohort },
    .init("client", "The preset.") { $0.client },
    .init("value", "As the scenario has it.") { $0.difference.value },
    .init("preset", "As the preset has it.") { $0.difference.preset },
    .init("meaning", "What the key decides.") { $0.difference.meaning },
    .init("variants", "Those of which it holds; none of a scenario without variants.") {
      $0.variants.filter { !$0.isEmpty }
    },
  ])
}
