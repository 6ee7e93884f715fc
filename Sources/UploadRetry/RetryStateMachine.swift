/// What the transport reports of one upload.
@frozen
public enum UploadResponse: Sendable, Hashable {
  /// An HTTP status; `retryAfter` in microseconds as already parsed from the header (`RetryAfter.parse`), nil
  /// if absent.
  case status(Int, retryAfter: Int64?)
  /// No HTTP status: time-out, reset, refused, DNS (S9).
  case noStatus
}

/// Why a batch was given up.
@frozen
public enum DropReason: UInt8, Sendable, Hashable, CaseIterable {
  /// A status that is not retried (S5, S6, S8).
  case status
  /// The batch's own retry limit (S12).
  case retryLimit
  /// The client's global limit on 429s (S12).
  case rateLimitRetryLimit
  /// Too long since the first failure (S11).
  case age
}

/// What the caller must do with an answer.
@frozen
public enum RetryOutcome: Sendable, Hashable {
  /// 2xx: the batch is delivered; the caller opens its gate (S16).
  case delivered
  /// The batch waits until this time (microseconds); others go on (S3).
  case retry(at: Int64)
  /// 429: the pipeline waits until this time; the loop ends at once (S3, S4). The batch itself is due when
  /// the gate opens.
  case pause(until: Int64)
  /// Legacy (S15): tried again at the next trigger, no wait, the loop goes on.
  case retryAtNextTrigger
  /// The batch is lost, for this reason.
  case drop(DropReason)
}

/// Whether a batch may be sent now.
@frozen
public enum SendDecision: Sendable, Hashable {
  /// Send, with this `X-Retry-Count` (S2).
  case send(retryCount: UInt16)
  /// The batch waits until this time (microseconds); others go on.
  case notDue(until: Int64)
  /// The batch is lost, for this reason.
  case drop(DropReason)
}

/// Whether and when to try again: maps (state, response) to state, with no clock and no I/O.
///
/// It reads the document (S2–S16) as follows.
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
public struct RetryStateMachine: Sendable, BitwiseCopyable {
  /// The Settings it follows.
  public let config: HTTPConfig
  /// The switches it follows.
  public let policy: RetryPolicy

  /// A machine has no state of its own: one serves every batch of every client that has these Settings.
  public init(config: HTTPConfig, policy: RetryPolicy = .tapiDocument) {
    self.config = config
    self.policy = policy
  }

  /// Asked before every send (S11, S12, S16).
  ///
  /// - Parameters:
  ///   - pipeline: its count goes back to 0 when its limit drops the batch (S12), and is left alone
  ///     otherwise.
  ///   - now: microseconds, on the clock of earlier calls; any value is safe.
  @inlinable
  public func beforeSend(
    batch: BatchRetryState, pipeline: inout PipelineRetryState, now: Int64
  ) -> SendDecision {
    if case .none = batch.latestFailure, batch.failureCount == 0, pipeline.retryCount == 0 {
      return .send(retryCount: 0)
    }
    return decideSend(batch: batch, pipeline: &pipeline, now: now)
  }

  /// Asked after every answer (S3–S10, S15). After `.delivered` and `.drop` the batch's state is fresh again.
  ///
  /// - Parameters:
  ///   - now: microseconds, on the clock of earlier calls; any value is safe.
  ///   - random: one word is taken if a backoff is drawn, none otherwise.
  @inlinable
  public func afterResponse(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64,
    random: inout some RandomNumberGenerator
  ) -> RetryOutcome {
    if case .status(let code, _) = response, code >= 200 && code <= 299 {
      batch = BatchRetryState()
      pipeline.retryCount = 0
      return .delivered
    }
    switch recordFailure(response, batch: &batch, pipeline: &pipeline, now: now) {
    case .decided(let outcome):
      return outcome
    case .backoff(let retryCount):
      return wait(afterRetries: retryCount, batch: &batch, now: now, word: random.next())
    case .pipelineBackoff(let retryCount):
      return pause(afterRetries: retryCount, batch: &batch, now: now, word: random.next())
    }
  }

  /// What a failure leads to, before a random word is needed.
  @usableFromInline
  @frozen
  enum FailureStep {
    case decided(RetryOutcome)
    /// The batch waits, by this many earlier failures.
    case backoff(retryCount: UInt16)
    /// The pipeline waits, by this many earlier 429s.
    case pipelineBackoff(retryCount: UInt16)
  }
}

// MARK: - Before a send

extension RetryStateMachine {
  @usableFromInline
  @inline(never)
  func decideSend(batch: BatchRetryState, pipeline: inout PipelineRetryState, now: Int64) -> SendDecision {
    switch batch.latestFailure {
    case .none:
      break
    case .rateLimited:
      if config.rateLimit.isEnabled,
        isOlder(batch, than: config.rateLimit.maxTotalBackoffDuration, now: now)
      {
        return .drop(.age)
      }
    case .transient:
      guard config.backoff.isEnabled else { break }
      if now < batch.retryAt { return .notDue(until: batch.retryAt) }
      if isOlder(batch, than: config.backoff.maxTotalBackoffDuration, now: now) { return .drop(.age) }
      if Int(batch.failureCount) > config.backoff.maxRetryCount { return .drop(.retryLimit) }
    }
    if config.rateLimit.isEnabled, Int(pipeline.retryCount) > config.rateLimit.maxRetryCount {
      pipeline.retryCount = 0
      return .drop(.rateLimitRetryLimit)
    }
    if case .none = batch.latestFailure { return .send(retryCount: 0) }
    return .send(retryCount: batch.failureCount > 0 ? batch.failureCount : pipeline.retryCount)
  }

  /// S11: strictly more than `limit` since the first failure.
  private func isOlder(_ batch: BatchRetryState, than limit: Int64, now: Int64) -> Bool {
    guard batch.firstFailureTime != .min, now > batch.firstFailureTime else { return false }
    let (age, overflow) = now.subtractingReportingOverflow(batch.firstFailureTime)
    return overflow || age > limit
  }
}

// MARK: - After a failure

extension RetryStateMachine {
  @usableFromInline
  @inline(never)
  func recordFailure(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64
  ) -> FailureStep {
    guard case .status(let code, let retryAfter) = response else {
      return recordTransient(&batch, now: now)  // S9
    }
    switch config.backoff.statuses.classify(code) {
    case .rateLimited:
      return recordRateLimit(retryAfter, &batch, &pipeline, now: now)
    case .retry:
      return recordTransient(&batch, now: now)
    case .authenticate where policy.supportsOAuth:
      return recordTransient(&batch, now: now)
    case .authenticate, .drop:
      batch = BatchRetryState()
      return .decided(.drop(.status))
    case .success:
      batch = BatchRetryState()
      pipeline.retryCount = 0
      return .decided(.delivered)
    }
  }

  private func recordTransient(_ batch: inout BatchRetryState, now: Int64) -> FailureStep {
    let earlier = batch.failureCount
    noteFirstFailure(&batch, now: now)
    batch.latestFailure = .transient
    batch.failureCount = earlier == .max ? .max : earlier + 1
    batch.retryAt = 0
    return config.backoff.isEnabled ? .backoff(retryCount: earlier) : .decided(.retryAtNextTrigger)
  }

  private func recordRateLimit(
    _ retryAfter: Int64?, _ batch: inout BatchRetryState, _ pipeline: inout PipelineRetryState, now: Int64
  ) -> FailureStep {
    let earlier = pipeline.retryCount
    noteFirstFailure(&batch, now: now)
    batch.latestFailure = .rateLimited
    batch.retryAt = 0
    pipeline.retryCount = earlier == .max ? .max : earlier + 1
    guard config.rateLimit.isEnabled else { return .decided(.retryAtNextTrigger) }
    let longest = max(0, config.rateLimit.maxRetryInterval)
    if let retryAfter {
      return .decided(.pause(until: saturatingSum(now, min(max(0, retryAfter), longest))))
    }
    switch policy.missingRetryAfter {
    case .maxRetryInterval: return .decided(.pause(until: saturatingSum(now, longest)))
    case .exponentialBackoff: return .pipelineBackoff(retryCount: earlier)
    }
  }

  private func noteFirstFailure(_ batch: inout BatchRetryState, now: Int64) {
    if batch.firstFailureTime == .min { batch.firstFailureTime = max(now, .min + 1) }
  }

  /// S10 on the batch's own count.
  @usableFromInline
  @inline(never)
  func wait(afterRetries count: UInt16, batch: inout BatchRetryState, now: Int64, word: UInt64)
    -> RetryOutcome
  {
    let delay = drawDelay(count, cap: config.backoff.maxBackoffInterval, batch: &batch, word: word)
    batch.retryAt = saturatingSum(now, delay)
    return .retry(at: batch.retryAt)
  }

  /// S4, selectable: S10 on the global count. A decorrelated wait follows the previous one of the batch that
  /// met the 429.
  @usableFromInline
  @inline(never)
  func pause(afterRetries count: UInt16, batch: inout BatchRetryState, now: Int64, word: UInt64)
    -> RetryOutcome
  {
    let cap = min(config.backoff.maxBackoffInterval, config.rateLimit.maxRetryInterval)
    return .pause(until: saturatingSum(now, drawDelay(count, cap: cap, batch: &batch, word: word)))
  }

  private func drawDelay(_ count: UInt16, cap: Int64, batch: inout BatchRetryState, word: UInt64) -> Int64 {
    let delay = config.backoff.jitter.delay(
      retryCount: Int(count), base: config.backoff.baseBackoffInterval, cap: cap,
      previousDelay: Int64(batch.previousDelay), clampAfterJitter: policy.clampAfterJitter, word: word)
    batch.previousDelay = UInt32(clamping: delay)
    return delay
  }
}
