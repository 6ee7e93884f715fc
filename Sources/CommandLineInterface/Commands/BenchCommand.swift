import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// `fleetsim bench`: what an attempt costs.
///
/// A single workload that is run once runs in this process. Any more each get a process of their own, so that each has
/// its own peak of memory and none inherits another's heap.
struct BenchCommand: Command {
  static let help = CommandSpecification(
    name: "bench", abstract: "Measure what one upload attempt costs, in time and memory.",
    discussion: [
      "Runs workloads one after another and prints for each the upload attempts that reached the server, "
        + "the wall time of the run alone by attempt, the most memory that its process had resident, how much of "
        + "that the run took for each device, and the beginning of the SHA-256 of its timeseries.csv, which is the "
        + "same on every machine. The server's capacity grows with the fleet.",
      "Workloads: "
        + BenchmarkWorkload.all.map { "\($0.name) (\($0.meaning))" }.joined(separator: "; ") + ".",
    ],
    examples: [
      .init("fleetsim bench", "Every workload with \(FigureText.grouped(Int64(defaultDevices))) devices:"),
      .init(
        "fleetsim bench --only herd-1-150 --devices 1000000 --repeat 5",
        "The reference workload, medians of five:"),
      .init(
        "fleetsim bench --only herd-1-150 --devices 10000000 --threads 2 --timeseries herd.csv",
        "Ten million devices on two threads (1.2 GB), with the time series:"),
    ])

  private static let defaultDevices = 100_000
  private static let mostRows: Int64 = 100_000

  @Option("devices", "n", .count(1...4_000_000_000), help: "Devices in the fleet.")
  private var devices = defaultDevices
  @Option("only", "a,b,c", .workloads, help: "These workloads alone. (default: all)")
  private var workloads = BenchmarkWorkload.all
  @Option(
    "duration", "span", .runDuration, help: "Virtual time of the run, as 2h. (default: each workload's own)")
  private var duration: Span?
  @Option(
    "repeat", "r", .count(1...1_000),
    help: "Run each so often and print medians; all must agree in results.")
  private var repeats = 1
  @Option(.memoryLimit) private var memory: MemoryLimit
  @Option("threads", "t", .count(1...64), help: "Threads that run the devices of a run.")
  private var threads = 1
  @Option(
    "timeseries", "file", .text,
    help: "Write the time series of the one workload, as run does into timeseries.csv.")
  private var seriesPath: String?
  @Flag("json", help: "Print a JSON array with an object for each workload, digests in full.")
  private var printsJSON: Bool

  private func scenario(_ workload: BenchmarkWorkload) throws -> Scenario {
    var scenario = workload.scenario(devices: devices)
    guard let duration else { return scenario }
    scenario.duration = duration
    scenario.interval = min(scenario.interval, duration)
    let rows = duration.microseconds / scenario.interval.microseconds
    guard rows <= Self.mostRows else {
      throw UsageError(
        "'\($duration.words.joined(separator: " "))' is too long for '\(workload.name)': at most "
          + "\(FigureText.span(scenario.interval.microseconds * Self.mostRows)), \(Self.mostRows) rows of "
          + "its time series.")
    }
    return scenario
  }

  // MARK: Running

  func execute(_ invocation: Invocation) throws {
    if seriesPath != nil, workloads.count > 1 || repeats > 1 {
      throw UsageError("'--timeseries <file>' needs one workload, run once: name it with --only.")
    }
    let environment = invocation.environment
    for workload in workloads {
      try memory.check(
        scenario(workload), "\(workload.name) with \(FigureText.count(devices, "device"))")
    }
    if BenchMeasurement.build == "debug", !printsJSON {
      environment.console.printError(
        "warning: this is a debug build, many times slower than what you use; build with -c release to measure\n"
      )
    }
    if printsJSON {
      let measured = JSONValue.array(try workloads.map { try measure($0, environment).json })
      return try environment.console.printData(JSONValue.text(measured) + "\n")
    }
    try environment.console.print(heading)
    for workload in workloads { try environment.console.print(line(try measure(workload, environment))) }
  }

  private func measure(
    _ workload: BenchmarkWorkload, _ environment: CommandEnvironment
  ) throws -> BenchMeasurement {
    if workloads.count == 1, repeats == 1 {
      var options = RunOptions()
      options.threads = threads
      let file = try seriesPath.map {
        try SingleFile($0, ours: ["time_s,"], option: "--timeseries", environment.files)
      }
      let scenario = try scenario(workload)
      // Another process tells of a signal.
      return try environment.inBackground(remains: printsJSON ? nil : Signals.nothing, showsProgress: false) {
        [options] control in
        try BenchMeasurement(
          workload: workload.name, scenario, options: options,
          control: control.runControl(control.add(scenario)), seriesFile: file, environment: environment)
      }.value
    }
    return try BenchMeasurement(
      medianOf: (0..<repeats).map { _ in try measureInChild(workload, environment) })
  }

  private func measureInChild(
    _ workload: BenchmarkWorkload, _ environment: CommandEnvironment
  ) throws -> BenchMeasurement {
    var arguments = [
      "bench", "--only", workload.name, "--devices", String(devices), "--threads", String(threads), "--json",
    ]
    if let limit = memory.text { arguments += ["--memory-limit", limit] }
    arguments += $duration.words
    let task = "The measurement of '\(workload.name)'"
    let output = try environment.run(arguments, doing: task)
    if let measurement = BenchMeasurement(json: output) { return measurement }
    throw CommandFailure(.internalError, "\(task) printed what cannot be read: \(output)")
  }

  // MARK: Table

  private static let columns: [(title: String, width: Int)] = [
    ("workload", BenchmarkWorkload.all.map(\.name.count).max() ?? 0), ("attempts", 13), ("ns/attempt", 10),
    ("attempts/s", 11), ("peak memory", 12), ("bytes/device", 12), ("digest", 12),
  ]

  private var heading: String {
    var text = FigureText.count(devices, "device")
    if let duration { text += ", \(FigureText.span(duration.microseconds))" }
    if repeats > 1 { text += ", medians of \(repeats) runs" }
    text += "; peak memory is of a process that runs this workload alone\n\n"
    return text + Self.row(Self.columns.map(\.title))
      + Self.row(Self.columns.map { String(repeating: "─", count: $0.width) })
  }

  private func line(_ measurement: BenchMeasurement) -> String {
    let whole = { (value: Double?) in
      value.flatMap { Int64(exactly: $0.rounded()) }.map(FigureText.grouped) ?? "unknown"
    }
    let mebibytes = measurement.peakMemoryBytes.map { FigureText.decimal($0 / 1_048_576) + " MiB" }
    return Self.row([
      measurement.workload, FigureText.grouped(measurement.results.attempts),
      FigureText.decimal(measurement.nanosecondsPerAttempt), whole(measurement.attemptsPerSecond),
      mebibytes ?? "unknown", whole(measurement.bytesPerDevice),
      String(measurement.results.digest.prefix(12)),
    ])
  }

  /// Names to the left, figures to the right.
  private static func row(_ cells: [String]) -> String {
    zip(cells, columns).enumerated().map { index, cell in
      let padded = cell.0.padded(to: cell.1.width)
      return index == 0 ? padded : padded.dropFirst(cell.0.count) + cell.0
    }.joined(separator: "  ") + "\n"
  }
}

extension ValueReader where Value == Span {
  fileprivate static let runDuration = ValueReader("a span from 1s to 366d, as 20m or 2h.") {
    (try? Units.span($0)).flatMap { (.seconds(1)...Units.longestSpan).contains($0) ? $0 : nil }
  }
}

extension ValueReader where Value == [BenchmarkWorkload] {
  private static let workloadNames = BenchmarkWorkload.all.map(\.name)
  fileprivate static let workloads = ValueReader(.several(of: workloadNames)) { list in
    try ValueReader<[String]>.words(list).map { name in
      if let workload = BenchmarkWorkload.all.first(where: { $0.name == name }) { return workload }
      throw UsageError(no: "workload", name, among: workloadNames)
    }
  }
}

struct BenchMeasurement: Sendable {
  var workload: String
  var devices: Int64
  /// Virtual microseconds of the run.
  var duration: Int64
  /// How many runs `nanoseconds` and the memory are the medians of.
  var repeats = 1
  var results: Results
  /// Wall time of the run alone.
  var nanoseconds: Double
  /// The most memory that the process had resident; nil where the system does not say.
  var peakMemoryBytes: Double?
  /// The same less what it had before the run.
  var runMemoryBytes: Double?
  /// The estimate that `MemoryEstimate` makes beforehand.
  var estimatedMemoryBytes: Int64

  /// What does not depend on the machine.
  struct Results: Hashable, Sendable {
    var attempts: Int64
    var answers2xx: Int64
    var answers429: Int64
    var answers503: Int64
    /// SHA-256 of `timeseries.csv` and of `delivery_histogram.csv`, as `run.json` has them.
    var digest: String
    var deliveryDigest: String
  }

  var nanosecondsPerAttempt: Double { nanoseconds / Double(results.attempts) }
  var attemptsPerSecond: Double { Double(results.attempts) * 1e9 / nanoseconds }
  var bytesPerDevice: Double? { runMemoryBytes.map { $0 / Double(devices) } }

  /// Runs the scenario in this process.
  init(
    workload: String, _ scenario: Scenario, options: RunOptions, control: RunControl, seriesFile: SingleFile?,
    environment: CommandEnvironment
  ) throws {
    estimatedMemoryBytes = MemoryEstimate(scenario).expected
    let memoryBefore = SystemMemory.peakBytes
    let started = environment.monotonicSeconds()
    let record = try Simulation.run(scenario, options: options, control: control)
    nanoseconds = (environment.monotonicSeconds() - started) * 1e9
    peakMemoryBytes = SystemMemory.peakBytes.map(Double.init)
    if let peakMemoryBytes, let memoryBefore { runMemoryBytes = peakMemoryBytes - Double(memoryBefore) }
    self.workload = workload
    devices = record.devices
    duration = scenario.duration.microseconds
    let (totals, series) = (record.series.totals, TimeSeriesCSV.bytes(of: record.series))
    results = Results(
      attempts: totals.attempts, answers2xx: totals[.answers2xx], answers429: totals[.answers429],
      answers503: totals[.answers503], digest: SHA256.hexadecimal(series),
      deliveryDigest: SHA256.hexadecimal(HistogramCSV.bytes(of: record.deliveries)))
    try seriesFile?.write(String(decoding: series, as: UTF8.self))
  }

  /// The medians of repeated measurements, whose results must be the same.
  /// - Throws: `CommandFailure` 70 if they are not.
  init(medianOf runs: [BenchMeasurement]) throws(CommandFailure) {
    self = runs[0]
    if let other = runs.first(where: { $0.results != results }) {
      throw CommandFailure(
        .internalError,
        "Two runs of '\(workload)' with \(FigureText.count(devices, "device")) gave different results "
          + "(timeseries.csv \(results.digest) and \(other.results.digest)); please report it.")
    }
    repeats = runs.count
    nanoseconds = Self.median(runs.map(\.nanoseconds))
    // The system says it of all or of none.
    peakMemoryBytes = peakMemoryBytes.map { _ in Self.median(runs.compactMap(\.peakMemoryBytes)) }
    runMemoryBytes = runMemoryBytes.map { _ in Self.median(runs.compactMap(\.runMemoryBytes)) }
  }

  /// Returns the value in the middle; for an even number of values the mean of the two in the middle.
  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  // MARK: JSON

  #if DEBUG
    static let build = "debug"
  #else
    static let build = "release"
  #endif

  var json: JSONValue {
    .object([
      ("workload", .string(workload)),
      ("devices", .integer(devices)),
      ("duration_s", .decimal(Double(duration) / 1e6)),
      ("repeats", .integer(Int64(repeats))),
      ("attempts", .integer(results.attempts)),
      ("answers_2xx", .integer(results.answers2xx)),
      ("answers_429", .integer(results.answers429)),
      ("answers_503", .integer(results.answers503)),
      ("run_ns", Self.whole(nanoseconds)),
      ("ns_per_attempt", .decimal(nanosecondsPerAttempt)),
      ("attempts_per_second", .decimal(attemptsPerSecond)),
      ("peak_memory_bytes", Self.whole(peakMemoryBytes)),
      ("run_memory_bytes", Self.whole(runMemoryBytes)),
      ("estimated_memory_bytes", .integer(estimatedMemoryBytes)),
      ("bytes_per_device", .decimal(bytesPerDevice ?? .nan)),
      ("digest", .string(results.digest)),
      ("delivery_digest", .string(results.deliveryDigest)),
      ("version", .string(CommandLineTool.version)),
      ("build", .string(Self.build)),
    ])
  }

  /// null if it is not known.
  private static func whole(_ value: Double?) -> JSONValue {
    value.flatMap { Int64(exactly: $0.rounded()) }.map(JSONValue.integer) ?? .decimal(.nan)
  }

  /// Reads what `json` wrote in another process; nil: it is something else.
  init?(json text: String) {
    guard let object = (try? JSON5Parser.parse(text))?.elements?.first else { return nil }
    func number(_ key: String) -> Double? {
      if case .number(let text)? = object[key]?.content { Double(text) } else { nil }
    }
    func whole(_ key: String) -> Int64 { Int64(number(key) ?? 0) }
    guard let workload = object["workload"]?.text, let digest = object["digest"]?.text,
      let deliveryDigest = object["delivery_digest"]?.text
    else { return nil }
    self.workload = workload
    devices = whole("devices")
    duration = Int64(((number("duration_s") ?? 0) * 1e6).rounded())
    results = Results(
      attempts: whole("attempts"), answers2xx: whole("answers_2xx"), answers429: whole("answers_429"),
      answers503: whole("answers_503"), digest: digest, deliveryDigest: deliveryDigest)
    nanoseconds = number("run_ns") ?? 0
    peakMemoryBytes = number("peak_memory_bytes")
    runMemoryBytes = number("run_memory_bytes")
    estimatedMemoryBytes = whole("estimated_memory_bytes")
  }
}
