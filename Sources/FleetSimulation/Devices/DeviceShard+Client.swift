import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A shard's devices are clients: their memory is the shard's flat rows, their requests go to the shard's calendar. What a client decides is in
/// `UploadPipeline`, nothing of it here.
extension DeviceShard: UploadClientHost {
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
    gates.unsafelyUnwrapped + client.place &* options.pointee.gateLayout.stride
  }

  @inline(__always)
  package func uploads(of client: ClientIndex) -> UInt32 {
    if let loops { return loops[client].pointee.inFlight }
    return self[client].pointee.flags.contains(.uploading) ? 1 : 0
  }

  @inline(__always)
  func setUploads(_ n: UInt32, of client: ClientIndex) {
    if let loops {
      loops[client].pointee.inFlight = n
    } else if n == 0 {
      self[client].pointee.flags.remove(.uploading)
    } else {
      self[client].pointee.flags.insert(.uploading)
    }
  }

  @inline(__always)
  package func cursor(of client: ClientIndex, behind ordinal: UInt32) -> UInt32 {
    if let loops { return loops[client].pointee.cursor }
    return ordinal &+ 1
  }

  @inline(__always)
  package func setCursor(_ cursor: UInt32, of client: ClientIndex) {
    if let loops { loops[client].pointee.cursor = cursor }
  }

  @inline(__always)
  package func startLoop(of client: ClientIndex, cursor: UInt32, end: UInt32) {
    guard let loops else { return }
    let loop = loops[client]
    loop.pointee.loopEnd = end
    loop.pointee.cursor = cursor
  }

  package func queuedLoops(of client: ClientIndex) -> UInt16 { loop(client).pointee.queuedLoops }
  package func setQueuedLoops(_ n: UInt16, of client: ClientIndex) { loop(client).pointee.queuedLoops = n }

  package func saved(of client: ClientIndex) -> UnsafeMutablePointer<SavedState> {
    savedStates.unsafelyUnwrapped + client.place
  }

  @inline(__always)
  package func nextOrdinal(of client: ClientIndex) -> UInt32 { self[client].pointee.nextOrdinal }

  // MARK: The queue

  @inline(__always)
  package func oldest(of client: ClientIndex) -> BatchIndex { self[client].pointee.oldest }
  @inline(__always)
  package func newest(of client: ClientIndex) -> BatchIndex { self[client].pointee.newest }
  @inline(__always)
  package func newer(than batch: BatchIndex) -> BatchIndex { batches[batch].newer }
  @inline(__always)
  package func firstOrdinal(of batch: BatchIndex) -> UInt32 { batches[batch].firstOrdinal }
  @inline(__always)
  package func events(of batch: BatchIndex) -> UInt32 { UInt32(batches[batch].events) }
  @inline(__always)
  package func queuedAt(_ batch: BatchIndex) -> Int64 { batches[batch].firstTime }
  @inline(__always)
  package func isUploading(_ batch: BatchIndex) -> Bool { batches[batch].flags.contains(.inFlight) }
  @inline(__always)
  package func hasBeenSent(_ batch: BatchIndex) -> Bool { batches[batch].attempts > 0 }
  package func isRetry(_ batch: BatchIndex) -> Bool {
    let attempts = batches[batch].attempts
    return (options.pointee.gates.reconciles ? StatusQuery.number(attempts) : attempts) > 1
  }
  @inline(__always)
  package func hasUnknownOutcome(_ batch: BatchIndex) -> Bool {
    batches[batch].flags.contains(.unknownOutcome)
  }

  package mutating func outcomeIsKnown(_ batch: BatchIndex) { batches[batch].flags.remove(.unknownOutcome) }

  package func isAsking(_ batch: BatchIndex) -> Bool { StatusQuery.isQuery(batches[batch].attempts) }

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
  package func setWaitsForTrigger(_ waits: Bool, _ batch: BatchIndex) {
    if waits {
      batches[batch].flags.insert(.atTriggersOnly)
    } else {
      batches[batch].flags.remove(.atTriggersOnly)
    }
  }

  package mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex) {
    script?.append(n, at: time)
  }

  package func result(of batch: BatchIndex) -> UploadResult? {
    batches[batch].flags.contains(.answered) ? FlushAnswer.unpacked(batches[batch].link.rawValue) : nil
  }

  package mutating func setResult(_ result: UploadResult?, of batch: BatchIndex) {
    if let result {
      batches[batch].flags.insert(.answered)
      batches[batch].link.rawValue = FlushAnswer.packed(result)
    } else {
      batches[batch].flags.remove(.answered)
      batches[batch].link = .noBatch
    }
  }

  package mutating func split(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Bool {
    split(batch, client, at: Instant(microseconds: now))
  }

  // MARK: What it does

  // Out of line: otherwise it is inlined into the protocol's entry, which looks its tables up.
  @inline(never)
  package mutating func send(
    _ batch: BatchIndex, _ client: ClientIndex, retryCount: UInt16, asQuery: Bool, at now: Int64,
    _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    if isTraced(client) {
      note(
        asQuery ? .asked(batch: Int(batches[batch].firstOrdinal)) : tracedSend(batch, retryCount), client,
        at: Instant(microseconds: now))
    }
    transmit(
      batch, client, retryCount: retryCount, asQuery: asQuery, at: Instant(microseconds: now), sink)
  }

  package mutating func endUpload(
    _ batch: BatchIndex, _ response: UploadResponse, _ client: ClientIndex, at now: Int64
  ) {
    let now = Instant(microseconds: now)
    batches[batch].flags.remove(.inFlight)
    if case .status(200, _) = response {} else { batches[batch].latestFailure = AttemptFailure(response) }
    setUploads(uploads(of: client) &- 1, of: client)
    count(-1, .inFlight, at: now)
    if isTraced(client) {
      note(
        .answered(
          batch: Int(batches[batch].firstOrdinal), attempt: Int(batches[batch].attempts), response), client,
        at: now)
    }
    if options.pointee.gates.reconciles {
      batches[batch].attempts = StatusQuery.number(batches[batch].attempts)
    }
  }

  @inline(__always)
  package mutating func settle(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    settle(batch, client, at: Instant(microseconds: now))
  }

  mutating func counter(of loss: ClientLoss) -> Measure {
    switch loss {
    case .limit(let reason): plan.pointee.blocksGivenUp ? Measure(blocked: reason) : Measure(reason)
    case .refused: .refusedByGate
    case .discarded: .droppedByStatus
    case .overflow: .droppedByOverflow
    }
  }

  package mutating func giveUp(_ batch: BatchIndex, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64)
  {
    let counter = counter(of: loss)
    if case .limit(.retryLimit) = loss { reachedRetryLimit = true }
    if case .limit(.rateLimitRetryLimit) = loss { reachedRetryLimit = true }
    leaveQueue(batch, client)
    drop(batch, counter, client, at: Instant(microseconds: now))
  }

  @inline(__always)
  package mutating func wake(
    _ client: ClientIndex, at due: Int64, _ sink: UnsafeMutablePointer<ShardCalendar>
  ) {
    let record = self[client]
    if record.pointee.wakes(at: due) { return }
    record.pointee.planWakeUp(at: due)
    if due < plan.pointee.end { sink.pointee.schedule(wakeUp: client, at: Instant(microseconds: due)) }
  }

  @inline(__always)
  package func draws(for batch: BatchIndex, failures: UInt16, _ client: ClientIndex) -> LaterJitter {
    LaterJitter(
      key: key(of: client),
      name: UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: failures),
      script: scriptedDraws)
  }

  package mutating func gateWord(for batch: BatchIndex, _ client: ClientIndex, at now: Int64?) -> UInt64 {
    if let scriptedGates {
      return scriptedGates.word(batches[batch].firstOrdinal, batches[batch].attempts, at: now)
    }
    var name = key(of: client).child(RandomPurpose.gates).child(
      UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: batches[batch].attempts))
    if let now { name = name.child(UInt64(bitPattern: now)) }
    var random = RandomStream(name)
    return random.next()
  }

  package mutating func queryWord(of batch: BatchIndex, _ client: ClientIndex) -> UInt64 {
    if let scriptedGates { return scriptedGates.word(batches[batch].firstOrdinal, .max, at: nil) }
    var random = RandomStream(
      key(of: client).child(RandomPurpose.gates).child(
        UploadRequest.name(firstOrdinal: batches[batch].firstOrdinal, number: .max)))
    return random.next()
  }

  // MARK: Who listens

  @inline(__always)
  package mutating func count(_ n: Int64, _ what: ClientCount, _ client: ClientIndex, at now: Int64) {
    var n = n
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
    if counter == .backoffMicroseconds { n = min(n, plan.pointee.end &- now) }
    count(n, counter, at: Instant(microseconds: now))
  }

  @inline(__always)
  package func isObserved(_ client: ClientIndex) -> Bool { isTraced(client) }

  package mutating func observe(_ event: ClientEvent, _ client: ClientIndex, at now: Int64) {
    let kind: DeviceTrace.Kind =
      switch event {
      case .heldBack: .heldBack
      case .heldBackOffline: .heldBackOffline
      case .heldByGate(let until): .heldByGate(until: until)
      case .alreadyUploading(let joins): .alreadyUploading(joins: joins)
      case .decided(let batch, let outcome): .decided(batch: Int(batch), outcome)
      case .stateReset: .stateReset
      }
    note(kind, client, at: Instant(microseconds: now))
  }

  package mutating func report(_ bug: String, _ client: ClientIndex, at now: Int64) {
    note(bug, client, at: Instant(microseconds: now))
  }
}

/// The word of one retry's jitter, made only if it is asked for. It is named by (device, batch, retry ordinal), so that it moves
/// no other draw.
package struct LaterJitter: RandomNumberGenerator {
  /// Of the device.
  let key: RandomKey
  let name: UInt64
  let script: Unmanaged<ScriptedDraws>?

  @inline(__always)
  package mutating func next() -> UInt64 {
    if let script { return script.takeUnretainedValue().next() }
    var stream = RandomStream(key.child(RandomPurpose.jitter).child(name))
    return stream.next()
  }
}

/// How an upload ended whose flush goes on, in the word that links due batches, which this one is not among: what it is (2 bits) and
/// the wait that the server asked for, in tenths of a millisecond plus one (30 bits; a day and a quarter, saturating).
enum FlushAnswer {
  private static var unit: Int64 { 100 }
  private static var waitBits: UInt32 { 30 }
  private static var waitMask: UInt32 { 1 &<< waitBits &- 1 }

  static func packed(_ result: UploadResult) -> UInt32 {
    switch result {
    case .delivered: return 0
    case .dropped: return 1 &<< waitBits
    case .failed(let wait, let isRateLimit):
      let kind: UInt32 = (isRateLimit ? 3 : 2) &<< waitBits
      guard let wait else { return kind }
      return kind | UInt32(min(max(0, wait) / unit, Int64(waitMask) - 1) + 1)
    }
  }

  static func unpacked(_ word: UInt32) -> UploadResult {
    switch word &>> waitBits {
    case 0: return .delivered
    case 1: return .dropped
    default:
      let ticks = word & waitMask
      return .failed(
        wait: ticks == 0 ? nil : Int64(ticks - 1) * unit, isRateLimit: word &>> waitBits == 3)
    }
  }
}
