/// A run's summary as lines of text, and back without loss; its name is not kept.
package enum StoredSummary {
  package static func write(_ summary: RunSummary, to writer: inout StoredLines.Writer) {
    for field in fields { writer.line(field.name, field.values(summary)) }
  }

  /// What `write` has written.
  package static func read(_ reader: inout StoredLines.Reader) throws(StoredRecord.Problem) -> RunSummary {
    var summary = RunSummary(run: "", seed: 0)
    for field in fields {
      guard field.set(try reader.values(field.name, atMost: 1_000), &summary) else {
        throw StoredRecord.Problem(description: "'\(field.name)' has values that there cannot be")
      }
    }
    return summary
  }

  private struct Field: Sendable {
    var name: String
    var values: @Sendable (RunSummary) -> [Int64]
    /// false: there are no such values.
    var set: @Sendable ([Int64], inout RunSummary) -> Bool

    init<Value: StoredValue>(_ name: String, _ path: WritableKeyPath<RunSummary, Value> & Sendable) {
      self.name = name
      values = { $0[keyPath: path].stored }
      set = { values, summary in
        guard let value = Value(stored: values) else { return false }
        summary[keyPath: path] = value
        return true
      }
    }
  }

  private static let fields: [Field] = [
    Field("seed", \.seed), Field("devices", \.devices), Field("duration", \.duration),
    Field("totals", \.totals), Field("amplification", \.amplification),
    Field("acceptedUnconfirmedEvents", \.acceptedUnconfirmedEvents),
    Field("peakOfferedRatio", \.peakOfferedRatio), Field("herdFactor", \.herdFactor),
    Field("excessLoadSeconds", \.excessLoadSeconds), Field("secondsAboveCapacity", \.secondsAboveCapacity),
    Field("idleWhileBackloggedSeconds", \.idleWhileBackloggedSeconds),
    Field("baseline.grows", \.baseline.grows), Field("baseline.createdEvents", \.baseline.createdEvents),
    Field("baseline.lostEvents", \.baseline.lostEvents), Field("baseline.givenUp", \.baseline.givenUp),
    Field("recoveryTime", \.recoveryTime), Field("drainedTime", \.drainedTime),
    Field("hasIncidents", \.hasIncidents), Field("recoveryHorizon", \.recoveryHorizon),
    Field("lateEvents", \.lateEvents), Field("affectedEvents", \.affectedEvents),
    Field("affectedDeliveryP50", \.affectedDeliveryP50), Field("affectedDeliveryP99", \.affectedDeliveryP99),
    Field("affectedHorizon", \.affectedHorizon), Field("timeToDeliveryMean", \.timeToDeliveryMean),
    Field("timeToDeliveryP50", \.timeToDeliveryP50), Field("timeToDeliveryP90", \.timeToDeliveryP90),
    Field("timeToDeliveryP95", \.timeToDeliveryP95), Field("timeToDeliveryP99", \.timeToDeliveryP99),
    Field("timeToDeliveryP999", \.timeToDeliveryP999), Field("timeToDeliveryMax", \.timeToDeliveryMax),
    Field("attemptsPerDeviceDay", \.attemptsPerDeviceDay),
    Field("attemptsAboveTwinPerDevice", \.attemptsAboveTwinPerDevice),
    Field("attemptsPerDeviceDayP99", \.attemptsPerDeviceDayP99),
    Field("bytesPerDeviceDay", \.bytesPerDeviceDay), Field("bytesPerDeviceDayP99", \.bytesPerDeviceDayP99),
    Field("radioWakeUpsPerDeviceDay", \.radioWakeUpsPerDeviceDay),
    Field("radioWakeUpsPerDeviceDayP99", \.radioWakeUpsPerDeviceDayP99),
    Field("devicesThatLostEventsShare", \.devicesThatLostEventsShare),
  ]
}

/// What can stand on a line of `StoredLines`.
package protocol StoredValue: Sendable {
  var stored: [Int64] { get }
  /// nil: no value has these.
  init?(stored: [Int64])
}

extension Int64: StoredValue {
  package var stored: [Int64] { [self] }
  package init?(stored: [Int64]) {
    guard stored.count == 1 else { return nil }
    self = stored[0]
  }
}

extension UInt64: StoredValue {
  package var stored: [Int64] { [Int64(bitPattern: self)] }
  package init?(stored: [Int64]) {
    guard stored.count == 1 else { return nil }
    self = UInt64(bitPattern: stored[0])
  }
}

extension Double: StoredValue {
  package var stored: [Int64] { bitPattern.stored }
  package init?(stored: [Int64]) {
    guard let bits = UInt64(stored: stored) else { return nil }
    self.init(bitPattern: bits)
  }
}

extension Bool: StoredValue {
  package var stored: [Int64] { [self ? 1 : 0] }
  package init?(stored: [Int64]) {
    guard stored == [0] || stored == [1] else { return nil }
    self = stored == [1]
  }
}

extension Optional: StoredValue where Wrapped: StoredValue {
  package var stored: [Int64] { self?.stored ?? [] }
  package init?(stored: [Int64]) {
    if stored.isEmpty {
      self = .none
    } else {
      guard let value = Wrapped(stored: stored) else { return nil }
      self = .some(value)
    }
  }
}

extension MeasureTotals: StoredValue {
  package var stored: [Int64] { Measure.allCases.map { self[$0] } }
  package init?(stored: [Int64]) {
    guard stored.count == Measure.allCases.count else { return nil }
    self.init()
    for (measure, value) in zip(Measure.allCases, stored) { self[measure] = value }
  }
}

extension [Measure: Int64]: StoredValue {
  package var stored: [Int64] {
    keys.sorted { $0.rawValue < $1.rawValue }.flatMap { [Int64($0.rawValue), self[$0] ?? 0] }
  }
  package init?(stored: [Int64]) {
    self.init()
    guard stored.count.isMultiple(of: 2) else { return nil }
    for index in stride(from: 0, to: stored.count, by: 2) {
      guard let number = Int(exactly: stored[index]), let measure = Measure(rawValue: number) else {
        return nil
      }
      self[measure] = stored[index + 1]
    }
  }
}
