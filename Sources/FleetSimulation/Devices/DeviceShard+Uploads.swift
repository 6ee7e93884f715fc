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
    let retryCount = plan.pointee.server.asksForRetryCount ? retryCount : 0
    setUploads(uploads(of: device) &+ 1, of: device)
    countAttempt(self[device], events: asQuery ? 0 : upload.pointee.events, at: now, row)
    if departsLater {
      departures.append(
        Departure(upload, batch, device, attempt: attempt, retryCount: retryCount, at: now))
      return
    }
    var latency = plan.pointee.network.constantLatency
    if latency.up == 0 {
      latency = drawLatency(
        firstOrdinal: upload.pointee.firstOrdinal, attempt: upload.pointee.attempts, device)
    }
    if plan.pointee.network.isFaulty { latency = crossLink(batch, device, latency, at: now, sink) }
    if !plan.pointee.network.isFaulty || latency.up != .max {
      depart(upload, batch, device, latency, retryCount: retryCount, at: now, sink)
      countRetry(upload, at: now.microseconds &+ Int64(latency.up), row)
      if Int64(latency.up) > plan.pointee.network.timeout {
        giveUpOnTheWay(
          batch, attempt: upload.pointee.attempts, generation: upload.pointee.generation, device, at: now,
          sink)
      }
    }
  }

  /// What has left in this window goes on its way, all in one loop: a latency is a long chain of operations each of which waits for the one
  /// before, and those of several uploads run side by side.
  @inline(never)
  mutating func departAll(_ sink: UnsafeMutablePointer<ShardCalendar>) {
    let (items, count) = (departures.base, departures.count)
    let (timeout, end) = (plan.pointee.network.timeout, plan.pointee.end)
    for i in 0..<count {
      let item = items[i]
      let latency = drawLatency(firstOrdinal: item.firstOrdinal, attempt: item.attempt, item.device)
      sink.pointee.send(item.ticket(latency), at: item.time)
      let arrival = item.time.microseconds &+ Int64(latency.up)
      if let retries = item.retries, arrival < end {
        counters.add(1, to: retries, row: rows.rowAside(at: arrival))
      }
      if Int64(latency.up) > timeout {
        giveUpOnTheWay(
          item.batch, attempt: item.attempt, generation: item.generation, item.device, at: item.time, sink)
      }
    }
    departures.removeAll()
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

  /// One-way latencies of an attempt, where they are drawn.
  @inline(__always)
  private mutating func drawLatency(firstOrdinal: UInt32, attempt: UInt16, _ device: DeviceIndex)
    -> CohortPlan.Latency
  {
    let network = key(of: device).child(UploadRequest.name(firstOrdinal: firstOrdinal, number: attempt))
    let (up, down) = (network.child(RandomPurpose.networkUp), network.child(RandomPurpose.networkDown))
    if let quantiles = plan.pointee.network.quantiles, let up = quantiles.sample(up),
      let down = quantiles.sample(down)
    {
      return CohortPlan.Latency(up: UInt32(clamping: up), down: UInt32(clamping: down))
    }
    return CohortPlan.Latency(up: sampleLatency(up), down: sampleLatency(down))
  }

  /// Not from the table.
  @inline(never)
  private mutating func sampleLatency(_ key: RandomKey) -> UInt32 {
    UInt32(clamping: plan.pointee.network.latency.sample(key).microseconds)
  }

  /// The client gives up while the request still travels; the server never learns of it in time to say so.
  @inline(never)
  private mutating func giveUpOnTheWay(
    _ batch: BatchIndex, attempt: UInt16, generation: UInt16, _ device: DeviceIndex, at now: Instant,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    sink.pointee.schedule(
      Delivery(.timeOut, device: device, batch: batch, attempt: attempt, generation: generation),
      due: now + Span(microseconds: plan.pointee.network.timeout))
  }
}

/// An upload that has left and whose latencies nobody has drawn yet. 32 bytes.
struct Departure: BitwiseCopyable {
  let time: Instant
  let device: DeviceIndex
  let batch: BatchIndex
  let firstOrdinal: UInt32
  let attempt: UInt16
  let generation: UInt16
  private let retryCount: UInt16
  /// How the batch's latest failed attempt ended.
  private let failure: AttemptFailure

  /// - Parameter attempt: the upload's, which has just been written to its record: to read it back would take a while.
  @inline(__always)
  init(
    _ upload: UnsafeMutablePointer<BatchRecord>, _ batch: BatchIndex, _ device: DeviceIndex, attempt: UInt16,
    retryCount: UInt16, at time: Instant
  ) {
    self.time = time
    self.device = device
    self.batch = batch
    firstOrdinal = upload.pointee.firstOrdinal
    self.attempt = attempt
    generation = upload.pointee.generation
    self.retryCount = retryCount
    failure = upload.pointee.latestFailure
  }

  /// What counts it, if it is a retry.
  @inline(__always)
  var retries: Measure? { attempt == 1 ? nil : failure.retries }

  @inline(__always)
  func ticket(_ latency: CohortPlan.Latency) -> UploadTicket {
    UploadTicket(
      device: device, batch: batch, uplink: latency.up, downlink: latency.down, attempt: attempt,
      generation: generation, retryCount: retryCount)
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
