import FleetMetrics
import ScenarioModel
import SimulationKernel
import UploadPipeline
import UploadRetry

/// What happens around a device, for cohorts with `CohortPlan.Tables.worlds`: spikes, a network that comes and goes, and sessions.
extension DeviceShard {
  private func world(_ device: DeviceIndex) -> UnsafeMutablePointer<WorldPlan> {
    worlds.unsafelyUnwrapped + device.place
  }

  @inline(never)
  mutating func startWorld(_ device: DeviceIndex, _ sink: UnsafeMutablePointer<ShardCalendar>) {
    world(device).initialize(
      to: WorldPlan(
        nextFlush: .max, nextPeriod: .max, nextInterruption: .max, session: nil, periods: 0,
        isInOfflinePeriod: false))
    scheduleSpike(device, after: -1, sink)
    schedule(device, at: nextFetch(device, after: -1), sink)
    startSessions(device, sink)
    guard let connectivity = plan.pointee.world.connectivity else { return }
    if let periods = connectivity.periods { startPeriods(device, periods, sink) }
    scheduleInterruption(device, after: -1, sink)
    if isOffline(device, at: .start) {
      self[device].pointee.flags.insert(.offline)
      count(1, .offlineDevices, at: .start)
      if isTraced(device) { note(.wentOffline(uploadsCutOff: 0), device, at: .start) }
    }
  }

  package mutating func handleWorld(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let world = world(device)
    if let session = world.pointee.session, now.microseconds == session.end {
      changeSession(device, session, at: now, sink)
    }
    if now.microseconds == world.pointee.nextPeriod || now.microseconds == world.pointee.nextInterruption {
      if now.microseconds == world.pointee.nextPeriod { changePeriod(device, at: now, sink) }
      if now.microseconds == world.pointee.nextInterruption {
        scheduleInterruption(device, after: now.microseconds, sink)
      }
      let isOffline = isOffline(device, at: now)
      if isOffline != self[device].pointee.flags.contains(.offline) {
        if isOffline { goOffline(device, at: now, sink) } else { comeOnline(device, at: now, sink) }
      }
    }
    if plan.pointee.rollout.fetch != .max,
      now.microseconds == nextFetch(device, after: now.microseconds - 1)
    {
      fetchSettings(device, at: now)
      schedule(device, at: nextFetch(device, after: now.microseconds), sink)
    }
    if now.microseconds == world.pointee.nextFlush {
      scheduleSpike(device, after: now.microseconds, sink)
      handleUnplannedTrigger(device, .spike, at: now, sink)
    }
  }

  private mutating func schedule(
    _ device: DeviceIndex, at time: Int64, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    if time < plan.pointee.end { sink.pointee.schedule(world: device, at: Instant(microseconds: time)) }
  }

  // MARK: Spikes

  /// The next flush that a spike makes.
  private mutating func scheduleSpike(
    _ device: DeviceIndex, after past: Int64, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let (key, end) = (key(of: device), plan.pointee.end)
    var next = Int64.max
    let spikes = plan.pointee.world.spikes
    for index in spikes.indices {
      next = min(next, spikes[index].nextFlush(after: past, before: end, index, key))
    }
    world(device).pointee.nextFlush = next
    schedule(device, at: next, sink)
  }

  // MARK: When it is offline

  private func draws(_ device: DeviceIndex) -> RandomKey { key(of: device).child(RandomPurpose.connectivity) }

  private func isOffline(_ device: DeviceIndex, at now: Instant) -> Bool {
    if world(device).pointee.isInOfflinePeriod { return true }
    guard let connectivity = plan.pointee.world.connectivity, !connectivity.interruptions.isEmpty else {
      return false
    }
    let draws = draws(device).child(4)
    return connectivity.interruptions.indices.contains { index in
      let one = connectivity.interruptions[index]
      return one.start <= now && now < one.start + one.duration && one.concerns(draws.child(UInt64(index)))
    }
  }

  private mutating func scheduleInterruption(
    _ device: DeviceIndex, after past: Int64, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let draws = draws(device).child(4)
    var next = Int64.max
    for (index, one) in (plan.pointee.world.connectivity?.interruptions ?? []).enumerated() {
      let (start, end) = (one.start.microseconds, (one.start + one.duration).microseconds)
      let time = start > past ? start : end > past ? end : .max
      if time < next, one.concerns(draws.child(UInt64(index))) { next = time }
    }
    world(device).pointee.nextInterruption = next
    schedule(device, at: next, sink)
  }

  /// A device that has periods is somewhere in one when the run starts.
  private mutating func startPeriods(
    _ device: DeviceIndex, _ periods: Connectivity.Periods, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let draws = draws(device)
    guard Int64(draws.child(0).uniform(below: 1_000_000)) < periods.sharePartsPerMillion else { return }
    let (online, offline) = (periods.online.mean, periods.offline.mean)
    let isOffline = draws.child(1).unitOpen * (online + offline) < offline
    world(device).pointee.isInOfflinePeriod = isOffline
    let rest = (isOffline ? periods.offline : periods.online).rest(draws.child(2))
    world(device).pointee.nextPeriod = rest
    schedule(device, at: rest, sink)
  }

  private mutating func changePeriod(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    guard let periods = plan.pointee.world.connectivity?.periods else { return }
    let world = world(device)
    world.pointee.isInOfflinePeriod.toggle()
    let draw = draws(device).child(3).child(UInt64(world.pointee.periods))
    world.pointee.periods &+= 1
    let length = (world.pointee.isInOfflinePeriod ? periods.offline : periods.online).sample(draw)
    let next = now.microseconds &+ max(length.microseconds, 1)
    world.pointee.nextPeriod = next
    schedule(device, at: next, sink)
  }

  // MARK: Going and coming

  /// The uploads under way end without an answer; what becomes of them the client doesn't know.
  private mutating func goOffline(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let record = self[device]
    let cutOff = uploads(of: device)
    record.pointee.flags.insert(.offline)
    count(1, .offlineDevices, at: now)
    if isTraced(device) { note(.wentOffline(uploadsCutOff: Int(cutOff)), device, at: now) }
    if cutOff == 0 { return }
    record.pointee.flags.insert(.draining)
    var batch = record.pointee.oldest
    while batch != .noBatch {
      let next = batches[batch].newer
      if batches[batch].flags.contains(.inFlight) {
        noteUnknownOutcome(batch, at: now)
        fail(.noStatus, batch, device, at: now.microseconds, sink)
      }
      batch = next
    }
  }

  /// Only what is due leaves: waits are not cut short (O8).
  private mutating func comeOnline(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    self[device].pointee.flags.remove(.offline)
    count(-1, .offlineDevices, at: now)
    if isTraced(device) { note(.cameOnline, device, at: now) }
    let flushes =
      (plan.pointee.world.connectivity?.flushesOnReconnect ?? false)
      && options.pointee.triggers.contains(.reconnect)
    if flushes, !self[device].pointee.flags.contains(.suspended) {
      handleUnplannedTrigger(device, .reconnect, at: now, sink)
    } else if !self[device].pointee.flags.contains(.looping) {
      rest(device, at: now.microseconds, sink)
    }
  }
}

// MARK: - Sessions

extension DeviceShard {
  private mutating func startSessions(_ device: DeviceIndex, _ sink: UnsafeMutablePointer<ShardCalendar>) {
    guard let sessions = plan.pointee.world.sessions else { return }
    let session = sessions.firstPeriod(key(of: device))
    world(device).pointee.session = session
    schedule(device, at: session.end, sink)
    if session.isForeground { return }
    self[device].pointee.flags.insert(.suspended)
    stopInterval(device, until: session.end)
    replan(device, at: .start, sink)
  }

  /// The app comes to the foreground, or goes to the background (S17).
  private mutating func changeSession(
    _ device: DeviceIndex, _ last: Sessions.Period, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    guard let sessions = plan.pointee.world.sessions else { return }
    let session = sessions.period(after: last, key(of: device))
    world(device).pointee.session = session
    schedule(device, at: session.end, sink)
    if isTraced(device) {
      note(session.isForeground ? .cameToForeground : .wentToBackground, device, at: now)
    }
    if session.isForeground {
      self[device].pointee.flags.remove(.suspended)
      startInterval(device, at: now)
    } else {
      stopInterval(device, until: session.end)
    }
    let trigger: ClientTrigger = session.isForeground ? .foreground : .background
    if options.pointee.triggers.contains(trigger), !ignoresFlush(device) {
      handleUnplannedTrigger(device, session.isForeground ? .foreground : .background, at: now, sink)
    } else {
      replan(device, at: now, sink)
      if session.isForeground {
        if self[device].pointee.flags.contains(.looping) {
          if options.pointee.keepsGates { wakeRunningLoop(device, at: now.microseconds, sink) }
        } else {
          rest(device, at: now.microseconds, sink)
        }
      }
    }
    if !session.isForeground { self[device].pointee.flags.insert(.suspended) }
  }

  /// The flush interval starts anew.
  mutating func startInterval(_ device: DeviceIndex, at now: Instant) {
    guard plan.pointee.flush.interval != .max, let triggers else { return }
    triggers[device.place].nextInterval = now.microseconds &+ plan.pointee.flush.interval
  }

  /// The interval does not run: its next trigger is the session's start, which takes its place (`handleTrigger`). Events may have been
  /// drawn up to the trigger that was planned, so that the next is not before it; when the session starts it is planned anew.
  private mutating func stopInterval(_ device: DeviceIndex, until start: Int64) {
    guard plan.pointee.flush.interval != .max, let triggers else { return }
    let planned = triggers + device.place
    planned.pointee.nextInterval = max(planned.pointee.nextInterval, start)
  }

  /// The next trigger, after the interval has changed and no flush has.
  mutating func replan(_ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>) {
    let (planned, nextInterval) = plannedTriggers(device)
    planNextTrigger(
      device, nextInterval: nextInterval, drawnThrough: planned, at: now.microseconds, sink)
  }
}

extension Connectivity.Interruption {
  /// Whether a device is among those without a network.
  fileprivate func concerns(_ draw: RandomKey) -> Bool {
    Int64(draw.uniform(below: 1_000_000)) < sharePartsPerMillion
  }
}
