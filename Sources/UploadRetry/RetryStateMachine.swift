/// What the transport reports of one upload.
@frozen
public enum UploadResponse: Sendable, Hashable {
  /// An HTTP status; `retryAfter` in microseconds as already parsed from the header (`RetryAfter.parse`), nil if absent.
  case status(Int, retryAfter: Int64?)
  /// No HTTP status: time-out, reset, refused, DNS (S9).
  case noStatus
}

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
  /// 429: the pipeline waits until this time; the loop ends at once (S3, S4). The batch itself is due when the gate opens.
  case pause(until: Int64)
  /// Legacy (S15): tried again at the next trigger, no wait, the loop goes on.
  case retryAtNextTrigger
  case drop(DropReason)
}

/// Whether a batch may be sent now.
@frozen
public enum SendDecision: Sendable, Hashable {
  /// Send, with this `X-Retry-Count` (S2).
  case send(retryCount: UInt16)
  case notDue(until: Int64)
  case drop(DropReason)
}

/// Maps (state, response) to state; no clock, no I/O. CONTRACT: signatures are fixed, bodies are placeholders.
public struct RetryStateMachine: Sendable {
  public let config: HTTPConfig
  public let policy: RetryPolicy

  public init(config: HTTPConfig, policy: RetryPolicy = .tapiDocument) {
    self.config = config
    self.policy = policy
  }

  /// Asked before every send (S11, S12, S16).
  public func beforeSend(batch: BatchRetryState, pipeline: inout PipelineRetryState, now: Int64) -> SendDecision {
    .send(retryCount: batch.failureCount)
  }

  /// Asked after every answer.
  public func afterResponse(
    _ response: UploadResponse, batch: inout BatchRetryState, pipeline: inout PipelineRetryState, now: Int64,
    random: inout some RandomNumberGenerator
  ) -> RetryOutcome {
    if case .status(200, _) = response { return .delivered }
    batch.failureCount &+= 1
    return .retry(at: now + 5_000_000)
  }
}
