// MARK: - Presets

extension RetryPolicy {
  /// The document's own behaviour.
  public static let tapiDocument = RetryPolicy()

  /// analytics-swift at c9a0d63, as observed. Its other rows: retry state per batch file, all batch files of a flush at once.
  public static let segmentSwift: RetryPolicy = {
    var policy = RetryPolicy()
    policy.clampAfterJitter = true
    policy.retryAfterOnOtherCodes = .pausesPipeline
    policy.retryAfterForms = .secondsOnly
    policy.noStatus = .untouched
    policy.retryCountHeader = .onlyAboveZeroMaxOfBatchAndGlobal
    policy.rateLimitingOff = .drop
    policy.sendsAtLimit = .maxRetryCount
    policy.limitsCheck = .beforeDue
    policy.rateLimitRecord = .untouched
    policy.backoffOff = .forgets
    policy.withoutSettings = .drops400
    policy.overridden429 = .dropsAndPauses
    policy.belowSuccess = .discarded
    return policy
  }()

  /// analytics-kotlin at a14649b, as observed. Its other rows: retry state per batch file, one upload at a time.
  public static let segmentKotlin: RetryPolicy = {
    var policy = segmentSwift
    policy.retryAfterOnOtherCodes = .ignored
    policy.noStatus = .asStatus500
    policy.backoffOff = .drop
    policy.withoutSettings = .drops4xx
    policy.overridden429 = .ignored
    policy.belowSuccess = .resets
    policy.waitsInMilliseconds = true
    return policy
  }()

  /// analytics-react-native at 74884be, as observed. Its other rows: one retry record for the client, all chunks of a flush
  /// at once.
  public static let segmentReactNative: RetryPolicy = {
    var policy = RetryPolicy()
    policy.missingRetryAfter = .fixed(microseconds: 60_000_000)
    policy.retryAfterOnOtherCodes = .pausesPipeline
    policy.noStatus = .clientBackoff
    policy.retryCountHeader = .clientCounter
    policy.twoWaits = .shorterWinsRateLimitBeatsBackoff
    policy.limitReached = .resetStateAndDropFlush
    policy.rateLimitingOff = .drop
    policy.successEndsWait = .onlyWhenNoOtherBatchOfTheFlushFailed
    policy.ageLimit = .eventAgeSinceQueued
    policy.backoffOff = .drop
    policy.overridden429 = .drops
    policy.exponent = .allFailures
    return policy
  }()

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

  /// Datafly (D4, D5): seven tries, then pending again; a 429 backs off like any other status, and no Retry-After is
  /// read.
  public static let datafly: RetryPolicy = {
    var policy = RetryPolicy()
    policy.rateLimited = .delaysBatch
    policy.limitReached = .startOverAtNextTrigger
    return policy
  }()

  /// Keen (K1, K2) and Toggl (T1–T4): the client has no retry state of its own. What fails is tried again at the next
  /// trigger, and what waits, waits at a gate.
  public static let withoutRetryState: RetryPolicy = {
    var policy = RetryPolicy()
    policy.noStatus = .untouched
    policy.rateLimited = .delaysBatch
    return policy
  }()
}
