import FleetMetrics
import SimulationKernel
import UploadPipeline

/// Checkers beside the devices (Design.md, Checkers): they observe and never drive.
extension DeviceShard {
  /// Keeps the first broken rule.
  mutating func note(_ problem: String, _ device: DeviceIndex, at now: Instant) {
    if violation == nil {
      violation = "\(problem): device \(globalNumber(device)) at \(now.microseconds) µs"
    }
  }

  /// What the loop must take next; nil where it isn't watched: in a long queue only every so often, by chance, because a look
  /// is O(batches held).
  @inline(never)
  func watchedNextDue(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex? {
    let held = heldEvents(of: device)
    let draw = UInt64(truncatingIfNeeded: now &+ Int64(cursor) &* 7_919) &* 0x9E37_79B9_7F4A_7C15
    guard held <= 256 || (draw >> 32) % UInt64(held / 128) == 0 else { return nil }
    return nextDueByScan(device, from: cursor, at: now)
  }

  /// The oldest due batch at or behind the loop's cursor, found by looking at every batch, or none.
  func nextDueByScan(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    let client = self[device].pointee
    let isRebatch = options.pointee.isRebatch
    let looksAtWaiting = !isRebatch && options.pointee.policy.limitsCheck == .beforeDue
    let looks = looksAtWaiting ? lookTimes(device) : [:]
    var end = UInt32.max
    if let loops { end = loops[device].pointee.loopEnd }
    var batch = client.oldest
    while batch != .noBatch {
      let record = batches[batch]
      let isAllowed = !record.flags.contains(.atTriggersOnly) || client.flags.contains(.byTrigger)
      if record.firstOrdinal >= cursor, record.firstOrdinal < end, !record.flags.contains(.inFlight),
        isAllowed
      {
        if !record.flags.contains(.waiting) { return batch }
        let due = looks[batch] ?? batches.dueTime(batch)
        if !isRebatch, due <= now { return batch }
      }
      batch = record.newer
    }
    return .noBatch
  }

  /// *files*: when waiting batches are looked at, where a limit may bring that forward.
  private func lookTimes(_ device: DeviceIndex) -> [BatchIndex: Int64] {
    let place = self[device].pointee.waiting
    let heap = waiting.address(place)
    return Dictionary((0..<Int(place.count)).map { (heap[$0].batch, heap[$0].due) }) { first, _ in first }
  }

  mutating func checkSend(_ batch: BatchIndex, _ device: DeviceIndex, at now: Instant) {
    let record = self[device]
    if batches[batch].flags.contains(.inFlight) { note("two uploads of one batch at once", device, at: now) }
    // Legacy Settings of a later launch know no waits (S15), and a client that looks at waiting batches sends them then.
    let knowsWaits =
      options.pointee.policy.limitsCheck == .whenDue
      || machine(of: device)._withUnsafeGuaranteedRef { !$0.ignoresState && $0.config.backoff.isEnabled }
    if knowsWaits, batches.dueTime(batch) > now.microseconds {
      note("an attempt before its due time", device, at: now)
    }
    if record.pointee.gate.waitUntil > now.microseconds {
      note("an attempt inside the gate's wait", device, at: now)
    }
    if uploads(of: device) >= options.pointee.uploads {
      note("more uploads at once than allowed", device, at: now)
    }
  }

  /// The first broken rule; with checkers on, events are counted too.
  func violation(at time: Int64) -> String? {
    violation ?? (plan.pointee.checks ? conservationViolation(at: time) : nil)
  }

  /// Checks that events created = delivered + dropped + held, by walking every device's queue.
  private func conservationViolation(at time: Int64) -> String? {
    var created: Int64 = 0
    var open: Int64 = 0
    for device in indices {
      let record = self[device]
      let draws = EventDraws(key(of: device))
      var ordinal = record.pointee.nextOrdinal
      var eventTime = unsealedTime(device)
      while eventTime < time {
        ordinal &+= 1
        eventTime = plan.next(after: eventTime, before: ordinal, draws)
        open += 1
      }
      created += Int64(ordinal)
      var held: Int64 = 0
      var uploads = 0
      var previous: UInt32?
      var batch = record.pointee.oldest
      while batch != .noBatch {
        let one = batches[batch]
        held += Int64(one.events)
        if one.flags.contains(.inFlight) { uploads += 1 }
        open += Int64(one.events) - acceptedEvents(of: batch, device)
        if let previous, previous >= one.firstOrdinal {
          return "device \(globalNumber(device)): batches out of order at \(time) µs"
        }
        previous = one.firstOrdinal
        batch = one.newer
      }
      if held != Int64(heldEvents(of: device)) || uploads != Int(self.uploads(of: device)) {
        return "device \(globalNumber(device)): its counts do not match its queue at \(time) µs"
      }
    }
    var totals = MeasureTotals()
    totals.add(counters)
    let settled = totals[.createdEvents] - totals.openEvents
    if created != settled + open {
      return "events are not conserved at \(time) µs: \(created) created, \(settled) settled, \(open) open"
    }
    return nil
  }
}
