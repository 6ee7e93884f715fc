import FleetExperiments
import FleetReports
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim calibrate`: the values with which a scenario gives what was measured.
struct CalibrateCommand {
  var request: CalibrateRequest
  var invocation: SearchInvocation

  func execute() throws {
    let loaded = try LoadedScenario(request.input)
    let base = try loaded.decode()
    let warnings = printWarnings([base], loaded.path)
    let study = try study(base.scenario)
    let interval = Override(
      path: "interval", value: Units.text(Span(microseconds: study.observed.interval)))
    @Sendable func decode(_ values: [String], _ more: [Override] = []) throws -> ScenarioFile.Decoded {
      let overrides = zip(study.keys, values).flatMap { Override.choosing($0.path, $1) }
      return try loaded.decode(VariantChoice(name: "", overrides: overrides + more))
    }
    try check(study, decode)
    let workers = try invocation.workers([base.scenario], loaded.path)
    let output = try invocation.outputPath.map { try OutputDirectory($0) }
    let journal = try request.journalPath.map { try JournalDirectory($0) }
    try Interruption.check()
    let facts = facts(base.scenario, study)
    if invocation.isTalkative {
      try Console.print("\(loaded.path): seed \(base.scenario.seed), \(facts)\n\n")
    }

    let ((result, runs), wall) = try invocation.run(
      workers: workers, leaving: JournalDirectory.remains(journal)
    ) { control in
      let runner = SeriesRunner(
        study, workers: workers, control: control, journal: journal?.trials,
        scenario: { try decode($0, [interval]).scenario })
      var calibrator = Calibrator(study) { try runner.counts($0) }
      return (try calibrator.run(), runner.runs)
    }

    let fitted = try decode(result.values)
    let verdict = CalibrationVerdict(result)
    let printed = Result {
      guard invocation.isJSON else { return try Console.print(text(verdict)) }
      let findings = CalibrationFindings(
        path: loaded.path, observedPath: request.observedPath, question: base.scenario.question,
        warnings: warnings,
        result: result, fitted: fitted.normalisedJSON, runs: runs, output: invocation.outputPath)
      try Console.printData(CalibrationFindings.document.text("calibrate", findings))
    }
    if let output {
      let manifest = RunManifest(
        arguments: invocation.arguments, seed: base.scenario.seed, checks: false,
        scenario: base.normalisedJSON,
        wall: wall)
      try output.write(
        files(
          result, fitted.normalisedJSON, title: loaded.name, question: base.scenario.question, facts, manifest
        ))
    }
    try printed.get()
    if invocation.isTalkative { try Console.print(closing(output?.path, journal?.path, runs)) }
  }

  // MARK: Input

  /// - Throws: `ScenarioProblems`, `CommandFailure` 65, 66, `UsageError`.
  private func study(_ scenario: Scenario) throws -> CalibrationStudy {
    let mapping = try request.mappingPath.map {
      try ObservedMapping(text: InputFile.text($0), name: $0)
    }
    let observed = try ObservedSeries(
      text: InputFile.text(request.observedPath), name: request.observedPath, mapping: mapping)
    var weights: [(column: ObservedColumn, weight: Double)] = []
    for column in ObservedColumn.allCases {
      let asked = request.weights.last { $0.column == column }?.weight
      guard observed.values[column] != nil else {
        guard asked ?? 0 > 0 else { continue }
        throw UsageError(
          "'--weight' asks for \(column.rawValue), which \(request.observedPath) does not have.")
      }
      let weight = asked ?? (ObservedColumn.standard.contains(column) ? 1 : 0)
      if weight > 0 { weights.append((column, weight)) }
    }
    guard !weights.isEmpty else {
      throw UsageError("No column is left to fit to: give one a '--weight' above 0.")
    }
    let end = scenario.duration.microseconds
    if let last = observed.rows.last, Int64(last) * observed.interval >= end {
      throw CommandFailure(
        .data,
        "\(request.observedPath): the last row begins at \(FigureText.span(Int64(last) * observed.interval)), when the run of "
          + "\(FigureText.span(end)) is over; give --set duration=\(Units.text(Span(microseconds: (Int64(last) + 1) * observed.interval)))"
          + ", or say in --mapping with start when the scenario begins")
    }
    return CalibrationStudy(
      keys: request.keys, observed: observed, weights: weights, holdOut: request.holdOut,
      budget: request.budget)
  }

  /// Every end of every range, and all of them together.
  private func check(
    _ study: CalibrationStudy, _ decode: ([String], [Override]) throws -> ScenarioFile.Decoded
  ) throws {
    do {
      for number in 0..<1 << study.keys.count {
        let values = study.keys.enumerated().map { index, key in
          key.fitText(number >> index & 1 == 0 ? key.low : key.high)
        }
        _ = try decode(
          values, [Override(path: "interval", value: Units.text(Span(microseconds: study.observed.interval)))]
        )
      }
    } catch var problems as ScenarioProblems {
      for index in problems.diagnostics.indices where problems.diagnostics[index].file == "--set" {
        problems.diagnostics[index].file =
          problems.diagnostics[index].path == "interval" ? "--observed" : "--fit"
      }
      throw problems
    }
  }

  // MARK: Output

  private func facts(_ scenario: Scenario, _ study: CalibrationStudy) -> String {
    let rows = study.observed.rows.count
    let columns = study.weights.map(\.column.rawValue).joined(separator: ", ")
    return
      "\(scenario.sizeText), \(FigureText.grouped(Int64(rows))) rows of \(FigureText.span(study.observed.interval)) from "
      + "\(request.observedPath) (\(columns)), the last \(FigureText.grouped(Int64(rows - study.heldOut))) held out"
  }

  private func text(_ verdict: CalibrationVerdict) -> String {
    var text = Terminal.emphasised(verdict.sentence) + "\n"
    for warning in verdict.warnings { text += "- \(warning)\n" }
    if invocation.isQuiet { return text }
    text +=
      "\n"
      + TerminalTable.plain(header: CalibrationVerdict.header, rows: verdict.rows, width: Console.columns)
    if verdict.hasHeldOut {
      text +=
        "\n"
        + TerminalTable.plain(
          header: CalibrationVerdict.errorHeader, rows: verdict.errorRows, width: Console.columns)
    }
    return text
  }

  private func files(
    _ result: CalibrationResult, _ fitted: String, title: String, question: String?, _ facts: String,
    _ manifest: RunManifest
  ) -> [OutputFile] {
    var manifest = manifest
    let tables = CalibrationCSV(result)
    let report = CalibrationReport(result)
    let head = zip(result.study.keys, result.values).map { "// \($0.path): \($1)\n" }.joined()
    let data = [
      OutputFile(OutputFile.fitted, Array(("// Fitted by fleetsim calibrate:\n" + head + fitted).utf8)),
      OutputFile(OutputFile.residuals, tables.residuals), OutputFile(OutputFile.draws, tables.draws),
    ]
    manifest.files = data
    let page = report.page(
      title: title, question: question, facts: facts, command: manifest.command,
      version: CommandLineTool.version)
    return data + [
      OutputFile(OutputFile.calibrationPicture, Array(report.picture.utf8)),
      OutputFile(OutputFile.report, Array(page.utf8)),
      OutputFile(OutputFile.manifest, Array(manifest.text.utf8)),
    ]
  }

  private func closing(_ output: String?, _ journal: String?, _ runs: (made: Int, readBack: Int)) -> String {
    var text = JournalDirectory.closing(runs)
    guard let output else {
      return text + "No files written; --out DIR writes the fitted scenario, tables and a report.\n"
    }
    text +=
      "Written to \(output): \(OutputFile.fitted), \(OutputFile.residuals), \(OutputFile.draws), "
      + "\(OutputFile.calibrationPicture), \(OutputFile.report), \(OutputFile.manifest)\n"
    return text + (journal.map { "The journal \($0) is not needed any more.\n" } ?? "")
  }
}
