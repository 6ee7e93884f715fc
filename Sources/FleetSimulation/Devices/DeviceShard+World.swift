import SimulationKernel

/// What happens around a device, for cohorts with `CohortPlan.hasWorld`: spikes.
extension DeviceShard {
  @inline(never)
  mutating func startWorld(_ device: UInt32, _ sink: inout Outbox) {
    worlds.unsafelyUnwrapped[Int(truncatingIfNeeded: device)] = WorldPlan(nextFlush: .max)
    scheduleSpike(device, after: -1, &sink)
  }

  /// The next flush that a spike makes.
  private mutating func scheduleSpike(_ device: UInt32, after past: Int64, _ sink: inout Outbox) {
    let (key, end) = (key(of: device), plan.pointee.end)
    var next = Int64.max
    for index in spikes.indices {
      next = min(next, spikes[index].nextFlush(after: past, before: end, index, key))
    }
    worlds.unsafelyUnwrapped[Int(truncatingIfNeeded: device)].nextFlush = next
    if next < end { sink.schedule(world: device, at: Instant(microseconds: next)) }
  }

  package mutating func handleWorld(_ device: UInt32, at now: Instant, _ sink: inout Outbox) {
    let world = worlds.unsafelyUnwrapped + Int(truncatingIfNeeded: device)
    if now.microseconds == world.pointee.nextFlush {
      scheduleSpike(device, after: now.microseconds, &sink)
      handleUnplannedTrigger(device, .spike, at: now, &sink)
    }
  }
}
