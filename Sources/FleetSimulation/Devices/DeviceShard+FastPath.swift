import FleetMetrics
import SimulationKernel
import UploadPipeline
import UploadRetry

/// The fast paths of what happens most in any run: the interval's trigger of a device that holds nothing, or one batch that
/// waits, and the 200 for the only batch that a device holds. `DeviceShard+FastRetry` has those of failures and wake-ups.
///
/// A fast path is a guard in front of the transitions that `handleTrigger` and `handle` lead to. It returns false, having done
/// nothing, where the guard does not hold. The plain engine of the tests takes no fast path, and both agree.
extension DeviceShard {
  /// Whether `fastTrigger` applies to this shard's devices at all.
  var hasFastTriggers: Bool {
    let plan = plan.pointee
    return plan.scansTriggers && !plan.keepsLoopState && !plan.keepsTriggerPlans && !plan.checks
      && plan.isRegular && plan.eventsPerInterval > 0 && plan.eventsPerInterval <= plan.fastEvents
      && plan.constantLatency.up > 0 && Int64(plan.constantLatency.up) <= plan.timeout
      && tracedDevice == .max && !plan.tellsRetryCount
  }

  /// The trigger of the interval at `now` for a device whose records are `record`.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func fastTrigger(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: UInt32, at now: Int64,
    _ row: CounterRow<DeviceSide>, _ calendar: inout ShardCalendar
  ) -> Bool {
    let plan = plan
    let flags = record.pointee.flags
    if record.pointee.oldest != 0 { return fastAdd(record, device, at: now) }
    guard flags.isDisjoint(with: [.due, .looping, .resting]),
      record.pointee.gate.isReady(at: now), now >= plan.pointee.flushInterval,
      now &+ plan.pointee.flushInterval < plan.pointee.end
    else { return false }
    let events = plan.pointee.eventsPerInterval
    let ordinal = record.pointee.nextOrdinal
    let first = plan.pointee.phaseIsFlush ? Int64(record.pointee.phase) : plan.eventPhase(key(of: device))
    let period = plan.pointee.period
    let firstTime = first &+ Int64(ordinal) &* period
    let state = record.pointee.clientRetry
    var pipeline = record.pointee.pipeline
    guard
      case .send = decision(on: state, pipeline: &pipeline, device, at: now)
    else { return false }
    record.pointee.pipeline = pipeline

    let batch = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: firstTime, events: UInt16(truncatingIfNeeded: events))
    let upload = batches.address(batch)
    upload.pointee.attempts = 1
    upload.pointee.attemptLeaves()
    upload.pointee.flags = [.held, .inFlight]
    record.pointee.oldest = batch
    record.pointee.newest = batch
    record.pointee.nextOrdinal = ordinal &+ events
    record.pointee.flags = flags.subtracting([.draining, .loopHadFailure])
      .union([.looping, .byTrigger, .uploading])
    record.pointee.noteAttempt(events: UInt16(truncatingIfNeeded: events), at: Instant(microseconds: now))
    attempts &+= 1
    row[.sealedBatches] &+= 1
    row[.inFlight] &+= 1
    // The events up to the next trigger.
    var created = firstTime &+ Int64(events) &* period
    for _ in 0..<events {
      counters.add(1, to: .createdEvents, row: creationRows.row(at: created))
      created &+= period
    }
    calendar.send(
      UploadTicket(
        device: device, batch: batch, uplink: plan.pointee.constantLatency.up,
        downlink: plan.pointee.constantLatency.down, attempt: 1, generation: upload.pointee.generation,
        retryCount: 0),
      at: Instant(microseconds: now))
    return true
  }

  /// A 200 that arrives at `now` for a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func fastSuccess(
    _ ticket: DeliveryTicket, at now: Int64, _ row: CounterRow<DeviceSide>
  ) -> Bool {
    let (device, batch) = (ticket.device, ticket.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let flags = record.pointee.flags
    guard ticket.isSuccess, record.pointee.oldest == batch, record.pointee.newest == batch,
      upload.pointee.isAwaited(attempt: ticket.attempt, generation: ticket.generation),
      flags.isDisjoint(with: [.contended, .hasHistory]), tracedDevice == .max, gates == nil
    else { return false }
    hearSuccess(batch, device, at: now)
    record.pointee.noteReception(at: Instant(microseconds: now))
    record.pointee.flags = flags.subtracting([.due, .looping, .draining, .uploading])
    record.pointee.oldest = 0
    record.pointee.newest = 0
    if let loops {
      loops[Int(truncatingIfNeeded: device)].inFlight = 0
      loops[Int(truncatingIfNeeded: device)].heldEvents = 0
    }
    row[.inFlight] &-= 1
    row[.settledBatches] &+= 1
    let accepted = Instant(microseconds: now &- Int64(ticket.downlink))
    let acceptedRow = rows.row(at: accepted.microseconds)
    let old = recordDeliveries(batch, device, at: accepted, row: acceptedRow)
    counters.add(1, to: .acceptedBatches, row: acceptedRow)
    counters.add(Int64(upload.pointee.events), to: .deliveredEvents, row: acceptedRow)
    counters.add(old, to: .settledOldEvents, row: acceptedRow)
    batches.release(batch)
    return true
  }

  /// The trigger of a device whose one batch waits for the client's backoff: the batch takes the new events.
  @inline(__always)
  private mutating func fastAdd(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: UInt32, at now: Int64
  ) -> Bool {
    let plan = plan
    let flags = record.pointee.flags
    let batch = record.pointee.oldest
    let upload = batches.address(batch)
    let events = plan.pointee.eventsPerInterval
    let ordinal = record.pointee.nextOrdinal
    let waitUntil = record.pointee.gate.waitUntil
    let together = UInt32(upload.pointee.events) &+ events
    guard record.pointee.newest == batch, flags.isDisjoint(with: [.due, .looping]),
      flags.contains(.resting), now < waitUntil,
      record.pointee.wakes(at: waitUntil) || !options.pointee.wakesByTimer,
      upload.pointee.flags.isDisjoint(with: [.inFlight, .unknownOutcome]),
      upload.pointee.firstOrdinal &+ UInt32(upload.pointee.events) == ordinal,
      together <= plan.pointee.fastEvents, now >= plan.pointee.flushInterval,
      now &+ plan.pointee.flushInterval < plan.pointee.end
    else { return false }
    upload.pointee.events = UInt16(truncatingIfNeeded: together)
    record.pointee.nextOrdinal = ordinal &+ events
    let first = plan.pointee.phaseIsFlush ? Int64(record.pointee.phase) : plan.eventPhase(key(of: device))
    var created = first &+ Int64(ordinal &+ events) &* plan.pointee.period
    for _ in 0..<events {
      counters.add(1, to: .createdEvents, row: creationRows.row(at: created))
      created &+= plan.pointee.period
    }
    return true
  }
}
