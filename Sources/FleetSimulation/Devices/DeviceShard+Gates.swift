import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadGating
import UploadRetry

/// Gates between the upload loop and the network (`ClientGates`): whether a run may start, whether an upload may leave, and
/// what came back. Only cohorts with `CohortPlan.keepsGates` come here.
extension DeviceShard {
  /// A part's state in a device's row.
  @inline(__always)
  private func part<State>(_ place: Int, _ device: UInt32, as _: State.Type) -> UnsafeMutablePointer<State> {
    (gates.unsafelyUnwrapped + Int(truncatingIfNeeded: device) &* plan.pointee.gateLayout.stride + place)
      .assumingMemoryBound(to: State.self)
  }

  private func hold(_ device: UInt32) -> UnsafeMutablePointer<GateHold> {
    part(0, device, as: GateHold.self)
  }
  private func words(_ place: Int, _ device: UInt32) -> UnsafeMutablePointer<UInt32> {
    part(place, device, as: UInt32.self)
  }

  // MARK: Runs

  /// A trigger makes whatever was held before a matter of its own run.
  func forgetHold(_ device: UInt32) { hold(device).pointee = GateHold() }

  /// Whether a run may start. One that goes on where it was held keeps what it was.
  ///
  /// - Parameters:
  ///   - byTrigger: becomes that of a held run.
  ///   - cursor: becomes where a held run goes on.
  @inline(never)
  mutating func gatesLetRunStart(
    _ device: UInt32, byTrigger: inout Bool, cursor: inout UInt32, at now: Instant, _ sink: inout Outbox
  ) -> Bool {
    let held = hold(device).pointee
    forgetHold(device)
    let resumes = !byTrigger && held.flags.contains(.resumes)
    if resumes {
      byTrigger = held.flags.contains(.byTrigger)
      if !held.flags.contains(.fromStart) { cursor = loop(device).pointee.cursor }
    } else if let budget = plan.pointee.gates.retryBudget {
      budget.startRun(&part(plan.pointee.gateLayout.budget, device, as: RetryBudget.State.self).pointee)
    }
    guard plan.pointee.gates.reservesWholeRun, cursor == 0, let gate = plan.pointee.gates.rateGate else {
      return true
    }
    let due = min(dueBatches(device, byTrigger: byTrigger, at: now), gate.first.slots)
    let log = words(plan.pointee.gateLayout.rateLog, device)
    guard due > 0, let time = gate.earliest(for: due, in: .first, log: log, now: now.microseconds),
      time > now.microseconds
    else { return true }
    var flags: GateHold.Flags = [.wakes, .resumes, .fromStart]
    if byTrigger { flags.insert(.byTrigger) }
    note(hold: GateHold(until: time, flags: flags), device, at: now)
    rest(device, at: now, &sink)
    return false
  }

  /// Batches that a run would send.
  private mutating func dueBatches(_ device: UInt32, byTrigger: Bool, at now: Instant) -> Int {
    collectDue(device, at: now)
    var n = 0
    var batch = loop(device).pointee.ready
    while batch != 0 {
      if byTrigger || !batches[batch].flags.contains(.atTriggersOnly) { n += 1 }
      batch = batches[batch].link
    }
    return n
  }

  private mutating func note(hold new: GateHold, _ device: UInt32, at now: Instant) {
    let hold = hold(device)
    // Of several holds of one run the one that ends first is worth a look.
    if hold.pointee.until == 0 {
      hold.pointee = new
    } else {
      hold.pointee.until = min(hold.pointee.until, new.until)
      hold.pointee.flags.formUnion(new.flags)
    }
    count(1, .heldLoops, at: now)
    if isTraced(device) { note(.heldByGate(until: new.until == .max ? nil : new.until), device, at: now) }
  }

  /// When a held device is to be woken; nil: by the next trigger, or nothing is held.
  func gateWakeUp(_ device: UInt32, at now: Instant) -> (isHeld: Bool, until: Int64?) {
    let hold = hold(device).pointee
    if hold.until <= now.microseconds { return (false, nil) }
    let wakes = plan.pointee.wakesByTimer || hold.flags.contains(.wakes)
    return (true, wakes && hold.until != .max ? hold.until : nil)
  }

  /// A loop that is held while it waits for answers goes on when the hold is over.
  mutating func wakeRunningLoop(_ device: UInt32, at now: Instant, _ sink: inout Outbox) {
    guard let until = gateWakeUp(device, at: now).until, !self[device].pointee.wakes(at: until) else {
      return
    }
    self[device].pointee.planWakeUp(at: until)
    if until < plan.pointee.end { sink.schedule(wakeUp: device, at: Instant(microseconds: until)) }
  }

  /// Whether a wake-up finds a running loop that was held.
  func isHeldLoop(_ device: UInt32) -> Bool { hold(device).pointee.until != 0 }

  // MARK: Before an upload

  /// What the gates say about any upload of a device.
  enum GateVerdict {
    case allowed
    /// It goes back into the queue, and the loop sends nothing more for now.
    case held
    /// It is lost.
    case refused
  }

  /// Asked for each batch that is due, before anything is decided about the batch itself.
  @inline(never)
  mutating func gatesSay(_ device: UInt32, at now: Instant) -> GateVerdict {
    let (gates, layout) = (plan.pointee.gates, plan.pointee.gateLayout)
    let time = now.microseconds
    var until: Int64 = 0
    var flags: GateHold.Flags = .resumes
    if self[device].pointee.flags.contains(.byTrigger) { flags.insert(.byTrigger) }
    if let window = gates.failureWindow,
      let end = window.blockedUntil(
        part(layout.failureWindow, device, as: FailureWindow.State.self).pointee, now: time)
    {
      if gates.refusesWhileBlocked { return .refused }
      until = max(until, end)
    }
    if let delay = gates.projectDelay,
      let end = delay.heldUntil(
        part(layout.projectDelay, device, as: ProjectDelay.State.self).pointee, now: time)
    {
      until = max(until, end)
    }
    if let breaker = gates.breaker {
      switch breaker.permission(words(layout.breaker, device), now: time) {
      case .allowed, .allowedAsProbe: break
      case .refused(let end): until = max(until, end)
      case .refusedWhileProbing:
        if inFlight(device) > 0 { return .held }  // An answer goes on with the loop.
        until = .max
      }
    }
    if until == 0 {
      if let controller = gates.controller {
        let state = part(layout.controller, device, as: BackpressureController.State.self)
        if Int(inFlight(device)) >= controller.concurrency(state.pointee) { return .held }
      }
      if let gate = gates.rateGate,
        let end = gate.earliest(log: words(layout.rateLog, device), now: time), end > time
      {
        until = end
        flags.insert(.wakes)
      }
    }
    if until == 0 {
      // What holds a batch back still does.
      if !hold(device).pointee.flags.contains(.skips) { forgetHold(device) }
      return .allowed
    }
    note(hold: GateHold(until: until, flags: flags), device, at: now)
    return .held
  }

  /// What the gates say about one batch that would be sent now.
  enum LeaveVerdict {
    case leaves
    /// The loop goes on with others.
    case skipped
    /// The loop sends nothing more for now.
    case held
  }

  /// Asked for a batch that would be sent now; a grant takes what the gates count.
  @inline(never)
  mutating func gatesLetLeave(_ batch: UInt32, _ device: UInt32, at now: Instant) -> LeaveVerdict {
    let (gates, layout) = (plan.pointee.gates, plan.pointee.gateLayout)
    let time = now.microseconds
    let isRetry = batches[batch].attempts > 0
    let budget = part(layout.budget, device, as: RetryBudget.State.self)
    if isRetry, let rule = gates.retryBudget {
      switch rule.permission(budget.pointee, now: time) {
      case .allowed: break
      case .refusedForThisRun, .refused(until: nil):
        note(hold: GateHold(until: .max, flags: .skips), device, at: now)
        return .skipped
      case .refused(let until?):
        note(hold: GateHold(until: max(until, time + 1), flags: .skips), device, at: now)
        return .skipped
      }
    }
    if let throttle = gates.throttle {
      let state = part(layout.throttle, device, as: AdaptiveThrottle.State.self)
      var random = RandomStream(gateKey(batch, device).child(UInt64(bitPattern: time)))
      if throttle.rejects(&state.pointee, now: time, word: random.next()) {
        count(1, .throttledRequests, at: now)
        var flags: GateHold.Flags = .resumes
        if self[device].pointee.flags.contains(.byTrigger) { flags.insert(.byTrigger) }
        let end = time + gates.throttlePause.microseconds
        note(hold: GateHold(until: end, flags: flags), device, at: now)
        return .held
      }
    }
    if isRetry, let rule = gates.retryBudget { rule.take(&budget.pointee, now: time) }
    if let breaker = gates.breaker { breaker.take(words(layout.breaker, device), now: time) }
    if let gate = gates.rateGate { gate.take(log: words(layout.rateLog, device), now: time) }
    return .leaves
  }

  /// Names what is drawn for a batch's next attempt, or for what came back of the latest.
  private func gateKey(_ batch: UInt32, _ device: UInt32) -> RandomKey {
    key(of: device).child(RandomPurpose.gates).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: batches[batch].attempts))
  }

  /// Events of a batch at most, now.
  @inline(never)
  func gatedMaximumBatch(_ device: UInt32) -> UInt32 {
    guard let controller = plan.pointee.gates.controller else { return plan.pointee.maximumBatchEvents }
    let state = part(plan.pointee.gateLayout.controller, device, as: BackpressureController.State.self)
    return min(UInt32(controller.batchEvents(state.pointee)), plan.pointee.maximumBatchEvents)
  }

  // MARK: After an upload

  /// What came back, 0 standing for nothing.
  @inline(never)
  mutating func gatesHear(status: Int, of batch: UInt32, _ device: UInt32, at now: Instant) {
    let (gates, layout) = (plan.pointee.gates, plan.pointee.gateLayout)
    let time = now.microseconds
    let isSuccess = (200...299).contains(status)
    if let breaker = gates.breaker {
      let failed = status == 0 || status == 429 || status >= 500
      let openTime = breaker.record(failed: failed, words(layout.breaker, device), now: time)
      if openTime > 0 {
        count(1, .breakerOpenings, at: now)
        count(openTime, .breakerOpenMicroseconds, at: now)
      }
    }
    if let window = gates.failureWindow, (400...499).contains(status) {
      window.recordFailure(
        &part(layout.failureWindow, device, as: FailureWindow.State.self).pointee, now: time)
    }
    if let delay = gates.projectDelay {
      let state = part(layout.projectDelay, device, as: ProjectDelay.State.self)
      if isSuccess { delay.recordSuccess(&state.pointee) }
      if ProjectDelay.counts(status: status) {
        var random = RandomStream(gateKey(batch, device))
        delay.recordFailure(&state.pointee, now: time, word: random.next())
      }
    }
    if isSuccess, let budget = gates.retryBudget {
      budget.recordSuccess(&part(layout.budget, device, as: RetryBudget.State.self).pointee, now: time)
    }
    if isSuccess, let throttle = gates.throttle {
      throttle.recordAccept(
        &part(layout.throttle, device, as: AdaptiveThrottle.State.self).pointee, now: time)
    }
    if let controller = gates.controller {
      controller.record(
        BackpressureController.signal(status: status),
        &part(layout.controller, device, as: BackpressureController.State.self).pointee)
    }
  }

  @inline(never)
  mutating func gatesHearOfFailure(
    _ response: UploadResponse, _ batch: UInt32, _ device: UInt32, at now: Instant
  ) {
    if plan.pointee.reconciles { batches[batch].attempts = StatusQuery.number(batches[batch].attempts) }
    if case .status(let status, _) = response {
      gatesHear(status: status, of: batch, device, at: now)
    } else {
      gatesHear(status: 0, of: batch, device, at: now)
    }
  }

  // MARK: Restarts

  /// What a launched app knows of its gates: everything, if it keeps state, but for uploads that were under way.
  func relaunchGates(_ device: UInt32, at now: Instant) {
    forgetHold(device)
    let layout = plan.pointee.gateLayout
    if !plan.pointee.keepsState {
      (gates.unsafelyUnwrapped + Int(truncatingIfNeeded: device) * layout.stride).initializeMemory(
        as: UInt8.self, repeating: 0, count: layout.stride)
    } else if let breaker = plan.pointee.gates.breaker {
      let words = words(layout.breaker, device)
      breaker.restore(breaker.snapshot(words), words, now: now.microseconds)
    }
  }
}
