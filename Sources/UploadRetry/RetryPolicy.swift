/// The switches of the last table of the requirements: where shipped clients and the document part.
///
/// Plain values without references. `tapiDocument` is the document's column, the other presets are the shipped
/// clients'; `switches` is the same as a table that can be printed and set by name. Two rows of that table are
/// decided by whoever owns the queue, not here: *retry state* (one `BatchRetryState` for each batch file, or
/// one for a client that re-chunks its events at each flush) and *uploads at once* (1, or all of a flush).
public struct RetryPolicy: Sendable, Hashable, BitwiseCopyable {
  /// S10: true clamps backoff + jitter to the cap again; false adds the jitter after the cap.
  public var clampAfterJitter = false
  /// S4: what a 429 without a usable Retry-After waits.
  public var missingRetryAfter = MissingRetryAfter.maxRetryInterval
  /// S7: what a Retry-After on a retryable status other than 429 does.
  public var retryAfterOnOtherCodes = RetryAfterOnOtherCodes.ignored
  /// S4: which forms of Retry-After the client reads; the transport passes it to `RetryAfter.parse`.
  public var retryAfterForms = RetryAfter.Forms.secondsOrDate
  /// O11: whether the client reads `X-RateLimit-Reset` where an answer has no usable Retry-After; see `wait(retryAfter:…)`.
  public var readsRateLimitReset = false
  /// S9: what a failure without an HTTP status leads to.
  public var noStatus = NoStatus.backoff
  /// S2: what `X-Retry-Count` says, and when it is left out.
  public var retryCountHeader = RetryCountHeader.always
  /// S16: what a wait of the pipeline that is announced during another does; the gate's owner applies it.
  public var twoWaits = TwoWaits.laterReplaces
  /// S12: what happens when a limit is reached.
  public var limitReached = LimitReached.dropBatch
  /// S15: what a 429 does while `rateLimitConfig` is off.
  public var rateLimitingOff = RateLimitingOff.legacy
  /// S13: what a missing section of the Settings means; passed to `HTTPConfig.decode`.
  public var missingSection = MissingSection.defaultsOn
  /// S12: how often a batch is sent at most.
  public var sendsAtLimit = SendsAtLimit.maxRetryCountPlusOne
  /// S16: when a 2xx ends the pipeline's wait; see `endsWait(otherBatchOfFlushFailed:)`.
  public var successEndsWait = SuccessEndsWait.always
  /// S11: what `maxTotalBackoffDuration` is compared with.
  public var ageLimit = AgeLimit.sinceFirstFailure
  /// S6: a client that can authenticate retries a 511 that no setting decides; others drop it.
  public var supportsOAuth = false
  /// S4, O2, D5: what a 429 makes wait.
  public var rateLimited = RateLimited.pausesPipeline
  /// O9: what a 401 leads to.
  public var unauthorized = Unauthorized.asTable
  /// O3: what becomes of a batch that is given up; the queue's owner applies it.
  public var givenUp = GivenUp.dropped
  /// Jitter on Retry-After, percent of the wait, 0 … 100: what the server asked for plus uniform 0 … so much of it,
  /// added after the cap.
  public var retryAfterJitterPercent: UInt8 = 0

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
  /// S10: which failures the exponent counts.
  public var exponent = Exponent.ownFailures
  /// S10: waits are whole milliseconds, and the draw is below its upper end.
  public var waitsInMilliseconds = false
  /// O2: base and longest wait by the failure's class. A client that acts when a flush ends has one wait for all of its failures,
  /// `backoffConfig`'s.
  public var classDelays = ClassDelays()
  /// S10: what a backoff is multiplied by at each failure, 1 … 10; 1 makes all waits the base.
  public var multiplier = 2.0
  /// S10: waits one after another in place of base, multiplier and cap. Decorrelated jitter, which goes by the wait before, knows the
  /// first and the longest of them.
  public var waits = DelayLadder()
  /// Retries without a wait, before the first backoff, which is then as long as after the first failure: at once with a timer, else
  /// at the next trigger.
  public var immediateRetries: UInt8 = 0
  /// S4: what the client takes a longer Retry-After for, microseconds, before `maxRetryInterval`; `.max`: it obeys any.
  public var longestRetryAfter = Int64.max
  /// S4: what ends the wait after a 429 that asks for a longer one.
  public var retryAfterCap = RetryAfterCap.maxRetryInterval

  /// The document's own behaviour.
  public init() {}
}

// MARK: - Values of the switches

extension RetryPolicy {
  /// What a 429 without a usable Retry-After waits (S4).
  public enum MissingRetryAfter: Sendable, Hashable, BitwiseCopyable {
    /// `maxRetryInterval`: the document as decided, and the shipped Swift and Kotlin clients.
    case maxRetryInterval
    /// So many microseconds, 0 … 1 h, capped at `maxRetryInterval`: 60 s in the shipped React Native client.
    case fixed(microseconds: Int64)
    /// S10 on the global count, by `baseBackoffInterval` and the configured jitter, capped at the smaller of
    /// `maxBackoffInterval` and `maxRetryInterval`; a ladder (`waits`) by its own waits.
    case exponentialBackoff
  }

  /// What a longer Retry-After of a 429 counts as (S4).
  public enum RetryAfterCap: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// `maxRetryInterval`, or `longestRetryAfter` if that is shorter.
    case maxRetryInterval
    /// `longestRetryAfter` alone, whatever the Settings say; without one 366 days.
    case longestRetryAfter
  }

  /// What a Retry-After on a retryable status other than 429 does (S7).
  public enum RetryAfterOnOtherCodes: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Nothing: the batch backs off.
    case ignored
    /// As on a 429: the whole pipeline waits, and the failure counts on the global counter, not on the batch.
    /// While `rateLimitConfig` is off it is ignored.
    case pausesPipeline
    /// The batch backs off, but no shorter than that (O2).
    case delaysBatch
  }

  /// What a 429 makes wait (S4, O2, D5).
  public enum RateLimited: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The whole pipeline, by `rateLimitConfig`.
    case pausesPipeline
    /// The batch: it is a retryable status like others, by `backoffConfig` (D5). Its Retry-After is what it is on those
    /// (`retryAfterOnOtherCodes`).
    case delaysBatch
  }

  /// What a 401 leads to (O9).
  public enum Unauthorized: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// What the Settings and the tables say.
    case asTable
    /// Credentials are refreshed and the batch is sent once more; a second 401 is as the tables say.
    case refreshThenRetryOnce
  }

  /// What becomes of a batch that is given up (O3).
  public enum GivenUp: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Its events are lost.
    case dropped
    /// It is kept with the reason and waits for somebody to do something about it.
    case blocked
  }

  /// What a failure without an HTTP status leads to (S9).
  public enum NoStatus: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The batch backs off.
    case backoff
    /// Retry state is left as it is; tried again at the next flush.
    case untouched
    /// What the Settings say about a 500; but where they drop it, the batch stays and its record is made fresh.
    case asStatus500
    /// Counted as with `backoff`, but the whole client waits.
    case clientBackoff
  }

  /// What `X-Retry-Count` says (S2).
  public enum RetryCountHeader: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Always there: 0 on a first try, then the batch's own count if it has one, else the global one.
    case always
    /// The larger of the batch's and the global count, on first tries too; left out when it is 0.
    case onlyAboveZeroMaxOfBatchAndGlobal
    /// All failures since the client's state was fresh, 429s and others together; left out when it is 0. It needs one retry
    /// record for the client.
    case clientCounter
  }

  /// What a wait of the pipeline that is announced during another does (S16).
  public enum TwoWaits: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It replaces the other, even by an earlier time.
    case laterReplaces
    /// A 429's wait stays or comes before a backoff's; of two of a kind the one that ends first counts.
    case shorterWinsRateLimitBeatsBackoff
  }

  /// What happens when a limit on retries is reached (S11, S12).
  public enum LimitReached: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The batch is dropped; the global counter starts over if the limit was its own.
    case dropBatch
    /// Looked at when the uploads of a flush have been answered: all retry state is made fresh, and what has failed in that flush
    /// is dropped. It needs one retry record for the client.
    case resetStateAndDropFlush
    /// Nothing is lost: after the last try the batch is pending again, and its schedule starts over at the next
    /// trigger (D4). Its age has no limit.
    case startOverAtNextTrigger
  }

  /// What a 429 does while `rateLimitConfig` is off (S15).
  public enum RateLimitingOff: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Nothing: tried again at the next trigger.
    case legacy
    /// The batch is dropped, as after a status that is not retried.
    case drop
  }

  /// What a missing section of the Settings means (S13).
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
    /// Dropped when the count has reached `maxRetryCount`: a batch that has not failed has no count of its own, but the global one
    /// is compared too, so that 0 refuses every first try.
    case maxRetryCount
  }

  /// When a 2xx ends the pipeline's wait (S16).
  public enum SuccessEndsWait: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    case always
    /// Only if no other batch of its flush has failed.
    case onlyWhenNoOtherBatchOfTheFlushFailed
  }

  /// What `maxTotalBackoffDuration` is compared with (S11).
  public enum AgeLimit: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The time since the batch's first retryable failure, before each retry.
    case sinceFirstFailure
    /// The age of each event since it was queued, at every flush (events beyond it are dropped one by one), and the time since
    /// the client's first failure when a flush has been answered.
    case eventAgeSinceQueued
    /// The time from the batch's first retryable failure to the retry that a failure leads to: a batch whose next wait would end
    /// later is given up at once.
    case untilNextRetry
  }

  /// Whether the limits are looked at for batches that still wait (S11, S12).
  public enum LimitsCheck: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Only a batch that is due and about to be sent is dropped.
    case whenDue
    /// Each loop looks at every batch, and a limit comes before the wait.
    case beforeDue
  }

  /// What a 429 leaves in its batch's record (S11).
  public enum RateLimitRecord: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// A failure: its age starts, and `rateLimitConfig` sets its limits from then on.
    case failure
    /// Nothing: only the client counts it.
    case untouched
  }

  /// What a retryable failure leads to while `backoffConfig` is off (S15).
  public enum BackoffOff: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It counts, and is tried again at the next trigger.
    case legacy
    /// Tried again at the next trigger, its record made fresh.
    case forgets
    /// The batch is dropped, as after a status that is not retried.
    case drop
  }

  /// What a client does without Settings that it can read (S13, S15).
  public enum WithoutSettings: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// The document's: both sections have their defaults, or are off one by one.
    case legacy
    /// Only a 400 drops, and no state is kept; with both sections off nothing drops at all.
    case drops400
    /// 4xx but 429 drop. State that is there is looked at and never changed. The same with both sections off.
    case drops4xx
  }

  /// What a 429 leads to that Settings drop (S13).
  public enum Overridden429: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// It follows `rateLimitConfig` alone.
    case ignored
    /// The batch is dropped.
    case drops
    /// The batch is dropped, and the client waits all the same.
    case dropsAndPauses
  }

  /// What an answer below 200 leads to (S8).
  public enum BelowSuccess: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// What the Settings and the tables say.
    case asTable
    /// 1 … 199: the client takes the batch for delivered; its counters stay.
    case discarded
    /// The client takes the batch for delivered, and its counters start over.
    case resets
  }

  /// Which failures the exponent of the backoff counts (S10).
  public enum Exponent: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
    /// Those of the batch that are not 429s.
    case ownFailures
    /// All of the client since its state was fresh, 429s included.
    case allFailures
  }
}

// MARK: - What the caller applies

extension RetryPolicy {
  /// What a server asks this client to wait, microseconds, by the headers of its answer as they were received; nil: by none that
  /// it reads (S4, O11). `Retry-After` is the standard one and counts first.
  ///
  /// - `now`: the wall clock, seconds since 1970-01-01T00:00:00Z; any value is safe.
  public func wait(retryAfter: String?, rateLimitReset: String?, nowUnixSeconds now: Int64) -> Int64? {
    RateLimitReset.wait(
      retryAfter: retryAfter, rateLimitReset: readsRateLimitReset ? rateLimitReset : nil, nowUnixSeconds: now,
      forms: retryAfterForms)
  }

  /// What to put into `X-Retry-Count` for a `SendDecision.send(retryCount:)`; nil leaves the header out (S2).
  @inlinable
  public func headerValue(_ retryCount: UInt16) -> UInt16? {
    if retryCount > 0 { return retryCount }
    switch retryCountHeader {
    case .always: return 0
    case .onlyAboveZeroMaxOfBatchAndGlobal, .clientCounter: return nil
    }
  }

  /// Whether a 2xx opens the gate (S16).
  ///
  /// - Parameter failed: whether another batch of the same flush has failed so far.
  @inlinable
  public func endsWait(otherBatchOfFlushFailed failed: Bool) -> Bool {
    if !failed { return true }
    switch successEndsWait {
    case .always: return true
    case .onlyWhenNoOtherBatchOfTheFlushFailed: return false
    }
  }

  /// A wait that the server has asked for, with the jitter on it.
  ///
  /// - `word`: 64 uniform bits; not looked at without jitter.
  @inlinable
  public func spreading(_ wait: Int64, word: UInt64) -> Int64 {
    if retryAfterJitterPercent == 0 || wait <= 0 { return wait }
    return Jitter.additive(percent: Double(retryAfterJitterPercent)).delay(
      retryCount: 0, base: wait, cap: wait, previousDelay: 0, clampAfterJitter: false, word: word)
  }
}

// MARK: - Clients

extension RetryPolicy {
  /// The document's own behaviour.
  public static let tapiDocument = RetryPolicy()

  /// The offline-first chapter (O1–O11): every operation waits by itself, at least as long as a Retry-After or an
  /// X-RateLimit-Reset asks for; credentials are refreshed once; what is given up is blocked, not lost.
  public static let offlineFirst: RetryPolicy = {
    var policy = RetryPolicy()
    policy.rateLimited = .delaysBatch
    policy.retryAfterOnOtherCodes = .delaysBatch
    policy.readsRateLimitReset = true
    policy.unauthorized = .refreshThenRetryOnce
    policy.givenUp = .blocked
    return policy
  }()
}
