/// One point of a stability map as `stability.csv` has it.
public struct StabilityRow: Sendable, Hashable {
  /// The two parameters' values as a scenario writes them.
  public var x: String
  public var y: String
  /// The same as numbers in base units: seconds, per second, bytes, shares of 1.
  public var xValue: Double?
  public var yValue: Double?
  /// `recovers`, `never recovers`, `undecided` or `overloaded`.
  public var kind: String
  public var seeds: Int64 = 0
  public var healthySeeds: Int64 = 0
  public var recoveredSeeds: Int64 = 0
  /// The 95 % interval of the chance to recover, and the runs that it is from.
  public var low = 0.0
  public var high = 1.0
  public var runs: Int64 = 0
  /// Microseconds, over the seeds that recovered.
  public var meanRecovery: Int64?
  public var longestRecovery: Int64?
  public var lostEvents: Double = 0
  public var peakOfferedRatio: Double?
  /// Microseconds.
  public var timeToDeliveryP99: Double?

  public init(x: String, y: String, kind: String) {
    self.x = x
    self.y = y
    self.kind = kind
  }
}

/// `stability.csv`: a row per point.
public enum StabilityCSV {
  /// The file's columns in order.
  public static let columns: [CSVColumn<StabilityRow>] = [
    .init("x", "", "Value of the first parameter.") { .text($0.x) },
    .init("y", "", "Value of the second parameter.") { .text($0.y) },
    .init(
      "class", "",
      "`recovers`: the interval is above 1 − risk; `never recovers`: below the risk; else `undecided`. `overloaded`: nor does the twin hold."
    ) { .text($0.kind) },
    .init("seeds", "runs", "Runs of this point.") { .integer($0.seeds) },
    .init("healthy_seeds", "runs", "Of these: the twin holds its load.") { .integer($0.healthySeeds) },
    .init("recovered_seeds", "runs", "Of these: recovered within the run.") { .integer($0.recoveredSeeds) },
    .init("recovered_low_95_ratio", "1", "Lower end of the 95 % interval of the chance to recover (Wilson).")
    {
      .decimal($0.low)
    },
    .init("recovered_high_95_ratio", "1", "Upper end of that interval.") { .decimal($0.high) },
    .init(
      "interval_seeds", "runs",
      "Runs that the interval is from: this point's, and where all neighbouring points did the same in every run theirs too."
    ) { .integer($0.runs) },
    .init("recovery_mean_s", "s", "Recovery time, mean over the runs that recovered; empty if none did.") {
      .seconds($0.meanRecovery)
    },
    .init("recovery_max_s", "s", "The same, the longest.") { .seconds($0.longestRecovery) },
    .init("lost_events", "events", "Events lost, mean over the runs.") { .decimal($0.lostEvents) },
    .init("peak_offered_ratio", "1", "Peak load, mean over the runs.") { .decimal($0.peakOfferedRatio) },
    .init("time_to_delivery_p99_s", "s", "99th percentile of the time to delivery, mean over the runs.") {
      .decimal($0.timeToDeliveryP99.map { $0 / 1_000_000 }, decimals: 6)
    },
    .init(
      "x_value", "parameter's",
      "The first parameter as a number: a span in s, a rate per s, a share of 1, a size in bytes."
    ) { .decimal($0.xValue, decimals: 6) },
    .init("y_value", "parameter's", "The same of the second.") { .decimal($0.yValue, decimals: 6) },
  ]

  /// The whole file, a row per point in the order given.
  public static func bytes(of rows: [StabilityRow]) -> [UInt8] { CSVFile.bytes(columns, rows) }
}
