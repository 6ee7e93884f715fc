@testable import FleetMetrics

let second: Int64 = 1_000_000

/// A record of `backlogs.count` intervals with everything else empty, to be filled in by a test.
func record(
  interval: Int64 = 10 * second, duration: Int64? = nil, backlogs: [Int64],
  incidents: [(start: Int64, end: Int64)] = [], flush: Int64 = 30 * second
) -> RunRecord {
  var series = TimeSeries(
    interval: interval, duration: duration ?? Int64(backlogs.count) * interval, rows: backlogs.count)
  for (row, backlog) in backlogs.enumerated() { series[row, .backlogEvents] = backlog }
  return RunRecord(
    series: series, deliveries: Histogram(),
    offeredPer100ms: [], nominalCapacityMilli: 100_000,
    incidents: incidents.map {
      IncidentSpan(label: "outage 503", isOutage: true, start: $0.start, end: $0.end)
    },
    devices: 10, longestFlushInterval: flush, cost: DeviceCost())
}

/// `count` intervals of one value each.
func flat(_ value: Int64, _ count: Int) -> [Int64] { [Int64](repeating: value, count: count) }

/// SplitMix64, for tests that draw at random from a seed they print.
struct TestGenerator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
