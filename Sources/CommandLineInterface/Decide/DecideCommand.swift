import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// `fleetsim decide`: whether proposed Settings are to be published.
struct DecideCommand: Study {
  static let document: CommandDocument<Findings<Decided>>? = Decided.document
  static let help = CommandSpecification(
    name: "decide", abstract: "Decide whether new Settings are to be published.",
    discussion: [
      "Runs the fleet with today's and with the proposed Settings, under the same seeds, through a suite of incidents at its busiest "
        + "time: none at all, an outage with half the capacity after it, silence, 429 with Retry-After, a brownout, a share of errors and a "
        + "restart. The scenario as it stands comes first, if anything goes wrong in it. "
        + "The run is lengthened where it would end before a recovery can be seen.",
      "Answers publish (exit code 0: something is better, nothing worse), keep today's (0: no client reads anything that changes, or "
        + "nothing was proposed and the search found nothing), do not publish (1), or needs more runs (2). Values that no client reads "
        + "as they are written, and those that harm one whatever happens, are refused without a run. Each criterion of each "
        + "case gets seeds until it is decided or cannot be worse, and until a failure in 5 % of the runs is excluded "
        + "(\(Decision.faultless) runs without one). A failure is a run without recovery, or with over 1 % of the affected events lost. "
        + "--budget ends it.",
      "Without --proposed it first searches Settings to propose, and decides on seeds that the search has not seen.",
      "With --out it writes decision.csv, a scenario for each case, report.html and run.json.",
    ],
    examples: [
      .init(
        "fleetsim decide fleet.json5 --today cdn.json --proposed new.json --out out/decision",
        "May these Settings be published?"),
      .init(
        "fleetsim decide fleet.json5 --today cdn.json --proposed new.json --allow attempts",
        "The same, where more requests are no harm:"),
    ])

  @Argument(.scenario) private var path: String
  @Option(
    "today", "file", .text, help: "Settings JSON as the CDN serves it. (default: the scenario's own Settings)"
  )
  private var todayPath: String?
  @Option(
    "proposed", "file", .text,
    help:
      "Settings JSON to be published. (default: the best of a search over safe values of the keys that the clients read)"
  )
  private var proposedPath: String?
  @Option(
    "incidents", "file", .text,
    help: "Further cases as JSON5: { name: [{ kind: \"outage\", at: \"1h\", for: \"5m\", status: 503 }] }.")
  private var incidentsPath: String?
  @Flag("only-incidents", help: "Leave the suite out: the cases of --incidents alone.")
  private var isOnlyGiven: Bool
  @Option(.allowed) private var allowed: [DecisionCriterion]
  @Flag("anyway", help: "Run what is refused without a run, too.") private var runsAnyway: Bool
  @Option(
    "budget", "attempts", .attempts,
    help:
      "Attempts to simulate at most, the first six seeds of each case aside. (default: \(Decision.defaultBudget))"
  )
  private var budget: Int64?
  @Option(
    "markdown", "file", .text,
    help:
      "Write the answer as Markdown, for a pull request; -: to standard output. What $GITHUB_STEP_SUMMARY names is added to."
  )
  private var markdownPath: String?
  let options = StudyOptions(without: ["settings"])

  /// Its budget has room for larger fleets than those that are compared.
  private static let enoughDevices = 3_000

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Decided> {
    var input = try StudyInput(
      loaded(environment.files), environment.console, warnsOfSettings: false)
    try input.takeSmallFleet(leaving: Self.enoughDevices, margin: 1)
    let (loaded, today) = (input.loaded[0], input.scenario)
    try Self.refuseLate(today, path)
    let suite = IncidentSuite(
      of: today, given: try given(loaded, environment.files), isStandard: !isOnlyGiven)
    let given = try proposedPath.map { name in
      Proposal(
        loaded: input.loaded[1], scenario: input.bases[1].scenario,
        settings: try settings(loaded, input.loaded[1].settingsDocument, of: today, name))
    }
    let unrun = { @Sendable [self] (settings: DecidedSettings?, name: String, kept: String?) in
      Decided(
        suite: suite, today: today,
        settings: try settings ?? self.settings(loaded, nil, of: today, name), kept: kept)
    }
    var answer: Decided?
    var search: ProposalSearch?
    if !today.fleet.contains(where: \.fetchesSettings) {
      answer = try unrun(
        given?.settings, "new Settings", "no client of this fleet fetches Settings, so that none reach it")
    } else if let given {
      let (names, differences) = (given.settings.names, given.settings.differences)
      if !runsAnyway, !given.settings.refusals.isEmpty {
        answer = try unrun(given.settings, "", nil)
      } else if today == given.scenario || given.settings.unread.count == differences.count {
        answer = try unrun(
          given.settings, "",
          "no client of this fleet reads anything else out of \(names.proposed) than out of \(names.today)")
      }
    } else {
      search = try ProposalSearch(loaded, today, suite: suite)
    }
    var plan = StudyPlan(
      input: input, heading: input.heading("\(today.sizeText), \(Decided.facts(suite, today))"),
      memory: ComparisonMemory(input.bases.map { suite.scenario(suite.cases[0], of: $0.scenario) }),
      find: { [self, answer, search] (runs: StudyRuns) -> Decided in
        if let answer { return answer }
        guard let proposed = try given ?? found(search, loaded, today, runs) else {
          return try unrun(
            nil, "the Settings found",
            "none of \(FigureText.count(search?.count ?? 0, "candidate")) is better in one case and worse in none, "
              + "and no limit that is searched loses events")
        }
        return try decided(proposed, suite, today, loaded, runs)
      }, isFinished: { $0.decision.isFinished && !$0.isStopped },
      report: .answer(\.answer))
    let question = { (what: String) in
      "\(what) be published in place of \(todayPath ?? "today's Settings")?"
    }
    plan.page = (
      proposedPath.map { OutputDirectory.split($0).name } ?? loaded.name,
      question(proposedPath.map { "May \($0)" } ?? "Which Settings may")
    )
    let markdown = try markdownPath.map { try MarkdownFile($0, environment) }
    if let markdown, markdown.isStandardOutput { plan.text = { $0.markdown } }
    plan.goesOn = { $0.outcome == .needsMore }
    plan.finish = { found in
      try markdown?.write(found.markdown)
      if let failure = found.failure { throw failure }
    }
    return plan
  }

  private var terms: Decision.Terms {
    Decision.Terms(
      allowed: Set(allowed.flatMap(\.metrics)),
      skipping: proposedPath == nil ? ProposalSearch.seedsBehind : 0,
      budget: budget ?? Decision.defaultBudget)
  }

  /// Proposed Settings, given or found.
  private struct Proposal {
    var loaded: LoadedScenario
    /// What a search puts in place of the file's Settings.
    var overrides: [Override] = []
    var scenario: Scenario
    var settings: DecidedSettings
  }

  /// Settings that a search has found; nil: none are better.
  private func found(
    _ search: ProposalSearch?, _ loaded: LoadedScenario, _ today: Scenario, _ runs: StudyRuns
  ) throws -> Proposal? {
    guard var search else { return nil }
    let left = Decision(search.suite.cases(today: today, proposed: nil), terms).left
    runs.control.expect(more: search.scenarios + left.compared, alone: left.alone)
    guard let best = try search.best(runs) else { return nil }
    let document = (loaded.settingsDocument ?? SettingsDocument(HTTPConfig())).setting(
      loaded.overrides + best)
    var settings = try settings(loaded, document, of: today, "the Settings found")
    settings.found = document.cdnJSON
    return Proposal(
      loaded: loaded, overrides: best, scenario: try search.scenario(best), settings: settings)
  }

  /// The decision on proposed Settings, with what is run for its answer alone.
  private func decided(
    _ proposed: Proposal, _ suite: IncidentSuite, _ today: Scenario, _ loaded: LoadedScenario,
    _ runs: StudyRuns
  ) throws -> Decided {
    let (terms, summaries) = (terms, runs.summaries)
    func progress(_ decision: Decision) {
      let left = decision.left
      runs.control.expect(more: left.compared, alone: left.alone)
      if !options.isQuiet, let line = decision.soFar { runs.environment.console.printError(line + "\n") }
    }
    progress(Decision(suite.cases(today: today, proposed: proposed.scenario), terms))
    let first = [today, proposed.scenario].map { $0.with(seed: $0.seed &+ terms.skipped) }
    if let illness = try suite.illness(of: first[0], run: summaries.values) {
      let load = percent(NormalLoad(today.withoutIncidents).peakUtilisation)
      throw CommandFailure(
        .data,
        "\(path): \(illness). Its peak load is \(load) of the capacity. There is nothing to decide before it holds: "
          + "give it more capacity or less load"
          + notesOfSmallness([Variant(name: "today", scenario: today)]).map {
            "\n" + warning(ofSmallness: $0)
          }.joined())
    }
    let suite = try suite.lengthened(for: first, run: summaries.values)
    var decision = Decision(suite.cases(today: today, proposed: proposed.scenario), terms)
    try decision.run(
      summaries.valuesUntilCancelled, failures: runs.runs(.failure).valuesUntilCancelled,
      progress: progress)
    var decided = Decided(suite: suite, today: today, settings: proposed.settings, decision: decision)
    let words = [
      ["decide", path], $todayPath.words, options.input.words, options.input.$scale.words,
      options.$journalPath.words, $incidentsPath.words, isOnlyGiven ? ["--only-incidents"] : [],
      $allowed.words,
      runsAnyway ? ["--anyway"] : [],
    ]
    decided.command = words.flatMap(\.self)
    decided.output = options.outputPath
    let (served, overrides) =
      decided.outcome == .publish ? (proposed.loaded, proposed.overrides) : (loaded, [])
    decided.served = try served.with(scale: .whole).decode(overrides).scenario
    if !decision.isFinished { return decided }
    do {
      try decided.add(runs)
      let trials = try proposed.settings.found == nil ? trials(of: proposed, suite) : []
      decided.trials = try KeyTrials(decision, trials, run: summaries.values)
    } catch is CancellationError {
      decided.isStopped = true
    }
    return decided
  }

  /// The proposed Settings with today's value of a key, for each changed key that a client reads.
  /// A value that breaks a client is left out: nobody should put it back.
  private func trials(of proposed: Proposal, _ suite: IncidentSuite) throws -> [KeyTrials.Trial] {
    let settings = proposed.settings
    return try settings.differences.map(\.path).compactMap { key in
      guard !settings.readers(of: key).isEmpty, let kept = settings.keeping(key), !settings.breaksMore(kept)
      else { return nil }
      let scenario = try proposed.loaded.with(settings: kept).decode().scenario
      return (key, suite.cases.map { suite.scenario($0, of: scenario) })
    }
  }

  /// Returns the changes that the proposed Settings make; nil: none are.
  private func settings(
    _ loaded: LoadedScenario, _ proposed: SettingsDocument?, of today: Scenario, _ name: String
  ) throws -> DecidedSettings {
    try DecidedSettings(
      fleet: today.fleet, today: loaded.settingsDocument, proposed: proposed,
      names: (todayPath ?? path, name))
  }

  /// The fleet with today's and with the proposed Settings.
  private func loaded(_ files: Files) throws -> [LoadedScenario] {
    try ([todayPath] + (proposedPath.map { [$0] } ?? [])).map {
      try LoadedScenario(
        path, settingsPath: $0, overrides: options.input.overrides, allowsUnread: proposedPath == nil, files)
    }
  }

  /// - Throws: `CommandFailure` 65 about what would happen in a longer run alone.
  private static func refuseLate(_ scenario: Scenario, _ place: String) throws {
    let incidents = scenario.tapi.incidents.map { ("an incident", $0.start - .start) }
    let ofClients = scenario.clientIncidents.map { ("'\($0.label)'", Span(microseconds: $0.start)) }
    let actions = scenario.tapi.actions.map { ("an action", $0.start - .start) }
    guard let late = (incidents + ofClients + actions).first(where: { $0.1 >= scenario.duration }) else {
      return
    }
    throw CommandFailure(
      .data,
      "\(place): \(late.0) begins at \(Units.text(late.1)), and the run ends at "
        + "\(Units.text(scenario.duration)): let it begin earlier, or give the scenario a longer duration")
  }

  /// The cases of `--incidents`.
  private func given(_ loaded: LoadedScenario, _ files: Files) throws -> [IncidentSuite.Case] {
    guard let name = incidentsPath else {
      if isOnlyGiven {
        throw UsageError("'--only-incidents' leaves the cases of '--incidents <file>' alone: name that file.")
      }
      return []
    }
    return try IncidentFile.cases(files.text(name), name: name).map { one in
      let incidents = Override(path: "tapi.incidents", value: one.incidents)
      let scenario = try naming(in: loaded.decode([incidents]).scenario) {
        $0.hasPrefix(incidents.path) ? "\(name): \(one.name)" : nil
      }
      try Self.refuseLate(scenario, "\(name): \(one.name)")
      return IncidentSuite.Case(name: one.name, phrase: "\"\(one.name)\"", incidents: scenario.tapi.incidents)
    }
  }
}
