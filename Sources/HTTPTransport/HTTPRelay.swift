import FleetSimulation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A relay between clients and a server of this machine. It hands each request on and its answer back, byte for byte, and tells
/// of both.
///
/// The owner drives it, by `step`. A request whose connection to the server fails ends without an answer, as it would without the
/// relay. It keeps a piece of an answer at most, until the client has taken it.
package struct HTTPRelay: ~Copyable {
  /// The relay's report of an upload, by a number of its own.
  package enum Happening {
    /// A POST is there as a whole.
    case arrives(Int, body: [UInt8])
    case ends(Int, LiveEnd)
  }

  /// On 127.0.0.1.
  package var port: Int { listener.port }
  /// The obstacle that has kept requests from leaving and is not the server's doing.
  package private(set) var trouble: String?
  private let server: LoopbackURL
  private let patience: Int64
  private let now: () -> Int64
  private var listener: LoopbackListener
  private var exchanges: [Exchange] = []
  private var next = 0
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let mostExchanges = 4_096

  /// - Parameters:
  ///   - server: gets what comes.
  ///   - patience: how long a client waits that has ended its own side, microseconds since its request. One that gave up looks
  ///     the same.
  ///   - now: microseconds of a clock that never goes back.
  package init(
    to server: LoopbackURL, patience: Int64, now: @escaping () -> Int64
  ) throws(LoopbackSocket.Failure) {
    (self.server, self.patience, self.now) = (server, patience, now)
    listener = try LoopbackListener(backlog: 1_024)
  }

  deinit {
    listener.hangUp()
    for exchange in exchanges { exchange.hangUp() }
  }

  /// Moves what can be moved, and waits for it at most so long.
  package mutating func step(milliseconds: Int32, _ tell: (Happening) -> Void) {
    var watched = [pollfd(fd: listener.polled, events: Int16(POLLIN), revents: 0)]
    for exchange in exchanges { watched += exchange.watched }
    let due = exchanges.compactMap(\.givesUpAt).min()
    let wait = due.map { min(Int64(milliseconds), max(0, ($0 - now() + 999) / 1_000)) }
    _ = poll(&watched, nfds_t(watched.count), wait.map { Int32($0) } ?? milliseconds)
    for index in exchanges.indices {
      let (client, server) = (Readiness(watched[1 + 2 * index]), Readiness(watched[2 + 2 * index]))
      exchanges[index].isIdle = !client.reads && exchanges[index].isUntouched
      if client.writes { exchanges[index].writeClient(tell) }
      if client.reads, exchanges[index].readClient(&buffer, tell) { handOn(index, tell) }
      if server.writes { exchanges[index].writeServer() }
      if server.reads { exchanges[index].readServer(&buffer, tell) }
      if let due = exchanges[index].givesUpAt, due <= now() { exchanges[index].clientIsGone(tell) }
    }
    exchanges.removeAll {
      if $0.isOver { $0.hangUp() }
      return $0.isOver
    }
    accept()
  }

  /// Who has sent nothing makes room for others.
  private mutating func accept() {
    while true {
      if let taken = listener.accept(hasRoom: exchanges.count < Self.mostExchanges) {
        exchanges.append(Exchange(number: next, client: taken))
        next += 1
      } else if listener.isHeldUp, let idle = exchanges.firstIndex(where: \.isIdle) {
        exchanges.remove(at: idle).hangUp()
      } else {
        return
      }
    }
  }

  private mutating func handOn(_ index: Int, _ tell: (Happening) -> Void) {
    let socket = server.connect { trouble = $0 }
    exchanges[index].givesUp = now() + patience
    exchanges[index].handOn(to: server, socket?.descriptor ?? -1, tell)
  }
}

/// What a poll says of a descriptor.
private struct Readiness {
  let reads: Bool
  let writes: Bool

  init(_ polled: pollfd) {
    reads = polled.revents & ~Int16(POLLOUT) != 0
    // An error is to be read, with what came before it; writing would take it away.
    writes = polled.revents & Int16(POLLOUT | POLLERR) == Int16(POLLOUT)
  }
}

/// A request on its way to the server, and its answer on the way back.
private struct Exchange {
  let number: Int
  let client: Int32
  /// It was looked at, and nothing had come.
  var isIdle = false
  /// When a client that has ended its side is taken to have given up; 0: its request is not there yet.
  var givesUp: Int64 = 0
  private(set) var isOver = false
  private var arrival = HTTPArrival()
  private var saidContinue = false
  private var isUpload = false
  /// The client sends nothing more.
  private var hasEnded = false
  /// -1: not yet, or no more.
  private var server: Int32 = -1
  private var request = Outgoing()
  /// Some of it, at least.
  private var wasSent = false
  private var answer = HTTPAnswer()
  private var back = Outgoing()
  /// How it ends is known and told; the client gets what is left.
  private var isSettled = false

  init(number: Int, client: Int32) { (self.number, self.client) = (number, client) }

  /// Nothing has come.
  var isUntouched: Bool { arrival.isUntouched }

  func hangUp() {
    close(client)
    if server >= 0 { close(server) }
  }

  /// When the client is taken to have given up; nil: it is there.
  var givesUpAt: Int64? { hasEnded && !isSettled && !isOver ? givesUp : nil }

  /// Client and server. What is not waited for is not watched: its news would end each poll at once.
  var watched: [pollfd] {
    func polled(_ descriptor: Int32, reads: Bool, writes: Bool) -> pollfd {
      pollfd(
        fd: reads || writes ? descriptor : -1,
        events: (reads ? Int16(POLLIN) : 0) | (writes ? Int16(POLLOUT) : 0), revents: 0)
    }
    return [
      polled(client, reads: !hasEnded, writes: !back.isEmpty),
      polled(server, reads: back.isEmpty, writes: !request.isEmpty),
    ]
  }

  // MARK: The client

  /// Returns whether its request is there now as a whole.
  mutating func readClient(_ buffer: inout [UInt8], _ tell: (HTTPRelay.Happening) -> Void) -> Bool {
    if isOver { return false }
    let count = recv(client, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    if count == 0, givesUp > 0 {
      hasEnded = true
      endRequest()
      return false
    }
    guard count > 0 else {
      clientIsGone(tell)
      return false
    }
    // One request a connection.
    if givesUp > 0 { return false }
    switch arrival.take(buffer[..<count]) {
    case .incomplete:
      if arrival.expectsContinue, !saidContinue {
        saidContinue = true
        back.append("HTTP/1.1 100 Continue\r\n\r\n".utf8)
      }
    case .tls, .malformed: isOver = true
    case .complete:
      isUpload = arrival.method == "POST"
      if isUpload { tell(.arrives(number, body: arrival.body)) }
      return true
    }
    return false
  }

  mutating func writeClient(_ tell: (HTTPRelay.Happening) -> Void) {
    if !back.isEmpty, back.send(to: client) == nil { return clientIsGone(tell) }
    endAnswer()
  }

  mutating func clientIsGone(_ tell: (HTTPRelay.Happening) -> Void) {
    settle(.noAnswer(mayHaveArrived: wasSent), tell)
    isOver = true
  }

  /// Ends the connection when the client has got all.
  private mutating func endAnswer() {
    guard isSettled, back.isEmpty, !isOver else { return }
    shutdown(client, Int32(SHUT_WR))
    isOver = true
  }

  // MARK: The server

  /// The request as it came, but for what is between two ends of a connection.
  /// - Parameter descriptor: -1: nobody listens, or there is no socket.
  mutating func handOn(
    to server: LoopbackURL, _ descriptor: Int32, _ tell: (HTTPRelay.Happening) -> Void
  ) {
    self.server = descriptor
    if descriptor < 0 { return clientIsGone(tell) }
    let left: Set<String> = ["host", "connection", "expect", "transfer-encoding", "content-length"]
    let lines =
      ["\(arrival.method) \(arrival.target) HTTP/1.1", "Host: \(server.authority)"]
      + arrival.headers.filter { !left.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
      + ["Content-Length: \(arrival.body.count)", "Connection: close"]
    request.append((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    request.append(arrival.body)
    arrival = HTTPArrival()
  }

  mutating func writeServer() {
    if server < 0 { return }
    if request.send(to: server) ?? 0 > 0 { wasSent = true }
    endRequest()
  }

  /// Tells the server that the client sends nothing more.
  private mutating func endRequest() {
    if hasEnded, request.isEmpty, server >= 0 { shutdown(server, Int32(SHUT_WR)) }
  }

  mutating func readServer(_ buffer: inout [UInt8], _ tell: (HTTPRelay.Happening) -> Void) {
    if server < 0 { return }
    let count = recv(server, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    let state = count > 0 ? answer.take(buffer[..<count]) : .incomplete
    // Told before the client can know of it.
    if state == .complete || (count == 0 && answer.isWholeAtEnd) {
      settle(
        .answer(
          status: answer.status, retryAfter: answer.retryAfter, rateLimitReset: answer.rateLimitReset), tell)
    } else if state == .malformed || count <= 0 {
      settle(.noAnswer(mayHaveArrived: wasSent), tell)
    }
    if count > 0 { back.append(buffer[..<count]) }
    writeClient(tell)
  }

  /// Notes how it ends, once; nothing more is read of the server.
  private mutating func settle(_ end: LiveEnd, _ tell: (HTTPRelay.Happening) -> Void) {
    if isSettled { return }
    isSettled = true
    if isUpload { tell(.ends(number, end)) }
    if server >= 0 { close(server) }
    server = -1
  }
}
