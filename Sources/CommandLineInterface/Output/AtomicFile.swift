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

  /// Which file a temporary one was to become; nil if it is none of ours.
  static func target(ofTemporary name: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(ending) else { return nil }
    let stem = name.dropFirst().dropLast(ending.count)
    guard let mark = stem.firstRange(of: marker) else { return nil }
    return String(stem[..<mark.lowerBound])
  }

  private static let marker = ".fleetsim-"
  private static let ending = ".tmp"

  /// A name that no other process has: containers all have the process id 1, and what a killed one left stays.
  private static func create(
    beside path: String, named name: String, option: String
  ) throws(CommandFailure) -> (path: String, descriptor: Int32) {
    let (parent, file) = OutputDirectory.split(path)
    for attempt in 0..<10_000 {
      let temporary = "\(parent)/.\(file)\(marker)\(host)-\(getpid())-\(attempt)\(ending)"
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
      if descriptor >= 0 { return (temporary, descriptor) }
      if errno != EEXIST { break }
    }
    throw CommandFailure(
      .cannotCreate, "\(name): cannot be created: \(systemMessage()); name a writable place with \(option)")
  }

  private static let host: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "host" }
    let text = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(
      String(decoding: text, as: UTF8.self).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        .prefix(60))
  }()
}
