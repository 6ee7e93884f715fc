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
  /// Variables by name, which commands read and their child processes inherit.
  package var variables: [String: String]
  package var executable: Executable
  /// Seconds of a clock that never goes back, for wall time; no result depends on it.
  package var monotonicSeconds: @Sendable () -> Double
  /// Seconds since 1970, for dates in the headers of a live run.
  package var unixSeconds: @Sendable () -> Double

  package var signals: Signals { files.signals }

  package init(
    console: Console, files: Files, variables: [String: String], executable: Executable,
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
    let variables = processVariables
    return CommandEnvironment(
      console: Console(variables: variables), files: Files(signals: .process), variables: variables,
      executable: .process, monotonicSeconds: monotonicSeconds, unixSeconds: unixSeconds)
  }

  private static var processVariables: [String: String] {
    let places = sequence(first: environ) { $0 + 1 }.prefix { $0.pointee != nil }
    let pairs: [[Substring]] = places.compactMap(\.pointee).map {
      String(cString: $0).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    }
    return Dictionary(
      pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) },
      uniquingKeysWith: { first, _ in first })
  }
}

/// The program of a command, for `run.json`.
package final class Executable: Sendable {
  private let path: String
  private let digest = Mutex<String?>(nil)

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
      digest = digest ?? (try? Files().bytes(path, limit: .max)).map(SHA256.hexadecimal)
      return digest
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
