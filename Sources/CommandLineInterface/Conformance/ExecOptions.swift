import Conformance
import SimulationKernel

struct ExecOptions: ParameterGroup {
  private enum ConfigKey: String, CaseIterable { case flushAt, flushInterval, maxRetries, timeout }

  @Option(
    "exec", "command", .shell,
    help:
      "Judge a real SDK: a command of the shell that takes --input JSON and prints JSON with 'success' as its last line. "
      + "It is run for each case against a server on 127.0.0.1.")
  var command: String?
  @Option("jobs", "n", .count(1...64), help: "Processes of --exec at once.")
  private var jobs = 16
  @Option("junit", "file", .text, help: "Write what was found of a real SDK as JUnit XML.")
  private var junitPath: String?
  @Option(
    "exchanges", "dir", .text, help: "Write what came and went in each case, a JSON file each.")
  private var folder: String?
  @Option("case", "id", each: .text, help: "A case of --exec, in place of all. (default: all)")
  private var chosen: [String]
  @Option(
    "interval-unit", "unit", .name, help: "What flushInterval is given in, s or ms. (default: s)")
  private var unit = IntervalUnit.seconds
  @Option(
    "ignores", "keys", .names(),
    help:
      "What the SDK does not heed of its config, with commas between: "
      + ConfigKey.allCases.map(\.rawValue).joined(separator: ", ") + ".")
  private var ignored: [ConfigKey]?
  @Flag("any-exit-status", help: "The exit status of --exec says nothing of its success.")
  private var hasAnyExitStatus: Bool
  @Flag("fetches-settings", help: "The SDK asks cdnHost for Settings: judge them, too.")
  private var fetchesSettings: Bool
  @Option(
    "start-limit", "span", .span, help: "How long --exec may take until its first upload. (default: 20s)")
  private var startLimit = Span.seconds(20)

  enum IntervalUnit: String, CaseIterable, Sendable {
    case seconds = "s"
    case milliseconds = "ms"
  }

  /// Judges a command, and prints what was found.
  /// - Throws: `UsageError`; `CommandFailure` 1 for what does not hold, 2 for what stayed open, …
  func judge(_ command: String, isJSON: Bool, _ environment: CommandEnvironment) throws {
    let console = environment.console
    let junit = try junitPath.map { path throws(CommandFailure) in
      try SingleFile(path, ours: [ExecFindings.junitStart], option: "--junit", environment.files)
    }
    var cases = ProcessCases(try VectorFile.builtIn(), fetchesSettings: fetchesSettings)
    let names = cases.cases.map(\.id)
    for id in chosen where !names.contains(id) {
      throw UsageError("The case '\(id)' does not exist.\(UsageError.hint(id, names))")
    }
    if !chosen.isEmpty { cases.cases.removeAll { !chosen.contains($0.id) } }
    let files = try exchangeFiles(cases.cases.map(\.id), environment.files)
    let started = environment.monotonicSeconds()
    // A signal ends the cases with their processes.
    environment.signals.hold()
    let outcomes = try ExecConformance(
      command: command, startLimit: startLimit.microseconds, isMilliseconds: unit == .milliseconds,
      ignored: Set((ignored ?? []).map(\.rawValue)),
      judge: ProcessJudge(exitStatusCounts: !hasAnyExitStatus), jobs: jobs, environment: environment
    ).outcomes(of: cases.cases)
    let found = ExecFindings(
      command: command, outcomes: outcomes, inexpressible: cases.inexpressible,
      fetchesSettings: fetchesSettings, folder: folder, seconds: environment.monotonicSeconds() - started)
    for outcome in outcomes {
      guard let log = outcome.log else { continue }
      try files[outcome.vector.id]?.write(ExecFindings.exchange(outcome, log))
    }
    try junit?.write(found.junit)
    if isJSON {
      try console.printData(ExecFindings.document.text("conformance", found))
    } else {
      try console.print(found.text(width: console.columns))
    }
    if found.count(.fails) > 0 { throw CommandFailure(.failed, "\(command): \(found.counts)") }
    if found.count(.inconclusive) > 0 {
      throw CommandFailure(.undecided, "\(command): \(found.counts)")
    }
  }

  private func exchangeFiles(_ ids: [String], _ disk: Files) throws -> [String: SingleFile] {
    guard let folder else { return [:] }
    if mkdir(disk.place(folder), 0o777) != 0, errno != EEXIST {
      throw CommandFailure(
        .cannotCreate, "\(folder): cannot be created: \(systemMessage()); name another with --exchanges")
    }
    var files: [String: SingleFile] = [:]
    for id in ids {
      files[id] = try SingleFile(
        "\(folder)/\(id).json", ours: [ExecFindings.exchangeStart], option: "--exchanges", disk)
    }
    return files
  }
}
