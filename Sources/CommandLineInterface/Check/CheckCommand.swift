import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel

/// `fleetsim check`: scenarios against what they gave when they were recorded.
struct CheckCommand: Command {
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
  @Option(.jobs) private var jobs: Int?
  @Option(.memoryLimit) private var memory: MemoryLimit
  @Flag(.check) private var checks: Bool
  @Flag(.json) private var isJSON: Bool
  @Flag("quiet", short: "q", help: "Print what became worse, and one line a scenario.")
  private var isQuiet: Bool

  private static let defaultSeeds = 10
  static let mostSeeds = 10_000
  private var format: Format { askedFormat ?? (isJSON ? .json : .text) }
  /// `path=value`, as given.
  private var overrides: [String] { settings.map(\.text) + (scale.map { ["scale=\($0)"] } ?? []) }

  /// A scenario and the file that its baseline is in.
  private struct Subject {
    var path: String
    var name: String
    var baselinePath: String
  }

  func execute(_ invocation: Invocation) throws {
    if isJSON, askedFormat != nil || records {
      throw UsageError(
        "The option '--json' prints what a check found: it goes neither with '--format' nor with '--record'.")
    }
    if let seeds, seeds < 2 {
      throw UsageError("The value '1' is invalid for '--seeds <n>': one seed has no interval; at least 2.")
    }
    if seeds != nil, !records {
      throw UsageError("The option '--seeds' goes with '--record': a check takes the seeds of the baseline.")
    }
    let subjects = try paths.map { path in
      let loaded = try LoadedScenario(InputRequest(path: path, overrides: []))
      return Subject(
        path: path, name: loaded.name,
        baselinePath: baselinePath ?? OutputDirectory.sibling(of: path, BaselineFile.name))
    }
    var seen: Set<String> = []
    for subject in subjects where !seen.insert(subject.baselinePath + "\n" + subject.name).inserted {
      throw UsageError(
        "Two scenarios would both be called '\(subject.name)' in \(subject.baselinePath): check them one by one, each with a "
          + "baseline of its own.")
    }
    if records {
      try record(subjects, invocation.environment)
    } else {
      try check(subjects, invocation.environment)
    }
  }

  // MARK: Recording

  private func record(_ subjects: [Subject], _ environment: CommandEnvironment) throws {
    var files: [String: BaselineFile] = [:]
    var order: [String] = []
    for subject in subjects where files[subject.baselinePath] == nil {
      let isThere = access(subject.baselinePath, F_OK) == 0
      files[subject.baselinePath] =
        isThere
        ? try BaselineFile(contentsOf: subject.baselinePath) : BaselineFile(path: subject.baselinePath)
      order.append(subject.baselinePath)
    }
    let outputs = try order.map { try SingleFile($0, ours: [BaselineFile.opening], option: "--baseline") }
    var recorded = ""
    for subject in subjects {
      let old = files[subject.baselinePath]?.baseline(of: subject.name)
      let overrides = self.overrides.isEmpty ? old?.overrides ?? [] : self.overrides
      let (scenario, seed) = try scenario(subject, overrides)
      try warnOfOtherLoad(subject, scenario, overrides)
      for note in Discreteness(scenario).notes {
        Console.printError("\(subject.path): warning: small enough for chance to decide: \(note)\n")
      }
      let seeds = SeedRange(
        first: seed, count: self.seeds ?? old?.seeds.count ?? Self.defaultSeeds)
      let summaries = try run(subject, scenario, seeds, environment)
      let tolerances = Dictionary(
        old?.entries.map { ($0.metric, $0.tolerance) } ?? [], uniquingKeysWith: { first, _ in first })
      var baseline = Baseline(
        scenario: subject.name, overrides: overrides, seeds: seeds, summaries: summaries,
        tolerances: tolerances)
      baseline.results = CommandLineTool.resultsVersion
      files[subject.baselinePath]?.replace(baseline)
      recorded +=
        "\(subject.name): \(FigureText.count(baseline.entries.count, "metric")) of "
        + "\(FigureText.count(seeds.count, "seed")) recorded in \(subject.baselinePath)\n"
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
    for (path, output) in zip(order, outputs) { try output.write(files[path]?.text ?? "") }
    if !isQuiet { try Console.print(recorded) }
  }

  /// How small a change a check against this baseline will notice.
  private static func notices(_ baseline: Baseline) -> String {
    let shares = baseline.noticedShares.compactMap { metric, share in
      share.map { "\(metric.name) from \(MetricText.plain($0 * 100)) %" }
    }
    return shares.isEmpty
      ? "" : "Changes noticed in nine of ten checks: \(shares.joined(separator: ", ")) of the mean on\n"
  }

  /// A fleet that was made smaller in front of the same server has no herd worth recording.
  private func warnOfOtherLoad(_ subject: Subject, _ scenario: Scenario, _ overrides: [String]) throws {
    guard !overrides.isEmpty else { return }
    let unchanged = try LoadedScenario(InputRequest(path: subject.path, overrides: [])).decode().scenario
    let (load, meant) = (NormalLoad(scenario).utilisation, NormalLoad(unchanged).utilisation)
    guard load.isFinite, meant.isFinite, max(load, meant) > 1.25 * min(load, meant) else { return }
    Console.printError(
      "\(subject.path): warning: with these --set the normal load is \(percent(load)) of the capacity, without them "
        + "\(percent(meant)); to record a smaller fleet under the same load, write --scale 1:20\n")
  }

  // MARK: Checking

  private func check(_ subjects: [Subject], _ environment: CommandEnvironment) throws {
    var outcomes: [CheckOutcome] = []
    var planned: [(subject: Subject, file: BaselineFile, baseline: Baseline, scenario: Scenario)] = []
    // Whatever is wrong with a file is said before anything runs.
    for subject in subjects {
      guard access(subject.baselinePath, F_OK) == 0 else {
        throw CommandFailure(
          .noInput,
          "\(subject.baselinePath): there is no baseline yet; record one with: fleetsim check \(subject.path) --record"
        )
      }
      let file = try BaselineFile(contentsOf: subject.baselinePath)
      guard let baseline = file.baseline(of: subject.name) else {
        let known = file.baselines.map { "'\($0.scenario)'" }.joined(separator: ", ")
        throw CommandFailure(
          .data,
          "\(file.path): holds no baseline of '\(subject.name)', only of \(known.isEmpty ? "nothing" : known); "
            + "record it with: fleetsim check \(subject.path) --record")
      }
      try ResultsVersion.check(
        baseline.results, of: "\(file.path): the baseline of '\(subject.name)' was recorded with",
        "record it anew with: fleetsim check \(subject.path) --record")
      let (scenario, _) = try scenario(subject, baseline.overrides + overrides)
      planned.append((subject, file, baseline, scenario))
    }
    for (subject, file, baseline, scenario) in planned {
      let summaries = try run(subject, scenario, baseline.seeds, environment)
      let outcome = CheckOutcome(
        baseline: baseline, file: file, scenarioPath: subject.path, changes: baseline.changes(to: summaries),
        twins: summaries.map(\.baseline))
      outcomes.append(outcome)
      if format == .text { try Console.print(CheckReport.text(outcome, isQuiet: isQuiet)) }
    }
    switch format {
    case .text: break
    case .github: try Console.printData(CheckReport.github(outcomes))
    case .junit: try Console.printData(CheckReport.junit(outcomes))
    case .json: try Console.printData(CheckFindings.document.text("check", CheckFindings(outcomes: outcomes)))
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

  // MARK: Running

  private func scenario(_ subject: Subject, _ overrides: [String]) throws -> (Scenario, seed: UInt64) {
    let loaded = try LoadedScenario(
      InputRequest(
        path: subject.path, overrides: try overrides.flatMap { try Assignment.setting.read($0).overrides }))
    let decoded = try loaded.decode()
    printWarnings([decoded], subject.path)
    return (decoded.scenario, decoded.scenario.seed)
  }

  private func run(
    _ subject: Subject, _ scenario: Scenario, _ seeds: SeedRange, _ environment: CommandEnvironment
  ) throws -> [RunSummary] {
    let asked = jobs ?? onlineProcessors()
    let memory = ComparisonMemory(leaving: [scenario], seeds: 2 * seeds.count)
    let workers = try self.memory.workers(memory, atMost: asked, subject.path)
    var options = RunOptions()
    options.checks = checks
    options.threads = workers == 1 ? nil : 1
    let control = ComparisonControl()
    let variant = Variant(name: subject.name, scenario: scenario)
    let work = BackgroundWork(
      work: { [options] in
        try Replications.run(
          [variant], plan: ReplicationPlan(firstSeed: seeds.first, count: seeds.count), options: options,
          workers: workers, control: control
        ).rows
      }, cancel: control.cancel, progress: { control.progress }, environment: environment)
    return try work.run(showsProgress: !isQuiet && format == .text)
  }
}

extension OutputDirectory {
  /// The path of a file in the same folder.
  fileprivate static func sibling(of path: String, _ name: String) -> String {
    let folder = split(path).parent
    return folder == "." && !path.hasPrefix("./") ? name : folder == "/" ? "/" + name : folder + "/" + name
  }
}
