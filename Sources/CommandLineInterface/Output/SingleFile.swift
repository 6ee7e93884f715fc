/// One file of results: written beside its place and renamed, so that a reader never sees half of it.
///
/// A file that is there already is replaced only if it is empty or fleetsim wrote it.
struct SingleFile {
  /// As the user named it.
  let path: String
  private let ours: [String]
  private let option: String
  private let files: Files

  /// Checks that the file can be written, without leaving anything there.
  ///
  /// - Parameters:
  ///   - ours: how files of this kind begin.
  ///   - option: of the command line, which names another place.
  /// - Throws: `CommandFailure` 73.
  init(_ path: String, ours: [String], option: String, _ files: Files) throws(CommandFailure) {
    (self.path, self.ours, self.option, self.files) = (path, ours, option, files)
    try checkExisting()
    TemporaryName.removeRests(beside: files.place(path))
    let (temporary, descriptor) = try files.create(beside: path, option: option)
    close(descriptor)
    unlink(temporary)
  }

  /// - Throws: `CommandFailure` 73, 74; 130, 131 or 143 when a signal came meanwhile.
  func write(_ text: String) throws(CommandFailure) {
    try files.signals.check()
    // Once more: somebody may have put something there while the simulation ran.
    try checkExisting()
    try files.write(Array(text.utf8), to: path, option: option)
  }

  private func checkExisting() throws(CommandFailure) {
    var status = stat()
    guard lstat(files.place(path), &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(
        .cannotCreate, "\(path): exists and is not a plain file; name another with \(option)")
    }
    let bytes = status.st_size == 0 ? [] : try beginning()
    if bytes.isEmpty || ours.contains(where: { bytes.starts(with: $0.utf8) }) { return }
    throw CommandFailure(
      .cannotCreate,
      "\(path): exists and fleetsim did not write it; name another with \(option), or move it away"
    )
  }

  private func beginning() throws(CommandFailure) -> [UInt8] {
    let descriptor = open(files.place(path), O_RDONLY)
    guard descriptor >= 0 else {
      throw CommandFailure(.cannotCreate, "\(path): exists and cannot be read: \(systemMessage())")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(0, count)])
  }
}

/// Files that many processes may write at once, on one machine or on several that share a directory: each is whole or not there.
extension Files {
  /// Writes `bytes` beside `path` and renames them into place.
  /// - Parameter option: of the command line, which names another place.
  /// - Throws: `CommandFailure` 73, 74.
  func write(_ bytes: [UInt8], to path: String, option: String = "--out") throws(CommandFailure) {
    let (temporary, descriptor) = try create(beside: path, option: option)
    let isWritten = Console.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
    let message = systemMessage()
    guard close(descriptor) == 0, isWritten else {
      unlink(temporary)
      throw CommandFailure(
        .inputOutput, "\(path): cannot be written: \(message); nothing was left there")
    }
    if rename(temporary, place(path)) == 0 { return }
    let code = errno
    // Another process has written the same file meanwhile and taken ours for a rest.
    if code == ENOENT, isThere(path) { return }
    unlink(temporary)
    throw CommandFailure(.cannotCreate, "\(path): cannot be put in place: \(systemMessage(code))")
  }

  /// A temporary file beside `path`, empty, at a place for system calls.
  /// - Throws: `CommandFailure` 73.
  fileprivate func create(
    beside path: String, option: String
  ) throws(CommandFailure) -> (path: String, descriptor: Int32) {
    signals.hold()
    for attempt in 0..<10_000 {
      let temporary = TemporaryName.make(beside: place(path), attempt: attempt)
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
      if descriptor >= 0 { return (temporary, descriptor) }
      if errno != EEXIST { break }
    }
    throw CommandFailure(
      .cannotCreate,
      "\(path): cannot be created: \(systemMessage()); name a writable place with \(option)")
  }
}
