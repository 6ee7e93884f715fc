import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import ScenarioFormat
import ScenarioModel

/// A command that answers a question about scenarios by many runs.
///
/// It reads its scenarios (`StudyInput`), and says what to run and what follows from it (`StudyPlan`). The driver does everything
/// that such commands have in common. It divides the machine, prints a heading, keeps finished runs in the journal, shows
/// progress, prints and writes. When a signal stops the command, the driver tells the findings so far.
protocol Study: Command {
  associatedtype Found: Sendable
  /// The document of `--json`; nil: the study says so itself.
  static var document: CommandDocument<Findings<Found>>? { get }
  var options: StudyOptions { get }
  /// - Throws: `UsageError`, `CommandFailure` and `ScenarioProblems` about the options and what they make of the scenarios.
  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<Found>
}

/// The options that the driver of studies takes from the command line.
struct StudyOptions: ParameterGroup {
  @Option(
    "journal", "dir", .text,
    help: "Where finished runs are kept. (default: beside --out, with .journal behind)")
  var journalPath: String?
  var input: InputOptions
  @Option(
    "out", "dir", .text,
    help: "Write the files into this directory, all or none; one that fleetsim wrote before is replaced. "
      + "(default: no files)")
  var outputPath: String?
  @Flag(
    "twin-series",
    help: "With --out: write twin_timeseries.csv, the run without its incidents, beside timeseries.csv.")
  var writesTwin: Bool
  @Flag(
    "openmetrics",
    help:
      "With --out: write timeseries.openmetrics, the series of every run as text that Prometheus can backfill."
  )
  var writesOpenMetrics: Bool
  @Option("jobs", "n", .count(1...1_024), help: "Runs at a time. (default: one per core)")
  private var jobs: Int?
  @Option(
    "threads", "t", .count(1...64),
    help:
      "Threads that run the devices of each run; nothing in the results depends on it. (default: 1, or one per "
      + "core for a large fleet when --jobs is 1)")
  private var threads: Int?
  @Option(.memoryLimit) private var memory: MemoryLimit
  @Flag("check", help: "Check the model against itself while it runs; slower.") var checks: Bool
  @Flag(.json) var isJSON: Bool
  @Flag(.verbose) var isVerbose: Bool
  @Flag var isQuiet: Bool
  let omitted: Set<String>

  var form: AnswerForm {
    get throws(UsageError) { try AnswerForm(isQuiet: isQuiet, isVerbose: isVerbose) }
  }

  /// - Parameters:
  ///   - more: names of options that most studies do not have.
  ///   - less: those of options that most have and this one has not.
  ///   - quiet: what the help says of `--quiet`.
  ///   - severalSettings: whether `--settings` takes several files.
  init(
    _ more: String..., without less: [String] = [],
    quiet: String = "Print the verdict alone: no heading, progress or table.", severalSettings: Bool = false
  ) {
    input = InputOptions(severalSettings: severalSettings)
    _isQuiet = Flag("quiet", short: "q", help: quiet)
    omitted = Set(["twin-series", "openmetrics", "threads", "check"]).subtracting(more).union(less)
  }

  /// The journal where `--journal` says, or beside `--out`; nil: nowhere.
  /// - Parameter onlyAsked: whether none is kept but the one that is asked for.
  func journal(onlyAsked: Bool, _ environment: CommandEnvironment) throws -> RunDirectory? {
    var path = journalPath
    if path == nil, !onlyAsked, var beside = outputPath {
      while beside.count > 1, beside.hasSuffix("/") { beside.removeLast() }
      path = beside + ".journal"
    }
    return try path.map { try RunDirectory(journal: $0, environment) }
  }

  /// Runs at a time: as many as were asked for, or as fit into memory.
  func workers(_ memory: ComparisonMemory?, _ path: String, _ console: Console) throws -> Int {
    let asked = jobs ?? onlineProcessors()
    guard let memory else { return asked }
    let workers = try self.memory.workers(memory, atMost: asked, path)
    if workers < asked {
      console.printError(
        "\(path): warning: \(workers) \(FigureText.noun("run", workers)) at a time instead of "
          + "\(min(asked, memory.runs)), which would need about "
          + "\(MemorySize.text(memory.expected(workers: asked))) of memory\n")
    }
    return workers
  }

  /// How each run is made. One that goes alone takes as many threads as the engine likes.
  func run(workers: Int) -> RunOptions {
    var options = RunOptions()
    (options.checks, options.threads) = (checks, threads ?? (workers == 1 ? nil : 1))
    return options
  }
}

/// Cores that are there to be used.
func onlineProcessors() -> Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

/// The scenarios that a study is about.
struct StudyInput {
  var loaded: [LoadedScenario]
  var bases: [ScenarioFile.Decoded]
  var choices: [VariantChoice]
  /// Those that `choices` make; without any, the scenarios themselves.
  var decoded: [ScenarioFile.Decoded]
  /// The warnings printed on standard error.
  var warnings: [String]

  /// Decodes scenarios and warns of what is odd about them.
  /// - Parameter warnsOfSettings: whether it warns of what a Settings file has and whom it reaches; the answer says that, too.
  /// - Parameter choices: what is run in place of the first one; empty: all of them, as they are.
  /// - Throws: `ScenarioProblems`; what `choices` throws.
  init(
    _ loaded: [LoadedScenario], _ console: Console, warnsOfSettings: Bool = true,
    choices: (ScenarioFile.Decoded, LoadedScenario) throws -> [VariantChoice] = { _, _ in [] }
  ) throws {
    self.loaded = loaded
    bases = try loaded.map { try $0.decode() }
    self.choices = try choices(bases[0], loaded[0])
    if self.choices.isEmpty {
      decoded = bases
      warnings = console.printOnce(
        zip(loaded, bases).flatMap { loaded, base in
          if warnsOfSettings { return loaded.warnings(of: [], [base]) }
          var base = base
          base.warnings.removeAll { $0.file != loaded.path }
          return base.allWarnings(loaded.path)
        })
    } else {
      decoded = try loaded[0].decodeAll(self.choices, of: bases[0])
      for (place, variant) in decoded.enumerated() {
        self.choices[place].isToday = variant.scenario == bases[0].scenario
      }
      warnings = console.printOnce(loaded[0].warnings(of: self.choices, decoded))
    }
  }

  /// - Throws: `CommandFailure` 65, 66; `ScenarioProblems`; what `choices` throws.
  init(
    _ path: String, _ options: StudyOptions, _ environment: CommandEnvironment,
    choices: (ScenarioFile.Decoded, LoadedScenario) throws -> [VariantChoice] = { _, _ in [] }
  ) throws {
    try self.init(
      [LoadedScenario(path, options.input, environment.files)], environment.console, choices: choices)
  }

  /// Takes a small part of the fleet that keeps the answer of everything that is run, unless an option says which.
  /// - Parameter margin: so many times the smallest of so many devices; at its limit a recovery may come 10 % late.
  mutating func takeSmallFleet(leaving devices: Int = Scaling.enoughDevices, margin: Int = 2) throws {
    let asked = loaded[0].overrides + choices.flatMap(\.overrides)
    if asked.contains(where: { $0.path == Override.scalePath }) { return }
    let whole = try self.whole
    let scale = Self.smallFleet(whole.decoded.map(\.scenario), leaving: devices, margin: margin)
    if scale.divisor > scenario.scale { self = try at(scale) }
  }

  /// The part that `takeSmallFleet` takes of these scenarios.
  static func smallFleet(
    _ scenarios: [Scenario], leaving devices: Int = Scaling.enoughDevices, margin: Int = 2
  ) -> Scaling {
    Scaling(divisor: max(1, Scaling.smallest(of: scenarios, leaving: devices).divisor / margin))
  }

  var whole: StudyInput { get throws { scenario.scale == 1 ? self : try at(.whole) } }

  private func at(_ scale: Scaling) throws -> StudyInput {
    var input = self
    input.loaded = loaded.map { $0.with(scale: scale) }
    input.bases = try input.loaded.map { try $0.decode() }
    input.decoded =
      choices.isEmpty ? input.bases : try input.loaded[0].decodeAll(choices, of: input.bases[0])
    return input
  }

  var scenario: Scenario { bases[0].scenario }
  var path: String { loaded[0].path }
  var variants: [Variant] { zip(choices, decoded).map { Variant(name: $0.name, scenario: $1.scenario) } }

  /// The first line of a study of one scenario, and its question.
  func heading(_ facts: String) -> String {
    "\(path): seed \(scenario.seed), \(facts)\n" + (scenario.question.map { $0 + "\n" } ?? "") + "\n"
  }
}

/// The runs of a study, and its conclusions from them.
struct StudyPlan<Found: Sendable> {
  var input: StudyInput
  /// The text that `--verbose` prints before anything runs.
  var heading: String
  /// The memory of the runs, for as many at a time as have room; nil: little.
  var memory: ComparisonMemory?
  /// Whether runs are kept in the journal that is asked for alone, and not beside the files.
  var keepsOnlyAsked = false
  /// Whether the study takes its time to stop, and tells what it has as if it were finished.
  var outlivesSignals = false
  /// Does the runs. If the control cancels them, it returns what it knows; if that is nothing, it throws `CancellationError`.
  var find: @Sendable (StudyRuns) throws -> Found
  /// Whether all runs were made; false: it is what was known when it was stopped.
  var isFinished: (Found) -> Bool = { _ in true }
  var report: Report

  enum Report {
    /// As text, as JSON, and as files with a page.
    case answer((Found) throws -> Answer)
    /// As the study does it.
    case own((Found, StudyEnd) throws -> Void)
  }
  /// The page's title and question; nil: the first scenario's.
  var page: (title: String, question: String?)?
  /// Whether the page has the scenario as it was run.
  var showsScenario = false
  /// Adds the study's own entries to the manifest.
  var describe: (inout RunManifest, Found) -> Void = { _, _ in }
  /// The text printed in place of the answer's; nil: that.
  var text: ((Found) -> String)?
  /// Does what is left once all is told, and throws how the command ends.
  var finish: (Found) throws -> Void = { _ in }
  /// Whether the next command goes on from the runs that are kept.
  var goesOn: (Found) -> Bool = { _ in false }
}

/// How a study does its runs.
struct StudyRuns: Sendable {
  var workers: Int
  var options: RunOptions
  var control: ComparisonControl
  /// nil: they are kept nowhere.
  var journal: RunDirectory?
  var environment: CommandEnvironment

  /// Runs of which the row of summary.csv is kept.
  var summaries: Runs<RunSummary> { runs(Recording<RunSummary>.summary) }

  func runs<Value>(_ recording: Recording<Value>) -> Runs<Value> {
    Runs(recording, in: journal, options: options, workers: workers, control: control)
  }

  func replications(_ variants: [Variant], _ plan: ReplicationPlan) throws -> Trial {
    try Replications.run(
      variants, plan: plan, in: journal, options: options, workers: workers, control: control)
  }
}

extension Study {
  static var document: CommandDocument<Findings<Found>>? { nil }
  static var documents: [CommandDocuments.Kind] { document.map { [$0.kind] } ?? [] }

  func execute(_ environment: CommandEnvironment) throws {
    let (console, signals) = (environment.console, environment.signals)
    let form = try options.form
    let plan = try plan(environment)
    let input = plan.input
    let workers = try options.workers(plan.memory, input.path, console)
    let output = try options.outputPath.map { try OutputDirectory($0, environment) }
    let journal = try options.journal(onlyAsked: plan.keepsOnlyAsked, environment)
    let remains = RunDirectory.remains(journal)
    if let signal = signals.pending { throw Signals.failure(signal, remains) }
    if options.isVerbose, !options.isJSON { try console.print(plan.heading) }

    let run = options.run(workers: workers)
    let (found, wall) = try environment.inBackground(
      workers: workers, remains: remains, waits: plan.outlivesSignals, showsProgress: !options.isQuiet
    ) { [find = plan.find] control in
      try find(
        StudyRuns(
          workers: workers, options: run, control: control, journal: journal, environment: environment))
    }
    let isStopped = !plan.outlivesSignals && signals.pending != nil
    var manifest = RunManifest(
      executable: environment.executable, arguments: environment.arguments, seed: input.scenario.seed,
      checks: options.checks,
      scenario: input.bases[0].normalisedJSON, wall: wall)
    manifest.scale = input.scenario.scale
    if !isStopped { plan.describe(&manifest, found) }
    var end = StudyEnd(
      title: plan.page?.title ?? input.loaded[0].name,
      question: plan.page.map(\.question) ?? input.scenario.question, output: output,
      form: form, isJSON: options.isJSON, console: console, showsScenario: plan.showsScenario,
      manifest: manifest, journal: journal
    ) { warnings in
      Self.document?.text(
        Self.help.name,
        Findings(
          path: input.path, question: input.scenario.question, warnings: input.warnings + warnings,
          isFinished: plan.isFinished(found), found: found, output: isStopped ? nil : options.outputPath))
        ?? ""
    }
    if isStopped, let signal = signals.pending {
      if case .answer(let answer) = plan.report, !plan.isFinished(found) {
        try end.printUnfinished(answer(found))
      }
      throw Signals.failure(signal, remains)
    }
    switch plan.report {
    case .answer(let answer):
      try end.write(
        answer(found), text: plan.text?(found),
        after: plan.goesOn(found) ? "" : RunDirectory.notNeeded(journal))
    case .own(let tell):
      end.signal = signals.take()
      try tell(found, end)
    }
    try plan.finish(found)
  }
}
