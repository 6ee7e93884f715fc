import SimulationKernel

/// Capacity as an autoscaler had it, in parts per million of the configured one.
struct CapacityHistory {
  private let steps: [(time: Instant, scale: Int64)]

  init(_ steps: [(time: Instant, scale: Int64)]) { self.steps = steps }

  /// The sum of `part` over [`from`, `to`), each piece times the capacity that held.
  func sum(from: Instant, to: Instant, _ part: (Instant, Instant) -> Int64) -> Int64 {
    if steps.count < 2 { return part(from, to) }
    var (low, high) = (0, steps.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if steps[middle].time <= from { low = middle } else { high = middle - 1 }
    }
    var sum: Int64 = 0
    var start = from
    while start < to {
      let stop = low + 1 < steps.count ? min(steps[low + 1].time, to) : to
      sum += RunAssembly.saturating(part(start, stop), times: steps[low].scale, over: 1_000_000)
      start = stop
      low += 1
    }
    return sum
  }
}
