/// Offered load against capacity.
extension RunAnalysis {
  /// Steps of `RunRecord.offeredPer100ms` in a second.
  private static let stepsPerSecond = 10
  private static let step: Int64 = 100_000

  /// The largest offered load of a 1 s window that begins at `start` or later (100 ms steps), divided by
  /// nominal capacity.
  /// - Returns: nil if no whole window lies in the run, or without capacity.
  static func peakOfferedRatio(_ record: RunRecord, from start: Int64) -> Double? {
    let steps = record.offeredPer100ms
    let firstStep = start / step + (start % step > 0 ? 1 : 0)
    guard record.nominalCapacityMilli > 0, firstStep >= 0, firstStep <= Int64(steps.count - stepsPerSecond)
    else { return nil }
    let first = Int(firstStep)
    var window = steps[first..<first + stepsPerSecond].reduce(0 as Int64) { $0 + Int64($1) }
    var largest = window
    for next in first + stepsPerSecond..<steps.count {
      window += Int64(steps[next]) - Int64(steps[next - stepsPerSecond])
      largest = max(largest, window)
    }
    return Double(largest) * 1_000 / Double(record.nominalCapacityMilli)
  }

  /// Whole seconds since the start whose offered load exceeds nominal capacity. A cut last second does not
  /// count.
  static func secondsAboveCapacity(_ record: RunRecord) -> Int64 {
    Int64(offeredMilliBySecond(record).count { $0 > record.nominalCapacityMilli })
  }

  /// Σ max(0, offered − capacity) / capacity over those seconds: it moves no further than the load or the capacity does, while
  /// whole seconds are above or not.
  /// - Returns: nil without capacity.
  static func excessLoadSeconds(_ record: RunRecord) -> Double? {
    let capacity = record.nominalCapacityMilli
    guard capacity > 0 else { return nil }
    return offeredMilliBySecond(record).reduce(0) { $0 + Double(max(0, $1 - capacity)) } / Double(capacity)
  }

  private static func offeredMilliBySecond(_ record: RunRecord) -> some Sequence<Int64> {
    let steps = record.offeredPer100ms
    return (0..<steps.count / stepsPerSecond).lazy.map { second in
      let from = second * stepsPerSecond
      return steps[from..<from + stepsPerSecond].reduce(0 as Int64) { $0 + Int64($1) } * 1_000
    }
  }

  /// Seconds' worth of nominal capacity unused while the backlog was above the twin's.
  ///
  /// An interval counts if no outage touches it and its backlog at the end `isAbove` the twin's. Unused is
  /// what the incidents' factors left of the capacity, times one minus the utilisation; an interval that ran
  /// above capacity on a burst counts as 0.
  /// - Returns: nil without capacity.
  static func idleWhileBacklogged(_ record: RunRecord, twin: RunRecord) -> Double? {
    guard record.nominalCapacityMilli > 0 else { return nil }
    let series = record.series
    let outages = incidents(of: record).filter(\.isOutage)
    var idleMilliRequests = 0.0
    for i in 0..<min(series.rows.count, twin.series.rows.count) {
      let row = series.rows[i]
      guard row[.availableMicroseconds] > 0, row[.busyMicroseconds] < row[.availableMicroseconds],
        isAbove(row[.backlogEvents], twin.series.rows[i][.backlogEvents])
      else { continue }
      let start = series.start(of: i)
      let end = start + series.length(of: i)
      if outages.contains(where: { $0.start < end && start < $0.end }) { continue }
      let unused =
        Double(row[.availableMicroseconds] - row[.busyMicroseconds]) / Double(row[.availableMicroseconds])
      idleMilliRequests += Double(row[.capacityMilliRequests]) * unused
    }
    return idleMilliRequests / Double(record.nominalCapacityMilli)
  }

  /// Whether a backlog is above the twin's by more than 10 %, and by more than one event for each of
  /// `samples` that both sums are made of: with an almost empty twin, 10 % would be less than an event.
  static func isAbove(_ backlog: Int64, _ twin: Int64, samples: Int64 = 1) -> Bool {
    let excess = backlog - twin
    return excess > samples && excess > twin / 10
  }
}
