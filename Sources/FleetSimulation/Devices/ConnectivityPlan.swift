import ScenarioModel
import SimulationKernel

/// When a device has a network: each period follows from the one before it and the device alone, so that any part of the engine can
/// recompute it (`SessionPlan`).
extension Connectivity {
  /// A period with or without a network.
  struct Period: BitwiseCopyable {
    /// Microseconds since the start of the run.
    var end: Int64
    /// Changes of period so far: each draws the length of the next by its number.
    var number: UInt32
    var isOffline: Bool
  }

  /// Returns the period that a device is in at the start of the run; nil: it has none, and is online.
  static func firstPeriod(_ periods: Periods, _ device: RandomKey) -> Period? {
    let draws = device.child(RandomPurpose.connectivity)
    guard Int64(draws.child(0).uniform(below: 1_000_000)) < periods.sharePartsPerMillion else { return nil }
    let (online, offline) = (periods.online.mean, periods.offline.mean)
    let isOffline = draws.child(1).unitOpen * (online + offline) < offline
    let rest = (isOffline ? periods.offline : periods.online).rest(draws.child(2))
    return Period(end: rest, number: 0, isOffline: isOffline)
  }

  /// Returns the period that begins where another ends.
  static func period(after period: Period, _ periods: Periods, _ device: RandomKey) -> Period {
    let draw = device.child(RandomPurpose.connectivity).child(3).child(UInt64(period.number))
    let length = (period.isOffline ? periods.online : periods.offline).sample(draw)
    return Period(
      end: period.end &+ max(length.microseconds, 1), number: period.number &+ 1, isOffline: !period.isOffline
    )
  }

  /// The draws that say which interruptions concern a device.
  static func interruptionDraws(_ device: RandomKey) -> RandomKey {
    device.child(RandomPurpose.connectivity).child(4)
  }

  /// Returns the end of an interruption that a device is in; nil: it is in none.
  func interruptionEnd(at now: Int64, _ device: RandomKey) -> Int64? {
    if interruptions.isEmpty { return nil }
    let draws = Self.interruptionDraws(device)
    for (index, one) in interruptions.enumerated() {
      let end = (one.start + one.duration).microseconds
      if one.start.microseconds <= now, now < end, one.concerns(draws.child(UInt64(index))) { return end }
    }
    return nil
  }

  /// Returns the first time from `start` on at which a device has a network, microseconds; `end` or later: not before the run's end.
  /// O(periods since the start of the run).
  func online(from start: Int64, before end: Int64, _ device: RandomKey) -> Int64 {
    var time = start
    var period = periods.flatMap { Self.firstPeriod($0, device) }
    while time < end {
      while let periods, let past = period, past.end <= time {
        period = Self.period(after: past, periods, device)
      }
      if let period, period.isOffline {
        time = period.end
      } else if let end = interruptionEnd(at: time, device) {
        time = end
      } else {
        return time
      }
    }
    return time
  }
}

extension Connectivity.Interruption {
  /// Whether a device is among those without a network.
  func concerns(_ draw: RandomKey) -> Bool { Int64(draw.uniform(below: 1_000_000)) < sharePartsPerMillion }
}
