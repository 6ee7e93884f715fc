import FleetExperiments
import FleetReports
import ScenarioFormat

/// What a search prints and writes.
struct TuneFiles {
  var result: TuneResult
  var settings: SettingsDocument
  var clients: TuneClients
  var arguments: [String]
  /// As normalised, JSON.
  var scenarios: [String]
  var facts: String
  var title: String
  var seed: UInt64

  private var verdict: TuneVerdict { TuneVerdict(result) }

  /// Whether there are Settings to publish: found, and confirmed by fresh seeds.
  var recommends: Bool { result.isRecommended }

  func text(isQuiet: Bool) -> String {
    if isQuiet { return verdict.sentence + "\n" }
    var text = Terminal.emphasised(verdict.sentence) + "\n"
    for sentence in verdict.robustSentences + verdict.keySentences + verdict.comparisons {
      text += "- \(sentence)\n"
    }
    let comparison = verdict.comparison
    text +=
      "\n" + TerminalTable.plain(header: comparison.header, rows: comparison.rows, width: Console.columns)
    for (client, lines) in clients.sentences(result, settings) {
      text += "\nWhat \(client) makes of these Settings:\n"
      for line in lines { text += "- \(line)\n" }
    }
    return text
  }

  func all(wall: RunManifest.Wall) -> [OutputFile] {
    let report = TuneReport(result)
    var tables = [OutputFile(OutputFile.pareto, report.table)]
    if let draws = report.drawsTable { tables.append(OutputFile(OutputFile.draws, draws)) }
    if recommends {
      tables += [
        OutputFile(OutputFile.settings, Array(settings.cdnJSON.utf8)),
        OutputFile(OutputFile.documentSettings, Array(settings.documentJSON.utf8)),
      ]
    }
    let inner = scenarios.map { JSONValue.raw($0) }
    var manifest = RunManifest(
      arguments: arguments, seed: seed, checks: false, scenario: JSONValue.text(.array(inner)), wall: wall)
    manifest.files = tables
    let page = report.page(
      title: title, facts: facts, settings: recommends ? settings.cdnJSON : nil, command: manifest.command,
      version: CommandLineTool.version)
    return tables + [
      OutputFile(OutputFile.report, Array(page.utf8)),
      OutputFile(OutputFile.paretoPicture, Array(report.picture.utf8)),
    ] + (report.drawsPicture.map { [OutputFile(OutputFile.drawsPicture, Array($0.utf8))] } ?? []) + [
      OutputFile(OutputFile.manifest, Array(manifest.text.utf8))
    ]
  }

  func closing(_ output: String?, journal: String?, _ result: TuneResult) -> String {
    var text = JournalDirectory.closing(result.runs)
    guard let output else {
      return text + "No files written; --out DIR writes the Settings, the table and a report.\n"
    }
    text +=
      "Written to \(output): \(recommends ? "\(OutputFile.settings), \(OutputFile.documentSettings), " : "")"
      + "\(OutputFile.pareto), \(OutputFile.paretoPicture), "
      + (result.robustness == nil ? "" : "\(OutputFile.draws), \(OutputFile.drawsPicture), ")
      + "\(OutputFile.report), \(OutputFile.manifest)\n"
    return text + (journal.map { "The journal \($0) is not needed any more.\n" } ?? "")
  }
}
