import Conformance
import HTTPTransport

/// A server on a port of 127.0.0.1 that answers by the script of a case and keeps what it saw.
///
/// The owner drives it, by `step`.
struct ScriptedServer: ~Copyable {
  private let vector: ProcessCase
  private let environment: CommandEnvironment
  /// The log of the case; times are since its beginning.
  var log = ExchangeLog()
  /// When the case began, by the clock.
  private var start: Int64 = 0
  private var listener: LoopbackListener?
  private var connections: [Connection] = []
  private var answered: [String: Int] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let mostConnections = 128

  init(_ vector: ProcessCase, _ environment: CommandEnvironment) {
    (self.vector, self.environment) = (vector, environment)
  }

  /// Microseconds since the case began.
  var now: Int64 { Int64(environment.monotonicSeconds() * 1e6) - start }

  /// The case begins.
  mutating func begin() { start += now }

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

  private final class Connection {
    let descriptor: Int32
    /// It was looked at, and nothing had come.
    var isIdle = false
    var request = HTTPArrival()
    /// When its first byte came.
    var arrivedAt: Int64?
    /// The upload in the log; nil: none yet, or no upload.
    var upload: Int?
    var isRead = false
    var saidContinue = false
    var answer: (bytes: [UInt8], dueAt: Int64, status: Int?, retryAfter: String?)?
    /// No answer is meant to come.
    var isSilent = false
    var isClosed = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }
  }

  /// Serves open connections before it takes new ones: a client that hangs up and connects again is seen in this order.
  /// - Parameter others: descriptors that end the wait, too, when there is something to read.
  mutating func step(milliseconds: Int32, also others: [Int32]) {
    var watched = (connections.map(\.descriptor) + others + [listener?.polled ?? -1])
      .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let due = connections.compactMap { $0.answer?.dueAt }.min()
    let wait =
      due.map { Int32(clamping: max(0, min(Int64(milliseconds), ($0 - now) / 1_000))) } ?? milliseconds
    _ = poll(&watched, nfds_t(watched.count), wait)
    for (connection, polled) in zip(connections, watched) {
      connection.isIdle = polled.revents == 0 && connection.arrivedAt == nil
      if polled.revents != 0 { read(connection) }
    }
    for connection in connections { answerIfDue(connection) }
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
        connections.append(Connection(taken))
      } else if listener?.isHeldUp == true, let idle = connections.firstIndex(where: \.isIdle) {
        close(connections.remove(at: idle).descriptor)
      } else {
        return
      }
    }
  }

  private mutating func read(_ connection: Connection) {
    let count = recv(connection.descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else {
      connection.isClosed = true
      if let upload = connection.upload, log.uploads[upload].endedAt == nil {
        log.uploads[upload].endedAt = now
        log.uploads[upload].wasGivenUp = !connection.isSilent
        connection.answer = nil
      }
      return
    }
    if connection.isRead { return }
    let arrivedAt = connection.arrivedAt ?? now
    connection.arrivedAt = arrivedAt
    let progress = connection.request.take(buffer[..<count])
    connection.isRead = progress == .complete
    connection.isClosed = [.tls, .malformed].contains(progress)
    if progress == .tls { log.spokeTLS = true }
    if progress == .malformed { log.spokeNoHTTP = true }
    if connection.isClosed { return }
    if connection.request.method == "POST", connection.upload == nil {
      connection.upload = log.uploads.count
      var upload = ObservedUpload(arrivedAt: arrivedAt)
      upload.target = connection.request.target
      upload.headers = connection.request.headers
      log.uploads.append(upload)
    }
    if connection.isRead {
      if let number = connection.upload { answer(connection, number) } else { fetch(connection) }
    } else if connection.request.expectsContinue, !connection.saidContinue {
      connection.saidContinue = true
      LoopbackSocket.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...], to: connection.descriptor)
    }
  }

  private mutating func answer(_ connection: Connection, _ number: Int) {
    let body = connection.request.body
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
      let retryAfter = field?.value(unixSeconds: Int64(environment.unixSeconds()))
      let json =
        switch status {
        case 204, 304: ""
        case 200...299: Self.accepted
        default: #"{"success":false,"status":0,"error":"scripted"}"#
        }
      connection.answer = (Self.answer(status, json, retryAfter), now + delay, status, retryAfter)
    case .silence: connection.isSilent = true
    case .reset:
      log.uploads[number].endedAt = now
      LoopbackSocket.resetsOnClose(connection.descriptor)
      connection.isClosed = true
    case .half:
      connection.answer = (Array("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n".utf8), now, nil, nil)
    }
  }

  private mutating func fetch(_ connection: Connection) {
    var (status, json) = (404, "{}")
    if connection.request.method == "GET" {
      log.settingsFetches.append(connection.arrivedAt ?? now)
      (status, json) = (200, vector.settings ?? ProcessCases.settings("{}"))
    }
    connection.answer = (Self.answer(status, json), now, nil, nil)
  }

  private mutating func answerIfDue(_ connection: Connection) {
    guard let answer = connection.answer, answer.dueAt <= now else { return }
    connection.answer = nil
    if let number = connection.upload {
      // Before it is written: no client can know of it earlier.
      log.uploads[number].endedAt = now
      log.uploads[number].status = answer.status
      log.uploads[number].retryAfter = answer.retryAfter
    }
    LoopbackSocket.send(answer.bytes[...], to: connection.descriptor)
    shutdown(connection.descriptor, Int32(SHUT_WR))
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
