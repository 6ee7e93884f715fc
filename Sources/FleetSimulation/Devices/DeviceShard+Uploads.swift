import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadRetry

/// The upload loop (S3, S16, S17): over the due batches from the oldest to the newest, once.
extension DeviceShard {
  /// A trigger or a wake-up asks for a loop. One that runs already reaches what has been sealed meanwhile.
  mutating func runLoop(
    _ device: UInt32, at now: Instant, byTrigger: Bool, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    if record.pointee.flags.contains(.looping) {
      let joins = !plan.pointee.ignoresFlushWhileUploading && !record.pointee.flags.contains(.draining)
      trace(device, at: now, .alreadyUploading(joins: joins))
      if joins { continueLoop(device, at: now, &sink) }
      return
    }
    if record.pointee.oldest == 0 { return }
    guard record.pointee.gate.isReady(at: now.microseconds) else {
      trace(device, at: now, .heldBack)
      rest(device, at: now, &sink)
      return
    }
    if record.pointee.flags.contains(.idleWithBatches) {
      record.pointee.flags.remove(.idleWithBatches)
      count(-1, .devicesWaitingChange, at: now)
    }
    record.pointee.flags.remove([.draining, .byTrigger, .loopHadFailure])
    record.pointee.loopEnd = plan.pointee.ignoresFlushWhileUploading ? record.pointee.nextOrdinal : .max
    record.pointee.flags.insert(byTrigger ? [.looping, .byTrigger] : .looping)
    record.pointee.cursor = 0
    record.pointee.passed = 0
    if plan.pointee.isRebatch { mergeReady(device, at: now) }
    continueLoop(device, at: now, &sink)
  }

  /// Sends what may be sent now; ends the loop when nothing is left to send or to wait for.
  mutating func continueLoop(_ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable) {
    let record = self[device]
    while record.pointee.inFlight < plan.pointee.concurrency, !record.pointee.flags.contains(.draining),
      record.pointee.gate.isReady(at: now.microseconds)
    {
      let expected = plan.pointee.checks ? nextDueByScan(device, at: now) : 0
      let batch = takeNextDue(device, at: now)
      if plan.pointee.checks, batch != expected { note("the loop took the wrong batch", device, at: now) }
      if batch == 0 { break }
      record.pointee.cursor = batches[batch].firstOrdinal &+ 1
      let state = clientRetry.map { $0[Int(truncatingIfNeeded: device)] } ?? batches[batch].retry
      let decision = machine(of: device).pointee.beforeSend(
        batch: state, pipeline: &record.pointee.pipeline, now: now.microseconds,
        oldestEventQueuedAt: batches[batch].firstTime)
      switch decision {
      case .send(let retryCount):
        trace(device, at: now, tracedSend(batch, retryCount))
        send(batch, device, at: now, &sink)
      case .notDue(let until):
        // The gate or the heap let something through too early: a bug, shown by the checkers.
        note("a batch was offered before it was due", device, at: now)
        batches[batch].retry.retryAt = max(until, now.microseconds &+ 1)
        pushWaiting(batch, device)
      case .drop(let reason):
        clientRetry?[Int(truncatingIfNeeded: device)] = BatchRetryState()
        drop(batch, DeviceCounter(reason), device, at: now)
      case .dropFlush(let reason):
        clientRetry?[Int(truncatingIfNeeded: device)] = BatchRetryState()
        record.pointee.gate.reset()
        trace(device, at: now, .stateReset)
        drop(batch, DeviceCounter(reason), device, at: now)
        while case let next = takeNextDue(device, at: now), next != 0 {
          drop(next, DeviceCounter(reason), device, at: now)
        }
      }
    }
    if record.pointee.inFlight == 0 {
      record.pointee.flags.remove([.looping, .draining])
      rest(device, at: now, &sink)
    }
  }

  /// The first due batch at or behind the loop's cursor, taken out of the due list; 0: none.
  private mutating func takeNextDue(_ device: UInt32, at now: Instant) -> UInt32 {
    let record = self[device]
    collectDue(device, at: now)
    var previous = record.pointee.passed
    var batch = previous == 0 ? record.pointee.ready : batches[previous].link
    while batch != 0 {
      let isLegacy = batches[batch].flags.contains(.atTriggersOnly)
      if batches[batch].firstOrdinal >= record.pointee.cursor,
        batches[batch].firstOrdinal < record.pointee.loopEnd,
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
  mutating func rest(_ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable) {
    let record = self[device]
    if record.pointee.oldest == 0 { return }
    if !record.pointee.flags.contains(.idleWithBatches) {
      record.pointee.flags.insert(.idleWithBatches)
      count(1, .devicesWaitingChange, at: now)
    }
    if !plan.pointee.wakesByTimer { return }
    var due = Int64.max
    var batch = record.pointee.ready
    while batch != 0, batches[batch].flags.contains(.atTriggersOnly) { batch = batches[batch].link }
    if batch != 0 {
      due = now.microseconds
    } else {
      guard let first = firstWaiting(device) else { return }
      due = max(first.due, now.microseconds)
    }
    due = max(due, record.pointee.gate.waitUntil)
    if record.pointee.wakeAt == due { return }
    record.pointee.wakeAt = due
    if due < plan.pointee.end { sink.schedule(wakeUp: device, at: Instant(microseconds: due)) }
  }

  private mutating func send(
    _ batch: UInt32, _ device: UInt32, at now: Instant, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let record = self[device]
    if plan.pointee.checks { checkSend(batch, device, at: now) }
    let attempt = batches[batch].attempts == .max ? 2 : batches[batch].attempts &+ 1
    batches[batch].attempts = attempt
    batches[batch].flags.insert(.inFlight)
    batches[batch].outstanding &+= 1
    let ordinal = batches[batch].firstOrdinal
    let network = key(of: device).child(UploadRequest.name(firstOrdinal: ordinal, number: attempt))
    let up = UInt32(
      clamping: plan.pointee.latency.sample(network.child(RandomPurpose.networkUp)).microseconds)
    let down = UInt32(
      clamping: plan.pointee.latency.sample(network.child(RandomPurpose.networkDown)).microseconds)
    let global = UInt32(truncatingIfNeeded: firstGlobal &+ Int(truncatingIfNeeded: device))
    sink.send(
      UploadRequest(
        arrival: now + Span(microseconds: Int64(up)), device: global, batch: batch, firstOrdinal: ordinal,
        uplink: up, downlink: down, events: batches[batch].events, attempt: attempt,
        generation: batches[batch].generation, shard: UInt16(truncatingIfNeeded: number)))
    if Int64(up) > plan.pointee.timeout {
      // The client gives up while the request still travels; the server never learns of it in time to say so.
      sink.schedule(
        Delivery(
          due: now + Span(microseconds: plan.pointee.timeout), device: device, batch: batch,
          firstOrdinal: ordinal,
          downlink: down, retryAfter: .max, attempt: attempt, generation: batches[batch].generation,
          status: 0,
          kind: .timeOut, resolves: false))
    }
    record.pointee.inFlight &+= 1
    count(1, .inFlightChange, at: now)
    attempts &+= 1
    record.pointee.attempts &+= 1
    record.pointee.sentEvents &+= Int64(batches[batch].events)
    if now.microseconds &- record.pointee.lastTransmission >= 10_000_000 { record.pointee.radioWakeUps &+= 1 }
    record.pointee.lastTransmission = now.microseconds
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
