/// What the output directory asks of the file system.
extension OutputDirectory {
  /// Absolute and without symbolic links, though the last components may not exist yet.
  static func resolve(_ path: String) throws(CommandFailure) -> String {
    var existing = path
    while existing.count > 1, existing.hasSuffix("/") { existing.removeLast() }
    var missing: [String] = []
    while true {
      if let real = realpath(existing, nil) {
        defer { free(real) }
        let base = String(cString: real)
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
      if lstat(existing, &status) == 0 {
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

  static func currentDirectory() -> String? {
    guard let real = realpath(".", nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
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
