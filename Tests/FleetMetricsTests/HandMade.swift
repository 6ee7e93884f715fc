import FleetMetrics

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
