import CommandLineInterface
import Dispatch
import Foundation
import Testing

/// The built executable, run as a user runs it.
enum Tool {
  struct Output {
    var code: Int32
    var standardOutput: String
    var standardError: String
  }

  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// `fleetsim` beside the test bundle: SwiftPM builds it because the tests depend on it.
  static let executable: URL = {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let places = [Bundle.main.executableURL].compactMap(\.self) + bundles
    let candidates = places.map { $0.deletingLastPathComponent().appendingPathComponent("fleetsim") }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
  }()

  /// Runs the tool in `directory`; with `signal`, sends that signal after `delay` seconds, as soon as `isTime` then says so. `shell`
  /// is a command of a shell before it, as `ulimit -f 0`.
  static func run(
    _ arguments: [String], in directory: URL, signal: Int32? = nil, after delay: Double = 0,
    when isTime: () -> Bool = { true }, standardOutput: FileHandle? = nil, shell: String? = nil
  ) throws -> Output {
    let process = Process()
    process.executableURL = shell == nil ? executable : URL(filePath: "/bin/sh")
    process.arguments =
      (shell.map { ["-c", $0 + #"; exec "$0" "$@""#, executable.path] } ?? []) + arguments
    process.currentDirectoryURL = directory
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = standardOutput ?? output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // Whatever goes wrong, no test waits for an endless run. On a busy machine a long one takes minutes.
    DispatchQueue.global().asyncAfter(deadline: .now() + 900 + delay) {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    if let signal {
      Thread.sleep(forTimeInterval: delay)
      while !(isTime() && (signal == SIGKILL || catches(signal, process.processIdentifier))),
        process.isRunning
      {
        Thread.sleep(forTimeInterval: 0.02)
      }
      kill(process.processIdentifier, signal)
    }
    let text = standardOutput == nil ? output.fileHandleForReading.readDataToEndOfFile() : Data()
    let errorText = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // Killed by a signal: as a shell would report it, so that no expected code is matched by chance.
    let code =
      process.terminationReason == .exit ? process.terminationStatus : 256 + process.terminationStatus
    return Output(
      code: code, standardOutput: String(decoding: text, as: UTF8.self),
      standardError: Self.withoutProgress(String(decoding: errorText, as: UTF8.self)))
  }

  /// What a command said without the lines of progress that a slow machine adds each half minute.
  private static func withoutProgress(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("x real time") }.joined(separator: "\n")
  }

  /// Whether a process has come so far that it handles a signal, as Linux tells; elsewhere half a second has to do.
  private static func catches(_ signal: Int32, _ process: Int32) -> Bool {
    #if os(Linux)
      let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
      let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
      return mask >> UInt64(signal - 1) & 1 == 1
    #else
      Thread.sleep(forTimeInterval: 0.5)
      return true
    #endif
  }
}

/// What is around a command that runs in this process.
enum Running {
  static func environment(
    in directory: String, _ console: Console = Console(variables: [:]), _ signals: Signals = Signals(),
    _ variables: [String: String] = [:]
  ) -> CommandEnvironment {
    CommandEnvironment(
      console: console, files: Files(in: directory, signals: signals), variables: variables,
      executable: Executable(Tool.executable.path),
      monotonicSeconds: { ProcessInfo.processInfo.systemUptime },
      unixSeconds: { Date().timeIntervalSince1970 })
  }
}

/// A file without a name for what a command prints.
final class Capture {
  let descriptor: Int32

  init() throws {
    var path = Array((NSTemporaryDirectory() + "/fleetsim-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    try #require(descriptor >= 0)
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }
  deinit { close(descriptor) }

  var text: String {
    var bytes = [UInt8](repeating: 0, count: Int(max(0, lseek(descriptor, 0, SEEK_END))))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

/// A directory that is there for one test.
final class Scratch {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("fleetsim-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ name: String, _ text: String) throws {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  func read(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: url.appendingPathComponent(name)))
  }
  func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }

  /// Every file and folder below, hidden ones too, sorted.
  var contents: [String] {
    (try? FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()) ?? []
  }
}

/// Scenarios small enough for a test.
enum Scenarios {
  /// A fleet that meets a three-minute outage; runs in a blink.
  static let small = scenario()
  /// Virtual months: nobody waits for its end.
  static let endless = scenario(devices: 20_000, duration: "300d", interval: "1h", capacity: "2000/s")

  static func scenario(
    devices: Int = 60, duration: String = "20m", interval: String = "10s", capacity: String = "4/s"
  ) -> String {
    """
    {
      format: 1,
      seed: 5, duration: "\(duration)", interval: "\(interval)",
      tapi: { bucket: { capacity: "\(capacity)", burst: 2 }, overload: { status: 503 },
              incidents: [{ kind: "outage", at: "4m", for: "3m", status: 503 }] },
      network: { latency: "50ms" },
      fleet: [{ name: "phones", devices: \(devices), events: "6/min", retries: "timer" }],
      compare: { "settings.backoffConfig.jitterStrategy": ["none", "full"] },
    }
    """
  }
}
