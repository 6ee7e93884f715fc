import Testing
import UploadRetry

/// Both sides of each switch; the document's side is in the suites of its requirement too.
@Suite("The switches of the last table, at work")
struct RetrySwitchTests {
  private let unavailable = UploadResponse.status(503, retryAfter: nil)
  private let success = UploadResponse.status(200, retryAfter: nil)
  private let tooMany = UploadResponse.status(429, retryAfter: 10_000_000)

  private func lines(
    _ policy: RetryPolicy, _ config: HTTPConfig, _ answers: [UploadResponse]
  ) -> [String] {
    var story = Story(config, policy: policy)
    for answer in answers { story.send(answer) }
    return story.lines
  }

  private func lines(_ policy: RetryPolicy, _ answers: [UploadResponse]) -> [String] {
    lines(policy, .withoutJitter, answers)
  }

  private func with(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
    var policy = RetryPolicy.tapiDocument
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

  @Test("As a 500 it follows what the Settings say about 500")
  func noStatusAs500() {
    var config = HTTPConfig.withoutJitter
    config.backoff.statuses.set(.drop, for: 500)
    #expect(lines(with { $0.noStatus = .asStatus500 }, config, [.noStatus]) == ["0 s #0 - > drop status"])
    #expect(lines(.tapiDocument, config, [.noStatus]) == ["0 s #0 - > retry 0.5"])
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
      lines(with { $0.retryCountHeader = value }, answers).map {
        String($0.split(separator: " s ")[1].prefix { $0 != "2" && $0 != "4" && $0 != "5" })
      }
    }
    // Own count 1 from the first answer on; the global one is 1 after the second and 2 after the third.
    #expect(headers(.always) == ["#0 ", "#1 ", "#1 ", "#1 "])
    #expect(headers(.onlyAboveZeroMaxOfBatchAndGlobal) == ["no header ", "#1 ", "#1 ", "#"])
    #expect(headers(.clientCounter) == ["#0 ", "#1 ", "#", "#3 "])
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
    let machine = RetryStateMachine(config: config, policy: with { $0.retryCountHeader = .clientCounter })
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

  @Test("With maxRetryCount 0 the first try is sent either way, and no second one")
  func noRetries() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    config.rateLimit.maxRetryCount = 0
    for policy in [RetryPolicy.tapiDocument, with { $0.sendsAtLimit = .maxRetryCount }] {
      #expect(
        lines(policy, config, [unavailable, unavailable]) == [
          "0 s #0 503 > retry 0.5", "0.5 s drop retryLimit",
        ])
      #expect(lines(policy, config, [tooMany, tooMany])[1] == "10 s drop rateLimitRetryLimit")
    }
  }

  @Test("At a batch's limit it is dropped; the global count is kept or reset, or all goes with the flush")
  func limitReached() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    for (value, line, global) in [
      (RetryPolicy.LimitReached.dropBatch, "10 s drop retryLimit", 1),
      (.dropBatchAndResetGlobal, "10 s drop retryLimit", 0),
      (.resetStateAndDropFlush, "10 s drop flush retryLimit", 0),
    ] {
      var story = Story(config, policy: with { $0.limitReached = value })
      story.send(0, unavailable)
      story.now = 0
      story.send(1, tooMany)
      story.send(0, unavailable)
      #expect(story.lines[2] == line)
      #expect(story.pipeline.retryCount == global)
      if value == .resetStateAndDropFlush { #expect(story.batches == [.init(), .init()]) }
    }
  }

  @Test("At the global limit the counter starts over, whatever is dropped")
  func globalLimitReached() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 0
    for value in RetryPolicy.LimitReached.allCases where value != .startOverAtNextTrigger {
      var story = Story(config, policy: with { $0.limitReached = value })
      story.send(0, tooMany)
      story.send(1, success)
      let flush = value == .resetStateAndDropFlush ? "flush " : ""
      #expect(story.lines[1] == "10 s drop \(flush)rateLimitRetryLimit")
      #expect(story.pipeline.retryCount == 0)
    }
  }

  // MARK: S15

  @Test("With rate limiting off a 429 is retried at the next trigger, or dropped without counting")
  func rateLimitingOff() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.isEnabled = false
    #expect(lines(.tapiDocument, config, [tooMany]) == ["0 s #0 429/10 > next trigger"])
    let policy = with { $0.rateLimitingOff = .drop }
    var story = Story(config, policy: policy)
    story.send(tooMany)
    #expect(story.lines == ["0 s #0 429/10 > drop status"])
    #expect(story.pipeline.retryCount == 0)
    #expect(lines(policy, [tooMany]) == ["0 s #0 429/10 > pause 10"])
  }

  // MARK: S16

  @Test("A 2xx ends the wait always, or only when no other batch of its flush has failed")
  func successEndsWait() {
    let picky = with { $0.successEndsWait = .onlyWhenNoOtherBatchOfTheFlushFailed }
    for (policy, failed, ends) in [
      (RetryPolicy.tapiDocument, false, true), (.tapiDocument, true, true), (picky, false, true),
      (picky, true, false),
    ] {
      #expect(policy.endsWait(otherBatchOfFlushFailed: failed) == ends)
      let machine = RetryStateMachine(config: .withoutJitter, policy: policy)
      var client = BatchRetryState()
      var pipeline = PipelineRetryState()
      var random = Constant.low
      for answer in [unavailable, tooMany] {
        _ = machine.afterResponse(answer, batch: &client, pipeline: &pipeline, now: 0, random: &random)
      }
      let outcome = machine.afterResponse(
        success, batch: &client, pipeline: &pipeline, now: 0, otherBatchOfFlushFailed: failed, random: &random
      )
      #expect(outcome == .delivered)
      #expect((client == BatchRetryState()) == ends)
      #expect(pipeline.retryCount == (ends ? 0 : 1))
    }
  }

  // MARK: S11

  @Test("The age counts from the first failure, or from when the oldest event was queued, on first tries too")
  func ageLimit() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = seconds(100)
    config.rateLimit.maxTotalBackoffDuration = seconds(50)
    var failed = BatchRetryState()
    failed.firstFailureTime = seconds(90)
    failed.failureCount = 1
    failed.latestFailure = .transient
    var limited = failed
    limited.latestFailure = .rateLimited
    func decide(_ batch: BatchRetryState, _ policy: RetryPolicy, queued: Int64, _ now: Double)
      -> SendDecision
    {
      var pipeline = PipelineRetryState()
      return RetryStateMachine(config: config, policy: policy).beforeSend(
        batch: batch, pipeline: &pipeline, now: seconds(now), oldestEventQueuedAt: queued)
    }
    let document = RetryPolicy.tapiDocument
    let queued = with { $0.ageLimit = .eventAgeSinceQueued }
    #expect(decide(failed, document, queued: 0, 190) == .send(retryCount: 1))
    #expect(decide(failed, document, queued: 0, 190.000001) == .drop(.age))
    #expect(decide(failed, queued, queued: 0, 100) == .send(retryCount: 1))
    #expect(decide(failed, queued, queued: 0, 100.000001) == .drop(.age))
    #expect(decide(limited, queued, queued: 0, 50.000001) == .drop(.age))
    #expect(decide(BatchRetryState(), queued, queued: 0, 100) == .send(retryCount: 0))
    #expect(decide(BatchRetryState(), queued, queued: 0, 100.000001) == .drop(.age))
    #expect(decide(BatchRetryState(), document, queued: 0, 1_000) == .send(retryCount: 0))
    #expect(decide(failed, queued, queued: .max, 1_000) == .send(retryCount: 1))
    config.backoff.isEnabled = false
    config.rateLimit.isEnabled = false
    #expect(decide(failed, queued, queued: 0, 1_000) == .send(retryCount: 1))
    #expect(decide(limited, queued, queued: 0, 1_000) == .send(retryCount: 1))
  }

  @Test("Events that are too old are dropped alone, also where another limit drops the flush")
  func ageOfEventsDropsThemOnly() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = seconds(100)
    var pipeline = PipelineRetryState()
    pipeline.retryCount = 3
    let machine = RetryStateMachine(config: config, policy: .segmentReactNative)
    let decision = machine.beforeSend(
      batch: .init(), pipeline: &pipeline, now: seconds(101), oldestEventQueuedAt: 0)
    #expect(decision == .drop(.age))
    #expect(pipeline.retryCount == 3)
  }

  // MARK: S4 and S13, for whoever reads headers and Settings

  @Test("A client that reads seconds only takes a date as absent")
  func forms() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let now: Int64 = 784_111_777 - 90
    #expect(RetryAfter.parse(date, nowUnixSeconds: now, forms: .secondsOrDate) == 90_000_000)
    #expect(RetryAfter.parse(date, nowUnixSeconds: now, forms: .secondsOnly) == nil)
    #expect(RetryAfter.parse(" 5 ", nowUnixSeconds: now, forms: .secondsOnly) == 5_000_000)
    #expect(RetryAfter.parse("5, 10", nowUnixSeconds: now) == nil)
    #expect(RetryAfter.parse("\(date), 5", nowUnixSeconds: now) == nil)
  }

  @Test(
    "A missing section means its defaults, or off; one that is there is on unless it says otherwise",
    arguments: [
      (#"{}"#, false, false), (#"{"httpConfig": {}}"#, false, false), (#"5"#, false, false),
      (#"{"httpConfig": {"rateLimitConfig": {}}}"#, true, false),
      (#"{"httpConfig": {"backoffConfig": {"maxRetryCount": 3}}}"#, false, true),
      (#"{"httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {}}}"#, false, true),
      (#"{"httpConfig": {"rateLimitConfig": 5, "backoffConfig": null}}"#, false, false),
      (#"{"integrations": {"Segment.io": {"httpConfig": {"rateLimitConfig": {}}}}}"#, true, false),
    ])
  func missingSection(json: String, rateLimit: Bool, backoff: Bool) throws {
    let tree = try settings(json)
    let off = HTTPConfig.decode(tree, missingSection: .off).config
    #expect(off.rateLimit.isEnabled == rateLimit && off.backoff.isEnabled == backoff)
    let on = HTTPConfig.decode(tree).config
    #expect(on.rateLimit.isEnabled == !json.contains("false") && on.backoff.isEnabled)
  }
}
