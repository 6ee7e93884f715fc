import FleetExperiments
import FleetMetrics
import FleetReports
import FleetStatistics
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import TextEscaping

/// The findings of `decide`, with the Settings that it is about.
struct Decided: Sendable {
  var suite: IncidentSuite
  /// The fleet with today's Settings.
  var today: Scenario
  var settings: DecidedSettings
  /// Why today's Settings stay where no run was made of others; nil: some were proposed or found.
  var kept: String?
  /// Without cases the answer needed no runs.
  var decision = Decision([])
  /// The whole fleet with the Settings to serve from now on; nil without runs.
  var served: Scenario?
  /// One run of today's and of the proposed Settings, for the picture; empty where it was stopped.
  var shown: (place: Int, runs: [VariantResult]) = (0, [])
  /// What the proposed Settings still lose, and the figures of a run without the limit to which they lose most.
  var checked: LossReport?
  /// Trials of which changed key does the harm; nil: nothing is worse, or one key alone changes.
  var trials: KeyTrials?
  /// Whether runs for the answer alone were stopped: what is decided stays decided.
  var isStopped = false
  /// The words of the story's next command, without what is proposed.
  var command: [String] = []
  /// The directory of `--out`.
  var output: String?

  /// The case that says most: the first that changes.
  private var showcase: Int {
    let hasIncident = { (place: Int) in decision.cases[place].hasIncidents }
    return (decision.cells(.worse) + decision.cells(.better)).map(\.place).first(where: hasIncident)
      ?? decision.cases.indices.first(where: hasIncident) ?? 0
  }

  /// Runs the case that says most under its first seed, for the page.
  mutating func add(_ runs: StudyRuns) throws {
    let results = try runs.runs(.result).values(of: decision.firstRuns(showcase))
    shown = (showcase, results)
    for (index, name) in ["today", "proposed"].enumerated() { shown.runs[index].name = name }
    checked = decision.remainingLoss?.report
    try checked?.checkLimit(options: runs.options, control: runs.control)
  }

  enum Outcome: String, CaseIterable {
    case publish
    case keep = "keep today's"
    case refuse = "do not publish"
    case needsMore = "needs more runs"
  }

  var outcome: Outcome {
    if kept != nil { return .keep }
    if settings.isBreaking || isUnrun { return .refuse }
    return switch decision.outcome {
    case .publish: .publish
    case .worse, .noBetter: settings.found == nil ? .refuse : .keep
    case .needsMore: .needsMore
    }
  }

  /// Whether the answer needed no decision by runs.
  private var isUnrun: Bool { decision.cases.isEmpty }

  /// Whether a price, which a person may accept, alone keeps the proposed Settings back.
  private var isAtAPrice: Bool { !settings.isBreaking && decision.isAtAPrice && !isBetterWithoutCause }

  /// Whether the proposed Settings gain as much without the key that does the harm.
  private var isBetterWithoutCause: Bool {
    guard settingsWithoutCause != nil, let instead = trials?.instead, !instead.isRefused,
      !instead.cells(.better).isEmpty
    else { return false }
    return !decision.isAtAPrice || Set(instead.gains).isSuperset(of: decision.gains)
  }

  var isPublished: Bool { outcome == .publish }

  /// `DO NOT PUBLISH new.json`
  private var finding: String {
    let proposed = OutputDirectory.split(settings.names.proposed).name
    return switch outcome {
    case .keep: "KEEP TODAY'S SETTINGS"
    case .refuse: isAtAPrice ? "AT A PRICE: \(proposed)" : "DO NOT PUBLISH \(proposed)"
    case .publish: "PUBLISH \(proposed)"
    case .needsMore: "NOT DECIDED: \(proposed)"
    }
  }

  /// How the command ends: nil to publish, or to keep today's.
  var failure: CommandFailure? {
    // The story has said it all.
    switch outcome {
    case .publish, .keep: nil
    case .refuse: CommandFailure(.failed, "")
    case .needsMore: CommandFailure(.undecided, "")
    }
  }

  // MARK: Words

  /// What to do, what the files do to clients whatever happens, what the runs show, and which changes reach nobody.
  var story: Story {
    let fleet = FigureText.fleet(of: today.fullSize, scale: isUnrun ? 1 : Int64(today.scale))
    var story = Story(
      finding,
      basis: isUnrun
        ? "\(fleet), no run"
        : "\(fleet), \(FigureText.count(decision.cases.count, "case")), \(FigureText.count(decision.runCount, "run"))"
    )
    if let kept {
      story.add(.reason, kept)
    } else if isUnrun {
      story.add(.breaks, settings.refusals)
      story.add(.note, "no run was made for that; --anyway makes them nevertheless")
    } else {
      if outcome == .keep { story.add(.reason, "the best that a search found:") }
      story.add(.breaks, settings.harms.map(text))
      decision.tell(&story, trials: trials, checked: checked)
    }
    let unread = settings.unread.map { path in
      path + (SettingsDocument.correction(of: path).map { " (did you mean \($0)?)" } ?? "")
    }
    if !unread.isEmpty {
      story.add(
        .unread,
        "\(unread.joined(separator: ", ")): no client of this fleet reads \(unread.count == 1 ? "it, so it is" : "them, so they are") useless to you"
      )
    }
    story.add(.next, cure)
    story.add(.next, next)
    return story
  }

  /// The command to go on with.
  private var next: String? {
    if isUnrun { return nil }
    func proposing(_ file: String, _ more: [String]?) -> String? {
      more.map { (command + ["--proposed", file] + $0).shellCommand }
    }
    let isAccepted = "if what is worse is accepted: "
    switch outcome {
    case .needsMore:
      // With some to spare, in millions.
      let runs = Double(decision.runCount)
      let share = (runs + Double(decision.missingRuns ?? 0)) / max(runs, 1)
      let millions = Int((Double(decision.attempts) * share * 1.2 / 1e6).rounded(.up))
      let needed = millions * 1_000_000 > Decision.defaultBudget ? ["--budget", "\(millions)M"] : []
      // What a search found is found again.
      let proposal = settings.found == nil ? ["--proposed", settings.names.proposed] : []
      return (command + proposal + (output.map { ["--out", $0] } ?? []) + needed).shellCommand
    case .refuse:
      if isBetterWithoutCause { return proposing(path(of: .withoutCause), []) }
      return proposing(settings.names.proposed, decision.waiver).map { isAccepted + $0 }
    case .keep:
      return proposing(path(of: .settings), decision.waiver).map { isAccepted + $0 }
    case .publish: return nil
    }
  }

  /// Where a file of this answer is written.
  private func path(of file: FileName) -> String { "\(output ?? "DIR")/\(file)" }

  /// What would keep the events that the proposed Settings still lose, where they are not to be published as they are.
  private var cure: String? {
    guard outcome == .refuse, let cure = checked?.cure else { return nil }
    let file = isBetterWithoutCause ? path(of: .withoutCause) : settings.names.proposed
    return "set \(cure) in \(file): a run of the case that loses most lost none then"
  }

  private func text(_ harm: DecidedSettings.Harm) -> String {
    let isMended =
      harm.finding.effect.breaksClient && !harm.isProposed
      && !settings.harms.contains { $0.isProposed && $0.client == harm.client }
    return harm.text
      + (isMended
        ? "; the proposed file mends that" + (isPublished ? "" : ": publish that key in any case") : "")
  }

  /// The assumptions of the answer, for the person who signs it: the fleet, its load, the endpoint, and the number of runs.
  private var assumptions: [String] {
    let fleet = today
    let (load, scale) = (NormalLoad(fleet.withoutIncidents), Double(fleet.scale))
    let cohorts = fleet.fleet.map { cohort in
      let events = NormalLoad.eventsPerSecond(of: cohort, over: fleet.duration) * 3_600
      let varies = cohort.events.varies || cohort.sessions?.curve != nil
      return
        "\(cohort.nameWithClient) \(FigureText.amount(Double(cohort.devices) * scale)) with \(MetricText.plain(events)) events an hour each"
        + (varies ? " in these hours" : "") + ", " + Self.use(of: cohort)
    }
    // As the runs without an incident have it; where there are none, as the scenario says.
    let seconds = Double(suite.duration.microseconds) / 1e6
    let quiet = decision.cases.first { $0.scenarios.today.isItsOwnTwin }.map {
      SampleStatistics($0.today.map { Double($0.attempts) }).mean
    }
    let asked = quiet.map { $0 / seconds / max(load.capacityPerSecond, 1e-9) } ?? load.utilisation
    let ties = decision.cases.lazy.map { TimeOutTie.all(in: $0.scenarios.today) }
      .first { !$0.isEmpty }
    let tie = ties?.first.map {
      "A time-out of \(FigureText.span($0.timeout.microseconds)) ends exactly at a flush. Real ones end a moment later: "
        + "--set fleet.\($0.cohort).timeout=\(Units.text($0.enough)) shows what that changes."
    }
    let begin = suite.cases.compactMap(\.start).min().map {
      " Incidents begin \(FigureText.span($0.microseconds)) after its beginning, or later."
    }
    let peak = load.peakUtilisation * asked / max(load.utilisation, 1e-9)
    let runs = decision.cases.map { "\($0.name) \($0.today.count) and \($0.proposed.count)" }
    let size = FigureText.fleet(of: fleet.fullSize, scale: Int64(fleet.scale))
    return [
      "The fleet: \(size): \(cohorts.joined(separator: "; "))."
    ] + (fleet.question.map { ["The scenario: \($0)"] } ?? []) + [
      "The endpoint takes \(FigureText.amount(load.capacityPerSecond * scale)) requests a second, as the fleet's file says: if that is a guess, "
        + "decide again with less and with more (--set). "
        + "Without an incident the fleet asks \(percent(asked)) of that, and about \(percent(peak)) at its busiest time.",
      "The files: today's \(settings.names.today), proposed \(settings.names.proposed).",
      "A run: \(Self.facts(suite, today))." + (begin ?? ""),
      "Runs with today's and with the proposed Settings: \(runs.joined(separator: ", ")). Figures are means over the seeds that both have; "
        + "failures are of all runs.",
    ] + [tie].compactMap(\.self)
  }

  /// When the apps of a cohort are open, and what their system lets them do in the background.
  private static func use(of cohort: Cohort) -> String {
    guard let sessions = cohort.sessions else { return "always open" }
    let background =
      cohort.os.map { $0.system.map { "\($0.rawValue) in the background" } ?? "in the background by windows" }
      ?? "closed in the background"
    return
      "open \(FigureText.percent(sessions.share)) of the day for \(FigureText.span(Int64(sessions.length.mean))) at a time, \(background)"
  }

  /// How long the runs are, and the cases.
  static func facts(_ suite: IncidentSuite, _ today: Scenario) -> String {
    let longer = suite.lengthened.map {
      "\($0.name) \(FigureText.span(suite.duration(of: $0).microseconds))"
    }
    let notes = (suite.duration > today.duration ? ["lengthened to look for a recovery"] : []) + longer
    return FigureText.span(suite.duration.microseconds)
      + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
      + ", cases: \(suite.cases.map(\.name).joined(separator: ", "))"
  }

  // MARK: Answer

  static let document = CommandDocument<Findings<Decided>>.study(
    "whether Settings are to be published, and why.",
    [
      .choice("decision", "What to do.") { $0.outcome },
      .init("missingRuns", "About how many more runs would decide it; null: it is decided.") {
        $0.outcome == .needsMore ? $0.decision.missingRuns : nil
      },
      .init("today", "The Settings file of today.") { $0.settings.names.today },
      .init("proposed", "The proposed Settings file.") { $0.settings.names.proposed },
      .init("runs", "Runs that were made, twins not counted.") { $0.decision.runCount },
      .init("attempts", "Attempts that they simulated.") { $0.decision.attempts },
      .list(
        "settings", "Keys whose values differ.",
        JSONShape<SettingsDocument.Difference>([
          .init("key", "From the section on.") { $0.path },
          .init("today", "Its value today; null: it is not there.") { $0.old },
          .init("proposed", "Its proposed value; null: it is not there.") { $0.new },
        ])
      ) { $0.settings.differences },
      .init(
        "cause",
        "Changed keys each of which, put back to today's value, ends the harm that the verdict names first; empty: no key alone does."
      ) { $0.trials?.harmful.map(\.key) ?? [] },
      .list(
        "cases", "What the Settings were run through.",
        JSONShape<Decision.Case>([
          .init("name", "Its name.") { $0.name },
          .init("what", "In words.") { $0.phrase },
          .init("failures", "Runs with the proposed Settings that fail.") { $0.failures },
          .init("radioWakeUpsToday", "Of a device in a day with today's Settings: what costs its battery.") {
            $0.today.wakeUps
          },
          .init("radioWakeUpsProposed", "The same with the proposed Settings.") { $0.proposed.wakeUps },
          .init(
            "risk_high_95_ratio", "The largest share of runs that may fail with them, with 95 % confidence."
          ) { $0.risk },
        ])
      ) { $0.decision.cases },
      .rows("criteria", "The rows of `decision.csv`.", Decision.columns) { $0.decision.rows },
    ] as [JSONShape<Decided>.Member], story: { $0.story })

  private var figures: Answer.Part {
    .table(
      decision.figures, title: "The figures, of the whole fleet",
      note: decision.cases.map { "\($0.name): \($0.phrase)" }.joined(separator: "; ") + ".")
  }

  private var changes: Answer.Part {
    let clients = Set(today.fleet.map(\.preset.name)).count
    let rows = settings.differences.map { difference in
      let readers = settings.readers(of: difference.path).count
      return [
        difference.path, difference.old ?? "not set", difference.new ?? "not set",
        readers == 0 ? "no client" : readers == clients ? "all" : "\(readers) of \(clients) clients",
      ]
    }
    return .table(
      TextTable(header: ["key", "today", "proposed", "read by"], rows: rows, words: 4),
      title: "What changes in the Settings")
  }

  private static func lost(_ losses: TextTable) -> Answer.Part {
    .table(
      losses, title: "Who loses what, and where late events wait",
      note: "The mean of the runs under the same seeds, of the whole fleet.")
  }

  var answer: Answer {
    var answer = Answer(story, facts: isUnrun ? "" : Self.facts(suite, today))
    let lost = decision.losses(atMost: 40)
    answer.details = [figures, Self.lost(lost), changes]
    answer.data = [OutputFile(.decision, CSVFile.bytes(Decision.columns, decision.rows))]
    if !settings.differences.isEmpty { answer.page = [changes] }
    if isUnrun { return answer }
    answer.data +=
      (settings.found.map { [OutputFile(.settings, text: $0)] } ?? [])
      + (settingsWithoutCause.map { [OutputFile(.withoutCause, text: $0.cdnJSON)] } ?? []) + suiteFiles
    if !shown.runs.isEmpty {
      let overlays = TrialReport(Trial(shown.runs)).overlays(
        title: "Today and proposed, around \(decision.cases[shown.place].phrase)",
        note:
          "One run of each, under seed \(shown.runs[0].summary.seed); the tables have the means of all runs. "
      )
      answer.page.insert(overlays, at: 0)
    }
    answer.page.append(.folded([figures], title: "What was better or worse, case by case?"))
    if !lost.rows.isEmpty { answer.page.append(.folded([Self.lost(lost)], title: "Who loses what?")) }
    answer.page.append(.folded([.list(assumptions)], title: "What was assumed?"))
    if !settings.readings.isEmpty {
      answer.page.append(
        .folded([.list(settings.readings)], title: "What do the clients make of the proposed Settings?"))
    }
    let words = ["Twin", "Endpoint well", "Caught up", "Possible", "Lost", "Late", "99 % delivered"]
    answer.page.append(.terms(PageWords.comparison.terms(words) + PageWords.decision.terms))
    return answer
  }

  /// The answer for a pull request.
  var markdown: String {
    let story = story
    let parts = [
      figures, Self.lost(decision.losses(atMost: 12)), changes,
      .list(isUnrun ? [] : assumptions, title: "What was assumed"),
      .list(settings.readings, title: "What the clients make of them"),
    ]
    return "\(MarkdownFile.opening): \(story.title)\n\n"
      + story.lines.map { "- **\($0.subject.rawValue)** \(Escaping.cell($0.text))\n" }.joined() + "\n"
      + parts.map(\.markdown).joined()
  }

  /// The proposed Settings with the key that makes them worse as it is today.
  private var settingsWithoutCause: SettingsDocument? {
    trials?.harmful.first.flatMap { settings.keeping($0.key) }
  }

  /// A scenario for each case with the Settings that are to be served from now on, and their results as a baseline. With them
  /// `check` warns anyone who changes something later.
  private var suiteFiles: [OutputFile] {
    guard let served else { return [] }
    var baseline = BaselineFile(path: "")
    let scenarios = zip(suite.cases, decision.cases).map { incidents, one in
      let scenario = suite.scenario(incidents, of: served)
      // All that were compared: a check of the same two files comes to the same.
      let runs = Array((isPublished ? one.proposed : one.today).prefix(one.pairs))
      let mayGetWorse = decision.terms.allowed.map { ($0, Metric.Tolerance.informational) }
      var recorded = Baseline(
        scenario: one.name, overrides: [],
        seeds: SeedRange(first: runs[0].seed, count: runs.count), summaries: runs,
        tolerances: Dictionary(uniqueKeysWithValues: mayGetWorse))
      recorded.results = CommandLineTool.resultsVersion
      baseline.replace(recorded)
      return OutputFile(
        "\(FileName.suite)/\(one.name).json5",
        text:
          "// \(one.phrase), with \(isPublished ? "the proposed" : "today's") Settings\n"
          + scenario.normalisedJSON(at: Scaling(divisor: Int(today.scale)))
      )
    }
    return scenarios + [OutputFile("\(FileName.suite)/\(BaselineFile.name)", text: baseline.text)]
  }
}

// MARK: - Markdown

extension Answer.Part {
  /// A table or a list as Markdown has it; empty without rows.
  fileprivate var markdown: String {
    func section(_ title: String?, _ body: String) -> String { "### \(title ?? "")\n\n\(body)\n" }
    func row(_ cells: [String]) -> String {
      "| " + cells.map(Escaping.cell).joined(separator: " | ") + " |\n"
    }
    switch self {
    case .table(let table, let title, _) where !table.rows.isEmpty:
      let rule = table.columns.map { $0.isNumber ? "---:" : "---" }
      return section(title, ([table.columns.map(\.title), rule] + table.rows).map(row).joined())
    case .list(let items, let title, _) where !items.isEmpty:
      return section(title, items.map { "- \($0)\n" }.joined())
    default: return ""
    }
  }
}

/// Where an answer goes as Markdown.
struct MarkdownFile {
  /// How one begins.
  static let opening = "## fleetsim decide"
  private let path: String
  private let file: SingleFile?
  private let files: Files
  var isStandardOutput: Bool { path == "-" }
  /// - Throws: `CommandFailure` 73.
  init(_ path: String, _ environment: CommandEnvironment) throws {
    (self.path, files) = (path, environment.files)
    // The summary of a job on GitHub has what others wrote as well.
    let isSummary = environment.variables["GITHUB_STEP_SUMMARY"] == path
    file =
      path == "-" || isSummary
      ? nil : try SingleFile(path, ours: [Self.opening], option: "--markdown", files)
  }

  func write(_ text: String) throws {
    if let file { return try file.write(text) }
    if isStandardOutput { return }
    let before = files.isThere(path) ? try files.text(path) : ""
    try files.write(Array((before + text).utf8), to: path, option: "--markdown")
  }
}
