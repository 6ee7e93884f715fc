import UploadGating
import UploadRetry

/// The effects of the end of an upload: the machine decides, the client acts.
extension UploadClientHost where Self: ~Copyable {
  /// 2xx.
  ///
  /// - `isOnly`: the batch is all that the client holds, and nobody observes: the caller settles it and ends the loop.
  @inlinable
  @inline(__always)
  public mutating func succeed(
    _ batch: BatchIndex, _ client: ClientIndex, isOnly: Bool, at now: Int64, _ sink: Sink
  ) {
    if options.pointee.keepsGates { gatesHear(.status(200, retryAfter: nil), of: batch, client, at: now) }
    if !isOnly { endUpload(batch, .status(200, retryAfter: nil), client, at: now) }
    if options.pointee.actsAtFlushEnd, !isOnly {
      FlushEnd().hear(.status(200, retryAfter: nil), of: batch, &self, client, at: now, sink)
      return
    }
    hearSuccess(batch, client, at: now)
    if !isOnly { concludeDelivery(batch, client, at: now, sink) }
  }

  /// Applies a 2xx to the client's state; its queue and its loop are the caller's.
  @inlinable
  @inline(__always)
  public mutating func hearSuccess(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    if options.pointee.saving == .delayed { noteChange(client, at: now) }
    if successClears(client, otherFailed: state.pointee.flags.contains(.loopHadFailure)) {
      if options.pointee.isRebatch { setRetryState(BatchRetryState(), of: batch, client) }
      state.pointee.pipeline = PipelineRetryState()
      state.pointee.gate.reset()
    }
    if options.pointee.saving == .afterAnswers { save(client) }
  }

  /// Whether a 2xx makes the client's state fresh and opens the gate (S16).
  @inlinable
  @inline(__always)
  func successClears(_ client: ClientIndex, otherFailed: Bool) -> Bool {
    machine(of: client)._withUnsafeGuaranteedRef { $0.successClears(otherBatchOfFlushFailed: otherFailed) }
  }

  /// A batch has been delivered, and the loop goes on with others.
  @inlinable
  @inline(never)
  mutating func concludeDelivery(
    _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    let ordinal = firstOrdinal(of: batch)
    settle(batch, client, at: now)
    observe(.decided(batch: ordinal, .delivered), client, at: now)
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }

  /// Any other end of an upload.
  @inlinable
  @inline(never)
  public mutating func fail(
    _ response: UploadResponse, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    let wasQuestion = options.pointee.gates.reconciles && self.batch(batch).isAsking
    endUpload(batch, response, client, at: now)
    if options.pointee.keepsGates { gatesHear(response, of: batch, client, at: now) }
    let ordinal = firstOrdinal(of: batch)
    if options.pointee.splitsOn413, case .status(413, _) = response, split(batch, client, at: now) {
      continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
      return
    }
    if options.pointee.actsAtFlushEnd {
      FlushEnd().hear(response, of: batch, &self, client, at: now, sink)
      return
    }
    let outcome = decide(response, batch, client, isQuestion: wasQuestion, at: now)
    conclude(outcome, batch, client, at: now, sink)
  }

  /// Returns the machine's decision on an upload that has failed.
  ///
  /// - `isQuestion`: it was the question whether an upload was applied, which uses up none of the operation's attempts (O4).
  @inlinable
  @inline(__always)
  public mutating func decide(
    _ response: UploadResponse, _ batch: BatchIndex, _ client: ClientIndex, isQuestion: Bool = false,
    at now: Int64
  ) -> RetryOutcome {
    let state = state(of: client)
    var record = retryState(of: batch, client)
    let earlier = record.failureCount
    var draws = draws(for: batch, question: isQuestion ? now : nil, client)
    let failed = state.pointee.flags.contains(.loopHadFailure)
    if options.pointee.saving == .delayed { noteChange(client, at: now) }
    if options.pointee.refreshesCredentials, case .status(401, _) = response,
      !record.hasRefreshedCredentials,
      !machine(of: client)._withUnsafeGuaranteedRef({ $0.ignoresState })
    {
      record.hasRefreshedCredentials = true
      record.retryAt = 0
      setRetryState(record, of: batch, client)
      return .refreshCredentials
    }
    let outcome = machine(of: client)._withUnsafeGuaranteedRef {
      $0.afterResponse(
        response, batch: &record, pipeline: &state.pointee.pipeline, now: now,
        otherBatchOfFlushFailed: failed, random: &draws)
    }
    if isQuestion {
      // A record that has just been given up is fresh, whatever the question was about.
      if record.latestFailure != .none { record.failureCount = earlier }
    }
    setRetryState(record, of: batch, client)
    return outcome
  }

  /// The client does what the machine said of an upload that has failed.
  @inlinable
  @inline(never)
  public mutating func conclude(
    _ outcome: RetryOutcome, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    let state = state(of: client)
    let ordinal = firstOrdinal(of: batch)
    if outcome != .delivered {
      state.pointee.flags.insert(
        options.pointee.failureEndsLoop ? .loopHadFailure.union(.draining) : .loopHadFailure)
    }
    if options.pointee.keepsGates, gatesRefuseRetry(outcome, client, at: now) {
      if options.pointee.isRebatch { setRetryState(BatchRetryState(), of: batch, client) }
      giveUp(batch, oldest: nil, .refused, client, at: now)
      if options.pointee.saving == .afterAnswers { save(client) }
      continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
      return
    }
    switch outcome {
    case .delivered:
      if successClears(client, otherFailed: state.pointee.flags.contains(.loopHadFailure)) {
        state.pointee.gate.reset()
      }
      settle(batch, client, at: now)
    // One retry record for the client: its wait is the whole client's.
    case .retry(let time) where options.pointee.isRebatch, .backOff(let time):
      pause(client, until: time, .backoff, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      schedule(batch, .due, client)
    case .retry(let time):
      let look = lookAt(batch, retryState(of: batch, client), due: time, client)
      // Where a limit ends the wait, there is no more of it.
      countBackoff(until: look, client, at: now)
      if look <= now {
        schedule(batch, .due, client)
        if options.pointee.goesBack, uploads(of: client) > 0 { setCursor(0, of: client) }
      } else {
        schedule(batch, .waiting(until: look), client)
      }
    case .refreshCredentials: refreshCredentials(for: batch, until: now, client, at: now)
    case .refreshThenRetry(let time):
      countBackoff(until: time, client, at: now)
      refreshCredentials(for: batch, until: time, client, at: now)
    case .pause(let time):
      pause(client, until: time, .rateLimit, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      schedule(batch, .due, client)
    case .retryAtNextTrigger:
      change(batch, .waitsForTrigger(true))
      schedule(batch, .due, client)
    case .drop(let reason):
      giveUp(batch, oldest: nil, .limit(reason), client, at: now)
    case .dropAndPause(let reason, let time):
      pause(client, until: time, .rateLimit, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      giveUp(batch, oldest: nil, .limit(reason), client, at: now)
    case .discarded:
      giveUp(batch, oldest: nil, .discarded, client, at: now)
    }
    if options.pointee.saving == .afterAnswers { save(client) }
    observe(.decided(batch: ordinal, outcome), client, at: now)
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }

  /// A failed upload makes its batch or the client wait until `time`.
  @inlinable
  @inline(__always)
  public mutating func countBackoff(until time: Int64, _ client: ClientIndex, at now: Int64) {
    if time > now { count(time &- now, .backoffMicroseconds, client, at: now) }
  }

  /// O9: the batch is due when the credentials are there, and not before `time`.
  @inlinable
  @inline(never)
  mutating func refreshCredentials(
    for batch: BatchIndex, until time: Int64, _ client: ClientIndex, at now: Int64
  ) {
    count(1, .credentialRefreshes, client, at: now)
    let due = max(time, now &+ options.pointee.credentialRefresh)
    if options.pointee.isRebatch {
      pause(client, until: due, .backoff, at: now)
      schedule(batch, .due, client)
    } else {
      var record = retryState(of: batch, client)
      record.retryAt = due
      setRetryState(record, of: batch, client)
      schedule(batch, .waiting(until: due), client)
    }
  }

  /// The pipeline waits, and the running loop ends. The gate alone owns a wait of the client: by its rule it may be shorter
  /// than the one just drawn.
  @inlinable
  @inline(__always)
  public mutating func pause(
    _ client: ClientIndex, until time: Int64, _ kind: UploadGate.WaitKind, at now: Int64
  ) {
    let state = state(of: client)
    if !options.pointee.hasQuirks || !keepsWait(client, until: time, kind, at: now) {
      state.pointee.gate.pause(until: time, kind: kind)
    }
    if options.pointee.rateLimitEndsLoop {
      state.pointee.flags.insert(.draining)
    } else if options.pointee.goesBack, uploads(of: client) > 0 {
      setCursor(0, of: client)
    }
  }

  /// Whether a wait that is under way stays when another is announced (`RetryQuirks.keepsWait`).
  @inlinable
  @inline(never)
  func keepsWait(_ client: ClientIndex, until time: Int64, _ kind: UploadGate.WaitKind, at now: Int64) -> Bool
  {
    guard let quirks = options.pointee.quirks else { return false }
    let gate = state(of: client).pointee.gate
    return !gate.isReady(at: now)
      && quirks.keepsWait(
        until: gate.waitUntil, isBackoff: gate.kind == .backoff, announced: time,
        isBackoff: kind == .backoff)
  }

  // MARK: Questions (O4)

  /// The answer to the question whether an upload of unknown outcome was applied. Applied: as if the upload had been answered.
  /// Not applied: the upload leaves at once, if nothing holds it; otherwise it is asked for again when it is due.
  @inlinable
  @inline(never)
  public mutating func hear(
    wasApplied: Bool, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    if wasApplied {
      succeed(batch, client, isOnly: false, at: now, sink)
      return
    }
    endUpload(batch, .status(200, retryAfter: nil), client, at: now)
    change(batch, .outcomeIsKnown)
    gatesHear(.status(200, retryAfter: nil), of: batch, client, at: now)
    let state = state(of: client)
    let ordinal = firstOrdinal(of: batch)
    if state.pointee.flags.isDisjoint(with: .draining.union(.offline)), state.pointee.gate.isReady(at: now),
      gatesSay(of: batch, client, at: now) == .allowed, gatesLetLeave(batch, client, at: now) == .allowed
    {
      let count = retryState(of: batch, client).failureCount
      send(batch, client, retryCount: count, asQuery: false, at: now, sink)
    } else {
      schedule(batch, .due, client)
    }
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }
}

/// A client's knowledge after its process has ended (S18): all of its events, and the retry state that it has kept.
extension UploadClientHost where Self: ~Copyable {
  /// Returns the retry state that a client has stored when it is killed, its batches in the order of their events. With one
  /// record for the client (*rebatch*) that record stands for all of them.
  @inlinable
  public func retrySnapshot(of client: ClientIndex) -> RetrySnapshot {
    let state = state(of: client)
    var snapshot = RetrySnapshot(
      waitUntil: state.pointee.gate.waitUntil, isWaitBackoff: state.pointee.gate.kind == .backoff,
      pipeline: state.pointee.pipeline)
    if options.pointee.isRebatch {
      let record = retryState(of: oldest(of: client), client)
      snapshot.batches = [.init(id: 0, state: record, isInFlight: uploads(of: client) > 0)]
      return snapshot
    }
    let dueTimes = dueTimes(of: client)
    var batch = oldest(of: client)
    while batch != .noBatch {
      var record = retryState(of: batch, client)
      record.retryAt = dueTimes[batch] ?? 0
      snapshot.batches.append(
        .init(id: UInt64(firstOrdinal(of: batch)), state: record, isInFlight: isUploading(batch)))
      batch = newer(than: batch)
    }
    return snapshot
  }

  /// The process has ended: no loop runs, and no upload is waited for. The host takes back the uploads under way.
  @inlinable
  public mutating func forgetLoop(_ client: ClientIndex) {
    state(of: client).pointee.flags.remove([.looping, .draining, .byTrigger, .loopHadFailure])
    if options.pointee.flushWhileUploading == .queued { queuedLoops(of: client).pointee = 0 }
    guard options.pointee.actsAtFlushEnd else { return }
    var batch = oldest(of: client)
    while batch != .noBatch {
      if result(of: batch) != nil { change(batch, .result(nil)) }
      batch = newer(than: batch)
    }
  }

  // MARK: What has been saved

  /// The state as it is becomes what a launch will find.
  @inlinable
  @inline(never)
  mutating func save(_ client: ClientIndex) {
    let (state, saved) = (state(of: client), saved(of: client))
    saved.pointee.gate = state.pointee.gate
    saved.pointee.pipeline = state.pointee.pipeline
    if options.pointee.isRebatch { saved.pointee.record = retryState(of: .noBatch, client) }
  }

  /// The state is about to change: what has been the same for a second is saved by now (`Saving.delayed`).
  @inlinable
  @inline(never)
  public mutating func noteChange(_ client: ClientIndex, at now: Int64) {
    let saved = saved(of: client)
    if saved.pointee.changedAt == .min || now &- saved.pointee.changedAt >= 1_000_000 { save(client) }
    saved.pointee.changedAt = now
  }

  /// The process of a client that does not save at once ends: it goes back to what it has saved.
  @inlinable
  public mutating func goBackToSaved(_ client: ClientIndex, at now: Int64) {
    switch options.pointee.saving {
    case .atOnce, .atOnceAsItIs, .never: return
    case .delayed: noteChange(client, at: now)
    case .afterAnswers: break
    }
    let (state, saved) = (state(of: client), saved(of: client))
    state.pointee.gate = saved.pointee.gate
    state.pointee.pipeline = saved.pointee.pipeline
    if options.pointee.isRebatch { setRetryState(saved.pointee.record, of: .noBatch, client) }
    saved.pointee.changedAt = .min
  }

  /// The launched client acts on its snapshot, as `UploadRetry` validates it against the clock and the Settings just fetched, or
  /// as it is (`Saving`). The stored batches say which batches exist; one that the snapshot does not know has never failed.
  @inlinable
  public mutating func restore(_ stored: RetrySnapshot, _ client: ClientIndex, at now: Int64)
    -> [SnapshotRepair]
  {
    let machine = machine(of: client).takeUnretainedValue()
    guard options.pointee.saving == .atOnce else {
      adopt(stored, client, at: now)
      return []
    }
    let (snapshot, repairs) = stored.validated(
      now: now, config: machine.config, policy: machine.policy, quirks: machine.quirks)
    adopt(snapshot, client, at: now)
    return repairs
  }

  /// The client's state is that of the snapshot.
  @inlinable
  public mutating func adopt(_ snapshot: RetrySnapshot, _ client: ClientIndex, at now: Int64) {
    let state = state(of: client)
    let machine = machine(of: client).takeUnretainedValue()
    // There is no state without Settings.
    let isStateless = machine.ignoresState && machine.policy.withoutSettings == .drops400
    state.pointee.gate.reset()
    if snapshot.waitUntil != 0, !isStateless {
      state.pointee.gate.pause(
        until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    }
    state.pointee.pipeline = isStateless ? PipelineRetryState() : snapshot.pipeline
    let shared = snapshot.batches.first?.state ?? BatchRetryState()
    if options.pointee.isRebatch { setRetryState(shared, of: oldest(of: client), client) }

    forgetDueTimes(client)
    var known = snapshot.batches[...]
    var batch = oldest(of: client)
    while batch != .noBatch {
      var record = BatchRetryState()
      // A record without events means nothing.
      while let first = known.first, first.id < UInt64(firstOrdinal(of: batch)) { known.removeFirst() }
      if !options.pointee.isRebatch, known.first?.id == UInt64(firstOrdinal(of: batch)) {
        record = known.removeFirst().state
        if isStateless { record = BatchRetryState() }
      }
      if !options.pointee.isRebatch { setRetryState(record, of: batch, client) }
      let failed = options.pointee.isRebatch ? shared : record
      change(
        batch, .waitsForTrigger(machine.config.retriesAtTriggersOnly(after: failed.latestFailure)))
      let look = lookAt(batch, record, due: record.retryAt, client)
      schedule(batch, look > now ? .waiting(until: look) : .dueLast, client)
      batch = newer(than: batch)
    }
    if options.pointee.saving == .afterAnswers || options.pointee.saving == .delayed { save(client) }
  }
}

extension HTTPConfig {
  /// S15: legacy sections have no wait; what failed under one is tried again at triggers, with a timer too.
  @usableFromInline
  func retriesAtTriggersOnly(after failure: BatchRetryState.LatestFailure) -> Bool {
    switch failure {
    case .none: false
    case .rateLimited: !rateLimit.isEnabled
    case .transient: !backoff.isEnabled
    }
  }
}
