import FleetMetrics
import SimulationKernel
import UploadPipeline

/// Triggers: what has been created is sealed, the limit is kept, the upload loop is asked to run (S17).
extension DeviceShard {
  package mutating func handleTrigger(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    var isInterval = true
    var nextInterval = now.microseconds &+ plan.pointee.flush.interval
    if let triggers {
      let planned = triggers + device.place
      if planned.pointee.triggerAt != now.microseconds { return }
      isInterval = now.microseconds == planned.pointee.nextInterval
      if isInterval, self[device].pointee.flags.contains(.suspended) { return }
      if isInterval {
        planned.pointee.nextInterval = nextInterval
      } else {
        nextInterval = planned.pointee.nextInterval
      }
    }
    let isIgnored = ignoresFlush(device)
    if isIgnored || !isInterval && !plan.pointee.flush.countAlwaysFlushes && ignoresCount(device) {
      if isIgnored, isTraced(device) { note(.alreadyUploading(joins: false), device, at: now) }
      triggers?[device.place].triggerAt = TriggerPlan.ignored
      planNextTrigger(
        device, nextInterval: nextInterval, drawnThrough: now.microseconds, at: now.microseconds, sink)
      return
    }
    let created = takeCreated(device, by: now)
    let record = self[device]
    if record.pointee.oldest == .noBatch, created.count &- 1 < plan.pointee.fastPath.events,
      record.pointee.flags.isDisjoint(with: [.looping, .resting, .offline]),
      record.pointee.gate.isReady(at: now.microseconds),
      now.microseconds &- created.firstTime <= plan.pointee.fastPath.age, tracedDevice == .noDevice
    {
      let batch = sealOnly(record, device, created, counters[rows.row(at: now.microseconds)])
      planNextTrigger(
        device, nextInterval: nextInterval, drawnThrough: now.microseconds, at: now.microseconds, sink)
      runLoop(overOnly: batch, device, at: now.microseconds, sink)
      return
    }
    if isTraced(device) {
      note(.trigger(isInterval ? .interval : .count, newEvents: Int(created.count)), device, at: now)
    }
    flush(device, created, nextInterval: nextInterval, drawnThrough: now.microseconds, at: now, sink)
  }

  /// Whether the event that fills the count makes no flush: while uploads fail, or because less is held by now.
  @inline(never)
  private mutating func ignoresCount(_ device: DeviceIndex) -> Bool {
    let unsealed = pending?[device.place].upcoming ?? 0
    return ignoresCount(device, unsealed: unsealed, count: plan.pointee.flush.count)
  }

  /// A trigger that was not planned (a launch, a spike, a session): the events drawn ahead are parted at `now`.
  mutating func handleUnplannedTrigger(
    _ device: DeviceIndex, _ kind: DeviceTrace.Trigger = .launch, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    if ignoresFlush(device) { return }
    if let trigger = kind.ofClient { skipWait(device, for: trigger) }
    let created = pending == nil ? takeCreated(device, by: now) : takeDrawn(device, by: now)
    if isTraced(device) { note(.trigger(kind, newEvents: Int(created.count)), device, at: now) }
    let (planned, nextInterval) = plannedTriggers(device)
    flush(device, created, nextInterval: nextInterval, drawnThrough: planned, at: now, sink)
  }

  /// The pending trigger and the next of the interval, of a device that keeps them.
  mutating func plannedTriggers(_ device: DeviceIndex) -> (planned: Int64, nextInterval: Int64) {
    let plan = triggers.unsafelyUnwrapped[device.place]
    return (plan.triggerAt, plan.nextInterval)
  }

  /// The one batch of a device that held none.
  @inline(__always)
  mutating func sealOnly(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, _ created: CreatedEvents,
    _ row: CounterRow<DeviceSide>
  ) -> BatchIndex {
    let ordinal = record.pointee.nextOrdinal
    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: created.firstTime,
      events: UInt16(truncatingIfNeeded: created.count))
    record.pointee.oldest = batch
    record.pointee.newest = batch
    record.pointee.nextOrdinal = ordinal &+ created.count
    if let loops { loops[device].pointee.heldEvents = created.count }
    row[.sealedBatches] &+= 1
    return batch
  }

  /// Seals what has been created, plans the next trigger and runs the upload loop.
  @inline(never)
  private mutating func flush(
    _ device: DeviceIndex, _ created: CreatedEvents, nextInterval: Int64, drawnThrough: Int64,
    at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    flush(
      device, sealing: created.count, from: self[device].pointee.nextOrdinal, createdAt: created.firstTime,
      at: now.microseconds, sink)
    planNextTrigger(
      device, nextInterval: nextInterval, drawnThrough: drawnThrough, at: now.microseconds, sink)
  }

  @inline(__always)
  package mutating func willSeal(_ n: UInt32, _ device: DeviceIndex) {
    if let loops { loops[device].pointee.heldEvents &+= n }
  }

  @inline(__always)
  package mutating func didSeal(through ordinal: UInt32, _ device: DeviceIndex) {
    self[device].pointee.nextOrdinal = ordinal
  }

  package mutating func handleWakeUp(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let record = self[device]
    if !record.pointee.wakes(at: now.microseconds) { return }
    record.pointee.flags.remove(.wakes)
    // What is due meanwhile waits for the next session.
    if record.pointee.flags.contains(.suspended) { return }
    if isTraced(device) { note(.trigger(.wakeUp, newEvents: 0), device, at: now) }
    runLoop(device, at: now.microseconds, byTrigger: false, sink)
  }

  // MARK: Batches

  @inline(__always)
  package mutating func append(
    _ events: UInt32, firstOrdinal: UInt32, firstTime: Int64, _ device: DeviceIndex, at now: Int64
  ) {
    let now = Instant(microseconds: now)
    let batch = batches.allocate(
      for: device, firstOrdinal: firstOrdinal, firstTime: firstTime,
      events: UInt16(truncatingIfNeeded: events))
    appendNewest(batch, device)
    putLast(batch, device)
    count(1, .sealedBatches, at: now)
    if isTraced(device) {
      note(.sealed(batch: Int(firstOrdinal), events: Int(events)), device, at: now)
    }
  }

  package mutating func extend(_ batch: BatchIndex, by n: UInt32, _ device: DeviceIndex) {
    batches[batch].events &+= UInt16(truncatingIfNeeded: n)
  }

  /// Neighbouring batches become one, up to the largest batch.
  package mutating func rechunk(_ device: DeviceIndex, atMost maximum: UInt32, at now: Int64) {
    forgetBoundaries(device)
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let next = batches[batch].newer
      if next == .noBatch { return }
      let events = UInt32(batches[batch].events)
      let free = maximum - min(events, maximum)
      if free == 0
        || batches[batch].firstOrdinal &+ events != batches[next].firstOrdinal
      {
        batch = next
        continue
      }
      let moved = min(free, UInt32(batches[next].events))
      batches[batch].events = UInt16(truncatingIfNeeded: events &+ moved)
      if moved == UInt32(batches[next].events) {
        removeReady(at: batches[next].firstOrdinal, device)
        removeHeld(next, device)
        count(-1, .sealedBatches, at: Instant(microseconds: now))
        batches.release(next)
      } else {
        trimFront(next, by: moved, device)
      }
    }
  }

  /// Takes the `n` oldest events off a batch.
  private mutating func trimFront(_ batch: BatchIndex, by n: UInt32, _ device: DeviceIndex) {
    let first = batches[batch].firstOrdinal
    (batches[batch].firstTime, batches[batch].firstOrdinal) =
      skip(n, from: first, at: batches[batch].firstTime, device)
    replaceReady(at: first, with: batch, device)
    batches[batch].events -= UInt16(truncatingIfNeeded: n)
  }

  package mutating func trim(
    _ batch: BatchIndex, by n: UInt32, _ loss: ClientLoss, _ device: DeviceIndex, at now: Int64
  ) {
    let now = Instant(microseconds: now)
    let first = batches[batch].firstOrdinal
    let counter = counter(of: loss)
    countDropped(batch, events: n, counter, device, at: now)
    trimFront(batch, by: n, device)
    if let loops {
      let loop = loops[device]
      loop.pointee.heldEvents &-= n
      // A batch that the running loop has passed stays behind it.
      let left = batches[batch].firstOrdinal
      if first < loop.pointee.cursor, left >= loop.pointee.cursor { loop.pointee.cursor = left &+ 1 }
    }
    if isTraced(device) {
      note(.dropped(batch: Int(first), events: Int(n), .init(counter)), device, at: now)
    }
  }
}
