/// A text against the bytes that it was made of.
package enum BytesOfText {
  /// Offset of the first byte in which a text's UTF-8 differs from the bytes; nil: they are the same. O(bytes).
  package static func firstDifference(_ bytes: [UInt8], from text: String) -> Int? {
    var text = text
    return text.withUTF8 { decoded in
      bytes.withUnsafeBufferPointer { given in
        let shorter = min(decoded.count, given.count)
        for index in 0..<shorter where decoded[index] != given[index] { return index }
        return decoded.count == given.count ? nil : shorter
      }
    }
  }
}
