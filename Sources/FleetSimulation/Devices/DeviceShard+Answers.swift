import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadGating
import UploadRetry

/// Answers, time-outs, and what becomes of a batch.
extension DeviceShard {
  package mutating func handle(_ delivery: Delivery, _ sink: inout some DeviceSink & ~Copyable) {
    let batch = delivery.batch
    // A stale item: the record serves another batch by now.
    if batches[batch].generation != delivery.generation { return }
    switch delivery.kind {
    case .acceptance:
      batches[batch].outstanding &-= 1
      traceUnheard(delivery)
      accept(batch, delivery.device, at: delivery.due)
      releaseIfDone(batch)
    case .loss:
      batches[batch].outstanding &-= 1
      releaseIfDone(batch)
    case .timeOut:
      if delivery.resolves { batches[batch].outstanding &-= 1 }
      guard batches[batch].flags.contains(.inFlight), batches[batch].attempts == delivery.attempt else {
        releaseIfDone(batch)
        return
      }
      count(1, .timeouts, at: delivery.due)
      batches[batch].flags.insert(.unknownOutcome)
      endUpload(.noStatus, delivery, &sink)
    case .answer:
      batches[batch].outstanding &-= 1
      self[delivery.device].pointee.lastTransmission = delivery.due.microseconds
      if delivery.status == 200 {
        accept(batch, delivery.device, at: delivery.due - Span(microseconds: Int64(delivery.downlink)))
      }
      guard batches[batch].flags.contains(.inFlight), batches[batch].attempts == delivery.attempt else {
        // The app was killed meanwhile: nobody waits for this answer.
        if delivery.status == 200 { traceUnheard(delivery) }
        releaseIfDone(batch)
        return
      }
      let retryAfter = delivery.retryAfter == .max ? nil : Int64(delivery.retryAfter)
      endUpload(.status(Int(delivery.status), retryAfter: retryAfter), delivery, &sink)
    }
  }

  /// The client learns how its upload ended: the machine decides, the device does it.
  private mutating func endUpload(
    _ response: UploadResponse, _ delivery: Delivery, _ sink: inout some DeviceSink & ~Copyable
  ) {
    let (batch, device, now) = (delivery.batch, delivery.device, delivery.due)
    let record = self[device]
    batches[batch].flags.remove(.inFlight)
    record.pointee.inFlight &-= 1
    count(-1, .inFlightChange, at: now)
    trace(
      device, at: now,
      .answered(batch: Int(delivery.firstOrdinal), attempt: Int(delivery.attempt), response))
    let outcome = decide(response, batch, device, at: now)
    if outcome != .delivered { record.pointee.flags.insert(.loopHadFailure) }
    switch outcome {
    case .delivered:
      let otherFailed = record.pointee.flags.contains(.loopHadFailure)
      if plan.pointee.policy.endsWait(otherBatchOfFlushFailed: otherFailed) { record.pointee.gate.reset() }
      settle(batch, device, at: now)
    case .retry(let time):
      if plan.pointee.isRebatch {
        // One retry record for the client: its wait is the whole client's.
        pauseClient(batch, device, until: time, .backoff, at: now)
        insertReady(batch, device)
      } else {
        pushWaiting(batch, device)
      }
    case .pause(let time):
      pauseClient(batch, device, until: time, .rateLimit, at: now)
      insertReady(batch, device)
    case .backOff(let time):
      pauseClient(batch, device, until: time, .backoff, at: now)
      insertReady(batch, device)
    case .retryAtNextTrigger:
      batches[batch].flags.insert(.atTriggersOnly)
      insertReady(batch, device)
    case .drop(let reason):
      drop(batch, DeviceCounter(reason), device, at: now)
    }
    trace(device, at: now, .decided(batch: Int(delivery.firstOrdinal), outcome))
    continueLoop(device, at: now, &sink)
  }

  /// The pipeline waits, and the running loop ends.
  private mutating func pauseClient(
    _ batch: UInt32, _ device: UInt32, until time: Int64, _ kind: UploadGate.WaitKind, at now: Instant
  ) {
    let rule: UploadGate.WaitRule =
      switch plan.pointee.policy.twoWaits {
      case .laterReplaces: .laterReplaces
      case .shorterWinsRateLimitBeatsBackoff: .shorterWinsRateLimitBeatsBackoff
      }
    self[device].pointee.gate.pause(until: time, kind: kind, rule: rule, now: now.microseconds)
    self[device].pointee.flags.insert(.draining)
    // The gate alone owns a wait of the client: by its rule it may be shorter than the one just drawn.
    clientRetry?[Int(truncatingIfNeeded: device)].retryAt = 0
    batches[batch].retry.retryAt = 0
  }

  private mutating func decide(
    _ response: UploadResponse, _ batch: UInt32, _ device: UInt32, at now: Instant
  ) -> RetryOutcome {
    let record = self[device]
    let ordinal = batches[batch].firstOrdinal
    let client = clientRetry.map { $0 + Int(truncatingIfNeeded: device) }
    let failures = client?.pointee.failureCount ?? batches[batch].retry.failureCount
    // Jitter is named by (device, batch, retry ordinal), so that it moves no other draw.
    var random = RandomStream(
      key(of: device).child(RandomPurpose.jitter).child(
        UploadRequest.name(firstOrdinal: ordinal, number: failures)))
    let machine = machine(of: device)
    let failed = record.pointee.flags.contains(.loopHadFailure)
    if let client {
      return machine.pointee.afterResponse(
        response, batch: &client.pointee, pipeline: &record.pointee.pipeline, now: now.microseconds,
        otherBatchOfFlushFailed: failed, random: &random)
    }
    return machine.pointee.afterResponse(
      response, batch: &batches[batch].retry, pipeline: &record.pointee.pipeline, now: now.microseconds,
      otherBatchOfFlushFailed: failed, random: &random)
  }

  // MARK: Ends of a batch

  /// The server accepts a batch: its events are delivered, unless they were before.
  mutating func accept(_ batch: UInt32, _ device: UInt32, at time: Instant) {
    let events = Int64(batches[batch].events)
    if batches[batch].flags.contains(.accepted) {
      count(1, .duplicateBatches, at: time)
      count(events, .duplicateEvents, at: time)
      return
    }
    batches[batch].flags.insert(.accepted)
    let row = Int(truncatingIfNeeded: rows.quotient(time.microseconds))
    counters.add(1, to: .acceptedBatches, row: row)
    counters.add(events, to: .deliveredEvents, row: row)
    if batches[batch].flags.contains(.dropped) {
      counters.add(events, to: .acceptedAfterDropEvents, row: row)
    }
    let key = key(of: device).child(RandomPurpose.events)
    var created = batches[batch].firstTime
    var ordinal = batches[batch].firstOrdinal
    var old: Int64 = 0
    var sum: Int64 = 0
    for _ in 0..<events {
      let wait = time.microseconds &- created
      sum &+= wait
      deliveries.record(wait)
      intervalDeliveries.record(wait, row: row)
      if created < plan.pointee.oldBefore { old &+= 1 }
      ordinal &+= 1
      created &+= plan.pointee.gap(before: ordinal, key)
    }
    counters.add(sum, to: .timeToDeliverySum, row: row)
    if old > 0, !batches[batch].flags.contains(.dropped) {
      counters.add(old, to: .settledOldEvents, row: row)
    }
  }

  /// The client gives a batch up.
  mutating func drop(_ batch: UInt32, _ reason: DeviceCounter, _ device: UInt32, at now: Instant) {
    countDropped(batch, events: UInt32(batches[batch].events), reason, device, at: now)
    if !batches[batch].flags.contains(.accepted) { batches[batch].flags.insert(.dropped) }
    settle(batch, device, at: now)
    trace(device, at: now, tracedDrop(batch, reason))
  }

  /// Counts the `events` oldest events of a batch as dropped; what the server has accepted is not lost.
  mutating func countDropped(
    _ batch: UInt32, events: UInt32, _ reason: DeviceCounter, _ device: UInt32, at now: Instant
  ) {
    if batches[batch].flags.contains(.accepted) { return }
    count(Int64(events), reason, at: now)
    self[device].pointee.flags.insert(.lostEvents)
    var created = batches[batch].firstTime
    var ordinal = batches[batch].firstOrdinal
    if created >= plan.pointee.oldBefore { return }
    let key = key(of: device).child(RandomPurpose.events)
    var old: Int64 = 0
    for _ in 0..<events where created < plan.pointee.oldBefore {
      old &+= 1
      ordinal &+= 1
      created &+= plan.pointee.gap(before: ordinal, key)
    }
    count(old, .settledOldEvents, at: now)
  }

  /// Delivered or dropped: the batch leaves the queue. Its record stays while an upload of it is open at the server.
  private mutating func settle(_ batch: UInt32, _ device: UInt32, at now: Instant) {
    self[device].pointee.heldEvents &-= UInt32(batches[batch].events)
    removeHeld(batch, device)
    count(1, .settledBatches, at: now)
    releaseIfDone(batch)
  }
}
