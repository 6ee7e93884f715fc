import CommandLineInterface
import Foundation
import Synchronization
import Testing

/// The tool as its users run it: a command in this process, beside any number of others, or the built executable.
enum Tool {
  struct Output: Equatable {
    var code: Int32
    var standardOutput: String
    var standardError: String

    var json: JSON { get throws { try JSON(text: standardOutput) } }
    var lines: [Substring] { standardOutput.split(separator: "\n") }

    /// The lines of the story about a subject.
    func story(_ subject: String) -> [String] {
      lines.filter { $0.hasPrefix(subject + "  ") }
        .map { String($0.dropFirst(subject.count).drop { $0 == " " }) }
    }

    /// Expects that the story has these lines about a subject alone, by how they begin.
    func tells(
      _ subject: String, _ beginnings: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let lines = story(subject)
      let isTold = lines.count == beginnings.count && zip(lines, beginnings).allSatisfy { $0.hasPrefix($1) }
      #expect(isTold, "\(self)", sourceLocation: sourceLocation)
    }
  }

  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let executable = built("fleetsim")

  /// A program beside the test bundle: SwiftPM builds it because the tests depend on it.
  static func built(_ program: String) -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let places = [Bundle.main.executableURL].compactMap(\.self) + bundles
    let candidates = places.map { $0.deletingLastPathComponent().appendingPathComponent(program) }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
  }

  /// Runs a command in `directory`, within this process.
  /// - Parameters:
  ///   - signal: comes as soon as the command only notes signals and `isTime` says so.
  ///   - standardOutput: a descriptor in place of the text that is returned.
  ///   - variables: more than every command has here.
  static func run(
    _ arguments: [String], in directory: URL, signal: Int32? = nil, when isTime: () -> Bool = { true },
    standardOutput: Int32? = nil, variables: [String: String] = [:]
  ) throws -> Output {
    let (output, errors) = (try Capture(), try Capture())
    let command = Running(
      arguments, in: directory.path,
      Console(
        output: standardOutput ?? output.descriptor, errors: errors.descriptor,
        variables: Variables(Running.variables)), variables: variables)
    if let signal {
      while !(command.signals.isHeld && isTime()), !command.hasEnded { usleep(5_000) }
      command.signals.receive(signal)
    }
    return Output(
      code: command.end(), standardOutput: output.text, standardError: withoutProgress(errors.text))
  }

  /// Runs a program in `directory`; with `signal`, sends that signal after `delay` seconds, as soon as `isTime` then says so.
  /// `shell` is a command of a shell before it, as `ulimit -f 0`.
  static func process(
    _ arguments: [String], in directory: URL, signal: Int32? = nil, after delay: Double = 0,
    when isTime: () -> Bool = { true }, shell: String? = nil, program: URL = executable
  ) throws -> Output {
    let process = Process()
    process.executableURL = shell == nil ? program : URL(filePath: "/bin/sh")
    process.arguments =
      (shell.map { ["-c", $0 + #"; exec "$0" "$@""#, program.path] } ?? []) + arguments
    process.currentDirectoryURL = directory
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
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
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let errorText = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // Killed by a signal: as a shell would report it, so that no expected code is matched by chance.
    let code =
      process.terminationReason == .exit ? process.terminationStatus : 256 + process.terminationStatus
    return Output(
      code: code, standardOutput: String(decoding: text, as: UTF8.self),
      standardError: withoutProgress(String(decoding: errorText, as: UTF8.self)))
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

/// A command on a thread of its own, as deep as that of a process.
final class Running: Sendable {
  let signals = Signals()
  private let code = Mutex<Int32?>(nil)
  private let isOver = DispatchSemaphore(value: 0)

  /// What the commands of all tests know of the user's variables.
  static let variables = ProcessInfo.processInfo.environment.filter {
    ["HOME", "PATH", "TMPDIR"].contains($0.key)
  }
  private static let executable: Executable = {
    // A reader that goes away is an error of the write, as in the process.
    signal(SIGPIPE, SIG_IGN)
    return Executable(Tool.executable.path)
  }()

  init(
    _ arguments: [String], in directory: String, _ console: Console, variables: [String: String] = [:]
  ) {
    let environment = Self.environment(
      in: directory, console, signals, Self.variables.merging(variables) { $1 })
    let thread = Thread { [self, environment] in
      let code = CommandLineTool.main(arguments: arguments, environment: environment)
      self.code.withLock { $0 = code }
      isOver.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }

  static func environment(
    in directory: String, _ console: Console = Console(variables: [:]), _ signals: Signals = Signals(),
    _ variables: [String: String] = variables
  ) -> CommandEnvironment {
    CommandEnvironment(
      console: console, files: Files(in: directory, signals: signals), variables: Variables(variables),
      executable: executable, monotonicSeconds: { ProcessInfo.processInfo.systemUptime },
      unixSeconds: { Date().timeIntervalSince1970 })
  }

  var hasEnded: Bool { code.withLock { $0 != nil } }

  /// Waits for its exit code. Whatever goes wrong, no test waits for an endless run.
  func end() -> Int32 {
    if isOver.wait(timeout: .now() + 900) == .timedOut {
      signals.receive(SIGKILL)
      isOver.wait()
    }
    return code.withLock { $0 ?? 0 }
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
final class Scratch: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("fleetsim-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  /// One with files that a command of another left, for tests that begin with the same.
  convenience init(_ files: [String: [UInt8]]) throws {
    try self.init()
    for (name, bytes) in files { try write(name, bytes) }
  }

  convenience init(_ texts: [String: String]) throws { try self.init(texts.mapValues { Array($0.utf8) }) }

  /// One with a scenario, `s.json5`, and other texts beside it.
  static func with(_ scenario: String = Scenarios.small, and texts: [String: String] = [:]) throws -> Scratch
  {
    try Scratch(texts.merging(["s.json5": scenario]) { $1 })
  }

  /// Runs a command here, within this process.
  /// - Parameters:
  ///   - code: how it has to end; nil: however.
  ///   - part: what standard error has to have; "": it is empty.
  @discardableResult
  func run(
    _ words: [String], code: Int32? = nil, says part: String? = nil, signal: Int32? = nil,
    when isTime: () -> Bool = { true }, variables: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Tool.Output {
    let output = try Tool.run(words, in: url, signal: signal, when: isTime, variables: variables)
    if let code {
      #expect(output.code == code, "\(output.standardError)", sourceLocation: sourceLocation)
      // What is refused has no answer.
      if (64...66).contains(code) { #expect(output.standardOutput == "", sourceLocation: sourceLocation) }
    }
    if let part {
      let isSaid = part.isEmpty ? output.standardError.isEmpty : output.standardError.contains(part)
      #expect(isSaid, "\(output.standardError)", sourceLocation: sourceLocation)
    }
    return output
  }

  /// As many threads at a time as are no burden to each other.
  private static let slots = DispatchSemaphore(value: 4)

  /// Does something on a thread of its own, for what waits more than it computes, so that other tests go on meanwhile.
  @discardableResult
  static func aside<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer
  {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        slots.wait()
        continuation.resume(with: Result(catching: work))
        slots.signal()
      }
    }
  }

  /// Of words with a blank between, and others behind them.
  @discardableResult
  func run(
    _ command: String, _ more: [String] = [], code: Int32? = nil, says part: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Tool.Output {
    try run(
      command.split(separator: " ").map(String.init) + more, code: code, says: part,
      sourceLocation: sourceLocation)
  }

  /// The files below a folder that end so, by their paths in it.
  func files(in folder: String = "", _ ending: String = "") throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in names(in: folder) where name.hasSuffix(ending) {
      let path = folder.isEmpty ? name : folder + "/" + name
      if !url.appendingPathComponent(path).hasDirectoryPath { files[name] = try read(path) }
    }
    return files
  }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }
  func write(_ name: String, _ bytes: [UInt8]) throws {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  func read(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: url.appendingPathComponent(name)))
  }
  func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }
  func json(_ name: String) throws -> JSON { try JSON(text: text(name)) }
  /// The rows of a CSV file, its header first; no cell is quoted.
  func table(_ name: String) throws -> [[String]] {
    try text(name).split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
  }
  /// Its records, each by column.
  func records(_ name: String) throws -> [[String: String]] {
    let rows = try table(name)
    return rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
  }
  func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: url.appendingPathComponent(name))
  }

  /// The runs that a journal keeps so far, sorted.
  func runs(_ journal: String) -> [String] {
    let path = url.appendingPathComponent(journal).path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(".run") && !$0.hasPrefix(".") }.sorted()
  }

  /// Every file and folder below, hidden ones too, sorted.
  var contents: [String] { names(in: "") }
  /// Those below a folder, by their paths in it.
  func names(in folder: String) -> [String] {
    let path = url.appendingPathComponent(folder).path
    return (try? FileManager.default.subpathsOfDirectory(atPath: path).sorted()) ?? []
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
