/// How one upload of a flush ended, for a client that acts when all of them have been answered
/// (`RetryPolicy.limitReached` at `resetStateAndDropFlush`).
@frozen
public enum UploadResult: Sendable, Hashable, BitwiseCopyable {
  /// 2xx.
  case delivered
  /// A status that is not retried.
  case dropped
  /// It is tried again. `wait`: what the server asked to wait, microseconds; nil: nothing. `isRateLimit`: a 429.
  case failed(wait: Int64?, isRateLimit: Bool)
}

/// What the uploads of a flush come to, taken in the order of their events.
public struct FlushTally: Sendable, Hashable {
  /// A batch was delivered, one was failed with a wait that the server asked for, one without.
  var hasDelivered = false
  var hasWait = false
  var hasFailed = false
  /// The limit that the failure counted last has reached: what the flush has failed with is dropped.
  public internal(set) var verdict: DropReason?
  /// The wait that the flush leads to; 0: none.
  public internal(set) var waitUntil: Int64 = 0
  public internal(set) var isBackoff = false
  /// All retry state starts over.
  public internal(set) var startsOver = false

  public init() {}
}

extension RetryStateMachine {
  /// What an answer means for its batch; no state changes.
  public func result(of response: UploadResponse) -> UploadResult {
    guard case .status(let code, let asked) = response else {
      return .failed(wait: nil, isRateLimit: false)
    }
    let retryAfter = asked.map { min($0, policy.longestRetryAfter) }
    switch config.backoff.statuses.classify(code) {
    case .success: return .delivered
    case .drop: return .dropped
    case .authenticate: return policy.supportsOAuth ? .failed(wait: nil, isRateLimit: false) : .dropped
    case .rateLimited:
      if policy.overridden429 == .drops, config.backoff.statuses.dropsRateLimited { return .dropped }
      if !config.rateLimit.isEnabled, !config.rateLimit.keepsWhenOff, policy.rateLimitingOff == .drop {
        return .dropped
      }
      return .failed(wait: retryAfter ?? waitWithoutRetryAfter, isRateLimit: true)
    case .retry:
      if !config.backoff.isEnabled, !config.backoff.keepsWhenOff, policy.backoffOff == .drop {
        return .dropped
      }
      let isRead = policy.retryAfterOnOtherCodes == .pausesPipeline
      return .failed(wait: isRead ? retryAfter : nil, isRateLimit: false)
    }
  }

  private var waitWithoutRetryAfter: Int64 {
    switch policy.missingRetryAfter {
    case .fixed(let wait): min(wait, config.rateLimit.maxRetryInterval)
    case .maxRetryInterval, .exponentialBackoff: config.rateLimit.maxRetryInterval
    }
  }

  /// Takes the next result of a flush into account. Each wait that a server asks for counts as a failure of the client.
  public func add(
    _ result: UploadResult, to tally: inout FlushTally, client record: inout BatchRetryState,
    pipeline: inout PipelineRetryState, now: Int64
  ) {
    switch result {
    case .delivered: tally.hasDelivered = true
    case .dropped: break
    case .failed(nil, _): tally.hasFailed = true
    case .failed(let wait?, _):
      tally.hasWait = true
      guard config.rateLimit.isEnabled else { return }
      let until = saturatingSum(now, min(wait, longestWait))
      let earlier = tally.isBackoff || tally.waitUntil == 0 ? until : tally.waitUntil
      fail(
        until: min(earlier, until), isBackoff: false,
        limits: (config.rateLimit.maxRetryCount, .rateLimitRetryLimit),
        maximumAge: config.rateLimit.maxTotalBackoffDuration, &tally, &record, &pipeline, now: now)
    }
  }

  /// The flush is over: a backoff, if something failed without a wait that the server asked for, or a fresh start, if nothing failed.
  ///
  /// - `random`: one word is taken if a backoff is drawn, none otherwise.
  public func finish(
    _ tally: inout FlushTally, client record: inout BatchRetryState, pipeline: inout PipelineRetryState,
    now: Int64, random: inout some RandomNumberGenerator
  ) {
    if tally.hasWait { return }
    if tally.hasFailed {
      guard config.backoff.isEnabled else { return }
      let count = failuresCounted(by: policy.exponent, record.failureCount, pipeline)
      let wait = drawDelay(count, bounds, batch: &record, word: random.next())
      fail(
        until: saturatingSum(now, wait), isBackoff: true, limits: (config.backoff.maxRetryCount, .retryLimit),
        maximumAge: config.backoff.maxTotalBackoffDuration, &tally, &record, &pipeline, now: now)
    } else if tally.hasDelivered {
      startOver(&tally, &record, &pipeline)
    }
  }

  private func fail(
    until: Int64, isBackoff: Bool, limits: (count: Int, reason: DropReason), maximumAge: Int64,
    _ tally: inout FlushTally, _ record: inout BatchRetryState, _ pipeline: inout PipelineRetryState,
    now: Int64
  ) {
    let count = Int(record.failureCount) + Int(pipeline.retryCount) + 1
    let first = record.firstFailureTime == .min ? now : record.firstFailureTime
    let age = now.subtractingReportingOverflow(first)
    if count > limits.count || !age.overflow && age.partialValue > maximumAge {
      startOver(&tally, &record, &pipeline)
      tally.verdict = count > limits.count ? limits.reason : .age
      return
    }
    record.firstFailureTime = first
    record.latestFailure = isBackoff ? .transient : .rateLimited
    record.retryAt = 0
    if isBackoff {
      record.failureCount = record.failureCount == .max ? .max : record.failureCount + 1
    } else {
      pipeline.retryCount = pipeline.retryCount == .max ? .max : pipeline.retryCount + 1
    }
    (tally.verdict, tally.startsOver) = (nil, false)
    (tally.waitUntil, tally.isBackoff) = (until, isBackoff)
  }

  private func startOver(
    _ tally: inout FlushTally, _ record: inout BatchRetryState, _ pipeline: inout PipelineRetryState
  ) {
    record = BatchRetryState()
    pipeline.retryCount = 0
    (tally.waitUntil, tally.isBackoff, tally.startsOver) = (0, false, true)
  }

  /// Whether a wait of the whole client that ends at `until` can't be one of its own: the clock has moved, or the cap has
  /// (`RetryPolicy.limitReached` at `resetStateAndDropFlush`). It is further away than 1.1 times the cap, or the first failure
  /// lies in the future.
  public func isImpossible(
    waitUntil until: Int64, isBackoff: Bool, client record: BatchRetryState, now: Int64
  ) -> Bool {
    let cap = isBackoff ? capOfBackoffs : longestWait
    if record.firstFailureTime != .min, record.firstFailureTime > now { return true }
    return until > saturatingSum(saturatingSum(now, max(0, cap)), max(0, cap) / 10)
  }

  private var longestWait: Int64 { max(config.rateLimit.maxRetryInterval, config.longestRetryAfter(policy)) }

  /// The cap of the Settings, where a backoff is at most a tenth longer, as the shipped client's is; else the longest that is drawn.
  private var capOfBackoffs: Int64 {
    if case .symmetric = config.backoff.jitter { return config.backoff.longestWait(policy) }
    return policy.waits.isEmpty ? config.backoff.maxBackoffInterval : config.backoff.longestWait(policy)
  }

  /// The age beyond which an event is dropped at a flush, microseconds; nil: there is none (`RetryPolicy.ageLimit`).
  public var maximumEventAge: Int64? {
    policy.ageLimit == .eventAgeSinceQueued ? config.backoff.maxTotalBackoffDuration : nil
  }
}
