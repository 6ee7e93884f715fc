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

  @Test("With maxRetryCount 0 of a batch the first try is sent either way, and no second one")
  func noRetries() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    for policy in [RetryPolicy.tapiDocument, with { $0.sendsAtLimit = .maxRetryCount }] {
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
      _ policy: RetryPolicy, count: UInt16 = 1, since first: Int64 = 0, global: UInt16 = 0, at now: Int64
    ) -> SendDecision {
      var batch = BatchRetryState()
      batch.failureCount = count
      batch.firstFailureTime = first
      batch.latestFailure = .transient
      batch.retryAt = seconds(200)
      var pipeline = PipelineRetryState()
      pipeline.retryCount = global
      return RetryStateMachine(config: config, policy: policy).beforeSend(
        batch: batch, pipeline: &pipeline, now: now)
    }
    let early = seconds(10)
    for policy in [RetryPolicy.tapiDocument, looksEarly] {
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
    let early = RetryStateMachine(config: config, policy: with { $0.limitsCheck = .beforeDue })
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
      RetryStateMachine(config: config, policy: harmless).lookAt(batch, due: seconds(200)) == seconds(200))
    batch.failureCount = 3
    #expect(
      RetryStateMachine(config: config, policy: harmless).lookAt(batch, due: seconds(60)) == seconds(60))
    #expect(early.lookAt(batch, due: seconds(60)) == .min)
    #expect(document.lookAt(batch, due: seconds(60)) == seconds(60))
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

  @Test(
    "With backoff off a failure counts and is retried at the next trigger, leaves a fresh record, or drops its batch"
  )
  func backoffOff() {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    for (value, told, count) in [
      (RetryPolicy.BackoffOff.legacy, "next trigger", 6), (.forgets, "next trigger", 0),
      (.drop, "drop status", 0),
    ] as [(RetryPolicy.BackoffOff, String, UInt16)] {
      let policy = with { $0.backoffOff = value }
      for status in [408, 410, 460, 500, 503, 529] {
        var story = Story(config, policy: policy)
        // What an earlier time with backoff has left.
        story.batches[0].failureCount = 5
        story.batches[0].firstFailureTime = 0
        story.batches[0].latestFailure = .transient
        story.send(.status(status, retryAfter: nil))
        #expect(story.lines == ["0 s #5 \(status) > \(told)"])
        #expect(story.batches[0].failureCount == count)
        #expect((story.batches[0] == BatchRetryState()) == (count == 0))
      }
      // 429s have a section of their own, and what is dropped is dropped.
      #expect(lines(policy, config, [tooMany]) == ["0 s #0 429/10 > pause 10"])
      #expect(lines(policy, config, [.status(501, retryAfter: nil)]) == ["0 s #0 501 > drop status"])
      #expect(lines(policy, [unavailable]) == ["0 s #0 503 > retry 0.5"])
    }
  }

  @Test("With both sections off a client that forgets drops no status at all, and no wait holds it back")
  func bothOffForgets() {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    config.rateLimit.isEnabled = false
    let policy = with {
      $0.backoffOff = .forgets
      $0.rateLimitingOff = .drop
    }
    for status in [302, 400, 401, 404, 413, 429, 500, 501, 503, 600] {
      #expect(
        lines(policy, config, [.status(status, retryAfter: nil)]) == ["0 s #0 \(status) > next trigger"])
    }
    #expect(RetryStateMachine(config: config, policy: policy).ignoresWaits)
    #expect(!RetryStateMachine(config: config).ignoresWaits)
    config.rateLimit.isEnabled = true
    #expect(!RetryStateMachine(config: config, policy: policy).ignoresWaits)
  }

  // MARK: S13

  @Test(
    "Without Settings a client has the document's, or drops 400 alone, or drops 4xx but 429; the latter two count nothing"
  )
  func withoutSettings() {
    var config = HTTPConfig.withoutJitter
    config.isManaged = false
    func drops(_ value: RetryPolicy.WithoutSettings, _ statuses: [Int]) -> [Int] {
      statuses.filter { status in
        let line = lines(with { $0.withoutSettings = value }, config, [.status(status, retryAfter: nil)])[0]
        if value != .legacy { #expect(line.hasSuffix("> drop status") || line.hasSuffix("> next trigger")) }
        return line.hasSuffix("> drop status")
      }
    }
    let statuses = [302] + Array(400...599) + [600]
    #expect(drops(.drops400, statuses) == [400])
    #expect(drops(.drops4xx, statuses) == (400...499).filter { $0 != 429 })
    #expect(lines(.tapiDocument, config, [unavailable]) == ["0 s #0 503 > retry 0.5"])
    for value in [RetryPolicy.WithoutSettings.drops400, .drops4xx] {
      var story = Story(config, policy: with { $0.withoutSettings = value })
      story.batches[0].failureCount = 300
      story.batches[0].firstFailureTime = 0
      story.batches[0].latestFailure = .transient
      story.batches[0].retryAt = seconds(90)
      story.pipeline.retryCount = 200
      let (batch, pipeline) = (story.batches[0], story.pipeline)
      for answer in [unavailable, tooMany, .noStatus, success] { story.send(answer) }
      // No wait is waited for, no limit is looked at, and no answer changes anything, a 2xx neither.
      #expect(
        story.lines == [
          "0 s #300 503 > next trigger", "0 s #300 429/10 > next trigger", "0 s #300 - > next trigger",
          "0 s #300 200 > delivered",
        ])
      #expect(story.batches[0] == batch && story.pipeline == pipeline)
    }
  }

  @Test(
    "With both sections off a client that drops 4xx does so too; one that drops 400 has Settings of its own then"
  )
  func bothOff() {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    config.rateLimit.isEnabled = false
    for (value, ignores) in [
      (RetryPolicy.WithoutSettings.legacy, false), (.drops400, false), (.drops4xx, true),
    ] {
      let policy = with { $0.withoutSettings = value }
      #expect(RetryStateMachine(config: config, policy: policy).ignoresState == ignores)
    }
    let policy = with { $0.withoutSettings = .drops4xx }
    #expect(lines(policy, config, [.status(408, retryAfter: nil)]) == ["0 s #0 408 > drop status"])
    #expect(lines(policy, config, [.status(501, retryAfter: nil)]) == ["0 s #0 501 > next trigger"])
  }

  @Test("A 429 that Settings drop pauses all the same, or drops its batch, or does both")
  func overridden429() {
    var config = HTTPConfig.withoutJitter
    config.backoff.statuses.dropsRateLimited = true
    for (value, line, count) in [
      (RetryPolicy.Overridden429.ignored, "pause 10", 1), (.drops, "drop status", 0),
      (.dropsAndPauses, "drop status, pause 10", 1),
    ] as [(RetryPolicy.Overridden429, String, UInt16)] {
      let policy = with { $0.overridden429 = value }
      var story = Story(config, policy: policy)
      story.send(tooMany)
      #expect(story.lines == ["0 s #0 429/10 > \(line)"])
      #expect(story.pipeline.retryCount == count)
      if value != .ignored { #expect(story.batches[0] == BatchRetryState()) }
      // Settings that do not drop it.
      #expect(lines(policy, [tooMany]) == ["0 s #0 429/10 > pause 10"])
    }
  }

  // MARK: S8

  @Test(
    "An answer below 200 goes by the table, or counts as delivered with the counters kept, or started over")
  func belowSuccess() {
    for (value, told, global) in [
      (RetryPolicy.BelowSuccess.asTable, "drop status", 7), (.discarded, "discarded", 7),
      (.resets, "drop status", 0),
    ] as [(RetryPolicy.BelowSuccess, String, UInt16)] {
      let policy = with { $0.belowSuccess = value }
      for status in [1, 100, 199] {
        var story = Story(policy: policy)
        story.batches[0].failureCount = 2
        story.batches[0].firstFailureTime = 0
        story.batches[0].latestFailure = .transient
        story.pipeline.retryCount = 7
        story.send(.status(status, retryAfter: nil))
        #expect(story.lines == ["0 s #2 \(status) > \(told)"])
        #expect(story.batches[0] == BatchRetryState())
        #expect(story.pipeline.retryCount == global)
      }
      #expect(lines(policy, [success]) == ["0 s #0 200 > delivered"])
    }
    // 0 is no status that succeeds for the one, and one below 300 for the other.
    var config = HTTPConfig.withoutJitter
    config.backoff.statuses.outsideAction = .retry
    let zero = UploadResponse.status(0, retryAfter: nil)
    #expect(lines(with { $0.belowSuccess = .discarded }, config, [zero]) == ["0 s #0 0 > retry 0.5"])
    #expect(lines(with { $0.belowSuccess = .resets }, config, [zero]) == ["0 s #0 0 > drop status"])
    #expect(lines(.tapiDocument, config, [zero]) == ["0 s #0 0 > retry 0.5"])
  }

  // MARK: S10

  @Test("The exponent counts the batch's own failures, or all of the client, 429s included")
  func exponent() {
    let answers: [UploadResponse] = [unavailable, tooMany, tooMany, unavailable, .noStatus]
    func waits(_ value: RetryPolicy.Exponent) -> [String] {
      lines(with { $0.exponent = value }, answers).map { String($0.split(separator: "> ")[1]) }
    }
    #expect(waits(.ownFailures) == ["retry 0.5", "pause 10", "pause 10", "retry 1", "retry 2"])
    // 0.5 s · 2 to the failures before: 0, 3 and 4 of them.
    #expect(waits(.allFailures) == ["retry 0.5", "pause 10", "pause 10", "retry 4", "retry 8"])
    var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), Constant.low)
    (batch.failureCount, pipeline.retryCount) = (.max, .max)
    let machine = RetryStateMachine(config: .withoutJitter, policy: with { $0.exponent = .allFailures })
    let outcome = machine.afterResponse(
      unavailable, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    #expect(outcome == .retry(at: seconds(300)))
  }

  @Test(
    "Waits are whole milliseconds and the draw stays below its end: 0.749 s of 0.75, 4.399 of 4.4, 281.599 of 281.6",
    arguments: [
      (0, 50.0, 0.75, 0.749), (3, 10, 4.4, 4.399), (9, 10, 281.6, 281.599), (10, 10, 330, 329.999),
      (0, 0, 0.5, 0.5), (0, 0.1, 0.5005, 0.5),
    ] as [(UInt16, Double, Double, Double)])
  func waitsInMilliseconds(failures: UInt16, percent: Double, largest: Double, whole: Double) {
    var config = HTTPConfig()
    config.backoff.jitter = .additive(percent: percent)
    func wait(_ policy: RetryPolicy, _ random: Constant) -> RetryOutcome {
      var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), random)
      batch.failureCount = failures
      return RetryStateMachine(config: config, policy: policy).afterResponse(
        unavailable, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    }
    let shortest = min(0.5 * Double(1 << failures), 300)
    let rounding = with { $0.waitsInMilliseconds = true }
    #expect(wait(.tapiDocument, .high) == .retry(at: seconds(largest)))
    #expect(wait(rounding, .high) == .retry(at: seconds(whole)))
    for policy in [.tapiDocument, rounding] { #expect(wait(policy, .low) == .retry(at: seconds(shortest))) }
    let clamping = with {
      $0.waitsInMilliseconds = true
      $0.clampAfterJitter = true
    }
    #expect(wait(clamping, .high) == .retry(at: seconds(min(whole, 300))))
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

  @Test("The age counts from the first failure, or from when each event was queued, which the flush looks at")
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
    func machine(_ policy: RetryPolicy) -> RetryStateMachine {
      RetryStateMachine(config: config, policy: policy)
    }
    func decide(_ batch: BatchRetryState, _ policy: RetryPolicy, _ now: Double) -> SendDecision {
      var pipeline = PipelineRetryState()
      return machine(policy).beforeSend(batch: batch, pipeline: &pipeline, now: seconds(now))
    }
    let document = RetryPolicy.tapiDocument
    let queued = with { $0.ageLimit = .eventAgeSinceQueued }
    #expect(decide(failed, document, 190) == .send(retryCount: 1))
    #expect(decide(failed, document, 190.000001) == .drop(.age))
    #expect(decide(limited, document, 140) == .send(retryCount: 1))
    #expect(decide(limited, document, 140.000001) == .drop(.age))
    #expect(decide(BatchRetryState(), document, 1_000) == .send(retryCount: 0))
    #expect(machine(document).maximumEventAge == nil)
    for batch in [failed, limited] { #expect(decide(batch, queued, 1_000) == .send(retryCount: 1)) }
    #expect(decide(BatchRetryState(), queued, 1_000) == .send(retryCount: 0))
    #expect(machine(queued).maximumEventAge == seconds(100))
    // Whatever is enabled.
    config.backoff.isEnabled = false
    config.rateLimit.isEnabled = false
    #expect(machine(queued).maximumEventAge == seconds(100))
    #expect(decide(failed, queued, 1_000) == .send(retryCount: 1))
  }

  @Test("A 429 is a failure of its batch, with an age from then on, or leaves the batch's record alone")
  func rateLimitRecord() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxTotalBackoffDuration = seconds(50)
    for (value, line) in [
      (RetryPolicy.RateLimitRecord.failure, "1000 s drop age"), (.untouched, "1000 s #0 200 > delivered"),
    ] {
      let policy = with { $0.rateLimitRecord = value }
      var story = Story(config, policy: policy)
      story.send(tooMany)
      #expect(story.pipeline.retryCount == 1)
      #expect((story.batches[0] == BatchRetryState()) == (value == .untouched))
      story.now = seconds(1_000)
      story.send(success)
      #expect(story.lines[1] == line)
    }
    // An earlier failure's own record: its count, its age and its wait.
    var story = Story(config, policy: with { $0.rateLimitRecord = .untouched })
    story.send(unavailable)
    let before = story.batches[0]
    story.send(tooMany)
    #expect(story.lines == ["0 s #0 503 > retry 0.5", "0.5 s #1 429/10 > pause 10"])
    #expect(story.batches[0] == before)
    #expect(before.latestFailure == .transient && before.retryAt == seconds(0.5))
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
