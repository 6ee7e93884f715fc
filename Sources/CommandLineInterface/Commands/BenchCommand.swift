import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel

/// `fleetsim bench`: what an attempt costs.
struct BenchCommand: Command {
  static let help = CommandSpecification(
    name: "bench", abstract: "Measure what one upload attempt costs, in time and memory.",
    discussion: [
      "Runs workloads one after another and prints for each the upload attempts that reached the server, "
        + "the wall time of the run alone by attempt, the most memory that the process had resident, how much of "
        + "that the run took for each device, and the beginning of the SHA-256 of its timeseries.csv, which is the "
        + "same on every machine. Memory is that of a process's first run: of one workload alone. The server's capacity grows with "
        + "the fleet.",
      "Workloads: "
        + BenchmarkWorkload.own.map { "\($0.name) (\($0.meaning))" }.joined(separator: "; ")
        + "; preset-toggl and others (experiment 001 answered with 503, with a client of 'fleetsim presets').",
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
  @Option("only", "a,b,c", names, help: "These workloads alone. (default: all)")
  private var workloads = BenchmarkWorkload.all
  @Option(
    "duration", "span", length, help: "Virtual time of the run, as 2h. (default: each workload's own)")
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

  private static let length = ValueReader<Span>("a span from 1s to 366d, as 20m or 2h.") {
    (try? Units.span($0)).flatMap { (.seconds(1)...Units.longestSpan).contains($0) ? $0 : nil }
  }
  private static let names = ValueReader(.several(of: BenchmarkWorkload.all.map(\.name))) { list in
    try ValueReader<[String]>.words(list).map { name in
      if let workload = BenchmarkWorkload.all.first(where: { $0.name == name }) { return workload }
      throw UsageError(no: "workload", name, among: BenchmarkWorkload.all.map(\.name))
    }
  }

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

  func execute(_ environment: CommandEnvironment) throws {
    if seriesPath != nil, workloads.count > 1 || repeats > 1 {
      throw UsageError("'--timeseries <file>' needs one workload, run once: name it with --only.")
    }
    for workload in workloads {
      try memory.check(
        scenario(workload), "\(workload.name) with \(FigureText.count(devices, "device"))")
    }
    if BenchMeasurement.build == "debug", !printsJSON {
      environment.console.printError(
        "warning: this is a debug build, many times slower than what you use; build with -c release to measure\n"
      )
    }
    if !printsJSON { try environment.console.print(heading) }
    var measured: [JSONValue] = []
    for workload in workloads {
      let measurement = try measure(workload, environment)
      if printsJSON {
        measured.append(measurement.json)
      } else {
        try environment.console.print(line(measurement))
      }
    }
    if printsJSON { try environment.console.printData(JSONValue.text(.array(measured)) + "\n") }
  }

  private func measure(
    _ workload: BenchmarkWorkload, _ environment: CommandEnvironment
  ) throws -> BenchMeasurement {
    var options = RunOptions()
    options.threads = threads
    let file = try seriesPath.map {
      try SingleFile($0, ours: ["time_s,"], option: "--timeseries", environment.files)
    }
    let scenario = try scenario(workload)
    var measurement = try environment.inBackground(showsProgress: false) { [options, repeats] control in
      func run() throws -> BenchMeasurement {
        let control = control.runControl(control.add(scenario))
        return try BenchMeasurement(workload.name, scenario, options, control, file, environment)
      }
      // A single run makes nothing else that would count as its allocations.
      var measurement = try run()
      if repeats > 1 { try measurement.takeMedian(of: (1..<repeats).map { _ in try run() }) }
      return measurement
    }.value
    // The most memory behind another workload's run is that of both.
    if workload.name != workloads[0].name {
      (measurement.peakMemoryBytes, measurement.runMemoryBytes) = (nil, nil)
    }
    return measurement
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
    return text + "\n\n" + Self.row(Self.columns.map(\.title))
      + Self.row(Self.columns.map { String(repeating: "─", count: $0.width) })
  }

  private func line(_ measurement: BenchMeasurement) -> String {
    func text(_ value: Double?) -> String { BenchMeasurement.whole(value).map(FigureText.grouped) ?? "–" }
    let mebibytes = measurement.peakMemoryBytes.map { FigureText.decimal($0 / 1_048_576) + " MiB" }
    return Self.row([
      measurement.workload, FigureText.grouped(measurement.totals.attempts),
      FigureText.decimal(measurement.nanosecondsPerAttempt), text(measurement.attemptsPerSecond),
      mebibytes ?? "–", text(measurement.bytesPerDevice), String(measurement.digest.prefix(12)),
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

struct BenchMeasurement: Sendable {
  var workload: String
  var scenario: Scenario
  /// How many runs `nanoseconds` is the median of.
  var repeats = 1
  var totals: MeasureTotals
  /// SHA-256 of `timeseries.csv` and of `delivery_histogram.csv`, as `run.json` has them.
  var digest: String
  var deliveryDigest: String
  /// Wall time of the run alone.
  var nanoseconds: Double
  /// The most memory that the process had resident; nil where the system does not say.
  var peakMemoryBytes: Double?
  /// The same less what it had before the run.
  var runMemoryBytes: Double?

  var nanosecondsPerAttempt: Double { nanoseconds / Double(totals.attempts) }
  var attemptsPerSecond: Double { Double(totals.attempts) * 1e9 / nanoseconds }
  var bytesPerDevice: Double? { runMemoryBytes.map { $0 / Double(scenario.devices) } }

  /// Runs the scenario in this process.
  init(
    _ workload: String, _ scenario: Scenario, _ options: RunOptions, _ control: RunControl,
    _ seriesFile: SingleFile?, _ environment: CommandEnvironment
  ) throws {
    (self.workload, self.scenario) = (workload, scenario)
    let memoryBefore = SystemMemory.peakBytes
    let started = environment.monotonicSeconds()
    let record = try Simulation.run(scenario, options: options, control: control)
    nanoseconds = (environment.monotonicSeconds() - started) * 1e9
    peakMemoryBytes = SystemMemory.peakBytes.map(Double.init)
    if let peakMemoryBytes, let memoryBefore { runMemoryBytes = peakMemoryBytes - Double(memoryBefore) }
    let series = TimeSeriesCSV.bytes(of: record.series)
    (totals, digest) = (record.series.totals, SHA256.hexadecimal(series))
    deliveryDigest = SHA256.hexadecimal(HistogramCSV.bytes(of: record.deliveries))
    try seriesFile?.write(String(decoding: series, as: UTF8.self))
  }

  /// Takes the median time of this run and others; the memory stays that of this one.
  /// - Throws: `CommandFailure` 70 if their results are not the same.
  mutating func takeMedian(of others: [BenchMeasurement]) throws(CommandFailure) {
    for other in others where (other.digest, other.deliveryDigest) != (digest, deliveryDigest) {
      throw CommandFailure(
        .internalError,
        "Two runs of '\(workload)' with \(FigureText.count(scenario.devices, "device")) gave different results "
          + "(timeseries.csv \(digest) and \(other.digest)); please report it.")
    }
    repeats = 1 + others.count
    let times = ([nanoseconds] + others.map(\.nanoseconds)).sorted()
    // For an even number the mean of the two in the middle.
    nanoseconds = (times[(repeats - 1) / 2] + times[repeats / 2]) / 2
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
      ("devices", scenario.devices.json),
      ("duration_s", .decimal(Double(scenario.duration.microseconds) / 1e6)),
      ("repeats", repeats.json),
      ("attempts", totals.attempts.json),
      ("answers_2xx", totals[.answers2xx].json),
      ("answers_429", totals[.answers429].json),
      ("answers_503", totals[.answers503].json),
      ("run_ns", Self.whole(nanoseconds).json),
      ("ns_per_attempt", .decimal(nanosecondsPerAttempt)),
      ("attempts_per_second", .decimal(attemptsPerSecond)),
      ("peak_memory_bytes", Self.whole(peakMemoryBytes).json),
      ("run_memory_bytes", Self.whole(runMemoryBytes).json),
      ("estimated_memory_bytes", MemoryEstimate(scenario).expected.json),
      ("bytes_per_device", .decimal(bytesPerDevice ?? .nan)),
      ("digest", .string(digest)),
      ("delivery_digest", .string(deliveryDigest)),
      ("version", .string(CommandLineTool.version)),
      ("build", .string(Self.build)),
    ])
  }

  static func whole(_ value: Double?) -> Int64? { value.flatMap { Int64(exactly: $0.rounded()) } }
}
