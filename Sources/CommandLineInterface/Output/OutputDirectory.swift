import FleetMetrics
import FleetReports

/// Where results go: all of them or none.
///
/// Files are written into a temporary directory beside the final one, which is renamed when they are
/// complete; a directory that fleetsim wrote before is replaced in the same way. One with anything else in it
/// is refused, so nothing of the user's is lost.
package struct OutputDirectory {
  /// As the user named it.
  package let path: String
  /// Absolute, symbolic links followed; its last component need not exist.
  private let resolved: String
  private let temporary: String
  private let replaced: String

  /// Checks that results can be written to `path`, without leaving anything there.
  /// - Throws: `CommandFailure` 73.
  package init(_ path: String) throws(CommandFailure) {
    self.path = path
    resolved = try Self.resolve(path)
    temporary = TemporaryName.make(beside: resolved)
    replaced = TemporaryName.make(beside: resolved, .old)
    TemporaryName.removeRests(beside: resolved)
    try checkExisting()
    // A trial: the parent may be read-only, or no directory at all.
    let created = try createTemporary()
    rmdir(temporary)
    Self.removeDirectories(created)
    ResultsVersion.prepareBuild()
  }

  /// Writes `files` and puts them in place, or leaves everything as it was.
  /// - Throws: `CommandFailure` 73, 74; 130, 131 or 143 when a signal came meanwhile.
  package func write(_ files: [OutputFile]) throws(CommandFailure) {
    let created = try createTemporary()
    do throws(CommandFailure) {
      for file in files {
        try Interruption.check()
        try write(file)
      }
      try Interruption.check()
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
    let entries = try Self.entries(resolved, named: path)
    if let foreign = try foreignEntry(entries) {
      throw CommandFailure(
        .cannotCreate,
        "\(path): holds '\(foreign)', which fleetsim did not write; name another directory with --out, or move it away"
      )
    }
    if let changed = changedFile() {
      throw CommandFailure(
        .cannotCreate,
        "\(path): '\(changed)' was changed since fleetsim wrote it (its SHA-256 is not the one in \(OutputFile.manifest)); "
          + "move it away to keep it, remove it, or name another directory with --out")
    }
    var parentStatus = stat()
    if stat(Self.split(resolved).parent, &parentStatus) == 0, parentStatus.st_dev != status.st_dev {
      throw CommandFailure(
        .cannotCreate,
        "\(path): is a mount point, which cannot be replaced at once; name a directory below it, as \(path)/results"
      )
    }
    if let current = Self.currentDirectory(), current == resolved || current.hasPrefix(resolved + "/") {
      throw CommandFailure(
        .cannotCreate, "\(path): is the current directory or above it; name a directory below it, as results")
    }
  }

  /// The first entry that is not fleetsim's own; none if the directory is empty.
  private func foreignEntry(_ entries: [String]) throws(CommandFailure) -> String? {
    guard let first = entries.first else { return nil }
    guard entries.contains(OutputFile.manifest), isOurs("\(resolved)/\(OutputFile.manifest)") else {
      return first
    }
    for name in entries where !OutputFile.topLevelNames.contains(name) {
      var status = stat()
      guard lstat("\(resolved)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        return name
      }
      for inner in try Self.entries("\(resolved)/\(name)", named: "\(path)/\(name)")
      where !OutputFile.variantNames.contains(inner) {
        return "\(name)/\(inner)"
      }
    }
    return nil
  }

  /// The first file that is not as `run.json` says that it was written. One that is gone is no loss.
  private func changedFile() -> String? {
    guard let manifest = try? InputFile.text("\(resolved)/\(OutputFile.manifest)", limit: .max) else {
      return nil
    }
    for (file, digest) in RunManifest.digests(in: manifest) {
      guard let bytes = try? InputFile.bytes("\(resolved)/\(file)", limit: .max) else { continue }
      if SHA256.hexadecimal(bytes) != digest { return file }
    }
    return nil
  }

  /// Whether `run.json` begins as fleetsim's does.
  private func isOurs(_ manifest: String) -> Bool {
    guard let bytes = try? InputFile.bytes(manifest) else { return false }
    return bytes.starts(with: RunManifest.opening.utf8)
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
