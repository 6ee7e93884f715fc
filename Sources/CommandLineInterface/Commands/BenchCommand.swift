import FleetExperiments
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// `fleetsim bench`: what an attempt costs.
///
/// One workload, once, runs in this process; more of them each in a process of its own, so that each has its own peak of
/// memory and none inherits another's heap.
struct BenchCommand {
  var workloads: [BenchmarkWorkload]
  var devices: Int
  /// As the user wrote it; nil: each workload's own.
  var durationText: String?
  var duration: Span?
  var repeats: Int
  var threads: Int
  /// Where the time series of the one workload goes.
  var seriesPath: String?
  var printsJSON: Bool
  var memory: MemoryLimit
  var environment: CommandEnvironment

  static let defaultDevices = 100_000
  private static let mostDevices = 4_000_000_000
  private static let mostRepeats = 1_000
  private static let mostRows: Int64 = 100_000

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, environment: CommandEnvironment) throws {
    self.environment = environment
    printsJSON = parsed.has("json")
    memory = try MemoryLimit(parsed)
    devices =
      try Self.count(parsed, "devices", "n", 1...Self.mostDevices, from: "1 to 4000000000")
      ?? Self.defaultDevices
    repeats =
      try Self.count(parsed, "repeat", "r", 1...Self.mostRepeats, from: "1 to \(Self.mostRepeats)") ?? 1
    threads = try Self.count(parsed, "threads", "t", 1...64, from: "1 to 64") ?? 1
    seriesPath = parsed.value("timeseries")
    workloads = try parsed.value("only").map(Self.workloads) ?? BenchmarkWorkload.all
    if seriesPath != nil, workloads.count > 1 || repeats > 1 {
      throw UsageError("'--timeseries <file>' needs one workload, run once: name it with --only.")
    }
    if let text = parsed.value("duration") {
      durationText = text
      duration = try Self.duration(text)
      for workload in workloads { _ = try scenario(workload) }
    }
  }

  private static func count(
    _ parsed: ParsedArguments, _ option: String, _ valueName: String, _ range: ClosedRange<Int>,
    from allowed: String
  ) throws -> Int? {
    guard let text = parsed.value(option) else { return nil }
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(text), range.contains(value)
    else {
      throw UsageError(
        "The value '\(text)' is invalid for '--\(option) <\(valueName)>': a whole number from \(allowed).")
    }
    return value
  }

  private static func workloads(_ list: String) throws -> [BenchmarkWorkload] {
    let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let known = BenchmarkWorkload.all.map(\.name)
    var seen: Set<String> = []
    return try names.map { name in
      guard !name.isEmpty else {
        throw UsageError(
          "The value '\(list)' is invalid for '--only <a,b,c>': there is nothing between two commas.")
      }
      guard let workload = BenchmarkWorkload.all.first(where: { $0.name == name }) else {
        let hint = nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
        throw UsageError(
          "The workload '\(name)' does not exist; there are \(known.joined(separator: ", ")).\(hint)")
      }
      guard seen.insert(name).inserted else {
        throw UsageError("The value '\(list)' is invalid for '--only <a,b,c>': '\(name)' is there twice.")
      }
      return workload
    }
  }

  private static func duration(_ text: String) throws -> Span {
    guard let span = try? Units.span(text), span >= .seconds(1), span <= Units.longestSpan else {
      throw UsageError(
        "The value '\(text)' is invalid for '--duration <span>': a span from 1s to 366d, as 20m or 2h.")
    }
    return span
  }

  private func scenario(_ workload: BenchmarkWorkload) throws -> Scenario {
    var scenario = workload.scenario(devices: devices)
    guard let duration else { return scenario }
    scenario.duration = duration
    scenario.interval = min(scenario.interval, duration)
    let rows = duration.microseconds / scenario.interval.microseconds
    guard rows <= Self.mostRows else {
      throw UsageError(
        "'--duration \(durationText ?? "")' is too long for '\(workload.name)': at most "
          + "\(FigureText.span(scenario.interval.microseconds * Self.mostRows)), \(Self.mostRows) rows of "
          + "its time series.")
    }
    return scenario
  }

  // MARK: Running

  /// - Throws: `CommandFailure`.
  func execute() throws {
    for workload in workloads {
      try memory.check(
        scenario(workload), "\(workload.name) with \(FigureText.count(devices, "device"))")
    }
    if BenchMeasurement.build == "debug", !printsJSON {
      Console.printError(
        "warning: this is a debug build, many times slower than what you use; build with -c release to measure\n"
      )
    }
    if printsJSON {
      let measurements = try workloads.map { try measure($0).json }
      return try Console.printData(JSONValue.text(.array(measurements)) + "\n")
    }
    try Console.print(heading)
    for workload in workloads { try Console.print(line(try measure(workload))) }
  }

  private func measure(_ workload: BenchmarkWorkload) throws -> BenchMeasurement {
    if workloads.count == 1, repeats == 1 {
      Interruption.endProcessAtOnce(silently: printsJSON)
      var options = RunOptions()
      options.threads = threads
      let file = try seriesPath.map { try SingleFile($0, ours: ["time_s,"], option: "--timeseries") }
      return try BenchMeasurement(
        workload: workload.name, scenario(workload), options: options, seriesFile: file,
        environment: environment)
    }
    return try BenchMeasurement(medianOf: (0..<repeats).map { _ in try measureInChild(workload) })
  }

  private func measureInChild(_ workload: BenchmarkWorkload) throws -> BenchMeasurement {
    var arguments = [
      "bench", "--only", workload.name, "--devices", String(devices), "--threads", String(threads), "--json",
    ]
    if let limit = memory.text { arguments += ["--memory-limit", limit] }
    if let durationText { arguments += ["--duration", durationText] }
    let task = "The measurement of '\(workload.name)'"
    let output = try ChildProcess.run(arguments, doing: task)
    guard let measurement = BenchMeasurement(json: output) else {
      throw CommandFailure(.internalError, "\(task) printed what cannot be read: \(output)")
    }
    return measurement
  }

  // MARK: Table

  private static let titles = [
    "workload", "attempts", "ns/attempt", "attempts/s", "peak memory", "bytes/device", "digest",
  ]
  private static let widths = [
    BenchmarkWorkload.all.map(\.name.count).max() ?? 0, 13, 10, 11, 12, 12, 12,
  ]

  private var heading: String {
    var text = FigureText.count(devices, "device")
    if let duration { text += ", \(FigureText.span(duration.microseconds))" }
    if repeats > 1 { text += ", medians of \(repeats) runs" }
    text += "; peak memory is of a process that runs this workload alone\n\n"
    let rule = Self.widths.map { String(repeating: "─", count: $0) }
    return text + Self.row(Self.titles) + Self.row(rule)
  }

  private func line(_ measurement: BenchMeasurement) -> String {
    let whole = { (value: Double?) in
      value.flatMap { Int64(exactly: $0.rounded()) }.map(FigureText.grouped) ?? "unknown"
    }
    let mebibytes = measurement.peakMemoryBytes.map { FigureText.decimal($0 / 1_048_576) + " MiB" }
    return Self.row([
      measurement.workload, FigureText.grouped(measurement.counts.attempts),
      FigureText.decimal(measurement.nanosecondsPerAttempt), whole(measurement.attemptsPerSecond),
      mebibytes ?? "unknown", whole(measurement.bytesPerDevice), String(measurement.digest.prefix(12)),
    ])
  }

  /// Names to the left, figures to the right.
  private static func row(_ cells: [String]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(cell.1 - cell.0.count, 0))
      return index == 0 ? cell.0 + padding : padding + cell.0
    }.joined(separator: "  ") + "\n"
  }
}
