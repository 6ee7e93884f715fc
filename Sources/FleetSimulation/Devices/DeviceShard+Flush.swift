import FleetMetrics
import ScenarioModel
import SimulationKernel
import UploadGating
import UploadPipeline

/// Triggers: what has been created is sealed, the limit is kept, the upload loop is asked to run (S17).
extension DeviceShard {
  /// Sets a device's phases and its first trigger (O(1) plus the events up to it).
  package mutating func start(device: DeviceIndex, _ sink: Sink) {
    let record = self[device]
    let key = key(of: device)
    if let loops { loops[device].pointee = UploadLoopState() }
    let phase =
      plan.pointee.flush.isScanned ? Int64(record.pointee.phase) : plan.flushPhase(key)
    if let triggers {
      triggers[device.place] = TriggerPlan(
        triggerAt: .max, nextInterval: plan.pointee.flush.interval == .max ? .max : phase)
    }
    if let pending {
      let first = plan.firstEvent(EventDraws(key))
      pending[device.place] = PendingEvents(
        unsealedTime: first, aheadTime: first, upcoming: 0)
    }
    run(device, on: settingsAtLaunch(device, at: 0), at: 0)
    planFirstTrigger(device, phase: phase, sink)
    scheduleRestarts(device, sink)
    if plan.pointee.tables.worlds { startWorld(device, sink) }
    if pages != nil, !record.pointee.flags.contains(.suspended) { openPage(device, at: 0, sink) }
  }

  package mutating func handleTrigger(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    var isInterval = true
    var nextInterval = now &+ plan.flushInterval(key(of: device))
    if let triggers {
      let planned = triggers + device.place
      if planned.pointee.triggerAt != now { return }
      isInterval = now == planned.pointee.nextInterval
      if isInterval, !runsInterval(device) { return }
      if isInterval || plan.pointee.flush.restartsAtFlush && runsInterval(device) {
        planned.pointee.nextInterval = nextInterval
      } else {
        nextInterval = planned.pointee.nextInterval
      }
    }
    let isIgnored = ignoresFlush(device)
    // The interval does not run while uploads do.
    let isEarly =
      isInterval && plan.pointee.flush.rearm == .afterAnswer
      && self[device].pointee.flags.contains(.looping)
    if isIgnored || isEarly || !isInterval && !plan.pointee.flush.countAlwaysFlushes && ignoresCount(device) {
      if isIgnored { trace(.alreadyUploading(joins: false), device, at: now) }
      triggers?[device.place].triggerAt = TriggerPlan.ignored
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
    if plan.pointee.flush.restartsAtFlush, kind != .background, runsInterval(device) {
      startInterval(device, at: now)
    }
    flush(
      device, created, nextInterval: plannedTriggers(device).nextInterval, drawnThrough: planned, at: now,
      sink)
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
    _ row: Ledger.Row
  ) -> BatchIndex {
    let ordinal = record.pointee.nextOrdinal
    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: created.firstTime,
      events: UInt16(truncatingIfNeeded: created.count))
    record.pointee.oldest = batch
    record.pointee.newest = batch
    record.pointee.nextOrdinal = ordinal &+ created.count
    if let loops { loops[device].pointee.heldEvents = created.count }
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
    if let loops { loops[device].pointee.heldEvents &+= n }
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
    if let loops { loops[device].pointee.heldEvents &-= UInt32(batches[batch].events) }
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
    if let loops {
      let loop = loops[device]
      loop.pointee.heldEvents &-= n
      // A batch that the running loop has passed stays behind it.
      let left = batches[batch].firstOrdinal
      if first < loop.pointee.cursor, left >= loop.pointee.cursor { loop.pointee.cursor = left &+ 1 }
    }
    trace(
      .dropped(batch: Int(first), events: Int(n), accepted: Int(accepted), .init(counter)), device, at: now)
  }
}

/// Events that a flush finds: how many, and when the first was created.
struct CreatedEvents {
  var count: UInt32
  var firstTime: Int64
}

/// When events are created and when the next trigger is.
///
/// Event times depend on nothing but the device and the event's number, so they can be drawn ahead. One engine event a flush
/// does in place of one an analytics event.
extension DeviceShard {
  /// The events that the trigger at `now` seals.
  @inline(__always)
  mutating func takeCreated(_ device: DeviceIndex, by now: Int64) -> CreatedEvents {
    if let pending {
      let events = pending + device.place
      let created = CreatedEvents(count: events.pointee.upcoming, firstTime: events.pointee.unsealedTime)
      events.pointee.upcoming = 0
      events.pointee.unsealedTime = events.pointee.aheadTime
      return created
    }
    let first = firstPeriodicEvent(device)
    let ordinal = self[device].pointee.nextOrdinal
    if isEvenInterval(now) {
      return CreatedEvents(
        count: plan.pointee.events.perInterval,
        firstTime: first &+ Int64(ordinal) &* plan.pointee.events.period)
    }
    return CreatedEvents(
      count: periodicEvents(from: first, through: now) &- ordinal,
      firstTime: first &+ Int64(ordinal) &* plan.pointee.events.period)
  }

  /// Whether a device with periodic events finds as many at the trigger at `now` as at any other: then nothing is divided.
  @inline(__always)
  private func isEvenInterval(_ now: Int64) -> Bool {
    plan.pointee.events.perInterval != 0 && plan.pointee.flush.isScanned && now >= plan.pointee.flush.interval
  }

  /// Takes those of the events drawn ahead that are created by `now`.
  mutating func takeDrawn(_ device: DeviceIndex, by now: Int64) -> CreatedEvents {
    let events = pending.unsafelyUnwrapped + device.place
    let draws = drawsAhead(of: device)
    let firstTime = events.pointee.unsealedTime
    var time = firstTime
    var n: UInt32 = 0
    while n < events.pointee.upcoming, time <= now {
      n &+= 1
      time = plan.next(after: time, before: self[device].pointee.nextOrdinal &+ n, draws)
    }
    events.pointee.upcoming &-= n
    events.pointee.unsealedTime = time
    return CreatedEvents(count: n, firstTime: firstTime)
  }

  /// Creation time of the first event that no flush has sealed.
  func unsealedTime(_ device: DeviceIndex) -> Int64 {
    if let pending { return pending[device.place].unsealedTime }
    return firstPeriodicEvent(device) &+ Int64(self[device].pointee.nextOrdinal) &* plan.pointee.events.period
  }

  /// The event `n` behind event `ordinal`.
  package mutating func skip(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ device: DeviceIndex) -> (
    Int64, UInt32
  ) {
    if plan.pointee.events.isPeriodic {
      return (time &+ Int64(n) &* plan.pointee.events.period, ordinal &+ n)
    }
    let draws = drawsAgain(of: device)
    var time = time
    for i in 1...max(n, 1) where n > 0 { time = plan.next(after: time, before: ordinal &+ i, draws) }
    return (time, ordinal &+ n)
  }

  /// With periodic events.
  @inline(__always)
  func firstPeriodicEvent(_ device: DeviceIndex) -> Int64 {
    plan.pointee.events.phaseIsFlush && plan.pointee.flush.isScanned
      ? Int64(self[device].pointee.phase) : plan.eventPhase(key(of: device))
  }

  /// How many events are created by a time, the first at `first`.
  @inline(__always)
  private func periodicEvents(from first: Int64, through time: Int64) -> UInt32 {
    time < first ? 0 : UInt32(truncatingIfNeeded: plan.pointee.events.periods.quotient(time &- first) &+ 1)
  }

  /// Events that are created before the end of the run, and that no flush has sealed when it is over.
  func unsealedEvents(_ device: DeviceIndex, before end: Int64) -> Int64 {
    if let pending { return Int64(pending[device.place].upcoming) }
    let created = periodicEvents(from: firstPeriodicEvent(device), through: end &- 1)
    return Int64(created) - Int64(self[device].pointee.nextOrdinal)
  }

  // MARK: The next trigger

  mutating func planFirstTrigger(_ device: DeviceIndex, phase: Int64, _ sink: Sink) {
    planNextTrigger(
      device, nextInterval: plan.pointee.flush.interval == .max ? .max : phase, drawnThrough: -1, at: -1, sink
    )
  }

  /// Draws the events up to the next trigger and schedules it: the interval, or the event that fills the count.
  ///
  /// - Parameter drawnThrough: the horizon of the plan before.
  @inline(__always)
  mutating func planNextTrigger(
    _ device: DeviceIndex, nextInterval: Int64, drawnThrough: Int64, at now: Int64, _ sink: Sink
  ) {
    let horizon = min(nextInterval, plan.pointee.end &- 1)
    var next = nextInterval
    if pending == nil {
      countPeriodic(device, after: drawnThrough, through: horizon)
    } else {
      next = drawAhead(device, nextInterval: nextInterval, horizon: horizon, at: now)
    }
    if let triggers { triggers[device.place].triggerAt = next }
    // A scan finds the triggers of the interval.
    if next < plan.pointee.end, !plan.pointee.flush.isScanned || next != nextInterval {
      sink.pointee.schedule(trigger: device, at: next)
    }
  }

  @inline(__always)
  private mutating func countPeriodic(_ device: DeviceIndex, after past: Int64, through horizon: Int64) {
    let first = firstPeriodicEvent(device)
    if isEvenInterval(past), horizon &- past == plan.pointee.flush.interval {
      countCreated(
        plan.pointee.events.perInterval,
        from: first &+ Int64(self[device].pointee.nextOrdinal) &* plan.pointee.events.period)
      return
    }
    countUneven(device, first: first, after: past, through: horizon)
  }

  /// Counts periodic events, the first created at `time`.
  @inline(__always)
  mutating func countCreated(_ events: UInt32, from time: Int64) {
    ledger.countCreated(events, from: time, every: plan.pointee.events.period)
  }

  @inline(never)
  private mutating func countUneven(
    _ device: DeviceIndex, first: Int64, after past: Int64, through horizon: Int64
  ) {
    let counted = periodicEvents(from: first, through: min(past, plan.pointee.end &- 1))
    let last = periodicEvents(from: first, through: horizon)
    if counted < last {
      countCreated(last &- counted, from: first &+ Int64(counted) &* plan.pointee.events.period)
    }
  }

  /// Looking ahead costs one draw an event, the same that taking it later would.
  @inline(never)
  private mutating func drawAhead(
    _ device: DeviceIndex, nextInterval: Int64, horizon: Int64, at now: Int64
  ) -> Int64 {
    let events = pending.unsafelyUnwrapped + device.place
    var time = events.pointee.aheadTime
    // Events drawn ahead for an earlier plan are there already; if they fill the count, the plan stands.
    var n = events.pointee.upcoming
    var last = triggers?[device.place].triggerAt ?? .max
    var full = plan.pointee.flush.count
    var alsoAt = Int64.max
    if plan.pointee.events.countsAll {
      // Flushes in between don't restart the count: the event that fills it has a number that is a multiple.
      let past = (self[device].pointee.nextOrdinal &+ n) % full
      if n > 0, past == 0, last > now, last != nextInterval { return last }
      full = n &+ full &- past
      // The interval's own trigger takes all that is created by then.
      alsoAt = nextInterval
    } else if plan.pointee.flush.countsHeld {
      let held = heldEvents(of: device)
      full = max(full, held &+ 1) &- held
    }
    if n >= full {
      if last != TriggerPlan.ignored { return last }
      // The count is full, and each event more is a trigger.
      full = n &+ 1
    }
    if time <= horizon {
      let draws = drawsAhead(of: device)
      let ordinal = self[device].pointee.nextOrdinal
      while time <= horizon, n < full || last == alsoAt {
        last = time
        n &+= 1
        ledger.countCreated(at: time)
        time = plan.next(after: time, before: ordinal &+ n, draws)
      }
      events.pointee.aheadTime = time
    }
    events.pointee.upcoming = n
    return n == full ? last : nextInterval
  }
}
