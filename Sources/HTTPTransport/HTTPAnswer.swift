/// An answer of a server as it comes in (RFC 9112), as far as an upload client has to know it.
///
/// The connection ends after it, as every request asks for. A body is counted, not kept.
struct HTTPAnswer {
  /// What is to be made of what has come so far.
  enum State: Equatable {
    case incomplete
    case complete
    /// No HTTP, or more headers than anybody sends.
    case malformed
  }

  /// Bytes of status line and headers, at most.
  static let mostHeaderBytes = 1 << 16

  private(set) var status = 0
  private(set) var retryAfter: String?
  private(set) var rateLimitReset: String?
  private var head: [UInt8] = []
  private var hasHead = false
  /// Bytes of the body that are to come; nil: until the connection ends.
  private var rest: Int?
  private var isChunked = false
  /// The latest bytes of a chunked body, which tell whether it was whole.
  private var tail: [UInt8] = []

  /// Takes what has come.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> State {
    if hasHead { return takeBody(bytes) }
    let from = max(0, head.count - 3)
    head += bytes
    while let end = Self.endOfHead(head, from: from) {
      guard readHead(head[..<end]) else { return .malformed }
      let body = head[(end + 4)...]
      if (100...199).contains(status) {
        // An interim answer: the real one follows.
        head = Array(body)
        continue
      }
      head = []
      hasHead = true
      return takeBody(body)
    }
    return head.count > Self.mostHeaderBytes ? .malformed : .incomplete
  }

  /// The connection has ended.
  var isWholeAtEnd: Bool {
    guard hasHead else { return false }
    return isChunked ? tail == Array("0\r\n\r\n".utf8) : rest ?? 0 == 0
  }

  private mutating func takeBody(_ bytes: ArraySlice<UInt8>) -> State {
    if status == 204 || status == 304 { return .complete }
    if isChunked {
      tail = Array((tail + bytes).suffix(5))
      return .incomplete
    }
    guard let rest else { return .incomplete }
    self.rest = max(0, rest - bytes.count)
    return self.rest == 0 ? .complete : .incomplete
  }

  /// Where the empty line begins, line end before it included.
  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    var index = start
    while index + 4 <= bytes.count {
      if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
        return index
      }
      index += bytes[index + mark.count - 1] == 10 || bytes[index + mark.count - 1] == 13 ? 1 : 4
    }
    return nil
  }

  /// Returns whether it is one.
  private mutating func readHead(_ bytes: ArraySlice<UInt8>) -> Bool {
    (retryAfter, rateLimitReset, rest, isChunked) = (nil, nil, nil, false)
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
      $0.last == 13 ? $0.dropLast() : $0
    }[...]
    guard let first = lines.popFirst(), let status = Self.status(first) else { return false }
    self.status = status
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line.first != 32, line.first != 9
      else { return false }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = Self.trimmed(line[(colon + 1)...])
      switch name {
      case "content-length":
        guard let length = Int(value), length >= 0, value.first != "+", rest ?? length == length else {
          return false
        }
        rest = length
      case "transfer-encoding": isChunked = value.lowercased().hasSuffix("chunked")
      case "retry-after": retryAfter = retryAfter ?? value
      case "x-ratelimit-reset": rateLimitReset = rateLimitReset ?? value
      default: break
      }
    }
    return true
  }

  /// `HTTP/1.1 503 Service Unavailable`; nil: it is none.
  private static func status(_ line: ArraySlice<UInt8>) -> Int? {
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("HTTP/1.0 ") || text.hasPrefix("HTTP/1.1 ") else { return nil }
    let code = text.dropFirst(9).prefix { $0 != " " }
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(code)
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
