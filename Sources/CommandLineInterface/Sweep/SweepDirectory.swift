import FleetExperiments
import FleetMetrics
import ScenarioModel
import Synchronization

/// The directory of a sweep: `plan.json`, and the runs by name.
///
/// Any number of processes may fill it at once. Nothing in it is ever changed: a run is renamed into place when it is whole, so
/// whoever is killed leaves what is done, and a temporary file that goes when that run is made.
final class SweepDirectory: SweepStore, Sendable {
  static let planName = "plan.json"
  static let runsName = "runs"
  static let mergedName = "merged"

  /// As the user named it.
  let path: String
  private let leftovers: Mutex<[String: [String]]>

  /// - Throws: `CommandFailure` 73: not a directory, or none of a sweep.
  private init(_ path: String, leftovers: [String: [String]]) {
    self.path = path
    self.leftovers = Mutex(leftovers)
  }

  /// The directory of a sweep that has begun.
  /// - Throws: `CommandFailure` 66, 65.
  static func existing(_ path: String) throws(CommandFailure) -> (SweepDirectory, SweepPlanFile) {
    let directory = SweepDirectory(path, leftovers: [:])
    guard access("\(path)/\(planName)", F_OK) == 0 else {
      throw CommandFailure(
        .noInput, "\(path): holds no \(planName); a directory that 'fleetsim sweep --out' made is expected")
    }
    return (directory, try SweepPlanFile(contentsOf: "\(path)/\(planName)"))
  }

  /// Makes the directory if need be, and puts the plan there.
  /// - Throws: `CommandFailure` 73, 74; 65 if another sweep is there.
  static func prepared(_ path: String, for file: SweepPlanFile) throws(CommandFailure) -> SweepDirectory {
    try make("\(path)/\(runsName)", asked: path)
    let leftovers = temporaries(in: "\(path)/\(runsName)", named: path)
    let directory = SweepDirectory(path, leftovers: leftovers)
    try directory.putPlan(file)
    return directory
  }

  private static func make(_ directory: String, asked path: String) throws(CommandFailure) {
    var missing: [String] = []
    var place = directory
    while access(place, F_OK) != 0, errno == ENOENT, place != "/", place != "." {
      missing.append(place)
      place = OutputDirectory.split(place).parent
    }
    if missing == [directory],
      let entry = try OutputDirectory.entries(path, named: path).first(where: isForeign)
    {
      throw CommandFailure(
        .cannotCreate,
        "\(path): holds '\(entry)' and no sweep; name another directory with --out, or an empty one")
    }
    for place in missing.reversed() {
      // Another shard may be as far as we are.
      guard mkdir(place, 0o777) == 0 || errno == EEXIST else {
        throw CommandFailure(
          .cannotCreate, "\(path): cannot be created: \(systemMessage()); name a writable place with --out")
      }
    }
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.cannotCreate, "\(directory): is no directory; name another place with --out")
    }
  }

  private static func isForeign(_ entry: String) -> Bool {
    entry != planName && TemporaryName.target(of: entry) != planName
  }

  // MARK: The plan

  private func putPlan(_ file: SweepPlanFile) throws(CommandFailure) {
    let place = "\(path)/\(Self.planName)"
    if access(place, F_OK) == 0 {
      let there = try SweepPlanFile(contentsOf: place)
      try ResultsVersion.check(
        there.plan.results, of: "\(place): the sweep was made with", "sweep into another directory with --out"
      )
      if there.plan.includes(file.plan) { return removeRests(of: Self.planName, in: path) }
      guard file.plan.includes(there.plan) else {
        throw CommandFailure(
          .data,
          "\(place): is the plan of another sweep: \(there.plan.difference(from: file.plan)); "
            + "name another directory with --out")
      }
    }
    try AtomicFile.write(Array(file.text.utf8), to: place, named: place)
    removeRests(of: Self.planName, in: path)
  }

  private func removeRests(of name: String, in folder: String) {
    for rest in Self.temporaries(in: folder, named: path)[name] ?? [] { unlink("\(folder)/\(rest)") }
  }

  /// What processes that were killed have left, by what it was to become.
  private static func temporaries(in folder: String, named name: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    for entry in (try? OutputDirectory.entries(folder, named: name)) ?? [] {
      if let target = TemporaryName.target(of: entry) { found[target, default: []].append(entry) }
    }
    return found
  }

  // MARK: Runs

  static func fileName(_ name: RunName) -> String { "\(name).run" }

  private func place(_ name: RunName) -> String { "\(path)/\(Self.runsName)/\(Self.fileName(name))" }

  func record(_ name: RunName) throws -> RunRecord? {
    let place = place(name)
    guard access(place, F_OK) == 0 else { return nil }
    let bytes = try InputFile.bytes(place, limit: .max)
    do throws(StoredRecord.Problem) {
      let record = try RunFile.record(bytes, name)
      removeLeftovers(of: name)
      return record
    } catch {
      Console.printError("\(place): warning: is damaged and does not count: \(error)\n")
      return nil
    }
  }

  func keep(_ record: RunRecord, as name: RunName) throws {
    let place = place(name)
    try AtomicFile.write(RunFile.bytes(record, name), to: place, named: place)
    removeLeftovers(of: name)
  }

  /// Says so where runs are there that a build with other results made, copied here from another sweep of the same plan.
  /// - Throws: `CommandFailure` 65.
  func refuseRunsOfOtherResults() throws(CommandFailure) {
    let runs = "\(path)/\(Self.runsName)"
    for entry in try OutputDirectory.entries(runs, named: path).sorted() where entry.hasSuffix(".run") {
      guard let results = RunFile.results(try InputFile.bytes("\(runs)/\(entry)", limit: .max)) else {
        continue
      }
      try ResultsVersion.check(
        results, of: "\(runs)/\(entry): the run was made with",
        "let one build make all shards: remove such runs and start the sweep again")
    }
  }

  private func removeLeftovers(of name: RunName) {
    let rests = leftovers.withLock { $0.removeValue(forKey: Self.fileName(name)) }
    for rest in rests ?? [] { unlink("\(path)/\(Self.runsName)/\(rest)") }
  }
}

/// The text of one run: what it is, what came of it, and a digest of both.
enum RunFile {
  static func bytes(_ record: RunRecord, _ name: RunName) -> [UInt8] {
    let body = Array(opening(name).utf8) + StoredRecord.bytes(of: record)
    return body + Array("\(ending)\(SHA256.hexadecimal(body))\n".utf8)
  }

  static func record(_ bytes: [UInt8], _ name: RunName) throws(StoredRecord.Problem) -> RunRecord {
    let opening = Array(opening(name).utf8)
    let endingCount = ending.utf8.count + 64 + 1
    guard bytes.starts(with: opening) else {
      throw StoredRecord.Problem(description: "it does not begin as this run does")
    }
    let end = bytes.count - endingCount
    guard end >= opening.count else { throw StoredRecord.Problem(description: "it is cut off") }
    let body = Array(bytes[..<end])
    guard bytes[end...].elementsEqual("\(ending)\(SHA256.hexadecimal(body))\n".utf8) else {
      throw StoredRecord.Problem(description: "its SHA-256 is not the one in its last line")
    }
    return try StoredRecord.record(body[opening.count...])
  }

  /// The results version in the first line of any run; nil: this is no run.
  static func results(_ bytes: [UInt8]) -> Int? {
    let line = String(decoding: bytes.prefix(80).prefix { $0 != Ascii.lineFeed }, as: UTF8.self)
    if line.hasPrefix(start) { return Int(line.dropFirst(start.count)) }
    return line.hasPrefix("fleetsim run ") ? 0 : nil
  }

  private static let start = "fleetsim run of results version "
  private static let ending = "sha256 "
  private static func opening(_ name: RunName) -> String {
    "\(start)\(CommandLineTool.resultsVersion)\nidentity \(name.identity)\n"
  }
}
