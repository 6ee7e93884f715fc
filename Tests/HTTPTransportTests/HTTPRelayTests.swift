import FleetSimulation
import Foundation
import HTTPTransport
import TestSupport
import Testing

/// What stands between clients and a server.
@Suite("A relay")
struct HTTPRelayTests {
  /// A relay with a client, and a clock that stands still until it is set.
  private struct Relayed: ~Copyable {
    private var relay: HTTPRelay
    private let client: Int32
    private let clock: Clock
    private var rest: ArraySlice<UInt8>
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private(set) var told: [HTTPRelay.Happening] = []
    private(set) var got: [UInt8] = []
    private(set) var isOver = false

    final class Clock { var now: Int64 = 1 }

    init(_ request: String, to url: String) throws {
      let clock = Clock()
      let relay = try HTTPRelay(to: LoopbackURL(url), patience: 1_000) { clock.now }
      let client = try #require(try LoopbackURL("http://127.0.0.1:\(relay.port)").connect { _ in })
      (self.clock, self.client, rest) = (clock, client.descriptor, Array(request.utf8)[...])
      self.relay = relay
    }

    deinit { close(client) }

    var now: Int64 {
      get { clock.now }
      set { clock.now = newValue }
    }

    /// How the upload ended.
    var end: LiveEnd? {
      guard case .ends(_, let end)? = told.last else { return nil }
      return end
    }

    /// - Parameter takes: whether the client takes what has come.
    mutating func step(takes: Bool = true) {
      if !rest.isEmpty {
        let sent = send(client, Array(rest), rest.count, 0)
        if sent > 0 { rest = rest.dropFirst(sent) }
      }
      var happened: [HTTPRelay.Happening] = []
      relay.step(milliseconds: 1) { happened.append($0) }
      told += happened
      guard takes else { return }
      let count = recv(client, &chunk, chunk.count, 0)
      if count > 0 { got += chunk[..<count] }
      if count == 0 || (count < 0 && errno != EAGAIN) { isOver = true }
    }

    /// Sends the request, and lets the relay hand it on.
    mutating func sendAll() {
      while told.isEmpty { step(takes: false) }
      for _ in 0..<5 { step(takes: false) }
    }

    /// The client sends nothing more.
    func endSending() { shutdown(client, Int32(SHUT_WR)) }
  }

  /// What was told of a request through a relay, and what its client got.
  private func relayed(_ request: String, to url: String) throws -> (
    told: [HTTPRelay.Happening], answer: String
  ) {
    var relayed = try Relayed(request, to: url)
    while !relayed.isOver { relayed.step() }
    return (relayed.told, String(decoding: relayed.got, as: UTF8.self))
  }

  private static let post =
    "POST /v1/b?x=1 HTTP/1.1\r\nHost: me\r\nX-Retry-Count: 2\r\nContent-Length: 5\r\n\r\nhello"

  @Test("a request and its answer are handed on, and told of before the client can know")
  func handsOn() throws {
    let server = try SocketServer { _ in SocketServer.status("429 Too Many Requests", "Retry-After: 7") }
    let (told, answer) = try relayed(Self.post, to: server.url)
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /v1/b?x=1 HTTP/1.1\r\nHost: \(server.url.dropFirst(7))\r\n"))
    #expect(request.contains("\r\nX-Retry-Count: 2\r\n") && request.hasSuffix("\r\n\r\nhello"))
    #expect(answer.hasPrefix("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"))
    #expect(told.count == 2)
    guard case .arrives(0, let body)? = told.first, case .ends(0, let end)? = told.last else {
      Issue.record("\(told)")
      return
    }
    #expect(body == Array("hello".utf8))
    #expect(end == .answer(status: 429, retryAfter: "7", rateLimitReset: nil))
  }

  @Test("what is no upload is handed on and not told")
  func others() throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let (told, answer) = try relayed("GET /settings HTTP/1.1\r\nHost: me\r\n\r\n", to: server.url)
    #expect(told.isEmpty && answer.hasPrefix("HTTP/1.1 200 OK"))
  }

  @Test("without a server the client's connection ends without an answer")
  func refused() throws {
    let closed = try SocketServer.Closed()
    let (told, answer) = try relayed(Self.post, to: closed.url)
    #expect(answer == "")
    guard case .ends(0, .noAnswer)? = told.last else {
      Issue.record("\(told)")
      return
    }
  }

  private static let accepted = LiveEnd.answer(status: 200, retryAfter: nil, rateLimitReset: nil)

  @Test("an answer larger than the sockets hold waits for its client, and comes whole")
  func large() throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n"
    let server = try SocketServer { _ in Array(head.utf8) + Array(repeating: 120, count: 64 << 20) }
    var relayed = try Relayed(Self.post, to: server.url)
    // Enough for all of it, if the relay kept it.
    for _ in 0..<1_500 { relayed.step(takes: false) }
    #expect(relayed.end == nil)
    while !relayed.isOver { relayed.step() }
    #expect(relayed.end == Self.accepted && relayed.got.count == head.utf8.count + 64 << 20)
  }

  @Test("a client that has ended its side gets its answer")
  func halfClosed() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try SocketServer { _ in
      gate.wait()
      return SocketServer.status("200 OK")
    }
    var relayed = try Relayed(Self.post, to: server.url)
    relayed.sendAll()
    relayed.endSending()
    relayed.sendAll()
    gate.signal()
    while !relayed.isOver { relayed.step() }
    #expect(relayed.end == Self.accepted)
    #expect(String(decoding: relayed.got, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
  }

  @Test(
    "a client that has ended its side and is not answered in its time has given up",
    arguments: [false, true])
  func givesUp(early: Bool) throws {
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    let server = try SocketServer { _ in
      gate.wait()
      return nil
    }
    var relayed = try Relayed(Self.post, to: server.url)
    relayed.sendAll()
    if early { relayed.endSending() } else { relayed.now = 5_000 }
    relayed.sendAll()
    #expect(relayed.end == nil)
    if early { relayed.now = 5_000 } else { relayed.endSending() }
    while !relayed.isOver { relayed.step() }
    #expect(relayed.end == .noAnswer(mayHaveArrived: true))
  }

  @Test("interim answers without end are no answer")
  func endlessInterim() throws {
    let interim = Array("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n".utf8)
    let server = try SocketServer { _ in Array([[UInt8]](repeating: interim, count: 10_000).joined()) }
    let (told, answer) = try relayed(Self.post, to: server.url)
    guard case .ends(0, .noAnswer(mayHaveArrived: true))? = told.last else {
      Issue.record("\(told)")
      return
    }
    #expect(answer.hasPrefix("HTTP/1.1 103 ") && answer.utf8.count < 10_000 * interim.count)
  }

  @Test("a listener whose owner has no room is not polled until it has")
  func room() throws {
    var listener = try LoopbackListener(backlog: 8)
    let client = try #require(
      try LoopbackURL("http://127.0.0.1:\(listener.port)").connect { _ in }
    ).descriptor
    defer {
      close(client)
      listener.hangUp()
    }
    #expect(!listener.isHeldUp)
    #expect(listener.accept(hasRoom: false) == nil && listener.isHeldUp && listener.polled < 0)
    var waiting = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
    #expect(poll(&waiting, 1, 10_000) == 1)
    let taken = listener.accept(hasRoom: true)
    close(try #require(taken))
    #expect(listener.accept(hasRoom: true) == nil && !listener.isHeldUp && listener.polled >= 0)
  }
}
