import Conformance
import HTTPTransport
import ScenarioFormat
import ScenarioModel

/// How a command is run for a case.
struct ExecSetup: Sendable {
  /// A command of the shell, without `--input`.
  var command: String
  /// So long until its first connection, microseconds.
  var startLimit: Int64
  /// Whether `flushInterval` is milliseconds.
  var isMilliseconds: Bool
  /// Keys of `config` that the SDK does not heed.
  var ignored: Set<String>
  var environment: CommandEnvironment

  /// Microseconds of a clock that never goes back.
  var now: Int64 { Int64(environment.monotonicSeconds() * 1e6) }
  var isStopped: Bool { environment.signals.pending != nil }

  /// The ignored keys without which the case says nothing, in words; nil: there are none.
  func missing(of vector: ProcessCase) -> String? {
    let keys = vector.needs.intersection(ignored).sorted()
    return keys.isEmpty ? nil : keys.joined(separator: " and ")
  }
}

/// One run of a command against a server of its own, and all that was seen of it.
///
/// One thread does everything: a clock, the server with the answers of the case, and the process with what it prints.
struct ExecSession: ~Copyable {
  /// Bytes that a command may print.
  private static let mostOutput = 1 << 20
  /// Uploads of a run at most: one that sends without end is known for it.
  private static let mostUploads = 1_000

  private let vector: ProcessCase
  private let setup: ExecSetup
  private var server: ScriptedServer
  private var child: pid_t = 0
  private var output = Tail()
  private var complaints = Tail()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ vector: ProcessCase, _ setup: ExecSetup) {
    self.vector = vector
    self.setup = setup
    server = ScriptedServer(vector, setup)
  }

  /// Runs the command to its end, or until the case is decided or its time is over. Nothing of it is left then.
  consuming func run() -> ExchangeLog {
    let port: Int
    do throws(LoopbackSocket.Failure) {
      port = try server.listen()
    } catch {
      server.log.child.end = .unstartable("no port can be had: \(error)")
      return server.log
    }
    guard spawn(port: port) else {
      closeAll()
      return server.log
    }
    var hasEnded = false
    while !hasEnded {
      hasEnded = isGone
      // Everything that came before its end is there by now.
      step(milliseconds: hasEnded ? 0 : 10)
      if hasEnded {
        step(milliseconds: 0)
        step(milliseconds: 0)
      } else if isOver {
        break
      }
    }
    finish(hasEnded: hasEnded)
    return server.log
  }

  /// Takes the output of the process while its uploads are answered.
  private mutating func step(milliseconds: Int32) {
    server.step(milliseconds: milliseconds, also: [output.descriptor, complaints.descriptor])
    output.read(&buffer)
    complaints.read(&buffer)
  }

  private var isOver: Bool {
    if setup.isStopped || server.log.spokeTLS || server.log.spokeNoHTTP { return true }
    if output.count > Self.mostOutput { return true }
    if let most = vector.mostUploads, server.log.uploads.count > most { return true }
    if server.log.uploads.count > Self.mostUploads { return true }
    guard let first = server.log.uploads.first else { return server.now > setup.startLimit }
    return server.now > first.arrivedAt + vector.limit
  }

  // MARK: The process

  private mutating func spawn(port: Int) -> Bool {
    let ends = ChildProcess.pipe() + ChildProcess.pipe()
    guard ends.count == 4 else {
      for end in ends { close(end) }
      server.log.child.end = .unstartable("the system has no pipe: \(systemMessage())")
      return false
    }
    (output.descriptor, complaints.descriptor) = (ends[0], ends[2])
    for end in [ends[0], ends[2]] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    server.start = setup.now
    let started = setup.environment.start(
      client: setup.command, input: vector.input(port: port, isMilliseconds: setup.isMilliseconds),
      output: ends[1], errors: ends[3])
    close(ends[1])
    close(ends[3])
    guard let started else {
      server.log.child.end = .unstartable("the system starts no process: \(systemMessage())")
      return false
    }
    child = started
    return true
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
    if hasEnded {
      server.log.child.end =
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
    output.read(&buffer)
    complaints.read(&buffer)
    server.log.child.outputBytes = output.count
    server.log.child.flooded = output.count > Self.mostOutput
    server.log.child.lastLine = output.lastLine
    server.log.child.success = Self.success(server.log.child.lastLine)
    server.log.child.lastComplaint = complaints.lastLine
    closeAll()
  }

  private static func success(_ line: String) -> Bool? {
    guard line.utf8.first == UInt8(ascii: "{"),
      case .bool(let value)? = try? JSON5Parser.parse(line)["success"]?.content
    else { return nil }
    return value
  }

  private mutating func closeAll() {
    server.closeAll()
    for descriptor in [output.descriptor, complaints.descriptor] where descriptor >= 0 { close(descriptor) }
  }
}
