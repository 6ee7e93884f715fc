import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// The fast paths of a failure and of the next try, for a device whose client keeps one retry record and holds one batch; see
/// `DeviceShard+FastPath`.
extension DeviceShard {
  /// Whether these apply to this shard's devices at all.
  var hasFastRetries: Bool {
    let plan = plan.pointee
    return plan.client.isRebatch && !plan.tables.loops && !plan.checks && plan.client.wakesByTimer
      && plan.network.constantLatency.up > 0 && Int64(plan.network.constantLatency.up) <= plan.network.timeout
      && tracedDevice == .noDevice && !plan.server.asksForRetryCount && !plan.tables.worlds
      && !plan.network.isFaulty
  }

  /// An answer at `now` other than 2xx, for a device with nothing else due.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(never)
  mutating func fastFailure(
    _ delivery: Delivery, at now: Int64, _ row: CounterRow<DeviceSide>, _ calendar: inout ShardCalendar
  ) -> Bool {
    let (device, batch) = (delivery.device, delivery.batch)
    let record = self[device]
    let upload = batches.address(batch)
    let flags = record.pointee.flags
    guard delivery.isFailure, record.pointee.oldest == batch, record.pointee.newest == batch,
      upload.pointee.isAwaited(attempt: delivery.attempt, generation: delivery.generation),
      flags.isDisjoint(with: [.contended, .resting])
    else { return false }
    let response = plan.response(status: delivery.status, retryAfter: delivery.retryAfter)
    let outcome = decide(response, batch, device, at: now)
    record.pointee.noteReception(at: Instant(microseconds: now))
    record.pointee.flags.subtract([.due, .uploading])
    upload.pointee.awaitedAttemptFails(AttemptFailure(status: delivery.status))
    row[.inFlight] &-= 1
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
    row[.backoffMicroseconds] &+= min(until, plan.pointee.end) &- now
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
    upload.pointee.attemptLeaves(number: upload.pointee.nextAttempt)
    let (row, now) = (counters[rows.row(at: now)], Instant(microseconds: now))
    let latency = plan.pointee.network.constantLatency
    countAttempt(record, events: upload.pointee.events, at: now, row)
    countRetry(upload, at: now.microseconds &+ Int64(latency.up), row)
    depart(upload, batch, device, latency, retryCount: 0, at: now, &calendar)
    return true
  }
}
