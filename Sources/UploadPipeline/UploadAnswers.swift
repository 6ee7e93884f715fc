import UploadGating
import UploadRetry

/// What the end of an upload does: the machine decides, the client does it.
extension UploadClientHost where Self: ~Copyable {
  /// 2xx.
  ///
  /// - `isOnly`: the batch is all that the client holds, and nobody observes: the caller settles it and ends the loop.
  @inlinable
  @inline(__always)
  public mutating func succeed(
    _ batch: BatchIndex, _ client: ClientIndex, isOnly: Bool, at now: Int64, _ sink: Sink
  ) {
    if options.pointee.keepsGates { gatesHear(status: 200, of: batch, client, at: now) }
    if !isOnly { endUpload(batch, .status(200, retryAfter: nil), client, at: now) }
    if options.pointee.actsAtFlushEnd, !isOnly {
      answerInFlush(.delivered, batch, client, at: now, sink)
      return
    }
    hearSuccess(batch, client, at: now)
    if !isOnly { goOn(batch, client, at: now, sink) }
  }

  /// What a 2xx does to the client's state; its queue and its loop are the caller's.
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
  mutating func goOn(
    _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    let ordinal = firstOrdinal(of: batch)
    settle(batch, client, at: now)
    if isObserved(client) { observe(.decided(batch: ordinal, .delivered), client, at: now) }
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }

  /// Any other end of an upload.
  @inlinable
  @inline(never)
  public mutating func fail(
    _ response: UploadResponse, _ batch: BatchIndex, _ client: ClientIndex, at now: Int64, _ sink: Sink
  ) {
    let wasQuestion = options.pointee.gates.reconciles && isAsking(batch)
    endUpload(batch, response, client, at: now)
    if options.pointee.keepsGates { gatesHear(response, of: batch, client, at: now) }
    let ordinal = firstOrdinal(of: batch)
    if options.pointee.splitsOn413, case .status(413, _) = response, split(batch, client, at: now) {
      continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
      return
    }
    if options.pointee.actsAtFlushEnd {
      let result = machine(of: client)._withUnsafeGuaranteedRef { $0.result(of: response) }
      answerInFlush(result, batch, client, at: now, sink)
      return
    }
    let outcome = decide(response, batch, client, isQuestion: wasQuestion, at: now)
    conclude(outcome, batch, client, at: now, sink)
  }

  /// What the machine says of an upload that has failed.
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
    var draws = draws(for: batch, failures: record.failureCount, client)
    let failed = state.pointee.flags.contains(.loopHadFailure)
    if options.pointee.saving == .delayed { noteChange(client, at: now) }
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
    switch outcome {
    case .delivered:
      if successClears(client, otherFailed: state.pointee.flags.contains(.loopHadFailure)) {
        state.pointee.gate.reset()
      }
      settle(batch, client, at: now)
    case .retry(let time):
      if options.pointee.isRebatch {
        // One retry record for the client: its wait is the whole client's.
        pause(client, until: time, .backoff, at: now)
        countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
        putBack(batch, client)
      } else {
        countBackoff(until: time, client, at: now)
        let record = retryState(of: batch, client)
        let look = machine(of: client)._withUnsafeGuaranteedRef { $0.lookAt(record, due: time) }
        if look <= now { putBack(batch, client) } else { putOff(batch, until: look, client) }
      }
    case .refreshCredentials: refreshCredentials(for: batch, until: now, client, at: now)
    case .refreshThenRetry(let time):
      countBackoff(until: time, client, at: now)
      refreshCredentials(for: batch, until: time, client, at: now)
    case .pause(let time):
      pause(client, until: time, .rateLimit, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      putBack(batch, client)
    case .backOff(let time):
      pause(client, until: time, .backoff, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      putBack(batch, client)
    case .retryAtNextTrigger:
      setWaitsForTrigger(true, batch)
      putBack(batch, client)
    case .drop(let reason):
      giveUp(batch, .limit(reason), client, at: now)
    case .dropAndPause(let reason, let time):
      pause(client, until: time, .rateLimit, at: now)
      countBackoff(until: state.pointee.gate.waitUntil, client, at: now)
      giveUp(batch, .limit(reason), client, at: now)
    case .discarded:
      giveUp(batch, .discarded, client, at: now)
    }
    if options.pointee.saving == .afterAnswers { save(client) }
    if isObserved(client) { observe(.decided(batch: ordinal, outcome), client, at: now) }
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
      putBack(batch, client)
    } else {
      var record = retryState(of: batch, client)
      record.retryAt = due
      setRetryState(record, of: batch, client)
      putOff(batch, until: due, client)
    }
  }

  /// The pipeline waits, and the running loop ends. The gate alone owns a wait of the client: by its rule it may be shorter
  /// than the one just drawn.
  @inlinable
  @inline(__always)
  public mutating func pause(
    _ client: ClientIndex, until time: Int64, _ kind: UploadGate.WaitKind, at now: Int64
  ) {
    let rule: UploadGate.WaitRule =
      switch options.pointee.policy.twoWaits {
      case .laterReplaces: .laterReplaces
      case .shorterWinsRateLimitBeatsBackoff: .shorterWinsRateLimitBeatsBackoff
      }
    let state = state(of: client)
    state.pointee.gate.pause(until: time, kind: kind, rule: rule, now: now)
    if options.pointee.rateLimitEndsLoop { state.pointee.flags.insert(.draining) }
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
    outcomeIsKnown(batch)
    gatesHear(status: 200, of: batch, client, at: now)
    let state = state(of: client)
    let ordinal = firstOrdinal(of: batch)
    if state.pointee.flags.isDisjoint(with: .draining.union(.offline)), state.pointee.gate.isReady(at: now),
      gatesSay(of: batch, client, at: now) == .allowed, gatesLetLeave(batch, client, at: now) == .leaves
    {
      let count = retryState(of: batch, client).failureCount
      send(batch, client, retryCount: count, asQuery: false, at: now, sink)
    } else {
      putBack(batch, client)
    }
    continueLoop(client, from: cursor(of: client, behind: ordinal), at: now, sink)
  }
}
