import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

/// Both sides of each switch; the document's side is in the suites of its requirement too.
@Suite("The switches of the last table, at work")
struct RetrySwitchTests {
  let unavailable = UploadResponse.status(503, retryAfter: nil)
  let success = UploadResponse.status(200, retryAfter: nil)
  let tooMany = UploadResponse.status(429, retryAfter: 10_000_000)

  func lines(
    _ policy: ClientPolicy, _ config: HTTPConfig, _ answers: [UploadResponse]
  ) -> [String] {
    var story = Story(config, policy: policy)
    for answer in answers { story.send(answer) }
    return story.lines
  }

  func lines(_ policy: ClientPolicy, _ answers: [UploadResponse]) -> [String] {
    lines(policy, .withoutJitter, answers)
  }

  func with(_ change: (inout ClientPolicy) -> Void) -> ClientPolicy {
    var policy = ClientPolicy.tapiDocument
    change(&policy)
    return policy
  }

  // MARK: S4

  @Test("A 429 without Retry-After waits a fixed time, but no longer than maxRetryInterval")
  func fixedWait() {
    let policy = with { $0.missingRetryAfter = .fixed(microseconds: 60_000_000) }
    let bare = UploadResponse.status(429, retryAfter: nil)
    #expect(lines(policy, [bare]) == ["0 s #0 429 > pause 60"])
    #expect(lines(policy, [tooMany]) == ["0 s #0 429/10 > pause 10"])
    #expect(lines(.tapiDocument, [bare]) == ["0 s #0 429 > pause 300"])
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryInterval = seconds(20)
    #expect(lines(policy, config, [bare]) == ["0 s #0 429 > pause 20"])
    #expect(
      lines(with { $0.missingRetryAfter = .fixed(microseconds: .min) }, [bare]) == ["0 s #0 429 > pause 0"])
  }

  // MARK: S7

  @Test(
    "Retry-After on another retryable status is ignored, or pauses the pipeline and counts on the global counter",
    arguments: [408, 500, 503, 529])
  func otherCodes(status: Int) {
    let answers: [UploadResponse] = [.status(status, retryAfter: seconds(40)), unavailable, success]
    #expect(
      lines(.tapiDocument, answers) == [
        "0 s #0 \(status)/40 > retry 0.5", "0.5 s #1 503 > retry 1", "1.5 s #2 200 > delivered",
      ])
    // The pause is a failure of the pipeline: the batch's own schedule starts at its first step after it.
    #expect(
      lines(with { $0.retryAfterOnOtherCodes = .pausesPipeline }, answers) == [
        "0 s #0 \(status)/40 > pause 40", "40 s #1 503 > retry 0.5", "40.5 s #1 200 > delivered",
      ])
  }

  @Test("It is capped as on a 429, does not make a dropped status retryable, and follows rateLimitConfig")
  func otherCodesLimits() {
    let policy = with { $0.retryAfterOnOtherCodes = .pausesPipeline }
    #expect(lines(policy, [.status(503, retryAfter: .max)]) == ["0 s #0 503/9223372036854.775 > pause 300"])
    #expect(lines(policy, [.status(501, retryAfter: seconds(5))]) == ["0 s #0 501/5 > drop status"])
    #expect(lines(policy, [.status(511, retryAfter: seconds(5))]) == ["0 s #0 511/5 > drop status"])
    var authenticating = policy
    authenticating.supportsOAuth = true
    #expect(lines(authenticating, [.status(511, retryAfter: seconds(5))]) == ["0 s #0 511/5 > pause 5"])
    var off = HTTPConfig.withoutJitter
    off.rateLimit.isEnabled = false
    #expect(lines(policy, off, [.status(503, retryAfter: seconds(5))]) == ["0 s #0 503/5 > retry 0.5"])
  }

  @Test(
    "A Retry-After stands in place of the batch's backoff, longer or shorter, and counts as a failure (O2)")
  func replacedBackoff() {
    let policy = with { ($0.retryAfterOnOtherCodes, $0.rateLimited) = (.replacesBackoff, .delaysBatch) }
    let answers: [UploadResponse] = [
      .status(503, retryAfter: seconds(9)), unavailable, .status(429, retryAfter: 0), unavailable,
    ]
    #expect(
      lines(policy, answers) == [
        "0 s #0 503/9 > retry 9", "9 s #1 503 > retry 1", "10 s #2 429/0 > retry 0", "10 s #3 503 > retry 4",
      ])
    var short = policy
    short.longestRetryAfter = seconds(2)
    #expect(lines(short, [.status(503, retryAfter: seconds(9))]) == ["0 s #0 503/9 > retry 2"])
  }

  // MARK: S3

  @Test("A backoff holds the whole client, and no wait follows the answer that uses the retries up (S3, S12)")
  func heldClient() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 2
    var policy = with { ($0.backoffHolds, $0.limitsCheck) = (.client, .beforeDue) }
    #expect(
      lines(policy, config, [unavailable, .noStatus, unavailable]) == [
        "0 s #0 503 > back off 0.5", "0.5 s #1 - > back off 1", "1.5 s #2 503 > drop retryLimit",
      ])
    policy.ageLimit = .untilNextRetry
    config.backoff.maxTotalBackoffDuration = seconds(1)
    #expect(
      lines(policy, config, [unavailable, unavailable]) == [
        "0 s #0 503 > back off 0.5", "0.5 s #1 503 > drop age",
      ])
    policy.limitsCheck = .whenDue
    policy.ageLimit = .sinceFirstFailure
    config.backoff.maxRetryCount = 0
    #expect(lines(policy, config, [unavailable]) == ["0 s #0 503 > back off 0.5"])
  }

  // MARK: S9

  @Test("No status: the batch backs off, nothing is touched, it is a 500, or the whole client backs off")
  func noStatus() {
    let answers: [UploadResponse] = [unavailable, .noStatus, .noStatus]
    let backoff = ["0 s #0 503 > retry 0.5", "0.5 s #1 - > retry 1", "1.5 s #2 - > retry 2"]
    #expect(lines(.tapiDocument, answers) == backoff)
    #expect(lines(with { $0.noStatus = .asStatus500 }, answers) == backoff)
    #expect(
      lines(with { $0.noStatus = .clientBackoff }, answers) == [
        "0 s #0 503 > retry 0.5", "0.5 s #1 - > back off 1", "1.5 s #2 - > back off 2",
      ])
    let untouched = with { $0.noStatus = .untouched }
    #expect(
      lines(untouched, answers) == [
        "0 s #0 503 > retry 0.5", "0.5 s #1 - > next trigger", "0.5 s #1 - > next trigger",
      ])
    var story = Story(policy: untouched)
    story.send(.noStatus)
    #expect(story.batches[0] == BatchRetryState() && story.pipeline == PipelineRetryState())
  }

  @Test("As a 500 it follows what the Settings say about 500, but where they drop it only the record goes")
  func noStatusAs500() {
    var dropping = HTTPConfig.withoutJitter
    dropping.backoff.statuses.set(.drop, for: 500)
    var off = HTTPConfig.withoutJitter
    off.backoff.isEnabled = false
    for config in [dropping, off] {
      var story = Story(config, policy: with { $0.noStatus = .asStatus500 })
      story.batches[0].failureCount = 3
      story.batches[0].firstFailureTime = 0
      story.batches[0].latestFailure = .transient
      story.send(.noStatus)
      #expect(story.lines == ["0 s #3 - > next trigger"])
      #expect(story.batches[0] == BatchRetryState())
    }
    #expect(lines(.tapiDocument, dropping, [.noStatus]) == ["0 s #0 - > retry 0.5"])
  }

  @Test("With backoff off the client does not back off either")
  func clientBackoffOff() {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    let policy = with { $0.noStatus = .clientBackoff }
    #expect(lines(policy, config, [.noStatus]) == ["0 s #0 - > next trigger"])
  }

  // MARK: S2

  @Test("The header is always there, or only above zero as the larger count, or the client's counter")
  func header() {
    let answers: [UploadResponse] = [unavailable, tooMany, tooMany, success]
    func headers(_ value: RetryPolicy.RetryCountHeader) -> [String] {
      lines(with { $0.retryCountHeader = value }, answers).map { line in
        line.contains("no header") ? "no header" : "\(line.split(separator: " ")[2])"
      }
    }
    // Own count 1 from the first answer on; the global one is 1 after the second and 2 after the third.
    #expect(headers(.always) == ["#0", "#1", "#1", "#1"])
    #expect(headers(.onlyAboveZeroMaxOfBatchAndGlobal) == ["no header", "#1", "#1", "#2"])
    #expect(headers(.clientCounter) == ["no header", "#1", "#2", "#3"])
    #expect(headers(.never) == Array(repeating: "no header", count: 4))
  }

  @Test("The larger count is sent on another batch's first try too; the document sends 0")
  func headerOfAnotherBatch() {
    for (value, expected) in [
      (RetryPolicy.RetryCountHeader.always, "10 s #0 200 > delivered"),
      (.onlyAboveZeroMaxOfBatchAndGlobal, "10 s #1 200 > delivered"),
    ] {
      var story = Story(policy: with { $0.retryCountHeader = value })
      story.send(0, tooMany)
      story.send(1, success)
      #expect(story.lines[1] == expected)
    }
  }

  @Test("The client's counter stops at the largest value")
  func headerSaturates() {
    var batch = BatchRetryState()
    batch.latestFailure = .rateLimited
    batch.failureCount = 65_000
    var pipeline = PipelineRetryState()
    pipeline.retryCount = 1_000
    var config = HTTPConfig()
    config.rateLimit.isEnabled = false
    let machine = RetryStateMachine(config: config, of: with { $0.retryCountHeader = .clientCounter })
    #expect(machine.beforeSend(batch: batch, pipeline: &pipeline, now: 0) == .send(retryCount: .max))
  }

  // MARK: S12

  @Test("maxRetryCount 100 allows 101 sends, or 100, of a batch", arguments: [(false, 101), (true, 100)])
  func sendsAtLimit(shipped: Bool, sends: Int) {
    let policy = with { if shipped { $0.sendsAtLimit = .maxRetryCount } }
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = .max
    let told = lines(policy, config, Array(repeating: unavailable, count: 102))
    #expect(told.filter { $0.contains("503") }.count == sends)
    #expect(told.firstIndex { $0.hasSuffix("drop retryLimit") } == sends)
    let limited = lines(policy, Array(repeating: .status(429, retryAfter: 0), count: sends + 1))
    #expect(limited.firstIndex { $0.hasSuffix("drop rateLimitRetryLimit") } == sends)
  }

  @Test("With maxRetryCount 0 of a batch the first try is sent either way, and no second one")
  func noRetries() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    for policy in [ClientPolicy.tapiDocument, with { $0.sendsAtLimit = .maxRetryCount }] {
      #expect(
        lines(policy, config, [unavailable, unavailable]) == [
          "0 s #0 503 > retry 0.5", "0.5 s drop retryLimit",
        ])
    }
  }

  @Test(
    "With maxRetryCount 0 of the client the first try is sent and no second one, or every first try is dropped"
  )
  func noRateLimitRetries() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 0
    #expect(
      lines(.tapiDocument, config, [tooMany, tooMany]) == [
        "0 s #0 429/10 > pause 10", "10 s drop rateLimitRetryLimit",
      ])
    let refusing = with { $0.sendsAtLimit = .maxRetryCount }
    var story = Story(config, policy: refusing)
    for batch in [0, 1, 0] { story.send(batch, success) }
    #expect(story.lines == Array(repeating: "0 s drop rateLimitRetryLimit", count: 3))
    // Only while rate limiting is on.
    config.rateLimit.isEnabled = false
    #expect(lines(refusing, config, [success]) == ["0 s #0 200 > delivered"])
  }

  @Test("At a batch's limit it is dropped and the global count stays, or the flush's end will look at it")
  func limitReached() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    for (value, line) in [
      (RetryPolicy.LimitReached.dropBatch, "10 s drop retryLimit"),
      (.resetStateAndDropFlush, "10 s #1 503 > retry 1"),
    ] {
      var story = Story(config, policy: with { $0.limitReached = value })
      story.send(0, unavailable)
      story.now = 0
      story.send(1, tooMany)
      story.send(0, unavailable)
      #expect(story.lines[2] == line)
      #expect(story.pipeline.retryCount == 1)
    }
  }

  @Test("At the global limit the batch that is next is dropped and the counter starts over")
  func globalLimitReached() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 0
    var story = Story(config)
    story.send(0, tooMany)
    story.send(1, success)
    #expect(story.lines[1] == "10 s drop rateLimitRetryLimit")
    #expect(story.pipeline.retryCount == 0)
    // The flush's end has looked at it.
    var later = Story(config, policy: with { $0.limitReached = .resetStateAndDropFlush })
    later.send(0, tooMany)
    later.send(1, unavailable)
    #expect(later.lines[1] == "10 s #0 503 > retry 0.5")
    #expect(later.pipeline.retryCount == 1)
  }

  @Test("Limits are looked at when a batch is due, or before that, and then a limit comes before the wait")
  func limitsCheck() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 2
    config.backoff.maxTotalBackoffDuration = seconds(100)
    config.rateLimit.maxRetryCount = 2
    let looksEarly = with { $0.limitsCheck = .beforeDue }
    func decide(
      _ policy: ClientPolicy, count: UInt16 = 1, since first: Int64 = 0, global: UInt16 = 0, at now: Int64
    ) -> SendDecision {
      var batch = BatchRetryState()
      batch.failureCount = count
      batch.firstFailureTime = first
      batch.latestFailure = .transient
      batch.retryAt = seconds(200)
      var pipeline = PipelineRetryState()
      pipeline.retryCount = global
      return RetryStateMachine(config: config, of: policy).beforeSend(
        batch: batch, pipeline: &pipeline, now: now)
    }
    let early = seconds(10)
    for policy in [ClientPolicy.tapiDocument, looksEarly] {
      #expect(decide(policy, at: early) == .notDue(until: seconds(200)))
    }
    // Each limit alone.
    for (count, first, global, reason) in [
      (3, 0, 0, DropReason.retryLimit), (1, -seconds(90) - 1, 0, .age), (1, 0, 3, .rateLimitRetryLimit),
    ] as [(UInt16, Int64, UInt16, DropReason)] {
      let waiting = decide(.tapiDocument, count: count, since: first, global: global, at: early)
      #expect(waiting == .notDue(until: seconds(200)))
      #expect(decide(looksEarly, count: count, since: first, global: global, at: early) == .drop(reason))
    }
    // Of several the global one counts first, then the batch's own, then the age; the document's order is the other way round.
    let due = seconds(200)
    #expect(decide(looksEarly, count: 3, global: 3, at: due) == .drop(.rateLimitRetryLimit))
    #expect(decide(looksEarly, count: 3, at: due) == .drop(.retryLimit))
    #expect(decide(.tapiDocument, count: 3, global: 3, at: due) == .drop(.age))
    #expect(decide(.tapiDocument, count: 3, since: seconds(150), global: 3, at: due) == .drop(.retryLimit))
  }

  @Test("A client that looks early has to look when a limit ends a wait, not when the batch is due")
  func looksAt() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 2
    config.backoff.maxTotalBackoffDuration = seconds(100)
    var batch = BatchRetryState()
    batch.failureCount = 1
    batch.firstFailureTime = 0
    batch.latestFailure = .transient
    let early = RetryStateMachine(config: config, of: with { $0.limitsCheck = .beforeDue })
    let document = RetryStateMachine(config: config)
    #expect(early.lookAt(batch, due: seconds(60)) == seconds(60))
    #expect(early.lookAt(batch, due: seconds(200)) == seconds(100) + 1)
    #expect(document.lookAt(batch, due: seconds(200)) == seconds(200))
    // Where no limit drops a batch before its send there is nothing to look for.
    let harmless = with {
      $0.limitsCheck = .beforeDue
      $0.limitReached = .startOverAtNextTrigger
    }
    #expect(
      RetryStateMachine(config: config, of: harmless).lookAt(batch, due: seconds(200)) == seconds(200))
    batch.failureCount = 3
    #expect(
      RetryStateMachine(config: config, of: harmless).lookAt(batch, due: seconds(60)) == seconds(60))
    #expect(early.lookAt(batch, due: seconds(60)) == .min)
    #expect(document.lookAt(batch, due: seconds(60)) == seconds(60))
  }
}
