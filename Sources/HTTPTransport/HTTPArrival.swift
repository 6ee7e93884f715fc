/// A request as a server reads it, piece by piece.
package struct HTTPArrival: Sendable {
  package private(set) var method = ""
  package private(set) var target = ""
  /// In the order in which they came.
  package private(set) var headers: [(name: String, value: String)] = []
  package private(set) var body: [UInt8] = []
  /// The sender waits for a 100 before it sends the body.
  package private(set) var expectsContinue = false
  private var bytes: [UInt8] = []
  private var bodyStart: Int?
  private var length: Int?
  private static let longestHead = 1 << 16
  private static let longestBody = 8 << 20

  /// How far it is.
  package enum Progress: Sendable, Hashable {
    case incomplete, complete
    /// The first bytes are a greeting of TLS.
    case tls
    /// It is no request of HTTP/1, or larger than 8 MiB.
    case malformed
  }

  package init() {}

  /// The first value of a header, whatever the case of its name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Takes what came.
  package mutating func take(_ more: some Sequence<UInt8>) -> Progress {
    bytes += more
    if bodyStart == nil {
      if bytes.first == 0x16 { return .tls }
      guard let end = Self.endOfHead(bytes) else {
        return bytes.count > Self.longestHead ? .malformed : .incomplete
      }
      guard readHead(bytes[..<end]) else { return .malformed }
      bodyStart = end + 4
    }
    guard let start = bodyStart else { return .malformed }
    if let length {
      if bytes.count < start + length { return .incomplete }
      body = Array(bytes[start..<(start + length)])
      return .complete
    }
    return takeChunks(from: start)
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first {
      bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
    }
  }

  private mutating func readHead(_ head: ArraySlice<UInt8>) -> Bool {
    let lines = String(decoding: head, as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return false }
    (method, target) = (String(words[0]), String(words[1]))
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return false }
      var value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      while value.last == " " || value.last == "\t" { value.removeLast() }
      headers.append((String(line[..<colon]), String(value)))
    }
    expectsContinue = header("Expect")?.lowercased() == "100-continue"
    if header("Transfer-Encoding")?.lowercased().contains("chunked") == true { return true }
    let stated = header("Content-Length").map { Int($0) } ?? 0
    guard let stated, (0...Self.longestBody).contains(stated) else { return false }
    length = stated
    return true
  }

  /// RFC 9112 §7.1.
  private mutating func takeChunks(from start: Int) -> Progress {
    var (place, found) = (start, [UInt8]())
    while true {
      guard let lineEnd = bytes[place...].firstIndex(of: 10) else {
        return bytes.count - place > 64 ? .malformed : .incomplete
      }
      let text = String(decoding: bytes[place..<lineEnd], as: UTF8.self)
      guard let size = Int(text.prefix { $0.isHexDigit }, radix: 16), size >= 0,
        size <= Self.longestBody - found.count
      else { return .malformed }
      let next = lineEnd + 1 + size + 2
      if bytes.count < next { return .incomplete }
      if size == 0 {
        body = found
        return .complete
      }
      found += bytes[(lineEnd + 1)..<(lineEnd + 1 + size)]
      place = next
    }
  }
}
