import ScenarioModel
import SimulationKernel

/// When the sessions of a device are.
extension Sessions {
  /// A session or a gap.
  struct Period: BitwiseCopyable {
    var isForeground: Bool
    /// Microseconds since the start of the run.
    var end: Int64
    fileprivate var number: UInt32
  }

  /// What a device is in at the start of the run.
  func firstPeriod(_ device: RandomKey) -> Period {
    let draws = device.child(RandomPurpose.sessions)
    let isForeground = draws.child(0).unitOpen < share
    let rest = distribution(isForeground).rest(draws.child(1))
    return Period(isForeground: isForeground, end: rest, number: 0)
  }

  /// The one that begins where another ends.
  func period(after period: Period, _ device: RandomKey) -> Period {
    let number = period.number &+ 1
    let draw = device.child(RandomPurpose.sessions).child(2).child(UInt64(number))
    let length = max(distribution(!period.isForeground).sample(draw).microseconds, 1)
    return Period(isForeground: !period.isForeground, end: period.end &+ length, number: number)
  }

  private func distribution(_ isForeground: Bool) -> Distribution {
    isForeground ? length : .exponential(mean: meanGap)
  }

  /// Where a process gets to that goes on in the foreground only.
  ///
  /// - Parameters:
  ///   - time: where it is. Microseconds.
  ///   - end: of the run; behind it all times are one.
  ///   - advance: goes on from a time towards the end of a session; nil if it does not arrive within it.
  /// - Complexity: O(sessions since the start of the run).
  func inForeground(
    from time: Int64, before end: Int64, _ device: RandomKey,
    _ advance: (_ from: Int64, _ to: Int64) -> Int64?
  ) -> Int64 {
    var period = firstPeriod(device)
    var from = max(time, 0)
    while from < end {
      while period.end <= from { period = self.period(after: period, device) }
      if period.isForeground, let arrival = advance(from, period.end) { return arrival }
      from = period.end
    }
    return max(from, end)
  }
}

extension Distribution {
  /// What is left of a span from this distribution at a random time in it: an exponential one forgets, a constant one is cut anywhere.
  func rest(_ key: RandomKey) -> Int64 {
    if case .constant(let span) = self { return key.uniform(1, through: max(span.microseconds, 1)) }
    return max(sample(key).microseconds, 1)
  }
}
