import ScenarioModel
import SimulationKernel
import UploadPipeline

/// Events drawn ahead, up to the pending trigger. Strictly periodic events without a count trigger are computed instead.
struct PendingEvents: BitwiseCopyable {
  /// Creation time of event `nextOrdinal`.
  fileprivate(set) var unsealedTime: Int64
  /// Creation time of the event behind those that the pending trigger will seal.
  fileprivate(set) var aheadTime: Int64
  /// Events that the pending trigger will seal: created by then.
  fileprivate(set) var upcoming: UInt32
}

/// When a device flushes next, where the phase alone does not say it.
struct TriggerPlan: BitwiseCopyable {
  /// The pending trigger; one that comes up at another time is stale.
  fileprivate(set) var triggerAt: Int64
  /// `.max`: none.
  fileprivate(set) var nextInterval: Int64

  /// Instead of `triggerAt`: the trigger has come, and the client has ignored it.
  fileprivate static var ignored: Int64 { .min }
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
  /// Returns the draws of events that no flush has sealed.
  @inline(__always)
  func drawsAhead(of device: DeviceIndex) -> EventDraws {
    EventDraws(key(of: device), period: periods.map { $0 + 2 &* device.place })
  }

  /// Returns the draws of events that have been drawn before.
  @inline(__always)
  func drawsAgain(of device: DeviceIndex) -> EventDraws {
    EventDraws(key(of: device), period: periods.map { $0 + (2 &* device.place &+ 1) })
  }

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
    let firstTime = events.pointee.unsealedTime
    let (n, time) = drawn(events.pointee, device, through: now, drawsAhead(of: device))
    events.pointee.upcoming &-= n
    events.pointee.unsealedTime = time
    return CreatedEvents(count: n, firstTime: firstTime)
  }

  /// How many of the events drawn ahead are created by a time, and when the one behind them is.
  private func drawn(
    _ events: PendingEvents, _ device: DeviceIndex, through time: Int64, _ draws: EventDraws
  ) -> (count: UInt32, next: Int64) {
    var (n, next) = (UInt32(0), events.unsealedTime)
    while n < events.upcoming, next <= time {
      n &+= 1
      next = plan.next(after: next, before: self[device].pointee.nextOrdinal &+ n, draws)
    }
    return (n, next)
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

  /// Events created by `now` that no flush has sealed. O(events drawn ahead).
  func unsealedEvents(_ device: DeviceIndex, through now: Int64) -> Int64 {
    if let pending {
      return Int64(drawn(pending[device.place], device, through: now, drawsAgain(of: device)).count)
    }
    let created = periodicEvents(from: firstPeriodicEvent(device), through: now)
    return Int64(created) - Int64(self[device].pointee.nextOrdinal)
  }

  // MARK: The next trigger

  /// At the start of the run: the first event, and the first trigger (O(events up to it)).
  mutating func startClock(_ device: DeviceIndex, _ sink: Sink) {
    let isScanned = plan.pointee.flush.isScanned
    let phase = isScanned ? Int64(self[device].pointee.phase) : plan.flushPhase(key(of: device))
    let nextInterval = plan.pointee.flush.interval == .max ? .max : phase
    triggers?[device.place] = TriggerPlan(triggerAt: .max, nextInterval: nextInterval)
    if let pending {
      let first = plan.firstEvent(EventDraws(key(of: device)))
      pending[device.place] = PendingEvents(unsealedTime: first, aheadTime: first, upcoming: 0)
    }
    planNextTrigger(device, nextInterval: nextInterval, drawnThrough: -1, at: -1, sink)
  }

  /// Whether the trigger at `now` is that of the interval, and when its next is; nil: nothing is to be done at it.
  @inline(__always)
  func dueTrigger(_ device: DeviceIndex, at now: Int64) -> (isInterval: Bool, nextInterval: Int64)? {
    let nextInterval = now &+ plan.flushInterval(key(of: device))
    guard let triggers else { return (true, nextInterval) }
    let planned = triggers + device.place
    let isInterval = now == planned.pointee.nextInterval
    if planned.pointee.triggerAt != now || isInterval && !runsInterval(device) { return nil }
    if isInterval || plan.pointee.flush.rearm.restartsAtFlush && runsInterval(device) {
      planned.pointee.nextInterval = nextInterval
    }
    return (isInterval, planned.pointee.nextInterval)
  }

  /// The trigger has come, and the client has ignored it.
  func ignoreTrigger(_ device: DeviceIndex) { triggers?[device.place].triggerAt = TriggerPlan.ignored }

  /// The pending trigger and the next of the interval, of a device that keeps them.
  func plannedTriggers(_ device: DeviceIndex) -> (planned: Int64, nextInterval: Int64) {
    let plan = triggers.unsafelyUnwrapped[device.place]
    return (plan.triggerAt, plan.nextInterval)
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
      sink.pointee.schedule(ItemKind.trigger, device, at: next)
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

  // MARK: The interval

  /// The flush interval starts anew.
  mutating func startInterval(_ device: DeviceIndex, at now: Int64) {
    guard plan.pointee.flush.interval != .max, let triggers else { return }
    let interval = plan.flushInterval(key(of: device))
    var next = now &+ interval
    if plan.pointee.flush.rearm == .wallClock {
      let phase = plan.flushPhase(key(of: device))
      let past = ((now &- phase) % interval &+ interval) % interval
      next = now &- past &+ interval
    }
    triggers[device.place].nextInterval = next
  }

  /// Whether the interval runs: the app is in the foreground.
  func runsInterval(_ device: DeviceIndex) -> Bool {
    !self[device].pointee.flags.contains(.suspended) && !(systems.map { $0[device.place].isOpen } ?? false)
  }

  /// The running loop may have ended: with `FlushPolicy.Rearm.afterAnswer` the interval starts anew.
  mutating func rearm(_ device: DeviceIndex, wasLooping: Bool, at now: Int64, _ sink: Sink) {
    guard wasLooping, !self[device].pointee.flags.contains(.looping), runsInterval(device) else { return }
    startInterval(device, at: now)
    replan(device, at: now, sink)
  }

  /// Stops the interval: its next trigger is the session's start, which takes its place (`handleTrigger`). Events may have been
  /// drawn up to the trigger that was planned, so that the next is not before it. When the session starts it is planned anew.
  mutating func stopInterval(_ device: DeviceIndex, until start: Int64) {
    guard plan.pointee.flush.interval != .max, let triggers else { return }
    let planned = triggers + device.place
    planned.pointee.nextInterval = max(planned.pointee.nextInterval, start)
  }

  /// The next trigger, after the interval has changed and no flush has.
  mutating func replan(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let (planned, nextInterval) = plannedTriggers(device)
    planNextTrigger(device, nextInterval: nextInterval, drawnThrough: planned, at: now, sink)
  }
}
