import Conformance
import HTTPTransport
import ScenarioFormat

/// How a command is run for a case.
struct ExecSetup: Sendable {
  /// A command of the shell, without `--input`.
  var command: String
  /// Whether `flushInterval` is milliseconds.
  var isMilliseconds: Bool
  /// So long until its first connection, microseconds.
  var startLimit: Int64
  /// Microseconds of a clock that never goes back.
  var now: @Sendable () -> Int64
  /// Seconds since 1970.
  var unixSeconds: @Sendable () -> Double
  /// Whether the work is to stop.
  var isStopped: @Sendable () -> Bool
}

/// One run of a command against a server of its own, and all that was seen of it.
///
/// One thread does everything: a clock, a port of 127.0.0.1, the answers of the case, and the process with what it prints.
struct ExecSession: ~Copyable {
  /// Bytes that a command may print.
  private static let mostOutput = 1 << 20
  /// Uploads of a run at most: one that sends without end is known for it.
  private static let mostUploads = 1_000

  private let vector: ProcessCase
  private let setup: ExecSetup
  private var log = ExchangeLog()
  private var start: Int64 = 0
  private var child: pid_t = 0
  private var listener: Int32 = -1
  private var connections: [Connection] = []
  private var output: Tail
  private var complaints: Tail
  private var answered: [String: Int] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var hasConnected = false

  init(_ vector: ProcessCase, _ setup: ExecSetup) {
    self.vector = vector
    self.setup = setup
    output = Tail()
    complaints = Tail()
  }

  /// Runs the command to its end, or until the case is decided or its time is over. Nothing of it is left then.
  consuming func run() -> ExchangeLog {
    guard let port = listen() else {
      log.child.end = .unstartable("no port can be had: \(systemMessage())")
      return log
    }
    guard spawn(port: port) else {
      closeAll()
      return log
    }
    var hasEnded = false
    while !hasEnded {
      hasEnded = isGone
      // What came before its end is there by now.
      step(milliseconds: hasEnded ? 0 : 10)
      if hasEnded {
        step(milliseconds: 0)
        step(milliseconds: 0)
      } else if isOver {
        break
      }
    }
    finish(hasEnded: hasEnded)
    return log
  }

  private var now: Int64 { setup.now() - start }

  private var isOver: Bool {
    if setup.isStopped() || log.spokeTLS || log.spokeNoHTTP || output.count > Self.mostOutput { return true }
    if let most = vector.mostUploads, log.uploads.count > most { return true }
    if log.uploads.count > Self.mostUploads { return true }
    guard let first = log.uploads.first else { return now > setup.startLimit }
    return now > first.arrivedAt + vector.limit
  }

  // MARK: The process

  private mutating func spawn(port: Int) -> Bool {
    let ends = ChildProcess.privately {
      var (first, second) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
      return pipe(&first) == 0 && pipe(&second) == 0 ? first + second : first
    }
    guard ends.count == 4 else {
      for end in ends where end >= 0 { close(end) }
      log.child.end = .unstartable("the system has no pipe: \(systemMessage())")
      return false
    }
    (output.descriptor, complaints.descriptor) = (ends[0], ends[2])
    for end in [ends[0], ends[2]] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    start = setup.now()
    let started = ChildProcess.start(
      shell: setup.command + #" --input "$1""#,
      words: [vector.input(port: port, isMilliseconds: setup.isMilliseconds)], output: ends[1],
      errors: ends[3], leads: true)
    close(ends[1])
    close(ends[3])
    guard let started else {
      log.child.end = .unstartable("the system starts no process: \(systemMessage())")
      return false
    }
    child = started
    return true
  }

  /// Whether the process has ended; its number is kept until `finish`, so that nobody else gets it.
  private var isGone: Bool {
    var info = siginfo_t()
    return waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo != 0
  }

  private mutating func finish(hasEnded: Bool) {
    log.endedAt = now
    // Those that it started, too.
    kill(-child, SIGKILL)
    if !hasEnded { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    if hasEnded {
      log.child.end =
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
    output.read(&buffer)
    complaints.read(&buffer)
    log.child.outputBytes = output.count
    log.child.flooded = output.count > Self.mostOutput
    log.child.lastLine = output.lastLine
    log.child.success = Self.success(log.child.lastLine)
    log.child.lastComplaint = complaints.lastLine
    closeAll()
  }

  private static func success(_ line: String) -> Bool? {
    guard line.utf8.first == UInt8(ascii: "{"),
      case .bool(let value)? = try? JSON5Parser.parse(line)["success"]?.content
    else { return nil }
    return value
  }

  private mutating func closeAll() {
    for connection in connections { close(connection.descriptor) }
    connections = []
    for descriptor in [listener, output.descriptor, complaints.descriptor] where descriptor >= 0 {
      close(descriptor)
    }
  }

  // MARK: The server

  private mutating func listen() -> Int? {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    listener = ChildProcess.privately { [socket(AF_INET, kind, 0)] }[0]
    guard listener >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    #if canImport(Glibc)
      let isHeard = Glibc.listen(listener, 256) == 0
    #elseif canImport(Musl)
      let isHeard = Musl.listen(listener, 256) == 0
    #else
      let isHeard = Darwin.listen(listener, 256) == 0
    #endif
    guard isBound, isHeard else {
      close(listener)
      listener = -1
      return nil
    }
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private struct Connection {
    let descriptor: Int32
    var request = HTTPArrival()
    var arrivedAt: Int64?
    /// The upload in the log; nil: none yet, or no upload.
    var upload: Int?
    var isRead = false
    var saidContinue = false
    var answer: (bytes: [UInt8], dueAt: Int64, status: Int?, retryAfter: String?)?
    /// No answer is meant to come.
    var isSilent = false
    var isClosed = false
  }

  /// What is open is looked after before new connections are taken: who hangs up and connects again is seen in this order.
  private mutating func step(milliseconds: Int32) {
    var watched = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    let own = [output.descriptor, complaints.descriptor, listener]
    watched += own.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let due = connections.compactMap { $0.answer?.dueAt }.min()
    let wait =
      due.map { Int32(clamping: max(0, min(Int64(milliseconds), ($0 - now) / 1_000))) } ?? milliseconds
    _ = poll(&watched, nfds_t(watched.count), wait)
    for index in connections.indices where watched[index].revents != 0 { read(index) }
    answerWhatIsDue()
    connections.removeAll {
      if $0.isClosed { close($0.descriptor) }
      return $0.isClosed
    }
    output.read(&buffer)
    complaints.read(&buffer)
    accept()
  }

  private mutating func accept() {
    while connections.count < 512 {
      #if canImport(Glibc)
        let taken = ChildProcess.privately { [Glibc.accept(listener, nil, nil)] }[0]
      #elseif canImport(Musl)
        let taken = ChildProcess.privately { [Musl.accept(listener, nil, nil)] }[0]
      #else
        let taken = ChildProcess.privately { [Darwin.accept(listener, nil, nil)] }[0]
      #endif
      guard taken >= 0 else { return }
      _ = fcntl(taken, F_SETFL, O_NONBLOCK)
      connections.append(Connection(descriptor: taken))
    }
  }

  private mutating func read(_ index: Int) {
    let count = recv(connections[index].descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else {
      connections[index].isClosed = true
      if let upload = connections[index].upload, log.uploads[upload].endedAt == nil {
        log.uploads[upload].endedAt = now
        log.uploads[upload].wasGivenUp = !connections[index].isSilent
        connections[index].answer = nil
      }
      return
    }
    if connections[index].isRead { return }
    let arrivedAt = connections[index].arrivedAt ?? now
    connections[index].arrivedAt = arrivedAt
    switch connections[index].request.take(buffer[..<count]) {
    case .incomplete:
      if connections[index].request.method == "POST", connections[index].upload == nil {
        begin(index, at: arrivedAt)
      }
      if connections[index].request.expectsContinue, !connections[index].saidContinue {
        connections[index].saidContinue = true
        send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: connections[index].descriptor)
      }
    case .tls:
      log.spokeTLS = true
      connections[index].isClosed = true
    case .malformed:
      log.spokeNoHTTP = true
      connections[index].isClosed = true
    case .complete:
      connections[index].isRead = true
      if connections[index].request.method == "POST" {
        if connections[index].upload == nil { begin(index, at: arrivedAt) }
        upload(index)
      } else {
        fetch(index, at: arrivedAt)
      }
    }
  }

  private mutating func begin(_ index: Int, at arrivedAt: Int64) {
    connections[index].upload = log.uploads.count
    var upload = ObservedUpload(arrivedAt: arrivedAt)
    upload.target = connections[index].request.target
    upload.headers = connections[index].request.headers
    log.uploads.append(upload)
  }

  private mutating func upload(_ index: Int) {
    guard let number = connections[index].upload else { return }
    let body = connections[index].request.body
    let text = String(decoding: body, as: UTF8.self)
    log.uploads[number].bodyBytes = body.count
    log.uploads[number].events = vector.events.filter { text.contains(ProcessCase.eventName($0)) }
    let answer = vector.answer(to: log.uploads[number].events) { key in
      let key = key ?? ""
      answered[key, default: 0] += 1
      return answered[key, default: 1] - 1
    }
    switch answer {
    case .status(let status, let field, let delay):
      let retryAfter = field?.value(unixSeconds: Int64(setup.unixSeconds()))
      let json =
        switch status {
        case 204, 304: ""
        // Some servers say so, too, and their SDKs look for it.
        case 200...299: #"{"success":true,"status":1}"#
        default: #"{"success":false}"#
        }
      connections[index].answer = (
        Self.answer(status, json, retryAfter), now + delay, status, retryAfter
      )
    case .silence: connections[index].isSilent = true
    case .reset:
      log.uploads[number].endedAt = now
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        connections[index].descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
      connections[index].isClosed = true
    case .half:
      connections[index].answer = (
        Array("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n".utf8), now, nil, nil
      )
    }
  }

  private mutating func fetch(_ index: Int, at arrivedAt: Int64) {
    guard connections[index].request.method == "GET" else {
      connections[index].answer = (Self.answer(404, "{}", nil), now, nil, nil)
      return
    }
    log.settingsFetches.append(arrivedAt)
    connections[index].answer = (
      Self.answer(200, vector.settings ?? ProcessCases.settings("{}"), nil), now, nil, nil
    )
  }

  private mutating func answerWhatIsDue() {
    for index in connections.indices {
      guard let answer = connections[index].answer, answer.dueAt <= now else { continue }
      connections[index].answer = nil
      if let number = connections[index].upload {
        // Before it is written: no client can know of it earlier.
        log.uploads[number].endedAt = now
        log.uploads[number].status = answer.status
        log.uploads[number].retryAfter = answer.retryAfter
      }
      send(answer.bytes, to: connections[index].descriptor)
      shutdown(connections[index].descriptor, Int32(SHUT_WR))
    }
  }

  private func send(_ bytes: [UInt8], to descriptor: Int32) {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    #if canImport(Glibc)
      _ = Glibc.send(descriptor, bytes, bytes.count, flags)
    #elseif canImport(Musl)
      _ = Musl.send(descriptor, bytes, bytes.count, flags)
    #else
      _ = Darwin.send(descriptor, bytes, bytes.count, flags)
    #endif
  }

  private static func answer(_ status: Int, _ body: String, _ retryAfter: String?) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(status < 300 ? "OK" : "Scripted")", "Connection: close"]
    if status != 204, status != 304 {
      lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
    }
    if let retryAfter { lines.append("Retry-After: \(retryAfter)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}

/// The end of what a process prints.
private struct Tail {
  var descriptor: Int32 = -1
  /// Bytes in all.
  private(set) var count = 0
  private var kept: [UInt8] = []
  private static let longest = 1 << 16

  /// Takes what is there.
  mutating func read(_ buffer: inout [UInt8]) {
    guard descriptor >= 0 else { return }
    for _ in 0..<8 {
      #if canImport(Glibc)
        let length = Glibc.read(descriptor, &buffer, buffer.count)
      #elseif canImport(Musl)
        let length = Musl.read(descriptor, &buffer, buffer.count)
      #else
        let length = Darwin.read(descriptor, &buffer, buffer.count)
      #endif
      if length == 0 {
        // A closed pipe would wake every poll.
        close(descriptor)
        descriptor = -1
      }
      guard length > 0 else { return }
      count += length
      kept += buffer[..<length]
      if kept.count > Self.longest { kept.removeFirst(kept.count - Self.longest) }
    }
  }

  /// The last one that is not empty.
  var lastLine: String {
    let lines = String(decoding: kept, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last { !$0.allSatisfy(\.isWhitespace) }.map { String($0) } ?? ""
  }
}
