import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// Which scenario to read, and how to change it before it is decoded.
struct InputRequest: Sendable {
  var scenarioPath: String
  var settingsPath: String?
  /// In order; later ones win.
  var overrides: [Override]

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments) throws {
    scenarioPath = parsed.positional[0]
    settingsPath = parsed.value("settings")
    overrides = try parsed.values("set").flatMap(Self.overrides)
    if let scale = parsed.value("scale") { overrides.append(Override(path: "scale", value: scale)) }
    if let text = parsed.value("seed") {
      guard text.utf8.allSatisfy({ (48...57).contains($0) }), let seed = UInt64(text) else {
        throw UsageError("The value '\(text)' is invalid for '--seed <n>': a whole number from 0 to 2^64-1.")
      }
      overrides.append(Override(path: "seed", value: String(seed)))
    }
  }

  init(path: String, overrides: [Override]) {
    scenarioPath = path
    self.overrides = overrides
  }

  /// What one `--set` sets.
  static func overrides(_ text: String) throws -> [Override] {
    let (path, value) = try assignment(text, option: "--set <path=value>", example: "duration=1h")
    return Override.choosing(path, value)
  }

  static func assignment(
    _ text: String, option: String, example: String
  ) throws -> (path: String, value: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw UsageError("The value '\(text)' is invalid for '\(option)': it is written as \(example).")
    }
    return (parts[0], parts[1])
  }
}

/// What `run` and `compare` were asked to do.
struct RunRequest: Sendable {
  var input: InputRequest
  var compares: Bool
  /// What `--client`, `--jitter` and `--vary` say.
  var axes: [[VariantChoice]]
  /// Several seeds; nil: the scenario's alone.
  var replications: ReplicationRequest?
  var outputPath: String?
  var extras = ResultFiles.Extras()
  /// nil: one per core.
  var jobs: Int?
  /// Of each run; nil: one, or as many as the engine likes if only one run goes at a time.
  var threads: Int?
  var memory: MemoryLimit
  var checks: Bool
  var isQuiet: Bool
  var isJSON: Bool
  /// Whether there is a heading, a table and a line about the files.
  var isTable: Bool { !isQuiet && !isJSON }

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, compares: Bool) throws {
    input = try InputRequest(parsed)
    self.compares = compares
    axes = []
    var varied: Set<String> = []
    if let list = parsed.value("client") {
      axes.append(try Self.clients(list))
      varied.insert(Override.clientPath)
    }
    if let list = parsed.value("jitter") {
      axes.append(try Self.jitters(list))
      varied.insert(Override.jitterPath)
    }
    for text in parsed.values("vary") {
      let option = "--vary <path=a,b,c>"
      let (path, list) = try InputRequest.assignment(
        text, option: option, example: "tapi.bucket.capacity=2000/s,4000/s")
      guard varied.insert(path).inserted else {
        let other =
          parsed.value("jitter") != nil && path == Override.jitterPath
          ? "'--jitter'"
          : parsed.value("client") != nil && path == Override.clientPath ? "'--client'" : "another '--vary'"
        throw UsageError(
          "The value '\(text)' is invalid for '\(option)': \(other) chooses values of \(path) already; name them all there."
        )
      }
      let values = try Self.items(list, of: option)
      axes.append(VariantChoice.axis(ScenarioFile.Axis(path: path, values: values)))
    }
    replications = compares ? try ReplicationRequest(parsed) : nil
    outputPath = parsed.value("out")
    extras = ResultFiles.Extras(twin: parsed.has("twin-series"), openMetrics: parsed.has("openmetrics"))
    for option in ["twin-series", "openmetrics"] where parsed.has(option) {
      if outputPath == nil { throw UsageError("The option '--\(option)' goes with '--out <dir>'.") }
      if replications != nil {
        throw UsageError(
          "The option '--\(option)' writes the series of single runs, which several seeds don't keep: leave it out, or "
            + "'--seeds' and '--precision'; \(OutputFile.curves) has the mean curves.")
      }
    }
    memory = try MemoryLimit(parsed)
    checks = parsed.has("check")
    isQuiet = parsed.has("quiet")
    isJSON = parsed.has("json")
    jobs = try Self.count(parsed, "jobs", "n", through: 1_024)
    threads = try Self.count(parsed, "threads", "t", through: 64)
  }

  static func count(
    _ parsed: ParsedArguments, _ option: String, _ valueName: String, from first: Int = 1,
    through limit: Int
  ) throws -> Int? {
    guard let text = parsed.value(option) else { return nil }
    guard let count = Int(text), (first...limit).contains(count) else {
      throw UsageError(
        "The value '\(text)' is invalid for '--\(option) <\(valueName)>': a whole number from \(first) to \(limit)."
      )
    }
    return count
  }

  static func span(_ parsed: ParsedArguments, _ option: String) throws -> Span? {
    guard let text = parsed.value(option) else { return nil }
    do {
      return try Units.span(text)
    } catch {
      throw UsageError("The value '\(text)' is invalid for '--\(option) <span>': \(error.message).")
    }
  }

  private static func jitters(_ list: String) throws -> [VariantChoice] {
    let names = try items(list, of: "--jitter <a,b,c>")
    for name in names {
      let clamps = name.hasSuffix(Override.clampSuffix)
      let strategy = clamps ? String(name.dropLast(Override.clampSuffix.count)) : name
      guard Jitter(name: strategy) == nil else { continue }
      if let form = Jitter.allowedForm(of: strategy) {
        throw UsageError("'\(name)' is no jitter strategy: allowed is \(form).")
      }
      let hint = nearest(to: strategy, among: Jitter.examples).map { " Did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "The jitter strategy '\(strategy)' does not exist.\(hint) Allowed: \(Jitter.allowedNames); each may end in "
          + "\(Override.clampSuffix).")
    }
    return names.map(VariantChoice.jitter)
  }

  private static func clients(_ list: String) throws -> [VariantChoice] {
    let names = try items(list, of: "--client <a,b,c>")
    for name in names where !ClientPreset.isFileName(name) {
      _ = try ClientPreset.named(name, kind: "client")
    }
    return VariantChoice.axis(ScenarioFile.Axis(path: Override.clientPath, values: names))
  }

  private static func items(_ list: String, of option: String) throws -> [String] {
    let items = VariantChoice.splitList(list)
    if items.contains("") {
      throw UsageError("The value '\(list)' is invalid for '\(option)': there is nothing between two commas.")
    }
    var seen: Set<String> = []
    for item in items where !seen.insert(item).inserted {
      throw UsageError("The value '\(list)' is invalid for '\(option)': '\(item)' is there twice.")
    }
    return items
  }
}
