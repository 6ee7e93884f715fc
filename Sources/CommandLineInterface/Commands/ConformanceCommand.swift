import Conformance
import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel

/// `fleetsim conformance`: does a client behave as the document says?
struct ConformanceCommand: Command {
  static let documents = [ConformanceReport.document.kind, ExecFindings.document.kind]
  static let help = CommandSpecification(
    name: "conformance", abstract: "Run conformance vectors: does a client behave as the document says?",
    discussion: [
      "A vector gives Settings, a state and what happens step by step, and says what a client must do: what it sends "
        + "in which order, how long it waits, what it drops. Any SDK can run them; here they run against fleetsim's "
        + "own client. Without files the built-in vectors run. Prints passed, failed and deviating cases for each "
        + "requirement, and the reason for each deviation that a vector expects of the client. The exit code is 1 "
        + "if a case fails.",
      "With --exec a real SDK is judged over HTTP, by the cases that a process can be asked for: S1 to S20, each holds, does not, is "
        + "inconclusive or not applicable. What comes too early, too often, at once or with a wrong header fails; what comes more "
        + "than 100 ms too late is inconclusive, since a busy machine may be the cause, unless it is as late in three runs. The exit "
        + "code is 1 if a requirement does not hold, and 2 if one is inconclusive.",
    ],
    examples: [
      .init("fleetsim conformance", "Every built-in vector against the document's own client:"),
      .init("fleetsim conformance --client segment-swift", "Where a shipped client differs, and why:"),
      .init("fleetsim conformance my-vectors.json", "Vectors of your own:"),
      .init("fleetsim conformance --exec 'python3 cli.py' --junit sdk.xml", "A real SDK in a process:"),
    ])

  @Argument("file", isOptional: true, help: "Vector files (JSON). (default: the built-in vectors)")
  private var paths: [String]
  @Option(
    "client", "preset", name,
    help:
      "The client to test: \(ClientPreset.documentedNames.joined(separator: ", ")), or another of 'fleetsim presets'. "
      + "(default: the one that each file names, or tapi-document)")
  private var asked: String?
  let exec = ExecOptions()
  @Flag(.json) private var isJSON: Bool

  /// The name of a client, whether vectors can test it or not.
  private static let name = ValueReader { name in
    let names = ClientPreset.names
    if names.contains(name) || ClientPreset.isFileName(name) { return name }
    throw UsageError(no: "client", name, among: names)
  }

  /// - Throws: `CommandFailure` 1 when a case fails, 65, 66; `ScenarioProblems`; `UsageError` for a client without a vector.
  func execute(_ environment: CommandEnvironment) throws {
    if let command = exec.command {
      if asked != nil || !paths.isEmpty {
        throw UsageError("'--exec' judges a real SDK; it goes with no vector file and no '--client'.")
      }
      return try exec.judge(command, isJSON: isJSON, environment)
    }
    // Without it its options mean nothing.
    if let option = exec.parameters.first(where: \.isGiven) {
      throw UsageError("The option '--\(option.name)' goes with '--exec'.")
    }
    let (console, files) = (environment.console, try files(environment.files))
    // nil: one that can't be tested, or that no vector is about.
    func client(_ name: String) -> ConformanceClient? {
      ConformanceClient(name: name).flatMap { files.contains(where: $0.isMeant) ? $0 : nil }
    }
    if let asked, client(asked) == nil {
      let others = ClientPreset.names.filter { client($0) != nil }
      throw UsageError(
        "No vector of \(paths.isEmpty ? "the built-in files" : paths.joined(separator: ", ")) is about the client "
          + "'\(asked)': they are about \(others.joined(separator: ", ")).")
    }
    let reports =
      asked.flatMap(client).map { [ConformanceRunner(client: $0).run(files)] }
      ?? ConformanceRunner.reports(on: files)
    if isJSON {
      try console.printData(ConformanceReport.document.text("conformance", reports))
    } else {
      try console.print(reports.map { text($0, width: console.columns) }.joined(separator: "\n"))
    }
    let failures = reports.flatMap(\.failures)
    if !failures.isEmpty { throw CommandFailure(.failed, failures.joined(separator: "\n")) }
  }

  /// All problems of all files at once.
  private func files(_ files: Files) throws -> [VectorFile] {
    if paths.isEmpty { return try VectorFile.builtIn() }
    var read: [VectorFile] = []
    var problems: [Diagnostic] = []
    for path in paths {
      let text = try files.text(path)
      do {
        read.append(try VectorFile(text: text, name: path))
      } catch {
        problems += error.diagnostics
      }
    }
    if !problems.isEmpty { throw ScenarioProblems(diagnostics: problems) }
    return read
  }

  private func text(_ report: ConformanceReport, width: Int) -> String {
    let table = TextTable(
      header: ["requirement", "what it says", "passed", "failed", "deviates"],
      rows: report.rows.map {
        ["\($0.requirement)", $0.title, "\($0.passed)", "\($0.failed)", "\($0.deviates)"]
      },
      words: 2
    ).terminal(width: width)
    let cases = FigureText.count(report.results.count, "case")
    let text = "\(report.client): \(cases)\n\n\(table)\n\(report.counts)\n"
    let deviations = report.deviations
    if deviations.isEmpty { return text }
    let longest = deviations.map { $0.result.id.count }.max() ?? 0
    return text + "\nExpected deviations of \(report.client):\n"
      + deviations.map { result, reason in
        "  \(result.requirement.padded(to: 5))\(result.id.padded(to: longest))  \(reason)\n"
      }.joined()
  }
}

extension ConformanceReport {
  func total(_ count: (Row) -> Int) -> Int { rows.reduce(0) { $0 + count($1) } }

  var counts: String {
    "\(total(\.passed)) passed, \(total(\.failed)) failed, \(total(\.deviates)) deviate as expected"
  }

  fileprivate static let document = CommandDocument<[ConformanceReport]>(
    meaning: "how each case ended.",
    shape: JSONShape([
      .init("verdict", "How many cases passed, failed and deviate, a sentence for each client.") {
        $0.map { "\($0.client): \($0.counts)" }.joined(separator: "\n")
      },
      .list("clients", "Each client that was tested.", report) { $0 },
    ]))

  private static let report = JSONShape<ConformanceReport>([
    .init("client", "Its name.") { $0.client },
    .init("passed", "Cases.") { $0.total(\.passed) },
    .init("failed", "Cases. The exit code is 1 if there is one.") { $0.total(\.failed) },
    .init("deviates", "Cases in which the client differs as they say.") { $0.total(\.deviates) },
    .list(
      "requirements", "The same by requirement.",
      JSONShape<ConformanceReport.Row>([
        .init("requirement", "Its number.") { $0.requirement },
        .init("title", "What it says.") { $0.title },
        .init("passed", "Cases.") { $0.passed },
        .init("failed", "Cases.") { $0.failed },
        .init("deviates", "Cases.") { $0.deviates },
      ])
    ) { $0.rows },
    .list("cases", "In the order of the files.", result) { $0.results },
  ])

  private static let result = JSONShape<CaseResult>([
    .init("id", "The case's name.") { $0.id },
    .init("requirement", "What it tests.") { $0.requirement },
    .init("says", "What has to happen.") { $0.says },
    .init("file", "Its vector file.") { $0.file },
    .init("line", "Where it begins.") { $0.line },
    .choice("level", "How it ended.", ["passed", "failed", "deviates"]) {
      switch $0.verdict {
      case .passed: "passed"
      case .failed: "failed"
      case .deviates: "deviates"
      }
    },
    .init("reason", "Why the client deviates.") {
      if case .deviates(let reason) = $0.verdict { reason } else { nil as String? }
    },
    .list(
      "mismatches", "What was other than expected.",
      JSONShape<Mismatch>([
        .init("line", "The step.") { $0.line }, .init("message", "What, expected and got.") { $0.message },
      ])
    ) { if case .failed(let mismatches) = $0.verdict { mismatches } else { [] } },
  ])
}
