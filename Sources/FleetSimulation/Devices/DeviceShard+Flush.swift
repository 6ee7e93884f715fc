import FleetMetrics
import ScenarioModel
import UploadGating
import UploadPipeline

/// Triggers: what has been created is sealed, the limit is kept, the upload loop is asked to run (S17).
extension DeviceShard {
  /// Sets a device's phases and its first trigger (O(1) plus the events up to it).
  package mutating func start(device: DeviceIndex, _ sink: Sink) {
    if let loops { loops[device].pointee = UploadLoopState() }
    run(device, on: settingsAtLaunch(device, at: 0), at: 0)
    startClock(device, sink)
    scheduleRestarts(device, sink)
    if plan.pointee.tables.worlds { startWorld(device, sink) }
    if pages != nil, !self[device].pointee.flags.contains(.suspended) { openPage(device, at: 0, sink) }
  }

  package mutating func handleTrigger(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    guard let (isInterval, nextInterval) = dueTrigger(device, at: now) else { return }
    let isIgnored = ignoresFlush(device)
    // The interval does not run while uploads do.
    let isEarly =
      isInterval && plan.pointee.flush.rearm == .afterAnswer
      && self[device].pointee.flags.contains(.looping)
    if isIgnored || isEarly || !isInterval && !plan.pointee.flush.countAlwaysFlushes && ignoresCount(device) {
      if isIgnored { trace(.alreadyUploading(joins: false), device, at: now) }
      ignoreTrigger(device)
      planNextTrigger(device, nextInterval: nextInterval, drawnThrough: now, at: now, sink)
      return
    }
    let created = takeCreated(device, by: now)
    let record = self[device]
    if record.pointee.oldest == .noBatch, created.count &- 1 < plan.pointee.fastPath.events,
      record.pointee.flags.isDisjoint(with: [.looping, .resting, .offline]),
      record.pointee.gate.isReady(at: now),
      now &- created.firstTime <= plan.pointee.fastPath.age, !isTraced
    {
      let batch = sealOnly(record, device, created, ledger.row(at: now))
      planNextTrigger(device, nextInterval: nextInterval, drawnThrough: now, at: now, sink)
      runLoop(overOnly: batch, device, at: now, sink)
      return
    }
    trace(.trigger(isInterval ? .interval : .count, newEvents: Int(created.count)), device, at: now)
    flush(device, created, nextInterval: nextInterval, drawnThrough: now, at: now, sink)
  }

  /// Whether the event that fills the count makes no flush: while uploads fail, or because less is held by now.
  @inline(never)
  private mutating func ignoresCount(_ device: DeviceIndex) -> Bool {
    let unsealed = pending?[device.place].upcoming ?? 0
    return ignoresCount(device, unsealed: unsealed, count: plan.pointee.flush.count)
  }

  /// A trigger that was not planned (a launch, a spike, a session): the events drawn ahead are parted at `now`.
  mutating func handleUnplannedTrigger(
    _ device: DeviceIndex, _ kind: DeviceTrace.Trigger = .launch, at now: Int64, _ sink: Sink
  ) {
    if ignoresFlush(device) { return }
    if let trigger = kind.ofClient { skipWait(device, for: trigger) }
    let created = pending == nil ? takeCreated(device, by: now) : takeDrawn(device, by: now)
    trace(.trigger(kind, newEvents: Int(created.count)), device, at: now)
    let planned = plannedTriggers(device).planned
    if plan.pointee.flush.rearm.restartsAtFlush, kind != .background, runsInterval(device) {
      startInterval(device, at: now)
    }
    flush(
      device, created, nextInterval: plannedTriggers(device).nextInterval, drawnThrough: planned, at: now,
      sink)
  }

  /// The one batch of a device that held none.
  @inline(__always)
  mutating func sealOnly(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, _ created: CreatedEvents,
    _ row: Ledger.Row
  ) -> BatchIndex {
    let ordinal = record.pointee.nextOrdinal
    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: created.firstTime,
      events: UInt16(truncatingIfNeeded: created.count))
    record.pointee.oldest = batch
    record.pointee.newest = batch
    record.pointee.nextOrdinal = ordinal &+ created.count
    count(heldEvents: Int(created.count), of: device)
    row.count(1, .sealedBatches)
    return batch
  }

  /// Seals what has been created, plans the next trigger and runs the upload loop.
  @inline(never)
  private mutating func flush(
    _ device: DeviceIndex, _ created: CreatedEvents, nextInterval: Int64, drawnThrough: Int64, at now: Int64,
    _ sink: Sink
  ) {
    if pages != nil {
      track(created, device, at: now, sink)
      planNextTrigger(device, nextInterval: nextInterval, drawnThrough: drawnThrough, at: now, sink)
      return
    }
    flush(
      device, sealing: created.count, from: self[device].pointee.nextOrdinal, createdAt: created.firstTime,
      at: now, sink)
    planNextTrigger(device, nextInterval: nextInterval, drawnThrough: drawnThrough, at: now, sink)
  }

  @inline(__always)
  package mutating func willSeal(_ n: UInt32, through ordinal: UInt32, _ device: DeviceIndex) {
    count(heldEvents: Int(n), of: device)
    self[device].pointee.nextOrdinal = ordinal
  }

  package mutating func handleWakeUp(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let record = self[device]
    if !record.pointee.wakes(at: now) { return }
    record.pointee.flags.remove(.wakes)
    // A batch that falls due meanwhile waits for the next session.
    if record.pointee.flags.contains(.suspended) { return }
    if pages != nil {
      act(device, at: now, sink)
      return
    }
    trace(.trigger(.wakeUp, newEvents: 0), device, at: now)
    runLoop(device, at: now, byTrigger: false, sink)
  }

  // MARK: Batches

  @inline(__always)
  package mutating func append(
    _ events: UInt32, firstOrdinal: UInt32, firstTime: Int64, _ device: DeviceIndex, at now: Int64
  ) {
    let batch = batches.allocate(
      for: device, firstOrdinal: firstOrdinal, firstTime: firstTime,
      events: UInt16(truncatingIfNeeded: events))
    appendNewest(batch, device)
    appendDue(batch, device)
    ledger.count(1, .sealedBatches, at: now)
    trace(.sealed(batch: Int(firstOrdinal), events: Int(events)), device, at: now)
  }

  package mutating func unsealNewest(_ device: DeviceIndex) {
    let batch = self[device].pointee.newest
    if batch == .noBatch { return }
    let first = batches[batch].firstOrdinal
    removeReady(at: first, device)
    removeHeld(batch, device)
    self[device].pointee.nextOrdinal = first
    count(heldEvents: -Int(batches[batch].events), of: device)
    batches.release(batch)
  }

  /// Neighbouring batches become one, up to the largest batch. A wake-up's loop does not take what waits for a trigger, and keeps
  /// it apart.
  package mutating func rechunk(_ device: DeviceIndex, atMost maximum: UInt32?, at now: Int64) {
    forgetBoundaries(device)
    guard let maximum else { return }
    let byTrigger = self[device].pointee.flags.contains(.byTrigger)
    var batch = self[device].pointee.oldest
    while batch != .noBatch {
      let next = batches[batch].newer
      if next == .noBatch { return }
      let events = UInt32(batches[batch].events)
      let free = maximum - min(events, maximum)
      if free == 0
        || batches[batch].firstOrdinal &+ events != batches[next].firstOrdinal
        || !byTrigger
          && batches[batch].flags.contains(.atTriggersOnly) != batches[next].flags.contains(.atTriggersOnly)
      {
        batch = next
        continue
      }
      let moved = min(free, UInt32(batches[next].events))
      batches[batch].events = UInt16(truncatingIfNeeded: events &+ moved)
      if moved == UInt32(batches[next].events) {
        removeReady(at: batches[next].firstOrdinal, device)
        removeHeld(next, device)
        ledger.count(-1, .sealedBatches, at: now)
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

  mutating func trim(
    _ batch: BatchIndex, by n: UInt32, _ loss: ClientLoss, _ device: DeviceIndex, at now: Int64
  ) {
    let first = batches[batch].firstOrdinal
    let counter = counter(of: loss)
    let accepted = isTraced(device) ? acceptedEvents(of: batch, oldest: n, device) : 0
    countDropped(batch, events: n, counter, device, at: now)
    trimFront(batch, by: n, device)
    count(heldEvents: -Int(n), of: device)
    // A batch that the running loop has passed stays behind it.
    let left = batches[batch].firstOrdinal
    if let loop = loops?[device].pointee, first < loop.cursor, left >= loop.cursor {
      setCursor(left &+ 1, of: device)
    }
    trace(
      .dropped(batch: Int(first), events: Int(n), accepted: Int(accepted), .init(counter)), device, at: now)
  }
}
