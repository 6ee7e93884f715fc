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
    _ batch: BatchIndex, _ device: DeviceIndex, retryCount: UInt16, asQuery: Bool, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    if plan.pointee.checks { checkSend(batch, device, at: now) }
    let upload = batches.address(batch)
    var attempt = upload.pointee.nextAttempt
    if options.pointee.gates.reconciles {
      attempt = StatusQuery.attempt(attempt, asQuery: asQuery)
      if asQuery { count(1, .statusQueries, at: now) }
    }
    upload.pointee.attemptLeaves(number: attempt)
    let row = counters[rows.row(at: now.microseconds)]
    var latency = plan.pointee.network.constantLatency
    if latency.up == 0 { latency = drawLatency(batch, device) }
    if plan.pointee.network.isFaulty { latency = crossLink(batch, device, latency, at: now, sink) }
    if !plan.pointee.network.isFaulty || latency.up != .max {
      depart(
        upload, batch, device, latency, retryCount: plan.pointee.server.asksForRetryCount ? retryCount : 0,
        at: now,
        sink)
      countRetry(upload, at: now.microseconds &+ Int64(latency.up), row)
      if Int64(latency.up) > plan.pointee.network.timeout { giveUpOnTheWay(batch, device, at: now, sink) }
    }
    setUploads(uploads(of: device) &+ 1, of: device)
    countAttempt(
      self[device], events: asQuery ? 0 : upload.pointee.events, at: now, row)
  }

  /// The latest attempt of a batch, whose record is `upload`, goes on its way.
  @inline(__always)
  func depart(
    _ upload: UnsafeMutablePointer<BatchRecord>, _ batch: BatchIndex, _ device: DeviceIndex,
    _ latency: CohortPlan.Latency, retryCount: UInt16, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    sink.pointee.send(
      UploadTicket(
        device: device, batch: batch, uplink: latency.up, downlink: latency.down,
        attempt: upload.pointee.attempts, generation: upload.pointee.generation, retryCount: retryCount),
      at: now)
  }

  /// Counts an attempt that has begun.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func countAttempt(
    _ record: UnsafeMutablePointer<DeviceRecord>, events: UInt16, at now: Instant,
    _ row: CounterRow<DeviceSide>
  ) {
    row[.inFlight] &+= 1
    attempts &+= 1
    record.pointee.noteAttempt(events: events, at: now)
  }

  /// Counts an attempt that arrives at `time` as the server does, if it is a retry, and by how the batch's latest failed one ended.
  ///
  /// - Parameter row: the counters of the latest interval that was asked for.
  @inline(__always)
  func countRetry(
    _ upload: UnsafeMutablePointer<BatchRecord>, at time: Int64, _ row: CounterRow<DeviceSide>
  ) {
    if upload.pointee.attempts == 1 || time >= plan.pointee.end { return }
    let counter = upload.pointee.latestFailure.retries
    if time < rows.end {
      row[counter] &+= 1
    } else {
      counters.add(1, to: counter, row: rows.otherRow(at: time))
    }
  }

  /// One-way latencies of a batch's latest attempt.
  @inline(never)
  private mutating func drawLatency(_ batch: BatchIndex, _ device: DeviceIndex) -> CohortPlan.Latency {
    let network = key(of: device).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: batches[batch].attempts))
    let (up, down) = plan.pointee.network.latency.samples(
      network.child(RandomPurpose.networkUp), network.child(RandomPurpose.networkDown))
    return CohortPlan.Latency(
      up: UInt32(clamping: up.microseconds), down: UInt32(clamping: down.microseconds))
  }

  /// The client gives up while the request still travels; the server never learns of it in time to say so.
  @inline(never)
  private mutating func giveUpOnTheWay(
    _ batch: BatchIndex, _ device: DeviceIndex, at now: Instant, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    sink.pointee.schedule(
      Delivery(
        .timeOut, device: device, batch: batch, attempt: batches[batch].attempts,
        generation: batches[batch].generation),
      due: now + Span(microseconds: plan.pointee.network.timeout))
  }
}

/// How an attempt failed.
enum AttemptFailure: UInt8 {
  /// Another status, or the app ended.
  case other
  case rateLimit, serverError, noAnswer

  @inline(__always)
  init(_ response: UploadResponse) {
    switch response {
    case .noStatus: self = .noAnswer
    case .status(let status, _): self.init(status: UInt16(clamping: status))
    }
  }

  @inline(__always)
  init(status: UInt16) { self = status == 429 ? .rateLimit : status &- 500 < 100 ? .serverError : .other }

  /// Retries after it.
  @inline(__always)
  var retries: Measure {
    switch self {
    case .other: .retriesAfterOther
    case .rateLimit: .retriesAfter429
    case .serverError: .retriesAfter5xx
    case .noAnswer: .retriesAfterNoAnswer
    }
  }
}

extension Measure {
  /// What a client that keeps what it gives up counts.
  init(blocked reason: DropReason) {
    switch reason {
    case .status: self = .blockedByStatus
    case .retryLimit: self = .blockedByRetryLimit
    case .rateLimitRetryLimit: self = .blockedByRateLimitRetryLimit
    case .age: self = .blockedByAge
    }
  }

  /// The reverse; nil of other measures.
  var blockReason: DropReason? { DropReason.allCases.first { Measure(blocked: $0) == self } }

  init(_ reason: DropReason) {
    switch reason {
    case .status: self = .droppedByStatus
    case .retryLimit: self = .droppedByRetryLimit
    case .rateLimitRetryLimit: self = .droppedByRateLimitRetryLimit
    case .age: self = .droppedByAge
    }
  }
}
