/// An answer of a server as it comes in (RFC 9112), as far as an upload client has to know it.
///
/// The connection ends after it, as every request asks for. A body is counted, not kept.
package struct HTTPAnswer {
  /// The verdict on the bytes that have come so far.
  package enum State: Equatable {
    case incomplete
    case complete
    /// No HTTP, or more headers than anybody sends.
    case malformed
  }

  /// Bytes of status line and headers, at most.
  static let mostHeaderBytes = 1 << 16

  package private(set) var status = 0
  package private(set) var retryAfter: String?
  private(set) var rateLimitReset: String?
  private var head: [UInt8] = []
  private var hasHead = false
  /// Bytes of the body that are to come; nil: until the connection ends.
  private var rest: Int?
  /// nil: the body is not in chunks.
  private var chunks: Chunks?

  package init() {}

  /// Takes what has come.
  package mutating func take(_ bytes: ArraySlice<UInt8>) -> State {
    if hasHead { return takeBody(bytes) }
    var from = max(0, head.count - 3)
    head += bytes
    while let end = Self.endOfHead(head, from: from) {
      guard end <= Self.mostHeaderBytes, readHead(head[..<end]) else { return .malformed }
      let body = head[(end + 4)...]
      if (100...199).contains(status) {
        // An interim answer: the real one follows.
        head = Array(body)
        from = 0
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
    return chunks == nil && rest ?? 0 == 0
  }

  private mutating func takeBody(_ bytes: ArraySlice<UInt8>) -> State {
    if status == 204 || status == 304 { return .complete }
    if chunks != nil { return chunks?.take(bytes) ?? .malformed }
    guard let rest else { return .incomplete }
    self.rest = max(0, rest - bytes.count)
    return self.rest == 0 ? .complete : .incomplete
  }

  /// Where the empty line begins, line end before it included.
  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 4 <= bytes.count {
      if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
        return index
      }
      index += bytes[index + 3] == 10 || bytes[index + 3] == 13 ? 1 : 4
    }
    return nil
  }

  /// Returns whether it is one.
  private mutating func readHead(_ bytes: ArraySlice<UInt8>) -> Bool {
    (retryAfter, rateLimitReset, rest, chunks) = (nil, nil, nil, nil)
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
      case "transfer-encoding": if value.lowercased().hasSuffix("chunked") { chunks = Chunks() }
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

/// A body in chunks (RFC 9112 §7.1), whose bytes are passed over.
private struct Chunks {
  private enum Place {
    /// In the line that tells a chunk's size; nil: no digit has come. Extensions follow a semicolon.
    case size(Int?, isExtension: Bool)
    /// So many bytes of a chunk are to come, the line end behind it among them.
    case data(Int)
    /// In the lines behind the last chunk; how long the line is so far.
    case trailer(Int)
  }

  private var place = Place.size(nil, isExtension: false)

  mutating func take(_ bytes: ArraySlice<UInt8>) -> HTTPAnswer.State {
    var bytes = bytes
    while let byte = bytes.first {
      switch place {
      case .data(let left):
        let count = min(left, bytes.count)
        bytes = bytes.dropFirst(count)
        place = count == left ? .size(nil, isExtension: false) : .data(left - count)
        continue
      case .trailer(let length):
        if byte == 10, length == 0 { return .complete }
        place = .trailer(byte == 10 ? 0 : byte == 13 ? length : length + 1)
      case .size(let size, let isExtension):
        switch byte {
        case 13: break
        case 10:
          guard let size else { return .malformed }
          place = size == 0 ? .trailer(0) : .data(size + 2)
        case _ where isExtension: break
        case UInt8(ascii: ";") where size != nil: place = .size(size, isExtension: true)
        default:
          guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, size ?? 0 < 1 << 40 else {
            return .malformed
          }
          place = .size((size ?? 0) * 16 + digit, isExtension: false)
        }
      }
      bytes.removeFirst()
    }
    return .incomplete
  }
}
