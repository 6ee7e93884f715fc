import UploadGating
import UploadRetry

/// A client that re-chunks its events at each flush and acts when the flush ends (`ClientOptions.actsAtFlushEnd`): until the last
/// upload has been answered, queue, state and counts stay as they are.
extension UploadClientHost where Self: ~Copyable {
  /// A flush: events that are too old go, and if the client may send, everything is cut anew and sent.
  @inlinable
  @inline(never)
  mutating func runFlush(_ client: ClientIndex, byTrigger: Bool, at now: Int64, _ sink: Sink) {
    let state = state(of: client)
    dropAged(client, at: now)
    if oldest(of: client) == .noBatch {
      startOver(client, at: now)
      return
    }
    if state.pointee.flags.contains(.offline) {
      if isObserved(client) { observe(.heldBackOffline, client, at: now) }
      rest(client, at: now, sink)
      return
    }
    let gate = state.pointee.gate
    if gate.waitUntil != 0 {
      let record = retryState(of: .noBatch, client)
      let isImpossible = machine(of: client)._withUnsafeGuaranteedRef {
        $0.isImpossible(
          waitUntil: gate.waitUntil, isBackoff: gate.kind == .backoff, client: record, now: now)
      }
      if isImpossible {
        startOver(client, at: now)
      } else if gate.isReady(at: now) {
        if options.pointee.saving == .delayed { noteChange(client, at: now) }
        state.pointee.gate.reset()
      } else {
        if isObserved(client) { observe(.heldBack, client, at: now) }
        rest(client, at: now, sink)
        return
      }
    }
    var (byTrigger, cursor) = (byTrigger, UInt32(0))
    if options.pointee.keepsGates {
      if byTrigger { forgetHold(client) }
      if !gatesLetRunStart(client, byTrigger: &byTrigger, cursor: &cursor, at: now, sink) { return }
    }
    if state.pointee.flags.contains(.resting) {
      state.pointee.flags.remove(.resting)
      count(-1, .resting, client, at: now)
    }
    begin(client, byTrigger: byTrigger, cursor: cursor)
    if oldest(of: client) != newest(of: client) { rechunk(client, atMost: maximumBatch(client), at: now) }
    continueLoop(client, from: cursor, at: now, sink)
  }

  /// Events that have been queued for too long are lost, one by one (S11, as shipped).
  @inlinable
  mutating func dropAged(_ client: ClientIndex, at now: Int64) {
    guard let limit = machine(of: client)._withUnsafeGuaranteedRef({ $0.maximumEventAge }) else { return }
    let first = oldest(of: client)
    let (oldestAllowed, overflow) = now.subtractingReportingOverflow(limit)
    if overflow || first == .noBatch || queuedAt(first) >= oldestAllowed { return }
    forgetBoundaries(client)
    var left = countEvents(of: client, before: oldestAllowed)
    while left > 0, case let batch = oldest(of: client), batch != .noBatch {
      let events = events(of: batch)
      if events > left {
        trim(batch, by: left, .limit(.age), client, at: now)
        return
      }
      giveUp(batch, .limit(.age), client, at: now)
      left &-= events
    }
  }

  /// All retry state is fresh.
  @inlinable
  mutating func startOver(_ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    let record = retryState(of: .noBatch, client)
    if record == BatchRetryState(), state.pointee.pipeline.retryCount == 0, state.pointee.gate.waitUntil == 0
    {
      return
    }
    if options.pointee.saving == .delayed { noteChange(client, at: now) }
    setRetryState(BatchRetryState(), of: .noBatch, client)
    state.pointee.pipeline.retryCount = 0
    state.pointee.gate.reset()
    if isObserved(client) { observe(.stateReset, client, at: now) }
  }

  /// One upload of the flush has ended; the client acts when all have.
  @inlinable
  @inline(never)
  mutating func answerInFlush(
    _ result: UploadResult, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    if result != .delivered { state(of: client).pointee.flags.insert(.loopHadFailure) }
    let ordinal = firstOrdinal(of: batch)
    setResult(result, of: batch)
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }

  /// The last upload of a flush has been answered.
  @inlinable
  @inline(never)
  mutating func finishFlush(_ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    var tally = FlushTally()
    var record = retryState(of: .noBatch, client)
    var pipeline = state.pointee.pipeline
    var last = BatchIndex.noBatch
    var batch = oldest(of: client)
    while batch != .noBatch {
      if let result = result(of: batch) {
        last = batch
        machine(of: client)._withUnsafeGuaranteedRef {
          $0.add(result, to: &tally, client: &record, pipeline: &pipeline, now: now)
        }
      }
      batch = newer(than: batch)
    }
    if last == .noBatch { return }
    var draws = draws(for: last, failures: record.failureCount, client)
    machine(of: client)._withUnsafeGuaranteedRef {
      $0.finish(&tally, client: &record, pipeline: &pipeline, now: now, random: &draws)
    }
    if options.pointee.saving == .delayed,
      record != retryState(of: .noBatch, client) || pipeline != state.pointee.pipeline
    {
      noteChange(client, at: now)
    }
    setRetryState(record, of: .noBatch, client)
    state.pointee.pipeline = pipeline
    if tally.startsOver { state.pointee.gate.reset() }
    if tally.waitUntil != 0 {
      state.pointee.gate.reset()
      state.pointee.gate.pause(until: tally.waitUntil, kind: tally.isBackoff ? .backoff : .rateLimit)
      countBackoff(until: tally.waitUntil, client, at: now)
    }
    applyResults(tally, client, at: now)
  }

  /// Each batch of the flush goes where its result, and the flush's, send it.
  @inlinable
  mutating func applyResults(_ tally: FlushTally, _ client: ClientIndex, at now: Int64) {
    let wait = state(of: client).pointee.gate
    var batch = oldest(of: client)
    while batch != .noBatch {
      let (next, ordinal) = (newer(than: batch), firstOrdinal(of: batch))
      guard let result = result(of: batch) else {
        batch = next
        continue
      }
      setResult(nil, of: batch)
      let outcome: RetryOutcome
      switch result {
      case .delivered:
        outcome = .delivered
        settle(batch, client, at: now)
      case .dropped:
        outcome = .drop(.status)
        giveUp(batch, .limit(.status), client, at: now)
      case .failed:
        if let reason = tally.verdict {
          outcome = .drop(reason)
          giveUp(batch, .limit(reason), client, at: now)
        } else {
          outcome =
            wait.waitUntil == 0
            ? .retryAtNextTrigger
            : wait.kind == .backoff ? .retry(at: wait.waitUntil) : .pause(until: wait.waitUntil)
          putBack(batch, client)
        }
      }
      if isObserved(client) { observe(.decided(batch: ordinal, outcome), client, at: now) }
      batch = next
    }
    if tally.verdict != nil, isObserved(client) { observe(.stateReset, client, at: now) }
  }
}
