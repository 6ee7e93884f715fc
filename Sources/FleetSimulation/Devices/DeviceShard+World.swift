import FleetMetrics
import ScenarioModel
import SimulationKernel
import UploadPipeline
import UploadRetry

struct RestartPlan: BitwiseCopyable {
  /// The next restart at random; `.max`: none.
  fileprivate(set) var next: Int64
  /// Restarts so far: each draws the time to the next by its number.
  fileprivate(set) var count: UInt16
}

/// Kills and launches of the app (S18, S19): a restart is both at one instant.
extension DeviceShard {
  /// At the start of the run: the first restart at random, and all synchronised ones.
  mutating func scheduleRestarts(_ device: DeviceIndex, _ sink: Sink) {
    scheduleNextRestart(device, after: 0, sink)
    for (index, restart) in plan.pointee.restarts.synchronised.enumerated() {
      let draw = lifecycleKey(device).child(1).child(UInt64(index))
      let time = restart.time.microseconds &+ draw.uniform(0, through: restart.spread.microseconds)
      if time < plan.pointee.end { sink.pointee.schedule(ItemKind.restart, device, at: time) }
    }
  }

  private func lifecycleKey(_ device: DeviceIndex) -> RandomKey {
    key(of: device).child(RandomPurpose.lifecycle)
  }

  private mutating func scheduleNextRestart(_ device: DeviceIndex, after now: Int64, _ sink: Sink) {
    guard plan.pointee.restarts.meanGap > 0 else { return }
    let plans = restarts.unsafelyUnwrapped + device.place
    let draw = lifecycleKey(device).child(0).child(UInt64(plans.pointee.count))
    let gap = max(Distribution.exponentialGap(mean: plan.pointee.restarts.meanGap, key: draw), 1)
    plans.pointee.count &+= 1
    let time = now &+ gap
    plans.pointee.next = time
    if time < plan.pointee.end { sink.pointee.schedule(ItemKind.restart, device, at: time) }
  }

  package mutating func handleRestart(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let record = self[device]
    if plan.pointee.restarts.meanGap > 0, now == restarts?[device.place].next {
      scheduleNextRestart(device, after: now, sink)
    }
    ledger.count(1, .launches, at: now)
    if pages != nil {
      closePage(device, isKilled: true, at: now, sink)
      if !record.pointee.flags.contains(.suspended) { loadPage(device, at: now, sink) }
      return
    }
    let cutOff = uploads(of: device)
    var kept = endProcess(device, at: now)
    if !plan.pointee.restarts.keepsState { kept = RetrySnapshot() }
    giveUpUploads(device, at: now)
    if options.pointee.keepsGates {
      relaunchGates(device, keepingState: plan.pointee.restarts.keepsState, at: now)
    }
    fetchAtLaunch(device, at: now, sink)
    record.pointee.flags.remove(.wakes)
    let repairs = restore(kept, device, at: now)
    if plan.pointee.checks { checkRepairs(repairs, device, at: now) }
    trace(.launched(record.pointee.settings, uploadsCutOff: Int(cutOff)), device, at: now)
    // A closed app is launched in the background, where no interval runs.
    let isOpen = !record.pointee.flags.contains(.suspended)
    // The flush timer starts anew: devices that restart together flush together from then on.
    if runsInterval(device) { startInterval(device, at: now) }
    if isOpen, plan.pointee.restarts.flushesAtLaunch, options.pointee.triggers.contains(.foreground) {
      handleUnplannedTrigger(device, at: now, sink)
    } else {
      replan(device, at: now, sink)
      rest(device, at: now, sink)
    }
  }

  /// The kill ends the loop and every upload under way; what becomes of them the client never learns, so they are due again.
  mutating func giveUpUploads(_ device: DeviceIndex, at now: Int64) {
    let record = self[device]
    let cutOff = uploads(of: device)
    if cutOff == 0, !options.pointee.actsAtFlushEnd { return }
    ledger.count(-Int64(cutOff), .inFlight, at: now)
    setUploads(0, of: device)
    var batch = record.pointee.oldest
    while batch != .noBatch {
      if batches[batch].flags.contains(.inFlight) {
        batches[batch].flags.remove(.inFlight)
        noteFailure(.other, of: batches.address(batch), device)
        noteUnknownOutcome(batch, at: now)
        if options.pointee.gates.reconciles {
          batches[batch].attempts = StatusQuery.number(batches[batch].attempts)
        }
      } else if options.pointee.actsAtFlushEnd, batches[batch].flags.contains(.accepted) {
        // Answered, and the client had not acted yet.
        batches[batch].flags.insert(.unknownOutcome)
      }
      batch = batches[batch].newer
    }
  }

  /// A kill at any instant leaves a snapshot that needs no repair, except where the new Settings have other limits.
  private mutating func checkRepairs(_ repairs: [SnapshotRepair], _ device: DeviceIndex, at now: Int64) {
    for repair in repairs {
      switch repair.kind {
      case .waitIsOver, .unknownOutcome, .waitClamped, .batchWaitClamped, .countClamped: break
      case .unreadable, .firstFailureInTheFuture, .inconsistentBatch, .duplicateBatch:
        report("a snapshot had to be repaired (\(repair))", device, at: now)
      }
    }
  }
}

/// The next changes of the world around a device.
struct WorldPlan: BitwiseCopyable {
  /// The next flush of a spike or a cut; `.max`: none.
  fileprivate(set) var nextFlush: Int64
  /// The next start or end of an interruption; `.max`: none.
  fileprivate(set) var nextInterruption: Int64
  /// nil: the app runs all the time.
  fileprivate(set) var session: SessionPlan.Period?
  /// nil: there are no periods without a network.
  fileprivate(set) var network: Connectivity.Period?
  /// There is no network, whatever the system lets the app do.
  fileprivate(set) var isOffline: Bool
  /// Counted as `closedAppEvents`.
  fileprivate(set) var closedEvents: Int64
}

/// The world around a device, for cohorts with `CohortPlan.Tables.worlds`: spikes, a network that comes and goes, and sessions.
extension DeviceShard {
  private func world(_ device: DeviceIndex) -> UnsafeMutablePointer<WorldPlan> {
    worlds.unsafelyUnwrapped + device.place
  }

  @inline(never)
  mutating func startWorld(_ device: DeviceIndex, _ sink: Sink) {
    world(device).initialize(
      to: WorldPlan(
        nextFlush: .max, nextInterruption: .max, session: nil, network: nil, isOffline: false,
        closedEvents: 0))
    scheduleSpike(device, after: -1, sink)
    schedule(device, at: nextFetch(device, after: -1), sink)
    startSessions(device, sink)
    guard let connectivity = plan.pointee.world.connectivity else { return }
    if let periods = connectivity.periods {
      enter(Connectivity.firstPeriod(periods, key(of: device)), device, sink)
    }
    scheduleInterruption(device, after: -1, sink)
    if isOffline(device, at: 0) {
      world(device).pointee.isOffline = true
      self[device].pointee.flags.insert(.offline)
      ledger.count(1, .offlineDevices, at: 0)
      trace(.wentOffline(uploadsCutOff: 0), device, at: 0)
    }
  }

  package mutating func handleWorld(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    // The last window reaches beyond the end.
    if now >= plan.pointee.end { return }
    let world = world(device)
    if let session = world.pointee.session, now == session.end {
      changeSession(device, session, at: now, sink)
    }
    if let systems, now == systems[device.place].next { changeWindow(device, at: now, sink) }
    let periodEnds = now == world.pointee.network?.end
    if periodEnds || now == world.pointee.nextInterruption {
      if periodEnds, let past = world.pointee.network, let periods = plan.pointee.world.connectivity?.periods
      {
        enter(Connectivity.period(after: past, periods, key(of: device)), device, sink)
      }
      if now == world.pointee.nextInterruption {
        scheduleInterruption(device, after: now, sink)
      }
      let isOffline = isOffline(device, at: now)
      if isOffline != world.pointee.isOffline {
        world.pointee.isOffline = isOffline
        if isOffline { goOffline(device, at: now, sink) } else { comeOnline(device, at: now, sink) }
      }
    }
    if plan.pointee.rollout.fetch != .max,
      now == nextFetch(device, after: now - 1)
    {
      fetchWhileRunning(device, at: now, sink)
      schedule(device, at: nextFetch(device, after: now), sink)
    }
    if now == world.pointee.nextFlush {
      scheduleSpike(device, after: now, sink)
      handleUnplannedTrigger(device, .spike, at: now, sink)
    }
  }

  mutating func schedule(_ device: DeviceIndex, at time: Int64, _ sink: Sink) {
    if time < plan.pointee.end { sink.pointee.schedule(ItemKind.world, device, at: time) }
  }

  // MARK: Spikes

  /// The next flush that a spike or a cut makes.
  private mutating func scheduleSpike(_ device: DeviceIndex, after past: Int64, _ sink: Sink) {
    let next = plan.pointee.world.moments.nextFlush(
      after: past, before: plan.pointee.end, key(of: device))
    world(device).pointee.nextFlush = next
    schedule(device, at: next, sink)
  }

  // MARK: When it is offline

  private func isOffline(_ device: DeviceIndex, at now: Int64) -> Bool {
    if world(device).pointee.network?.isOffline ?? false { return true }
    guard let connectivity = plan.pointee.world.connectivity else { return false }
    return connectivity.interruptionEnd(at: now, key(of: device)) != nil
  }

  private mutating func scheduleInterruption(_ device: DeviceIndex, after past: Int64, _ sink: Sink) {
    let draws = Connectivity.interruptionDraws(key(of: device))
    var next = Int64.max
    for (index, one) in (plan.pointee.world.connectivity?.interruptions ?? []).enumerated() {
      let (start, end) = (one.start.microseconds, (one.start + one.duration).microseconds)
      let time = start > past ? start : end > past ? end : .max
      if time < next, one.concerns(draws.child(UInt64(index))) { next = time }
    }
    world(device).pointee.nextInterruption = next
    schedule(device, at: next, sink)
  }

  private mutating func enter(_ period: Connectivity.Period?, _ device: DeviceIndex, _ sink: Sink) {
    world(device).pointee.network = period
    if let period { schedule(device, at: period.end, sink) }
  }

  // MARK: Going and coming

  func isWithoutNetwork(_ device: DeviceIndex) -> Bool { world(device).pointee.isOffline }

  /// The uploads under way end without an answer; what becomes of them the client doesn't know.
  private mutating func goOffline(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let record = self[device]
    let cutOff = uploads(of: device)
    record.pointee.flags.insert(.offline)
    ledger.count(1, .offlineDevices, at: now)
    trace(.wentOffline(uploadsCutOff: Int(cutOff)), device, at: now)
    giveUpFetch(device, at: now, sink)
    if pages != nil { setPageOnline(false, device, at: now, sink) }
    // In an ideal run only the place in line is lost.
    if cutOff == 0 || pages != nil || plan.pointee.isIdeal { return }
    record.pointee.flags.insert(.draining)
    var batch = record.pointee.oldest
    while batch != .noBatch {
      let next = batches[batch].newer
      if batches[batch].flags.contains(.inFlight) {
        noteUnknownOutcome(batch, at: now)
        fail(.noStatus, batch, device, at: now, sink)
      }
      batch = next
    }
  }

  /// Only what is due leaves: waits are not cut short (O8).
  private mutating func comeOnline(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    ledger.count(-1, .offlineDevices, at: now)
    trace(.cameOnline, device, at: now)
    if systemHolds(device) { return }
    self[device].pointee.flags.remove(.offline)
    if pages != nil {
      setPageOnline(true, device, at: now, sink)
      return
    }
    let flushes =
      (plan.pointee.world.connectivity?.flushesOnReconnect ?? false)
      && options.pointee.triggers.contains(.reconnect)
    if flushes, !self[device].pointee.flags.contains(.suspended) {
      handleUnplannedTrigger(device, .reconnect, at: now, sink)
    } else if !self[device].pointee.flags.contains(.looping) {
      rest(device, at: now, sink)
    }
  }
}

// MARK: - Sessions

extension DeviceShard {
  private mutating func startSessions(_ device: DeviceIndex, _ sink: Sink) {
    guard let sessions = plan.pointee.world.sessions else { return }
    let session = sessions.firstPeriod(key(of: device))
    world(device).pointee.session = session
    schedule(device, at: session.end, sink)
    startSystem(device, age: session.isForeground ? nil : sessions.ageOfFirstGap(key(of: device)), sink)
    if session.isForeground { return }
    self[device].pointee.flags.insert(.suspended)
    stopInterval(device, until: session.end)
    replan(device, at: 0, sink)
  }

  /// The app comes to the foreground, or goes to the background (S17).
  private mutating func changeSession(
    _ device: DeviceIndex, _ last: SessionPlan.Period, at now: Int64, _ sink: Sink
  ) {
    guard let sessions = plan.pointee.world.sessions else { return }
    let session = sessions.period(after: last, key(of: device))
    world(device).pointee.session = session
    schedule(device, at: session.end, sink)
    trace(session.isForeground ? .cameToForeground : .wentToBackground, device, at: now)
    if pages != nil {
      turnPage(device, isOpen: session.isForeground, at: now, sink)
      return
    }
    if session.isForeground {
      setSuspended(false, device, at: now)
      releaseInForeground(device)
      fetchInForeground(device, at: now, sink)
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
          if options.pointee.keepsGates { wakeRunningLoop(device, at: now, sink) }
        } else {
          rest(device, at: now, sink)
        }
      }
    }
    if !session.isForeground {
      setSuspended(true, device, at: now)
      holdInBackground(device, at: now, sink)
    }
  }

  mutating func setSuspended(_ isSuspended: Bool, _ device: DeviceIndex, at now: Int64) {
    if isSuspended {
      self[device].pointee.flags.insert(.suspended)
    } else {
      self[device].pointee.flags.remove(.suspended)
    }
    countClosedEvents(device, at: now)
  }

  /// What a closed app holds waits until it opens, but for uploads under way, and for batches if events flush meanwhile. Counts that
  /// whenever it may have changed; events created since are left out. In an ideal run uploads of closed apps wait, too.
  @inline(never)
  mutating func countClosedEvents(_ device: DeviceIndex, at now: Int64) {
    let world = world(device)
    var events: Int64 = 0
    if self[device].pointee.flags.contains(.suspended) {
      events = unsealedEvents(device, through: now)
      var batch = plan.pointee.sendsWhileClosed ? .noBatch : self[device].pointee.oldest
      while batch != .noBatch {
        if plan.pointee.isIdeal || !batches[batch].flags.contains(.inFlight) {
          events += Int64(batches[batch].events) - acceptedEvents(of: batch, device)
        }
        batch = batches[batch].newer
      }
    }
    if events == world.pointee.closedEvents { return }
    ledger.count(events - world.pointee.closedEvents, .closedAppEvents, at: now)
    world.pointee.closedEvents = events
  }

  /// A session is the life of a page.
  private mutating func turnPage(_ device: DeviceIndex, isOpen: Bool, at now: Int64, _ sink: Sink) {
    if !isOpen { closePage(device, isKilled: false, at: now, sink) }
    setSuspended(!isOpen, device, at: now)
    if isOpen { loadPage(device, at: now, sink) }
  }
}
