/// A request as a server reads it, piece by piece.
package struct HTTPArrival: Sendable {
  package private(set) var method = ""
  package private(set) var target = ""
  package private(set) var body: [UInt8] = []
  /// The sender waits for a 100 before it sends the body.
  package private(set) var expectsContinue = false
  private var head = HTTPHead()
  private var hasHead = false
  private var length = 0
  /// nil: the body is not in chunks.
  private var chunks: HTTPChunks?
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

  /// Nothing has come yet.
  var isUntouched: Bool { head.isUntouched }
  /// In the order in which they came.
  package var headers: [(name: String, value: String)] { head.fields }

  /// The first value of a header, whatever the case of its name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Takes what came.
  package mutating func take(_ more: some Sequence<UInt8>) -> Progress {
    var bytes = Array(more)[...]
    if isUntouched, bytes.first == 0x16 { return .tls }
    if !hasHead {
      switch head.take(&bytes) {
      case .incomplete: return .incomplete
      case .malformed: return .malformed
      case .complete:
        guard readHead() else { return .malformed }
        hasHead = true
      }
    }
    return takeBody(bytes)
  }

  private mutating func takeBody(_ bytes: ArraySlice<UInt8>) -> Progress {
    guard var chunks else {
      body += bytes.prefix(length - body.count)
      return body.count == length ? .complete : .incomplete
    }
    let progress = chunks.take(bytes) { body += $0 }
    self.chunks = chunks
    switch progress {
    case .incomplete: return .incomplete
    case .complete: return .complete
    case .malformed: return .malformed
    }
  }

  private mutating func readHead() -> Bool {
    let words = head.startLine.split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return false }
    (method, target) = (String(words[0]), String(words[1]))
    expectsContinue = header("Expect")?.lowercased() == "100-continue"
    if header("Transfer-Encoding")?.lowercased().contains("chunked") == true {
      chunks = HTTPChunks(atMost: Self.longestBody)
      return true
    }
    let stated = header("Content-Length").map { Int($0) } ?? 0
    guard let stated, (0...Self.longestBody).contains(stated) else { return false }
    length = stated
    return true
  }
}
