/// What an answer that is no success leads to.
extension RetryStateMachine {
  /// - Parameter word: a random word, asked for if a backoff is drawn.
  @usableFromInline
  @inline(never)
  func afterFailure(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64,
    word: () -> UInt64
  ) -> RetryOutcome {
    switch recordFailure(response, batch: &batch, pipeline: &pipeline, now: now) {
    case .decided(let outcome):
      return outcome
    case .backoff(let retryCount, let refreshes):
      let outcome = wait(after: response, retries: retryCount, batch: &batch, now: now, word: word())
      return refreshes ? Self.refreshing(outcome) : outcome
    case .clientBackoff(let retryCount):
      return backOff(after: response, retries: retryCount, batch: &batch, now: now, word: word())
    case .pipelineBackoff(let retryCount):
      return pause(after: response, retries: retryCount, batch: &batch, now: now, word: word())
    case .spreadPause(let asked):
      return .pause(until: saturatingSum(now, policy.spreading(asked, word: word())))
    case .delay(let retryCount, let asked, let refreshes):
      let outcome = wait(
        after: response, retries: retryCount, atLeast: asked, batch: &batch, now: now, word: word(),
        spread: policy.retryAfterJitterPercent > 0 ? word() : 0)
      return refreshes ? Self.refreshing(outcome) : outcome
    }
  }

  /// What a failure leads to, before a random word is needed.
  private enum FailureStep {
    case decided(RetryOutcome)
    /// The batch waits, by this many earlier failures; perhaps credentials are refreshed meanwhile.
    case backoff(retryCount: UInt16, refreshes: Bool = false)
    /// The client waits, by this many earlier failures.
    case clientBackoff(retryCount: UInt16)
    /// The pipeline waits, by this many earlier 429s.
    case pipelineBackoff(retryCount: UInt16)
    /// The pipeline waits so many microseconds and some jitter.
    case spreadPause(Int64)
    /// The batch waits, by this many earlier failures, and at least so many microseconds; perhaps credentials are refreshed meanwhile.
    case delay(retryCount: UInt16, atLeast: Int64, refreshes: Bool = false)
  }

  /// Of a batch that is to wait: credentials are refreshed meanwhile (S6).
  private static func refreshing(_ outcome: RetryOutcome) -> RetryOutcome {
    guard case .retry(let time) = outcome else { return outcome }
    return .refreshThenRetry(at: time)
  }

  @inline(__always)
  private func recordFailure(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64
  ) -> FailureStep {
    let (code, retryAfter): (Int, Int64?)
    switch response {
    case .status(let status, let wait):
      (code, retryAfter) = (status, wait)
      if let outcome = belowSuccess(code, &batch, &pipeline) { return .decided(outcome) }
      if ignoresState { return .decided(withoutSettings(code)) }
    case .noStatus:
      if ignoresState { return .decided(.retryAtNextTrigger) }
      switch policy.noStatus {  // S9
      case .backoff: return recordTransient(&batch, pipeline, now: now)
      case .untouched: return .decided(.retryAtNextTrigger)
      case .asStatus500:
        if config.backoff.isEnabled, config.backoff.statuses.classify(500) == .retry {
          return recordTransient(&batch, pipeline, now: now)
        }
        batch = BatchRetryState()
        return .decided(.retryAtNextTrigger)
      case .clientBackoff:
        let step = recordTransient(&batch, pipeline, now: now)
        guard case .backoff(let count, _) = step else { return step }
        return .clientBackoff(retryCount: count)
      }
    }
    if code == 401, policy.unauthorized == .refreshThenRetryOnce, !batch.hasRefreshedCredentials {
      batch.hasRefreshedCredentials = true
      batch.retryAt = 0
      return .decided(.refreshCredentials)
    }
    if policy.backoffOff == .forgets, !config.rateLimit.isEnabled, !config.backoff.isEnabled {
      batch = BatchRetryState()
      return .decided(.retryAtNextTrigger)
    }
    switch config.backoff.statuses.classify(code) {
    case .rateLimited where policy.overridden429 == .drops && config.backoff.statuses.dropsRateLimited:
      batch = BatchRetryState()
      return .decided(.drop(.status))
    case .rateLimited where policy.rateLimited == .delaysBatch:
      return recordRetry(retryAfter, &batch, &pipeline, now: now)
    case .rateLimited:
      if !config.rateLimit.isEnabled, policy.rateLimitingOff == .drop {
        batch = BatchRetryState()
        return .decided(.drop(.status))
      }
      let step = recordRateLimit(retryAfter, &batch, &pipeline, now: now)
      guard policy.overridden429 == .dropsAndPauses, config.backoff.statuses.dropsRateLimited else {
        return step
      }
      batch = BatchRetryState()
      guard case .decided(.pause(let time)) = step else { return .decided(.drop(.status)) }
      return .decided(.dropAndPause(.status, until: time))
    case .retry:
      return recordRetry(retryAfter, &batch, &pipeline, now: now)
    case .authenticate where policy.supportsOAuth:
      let step = recordRetry(retryAfter, &batch, &pipeline, now: now)
      switch step {
      case .backoff(let count, _): return .backoff(retryCount: count, refreshes: true)
      case .delay(let count, let asked, _): return .delay(retryCount: count, atLeast: asked, refreshes: true)
      default: return step
      }
    case .authenticate, .drop:
      batch = BatchRetryState()
      return .decided(.drop(.status))
    case .success:
      batch = BatchRetryState()
      pipeline.retryCount = 0
      return .decided(.delivered)
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
  private func withoutSettings(_ code: Int) -> RetryOutcome {
    switch policy.withoutSettings {
    case .legacy: .retryAtNextTrigger
    case .drops400: code == 400 ? .drop(.status) : .retryAtNextTrigger
    case .drops4xx: (400...499).contains(code) && code != 429 ? .drop(.status) : .retryAtNextTrigger
    }
  }

  /// S7.
  @inline(__always)
  private func recordRetry(
    _ retryAfter: Int64?, _ batch: inout BatchRetryState, _ pipeline: inout PipelineRetryState, now: Int64
  ) -> FailureStep {
    if retryAfter != nil, config.rateLimit.isEnabled, policy.retryAfterOnOtherCodes == .pausesPipeline {
      return recordRateLimit(retryAfter, &batch, &pipeline, now: now)
    }
    if !config.backoff.isEnabled, policy.backoffOff != .legacy {
      batch = BatchRetryState()
      return .decided(policy.backoffOff == .drop ? .drop(.status) : .retryAtNextTrigger)
    }
    let step = recordTransient(&batch, pipeline, now: now)
    if let retryAfter, policy.retryAfterOnOtherCodes == .delaysBatch, case .backoff(let count, _) = step {
      return .delay(
        retryCount: count, atLeast: min(max(0, retryAfter), policy.longestRetryAfter))
    }
    return step
  }

  @inline(__always)
  private func recordTransient(
    _ batch: inout BatchRetryState, _ pipeline: PipelineRetryState, now: Int64
  ) -> FailureStep {
    let earlier = batch.failureCount
    noteFirstFailure(&batch, now: now)
    batch.latestFailure = .transient
    batch.failureCount = earlier == .max ? .max : earlier + 1
    batch.retryAt = 0
    guard config.backoff.isEnabled else { return .decided(.retryAtNextTrigger) }
    if policy.limitReached == .startOverAtNextTrigger, earlier >= config.backoff.maxRetryCount {
      batch = BatchRetryState()
      return .decided(.retryAtNextTrigger)
    }
    return .backoff(retryCount: failuresCounted(by: policy.exponent, earlier, pipeline))
  }

  /// S10: the failures that the exponent counts, of a record with so many own ones.
  func failuresCounted(
    by exponent: RetryPolicy.Exponent, _ own: UInt16, _ pipeline: PipelineRetryState
  ) -> UInt16 {
    switch exponent {
    case .ownFailures: own
    case .allFailures: UInt16(clamping: Int(own) + Int(pipeline.retryCount))
    }
  }

  private func recordRateLimit(
    _ retryAfter: Int64?, _ batch: inout BatchRetryState, _ pipeline: inout PipelineRetryState, now: Int64
  ) -> FailureStep {
    let earlier = pipeline.retryCount
    if policy.rateLimitRecord == .failure {
      noteFirstFailure(&batch, now: now)
      batch.latestFailure = .rateLimited
      batch.retryAt = 0
    }
    pipeline.retryCount = earlier == .max ? .max : earlier + 1
    guard config.rateLimit.isEnabled else { return .decided(.retryAtNextTrigger) }
    let longest = config.rateLimit.maxRetryInterval
    if let retryAfter {
      let asked = min(max(0, retryAfter), config.longestRetryAfter(policy))
      if policy.retryAfterJitterPercent > 0 { return .spreadPause(asked) }
      return .decided(.pause(until: saturatingSum(now, asked)))
    }
    switch policy.missingRetryAfter {
    case .maxRetryInterval: return .decided(.pause(until: saturatingSum(now, longest)))
    case .fixed(let wait):
      return .decided(.pause(until: saturatingSum(now, min(max(0, wait), longest))))
    case .exponentialBackoff: return .pipelineBackoff(retryCount: earlier)
    }
  }

  @inline(__always)
  private func noteFirstFailure(_ batch: inout BatchRetryState, now: Int64) {
    if batch.firstFailureTime == .min { batch.firstFailureTime = max(now, .min + 1) }
  }

  /// S10 on the batch's own count.
  private func wait(
    after response: UploadResponse, retries count: UInt16, batch: inout BatchRetryState, now: Int64,
    word: UInt64
  ) -> RetryOutcome {
    let delay = drawDelay(count, bounds(after: response), batch: &batch, word: word)
    return retry(&batch, at: saturatingSum(now, delay))
  }

  /// O2: S10 on the batch's own count, and no shorter than a Retry-After.
  @inline(never)
  private func wait(
    after response: UploadResponse, retries count: UInt16, atLeast asked: Int64, batch: inout BatchRetryState,
    now: Int64, word: UInt64,
    spread: UInt64
  ) -> RetryOutcome {
    let delay = drawDelay(count, bounds(after: response), batch: &batch, word: word)
    return retry(&batch, at: saturatingSum(now, max(delay, policy.spreading(asked, word: spread))))
  }

  /// The batch waits until then, or is given up where that is too late (`RetryPolicy.AgeLimit.untilNextRetry`).
  private func retry(_ batch: inout BatchRetryState, at time: Int64) -> RetryOutcome {
    if policy.ageLimit == .untilNextRetry,
      isLonger(from: batch.firstFailureTime, to: time, than: config.backoff.maxTotalBackoffDuration)
    {
      batch = BatchRetryState()
      return .drop(.age)
    }
    batch.retryAt = time
    return .retry(at: time)
  }

  /// S9, selectable: S10 on the record's count; the record itself is due when the client is.
  @inline(never)
  private func backOff(
    after response: UploadResponse, retries count: UInt16, batch: inout BatchRetryState, now: Int64,
    word: UInt64
  ) -> RetryOutcome {
    let delay = drawDelay(count, bounds(after: response), batch: &batch, word: word)
    return .backOff(until: saturatingSum(now, delay))
  }

  /// S4, selectable: S10 on the global count. A decorrelated wait follows the previous one of the batch that
  /// met the 429.
  @inline(never)
  private func pause(
    after response: UploadResponse, retries count: UInt16, batch: inout BatchRetryState, now: Int64,
    word: UInt64
  ) -> RetryOutcome {
    var bounds = bounds(after: response)
    bounds.longest = min(bounds.longest, config.rateLimit.maxRetryInterval)
    return .pause(until: saturatingSum(now, drawDelay(count, bounds, batch: &batch, word: word)))
  }

  /// Base and longest wait after a failure: those of its class, or `backoffConfig`'s (O2).
  private func bounds(after response: UploadResponse) -> DelayBounds {
    policy.classDelays[response] ?? bounds
  }

  /// `backoffConfig`'s.
  var bounds: DelayBounds {
    DelayBounds(base: config.backoff.baseBackoffInterval, longest: config.backoff.maxBackoffInterval)
  }

  @inline(__always)
  func drawDelay(
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
        of: backoff, base: max(0, bounds.base), cap: cap, previousDelay: Int64(batch.previousDelay),
        clampAfterJitter: clamped, word: word)
    }
    var delay = draw(clamped: policy.clampAfterJitter)
    if policy.waitsInMilliseconds, case .additive = config.backoff.jitter {
      // What is drawn is below the end of its range, and cut to whole milliseconds.
      let drawn = draw(clamped: false)
      if drawn > backoff {
        delay = min(backoff + (drawn - backoff - 1) / 1_000 * 1_000, policy.clampAfterJitter ? cap : .max)
      }
    }
    batch.previousDelay = UInt32(clamping: delay)
    return delay
  }
}
