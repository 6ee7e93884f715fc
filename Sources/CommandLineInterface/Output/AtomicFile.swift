/// Files that many processes may write at once, on one machine or on several that share a directory: each is whole or not there.
enum AtomicFile {
  /// Writes `bytes` beside `path` and renames them into place.
  /// - Parameters:
  ///   - name: as messages call the file.
  ///   - option: of the command line, which names another place.
  /// - Throws: `CommandFailure` 73, 74.
  static func write(
    _ bytes: [UInt8], to path: String, named name: String, option: String = "--out"
  ) throws(CommandFailure) {
    let (temporary, descriptor) = try create(beside: path, named: name, option: option)
    let isWritten = Console.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
    let message = systemMessage()
    guard close(descriptor) == 0, isWritten else {
      unlink(temporary)
      throw CommandFailure(.inputOutput, "\(name): cannot be written: \(message); nothing was left there")
    }
    if rename(temporary, path) == 0 { return }
    let code = errno
    // Another process has written the same file meanwhile and taken ours for a rest.
    if code == ENOENT, access(path, F_OK) == 0 { return }
    unlink(temporary)
    throw CommandFailure(.cannotCreate, "\(name): cannot be put in place: \(systemMessage(code))")
  }

  /// A temporary file beside `path`, empty.
  /// - Throws: `CommandFailure` 73.
  static func create(
    beside path: String, named name: String, option: String
  ) throws(CommandFailure) -> (path: String, descriptor: Int32) {
    for attempt in 0..<10_000 {
      let temporary = TemporaryName.make(beside: path, attempt: attempt)
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
      if descriptor >= 0 { return (temporary, descriptor) }
      if errno != EEXIST { break }
    }
    throw CommandFailure(
      .cannotCreate, "\(name): cannot be created: \(systemMessage()); name a writable place with \(option)")
  }
}
