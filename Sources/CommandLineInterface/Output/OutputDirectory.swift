import CSystem
import FleetMetrics
import FleetReports
import ScenarioModel

/// Where results go: all of them or none.
///
/// Files are written into a temporary directory beside the final one. When they are complete, the two change places at once.
/// A directory that fleetsim wrote before is replaced so. One with anything else in it, or with a file that is not as it was
/// written, is refused: nothing of the user's is lost.
package struct OutputDirectory {
  /// As the user named it.
  package let path: String
  /// Absolute, symbolic links followed; its last component need not exist.
  private let resolved: String
  private let files: Files

  /// Checks that results can be written to `path`, without leaving anything there.
  /// - Throws: `CommandFailure` 73.
  package init(_ path: String, _ environment: CommandEnvironment) throws(CommandFailure) {
    (self.path, files) = (path, environment.files)
    files.signals.hold()
    try Descriptors.check()
    resolved = try Self.resolve(path, files)
    TemporaryPlace.removeRests(beside: resolved)
    try checkExisting()
    // A trial: the parent may be read-only, or no directory at all.
    let (temporary, created) = try createTemporary()
    rmdir(temporary.path)
    temporary.release()
    Self.removeDirectories(created)
    environment.executable.prepareBuild()
  }

  /// Writes files and puts them in place, or leaves everything as it was.
  /// - Throws: `CommandFailure` 73, 74; 129, 130, 131 or 143 when a signal came meanwhile.
  package func write(_ written: [OutputFile]) throws(CommandFailure) {
    let (temporary, created) = try createTemporary()
    defer { temporary.release() }
    do throws(CommandFailure) {
      for file in written {
        try files.signals.check()
        try write(file, into: temporary.path)
      }
      try files.signals.check()
      // Once more: somebody may have put something there while the simulation ran.
      try checkExisting()
      try putInPlace(temporary.path)
    } catch {
      Self.removeTree(temporary.path)
      Self.removeDirectories(created)
      throw error
    }
  }

  // MARK: What is there already

  private func checkExisting() throws(CommandFailure) {
    while true {
      let before = Self.identity(resolved)
      do throws(CommandFailure) {
        return try checkContents(of: resolved)
      } catch {
        // Another run has put its results there meanwhile: what was seen is of neither.
        if Self.identity(resolved) == before { throw error }
      }
    }
  }

  /// Tells two directories at one path from each other.
  private static func identity(_ path: String) -> [UInt64] {
    stat(at: path).map { [UInt64($0.st_dev), UInt64($0.st_ino)] } ?? []
  }

  private func checkContents(of directory: String) throws(CommandFailure) {
    guard let status = stat(at: directory) else {
      if errno == ENOENT { return }
      throw refusal(systemMessage())
    }
    guard status.kind == S_IFDIR else {
      throw refusal("exists and is not a directory; name another with --out")
    }
    let manifest = "\(directory)/\(FileName.manifest)"
    let text = Self.isThere(manifest, S_IFREG) ? try? files.text(manifest) : nil
    let written = RunManifest.Written(text ?? "")
    if let foreign = try foreignEntry(of: directory, written) {
      throw refusal(
        "holds '\(foreign)', which fleetsim did not write; name another directory with --out, or move it away"
      )
    }
    if let changed = written.files.first(where: { isChanged("\(directory)/\($0.path)", $0) }) {
      throw refusal(
        "'\(changed.path)' was changed since fleetsim wrote it (its SHA-256 is not the one in \(FileName.manifest)); "
          + "move it away to keep it, remove it, or name another directory with --out")
    }
    if let parent = stat(at: Self.split(directory).parent), parent.st_dev != status.st_dev {
      throw refusal(
        "is a mount point, which cannot be replaced at once; name a directory below it, as \(path)/results")
    }
    if let current = files.realPath("."), (current + "/").utf8.starts(with: (resolved + "/").utf8) {
      throw refusal("is the current directory or above it; name a directory below it, as results")
    }
  }

  /// The first entry that fleetsim did not write; none if the directory is empty.
  private func foreignEntry(
    of directory: String, _ written: RunManifest.Written
  ) throws(CommandFailure) -> String? {
    for name in try Self.entries(directory, named: path) where !written.has(name) {
      guard written.hasFolder(name), Self.isThere("\(directory)/\(name)", S_IFDIR) else { return name }
      for inner in try Self.entries("\(directory)/\(name)", named: "\(path)/\(name)")
      where !written.has("\(name)/\(inner)") {
        return "\(name)/\(inner)"
      }
    }
    return nil
  }

  /// Whether a file is not as it was written. One that is gone is no loss.
  private func isChanged(_ place: String, _ file: RunManifest.Written.File) -> Bool {
    guard let status = stat(at: place, followsLinks: false) else { return errno != ENOENT }
    guard status.kind == S_IFREG, Int(status.st_size) == file.bytes else { return true }
    return (try? files.bytes(place, limit: file.bytes)).map(SHA256.hexadecimal) != file.sha256
  }

  /// Whether something of this kind is there itself, and no link to it: `S_IFREG`, `S_IFDIR`.
  private static func isThere(_ path: String, _ kind: mode_t) -> Bool {
    stat(at: path, followsLinks: false)?.kind == kind
  }

  // MARK: Making and moving

  /// Makes the temporary directory and the parents it needs; returns the parents made, too.
  private func createTemporary() throws(CommandFailure) -> (TemporaryPlace, created: [String]) {
    var created: [String] = []
    var missing: [String] = []
    var parent = Self.split(resolved).parent
    while access(parent, F_OK) != 0, errno == ENOENT, parent != "/" {
      missing.append(parent)
      parent = Self.split(parent).parent
    }
    for directory in missing.reversed() {
      if mkdir(directory, 0o777) == 0 {
        created.append(directory)
      } else if errno != EEXIST {
        throw cannotCreate(created)
      }
    }
    guard let temporary = TemporaryPlace(beside: resolved, isDirectory: true) else {
      throw cannotCreate(created)
    }
    return (temporary, created)
  }

  private func cannotCreate(_ created: [String]) -> CommandFailure {
    let message = systemMessage()
    Self.removeDirectories(created)
    return refusal("cannot be created: \(message); name a writable place with --out")
  }

  private func write(_ file: OutputFile, into temporary: String) throws(CommandFailure) {
    let target = "\(temporary)/\(file.path)"
    if file.path.utf8.contains(Ascii.slash), mkdir(Self.split(target).parent, 0o777) != 0, errno != EEXIST {
      throw failure(.cannotCreate, file)
    }
    let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure(.cannotCreate, file) }
    defer { close(descriptor) }
    if !Console.writeAll(file.bytes, to: descriptor) || fsync(descriptor) != 0 {
      throw failure(.inputOutput, file)
    }
  }

  private func failure(_ code: ExitCode, _ file: OutputFile) -> CommandFailure {
    CommandFailure(
      code, "\(path)/\(file.path): cannot be written: \(systemMessage()); nothing was left there")
  }

  private func putInPlace(_ temporary: String) throws(CommandFailure) {
    while true {
      // Takes the place of an empty directory, or of none.
      if rename(temporary, resolved) == 0 { return }
      guard errno == ENOTEMPTY || errno == EEXIST else { throw cannotPut(systemMessage()) }
      if fleetsim_exchange(temporary, resolved) == 0 { return try removeReplaced(temporary) }
      switch errno {
      case ENOENT: continue
      case EINVAL, ENOSYS, ENOTSUP, EXDEV: if try putInTurn(temporary) { return }
      default: throw cannotPut(systemMessage())
      }
    }
  }

  /// Removes what was in place before, unless somebody has put something there in the last moment.
  private func removeReplaced(_ replaced: String) throws(CommandFailure) {
    // Without a lock it looks as the rest of a killed run, and a third run would remove it.
    let descriptor = open(replaced, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if TemporaryPlace.lock(descriptor, isPatient: true), !TemporaryPlace.isAt(replaced, descriptor) { return }
    do throws(CommandFailure) {
      try checkContents(of: replaced)
    } catch {
      _ = fleetsim_exchange(replaced, resolved)
      throw error
    }
    Self.removeTree(replaced)
  }

  /// For file systems that can't exchange: the old directory goes aside, the new one comes. Its lock keeps a second run from
  /// doing so at once, and from taking what is aside for a rest.
  private func putInTurn(_ temporary: String) throws(CommandFailure) -> Bool {
    let descriptor = open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    if TemporaryPlace.lock(descriptor, isPatient: true), !TemporaryPlace.isAt(resolved, descriptor) {
      return false
    }
    let replaced = TemporaryPlace.name(beside: resolved, .old)
    guard rename(resolved, replaced) == 0 else { throw cannotPut(systemMessage()) }
    if rename(temporary, resolved) != 0 {
      let message = systemMessage()
      rename(replaced, resolved)
      throw cannotPut("\(message); it is as it was")
    }
    Self.removeTree(replaced)
    return true
  }

  private func cannotPut(_ message: String) -> CommandFailure {
    refusal("cannot be put in place: \(message)")
  }

  private func refusal(_ reason: String) -> CommandFailure {
    CommandFailure(.cannotCreate, "\(path): \(reason)")
  }

  // MARK: Paths and directories

  /// Absolute and without symbolic links, though the last components may not exist yet.
  static func resolve(_ path: String, _ files: Files) throws(CommandFailure) -> String {
    func refusal(_ reason: String) -> CommandFailure { CommandFailure(.cannotCreate, "\(path): \(reason)") }
    var existing = path
    while existing.count > 1, existing.hasSuffix("/") { existing.removeLast() }
    var missing: [String] = []
    while true {
      if let base = files.realPath(existing) {
        if missing.isEmpty, base == "/" { throw refusal("cannot be replaced; name a directory below it") }
        return missing.reversed().reduce(base == "/" ? "" : base) { $0 + "/" + $1 }
      }
      guard errno == ENOENT else {
        throw refusal("cannot be created: \(systemMessage()); name another place with --out")
      }
      let (parent, name) = split(existing)
      if stat(at: files.place(existing), followsLinks: false) != nil {
        throw refusal(
          "\(existing == path ? "is" : "'\(existing)' is") a symbolic link to a place that does not exist; make that "
            + "directory, or name another with --out")
      }
      if name == ".." || name == "." {
        throw refusal("'\(parent)' does not exist; name another place with --out")
      }
      missing.append(name)
      existing = parent
    }
  }

  /// `a/b/c` → (`a/b`, `c`); `c` → (`.`, `c`); `/c` → (`/`, `c`).
  static func split(_ path: String) -> (parent: String, name: String) {
    // By bytes: a slash and an accent behind it are one Character.
    guard let slash = path.utf8.lastIndex(of: Ascii.slash) else { return (".", path) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    return (parent, String(path[path.utf8.index(after: slash)...]))
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
      if unlink(path) != 0, errno != ENOENT { removeTree(path) }
    }
    rmdir(directory)
  }

  /// Removes directories that are still empty, the innermost first.
  static func removeDirectories(_ directories: [String]) {
    for directory in directories.reversed() { rmdir(directory) }
  }
}
