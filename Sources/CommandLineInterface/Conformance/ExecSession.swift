import Conformance
import HTTPTransport
import ScenarioModel

/// One run of a command against a server of its own, and all that was seen of it.
///
/// One thread does everything: a clock, the server with the answers of the case, and the process with what it prints.
struct ExecSession: ~Copyable {
  /// Bytes that a command may print.
  private static let mostOutput = 1 << 20
  /// Uploads of a run at most: one that sends without end is known for it.
  private static let mostUploads = 1_000

  private let vector: ProcessCase
  private let setup: ExecConformance
  private var server: ScriptedServer
  private var child: pid_t = 0
  private var output = Tail()
  private var complaints = Tail()

  init(_ vector: ProcessCase, _ setup: ExecConformance) {
    (self.vector, self.setup) = (vector, setup)
    server = ScriptedServer(vector, setup.environment)
  }

  /// Runs the command to its end, or until the case is decided or over. Nothing of it is left then.
  consuming func run() -> ExchangeLog {
    if let reason = start() {
      server.log.child.end = .unstartable(reason)
    } else {
      var hasEnded = false
      while !hasEnded, !isOver {
        hasEnded = isGone
        // Everything that came before its end is there by now.
        for wait in hasEnded ? [0, 0, 0] : [10] { step(milliseconds: Int32(wait)) }
      }
      finish(hasEnded: hasEnded)
    }
    server.closeAll()
    output.end()
    complaints.end()
    return server.log
  }

  /// Takes the output of the process while its uploads are answered.
  private mutating func step(milliseconds: Int32) {
    server.step(milliseconds: milliseconds, also: [output.output, complaints.output])
    output.take()
    complaints.take()
  }

  private var isOver: Bool {
    if setup.isStopped || server.log.spokeTLS || server.log.spokeNoHTTP { return true }
    if output.count > Self.mostOutput { return true }
    if server.log.uploads.count > min(vector.mostUploads ?? .max, Self.mostUploads) { return true }
    guard let first = server.log.uploads.first else { return server.now > setup.startLimit }
    return server.now > first.arrivedAt + vector.limit
  }

  // MARK: The process

  /// Returns why it could not be started; nil: it runs.
  private mutating func start() -> String? {
    let port: Int
    do throws(LoopbackSocket.Failure) {
      port = try server.listen()
    } catch {
      return "no port can be had: \(error)"
    }
    guard output.begin(), complaints.begin() else { return "the system has no pipe: \(systemMessage())" }
    server.begin()
    let started = setup.environment.start(
      client: setup.command, input: vector.input(port: port, isMilliseconds: setup.isMilliseconds),
      output: output.input, errors: complaints.input)
    guard let started else { return "the system starts no process: \(systemMessage())" }
    output.closeInput()
    complaints.closeInput()
    child = started
    return nil
  }

  /// Whether the process has ended, with all that it started; its number is kept until `finish`, so that nobody else gets it.
  private var isGone: Bool {
    var info = siginfo_t()
    return waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo != 0
  }

  private mutating func finish(hasEnded: Bool) {
    server.log.endedAt = server.now
    if !hasEnded { kill(child, SIGTERM) }
    let status = ChildProcess.wait(for: child)
    output.take()
    complaints.take()
    var report = ChildReport()
    if hasEnded {
      report.end = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
    report.flooded = output.count > Self.mostOutput
    report.lastLine = output.lastLine
    report.success = Self.success(report.lastLine)
    report.lastComplaint = complaints.lastLine
    server.log.child = report
  }

  private static func success(_ line: String) -> Bool? {
    guard line.utf8.first == UInt8(ascii: "{"),
      case .bool(let value)? = try? JSON5Parser.parse(line)["success"]?.content
    else { return nil }
    return value
  }
}
