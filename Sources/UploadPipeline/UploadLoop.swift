import UploadGating
import UploadRetry

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
      joinLoop(client, at: now, sink)
      return
    }
    if options.pointee.actsAtFlushEnd {
      runFlush(client, byTrigger: byTrigger, at: now, sink)
      return
    }
    if oldest(of: client) == .noBatch { return }
    if byTrigger, options.pointee.keepsGates { forgetHoldAtTrigger(client) }
    guard isReady(client, at: now), !state.pointee.flags.contains(.offline) else {
      if isObserved(client) {
        observe(state.pointee.flags.contains(.offline) ? .heldBackOffline : .heldBack, client, at: now)
      }
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
      rechunk(client, atMost: maximumBatch(client), at: now)
    }
    continueLoop(client, from: cursor, at: now, sink)
  }

  /// What a loop of a trigger does for a client that holds one fresh batch and nothing else.
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
  mutating func joinLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    var joins = options.pointee.flushWhileUploading == .joins && !options.pointee.actsAtFlushEnd
    if options.pointee.keepsGates, isHeldLoop(client) { joins = true }
    if state(of: client).pointee.flags.contains(.draining) { joins = false }
    if options.pointee.flushWhileUploading == .queued, !joins {
      let queued = queuedLoops(of: client)
      setQueuedLoops(queued == .max ? .max : queued &+ 1, of: client)
    }
    if isObserved(client) {
      observe(
        .alreadyUploading(joins: joins || options.pointee.flushWhileUploading == .queued), client, at: now)
    }
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
    let record =
      isFresh && !options.pointee.isRebatch ? BatchRetryState() : retryState(of: batch, client)
    return decision(on: record, pipeline: &state(of: client).pointee.pipeline, client, at: now)
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
    while oldest(of: client) != .noBatch, uploads(of: client) < options.pointee.uploads,
      state.pointee.flags.isDisjoint(with: .draining.union(.offline)), isReady(client, at: now)
    {
      if options.pointee.policy.limitsCheck == .beforeDue, dropNextAtGlobalLimit(client, &cursor, at: now) {
        continue
      }
      let batch =
        options.pointee.hasLanes
        ? takeNextOfLanes(client, from: cursor, at: now) : takeNextDue(client, from: cursor, at: now)
      if batch == .noBatch {
        // One pass over what was there: nothing that becomes due behind it belongs to this loop.
        if options.pointee.flushWhileUploading != .joins { setCursor(.max, of: client) }
        break
      }
      if options.pointee.keepsGates {
        let verdict = gatesSay(of: batch, client, at: now)
        if verdict == .held {
          putBack(batch, client)
          break
        }
        if verdict == .skipped {
          pass(batch, client, &cursor)
          putBack(batch, client)
          continue
        }
        if verdict == .refused {
          giveUp(batch, .refused, client, at: now)
          continue
        }
      }
      let before = cursor
      pass(batch, client, &cursor)
      let decision = ask(about: batch, client, at: now)
      if case .send(let retryCount) = decision {
        if options.pointee.keepsGates, case let verdict = gatesLetLeave(batch, client, at: now),
          verdict != .leaves
        {
          // What is held is the first that goes on.
          if verdict == .held { goBack(to: batch, client, from: before, &cursor) }
          putBack(batch, client)
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
    } else if options.pointee.keepsGates {
      wakeRunningLoop(client, at: now, sink)
    }
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

  /// A global limit that comes before a batch's wait drops whichever is next, waiting or not.
  @inlinable
  @inline(never)
  mutating func dropNextAtGlobalLimit(_ client: ClientIndex, _ cursor: inout UInt32, at now: Int64) -> Bool {
    let pipeline = state(of: client).pointee.pipeline
    guard machine(of: client)._withUnsafeGuaranteedRef({ $0.dropsNext(pipeline) }) else { return false }
    let batch = nextHeld(client, from: cursor)
    // Where a limit drops nothing (`RetryPolicy.limitReached`) the batch is looked at as any other.
    guard batch != .noBatch, case .drop(let reason) = ask(about: batch, client, at: now) else { return false }
    cursor = firstOrdinal(of: batch) &+ 1
    setCursor(cursor, of: client)
    giveUp(batch, .limit(reason), client, at: now)
    return true
  }

  @inlinable
  @inline(__always)
  mutating func endLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    if options.pointee.actsAtFlushEnd { finishFlush(client, at: now) }
    state(of: client).pointee.flags.remove(.looping.union(.draining))
    if options.pointee.flushWhileUploading == .queued, queuedLoops(of: client) > 0 {
      runQueuedLoop(client, at: now, sink)
      return
    }
    if oldest(of: client) != .noBatch { rest(client, at: now, sink) }
  }

  /// The flush that came while the loop ran has a loop of its own.
  @inlinable
  @inline(never)
  mutating func runQueuedLoop(_ client: ClientIndex, at now: Int64, _ sink: Sink) {
    setQueuedLoops(queuedLoops(of: client) &- 1, of: client)
    if oldest(of: client) == .noBatch || !isReady(client, at: now)
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
      // Nothing is offered before it is due, but by a client that looks at what still waits: there a launch may have brought limits
      // that are not reached.
      if options.pointee.policy.limitsCheck != .beforeDue {
        report("a batch was offered before it was due", client, at: now)
      }
      if options.pointee.isRebatch { return }
      putOff(batch, until: max(until, now &+ 1), client)
    case .drop(let reason):
      if options.pointee.isRebatch { setRetryState(BatchRetryState(), of: batch, client) }
      giveUp(batch, .limit(reason), client, at: now)
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

  /// It waits no more.
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
    // What is due meanwhile waits for the connection, and for the app to be open.
    if !state.pointee.flags.isDisjoint(with: .offline.union(.suspended)) { return }
    var due = Int64.max
    if options.pointee.keepsGates, case let held = gateWakeUp(client, at: now), held.isHeld {
      guard let until = held.until else { return }
      // Without a timer a run that the pipeline's wait has ended goes on at a trigger only.
      if !options.pointee.wakesByTimer, !state.pointee.gate.isReady(at: until) { return }
      due = until
    } else if !options.pointee.wakesByTimer {
      return
    } else if hasDue(client) {
      due = now
    } else {
      guard let first = firstDue(client) else { return }
      due = max(first, now)
    }
    wake(client, at: max(due, state.pointee.gate.waitUntil), sink)
  }
}
