import FleetSimulation
import Foundation
import HTTPTransport
import TestSupport
import Testing

/// What stands between clients and a server.
@Suite("A relay")
struct HTTPRelayTests {
  /// What was told of a request through a relay, and what its client got.
  private func relayed(_ request: String, to url: String) throws -> (
    told: [HTTPRelay.Happening], answer: String
  ) {
    var relay = try HTTPRelay(to: LoopbackURL(url))
    let client = try #require(try LoopbackURL("http://127.0.0.1:\(relay.port)").connect { _ in }).descriptor
    defer { close(client) }
    var (told, got) = ([HTTPRelay.Happening](), [UInt8]())
    var (bytes, chunk) = (Array(request.utf8)[...], [UInt8](repeating: 0, count: 1 << 12))
    while true {
      if !bytes.isEmpty {
        let sent = send(client, Array(bytes), bytes.count, 0)
        if sent > 0 { bytes = bytes.dropFirst(sent) }
      }
      relay.step(milliseconds: 5) { told.append($0) }
      let count = recv(client, &chunk, chunk.count, 0)
      if count > 0 { got += chunk[..<count] }
      if count == 0 || (count < 0 && errno != EAGAIN) { return (told, String(decoding: got, as: UTF8.self)) }
    }
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
}
