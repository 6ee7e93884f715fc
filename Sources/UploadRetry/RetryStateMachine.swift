/// Whether and when to try again: maps (state, response) to state, with no clock and no I/O.
///
/// It reads the document (S2–S16) as follows; `policy` changes it where shipped clients differ.
/// - **Counts (S2).** A 429 counts on the pipeline only, a transient failure on its batch only. `X-Retry-Count` is 0 on a batch's
///   first try, even while other batches meet 429s. On a retry it is the batch's own count if that is not 0, else the global one.
///   A success of any batch clears the global count. Legacy sections count too (the header stays true), but set no limits.
/// - **Limits (S11, S12).** The machine checks them when a batch is due and about to be sent. The limits of the section that the
///   batch's latest failure belongs to apply. The age applies always, the batch's own count after a transient failure. The global
///   count applies to whichever batch is next. N retries are allowed, which makes N + 1 sends.
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
  /// The decisions of one shipped client that differ from the document's; nil: an app's client.
  public var quirks: (any RetryQuirks)? { hasQuirks ? decisions : nil }
  /// Those of the client, or the document's. No optional, because to look into one is to copy it, at each failure.
  private let decisions: any RetryQuirks
  /// Whether there are any: asking that costs less than looking for them.
  public let hasQuirks: Bool

  /// Retries follow no Settings: answers change no state, and nothing is checked before a send (`RetryPolicy.withoutSettings`).
  public let ignoresState: Bool
  /// A wait of the pipeline that is there holds nothing back (analytics-swift with both sections off).
  public let ignoresWaits: Bool
  /// Nothing can hold a batch back, or drop it, of a client that has not failed.
  @usableFromInline let freshAlwaysLeaves: Bool
  /// Backoffs double, and none is left out.
  let doubles: Bool

  /// A machine has no state of its own: one serves every batch of every client that has these Settings.
  public init(
    config: HTTPConfig, policy: RetryPolicy = .init(), quirks: (any RetryQuirks)? = nil
  ) {
    self.config = config
    self.policy = policy
    decisions = quirks ?? NoQuirks()
    hasQuirks = quirks != nil
    let bothOff = !config.rateLimit.isEnabled && !config.backoff.isEnabled
    ignoresState =
      switch policy.withoutSettings {
      case .legacy: false
      case .drops400: !config.isManaged
      case .drops4xx: !config.isManaged || bothOff
      }
    doubles = policy.doubles
    ignoresWaits = policy.withoutSettings == .drops400 && bothOff
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
  /// - `failed`: whether another batch of the same flush has failed so far. If the client's quirks then say so, a 2xx leaves all
  ///   state as it is. The record may be the whole client's; a caller with one for each batch discards it with the batch.
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
    !ignoresState && (!failed || !hasQuirks || successEndsWaitAfterFailure)
  }
}

// MARK: - What one shipped client decides otherwise

// Out of line: a machine without quirks must not pay for the look at them.
extension RetryStateMachine {
  @usableFromInline
  @inline(never)
  var successEndsWaitAfterFailure: Bool { decisions.successEndsWaitAfterFailure }

  /// The wait of the pipeline after a 429 without a usable Retry-After, microseconds; nil: a backoff.
  package var waitWithoutRetryAfter: Int64? {
    let longest = config.rateLimit.maxRetryInterval
    return hasQuirks ? waitWithoutRetryAfterOtherwise(longest) : longest
  }

  @inline(never)
  private func waitWithoutRetryAfterOtherwise(_ longest: Int64) -> Int64? {
    decisions.waitWithoutRetryAfter(longest: longest).map { min(max(0, $0), longest) }
  }

  @inline(never)
  private func failuresCountedOtherwise(_ own: UInt16, _ pipeline: PipelineRetryState) -> UInt16 {
    decisions.failuresCounted(own, pipeline)
  }

  @inline(never)
  private func waitOtherwise(drawn: Int64, unclamped: Int64, backoff: Int64, cap: Int64) -> Int64 {
    decisions.wait(
      drawn: drawn, unclamped: unclamped, backoff: backoff, cap: policy.clampAfterJitter ? cap : nil,
      jitter: config.backoff.jitter)
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
        case .resetStateAndDropFlush: break  // They have been looked at when the flush ended.
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
    guard let limit = ageLimit(of: batch) else { return false }
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

  /// Returns the time at which a loop has to look at a batch that is due at `due`, in microseconds. It is `due`, or earlier where
  /// a limit ends the wait (`RetryPolicy.limitsCheck` at `beforeDue`).
  public func lookAt(_ batch: BatchRetryState, due: Int64) -> Int64 {
    guard policy.limitsCheck == .beforeDue else { return due }
    if ignoresState || !config.backoff.isEnabled { return .min }
    guard policy.limitReached == .dropBatch else { return due }
    if isRetryLimitReached(batch) { return .min }
    guard let limit = ageLimit(of: batch) else { return due }
    return min(due, saturatingSum(saturatingSum(batch.firstFailureTime, limit), 1))
  }

  /// Returns the age limit of the section that the latest failure belongs to. Nil: the section is off, the batch has not failed, or
  /// its events have ages of their own.
  private func ageLimit(of batch: BatchRetryState) -> Int64? {
    guard !policy.looksAtEventAge, batch.latestFailure != .none,
      batch.firstFailureTime != .min
    else { return nil }
    if case .rateLimited = batch.latestFailure {
      return config.rateLimit.isEnabled ? config.rateLimit.maxTotalBackoffDuration : nil
    }
    return config.backoff.isEnabled ? config.backoff.maxTotalBackoffDuration : nil
  }

  /// The age beyond which an event is dropped before it is sent, microseconds; nil: there is none (`RetryPolicy.ageLimit`).
  public var maximumEventAge: Int64? {
    policy.looksAtEventAge ? config.backoff.maxTotalBackoffDuration : nil
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
    case .never: return 0
    }
  }

  /// S11: strictly more than `limit`.
  package func isLonger(from start: Int64, to now: Int64, than limit: Int64) -> Bool {
    let (age, overflow) = now.subtractingReportingOverflow(start)
    return overflow ? now > start : age > limit
  }
}

/// The consequences of an answer that is no success.
extension RetryStateMachine {
  /// - Parameter word: a random word, asked for if a wait is drawn.
  @usableFromInline
  @inline(never)
  func afterFailure(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64,
    word: () -> UInt64
  ) -> RetryOutcome {
    let (code, retryAfter): (Int, Int64?)
    switch response {
    case .status(let status, let wait):
      (code, retryAfter) = (status, wait)
      if let outcome = belowSuccess(code, &batch, &pipeline) { return outcome }
      if ignoresState { return withoutSettings(code, &batch) }
    case .noStatus: return withoutStatus(&batch, pipeline, now: now, word: word)
    }
    if policy.backoffOff == .forgets, !config.rateLimit.isEnabled, !config.backoff.isEnabled {
      batch = BatchRetryState()
      return .retryAtNextTrigger
    }
    switch config.backoff.statuses.classify(code) {
    case .rateLimited where policy.overridden429 == .drops && config.backoff.statuses.dropsRateLimited:
      batch = BatchRetryState()
      return .drop(.status)
    case .rateLimited where policy.rateLimited == .delaysBatch:
      return retry(after: response, retryAfter, &batch, &pipeline, now: now, word: word)
    case .rateLimited:
      if !config.rateLimit.isEnabled, policy.rateLimitingOff == .drop {
        batch = BatchRetryState()
        return .drop(.status)
      }
      let outcome = pause(after: response, retryAfter, &batch, &pipeline, now: now, word: word)
      guard policy.overridden429 == .dropsAndPauses, config.backoff.statuses.dropsRateLimited else {
        return outcome
      }
      batch = BatchRetryState()
      guard case .pause(let time) = outcome else { return .drop(.status) }
      return .dropAndPause(.status, until: time)
    case .retry:
      return retry(after: response, retryAfter, &batch, &pipeline, now: now, word: word)
    case .authenticate where policy.supportsOAuth:
      // S6: credentials are refreshed while the batch waits.
      switch retry(after: response, retryAfter, &batch, &pipeline, now: now, word: word) {
      case .retry(let time), .backOff(let time): return .refreshThenRetry(at: time)
      case let outcome: return outcome
      }
    case .authenticate, .drop:
      batch = BatchRetryState()
      return .drop(.status)
    case .success:
      batch = BatchRetryState()
      pipeline.retryCount = 0
      return .delivered
    }
  }

  /// S9.
  @inline(__always)
  private func withoutStatus(
    _ batch: inout BatchRetryState, _ pipeline: PipelineRetryState, now: Int64, word: () -> UInt64
  ) -> RetryOutcome {
    if ignoresState { return .retryAtNextTrigger }
    switch policy.noStatus {
    case .untouched: return .retryAtNextTrigger
    case .asStatus500 where !config.backoff.isEnabled || config.backoff.statuses.classify(500) != .retry:
      batch = BatchRetryState()
      return .retryAtNextTrigger
    case .backoff, .asStatus500:
      let count = recordTransient(&batch, pipeline, now: now)
      return wait(after: .noStatus, retries: count, batch: &batch, now: now, word: word)
    case .clientBackoff:
      guard let count = recordTransient(&batch, pipeline, now: now) else { return .retryAtNextTrigger }
      // S10 on the record's count; the record itself is due when the client is.
      let delay = drawDelay(count, bounds(after: .noStatus), batch: &batch, word: word())
      return .backOff(until: saturatingSum(now, delay))
    }
  }

  /// S8: nil where the tables decide.
  @inline(__always)
  private func belowSuccess(
    _ code: Int, _ batch: inout BatchRetryState, _ pipeline: inout PipelineRetryState
  ) -> RetryOutcome? {
    switch policy.belowSuccess {
    case .asTable: return nil
    case .discarded:
      guard (1...199).contains(code) else { return nil }
      if !ignoresState { batch = BatchRetryState() }
      return .discarded
    case .resets:
      guard code < 200 else { return nil }
      if !ignoresState {
        batch = BatchRetryState()
        pipeline.retryCount = 0
      }
      return .drop(.status)
    }
  }

  /// S15, as shipped: what a client does that follows no Settings.
  private func withoutSettings(_ code: Int, _ batch: inout BatchRetryState) -> RetryOutcome {
    switch policy.withoutSettings {
    case .legacy: break
    case .drops400: if code == 400 { return .drop(.status) }
    case .drops4xx:
      if (400...499).contains(code), code != 429 { return .drop(.status) }
      if (300...399).contains(code) { batch = BatchRetryState() }
    }
    return .retryAtNextTrigger
  }

  /// S7, and O2 where the answer says when.
  @inline(__always)
  private func retry(
    after response: UploadResponse, _ retryAfter: Int64?, _ batch: inout BatchRetryState,
    _ pipeline: inout PipelineRetryState, now: Int64, word: () -> UInt64
  ) -> RetryOutcome {
    if retryAfter != nil, config.rateLimit.isEnabled, policy.retryAfterOnOtherCodes == .pausesPipeline {
      return pause(after: response, retryAfter, &batch, &pipeline, now: now, word: word)
    }
    if !config.backoff.isEnabled, policy.backoffOff != .legacy {
      batch = BatchRetryState()
      return policy.backoffOff == .drop ? .drop(.status) : .retryAtNextTrigger
    }
    let count = recordTransient(&batch, pipeline, now: now)
    guard let retryAfter, policy.retryAfterOnOtherCodes.isWaitOfBatch, let count else {
      return wait(after: response, retries: count, batch: &batch, now: now, word: word)
    }
    return wait(after: response, retries: count, atLeast: retryAfter, batch: &batch, now: now, word: word)
  }

  /// Returns how many failures came before, as the exponent counts them; nil: the batch is due at the next trigger.
  @inline(__always)
  private func recordTransient(
    _ batch: inout BatchRetryState, _ pipeline: PipelineRetryState, now: Int64
  ) -> UInt16? {
    let earlier = batch.failureCount
    noteFirstFailure(&batch, now: now)
    batch.latestFailure = .transient
    batch.failureCount = earlier == .max ? .max : earlier + 1
    batch.retryAt = 0
    guard config.backoff.isEnabled else { return nil }
    if policy.limitReached == .startOverAtNextTrigger, earlier >= config.backoff.maxRetryCount {
      batch = BatchRetryState()
      return nil
    }
    return failuresCounted(earlier, pipeline)
  }

  /// S10: the failures that the exponent counts, of a record with so many own ones.
  @inline(__always)
  package func failuresCounted(_ own: UInt16, _ pipeline: PipelineRetryState) -> UInt16 {
    hasQuirks ? failuresCountedOtherwise(own, pipeline) : own
  }

  /// S4: the pipeline waits. Without a Retry-After it may draw its wait by the global count; a decorrelated one follows the
  /// previous one of the batch that met the 429.
  private func pause(
    after response: UploadResponse, _ retryAfter: Int64?, _ batch: inout BatchRetryState,
    _ pipeline: inout PipelineRetryState, now: Int64, word: () -> UInt64
  ) -> RetryOutcome {
    let earlier = pipeline.retryCount
    if policy.rateLimitRecord == .failure {
      noteFirstFailure(&batch, now: now)
      batch.latestFailure = .rateLimited
      batch.retryAt = 0
    }
    pipeline.retryCount = earlier == .max ? .max : earlier + 1
    guard config.rateLimit.isEnabled else { return .retryAtNextTrigger }
    if let retryAfter {
      let asked = min(max(0, retryAfter), config.longestRetryAfter(policy))
      return .pause(until: saturatingSum(now, spreading(asked, word)))
    }
    if let wait = waitWithoutRetryAfter { return .pause(until: saturatingSum(now, wait)) }
    var bounds = bounds(after: response)
    bounds.longest = min(bounds.longest, config.rateLimit.maxRetryInterval)
    return .pause(until: saturatingSum(now, drawDelay(earlier, bounds, batch: &batch, word: word())))
  }

  @inline(__always)
  private func spreading(_ asked: Int64, _ word: () -> UInt64) -> Int64 {
    policy.retryAfterJitter.isNone ? asked : policy.spreading(asked, word: word())
  }

  @inline(__always)
  private func noteFirstFailure(_ batch: inout BatchRetryState, now: Int64) {
    if batch.firstFailureTime == .min { batch.firstFailureTime = max(now, .min + 1) }
  }

  /// S10 on the batch's own count; nil: it is due at the next trigger.
  @inline(__always)
  private func wait(
    after response: UploadResponse, retries count: UInt16?, batch: inout BatchRetryState, now: Int64,
    word: () -> UInt64
  ) -> RetryOutcome {
    guard let count else { return .retryAtNextTrigger }
    let delay = drawDelay(count, bounds(after: response), batch: &batch, word: word())
    return retry(&batch, at: saturatingSum(now, delay))
  }

  /// O2: S10 on the batch's own count, and no shorter than a Retry-After; or the Retry-After alone.
  @inline(never)
  private func wait(
    after response: UploadResponse, retries count: UInt16, atLeast retryAfter: Int64,
    batch: inout BatchRetryState, now: Int64, word: () -> UInt64
  ) -> RetryOutcome {
    let (asked, first) = (min(max(0, retryAfter), policy.longestRetryAfter), word())
    let delay =
      policy.retryAfterOnOtherCodes == .replacesBackoff
      ? 0 : drawDelay(count, bounds(after: response), batch: &batch, word: first)
    return retry(&batch, at: saturatingSum(now, max(delay, spreading(asked, word))))
  }

  /// The batch, or with it the client, waits until then; or it is given up where that is too late
  /// (`RetryPolicy.AgeLimit.untilNextRetry`).
  private func retry(_ batch: inout BatchRetryState, at time: Int64) -> RetryOutcome {
    if policy.ageLimit == .untilNextRetry,
      isLonger(from: batch.firstFailureTime, to: time, than: config.backoff.maxTotalBackoffDuration)
    {
      batch = BatchRetryState()
      return .drop(.age)
    }
    if policy.backoffHolds == .client { return hold(for: &batch, until: time) }
    batch.retryAt = time
    return .retry(at: time)
  }

  /// The client waits until then, unless the batch is at its limit already.
  @inline(never)
  private func hold(for batch: inout BatchRetryState, until time: Int64) -> RetryOutcome {
    guard policy.limitsCheck == .beforeDue, policy.limitReached == .dropBatch, isRetryLimitReached(batch)
    else {
      return .backOff(until: time)
    }
    batch = BatchRetryState()
    return .drop(.retryLimit)
  }

  /// Base and longest wait after a failure: those of its class, or `backoffConfig`'s (O2).
  private func bounds(after response: UploadResponse) -> DelayBounds {
    policy.classDelays[response] ?? bounds
  }

  /// `backoffConfig`'s.
  package var bounds: DelayBounds {
    DelayBounds(base: config.backoff.baseBackoffInterval, longest: config.backoff.maxBackoffInterval)
  }

  @inline(__always)
  package func drawDelay(
    _ count: UInt16, _ bounds: DelayBounds, batch: inout BatchRetryState, word: UInt64
  ) -> Int64 {
    let earlier = Int(count) - Int(policy.immediateRetries)
    if earlier < 0 { return 0 }
    let (backoff, bounds) =
      doubles
      ? (Jitter.backoff(retryCount: earlier, base: bounds.base, cap: bounds.longest), bounds)
      : policy.backoff(afterFailures: earlier, bounds)
    let cap = max(0, bounds.longest)
    func draw(clamped: Bool) -> Int64 {
      config.backoff.jitter.delay(
        of: backoff, base: max(0, bounds.base), cap: cap, previousDelay: batch.previousWait,
        clampAfterJitter: clamped, word: word)
    }
    var delay = draw(clamped: policy.clampAfterJitter)
    if hasQuirks {
      delay = waitOtherwise(drawn: delay, unclamped: draw(clamped: false), backoff: backoff, cap: cap)
    }
    batch.previousWait = delay
    return delay
  }
}

/// The transport's report of one upload.
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

/// The caller's task after an answer.
@frozen
public enum RetryOutcome: Sendable, Hashable {
  /// 2xx: the batch is delivered; the caller opens its gate (S16).
  case delivered
  /// The batch waits until this time (microseconds); others go on (S3).
  case retry(at: Int64)
  /// 429: the pipeline waits until this time; the loop ends at once (S3, S4). The batch itself is due when
  /// the gate opens.
  case pause(until: Int64)
  /// The whole client backs off until this time (microseconds). It acts as `pause`, but the wait is a backoff. A gate that keeps
  /// the two kinds of wait apart tells them from one another (`RetryQuirks.keepsWait`). It comes with `RetryPolicy.noStatus` at
  /// `clientBackoff`, or `backoffHolds` at `client`.
  case backOff(until: Int64)
  /// Legacy (S15), or no status with `RetryPolicy.noStatus` at `untouched`: tried again at the next trigger,
  /// no wait, the loop goes on.
  case retryAtNextTrigger
  /// 401 (O9): the caller refreshes its credentials and sends the batch once more, without any wait. The
  /// machine never says so; the owner of the credentials does (`ClientOptions.refreshesCredentials`).
  case refreshCredentials
  /// 511 (S6): the caller refreshes its credentials; the batch waits until this time (microseconds), or until they are there if
  /// that is later.
  case refreshThenRetry(at: Int64)
  /// The batch is given up, for this reason: lost, or kept with the reason.
  case drop(DropReason)
  /// The batch is given up, and the pipeline waits until this time (`RetryPolicy.overridden429` at `dropsAndPauses`).
  case dropAndPause(DropReason, until: Int64)
  /// The client takes the batch for delivered, though the server has not accepted it, and its state stays
  /// (`RetryPolicy.belowSuccess` at `discarded`).
  case discarded

  /// Whether the batch stays in the queue, to be sent again.
  public var isRetry: Bool {
    switch self {
    case .retry, .pause, .backOff, .retryAtNextTrigger, .refreshCredentials, .refreshThenRetry: true
    case .delivered, .drop, .dropAndPause, .discarded: false
    }
  }
}

/// Whether a batch may be sent now.
@frozen
public enum SendDecision: Sendable, Hashable {
  /// Send, with this `X-Retry-Count`, unless `RetryPolicy.headerValue` leaves it out (S2).
  case send(retryCount: UInt16)
  /// The batch waits until this time (microseconds); others go on.
  case notDue(until: Int64)
  /// The batch is lost, for this reason.
  case drop(DropReason)
}

/// Per-batch retry state: 24 bytes, kept wherever the caller keeps its batches.
///
/// A fresh value is a batch that has not failed. A caller whose record outlives its batch (one record for a
/// client that re-chunks its events) replaces it by a fresh one when `beforeSend` drops.
@frozen
public struct BatchRetryState: Sendable, Hashable, BitwiseCopyable {
  /// When the batch first failed retryably, a 429 included (S11), microseconds; `.min` while it has not.
  public var firstFailureTime: Int64
  /// The batch is due from this time on, microseconds; 0 when due at once. Counts only once the batch has
  /// failed.
  public var retryAt: Int64
  /// `previousWait`: microseconds up to an hour, behind that steps of 50 ms.
  public var previousDelay: UInt32
  /// Transient failures of this batch so far, saturating: a 429 counts on the pipeline only (S2).
  public var failureCount: UInt16
  /// The kind of the latest failure: it selects the limits that apply (S11).
  public var latestFailure: LatestFailure
  /// Credentials have been refreshed for this batch since it last got through (O9).
  public var hasRefreshedCredentials: Bool

  @frozen
  public enum LatestFailure: UInt8, Sendable, Hashable {
    /// The batch has not failed.
    case none
    /// A 429: `rateLimitConfig` sets the limits.
    case rateLimited
    /// A transient error: `backoffConfig` sets the limits.
    case transient
  }

  /// A batch that has not failed.
  @inlinable
  public init() {
    firstFailureTime = .min
    retryAt = 0
    previousDelay = 0
    failureCount = 0
    latestFailure = .none
    hasRefreshedCredentials = false
  }
}

extension BatchRetryState {
  /// The wait drawn last, microseconds, rounded to 50 ms where it is longer than an hour (decorrelated jitter feeds on it); 0 before
  /// the first.
  var previousWait: Int64 {
    get {
      let hour: Int64 = 3_600_000_000
      let wait = Int64(previousDelay)
      return wait <= hour ? wait : hour + (wait - hour) * 50_000
    }
    set {
      let hour: Int64 = 3_600_000_000
      previousDelay = UInt32(clamping: newValue <= hour ? newValue : hour + (newValue - hour) / 50_000)
    }
  }
}

/// Retry state of a whole client.
@frozen
public struct PipelineRetryState: Sendable, Hashable, BitwiseCopyable {
  /// 429s since the latest success of any batch, saturating: the global counter of S2.
  public var retryCount: UInt16

  /// No 429 since the latest success.
  @inlinable public init() { retryCount = 0 }
}
