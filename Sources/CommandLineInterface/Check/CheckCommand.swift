import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel

/// `fleetsim check`: scenarios against what they gave when they were recorded.
struct CheckCommand {
  var request: CheckRequest
  var environment: CommandEnvironment

  /// A scenario and the file that its baseline is in.
  private struct Subject {
    var path: String
    var name: String
    var baselinePath: String
  }

  func execute() throws {
    let subjects = try request.scenarioPaths.map { path in
      let loaded = try LoadedScenario(InputRequest(path: path, overrides: []))
      return Subject(
        path: path, name: loaded.name,
        baselinePath: request.baselinePath ?? OutputDirectory.sibling(of: path, BaselineFile.name))
    }
    var seen: Set<String> = []
    for subject in subjects where !seen.insert(subject.baselinePath + "\n" + subject.name).inserted {
      throw UsageError(
        "Two scenarios would both be called '\(subject.name)' in \(subject.baselinePath): check them one by one, each with a "
          + "baseline of its own.")
    }
    if request.records { try record(subjects) } else { try check(subjects) }
  }

  // MARK: Recording

  private func record(_ subjects: [Subject]) throws {
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
      let overrides = request.overrides.isEmpty ? old?.overrides ?? [] : request.overrides
      let (scenario, seed) = try scenario(subject, overrides)
      try warnOfOtherLoad(subject, scenario, overrides)
      for note in Discreteness(scenario).notes {
        Console.printError("\(subject.path): warning: small enough for chance to decide: \(note)\n")
      }
      let seeds = SeedRange(
        first: seed, count: request.seeds ?? old?.seeds.count ?? CheckRequest.defaultSeeds)
      let summaries = try run(subject, scenario, seeds)
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
    if !request.isQuiet { try Console.print(recorded) }
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

  private func check(_ subjects: [Subject]) throws {
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
      let (scenario, _) = try scenario(subject, baseline.overrides + request.overrides)
      planned.append((subject, file, baseline, scenario))
    }
    for (subject, file, baseline, scenario) in planned {
      let summaries = try run(subject, scenario, baseline.seeds)
      let outcome = CheckOutcome(
        baseline: baseline, file: file, scenarioPath: subject.path, changes: baseline.changes(to: summaries),
        twins: summaries.map(\.baseline))
      outcomes.append(outcome)
      if request.format == .text { try Console.print(CheckReport.text(outcome, isQuiet: request.isQuiet)) }
    }
    switch request.format {
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
      InputRequest(path: subject.path, overrides: try overrides.flatMap(InputRequest.overrides)))
    let decoded = try loaded.decode()
    printWarnings([decoded], subject.path)
    return (decoded.scenario, decoded.scenario.seed)
  }

  private func run(_ subject: Subject, _ scenario: Scenario, _ seeds: SeedRange) throws -> [RunSummary] {
    let asked = request.jobs ?? onlineProcessors()
    let memory = ComparisonMemory(leaving: [scenario], seeds: 2 * seeds.count)
    let workers = try request.memory.workers(memory, atMost: asked, subject.path)
    var options = RunOptions()
    options.checks = request.checks
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
    return try work.run(showsProgress: !request.isQuiet && request.format == .text)
  }
}

extension OutputDirectory {
  /// The path of a file in the same folder.
  fileprivate static func sibling(of path: String, _ name: String) -> String {
    let folder = split(path).parent
    return folder == "." && !path.hasPrefix("./") ? name : folder == "/" ? "/" + name : folder + "/" + name
  }
}
