import FleetExperiments
import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel

/// What `fleetsim bench` found out about one workload.
struct BenchMeasurement {
  var workload: String
  var devices: Int64
  /// Virtual microseconds of the run.
  var duration: Int64
  /// How many runs `nanoseconds` and the memory are the medians of.
  var repeats = 1
  var counts: Counts
  /// Wall time of the run alone.
  var nanoseconds: Double
  /// The most memory that the process had resident; nil where the system does not say.
  var peakMemoryBytes: Double?
  /// The same less what it had before the run.
  var runMemoryBytes: Double?
  /// What `MemoryEstimate` says of it beforehand: its forecast and its upper bound.
  var estimatedMemoryBytes: Int64
  var memoryBoundBytes: Int64
  /// SHA-256 of `timeseries.csv` and of `delivery_histogram.csv`, as `run.json` has them.
  var digest: String
  var deliveryDigest: String

  struct Counts: Hashable {
    var attempts: Int64
    var answers2xx: Int64
    var answers429: Int64
    var answers503: Int64
  }

  var nanosecondsPerAttempt: Double { nanoseconds / Double(counts.attempts) }
  var attemptsPerSecond: Double { Double(counts.attempts) * 1e9 / nanoseconds }
  var bytesPerDevice: Double? { runMemoryBytes.map { $0 / Double(devices) } }

  /// Runs the scenario in this process, on this thread.
  init(
    workload: String, _ scenario: Scenario, options: RunOptions, seriesFile: SingleFile?,
    environment: CommandEnvironment
  ) throws {
    let estimate = MemoryEstimate(scenario)
    estimatedMemoryBytes = estimate.expected
    memoryBoundBytes = estimate.upperBound
    let memoryBefore = ProcessMemory.peakBytes
    let started = environment.monotonicSeconds()
    let record = try Simulation.run(scenario, options: options)
    nanoseconds = (environment.monotonicSeconds() - started) * 1e9
    peakMemoryBytes = ProcessMemory.peakBytes.map(Double.init)
    if let peakMemoryBytes, let memoryBefore { runMemoryBytes = peakMemoryBytes - Double(memoryBefore) }
    self.workload = workload
    devices = record.devices
    duration = scenario.duration.microseconds
    let totals = record.series.totals
    counts = Counts(
      attempts: totals.attempts, answers2xx: totals[.answers2xx], answers429: totals[.answers429],
      answers503: totals[.answers503])
    let series = TimeSeriesCSV.bytes(of: record.series)
    digest = SHA256.hexadecimal(series)
    try seriesFile?.write(String(decoding: series, as: UTF8.self))
    deliveryDigest = SHA256.hexadecimal(HistogramCSV.bytes(of: record.deliveries))
  }

  /// The medians of repeated measurements, which must agree in everything that does not depend on the machine.
  /// - Throws: `CommandFailure` 70 if they do not.
  init(medianOf runs: [BenchMeasurement]) throws(CommandFailure) {
    self = runs[0]
    for run in runs
    where run.digest != digest || run.deliveryDigest != deliveryDigest || run.counts != counts {
      throw CommandFailure(
        .internalError,
        "Two runs of '\(workload)' with \(FigureText.count(devices, "device")) gave different results (timeseries.csv \(digest) and "
          + "\(run.digest)); please report it.")
    }
    repeats = runs.count
    nanoseconds = Self.median(runs.map(\.nanoseconds))
    peakMemoryBytes =
      runs.allSatisfy { $0.peakMemoryBytes != nil } ? Self.median(runs.compactMap(\.peakMemoryBytes)) : nil
    runMemoryBytes =
      runs.allSatisfy { $0.runMemoryBytes != nil } ? Self.median(runs.compactMap(\.runMemoryBytes)) : nil
  }

  /// Of an even number the mean of the two in the middle.
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
      ("attempts", .integer(counts.attempts)),
      ("answers_2xx", .integer(counts.answers2xx)),
      ("answers_429", .integer(counts.answers429)),
      ("answers_503", .integer(counts.answers503)),
      ("run_ns", Self.whole(nanoseconds)),
      ("ns_per_attempt", .decimal(nanosecondsPerAttempt)),
      ("attempts_per_second", .decimal(attemptsPerSecond)),
      ("peak_memory_bytes", Self.whole(peakMemoryBytes)),
      ("run_memory_bytes", Self.whole(runMemoryBytes)),
      ("estimated_memory_bytes", .integer(estimatedMemoryBytes)),
      ("memory_bound_bytes", .integer(memoryBoundBytes)),
      ("bytes_per_device", .decimal(bytesPerDevice ?? .nan)),
      ("digest", .string(digest)),
      ("delivery_digest", .string(deliveryDigest)),
      ("version", .string(CommandLineTool.version)),
      ("build", .string(Self.build)),
    ])
  }

  /// null if it is not known.
  private static func whole(_ value: Double?) -> JSONValue {
    value.flatMap { Int64(exactly: $0.rounded()) }.map(JSONValue.integer) ?? .decimal(.nan)
  }

  /// Reads what `json` wrote in another process; nil for anything else.
  init?(json text: String) {
    guard let tree = try? JSON5Parser.parse(text), let elements = tree.elements,
      elements.count == 1
    else {
      return nil
    }
    func string(_ key: String) -> String? {
      if let text = elements[0][key]?.text { text } else { nil }
    }
    func number(_ key: String) -> Double? {
      if case .number(let text)? = elements[0][key]?.content { Double(text) } else { nil }
    }
    func integer(_ key: String) -> Int64? {
      if case .number(let text)? = elements[0][key]?.content { Int64(text) } else { nil }
    }
    guard let workload = string("workload"), let devices = integer("devices"),
      let seconds = number("duration_s"),
      let attempts = integer("attempts"), let ok = integer("answers_2xx"),
      let limited = integer("answers_429"),
      let unavailable = integer("answers_503"), let nanoseconds = number("run_ns"),
      let estimated = integer("estimated_memory_bytes"), let bound = integer("memory_bound_bytes"),
      let digest = string("digest"),
      let deliveryDigest = string("delivery_digest")
    else { return nil }
    self.workload = workload
    self.devices = devices
    duration = Int64((seconds * 1e6).rounded())
    counts = Counts(attempts: attempts, answers2xx: ok, answers429: limited, answers503: unavailable)
    self.nanoseconds = nanoseconds
    peakMemoryBytes = number("peak_memory_bytes")
    runMemoryBytes = number("run_memory_bytes")
    estimatedMemoryBytes = estimated
    memoryBoundBytes = bound
    self.digest = digest
    self.deliveryDigest = deliveryDigest
  }
}
