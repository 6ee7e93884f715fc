import FleetMetrics
import FleetSimulation
import Synchronization

/// Everything around a command: streams, signals, files, variables, its program and clocks. Only the executable reads clocks.
///
/// No command uses anything of its process that it does not find here, so that any number of them run in one process.
public struct CommandEnvironment: Sendable {
  package var console: Console
  /// The command line, without the program's name.
  var arguments: [String] = []
  /// Paths as the user writes them, and the signals that end reading.
  package var files: Files
  /// Variables that commands read and that their child processes inherit.
  package var variables: Variables
  package var executable: Executable
  /// Seconds of a clock that never goes back, for wall time; no result depends on it.
  package var monotonicSeconds: @Sendable () -> Double
  /// Seconds since 1970, for dates in the headers of a live run.
  package var unixSeconds: @Sendable () -> Double

  package var signals: Signals { files.signals }

  package init(
    console: Console, files: Files, variables: Variables, executable: Executable,
    monotonicSeconds: @escaping @Sendable () -> Double, unixSeconds: @escaping @Sendable () -> Double
  ) {
    (self.console, self.files, self.variables, self.executable) = (console, files, variables, executable)
    (self.monotonicSeconds, self.unixSeconds) = (monotonicSeconds, unixSeconds)
  }

  /// The environment of a command that is this process: from now on its signals are handled.
  public static func process(
    monotonicSeconds: @escaping @Sendable () -> Double, unixSeconds: @escaping @Sendable () -> Double
  ) -> CommandEnvironment {
    Descriptors.occupyStandard()
    Signals.process.install()
    return CommandEnvironment(
      console: Console(variables: .process), files: Files(signals: .process), variables: .process,
      executable: .process, monotonicSeconds: monotonicSeconds, unixSeconds: unixSeconds)
  }
}

/// Variables of an environment by name.
package struct Variables: Sendable, ExpressibleByDictionaryLiteral {
  /// nil: those of the process, each read when it is asked for.
  private let given: [String: String]?

  static let process = Variables(nil)

  package init(_ given: [String: String]?) { self.given = given }
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(Dictionary(elements) { $1 })
  }

  subscript(name: String) -> String? {
    if let given { return given[name] }
    return getenv(name).map { String(cString: $0) }
  }

  /// All of them, as a child process inherits them.
  var all: [String: String] {
    if let given { return given }
    var variables: [String: String] = [:]
    var place = environ
    while let variable = place.pointee {
      let words = String(cString: variable).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if words.count == 2 { variables[String(words[0])] = String(words[1]) }
      place += 1
    }
    return variables
  }
}

/// The program of a command, for `run.json`.
package final class Executable: Sendable {
  private let path: String
  private let digest = Mutex<String??>(nil)

  package init(_ path: String) { self.path = path }

  static var process: Executable {
    #if canImport(Darwin)
      var size: UInt32 = 0
      _NSGetExecutablePath(nil, &size)
      var path = [CChar](repeating: 0, count: Int(size) + 1)
      _NSGetExecutablePath(&path, &size)
      return Executable(path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    #else
      return Executable("/proc/self/exe")
    #endif
  }

  /// The build, for `run.json`: `debug` or `release`, and for a release build the SHA-256 of the program. Nothing tells a plain
  /// SwiftPM build which commit it is made of.
  var build: JSONValue {
    #if DEBUG
      // Its digest would take seconds.
      return ["kind": "debug"]
    #else
      return ["kind": "release", "executableSHA256": sha256]
    #endif
  }

  /// Read once, however many ask.
  private var sha256: String? {
    digest.withLock { digest in
      if let digest { return digest }
      let found = (try? Files().bytes(path, limit: .max)).map(SHA256.hexadecimal)
      digest = found
      return found
    }
  }

  /// Begins to read the program for `build`, which takes longer than a small run.
  func prepareBuild() {
    #if !DEBUG
      // Without a thread it is read when it is asked for.
      try? SystemThreads.start { _ = self.sha256 }
    #endif
  }
}
