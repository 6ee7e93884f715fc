import FleetExperiments
import FleetMetrics
import FleetReports

/// The files of a result, in a fixed order.
struct ResultFiles {
  var results: [VariantResult]
  var choices: [VariantChoice]
  var isComparison: Bool
  var title: String
  var question: String?
  var verdict: String
  var manifest: RunManifest
  /// In what cohorts are not as their client presets; nil: not known.
  var clients: ClientDifferences?
  /// What is said of a scenario that is a part of a larger one.
  var scaleNote: String?
  var extras = Extras()

  /// Files that are only written where they are asked for: they are large.
  struct Extras: Sendable {
    var twin = false
    var openMetrics = false
  }

  /// Everything, `run.json` last.
  var all: [OutputFile] {
    let folders = isComparison ? Self.folders(results.map(\.name)) : [""]
    let varied = VariedColumns(choices)
    var tables = [OutputFile(OutputFile.summary, varied.bytes(of: results.map(\.summary)))]
    if extras.openMetrics {
      let runs = results.map { ($0.name, $0.summary.seed, $0.record.series) }
      tables.append(OutputFile(OutputFile.openMetrics, OpenMetrics.bytes(of: runs)))
    }
    for (result, folder) in zip(results, folders) {
      tables += Self.tables(of: result, in: folder, extras)
    }
    var manifest = manifest
    manifest.files = tables
    manifest.runs = zip(zip(results, folders), choices).map { pair, choice in
      RunManifest.Run(name: pair.0.name, folder: pair.1, overrides: choice.overrides)
    }
    let report = HTMLReport.render(
      title: title, question: question, results: results, verdict: verdict, scenarioJSON: manifest.scenario,
      command: manifest.command, version: CommandLineTool.version, seed: manifest.seed,
      clients: clients, scaleNote: scaleNote)
    var files = tables + [OutputFile(OutputFile.report, text: report)]
    if isComparison {
      files.append(OutputFile(OutputFile.picture, text: SVGChart.comparisonPicture(results)))
    }
    return files + [OutputFile(OutputFile.manifest, text: manifest.text)]
  }

  /// The tables of one run in its folder; "" is the directory itself.
  static func tables(of result: VariantResult, in folder: String, _ extras: Extras = Extras()) -> [OutputFile]
  {
    let prefix = folder.isEmpty ? "" : folder + "/"
    var tables = [OutputFile(prefix + OutputFile.timeSeries, TimeSeriesCSV.bytes(of: result.record.series))]
    if extras.twin {
      tables.append(
        OutputFile(prefix + OutputFile.twinTimeSeries, TimeSeriesCSV.bytes(of: result.twin.series)))
    }
    tables.append(
      OutputFile(prefix + OutputFile.deliveries, HistogramCSV.bytes(of: result.record.deliveries)))
    if result.record.cohorts.count > 1 || result.record.cohorts.contains(where: { !$0.lanes.isEmpty }) {
      tables.append(OutputFile(prefix + OutputFile.cohorts, CohortCSV.bytes(of: result.record.cohorts)))
    }
    return tables
  }

  /// A folder for each name: letters, digits and `.+-_` stay, all else becomes `-`; numbered where two would
  /// be one, also for file systems that take capitals for small letters.
  static func folders(_ names: [String]) -> [String] {
    var taken = Set(OutputFile.topLevelNames)
    return names.map { name in
      var folder = String(
        name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "+-_.".contains($0)) ? $0 : "-" }.prefix(100))
      // No folder is taken for an option, and runs of what became a dash are one.
      while folder.contains("--") { folder = folder.replacing("--", with: "-") }
      while let first = folder.first, first == "-" || first == "." { folder.removeFirst() }
      while folder.last == "-" { folder.removeLast() }
      if folder.isEmpty { folder = "variant" }
      var unique = folder
      var number = 2
      while !taken.insert(unique.lowercased()).inserted {
        unique = "\(folder)-\(number)"
        number += 1
      }
      return unique
    }
  }
}
