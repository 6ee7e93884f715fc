/// An answer of a server as it comes in (RFC 9112), as far as an upload client has to know it.
///
/// The connection ends after it, as every request asks for. A body is counted, not kept.
package struct HTTPAnswer {
  package private(set) var status = 0
  package private(set) var retryAfter: String?
  private(set) var rateLimitReset: String?
  private var head = HTTPHead()
  private var hasHead = false
  /// Bytes of the body that are to come; nil: until the connection ends.
  private var rest: Int?
  /// nil: the body is not in chunks.
  private var chunks: HTTPChunks?

  package init() {}

  /// Takes what has come.
  package mutating func take(_ bytes: ArraySlice<UInt8>) -> HTTPProgress {
    var bytes = bytes
    while !hasHead {
      let progress = head.take(&bytes)
      guard progress == .complete else { return progress }
      guard readHead() else { return .malformed }
      // The real answer follows an interim one.
      hasHead = !(100...199).contains(status)
    }
    return takeBody(bytes)
  }

  /// The connection has ended.
  var isWholeAtEnd: Bool {
    guard hasHead else { return false }
    return chunks == nil && rest ?? 0 == 0
  }

  private mutating func takeBody(_ bytes: ArraySlice<UInt8>) -> HTTPProgress {
    if status == 204 || status == 304 { return .complete }
    if chunks != nil { return chunks?.take(bytes) { _ in } ?? .malformed }
    guard let rest else { return .incomplete }
    self.rest = max(0, rest - bytes.count)
    return self.rest == 0 ? .complete : .incomplete
  }

  /// Returns whether it is one.
  private mutating func readHead() -> Bool {
    (retryAfter, rateLimitReset, rest, chunks) = (nil, nil, nil, nil)
    guard let status = Self.status(head.startLine) else { return false }
    self.status = status
    for (name, value) in head.fields {
      switch name.lowercased() {
      case "content-length":
        guard let length = Int(value), length >= 0, value.first != "+", rest ?? length == length else {
          return false
        }
        rest = length
      case "transfer-encoding":
        if value.lowercased().hasSuffix("chunked") { chunks = HTTPChunks(atMost: .max / 2) }
      case "retry-after": retryAfter = retryAfter ?? value
      case "x-ratelimit-reset": rateLimitReset = rateLimitReset ?? value
      default: break
      }
    }
    return true
  }

  /// `HTTP/1.1 503 Service Unavailable`; nil: it is none.
  private static func status(_ line: String) -> Int? {
    guard line.hasPrefix("HTTP/1.0 ") || line.hasPrefix("HTTP/1.1 ") else { return nil }
    let code = line.dropFirst(9).prefix { $0 != " " }
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(code)
  }
}
