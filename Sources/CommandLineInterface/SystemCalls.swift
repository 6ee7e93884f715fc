#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

/// Returns the operating system's message for the call that just failed: `No space left on device`.
func systemMessage(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }

/// `read` of the system, for types that have a method of this name.
func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  read(descriptor, &buffer, buffer.count)
}

/// Reads text files.
enum InputFile {
  /// Larger files are no scenario.
  static let limit = 64 << 20

  /// The text of the file at `path`.
  /// - Throws: `CommandFailure`: 66 if it does not exist, is a directory or cannot be read; 65 if it is not UTF-8 or too large.
  static func text(_ path: String, limit: Int = limit) throws(CommandFailure) -> String {
    let bytes = try bytes(path, limit: limit)
    if let offset = firstInvalidUTF8(bytes) {
      throw CommandFailure(
        .data,
        "\(path): not UTF-8 text: byte 0x\(String(bytes[offset], radix: 16, uppercase: true)) at offset \(offset) begins no valid character"
      )
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func bytes(_ path: String, limit: Int = limit) throws(CommandFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw CommandFailure(.noInput, "\(path): is a directory; a file is expected")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count < 0 {
        let code = errno
        try Interruption.check()
        if code == EINTR { continue }
        throw unreadable(path, code)
      }
      bytes += chunk[..<count]
      if bytes.count > limit {
        throw CommandFailure(
          .data, "\(path): larger than \(limit >> 20) MB; a scenario or Settings file is expected")
      }
    }
  }

  private static func unreadable(_ path: String, _ code: Int32) -> CommandFailure {
    if let signal = Interruption.pending { return Interruption.failure(signal) }
    return CommandFailure(.noInput, "\(path): cannot be read: \(systemMessage(code))")
  }

  /// Offset of the first byte that is not part of a valid UTF-8 sequence.
  static func firstInvalidUTF8(_ bytes: [UInt8]) -> Int? {
    var decoder = UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.parseScalar(from: &iterator) {
      case .valid(let encoded): offset += encoded.count
      case .emptyInput: return nil
      case .error: return min(offset, bytes.count - 1)
      }
    }
  }
}
