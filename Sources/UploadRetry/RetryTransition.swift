/// A step of the pipeline or of a batch, as a value to log (S20).
///
/// Made by pure functions of the state before and what the machine said, so that a client that does not log pays
/// nothing. States that stay what they are (READY after a 2xx) are steps too, as in the document's table.
public struct RetryTransition: Sendable, Hashable {
  public enum Subject: Sendable, Hashable {
    /// The whole client: the document's READY and WAITING.
    case pipeline
    /// One batch; which, the caller knows.
    case batch
  }

  public enum State: Sendable, Hashable {
    /// Nothing to wait for.
    case ready
    /// Until this time, microseconds.
    case waiting(until: Int64)
    /// The batch's end.
    case delivered
    /// The batch's other end.
    case dropped(DropReason)
  }

  public enum Cause: Sendable, Hashable {
    /// The transport's report of an upload.
    case response(UploadResponse)
    /// The wait was over when it was looked at.
    case waitReached
    /// A limit was found reached before a send.
    case limit
  }

  public var subject: Subject
  public var from: State
  public var to: State
  public var cause: Cause
  /// When, microseconds on the caller's clock.
  public var time: Int64

  /// How long the new state lasts, microseconds; 0 if it waits for nothing.
  public var wait: Int64 {
    guard case .waiting(let until) = to, until > time else { return 0 }
    let (wait, overflow) = until.subtractingReportingOverflow(time)
    return overflow ? .max : wait
  }

  public init(_ subject: Subject, from: State, to: State, cause: Cause, time: Int64) {
    self.subject = subject
    self.from = from
    self.to = to
    self.cause = cause
    self.time = time
  }
}

// MARK: - The pipeline

extension RetryTransition {
  /// The pipeline's step after an answer.
  ///
  /// - `before`: the gate's `waitUntil` before the answer.
  /// - `after`: its `waitUntil` once the outcome has been applied.
  public static func pipeline(
    waitUntil before: Int64, after: Int64, response: UploadResponse, now: Int64
  ) -> RetryTransition {
    RetryTransition(
      .pipeline, from: state(before, now), to: state(after, now), cause: .response(response), time: now)
  }

  /// The pipeline's step at a trigger: WAITING to READY if a wait has been reached since `last`; nil if nothing
  /// changed.
  ///
  /// - `waitUntil`: the gate's.
  /// - `last`: when it was looked at before.
  public static func pipeline(waitUntil: Int64, lastLookedAt last: Int64, now: Int64) -> RetryTransition? {
    guard last < waitUntil, now >= waitUntil else { return nil }
    return RetryTransition(
      .pipeline, from: .waiting(until: waitUntil), to: .ready, cause: .waitReached, time: now)
  }

  private static func state(_ waitUntil: Int64, _ now: Int64) -> State {
    waitUntil > now ? .waiting(until: waitUntil) : .ready
  }
}

// MARK: - A batch

extension RetryTransition {
  /// A batch's step after an answer. After a pause the batch itself waits for nothing but the pipeline.
  public static func batch(
    _ before: BatchRetryState, response: UploadResponse, outcome: RetryOutcome, now: Int64
  ) -> RetryTransition {
    let to: State =
      switch outcome {
      case .delivered: .delivered
      case .retry(let time), .refreshThenRetry(let time): .waiting(until: time)
      case .pause, .backOff, .retryAtNextTrigger, .refreshCredentials: .ready
      case .drop(let reason), .dropAndPause(let reason, _): .dropped(reason)
      case .discarded: .dropped(.status)
      }
    return RetryTransition(
      .batch, from: state(before.retryAt, now), to: to, cause: .response(response), time: now)
  }

  /// A batch's step before a send: to READY when its wait has been reached, or to its end at a limit; nil if
  /// nothing changed.
  public static func batch(
    _ before: BatchRetryState, decision: SendDecision, now: Int64
  ) -> RetryTransition? {
    let from: State = before.retryAt > 0 ? .waiting(until: before.retryAt) : .ready
    switch decision {
    case .send:
      if from == .ready { return nil }
      return RetryTransition(.batch, from: from, to: .ready, cause: .waitReached, time: now)
    case .notDue:
      return nil
    case .drop(let reason):
      return RetryTransition(.batch, from: from, to: .dropped(reason), cause: .limit, time: now)
    }
  }
}

// MARK: - Words

extension RetryTransition: CustomStringConvertible {
  /// One line: `12.5 s pipeline READY > WAITING until 42.5 s (30 s): 429, Retry-After 30 s`.
  public var description: String {
    let length = wait > 0 ? " (\(decimal(millionths: wait)) s)" : ""
    return "\(decimal(millionths: time)) s \(subject) \(from) > \(to)\(length): \(cause)"
  }
}

extension RetryTransition.State: CustomStringConvertible {
  public var description: String {
    switch self {
    case .ready: "READY"
    case .waiting(let until): "WAITING until \(decimal(millionths: until)) s"
    case .delivered: "DELIVERED"
    case .dropped(let reason): "DROPPED (\(reason))"
    }
  }
}

extension RetryTransition.Cause: CustomStringConvertible {
  public var description: String {
    switch self {
    case .response(.status(let code, nil)): "\(code)"
    case .response(.status(let code, let wait?)): "\(code), Retry-After \(decimal(millionths: wait)) s"
    case .response(.noStatus): "no status"
    case .waitReached: "wait reached"
    case .limit: "limit reached"
    }
  }
}
