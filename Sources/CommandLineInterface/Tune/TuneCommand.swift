import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

/// `fleetsim tune`: better Settings for several scenarios at once.
struct TuneCommand: Study {
  static let document: CommandDocument<Findings<TuneFindings>>? = TuneFindings.document
  static let help = CommandSpecification(
    name: "tune", abstract: "Search for better Settings that hold in several scenarios at once.",
    discussion: [
      "Races candidates against today's Settings (the scenarios' own, or --settings) under the same seeds: some are spread "
        + "over the search space, others lie round the best so far; the worse ones stop early, a few finalists get "
        + "all seeds and the whole of a large fleet. The score is the geometric mean of the objectives divided by today's. "
        + "Then each changed key is put back to see what it is for; one that makes no difference stays as it is.",
      "Recommended is only what a decision on fresh seeds confirms, as decide makes it, with the scenarios as its cases: worse than "
        + "today's in no criterion in any scenario, better in one, and no failure in 5 % of the runs. "
        + "Every run has to keep every requirement. Where nothing keeps one it says which limit lost the events, and offers "
        + "what is better than today's all the same.",
      "With --out it writes, if there is something to recommend, settings.json (as the CDN serves it), "
        + "settings-document.json (the document's shape), "
        + "pareto.csv, decision.csv, pareto.svg, report.html and run.json. "
        + "Every run is kept in the journal: a search that was killed "
        + "goes on where it stood and gives the same answer.",
    ],
    examples: [
      .init(
        "fleetsim tune short.json5 long.json5 --settings cdn.json --out out/tuned",
        "What should the CDN serve?"),
      .init(
        "fleetsim tune low.json5 high.json5 --settings cdn.json",
        "And if the capacity is not known? Give a scenario with each that it may be."),
    ])

  @Argument(.scenarios) private var paths: [String]
  @Option(
    "search", "path=values", each: ValueReader { try SearchParameter($0) },
    help:
      "A key of Settings and its values (default: as decide searches): lo..hi:step, lo..hi:log (\(SearchParameter.defaultSteps + 1) values in "
      + "even ratios), lo..hi (the same, even) or a,b,c.")
  private var parameters: [SearchParameter]
  @Option(
    "objective", "metric",
    each: ValueReader(.one(of: MetricCatalogue.all.map(\.name))) { try TuneObjective($0) },
    help:
      "A column of summary.csv to improve, with :weight behind it if it counts more or less. (default: "
      + "\(TuneObjective.standard.map(\.metric.name).joined(separator: ", ")))")
  private var objectives: [TuneObjective]
  @Option(
    "require", "limit", each: ValueReader { try Requirement($0) },
    help: "A limit that every run has to keep, as 'lost = 0' or 'recovery <= 20m'; to catch up is always one."
  )
  private var requirements: [Requirement]
  @Option(.allowed) private var allowed: [DecisionCriterion]
  @Option(
    "seeds", "n", .count(1...10_000),
    help:
      "Seeds of the finalists, from each scenario's own on. (default: \(TuneStudy.defaultSeeds))")
  private var seeds = TuneStudy.defaultSeeds
  @Option(
    "budget", "runs", .count(1...1_000_000_000),
    help:
      "Runs at most until the best finalist is known, as 2000, not counting twins. (default: "
      + "\(TuneStudy.defaultCandidates) candidates)")
  private var budget: Int?
  let options = StudyOptions()

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<TuneFindings> {
    let files = environment.files
    let input = try StudyInput(
      paths.map {
        try LoadedScenario($0, options.input, allowsUnread: true, files)
      }, environment.console)
    let (loaded, bases) = (input.loaded, input.bases)
    try requirements.checkEachRun()
    let fleet = bases.flatMap(\.scenario.fleet).filter(\.fetchesSettings)
    if fleet.isEmpty {
      throw UsageError("No client of these scenarios fetches Settings, so that none reach them.")
    }
    let space = try space(fleet)
    let config = try todaysConfig(fleet, space)
    if let document = loaded[0].settingsDocument { try check(document, fleet) }
    try checkValues(space, loaded[0], bases[0])
    var study = TuneStudy(
      space: space,
      todaysValues: space.parameters.map { SearchableSettings.value(of: $0.path, in: config) },
      objectives: objectives.isEmpty ? TuneObjective.standard : objectives,
      requirements: requirements, scenarios: Self.names(loaded),
      intervals: bases.map(\.scenario.interval.microseconds), seeds: seeds)
    study.allowed = Set(allowed.flatMap(\.metrics))
    study.seed = options.input.seed ?? 1
    study.raceScale = .smallest(of: bases.map(\.scenario), leaving: TuneStudy.raceDevices)
    // There are Settings to publish where some were found and fresh seeds confirm them.
    let dialects = Set(fleet.map(\.settingsDialect))
    let defaults =
      dialects.count > 1 || dialects.contains(.document)
      ? SettingsDocument(config)
      : SettingsDocument(fleet[0].behaviour.settingsDefaults, readBy: fleet[0].settingsDialect)
    let todays = loaded[0].settingsDocument ?? defaults
    let settings = { @Sendable [space] (candidate: SearchCandidate) in
      todays.setting(loaded[0].overrides + space.overrides(candidate))
    }
    // What `decide` refuses without a run is no candidate.
    let judged = { @Sendable (candidate: SearchCandidate) in
      try? DecidedSettings(
        fleet: fleet, today: todays.setting(loaded[0].overrides), proposed: settings(candidate),
        names: ("", ""))
    }
    study.isPublishable = { judged($0)?.refusals.isEmpty ?? true }
    for (index, parameter) in space.parameters.enumerated() {
      for (place, value) in parameter.values.enumerated() {
        var alone = space.today
        alone.choices[index] = place
        let key = String(parameter.path.dropFirst(SearchableSettings.prefix.count))
        guard let refusal = judged(alone)?.refusal(of: key) else { continue }
        environment.console.printError("\(parameter.path)=\(value) is left out of the search: \(refusal)\n")
      }
    }
    var plan = StudyPlan(
      input: input, heading: heading(loaded, bases, study), memory: ComparisonMemory(bases.map(\.scenario)),
      find: { [study] runs in
        let result = try search(study, loaded, bases.map(\.scenario), runs)
        let published = result.isRecommended ? settings(result.winner.candidate) : nil
        return TuneFindings(
          result: result,
          settings: published.map { ($0.cdnJSON, $0.documentJSON) }, next: published.map { _ in next })
      }, isFinished: \.result.isFinished,
      report: .answer { found in
        found.result.answer(
          found.story, facts: facts(bases, found.result.study), settings: found.settings,
          readings: judged(found.result.winner.candidate)?.readings ?? [])
      })
    plan.page = (study.scenarios.joined(separator: ", "), nil)
    plan.describe = { [study] manifest, _ in
      manifest.seed = study.seed
      manifest.scenario = JSONValue.text(.array(bases.map { .raw($0.normalisedJSON) }))
    }
    return plan
  }

  /// The command that decides on what is recommended.
  private var next: String {
    let input = options.input
    let today = input.settingsPath.map { ["--today", $0] } ?? []
    // Settings that were set are in the file.
    let set = input.settings.filter { !$0.path.hasPrefix(SearchableSettings.prefix) }
    let words = [
      ["decide", paths[0]], today, input.$seed.words, set.flatMap { ["--set", $0.text] }, input.$scale.words,
      ["--proposed", (options.outputPath ?? "DIR") + "/\(FileName.settings)"],
    ]
    return words.flatMap(\.self).shellCommand
  }

  // MARK: The search space

  /// Returns the space to search: what the options say, or else what `decide` searches.
  /// - Throws: `UsageError`.
  private func space(_ fleet: [Cohort]) throws -> SearchSpace {
    let asked = parameters.map { parameter in
      // As Settings files and `decide` write a key.
      var parameter = parameter
      if HTTPConfig.knownKeyPaths.contains(parameter.path) {
        parameter.path = SearchableSettings.prefix + parameter.path
      }
      return parameter
    }
    let parameters = try asked.isEmpty ? ProposalSearch.parameters(of: fleet) : asked
    let space: SearchSpace
    do {
      space = try SearchSpace(parameters)
    } catch {
      throw UsageError(error.description)
    }
    for parameter in space.parameters {
      guard parameter.path.hasPrefix(SearchableSettings.prefix) else {
        throw UsageError(
          "'\(parameter.path)' is no key of Settings: a search changes what the CDN serves, as "
            + "settings.backoffConfig.maxBackoffInterval; use compare or limit for anything else.")
      }
      if let value = parameter.values.first(where: { $0.hasSuffix(Override.clampSuffix) }) {
        throw UsageError(
          "'\(value)' is no value of Settings: \(Override.clampSuffix) is a switch of the client.")
      }
      if let useless = fleet.useless(parameter.path) {
        throw UsageError(useless + "; leave it out of the search.")
      }
    }
    return space
  }

  // MARK: Budget

  private func search(
    _ study: TuneStudy, _ loaded: [LoadedScenario], _ scenarios: [Scenario], _ runs: StudyRuns
  ) throws -> TuneResult {
    var study = study
    if let budget {
      guard let candidates = study.candidates(budget: budget) else {
        let least = study.runs(first: min(study.finalists, study.space.size))
        throw UsageError(
          "A budget of \(FigureText.count(budget, "run")) is too small: the finalists alone, with "
            + "\(FigureText.count(study.seeds, "seed")) each, take \(FigureText.count(least, "run")). Give more, or fewer "
            + "--seeds.")
      }
      study.candidates = candidates
    }
    // The race has a twin and an ideal run for each seed, a decision's first look too; what needs only not fail has a twin.
    let race = study.runs(first: min(study.candidates, study.space.size)) / scenarios.count
    let each = race + 2 * study.seeds + 2 * (Decision.looks[0] + Decision.faultless)
    runs.control.expect(
      runs: each * scenarios.count,
      duration: Int64(each) * scenarios.reduce(0) { $0 + $1.duration.microseconds })
    var tuner = Tuner(study, runs: runs.summaries, failures: runs.runs(.failure)) { candidate, place in
      try loaded[place].decode(study.space.overrides(candidate)).scenario
    }
    var result = try tuner.run()
    try result.loss?.checkLimit(options: runs.options, control: runs.control)
    return result
  }

  // MARK: Checks

  /// The Settings that all cohorts of all scenarios have, as the first reads them.
  ///
  /// Clients that read one file in different ways make different values of it. They have to agree on the keys that are searched
  /// and that both read.
  private func todaysConfig(_ cohorts: [Cohort], _ space: SearchSpace) throws -> HTTPConfig {
    let first = cohorts.first { $0.settingsDialect == .document } ?? cohorts[0]
    for cohort in cohorts {
      if let alike = cohorts.first(where: { $0.settingsDialect == cohort.settingsDialect }),
        alike.settings != cohort.settings || alike.settingsSource != cohort.settingsSource
      {
        throw UsageError(
          "The scenarios or their cohorts have different Settings, so there are none to compare with; give --settings FILE."
        )
      }
      for parameter in space.parameters
      where [cohort, first].allSatisfy({ $0.reads(parameter.path) }) {
        let one = SearchableSettings.value(of: parameter.path, in: first.settings)
        let other = SearchableSettings.value(of: parameter.path, in: cohort.settings)
        if one == other { continue }
        throw UsageError(
          "\(parameter.path) is \(one ?? "nothing") to \(first.preset.name) and \(other ?? "nothing") to "
            + "\(cohort.preset.name), which read today's file in their own ways, so there is no one value to compare with. "
            + "Give today's file a value that both take as it is, or search without this key.")
      }
    }
    return first.settings
  }

  /// - Throws: `UsageError` about a client that reads today's file otherwise once it is published.
  private func check(_ document: SettingsDocument, _ fleet: [Cohort]) throws {
    for cohort in fleet
    where cohort.settingsDialect != .document && !document.isPublishedAsRead(by: cohort.settingsDialect) {
      throw UsageError(
        "\(cohort.preset.name) does not read today's Settings as they are written, but would read them as the CDN serves them: put them "
          + "into httpConfig.")
    }
  }

  /// Every value of every parameter on its own.
  private func checkValues(
    _ space: SearchSpace, _ loaded: LoadedScenario, _ base: ScenarioFile.Decoded
  ) throws {
    let choices = space.parameters.flatMap { parameter in
      parameter.values.map { Override.choosing(parameter.path, $0) }
    }
    let alone = choices.map { VariantChoice(name: "", overrides: $0) }
    _ = try naming("--vary", in: loaded.decodeAll(alone, of: base)) { _ in "--search" }
  }

  /// Names of the scenarios, numbered where two would be one.
  private static func names(_ loaded: [LoadedScenario]) -> [String] {
    var seen: Set<String> = []
    return loaded.map { one in
      var name = one.name
      var number = 2
      while !seen.insert(name).inserted {
        name = "\(one.name)-\(number)"
        number += 1
      }
      return name
    }
  }

  // MARK: Words

  private func heading(
    _ loaded: [LoadedScenario], _ bases: [ScenarioFile.Decoded], _ study: TuneStudy
  ) -> String {
    let lines = zip(loaded, bases).map { loaded, base in
      "\(loaded.path): seed \(base.scenario.seed), \(FigureText.count(base.scenario.devices, "device")), "
        + "\(FigureText.span(base.scenario.duration.microseconds))\n"
    }
    let (keys, size) = (study.space.parameters.count, study.space.size)
    return lines.joined()
      + "\(keys) \(FigureText.noun("key", keys)), \(size == .max ? "very many" : FigureText.grouped(Int64(size))) "
      + "combinations\n\n"
  }

  private func facts(_ bases: [ScenarioFile.Decoded], _ study: TuneStudy) -> String {
    let devices = bases.map(\.scenario.devices)
    let least = Set(devices).count > 1 ? "\(FigureText.grouped(devices.min() ?? 0)) to " : ""
    return
      "\(FigureText.count(bases.count, "scenario")) of \(least)\(FigureText.count(devices.max() ?? 0, "device"))"
      + (study.raceScale == .whole ? "" : " (\(study.raceScale.text) of them in the race)")
      + " · finalists with \(FigureText.count(study.seeds, "seed"))"
  }
}

struct TuneFindings: Sendable {
  var result: TuneResult
  /// As JSON text; nil: nothing is recommended.
  var settings: (cdn: String, document: String)?
  /// The command that decides on them; nil: there are none.
  var next: String?

  var story: Story {
    var story = result.story
    story.add(.next, next.map { "not decided yet in other incidents: \($0)" })
    story.add(.note, RunDirectory.readBack(result.runs))
    return story
  }

  /// A key, a requirement or a scenario, by its place in the study.
  private struct Part: Sendable {
    var result: TuneResult
    var index: Int
    var effect: KeyEffect? { result.effects.first { $0.parameter == index } }
    var unmet: Standing? { result.unmet?.first { $0.requirement == index }?.standing }
  }

  private func parts(_ indices: some Sequence<Int>) -> [Part] {
    indices.map { Part(result: result, index: $0) }
  }

  static let document = CommandDocument.study(
    "the Settings to publish, and every candidate.", isOfOne: false, warnings: "about the scenarios",
    [
      .init("isRecommended", "Whether there are Settings to publish, confirmed by fresh seeds.") {
        $0.settings != nil
      },
      .init(
        "next",
        "The command that decides whether to publish them, in all cases of a suite; null: there are none."
      ) {
        $0.next
      },
      .list(
        "keys", "What the best finalist changes; `isRecommended` says whether to do it.",
        JSONShape<Part>([
          .init("path", "A key of Settings.") { $0.result.study.space.parameters[$0.index].path },
          .init("value", "The new value.") { $0.result.value($0.index, of: $0.result.winner.candidate) },
          .init("today", "Today's; null: not set.") { $0.result.study.todaysValues[$0.index] },
          .init("scoreRatio", "The score with it, divided by that with today's value of this key alone.") {
            $0.effect?.score.mean
          },
          .init("scoreRatioLow95", "Lower end of its 95 % interval.") { $0.effect?.score.interval?.low },
          .init("scoreRatioHigh95", "Upper end of the same.") { $0.effect?.score.interval?.high },
          .init("seeds", "How many of the finalists' seeds these are from; null: none.") {
            $0.effect?.with.seeds
          },
        ])
      ) { $0.parts($0.result.winner.candidate.changed) },
      .init(
        "scoreRatio", "On fresh seeds: the score divided by today's; below 1 is better; null: no decision."
      ) { $0.result.freshScore?.mean },
      .init("scoreRatioLow95", "Lower end of its 95 % interval.") { $0.result.freshScore?.interval?.low },
      .init("scoreRatioHigh95", "Upper end of the same.") { $0.result.freshScore?.interval?.high },
      .init("seeds", "How many seeds the finalists had.") { $0.result.study.seeds },
      .init("missingRuns", "About how many more runs would decide it; null: it is decided.") {
        $0.result.decision?.missingRuns
      },
      .init(
        "raceScale", "The part of the fleets on which candidates raced; the finalists had the whole, `1:1`."
      ) {
        $0.result.study.raceScale.text
      },
      .rows(
        "criteria",
        "The rows of `decision.csv`: the best finalist against today's Settings, in each scenario by each criterion on fresh seeds.",
        Decision.columns
      ) { $0.result.decision?.rows ?? [] },
      .anything("settings", "What to publish, as the CDN serves it; null: nothing.", ["object", "null"]) {
        $0.settings.map { .raw($0.cdn) } ?? .null
      },
      .anything("settingsDocument", "The same in the document's shape.", ["object", "null"]) {
        $0.settings.map { .raw($0.document) } ?? .null
      },
      .list(
        "requirements", "What every run had to keep; where nothing does, `isMet` is false.",
        JSONShape<Part>([
          .init("requirement", "As it was given.") { $0.result.study.requirements[$0.index].text },
          .init(
            "isMet", "Whether a candidate or today's Settings keep it in every run that they had."
          ) { $0.unmet == nil },
          .init(
            "nearest",
            "Where it is not met: the nearest to the limit that the worst run of a candidate came, in the metric's unit; null: a time "
              + "that came in no run, or it is met."
          ) { $0.unmet?.requirements[$0.index].worst?.value },
          .init("brokenRatio", "Share of the best finalist's runs that break it.") {
            $0.result.winner.requirements[$0.index].broken
          },
          .init("todayBrokenRatio", "The same of today's Settings.") {
            $0.result.today.requirements[$0.index].broken
          },
        ])
      ) { $0.parts($0.result.study.requirements.indices) },
      .init("objectives", "Columns of `summary.csv` that the score is made of.") {
        $0.result.study.objectives.map(\.metric.name)
      },
      .rows(
        "candidates",
        "The rows of `pareto.csv`: the best finalist first, then every candidate, with a column for each key, objective and "
          + "scenario.", columns: ParetoRow.firstColumns
      ) {
        $0.result.rows.map(JSONShape(columns: $0.result.columns).json)
      },
      .init("runsMade", "Runs that were made.") { $0.result.runs.made },
      .init("runsReadBack", "Runs that were taken from the journal.") { $0.result.runs.readBack },
    ] as [JSONShape<TuneFindings>.Member], story: \.story)
}
