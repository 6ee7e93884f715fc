import FleetExperiments
import FleetMetrics

/// Finished runs as files in a directory, each named by the SHA-256 of what it depends on and put there by rename.
struct JournalDirectory: Sendable {
  /// As the user named it.
  let path: String
  private static let marker = "fleetsim-journal"
  private static let results = "results version "

  /// Opens the directory, or makes it.
  /// - Throws: `CommandFailure` 73 if it cannot be made or holds what is no journal, 65 if other results are in it.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw CommandFailure(
          .cannotCreate, "\(path): exists and is not a directory; name another with --journal")
      }
      let names = try OutputDirectory.entries(path, named: path)
      let foreign = names.first { TemporaryName.target(of: $0) != Self.marker }
      guard foreign == nil || names.contains(Self.marker) else {
        throw CommandFailure(
          .cannotCreate,
          "\(path): holds '\(foreign ?? "")' and is no journal of fleetsim; name another with --journal")
      }
      TemporaryName.removeRests(in: path)
    } else {
      try Self.make(path)
    }
    if let text = try read(Self.marker) {
      let found = text.split(separator: "\n").first { $0.hasPrefix(Self.results) }
      try ResultsVersion.check(
        found.flatMap { Int($0.dropFirst(Self.results.count)) } ?? 0,
        of: "\(path): the journal was kept with",
        "name another with --journal, or remove this one")
    } else {
      try write(Self.marker, "fleetsim journal\n\(Self.results)\(CommandLineTool.resultsVersion)\n")
    }
  }

  private static func make(_ path: String) throws(CommandFailure) {
    let (parent, name) = OutputDirectory.split(path)
    if parent != "/", parent != ".", access(parent, F_OK) != 0 { try make(parent) }
    if name.isEmpty || mkdir(path, 0o777) == 0 || errno == EEXIST { return }
    throw CommandFailure(
      .cannotCreate, "\(path): cannot be created: \(systemMessage()); name a writable place with --journal")
  }

  /// nil if it is not there.
  func read(_ name: String) throws(CommandFailure) -> String? {
    let file = "\(path)/\(name)"
    if access(file, F_OK) != 0 { return nil }
    return try InputFile.text(file)
  }

  func write(_ name: String, _ text: String) throws(CommandFailure) {
    let target = "\(path)/\(name)"
    try AtomicFile.write(Array(text.utf8), to: target, named: target, option: "--journal")
  }

  /// Where `--journal` says, or beside `--out`; nil: nowhere.
  static func path(_ asked: String?, besides output: String?) -> String? {
    asked
      ?? output.map { path in
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path + ".journal"
      }
  }

  /// What a signal leaves of a search that is kept in it.
  static func remains(_ journal: JournalDirectory?) -> String {
    guard let journal else { return Interruption.nothing }
    return "\(journal.path) keeps the finished runs, and the same command makes the rest"
  }

  /// What a search says in the end of its runs.
  static func closing(_ runs: (made: Int, readBack: Int)) -> String {
    var text = "\n\(FigureText.count(runs.made, "run")) made"
    if runs.readBack > 0 { text += ", \(FigureText.grouped(Int64(runs.readBack))) taken from the journal" }
    return text + ".\n"
  }

  /// What is told when everything is written.
  static func notNeeded(_ journal: JournalDirectory?) -> String {
    journal.map { "The journal \($0.path) is not needed any more.\n" } ?? ""
  }

  /// Runs by name.
  var trials: TrialJournal {
    TrialJournal(
      read: { try read($0) }, write: { try write($0, $1) },
      name: { SHA256.hexadecimal(Array($0.utf8)) + ".csv" })
  }
}
