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
/// relay.
package struct HTTPRelay: ~Copyable {
  /// The relay's report of an upload, by a number of its own.
  package enum Happening {
    /// A POST is there as a whole.
    case arrives(Int, body: [UInt8])
    case ends(Int, LiveEnd)
  }

  /// On 127.0.0.1.
  package let port: Int
  /// The obstacle that has kept requests from leaving and is not the server's doing.
  package private(set) var trouble: String?
  private let server: LoopbackURL
  private let listener: Int32
  private var exchanges: [Exchange] = []
  private var next = 0
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let mostExchanges = 4_096

  private struct Exchange {
    let number: Int
    let client: Int32
    var arrival = HTTPArrival()
    var head: [UInt8] = []
    /// -1: not yet, or no more.
    var server: Int32 = -1
    var sent = 0
    var answer = HTTPAnswer()
    var bytes: [UInt8] = []
    var isUpload = false
    var isAnswered = false
    var isOver = false
    var wasSent = false
  }

  /// - Parameter server: gets what comes.
  package init(to server: LoopbackURL) throws(LoopbackSocket.Failure) {
    self.server = server
    (listener, port) = try LoopbackSocket.listen(backlog: 1_024)
  }

  deinit {
    close(listener)
    for exchange in exchanges {
      close(exchange.client)
      if exchange.server >= 0 { close(exchange.server) }
    }
  }

  /// Moves what can be moved, and waits for it at most so long.
  package mutating func step(milliseconds: Int32, _ tell: (Happening) -> Void) {
    var watched = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
    for exchange in exchanges {
      let isWriting = exchange.sent < exchange.head.count
      watched.append(pollfd(fd: exchange.client, events: Int16(POLLIN), revents: 0))
      watched.append(
        pollfd(fd: exchange.server, events: Int16(POLLIN) | (isWriting ? Int16(POLLOUT) : 0), revents: 0))
    }
    guard poll(&watched, nfds_t(watched.count), milliseconds) > 0 else { return }
    for index in exchanges.indices {
      if watched[1 + 2 * index].revents != 0 { readClient(index, tell) }
      let events = watched[2 + 2 * index].revents
      if events == 0 || exchanges[index].isOver { continue }
      if events & Int16(POLLOUT | POLLERR) == Int16(POLLOUT) { writeServer(index) }
      if events & ~Int16(POLLOUT) != 0 { readServer(index, tell) }
    }
    exchanges.removeAll { exchange in
      guard exchange.isOver else { return false }
      close(exchange.client)
      if exchange.server >= 0 { close(exchange.server) }
      return true
    }
    accept()
  }

  private mutating func accept() {
    while exchanges.count < Self.mostExchanges, let taken = LoopbackSocket.accept(from: listener) {
      exchanges.append(Exchange(number: next, client: taken))
      next += 1
    }
  }

  private mutating func readClient(_ index: Int, _ tell: (Happening) -> Void) {
    let count = recv(exchanges[index].client, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else { return end(index, .noAnswer(mayHaveArrived: exchanges[index].wasSent), tell) }
    if exchanges[index].server >= 0 { return }
    switch exchanges[index].arrival.take(buffer[..<count]) {
    case .incomplete:
      if exchanges[index].arrival.expectsContinue {
        LoopbackSocket.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...], to: exchanges[index].client)
      }
    case .tls, .malformed: exchanges[index].isOver = true
    case .complete:
      let arrival = exchanges[index].arrival
      exchanges[index].isUpload = arrival.method == "POST"
      if exchanges[index].isUpload { tell(.arrives(exchanges[index].number, body: arrival.body)) }
      handOn(index, tell)
    }
  }

  /// The request as it came, but for what is between two ends of a connection.
  private mutating func handOn(_ index: Int, _ tell: (Happening) -> Void) {
    let arrival = exchanges[index].arrival
    let left: Set<String> = ["host", "connection", "expect", "transfer-encoding", "content-length"]
    let lines =
      ["\(arrival.method) \(arrival.target) HTTP/1.1", "Host: \(server.authority)"]
      + arrival.headers.filter { !left.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
      + ["Content-Length: \(arrival.body.count)", "Connection: close"]
    exchanges[index].head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + arrival.body
    var note: String?
    let socket = server.connect { note = $0 }
    trouble = note ?? trouble
    guard let socket, !socket.isRefused else { return end(index, .noAnswer(mayHaveArrived: false), tell) }
    exchanges[index].server = socket.descriptor
  }

  private mutating func writeServer(_ index: Int) {
    let exchange = exchanges[index]
    let count = LoopbackSocket.send(exchange.head[exchange.sent...], to: exchange.server)
    if count > 0 {
      exchanges[index].sent += count
      exchanges[index].wasSent = true
    }
  }

  private mutating func readServer(_ index: Int, _ tell: (Happening) -> Void) {
    let count = recv(exchanges[index].server, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    let isEnd = count <= 0
    var state = HTTPAnswer.State.incomplete
    if !isEnd {
      exchanges[index].bytes += buffer[..<count]
      state = exchanges[index].answer.take(buffer[..<count])
    }
    let isWhole = state == .complete || (isEnd && count == 0 && exchanges[index].answer.isWholeAtEnd)
    guard isWhole || isEnd || state == .malformed else { return }
    let answer = exchanges[index].answer
    // Told before the client can know of it.
    let how: LiveEnd =
      isWhole
      ? .answer(
        status: answer.status, retryAfter: answer.retryAfter, rateLimitReset: answer.rateLimitReset)
      : .noAnswer(mayHaveArrived: exchanges[index].wasSent)
    end(index, how, tell)
    LoopbackSocket.send(exchanges[index].bytes[...], to: exchanges[index].client)
    shutdown(exchanges[index].client, Int32(SHUT_WR))
  }

  private mutating func end(_ index: Int, _ how: LiveEnd, _ tell: (Happening) -> Void) {
    exchanges[index].isOver = true
    if exchanges[index].isUpload { tell(.ends(exchanges[index].number, how)) }
  }
}
