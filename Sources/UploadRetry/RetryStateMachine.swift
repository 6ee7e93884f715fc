/// Whether and when to try again: maps (state, response) to state, with no clock and no I/O.
///
/// It reads the document (S2–S16) as follows; `policy` changes it where shipped clients differ.
/// - **Counts (S2).** A 429 counts on the pipeline only, a transient failure on its batch only.
///   `X-Retry-Count` is 0 on a batch's first try, even while other batches meet 429s; on a retry it is the
///   batch's own count if that is not 0, else the global one. A success of any batch clears the global count.
///   Legacy sections count too (the header stays true), but set no limits.
/// - **Limits (S11, S12)** are checked when a batch is due and about to be sent. Those of the section that
///   the batch's latest failure belongs to apply: the age always, the batch's own count after a transient
///   failure. The global count applies to whichever batch is next. N retries are allowed, which makes N + 1
///   sends.
/// - **Waits.** A 429 makes the pipeline wait and clears the batch's own wait; a transient failure makes the
///   batch wait. Retry-After is read on 429 only (S7).
///
/// The machine does not know the gate: asked before each send whose gate is open (S16), it decides about the
/// batch.
/// A class because it is large and shared: asking it copies nothing.
public final class RetryStateMachine: Sendable {
  /// The Settings it follows.
  public let config: HTTPConfig
  /// The switches it follows.
  public let policy: RetryPolicy

  /// Retries follow no Settings: answers change no state, and nothing is checked before a send (`RetryPolicy.withoutSettings`).
  public let ignoresState: Bool
  /// A wait of the pipeline that is there holds nothing back (analytics-swift with both sections off).
  public let ignoresWaits: Bool
  /// Nothing can hold a batch back, or drop it, of a client that has not failed.
  @usableFromInline let freshAlwaysLeaves: Bool
  /// Backoffs double, and none is left out.
  let doubles: Bool

  /// A machine has no state of its own: one serves every batch of every client that has these Settings.
  public init(config: HTTPConfig, policy: RetryPolicy = .tapiDocument) {
    self.config = config
    self.policy = policy
    let bothOff = !config.rateLimit.isEnabled && !config.backoff.isEnabled
    ignoresState =
      switch policy.withoutSettings {
      case .legacy: false
      case .drops400: !config.isManaged
      case .drops4xx: !config.isManaged || bothOff
      }
    doubles = policy.doubles
    ignoresWaits = policy.backoffOff == .forgets && bothOff
    freshAlwaysLeaves =
      policy.sendsAtLimit == .maxRetryCountPlusOne || config.rateLimit.maxRetryCount > 0
      || !config.rateLimit.isEnabled
  }

  /// Asked before every send (S11, S12, S16).
  ///
  /// - `pipeline`: its count goes back to 0 when its limit drops the batch (S12), and is left alone
  ///   otherwise.
  /// - `now`: microseconds, on the clock of earlier calls; any value is safe.
  @inlinable
  public func beforeSend(
    batch: BatchRetryState, pipeline: inout PipelineRetryState, now: Int64
  ) -> SendDecision {
    if case .none = batch.latestFailure, batch.failureCount == 0, pipeline.retryCount == 0, freshAlwaysLeaves
    {
      return .send(retryCount: 0)
    }
    return decideSend(batch: batch, pipeline: &pipeline, now: now)
  }

  /// Asked after every answer (S3–S10, S15). After `.delivered` and `.drop` the batch's state is fresh again.
  ///
  /// - `failed`: whether another batch of the same flush has failed so far. If `policy.endsWait` then says no, a
  ///   2xx leaves all state as it is: the record may be the whole client's, and a caller with one for each
  ///   batch discards it with the batch.
  /// - `now`: microseconds, on the clock of earlier calls; any value is safe.
  /// - `random`: one word is taken if a backoff is drawn, none otherwise.
  @inlinable
  public func afterResponse(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64,
    otherBatchOfFlushFailed failed: Bool = false, random: inout some RandomNumberGenerator
  ) -> RetryOutcome {
    if case .status(let code, _) = response, code >= 200 && code <= 299 {
      if successClears(otherBatchOfFlushFailed: failed) {
        batch = BatchRetryState()
        pipeline = PipelineRetryState()
      }
      return .delivered
    }
    return afterFailure(response, batch: &batch, pipeline: &pipeline, now: now) { random.next() }
  }

  /// Whether a 2xx makes the batch's and the pipeline's state fresh and ends the pipeline's wait (S5, S16), which is all it does.
  ///
  /// - `failed`: whether another batch of the same flush has failed so far.
  @inlinable
  public func successClears(otherBatchOfFlushFailed failed: Bool) -> Bool {
    !ignoresState && policy.endsWait(otherBatchOfFlushFailed: failed)
  }
}

// MARK: - Before a send

extension RetryStateMachine {
  @usableFromInline
  @inline(never)
  func decideSend(
    batch: BatchRetryState, pipeline: inout PipelineRetryState, now: Int64
  ) -> SendDecision {
    if !ignoresState {
      let waits = batch.latestFailure == .transient && config.backoff.isEnabled && now < batch.retryAt
      if waits, policy.limitsCheck == .whenDue { return .notDue(until: batch.retryAt) }
      if let reason = limitReached(batch, pipeline, now: now) {
        switch policy.limitReached {
        case .dropBatch:
          if reason == .rateLimitRetryLimit { pipeline.retryCount = 0 }
          return .drop(reason)
        case .resetStateAndDropFlush: break  // The flush's end has looked at them (`FlushTally`).
        case .startOverAtNextTrigger: break  // Nothing is lost; `recordTransient` starts over.
        }
      }
      if waits { return .notDue(until: batch.retryAt) }
    }
    return .send(retryCount: retryCount(batch, pipeline))
  }

  /// The limit that keeps a batch from being sent at a time (S11, S12); nil: none does. It is what `beforeSend` goes by, for a
  /// caller that wants to know ahead.
  @inline(__always)
  public func limitReached(
    _ batch: BatchRetryState, _ pipeline: PipelineRetryState, now: Int64
  ) -> DropReason? {
    if policy.limitsCheck == .beforeDue {
      if dropsNext(pipeline) { return .rateLimitRetryLimit }
      if isRetryLimitReached(batch) { return .retryLimit }
      return isTooOld(batch, now: now) ? .age : nil
    }
    if isTooOld(batch, now: now) { return .age }
    if isRetryLimitReached(batch) { return .retryLimit }
    return dropsNext(pipeline) ? .rateLimitRetryLimit : nil
  }

  private func isTooOld(_ batch: BatchRetryState, now: Int64) -> Bool {
    guard policy.ageLimit != .eventAgeSinceQueued, batch.latestFailure != .none,
      batch.firstFailureTime != .min,
      let limit = ageLimit(of: batch)
    else { return false }
    return isLonger(from: batch.firstFailureTime, to: now, than: limit)
  }

  private func isRetryLimitReached(_ batch: BatchRetryState) -> Bool {
    batch.latestFailure == .transient && config.backoff.isEnabled
      && isUsedUp(batch.failureCount, config.backoff.maxRetryCount)
  }

  /// Whether the global limit is reached, so that the batch that a loop looks at next is dropped, waiting or not (S12).
  public func dropsNext(_ pipeline: PipelineRetryState) -> Bool {
    !ignoresState && config.rateLimit.isEnabled
      && isUsedUp(pipeline.retryCount, config.rateLimit.maxRetryCount)
  }

  /// When a loop has to look at a batch that is due at `due`: then, or earlier where a limit ends its wait
  /// (`RetryPolicy.limitsCheck` at `beforeDue`). Microseconds.
  public func lookAt(_ batch: BatchRetryState, due: Int64) -> Int64 {
    guard policy.limitsCheck == .beforeDue else { return due }
    if ignoresState || !config.backoff.isEnabled { return .min }
    guard policy.limitReached == .dropBatch else { return due }
    if isRetryLimitReached(batch) { return .min }
    guard policy.ageLimit != .eventAgeSinceQueued, batch.latestFailure != .none,
      batch.firstFailureTime != .min,
      let limit = ageLimit(of: batch)
    else { return due }
    return min(due, saturatingSum(saturatingSum(batch.firstFailureTime, limit), 1))
  }

  /// That of the section that the latest failure belongs to; nil if it is off.
  private func ageLimit(of batch: BatchRetryState) -> Int64? {
    if case .rateLimited = batch.latestFailure {
      return config.rateLimit.isEnabled ? config.rateLimit.maxTotalBackoffDuration : nil
    }
    return config.backoff.isEnabled ? config.backoff.maxTotalBackoffDuration : nil
  }

  private func isUsedUp(_ count: UInt16, _ maximum: Int) -> Bool {
    switch policy.sendsAtLimit {
    case .maxRetryCountPlusOne: Int(count) > maximum
    case .maxRetryCount: Int(count) >= maximum
    }
  }

  /// S2.
  private func retryCount(_ batch: BatchRetryState, _ pipeline: PipelineRetryState) -> UInt16 {
    switch policy.retryCountHeader {
    case .always:
      if case .none = batch.latestFailure { return 0 }
      return batch.failureCount > 0 ? batch.failureCount : pipeline.retryCount
    case .onlyAboveZeroMaxOfBatchAndGlobal:
      return max(batch.failureCount, pipeline.retryCount)
    case .clientCounter:
      let (sum, overflow) = batch.failureCount.addingReportingOverflow(pipeline.retryCount)
      return overflow ? .max : sum
    }
  }

  /// S11: strictly more than `limit`.
  func isLonger(from start: Int64, to now: Int64, than limit: Int64) -> Bool {
    let (age, overflow) = now.subtractingReportingOverflow(start)
    return overflow ? now > start : age > limit
  }
}
