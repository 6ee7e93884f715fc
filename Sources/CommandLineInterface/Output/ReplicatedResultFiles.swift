import FleetExperiments
import FleetMetrics
import FleetReports

/// The files of a comparison with replications, in a fixed order.
struct ReplicatedResultFiles {
  var comparison: ReplicatedComparison
  var choices: [VariantChoice]
  var title: String
  var question: String?
  var verdict: String
  var manifest: RunManifest
  /// In what cohorts are not as their client presets; nil: not known.
  var clients: ClientDifferences?
  /// What is said of a scenario that is a part of a larger one.
  var scaleNote: String?

  /// Everything, `run.json` last.
  var all: [OutputFile] {
    let varied = VariedColumns(choices)
    let tables = [
      OutputFile(OutputFile.statistics, varied.bytes(of: Standings(comparison))),
      OutputFile(OutputFile.differences, DifferencesCSV.bytes(of: comparison.metrics)),
      OutputFile(OutputFile.replications, varied.bytes(of: comparison.rows)),
      OutputFile(OutputFile.curves, CurvesCSV.bytes(of: comparison.curves)),
    ]
    var manifest = manifest
    manifest.files = tables
    manifest.runs = choices.map { RunManifest.Run(name: $0.name, folder: "", overrides: $0.overrides) }
    let report = HTMLReport.render(
      title: title, question: question, comparison: comparison, verdict: verdict,
      scenarioJSON: manifest.scenario, command: manifest.command, version: CommandLineTool.version,
      clients: clients, scaleNote: scaleNote)
    return tables + [
      OutputFile(OutputFile.report, text: report),
      OutputFile(OutputFile.picture, text: SVGChart.replicationPicture(comparison)),
      OutputFile(OutputFile.manifest, text: manifest.text),
    ]
  }
}
