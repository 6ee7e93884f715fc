import FleetExperiments
import FleetMetrics
import FleetStatistics
import ScenarioModel

/// `fleetsim check`: scenarios against what they gave when they were recorded.
struct CheckCommand: Study {
  static let documents: [any DescribedDocument] = [CheckFindings.document]
  static let help = CommandSpecification(
    name: "check", abstract: "Check scenarios against a recorded baseline: a regression test for CI.",
    discussion: [
      "Runs each scenario (without its compare section) under the seeds of its baseline and compares every metric of "
        + "summary.csv, seed by seed, with what was recorded. Prints what moved and by how much; the exit code is 1 if a "
        + "metric is worse than its tolerance allows.",
      "A tolerance stands beside each metric in the baseline, to be edited and kept by --record: \"notSignificantlyWorse\" "
        + "(worse by more than 1 % of the recorded mean, and beyond chance: a paired t test over the seeds, with Holm's "
        + "adjustment, the verdict's metrics first), { \"relative\": 0.05 } or { \"absolute\": 10 } for the mean, or "
        + "\"informational\" (told, never judged), which metrics without a better direction have.",
    ],
    examples: [
      .init(
        "fleetsim check my.json5 --record --scale 1:20",
        "Record a small version of a scenario that gives the same answer:"),
      .init("fleetsim check scenario.json5", "Is it still as good?"),
      .init(
        "fleetsim check scenario.json5 --set settings.backoffConfig.jitterStrategy=none",
        "What would these Settings change?"),
    ])

  private enum Format: String, CaseIterable {
    case text, github, junit, json
  }

  @Argument(.scenarios) private var paths: [String]
  @Option(
    "baseline", "file", .text, help: "The baseline. (default: baseline.json beside each scenario)")
  private var baselinePath: String?
  @Flag("record", help: "Write what the scenarios give into the baseline.") private var records: Bool
  @Option(
    "seeds", "n", .count(1...mostSeeds),
    help: "Seeds to record, from the scenario's on. (default: as before, or \(defaultSeeds))")
  private var seeds: Int?
  @Option(
    "set", "path=value", each: Assignment.setting,
    help: "Set a key of the scenario. With --record it becomes part of the baseline, as --scale does.")
  private var settings: [Assignment]
  @Option(.scale) private var scale: String?
  @Option(
    "format", "format", .name { _, names in InvalidValue("\(names.joined(separator: ", ")).") },
    help: "text, github (annotations of GitHub Actions), junit (XML) or json, as --json. (default: text)")
  private var askedFormat: Format?
  let options = StudyOptions(
    .check, without: [.journal, .seed, .settings, .set, .scale, .out],
    quiet: "Print what became worse, and one line a scenario.")

  private static let defaultSeeds = 10
  static let mostSeeds = 10_000
  private var format: Format { askedFormat ?? (options.isJSON ? .json : .text) }
  /// `path=value`, as given.
  private var overrides: [String] { settings.map(\.text) + (scale.map { ["scale=\($0)"] } ?? []) }

  /// A scenario and what is recorded of it.
  private struct Subject {
    var path: String
    var name: String
    var file: BaselineFile
    /// nil: nothing yet.
    var baseline: Baseline?
    /// `path=value`, with which it runs.
    var overrides: [String] = []

    func loaded() throws -> LoadedScenario {
      try LoadedScenario(
        path, overrides: overrides.flatMap { try Assignment.setting.read($0).overrides })
    }
  }

  func plan() throws -> StudyPlan<[[RunSummary]]> {
    if options.isJSON, askedFormat != nil || records {
      throw UsageError(
        "The option '--json' prints what a check found: it goes neither with '--format' nor with '--record'.")
    }
    if let seeds, seeds < 2 {
      throw UsageError("The value '1' is invalid for '--seeds <n>': one seed has no interval; at least 2.")
    }
    if seeds != nil, !records {
      throw UsageError("The option '--seeds' goes with '--record': a check takes the seeds of the baseline.")
    }
    var subjects = try subjects()
    // Whatever is wrong with a file is said before anything runs.
    let places = records ? try outputs(subjects) : []
    for index in subjects.indices {
      let recorded = subjects[index].baseline?.overrides ?? []
      subjects[index].overrides =
        !records ? recorded + overrides : overrides.isEmpty ? recorded : overrides
    }
    let input = try StudyInput(subjects.map { try $0.loaded() })
    let scenarios = input.bases.map(\.scenario)
    if records {
      for (subject, scenario) in zip(subjects, scenarios) { try warn(of: subject, scenario) }
    }
    let seeds = zip(subjects, scenarios).map { subject, scenario in
      let recorded = subject.baseline?.seeds
      return records
        ? SeedRange(first: scenario.seed, count: self.seeds ?? recorded?.count ?? Self.defaultSeeds)
        : recorded!
    }
    let names = subjects.map(\.name)
    return StudyPlan(
      input: input, heading: "",
      memory: ComparisonMemory(leaving: scenarios, seeds: 2 * (seeds.map(\.count).max() ?? 1)),
      store: { nil },
      find: { runs in
        try scenarios.indices.map { index in
          try runs.replications(
            [Variant(name: names[index], scenario: scenarios[index])],
            ReplicationPlan(firstSeed: seeds[index].first, count: seeds[index].count)
          ).rows
        }
      },
      report: .own { found, _ in
        if records {
          try record(subjects, seeds, found, places)
        } else {
          try tell(subjects, found)
        }
      })
  }

  /// The scenarios with the files that their baselines are in.
  private func subjects() throws -> [Subject] {
    var files: [String: BaselineFile] = [:]
    var seen: Set<String> = []
    let places = try paths.map { path in
      let name = try LoadedScenario(path).name
      let place = baselinePath ?? OutputDirectory.sibling(of: path, BaselineFile.name)
      return (path: path, name: name, place: place)
    }
    for (_, name, place) in places where !seen.insert(place + "\n" + name).inserted {
      throw UsageError(
        "Two scenarios would both be called '\(name)' in \(place): check them one by one, each with a "
          + "baseline of its own.")
    }
    return try places.map { path, name, place in
      let isThere = access(place, F_OK) == 0
      guard isThere || records else {
        throw CommandFailure(
          .noInput,
          "\(place): there is no baseline yet; record one with: fleetsim check \(path) --record")
      }
      let file = try files[place] ?? (isThere ? BaselineFile(contentsOf: place) : BaselineFile(path: place))
      files[place] = file
      let baseline = file.baseline(of: name)
      if !records { try check(baseline, of: name, in: file, path) }
      return Subject(path: path, name: name, file: file, baseline: baseline)
    }
  }

  private func check(
    _ baseline: Baseline?, of name: String, in file: BaselineFile, _ path: String
  ) throws(CommandFailure) {
    guard let baseline else {
      let known = file.baselines.map { "'\($0.scenario)'" }.joined(separator: ", ")
      throw CommandFailure(
        .data,
        "\(file.path): holds no baseline of '\(name)', only of \(known.isEmpty ? "nothing" : known); "
          + "record it with: fleetsim check \(path) --record")
    }
    try ResultsVersion.check(
      baseline.results, of: "\(file.path): the baseline of '\(name)' was recorded with",
      "record it anew with: fleetsim check \(path) --record")
  }

  // MARK: Recording

  /// The files that baselines are written to, each once.
  private func outputs(_ subjects: [Subject]) throws -> [SingleFile] {
    var paths: [String] = []
    for subject in subjects where !paths.contains(subject.file.path) { paths.append(subject.file.path) }
    return try paths.map { try SingleFile($0, ours: [BaselineFile.opening], option: "--baseline") }
  }

  private func record(
    _ subjects: [Subject], _ seeds: [SeedRange], _ found: [[RunSummary]], _ outputs: [SingleFile]
  ) throws {
    var files: [String: BaselineFile] = [:]
    var recorded = ""
    for (subject, (seeds, summaries)) in zip(subjects, zip(seeds, found)) {
      let tolerances = Dictionary(
        subject.baseline?.entries.map { ($0.metric, $0.tolerance) } ?? [],
        uniquingKeysWith: { first, _ in first })
      var baseline = Baseline(
        scenario: subject.name, overrides: subject.overrides, seeds: seeds, summaries: summaries,
        tolerances: tolerances)
      baseline.results = CommandLineTool.resultsVersion
      files[subject.file.path, default: subject.file].replace(baseline)
      recorded +=
        "\(subject.name): \(FigureText.count(baseline.entries.count, "metric")) of "
        + "\(FigureText.count(seeds.count, "seed")) recorded in \(subject.file.path)\n"
        + Self.notices(baseline)
      if let illness = HealthWording.sentence(summaries.map(\.baseline)) {
        Console.printError(
          "\(subject.path): warning: \(illness); what a check holds it to is no well state\n")
      }
      if baseline.neverRecovers {
        Console.printError(
          "\(subject.path): warning: no run of this baseline recovers, so a check against it can't notice that the fleet "
            + "recovers later; give the scenario more capacity, a shorter incident or a longer duration\n")
      }
    }
    for output in outputs { try output.write(files[output.path]?.text ?? "") }
    if !options.isQuiet { try Console.print(recorded) }
  }

  /// How small a change a check against this baseline will notice.
  private static func notices(_ baseline: Baseline) -> String {
    let shares = baseline.noticedShares.compactMap { metric, share in
      share.map { "\(metric.name) from \(MetricText.plain($0 * 100)) %" }
    }
    return shares.isEmpty
      ? "" : "Changes noticed in nine of ten checks: \(shares.joined(separator: ", ")) of the mean on\n"
  }

  /// Warns of a fleet that was made smaller in front of the same server, which has no herd worth recording, and of a small one.
  private func warn(of subject: Subject, _ scenario: Scenario) throws {
    if !subject.overrides.isEmpty {
      let unchanged = try LoadedScenario(subject.path).decode().scenario
      let (load, meant) = (NormalLoad(scenario).utilisation, NormalLoad(unchanged).utilisation)
      if load.isFinite, meant.isFinite, max(load, meant) > 1.25 * min(load, meant) {
        Console.printError(
          "\(subject.path): warning: with these --set the normal load is \(percent(load)) of the capacity, without them "
            + "\(percent(meant)); to record a smaller fleet under the same load, write --scale 1:20\n")
      }
    }
    for note in Discreteness(scenario).notes {
      Console.printError("\(subject.path): warning: small enough for chance to decide: \(note)\n")
    }
  }

  // MARK: Checking

  private func tell(_ subjects: [Subject], _ found: [[RunSummary]]) throws {
    let outcomes = zip(subjects, found).compactMap { subject, summaries in
      subject.baseline.map {
        CheckOutcome(
          baseline: $0, file: subject.file, scenarioPath: subject.path, changes: $0.changes(to: summaries),
          twins: summaries.map(\.baseline))
      }
    }
    switch format {
    case .text:
      try Console.print(outcomes.map { CheckReport.text($0, isQuiet: options.isQuiet) }.joined())
    case .github: try Console.printData(CheckReport.github(outcomes))
    case .junit: try Console.printData(CheckReport.junit(outcomes))
    case .json:
      try Console.printData(CheckFindings.document.text(Self.help.name, CheckFindings(outcomes: outcomes)))
    }
    let failed = outcomes.filter { !$0.worse.isEmpty }
    guard !failed.isEmpty else { return }
    let names = failed.map {
      "\($0.baseline.scenario): \($0.worse.map(\.metric.name).joined(separator: ", "))"
    }
    throw CommandFailure(
      .failed,
      "Worse than recorded: \(names.joined(separator: "; ")). If that is meant: fleetsim check … --record")
  }
}

extension OutputDirectory {
  /// The path of a file in the same folder.
  fileprivate static func sibling(of path: String, _ name: String) -> String {
    let folder = split(path).parent
    return folder == "." && !path.hasPrefix("./") ? name : folder == "/" ? "/" + name : folder + "/" + name
  }
}

/// What came of checking one scenario.
struct CheckOutcome {
  var baseline: Baseline
  var file: BaselineFile
  var scenarioPath: String
  var changes: [MetricChange]
  /// What the twins say of the fleet now, seed by seed.
  var twins: [BaselineHealth]

  var moved: [MetricChange] { changes.filter { $0.judgement != .unchanged } }
  var worse: [MetricChange] { changes.filter { $0.judgement == .worse } }

  /// What is said first: the verdict's metrics that became worse, or the first of the others.
  var causes: [MetricChange] {
    let headline = worse.filter(\.metric.isHeadline)
    return headline.isEmpty ? Array(worse.prefix(1)) : headline
  }

  /// The others that became worse.
  var following: [MetricChange] {
    let causes = Set(causes.map(\.metric.name))
    return worse.filter { !causes.contains($0.metric.name) }
  }

  /// Where a metric stands in the baseline.
  func line(_ change: MetricChange) -> Int {
    file.lines[baseline.scenario]?[change.metric.name] ?? 1
  }
}

/// The forms of what a check found.
enum CheckReport {
  /// What became worse: the verdict's metrics in full, the others that went with them in a line; then what else moved.
  static func text(_ outcome: CheckOutcome, isQuiet: Bool) -> String {
    let moved = outcome.moved
    var text = heading(outcome) + "\n"
    let (causes, rest) = (outcome.causes, outcome.following)
    for change in causes { text += "  \(line(change))\n" }
    if !rest.isEmpty { text += "         with it: \(shortly(rest))\n" }
    for judgement in [MetricChange.Judgement.better, .tolerated] where !isQuiet {
      for change in moved where change.judgement == judgement { text += "  \(line(change))\n" }
    }
    return text
  }

  /// `retries +12 %, answers_429 from 0 to 31`.
  private static func shortly(_ changes: [MetricChange]) -> String {
    changes.map { change in
      let (then, now) = (change.recorded.mean, change.present.mean)
      return then != 0
        ? "\(change.metric.name) \(percentage(change.difference.mean / abs(then)))"
        : "\(change.metric.name) from 0 to \(MetricText.value(change.metric, now))"
    }.joined(separator: ", ")
  }

  static func heading(_ outcome: CheckOutcome) -> String { result(outcome) + health(outcome.twins) }

  /// `; this fleet does not hold even without any incident: it loses …`, or nothing.
  static func health(_ twins: [BaselineHealth]) -> String {
    HealthWording.sentence(twins).map { "; " + $0 } ?? ""
  }

  private static func result(_ outcome: CheckOutcome) -> String {
    let (count, moved) = (outcome.changes.count, outcome.moved)
    let head = "\(outcome.baseline.scenario) (\(FigureText.count(outcome.baseline.seeds.count, "seed"))): "
    if moved.isEmpty { return head + (count == 1 ? "its metric" : "all \(count) metrics") + " as recorded" }
    let kinds = [
      (MetricChange.Judgement.worse, "worse"), (.better, "better"), (.tolerated, "moved within tolerance"),
    ]
    let parts = kinds.compactMap { kind, word in
      let number = moved.count { $0.judgement == kind }
      return number > 0 ? "\(number) \(word)" : nil
    }
    return head + "of \(FigureText.count(count, "metric")) \(parts.joined(separator: ", "))"
  }

  /// `worse   recovery_s: 12 min 28 s ± 20 s, now 1 h 20 min ± 1 min: +1 h 08 min ± 1 min, not significantly worse is allowed`
  private static func line(_ change: MetricChange) -> String {
    let word =
      switch change.judgement {
      case .unchanged: "same"
      case .tolerated: "moved"
      case .better: "better"
      case .worse: "WORSE"
      }
    let padding = String(repeating: " ", count: 7 - word.count)
    return "\(word)\(padding)\(change.metric.name): \(movement(change))"
  }

  /// What it was, what it is, by how much it moved, and what was allowed.
  static func movement(_ change: MetricChange) -> String {
    let metric = change.metric
    var text = value(metric, change.recorded, change.entry.values)
    text += ", now " + value(metric, change.present, change.now)
    if change.appearances > 0 {
      text += "; in \(change.appearances) of \(change.now.count) runs it has a value in only one of the two"
    } else {
      text += change.censoredNow > change.censoredThen ? "; by at least " : "; by "
      text += interval(metric, change.difference.sample, isSigned: true)
      if change.recorded.mean != 0 {
        text += " (\(percentage(change.difference.mean / abs(change.recorded.mean))))"
      }
    }
    if change.judgement == .worse { text += "; allowed is \(allowed(change))" }
    return text
  }

  private static func allowed(_ change: MetricChange) -> String {
    let way =
      switch change.metric.direction {
      case .lowerIsBetter: "more"
      case .higherIsBetter: "less"
      case .neither: "more or less"
      }
    switch change.entry.tolerance {
    case .relative(let share): return "\(MetricText.plain(share * 100)) % \(way)"
    case .absolute(let limit): return "\(MetricText.value(change.metric, limit)) \(way)"
    case .notSignificantlyWorse:
      return "what chance can explain, or \(MetricText.plain(Metric.relevantShare * 100)) %"
    case .informational: return "anything"
    }
  }

  /// `12 min ± 20 s`, `12 min ± 20 s (not within 15 min in 2 of 5 runs)`, `not within 15 min in 5 of 5 runs`
  private static func value(_ metric: Metric, _ sample: SampleStatistics, _ values: [MetricValue]) -> String {
    if sample.count == 0 { return "no value" }
    let text = interval(metric, sample)
    let horizons = values.filter(\.isCensored).compactMap(\.horizon)
    guard let horizon = horizons.min() else { return text }
    let never =
      "not within \(MetricText.value(metric, horizon)) in \(horizons.count) of \(values.count) \(FigureText.noun("run", values.count))"
    return horizons.count == values.count ? never : "\(text) (\(never))"
  }

  private static func interval(
    _ metric: Metric, _ sample: SampleStatistics, isSigned: Bool = false
  ) -> String {
    MetricText.interval(metric, sample.mean, ConfidenceInterval(sample)?.halfWidth, isSigned: isSigned)
  }

  private static func percentage(_ share: Double) -> String {
    (share > 0 ? "+" : "") + MetricText.plain(share * 100) + " %"
  }

  // MARK: Machines

  /// Workflow commands: for each scenario one error at the first cause's line, one notice for what became better.
  static func github(_ outcomes: [CheckOutcome]) -> String {
    var text = ""
    for outcome in outcomes {
      if let cause = outcome.causes.first {
        let others = outcome.causes.dropFirst().map { "; \($0.metric.name): \(movement($0))" }.joined()
        let rest = outcome.following.isEmpty ? "" : "; with it: \(shortly(outcome.following))"
        text += annotation("error", outcome, cause, movement(cause) + others + rest)
      }
      let better = outcome.moved.filter { $0.judgement == .better }
      if let first = better.first {
        text += annotation("notice", outcome, first, "better than recorded: \(shortly(better))")
      }
      text += heading(outcome) + "\n"
    }
    return text
  }

  private static func annotation(
    _ kind: String, _ outcome: CheckOutcome, _ change: MetricChange, _ text: String
  ) -> String {
    let title = "\(outcome.baseline.scenario): \(change.metric.name)"
    return
      "::\(kind) file=\(property(outcome.file.path)),line=\(outcome.line(change)),title=\(property(title))::"
      + message(text) + "\n"
  }

  private static func message(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    message(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }

  /// A suite a scenario, a case a metric.
  static func junit(_ outcomes: [CheckOutcome]) -> String {
    let cases = outcomes.reduce(0) { $0 + $1.changes.count }
    let failures = outcomes.reduce(0) { $0 + $1.worse.count }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites name=\"fleetsim check\" tests=\"\(cases)\" failures=\"\(failures)\">\n"
    for outcome in outcomes {
      let name = attribute(outcome.baseline.scenario)
      text +=
        "  <testsuite name=\"\(name)\" tests=\"\(outcome.changes.count)\" failures=\"\(outcome.worse.count)\">\n"
      for change in outcome.changes {
        let opening = "    <testcase classname=\"\(name)\" name=\"\(attribute(change.metric.name))\""
        if change.judgement == .worse {
          text +=
            "\(opening)>\n      <failure message=\"\(attribute(movement(change)))\"/>\n    </testcase>\n"
        } else {
          text += "\(opening)/>\n"
        }
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  private static func attribute(_ text: String) -> String {
    String(
      text.unicodeScalars.map { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case _ where scalar.value < 0x20: " "
        default: String(scalar)
        }
      }.joined())
  }
}

/// What `check` found.
struct CheckFindings: Sendable {
  var outcomes: [CheckOutcome]

  static let document = CommandDocument<CheckFindings>(
    meaning: "what moved against the baseline.",
    shape: JSONShape([
      .init("verdict", "A sentence for each scenario.") {
        $0.outcomes.map(CheckReport.heading).joined(separator: "\n")
      },
      .init("isWorse", "Whether a metric is worse than its tolerance allows: the exit code is 1.") {
        $0.outcomes.contains { !$0.worse.isEmpty }
      },
      .list("scenarios", "In the order asked for.", scenario) { $0.outcomes },
    ]))

  private static let scenario = JSONShape<CheckOutcome>([
    .init("scenario", "The scenario file as it was named.") { $0.scenarioPath },
    .init("name", "Its name in the baseline.") { $0.baseline.scenario },
    .init("baseline", "The baseline's file.") { $0.file.path },
    .init("set", "`path=value`, as recorded.") { $0.baseline.overrides },
    .init("firstSeed", "The first seed.") { $0.baseline.seeds.first },
    .init("seedCount", "How many seeds from there on.") { $0.baseline.seeds.count },
    .init(
      "verdict", "How many metrics moved, and why the fleet does not hold without incidents if it does not."
    ) { CheckReport.heading($0) },
    .list("metrics", "Every metric of the baseline.", change) { outcome in
      outcome.changes.map { Change(change: $0, line: outcome.line($0)) }
    },
  ])

  private struct Change: Sendable {
    var change: MetricChange
    var line: Int
    var recorded: ConfidenceInterval? { ConfidenceInterval(change.recorded) }
    var present: ConfidenceInterval? { ConfidenceInterval(change.present) }
    var interval: ConfidenceInterval? { change.difference.interval() }

    static func mean(_ sample: SampleStatistics) -> Double? { sample.count > 0 ? sample.mean : nil }
  }

  private static let change = JSONShape<Change>([
    .init("metric", "Column of `summary.csv`.") { $0.change.metric.name },
    .init("unit", "Of the figures that follow.") { $0.change.metric.unit },
    .choice(
      "level",
      "`worse`: by more than is allowed; `tolerated`: moved, and that is allowed; `unchanged`: every seed as recorded.",
      MetricChange.Judgement.allCases.map(\.rawValue)
    ) { $0.change.judgement.rawValue },
    .anything("tolerance", "As it stands in the baseline.", ["string", "object"]) {
      .raw(BaselineFile.text($0.change.entry.tolerance))
    },
    .init("recordedMean", "Mean over the seeds then; null: no run had a value.") {
      Change.mean($0.change.recorded)
    },
    .init("recordedLow95", "Lower end of its 95 % interval.") { $0.recorded?.low },
    .init("recordedHigh95", "Upper end of the same.") { $0.recorded?.high },
    .init("presentMean", "Mean over the seeds now.") { Change.mean($0.change.present) },
    .init("presentLow95", "Lower end of its 95 % interval.") { $0.present?.low },
    .init("presentHigh95", "Upper end of the same.") { $0.present?.high },
    .init("difference", "Mean of now minus then, seed by seed; of times up to the shorter of both horizons.")
    { Change.mean($0.change.difference.sample) },
    .init("differenceLow95", "Lower end of its 95 % interval (paired t).") { $0.interval?.low },
    .init("differenceHigh95", "Upper end of the same.") { $0.interval?.high },
    .init("pHolm", "P value by Holm's step-down; null of what is not tested.") { $0.change.adjustedP },
    .init("appearances", "Runs that have a value in only one of the two.") { $0.change.appearances },
    .init("line", "Where the metric stands in the baseline.") { $0.line },
  ])
}
