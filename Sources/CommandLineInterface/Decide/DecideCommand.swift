import FleetExperiments
import FleetMetrics
import FleetReports
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
        + "restart. The scenario's own incidents come first. The run is lengthened where it would end before a recovery can be seen.",
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
  let options = StudyOptions(without: [.settings])

  /// Its budget has room for larger fleets than those that are compared.
  private static let enoughDevices = 3_000

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Decided> {
    var input = try StudyInput(
      loaded(environment.files), environment.console, warnsOfSettings: false)
    try input.takeSmallFleet(leaving: Self.enoughDevices, margin: 1)
    let loaded = input.loaded
    let today = input.scenario
    let named = try proposedPath.map { name in
      Proposal(
        scenario: input.bases[1].scenario, whole: try Self.whole(loaded[1]),
        settings: try decided(loaded[0], loaded[1].settingsDocument, of: input.bases[1].scenario, name))
    }
    try Self.refuseLate(today, "\(path): tapi.incidents")
    let suite = IncidentSuite(
      of: today, given: try given(loaded[0], environment.files), isStandard: !isOnlyGiven)
    let allowed = Set(allowed.flatMap(\.metrics))
    let isFetched = today.fleet.contains(where: \.fetchesSettings)
    let search = named == nil && isFetched ? try ProposalSearch(loaded[0], today, suite: suite) : nil
    let unrun = { @Sendable (settings: DecidedSettings, kept: String?) in
      Decided(suite: suite, today: today, proposed: today, settings: settings, kept: kept)
    }
    var answer: Decided?
    if !isFetched {
      answer = unrun(
        try named?.settings ?? decided(loaded[0], nil, of: today, "new Settings"),
        "no client of this fleet fetches Settings, so that none reach it")
    } else if let named {
      if !runsAnyway, !named.settings.refusals.isEmpty {
        answer = unrun(named.settings, nil)
      } else if today == named.scenario || named.settings.reachesNobody {
        answer = unrun(
          named.settings,
          "no client of this fleet reads anything else out of \(named.settings.names.proposed) than out of "
            + named.settings.names.today)
      }
    }
    let largest = input.bases.map { suite.scenario(suite.cases[0], of: $0.scenario) }
    var plan = StudyPlan(
      input, heading: input.heading(Decided.facts(suite, today)), largest: largest,
      find: { [self, answer] (runs: StudyRuns) -> Decided in
        if let answer { return answer }
        let terms = Decision.Terms(
          allowed: allowed, skipping: named == nil ? ProposalSearch.seedsBehind : 0,
          budget: budget ?? Decision.defaultBudget)
        if let search {
          let left = Decision(suite.cases(today: today, proposed: nil), terms).left
          runs.control.expect(more: search.scenarios + left.compared, alone: left.alone)
        }
        guard let proposed = try named ?? found(search, loaded[0], runs) else {
          let settings = try decided(loaded[0], nil, of: today, "the Settings found")
          let count = FigureText.count(search?.count ?? 0, "candidate")
          return unrun(
            settings,
            "none of \(count) is better in one case and worse in none, and no limit that is searched loses events"
          )
        }
        let summaries = runs.summaries
        func progress(_ decision: Decision, _ left: Decision.Left) {
          runs.control.expect(more: left.compared, alone: left.alone)
          if !options.isQuiet, let line = decision.soFar(left: left.count) {
            environment.console.printError(line + "\n")
          }
        }
        let asked = Decision(suite.cases(today: today, proposed: proposed.scenario), terms)
        progress(asked, asked.left)
        let first = [today, proposed.scenario].map { $0.with(seed: $0.seed &+ terms.skipped) }
        if let illness = try suite.illness(of: first[0], run: summaries.values) {
          let load = percent(NormalLoad(today).peakUtilisation)
          throw CommandFailure(
            .data,
            "\(path): \(illness). Its peak load is \(load) of the capacity. There is nothing to decide before it holds: "
              + "give it more capacity or less load"
              + notesOfSmallness([Variant(name: "today", scenario: today)]).map {
                "\n" + warning(ofSmallness: $0)
              }.joined())
        }
        let fitted = try suite.lengthened(for: first, run: summaries.values)
        var decision = Decision(fitted.cases(today: today, proposed: proposed.scenario), terms)
        try decision.run(
          summaries.valuesUntilCancelled, failures: runs.runs(.failure).valuesUntilCancelled,
          progress: progress)
        var decided = Decided(
          suite: fitted, today: today, proposed: proposed.scenario, decision: decision,
          settings: proposed.settings)
        let words = [
          ["decide", path], $todayPath.words, options.input.words, options.input.scaleWords,
          options.journalWords, $incidentsPath.words, isOnlyGiven ? ["--only-incidents"] : [], $allowed.words,
          runsAnyway ? ["--anyway"] : [],
        ]
        decided.command = words.flatMap(\.self)
        decided.output = options.outputPath
        decided.whole = decided.isPublished ? proposed.whole : try Self.whole(loaded[0])
        if decision.isFinished {
          try decided.add(runs)
          let trials = try named == nil ? [] : trials(of: decided.settings, loaded[1], fitted)
          decided.trials = try KeyTrials(decision, trials, run: summaries.values)
          if let cause = decided.trials?.cause, let trial = trials.first(where: { $0.key == cause.key }) {
            // Its first seeds alone: today's runs are there already.
            var instead = Decision(
              zip(decision.cases, trial.scenarios).map { one, scenario in
                Decision.Case(
                  name: one.name, phrase: one.phrase, scenarios: (one.scenarios.today, scenario))
              }, Decision.Terms(allowed: allowed, budget: 0))
            try instead.run(summaries.values, failures: summaries.values)
            decided.instead = instead
          }
        }
        return decided
      }, isFinished: \.decision.isFinished, answer: { $0.answer })
    let todayName = todayPath ?? "today's Settings"
    plan.page = (
      proposedPath.map(Decided.file) ?? loaded[0].name,
      proposedPath.map { "May \($0) be published in place of \(todayName)?" }
        ?? "Which Settings may be published in place of \(todayName)?"
    )
    let markdown = try markdownPath.map { try MarkdownFile($0, environment) }
    if let markdown, markdown.isStandardOutput { plan.text = { $0.markdown } }
    plan.goesOn = { if case .needsMore = $0.outcome { true } else { false } }
    plan.finish = { found in
      try markdown?.write(found.markdown)
      if let failure = found.failure { throw failure }
    }
    return plan
  }

  /// Returns the changes that the proposed Settings make.
  private func decided(
    _ loaded: LoadedScenario, _ proposed: SettingsDocument?, of scenario: Scenario, _ name: String,
    isFound: Bool = false
  ) throws -> DecidedSettings {
    var settings = try DecidedSettings(
      fleet: scenario.fleet, today: loaded.settingsDocument, proposed: proposed,
      names: (todayPath ?? path, name))
    if isFound { settings.found = proposed?.cdnJSON }
    return settings
  }

  /// The proposed Settings, once for each changed key that a client reads, with that key as it is today. A key whose value of today
  /// breaks a client is left out: nobody should put it back.
  private func trials(
    of settings: DecidedSettings, _ proposed: LoadedScenario, _ suite: IncidentSuite
  ) throws -> [KeyTrials.Trial] {
    try settings.differences.map(\.path).filter { settings.readers[$0] != nil }.compactMap { key in
      try settings.keeping(key).flatMap {
        if settings.breaksMore($0) { return nil }
        let scenario = try proposed.with(settings: $0).decode().scenario
        return KeyTrials.Trial(
          key: key, scenarios: suite.cases.map { suite.scenario($0, of: scenario) })
      }
    }
  }

  /// Proposed Settings, given or found.
  private struct Proposal {
    var scenario: Scenario
    /// With the whole fleet; nil: it is simulated whole.
    var whole: Scenario?
    var settings: DecidedSettings
  }

  /// Settings that a search has found; nil: none are better.
  private func found(_ search: ProposalSearch?, _ loaded: LoadedScenario, _ runs: StudyRuns) throws
    -> Proposal?
  {
    var search = search
    guard let best = try search?.best(runs), let search else { return nil }
    let scenario = try search.scenario(best)
    let document = (loaded.settingsDocument ?? SettingsDocument(HTTPConfig())).setting(
      loaded.overrides + best)
    return Proposal(
      scenario: scenario, whole: try Self.whole(loaded, best),
      settings: try decided(loaded, document, of: scenario, "the Settings found", isFound: true))
  }

  /// The fleet with today's and with the proposed Settings.
  private func loaded(_ files: Files) throws -> [LoadedScenario] {
    try ([todayPath] + (proposedPath.map { [$0] } ?? [])).map {
      try LoadedScenario(
        path, settingsPath: $0, overrides: options.input.overrides, allowsUnread: proposedPath == nil, files)
    }
  }

  /// The whole fleet, for the files to go on with; nil: it is simulated whole.
  private static func whole(_ loaded: LoadedScenario, _ more: [Override] = []) throws -> Scenario? {
    if try loaded.decode().scenario.scale == 1 { return nil }
    return try loaded.with(scale: .whole).decode(VariantChoice(name: "", overrides: more)).scenario
  }

  /// - Throws: `CommandFailure` 65 about an incident that never happens.
  private static func refuseLate(_ scenario: Scenario, _ place: String) throws {
    guard let late = scenario.tapi.incidents.first(where: { $0.start - .start >= scenario.duration }) else {
      return
    }
    throw CommandFailure(
      .data,
      "\(place): an incident begins at \(Units.text(late.start - .start)), and the run ends at "
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
    let file = try IncidentFile(text: files.text(name), name: name)
    return try file.cases.map { one in
      let scenario: Scenario
      do {
        scenario = try loaded.decode(
          VariantChoice(name: "", overrides: [Override(path: "tapi.incidents", value: one.incidents)])
        ).scenario
      } catch let problems as ScenarioProblems {
        throw problems.naming { $0.hasPrefix("tapi.incidents") ? "\(name): \(one.name)" : nil }
      }
      try Self.refuseLate(scenario, "\(name): \(one.name)")
      return IncidentSuite.Case(name: one.name, phrase: "\"\(one.name)\"", incidents: scenario.tapi.incidents)
    }
  }
}
