import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel

/// Where finished runs are kept by name, so that what was stopped goes on where it stood and studies share their runs.
///
/// Any number of processes may fill one store at once: nothing in it is ever changed.
public protocol RunStore: Sendable {
  /// The version of the results (`CommandLineTool.resultsVersion`) that is kept here.
  var results: Int { get }
  /// nil if it is not there.
  func read(_ file: String) throws -> [UInt8]?
  /// Keeps a file whole or not at all.
  func write(_ file: String, _ bytes: [UInt8]) throws
  /// Says that a file is damaged and will be made again.
  func warn(_ file: String, _ problem: StoredRecord.Problem)
}

/// What a run is called in a store: the SHA-256 of all it depends on and of what is kept of it.
public struct RunName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// 64 hexadecimal digits.
  public let identity: String

  /// - Parameters:
  ///   - digest: of the scenario, whatever its seed.
  ///   - kept: what is kept of the run, but for its whole record.
  init(digest: String, seed: UInt64, results: Int, kept: String = "") {
    var text = "fleetsim results \(results)\nscenario \(digest)\nseed \(seed)\n"
    if !kept.isEmpty { text += "kept \(kept)\n" }
    identity = SHA256.hexadecimal(Array(text.utf8))
  }

  /// Of a run of `scenario`.
  init(_ scenario: Scenario, results: Int, kept: String = "") {
    self.init(digest: Self.digest(scenario), seed: scenario.seed, results: results, kept: kept)
  }

  /// SHA-256 of what a run depends on but for its seed.
  static func digest(_ scenario: Scenario) -> String {
    var scenario = scenario
    scenario.seed = 0
    scenario.question = nil
    return SHA256.hexadecimal(Array(scenario.normalisedJSON.utf8))
  }

  /// Enough of it to name a file.
  public var description: String { String(identity.prefix(24)) }
  public var file: String { "\(self).run" }

  public static func < (a: RunName, b: RunName) -> Bool { a.identity < b.identity }
}

extension RunStore {
  /// What is kept under a name; nil if it is not there, or not whole.
  func kept(_ name: RunName) throws -> ArraySlice<UInt8>? {
    guard let bytes = try read(name.file) else { return nil }
    do throws(StoredRecord.Problem) {
      return try StoredRun.body(bytes, name, results)
    } catch {
      warn(name.file, error)
      return nil
    }
  }

  func keep(_ body: [UInt8], as name: RunName) throws {
    try write(name.file, StoredRun.bytes(body, name, results))
  }

  /// The whole record of a run.
  func record(_ name: RunName) throws -> RunRecord? {
    guard let body = try kept(name) else { return nil }
    do throws(StoredRecord.Problem) {
      return try StoredRecord.record(body)
    } catch {
      warn(name.file, error)
      return nil
    }
  }
}

/// The text of one run: what it is, what came of it, and a digest of both.
public enum StoredRun {
  static func bytes(_ body: [UInt8], _ name: RunName, _ results: Int) -> [UInt8] {
    let text = Array(opening(name, results).utf8) + body
    return text + Array("\(ending)\(SHA256.hexadecimal(text))\n".utf8)
  }

  static func body(
    _ bytes: [UInt8], _ name: RunName, _ results: Int
  ) throws(StoredRecord.Problem) -> ArraySlice<UInt8> {
    let opening = Array(opening(name, results).utf8)
    guard bytes.starts(with: opening) else {
      throw StoredRecord.Problem(description: "it does not begin as this run does")
    }
    let end = bytes.count - (ending.utf8.count + 64 + 1)
    guard end >= opening.count else { throw StoredRecord.Problem(description: "it is cut off") }
    guard bytes[end...].elementsEqual("\(ending)\(SHA256.hexadecimal(Array(bytes[..<end])))\n".utf8) else {
      throw StoredRecord.Problem(description: "its SHA-256 is not the one in its last line")
    }
    return bytes[opening.count..<end]
  }

  /// The results version in the first line of any run; nil: this is no run.
  public static func results(_ bytes: [UInt8]) -> Int? {
    let line = String(decoding: bytes.prefix(80).prefix { $0 != 0x0A }, as: UTF8.self)
    if line.hasPrefix(start) { return Int(line.dropFirst(start.count)) }
    return line.hasPrefix("fleetsim run ") ? 0 : nil
  }

  private static let start = "fleetsim run of results version "
  private static let ending = "sha256 "
  private static func opening(_ name: RunName, _ results: Int) -> String {
    "\(start)\(results)\nidentity \(name.identity)\n"
  }
}
