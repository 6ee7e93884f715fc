import SimulationKernel

/// Decides on the capacity to come; see `Autoscaling`.
struct Autoscaler {
  private let settings: Autoscaling
  /// Parts per million of the configured capacity.
  private(set) var scale: Int64 = 1_000_000
  /// Decisions that have not taken effect, by time.
  private var pending: [(time: Instant, scale: Int64)] = []
  private var nextMeasurement: Instant
  /// When capacity changed, and to what.
  private(set) var history: [(time: Instant, scale: Int64)] = [(.start, 1_000_000)]

  init(_ settings: Autoscaling) {
    self.settings = settings
    nextMeasurement = .start + settings.interval
  }

  var nextTime: Instant { min(nextMeasurement, pending.first?.time ?? .never) }

  /// Does what is due at `nextTime`: a change takes effect before a measurement of the same instant.
  /// - Parameter utilisation: measures and starts anew.
  /// - Returns: whether `scale` has changed.
  mutating func step(_ utilisation: () -> Double) -> Bool {
    if let first = pending.first, first.time <= nextMeasurement {
      pending.removeFirst()
      if first.scale == scale { return false }
      scale = first.scale
      history.append((first.time, scale))
      return true
    }
    let ratio = utilisation() * 1e6 / Double(settings.target)
    if ratio < 0.9 || ratio > 1.1 {
      let wanted = (Double(scale) * min(ratio, 1e3)).rounded()
      let bounded = min(max(Int64(wanted), settings.minimum), settings.maximum)
      pending.append((nextMeasurement + settings.delay, bounded))
    }
    nextMeasurement += settings.interval
    return false
  }
}
