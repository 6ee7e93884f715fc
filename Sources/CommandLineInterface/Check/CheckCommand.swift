import FleetExperiments
import FleetMetrics
import ScenarioFormat
import ScenarioModel

/// `fleetsim check`: scenarios against what they gave when they were recorded.
struct CheckCommand: Study {
  static let documents = [CheckOutcome.document.kind]
  static let help = CommandSpecification(
    name: "check", abstract: "Check scenarios against a recorded baseline: a regression test for CI.",
    discussion: [
      "Runs each scenario (without its compare section) under the seeds of its baseline and compares it, seed by seed, with "
        + "what was recorded. The exit code is 1 if one of the verdict's criteria is worse: a fleet that holds its load, runs "
        + "that fail, lost events, endpoint well, caught up, late events, delivery, extra requests. Prints what is worse, why, "
        + "and how much else moved; --verbose prints all of that. With --settings it judges a file as decide does, by differences that matter.",
      "A tolerance stands beside each metric in the baseline, to be edited and kept by --record: \"notSignificantlyWorse\" "
        + "(the verdict's criteria have it: worse by more than 1 % of the recorded mean, and beyond chance), "
        + "{ \"relative\": 0.05 } or { \"absolute\": 10 } for the mean, or \"informational\" (told, never judged), which all "
        + "other metrics have.",
    ],
    examples: [
      .init(
        "fleetsim check my.json5 --record",
        "Record a scenario, at the part of its size that keeps its answer (--scale 1:1: the whole fleet):"),
      .init("fleetsim check scenario.json5", "Is it still as good?"),
      .init(
        "fleetsim check out/decision/suite/*.json5 --settings cdn.json",
        "May this file be served in place of the one that was decided on?"),
      .init(
        "fleetsim check scenario.json5 --set settings.backoffConfig.jitterStrategy=none",
        "What would these Settings change?"),
    ])

  private enum Format: String, CaseIterable {
    case text, github, junit
  }

  @Argument(.scenarios) private var paths: [String]
  @Option(
    "baseline", "file", .text, help: "The baseline. (default: baseline.json beside each scenario)")
  private var baselinePath: String?
  @Flag("record", help: "Write what the scenarios give into the baseline.") private var records: Bool
  @Option(
    "seeds", "n", .count(2...mostSeeds),
    help: "Seeds to record, from the scenario's on. (default: as before, or \(defaultSeeds))")
  private var seeds: Int?
  @Option(
    "set", "path=value", each: ValueReader { try Assignment($0) },
    help: "Set a key of the scenario. With --record it becomes part of the baseline, as --scale does.")
  private var settings: [Assignment]
  @Option(.scale) private var scale: String?
  @Option(
    "format", "format", .name,
    help: "text, github (annotations of GitHub Actions) or junit (XML). (default: text)")
  private var format = Format.text
  let options = StudyOptions(
    "check", without: ["journal", "seed", "set", "scale", "out"],
    quiet: "Print what is worse, and one line a scenario.")

  private static let defaultSeeds = 10
  static let mostSeeds = 10_000
  private var settingsPath: String? { options.input.settingsPath }
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

    func loaded(_ settingsPath: String?, _ files: Files) throws -> LoadedScenario {
      try LoadedScenario(
        path, settingsPath: settingsPath, overrides: overrides.flatMap { try Assignment($0).overrides }, files
      )
    }
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<[[RunSummary]]> {
    try checkOptions()
    let (console, files) = (environment.console, environment.files)
    var subjects = try subjects(files)
    // Whatever is wrong with a file is said before anything runs.
    let places = try (records ? subjects.map(\.file.path).uniqued : []).map {
      try SingleFile($0, ours: [BaselineFile.opening], option: "--baseline", files)
    }
    for index in subjects.indices {
      let recorded = subjects[index].baseline?.overrides ?? []
      subjects[index].overrides =
        !records ? recorded + overrides : overrides.isEmpty ? recorded : overrides
      if records, subjects[index].baseline == nil {
        subjects[index].overrides += try smallFleet(subjects[index].loaded(nil, files))
      }
    }
    let input = try StudyInput(subjects.map { try $0.loaded(settingsPath, files) }, console)
    if let settingsPath {
      for (subject, decoded) in zip(subjects, input.bases) {
        let settings = try DecidedSettings(
          fleet: decoded.scenario.fleet, today: subject.loaded(nil, files).settingsDocument,
          proposed: input.loaded[0].settingsDocument, names: (subject.path, settingsPath))
        // No run need show that it does harm.
        if let refusal = settings.refusals.first { throw CommandFailure(.failed, refusal) }
      }
    }
    let scenarios = input.bases.map(\.scenario)
    if records {
      for (subject, scenario) in zip(subjects, scenarios) { try warn(of: subject, scenario, environment) }
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
      memory: ComparisonMemory(scenarios, seeds: 2 * (seeds.map(\.count).max() ?? 1), isLeft: true),
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
          try record(subjects, seeds, found, input, places, console)
        } else {
          try tell(subjects, found, input, console)
        }
      })
  }

  private func checkOptions() throws(UsageError) {
    func refuse(_ isWrong: Bool, _ reason: String) throws(UsageError) {
      if isWrong { throw UsageError(reason) }
    }
    try refuse(
      options.isJSON && (format != .text || records),
      "The option '--json' prints what a check found: it goes neither with '--format' nor with '--record'.")
    try refuse(
      seeds != nil && !records,
      "The option '--seeds' goes with '--record': a check takes the seeds of the baseline.")
    let seed = settings.first { $0.path == "seed" }?.text
    try refuse(
      !records && seed != nil,
      "The value '\(seed ?? "")' is invalid for '--set <path=value>': a check runs under the seeds of its baseline. Other seeds "
        + "are another baseline: add --record --baseline FILE.")
    try refuse(
      records && settingsPath != nil,
      "The option '--settings' goes with a check: what is recorded is the scenario with its own Settings.")
    try refuse(
      options.isVerbose && (records || format != .text || options.isJSON),
      "The option '--verbose' goes with a check as text: '--format junit' and '--json' have every metric as they are."
    )
  }

  /// Seeds tell more than size, as in `compare`.
  private func smallFleet(_ loaded: LoadedScenario) throws -> [String] {
    if loaded.overrides.contains(where: { $0.path == Override.scalePath }) { return [] }
    let small = try StudyInput.smallFleet([loaded.with(scale: .whole).decode().scenario])
    return try small.divisor > loaded.decode().scenario.scale ? ["scale=\(small.text)"] : []
  }

  /// The scenarios with the files that their baselines are in.
  private func subjects(_ files: Files) throws -> [Subject] {
    var baselines: [String: BaselineFile] = [:]
    var seen: Set<String> = []
    return try paths.map { path in
      let loaded = try LoadedScenario(path, files)
      let place = baselinePath ?? OutputDirectory.sibling(of: path, BaselineFile.name)
      guard seen.insert(place + "\n" + loaded.name).inserted else {
        throw UsageError(
          "Two scenarios would both be called '\(loaded.name)' in \(place): check them one by one, each with a "
            + "baseline of its own.")
      }
      let isThere = files.isThere(place)
      guard isThere || records else {
        throw CommandFailure(
          .noInput,
          "\(place): there is no baseline yet; record one with: fleetsim check \(path) --record")
      }
      let file =
        try baselines[place]
        ?? (isThere ? BaselineFile(contentsOf: place, files) : BaselineFile(path: place))
      baselines[place] = file
      // Recorded from elsewhere, a scenario.json5 has its folder's name.
      let name =
        file.baseline(of: loaded.name) == nil && file.baseline(of: loaded.resolvedName) != nil
        ? loaded.resolvedName : loaded.name
      let baseline = file.baseline(of: name)
      if !records {
        guard let baseline else {
          let known = file.baselines.map { "'\($0.scenario)'" }.joined(separator: ", ")
          throw CommandFailure(
            .data,
            "\(place): holds no baseline of '\(name)', only of \(known.isEmpty ? "nothing" : known); "
              + "record it with: fleetsim check \(path) --record")
        }
        try ResultsVersion.check(
          baseline.results, of: "\(place): the baseline of '\(name)' was recorded with",
          "record it anew with: fleetsim check \(path) --record")
      }
      return Subject(path: path, name: name, file: file, baseline: baseline)
    }
  }

  // MARK: Recording

  private func record(
    _ subjects: [Subject], _ seeds: [SeedRange], _ found: [[RunSummary]], _ input: StudyInput,
    _ outputs: [SingleFile], _ console: Console
  ) throws {
    var files: [String: BaselineFile] = [:]
    var recorded = ""
    for (index, subject) in subjects.enumerated() {
      let (summaries, scenario) = (found[index], input.bases[index].scenario)
      var baseline = Baseline(
        scenario: subject.name, overrides: subject.overrides, seeds: seeds[index], summaries: summaries,
        tolerances: subject.baseline?.edited ?? [:])
      baseline.results = CommandLineTool.resultsVersion
      baseline.values = ScenarioValues(input.bases[index]).all.map { ($0.path, $0.text) }
      files[subject.file.path, default: subject.file].replace(baseline)
      recorded +=
        "\(subject.name): \(FigureText.count(baseline.entries.count, "metric")) of "
        + "\(FigureText.count(baseline.seeds.count, "seed")) recorded in \(subject.file.path)"
        + (scenario.scale > 1
          ? " (\(FigureText.fleet(of: scenario.fullSize, scale: Int64(scenario.scale))))" : "")
        + "\n"
      if let illness = HealthWording.sentence(summaries.map(\.baseline)) {
        console.printError(
          "\(subject.path): warning: \(illness); what a check holds it to is no well state\n")
      }
      if baseline.neverRecovers {
        console.printError(
          "\(subject.path): warning: no run of this baseline recovers, so a check against it can't notice that the fleet "
            + "recovers later; give the scenario more capacity, a shorter incident or a longer duration\n")
      }
    }
    for output in outputs { try output.write(files[output.path]?.text ?? "") }
    if !options.isQuiet { try console.print(recorded) }
  }

  /// Warns of a fleet that was made smaller in front of the same server, which has no herd worth recording, and of a small one.
  private func warn(of subject: Subject, _ scenario: Scenario, _ environment: CommandEnvironment) throws {
    if !subject.overrides.isEmpty {
      let unchanged = try LoadedScenario(subject.path, environment.files).decode().scenario
      let (load, meant) = (NormalLoad(scenario).utilisation, NormalLoad(unchanged).utilisation)
      if load.isFinite, meant.isFinite, max(load, meant) > 1.25 * min(load, meant) {
        environment.console.printError(
          "\(subject.path): warning: with these --set the normal load is \(percent(load)) of the capacity, without them "
            + "\(percent(meant)); --record takes a part of a large fleet under the same load by itself\n")
      }
    }
    for note in Discreteness(scenario).notes {
      environment.console.printError("\(subject.path): warning: small enough for chance to decide: \(note)\n")
    }
  }

  // MARK: Checking

  private func tell(
    _ subjects: [Subject], _ found: [[RunSummary]], _ input: StudyInput, _ console: Console
  ) throws {
    let outcomes = subjects.indices.compactMap { index in
      subjects[index].baseline.map { baseline in
        let scenario = input.bases[index].scenario
        let check = BaselineCheck(
          baseline, found[index], interval: scenario.interval.microseconds, isOfSettings: settingsPath != nil)
        let lossKeys = check.loss?.limit?.settingsKeys ?? []
        let changed = changedKeys(baseline, input.loaded[index], input.bases[index])
        func losesEvents(_ key: CheckOutcome.ChangedKey) -> Bool {
          lossKeys.contains(where: key.path.hasSuffix)
        }
        return CheckOutcome(
          scenarioPath: subjects[index].path, baselinePath: subjects[index].file.path, check: check,
          changedKeys: changed.filter(losesEvents) + changed.filter { !losesEvents($0) },
          isLast: index == subjects.count - 1,
          loss: check.loss.map { scenario.fleet.count == 1 ? $0.text(in: scenario) : $0.words })
      }
    }
    switch format {
    case .text where options.isJSON:
      try console.printData(CheckOutcome.document.text(Self.help.name, outcomes))
    case .text:
      let form = try options.form
      try console.print(outcomes.map { $0.answer.text(form, width: console.columns) }.joined())
    case .github: try console.printData(CheckReport.github(outcomes))
    case .junit: try console.printData(CheckReport.junit(outcomes))
    }
    let failed = outcomes.filter { !$0.worse.isEmpty }
    guard !failed.isEmpty else { return }
    // The text has said it all.
    if format == .text, !options.isJSON { throw CommandFailure(.failed, "") }
    let names = failed.map { "\($0.name): \($0.worse.map(\.column).joined(separator: ", "))" }
    throw CommandFailure(
      .failed,
      "Worse than recorded: \(names.joined(separator: "; ")). If that is meant: fleetsim check … --record")
  }

  /// Returns the keys in which a scenario is not as it was recorded.
  private func changedKeys(
    _ baseline: Baseline, _ loaded: LoadedScenario, _ decoded: ScenarioFile.Decoded
  ) -> [CheckOutcome.ChangedKey] {
    let recorded = ScenarioValues(baseline.values.map { .init(path: $0.path, text: $0.text) })
    let given = settings.map(\.path)
    return ScenarioValues(decoded).changes(since: recorded).map { change in
      let isGiven = given.contains { path in
        [change.path, change.firstPath].contains { $0 == path || $0.hasPrefix(path + ".") }
      }
      return .init(
        text: change.text, path: change.path, place: isGiven ? nil : loaded.place(of: change.firstPath))
    }
  }
}
