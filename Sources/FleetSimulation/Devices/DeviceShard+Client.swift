import FleetMetrics
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A shard's devices are clients: their memory is the shard's flat rows, their requests go to the shard's calendar.
/// `UploadPipeline` makes a client's decisions, and nothing here does.
extension DeviceShard: UploadClientHost, EventRecording {
  package typealias FlushEnd = TalliedFlushEnd
  package typealias Sink = UnsafeMutablePointer<ShardCalendar>

  // MARK: The client

  @inline(__always)
  package var options: UnsafePointer<ClientOptions> {
    UnsafeRawPointer(plan).assumingMemoryBound(to: ClientOptions.self)
  }

  @inline(__always)
  package func state(of client: ClientIndex) -> UnsafeMutablePointer<ClientState> { devices.client(client) }

  @inline(__always)
  package func gateRow(of client: ClientIndex) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(
      gates.unsafelyUnwrapped + client.place &* options.pointee.gateLayout.stride)
  }

  package func saved(of client: ClientIndex) -> UnsafeMutablePointer<SavedState> {
    savedStates.unsafelyUnwrapped + client.place
  }

  // MARK: The queue

  @inline(__always)
  package func batch(_ batch: BatchIndex) -> QueuedBatch {
    let record = batches.address(batch)
    let (attempts, flags) = (record.pointee.attempts, record.pointee.flags)
    return QueuedBatch(
      newer: record.pointee.newer, firstOrdinal: record.pointee.firstOrdinal,
      events: UInt32(record.pointee.events), createdAt: record.pointee.firstTime,
      attempts: options.pointee.gates.reconciles ? StatusQuery.number(attempts) : attempts,
      isUploading: flags.contains(.inFlight), isAsking: StatusQuery.isQuery(attempts),
      hasUnknownOutcome: flags.contains(.unknownOutcome), waitsForTrigger: flags.contains(.atTriggersOnly),
      result: record.pointee.result)
  }

  package func delayEnd(of batch: BatchIndex) -> Int64? { batches.delayEnd(of: batch) }

  @inline(__always)
  package func retryState(of batch: BatchIndex, _ client: ClientIndex) -> BatchRetryState {
    options.pointee.isRebatch ? self[client].pointee.clientRetry : batches.retryState(batch)
  }

  @inline(__always)
  package func setRetryState(_ state: BatchRetryState, of batch: BatchIndex, _ client: ClientIndex) {
    if options.pointee.isRebatch {
      self[client].pointee.clientRetry = state
    } else {
      batches.setRetryState(state, batch)
    }
  }

  @inline(__always)
  package mutating func change(_ batch: BatchIndex, _ change: BatchChange) {
    switch change {
    case .outcomeIsKnown: batches[batch].flags.remove(.unknownOutcome)
    case .waitsForTrigger(true): batches[batch].flags.insert(.atTriggersOnly)
    case .waitsForTrigger(false): batches[batch].flags.remove(.atTriggersOnly)
    case .drawsDelay(let end): batches.setDelayEnd(end, of: batch)
    case .grows(let n, let client):
      let grown = options.pointee.gates.reconciles ? newest(client, behind: batch) : batch
      batches[grown].events &+= UInt16(truncatingIfNeeded: n)
    case .result(let result): batches[batch].result = result
    }
  }

  package mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex) {
    script?.takeUnretainedValue().times.append(n, at: time)
  }

  // MARK: What it does

  // Out of line: otherwise it is inlined into the protocol's entry, which looks its tables up.
  @inline(never)
  package mutating func send(
    _ batch: BatchIndex, _ client: ClientIndex, retryCount: UInt16, asQuery: Bool, at now: Int64, _ sink: Sink
  ) {
    trace(
      asQuery ? .asked(batch: Int(batches[batch].firstOrdinal)) : tracedSend(batch, retryCount), client,
      at: now)
    transmit(batch, client, retryCount: retryCount, asQuery: asQuery, at: now, sink)
  }

  package mutating func endUpload(
    _ batch: BatchIndex, _ response: UploadResponse, _ client: ClientIndex, at now: Int64
  ) {
    batches[batch].flags.remove(.inFlight)
    if case .status(200, _) = response {
    } else {
      noteFailure(AttemptFailure(response), of: batches.address(batch), client)
    }
    setUploads(uploads(of: client) &- 1, of: client)
    ledger.count(-1, .inFlight, at: now)
    trace(
      .answered(batch: Int(batches[batch].firstOrdinal), attempt: Int(batches[batch].attempts), response),
      client, at: now)
    if options.pointee.gates.reconciles {
      batches[batch].attempts = StatusQuery.number(batches[batch].attempts)
    }
  }

  func counter(of loss: ClientLoss) -> Measure {
    switch loss {
    case .limit(let reason): Measure(reason, isBlocked: plan.pointee.blocksGivenUp)
    case .refused: .refusedByGate
    case .discarded: .droppedByStatus
    case .overflow: .droppedByOverflow
    }
  }

  package mutating func giveUp(
    _ batch: BatchIndex, oldest: UInt32?, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64
  ) {
    defer { if self[client].pointee.flags.contains(.suspended) { countClosedEvents(client, at: now) } }
    if let oldest {
      trim(batch, by: oldest, loss, client, at: now)
      return
    }
    let counter = counter(of: loss)
    if loss == .limit(.retryLimit) || loss == .limit(.rateLimitRetryLimit) { ledger.noteRetryLimit() }
    leaveQueue(batch, client)
    if plan.pointee.events.arePolls, case .overflow = loss {
      // A poll that nobody has made is no batch either.
      ledger.countCreated(-1, at: batches[batch].firstTime)
      settle(batch, client, at: now)
      ledger.count(-1, .sealedBatches, at: now)
      ledger.count(-1, .settledBatches, at: now)
      return
    }
    drop(batch, counter, client, at: now)
  }

  @inline(__always)
  package mutating func wake(_ client: ClientIndex, at due: Int64, _ sink: Sink) {
    let record = self[client]
    if record.pointee.wakes(at: due) { return }
    record.pointee.planWakeUp(at: due)
    if due < plan.pointee.end { sink.pointee.schedule(wakeUp: client, at: due) }
  }

  @inline(__always)
  package func draws(for batch: BatchIndex, question: Int64?, _ client: ClientIndex) -> LaterJitter {
    // Numbered from 0 on: that of the wait before the first retry.
    let record = batches.address(batch)
    if options.pointee.policy.jitterDraw == .onceADevice {
      return LaterJitter(key: key(of: client), name: .max, question: nil, script: script)
    }
    return LaterJitter(
      key: key(of: client),
      name: UploadRequest.name(
        firstOrdinal: record.pointee.firstOrdinal, number: record.pointee.attempts &- 1),
      question: question, script: script)
  }

  package mutating func word(
    _ purpose: WordPurpose, for batch: BatchIndex, _ client: ClientIndex
  ) -> UInt64 {
    let first = batches[batch].firstOrdinal
    var (number, time) = (UInt16.max, Int64?.none)
    if case .gate(let now) = purpose { (number, time) = (batches[batch].attempts, now) }
    if let script { return script.takeUnretainedValue().gates.word(first, number, at: time) }
    var name = key(of: client).child(RandomPurpose.gates).child(
      UploadRequest.name(firstOrdinal: first, number: number))
    if let time { name = name.child(UInt64(bitPattern: time)) }
    var random = RandomStream(name)
    return random.next()
  }

  // MARK: Who listens

  @inline(__always)
  package mutating func count(_ n: Int64, _ what: ClientCount, _ client: ClientIndex, at now: Int64) {
    let counter: Measure =
      switch what {
      case .resting: .devicesWaiting
      case .heldLoops: .heldLoops
      case .throttledRequests: .throttledRequests
      case .breakerOpenings: .breakerOpenings
      case .breakerOpenMicroseconds: .breakerOpenMicroseconds
      case .credentialRefreshes: .credentialRefreshes
      case .backoffMicroseconds: .backoffMicroseconds
      }
    if counter == .backoffMicroseconds {
      ledger.countWait(until: now &+ n, at: now, ledger.row(at: now))
    } else {
      ledger.count(n, counter, at: now)
    }
  }

  @inline(__always)
  package mutating func observe(
    _ event: @autoclosure () -> ClientEvent, _ client: ClientIndex, at now: Int64
  ) {
    trace(kind(of: event(), client), client, at: now)
  }

  private func kind(of event: ClientEvent, _ client: ClientIndex) -> DeviceTrace.Kind {
    switch event {
    case .heldBack: .heldBack
    case .heldBackOffline: systemHolds(client) ? .heldBackBySystem : .heldBackOffline
    case .heldByGate(let until): .heldByGate(until: until)
    case .alreadyUploading(let joins): .alreadyUploading(joins: joins)
    case .decided(let batch, let outcome): .decided(batch: Int(batch), outcome)
    case .stateReset: .stateReset
    }
  }
}

/// The word of one wait's jitter, made only if it is asked for. It is named by (device, batch, attempt), so that it moves no other
/// draw. After a question (O4) the time is part of the name. A device that draws once has one name for all.
package struct LaterJitter: RandomNumberGenerator {
  /// The key of the device.
  let key: RandomKey
  let name: UInt64
  /// When the question ended that the wait follows, microseconds; nil: it follows an upload.
  let question: Int64?
  let script: Unmanaged<DeviceScript>?

  @inline(__always)
  package mutating func next() -> UInt64 {
    if let script { return script.takeUnretainedValue().next() }
    var key = key.child(RandomPurpose.jitter).child(name)
    if let question { key = key.child(UInt64(bitPattern: question)) }
    var stream = RandomStream(key)
    return stream.next()
  }
}

/// Checkers beside the devices (engine.md, Checkers): they observe and never drive.
extension DeviceShard {
  /// Keeps the first broken rule.
  package mutating func report(_ problem: String, _ device: DeviceIndex, at now: Int64) {
    if violation == nil {
      violation = "\(problem): device \(globalNumber(device)) at \(now) µs"
    }
  }

  /// Returns the batch that the loop must take next; nil where it isn't watched. In a long queue it is watched only every so
  /// often, by chance, because a look is O(batches held).
  @inline(never)
  func watchedNextDue(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex? {
    let held = heldEvents(of: device)
    let draw = UInt64(truncatingIfNeeded: now &+ Int64(cursor) &* 7_919) &* 0x9E37_79B9_7F4A_7C15
    guard held <= 256 || (draw >> 32) % UInt64(held / 128) == 0 else { return nil }
    return nextDueByScan(device, from: cursor, at: now)
  }

  /// The oldest due batch at or behind the loop's cursor, found by looking at every batch, or none.
  func nextDueByScan(_ device: DeviceIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    let client = self[device].pointee
    let isRebatch = options.pointee.isRebatch
    let looksAtWaiting = !isRebatch && options.pointee.policy.limitsCheck == .beforeDue
    let looks = looksAtWaiting ? lookTimes(device) : [:]
    var end = UInt32.max
    if let loops { end = loops[device].pointee.loopEnd }
    var batch = client.oldest
    while batch != .noBatch {
      let record = batches[batch]
      let isAllowed = !record.flags.contains(.atTriggersOnly) || client.flags.contains(.byTrigger)
      if record.firstOrdinal >= cursor, record.firstOrdinal < end, !record.flags.contains(.inFlight),
        isAllowed
      {
        if !record.flags.contains(.waiting) { return batch }
        let due = looks[batch] ?? max(batches.dueTime(batch), batches.delayEnd(of: batch) ?? 0)
        if !isRebatch, due <= now { return batch }
      }
      batch = record.newer
    }
    return .noBatch
  }

  mutating func checkSend(_ batch: BatchIndex, _ device: DeviceIndex, at now: Int64) {
    if batches[batch].flags.contains(.inFlight) {
      report("two uploads of one batch at once", device, at: now)
    }
    // Legacy Settings of a later launch know no waits (S15), and a client that looks at waiting batches sends them then.
    let knowsWaits =
      options.pointee.policy.limitsCheck == .whenDue
      || machine(of: device)._withUnsafeGuaranteedRef { !$0.ignoresState && $0.config.backoff.isEnabled }
    if knowsWaits, batches.dueTime(batch) > now {
      report("an attempt before its due time", device, at: now)
    }
    if !isReady(device, at: now) {
      report("an attempt inside the gate's wait", device, at: now)
    }
    if uploads(of: device) >= options.pointee.uploads {
      report("more uploads at once than allowed", device, at: now)
    } else if options.pointee.blocks, !hasWorker(device, at: now) {
      report("an upload of a worker that waits", device, at: now)
    }
  }

  /// The first broken rule; with checkers on, events are counted too.
  func violation(at time: Int64) -> String? {
    violation ?? (plan.pointee.checks ? conservationViolation(at: time) : nil)
  }

  /// Checks that events created = delivered + dropped + held, by walking every device's queue.
  private func conservationViolation(at time: Int64) -> String? {
    var created: Int64 = 0
    var open: Int64 = 0
    for device in indices {
      let record = self[device]
      let draws = drawsAgain(of: device)
      var ordinal = record.pointee.nextOrdinal
      var eventTime = unsealedTime(device)
      while eventTime < time {
        ordinal &+= 1
        eventTime = plan.next(after: eventTime, before: ordinal, draws)
        open += 1
      }
      created += Int64(ordinal)
      var held: Int64 = 0
      var uploads = 0
      var previous: UInt32?
      var batch = record.pointee.oldest
      while batch != .noBatch {
        let one = batches[batch]
        held += Int64(one.events)
        if one.flags.contains(.inFlight) { uploads += 1 }
        open += Int64(one.events) - acceptedEvents(of: batch, device)
        if let previous, previous >= one.firstOrdinal {
          return "device \(globalNumber(device)): batches out of order at \(time) µs"
        }
        previous = one.firstOrdinal
        batch = one.newer
      }
      if !isHeapRight(device) {
        return "device \(globalNumber(device)): its heap does not match who waits at \(time) µs"
      }
      if held != Int64(heldEvents(of: device)) || uploads != Int(self.uploads(of: device)) {
        return "device \(globalNumber(device)): its counts do not match its queue at \(time) µs"
      }
    }
    var totals = MeasureTotals()
    ledger.add(to: &totals)
    let settled = totals[.createdEvents] - totals.openEvents
    if plan.pointee.events.arePolls ? created < settled + open : created != settled + open {
      return "events are not conserved at \(time) µs: \(created) created, \(settled) settled, \(open) open"
    }
    return nil
  }
}
