import UploadGating
import UploadRetry

/// The effects of a trigger on a client, from its new events to the first request (S17).
extension UploadClientHost where Self: ~Copyable {
  /// Makes batches of `n` new events from number `ordinal` on, the first of them created at `time`. Then it keeps the queue's
  /// limit and asks the loop to run. A client that ignores the flush (`ignoresFlush`) must not come here.
  @inlinable
  @inline(__always)
  public mutating func flush(
    _ client: ClientIndex, sealing n: UInt32, from ordinal: UInt32, createdAt time: Int64, at now: Int64,
    _ sink: Sink
  ) {
    if n != 0 {
      willSeal(n, through: ordinal &+ n, client)
      seal(n, from: ordinal, at: time, client, now: now)
      if losesNew(client, at: now) { loseNew(client, from: ordinal, at: now) }
      if isOverLimit(client) { keepLimit(client, at: now) }
    }
    runLoop(client, at: now, byTrigger: true, sink)
  }

  /// A trigger that does not care for waits comes (D7): the client's wait is over; its counts stay.
  @inlinable
  public mutating func skipWait(_ client: ClientIndex, for trigger: ClientTrigger) {
    if options.pointee.triggersThatSkipWaits.contains(trigger) { state(of: client).pointee.gate.reset() }
  }

  /// Whether a flush would do nothing at all: uploads are under way (`FlushWhileUploading.ignored`).
  @inlinable
  @inline(__always)
  public func ignoresFlush(_ client: ClientIndex) -> Bool {
    options.pointee.flushWhileUploading == .ignored && uploads(of: client) > 0
  }

  /// Whether a count trigger would do nothing. This is so while uploads fail (`ClientOptions.countFlushWhileFailing`). It is also
  /// so where the count is that of all events held (`ClientOptions.countsHeldEvents`) and there are fewer.
  ///
  /// - `unsealed`: events that no flush has sealed.
  @inlinable
  public mutating func ignoresCount(_ client: ClientIndex, unsealed: UInt32, count: UInt32) -> Bool {
    if !options.pointee.countFlushWhileFailing, state(of: client).pointee.flags.contains(.loopHadFailure) {
      return true
    }
    return options.pointee.countsHeldEvents && heldEvents(of: client) &+ unsealed < count
  }

  /// An upload has ended, with an answer or without one.
  @inlinable
  public mutating func answered(
    _ response: UploadResponse, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    if case .status(let code, _) = response, (200...299).contains(code) {
      succeed(batch, client, isOnly: false, at: now, sink)
    } else {
      fail(response, batch, client, at: now, sink)
    }
  }

  /// The process ends at once, whatever it is doing: what a launch will find is returned. Uploads under way are the host's to end.
  @inlinable
  public mutating func endProcess(_ client: ClientIndex, at now: Int64) -> RetrySnapshot {
    switch options.pointee.saving {
    case .atOnce, .atOnceAsItIs: break
    case .afterAnswers, .delayed: goBackToSaved(client, at: now)
    case .never:
      forgetLoop(client)
      return RetrySnapshot()
    }
    let snapshot = retrySnapshot(of: client)
    forgetLoop(client)
    return snapshot
  }
}

/// The upload loop (S3, S16, S17): over the due batches from the oldest to the newest, once.
///
/// Sets of flags are unions here, not literals: where much is inlined, a literal may become an array on the heap.
extension UploadClientHost where Self: ~Copyable {
  /// A trigger or a wake-up asks for a loop. One that runs already reaches what has been sealed meanwhile.
  @inlinable
  @inline(__always)
  public mutating func runLoop(_ client: ClientIndex, at now: Int64, byTrigger: Bool, _ sink: Sink) {
    let state = state(of: client)
    if state.pointee.flags.contains(.looping) {
      joinLoop(client, byTrigger: byTrigger, at: now, sink)
      return
    }
    if options.pointee.actsAtFlushEnd {
      FlushEnd().run(&self, client, byTrigger: byTrigger, at: now, sink)
      return
    }
    if !holdsAny(client, at: now) { return }
    if byTrigger, options.pointee.keepsGates { forgetHoldAtTrigger(client, at: now) }
    guard isReady(client, at: now), !state.pointee.flags.contains(.offline) else {
      if byTrigger { endTriggerWaits(client) }
      observe(state.pointee.flags.contains(.offline) ? .heldBackOffline : .heldBack, client, at: now)
      rest(client, at: now, sink)
      return
    }
    var (byTrigger, cursor) = (byTrigger, UInt32(0))
    if options.pointee.keepsGates,
      !gatesLetRunStart(client, byTrigger: &byTrigger, cursor: &cursor, at: now, sink)
    {
      return
    }
    endRest(client, at: now)
    begin(client, byTrigger: byTrigger, cursor: cursor)
    if options.pointee.isRebatch, oldest(of: client) != newest(of: client) {
      if byTrigger { endTriggerWaits(client) }
      rechunk(client, atMost: maximumBatch(client), at: now)
    }
    continueLoop(client, from: cursor, at: now, sink)
  }

  /// Runs the loop of a trigger for a client that holds one fresh batch and nothing else.
  @inlinable
  @inline(__always)
  public mutating func runLoop(
    overOnly batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    begin(client, byTrigger: true, cursor: 0)
    setCursor(firstOrdinal(of: batch) &+ 1, of: client)
    let decision = ask(about: batch, isFresh: true, client, at: now)
    if case .send(let retryCount) = decision {
      send(batch, client, retryCount: retryCount, asQuery: false, at: now, sink)
    } else {
      holdBack(batch, client, decision, at: now)
      endLoop(client, at: now, sink)
    }
  }

  /// A loop begins.
  @inlinable
  @inline(__always)
  public mutating func begin(_ client: ClientIndex, byTrigger: Bool, cursor: UInt32) {
    let state = state(of: client)
    state.pointee.flags = state.pointee.flags.atBeginOfLoop(byTrigger: byTrigger)
    if options.pointee.hasLanes { beginLanes(client, cursor: cursor) }
    startLoop(
      of: client, cursor: cursor,
      end: options.pointee.flushWhileUploading == .joins && !options.pointee.actsAtFlushEnd
        ? .max : nextOrdinal(of: client))
  }

  /// Whether the pipeline waits for nothing (S16).
  @inlinable
  @inline(__always)
  public func isReady(_ client: ClientIndex, at now: Int64) -> Bool {
    state(of: client).pointee.gate.isReady(at: now)
      || machine(of: client)._withUnsafeGuaranteedRef { $0.ignoresWaits }
  }

  @inlinable
  @inline(never)
  mutating func joinLoop(_ client: ClientIndex, byTrigger: Bool, at now: Int64, _ sink: Sink) {
    if byTrigger { endTriggerWaits(client) }
    var joins = options.pointee.flushWhileUploading == .joins && !options.pointee.actsAtFlushEnd
    if options.pointee.keepsGates {
      if isHeldLoop(client) { joins = true }
      if byTrigger { endThrottlePause(client, at: now) }
    }
    if state(of: client).pointee.flags.contains(.draining) { joins = false }
    if options.pointee.flushWhileUploading == .queued, !joins {
      let queued = queuedLoops(of: client)
      if queued.pointee < .max { queued.pointee &+= 1 }
    }
    let isHeard = joins || options.pointee.flushWhileUploading == .queued
    observe(.alreadyUploading(joins: isHeard), client, at: now)
    if joins { continueLoop(client, from: cursor(of: client, behind: 0), at: now, sink) }
  }

  /// Whether a batch may leave now, or ever; a limit of the whole client that drops it starts over.
  ///
  /// - `isFresh`: the batch is known not to have failed; a record of the whole client is looked at all the same.
  @inlinable
  @inline(__always)
  mutating func ask(about batch: BatchIndex, isFresh: Bool = false, _ client: ClientIndex, at now: Int64)
    -> SendDecision
  {
    if options.pointee.policy.looksAtEventAge, now > endOfAge(of: batch, client) { return .drop(.age) }
    let record =
      isFresh && !options.pointee.isRebatch ? BatchRetryState() : retryState(of: batch, client)
    return decision(on: record, pipeline: &state(of: client).pointee.pipeline, client, at: now)
  }

  /// The last moment at which a batch is not too old, because of its oldest event, microseconds; `.max`: there is none. Of a
  /// client that cuts its batches anew the events go one by one (`dropAged`).
  @inlinable
  @inline(never)
  func endOfAge(of batch: BatchIndex, _ client: ClientIndex) -> Int64 {
    guard options.pointee.policy.looksAtEventAge, !options.pointee.isRebatch,
      let limit = machine(of: client)._withUnsafeGuaranteedRef({ $0.maximumEventAge })
    else { return .max }
    let (end, overflow) = self.batch(batch).createdAt.addingReportingOverflow(limit)
    return overflow ? .max : end
  }

  /// When a loop has to look at a batch that is due at `due`, microseconds: then, or earlier where a limit ends its wait.
  @inlinable
  func lookAt(_ batch: BatchIndex, _ record: BatchRetryState, due: Int64, _ client: ClientIndex) -> Int64 {
    let look = machine(of: client)._withUnsafeGuaranteedRef { $0.lookAt(record, due: due) }
    guard case .beforeDue = options.pointee.policy.limitsCheck else { return look }
    let end = endOfAge(of: batch, client)
    return end == .max ? look : min(look, end &+ 1)
  }

  /// Whether the client holds a batch as a loop begins. In *rebatch* events that are too old go first.
  @inlinable
  @inline(__always)
  mutating func holdsAny(_ client: ClientIndex, at now: Int64) -> Bool {
    if options.pointee.isRebatch, options.pointee.policy.looksAtEventAge, oldest(of: client) != .noBatch {
      dropAged(client, at: now)
      if oldest(of: client) == .noBatch {
        setRetryState(BatchRetryState(), of: .noBatch, client)
        endRest(client, at: now)
      }
    }
    return oldest(of: client) != .noBatch
  }

  /// *rebatch*: events that have been queued for too long are lost, one by one (S11, as shipped). No upload is under way.
  @inlinable
  public mutating func dropAged(_ client: ClientIndex, at now: Int64) {
    guard let limit = machine(of: client)._withUnsafeGuaranteedRef({ $0.maximumEventAge }) else { return }
    let first = oldest(of: client)
    let (oldestAllowed, overflow) = now.subtractingReportingOverflow(limit)
    if overflow || first == .noBatch || self.batch(first).createdAt >= oldestAllowed { return }
    rechunk(client, atMost: nil, at: now)
    var left = countEvents(client, before: oldestAllowed)
    while left > 0, case let batch = oldest(of: client), batch != .noBatch {
      let events = events(of: batch)
      if events > left {
        giveUp(batch, oldest: left, .limit(.age), client, at: now)
        return
      }
      giveUp(batch, oldest: nil, .limit(.age), client, at: now)
      left &-= events
    }
  }

  /// How many of the oldest events were created before `time`.
  @inlinable
  mutating func countEvents(_ client: ClientIndex, before time: Int64) -> UInt32 {
    var n: UInt32 = 0
    var batch = oldest(of: client)
    while batch != .noBatch {
      let held = self.batch(batch)
      var (created, ordinal) = (held.createdAt, held.firstOrdinal)
      for _ in 0..<held.events {
        if created >= time { return n }
        n &+= 1
        (created, ordinal) = skip(1, from: ordinal, at: created, client)
      }
      batch = held.newer
    }
    return n
  }

  /// The one place where the machine is asked whether a batch may leave. Only what a question has found not to have been applied
  /// leaves without (`hear(wasApplied:)`).
  @inlinable
  @inline(__always)
  public func decision(
    on record: BatchRetryState, pipeline: inout PipelineRetryState, _ client: ClientIndex, at now: Int64
  ) -> SendDecision {
    machine(of: client)._withUnsafeGuaranteedRef {
      $0.beforeSend(batch: record, pipeline: &pipeline, now: now)
    }
  }

  /// Sends what may be sent now; ends the loop when nothing is left to send or to wait for.
  ///
  /// - `cursor`: the loop goes on with batches from this event number on.
  @inlinable
  @inline(__always)
  public mutating func continueLoop(
    _ client: ClientIndex, from cursor: UInt32, at now: Int64, _ sink: Sink
  ) {
    let state = state(of: client)
    var cursor = cursor
    if options.pointee.blocks || options.pointee.goesBack && isSomeWaitOver(client, at: now) {
      cursor = startOver(client)
    }
    while oldest(of: client) != .noBatch, uploads(of: client) < options.pointee.uploads,
      !options.pointee.blocks || hasWorker(client, at: now),
      state.pointee.flags.isDisjoint(with: .draining.union(.offline)), isReady(client, at: now)
    {
      if options.pointee.policy.limitsCheck == .beforeDue, dropNextAtGlobalLimit(client, &cursor, at: now) {
        continue
      }
      let batch =
        options.pointee.hasLanes
        ? takeNextOfLanes(client, from: cursor, at: now) : takeNextDue(client, from: cursor, at: now)
      if options.pointee.keepsGates {
        let end = batch == .noBatch ? .max : firstOrdinal(of: batch)
        cursor = passHeld(client, from: cursor, to: end, at: now)
      }
      if batch == .noBatch {
        // One pass over what was there: nothing that becomes due behind it belongs to this loop.
        if options.pointee.flushWhileUploading != .joins { setCursor(.max, of: client) }
        break
      }
      if options.pointee.keepsGates {
        let verdict = gatesSay(of: batch, client, at: now)
        if verdict == .held {
          schedule(batch, .due, client)
          break
        }
        if verdict == .skipped {
          pass(batch, client, &cursor)
          schedule(batch, .held, client)
          continue
        }
        if verdict == .refused {
          giveUp(batch, oldest: nil, .refused, client, at: now)
          continue
        }
      }
      let before = cursor
      pass(batch, client, &cursor)
      let decision = ask(about: batch, client, at: now)
      if case .send(let retryCount) = decision {
        if options.pointee.keepsGates, case let verdict = gatesLetLeave(batch, client, at: now),
          verdict != .allowed
        {
          if verdict == .refused {
            if options.pointee.isRebatch { setRetryState(BatchRetryState(), of: batch, client) }
            giveUp(batch, oldest: nil, .refused, client, at: now)
            continue
          }
          // The loop goes on with the held batch first.
          if verdict == .held { goBack(to: batch, client, from: before, &cursor) }
          schedule(batch, .due, client)
          if verdict == .held { break }
          continue
        }
        let asQuery = options.pointee.gates.reconciles && hasUnknownOutcome(batch)
        send(batch, client, retryCount: retryCount, asQuery: asQuery, at: now, sink)
      } else {
        holdBack(batch, client, decision, at: now)
      }
    }
    if uploads(of: client) == 0 {
      endLoop(client, at: now, sink)
    } else if options.pointee.keepsGates || options.pointee.blocks || options.pointee.goesBack {
      wakeRunningLoop(client, at: now, sink)
    }
  }

  /// The loop goes on with the oldest batch that is due. *blocks*: it is that of workers, each of which does so.
  @inlinable
  @inline(never)
  mutating func startOver(_ client: ClientIndex) -> UInt32 {
    setCursor(0, of: client)
    return 0
  }

  /// Whether the running loop may have passed a batch that waits no more. With nothing under way the next loop begins at once.
  @inlinable
  @inline(never)
  mutating func isSomeWaitOver(_ client: ClientIndex, at now: Int64) -> Bool {
    if uploads(of: client) == 0 { return false }
    if options.pointee.keepsGates {
      let held = hold(client).pointee
      if held.flags.contains(.skips), held.until <= now {
        forgetHold(client)
        return true
      }
    }
    guard let wait = firstWait(of: client) else { return false }
    return wait <= now
  }

  /// *blocks*: whether some worker neither waits for an answer nor for the next try of its batch.
  @inlinable
  @inline(never)
  public mutating func hasWorker(_ client: ClientIndex, at now: Int64) -> Bool {
    uploads(of: client) &+ waitingBatches(of: client, at: now) < options.pointee.uploads
  }

  /// A loop that waits for answers goes on when a gate's hold is over, or the wait of a batch that it comes back to.
  @inlinable
  @inline(never)
  public mutating func wakeRunningLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    var due = Int64.max
    if options.pointee.keepsGates, let until = gateWakeUp(client, at: now).until { due = until }
    let comesBack = options.pointee.goesBack || options.pointee.blocks && options.pointee.wakesByTimer
    // What is due already leaves at an answer.
    if comesBack, let wait = firstWait(of: client), wait > now {
      due = min(due, max(wait, state(of: client).pointee.gate.waitUntil))
    }
    if due != .max { wake(client, at: due, sink) }
  }

  /// The loop goes on behind a batch.
  @inlinable
  @inline(__always)
  mutating func pass(_ batch: BatchIndex, _ client: ClientIndex, _ cursor: inout UInt32) {
    if options.pointee.hasLanes {
      passInLane(batch, client, &cursor)
    } else {
      cursor = firstOrdinal(of: batch) &+ 1
      setCursor(cursor, of: client)
    }
  }

  /// The loop goes on with a batch that it has passed, where it went on before: at `before`.
  @inlinable
  @inline(never)
  mutating func goBack(
    to batch: BatchIndex, _ client: ClientIndex, from before: UInt32, _ cursor: inout UInt32
  ) {
    if options.pointee.hasLanes {
      laneState(of: client).pointee.order = laneState(of: client).pointee.previous
      move(to: firstOrdinal(of: batch), inLaneOf: batch, client, &cursor)
    } else {
      setCursor(before, of: client)
    }
  }

  /// The trigger that given-up batches wait for has come, whatever becomes of its own run: they start over (D4).
  @inlinable
  @inline(never)
  mutating func endTriggerWaits(_ client: ClientIndex) {
    guard options.pointee.isRebatch, options.pointee.policy.limitReached == .startOverAtNextTrigger else {
      return
    }
    var batch = oldest(of: client)
    while batch != .noBatch {
      let held = self.batch(batch)
      if held.waitsForTrigger, !held.isUploading {
        schedule(batch, .taken, client)
        schedule(batch, .due, client)
      }
      batch = held.newer
    }
  }

  /// A global limit that comes before a batch's wait drops whichever is next, waiting or not.
  @inlinable
  @inline(never)
  mutating func dropNextAtGlobalLimit(_ client: ClientIndex, _ cursor: inout UInt32, at now: Int64) -> Bool {
    let pipeline = state(of: client).pointee.pipeline
    guard machine(of: client)._withUnsafeGuaranteedRef({ $0.dropsNext(pipeline) }) else { return false }
    let batch = next(.held, client, from: cursor, at: now)
    // Where a limit drops nothing (`RetryPolicy.limitReached`) the batch is looked at as any other.
    guard batch != .noBatch, case .drop(let reason) = ask(about: batch, client, at: now) else { return false }
    cursor = firstOrdinal(of: batch) &+ 1
    setCursor(cursor, of: client)
    giveUp(batch, oldest: nil, .limit(reason), client, at: now)
    return true
  }

  @inlinable
  @inline(__always)
  mutating func endLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    if options.pointee.actsAtFlushEnd { FlushEnd().finish(&self, client, at: now) }
    state(of: client).pointee.flags.remove(.looping.union(.draining))
    if options.pointee.flushWhileUploading == .queued, queuedLoops(of: client).pointee > 0 {
      runQueuedLoop(client, at: now, sink)
      return
    }
    if oldest(of: client) != .noBatch { rest(client, at: now, sink) }
  }

  /// The flush that came while the loop ran has a loop of its own.
  @inlinable
  @inline(never)
  mutating func runQueuedLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    queuedLoops(of: client).pointee &-= 1
    if !holdsAny(client, at: now) || !isReady(client, at: now)
      || state(of: client).pointee.flags.contains(.offline)
    {
      endLoop(client, at: now, sink)
      return
    }
    begin(client, byTrigger: true, cursor: 0)
    continueLoop(client, from: 0, at: now, sink)
  }

  /// A batch that may not be sent now, or never.
  @inlinable
  @inline(never)
  mutating func holdBack(
    _ batch: BatchIndex, _ client: ClientIndex, _ decision: SendDecision, at now: Int64
  ) {
    switch decision {
    case .send: break
    case .notDue(let until):
      // The queue offers no batch before it is due. The exception is a client that looks at what still waits: there a launch may
      // have brought limits that are not reached.
      if options.pointee.policy.limitsCheck != .beforeDue {
        report("a batch was offered before it was due", client, at: now)
      }
      if options.pointee.isRebatch { return }
      schedule(batch, .waiting(until: max(until, now &+ 1)), client)
    case .drop(let reason):
      if options.pointee.isRebatch { setRetryState(BatchRetryState(), of: batch, client) }
      giveUp(batch, oldest: nil, .limit(reason), client, at: now)
    }
  }

  /// A client that holds batches waits for what comes next.
  @inlinable
  @inline(__always)
  public mutating func startRest(_ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    if state.pointee.flags.contains(.resting) { return }
    state.pointee.flags.insert(.resting)
    count(1, .resting, client, at: now)
  }

  /// The client waits no more.
  @inlinable
  @inline(__always)
  public mutating func endRest(_ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    if !state.pointee.flags.contains(.resting) { return }
    state.pointee.flags.remove(.resting)
    count(-1, .resting, client, at: now)
  }

  /// Between loops: a client that holds batches rests, and with a timer arranges to be woken.
  @inlinable
  @inline(never)
  public mutating func rest(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    if oldest(of: client) == .noBatch { return }
    let state = state(of: client)
    startRest(client, at: now)
    // Due batches wait meanwhile for the connection, and for the app to be open.
    if !state.pointee.flags.isDisjoint(with: .offline.union(.suspended)) { return }
    var due = Int64.max
    if options.pointee.keepsGates, case let held = gateWakeUp(client, at: now), held.isHeld {
      guard let until = held.until else { return }
      // Without a timer a run that the pipeline's wait has ended goes on at a trigger only.
      if !options.pointee.wakesByTimer, !state.pointee.gate.isReady(at: until) { return }
      due = until
    } else if !options.pointee.wakesByTimer {
      return
    } else {
      let isBlocked = options.pointee.blocks && !hasWorker(client, at: now)
      guard let first = isBlocked ? firstWait(of: client) : firstDue(client) else { return }
      due = max(first, now)
    }
    wake(client, at: max(due, state.pointee.gate.waitUntil), sink)
  }
}

/// How events become batches, and which of them go when the queue is full.
extension UploadClientHost where Self: ~Copyable {
  /// Events of a batch at most, now.
  @inlinable
  @inline(__always)
  public mutating func maximumBatch(_ client: ClientIndex) -> UInt32 {
    options.pointee.keepsGates ? gatedMaximumBatch(client) : options.pointee.maximumBatchEvents
  }

  /// Makes batches of `n` new events from number `ordinal` on, the first of them created at `time`. `n` > 0.
  @inlinable
  @inline(__always)
  public mutating func seal(
    _ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex, now: Int64
  ) {
    if n <= maximumBatch(client), !options.pointee.growsNewest || newest(of: client) == .noBatch {
      append(n, firstOrdinal: ordinal, firstTime: time, client, at: now)
    } else {
      sealMany(n, from: ordinal, at: time, client, now: now)
    }
  }

  @inlinable
  @inline(never)
  mutating func sealMany(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex, now: Int64)
  {
    var left = n
    var (time, ordinal) = (time, ordinal)
    if options.pointee.isRebatch || hasNotFailed(newest(of: client), client)
      || isOpen(newest(of: client), client), !losesNew(client, at: now),
      let taken = extendNewest(client, by: left, from: ordinal)
    {
      (time, ordinal) = skip(taken, from: ordinal, at: time, client)
      left &-= taken
    }
    while left > 0 {
      let size = min(left, maximumBatch(client))
      append(size, firstOrdinal: ordinal, firstTime: time, client, at: now)
      left &-= size
      if left > 0 { (time, ordinal) = skip(size, from: ordinal, at: time, client) }
    }
  }

  /// Whether a batch is none of the running loop's, and takes what comes until the next loop begins (`FlushWhileUploading.queued`).
  @inlinable
  public func isOpen(_ batch: BatchIndex, _ client: ClientIndex) -> Bool {
    options.pointee.flushWhileUploading == .queued && batch != .noBatch
      && state(of: client).pointee.flags.contains(.looping) && firstOrdinal(of: batch) >= loopEnd(of: client)
  }

  /// Whether a batch takes new events because it has not failed, or last by a 429 that makes the client wait
  /// (`ClientOptions.growsUntilFailure`).
  @inlinable
  mutating func hasNotFailed(_ batch: BatchIndex, _ client: ClientIndex) -> Bool {
    options.pointee.growsUntilFailure && batch != .noBatch
      && retryState(of: batch, client).latestFailure != .transient
  }

  /// Whether a batch is as it was sent until the running loop, or flush, is done with it.
  @inlinable
  mutating func isTaken(_ batch: BatchIndex) -> Bool {
    isUploading(batch) || options.pointee.actsAtFlushEnd && result(of: batch) != nil
  }

  /// *rebatch*, or an open batch: the newest takes what it has room for, unless it is taken or its fate is unknown.
  @inlinable
  mutating func extendNewest(_ client: ClientIndex, by n: UInt32, from ordinal: UInt32) -> UInt32? {
    let newest = newest(of: client)
    if newest == .noBatch || isTaken(newest) || hasUnknownOutcome(newest) { return nil }
    // The running loop reaches what comes in now, not what waits for the next trigger.
    if options.pointee.isRebatch, state(of: client).pointee.flags.contains(.looping),
      batch(newest).waitsForTrigger
    {
      return nil
    }
    let events = events(of: newest)
    if firstOrdinal(of: newest) &+ events != ordinal { return nil }
    let maximum = maximumBatch(client)
    let taken = min(n, maximum - min(events, maximum))
    if taken == 0 { return nil }
    change(newest, .grows(by: taken, of: client))
    return taken
  }

  /// Whether new events are lost, because a 429 makes the client wait.
  @inlinable
  @inline(__always)
  mutating func losesNew(_ client: ClientIndex, at now: Int64) -> Bool {
    guard options.pointee.keepsGates, options.pointee.gates.losesWhileRateLimited else { return false }
    let gate = state(of: client).pointee.gate
    return !gate.isReady(at: now) && gate.kind == .rateLimit
  }

  /// The batches from a number on are lost.
  @inlinable
  @inline(never)
  mutating func loseNew(_ client: ClientIndex, from ordinal: UInt32, at now: Int64) {
    var batch = oldest(of: client)
    while batch != .noBatch {
      let next = newer(than: batch)
      if firstOrdinal(of: batch) >= ordinal { giveUp(batch, oldest: nil, .refused, client, at: now) }
      batch = next
    }
  }

  /// Whether the client holds more than it may.
  @inlinable
  @inline(__always)
  func isOverLimit(_ client: ClientIndex) -> Bool {
    heldEvents(of: client) > options.pointee.limit || hasTooMany(client)
  }

  @inlinable
  @inline(__always)
  func hasTooMany(_ client: ClientIndex) -> Bool {
    options.pointee.batchLimit != .max && heldBatches(of: client) > options.pointee.batchLimit
  }

  /// The queue has its limit again: the oldest events go, or the newest, never those under way.
  @inlinable
  @inline(never)
  public mutating func keepLimit(_ client: ClientIndex, at now: Int64) {
    if options.pointee.overflow == .refusesNewest {
      while isOverLimit(client), case let batch = newest(of: client), batch != .noBatch, !isTaken(batch) {
        giveUp(batch, oldest: nil, .overflow, client, at: now)
      }
      return
    }
    if options.pointee.isRebatch { rechunk(client, atMost: nil, at: now) }
    var batch = oldest(of: client)
    var held = heldEvents(of: client)
    while batch != .noBatch, held > options.pointee.limit || hasTooMany(client) {
      let next = newer(than: batch)
      if !isTaken(batch) {
        let excess = held &- options.pointee.limit
        let events = events(of: batch)
        if options.pointee.isRebatch, excess < events {
          giveUp(batch, oldest: excess, .overflow, client, at: now)
          return
        }
        giveUp(batch, oldest: nil, .overflow, client, at: now)
        held &-= events
      }
      batch = next
    }
  }
}
