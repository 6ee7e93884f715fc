import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// An upload on its way to the server.
extension DeviceShard {
  /// - Parameter asQuery: asks whether the batch was applied instead (O4).
  @inline(__always)
  mutating func transmit(
    _ batch: UInt32, _ device: UInt32, retryCount: UInt16, asQuery: Bool, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    if plan.pointee.checks { checkSend(batch, device, at: now) }
    let upload = batches.address(batch)
    var attempt = upload.pointee.nextAttempt
    if options.pointee.gates.reconciles {
      attempt = StatusQuery.attempt(attempt, asQuery: asQuery)
      if asQuery { count(1, .statusQueries, at: now) }
    }
    upload.pointee.attempts = attempt
    upload.pointee.flags.insert(.inFlight)
    upload.pointee.attemptLeaves()
    var latency = plan.pointee.constantLatency
    if latency.up == 0 { latency = drawLatency(batch, device) }
    if plan.pointee.hasFaultyLink { latency = crossLink(batch, device, latency, at: now, sink) }
    let leaves = !plan.pointee.hasFaultyLink || latency.up != .max
    if leaves {
      sink.pointee.send(
        UploadTicket(
          device: device, batch: batch, uplink: latency.up, downlink: latency.down, attempt: attempt,
          generation: upload.pointee.generation,
          retryCount: plan.pointee.tellsRetryCount ? retryCount : 0), at: now)
    }
    if leaves, Int64(latency.up) > plan.pointee.timeout { giveUpOnTheWay(batch, device, at: now, sink) }
    setUploads(uploads(of: device) &+ 1, of: device)
    count(1, .inFlight, at: now)
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
    _ batch: UInt32, _ device: UInt32, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    sink.pointee.schedule(
      Delivery(
        due: now + Span(microseconds: plan.pointee.timeout), device: device, batch: batch,
        firstOrdinal: batches[batch].firstOrdinal, downlink: 0, retryAfter: .max,
        attempt: batches[batch].attempts, generation: batches[batch].generation, status: 0, kind: .timeOut,
        resolves: false))
  }
}

extension Measure {
  init(_ reason: DropReason) {
    switch reason {
    case .status: self = .droppedByStatus
    case .retryLimit: self = .droppedByRetryLimit
    case .rateLimitRetryLimit: self = .droppedByRateLimitRetryLimit
    case .age: self = .droppedByAge
    }
  }
}
