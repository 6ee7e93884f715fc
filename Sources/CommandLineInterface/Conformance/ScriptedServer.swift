import Conformance
import HTTPTransport

/// A server on a port of 127.0.0.1 that answers by the script of a case and keeps what it saw.
///
/// The owner drives it, by `step`.
struct ScriptedServer: ~Copyable {
  private let vector: ProcessCase
  /// The log of the case; times are since `start`.
  var log = ExchangeLog()
  /// When the case began, by the clock.
  var start: Int64 = 0

  private let setup: ExecSetup
  private var listener: LoopbackListener?
  private var connections: [Connection] = []
  private var answered: [String: Int] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let mostConnections = 128

  init(_ vector: ProcessCase, _ setup: ExecSetup) {
    (self.vector, self.setup) = (vector, setup)
  }

  /// Microseconds since the case began.
  var now: Int64 { setup.now - start }

  mutating func closeAll() {
    for connection in connections { close(connection.descriptor) }
    connections = []
    listener?.hangUp()
    listener = nil
  }

  /// Listens on a free port.
  /// - Returns: the port.
  mutating func listen() throws(LoopbackSocket.Failure) -> Int {
    let listener = try ChildProcess.descriptors.withLock { _ throws(LoopbackSocket.Failure) in
      try LoopbackListener(backlog: 256)
    }
    self.listener = listener
    return listener.port
  }

  private struct Connection {
    let descriptor: Int32
    /// It was looked at, and nothing had come.
    var isIdle = false
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

  /// Serves open connections before it takes new ones: a client that hangs up and connects again is seen in this order.
  /// - Parameter others: descriptors that end the wait, too, when there is something to read.
  mutating func step(milliseconds: Int32, also others: [Int32]) {
    var watched = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    watched += (others + [listener?.polled ?? -1]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let due = connections.compactMap { $0.answer?.dueAt }.min()
    let wait =
      due.map { Int32(clamping: max(0, min(Int64(milliseconds), ($0 - now) / 1_000))) } ?? milliseconds
    _ = poll(&watched, nfds_t(watched.count), wait)
    for index in connections.indices {
      connections[index].isIdle = watched[index].revents == 0 && connections[index].arrivedAt == nil
      if watched[index].revents != 0 { read(index) }
    }
    answerWhatIsDue()
    connections.removeAll {
      if $0.isClosed { close($0.descriptor) }
      return $0.isClosed
    }
    accept()
  }

  /// Who has sent nothing makes room for others.
  private mutating func accept() {
    while true {
      let hasRoom = connections.count < Self.mostConnections
      let taken = ChildProcess.descriptors.withLock { _ in listener?.accept(hasRoom: hasRoom) }
      if let taken {
        log.connections += 1
        connections.append(Connection(descriptor: taken))
      } else if listener?.isHeldUp == true, let idle = connections.firstIndex(where: \.isIdle) {
        close(connections.remove(at: idle).descriptor)
      } else {
        return
      }
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
        LoopbackSocket.send(
          Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...], to: connections[index].descriptor)
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
    log.uploads[number].events = vector.events.filter { text.contains(vector.name(of: $0)) }
    let scripted = vector.answer(to: log.uploads[number].events) { key in
      let key = key ?? ""
      answered[key, default: 0] += 1
      return answered[key, default: 1] - 1
    }
    switch scripted {
    case .status(let status, let field, let delay):
      let retryAfter = field?.value(unixSeconds: Int64(setup.environment.unixSeconds()))
      let json =
        switch status {
        case 204, 304: ""
        case 200...299: Self.accepted
        default: #"{"success":false,"status":0,"error":"scripted"}"#
        }
      connections[index].answer = (
        Self.answer(status, json, retryAfter), now + delay, status, retryAfter
      )
    case .silence: connections[index].isSilent = true
    case .reset:
      log.uploads[number].endedAt = now
      LoopbackSocket.resetsOnClose(connections[index].descriptor)
      connections[index].isClosed = true
    case .half:
      connections[index].answer = (
        Array("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n".utf8), now, nil, nil
      )
    }
  }

  private mutating func fetch(_ index: Int, at arrivedAt: Int64) {
    var (status, json) = (404, "{}")
    if connections[index].request.method == "GET" {
      log.settingsFetches.append(arrivedAt)
      (status, json) = (200, vector.settings ?? ProcessCases.settings("{}"))
    }
    connections[index].answer = (Self.answer(status, json), now, nil, nil)
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
      LoopbackSocket.send(answer.bytes[...], to: connections[index].descriptor)
      shutdown(connections[index].descriptor, Int32(SHUT_WR))
    }
  }

  /// Mixpanel's servers say `status`, and its SDKs look for it.
  private static let accepted = #"{"success":true,"status":1}"#

  private static func answer(_ status: Int, _ body: String, _ retryAfter: String? = nil) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(status < 300 ? "OK" : "Scripted")", "Connection: close"]
    if status != 204, status != 304 {
      lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
    }
    if let retryAfter { lines.append("Retry-After: \(retryAfter)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}
