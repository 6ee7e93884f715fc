import FleetSimulation

#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

/// Returns the operating system's message for the call that just failed: `No space left on device`.
func systemMessage(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }

extension stat {
  /// What is at a path; nil: `errno` says why not.
  init?(at path: String, followsLinks: Bool = true) {
    self.init()
    if fstatat(AT_FDCWD, path, &self, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) != 0 { return nil }
  }

  /// `S_IFREG`, `S_IFDIR`, …
  var kind: mode_t { st_mode & S_IFMT }
}

/// The files that the process has open.
enum Descriptors {
  /// Opens what is closed of standard input, output and error, so that no other file takes its place: what is meant for standard
  /// output would go there.
  static func occupyStandard() {
    for (standard, wrong) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(standard, F_GETFD) < 0 {
      // Opened the other way round: reading or writing fails as if it were closed. It gets the lowest number that is free.
      _ = open("/dev/null", wrong)
    }
  }

  /// How many files a command may open at once besides its uploads, with some to spare.
  private static let needed = 8

  /// A command that lacks a file amid its runs would lose them.
  /// - Throws: `CommandFailure` 71 of a process that may open too few.
  static func check() throws(CommandFailure) {
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    while copies.count < needed {
      let copy = dup(STDERR_FILENO)
      guard copy >= 0 else {
        if errno != EMFILE, errno != ENFILE { return }
        throw CommandFailure.tooFewFiles("\(needed) more are needed at once")
      }
      copies.append(copy)
    }
  }
}

extension CommandFailure {
  /// - Parameter what: takes the files that may be open.
  static func tooFewFiles(_ what: String) -> CommandFailure {
    CommandFailure(
      .systemRefuses, "too few files may be open at once: \(what); raise the limit, as with 'ulimit -n 1024'"
    )
  }

  /// - Parameters:
  ///   - what: takes the threads.
  ///   - failure: what the system said.
  static func tooFewThreads(_ what: String, _ failure: SystemThreads.Failure) -> CommandFailure {
    CommandFailure(
      .systemRefuses,
      "\(failure): \(what); raise the limit of this user or container, as with 'ulimit -u 4096'")
  }
}

/// The files of a command, by paths as the user writes them.
package struct Files: Sendable {
  /// The directory in which relative paths begin; nil: where the process is.
  let directory: String?
  let signals: Signals
  /// Larger files are no scenario.
  package static let limit = 64 << 20

  package init(in directory: String? = nil, signals: Signals = Signals()) {
    (self.directory, self.signals) = (directory, signals)
  }

  /// The path as system calls take it.
  func place(_ path: String) -> String {
    guard let directory, !path.isEmpty, !path.hasPrefix("/") else { return path }
    return directory + "/" + path
  }

  func isThere(_ path: String) -> Bool { access(place(path), F_OK) == 0 }

  /// Absolute and without symbolic links; nil: `errno` says why.
  func realPath(_ path: String) -> String? {
    guard let real = realpath(place(path), nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// The text of the file at `path`.
  /// - Throws: `CommandFailure`: 66 if it does not exist, is a directory or cannot be read; 65 if it is not UTF-8 or too large.
  func text(_ path: String, limit: Int = Self.limit) throws(CommandFailure) -> String {
    let bytes = try bytes(path, limit: limit)
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var (decoder, iterator, offset) = (UTF8.ForwardParser(), bytes.makeIterator(), 0)
    while case .valid(let encoded) = decoder.parseScalar(from: &iterator) { offset += encoded.count }
    let byte = String(bytes[offset], radix: 16, uppercase: true)
    let before = String(decoding: bytes[..<offset], as: UTF8.self)
    let line = 1 + before.count { ["\n", "\r", "\r\n"].contains($0) }
    throw CommandFailure(
      .data,
      "\(path):\(line): not UTF-8 text: byte 0x\(byte) at offset \(offset) begins no valid character; save "
        + "the file as UTF-8")
  }

  /// A file that fleetsim wrote: a plain one, read as far as it was when it was opened.
  /// - Throws: `CommandFailure` 65, 66.
  func ownBytes(_ path: String) throws(CommandFailure) -> [UInt8] {
    guard let status = stat(at: place(path), followsLinks: false) else { throw unreadable(path, errno) }
    guard status.kind == S_IFREG else {
      throw CommandFailure(.data, "\(path): is no plain file; one that fleetsim wrote is expected")
    }
    return try bytes(path, limit: Int(status.st_size))
  }

  package func bytes(_ path: String, limit: Int = Self.limit) throws(CommandFailure) -> [UInt8] {
    // Otherwise a pipe that nobody writes to would let us wait for ever.
    let descriptor = open(place(path), O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.kind : 0
    if kind == S_IFDIR {
      throw CommandFailure(.noInput, "\(path): is a directory; a file is expected")
    }
    var bytes: [UInt8] = []
    if kind == S_IFREG { bytes.reserveCapacity(min(limit, max(0, Int(status.st_size)))) }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var waits = 0
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 {
        guard kind == S_IFIFO, bytes.isEmpty, try isAwaited(descriptor, path, &waits) else { return bytes }
      } else if count < 0 {
        let code = errno
        try signals.check()
        guard code == EINTR || code == EAGAIN else { throw unreadable(path, code) }
        if code == EAGAIN { _ = Self.wait(for: descriptor) }
      } else {
        bytes += chunk[..<count]
        if bytes.count > limit {
          throw CommandFailure(
            .data, "\(path): larger than \(limit >> 20) MB, and at most that is read of a file")
        }
      }
    }
  }

  /// Whether a writer may still come to an empty pipe. A shell may start it later than us.
  /// - Throws: `CommandFailure` 66 when none has come for two seconds.
  private func isAwaited(
    _ descriptor: Int32, _ path: String, _ waits: inout Int
  ) throws(CommandFailure) -> Bool {
    // One has come and gone.
    if Self.wait(for: descriptor) & Int16(POLLHUP) != 0 { return false }
    try signals.check()
    waits += 1
    if waits < 20 { return true }
    throw CommandFailure(
      .noInput, "\(path): is a pipe that nothing writes to; a file is expected, or a pipe with a writer")
  }

  /// What there is to read, after a tenth of a second at most.
  private static func wait(for descriptor: Int32) -> Int16 {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 100) > 0 ? watched.revents : 0
  }

  private func unreadable(_ path: String, _ code: Int32) -> CommandFailure {
    if let signal = signals.pending { return Signals.failure(signal) }
    return CommandFailure(.noInput, "\(path): cannot be read: \(systemMessage(code))")
  }
}
