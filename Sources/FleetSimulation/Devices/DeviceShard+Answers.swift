import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadGating
import UploadPipeline
import UploadRetry

/// Answers, time-outs, and what becomes of a batch.
extension DeviceShard {
  @inline(__always)
  package mutating func handle(
    _ delivery: Delivery, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let batch = delivery.batch
    // A stale item: the record serves another batch by now.
    if batches[batch].generation != delivery.generation { return }
    if delivery.kind != .answer {
      handleUnanswered(delivery, at: now, sink)
      return
    }
    batches[batch].attemptEnds()
    self[delivery.device].pointee.noteReception(at: now)
    if delivery.status == 200, !isQuery(delivery) {
      accept(batch, delivery.device, at: now - Span(microseconds: Int64(delivery.downlink)))
    }
    guard batches[batch].flags.contains(.inFlight), batches[batch].attempts == delivery.attempt else {
      // The app was killed meanwhile: nobody waits for this answer.
      if delivery.status == 200, !isQuery(delivery) { traceUnheard(delivery, at: now) }
      releaseIfDone(batch, delivery.device)
      return
    }
    if delivery.status == 200 { succeed(delivery, at: now, sink) } else { fail(delivery, at: now, sink) }
  }

  @inline(never)
  private mutating func fail(
    _ delivery: Delivery, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    fail(
      plan.response(status: delivery.status, retryAfter: delivery.retryAfter), delivery.batch,
      delivery.device,
      at: now.microseconds, sink)
  }

  /// Time-outs, and what only the observers hear of.
  @inline(never)
  private mutating func handleUnanswered(
    _ delivery: Delivery, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let batch = delivery.batch
    switch delivery.kind {
    case .answer: break
    case .acceptance:
      batches[batch].attemptEnds()
      if !isQuery(delivery) {
        traceUnheard(delivery, at: now)
        accept(batch, delivery.device, at: now)
      }
      releaseIfDone(batch, delivery.device)
    case .loss:
      batches[batch].attemptEnds()
      releaseIfDone(batch, delivery.device)
    case .timeOut:
      if delivery.resolves { batches[batch].attemptEnds() }
      guard batches[batch].flags.contains(.inFlight), batches[batch].attempts == delivery.attempt else {
        releaseIfDone(batch, delivery.device)
        return
      }
      count(1, .timeouts, at: now)
      if delivery.status != Delivery.notSent { noteUnknownOutcome(batch, at: now) }
      fail(.noStatus, batch, delivery.device, at: now.microseconds, sink)
    }
  }

  // MARK: Ends of an upload

  /// The client learns that its upload was accepted, or what became of it.
  @inline(__always)
  private mutating func succeed(
    _ delivery: Delivery, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let (batch, device) = (delivery.batch, delivery.device)
    let record = self[device]
    if isQuery(delivery) {
      let wasApplied = batches[batch].flags.contains(.accepted)
      hear(wasApplied: wasApplied, batch, device, at: now.microseconds, sink)
      return
    }
    let isOnly =
      record.pointee.oldest == batch && record.pointee.newest == batch && tracedDevice == .noDevice
      && !record.pointee.flags.contains(.hasHistory)
    succeed(batch, device, isOnly: isOnly, at: now.microseconds, sink)
    if isOnly {
      settleOnly(record, device, counters[rows.row(at: now.microseconds)])
      batches[batch].flags.remove([.inFlight, .held])
      releaseIfDone(batch, device)
    }
  }

  /// The one batch that a device holds is delivered: its upload, its place in the queue and the running loop end.
  @inline(__always)
  func settleOnly(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, _ row: CounterRow<DeviceSide>
  ) {
    record.pointee.flags.remove([.looping, .draining, .uploading])
    record.pointee.oldest = .noBatch
    record.pointee.newest = .noBatch
    if let loops {
      loops[device].pointee.inFlight = 0
      loops[device].pointee.heldEvents = 0
    }
    row[.inFlight] &-= 1
    row[.settledBatches] &+= 1
  }

  // MARK: Ends of a batch

  /// The server accepts a batch: its events are delivered, unless they were before.
  @inline(never)
  mutating func accept(_ batch: BatchIndex, _ device: DeviceIndex, at time: Instant) {
    if self[device].pointee.flags.contains(.hasHistory) {
      acceptWithHistory(batch, device, at: time)
      return
    }
    let events = Int64(batches[batch].events)
    let row = rows.row(at: time.microseconds)
    if batches[batch].flags.contains(.accepted) {
      counters.add(1, to: .duplicateBatches, row: row)
      counters.add(events, to: .duplicateEvents, row: row)
      if let times = batches.acceptanceTimes {
        let since = time.microseconds &- times[batch.place]
        if since <= plan.pointee.server.deduplicationWindow {
          counters.add(events, to: .deduplicatedEvents, row: row)
        }
      }
      return
    }
    batches[batch].flags.insert(.accepted)
    batches.acceptanceTimes?[batch.place] = time.microseconds
    if batches[batch].flags.contains(.dropped) {
      if batches[batch].flags.contains(.blocked) {
        countBlocked(-events, batches[batch].blockReason, row: row)
      } else {
        counters.add(events, to: .acceptedAfterDropEvents, row: row)
      }
    }
    let old = countAcceptance(of: batches.address(batch), batch, device, at: time, row: row)
    if old > 0, !batches[batch].flags.contains(.dropped) {
      counters.add(old, to: .settledOldEvents, row: row)
    }
  }

  /// Counts the first acceptance of a batch, whose record is `upload`, and the time to delivery of its events; returns how many
  /// are old.
  @inline(__always)
  mutating func countAcceptance(
    of upload: UnsafeMutablePointer<BatchRecord>, _ batch: BatchIndex, _ device: DeviceIndex,
    at time: Instant,
    row: Int
  ) -> Int64 {
    let (created, events) = (upload.pointee.firstTime, upload.pointee.events)
    counters.add(1, to: .acceptedBatches, row: row)
    counters.add(Int64(events), to: .deliveredEvents, row: row)
    var old: Int64 = created < plan.pointee.oldBefore ? 1 : 0
    var sum = recordDelivery(after: time.microseconds &- created, row: row)
    if events > 1 { acceptMore(batch, device, at: time, row: row, &sum, &old) }
    if options.pointee.hasLanes { recordLane(of: batch, device, at: time) }
    counters.add(sum, to: .timeToDeliverySum, row: row)
    return old
  }

  /// The events behind a batch's first.
  @inline(never)
  private mutating func acceptMore(
    _ batch: BatchIndex, _ device: DeviceIndex, at time: Instant, row: Int, _ sum: inout Int64,
    _ old: inout Int64
  ) {
    let draws = EventDraws(key(of: device))
    var created = batches[batch].firstTime
    var ordinal = batches[batch].firstOrdinal
    for _ in 1..<batches[batch].events {
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
      sum &+= recordDelivery(after: time.microseconds &- created, row: row)
      if created < plan.pointee.oldBefore { old &+= 1 }
    }
  }

  /// The times to delivery of a batch's events once more, by its lane.
  @inline(never)
  private mutating func recordLane(of batch: BatchIndex, _ device: DeviceIndex, at time: Instant) {
    let lane = Int(self.lane(of: batch, device).rawValue)
    let draws = EventDraws(key(of: device))
    var (created, ordinal) = (batches[batch].firstTime, batches[batch].firstOrdinal)
    for _ in 0..<batches[batch].events {
      laneDeliveries[lane].record(time.microseconds &- created)
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
    }
  }

  @inline(__always)
  mutating func recordDelivery(after wait: Int64, row: Int) -> Int64 {
    let bucket = deliveries.record(wait)
    intervalDeliveries.record(histogramBucket: bucket, row: row)
    return wait
  }

  /// The client gives a batch up.
  mutating func drop(_ batch: BatchIndex, _ reason: Measure, _ device: DeviceIndex, at now: Instant) {
    countDropped(batch, events: UInt32(batches[batch].events), reason, device, at: now)
    if !batches[batch].flags.contains(.accepted) {
      batches[batch].flags.remove(.blocked)
      if let block = reason.blockReason { batches[batch].blockReason = block }
      batches[batch].flags.insert(reason.blockReason == nil ? .dropped : [.dropped, .blocked])
    }
    settle(batch, device, at: now)
    if isTraced(device) { note(tracedDrop(batch, reason), device, at: now) }
  }

  /// Counts the `events` oldest events of a batch as dropped; what the server has accepted is not lost.
  mutating func countDropped(
    _ batch: BatchIndex, events: UInt32, _ reason: Measure, _ device: DeviceIndex, at now: Instant
  ) {
    if self[device].pointee.flags.contains(.hasHistory) {
      countDroppedWithHistory(batch, events: events, reason, device, at: now)
      return
    }
    if batches[batch].flags.contains(.accepted) { return }
    count(lost: Int64(events), reason, device, at: now)
    var created = batches[batch].firstTime
    var ordinal = batches[batch].firstOrdinal
    if created >= plan.pointee.oldBefore { return }
    let draws = EventDraws(key(of: device))
    var old: Int64 = 0
    for _ in 0..<events where created < plan.pointee.oldBefore {
      old &+= 1
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
    }
    count(old, .settledOldEvents, at: now)
  }

  /// Events of a device that are given up.
  mutating func count(lost events: Int64, _ reason: Measure, _ device: DeviceIndex, at now: Instant) {
    if let block = reason.blockReason {
      countBlocked(events, block, row: rows.row(at: now.microseconds))
    } else {
      count(events, reason, at: now)
      self[device].pointee.flags.insert(.lostEvents)
    }
  }

  /// Negative: of events that were blocked and turn out to have been accepted.
  func countBlocked(_ events: Int64, _ reason: DropReason, row: Int) {
    counters.add(events, to: .blockedEvents, row: row)
    counters.add(events, to: Measure(blocked: reason), row: row)
  }

  /// Delivered or dropped: the batch leaves the queue. Its record stays while an upload of it is open at the server.
  @inline(__always)
  mutating func settle(_ batch: BatchIndex, _ device: DeviceIndex, at now: Instant) {
    if let loops { loops[device].pointee.heldEvents &-= UInt32(batches[batch].events) }
    removeHeld(batch, device)
    count(1, .settledBatches, at: now)
    if self[device].pointee.flags.contains(.hasHistory) {
      settleWithHistory(batch, device)
    } else {
      releaseIfDone(batch, device)
    }
  }
}
