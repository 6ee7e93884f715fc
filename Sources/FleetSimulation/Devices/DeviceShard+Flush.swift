import FleetMetrics
import SimulationKernel
import UploadRetry

/// Triggers: what has been created is sealed, the limit is kept, the upload loop is asked to run (S17).
extension DeviceShard {
  package mutating func handleTrigger(
    _ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    if record.pointee.triggerAt != now.microseconds { return }
    let isInterval = now.microseconds == record.pointee.nextInterval
    if isInterval {
      record.pointee.nextInterval += plan.pointee.flushInterval
    }
    let newEvents = record.pointee.upcoming
    trace(device, at: now, .trigger(isInterval ? .interval : .count, newEvents: Int(newEvents)))
    record.pointee.upcoming = 0
    flush(device, newEvents, nextTime: record.pointee.aheadTime, at: now, &sink)
  }

  /// A trigger that was not planned (a launch): the events drawn ahead are parted at `now`.
  mutating func handleUnplannedTrigger(
    _ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    let events = key(of: device).child(RandomPurpose.events)
    var time = record.pointee.unsealedTime
    var n: UInt32 = 0
    while n < record.pointee.upcoming, time <= now.microseconds {
      n &+= 1
      time &+= plan.pointee.gap(before: record.pointee.nextOrdinal &+ n, events)
    }
    record.pointee.upcoming &-= n
    trace(device, at: now, .trigger(.launch, newEvents: Int(n)))
    flush(device, n, nextTime: time, at: now, &sink)
  }

  /// Seals the `n` oldest events that no flush has sealed, plans the next trigger and runs the upload loop.
  private mutating func flush(
    _ device: UInt32, _ n: UInt32, nextTime: Int64, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    if n != 0 { seal(device, n, nextTime: nextTime, at: now) }
    scheduleNextTrigger(device, &sink)
    if n != 0, self[device].pointee.heldEvents > plan.pointee.limit { keepLimit(device, at: now) }
    runLoop(device, at: now, byTrigger: true, &sink)
  }

  package mutating func handleWakeUp(
    _ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    if record.pointee.wakeAt != now.microseconds { return }
    record.pointee.wakeAt = .max
    trace(device, at: now, .trigger(.wakeUp, newEvents: 0))
    runLoop(device, at: now, byTrigger: false, &sink)
  }

  /// Draws the events up to the next trigger and schedules it: the interval, or the event that fills the count.
  ///
  /// Looking ahead costs one draw an event, the same that taking it later would; it makes one engine event a flush instead of
  /// one an analytics event.
  mutating func scheduleNextTrigger(_ device: UInt32, _ sink: inout some DeviceSink & ~Copyable) {
    let record = self[device]
    let horizon = min(record.pointee.nextInterval, plan.pointee.end &- 1)
    var time = record.pointee.aheadTime
    // Events drawn ahead for an earlier plan are there already; if they fill the count, the plan stands.
    var n = record.pointee.upcoming
    var last = record.pointee.triggerAt
    if time <= horizon {
      let events = key(of: device).child(RandomPurpose.events)
      while time <= horizon, n < plan.pointee.flushCount {
        last = time
        n &+= 1
        count(1, .createdEvents, at: Instant(microseconds: time))
        time &+= plan.pointee.gap(before: record.pointee.nextOrdinal &+ n, events)
      }
      record.pointee.aheadTime = time
    }
    record.pointee.upcoming = n
    let next = n == plan.pointee.flushCount ? last : record.pointee.nextInterval
    record.pointee.triggerAt = next
    if next < plan.pointee.end { sink.schedule(trigger: device, at: Instant(microseconds: next)) }
  }

  /// Makes batches of the events created since the last flush.
  private mutating func seal(_ device: UInt32, _ n: UInt32, nextTime: Int64, at now: Instant) {
    let record = self[device]
    var left = n
    record.pointee.heldEvents &+= left
    var ordinal = record.pointee.nextOrdinal
    var time = record.pointee.unsealedTime
    if plan.pointee.isRebatch, let taken = extendNewest(device, by: left) {
      (time, ordinal) = skip(taken, from: ordinal, at: time, device)
      left &-= taken
    }
    while left > 0 {
      let size = min(left, plan.pointee.maximumBatchEvents)
      let batch = batches.allocate(
        firstOrdinal: ordinal, firstTime: time, events: UInt16(truncatingIfNeeded: size))
      appendNewest(batch, device)
      appendReady(batch, device)
      count(1, .sealedBatches, at: now)
      trace(device, at: now, .sealed(batch: Int(ordinal), events: Int(size)))
      left &-= size
      if left > 0 { (time, ordinal) = skip(size, from: ordinal, at: time, device) }
    }
    record.pointee.nextOrdinal &+= n
    record.pointee.unsealedTime = nextTime
  }

  /// The event `n` behind event `ordinal`.
  private func skip(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ device: UInt32) -> (Int64, UInt32) {
    let events = key(of: device).child(RandomPurpose.events)
    var time = time
    for i in 1...max(n, 1) where n > 0 { time &+= plan.pointee.gap(before: ordinal &+ i, events) }
    return (time, ordinal &+ n)
  }

  /// *rebatch*: the newest batch takes what it has room for, unless it is under way or its fate is unknown.
  private func extendNewest(_ device: UInt32, by n: UInt32) -> UInt32? {
    let newest = self[device].pointee.newest
    if newest == 0 || !batches[newest].flags.isDisjoint(with: [.inFlight, .unknownOutcome]) { return nil }
    let events = UInt32(batches[newest].events)
    if batches[newest].firstOrdinal &+ events != self[device].pointee.nextOrdinal { return nil }
    let taken = min(n, plan.pointee.maximumBatchEvents - min(events, plan.pointee.maximumBatchEvents))
    if taken == 0 { return nil }
    batches[newest].events = UInt16(truncatingIfNeeded: events &+ taken)
    return taken
  }

  /// *rebatch*: neighbouring batches that may still change become one, up to the largest batch.
  mutating func mergeReady(_ device: UInt32, at now: Instant) {
    var batch = self[device].pointee.ready
    while batch != 0 {
      let next = batches[batch].link
      if next == 0 { return }
      let events = UInt32(batches[batch].events)
      let room = plan.pointee.maximumBatchEvents - min(events, plan.pointee.maximumBatchEvents)
      let flags = batches[batch].flags.union(batches[next].flags)
      if room == 0 || flags.contains(.unknownOutcome)
        || batches[batch].firstOrdinal &+ events != batches[next].firstOrdinal
      {
        batch = next
        continue
      }
      let moved = min(room, UInt32(batches[next].events))
      batches[batch].events = UInt16(truncatingIfNeeded: events &+ moved)
      if moved == UInt32(batches[next].events) {
        removeReady(next, after: batch, device)
        removeHeld(next, device)
        count(-1, .sealedBatches, at: now)
        batches.release(next)
      } else {
        trimFront(next, by: moved, device)
      }
    }
  }

  /// Takes the `n` oldest events off a batch.
  private func trimFront(_ batch: UInt32, by n: UInt32, _ device: UInt32) {
    (batches[batch].firstTime, batches[batch].firstOrdinal) =
      skip(n, from: batches[batch].firstOrdinal, at: batches[batch].firstTime, device)
    batches[batch].events -= UInt16(truncatingIfNeeded: n)
  }

  /// Overflow: the oldest events go, never those under way.
  private mutating func keepLimit(_ device: UInt32, at now: Instant) {
    let record = self[device]
    var batch = record.pointee.oldest
    while batch != 0, record.pointee.heldEvents > plan.pointee.limit {
      let next = batches[batch].newer
      if !batches[batch].flags.contains(.inFlight) {
        let excess = record.pointee.heldEvents &- plan.pointee.limit
        if plan.pointee.isRebatch, !batches[batch].flags.contains(.unknownOutcome),
          excess < UInt32(batches[batch].events)
        {
          let first = batches[batch].firstOrdinal
          countDropped(batch, events: excess, .droppedByOverflow, device, at: now)
          trimFront(batch, by: excess, device)
          record.pointee.heldEvents &-= excess
          trace(device, at: now, .dropped(batch: Int(first), events: Int(excess), .overflow))
          return
        }
        if batches[batch].flags.contains(.waiting) {
          record.pointee.flags.insert(.hasStaleEntries)
        } else {
          removeReady(batch, device)
        }
        drop(batch, .droppedByOverflow, device, at: now)
      }
      batch = next
    }
  }
}
