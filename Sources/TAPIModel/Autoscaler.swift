import SimulationKernel

/// Decides on the capacity to come; see `Autoscaling`.
struct Autoscaler {
  private let settings: Autoscaling
  /// Parts per million of the configured capacity.
  private(set) var scale: Int64 = 1_000_000
  /// Decisions that have not taken effect, by time.
  private var pending: [(time: Instant, scale: Int64)] = []
  private var nextMeasurement: Instant
  /// The sum of scale and time since the latest measurement, in microseconds, up to `noted`.
  private var past = 0.0
  private var noted = Instant.start
  /// When capacity changed, and to what.
  private(set) var history: [(time: Instant, scale: Int64)] = [(.start, 1_000_000)]

  init(_ settings: Autoscaling) {
    self.settings = settings
    nextMeasurement = .start + settings.interval
  }

  var nextTime: Instant { min(nextMeasurement, pending.first?.time ?? .never) }

  private mutating func noteScale(at now: Instant) {
    past += Double(scale) * Double((now - noted).microseconds)
    noted = now
  }

  /// Does what is due at `nextTime`: a change takes effect before a measurement of the same instant.
  /// - Parameter utilisation: measures and starts anew.
  /// - Returns: whether `scale` has changed.
  mutating func step(_ utilisation: () -> Double) -> Bool {
    if let first = pending.first, first.time <= nextMeasurement {
      pending.removeFirst()
      if first.scale == scale { return false }
      noteScale(at: first.time)
      scale = first.scale
      history.append((first.time, scale))
      return true
    }
    // Utilisation is of the capacity that there was, whatever has taken effect meanwhile.
    noteScale(at: nextMeasurement)
    let mean = past / Double(settings.interval.microseconds)
    past = 0
    let ratio = utilisation() * 1e6 / Double(settings.target)
    if ratio < 0.9 || ratio > 1.1 {
      let wanted = (mean * min(ratio, 1e3)).rounded()
      let bounded = min(max(Int64(wanted), settings.minimum), settings.maximum)
      pending.append((nextMeasurement + settings.delay, bounded))
    }
    nextMeasurement += settings.interval
    return false
  }
}
