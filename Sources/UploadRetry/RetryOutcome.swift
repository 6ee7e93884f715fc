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
  /// The whole client backs off until this time (microseconds): as `pause`, but by a backoff, which matters to
  /// a gate that keeps the two kinds of wait apart (`RetryPolicy.twoWaits`). With `RetryPolicy.noStatus` at
  /// `clientBackoff` only.
  case backOff(until: Int64)
  /// Legacy (S15), or no status with `RetryPolicy.noStatus` at `untouched`: tried again at the next trigger,
  /// no wait, the loop goes on.
  case retryAtNextTrigger
  /// 401 (O9): the caller refreshes its credentials and sends the batch once more, without any wait. With
  /// `RetryPolicy.unauthorized` at `refreshThenRetryOnce` only.
  case refreshCredentials
  /// 511 (S6): the caller refreshes its credentials; the batch waits until this time (microseconds), or until they are there if
  /// that is later.
  case refreshThenRetry(at: Int64)
  /// The batch is given up, for this reason: lost, or blocked (`RetryPolicy.givenUp`).
  case drop(DropReason)
  /// The batch is given up, and the pipeline waits until this time (`RetryPolicy.overridden429` at `dropsAndPauses`).
  case dropAndPause(DropReason, until: Int64)
  /// The client takes the batch for delivered, though the server has not accepted it, and its state stays
  /// (`RetryPolicy.belowSuccess` at `discarded`).
  case discarded
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
