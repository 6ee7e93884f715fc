import FleetExperiments

/// The directory of a sweep: `plan.json`, and the runs by name. Any number of processes may fill it at once.
struct SweepDirectory: Sendable {
  static let planName = "plan.json"
  static let runsName = "runs"
  static let mergedName = "merged"

  /// As the user named it.
  let path: String
  let runs: RunDirectory
  private let files: Files

  private init(_ path: String, _ environment: CommandEnvironment) {
    (self.path, files) = (path, environment.files)
    runs = RunDirectory(existing: "\(path)/\(Self.runsName)", environment)
  }

  /// The directory of a sweep that has begun.
  /// - Throws: `CommandFailure` 66, 65.
  static func existing(
    _ path: String, _ environment: CommandEnvironment
  ) throws(CommandFailure) -> (SweepDirectory, SweepPlanFile) {
    let directory = SweepDirectory(path, environment)
    guard environment.files.isThere("\(path)/\(planName)") else {
      throw CommandFailure(
        .noInput, "\(path): holds no \(planName); a directory that 'fleetsim sweep --out' made is expected")
    }
    return (directory, try SweepPlanFile(contentsOf: "\(path)/\(planName)", environment.files))
  }

  /// Makes the directory if need be, and puts the plan there.
  /// - Throws: `CommandFailure` 73, 74; 65 if another sweep is there.
  static func prepared(
    _ path: String, for file: SweepPlanFile, _ environment: CommandEnvironment
  ) throws(CommandFailure) -> SweepDirectory {
    try make("\(path)/\(runsName)", asked: path, environment.files)
    let directory = SweepDirectory(path, environment)
    try directory.putPlan(file)
    return directory
  }

  private static func make(
    _ directory: String, asked path: String, _ files: Files
  ) throws(CommandFailure) {
    var missing: [String] = []
    var place = directory
    while !files.isThere(place), errno == ENOENT, place != "/", place != "." {
      missing.append(place)
      place = OutputDirectory.split(place).parent
    }
    if missing == [directory],
      let entry = try OutputDirectory.entries(files.place(path), named: path).first(where: isForeign)
    {
      throw CommandFailure(
        .cannotCreate,
        "\(path): holds '\(entry)' and no sweep; name another directory with --out, or an empty one")
    }
    files.signals.hold()
    for place in missing.reversed() {
      // Another shard may be as far as we are.
      guard mkdir(files.place(place), 0o777) == 0 || errno == EEXIST else {
        throw CommandFailure(
          .cannotCreate, "\(path): cannot be created: \(systemMessage()); name a writable place with --out")
      }
    }
    var status = stat()
    guard stat(files.place(directory), &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.cannotCreate, "\(directory): is no directory; name another place with --out")
    }
  }

  private static func isForeign(_ entry: String) -> Bool {
    entry != planName && TemporaryPlace.target(of: entry) != planName
  }

  // MARK: The plan

  private func putPlan(_ file: SweepPlanFile) throws(CommandFailure) {
    let place = "\(path)/\(Self.planName)"
    TemporaryPlace.removeRests(beside: files.place(place))
    if files.isThere(place) {
      let there = try SweepPlanFile(contentsOf: place, files)
      try ResultsVersion.check(
        there.plan.results, of: "\(place): the sweep was made with", "sweep into another directory with --out"
      )
      if there.plan.includes(file.plan) { return }
      guard file.plan.includes(there.plan) else {
        throw CommandFailure(
          .data,
          "\(place): is the plan of another sweep: \(there.plan.difference(from: file.plan)); "
            + "name another directory with --out")
      }
    }
    try files.write(Array(file.text.utf8), to: place)
  }
}
