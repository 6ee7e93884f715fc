import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// `fleetsim adversary`: the incident that hurts most, and the shortest that breaks a limit.
struct AdversaryCommand {
  private var input: InputRequest
  private var invocation: SearchInvocation
  private var parsed: ParsedArguments
  private var objective: Metric?
  private var limit: TuneConstraint?
  private var seeds: Int
  private var runs: Int
  private var journalPath: String?

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, arguments: [String], environment: CommandEnvironment) throws {
    input = try InputRequest(parsed)
    invocation = try SearchInvocation(parsed, arguments: arguments, environment: environment)
    self.parsed = parsed
    objective = try parsed.value("objective").map { name in
      if let metric = MetricCatalogue.metric(named: name) { return metric }
      throw UsageError(
        "The value '\(name)' is invalid for '--objective <metric>'"
          + Self.hint(name, MetricCatalogue.all.map(\.name))
          + " It is a column of summary.csv that measures something.")
    }
    limit = try Self.reading(parsed, "limit", "metric<=value") { (text) throws(RangeProblem) in
      try TuneConstraint(text)
    }
    seeds = try RunRequest.count(parsed, "seeds", "n", through: 10_000) ?? AdversaryStudy.defaultSeeds
    let least = seeds * AdversaryStudy.leastRunsPerSeed
    runs =
      try RunRequest.count(parsed, "runs", "n", from: least, through: 10_000_000)
      ?? max(AdversaryStudy.defaultRuns, least)
    journalPath = JournalDirectory.path(parsed)
  }

  private static func hint(_ word: String, _ words: [String]) -> String {
    nearest(to: word, among: words).map { "; did you mean '\($0)'?" } ?? "."
  }

  private static func reading<Value>(
    _ parsed: ParsedArguments, _ option: String, _ form: String,
    _ body: (String) throws(RangeProblem) -> Value
  ) throws -> Value? {
    guard let text = parsed.value(option) else { return nil }
    do {
      return try body(text)
    } catch {
      throw UsageError("The value '\(text)' is invalid for '--\(option) <\(form)>': \(error)")
    }
  }

  func execute() throws {
    let loaded = try LoadedScenario(input)
    let base = try loaded.decode()
    let warnings = printWarnings([base], loaded.path)
    let scenario = base.scenario
    let space = try space(scenario)
    let study = try AdversaryStudy(
      space: space, objective: objective, limit: limit, seeds: seeds, runs: runs)
    let workers = try invocation.workers([space.corners.first.map(space.scenario) ?? scenario], loaded.path)
    let output = try invocation.outputPath.map { try OutputDirectory($0) }
    let journal = try journalPath.map { try JournalDirectory($0) }
    try Interruption.check()
    let facts = facts(study)
    if invocation.isTalkative {
      try Console.print(
        "\(loaded.path): seed \(scenario.seed), \(facts)\n" + (scenario.question.map { $0 + "\n" } ?? "")
          + "\n")
    }

    let (result, wall) = try invocation.run(workers: workers, remains: JournalDirectory.remains(journal)) {
      runner in
      let maker = TrialMaker(
        journal: journal?.trials, scenario: { candidate, _ in space.scenario(candidate) },
        run: { try runner.summaries(of: $0, finished: $1) })
      var adversary = Adversary(study, maker: maker)
      return try adversary.run()
    }

    let printed = Result {
      guard invocation.isJSON else { return try Console.print(text(result)) }
      let findings = AdversaryFindings(
        path: loaded.path, question: scenario.question, warnings: warnings, result: result,
        output: invocation.outputPath)
      try Console.printData(AdversaryFindings.document.text("adversary", findings))
    }
    var names: [String] = []
    if let output {
      let tables = tables(result)
      var manifest = RunManifest(
        arguments: invocation.arguments, seed: scenario.seed, checks: false, scenario: base.normalisedJSON,
        wall: wall)
      manifest.files = tables
      let page = AdversaryReport.page(
        result, title: loaded.name, question: scenario.question, facts: facts, command: manifest.command,
        version: CommandLineTool.version)
      let files =
        tables + [
          OutputFile(OutputFile.report, Array(page.utf8)),
          OutputFile(OutputFile.manifest, Array(manifest.text.utf8)),
        ]
      try output.write(files)
      names = files.map(\.path)
    }
    try printed.get()
    guard invocation.isTalkative else { return }
    try Console.print(
      JournalDirectory.closing(result.runs)
        + (output.map { "Written to \($0.path): \(names.joined(separator: ", "))\n" }
          ?? "No files written; --out DIR writes the incidents as scenarios, the table and a report.\n"))
  }

  // MARK: The bounds

  /// - Throws: `UsageError`.
  private func space(_ scenario: Scenario) throws -> IncidentSpace {
    var bounds = IncidentBounds(runOf: scenario.duration)
    if let starts = try Self.reading(parsed, "start", "lo..hi", IncidentBounds.spans) {
      bounds.starts = starts
    }
    if let lengths = try Self.reading(parsed, "length", "lo..hi", IncidentBounds.spans) {
      guard lengths.lowerBound > .zero else {
        throw UsageError("'--length' begins at 0s: an incident lasts for some time.")
      }
      bounds.lengths = lengths
    }
    if let depths = try Self.reading(parsed, "depth", "lo..hi", IncidentBounds.shares) {
      bounds.depths = depths
    }
    _ = try Self.reading(parsed, "retry-after", "waits") { (text) throws(RangeProblem) in
      try bounds.readWaits(text)
    }
    if let text = parsed.value("kind") { bounds.kinds = try Self.kinds(text) }
    guard bounds.latestEnd < scenario.duration else {
      throw UsageError(
        "An incident could start at \(Units.text(bounds.starts.upperBound)) and last for "
          + "\(Units.text(bounds.lengths.upperBound)), and the run ends at \(Units.text(scenario.duration)): nothing is left to recover "
          + "in. Give an earlier '--start', a shorter '--length', or '--set duration=…'.")
    }
    let space = IncidentSpace(bounds, in: scenario, joins: parsed.has("join"))
    guard space.horizon > .zero else {
      throw UsageError(
        "After the latest incident, at \(Units.text(bounds.latestEnd)), too little of the run of \(Units.text(scenario.duration)) is left "
          + "to see a recovery, which has to hold for a flush interval and at least 1m. Give an earlier '--start', a shorter "
          + "'--length', or '--set duration=…'.")
    }
    guard !space.corners.isEmpty else {
      throw UsageError(
        "The scenario has an incident of each of these kinds at that time, and two of one kind cannot be at once: leave out '--join', "
          + "or give another '--start' or '--kind'.")
    }
    return space
  }

  private static func kinds(_ text: String) throws -> [AdversaryKind] {
    let names = AdversaryKind.all.map(\.name)
    var kinds: [AdversaryKind] = []
    for name in VariantChoice.splitList(text) {
      guard let kind = AdversaryKind.all.first(where: { $0.name == name }) else {
        throw UsageError(
          "The value '\(name)' is invalid for '--kind <a,b,c>'\(Self.hint(name, names)) Allowed: \(names.joined(separator: ", "))."
        )
      }
      if !kinds.contains(kind) { kinds.append(kind) }
    }
    return kinds
  }

  // MARK: Output

  private func facts(_ study: AdversaryStudy) -> String {
    let bounds = study.space.bounds
    func text(_ range: ClosedRange<Span>) -> String {
      let (low, high) = (
        FigureText.span(range.lowerBound.microseconds), FigureText.span(range.upperBound.microseconds)
      )
      return low == high ? low : "\(low) to \(high)"
    }
    let count = study.space.scenario.tapi.incidents.count
    return
      "\(study.space.scenario.sizeText), \(FigureText.span(study.space.scenario.duration.microseconds)), one incident of "
      + "\(text(bounds.lengths)) at \(text(bounds.starts))"
      + (count > 0 ? " beside \(count) of the scenario" : "")
      + ", watched for \(FigureText.span(study.space.horizon.microseconds)), "
      + "\(FigureText.count(study.seeds, "seed")), \(FigureText.count(study.runs, "run")) at most"
  }

  private func text(_ result: AdversaryResult) -> String {
    let verdict = AdversaryVerdict(result)
    if invocation.isQuiet { return verdict.lines[0] + "\n" }
    let table =
      verdict.rows.isEmpty
      ? "" : "\n" + TerminalTable.plain(header: verdict.header, rows: verdict.rows, width: Console.columns)
    return Terminal.emphasised(verdict.lines[0]) + "\n"
      + verdict.lines.dropFirst().map { $0 + "\n" }.joined() + table
  }

  private func tables(_ result: AdversaryResult) -> [OutputFile] {
    let verdict = AdversaryVerdict(result)
    func scenario(_ name: String, _ found: ConfirmedIncident?, _ line: String?) -> [OutputFile] {
      guard let found, let line else { return [] }
      let scenario = result.study.space.scenario(found.standing.candidate)
      return [OutputFile(name, Array("// \(line)\n\(scenario.normalisedJSON)".utf8))]
    }
    return [OutputFile(OutputFile.adversary, AdversaryCSV.bytes(of: result))]
      + scenario(OutputFile.boundary, result.boundary, verdict.lines.first)
      + scenario(OutputFile.worst, result.worst, verdict.lines.last)
  }
}
