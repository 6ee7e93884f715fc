/// One file of results: written beside its place and renamed, so that nobody reads half of it.
///
/// A file that is there already is replaced only if it is empty or fleetsim wrote it.
struct SingleFile {
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
    TemporaryPlace.removeRests(beside: files.place(path))
    let temporary = try files.create(beside: path, option: option)
    unlink(temporary.path)
    temporary.release()
  }

  /// - Throws: `CommandFailure` 73, 74; 129, 130, 131 or 143 when a signal came meanwhile.
  func write(_ text: String) throws(CommandFailure) {
    try files.signals.check()
    // Once more: somebody may have put something there while the simulation ran.
    try checkExisting()
    try files.write(Array(text.utf8), to: path, option: option)
  }

  private func checkExisting() throws(CommandFailure) {
    guard let status = stat(at: files.place(path), followsLinks: false) else { return }
    guard status.kind == S_IFREG else {
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
    let temporary = try create(beside: path, option: option)
    defer { temporary.release() }
    guard Console.writeAll(bytes, to: temporary.descriptor), fsync(temporary.descriptor) == 0 else {
      let message = systemMessage()
      unlink(temporary.path)
      throw CommandFailure(
        .inputOutput, "\(path): cannot be written: \(message); nothing was left there")
    }
    if rename(temporary.path, place(path)) == 0 { return }
    let code = errno
    unlink(temporary.path)
    throw CommandFailure(.cannotCreate, "\(path): cannot be put in place: \(systemMessage(code))")
  }

  /// - Throws: `CommandFailure` 73.
  fileprivate func create(
    beside path: String, option: String
  ) throws(CommandFailure) -> TemporaryPlace {
    signals.hold()
    if let temporary = TemporaryPlace(beside: place(path), isDirectory: false) { return temporary }
    throw CommandFailure(
      .cannotCreate,
      "\(path): cannot be created: \(systemMessage()); name a writable place with \(option)")
  }
}
