import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadRetry

/// The upload loop (S3, S16, S17): over the due batches from the oldest to the newest, once.
extension DeviceShard {
  /// A trigger or a wake-up asks for a loop. One that runs already reaches what has been sealed meanwhile.
  @inline(__always)
  mutating func runLoop(
    _ device: UInt32, at now: Instant, byTrigger: Bool, _ sink: inout Outbox
  ) {
    let record = self[device]
    if record.pointee.flags.contains(.looping) {
      joinLoop(device, at: now, &sink)
      return
    }
    if record.pointee.oldest == 0 { return }
    if byTrigger, plan.pointee.keepsGates { forgetHold(device) }
    guard record.pointee.gate.isReady(at: now.microseconds), !record.pointee.flags.contains(.offline) else {
      if isTraced(device) {
        note(record.pointee.flags.contains(.offline) ? .heldBackOffline : .heldBack, device, at: now)
      }
      rest(device, at: now, &sink)
      return
    }
    var (byTrigger, cursor) = (byTrigger, UInt32(0))
    if plan.pointee.keepsGates,
      !gatesLetRunStart(device, byTrigger: &byTrigger, cursor: &cursor, at: now, &sink)
    {
      return
    }
    if record.pointee.flags.contains(.idleWithBatches) {
      record.pointee.flags.remove(.idleWithBatches)
      count(-1, .devicesWaitingChange, at: now)
    }
    record.pointee.flags.remove([.draining, .byTrigger, .loopHadFailure])
    record.pointee.flags.insert(byTrigger ? [.looping, .byTrigger] : .looping)
    if let loops {
      let loop = loops + Int(truncatingIfNeeded: device)
      loop.pointee.loopEnd = plan.pointee.ignoresFlushWhileUploading ? record.pointee.nextOrdinal : .max
      loop.pointee.cursor = cursor
      loop.pointee.passed = 0
    }
    if plan.pointee.isRebatch, record.pointee.oldest != record.pointee.newest { mergeReady(device, at: now) }
    continueLoop(device, from: cursor, at: now, &sink)
  }

  @inline(never)
  private mutating func joinLoop(
    _ device: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    var joins = !plan.pointee.ignoresFlushWhileUploading
    if plan.pointee.keepsGates, isHeldLoop(device) { joins = true }
    if self[device].pointee.flags.contains(.draining) { joins = false }
    if isTraced(device) { note(.alreadyUploading(joins: joins), device, at: now) }
    if joins, let loops {
      continueLoop(device, from: loops[Int(truncatingIfNeeded: device)].cursor, at: now, &sink)
    }
  }

  /// Where the running loop goes on when the upload of a batch ends.
  @inline(__always)
  func loopCursor(_ device: UInt32, behind ordinal: UInt32) -> UInt32 {
    if let loops { return loops[Int(truncatingIfNeeded: device)].cursor }
    return ordinal &+ 1
  }

  /// Sends what may be sent now; ends the loop when nothing is left to send or to wait for.
  ///
  /// - Parameter cursor: the loop goes on with batches from this ordinal on.
  @inline(__always)
  mutating func continueLoop(
    _ device: UInt32, from cursor: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    let record = self[device]
    var cursor = cursor
    while record.pointee.oldest != 0, inFlight(device) < plan.pointee.concurrency,
      !record.pointee.flags.contains(.draining), record.pointee.gate.isReady(at: now.microseconds)
    {
      let expected = plan.pointee.checks ? nextDueByScan(device, from: cursor, at: now) : 0
      let batch = takeNextDue(device, from: cursor, at: now)
      if plan.pointee.checks, batch != expected { note("the loop took the wrong batch", device, at: now) }
      if batch == 0 { break }
      if plan.pointee.keepsGates {
        let verdict = gatesSay(device, at: now)
        if verdict == .held {
          insertReady(batch, device)
          break
        }
        if verdict == .refused {
          drop(batch, .refusedByGate, device, at: now)
          continue
        }
      }
      let before = cursor
      cursor = batches[batch].firstOrdinal &+ 1
      if let loops { loops[Int(truncatingIfNeeded: device)].cursor = cursor }
      let state = plan.pointee.isRebatch ? record.pointee.clientRetry : batches.retryState(batch)
      let queuedAt = batches[batch].firstTime
      let decision = machine(of: device)._withUnsafeGuaranteedRef {
        $0.beforeSend(
          batch: state, pipeline: &record.pointee.pipeline, now: now.microseconds,
          oldestEventQueuedAt: queuedAt)
      }
      if case .send(let retryCount) = decision {
        if plan.pointee.keepsGates, case let verdict = gatesLetLeave(batch, device, at: now),
          verdict != .leaves
        {
          // What is held is the first that goes on.
          if verdict == .held { loop(device).pointee.cursor = before }
          insertReady(batch, device)
          if verdict == .held { break }
          continue
        }
        if isTraced(device) { note(tracedSend(batch, retryCount), device, at: now) }
        let asQuery = plan.pointee.reconciles && batches[batch].flags.contains(.unknownOutcome)
        send(batch, device, retryCount: retryCount, asQuery: asQuery, at: now, &sink)
      } else {
        holdBack(batch, device, decision, &cursor, at: now)
      }
    }
    if inFlight(device) == 0 {
      record.pointee.flags.remove([.looping, .draining])
      if record.pointee.oldest != 0 { rest(device, at: now, &sink) }
    } else if plan.pointee.keepsGates {
      wakeRunningLoop(device, at: now, &sink)
    }
  }

  /// What a loop of a trigger does for a device that holds one fresh batch and nothing else.
  @inline(__always)
  mutating func sendOnly(_ batch: UInt32, _ device: UInt32, at now: Instant, _ sink: inout Outbox) {
    let record = self[device]
    record.pointee.flags.remove([.draining, .loopHadFailure])
    record.pointee.flags.insert([.looping, .byTrigger])
    var cursor = batches[batch].firstOrdinal &+ 1
    if let loops {
      let loop = loops + Int(truncatingIfNeeded: device)
      loop.pointee.loopEnd = plan.pointee.ignoresFlushWhileUploading ? record.pointee.nextOrdinal : .max
      loop.pointee.cursor = cursor
      loop.pointee.passed = 0
    }
    let state = plan.pointee.isRebatch ? record.pointee.clientRetry : BatchRetryState()
    let queuedAt = batches[batch].firstTime
    let decision = machine(of: device)._withUnsafeGuaranteedRef {
      $0.beforeSend(
        batch: state, pipeline: &record.pointee.pipeline, now: now.microseconds,
        oldestEventQueuedAt: queuedAt)
    }
    if case .send(let retryCount) = decision {
      send(batch, device, retryCount: retryCount, at: now, &sink)
    } else {
      holdBack(batch, device, decision, &cursor, at: now)
      record.pointee.flags.remove([.looping, .draining])
      if record.pointee.oldest != 0 { rest(device, at: now, &sink) }
    }
  }

  /// A batch that may not be sent now, or never.
  @inline(never)
  private mutating func holdBack(
    _ batch: UInt32, _ device: UInt32, _ decision: SendDecision, _ cursor: inout UInt32, at now: Instant
  ) {
    let record = self[device]
    switch decision {
    case .send: break
    case .notDue(let until):
      // The gate or the heap let something through too early: a bug, shown by the checkers.
      note("a batch was offered before it was due", device, at: now)
      if plan.pointee.isRebatch { return }
      pushWaiting(batch, until: max(until, now.microseconds &+ 1), device)
    case .drop(let reason):
      if plan.pointee.isRebatch { record.pointee.clientRetry = BatchRetryState() }
      drop(batch, givenUp(reason), device, at: now)
    case .dropFlush(let reason):
      if plan.pointee.isRebatch { record.pointee.clientRetry = BatchRetryState() }
      record.pointee.gate.reset()
      if isTraced(device) { note(.stateReset, device, at: now) }
      drop(batch, givenUp(reason), device, at: now)
      while case let next = takeNextDue(device, from: cursor, at: now), next != 0 {
        drop(next, givenUp(reason), device, at: now)
      }
    }
  }

  /// Where a batch that is given up is counted: it is lost, or blocked (O3).
  func givenUp(_ reason: DropReason) -> DeviceCounter {
    plan.pointee.blocksGivenUp ? .blockedEvents : DeviceCounter(reason)
  }

  /// The first due batch at or behind the loop's cursor, taken out of the due list; 0: none.
  @inline(__always)
  private mutating func takeNextDue(_ device: UInt32, from cursor: UInt32, at now: Instant) -> UInt32 {
    if loops != nil { return takeNextReady(device, at: now) }
    let record = self[device]
    var batch = record.pointee.oldest
    while batch != 0 {
      if batches[batch].firstOrdinal >= cursor, !batches[batch].flags.contains(.inFlight),
        !batches[batch].flags.contains(.atTriggersOnly) || record.pointee.flags.contains(.byTrigger)
      {
        batches[batch].flags.remove(.atTriggersOnly)
        return batch
      }
      batch = batches[batch].newer
    }
    return 0
  }

  private mutating func takeNextReady(_ device: UInt32, at now: Instant) -> UInt32 {
    let (record, loop) = (self[device], loop(device))
    collectDue(device, at: now)
    var previous = loop.pointee.passed
    var batch = previous == 0 ? loop.pointee.ready : batches[previous].link
    while batch != 0 {
      let isLegacy = batches[batch].flags.contains(.atTriggersOnly)
      if batches[batch].firstOrdinal >= loop.pointee.cursor,
        batches[batch].firstOrdinal < loop.pointee.loopEnd,
        !isLegacy || record.pointee.flags.contains(.byTrigger)
      {
        removeReady(batch, after: previous, device)
        batches[batch].flags.remove(.atTriggersOnly)
        return batch
      }
      previous = batch
      batch = batches[batch].link
    }
    return 0
  }

  /// Between loops: a device that holds batches waits, and in `timer` mode arranges to be woken.
  @inline(never)
  mutating func rest(_ device: UInt32, at now: Instant, _ sink: inout Outbox) {
    let record = self[device]
    if record.pointee.oldest == 0 { return }
    if !record.pointee.flags.contains(.idleWithBatches) {
      record.pointee.flags.insert(.idleWithBatches)
      count(1, .devicesWaitingChange, at: now)
    }
    // What is due meanwhile waits for the connection.
    if record.pointee.flags.contains(.offline) { return }
    var due = Int64.max
    if plan.pointee.keepsGates, case let held = gateWakeUp(device, at: now), held.isHeld {
      guard let until = held.until else { return }
      // In gate mode a run that the pipeline's wait has ended goes on at a trigger only.
      if !plan.pointee.wakesByTimer, !record.pointee.gate.isReady(at: until) { return }
      due = until
    } else if !plan.pointee.wakesByTimer {
      return
    } else if hasReady(device) {
      due = now.microseconds
    } else {
      guard let first = firstWaiting(device) else { return }
      due = max(first.due, now.microseconds)
    }
    due = max(due, record.pointee.gate.waitUntil)
    if record.pointee.wakes(at: due) { return }
    record.pointee.planWakeUp(at: due)
    if due < plan.pointee.end { sink.schedule(wakeUp: device, at: Instant(microseconds: due)) }
  }

  /// Whether the device holds a batch that waits for nothing but a loop.
  @inline(__always)
  private mutating func hasReady(_ device: UInt32) -> Bool {
    var batch: UInt32
    if loops == nil {
      batch = self[device].pointee.oldest
      while batch != 0, !batches[batch].flags.isDisjoint(with: [.atTriggersOnly, .inFlight]) {
        batch = batches[batch].newer
      }
    } else {
      batch = loop(device).pointee.ready
      while batch != 0, batches[batch].flags.contains(.atTriggersOnly) { batch = batches[batch].link }
    }
    return batch != 0
  }

  /// - Parameter asQuery: asks whether the batch was applied instead (O4).
  @inline(__always)
  mutating func send(
    _ batch: UInt32, _ device: UInt32, retryCount: UInt16, asQuery: Bool = false, at now: Instant,
    _ sink: inout Outbox
  ) {
    if plan.pointee.checks { checkSend(batch, device, at: now) }
    let upload = batches.address(batch)
    var attempt = upload.pointee.nextAttempt
    if plan.pointee.reconciles {
      attempt = StatusQuery.attempt(attempt, asQuery: asQuery)
      if asQuery { count(1, .statusQueries, at: now) }
    }
    upload.pointee.attempts = attempt
    upload.pointee.flags.insert(.inFlight)
    upload.pointee.attemptLeaves()
    var latency = plan.pointee.constantLatency
    if latency.up == 0 { latency = drawLatency(batch, device) }
    if plan.pointee.hasFaultyLink { latency = crossLink(batch, device, latency, at: now, &sink) }
    let leaves = !plan.pointee.hasFaultyLink || latency.up != .max
    if leaves {
      sink.send(
        UploadTicket(
          device: device, batch: batch, uplink: latency.up, downlink: latency.down, attempt: attempt,
          generation: upload.pointee.generation,
          retryCount: plan.pointee.tellsRetryCount ? retryCount : 0), at: now)
    }
    if leaves, Int64(latency.up) > plan.pointee.timeout { giveUpOnTheWay(batch, device, at: now, &sink) }
    setInFlight(inFlight(device) &+ 1, device)
    count(1, .inFlightChange, at: now)
    attempts &+= 1
    self[device].pointee.noteAttempt(events: asQuery ? 0 : upload.pointee.events, at: now)
  }

  /// One-way latencies of a batch's latest attempt.
  @inline(never)
  private mutating func drawLatency(_ batch: UInt32, _ device: UInt32) -> CohortPlan.Latency {
    let network = key(of: device).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: batches[batch].attempts))
    let up = plan.pointee.latency.sample(network.child(RandomPurpose.networkUp)).microseconds
    let down = plan.pointee.latency.sample(network.child(RandomPurpose.networkDown)).microseconds
    return CohortPlan.Latency(up: UInt32(clamping: up), down: UInt32(clamping: down))
  }

  /// The client gives up while the request still travels; the server never learns of it in time to say so.
  @inline(never)
  private mutating func giveUpOnTheWay(
    _ batch: UInt32, _ device: UInt32, at now: Instant, _ sink: inout Outbox
  ) {
    sink.schedule(
      Delivery(
        due: now + Span(microseconds: plan.pointee.timeout), device: device, batch: batch,
        firstOrdinal: batches[batch].firstOrdinal, downlink: 0, retryAfter: .max,
        attempt: batches[batch].attempts, generation: batches[batch].generation, status: 0, kind: .timeOut,
        resolves: false))
  }
}

extension DeviceCounter {
  init(_ reason: DropReason) {
    switch reason {
    case .status: self = .droppedByStatus
    case .retryLimit: self = .droppedByRetryLimit
    case .rateLimitRetryLimit: self = .droppedByRateLimitRetryLimit
    case .age: self = .droppedByAge
    }
  }
}
