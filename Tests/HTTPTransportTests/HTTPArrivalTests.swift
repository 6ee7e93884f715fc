import HTTPTransport
import Testing

/// Requests as a server reads them, however they are cut.
@Suite("Requests that arrive")
struct HTTPArrivalTests {
  private static let plain =
    "POST /v1/b HTTP/1.1\r\nHost: a\r\nX-Retry-Count:  3 \r\nContent-Length: 5\r\n\r\nhello"
  private static let chunked =
    "POST /v1/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"

  @Test("a request is complete with its last byte, and not before", arguments: [plain, chunked])
  func pieces(text: String) {
    var request = HTTPArrival()
    for byte in text.utf8.dropLast() { #expect(request.take([byte]) == .incomplete) }
    #expect(request.take([text.utf8.last!]) == .complete)
    #expect(request.method == "POST" && request.target == "/v1/b")
    #expect(request.body == Array("hello".utf8))
  }

  @Test("headers are found whatever the case of their names")
  func headers() {
    var request = HTTPArrival()
    #expect(request.take(Self.plain.utf8) == .complete)
    #expect(request.header("x-retry-count") == "3")
    #expect(request.header("Authorization") == nil)
    #expect(!request.expectsContinue)
    var other = HTTPArrival()
    #expect(other.take(Self.chunked.utf8) == .complete)
    #expect(other.expectsContinue)
  }

  @Test("no value has a line end in it")
  func lineEnds() {
    var request = HTTPArrival()
    #expect(request.take("GET / HTTP/1.1\r\nOrigin: a\nX: b\r\n\r\n".utf8) == .complete)
    #expect(request.header("Origin") == "a" && request.header("X") == "b")
  }

  @Test("twenty thousand chunks, each byte by itself, are a body, and lines may follow it")
  func manyChunks() {
    let start = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    let chunks = String(repeating: "1 \r\nx\r\n", count: 20_000)
    var request = HTTPArrival()
    var last = HTTPArrival.Progress.incomplete
    for byte in (start + chunks + "0\r\nA: b\r\n\r\n").utf8 where last == .incomplete {
      last = request.take(CollectionOfOne(byte))
    }
    #expect(last == .complete && request.body == Array(repeating: UInt8(ascii: "x"), count: 20_000))
  }

  @Test("a GET has no body")
  func get() {
    var request = HTTPArrival()
    #expect(request.take("GET /settings HTTP/1.1\r\nHost: a\r\n\r\n".utf8) == .complete)
    #expect(request.method == "GET" && request.body.isEmpty)
  }

  @Test("the greeting of TLS is known by its first byte")
  func tls() {
    var request = HTTPArrival()
    #expect(request.take([0x16, 3, 1, 0, 200, 1]) == .tls)
  }

  @Test(
    "what is no request of HTTP/1, or too large, is malformed",
    arguments: [
      "hello\r\n\r\n", "GET / HTTP/2\r\n\r\n", "POST / HTTP/1.1\r\nno colon\r\n\r\n", "\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n7fffffffffffffff\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n;a\r\n",
      "POST / HTTP/1.1\r\nOrigin: a\rb\r\n\r\n", "POST / HTTP/1.1\r\nOrigin: a\0b\r\n\r\n",
      "POST / HTTP/1.1\r\nOrigin: a\nb\r\n\r\n", "POST / HTTP/1.1\r\n Origin: a\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length : 1\r\n\r\n",
    ])
  func malformed(text: String) {
    var request = HTTPArrival()
    #expect(request.take(text.utf8) == .malformed)
  }

  @Test("a head without end is malformed, not memory")
  func endless() {
    var request = HTTPArrival()
    var last = HTTPArrival.Progress.incomplete
    for _ in 0..<70 where last == .incomplete { last = request.take(Array(repeating: 65, count: 1_000)) }
    #expect(last == .malformed)
  }
}
