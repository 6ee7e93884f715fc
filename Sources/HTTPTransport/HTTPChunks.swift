import ScenarioModel

/// A body in chunks (RFC 9112 §7.1) as it comes in.
struct HTTPChunks: Sendable {
  private enum Place: Sendable {
    /// In the line that tells a chunk's size; nil: no digit has come. Extensions follow it.
    case size(Int?, isExtension: Bool)
    /// So many bytes of a chunk are to come, the line end behind it among them.
    case data(Int)
    /// In the lines behind the last chunk; how long the line is so far.
    case trailer(Int)
  }

  private var place = Place.size(nil, isExtension: false)
  /// Bytes that further chunks may have.
  private var left: Int

  init(atMost most: Int) { left = most }

  /// Takes what has come.
  /// - Parameter use: gets the data.
  mutating func take(_ bytes: ArraySlice<UInt8>, _ use: (ArraySlice<UInt8>) -> Void) -> HTTPProgress {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      switch place {
      case .data(let rest):
        let count = min(rest, bytes.endIndex - index)
        use(bytes[index..<(index + max(0, min(rest - 2, count)))])
        index += count
        place = count == rest ? .size(nil, isExtension: false) : .data(rest - count)
        continue
      case .trailer(let length):
        if byte == 10, length == 0 { return .complete }
        place = .trailer(byte == 10 ? 0 : byte == 13 ? length : length + 1)
      case .size(let size, let isExtension):
        switch byte {
        case 13: break
        case 10:
          guard let size else { return .malformed }
          left -= size
          place = size == 0 ? .trailer(0) : .data(size + 2)
        case _ where isExtension: break
        case UInt8(ascii: ";"), 32, 9:
          guard size != nil else { return .malformed }
          place = .size(size, isExtension: true)
        default:
          guard let digit = Ascii.hexValue(byte), size ?? 0 <= left / 16 else { return .malformed }
          let size = (size ?? 0) * 16 + Int(digit)
          guard size <= left else { return .malformed }
          place = .size(size, isExtension: false)
        }
      }
      index += 1
    }
    return .incomplete
  }
}
