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
    return plan.flush.isScanned && !plan.tables.loops && !plan.tables.triggers && !plan.checks
      && plan.events.isRegular && plan.events.perInterval > 0
      && plan.events.perInterval <= plan.fastPath.events
      && plan.network.constantLatency.up > 0 && Int64(plan.network.constantLatency.up) <= plan.network.timeout
      && tracedDevice == .noDevice && !plan.server.asksForRetryCount
  }

  /// The trigger of the interval at `now` for a device whose records are `record`.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func fastTrigger(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, at now: Int64,
    _ row: CounterRow<DeviceSide>, _ calendar: inout ShardCalendar
  ) -> Bool {
    let plan = plan
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

    let now = Instant(microseconds: now)
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
    depart(upload, batch, device, plan.pointee.network.constantLatency, retryCount: 0, at: now, &calendar)
    return true
  }

  /// A 200 that arrives at `now` for a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(always)
  mutating func fastSuccess(
    _ delivery: Delivery, at now: Int64, _ row: CounterRow<DeviceSide>
  ) -> Bool {
    let (device, batch) = (delivery.device, delivery.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let flags = record.pointee.flags
    guard delivery.isSuccess, record.pointee.oldest == batch, record.pointee.newest == batch,
      upload.pointee.isAwaited(attempt: delivery.attempt, generation: delivery.generation),
      flags.isDisjoint(with: [.contended, .hasHistory]), tracedDevice == .noDevice, gates == nil
    else { return false }
    hearSuccess(batch, device, at: now)
    record.pointee.noteReception(at: Instant(microseconds: now))
    record.pointee.flags.remove(.due)
    settleOnly(record, device, row)
    let accepted = Instant(microseconds: now &- Int64(delivery.downlink))
    let acceptedRow = rows.row(at: accepted.microseconds)
    counters.add(
      countAcceptance(of: upload, batch, device, at: accepted, row: acceptedRow), to: .settledOldEvents,
      row: acceptedRow)
    batches.release(batch, upload)
    return true
  }

  /// The trigger of a device whose one batch waits for the client's backoff: the batch takes the new events.
  @inline(__always)
  private mutating func fastAdd(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, at now: Int64
  ) -> Bool {
    let plan = plan
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
