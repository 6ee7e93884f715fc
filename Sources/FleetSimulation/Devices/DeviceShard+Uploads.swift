import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadGating
import UploadPipeline
import UploadRetry

/// An upload on its way to the server.
extension DeviceShard {
  /// - Parameters:
  ///   - asQuery: asks whether the batch was applied instead (O4).
  ///   - events: how many it carries, if not those of the batch.
  @inline(__always)
  mutating func transmit(
    _ batch: BatchIndex, _ device: DeviceIndex, retryCount: UInt16, asQuery: Bool, events: UInt16? = nil,
    at now: Int64, _ sink: Sink
  ) {
    if plan.pointee.checks { checkSend(batch, device, at: now) }
    let upload = batches.address(batch)
    var attempt = upload.pointee.nextAttempt
    if options.pointee.gates.reconciles {
      attempt = StatusQuery.attempt(attempt, asQuery: asQuery)
      if asQuery { ledger.count(1, .statusQueries, at: now) }
    }
    upload.pointee.attemptLeaves(number: attempt)
    let id = AttemptID(device, batch, number: attempt, generation: upload.pointee.generation)
    let row = ledger.row(at: now)
    let retryCount = plan.pointee.server.asksForRetryCount ? retryCount : 0
    setUploads(uploads(of: device) &+ 1, of: device)
    if plan.pointee.network.isFaulty, isCut(device, at: now) {
      row.count(1, .inFlight)  // Nobody sends it.
    } else {
      countAttempt(self[device], events: asQuery ? 0 : events ?? upload.pointee.events, at: now, row)
    }
    if departures.areGathered {
      departures.uploads.append(Departure(id, upload, retryCount: retryCount, at: now))
      return
    }
    guard let latency = send(id, upload, retryCount: retryCount, at: now, sink) else { return }
    countRetry(upload, at: now &+ Int64(latency.up))
  }

  /// The latest attempt of a batch, whose record is `upload`, goes on its way as the network has it. Returns its latencies; nil:
  /// nothing reaches the server.
  @inline(__always)
  mutating func send(
    _ id: AttemptID, _ upload: UnsafeMutablePointer<BatchRecord>, retryCount: UInt16, at now: Int64,
    _ sink: Sink
  ) -> CohortPlan.Latency? {
    var latency = plan.pointee.network.constantLatency
    if latency.up == 0 { latency = drawLatency(id, firstOrdinal: upload.pointee.firstOrdinal) }
    if plan.pointee.network.isFaulty {
      latency = crossLink(id, latency, at: now, sink)
      if latency.up == .max { return nil }
    }
    sink.pointee.send(UploadTicket(id, latency, retryCount: retryCount), at: now)
    if Int64(latency.up) > plan.pointee.network.timeout { giveUpOnTheWay(id, at: now, sink) }
    return latency
  }

  /// Uploads go on their way at the end of their window, if their latencies are drawn.
  mutating func gatherDepartures() { departures.areGathered = plan.pointee.network.isDrawn }

  /// Sends the uploads that have left in this window on their way, all in one loop. A latency is a long chain of operations each
  /// of which waits for the one before; those of several uploads run side by side.
  @inline(never)
  mutating func departAll(_ sink: Sink) {
    let (items, count) = (departures.uploads.base, departures.uploads.count)
    let (timeout, end) = (plan.pointee.network.timeout, plan.pointee.end)
    for i in 0..<count {
      let item = items[i]
      let latency = drawLatency(item.id, firstOrdinal: item.firstOrdinal)
      sink.pointee.send(UploadTicket(item.id, latency, retryCount: item.retryCount), at: item.time)
      let arrival = item.time &+ Int64(latency.up)
      if let retries = item.retries, arrival < end {
        ledger.count(1, retries, apartAt: arrival)
      }
      if Int64(latency.up) > timeout { giveUpOnTheWay(item.id, at: item.time, sink) }
    }
    departures.uploads.removeAll()
  }

  /// Counts an attempt that has begun.
  ///
  /// - Parameter row: the counters of the interval that `now` lies in.
  @inline(__always)
  mutating func countAttempt(
    _ record: UnsafeMutablePointer<DeviceRecord>, events: UInt16, at now: Int64,
    _ row: Ledger.Row
  ) {
    ledger.attemptBegins(row)
    record.pointee.noteAttempt(events: events, at: now)
  }

  /// An attempt of `device` failed, or the app ended before its answer. Every path passes here once per failed attempt, a page once
  /// for each batch of it.
  @inline(__always)
  func noteFailure(
    _ failure: AttemptFailure, of upload: UnsafeMutablePointer<BatchRecord>, _ device: DeviceIndex
  ) {
    upload.pointee.latestFailure = failure
  }

  /// An upload ended without an answer: by the client's time-out, unless its connection was refused. Every path passes here once per
  /// upload that ends so; no fetch of Settings does.
  ///
  /// - Parameter row: the counters of the interval that it ends in.
  @inline(__always)
  func noteTimeOut(_ delivery: Delivery, _ row: Ledger.Row) {
    if delivery.status != Delivery.refused { row.count(1, .timeouts) }
  }

  /// Counts an attempt that arrives at `time` as the server does, if it is a retry, and by how the batch's latest failed one ended.
  @inline(__always)
  func countRetry(_ upload: UnsafeMutablePointer<BatchRecord>, at time: Int64) {
    if upload.pointee.attempts == 1 || time >= plan.pointee.end { return }
    ledger.count(1, upload.pointee.latestFailure.retries, apartAt: time)
  }

  /// One-way latencies of an attempt, where they are drawn.
  @inline(__always)
  private mutating func drawLatency(_ id: AttemptID, firstOrdinal: UInt32) -> CohortPlan.Latency {
    let network = key(of: id.device).child(UploadRequest.name(firstOrdinal: firstOrdinal, number: id.number))
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
  private mutating func giveUpOnTheWay(_ id: AttemptID, at now: Int64, _ sink: Sink) {
    sink.pointee.schedule(Delivery(.timeOut, id), due: now &+ plan.pointee.network.timeout)
  }
}

/// The uploads that have left in this window, where `departAll` sends them on their way.
struct Departures: ~Copyable {
  fileprivate var uploads = GrowableBuffer<Departure>()
  fileprivate(set) var areGathered = false

  var isEmpty: Bool { uploads.count == 0 }
}

/// An upload that has left and whose latencies nobody has drawn yet. 32 bytes.
struct Departure: BitwiseCopyable {
  let time: Int64
  let id: AttemptID
  let firstOrdinal: UInt32
  let retryCount: UInt16
  /// How the batch's latest failed attempt ended.
  private let failure: AttemptFailure

  @inline(__always)
  init(
    _ id: AttemptID, _ upload: UnsafeMutablePointer<BatchRecord>, retryCount: UInt16, at time: Int64
  ) {
    self.time = time
    self.id = id
    firstOrdinal = upload.pointee.firstOrdinal
    self.retryCount = retryCount
    failure = upload.pointee.latestFailure
  }

  /// The measure that counts it, if it is a retry.
  @inline(__always)
  var retries: Measure? { id.number == 1 ? nil : failure.retries }
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
  /// - Parameter isBlocked: whether the client keeps the batches that it gives up.
  init(_ reason: DropReason, isBlocked: Bool = false) {
    switch reason {
    case .status: self = isBlocked ? .blockedByStatus : .droppedByStatus
    case .retryLimit: self = isBlocked ? .blockedByRetryLimit : .droppedByRetryLimit
    case .rateLimitRetryLimit:
      self = isBlocked ? .blockedByRateLimitRetryLimit : .droppedByRateLimitRetryLimit
    case .age: self = isBlocked ? .blockedByAge : .droppedByAge
    }
  }

  /// The reverse, of batches that are dropped and of those that are kept; nil of other measures.
  var dropReason: DropReason? { DropReason.allCases.first { Measure($0) == self } }
  var blockReason: DropReason? { DropReason.allCases.first { Self($0, isBlocked: true) == self } }
}

/// Slow and lossy links, connections that don't come about, and batches that turn out too large.
extension DeviceShard {
  /// Whether an upload that leaves now is what the device was cut off from.
  private func isCut(_ device: DeviceIndex, at now: Int64) -> Bool {
    let moments = plan.pointee.world.moments
    return moments.failUploads && moments.isCut(key(of: device), at: now)
  }

  /// Returns the latency of a batch's latest attempt as the link makes it. If `up` is `.max`, nothing reaches the server, and the
  /// client's giving up is arranged. If `down` is `.max`, no answer comes back.
  @inline(never)
  mutating func crossLink(
    _ id: AttemptID, _ latency: CohortPlan.Latency, at now: Int64, _ sink: Sink
  ) -> CohortPlan.Latency {
    let (batch, device) = (id.batch, id.device)
    let draws = key(of: device).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: id.number))
    let (link, timeout) = (plan.pointee.network.link, plan.pointee.network.timeout)
    let connecting = min(plan.pointee.network.connectTimeout, timeout)
    var latency = latency
    if isCut(device, at: now) {
      let way = min(Int64(latency.down), timeout)
      giveUp(id, after: way, status: Delivery.refused, .cut, at: now, sink)
      return CohortPlan.Latency(up: .max, down: .max)
    }
    if plan.pointee.network.connectTimeout < timeout, Int64(latency.up) &+ Int64(latency.down) > connecting {
      giveUp(id, after: connecting, status: Delivery.notSent, .noConnection, at: now, sink)
      return CohortPlan.Latency(up: .max, down: .max)
    }
    if Self.isLost(link.requestLossPartsPerMillion, draws.child(RandomPurpose.networkUp)) {
      // Without a time-out for connecting the client can't tell it from a lost answer.
      let status = plan.pointee.network.connectTimeout != .max ? Delivery.notSent : 0
      giveUp(id, after: connecting, status: status, .request, at: now, sink)
      ledger.count(1, .networkLostRequests, at: now)
      return CohortPlan.Latency(up: .max, down: .max)
    }
    if let speed = link.uploadBytesPerSecond {
      let events =
        pages == nil || batches[batch].fetchesSettings
        ? batches[batch].events : events(ofRequest: id)
      let bytes = plan.pointee.network.requestBytes &+ Int64(events) &* plan.pointee.network.eventBytes
      let transfer = RunAssembly.saturating(bytes, times: 1_000_000, over: Int64(speed))
      if transfer > timeout {
        giveUp(id, after: timeout, status: Delivery.notSent, .tooSlow, at: now, sink)
        return CohortPlan.Latency(up: .max, down: .max)
      }
      latency.up = UInt32(clamping: min(Int64(latency.up) &+ transfer, Int64(UInt32.max) &- 1))
    }
    if Self.isLost(link.answerLossPartsPerMillion, draws.child(RandomPurpose.networkDown)) {
      latency.down = .max
      ledger.count(1, .networkLostAnswers, at: now)
      traceLoss(id, .answer, at: now)
    }
    return latency
  }

  private static func isLost(_ partsPerMillion: Int64, _ key: RandomKey) -> Bool {
    partsPerMillion > 0 && Int64(key.child(0).uniform(below: 1_000_000)) < partsPerMillion
  }

  /// An attempt that never reaches the server ends with a time-out, or at a cut.
  ///
  /// - Parameter status: 0: the client does not know that the server has got nothing.
  private mutating func giveUp(
    _ id: AttemptID, after wait: Int64, status: UInt16, _ place: DeviceTrace.LossOnTheWay, at now: Int64,
    _ sink: Sink
  ) {
    sink.pointee.schedule(Delivery(.timeOut, id, status: status, resolves: true), due: now &+ wait)
    traceLoss(id, place, at: now)
  }

  private func traceLoss(_ id: AttemptID, _ place: DeviceTrace.LossOnTheWay, at now: Int64) {
    if batches[id.batch].fetchesSettings { return }
    let first = Int(batches[id.batch].firstOrdinal)
    trace(.lost(batch: first, attempt: Int(id.number), place), id.device, at: now)
  }

  /// The client can't know what became of an upload.
  mutating func noteUnknownOutcome(_ batch: BatchIndex, at now: Int64) {
    batches[batch].flags.insert(.unknownOutcome)
    ledger.count(1, .unknownOutcomes, at: now)
  }

  // MARK: Too large

  /// 413: the batch keeps the first half of its events, the others become a batch behind it; both are fresh, and due at once.
  /// Returns false, having done nothing, where that can't help or an earlier attempt is still open at the server.
  @inline(never)
  package mutating func split(_ batch: BatchIndex, _ device: DeviceIndex, at now: Int64) -> Bool {
    let events = UInt32(batches[batch].events)
    guard events > 1, batches[batch].outstanding == 0, !batches[batch].flags.contains(.accepted) else {
      return false
    }
    let (kept, first) = ((events &+ 1) / 2, batches[batch].firstOrdinal)
    let (time, ordinal) = skip(kept, from: first, at: batches[batch].firstTime, device)
    let other = batches.allocate(
      for: device, firstOrdinal: ordinal, firstTime: time, events: UInt16(truncatingIfNeeded: events &- kept))
    batches[batch].events = UInt16(truncatingIfNeeded: kept)
    batches[batch].flags.remove([.hasRetryState, .atTriggersOnly])
    let newer = batches[batch].newer
    batches[other].older = batch
    batches[other].newer = newer
    batches[batch].newer = other
    if newer == .noBatch { self[device].pointee.newest = other } else { batches[newer].older = other }
    ledger.count(1, .sealedBatches, at: now)
    if options.pointee.uploads == 1 {
      // The running loop goes on with the first half.
      setCursor(first, of: device)
    }
    insertDue(batch, device)
    insertDue(other, device)
    trace(.split(batch: Int(first), events: Int(events &- kept), into: Int(ordinal)), device, at: now)
    return true
  }
}

extension DeviceShard {
  /// Returns all that the server has to know of an upload that arrives. A batch's record stays as it was sent while an attempt
  /// is open.
  package func request(_ upload: UploadTicket, at now: Int64) -> UploadRequest {
    var batch = batches[upload.batch]
    if options.pointee.gates.reconciles, StatusQuery.isQuery(upload.attempt) { batch.events = 0 }
    if pages != nil, !batch.fetchesSettings {
      batch.events = events(ofRequest: upload.id)
    }
    return UploadRequest(
      arrival: Instant(microseconds: now), device: UInt32(truncatingIfNeeded: globalNumber(upload.device)),
      id: upload.id, firstOrdinal: batch.firstOrdinal, uplink: upload.uplink, downlink: upload.downlink,
      events: batch.events, shard: UInt16(truncatingIfNeeded: number))
  }
}

/// Answers, time-outs, and what becomes of a batch.
extension DeviceShard {
  @inline(__always)
  package mutating func handle(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    if plan.pointee.flush.rearm == .afterAnswer {
      let wasLooping = self[delivery.device].pointee.flags.contains(.looping)
      hear(delivery, at: now, sink)
      rearm(delivery.device, wasLooping: wasLooping, at: now, sink)
    } else {
      hear(delivery, at: now, sink)
    }
    if self[delivery.device].pointee.flags.contains(.suspended) {
      countClosedEvents(delivery.device, at: now)
    }
  }

  @inline(__always)
  private mutating func hear(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    let batch = delivery.batch
    // A stale item: the record serves another batch by now.
    if batches[batch].generation != delivery.generation { return }
    if fetches != nil, batches[batch].fetchesSettings {
      hearFetch(delivery, at: now, sink)
      return
    }
    if pages != nil {
      hearPage(delivery, at: now, sink)
      return
    }
    if delivery.kind != .answer {
      handleUnanswered(delivery, at: now, sink)
      return
    }
    batches[batch].attemptEnds()
    self[delivery.device].pointee.noteReception(at: now)
    if delivery.status == 200, !isQuery(delivery) {
      accept(batch, delivery.device, at: now &- Int64(delivery.downlink))
    }
    guard batches[batch].flags.contains(.inFlight), batches[batch].attempts == delivery.attempt else {
      // The app was killed meanwhile: nobody waits for this answer.
      if delivery.status == 200, !isQuery(delivery) { traceUnheard(delivery, at: now) }
      releaseIfDone(batch, delivery.device)
      return
    }
    if delivery.status == 200 { return succeed(delivery, at: now, sink) }
    let response = plan.response(status: delivery.status, retryAfter: delivery.retryAfter)
    fail(response, batch, delivery.device, at: now, sink)
  }

  /// Time-outs, and what only the observers hear of.
  @inline(never)
  private mutating func handleUnanswered(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    let batch = delivery.batch
    switch delivery.kind {
    case .answer: break
    case .acceptance where delivery.status == Delivery.opening: openAgain(batch)
    case .acceptance:
      batches[batch].attemptEnds()
      if !isQuery(delivery) {
        traceUnheard(delivery, at: now)
        // A poll delivers nothing but its answer.
        if !plan.pointee.events.arePolls { accept(batch, delivery.device, at: now) }
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
      noteTimeOut(delivery, ledger.row(at: now))
      if delivery.status == 0 { noteUnknownOutcome(batch, at: now) }
      if delivery.status == Delivery.refused {
        let (first, attempt) = (Int(batches[batch].firstOrdinal), Int(batches[batch].attempts))
        trace(.refused(batch: first, attempt: attempt), delivery.device, at: now)
      }
      fail(.noStatus, batch, delivery.device, at: now, sink)
    }
  }

  /// A proxy waits no more for a try of a batch's upload, which the server may still accept: whatever the client hears then.
  mutating func openAgain(_ batch: BatchIndex) {
    batches[batch].attemptOpens()
    // Its boundaries count until that is known: nothing may be added to it, whatever the client hears.
    if options.pointee.growsNewest { batches[batch].flags.insert(.unknownOutcome) }
  }

  // MARK: Ends of an upload

  /// The client learns that its upload was accepted, or what became of it.
  @inline(__always)
  private mutating func succeed(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    let (batch, device) = (delivery.batch, delivery.device)
    let record = self[device]
    if isQuery(delivery) {
      let wasApplied = batches[batch].flags.contains(.accepted)
      hear(wasApplied: wasApplied, batch, device, at: now, sink)
      return
    }
    let isOnly =
      record.pointee.oldest == batch && record.pointee.newest == batch && !isTraced
      && !record.pointee.flags.contains(.hasHistory)
    succeed(batch, device, isOnly: isOnly, at: now, sink)
    if isOnly {
      settleOnly(record, device, ledger.row(at: now))
      batches[batch].flags.remove([.inFlight, .held])
      releaseIfDone(batch, device)
    }
  }

  /// The one batch that a device holds is delivered: its upload, its place in the queue and the running loop end.
  @inline(__always)
  func settleOnly(
    _ record: UnsafeMutablePointer<DeviceRecord>, _ device: DeviceIndex, _ row: Ledger.Row
  ) {
    record.pointee.flags.remove([.looping, .draining, .uploading])
    record.pointee.oldest = .noBatch
    record.pointee.newest = .noBatch
    emptyLoop(of: device)
    row.count(-1, .inFlight)
    row.count(1, .settledBatches)
  }

  // MARK: Ends of a batch

  /// The server accepts a batch: its events are delivered, unless they were before.
  @inline(never)
  mutating func accept(_ batch: BatchIndex, _ device: DeviceIndex, at time: Int64) {
    if self[device].pointee.flags.contains(.hasHistory) {
      acceptWithHistory(batch, device, at: time)
      return
    }
    let events = Int64(batches[batch].events)
    let row = ledger.deliveryRow(at: time)
    if batches[batch].flags.contains(.accepted) {
      row.count(1, .duplicateBatches)
      row.count(events, .duplicateEvents)
      if let times = batches.acceptanceTimes {
        let since = time &- times[batch.place]
        if since <= plan.pointee.server.deduplicationWindow {
          row.count(events, .deduplicatedEvents)
        }
      }
      return
    }
    batches[batch].flags.insert(.accepted)
    batches.acceptanceTimes?[batch.place] = time
    if batches[batch].flags.contains(.dropped) {
      if batches[batch].isBlocked {
        countBlocked(-events, batches[batch].blockReason, at: time)
      } else {
        row.count(events, .acceptedAfterDropEvents)
      }
    }
    let old = countAcceptance(of: batches.address(batch), batch, device, at: time, row)
    if old > 0, !batches[batch].flags.contains(.dropped) {
      row.count(old, .settledOldEvents)
    }
  }

  /// Counts the first acceptance of a batch, whose record is `upload`, and the time to delivery of its events; returns how many
  /// are old.
  @inline(__always)
  mutating func countAcceptance(
    of upload: UnsafeMutablePointer<BatchRecord>, _ batch: BatchIndex, _ device: DeviceIndex,
    at time: Int64, _ row: Ledger.DeliveryRow
  ) -> Int64 {
    let (created, events) = (upload.pointee.firstTime, upload.pointee.events)
    row.count(1, .acceptedBatches)
    row.count(Int64(events), .deliveredEvents)
    var old: Int64 = created < plan.pointee.oldBefore ? 1 : 0
    var sum = ledger.recordDelivery(ofCreated: created, at: time, row)
    if events > 1 { acceptMore(batch, device, at: time, row, &sum, &old) }
    if options.pointee.hasLanes { recordLane(of: batch, device, at: time) }
    row.count(sum, .timeToDeliverySum)
    return old
  }

  /// The events behind a batch's first.
  @inline(never)
  private mutating func acceptMore(
    _ batch: BatchIndex, _ device: DeviceIndex, at time: Int64, _ row: Ledger.DeliveryRow, _ sum: inout Int64,
    _ old: inout Int64
  ) {
    let draws = drawsAgain(of: device)
    var created = batches[batch].firstTime
    var ordinal = batches[batch].firstOrdinal
    for _ in 1..<batches[batch].events {
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
      sum &+= ledger.recordDelivery(ofCreated: created, at: time, row)
      if created < plan.pointee.oldBefore { old &+= 1 }
    }
  }

  /// The times to delivery of a batch's events once more, by its lane.
  @inline(never)
  private mutating func recordLane(of batch: BatchIndex, _ device: DeviceIndex, at time: Int64) {
    let lane = Int(self.lane(of: batch, device).rawValue)
    let draws = drawsAgain(of: device)
    var (created, ordinal) = (batches[batch].firstTime, batches[batch].firstOrdinal)
    for _ in 0..<batches[batch].events {
      ledger.recordDelivery(after: time &- created, lane: lane)
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
    }
  }

  /// The client gives a batch up.
  mutating func drop(_ batch: BatchIndex, _ reason: Measure, _ device: DeviceIndex, at now: Int64) {
    let accepted = isTraced(device) ? acceptedEvents(of: batch, device) : 0
    countDropped(batch, events: UInt32(batches[batch].events), reason, device, at: now)
    if !batches[batch].flags.contains(.accepted) {
      batches[batch].drop(blockReason: reason.blockReason)
    }
    settle(batch, device, at: now)
    trace(tracedDrop(batch, accepted: accepted, reason), device, at: now)
  }

  /// Counts the `events` oldest events of a batch as dropped; what the server has accepted is not lost.
  mutating func countDropped(
    _ batch: BatchIndex, events: UInt32, _ reason: Measure, _ device: DeviceIndex, at now: Int64
  ) {
    if self[device].pointee.flags.contains(.hasHistory) {
      countDroppedWithHistory(batch, events: events, reason, device, at: now)
      return
    }
    if batches[batch].flags.contains(.accepted) { return }
    count(lost: Int64(events), reason, device, at: now)
    let old = eventsCreated(before: plan.pointee.oldBefore, among: events, of: batch, device)
    if old > 0 { ledger.count(old, .settledOldEvents, at: now) }
  }

  /// How many of the `events` oldest events of a batch were created before a time. O(these).
  func eventsCreated(
    before time: Int64, among events: UInt32, of batch: BatchIndex, _ device: DeviceIndex
  ) -> Int64 {
    var (created, ordinal) = (batches[batch].firstTime, batches[batch].firstOrdinal)
    if created >= time { return 0 }
    let draws = drawsAgain(of: device)
    var count: Int64 = 0
    while count < Int64(events), created < time {
      count &+= 1
      ordinal &+= 1
      created = plan.next(after: created, before: ordinal, draws)
    }
    return count
  }

  /// Events of a device that are given up.
  mutating func count(lost events: Int64, _ reason: Measure, _ device: DeviceIndex, at now: Int64) {
    if let block = reason.blockReason {
      countBlocked(events, block, at: now)
    } else {
      ledger.count(events, reason, at: now)
      self[device].pointee.flags.insert(.lostEvents)
    }
  }

  /// Negative: of events that were blocked and turn out to have been accepted.
  mutating func countBlocked(_ events: Int64, _ reason: DropReason, at time: Int64) {
    ledger.count(events, .blockedEvents, at: time)
    ledger.count(events, Measure(reason, isBlocked: true), at: time)
  }

  /// Delivered or dropped: the batch leaves the queue. Its record stays while an upload of it is open at the server.
  @inline(__always)
  package mutating func settle(_ batch: BatchIndex, _ device: DeviceIndex, at now: Int64) {
    count(heldEvents: -Int(batches[batch].events), of: device)
    removeHeld(batch, device)
    ledger.count(1, .settledBatches, at: now)
    if self[device].pointee.flags.contains(.hasHistory) {
      settleWithHistory(batch, device)
    } else {
      releaseIfDone(batch, device)
    }
  }
}

/// The number of an attempt that asks whether an upload of unknown outcome was applied (O4). Cohorts that reconcile have 15 bits
/// for the number, and the sixteenth says that it is a question.
enum StatusQuery {
  private static var bit: UInt16 { 0x8000 }

  /// - Parameter next: the number that would come next.
  @inline(__always)
  static func attempt(_ next: UInt16, asQuery: Bool) -> UInt16 {
    (next >= bit ? 2 : next) | (asQuery ? bit : 0)
  }

  /// Without the bit.
  @inline(__always)
  static func number(_ attempt: UInt16) -> UInt16 { attempt & ~bit }

  @inline(__always)
  static func isQuery(_ attempt: UInt16) -> Bool { attempt & bit != 0 }
}

extension DeviceShard {
  /// Whether an item belongs to a question instead of an upload.
  @inline(__always)
  func isQuery(_ delivery: Delivery) -> Bool {
    options.pointee.gates.reconciles && StatusQuery.isQuery(delivery.attempt)
  }
}
