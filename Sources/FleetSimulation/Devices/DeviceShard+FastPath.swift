import CMemory
import FleetMetrics
import ScenarioModel
import TAPIModel
import UploadGating
import UploadPipeline
import UploadRetry

/// The fast paths of the most frequent transitions of any run. One is the interval's trigger of a device that holds nothing, or
/// one batch that waits. The other is the 200 for the only batch that a device holds. Those of failures and wake-ups follow
/// below.
///
/// A fast path is a guard in front of the transitions that `handleTrigger` and `handle` lead to. It returns false, having done
/// nothing, where the guard does not hold. The plain engine of the tests takes no fast path, and both agree.
extension DeviceShard {
  /// Whether `fastTrigger` applies to this shard's devices at all.
  var hasFastTriggers: Bool {
    let plan = plan.pointee
    return plan.flush.isScanned && plan.fastPath.age == .max && !plan.tables.loops
      && !plan.tables.triggers && !plan.checks
      && plan.client.makesRoomAtOnce
      && plan.events.isRegular && plan.events.perInterval > 0
      && plan.events.perInterval <= plan.fastPath.events
      && plan.network.constantLatency.up > 0 && Int64(plan.network.constantLatency.up) <= plan.network.timeout
      && !isTraced && !plan.server.asksForRetryCount
  }

  /// The trigger of the interval at `now` for a device whose records are `record`.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func fastTrigger(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, at now: Int64,
    _ row: Ledger.Row, _ calendar: inout ShardCalendar
  ) -> Bool {
    let flags = record.pointee.flags
    if record.pointee.oldest != .noBatch { return fastAdd(record, device, at: now) }
    guard flags.isDisjoint(with: [.due, .looping, .resting]),
      record.pointee.gate.isReady(at: now), now >= plan.pointee.flush.interval,
      now &+ plan.pointee.flush.interval < plan.pointee.end
    else { return false }
    let state = record.pointee.clientRetry
    var pipeline = record.pointee.pipeline
    guard
      case .send = decision(on: state, pipeline: &pipeline, device, at: now)
    else { return false }
    record.pointee.pipeline = pipeline

    let events = plan.pointee.events.perInterval
    let firstTime =
      firstPeriodicEvent(device) &+ Int64(record.pointee.nextOrdinal) &* plan.pointee.events.period
    let batch = sealOnly(record, device, CreatedEvents(count: events, firstTime: firstTime), row)
    let upload = batches.address(batch)
    upload.pointee.attemptLeaves(number: 1)
    record.pointee.flags = flags.atBeginOfLoop(byTrigger: true).union(.uploading)
    countAttempt(record, events: UInt16(truncatingIfNeeded: events), at: now, row)
    // The events up to the next trigger.
    countCreated(events, from: firstTime &+ Int64(events) &* plan.pointee.events.period)
    let id = AttemptID(device, batch, number: 1, generation: upload.pointee.generation)
    calendar.send(UploadTicket(id, plan.pointee.network.constantLatency, retryCount: 0), at: now)
    return true
  }

  /// A 200 that arrives at `now` for a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(always)
  mutating func fastSuccess(
    _ delivery: Delivery, at now: Int64, _ row: Ledger.Row
  ) -> Bool {
    let (device, batch) = (delivery.device, delivery.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let flags = record.pointee.flags
    guard delivery.isSuccess, record.pointee.oldest == batch, record.pointee.newest == batch,
      upload.pointee.isAwaited(delivery.id),
      flags.isDisjoint(with: [.contended, .hasHistory, .suspended]), !isTraced, hasPlainLoops
    else { return false }
    hearSuccess(batch, device, at: now)
    record.pointee.noteReception(at: now)
    record.pointee.flags.remove(.due)
    settleOnly(record, device, row)
    let accepted = now &- Int64(delivery.downlink)
    let acceptedRow = ledger.deliveryRow(at: accepted)
    acceptedRow.count(
      countAcceptance(of: upload, batch, device, at: accepted, acceptedRow), .settledOldEvents)
    batches.release(batch, upload)
    return true
  }

  /// The trigger of a device whose one batch waits for the client's backoff: the batch takes the new events.
  @inline(__always)
  private mutating func fastAdd(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, at now: Int64
  ) -> Bool {
    let flags = record.pointee.flags
    let batch = record.pointee.oldest
    let upload = batches.address(batch)
    let events = plan.pointee.events.perInterval
    let ordinal = record.pointee.nextOrdinal
    let waitUntil = record.pointee.gate.waitUntil
    let together = UInt32(upload.pointee.events) &+ events
    guard record.pointee.newest == batch, flags.isDisjoint(with: [.due, .looping]),
      flags.contains(.resting), now < waitUntil,
      record.pointee.wakes(at: waitUntil) || !options.pointee.wakesByTimer,
      upload.pointee.flags.isDisjoint(with: [.inFlight, .unknownOutcome]),
      upload.pointee.firstOrdinal &+ UInt32(upload.pointee.events) == ordinal,
      together <= plan.pointee.fastPath.events, now >= plan.pointee.flush.interval,
      now &+ plan.pointee.flush.interval < plan.pointee.end
    else { return false }
    upload.pointee.events = UInt16(truncatingIfNeeded: together)
    record.pointee.nextOrdinal = ordinal &+ events
    countCreated(
      events, from: firstPeriodicEvent(device) &+ Int64(ordinal &+ events) &* plan.pointee.events.period)
    return true
  }
}

/// The fast path of clients that keep their batches apart and upload one after the other: the answer or the time-out of the upload
/// under way. Rare cases (a drop, a pause, a batch that may not leave) go on in the general path.
extension DeviceShard {
  /// Whether these apply to this shard's devices at all.
  var hasFastFiles: Bool {
    let plan = plan.pointee
    let client = plan.client
    return !client.isRebatch && client.uploads == 1 && client.flushWhileUploading == .joins
      && client.makesRoomAtOnce
      && !client.actsAtFlushEnd && !client.keepsGates && !client.splitsOn413 && !client.growsUntilFailure
      && (client.saving == .atOnce || client.saving == .atOnceAsItIs)
      && client.policy.limitsCheck == .whenDue && !plan.checks && !isTraced
      && !plan.server.asksForRetryCount && plan.server.deduplicationWindow < 0 && !plan.network.isFaulty
      && plan.flush.rearm != .afterAnswer
  }

  /// The end of an upload at `now`, of a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(never)
  mutating func fastAnswer(
    _ delivery: Delivery, at now: Int64, _ row: Ledger.Row, _ calendar: inout ShardCalendar
  ) -> Bool {
    let (device, batch) = (delivery.device, delivery.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let isAnswer = delivery.kind == .answer
    guard isAnswer || delivery.kind == .timeOut, upload.pointee.generation == delivery.generation,
      upload.pointee.attempts == delivery.attempt, upload.pointee.flags.contains(.inFlight),
      record.pointee.flags.isDisjoint(with: [.contended, .offline, .suspended])
    else { return false }
    let isSuccess = delivery.isSuccess
    if isSuccess { prefetchNeighbours(of: upload) }
    if isSuccess, upload.pointee.outstanding != 1 || upload.pointee.flags.contains(.accepted) { return false }
    record.pointee.flags.remove(.due)
    if isAnswer { record.pointee.noteReception(at: now) }
    if isAnswer || delivery.resolves { upload.pointee.attemptEnds() }
    upload.pointee.flags.remove(.inFlight)
    endUpload(of: device)
    row.count(-1, .inFlight)
    if isSuccess {
      deliverNow(batch, upload, device, acceptedAt: now &- Int64(delivery.downlink), at: now, row)
    } else {
      if !isAnswer {
        noteTimeOut(delivery, row)
        if delivery.status == 0 {
          upload.pointee.flags.insert(.unknownOutcome)
          row.count(1, .unknownOutcomes)
        }
      }
      let response =
        isAnswer ? plan.response(status: delivery.status, retryAfter: delivery.retryAfter) : .noStatus
      noteFailure(isAnswer ? AttemptFailure(status: delivery.status) : .noAnswer, of: upload, device)
      let outcome = decide(response, batch, device, at: now)
      guard case .retry(let time) = outcome, !options.pointee.failureEndsLoop else {
        conclude(outcome, batch, device, at: now, &calendar)
        return true
      }
      record.pointee.flags.insert(.loopHadFailure)
      if time <= now {
        insertDue(batch, device)
      } else {
        ledger.countWait(until: time, at: now, row)
        wait(batch, until: time, device)
      }
    }
    continueLoop(device, from: loop(device).pointee.cursor, at: now, &calendar)
    return true
  }

  /// Asks for the batches between which one leaves the queue.
  @inline(__always)
  private func prefetchNeighbours(of upload: UnsafeMutablePointer<BatchRecord>) {
    let (older, newer) = (upload.pointee.older, upload.pointee.newer)
    if older != .noBatch { fleetsim_prefetch(batches.address(older)) }
    if newer != .noBatch { fleetsim_prefetch(batches.address(newer)) }
  }

  /// A batch whose only open upload the server has accepted leaves the queue.
  @inline(always)
  private mutating func deliverNow(
    _ batch: BatchIndex, _ upload: UnsafeMutablePointer<BatchRecord>, _ device: DeviceIndex,
    acceptedAt accepted: Int64,
    at now: Int64, _ row: Ledger.Row
  ) {
    let acceptedRow = ledger.deliveryRow(at: accepted)
    let old = countAcceptance(of: upload, batch, device, at: accepted, acceptedRow)
    acceptedRow.count(old, .settledOldEvents)
    hearSuccess(batch, device, at: now)
    leave(upload.pointee.events, of: device)
    removeHeld(batch, device)
    row.count(1, .settledBatches)
    batches.release(batch, upload)
  }
}

/// The fast paths of a failure and of the next try, for a device whose client keeps one retry record and holds one batch.
extension DeviceShard {
  /// Whether these apply to this shard's devices at all.
  var hasFastRetries: Bool {
    let plan = plan.pointee
    return plan.client.isRebatch && plan.fastPath.age == .max && !plan.tables.loops && !plan.checks
      && plan.client.wakesByTimer
      && plan.client.makesRoomAtOnce
      && plan.network.constantLatency.up > 0 && Int64(plan.network.constantLatency.up) <= plan.network.timeout
      && !isTraced && !plan.server.asksForRetryCount && !plan.tables.worlds
      && !plan.network.isFaulty && plan.flush.rearm != .afterAnswer
  }

  /// An answer at `now` other than 2xx, for a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(never)
  mutating func fastFailure(
    _ delivery: Delivery, at now: Int64, _ row: Ledger.Row, _ calendar: inout ShardCalendar
  ) -> Bool {
    let (device, batch) = (delivery.device, delivery.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let flags = record.pointee.flags
    guard delivery.isFailure, record.pointee.oldest == batch, record.pointee.newest == batch,
      upload.pointee.isAwaited(delivery.id),
      flags.isDisjoint(with: [.contended, .resting])
    else { return false }
    let response = plan.response(status: delivery.status, retryAfter: delivery.retryAfter)
    let outcome = decide(response, batch, device, at: now)
    record.pointee.noteReception(at: now)
    record.pointee.flags.subtract([.due, .uploading])
    upload.pointee.attemptEnds()
    upload.pointee.flags.remove(.inFlight)
    noteFailure(AttemptFailure(status: delivery.status), of: upload, device)
    row.count(-1, .inFlight)
    switch outcome {
    case .retry(let time), .backOff(let time):
      pause(device, until: time, .backoff, at: now)
    case .pause(let time):
      pause(device, until: time, .rateLimit, at: now)
    default:
      conclude(outcome, batch, device, at: now, &calendar)
      return true
    }
    let until = max(now, record.pointee.gate.waitUntil)
    ledger.countWait(until: until, at: now, row)
    record.pointee.flags.subtract([.looping, .draining])
    record.pointee.flags.insert(.loopHadFailure)
    startRest(device, at: now)
    wake(device, at: until, &calendar)
    return true
  }

  /// The wake-up at `now` of a device that waits with one batch and has nothing else due.
  @inline(never)
  mutating func fastWakeUp(_ device: DeviceIndex, at now: Int64, _ calendar: inout ShardCalendar) -> Bool {
    let record = self[device]
    let batch = record.pointee.oldest
    let flags = record.pointee.flags
    guard flags.isDisjoint(with: [.contended, .looping, .offline]), flags.contains(.resting),
      batch != .noBatch,
      batch == record.pointee.newest, record.pointee.wakes(at: now), record.pointee.gate.isReady(at: now)
    else { return false }
    let upload = batches.address(batch)
    guard upload.pointee.flags.isDisjoint(with: [.inFlight, .atTriggersOnly]) else { return false }
    // A copy: what does not send is decided again by `handleWakeUp`.
    var pipeline = record.pointee.pipeline
    let decision = decision(on: record.pointee.clientRetry, pipeline: &pipeline, device, at: now)
    guard case .send = decision else { return false }
    record.pointee.flags.subtract([.due, .wakes])
    endRest(device, at: now)
    begin(device, byTrigger: false, cursor: 0)
    setUploads(1, of: device)
    let number = upload.pointee.nextAttempt
    upload.pointee.attemptLeaves(number: number)
    let row = ledger.row(at: now)
    let latency = plan.pointee.network.constantLatency
    countAttempt(record, events: upload.pointee.events, at: now, row)
    countRetry(upload, at: now &+ Int64(latency.up))
    let id = AttemptID(device, batch, number: number, generation: upload.pointee.generation)
    calendar.send(UploadTicket(id, latency, retryCount: 0), at: now)
    return true
  }
}
