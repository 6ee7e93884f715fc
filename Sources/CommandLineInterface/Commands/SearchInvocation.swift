import FleetExperiments
import FleetMetrics
import ScenarioModel

/// What every search has beside options of its own.
struct SearchOptions: ParameterGroup {
  var input = InputOptions()
  @Option(.out) var outputPath: String?
  @Option(.jobs) var jobs: Int?
  @Option(.memoryLimit) var memory: MemoryLimit
  @Flag(.json) var isJSON: Bool
  @Flag(.quiet) var isQuiet: Bool
}

/// How searches do their runs.
struct SearchInvocation {
  let outputPath: String?
  let isQuiet: Bool
  let isJSON: Bool
  let arguments: [String]
  let jobs: Int?
  private let memory: MemoryLimit
  let environment: CommandEnvironment

  init(_ options: SearchOptions, _ invocation: Invocation) {
    arguments = invocation.arguments
    environment = invocation.environment
    outputPath = options.outputPath
    jobs = options.jobs
    memory = options.memory
    isQuiet = options.isQuiet
    isJSON = options.isJSON
  }

  /// Whether more is printed than what was asked for.
  var isTalkative: Bool { !isQuiet && !isJSON }

  /// What writes the answer.
  func writer(_ title: String, _ question: String?, _ output: OutputDirectory?) -> AnswerWriter {
    AnswerWriter(title: title, question: question, output: output, isQuiet: isQuiet, isJSON: isJSON)
  }

  /// Runs at once that the memory has room for, if all were as large as the largest of these.
  func workers(_ scenarios: [Scenario], _ path: String) throws -> Int {
    let variants = scenarios.enumerated().map { Variant(name: "\($0)", scenario: $1) }
    return try memory.workers(ComparisonMemory(variants), atMost: jobs ?? onlineProcessors(), path)
  }

  /// Searches in the background, with a line of progress.
  /// - Parameter journal: keeps the runs.
  /// - Throws: what the search throws; `CommandFailure` on a signal.
  func run<Found: Sendable>(
    workers: Int, _ journal: RunDirectory? = nil,
    _ search: @escaping @Sendable (Runs<RunSummary>) throws -> Found
  ) throws -> (found: Found, wall: RunManifest.Wall) {
    try run(workers: workers, leaving: RunDirectory.remains(journal)) {
      try search(Runs(.summary, in: journal, workers: workers, control: $0))
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
