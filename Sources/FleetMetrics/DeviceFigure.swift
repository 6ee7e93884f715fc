/// A number that each device has at the end of a run: what the run has cost it.
///
/// `summary.csv` has a figure's mean and 99th percentile over devices: of what adds up, by the day. A figure that is 0 or 1 is a share of
/// devices there.
public enum DeviceFigure: Int, CaseIterable, Sendable {
  /// Uploads sent.
  case attempts
  case bytes
  /// Transmissions after at least 10 s of silence of the device.
  case radioWakeUps
  /// 1 of a device that lost at least one.
  case devicesThatLostEvents
  /// Timers of a browser's polling loops.
  case polls

  /// The columns of each figure. A `*` in a name stands for `mean` or `p99`; a name without it is a share of devices.
  private static let table: [(figure: DeviceFigure, name: String, unit: String, definition: String)] = [
    (.attempts, "attempts_*_per_device_day", "requests/device/day", "Upload attempts"),
    (.bytes, "sent_*_bytes_per_device_day", "bytes/device/day", "Bytes sent"),
    (.radioWakeUps, "radio_wakeups_*_per_device_day", "1/device/day", "Transmissions after 10 s of silence"),
    (
      .devicesThatLostEvents, "devices_that_lost_events_ratio", "1",
      "Share of devices that lost at least one event."
    ),
    (.polls, "polls_*_per_device_day", "1/device/day", "Timers of a browser's polling loops"),
  ]

  /// Returns the value that the columns show of a device's number, or of a mean of such numbers.
  fileprivate func shown(_ value: Double, perDay: Double) -> Double {
    switch self {
    case .attempts, .bytes, .radioWakeUps, .polls: value * perDay
    case .devicesThatLostEvents: value
    }
  }

  /// Whether the figure is 0 or 1.
  public var isShare: Bool { !Self.table.contains { $0.figure == self && $0.name.contains("*") } }

  /// The columns of the figures up to one, of which `summary.csv` has some in its middle, or of those behind it.
  static func columns(
    after first: DeviceFigure? = nil, through last: DeviceFigure? = nil
  ) -> [CSVColumn<RunSummary>] {
    let numbers = (first?.rawValue ?? -1) + 1..<(last?.rawValue ?? allCases.count - 1) + 1
    return table.filter { numbers.contains($0.figure.rawValue) }.flatMap {
      columns(of: $0.figure, $0.name, $0.unit, $0.definition)
    }
  }

  private static func named(_ pattern: String, _ word: String) -> String {
    pattern.split(separator: "*", omittingEmptySubsequences: false).joined(separator: word)
  }

  private static func columns(
    of figure: DeviceFigure, _ name: String, _ unit: String, _ definition: String
  ) -> [CSVColumn<RunSummary>] {
    if figure.isShare {
      return [.init(name, unit, definition, .lowerIsBetter) { .decimal($0.cost.mean[figure], decimals: 6) }]
    }
    return [
      .init(
        named(name, "mean"), unit, "\(definition), over devices: mean.", .lowerIsBetter
      ) { .decimal($0.cost.mean[figure]) },
      .init(
        named(name, "p99"), unit, "\(definition), over devices: 99th percentile.",
        .lowerIsBetter
      ) { .decimal($0.cost.percentile99[figure]) },
    ]
  }
}

/// A value for each figure.
public struct DeviceFigures<Value: Sendable & Hashable>: Sendable, Hashable {
  private var values: [Value]

  package init(repeating value: Value) {
    values = Array(repeating: value, count: DeviceFigure.allCases.count)
  }

  public subscript(figure: DeviceFigure) -> Value {
    get { values[figure.rawValue] }
    set { values[figure.rawValue] = newValue }
  }
}

/// The cost to the fleet: totals over the run, and percentiles over devices.
public struct DeviceCost: Sendable, Hashable {
  public var total = DeviceFigures<Int64>(repeating: 0)
  public var percentile99 = DeviceFigures<Int64>(repeating: 0)

  public init() {}
}

/// Means and percentiles of a device's cost, in the units of the columns: in a day, where a figure adds up.
public struct DeviceDayCost: Sendable, Hashable {
  public var mean = DeviceFigures(repeating: 0.0)
  public var percentile99 = DeviceFigures(repeating: 0.0)

  init() {}

  init(_ cost: DeviceCost, devices: Int64, duration: Int64) {
    let perDay = 86_400_000_000 / Double(duration)
    for figure in DeviceFigure.allCases {
      mean[figure] = figure.shown(Double(cost.total[figure]) / Double(devices), perDay: perDay)
      percentile99[figure] = figure.shown(Double(cost.percentile99[figure]), perDay: perDay)
    }
  }
}
