/// One repair of a snapshot that has been loaded (S18).
public struct SnapshotRepair: Sendable, Hashable, CustomStringConvertible {
  /// What was wrong, and what is done about it.
  public enum Kind: Sendable, Hashable {
    /// The snapshot cannot be read, for this reason: fresh state.
    case unreadable(reason: String)
    /// The pipeline's wait was over: ready.
    case waitIsOver
    /// The pipeline's wait ended further away than any wait can, so the clock has moved: the longest wait.
    case waitClamped
    /// A batch's wait ended further away than any wait can: the longest wait.
    case batchWaitClamped
    /// The first failure lay in the future: now.
    case firstFailureInTheFuture
    /// A count was above what the limits let it reach: the limit.
    case countClamped
    /// An upload was under way: its outcome is unknown, and the batch is due again.
    case unknownOutcome
    /// The parts of a batch's state contradict one another: fresh state for it.
    case inconsistentBatch
    /// A second record of one batch: dropped.
    case duplicateBatch
  }

  public var kind: Kind
  /// The batch that it is about; nil: the client.
  public var batch: UInt64?

  public init(_ kind: Kind, batch: UInt64? = nil) {
    self.kind = kind
    self.batch = batch
  }

  /// One line for a log.
  public var description: String {
    let what =
      switch kind {
      case .unreadable(let reason): "the snapshot is not used, state is fresh: \(reason)"
      case .waitIsOver: "the wait is over; ready"
      case .waitClamped: "the wait ends further away than the cap allows; clamped"
      case .batchWaitClamped: "its wait ends further away than the cap allows; clamped"
      case .firstFailureInTheFuture: "the first failure lies in the future; now is taken"
      case .countClamped: "a count is above its limit; clamped"
      case .unknownOutcome: "an upload was under way; its outcome is unknown, it is due again"
      case .inconsistentBatch: "its state contradicts itself; fresh state"
      case .duplicateBatch: "a second record of it; dropped"
      }
    return batch.map { "batch \($0): \(what)" } ?? what
  }
}

extension RetrySnapshot {
  /// The snapshot as a client may use it now (S18), and what had to be repaired; any value is safe.
  ///
  /// - A pipeline's wait that is over becomes 0 (READY). One that ends further away than the cap is clamped to
  ///   now + the cap: `maxRetryInterval` after a rate limit, the longest backoff after one.
  /// - A batch that is due stays so. A wait further away than the longest backoff is clamped to that:
  ///   `maxBackoffInterval` plus the largest jitter, unless the policy clamps that away.
  /// - A first failure in the future becomes now, so that the age limit still ends some time.
  /// - A count above its limit becomes the limit + 1, which is the largest that still acts as it should.
  /// - A batch whose upload was under way is due again, with its counts as they were before the upload.
  ///
  /// Waits of a section that is off (S15) are gone: ready, due.
  ///
  /// - Parameters:
  ///   - now: wall-clock microseconds since 1970; a negative one is taken as 0.
  ///   - config: the Settings that the client starts with.
  ///   - policy: the switches that it starts with.
  /// - Returns: the state, and the repairs in a fixed order: the client first, then the batches in theirs.
  /// - Complexity: linear in the batches, expected.
  public func validated(
    now: Int64, config: HTTPConfig, policy: RetryPolicy = .tapiDocument
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    let now = max(0, now)
    var repairs: [SnapshotRepair] = []
    var result = RetrySnapshot()
    let backoffCap = config.backoff.isEnabled ? config.longestBackoff(policy) : 0
    let batchCap =
      config.backoff.isEnabled && policy.retryAfterOnOtherCodes == .delaysBatch
      ? .max : backoffCap  // A Retry-After that delays a batch has no cap (O2).
    let rateLimitCap = config.rateLimit.isEnabled ? config.longestPause(policy) : 0

    if waitUntil != 0 {
      let latest = saturatingSum(now, isWaitBackoff ? backoffCap : rateLimitCap)
      if waitUntil <= now {
        repairs.append(.init(.waitIsOver))
      } else {
        result.isWaitBackoff = isWaitBackoff
        result.waitUntil = min(waitUntil, latest)
        if waitUntil > latest { repairs.append(.init(.waitClamped)) }
        if result.waitUntil == now {
          result.waitUntil = 0
          result.isWaitBackoff = false
        }
      }
    }
    result.pipeline.retryCount = clampCount(
      pipeline.retryCount, config.rateLimit.maxRetryCount, config.rateLimit.isEnabled, nil, &repairs)

    var seen: Set<UInt64> = []
    for batch in batches {
      guard seen.insert(batch.id).inserted else {
        repairs.append(.init(.duplicateBatch, batch: batch.id))
        continue
      }
      var batch = batch
      if batch.isInFlight {
        batch.isInFlight = false
        batch.state.retryAt = 0
        repairs.append(.init(.unknownOutcome, batch: batch.id))
      }
      if !batch.state.isConsistent {
        batch.state = BatchRetryState()
        repairs.append(.init(.inconsistentBatch, batch: batch.id))
      }
      let latest = saturatingSum(now, batchCap)
      if batch.state.retryAt > latest {
        batch.state.retryAt = batchCap == 0 ? 0 : latest
        repairs.append(.init(.batchWaitClamped, batch: batch.id))
      }
      if batch.state.firstFailureTime > now {
        batch.state.firstFailureTime = now
        repairs.append(.init(.firstFailureInTheFuture, batch: batch.id))
      }
      batch.state.failureCount = clampCount(
        batch.state.failureCount, config.backoff.maxRetryCount, config.backoff.isEnabled, batch.id, &repairs)
      result.batches.append(batch)
    }
    return (result, repairs)
  }

  private func clampCount(
    _ count: UInt16, _ maximum: Int, _ isLimited: Bool, _ batch: UInt64?, _ repairs: inout [SnapshotRepair]
  ) -> UInt16 {
    let limit = UInt16(clamping: saturatingSum(Int64(max(0, maximum)), 1))
    guard isLimited, count > limit else { return count }
    repairs.append(.init(.countClamped, batch: batch))
    return limit
  }
}

extension BatchRetryState {
  /// Whether the machine could have left this state behind.
  fileprivate var isConsistent: Bool {
    switch latestFailure {
    case .none:
      var state = self
      state.hasRefreshedCredentials = false
      if hasRefreshedCredentials { state.retryAt = 0 }
      return state == BatchRetryState()
    case .rateLimited: return firstFailureTime != .min && (retryAt == 0 || hasRefreshedCredentials)
    // A count of 0: what failed was a question whether an earlier upload was applied, which uses up no attempt (O4).
    case .transient: return firstFailureTime != .min
    }
  }
}

extension BackoffConfig {
  /// The longest wait that `Jitter.delay` can draw, microseconds.
  func longestWait(_ policy: RetryPolicy) -> Int64 {
    let cap = max(0, maxBackoffInterval)
    let longest = policy.backoff(afterFailures: .max, DelayBounds(base: cap, longest: cap)).bounds.longest
    return jitter.delay(
      of: longest, base: longest, cap: longest, previousDelay: longest,
      clampAfterJitter: policy.clampAfterJitter, word: .max)
  }
}

extension HTTPConfig {
  /// The longest backoff after a failure of any class, microseconds.
  func longestBackoff(_ policy: RetryPolicy) -> Int64 {
    ClassDelays.names.reduce(backoff.longestWait(policy)) { longest, name in
      guard let delay = policy.classDelays[keyPath: name.path] else { return longest }
      var part = backoff
      part.maxBackoffInterval = delay.longest
      return max(longest, part.longestWait(policy))
    }
  }

  /// The longest Retry-After that a client obeys, microseconds.
  func longestRetryAfter(_ policy: RetryPolicy) -> Int64 {
    let longest: Int64 =
      switch policy.retryAfterCap {
      case .maxRetryInterval: rateLimit.maxRetryInterval
      case .longestRetryAfter: 31_622_400_000_000
      }
    return min(longest, policy.longestRetryAfter)
  }

  /// The longest wait that a rate limit can lead to, microseconds: with a backoff on 429s that have no
  /// Retry-After, additive jitter comes on top.
  func longestPause(_ policy: RetryPolicy) -> Int64 {
    let longest = policy.spreading(max(0, rateLimit.maxRetryInterval, longestRetryAfter(policy)), word: .max)
    guard case .exponentialBackoff = policy.missingRetryAfter else { return longest }
    var part = backoff
    let cap = max(backoff.maxBackoffInterval, policy.classDelays.rateLimit?.longest ?? 0)
    part.maxBackoffInterval = min(cap, longest)
    return max(longest, part.longestWait(policy))
  }
}
