/// How far a message of HTTP is, or a part of it.
package enum HTTPProgress: Sendable, Hashable {
  case incomplete, complete
  /// No HTTP/1, or larger than anybody sends.
  case malformed
}

/// Start line and fields of a message (RFC 9112 §2) as they come in.
///
/// When one is complete the next call begins another, as behind an interim answer. One limit holds for all.
struct HTTPHead: Sendable {
  private(set) var startLine = ""
  /// In the order in which they came.
  private(set) var fields: [(name: String, value: String)] = []
  private var bytes: [UInt8] = []
  private var taken = 0

  private static let mostBytes = 1 << 16
  private static let end: [UInt8] = [13, 10, 13, 10]

  /// Nothing has come yet.
  var isUntouched: Bool { taken == 0 }

  /// Takes what belongs to it, and leaves the rest.
  mutating func take(_ more: inout ArraySlice<UInt8>) -> HTTPProgress {
    while let byte = more.popFirst() {
      bytes.append(byte)
      taken += 1
      if taken > Self.mostBytes { return .malformed }
      guard byte == 10, bytes.suffix(4).elementsEqual(Self.end) else { continue }
      defer { bytes = [] }
      return read(bytes.dropLast(4)) ? .complete : .malformed
    }
    return .incomplete
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>) -> Bool {
    // A line may end without CR; anywhere else a recipient takes none (RFC 9112 §2.2).
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
      $0.last == 13 ? $0.dropLast() : $0
    }[...]
    guard lines.allSatisfy({ !$0.contains(13) && !$0.contains(0) }), let first = lines.popFirst() else {
      return false
    }
    startLine = String(decoding: first, as: UTF8.self)
    fields = []
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line[..<colon].allSatisfy({ $0 > 0x20 })
      else { return false }
      let value = Self.trimmed(line[(colon + 1)...])
      fields.append((String(decoding: line[..<colon], as: UTF8.self), value))
    }
    return true
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
