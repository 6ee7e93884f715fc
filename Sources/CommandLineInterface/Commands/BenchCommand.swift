import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioFormat
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
        try BenchMeasurement(
          workload: workload.name, scenario, options: options,
          control: control.runControl(control.add(scenario)), seriesFile: file, environment: environment)
      }
      // A single run makes nothing else that would count as its allocations.
      let first = try run()
      return repeats == 1
        ? first : try BenchMeasurement(medianOf: [first] + (1..<repeats).map { _ in try run() })
    }.value
    if workload.name != workloads[0].name { measurement.forgetMemory() }
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
    let whole = { (value: Double?) in
      value.flatMap { Int64(exactly: $0.rounded()) }.map(FigureText.grouped) ?? "–"
    }
    let mebibytes = measurement.peakMemoryBytes.map { FigureText.decimal($0 / 1_048_576) + " MiB" }
    return Self.row([
      measurement.workload, FigureText.grouped(measurement.results.attempts),
      FigureText.decimal(measurement.nanosecondsPerAttempt), whole(measurement.attemptsPerSecond),
      mebibytes ?? "–", whole(measurement.bytesPerDevice),
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
  /// How many runs `nanoseconds` is the median of.
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

  /// The median time of repeated measurements, whose results must be the same, and the memory of the first.
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
  }

  /// The most memory behind another workload's run is that of both.
  mutating func forgetMemory() { (peakMemoryBytes, runMemoryBytes) = (nil, nil) }

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
}
