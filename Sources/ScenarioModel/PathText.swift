/// Dotted paths: `tapi.bucket.capacity`, `tapi.incidents[0].at` (or `.0.at`),
/// `integrations["Segment.io"].httpConfig`.
package enum PathText {
  /// The parts of a path; nil if it is none.
  package static func parse(_ text: String) -> [String]? {
    var parts: [String] = []
    var rest = Substring(text).utf8
    while let first = rest.first {
      if first == Ascii.openBracket {
        guard let (part, after) = bracketed(rest) else { return nil }
        parts.append(part)
        rest = after
      } else {
        let part = rest.prefix { $0 != Ascii.dot && $0 != Ascii.openBracket }
        guard !part.isEmpty else { return nil }
        parts.append(String(Substring(part)))
        rest = rest[part.endIndex...]
      }
      if rest.first == Ascii.dot {
        rest = rest.dropFirst()
        guard let next = rest.first, next != Ascii.dot, next != Ascii.openBracket else { return nil }
      }
    }
    return parts.isEmpty ? nil : parts
  }

  /// `["key"]` or `[0]`.
  private static func bracketed(
    _ text: Substring.UTF8View
  ) -> (part: String, rest: Substring.UTF8View)? {
    let inner = text.dropFirst()
    guard inner.first == Ascii.doubleQuote else {
      guard let end = inner.firstIndex(of: Ascii.closeBracket), end > inner.startIndex else { return nil }
      return (String(Substring(inner[..<end])), inner[end...].dropFirst())
    }
    var part: [UInt8] = []
    var rest = inner.dropFirst()
    while let byte = rest.popFirst() {
      if byte == Ascii.doubleQuote {
        let part = String(decoding: part, as: UTF8.self)
        return rest.first == Ascii.closeBracket ? (part, rest.dropFirst()) : nil
      }
      guard let kept = byte == Ascii.backslash ? rest.popFirst() : byte else { return nil }
      part.append(kept)
    }
    return nil
  }

  /// Whether a key can stand in a path without quotes.
  package static func isPlain(_ key: String) -> Bool {
    !key.isEmpty && key.utf8.count <= 64
      && key.utf8.allSatisfy { Ascii.isDigit($0) || isLetter($0) || "_-$".utf8.contains($0) }
  }

  /// Whether a cohort can have this name: a letter, then letters, digits, `-` and `_`. So a path can hold it, and it
  /// cannot be taken for a number.
  package static func isName(_ text: String) -> Bool {
    isPlain(text) && isLetter(text.utf8.first ?? 0) && !text.utf8.contains(UInt8(ascii: "$"))
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
