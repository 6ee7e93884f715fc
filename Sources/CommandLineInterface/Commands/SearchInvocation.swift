import FleetExperiments
import ScenarioModel

/// What searches and live runs are told beside options of their own, and how searches do their runs.
struct SearchInvocation {
  let outputPath: String?
  let isQuiet: Bool
  let isJSON: Bool
  let arguments: [String]
  let jobs: Int?
  private let memory: MemoryLimit
  let environment: CommandEnvironment

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, arguments: [String], environment: CommandEnvironment) throws {
    self.arguments = arguments
    self.environment = environment
    outputPath = parsed.value("out")
    jobs = try RunRequest.count(parsed, "jobs", "n", through: 1_024)
    memory = try MemoryLimit(parsed)
    isQuiet = parsed.has("quiet")
    isJSON = parsed.has("json")
  }

  /// Whether more is printed than what was asked for.
  var isTalkative: Bool { !isQuiet && !isJSON }

  /// Runs at once that the memory has room for, if all were as large as the largest of these.
  func workers(_ scenarios: [Scenario], _ path: String) throws -> Int {
    let variants = scenarios.enumerated().map { Variant(name: "\($0)", scenario: $1) }
    return try memory.workers(ComparisonMemory(variants), atMost: jobs ?? onlineProcessors(), path)
  }

  /// Searches in the background, with a line of progress.
  /// - Parameter remains: what a signal leaves, for the message.
  /// - Throws: what the search throws; `CommandFailure` on a signal.
  func run<Found: Sendable>(
    workers: Int, remains: String = Interruption.nothing,
    _ search: @escaping @Sendable (SummaryRunner) throws -> Found
  ) throws -> (found: Found, wall: RunManifest.Wall) {
    try run(workers: workers, leaving: remains) {
      try search(SummaryRunner(workers: workers, control: $0))
    }
  }

  /// The same with runs of another kind.
  /// - Parameter remains: what a signal leaves, for the message.
  func run<Found: Sendable>(
    workers: Int, leaving remains: String, _ search: @escaping @Sendable (ComparisonControl) throws -> Found
  ) throws -> (found: Found, wall: RunManifest.Wall) {
    let started = environment.monotonicSeconds()
    let control = ComparisonControl()
    let work = BackgroundWork(
      work: { try search(control) }, cancel: control.cancel, progress: { control.progress },
      environment: environment, remains: remains)
    let found = try work.run(showsProgress: !isQuiet)
    let progress = control.progress
    return (
      found,
      RunManifest.Wall(
        seconds: environment.monotonicSeconds() - started, workers: workers, runs: progress.runs,
        virtualSeconds: Double(progress.duration) / 1e6, attempts: progress.attempts)
    )
  }
}
