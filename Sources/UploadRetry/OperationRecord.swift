/// An operation of a sync queue with all that its scheduling needs (O8): the batch's retry state, and what is kept for
/// people and schedulers to look at.
public struct OperationRecord: Sendable, Hashable, BitwiseCopyable {
  /// Counts and waits, for `RetryStateMachine`.
  public var retry: BatchRetryState
  /// Microseconds; `.min` before the first.
  public var lastAttemptAt: Int64
  /// Saturating; retries with refreshed credentials included.
  public var attemptCount: UInt16
  public var lastErrorClass: FailureClass.Kind
  public var state: State
  /// Permanent failures of the same class in a row.
  private var samePermanent: UInt8

  /// What a user interface shows (O10).
  @frozen
  public enum State: Sendable, Hashable, BitwiseCopyable {
    /// Not attempted yet.
    case pending
    case syncing
    /// Waits for `nextAttemptAt`.
    case willRetry
    /// Sent, and nobody knows whether it was applied: to be reconciled before it is sent again (O4).
    case unknown
    /// Needs attention.
    case blocked(BlockedReason)
    case done
  }

  /// Why an operation is not run any more, until `resume`.
  @frozen
  public enum BlockedReason: UInt8, Sendable, Hashable, CaseIterable {
    /// Too many attempts.
    case retryLimit
    /// Failing for too long.
    case age
    /// Credentials that do not work: sign in again.
    case authentication
    /// The server refuses it: fix it.
    case permanent
    /// The same refusal again after it was resumed: it is not resumed any more.
    case terminal
  }

  public init() {
    retry = BatchRetryState()
    lastAttemptAt = .min
    attemptCount = 0
    lastErrorClass = .none
    state = .pending
    samePermanent = 0
  }

  /// When it is due, microseconds; `.max`: not until somebody does something.
  public var nextAttemptAt: Int64 {
    switch state {
    case .pending: 0
    case .willRetry, .unknown: retry.retryAt
    case .syncing, .blocked, .done: .max
    }
  }

  /// Whether the scheduler may run it now. A resume of the app or a reconnect changes nothing about it (O8).
  public func isDue(now: Int64) -> Bool { nextAttemptAt <= now && nextAttemptAt != .max }

  /// Before an operation that may have been applied is sent again, the server is asked (O4).
  public var needsReconciliation: Bool { state == .unknown }
}

// MARK: - Steps

extension OperationRecord {
  /// What the caller does next.
  public enum Step: Sendable, Hashable {
    case done
    /// It is due at this time, microseconds.
    case retry(at: Int64)
    /// Ask the server at this time whether it was applied.
    case reconcile(at: Int64)
    /// Refresh credentials and run it once more, at once.
    case refreshCredentials
    case blocked(BlockedReason)
  }

  /// It is being sent.
  public mutating func attempt(now: Int64) {
    state = .syncing
    lastAttemptAt = now
    if attemptCount < .max { attemptCount += 1 }
  }

  public mutating func succeed() {
    let attempts = (attemptCount, lastAttemptAt)
    self = OperationRecord()
    (attemptCount, lastAttemptAt) = attempts
    state = .done
  }

  /// It has failed.
  ///
  /// - `machine`: with `RetryPolicy.offlineFirst` and the limits of `HTTPConfig.offlineFirst`.
  /// - `retryAfter`: what the server asked to wait, microseconds.
  public mutating func fail(
    _ failure: RequestFailure, of operation: OperationKind, by machine: RetryStateMachine,
    retryAfter: Int64? = nil, now: Int64, random: inout some RandomNumberGenerator
  ) -> Step {
    let meaning = FailureClass.classify(failure, of: operation)
    let isRepeated = !meaning.isRetryable && meaning.kind == lastErrorClass
    lastErrorClass = meaning.kind
    var status = failure.status
    if status == nil, !meaning.isRetryable { return block(.permanent, repeated: isRepeated) }
    if meaning.requiresAuthRefresh { status = 401 }
    var pipeline = PipelineRetryState()
    let response: UploadResponse = status.map { .status($0, retryAfter: retryAfter) } ?? .noStatus
    let outcome = machine.afterResponse(
      response, batch: &retry, pipeline: &pipeline, now: now, random: &random)
    switch outcome {
    case .refreshCredentials:
      state = .willRetry
      return .refreshCredentials
    case .retry(let time), .backOff(let time), .pause(let time), .refreshThenRetry(let time):
      // The limits are asked before a send; an operation that has none left is blocked at once.
      if let reason = machine.limitReached(retry, pipeline, now: time) {
        return block(reason == .age ? .age : .retryLimit, repeated: false)
      }
      retry.retryAt = time
      state = meaning.isAmbiguous ? .unknown : .willRetry
      return meaning.isAmbiguous ? .reconcile(at: time) : .retry(at: time)
    case .retryAtNextTrigger:
      state = .willRetry
      return .retry(at: now)
    case .delivered:
      succeed()
      return .done
    case .drop, .dropAndPause, .discarded:
      return block(meaning.kind == .authentication ? .authentication : .permanent, repeated: isRepeated)
    }
  }

  private mutating func block(_ reason: BlockedReason, repeated: Bool) -> Step {
    samePermanent = repeated ? min(samePermanent + 1, 2) : 1
    let reason =
      samePermanent >= 2 && (reason == .permanent || reason == .authentication) ? .terminal : reason
    state = .blocked(reason)
    return .blocked(reason)
  }

  /// The server has said whether it was applied (O4); nil: it could not say, and is asked again when this is due.
  public mutating func reconcile(wasApplied: Bool?) {
    guard state == .unknown, let wasApplied else { return }
    if wasApplied { succeed() } else { state = .willRetry }
  }

  /// Somebody has done something about it: it is due at once with fresh limits, but for what is terminal.
  ///
  /// - Returns: whether it will run again.
  public mutating func resume() -> Bool {
    guard case .blocked(let reason) = state, reason != .terminal else { return false }
    retry = BatchRetryState()
    state = .pending
    return true
  }
}
