import Conformance
import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import UploadRetry

/// `fleetsim conformance`: does a client behave as the document says?
struct ConformanceCommand {
  /// As the user named them; none: the built-in vectors.
  var paths: [String]
  /// nil: the one that each file is about.
  var client: ConformanceClient?
  /// The client that was asked for; one that can't be tested has no `client`.
  private var asked: String?
  var isJSON: Bool

  /// - Throws: `UsageError` for a client that does not exist.
  init(_ parsed: ParsedArguments) throws {
    paths = parsed.positional
    isJSON = parsed.has("json")
    guard let name = parsed.value("client") else { return }
    asked = name
    client = ConformanceClient(name: name)
    guard client != nil || ClientPreset.names.contains(name) || ClientPreset.isFileName(name) else {
      let hint = nearest(to: name, among: ConformanceClient.allNames).map {
        " Did you mean '\($0)'?"
      }
      throw UsageError(
        "The client '\(name)' does not exist; there are \(ConformanceClient.allNames.joined(separator: ", "))."
          + (hint ?? ""))
    }
  }

  /// - Throws: `CommandFailure` 1 when a case fails, 65, 66; `ScenarioProblems`; `UsageError` for a client without a vector.
  func execute() throws {
    let files = try files()
    if let asked, !(client.map { files.contains(where: $0.isMeant) } ?? false) {
      let others = ConformanceClient.allNames.filter { name in
        ConformanceClient(name: name).map { files.contains(where: $0.isMeant) } ?? false
      }
      throw UsageError(
        "No vector of \(paths.isEmpty ? "the built-in files" : paths.joined(separator: ", ")) is about the client "
          + "'\(asked)': they are about \(others.joined(separator: ", ")).")
    }
    let reports =
      client.map { [ConformanceRunner(client: $0).run(files)] } ?? ConformanceRunner.reports(on: files)
    if isJSON {
      let findings = ConformanceFindings(reports: reports)
      try Console.printData(ConformanceFindings.document.text("conformance", findings))
    } else {
      try Console.print(reports.map(text).joined(separator: "\n"))
    }
    let failures = reports.flatMap(\.failures)
    if !failures.isEmpty { throw CommandFailure(.failed, failures.joined(separator: "\n")) }
  }

  /// All problems of all files at once.
  private func files() throws -> [VectorFile] {
    if paths.isEmpty { return try VectorFile.builtIn() }
    var files: [VectorFile] = []
    var problems: [Diagnostic] = []
    for path in paths {
      let text = try InputFile.text(path)
      do {
        files.append(try VectorFile(text: text, name: path))
      } catch {
        problems += error.diagnostics
      }
    }
    if !problems.isEmpty { throw ScenarioProblems(diagnostics: problems) }
    return files
  }

  private func text(_ report: ConformanceReport) -> String {
    let rows = report.rows
    let table = ConformanceTable.render(rows, width: Console.columns)
    let cases = FigureText.count(report.results.count, "case")
    var text = "\(report.client): \(cases)\n\n\(table)\n"
    text += report.counts + "\n"
    let deviations = report.deviations
    if !deviations.isEmpty {
      text += "\nExpected deviations of \(report.client):\n"
      let width = deviations.map { $0.result.id.count }.max() ?? 0
      for (result, reason) in deviations {
        let requirement = result.requirement + String(repeating: " ", count: 5 - result.requirement.count)
        let id = result.id + String(repeating: " ", count: width - result.id.count)
        text += "  \(requirement)\(id)  \(reason)\n"
      }
    }
    return text
  }
}

extension ConformanceReport {
  func total(_ count: (Row) -> Int) -> Int { rows.reduce(0) { $0 + count($1) } }

  var counts: String {
    "\(total(\.passed)) passed, \(total(\.failed)) failed, \(total(\.deviates)) deviate as expected"
  }
}
