import Conformance
import HTTPTransport

/// A server on a port of 127.0.0.1 that answers by the script of a case and keeps what it saw.
///
/// The owner drives it, by `step`.
struct ScriptedServer: ~Copyable {
  private(set) var vector: ProcessCase
  /// The log of the case; times are since `start`.
  var log = ExchangeLog()
  /// When the case began, by the clock.
  var start: Int64 = 0
  /// The uploads that have no event of the case; nil: all count. The server accepts such an upload if it can read it,
  /// whatever the script says. An app has more to send, and an earlier case its retries.
  var strays: Set<Int>?
  /// The answer to a GET of this path.
  var page: (path: String, body: String)?

  private let setup: CaseSetup
  private var listener: LoopbackListener?
  private var connections: [Connection] = []
  private var answered: [String: Int] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let mostConnections = 128

  init(_ vector: ProcessCase, _ setup: CaseSetup) {
    (self.vector, self.setup) = (vector, setup)
  }

  /// Microseconds since the case began.
  var now: Int64 { setup.now - start }

  /// Begins a case, on the same port. Open connections belong to the case before, and are closed.
  mutating func begin(_ vector: ProcessCase) {
    closeConnections()
    (self.vector, log, answered) = (vector, ExchangeLog(), [:])
    if strays != nil { strays = [] }
    start = setup.now
  }

  /// Returns the log without the strays.
  func counted() -> ExchangeLog {
    var log = log
    log.uploads = log.uploads.indices.filter { strays?.contains($0) != true }.map { log.uploads[$0] }
    return log
  }

  mutating func closeAll() {
    closeConnections()
    listener?.hangUp()
    listener = nil
  }

  private mutating func closeConnections() {
    for connection in connections { close(connection.descriptor) }
    connections = []
  }

  /// Listens on a port, 0: a free one.
  /// - Returns: the port.
  mutating func listen(on port: UInt16 = 0) throws(LoopbackSocket.Failure) -> Int {
    let listener = try ChildProcess.descriptors.withLock { _ throws(LoopbackSocket.Failure) in
      try LoopbackListener(on: port, backlog: 256)
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
    if log.uploads[number].events.isEmpty, strays != nil, isReadable(body, log.uploads[number]) {
      strays?.insert(number)
      connections[index].answer = (answer(200, Self.accepted, nil, to: index), now, 200, nil)
      return
    }
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
        answer(status, json, retryAfter, to: index), now + delay, status, retryAfter
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
    let request = connections[index].request
    let (status, json): (Int, String)
    switch request.method {
    // A browser asks whether it may.
    case "OPTIONS": (status, json) = (204, "")
    case "GET":
      if let page, request.target == page.path {
        (status, json) = (200, page.body)
      } else {
        log.settingsFetches.append(arrivedAt)
        (status, json) = (200, vector.settings ?? ProcessCases.settings("{}"))
      }
    default: (status, json) = (404, "{}")
    }
    connections[index].answer = (answer(status, json, nil, to: index), now, nil, nil)
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

  /// Whether an event's name would be seen in a body.
  private func isReadable(_ body: [UInt8], _ upload: ObservedUpload) -> Bool {
    upload.header("Content-Encoding") == nil && !body.starts(with: [0x1F, 0x8B])
  }

  private func answer(_ status: Int, _ body: String, _ retryAfter: String?, to index: Int) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(status < 300 ? "OK" : "Scripted")", "Connection: close"]
    if status != 204, status != 304 {
      lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
    }
    if let retryAfter { lines.append("Retry-After: \(retryAfter)") }
    lines += sharing(connections[index].request)
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  /// Returns headers that let a page of any origin send and read (CORS of the Fetch standard, and Chrome's private network
  /// access).
  private func sharing(_ request: HTTPArrival) -> [String] {
    guard let origin = request.header("Origin") else { return [] }
    var lines = [
      "Access-Control-Allow-Origin: \(origin)", "Access-Control-Allow-Credentials: true",
      "Access-Control-Expose-Headers: Retry-After", "Vary: Origin",
    ]
    guard request.method == "OPTIONS" else { return lines }
    lines.append("Access-Control-Allow-Methods: GET, POST")
    if let headers = request.header("Access-Control-Request-Headers") {
      lines.append("Access-Control-Allow-Headers: \(headers)")
    }
    if request.header("Access-Control-Request-Private-Network") != nil {
      lines.append("Access-Control-Allow-Private-Network: true")
    }
    return lines
  }
}
