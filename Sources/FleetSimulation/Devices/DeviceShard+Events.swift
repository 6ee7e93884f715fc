import FleetMetrics
import SimulationKernel
import UploadPipeline

/// Events that a flush finds: how many, and when the first was created.
struct CreatedEvents {
  var count: UInt32
  var firstTime: Int64
}

/// When events are created and when the next trigger is.
///
/// Event times depend on nothing but the device and the event's number, so they can be drawn ahead: one engine event a flush
/// instead of one an analytics event.
extension DeviceShard {
  /// The events that the trigger at `now` seals.
  @inline(__always)
  mutating func takeCreated(_ device: DeviceIndex, by now: Instant) -> CreatedEvents {
    if let pending {
      let events = pending + device.place
      let created = CreatedEvents(count: events.pointee.upcoming, firstTime: events.pointee.unsealedTime)
      events.pointee.upcoming = 0
      events.pointee.unsealedTime = events.pointee.aheadTime
      return created
    }
    let first = firstPeriodicEvent(device)
    let ordinal = self[device].pointee.nextOrdinal
    if isEvenInterval(now.microseconds) {
      return CreatedEvents(
        count: plan.pointee.events.perInterval,
        firstTime: first &+ Int64(ordinal) &* plan.pointee.events.period)
    }
    return CreatedEvents(
      count: periodicEvents(from: first, through: now.microseconds) &- ordinal,
      firstTime: first &+ Int64(ordinal) &* plan.pointee.events.period)
  }

  /// Whether a device with periodic events finds as many at the trigger at `now` as at any other: then nothing is divided.
  @inline(__always)
  private func isEvenInterval(_ now: Int64) -> Bool {
    plan.pointee.events.perInterval != 0 && plan.pointee.flush.isScanned && now >= plan.pointee.flush.interval
  }

  /// Of the events drawn ahead, those created by `now`.
  mutating func takeDrawn(_ device: DeviceIndex, by now: Instant) -> CreatedEvents {
    let events = pending.unsafelyUnwrapped + device.place
    let draws = EventDraws(key(of: device))
    let firstTime = events.pointee.unsealedTime
    var time = firstTime
    var n: UInt32 = 0
    while n < events.pointee.upcoming, time <= now.microseconds {
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
    let draws = EventDraws(key(of: device))
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

  // MARK: The next trigger

  mutating func planFirstTrigger(
    _ device: DeviceIndex, phase: Int64, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    planNextTrigger(
      device, nextInterval: plan.pointee.flush.interval == .max ? .max : phase, drawnThrough: -1, at: -1, sink
    )
  }

  /// Draws the events up to the next trigger and schedules it: the interval, or the event that fills the count.
  ///
  /// - Parameter drawnThrough: the horizon of the plan before.
  @inline(__always)
  mutating func planNextTrigger(
    _ device: DeviceIndex, nextInterval: Int64, drawnThrough: Int64, at now: Int64,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let horizon = min(nextInterval, plan.pointee.end &- 1)
    var next = nextInterval
    if pending == nil {
      countPeriodic(device, after: drawnThrough, through: horizon)
    } else {
      next =
        plan.pointee.events.countsAll
        ? drawAheadCountingAll(device, nextInterval: nextInterval, horizon: horizon, at: now)
        : drawAhead(device, nextInterval: nextInterval, horizon: horizon)
    }
    if let triggers { triggers[device.place].triggerAt = next }
    // A scan finds the triggers of the interval.
    if next < plan.pointee.end, !plan.pointee.flush.isScanned || next != nextInterval {
      sink.pointee.schedule(trigger: device, at: Instant(microseconds: next))
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
    var time = time
    for _ in 0..<events {
      counters.add(1, to: .createdEvents, row: creationRows.row(at: time))
      time &+= plan.pointee.events.period
    }
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
  private mutating func drawAhead(_ device: DeviceIndex, nextInterval: Int64, horizon: Int64) -> Int64 {
    let events = pending.unsafelyUnwrapped + device.place
    var time = events.pointee.aheadTime
    // Events drawn ahead for an earlier plan are there already; if they fill the count, the plan stands.
    var n = events.pointee.upcoming
    var last = triggers?[device.place].triggerAt ?? .max
    var full = plan.pointee.flush.count
    if plan.pointee.flush.countsHeld {
      let held = heldEvents(of: device)
      full = max(full, held &+ 1) &- held
    }
    if n >= full {
      if last != TriggerPlan.ignored { return last }
      // The count is full, and each event more is a trigger.
      full = n &+ 1
    }
    if time <= horizon {
      let draws = EventDraws(key(of: device))
      let ordinal = self[device].pointee.nextOrdinal
      while time <= horizon, n < full {
        last = time
        n &+= 1
        counters.add(1, to: .createdEvents, row: creationRows.otherRow(at: time))
        time = plan.next(after: time, before: ordinal &+ n, draws)
      }
      events.pointee.aheadTime = time
    }
    events.pointee.upcoming = n
    return n == full ? last : nextInterval
  }

  /// The same where flushes in between don't restart the count: the event that fills it has a number that is a multiple.
  @inline(never)
  private mutating func drawAheadCountingAll(
    _ device: DeviceIndex, nextInterval: Int64, horizon: Int64, at now: Int64
  ) -> Int64 {
    let events = pending.unsafelyUnwrapped + device.place
    let ordinal = self[device].pointee.nextOrdinal
    var (time, n) = (events.pointee.aheadTime, events.pointee.upcoming)
    if n > 0, (ordinal &+ n) % plan.pointee.flush.count == 0,
      let planned = triggers?[device.place].triggerAt, planned > now,
      planned != nextInterval
    {
      return planned
    }
    let draws = EventDraws(key(of: device))
    var next = nextInterval
    while time <= horizon, next == nextInterval {
      n &+= 1
      counters.add(1, to: .createdEvents, row: creationRows.otherRow(at: time))
      if (ordinal &+ n) % plan.pointee.flush.count == 0 { next = time }
      time = plan.next(after: time, before: ordinal &+ n, draws)
    }
    events.pointee.aheadTime = time
    events.pointee.upcoming = n
    return next
  }
}
