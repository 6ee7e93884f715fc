import HTTPTransport
import Testing

@Suite("Where live uploads may go")
struct LoopbackURLTests {
  @Test(
    "addresses of this machine are allowed; without a path it is /v1/batch",
    arguments: [
      ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/batch"),
      ("http://127.0.0.1", "http://127.0.0.1/v1/batch"), ("http://127.0.0.1?x", "http://127.0.0.1/?x"),
      ("HTTP://127.9.8.7:1/", "http://127.9.8.7:1/v1/batch"),
      ("http://[::1]:80/b?x=1", "http://[::1]:80/b?x=1"),
    ])
  func allowed(text: String, url: String) throws {
    #expect(try LoopbackURL(text).description == url)
  }

  @Test(
    "everything else is refused, with the reason",
    arguments: [
      ("http://192.0.2.1:80", "is not this machine"), ("http://128.0.0.1", "is not this machine"),
      ("http://0.0.0.0:80", "is not this machine"), ("http://[::]:80", "is not this machine"),
      ("http://[::ffff:192.0.2.1]", "is not this machine"), ("http://[fe80::1]", "is not this machine"),
      ("http://localhost:80", "a name can be of another machine"),
      ("http://127.0.0.1.example.com", "a name can be of another machine"),
      ("http://127.1", "a name can be of another machine"), ("http://0177.0.0.1", "a name can be"),
      ("http://2130706433", "a name can be of another machine"),
      ("http://127.0.0.1@example.com", "has a user"), ("https://127.0.0.1", "is not http"),
      ("ftp://127.0.0.1", "is not http"), ("127.0.0.1:8080", "is no URL"), ("http://127.0.0.1:", "a port"),
      ("http://[::1", "is no URL"), ("http://127.0.0.1/\r\nX: y", "is no URL"),
      ("http://::1", "names no host"),
      ("http://[127.0.0.1]", "a name can be"), ("", "is no URL"),
      ("http://", "names no host"),
      ("http:///x", "names no host"), ("http://127.0.0.1:0", "port"), ("http://127.0.0.1:99999", "port"),
      ("http://127.0.0.1:x", "is no URL"), ("http://example.com#@127.0.0.1/", "has a user or a fragment"),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: LoopbackURL.Refusal.self) { try LoopbackURL(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }
}
