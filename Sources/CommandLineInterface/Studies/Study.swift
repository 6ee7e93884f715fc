import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioFormat
import ScenarioModel

/// A command that answers a question about scenarios by many runs.
///
/// It says what to run and what follows from it (`StudyPlan`). What every such command does besides is the driver's: it reads the
/// scenarios, warns, divides the machine, prints a heading, keeps finished runs in the journal, shows progress, tells what is known
/// when a signal stops it, prints and writes.
///
/// ```swift
/// struct RescueCommand: Study {
///   static let help = CommandSpecification(name: "rescue", abstract: "Find the smallest action that ends an ill state.")
///   @Argument(.scenario) private var path: String
///   @Option("seeds", "n", .count(1...10_000), help: "Seeds.") private var seeds = 5
///   var options = StudyOptions()
///   var paths: [String] { [path] }
///   func plan(_ input: StudyInput) throws -> StudyPlan<Rescue> { … }
/// }
/// ```
protocol Study: Command {
  associatedtype Found: Sendable
  var options: StudyOptions { get }
  /// The scenario files, as they were named.
  var paths: [String] { get }
  /// Whether a scenario's overrides may be of keys of Settings that no client reads.
  var allowsUnreadSettings: Bool { get }
  /// - Throws: `UsageError` where the options do not go together, before any file is read.
  func check() throws
  /// - Throws: `UsageError`, `CommandFailure` and `ScenarioProblems` about what the options make of the scenarios.
  func plan(_ input: StudyInput) throws -> StudyPlan<Found>
}

/// What every study has beside options of its own.
struct StudyOptions: ParameterGroup {
  @Option(.journal) private var askedJournal: String?
  var input = InputOptions()
  @Option(.out) var outputPath: String?
  @Option(.jobs) private var jobs: Int?
  @Option(.memoryLimit) private var memory: MemoryLimit
  @Flag(.json) var isJSON: Bool
  @Flag(.quiet) var isQuiet: Bool

  /// What keeps finished runs; nil: nothing does.
  func journal() throws -> RunDirectory? { try RunDirectory(journal: askedJournal, besides: outputPath) }

  /// Runs at once that the memory has room for, if all were as large as the largest of these.
  func workers(_ scenarios: [Scenario], _ path: String) throws -> Int {
    let variants = scenarios.enumerated().map { Variant(name: "\($0)", scenario: $1) }
    return try memory.workers(ComparisonMemory(variants), atMost: jobs ?? onlineProcessors(), path)
  }
}

/// The scenarios that a study is about.
struct StudyInput {
  var loaded: [LoadedScenario]
  var bases: [ScenarioFile.Decoded]
  /// What standard error has of warnings.
  var warnings: [String]

  /// The first scenario.
  var scenario: Scenario { bases[0].scenario }
  var path: String { loaded[0].path }

  /// The first line of a study of one scenario, and its question.
  func heading(_ facts: String) -> String {
    "\(path): seed \(scenario.seed), \(facts)\n" + (scenario.question.map { $0 + "\n" } ?? "") + "\n"
  }

  /// What `--json` prints of a study of one scenario.
  func document<Found>(
    _ document: CommandDocument<Findings<Found>>, _ found: Found, _ options: StudyOptions
  ) -> String {
    document.text(
      document.commands[0],
      Findings(
        path: path, question: scenario.question, warnings: warnings, found: found,
        output: options.outputPath))
  }
}

/// What a study runs, and what follows from it.
struct StudyPlan<Found: Sendable> {
  /// What is printed before anything runs.
  var heading: String
  /// Scenarios that need as much memory as any that will run.
  var largest: [Scenario]
  /// Does the runs. If the control cancels them, it returns what it knows; if that is nothing, it throws `CancellationError`.
  var find: @Sendable (StudyRuns) throws -> Found
  /// Whether all runs were made; false: it is what was known when it was stopped.
  var isFinished: (Found) -> Bool = { _ in true }
  var answer: (Found) throws -> Answer
  /// What `--json` prints.
  var document: (Found) throws -> String
  /// What is printed between the answer and where its files are.
  var closing: (Found) -> String = { _ in "\n" }
  /// Titles the page; nil: the first scenario's name.
  var title: String?
  /// The page's question; nil: the first scenario's.
  var question: String??
  /// In the manifest; nil: the first scenario's.
  var seed: UInt64?
  /// In the manifest, JSON; nil: the first one as normalised.
  var scenario: String?
}

/// How a study does its runs.
struct StudyRuns: Sendable {
  var workers: Int
  var control: ComparisonControl
  /// nil: they are kept nowhere.
  var journal: RunDirectory?
  var environment: CommandEnvironment

  /// Runs of which the row of summary.csv is kept.
  var summaries: Runs<RunSummary> { runs(Recording<RunSummary>.summary) }

  func runs<Value>(_ recording: Recording<Value>) -> Runs<Value> {
    Runs(recording, in: journal, workers: workers, control: control)
  }
}

extension Study {
  var allowsUnreadSettings: Bool { false }
  func check() throws {}

  func execute(_ invocation: Invocation) throws {
    try check()
    let loaded = try paths.map { path in
      var loaded = try LoadedScenario(options.input.request(path))
      loaded.allowsUnread = allowsUnreadSettings
      return loaded
    }
    let bases = try loaded.map { try $0.decode() }
    let warnings = zip(loaded, bases).flatMap { printWarnings([$1], $0.path) }
    let input = StudyInput(loaded: loaded, bases: bases, warnings: warnings)
    let plan = try plan(input)
    let workers = try options.workers(plan.largest, input.path)
    let output = try options.outputPath.map { try OutputDirectory($0) }
    let journal = try options.journal()
    try Interruption.check()
    if !options.isQuiet, !options.isJSON { try Console.print(plan.heading) }

    let remains = RunDirectory.remains(journal)
    let (found, wall) = try invocation.environment.inBackground(
      workers: workers, remains: remains, onSignal: .tells, showsProgress: !options.isQuiet
    ) { [find = plan.find, environment = invocation.environment] control in
      try find(
        StudyRuns(workers: workers, control: control, journal: journal, environment: environment))
    }
    let writer = AnswerWriter(
      title: plan.title ?? loaded[0].name, question: plan.question ?? input.scenario.question,
      output: output, isQuiet: options.isQuiet, isJSON: options.isJSON)
    if let signal = Interruption.pending {
      if !plan.isFinished(found) { try writer.printUnfinished(plan.answer(found)) }
      throw Interruption.failure(signal, remains)
    }

    let manifest = RunManifest(
      arguments: invocation.arguments, seed: plan.seed ?? input.scenario.seed, checks: false,
      scenario: plan.scenario ?? bases[0].normalisedJSON, wall: wall)
    let document = try options.isJSON ? plan.document(found) : ""
    try writer.write(
      plan.answer(found), manifest, before: plan.closing(found), after: RunDirectory.notNeeded(journal)
    ) { document }
  }
}
