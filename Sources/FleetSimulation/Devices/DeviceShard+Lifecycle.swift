import FleetMetrics
import SimulationKernel
import UploadPipeline
import UploadRetry

/// Kills and launches of the app (S18, S19): a restart is both at one instant.
extension DeviceShard {
  /// At the start of the run: the first restart at random, and all synchronised ones.
  mutating func scheduleRestarts(_ device: DeviceIndex, _ sink: UnsafeMutablePointer<ShardCalendar>) {
    scheduleNextRestart(device, after: .start, sink)
    for (index, restart) in plan.pointee.restarts.synchronised.enumerated() {
      let draw = lifecycleKey(device).child(1).child(UInt64(index))
      let time = restart.time + Span(microseconds: draw.uniform(0, through: restart.spread.microseconds))
      if time.microseconds < plan.pointee.end { sink.pointee.schedule(restart: device, at: time) }
    }
  }

  private func lifecycleKey(_ device: DeviceIndex) -> RandomKey {
    key(of: device).child(RandomPurpose.lifecycle)
  }

  private mutating func scheduleNextRestart(
    _ device: DeviceIndex, after now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    guard plan.pointee.restarts.meanGap > 0 else { return }
    let plans = restarts.unsafelyUnwrapped + device.place
    let draw = lifecycleKey(device).child(0).child(UInt64(plans.pointee.count))
    let gap = max(Distribution.exponentialGap(mean: plan.pointee.restarts.meanGap, key: draw), 1)
    plans.pointee.count &+= 1
    let time = now + Span(microseconds: gap)
    plans.pointee.next = time.microseconds
    if time.microseconds < plan.pointee.end { sink.pointee.schedule(restart: device, at: time) }
  }

  package mutating func handleRestart(
    _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let record = self[device]
    if plan.pointee.restarts.meanGap > 0, now.microseconds == restarts?[device.place].next {
      scheduleNextRestart(device, after: now, sink)
    }
    count(1, .launches, at: now)
    let cutOff = uploads(of: device)
    var kept = endProcess(device, at: now.microseconds)
    if !plan.pointee.restarts.keepsState { kept = RetrySnapshot() }
    giveUpUploads(device, at: now)
    if options.pointee.keepsGates {
      relaunchGates(device, keepingState: plan.pointee.restarts.keepsState, at: now.microseconds)
    }
    record.pointee.settings = settingsAtLaunch(device, at: now)
    record.pointee.flags.remove(.wakes)
    let repairs = restore(kept, device, at: now.microseconds)
    if plan.pointee.checks { checkRepairs(repairs, device, at: now) }
    if isTraced(device) {
      note(.launched(.init(record.pointee.settings), uploadsCutOff: Int(cutOff)), device, at: now)
    }
    // A closed app is launched in the background, where no interval runs.
    let isOpen = !record.pointee.flags.contains(.suspended)
    // The flush timer starts anew: devices that restart together flush together from then on.
    if isOpen { startInterval(device, at: now) }
    if isOpen, plan.pointee.restarts.flushesAtLaunch, options.pointee.triggers.contains(.foreground) {
      handleUnplannedTrigger(device, at: now, sink)
    } else {
      replan(device, at: now, sink)
      rest(device, at: now.microseconds, sink)
    }
  }

  /// S19: what the CDN serves at a launch; if it is down, what is built in.
  mutating func settingsAtLaunch(_ device: DeviceIndex, at now: Instant) -> DeviceRecord.SettingsVersion {
    if self[device].pointee.flags.contains(.offline) { return .builtIn }
    if plan.pointee.restarts.cdnOutages.contains(where: { $0.contains(now.microseconds) }) { return .builtIn }
    return now.microseconds >= plan.pointee.rollout.time && isInRollout(device) ? .rollout : .base
  }

  private func isInRollout(_ device: DeviceIndex) -> Bool {
    let draw = key(of: device).child(RandomPurpose.rollout).uniform(below: 1_000_000)
    return Int64(draw) < plan.pointee.rollout.share
  }

  // MARK: Fetches of a running app

  /// The first fetch after a time that may find the new Settings; `.max`: none does. A device fetches at times of its own.
  func nextFetch(_ device: DeviceIndex, after past: Int64) -> Int64 {
    let rollout = plan.pointee.rollout
    guard rollout.fetch != .max, isInRollout(device) else { return .max }
    let phase = key(of: device).child(RandomPurpose.rollout).child(0).uniform(0, through: rollout.fetch - 1)
    let first = rollout.time + phase
    return first > past ? first : first + ((past - first) / rollout.fetch + 1) * rollout.fetch
  }

  /// An app that is open and online finds what launches find, if the CDN is up.
  mutating func fetchSettings(_ device: DeviceIndex, at now: Instant) {
    let record = self[device]
    guard record.pointee.settings != .rollout, !record.pointee.flags.contains(.suspended),
      settingsAtLaunch(device, at: now) == .rollout
    else { return }
    record.pointee.settings = .rollout
    if isTraced(device) { note(.fetchedSettings, device, at: now) }
  }

  /// The kill ends the loop and every upload under way; what becomes of them the client never learns, so they are due again.
  mutating func giveUpUploads(_ device: DeviceIndex, at now: Instant) {
    let record = self[device]
    let cutOff = uploads(of: device)
    if cutOff == 0, !options.pointee.actsAtFlushEnd { return }
    count(-Int64(cutOff), .inFlight, at: now)
    setUploads(0, of: device)
    var batch = record.pointee.oldest
    while batch != .noBatch {
      if batches[batch].flags.contains(.inFlight) {
        batches[batch].flags.remove(.inFlight)
        batches[batch].latestFailure = .other
        noteUnknownOutcome(batch, at: now)
        if options.pointee.gates.reconciles {
          batches[batch].attempts = StatusQuery.number(batches[batch].attempts)
        }
      } else if options.pointee.actsAtFlushEnd, batches[batch].flags.contains(.accepted) {
        // It was answered, and the client had not acted yet.
        batches[batch].flags.insert(.unknownOutcome)
      }
      batch = batches[batch].newer
    }
  }

  /// A kill at any instant leaves a snapshot that needs no repair, except where the new Settings have other limits.
  private mutating func checkRepairs(_ repairs: [SnapshotRepair], _ device: DeviceIndex, at now: Instant) {
    for repair in repairs {
      switch repair.kind {
      case .waitIsOver, .unknownOutcome, .waitClamped, .batchWaitClamped, .countClamped: break
      case .unreadable, .firstFailureInTheFuture, .inconsistentBatch, .duplicateBatch:
        note("a snapshot had to be repaired (\(repair))", device, at: now)
      }
    }
  }
}
