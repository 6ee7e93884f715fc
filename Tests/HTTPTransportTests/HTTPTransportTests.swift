import FleetSimulation
import Foundation
import HTTPTransport
import Synchronization
import TestSupport
import Testing

@Suite("Uploads over HTTP")
struct HTTPTransportTests {
  private func upload(_ number: Int = 1, retryCount: UInt16? = nil) -> LiveUpload {
    LiveUpload(
      number: number, writeKey: "key", device: 7, firstEvent: 40, events: 2, eventBytes: 100,
      retryCount: retryCount)
  }

  /// How an upload to a server that answers with these bytes ends.
  private func end(_ answer: [UInt8]?, cancelling: Bool = false) async throws -> LiveEnd {
    let server = try SocketServer { _ in answer }
    return try await end(at: server.url, cancelling: cancelling)
  }

  private func end(at url: String, cancelling: Bool = false) async throws -> LiveEnd {
    let transport = try HTTPTransport(LoopbackURL(url))
    let end = await withCheckedContinuation { continuation in
      transport.send(upload()) { continuation.resume(returning: $0) }
      if cancelling { transport.cancel(1) }
    }
    // It lives until then: one that goes hangs up.
    return withExtendedLifetime(transport) { end }
  }

  @Test("a request has the documented headers, and a body with its events")
  func request() async throws {
    let server = try SocketServer { _ in SocketServer.status("200 OK") }
    let transport = try HTTPTransport(LoopbackURL(server.url + "/b"))
    for count: UInt16? in [nil, 3] {
      await withCheckedContinuation { continuation in
        transport.send(upload(retryCount: count)) { _ in continuation.resume() }
      }
    }
    let requests = server.requests
    #expect(requests.count == 2)
    let first = try #require(requests.first)
    #expect(first.hasPrefix("POST /b HTTP/1.1\r\n"))
    // base64 of "key:"
    #expect(first.contains("Authorization: Basic a2V5Og==\r\n") && !first.contains("X-Retry-Count"))
    #expect(requests.last?.contains("X-Retry-Count: 3\r\n") == true)
    let body = try #require(first.components(separatedBy: "\r\n\r\n").last)
    let json = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: [[String: String]]]
    #expect(json?["batch"]?.compactMap { $0["messageId"] } == ["7-40", "7-41"])
    let frame = "{\"batch\":[,]}"
    #expect(body.utf8.count == frame.utf8.count + 2 * 100)
  }

  @Test("status and headers come as the server sent them")
  func answers() async throws {
    #expect(
      try await end(SocketServer.status("429 Too Many Requests", "Retry-After: 7", "X-RateLimit-Reset: 9"))
        == .answer(status: 429, retryAfter: "7", rateLimitReset: "9"))
    #expect(
      try await end(SocketServer.status("204 No Content"))
        == .answer(status: 204, retryAfter: nil, rateLimitReset: nil))
  }

  @Test("a redirect is an answer, and is not followed")
  func redirect() async throws {
    let target = try SocketServer { _ in SocketServer.status("200 OK") }
    let answer = SocketServer.status("302 Found", "Location: \(target.url)/")
    #expect(try await end(answer) == .answer(status: 302, retryAfter: nil, rateLimitReset: nil))
    #expect(target.requests.isEmpty)
  }

  @Test("a server that asks for credentials has answered 401")
  func challenge() async throws {
    let answer = SocketServer.status(
      "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", "Retry-After: 2")
    #expect(try await end(answer) == .answer(status: 401, retryAfter: "2", rateLimitReset: nil))
  }

  @Test(
    "what is no HTTP is no answer",
    arguments: [
      "\0\u{FF}garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded\r\n\r\n", "HTTP/1.1 99999 X\r\n\r\n", "HTTP/1.1 \r\n\r\n",
      "HTTP/1.1 -2 X\r\n\r\n", "",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 1_000_000) + "\r\n\r\n",
      String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 4_000) + "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
      "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
    ])
  func garbage(text: String) async throws {
    #expect(try await end(Array(text.utf8)) == .noAnswer(mayHaveArrived: true))
  }

  @Test(
    "a body is read to its end: by its length, by chunks, or until the connection ends; interim answers are passed over",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole", "HTTP/1.1 200 OK\r\n\r\nuntil the end",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nRetry-After: 3\r\n\r\nHTTP/1.0 200\r\n\r\n",
    ])
  func whole(text: String) async throws {
    #expect(try await end(Array(text.utf8)) == .answer(status: 200, retryAfter: nil, rateLimitReset: nil))
  }

  @Test("an answer is the same however its bytes are cut")
  func pieces() {
    let text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow\r\nRetry-After:\t12 \r\nContent-Length: 3\r\n\r\nabc"
    for size in 1...text.utf8.count {
      var answer = HTTPAnswer()
      var rest = Array(text.utf8)[...]
      var state = HTTPProgress.incomplete
      while !rest.isEmpty {
        #expect(state == .incomplete)
        state = answer.take(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(state == .complete && answer.status == 429 && answer.retryAfter == "12", "\(size)")
    }
  }

  @Test("base64 is that of RFC 4648, section 10")
  func base64() {
    let vectors = [
      "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=",
      "foobar": "Zm9vYmFy",
    ]
    for (text, code) in vectors { #expect(HTTPRequest.base64(Array(text.utf8)) == code) }
  }

  @Test("two hundred uploads at once all end")
  func many() async throws {
    let server = try SocketServer { _ in SocketServer.status("503 Service Unavailable") }
    let transport = try HTTPTransport(LoopbackURL(server.url))
    await withCheckedContinuation { continuation in
      let left = Mutex(200)
      for number in 1...200 {
        transport.send(upload(number)) { end in
          #expect(end == .answer(status: 503, retryAfter: nil, rateLimitReset: nil))
          let isLast = left.withLock { left in
            left -= 1
            return left == 0
          }
          if isLast { continuation.resume() }
        }
      }
    }
    #expect(server.requests.count == 200 && transport.trouble == nil)
  }

  @Test("a port that nobody listens on: the server has not got the upload")
  func refused() async throws {
    let port = try SocketServer.Closed()
    #expect(try await end(at: port.url) == .noAnswer(mayHaveArrived: false))
  }

  @Test("an upload that is given up ends, though the server is silent")
  func cancel() async throws {
    #expect(try await end(nil, cancelling: true) == .noAnswer(mayHaveArrived: true))
  }
}
