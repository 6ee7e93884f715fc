/// The end of what a process prints.
struct Tail {
  var descriptor: Int32 = -1
  /// Bytes in all.
  private(set) var count = 0
  private var kept: [UInt8] = []
  private static let longest = 1 << 16

  mutating func read(_ buffer: inout [UInt8]) {
    guard descriptor >= 0 else { return }
    for _ in 0..<8 {
      let length = systemRead(descriptor, &buffer)
      if length == 0 {
        // A closed pipe would wake every poll.
        close(descriptor)
        descriptor = -1
      }
      guard length > 0 else { return }
      count += length
      kept += buffer[..<length]
      if kept.count > Self.longest { kept.removeFirst(kept.count - Self.longest) }
    }
  }

  /// The last one that is not empty.
  var lastLine: String {
    let lines = String(decoding: kept, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last { !$0.allSatisfy(\.isWhitespace) }.map { String($0) } ?? ""
  }
}
