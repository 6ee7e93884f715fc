import FleetSimulation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Uploads over HTTP/1.1, each on a connection of its own, as the uploads of different phones are.
///
/// It is not URLSession, whose form for Linux (Swift 6.3.1) ends the process in two cases. A task is cancelled while a redirect
/// comes in, or a server asks for credentials. The form also needs a second for a megabyte of headers. One thread serves all
/// connections; a request goes out once, no redirect is followed, and no proxy is asked.
package final class HTTPTransport: LiveTransport {
  private let server: LoopbackURL
  private let orders: Orders

  /// - Parameter server: gets every upload.
  /// - Throws: `LoopbackSocket.Failure` of a system that gives no pipe, `SystemThreads.Failure` of one that gives no thread.
  package init(_ server: LoopbackURL) throws {
    self.server = server
    Self.allowManyConnections()
    orders = try Orders()
    try SystemThreads.start { [orders] in
      var connections = Connections(orders)
      connections.serve()
    }
  }

  deinit { orders.give(.stop) }

  package func send(_ upload: LiveUpload, ended: @escaping @Sendable (LiveEnd) -> Void) {
    guard let socket = server.connect(orders.note) else {
      return ended(.noAnswer(mayHaveArrived: false))
    }
    if socket.isRefused { return ended(.noAnswer(mayHaveArrived: false)) }
    let bytes = HTTPRequest.bytes(of: upload, to: server)
    orders.give(.serve(Connection(number: upload.number, socket.descriptor, request: bytes, ended: ended)))
  }

  package func cancel(_ number: Int) { orders.give(.cancel(number)) }

  package var trouble: String? { orders.trouble }

  /// As many sockets as the system lets a process have.
  private static func allowManyConnections() {
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 16)
    setrlimit(kind, &limit)
  }
}

/// The queue of the thread's next tasks.
private final class Orders: Sendable {
  enum Order {
    case serve(Connection)
    case cancel(Int)
    case stop
  }

  private let queue = Mutex<[Order]>([])
  private let latestTrouble = Mutex<String?>(nil)
  /// A pipe, which wakes the thread.
  let wakeUp: Int32
  private let wake: Int32

  init() throws(LoopbackSocket.Failure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw LoopbackSocket.Failure(code: errno) }
    (wakeUp, wake) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    close(wakeUp)
    close(wake)
  }

  var trouble: String? { latestTrouble.withLock { $0 } }
  func note(_ trouble: String) { latestTrouble.withLock { $0 = trouble } }

  func give(_ order: Order) {
    let isFirst = queue.withLock {
      $0.append(order)
      return $0.count == 1
    }
    var byte: UInt8 = 0
    if isFirst { _ = write(wake, &byte, 1) }
  }

  func takeAll() -> [Order] {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(wakeUp, &bytes, bytes.count) > 0 {}
    return queue.withLock { orders in
      defer { orders = [] }
      return orders
    }
  }
}

/// An upload on its way.
private struct Connection {
  let number: Int
  let descriptor: Int32
  var request: Outgoing
  /// Some of it, at least.
  var wasSent = false
  var answer = HTTPAnswer()
  let ended: @Sendable (LiveEnd) -> Void

  init(
    number: Int, _ descriptor: Int32, request: [UInt8], ended: @escaping @Sendable (LiveEnd) -> Void
  ) {
    self.number = number
    self.descriptor = descriptor
    self.request = Outgoing(request)
    self.ended = ended
  }

  /// Sends what the socket takes; an error shows when it is read from.
  mutating func write() {
    if request.send(to: descriptor) ?? 0 > 0 { wasSent = true }
  }

  /// How the upload has ended; nil: it has not.
  mutating func read(into buffer: inout [UInt8]) -> LiveEnd? {
    // A server that sends without end leaves time for the others.
    for _ in 0..<4 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 {
        if errno == EAGAIN || errno == EINTR { return nil }
        return .noAnswer(mayHaveArrived: wasSent)
      }
      if count == 0 { return answer.isWholeAtEnd ? end : .noAnswer(mayHaveArrived: true) }
      switch answer.take(buffer[..<count]) {
      case .incomplete: continue
      case .complete: return end
      case .malformed: return .noAnswer(mayHaveArrived: true)
      }
    }
    return nil
  }

  private var end: LiveEnd {
    .answer(status: answer.status, retryAfter: answer.retryAfter, rateLimitReset: answer.rateLimitReset)
  }
}

/// All uploads on their way, served by one thread.
private struct Connections {
  private let orders: Orders
  private var open: [Connection] = []
  private var watched: [pollfd] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ orders: Orders) { self.orders = orders }

  mutating func serve() {
    while true {
      for order in orders.takeAll() {
        switch order {
        case .serve(let connection): open.append(connection)
        case .cancel(let number):
          if let index = open.firstIndex(where: { $0.number == number }) {
            hangUp(index, .noAnswer(mayHaveArrived: true))
          }
        case .stop:
          while !open.isEmpty { hangUp(open.count - 1, .noAnswer(mayHaveArrived: true)) }
          return
        }
      }
      watched.removeAll(keepingCapacity: true)
      watched.append(pollfd(fd: orders.wakeUp, events: Int16(POLLIN), revents: 0))
      for connection in open {
        let events = Int16(POLLIN) | (connection.request.isEmpty ? 0 : Int16(POLLOUT))
        watched.append(pollfd(fd: connection.descriptor, events: events, revents: 0))
      }
      guard poll(&watched, nfds_t(watched.count), -1) > 0 else { continue }
      // From the last on, so that who hangs up moves nobody who is yet to come.
      for index in open.indices.reversed() {
        let events = watched[index + 1].revents
        if events == 0 { continue }
        // An error is to be read, with what came before it; writing would take it away.
        if events & Int16(POLLOUT | POLLERR) == Int16(POLLOUT) { open[index].write() }
        if events & ~Int16(POLLOUT) != 0, let end = open[index].read(into: &buffer) { hangUp(index, end) }
      }
    }
  }

  private mutating func hangUp(_ index: Int, _ end: LiveEnd) {
    let connection = open[index]
    open.swapAt(index, open.count - 1)
    open.removeLast()
    close(connection.descriptor)
    connection.ended(end)
  }
}
