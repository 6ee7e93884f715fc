import FleetExperiments
import FleetMetrics
import TestSupport

/// Records that look like runs, made without the engine: an outage from 20 to 30 min, waves of retries after
/// it.
enum SyntheticFleet {
  static let second: Int64 = 1_000_000

  /// - Parameter wave: how well the strategy keeps the devices together, 0 … 1.
  static func result(
    _ name: String, wave: Double, rows: Int = 7_200, loses: Bool = false, outage: Range<Int>? = 1_200..<1_800
  ) -> VariantResult {
    let twin = record(rows: rows, wave: 0, loses: false, outage: nil)
    let run = record(rows: rows, wave: wave, loses: loses, outage: outage)
    let summary = RunAnalysis.summary(of: run, ReferenceRuns(twin: twin), name: name, seed: 1)
    return VariantResult(name: name, record: run, references: ReferenceRuns(twin: twin), summary: summary)
  }

  /// So many seeds of each name, which differ in what is changed alone.
  static func trial(_ names: [String], seeds: UInt64, _ change: (inout RunSummary) -> Void = { _ in })
    -> Trial
  {
    var trial = Trial(variants: names, plan: ReplicationPlan(firstSeed: 1, count: Int(seeds)))
    let same = result("", wave: 0.5, rows: 2_400)
    for seed in 1...seeds {
      trial.add(
        names.map { name in
          var result = same
          (result.name, result.summary.run, result.summary.seed) = (name, name, seed)
          change(&result.summary)
          return result
        })
    }
    return trial
  }

  static func record(rows: Int, wave: Double, loses: Bool, outage: Range<Int>?) -> RunRecord {
    var random = SeededGenerator(seed: 42)
    func noise(_ spread: Int64) -> Int64 { .random(in: -spread...spread, using: &random) }
    let capacity: Int64 = 1_200
    var series = TimeSeries(interval: second, duration: Int64(rows) * second, rows: rows)
    var steps: [UInt32] = []
    var deliveries = Histogram()
    var backlog: Int64 = 60_000
    var attempts: Int64 = 0
    for i in 0..<rows {
      let isOut = outage?.contains(i) ?? false
      let after = outage.map { i - $0.upperBound } ?? -1
      series[i, .createdEvents] = 2_000 + noise(120)
      series[i, .firstAttempts] = 600 + noise(60)
      let excess = max(backlog - 60_000, 0)
      if isOut {
        series[i, .retries] = 400 + noise(80)
      } else if after >= 0 && excess > 0 {
        // A wave every 300 s, as wide as the jitter is.
        let period = 300
        let width = max(Int(Double(period) * (1 - wave)), 4)
        let isWave = after % period < width
        series[i, .retries] =
          isWave ? min(excess / Int64(width), 40_000) / 3 + noise(30) + 40 : max(noise(30), 0)
      }
      series[i, .capacityMilliRequests] = isOut ? 0 : capacity * 1_000
      series[i, .acceptedBatches] = isOut ? 0 : min(series.rows[i].attempts, capacity)
      series[i, .answers2xx] = series[i, .acceptedBatches]
      series[i, .answers503] = isOut ? 0 : series.rows[i].attempts - series[i, .acceptedBatches]
      series[i, .unanswered] = isOut ? series.rows[i].attempts : 0
      series[i, .busyMicroseconds] = series[i, .acceptedBatches] * second / capacity
      series[i, .availableMicroseconds] = second
      series[i, .deliveredEvents] = min(series[i, .acceptedBatches] * 10 / 3, backlog)
      if excess == 0 {
        series[i, .deliveredEvents] = min(series[i, .createdEvents], series[i, .deliveredEvents])
      }
      if loses && isOut && i % 2 == 0 { series[i, .droppedByOverflow] = 300 }
      backlog += series[i, .createdEvents] - series[i, .deliveredEvents] - series.rows[i].droppedEvents
      series[i, .backlogEvents] = backlog
      series[i, .settledOldEvents] = after >= 0 ? min(series[i, .deliveredEvents], excess) : 0
      if series[i, .deliveredEvents] > 0 {
        let delay = (15 + excess / 2_000) * second
        series[i, .timeToDeliveryP50] = delay + noise(second)
        series[i, .timeToDeliveryP99] =
          delay * 2 + (after >= 0 && excess > 0 ? Int64(after) * second : 0) + noise(2 * second)
        deliveries.record(delay, count: series[i, .deliveredEvents])
      }
      attempts += series.rows[i].attempts
      series[i, .settledBatches] = series[i, .acceptedBatches]
      for step in 0..<10 {
        steps.append(
          UInt32(max(series.rows[i].attempts / 10 + (step == 3 ? series.rows[i].attempts % 10 : 0), 0)))
      }
    }
    var cost = DeviceCost()
    cost.total[.attempts] = attempts
    cost.percentile99[.attempts] = attempts / 10_000
    return RunRecord(
      series: series, deliveries: deliveries, offeredPer100ms: steps, nominalCapacityMilli: capacity * 1_000,
      incidents: [outage].compactMap(\.self).map {
        IncidentSpan(
          label: "outage without answer", isOutage: true, start: Int64($0.lowerBound) * second,
          end: Int64($0.upperBound) * second)
      }, devices: 20_000, longestFlushInterval: 30 * second, cost: cost)
  }

  static let four = [
    result("none", wave: 0.98), result("additive:10", wave: 0.9), result("full", wave: 0.1),
    result("decorrelated", wave: 0.4, loses: true),
  ]
}
