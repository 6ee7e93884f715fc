import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// The arithmetic of `MemoryEstimate`, in doubles so that no fleet is too large for it.
struct MemoryModel {
  struct Amount {
    var expected: Double
    var upperBound: Double

    init(_ expected: Double, atMost upperBound: Double? = nil) {
      self.expected = expected
      self.upperBound = upperBound ?? expected
    }
    static func + (a: Amount, b: Amount) -> Amount {
      Amount(a.expected + b.expected, atMost: a.upperBound + b.upperBound)
    }
    static func * (a: Amount, factor: Int) -> Amount {
      Amount(a.expected * Double(factor), atMost: a.upperBound * Double(factor))
    }
  }
  typealias Figures = [(MemoryEstimate.Part, Amount)]

  private let scenario: Scenario
  private let shards: Int
  private let clock: WindowClock
  private let slotCount: Int
  private let rows: Double
  private let tenths: Double
  private let forecast: BacklogForecast

  init(_ scenario: Scenario, options: RunOptions) {
    self.scenario = scenario
    shards = max(options.shards, 1)
    clock = WindowClock(notLongerThan: WindowedEngine.lookAhead(scenario, asked: options.window))
    slotCount = clock.slot(of: scenario.duration.microseconds - 1) + 1
    rows = Double(RunAssembly.rowCount(scenario))
    tenths = (scenario.duration.seconds * 10).rounded(.up)
    forecast = BacklogForecast(scenario, load: NormalLoad(scenario))
  }

  // MARK: Cohorts

  /// In the fleet's order.
  func cohorts() -> [Figures] {
    let each = scenario.fleet.map { cohort in
      CohortMemory(
        cohort, in: scenario, clock: clock, slotCount: slotCount, shards: max(1, min(shards, cohort.devices)),
        rows: rows, forecast: forecast)
    }
    // Devices are laid out shard after shard, before anything but the tables exists: the largest shard's scratch counts, and
    // only if it is more than what all shards need later.
    let later = each.reduce(Amount(0)) { $0 + $1.laterParts }
    let largest = each.indices.max { each[$0].sorting < each[$1].sorting }
    return each.indices.map { index in
      var figures = each[index].figures
      if index == largest {
        let scratch = each[index].sorting
        figures.append(
          (.sorting, Amount(max(0, scratch - later.expected), atMost: max(0, scratch - later.upperBound))))
      }
      return figures
    }
  }

  // MARK: The fleet

  func fleet() -> Figures {
    let pieces = scenario.fleet.reduce(0.0) { $0 + Double(max(1, min(shards, $1.devices))) }
    let counters = rows * Double(IntervalCounters<ServerSide>.bytesPerRow)
    let offered = tenths * Double(MemoryLayout<UInt32>.stride)
    let table = pieces * Double(MemoryLayout<ShardRunner>.stride + MemoryLayout<ShardLayout>.stride)
    let touched = scenario.fleet.reduce(0.0) { sum, cohort in
      sum + CohortMemory.touchedDeliveries(rows: rows, created: created(cohort))
    }
    let reserved = rows * Double(IntervalDeliveries.bytesPerRow)
    let sums = rows * Double(IntervalCounters<DeviceSide>.bytesPerRow)
    return [
      (.server, Amount(counters + offered + table + ruleTables) + requests),
      (.results, Amount(min(touched, reserved) + sums + resultBytes, atMost: reserved + sums + resultBytes)),
    ]
  }

  /// Buckets and bits that the server keeps for each device.
  private var ruleTables: Double {
    let limits = scenario.tapi.rules.keyLimits.filter(\.isPerDevice)
    let bytes = scenario.fleet.reduce(0.0) { sum, cohort in
      let key = cohort.effectiveWriteKey
      let buckets = limits.filter { $0.key == nil || $0.key == key }.count
      return sum + Double(cohort.devices * buckets * KeyLimit.bytesPerDevice)
    }
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    return bytes + (scenario.tapi.incidents.contains { $0.kind == .tokenExpiry } ? Double(devices) / 8 : 0)
  }

  private func created(_ cohort: Cohort) -> Double {
    Double(cohort.devices) * NormalLoad.batchesPerSecond(of: cohort, over: scenario.duration)
      * scenario.duration.seconds
  }

  /// What the run's record keeps.
  var resultBytes: Double {
    rows * Double(TimeSeries.bytesPerRow) + tenths * Double(MemoryLayout<UInt32>.stride)
      + Double(Histogram.bucketCount * MemoryLayout<Int64>.stride)
  }

  /// At workers: those at work, and those that wait. An array that grows is copied.
  private var requests: Amount {
    guard case .workers(let workers) = scenario.tapi.server else { return Amount(0) }
    let request = Double(MemoryLayout<UploadRequest>.stride)
    let (limit, busy) = (
      workers.queueLimit.map(Double.init) ?? .infinity,
      Double(workers.count) * Double(scenario.tapi.largestScale) / 1e6
    )
    var sent = 0.0
    var most = 0.0
    for cohort in scenario.fleet {
      let devices = Double(cohort.devices)
      let load = NormalLoad.batchesPerSecond(of: cohort, over: scenario.duration)
      let tries = scenario.duration.seconds / max(cohort.timeout.seconds, 1e-3) + 1
      sent += devices * min(1, load * (forecast.seconds + 1))
      most += devices * tries * Double(min(cohort.uploadConcurrency, cohort.queue.limit))
    }
    // A running request has its times beside it.
    return Amount(
      min(busy, sent) * 2 * request + min(limit, sent) * 2 * request,
      atMost: (min(busy, most) * 2 + min(limit, most)) * 3 * request)
      + calls(workers.dependency, expected: min(busy, sent), atMost: min(busy, most), requests: most)
  }

  /// Of so many workers at the dependency. A call that is given up stays there, and may be repeated.
  private func calls(
    _ dependency: Dependency?, expected: Double, atMost: Double, requests: Double
  ) -> Amount {
    guard let dependency else { return Amount(0) }
    let room = dependency.queueLimit.map { Double($0 + dependency.count) } ?? .infinity
    var made = atMost
    if let timeout = dependency.timeout {
      made = min(
        requests * Double(1 + dependency.retries), atMost * (scenario.duration.seconds / timeout.seconds + 1))
    }
    let (caller, call) = (Double(Dependency.bytesPerCaller), Double(Dependency.bytesPerCall))
    return Amount(
      expected * caller + min(room, expected) * call,
      atMost: (atMost * caller * 2 + min(room, made) * call) * 3)
  }
}
