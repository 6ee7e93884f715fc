import FleetMetrics
import SimulationKernel
import UploadRetry

/// Triggers: what has been created is sealed, the limit is kept, the upload loop is asked to run (S17).
extension DeviceShard {
  package mutating func handleTrigger(
    _ device: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    var isInterval = true
    var nextInterval = now.microseconds &+ plan.pointee.flushInterval
    if let triggers {
      let planned = triggers + Int(truncatingIfNeeded: device)
      if planned.pointee.triggerAt != now.microseconds { return }
      isInterval = now.microseconds == planned.pointee.nextInterval
      if isInterval {
        planned.pointee.nextInterval = nextInterval
      } else {
        nextInterval = planned.pointee.nextInterval
      }
    }
    let created = takeCreated(device, by: now)
    let record = self[device]
    if record.pointee.oldest == 0, created.count &- 1 < plan.pointee.quickEvents,
      record.pointee.flags.isDisjoint(with: [.looping, .idleWithBatches, .offline]),
      record.pointee.gate.isReady(at: now.microseconds),
      tracedDevice == .max
    {
      let batch = sealOnly(device, created, at: now)
      planNextTrigger(device, nextInterval: nextInterval, drawnThrough: now.microseconds, &sink)
      sendOnly(batch, device, at: now, &sink)
      return
    }
    if isTraced(device) {
      note(.trigger(isInterval ? .interval : .count, newEvents: Int(created.count)), device, at: now)
    }
    flush(device, created, nextInterval: nextInterval, drawnThrough: now.microseconds, at: now, &sink)
  }

  /// A trigger that was not planned (a launch, a spike): the events drawn ahead are parted at `now`.
  mutating func handleUnplannedTrigger(
    _ device: UInt32, _ kind: DeviceTrace.Trigger = .launch, at now: Instant, _ sink: inout Outbox
  ) {
    let created = pending == nil ? takeCreated(device, by: now) : takeDrawn(device, by: now)
    if isTraced(device) { note(.trigger(kind, newEvents: Int(created.count)), device, at: now) }
    let (planned, nextInterval) = plannedTriggers(device)
    flush(device, created, nextInterval: nextInterval, drawnThrough: planned, at: now, &sink)
  }

  /// The pending trigger and the next of the interval, of a device that keeps them.
  mutating func plannedTriggers(_ device: UInt32) -> (planned: Int64, nextInterval: Int64) {
    let plan = triggers.unsafelyUnwrapped[Int(truncatingIfNeeded: device)]
    return (plan.triggerAt, plan.nextInterval)
  }

  /// The one batch of a device that held none.
  @inline(__always)
  private mutating func sealOnly(_ device: UInt32, _ created: CreatedEvents, at now: Instant) -> UInt32 {
    let record = self[device]
    let ordinal = record.pointee.nextOrdinal
    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: created.firstTime,
      events: UInt16(truncatingIfNeeded: created.count))
    record.pointee.oldest = batch
    record.pointee.newest = batch
    record.pointee.nextOrdinal = ordinal &+ created.count
    if let loops { loops[Int(truncatingIfNeeded: device)].heldEvents = created.count }
    count(1, .sealedBatches, at: now)
    return batch
  }

  /// Seals what has been created, plans the next trigger and runs the upload loop.
  @inline(never)
  private mutating func flush(
    _ device: UInt32, _ created: CreatedEvents, nextInterval: Int64, drawnThrough: Int64, at now: Instant,
    _ sink: inout Outbox
  ) {
    if created.count != 0 { seal(device, created, at: now) }
    planNextTrigger(device, nextInterval: nextInterval, drawnThrough: drawnThrough, &sink)
    if created.count != 0, heldEvents(device) > plan.pointee.limit { keepLimit(device, at: now) }
    runLoop(device, at: now, byTrigger: true, &sink)
  }

  package mutating func handleWakeUp(
    _ device: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    let record = self[device]
    if !record.pointee.wakes(at: now.microseconds) { return }
    record.pointee.flags.remove(.wakes)
    if isTraced(device) { note(.trigger(.wakeUp, newEvents: 0), device, at: now) }
    runLoop(device, at: now, byTrigger: false, &sink)
  }

  // MARK: Sealing

  /// Makes batches of the events created since the last flush.
  @inline(__always)
  private mutating func seal(_ device: UInt32, _ created: CreatedEvents, at now: Instant) {
    let record = self[device]
    let ordinal = record.pointee.nextOrdinal
    if let loops { loops[Int(truncatingIfNeeded: device)].heldEvents &+= created.count }
    if created.count <= plan.pointee.maximumBatchEvents, !plan.pointee.isRebatch || record.pointee.newest == 0
    {
      sealBatch(device, created.count, ordinal: ordinal, time: created.firstTime, at: now)
    } else {
      sealMany(device, created, at: now)
    }
    record.pointee.nextOrdinal = ordinal &+ created.count
  }

  @inline(__always)
  private mutating func sealBatch(
    _ device: UInt32, _ events: UInt32, ordinal: UInt32, time: Int64, at now: Instant
  ) {
    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: time, events: UInt16(truncatingIfNeeded: events))
    appendNewest(batch, device)
    appendReady(batch, device)
    count(1, .sealedBatches, at: now)
    if isTraced(device) { note(.sealed(batch: Int(ordinal), events: Int(events)), device, at: now) }
  }

  @inline(never)
  private mutating func sealMany(_ device: UInt32, _ created: CreatedEvents, at now: Instant) {
    var left = created.count
    var (time, ordinal) = (created.firstTime, self[device].pointee.nextOrdinal)
    if plan.pointee.isRebatch, let taken = extendNewest(device, by: left) {
      (time, ordinal) = skip(taken, from: ordinal, at: time, device)
      left &-= taken
    }
    while left > 0 {
      let size = min(left, plan.pointee.maximumBatchEvents)
      sealBatch(device, size, ordinal: ordinal, time: time, at: now)
      left &-= size
      if left > 0 { (time, ordinal) = skip(size, from: ordinal, at: time, device) }
    }
  }

  /// *rebatch*: the newest batch takes what it has room for, unless it is under way or its fate is unknown.
  private mutating func extendNewest(_ device: UInt32, by n: UInt32) -> UInt32? {
    let newest = self[device].pointee.newest
    if newest == 0 || !batches[newest].flags.isDisjoint(with: [.inFlight, .unknownOutcome]) { return nil }
    let events = UInt32(batches[newest].events)
    if batches[newest].firstOrdinal &+ events != self[device].pointee.nextOrdinal { return nil }
    let taken = min(n, plan.pointee.maximumBatchEvents - min(events, plan.pointee.maximumBatchEvents))
    if taken == 0 { return nil }
    batches[newest].events = UInt16(truncatingIfNeeded: events &+ taken)
    return taken
  }

  /// *rebatch*: neighbouring batches that may still change become one, up to the largest batch. No upload is under way.
  mutating func mergeReady(_ device: UInt32, at now: Instant) {
    var batch = self[device].pointee.oldest
    while batch != 0 {
      let next = batches[batch].newer
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
  private mutating func trimFront(_ batch: UInt32, by n: UInt32, _ device: UInt32) {
    (batches[batch].firstTime, batches[batch].firstOrdinal) =
      skip(n, from: batches[batch].firstOrdinal, at: batches[batch].firstTime, device)
    batches[batch].events -= UInt16(truncatingIfNeeded: n)
  }

  /// Overflow: the oldest events go, never those under way.
  @inline(never)
  private mutating func keepLimit(_ device: UInt32, at now: Instant) {
    let record = self[device]
    var batch = record.pointee.oldest
    var held = heldEvents(device)
    while batch != 0, held > plan.pointee.limit {
      let next = batches[batch].newer
      if !batches[batch].flags.contains(.inFlight) {
        let excess = held &- plan.pointee.limit
        let events = UInt32(batches[batch].events)
        if plan.pointee.isRebatch, !batches[batch].flags.contains(.unknownOutcome), excess < events {
          let first = batches[batch].firstOrdinal
          countDropped(batch, events: excess, .droppedByOverflow, device, at: now)
          trimFront(batch, by: excess, device)
          if let loops {
            let loop = loops + Int(truncatingIfNeeded: device)
            loop.pointee.heldEvents &-= excess
            // A batch that the running loop has passed stays behind it.
            let left = batches[batch].firstOrdinal
            if first < loop.pointee.cursor, left >= loop.pointee.cursor { loop.pointee.cursor = left &+ 1 }
          }
          if isTraced(device) {
            note(.dropped(batch: Int(first), events: Int(excess), .overflow), device, at: now)
          }
          return
        }
        if batches[batch].flags.contains(.waiting) {
          record.pointee.flags.insert(.hasStaleEntries)
        } else {
          removeReady(batch, device)
        }
        drop(batch, .droppedByOverflow, device, at: now)
        held &-= events
      }
      batch = next
    }
  }
}
