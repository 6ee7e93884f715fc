/// Standard output and standard error, without buffering.
package enum Console {
  /// How wide tables on standard output may be.
  static var columns: Int { Terminal(of: STDOUT_FILENO).columns ?? 110 }

  /// Writes results for people, as standard output is to get them (`Terminal`); a reader that has gone away (`| head`) is no
  /// error.
  /// - Throws: `CommandFailure` 74, for example on a full disk.
  static func print(_ text: String) throws(CommandFailure) {
    try printData(Terminal(of: STDOUT_FILENO).prepared(text))
  }

  /// Writes what programs read, as it is.
  /// - Throws: `CommandFailure` 74, for example on a full disk.
  static func printData(_ text: String) throws(CommandFailure) {
    if writeAll(Array(text.utf8), to: STDOUT_FILENO) || errno == EPIPE { return }
    throw CommandFailure(.inputOutput, "standard output: cannot be written: \(systemMessage())")
  }

  /// Writes a message; nothing can be done if that fails.
  static func printError(_ text: String) {
    _ = writeAll(Array(Terminal(of: STDERR_FILENO).prepared(text).utf8), to: STDERR_FILENO)
  }

  /// Writes to a terminal's line as it is.
  static func drawError(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

  /// Whether all of `bytes` went out; `errno` says why not.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = write(descriptor, buffer.baseAddress! + done, buffer.count - done)
        if count < 0, errno != EINTR { return false }
        done += max(0, count)
      }
      return true
    }
  }
}
