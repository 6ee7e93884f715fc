import FleetMetrics
import FleetReports

/// Where results go: all of them or none.
///
/// Files are written into a temporary directory beside the final one, which is renamed when they are complete. A directory that
/// fleetsim wrote before is replaced in the same way. One with anything else in it is refused, so nothing of the user's is lost.
package struct OutputDirectory {
  /// As the user named it.
  package let path: String
  /// Absolute, symbolic links followed; its last component need not exist.
  private let resolved: String
  private let temporary: String
  private let replaced: String
  private let files: Files

  /// Checks that results can be written to `path`, without leaving anything there.
  /// - Throws: `CommandFailure` 73.
  package init(_ path: String, _ environment: CommandEnvironment) throws(CommandFailure) {
    (self.path, files) = (path, environment.files)
    files.signals.hold()
    try Descriptors.check()
    resolved = try Self.resolve(path, files)
    temporary = TemporaryName.make(beside: resolved)
    replaced = TemporaryName.make(beside: resolved, .old)
    TemporaryName.removeRests(beside: resolved)
    try checkExisting()
    // A trial: the parent may be read-only, or no directory at all.
    let created = try createTemporary()
    rmdir(temporary)
    Self.removeDirectories(created)
    environment.executable.prepareBuild()
  }

  /// Writes files and puts them in place, or leaves everything as it was.
  /// - Throws: `CommandFailure` 73, 74; 130, 131 or 143 when a signal came meanwhile.
  package func write(_ written: [OutputFile]) throws(CommandFailure) {
    let created = try createTemporary()
    do throws(CommandFailure) {
      for file in written {
        try files.signals.check()
        try write(file)
      }
      try files.signals.check()
      // Once more: somebody may have put something there while the simulation ran.
      try checkExisting()
      try putInPlace()
    } catch {
      Self.removeTree(temporary)
      Self.removeDirectories(created)
      throw error
    }
  }

  // MARK: What is there already

  private func checkExisting() throws(CommandFailure) {
    var status = stat()
    guard stat(resolved, &status) == 0 else {
      if errno == ENOENT { return }
      throw CommandFailure(.cannotCreate, "\(path): \(systemMessage())")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.cannotCreate, "\(path): exists and is not a directory; name another with --out")
    }
    let manifest = try? files.text("\(resolved)/\(FileName.manifest)", limit: .max)
    if let foreign = try foreignEntry(manifest) {
      throw CommandFailure(
        .cannotCreate,
        "\(path): holds '\(foreign)', which fleetsim did not write; name another directory with --out, or move it away"
      )
    }
    if let changed = changedFile(manifest ?? "") {
      throw CommandFailure(
        .cannotCreate,
        "\(path): '\(changed)' was changed since fleetsim wrote it (its SHA-256 is not the one in \(FileName.manifest)); "
          + "move it away to keep it, remove it, or name another directory with --out")
    }
    var parentStatus = stat()
    if stat(Self.split(resolved).parent, &parentStatus) == 0, parentStatus.st_dev != status.st_dev {
      throw CommandFailure(
        .cannotCreate,
        "\(path): is a mount point, which cannot be replaced at once; name a directory below it, as \(path)/results"
      )
    }
    if let current = files.realPath("."), current == resolved || current.hasPrefix(resolved + "/") {
      throw CommandFailure(
        .cannotCreate, "\(path): is the current directory or above it; name a directory below it, as results")
    }
  }

  /// The first entry that is not fleetsim's own; none if the directory is empty.
  private func foreignEntry(_ manifest: String?) throws(CommandFailure) -> String? {
    let entries = try Self.entries(resolved, named: path)
    guard let manifest, manifest.hasPrefix(RunManifest.opening) else { return entries.first }
    for name in entries where !FileName.isTopLevel(name) {
      var status = stat()
      guard lstat("\(resolved)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        return name
      }
      for inner in try Self.entries("\(resolved)/\(name)", named: "\(path)/\(name)")
      where !FileName.isOfVariant(inner) {
        return "\(name)/\(inner)"
      }
    }
    return nil
  }

  /// The first file that is not as `run.json` says that it was written. One that is gone is no loss.
  private func changedFile(_ manifest: String) -> String? {
    RunManifest.digests(in: manifest).first { file, digest in
      (try? files.bytes("\(resolved)/\(file)", limit: .max)).map { SHA256.hexadecimal($0) != digest }
        ?? false
    }?.path
  }

  // MARK: Making and moving

  /// Makes the temporary directory and the parents it needs; returns the parents made.
  private func createTemporary() throws(CommandFailure) -> [String] {
    var created: [String] = []
    var missing: [String] = []
    var parent = Self.split(resolved).parent
    while access(parent, F_OK) != 0, errno == ENOENT, parent != "/" {
      missing.append(parent)
      parent = Self.split(parent).parent
    }
    for directory in missing.reversed() + [temporary] {
      if mkdir(directory, 0o777) != 0 {
        let message = systemMessage()
        Self.removeDirectories(created)
        throw CommandFailure(
          .cannotCreate, "\(path): cannot be created: \(message); name a writable place with --out")
      }
      if directory != temporary { created.append(directory) }
    }
    return created
  }

  private func write(_ file: OutputFile) throws(CommandFailure) {
    let target = "\(temporary)/\(file.path)"
    if file.path.contains("/") { mkdir(Self.split(target).parent, 0o777) }
    let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL, 0o666)
    guard descriptor >= 0 else { throw failure(.cannotCreate, file) }
    if !Console.writeAll(file.bytes, to: descriptor) || fsync(descriptor) != 0 {
      let failure = failure(.inputOutput, file)
      close(descriptor)
      throw failure
    }
    if close(descriptor) != 0 { throw failure(.inputOutput, file) }
  }

  private func failure(_ code: ExitCode, _ file: OutputFile) -> CommandFailure {
    CommandFailure(
      code, "\(path)/\(file.path): cannot be written: \(systemMessage()); nothing was left there")
  }

  private func putInPlace() throws(CommandFailure) {
    // Replaces an empty directory, or none.
    if rename(temporary, resolved) == 0 { return }
    guard errno == ENOTEMPTY || errno == EEXIST, rename(resolved, replaced) == 0 else {
      throw CommandFailure(.cannotCreate, "\(path): cannot be put in place: \(systemMessage())")
    }
    if rename(temporary, resolved) != 0 {
      let message = systemMessage()
      rename(replaced, resolved)
      throw CommandFailure(.cannotCreate, "\(path): cannot be put in place: \(message); it is as it was")
    }
    Self.removeTree(replaced)
  }
}

/// The calls that the output directory makes to the file system.
extension OutputDirectory {
  /// Absolute and without symbolic links, though the last components may not exist yet.
  static func resolve(_ path: String, _ files: Files) throws(CommandFailure) -> String {
    var existing = path
    while existing.count > 1, existing.hasSuffix("/") { existing.removeLast() }
    var missing: [String] = []
    while true {
      if let base = files.realPath(existing) {
        if missing.isEmpty, base == "/" {
          throw CommandFailure(.cannotCreate, "\(path): cannot be replaced; name a directory below it")
        }
        return missing.reversed().reduce(base == "/" ? "" : base) { $0 + "/" + $1 }
      }
      guard errno == ENOENT else {
        throw CommandFailure(
          .cannotCreate, "\(path): cannot be created: \(systemMessage()); name another place with --out")
      }
      let (parent, name) = split(existing)
      var status = stat()
      if lstat(files.place(existing), &status) == 0 {
        throw CommandFailure(
          .cannotCreate,
          "\(path): \(existing == path ? "is" : "'\(existing)' is") a symbolic link to a place that does not exist; make that "
            + "directory, or name another with --out")
      }
      if name == ".." || name == "." {
        throw CommandFailure(
          .cannotCreate, "\(path): '\(parent)' does not exist; name another place with --out")
      }
      missing.append(name)
      existing = parent
    }
  }

  /// `a/b/c` → (`a/b`, `c`); `c` → (`.`, `c`); `/c` → (`/`, `c`).
  static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    return (parent, String(path[path.index(after: slash)...]))
  }

  /// The path of a file in the same folder as another one.
  static func sibling(of path: String, _ name: String) -> String {
    if name.hasPrefix("/") { return name }
    let folder = split(path).parent
    return folder == "." && !path.hasPrefix("./") ? name : folder == "/" ? "/" + name : folder + "/" + name
  }

  /// Names in a directory, sorted, without `.` and `..`.
  static func entries(_ directory: String, named name: String) throws(CommandFailure) -> [String] {
    guard let stream = opendir(directory) else {
      throw CommandFailure(.cannotCreate, "\(name): cannot be read: \(systemMessage())")
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Removes a directory of ours: files and one level of folders.
  static func removeTree(_ directory: String) {
    for name in (try? entries(directory, named: directory)) ?? [] {
      let path = directory + "/" + name
      if unlink(path) != 0 { removeTree(path) }
    }
    rmdir(directory)
  }

  /// Removes directories that are still empty, the innermost first.
  static func removeDirectories(_ directories: [String]) {
    for directory in directories.reversed() { rmdir(directory) }
  }
}

/// Names of what is written beside its place until it is whole: `.summary.csv.fleetsim-host-4711-0.tmp`.
///
/// No other process has them: containers all have the process id 1, and what a killed one left stays until the next run.
package enum TemporaryName {
  /// A new file or directory is to be renamed into place; an old one was there before, and is put back if that fails.
  package enum Kind: String, CaseIterable {
    case new = ".tmp"
    case old = ".old"
  }

  private static let marker = ".fleetsim-"

  /// The path of a temporary file or directory beside `path`.
  package static func make(beside path: String, _ kind: Kind = .new, attempt: Int = 0) -> String {
    let (parent, name) = OutputDirectory.split(path)
    return "\(parent)/.\(name)\(marker)\(host)-\(getpid())-\(attempt)\(kind.rawValue)"
  }

  /// Returns the final name of a temporary file or directory; nil if it is none of ours.
  static func target(of name: String, _ kind: Kind = .new) -> String? { parts(name, kind)?.target }

  /// Removes what killed processes of this machine have left, beside `path` for that place alone, or in all of a folder. An old
  /// directory whose place is empty goes back there.
  static func removeRests(beside path: String) {
    let (folder, target) = OutputDirectory.split(path)
    removeRests(in: folder) { $0 == target }
  }

  static func removeRests(in folder: String, of isMeant: (String) -> Bool = { _ in true }) {
    for name in (try? OutputDirectory.entries(folder, named: folder)) ?? [] {
      for kind in Kind.allCases {
        guard let (target, owner) = parts(name, kind), isMeant(target), isGone(owner) else { continue }
        let rest = "\(folder)/\(name)"
        if kind == .old, access("\(folder)/\(target)", F_OK) != 0 {
          rename(rest, "\(folder)/\(target)")
        } else if unlink(rest) != 0 {
          OutputDirectory.removeTree(rest)
        }
      }
    }
  }

  private static func parts(_ name: String, _ kind: Kind) -> (target: String, owner: Substring)? {
    guard name.hasPrefix("."), name.hasSuffix(kind.rawValue) else { return nil }
    let stem = name.dropFirst().dropLast(kind.rawValue.count)
    guard let mark = stem.ranges(of: marker).last else { return nil }
    return (String(stem[..<mark.lowerBound]), stem[mark.upperBound...])
  }

  /// Whether the owner, `host-4711-0`, was a process of this machine that has ended. An owner with this process's own number is
  /// an earlier process: nothing is begun before the rests are gone.
  private static func isGone(_ owner: Substring) -> Bool {
    let words = owner.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count > 2, words.dropLast(2).joined(separator: "-") == host,
      let process = pid_t(words[words.count - 2]), process > 0
    else { return false }
    return process == getpid() || (kill(process, 0) != 0 && errno == ESRCH)
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
