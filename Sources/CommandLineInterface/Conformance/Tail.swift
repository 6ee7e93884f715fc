/// A pipe that processes print into, and the end of what they have printed.
struct Tail {
  /// To be polled; -1: there is no pipe, or nobody prints any more.
  private(set) var output: Int32 = -1
  /// What processes print to.
  private(set) var input: Int32 = -1
  /// Bytes in all.
  private(set) var count = 0
  private var kept: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private static let longest = 1 << 16

  /// Makes the pipe.
  /// - Returns: whether there is one; otherwise `errno` says why.
  mutating func begin() -> Bool {
    let ends = ChildProcess.makePipe()
    guard ends.count == 2 else { return false }
    (output, input) = (ends[0], ends[1])
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
    return true
  }

  /// From now on only those print that have been started.
  mutating func closeInput() { Self.end(&input) }

  mutating func end() {
    Self.end(&input)
    Self.end(&output)
  }

  private static func end(_ descriptor: inout Int32) {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  mutating func take() {
    for _ in 0..<8 where output >= 0 {
      let length = read(output, &buffer, buffer.count)
      // A closed pipe would wake every poll.
      if length == 0 { Self.end(&output) }
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

  /// The last line as the end of a message.
  var complaint: String { Self.complaint(lastLine) }
  static func complaint(_ line: String) -> String { line.isEmpty ? "" : ": \(line.prefix(200))" }
}
