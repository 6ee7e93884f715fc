/// One file of results: written beside its place and renamed, so that a reader never sees half of it.
///
/// A file that is there already is replaced only if it is empty or fleetsim wrote it.
struct SingleFile {
  /// As the user named it.
  let path: String
  private let ours: [String]
  private let temporary: String

  /// Checks that the file can be written, without leaving anything there.
  ///
  /// - Parameter ours: how files of this kind begin.
  /// - Throws: `CommandFailure` 73.
  init(_ path: String, ours: [String]) throws(CommandFailure) {
    self.path = path
    self.ours = ours
    let (parent, name) = OutputDirectory.split(path)
    temporary = "\(parent)/.\(name).fleetsim-\(getpid()).tmp"
    try checkExisting()
    close(try create())
    unlink(temporary)
  }

  /// - Throws: `CommandFailure` 73, 74; 130 or 143 when a signal came meanwhile.
  func write(_ text: String) throws(CommandFailure) {
    try Interruption.check()
    let descriptor = try create()
    let isWritten = Console.writeAll(Array(text.utf8), to: descriptor) && fsync(descriptor) == 0
    let message = systemMessage()
    if close(descriptor) != 0 || !isWritten {
      unlink(temporary)
      throw CommandFailure(.inputOutput, "\(path): cannot be written: \(message); nothing was left there")
    }
    do throws(CommandFailure) {
      // Once more: somebody may have put something there while the simulation ran.
      try checkExisting()
      try Interruption.check()
    } catch {
      unlink(temporary)
      throw error
    }
    if rename(temporary, path) != 0 {
      let failure = CommandFailure(.cannotCreate, "\(path): cannot be put in place: \(systemMessage())")
      unlink(temporary)
      throw failure
    }
  }

  private func create() throws(CommandFailure) -> Int32 {
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
    if descriptor >= 0 { return descriptor }
    throw CommandFailure(
      .cannotCreate, "\(path): cannot be created: \(systemMessage()); name a writable place with --out")
  }

  private func checkExisting() throws(CommandFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.cannotCreate, "\(path): exists and is not a plain file; name another with --out")
    }
    let bytes = status.st_size == 0 ? [] : try beginning()
    if bytes.isEmpty || ours.contains(where: { bytes.starts(with: $0.utf8) }) { return }
    throw CommandFailure(
      .cannotCreate, "\(path): exists and fleetsim did not write it; name another with --out, or move it away"
    )
  }

  private func beginning() throws(CommandFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else {
      throw CommandFailure(.cannotCreate, "\(path): exists and cannot be read: \(systemMessage())")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(0, count)])
  }
}
