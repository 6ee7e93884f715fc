import FleetExperiments
import FleetMetrics
import ScenarioModel
import SimulationKernel
import Synchronization
import TestSupport

/// Keeps runs in memory, as a directory does on disk.
final class MemoryStore: RunStore {
  let results = 1
  private let state:
    Mutex<(files: [String: [UInt8]], kept: [String: Int], order: [String], damaged: [String])>

  init(_ files: [String: [UInt8]] = [:]) { state = Mutex((files, [:], [], [])) }

  /// What a process leaves that is killed after so many runs.
  func cutOff(after count: Int) -> MemoryStore {
    state.withLock { state in MemoryStore(state.files.filter { state.order.prefix(count).contains($0.key) }) }
  }

  var files: [String: [UInt8]] {
    get { state.withLock { $0.files } }
    set { state.withLock { $0.files = newValue } }
  }
  /// How often each was kept.
  var kept: [String: Int] { state.withLock { $0.kept } }
  var damaged: [String] { state.withLock { $0.damaged } }

  func read(_ file: String) -> [UInt8]? { state.withLock { $0.files[file] } }
  func write(_ file: String, _ bytes: [UInt8]) {
    state.withLock { state in
      state.files[file] = bytes
      if state.kept[file] == nil { state.order.append(file) }
      state.kept[file, default: 0] += 1
    }
  }
  func warn(_ file: String, _ problem: StoredRecord.Problem) { state.withLock { $0.damaged.append(file) } }
}

/// Stands in for the engine, and keeps which scenarios were run.
final class CountingEngine: Sendable {
  private let made = Mutex<[Scenario]>([])
  private let engine: Comparison.Engine

  init(_ engine: @escaping Comparison.Engine) { self.engine = engine }

  var runs: [Scenario] { made.withLock { $0 } }
  var stand: Comparison.Engine {
    { scenario, options, control in
      self.made.withLock { $0.append(scenario) }
      return try self.engine(scenario, options, control)
    }
  }
}

/// The records of a CSV file in which no cell is quoted, each by column.
func records(_ csv: [UInt8]) -> [[String: String]] {
  let rows = String(decoding: csv, as: UTF8.self).split(separator: "\n").map {
    $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
  return rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
}

extension Runs where Value == RunSummary {
  /// Runs whose summaries are a formula of the scenario, for searches that can be looked through.
  static func planted(
    in store: (any RunStore)? = nil, _ summary: @escaping @Sendable (Scenario) throws -> RunSummary
  ) -> Runs {
    var record = RunRecord.planted(TimeSeries(interval: 1, duration: 0, rows: 0))
    // Limits on retries count in the formula.
    record.reachedRetryLimit = true
    let recording = Recording(references: .none, text: Recording.summary.text) { scenario, _, _ in
      try summary(scenario)
    }
    return Runs(recording, in: store, workers: 1, engine: { [record] _, _, _ in record })
  }
}

extension RunSummary {
  /// A run that is watched for `horizon` seconds after its incident; nil: it has none. It recovers after `recovery` seconds; nil: never.
  static func planted(
    _ name: String = "", seed: UInt64 = 1, recovery: Double? = nil, within horizon: Double?, lost: Int64 = 0,
    of created: Int64 = 0
  ) -> RunSummary {
    var run = RunSummary(run: name, seed: seed)
    run.hasIncidents = horizon != nil
    run.recoveryHorizon = horizon.map { Int64($0 * 1e6) }
    run.recoveryTime = recovery.map { Int64($0 * 1e6) }
    (run[.createdEvents], run[.droppedByRetryLimit]) = (created, lost)
    run.affectedEvents = created
    return run
  }
}

extension RunRecord {
  static func planted(_ series: TimeSeries, devices: Int64 = 1) -> RunRecord {
    RunRecord(
      series: series, deliveries: Histogram(), offeredPer100ms: [], nominalCapacityMilli: 1_000_000,
      incidents: [], devices: devices, longestFlushInterval: 0, cost: DeviceCost())
  }
}

extension SeededGenerator {
  mutating func uniform() -> Double { Double(next() >> 11) / Double(1 << 53) }
  mutating func normal() -> Double {
    // A loop that is fast without optimisation.
    var (sum, left) = (-6.0, 12)
    while left > 0 {
      sum += uniform()
      left -= 1
    }
    return sum
  }
  mutating func poisson(_ mean: Double) -> Int64 {
    guard mean > 0 else { return 0 }
    var (count, left) = (Int64(0), mean)
    while true {
      left += DeterministicMath.log(uniform() + 1e-300)
      if left < 0 { return count }
      count += 1
    }
  }
}
