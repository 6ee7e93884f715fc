import UploadRetry

/// One client in an array: what an app keeps its batches in, and the conformance vectors.
///
/// Complexity: every operation is linear in the batches held, of which an app has tens.
package struct ArrayQueue: ~Copyable {
  struct Batch {
    var id: BatchIndex
    var firstOrdinal: UInt32
    var events: UInt32
    var retry = BatchRetryState()
    var isUploading = false
    var hasUnknownOutcome = false
    var attempts = 0
    var isAsking = false
    /// When a loop looks at it next; 0: it is due.
    var lookAt: Int64 = 0
    var waitsForTrigger = false
    /// K2: until when the request of the attempt behind `attempts` is held.
    var delay: (end: Int64, attempts: Int)?
    var result: UploadResult?
  }

  let optionsAddress: UnsafeMutablePointer<ClientOptions>
  let stateAddress: UnsafeMutablePointer<ClientState>
  let queuedAddress: UnsafeMutablePointer<UInt16>
  let savedAddress: UnsafeMutablePointer<SavedState>
  let gates: UnsafeMutableRawPointer
  var currentMachine: RetryStateMachine
  let random: RandomWords
  let gateWords: GateWords
  /// Oldest first.
  var batches: [Batch] = []
  /// Creation times of the events from number `firstTimed` on.
  var eventTimes: [Int64] = []
  var firstTimed: UInt32 = 0
  /// *rebatch*.
  var clientRetry = BatchRetryState()
  var loopCursor: UInt32 = 0
  var loopEnd: UInt32 = .max
  var sealedThrough: UInt32 = 0
  private var latestID = BatchIndex.noBatch
  /// The client's actions since it was last asked.
  var actions: [UploadClient.Action] = []
  /// The first broken promise of this queue.
  package var bug: String?

  init(_ options: ClientOptions, machine: RetryStateMachine, random: RandomWords) {
    optionsAddress = .allocate(capacity: 1)
    optionsAddress.initialize(to: options)
    stateAddress = .allocate(capacity: 1)
    stateAddress.initialize(to: ClientState())
    queuedAddress = .allocate(capacity: 1)
    queuedAddress.initialize(to: 0)
    savedAddress = .allocate(capacity: 1)
    savedAddress.initialize(to: SavedState())
    let bytes = options.gateLayout.stride
    gates = .allocate(byteCount: bytes, alignment: 8)
    gates.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    currentMachine = machine
    self.random =
      options.policy.jitterDraw == .onceADevice ? RandomWords(SameWord(word: random.next())) : random
    gateWords = GateWords(salt: random.next())
  }

  deinit {
    optionsAddress.deinitialize(count: 1)
    optionsAddress.deallocate()
    stateAddress.deallocate()
    savedAddress.deallocate()
    queuedAddress.deallocate()
    gates.deallocate()
  }

  /// The Settings change: those of a launch (S19).
  package mutating func follow(_ config: HTTPConfig) {
    currentMachine = RetryStateMachine(
      config: config, policy: options.pointee.policy, quirks: options.pointee.quirks)
  }

  private mutating func newID() -> BatchIndex {
    latestID.rawValue += 1
    return latestID
  }

  private func index(of batch: BatchIndex) -> Int? { batches.firstIndex { $0.id == batch } }

  subscript(batch: BatchIndex) -> Batch {
    get { batches[index(of: batch)!] }
    set { batches[index(of: batch)!] = newValue }
  }

  /// A batch that was stored is there.
  package mutating func adopt(firstEvent: UInt32, events: UInt32, createdAt time: Int64, at now: Int64) {
    if eventTimes.isEmpty { (firstTimed, sealedThrough) = (firstEvent, firstEvent) }
    while firstTimed + UInt32(eventTimes.count) < firstEvent { eventTimes.append(time) }
    note(events, eventsCreatedAt: time, .only)
    append(events, firstOrdinal: firstEvent, firstTime: time, .only, at: now)
    sealedThrough = firstEvent + events
  }

  /// The next event has that number, or the one behind those that are held, if that is larger.
  mutating func setNextOrdinal(_ ordinal: UInt32) {
    if eventTimes.isEmpty { firstTimed = max(ordinal, sealedThrough) }
    sealedThrough = max(ordinal, sealedThrough)
    let missing = Int(sealedThrough - firstTimed) - eventTimes.count
    if missing > 0 { eventTimes += Array(repeating: eventTimes.last ?? 0, count: missing) }
  }

  /// An upload of the batch was under way when the process ended.
  mutating func noteUnknownOutcome(ofBatchFrom ordinal: UInt64) {
    // With one record for the client it says of no batch which it was.
    guard !options.pointee.isRebatch,
      let index = batches.firstIndex(where: { UInt64($0.firstOrdinal) == ordinal })
    else { return }
    batches[index].hasUnknownOutcome = true
  }

  /// Uploads under way are given up; what became of them is unknown.
  package mutating func cutOffUploads() {
    for index in batches.indices where batches[index].isUploading {
      batches[index].isUploading = false
      batches[index].hasUnknownOutcome = true
    }
  }

  func createdAt(_ ordinal: UInt32) -> Int64 {
    let index = Int(ordinal) - Int(firstTimed)
    return eventTimes.indices.contains(index) ? eventTimes[index] : eventTimes.last ?? 0
  }
}

extension ArrayQueue: UploadClientHost, EventRecording {
  package typealias Sink = Void

  // MARK: The client

  package var options: UnsafePointer<ClientOptions> { UnsafePointer(optionsAddress) }
  package func machine(of client: ClientIndex) -> Unmanaged<RetryStateMachine> {
    .passUnretained(currentMachine)
  }
  package func state(of client: ClientIndex) -> UnsafeMutablePointer<ClientState> { stateAddress }
  package func gateRow(of client: ClientIndex) -> UnsafeMutableRawPointer { gates }
  package func cursor(of client: ClientIndex, behind ordinal: UInt32) -> UInt32 { loopCursor }
  package func saved(of client: ClientIndex) -> UnsafeMutablePointer<SavedState> { savedAddress }
  package func queuedLoops(of client: ClientIndex) -> UnsafeMutablePointer<UInt16> { queuedAddress }
  package func queue(of client: ClientIndex) -> ClientQueue {
    ClientQueue(
      oldest: batches.first?.id ?? .noBatch, newest: batches.last?.id ?? .noBatch,
      nextOrdinal: sealedThrough, uploads: UInt32(batches.count(where: \.isUploading)))
  }

  // MARK: The queue

  package func batch(_ batch: BatchIndex) -> QueuedBatch {
    let index = index(of: batch)!
    let held = batches[index]
    return QueuedBatch(
      newer: index + 1 < batches.count ? batches[index + 1].id : .noBatch, firstOrdinal: held.firstOrdinal,
      events: held.events, createdAt: createdAt(held.firstOrdinal), attempts: UInt16(clamping: held.attempts),
      isUploading: held.isUploading, isAsking: held.isAsking, hasUnknownOutcome: held.hasUnknownOutcome,
      waitsForTrigger: held.waitsForTrigger, result: held.result)
  }
  package func delayEnd(of batch: BatchIndex) -> Int64? {
    let held = self[batch]
    guard let delay = held.delay, delay.attempts == held.attempts else { return nil }
    return delay.end
  }
  package func heldEvents(of client: ClientIndex) -> UInt32 { batches.reduce(0) { $0 + $1.events } }
  package func heldBatches(of client: ClientIndex) -> UInt32 { UInt32(batches.count) }
  package mutating func waitingBatches(of client: ClientIndex, at now: Int64) -> UInt32 {
    endWaits(at: now)
    return UInt32(batches.count { !$0.isUploading && $0.lookAt > now })
  }
  package func firstWait(of client: ClientIndex) -> Int64? {
    batches.lazy.filter { !$0.isUploading && $0.lookAt != 0 }.map(\.lookAt).min()
  }
  package func retryState(of batch: BatchIndex, _ client: ClientIndex) -> BatchRetryState {
    options.pointee.isRebatch ? clientRetry : self[batch].retry
  }

  package func dueTimes(of client: ClientIndex) -> [BatchIndex: Int64] {
    Dictionary(uniqueKeysWithValues: batches.map { ($0.id, $0.retry.retryAt) })
  }

  private func isDue(_ batch: Batch, at now: Int64) -> Bool {
    !batch.isUploading && batch.result == nil && batch.lookAt <= now
      && (!batch.waitsForTrigger || stateAddress.pointee.flags.contains(.byTrigger))
  }

  /// Batches whose time has come are due from now on.
  private mutating func endWaits(at now: Int64) {
    for index in batches.indices where batches[index].lookAt <= now { batches[index].lookAt = 0 }
  }

  package mutating func takeNextDue(_ client: ClientIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    endWaits(at: now)
    let found = batches.firstIndex {
      $0.firstOrdinal >= loopCursor && $0.firstOrdinal < loopEnd && isDue($0, at: now)
    }
    guard let found else { return .noBatch }
    batches[found].waitsForTrigger = false
    return batches[found].id
  }

  /// Every loop is offered all that is due, held or not.
  package mutating func passHeld(
    _ client: ClientIndex, from cursor: UInt32, to end: UInt32, at now: Int64
  ) -> UInt32 { cursor }

  package mutating func next(
    _ scan: QueueScan, _ client: ClientIndex, from cursor: UInt32, at now: Int64
  ) -> BatchIndex {
    batches.first {
      guard $0.firstOrdinal >= cursor, $0.firstOrdinal < loopEnd else { return false }
      switch scan {
      case .due(let lane): return isDue($0, at: now) && self.lane(of: $0.id, client) == lane
      case .held: return !$0.isUploading
      }
    }?.id ?? .noBatch
  }

  package mutating func countDue(_ client: ClientIndex, byTrigger: Bool, at now: Int64) -> Int {
    batches.count { !$0.isUploading && $0.lookAt <= now && (byTrigger || !$0.waitsForTrigger) }
  }

  package mutating func firstDue(_ client: ClientIndex) -> Int64? {
    if batches.contains(where: { !$0.isUploading && $0.lookAt == 0 && !$0.waitsForTrigger }) { return 0 }
    return batches.lazy.filter { !$0.waitsForTrigger && $0.lookAt != 0 }.map(\.lookAt).min()
  }

  package mutating func skip(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex) -> (
    Int64, UInt32
  ) {
    (createdAt(ordinal + n), ordinal + n)
  }

  package func loopEnd(of client: ClientIndex) -> UInt32 { loopEnd }

  // MARK: Changes

  package mutating func setCursor(_ cursor: UInt32, of client: ClientIndex) { loopCursor = cursor }
  package mutating func startLoop(of client: ClientIndex, cursor: UInt32, end: UInt32) {
    (loopCursor, loopEnd) = (cursor, end)
  }
  package mutating func setRetryState(_ state: BatchRetryState, of batch: BatchIndex, _ client: ClientIndex) {
    if options.pointee.isRebatch {
      clientRetry = state
      clientRetry.retryAt = 0  // Its wait is the gate's.
    } else {
      self[batch].retry = state
    }
  }
  package mutating func change(_ batch: BatchIndex, _ change: BatchChange) {
    switch change {
    case .outcomeIsKnown: self[batch].hasUnknownOutcome = false
    case .waitsForTrigger(let waits): self[batch].waitsForTrigger = waits
    case .drawsDelay(let end): self[batch].delay = end.map { ($0, self[batch].attempts) }
    case .grows(let n, _): self[batch].events += n
    case .result(let result): self[batch].result = result
    }
  }
  package mutating func schedule(_ batch: BatchIndex, _ schedule: BatchSchedule, _ client: ClientIndex) {
    switch schedule {
    case .due, .dueLast, .held: self[batch].lookAt = 0
    case .waiting(let due): self[batch].lookAt = due
    case .taken: self[batch].waitsForTrigger = false
    }
  }
  package mutating func forgetDueTimes(_ client: ClientIndex) {
    for index in batches.indices { batches[index].lookAt = 0 }
  }
  package mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex) {
    eventTimes.append(contentsOf: repeatElement(time, count: Int(n)))
    // Times of events that have left the queue go, many at once.
    let kept = batches.first?.firstOrdinal ?? sealedThrough
    if kept - firstTimed > 10_000 {
      eventTimes.removeFirst(Int(kept - firstTimed))
      firstTimed = kept
    }
  }

  package mutating func willSeal(_ n: UInt32, through ordinal: UInt32, _ client: ClientIndex) {
    sealedThrough = ordinal
  }

  package mutating func unsealNewest(_ client: ClientIndex) {
    if let open = batches.popLast() { sealedThrough = open.firstOrdinal }
  }

  package mutating func append(
    _ events: UInt32, firstOrdinal: UInt32, firstTime: Int64, _ client: ClientIndex, at now: Int64
  ) {
    batches.append(Batch(id: newID(), firstOrdinal: firstOrdinal, events: events))
  }

  package mutating func rechunk(_ client: ClientIndex, atMost maximum: UInt32?, at now: Int64) {
    for index in batches.indices where !batches[index].isUploading {
      batches[index].hasUnknownOutcome = false
    }
    guard let maximum else { return }
    // The held events may have gaps, where an upload in the middle was delivered; a chunk does not span one. Neither does it span
    // events that the loop takes and events that it does not.
    let byTrigger = stateAddress.pointee.flags.contains(.byTrigger)
    var runs: [(first: UInt32, events: UInt32, waits: Bool)] = []
    for batch in batches {
      if let last = runs.last, last.first + last.events == batch.firstOrdinal,
        byTrigger || last.waits == batch.waitsForTrigger
      {
        runs[runs.count - 1].events += batch.events
      } else {
        runs.append((batch.firstOrdinal, batch.events, batch.waitsForTrigger))
      }
    }
    let before = batches
    batches = []
    for (first, events, _) in runs {
      var (first, left) = (first, events)
      while left > 0 {
        let size = min(left, maximum)
        append(size, firstOrdinal: first, firstTime: createdAt(first), client, at: now)
        // A chunk is what the batch was that its first event comes from.
        if let origin = before.last(where: { $0.firstOrdinal <= first }) {
          batches[batches.count - 1].waitsForTrigger = origin.waitsForTrigger
          batches[batches.count - 1].delay = origin.delay
          batches[batches.count - 1].attempts = origin.attempts
        }
        first += size
        left -= size
      }
    }
  }

  package mutating func split(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Bool {
    guard let index = index(of: batch), batches[index].events > 1 else { return false }
    let kept = (batches[index].events + 1) / 2
    let other = Batch(
      id: newID(), firstOrdinal: batches[index].firstOrdinal + kept, events: batches[index].events - kept)
    batches[index].events = kept
    batches[index].retry = BatchRetryState()
    batches.insert(other, at: index + 1)
    if options.pointee.uploads == 1 { loopCursor = batches[index].firstOrdinal }
    return true
  }

  // MARK: What it does

  package mutating func send(
    _ batch: BatchIndex, _ client: ClientIndex, retryCount: UInt16, asQuery: Bool, at now: Int64, _ sink: Void
  ) {
    self[batch].isUploading = true
    self[batch].isAsking = asQuery
    if !asQuery { self[batch].attempts += 1 }
    let upload = self[batch]
    actions.append(
      .send(
        batch: batch, upload.firstOrdinal..<upload.firstOrdinal + upload.events,
        retryCount: options.pointee.policy.headerValue(retryCount), asksWhetherApplied: asQuery))
  }

  package mutating func endUpload(
    _ batch: BatchIndex, _ response: UploadResponse, _ client: ClientIndex, at now: Int64
  ) {
    self[batch].isUploading = false
    if response == .noStatus { self[batch].hasUnknownOutcome = true }
  }

  package mutating func settle(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    let gone = self[batch]
    batches.removeAll { $0.id == batch }
    actions.append(.delivered(gone.firstOrdinal..<gone.firstOrdinal + gone.events))
  }

  package mutating func giveUp(
    _ batch: BatchIndex, oldest: UInt32?, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64
  ) {
    if let oldest {
      let first = self[batch].firstOrdinal
      actions.append(.lost(first..<first + oldest, loss))
      self[batch].firstOrdinal += oldest
      self[batch].events -= oldest
      return
    }
    let gone = self[batch]
    batches.removeAll { $0.id == batch }
    actions.append(.lost(gone.firstOrdinal..<gone.firstOrdinal + gone.events, loss))
  }

  package mutating func wake(_ client: ClientIndex, at due: Int64, _ sink: Void) {
    actions.append(.wake(at: due))
  }

  package func draws(for batch: BatchIndex, question: Int64?, _ client: ClientIndex) -> RandomWords { random }
  package mutating func word(
    _ purpose: WordPurpose, for batch: BatchIndex, _ client: ClientIndex
  ) -> UInt64 {
    switch purpose {
    case .query: gateWords.word(self[batch].firstOrdinal, .max, at: nil)
    case .gate(let now):
      gateWords.word(self[batch].firstOrdinal, UInt16(clamping: self[batch].attempts), at: now)
    }
  }

  // MARK: Who listens

  package mutating func count(_ n: Int64, _ count: ClientCount, _ client: ClientIndex, at now: Int64) {}
  package mutating func observe(
    _ event: @autoclosure () -> ClientEvent, _ client: ClientIndex, at now: Int64
  ) {
    actions.append(.step(event()))
  }
  package mutating func report(_ bug: String, _ client: ClientIndex, at now: Int64) {
    if self.bug == nil { self.bug = bug }
  }
}
