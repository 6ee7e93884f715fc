import FleetExperiments
import FleetMetrics

/// A journal: finished runs as files in a directory, each named by the SHA-256 of what it depends on.
///
/// Any number of processes may fill it at once. Nothing in it is ever changed: a run is renamed into place when it is whole. A
/// process that is killed leaves its finished runs, and a temporary file that the next process removes.
final class RunDirectory: RunStore, Sendable {
  let path: String
  private let environment: CommandEnvironment
  private var files: Files { environment.files }
  let results = CommandLineTool.resultsVersion

  private static let marker = "fleetsim-journal"
  private static let opening = "fleetsim journal of runs"
  private static let resultsLine = "results version "
  private static let option = "--journal"

  /// The journal at a place, which is made if it is not there.
  /// - Throws: `CommandFailure` 73 if it cannot be made or holds what is no journal, 65 if other results are in it.
  init(journal path: String, _ environment: CommandEnvironment) throws(CommandFailure) {
    (self.path, self.environment) = (path, environment)
    let files = environment.files
    let place = files.place(path)
    if let status = stat(at: place) {
      guard status.kind == S_IFDIR else {
        throw CommandFailure(
          .cannotCreate, "\(path): exists and is not a directory; name another with --journal")
      }
      let names = try OutputDirectory.entries(place, named: path)
      // Another process may be about to make the journal.
      if let foreign = names.first(where: { TemporaryPlace.target(of: $0) != Self.marker }),
        !files.isThere("\(path)/\(Self.marker)")
      {
        throw CommandFailure(
          .cannotCreate,
          "\(path): holds '\(foreign)' and is no journal of fleetsim; name another with --journal")
      }
    } else {
      try Self.make(path, files)
    }
    TemporaryPlace.removeRests(in: place)
    let kept = try read(Self.marker).map { String(decoding: $0, as: UTF8.self) }
    let text = kept ?? "\(Self.opening)\n\(Self.resultsLine)\(results)\n"
    if kept == nil { try write(Self.marker, Array(text.utf8)) }
    let found = text.split(separator: "\n").first { $0.hasPrefix(Self.resultsLine) }
    try ResultsVersion.check(
      found.flatMap { Int($0.dropFirst(Self.resultsLine.count)) } ?? 0,
      of: "\(path): the journal was kept with", "name another with --journal, or remove this one")
  }

  private static func make(_ path: String, _ files: Files) throws(CommandFailure) {
    files.signals.hold()
    let (parent, name) = OutputDirectory.split(path)
    if parent != "/", parent != ".", !files.isThere(parent) { try make(parent, files) }
    if name.isEmpty || mkdir(files.place(path), 0o777) == 0 || errno == EEXIST { return }
    throw CommandFailure(
      .cannotCreate, "\(path): cannot be created: \(systemMessage()); name a writable place with --journal")
  }

  /// nil if it is not there.
  func read(_ file: String) throws(CommandFailure) -> [UInt8]? {
    let place = "\(path)/\(file)"
    if !files.isThere(place) { return nil }
    return try files.ownBytes(place)
  }

  func write(_ file: String, _ bytes: [UInt8]) throws(CommandFailure) {
    try files.write(bytes, to: "\(path)/\(file)", option: Self.option)
  }

  func warn(_ file: String, _ problem: StoredRecord.Problem) {
    environment.console.printError("\(path)/\(file): warning: is damaged and does not count: \(problem)\n")
  }

  /// Tells which runs of a study a signal leaves, if they are kept in a journal.
  static func remains(_ journal: RunDirectory?) -> String {
    guard let journal else { return Signals.nothing }
    return "\(journal.path) keeps the finished runs, and the same command makes the rest"
  }

  /// Tells, when everything is written, that the journal has served its purpose.
  static func notNeeded(_ journal: RunDirectory?) -> String {
    journal.map { " (\($0.path) is not needed any more)" } ?? ""
  }

  /// Tells how many runs were not made, but read back; nil: none.
  static func readBack(_ runs: (made: Int, readBack: Int)) -> String? {
    runs.readBack > 0
      ? "\(FigureText.count(runs.readBack, "run")) from the journal, \(runs.made) made" : nil
  }
}
