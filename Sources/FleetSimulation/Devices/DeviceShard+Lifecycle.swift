import FleetMetrics
import SimulationKernel
import UploadGating
import UploadRetry

/// Kills and launches of the app (S18, S19): a restart is both at one instant.
extension DeviceShard {
  /// At the start of the run: the first restart at random, and all synchronised ones.
  mutating func scheduleRestarts(_ device: UInt32, _ sink: inout Outbox) {
    scheduleNextRestart(device, after: .start, &sink)
    for (index, restart) in synchronisedRestarts.enumerated() {
      let draw = lifecycleKey(device).child(1).child(UInt64(index))
      let time = restart.time + Span(microseconds: draw.uniform(0, through: restart.spread.microseconds))
      if time.microseconds < plan.pointee.end { sink.schedule(restart: device, at: time) }
    }
  }

  private func lifecycleKey(_ device: UInt32) -> RandomKey { key(of: device).child(RandomPurpose.lifecycle) }

  private mutating func scheduleNextRestart(
    _ device: UInt32, after now: Instant, _ sink: inout Outbox
  ) {
    guard plan.pointee.meanRestartGap > 0 else { return }
    let plans = restarts.unsafelyUnwrapped + Int(truncatingIfNeeded: device)
    let draw = lifecycleKey(device).child(0).child(UInt64(plans.pointee.count))
    let gap = max(Distribution.exponentialGap(mean: plan.pointee.meanRestartGap, key: draw), 1)
    plans.pointee.count &+= 1
    let time = now + Span(microseconds: gap)
    plans.pointee.next = time.microseconds
    if time.microseconds < plan.pointee.end { sink.schedule(restart: device, at: time) }
  }

  package mutating func handleRestart(
    _ device: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    let record = self[device]
    if plan.pointee.meanRestartGap > 0, now.microseconds == restarts?[Int(truncatingIfNeeded: device)].next {
      scheduleNextRestart(device, after: now, &sink)
    }
    count(1, .launches, at: now)
    let cutOff = inFlight(device)
    let kept = plan.pointee.keepsState ? retrySnapshot(of: device) : RetrySnapshot()
    giveUpUploads(device, at: now)
    if plan.pointee.keepsGates { relaunchGates(device, at: now) }
    record.pointee.settings = settingsAtLaunch(device, at: now)
    restore(kept, device, at: now)
    if isTraced(device) {
      note(.launched(.init(record.pointee.settings), uploadsCutOff: Int(cutOff)), device, at: now)
    }
    if plan.pointee.flushInterval != .max, let triggers {
      // The flush timer starts anew: devices that restart together flush together from then on.
      triggers[Int(truncatingIfNeeded: device)].nextInterval = now.microseconds &+ plan.pointee.flushInterval
    }
    if plan.pointee.flushesAtLaunch {
      handleUnplannedTrigger(device, at: now, &sink)
    } else {
      let (planned, nextInterval) = plannedTriggers(device)
      planNextTrigger(device, nextInterval: nextInterval, drawnThrough: planned, &sink)
      rest(device, at: now, &sink)
    }
  }

  /// S19: what the CDN serves at a launch; if it is down, what is built in.
  mutating func settingsAtLaunch(_ device: UInt32, at now: Instant) -> DeviceRecord.SettingsVersion {
    if self[device].pointee.flags.contains(.offline) { return .builtIn }
    if !cdnOutages.isEmpty, cdnOutages.contains(where: { $0.contains(now.microseconds) }) { return .builtIn }
    guard now.microseconds >= plan.pointee.rolloutTime else { return .base }
    let draw = key(of: device).child(RandomPurpose.rollout).uniform(below: 1_000_000)
    return Int64(draw) < plan.pointee.rolloutShare ? .rollout : .base
  }

  /// The kill ends the loop and every upload under way; what becomes of them the client never learns, so they are due again.
  private mutating func giveUpUploads(_ device: UInt32, at now: Instant) {
    let record = self[device]
    record.pointee.flags.remove([.looping, .draining, .byTrigger, .loopHadFailure])
    let cutOff = inFlight(device)
    if cutOff == 0 { return }
    count(-Int64(cutOff), .inFlightChange, at: now)
    setInFlight(0, device)
    var batch = record.pointee.oldest
    while batch != 0 {
      if batches[batch].flags.contains(.inFlight) {
        batches[batch].flags.remove(.inFlight)
        noteUnknownOutcome(batch, at: now)
        if plan.pointee.reconciles { batches[batch].attempts = StatusQuery.number(batches[batch].attempts) }
      }
      batch = batches[batch].newer
    }
  }

  /// S18: what a client has stored when it is killed, its batches in the order of their events. With one record for the
  /// client (*rebatch*) that record stands for all of them.
  private func retrySnapshot(of device: UInt32) -> RetrySnapshot {
    let record = self[device]
    var snapshot = RetrySnapshot(
      waitUntil: record.pointee.gate.waitUntil, isWaitBackoff: record.pointee.gate.kind == .backoff,
      pipeline: record.pointee.pipeline)
    if plan.pointee.isRebatch {
      snapshot.batches = [.init(id: 0, state: record.pointee.clientRetry, isInFlight: inFlight(device) > 0)]
      return snapshot
    }
    let dueTimes = waitingUntil(device)
    var batch = record.pointee.oldest
    while batch != 0 {
      var state = batches.retryState(batch)
      state.retryAt = batches[batch].flags.contains(.waiting) ? dueTimes[batch] ?? 0 : 0
      snapshot.batches.append(
        .init(
          id: UInt64(batches[batch].firstOrdinal), state: state,
          isInFlight: batches[batch].flags.contains(.inFlight)))
      batch = batches[batch].newer
    }
    return snapshot
  }

  /// When each waiting batch of a device is due. Batches that have left the queue meanwhile may be among them.
  private func waitingUntil(_ device: UInt32) -> [UInt32: Int64] {
    let place = self[device].pointee.waiting
    let heap = waiting.address(place)
    return Dictionary((0..<Int(place.count)).map { (heap[$0].batch, heap[$0].due) }) { first, _ in first }
  }

  /// S18: the launched client acts on its snapshot as `UploadRetry` validates it against the clock and the Settings just
  /// fetched. What exists is said by the stored batches; one that the snapshot does not know has never failed.
  private mutating func restore(_ stored: RetrySnapshot, _ device: UInt32, at now: Instant) {
    let record = self[device]
    let machine = machine(of: device).takeUnretainedValue()
    let (snapshot, repairs) = stored.validated(
      now: now.microseconds, config: machine.config, policy: machine.policy)
    if plan.pointee.checks { checkRepairs(repairs, device, at: now) }

    record.pointee.flags.remove(.wakes)
    record.pointee.gate.reset()
    if snapshot.waitUntil != 0 {
      record.pointee.gate.pause(
        until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    }
    record.pointee.pipeline = snapshot.pipeline
    let client = snapshot.batches.first?.state ?? BatchRetryState()
    if plan.pointee.isRebatch { record.pointee.clientRetry = client }

    while let entry = firstWaiting(device) { popWaiting(entry.batch, device) }
    if let loops {
      let loop = loops + Int(truncatingIfNeeded: device)
      loop.pointee.ready = 0
      loop.pointee.lastReady = 0
      loop.pointee.passed = 0
    }
    var known = snapshot.batches[...]
    var batch = record.pointee.oldest
    while batch != 0 {
      var state = BatchRetryState()
      if !plan.pointee.isRebatch, known.first?.id == UInt64(batches[batch].firstOrdinal) {
        state = known.removeFirst().state
      }
      batches.setRetryState(state, batch)
      let failed = plan.pointee.isRebatch ? client : state
      if machine.config.retriesAtTriggersOnly(after: failed.latestFailure) {
        batches[batch].flags.insert(.atTriggersOnly)
      } else {
        batches[batch].flags.remove(.atTriggersOnly)
      }
      if state.retryAt > now.microseconds {
        pushWaiting(batch, until: state.retryAt, device)
      } else {
        appendReady(batch, device)
      }
      batch = batches[batch].newer
    }
  }

  /// A kill at any instant leaves a snapshot that needs no repair, except where the new Settings have other limits.
  private mutating func checkRepairs(_ repairs: [SnapshotRepair], _ device: UInt32, at now: Instant) {
    for repair in repairs {
      switch repair.kind {
      case .waitIsOver, .unknownOutcome, .waitClamped, .batchWaitClamped, .countClamped: break
      case .unreadable, .firstFailureInTheFuture, .inconsistentBatch, .duplicateBatch:
        note("a snapshot had to be repaired (\(repair))", device, at: now)
      }
    }
  }
}

extension HTTPConfig {
  /// S15: legacy sections have no wait; what failed under one is tried again at triggers, in `timer` mode too.
  fileprivate func retriesAtTriggersOnly(after failure: BatchRetryState.LatestFailure) -> Bool {
    switch failure {
    case .none: false
    case .rateLimited: !rateLimit.isEnabled
    case .transient: !backoff.isEnabled
    }
  }
}
