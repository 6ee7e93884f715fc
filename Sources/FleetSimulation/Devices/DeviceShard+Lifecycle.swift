import FleetMetrics
import SimulationKernel
import UploadGating
import UploadRetry

/// Kills and launches of the app (S18, S19): a restart is both at one instant.
extension DeviceShard {
  /// At the start of the run: the first restart at random, and all synchronised ones.
  mutating func scheduleRestarts(_ device: UInt32, _ sink: inout some DeviceSink & ~Copyable) {
    scheduleNextRestart(device, after: .start, &sink)
    for (index, restart) in synchronisedRestarts.enumerated() {
      let draw = lifecycleKey(device).child(1).child(UInt64(index))
      let time = restart.time + Span(microseconds: draw.uniform(0, through: restart.spread.microseconds))
      if time.microseconds < plan.pointee.end { sink.schedule(restart: device, at: time) }
    }
  }

  private func lifecycleKey(_ device: UInt32) -> RandomKey { key(of: device).child(RandomPurpose.lifecycle) }

  private mutating func scheduleNextRestart(
    _ device: UInt32, after now: Instant, _ sink: inout some DeviceSink & ~Copyable
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
    _ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    if plan.pointee.meanRestartGap > 0, now.microseconds == restarts?[Int(truncatingIfNeeded: device)].next { 
      scheduleNextRestart(device, after: now, &sink)
    }
    count(1, .launches, at: now)
    let cutOff = inFlight(device)
    giveUpUploads(device, at: now)
    if !plan.pointee.keepsState { forgetRetryState(device) }
    record.pointee.settings = settingsAtLaunch(device, at: now)
    if isTraced(device) { note(.launched(.init(record.pointee.settings), uploadsCutOff: Int(cutOff)), device, at: now) }
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
        batches[batch].flags.insert(.unknownOutcome)
        insertReady(batch, device)
      }
      batch = batches[batch].newer
    }
  }

  /// S18, in-memory clients start fresh: gate, counters and every batch's state; the batches themselves are files and stay.
  private mutating func forgetRetryState(_ device: UInt32) {
    let record = self[device]
    record.pointee.gate.reset()
    record.pointee.pipeline = PipelineRetryState()
    record.pointee.flags.remove(.wakes)
    if plan.pointee.isRebatch { record.pointee.clientRetry = BatchRetryState() }
    while let entry = firstWaiting(device) {
      popWaiting(entry.batch, device)
      insertReady(entry.batch, device)
    }
    var batch = record.pointee.oldest
    while batch != 0 {
      batches[batch].flags.remove([.atTriggersOnly, .hasRetryState])
      batch = batches[batch].newer
    }
  }
}
