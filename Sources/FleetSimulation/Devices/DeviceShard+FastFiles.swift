import CMemory
import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// The fast paths of clients that keep their batches apart and upload one after the other: the answer or the time-out of the upload
/// under way, and a wake-up; see `DeviceShard+FastPath`. What is rare (a drop, a pause, a batch that may not leave) goes on in the
/// general path.
extension DeviceShard {
  /// Whether these apply to this shard's devices at all.
  var hasFastFiles: Bool {
    let plan = plan.pointee
    let client = plan.client
    return !client.isRebatch && client.uploads == 1 && client.flushWhileUploading == .joins
      && !client.actsAtFlushEnd && !client.keepsGates && !client.splitsOn413
      && (client.saving == .atOnce || client.saving == .atOnceAsItIs)
      && client.policy.limitsCheck == .whenDue && !plan.checks && tracedDevice == .noDevice
      && !plan.server.asksForRetryCount && plan.server.deduplicationWindow < 0 && !plan.network.isFaulty
  }

  /// The end of an upload at `now`, of a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(never)
  mutating func fastAnswer(
    _ delivery: Delivery, at now: Int64, _ row: CounterRow<DeviceSide>, _ calendar: inout ShardCalendar
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
    if isAnswer { record.pointee.noteReception(at: Instant(microseconds: now)) }
    if isAnswer || delivery.resolves { upload.pointee.attemptEnds() }
    upload.pointee.flags.remove(.inFlight)
    loop(device).pointee.inFlight = 0
    row[.inFlight] &-= 1
    if isSuccess {
      deliverNow(batch, upload, device, acceptedAt: now &- Int64(delivery.downlink), at: now, row)
    } else {
      if !isAnswer {
        row[.timeouts] &+= 1
        if delivery.status != Delivery.notSent {
          upload.pointee.flags.insert(.unknownOutcome)
          row[.unknownOutcomes] &+= 1
        }
      }
      let response =
        isAnswer ? plan.response(status: delivery.status, retryAfter: delivery.retryAfter) : .noStatus
      upload.pointee.latestFailure = isAnswer ? AttemptFailure(status: delivery.status) : .noAnswer
      let outcome = decide(response, batch, device, at: now)
      guard case .retry(let time) = outcome, !options.pointee.failureEndsLoop else {
        conclude(outcome, batch, device, at: now, &calendar)
        return true
      }
      record.pointee.flags.insert(.loopHadFailure)
      if time <= now {
        putBack(batch, device)
      } else {
        row[.backoffMicroseconds] &+= min(time, plan.pointee.end) &- now
        putOff(batch, until: time, device)
      }
    }
    continueLoop(device, from: loop(device).pointee.cursor, at: now, &calendar)
    return true
  }

  /// A wake-up at `now` of a device that rests and has nothing else due.
  @inline(never)
  mutating func fastWakeUpWithFiles(_ device: DeviceIndex, at now: Int64, _ calendar: inout ShardCalendar)
    -> Bool
  {
    let record = self[device]
    let flags = record.pointee.flags
    guard flags.isDisjoint(with: [.contended, .looping, .offline, .suspended]), flags.contains(.resting),
      record.pointee.oldest != .noBatch, record.pointee.wakes(at: now), isReady(device, at: now)
    else { return false }
    record.pointee.flags.subtract([.due, .wakes])
    endRest(device, at: now)
    begin(device, byTrigger: false, cursor: 0)
    continueLoop(device, from: 0, at: now, &calendar)
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
    at now: Int64, _ row: CounterRow<DeviceSide>
  ) {
    let acceptedRow = rows.row(at: accepted)
    let old = countAcceptance(
      of: upload, batch, device, at: Instant(microseconds: accepted), row: acceptedRow)
    counters.add(old, to: .settledOldEvents, row: acceptedRow)
    hearSuccess(batch, device, at: now)
    loop(device).pointee.heldEvents &-= UInt32(upload.pointee.events)
    removeHeld(batch, device)
    row[.settledBatches] &+= 1
    batches.release(batch, upload)
  }
}
