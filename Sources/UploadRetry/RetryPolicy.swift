/// The switches of the retry machine that more than one client sets.
///
/// Plain values without references; the defaults are the document's. The behaviour of a single shipped client is no switch but
/// one of its quirks (`RetryQuirks`).
public struct RetryPolicy: Sendable, Hashable, BitwiseCopyable {
  /// S10: true clamps backoff + jitter to the cap again; false adds the jitter after the cap.
  public var clampAfterJitter = false
  /// S7: what a Retry-After on a retryable status does, but for a 429 that pauses the pipeline.
  public var retryAfterOnOtherCodes = RetryAfterOnOtherCodes.ignored
  /// S4: which forms of Retry-After the client reads; the transport passes it to `RetryAfter.parse`.
  public var retryAfterForms = RetryAfter.Forms.secondsOrDate
  /// S9: what a failure without an HTTP status leads to.
  public var noStatus = NoStatus.backoff
  /// S2: what `X-Retry-Count` says, and when it is left out.
  public var retryCountHeader = RetryCountHeader.always
  /// S12: what happens when a limit is reached.
  public var limitReached = LimitReached.dropBatch
  /// S15: what a 429 does while `rateLimitConfig` is off.
  public var rateLimitingOff = RateLimitingOff.legacy
  /// S13: what a missing section of the Settings means; passed to `HTTPConfig.decode`.
  public var missingSection = MissingSection.defaultsOn
  /// S12: how often a batch is sent at most.
  public var sendsAtLimit = SendsAtLimit.maxRetryCountPlusOne
  /// S11: what `maxTotalBackoffDuration` is compared with.
  public var ageLimit = AgeLimit.sinceFirstFailure
  /// Whether it is the events that have an age, failed or not.
  @inlinable
  public var looksAtEventAge: Bool {
    if case .eventAgeSinceQueued = ageLimit { true } else { false }
  }
  /// S6: a client that can authenticate retries a 511 that no setting decides; others drop it.
  public var supportsOAuth = false
  /// S4, O2, D5: what a 429 makes wait.
  public var rateLimited = RateLimited.pausesPipeline
  /// Jitter on Retry-After, added after the cap; one that only lengthens.
  public var retryAfterJitter = Jitter.none
  /// What draws a jitter's random word anew.
  public var jitterDraw = JitterDraw.eachWait

  /// S11, S12: whether the limits are looked at for batches that still wait.
  public var limitsCheck = LimitsCheck.whenDue
  /// S11: what a 429 leaves in its batch's record.
  public var rateLimitRecord = RateLimitRecord.failure
  /// S15: what a retryable failure leads to while `backoffConfig` is off.
  public var backoffOff = BackoffOff.legacy
  /// S13, S15: what a client does without Settings that it can read.
  public var withoutSettings = WithoutSettings.legacy
  /// S13: what a 429 leads to that `statusCodeOverrides` or `default4xxBehavior` drop.
  public var overridden429 = Overridden429.ignored
  /// S8: what an answer below 200 leads to.
  public var belowSuccess = BelowSuccess.asTable
  /// O2: base and longest wait by the failure's class. A client that acts when a flush ends has one wait for all of its failures,
  /// `backoffConfig`'s.
  public var classDelays = ClassDelays()
  /// S10: what a backoff is multiplied by at each failure, 1 … 10; 1 makes all waits the base.
  public var multiplier = 2.0
  /// S10: waits one after another in place of base, multiplier and cap. Decorrelated jitter, which goes by the wait before, knows the
  /// first and the longest of them.
  public var waits = DelayLadder()
  /// Retries without a wait, before the first backoff: at once with a timer, else at the next trigger. The first backoff is then
  /// as long as after the first failure.
  public var immediateRetries: UInt8 = 0
  /// S4: what the client takes a longer Retry-After for, microseconds, before `maxRetryInterval`; `.max`: it obeys any.
  public var longestRetryAfter = Int64.max
  /// S3: what a backoff makes wait.
  public var backoffHolds = BackoffHolds.batch
  /// S4: what ends the wait after a 429 that asks for a longer one.
  public var retryAfterCap = RetryAfterCap.maxRetryInterval

  /// The document's own behaviour.
  public init() {}
}

// MARK: - Values of the switches

extension RetryPolicy {
  /// How long a device keeps its place within a jitter's range.
  public enum JitterDraw: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    case eachWait
    /// For good: all of its waits are longer, or shorter, by the same share of the range.
    case onceADevice
  }

  /// The limit on a longer Retry-After of a 429 (S4).
  public enum RetryAfterCap: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// `maxRetryInterval`, or `longestRetryAfter` if that is shorter.
    case maxRetryInterval
    /// `longestRetryAfter` alone, whatever the Settings say; without one 366 days.
    case longestRetryAfter
  }

  /// The effect of a Retry-After on a retryable status, but for a 429 that pauses the pipeline (S7).
  public enum RetryAfterOnOtherCodes: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Nothing: the batch backs off.
    case ignored
    /// As on a 429: the whole pipeline waits, and the failure counts on the global counter, not on the batch.
    /// While `rateLimitConfig` is off it is ignored.
    case pausesPipeline
    /// The batch backs off, but no shorter than that (O2).
    case delaysBatch
    /// The batch waits so long in place of its backoff, be that longer or shorter.
    case replacesBackoff

    /// Whether the batch waits by it, with its backoff or in its place.
    public var isWaitOfBatch: Bool { self == .delaysBatch || self == .replacesBackoff }
  }

  /// The part of the client that a backoff makes wait (S3).
  public enum BackoffHolds: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The batch; others go on.
    case batch
    /// The whole client, as one that sleeps between the tries of an upload: nothing else leaves until the wait is over. With
    /// `limitsCheck` at `beforeDue` no wait follows the answer that reaches the limit on retries.
    case client
  }

  /// The part of the client that a 429 makes wait (S4, O2, D5).
  public enum RateLimited: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The whole pipeline, by `rateLimitConfig`.
    case pausesPipeline
    /// The batch: it is a retryable status like others, by `backoffConfig` (D5). Its Retry-After is what it is on those
    /// (`retryAfterOnOtherCodes`).
    case delaysBatch
  }

  /// The consequence of a failure without an HTTP status (S9).
  public enum NoStatus: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The batch backs off.
    case backoff
    /// Retry state is left as it is; tried again at the next flush.
    case untouched
    /// Treated as the Settings treat a 500; but where they drop it, the batch stays and its record is made fresh.
    case asStatus500
    /// Counted as with `backoff`, but the whole client waits.
    case clientBackoff
  }

  /// The value of `X-Retry-Count` (S2).
  public enum RetryCountHeader: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Always there: 0 on a first try, then the batch's own count if it has one, else the global one.
    case always
    /// The larger of the batch's and the global count, on first tries too; left out when it is 0.
    case onlyAboveZeroMaxOfBatchAndGlobal
    /// All failures since the client's state was fresh, 429s and others together; left out when it is 0. It needs one retry
    /// record for the client.
    case clientCounter
    /// Nothing: the header is never there.
    case never
  }

  /// The consequence of reaching a limit on retries (S11, S12).
  public enum LimitReached: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The batch is dropped; the global counter starts over if the limit was its own.
    case dropBatch
    /// The client checks the limit when the uploads of a flush have been answered. It makes all retry state fresh and drops what
    /// has failed in that flush. This value needs one retry record for the client.
    case resetStateAndDropFlush
    /// Nothing is lost: after the last try the batch is pending again, and its schedule starts over at the next
    /// trigger (D4). Its age has no limit.
    case startOverAtNextTrigger
  }

  /// The effect of a 429 while `rateLimitConfig` is off (S15).
  public enum RateLimitingOff: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Nothing: tried again at the next trigger.
    case legacy
    /// The batch is dropped, as after a status that is not retried.
    case drop
  }

  /// The meaning of a missing section of the Settings (S13).
  public enum MissingSection: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Its defaults, enabled.
    case defaultsOn
    /// Legacy: not enabled.
    case off
  }

  /// How often a batch is sent at most (S12).
  public enum SendsAtLimit: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// So many *re*tries: dropped when the count is larger than `maxRetryCount`.
    case maxRetryCountPlusOne
    /// The batch is dropped when the count has reached `maxRetryCount`. A batch that has not failed has no count of its own, but
    /// the global one is compared too. So 0 refuses every first try.
    case maxRetryCount
  }

  /// The span that is compared with `maxTotalBackoffDuration` (S11).
  public enum AgeLimit: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The time since the batch's first retryable failure, before each retry.
    case sinceFirstFailure
    /// The age of each event since it was queued, before each send and at each flush. A client that cuts its batches anew drops
    /// events beyond it one by one, another the whole batch of such an event. A client that acts when a flush ends then
    /// compares the time since its first failure too.
    case eventAgeSinceQueued
    /// The time from the batch's first retryable failure to the retry that a failure leads to. The client gives up at once a
    /// batch whose next wait would end later.
    case untilNextRetry
  }

  /// Whether the limits are looked at for batches that still wait (S11, S12).
  public enum LimitsCheck: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Only a batch that is due and about to be sent is dropped.
    case whenDue
    /// Each loop looks at every batch, and a limit comes before the wait.
    case beforeDue
  }

  /// The trace that a 429 leaves in its batch's record (S11).
  public enum RateLimitRecord: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// A failure: its age starts, and `rateLimitConfig` sets its limits from then on.
    case failure
    /// Nothing: only the client counts it.
    case untouched
  }

  /// The consequence of a retryable failure while `backoffConfig` is off (S15).
  public enum BackoffOff: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It counts, and is tried again at the next trigger.
    case legacy
    /// Tried again at the next trigger, its record made fresh; with both sections off no status drops.
    case forgets
    /// The batch is dropped, as after a status that is not retried.
    case drop
  }

  /// The behaviour of a client without Settings that it can read (S13, S15).
  public enum WithoutSettings: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The document's: both sections have their defaults, or are off one by one.
    case legacy
    /// Only a 400 drops, and no state is kept; with both sections off a wait that was saved holds nothing back.
    case drops400
    /// 4xx but 429 drop. State that is there is looked at and never changed, but that a 3xx makes the record of its batch fresh. The same
    /// with both sections off.
    case drops4xx
  }

  /// The consequence of a 429 that the Settings drop (S13).
  public enum Overridden429: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It follows `rateLimitConfig` alone.
    case ignored
    /// The batch is dropped.
    case drops
    /// The batch is dropped, and the client waits all the same.
    case dropsAndPauses
  }

  /// The consequence of an answer below 200 (S8).
  public enum BelowSuccess: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// As the Settings and the tables say.
    case asTable
    /// 1 … 199: the client takes the batch for delivered; its counters stay.
    case discarded
    /// The client takes the batch for delivered, and its counters start over.
    case resets
  }

}

// MARK: - What the caller applies

extension RetryPolicy {
  /// Returns the `X-Retry-Count` for a `SendDecision.send(retryCount:)`; nil leaves the header out (S2).
  @inlinable
  public func headerValue(_ retryCount: UInt16) -> UInt16? {
    if retryCount > 0 { return retryCount }
    switch retryCountHeader {
    case .always: return 0
    case .onlyAboveZeroMaxOfBatchAndGlobal, .clientCounter, .never: return nil
    }
  }

  /// A wait that the server has asked for, with the jitter on it.
  ///
  /// - `word`: 64 uniform bits; not looked at without jitter.
  public func spreading(_ wait: Int64, word: UInt64) -> Int64 {
    if retryAfterJitter.isNone || wait <= 0 { return wait }
    return retryAfterJitter.delay(of: wait, longest: wait, word: word)
  }
}

/// The decisions of a single shipped client that differ from the document's. The machine asks for them at each such decision; an
/// app's client has none. The quirks themselves are in `ShippedQuirks`, which the fleet links and an app does not.
/// Classes, so that a machine holds any of them without a box.
public protocol RetryQuirks: AnyObject, Sendable {
  /// S4: what a 429 without a usable Retry-After makes the pipeline wait, microseconds; nil: a backoff on the global count.
  ///
  /// - Parameter longest: `maxRetryInterval`, microseconds.
  func waitWithoutRetryAfter(longest: Int64) -> Int64?
  /// S10: the failures that the exponent of a backoff counts, of a record with `own` failures.
  func failuresCounted(_ own: UInt16, _ pipeline: PipelineRetryState) -> UInt16
  /// S10: returns the wait that a client makes of a drawn one.
  ///
  /// - Parameters:
  ///   - drawn: the wait that the policy draws, microseconds.
  ///   - unclamped: the same draw before it was clamped to the cap, microseconds.
  ///   - backoff: the wait before jitter, microseconds.
  ///   - cap: the longest wait, microseconds; nil: additive jitter may exceed it.
  ///   - jitter: the strategy that drew it.
  func wait(
    drawn: Int64, unclamped: Int64, backoff: Int64, cap: Int64?, jitter: Jitter
  ) -> Int64
  /// S16: whether a 2xx ends the pipeline's wait although another batch of its flush has failed.
  var successEndsWaitAfterFailure: Bool { get }
  /// S16: whether a wait of the pipeline stays when another is announced.
  func keepsWait(until: Int64, isBackoff: Bool, announced: Int64, isBackoff announcedIsBackoff: Bool) -> Bool
}

/// The document's own decisions.
final class NoQuirks: RetryQuirks {
  func waitWithoutRetryAfter(longest: Int64) -> Int64? { longest }
  func failuresCounted(_ own: UInt16, _: PipelineRetryState) -> UInt16 { own }
  func wait(drawn: Int64, unclamped _: Int64, backoff _: Int64, cap _: Int64?, jitter _: Jitter) -> Int64 {
    drawn
  }
  var successEndsWaitAfterFailure: Bool { true }
  func keepsWait(until _: Int64, isBackoff _: Bool, announced _: Int64, isBackoff _: Bool) -> Bool { false }
}

/// Waits one after another in place of base · multiplierⁿ; the last repeats.
///
/// Sixty-five bytes without references: a policy is copied into hot loops.
public struct DelayLadder: Sendable, Hashable, BitwiseCopyable {
  /// Waits at most.
  public static let longest = 16

  /// Milliseconds, the first `count` of them in use.
  private var waits = SIMD16<UInt32>.zero
  /// How many there are, 0 … `longest`.
  public private(set) var count: UInt8 = 0

  /// No ladder: backoffs double, or grow by the policy's multiplier.
  public init() {}

  /// - Parameter milliseconds: 1 … `longest` waits, each from 1 ms to 49 days.
  /// - Returns: nil for none, for too many, and for a wait that is 0.
  public init?(milliseconds: [UInt32]) {
    guard (1...Self.longest).contains(milliseconds.count), !milliseconds.contains(0) else { return nil }
    for (index, wait) in milliseconds.enumerated() { waits[index] = wait }
    count = UInt8(milliseconds.count)
  }

  /// Whether there is none.
  @inlinable public var isEmpty: Bool { count == 0 }

  /// The waits, milliseconds.
  public var milliseconds: [UInt32] { (0..<Int(count)).map { waits[$0] } }

  /// The wait after so many earlier failures, microseconds; `self` is not empty.
  func wait(afterFailures failures: Int) -> Int64 {
    Int64(waits[min(max(failures, 0), Int(count) - 1)]) * 1_000
  }

  /// The longest of them, microseconds.
  var longestWait: Int64 { Int64(waits.max()) * 1_000 }
}

/// How backoffs grow from one failure to the next.
extension RetryPolicy {
  /// Whether backoffs are base · 2ⁿ, as the document has them (S10).
  var doubles: Bool { waits.isEmpty && multiplier == 2 && immediateRetries == 0 }

  /// The backoff before jitter, microseconds, and the bounds within which jitter may move it.
  ///
  /// With a ladder its waits stand for the base and the cap. Without a ladder the backoff is base · multiplierⁿ, at most the
  /// longest wait. The power is multiplied step by step, so that it is the same on every platform.
  ///
  /// - `failures`: earlier failures that count, those that were retried at once left out.
  /// - Complexity: O(1) with a ladder or a multiplier of 2, else by the steps from the base to the longest wait.
  func backoff(afterFailures failures: Int, _ bounds: DelayBounds) -> (wait: Int64, bounds: DelayBounds) {
    if !waits.isEmpty {
      let bounds = DelayBounds(base: waits.wait(afterFailures: 0), longest: waits.longestWait)
      return (waits.wait(afterFailures: failures), bounds)
    }
    if multiplier == 2 {
      return (Jitter.backoff(retryCount: failures, base: bounds.base, cap: bounds.longest), bounds)
    }
    let (base, longest) = (max(bounds.base, 0), max(bounds.longest, 0))
    var wait = Double(base)
    if multiplier > 1, base > 0 {
      for _ in 0..<min(failures, Int(UInt16.max)) {
        if wait >= Double(longest) { break }
        wait *= multiplier
      }
    }
    return (wait >= Double(longest) ? longest : Int64(wait.rounded()), bounds)
  }
}

/// Base and longest wait of a backoff, microseconds: the first is `base`, none is longer than `longest` before additive jitter.
public struct DelayBounds: Sendable, Hashable, BitwiseCopyable {
  public var base: Int64
  public var longest: Int64

  public init(base: Int64, longest: Int64) {
    self.base = base
    self.longest = longest
  }
}

/// Backoffs by the class of the failure (O2); nil: `backoffConfig`'s.
public struct ClassDelays: Sendable, Hashable, BitwiseCopyable {
  /// 429, where no wait that the server asked for decides.
  public var rateLimit: DelayBounds?
  /// No answer, and 408: nobody knows how far the request came, or the server was too slow.
  public var timeout: DelayBounds?
  /// Every other status that is retried.
  public var server: DelayBounds?

  /// None.
  public init() {}

  /// The bounds after an answer.
  public subscript(response: UploadResponse) -> DelayBounds? {
    switch response {
    case .noStatus, .status(408, _): timeout
    case .status(429, _): rateLimit
    case .status: server
    }
  }
}
