import Conformance
import HTTPTransport

/// `conformance --serve`: the cases by hand, one after another on one port, for an SDK in an emulator or in a page.
///
/// The user triggers and says when all was seen; the server answers, watches and judges.
struct ServeConformance: Sendable {
  var cases: ProcessCases
  var judge: ProcessJudge
  /// 0: a free one.
  var port: UInt16
  var setup: CaseSetup

  /// Where the case is, as the `--input` of a command.
  static let casePath = "/fleetsim"

  private static let noKeyboard = CommandFailure(
    .noInput,
    "standard input: it ended before a case was judged: --serve needs a terminal, or a pipe with a line for each case"
  )

  /// How an address is told.
  static func address(_ port: Int) -> String { "http://127.0.0.1:\(port)" }

  /// Serves case after case, until the user or a signal ends it.
  /// - Returns: the address as the name of the SDK, and what was judged by then.
  /// - Throws: `CommandFailure` of a port that can't be had, or of a standard input that gives no Enter.
  func outcomes() throws(CommandFailure) -> (name: String, outcomes: [ExecConformance.Outcome]) {
    var server = ScriptedServer(ProcessCase("", "", ""), setup)
    server.strays = []
    let port: Int
    do throws(LoopbackSocket.Failure) {
      port = try server.listen(on: self.port)
    } catch {
      throw Self.unavailable(self.port, error)
    }
    defer { server.closeAll() }
    tell(Self.greeting(port))
    var outcomes: [ExecConformance.Outcome] = []
    var keyboard = Keyboard(setup.environment.console.input)
    for (index, plain) in cases.cases.enumerated() {
      if let reason = obstacle(plain) {
        outcomes.append(.init(vector: plain, verdict: .notApplicable(reason)))
        continue
      }
      var vector = plain
      vector.number = index + 1
      server.page = (Self.casePath, vector.input(port: port, isMilliseconds: setup.isMilliseconds))
      server.begin(vector)
      tell(instruction(vector, "case \(index + 1) of \(cases.cases.count)"))
      guard watch(&server, &keyboard) else { break }
      var log = server.counted()
      (log.endedAt, log.child.end) = (server.now, .byHand)
      let verdict = judge.verdict(on: vector, log)
      outcomes.append(.init(vector: vector, runs: [log], verdict: verdict))
      let remark = ExecFindings.remark(verdict).map { ": \($0)" } ?? ""
      tell("  \(ExecFindings.word(verdict).rawValue)\(remark)\n\n")
    }
    if outcomes.allSatisfy({ $0.log == nil }), server.log.uploads.isEmpty, keyboard.isClosed {
      throw Self.noKeyboard
    }
    return (Self.address(port), outcomes)
  }

  private func obstacle(_ vector: ProcessCase) -> String? {
    if vector.asksTheProcess { return "no process says what became of its events" }
    return setup.missing(of: vector).map { "the SDK ignores \($0)" }
  }

  /// Answers until the user says that all was seen.
  /// - Returns: false if the user or a signal ends the work.
  private func watch(_ server: inout ScriptedServer, _ keyboard: inout Keyboard) -> Bool {
    var told = 0
    var saidEnough = false
    while true {
      if setup.isStopped { return false }
      server.step(milliseconds: 100, also: [setup.environment.console.input])
      while told < server.log.uploads.count, server.log.uploads[told].endedAt != nil {
        tell(line(server.log.uploads[told], number: told, isStray: server.strays?.contains(told) == true))
        told += 1
      }
      if !saidEnough, let first = server.counted().uploads.first,
        server.now > first.arrivedAt + server.vector.limit
      {
        saidEnough = true
        tell("  \(ProcessJudge.seconds(server.vector.limit)) s are over: Enter judges it\n")
      }
      switch keyboard.look() {
      case .nothing: break
      case .enter: return true
      case .end: return false
      }
    }
  }

  // MARK: What is told

  private func tell(_ text: String) { setup.environment.console.printError(text) }

  private static func greeting(_ port: Int) -> String {
    """
    \(address(port)) is the API host of your SDK, and its CDN host; the write key is \(ProcessCase.writeKey).
    An emulator reaches it after: adb reverse tcp:\(port) tcp:\(port)
    A page or an app may GET \(casePath) to have each case as JSON, as --exec gives it.
    Enter judges a case and begins the next one. Ctrl-D or Ctrl-C ends, with a report of what was judged.


    """
  }

  private func instruction(_ vector: ProcessCase, _ place: String) -> String {
    var text = "\(place), \(vector.id) (\(vector.requirement)): \(vector.says)\n"
    var settings = ["flushAt \(vector.flushAt)", "flushInterval \(vector.flushInterval) s"]
    if let retries = vector.maxRetries { settings.append("maxRetries \(retries)") }
    if let timeout = vector.timeout { settings.append("timeout \(timeout) s") }
    text += "  set \(settings.joined(separator: ", "))\n"
    if vector.settings != nil { text += "  start the SDK anew: it has to fetch its Settings\n" }
    for sequence in vector.sequences {
      let wait =
        sequence.delayMilliseconds == 0
        ? "" : "after \(ProcessJudge.seconds(Int64(sequence.delayMilliseconds) * 1_000)) s "
      let events = sequence.events.map { "'\(vector.name(of: $0))'" }.joined(separator: ", ")
      text += "  \(wait)track \(events)\n"
    }
    return text + "  then flush\n"
  }

  private func line(_ upload: ObservedUpload, number: Int, isStray: Bool) -> String {
    let retryAfter = upload.retryAfter.map { ", Retry-After \($0)" } ?? ""
    let answer = upload.status.map { "\($0)\(retryAfter)" } ?? "no answer"
    return "  upload after \(ProcessJudge.seconds(upload.arrivedAt)) s: \(answer)"
      + (isStray ? ", and does not count: no event of the case is in it\n" : "\n")
  }

  private static func unavailable(_ port: UInt16, _ failure: LoopbackSocket.Failure) -> CommandFailure {
    let other = "give --serve another one, or 0 for a free one"
    return failure.code == EADDRINUSE
      ? CommandFailure(.unavailable, "127.0.0.1:\(port): another program listens there; \(other)")
      : CommandFailure(
        .unavailable, "127.0.0.1:\(port): cannot be listened on: \(failure); \(other)")
  }
}

/// Lines of standard input that have not been asked for yet.
private struct Keyboard {
  enum Word { case nothing, enter, end }

  private let descriptor: Int32
  private var lines = 0
  private(set) var isClosed = false
  private var buffer = [UInt8](repeating: 0, count: 1 << 12)

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Returns the user's input since the last time, without waiting.
  mutating func look() -> Word {
    if lines == 0, !isClosed { read() }
    if lines > 0 {
      lines -= 1
      return .enter
    }
    return isClosed ? .end : .nothing
  }

  private mutating func read() {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, 0) > 0 else { return }
    let count = systemRead(descriptor, &buffer)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    isClosed = count <= 0
    lines += buffer.prefix(max(0, count)).count { $0 == UInt8(ascii: "\n") }
  }
}
