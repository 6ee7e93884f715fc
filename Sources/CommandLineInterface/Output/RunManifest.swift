import FleetExperiments
import FleetMetrics
import FleetReports
import ScenarioFormat
import ScenarioModel

/// `run.json`: everything a result depends on, and the digests of what came out. Equal runs give equal text
/// but for `wall`.
struct RunManifest {
  /// One run of the comparison, or the only one.
  struct Run {
    var name: String
    /// The folder of its files, empty for the directory itself.
    var folder: String
    var overrides: [Override]
  }
  /// The part that depends on the machine and the moment.
  struct Wall {
    var seconds: Double
    var workers: Int
    var runs: Int
    var virtualSeconds: Double
    var attempts: Int64
  }

  /// How every `run.json` of fleetsim begins.
  static let opening = "{\n  \"program\": \"fleetsim\","

  var executable: Executable
  var arguments: [String]
  var seed: UInt64
  /// One of so many devices was simulated: the factor of counts of runs.
  var scale = 1
  var checks: Bool
  /// With seeds from `seed` on; nil: that one alone.
  var replications: Int?
  var runs: [Run] = []
  /// The scenario as normalised, JSON.
  var scenario: String
  var files: [OutputFile] = []
  /// What `report` prints again; nil: nothing was said.
  var answer: Answer?
  var wall: Wall

  /// Takes down what the runs of a comparison were.
  mutating func describe(_ trial: Trial, _ choices: [VariantChoice], isComparison: Bool = true) {
    if !trial.isOfOneRun { replications = trial.replications }
    let folders = TrialReport.folders(of: trial, isComparison: isComparison)
    runs = zip(zip(trial.variants, folders), choices).map {
      Run(name: $0.0, folder: $0.1, overrides: $1.overrides)
    }
  }

  /// The command line as a shell takes it.
  var command: String { arguments.shellCommand }

  var text: String {
    let runs = runs.map { run -> JSONValue in
      [
        "name": run.name, "folder": run.folder,
        "overrides": run.overrides.map(ComparisonFindings.override.json),
      ]
    }
    let files = files.map { file -> JSONValue in
      ["path": file.path, "bytes": file.bytes.count, "sha256": SHA256.hexadecimal(file.bytes)]
    }
    let perSecond = wall.seconds > 0 ? 1 / wall.seconds : 0
    let wall: JSONValue = [
      "seconds": JSONValue.decimal(wall.seconds), "jobs": wall.workers, "runsWithTwins": wall.runs,
      "virtualSecondsPerSecond": JSONValue.decimal(wall.virtualSeconds * perSecond),
      "attemptsPerSecond": JSONValue.decimal(Double(wall.attempts) * perSecond),
    ]
    return JSONValue.text([
      "program": "fleetsim", "version": CommandLineTool.version,
      "results": CommandLineTool.resultsVersion,
      "build": executable.build, "arguments": arguments, "seed": seed, "replications": replications,
      "scale": scale, "checks": checks, "runs": runs, "files": files, "scenario": JSONValue.raw(scenario),
      "answer": answer?.kept, "wall": wall,
    ]) + "\n"
  }

  /// What a manifest says that was written beside it.
  struct Written {
    struct File {
      var path: String
      var bytes: Int
      var sha256: String
    }

    /// Empty if the manifest is not readable any more.
    let files: [File]
    /// Those of the files and its own.
    private let paths: Set<[UInt8]>
    /// Whether it does not list its page: one of `compare --explore`, and all of release 0.1.0.
    private let isPartial: Bool

    init(_ text: String) {
      let isManifest = text.utf8.starts(with: RunManifest.opening.utf8)
      let entries = isManifest ? (try? JSON5Parser.parse(text)["files"]?.elements) ?? [] : []
      files = entries.compactMap { file in
        guard let path = file["path"]?.text, Self.isWithin(path), let digest = file["sha256"]?.text,
          case .exact(let count)? = ExactDecimal(file["bytes"])?.times(1)
        else { return nil }
        return File(path: path, bytes: Int(count), sha256: digest)
      }
      let names = files.map(\.path) + (isManifest ? [FileName.manifest.rawValue] : [])
      paths = Set(names.map { Array($0.utf8) })
      isPartial = isManifest && !names.contains(FileName.report.rawValue)
    }

    func has(_ path: String) -> Bool {
      paths.contains(Array(path.utf8)) || (isPartial && FileName(rawValue: path) != nil)
    }

    /// Whether files of it are in a folder.
    func hasFolder(_ name: String) -> Bool {
      files.contains { $0.path.utf8.starts(with: (name + "/").utf8) }
    }

    /// A name, or one in a folder, that leads nowhere else.
    private static func isWithin(_ path: String) -> Bool {
      let parts = path.utf8.split(separator: Ascii.slash, omittingEmptySubsequences: false).map(Array.init)
      return parts.count <= 2 && !parts.contains { [[], Array(".".utf8), Array("..".utf8)].contains($0) }
    }
  }
}

/// Results of builds that may differ are not mixed.
enum ResultsVersion {
  /// Refuses what another results version made. 0 is what has no number.
  /// - `subject`: what was made, up to the number: `out.journal: the journal was kept with`.
  /// - `remedy`: what to do.
  /// - Throws: `CommandFailure` 65.
  static func check(_ results: Int, of subject: String, _ remedy: String) throws(CommandFailure) {
    guard results != CommandLineTool.resultsVersion else { return }
    throw CommandFailure(
      .data,
      "\(subject) results version \(results), this build has results version \(CommandLineTool.resultsVersion): the two may "
        + "differ for the same scenario and seed; \(remedy)")
  }
}

extension [String] {
  /// These arguments of fleetsim as a command line that a shell takes.
  var shellCommand: String {
    let isPlain = { (c: Character) in c.isASCII && (c.isLetter || c.isNumber || "-_./:=+,%@".contains(c)) }
    let words = map { word in
      !word.isEmpty && word.allSatisfy(isPlain)
        ? word
        : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    return (["fleetsim"] + words).joined(separator: " ")
  }
}
