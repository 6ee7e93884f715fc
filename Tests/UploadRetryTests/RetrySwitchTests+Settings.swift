import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

/// The switches that say how Settings, waits and ages are taken.
extension RetrySwitchTests {
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

  @Test(
    "With both sections off a client that forgets drops no status; no wait holds one back that keeps no state"
  )
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
    let stateless = with { $0.withoutSettings = .drops400 }
    for (policy, ignoresWaits) in [(stateless, true), (policy, false), (.tapiDocument, false)] {
      #expect(RetryStateMachine(config: config, of: policy).ignoresWaits == ignoresWaits)
    }
    config.rateLimit.isEnabled = true
    #expect(!RetryStateMachine(config: config, of: stateless).ignoresWaits)
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
      // analytics-kotlin keeps the file of a 3xx, and not its record.
      story.send(.status(301, retryAfter: nil))
      #expect(story.lines.last == "0 s #300 301 > next trigger")
      #expect(story.batches[0] == (value == .drops4xx ? BatchRetryState() : batch))
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
      #expect(RetryStateMachine(config: config, of: policy).ignoresState == ignores)
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
    // Up to the longest Retry-After: a spread one pauses too.
    let spread = with { ($0.overridden429, $0.retryAfterJitter) = (.dropsAndPauses, .full) }
    var story = Story(config, policy: spread)
    story.send(tooMany)
    #expect(story.lines[0].hasPrefix("0 s #0 429/10 > drop status, pause"))
  }

  @Test("Settings may drop a 429 where the client knows what to do with it, and are written back so")
  func overriding429() {
    let value = SettingsValue.object([
      ("backoffConfig", .object([("statusCodeOverrides", .object([("429", .string("drop"))]))]))
    ])
    let (config, repairs) = HTTPConfig.decode(value, overrides429: true)
    #expect(config.backoff.statuses.dropsRateLimited && repairs.isEmpty)
    let again = HTTPConfig.decode(config.encoded(), overrides429: true)
    #expect(again.config == config && again.repairs.isEmpty)
    let other = HTTPConfig.decode(
      HTTPConfig().encoded(defaults: config), overrides429: true, defaults: config)
    #expect(other.config == HTTPConfig() && other.repairs.isEmpty)
    let refused = HTTPConfig.decode(value)
    #expect(refused.config == HTTPConfig() && refused.repairs.count == 1)
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
    func waits(_ value: ShippedQuirks.Exponent) -> [String] {
      lines(with { $0.exponent = value }, answers).map { String($0.split(separator: "> ")[1]) }
    }
    #expect(waits(.ownFailures) == ["retry 0.5", "pause 10", "pause 10", "retry 1", "retry 2"])
    // 0.5 s · 2 to the failures before: 0, 3 and 4 of them.
    #expect(waits(.allFailures) == ["retry 0.5", "pause 10", "pause 10", "retry 4", "retry 8"])
    var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), Constant.low)
    (batch.failureCount, pipeline.retryCount) = (.max, .max)
    let machine = RetryStateMachine(config: .withoutJitter, of: with { $0.exponent = .allFailures })
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
    func wait(_ policy: ClientPolicy, _ random: Constant) -> RetryOutcome {
      var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), random)
      batch.failureCount = failures
      return RetryStateMachine(config: config, of: policy).afterResponse(
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
      (ClientPolicy.tapiDocument, false, true), (.tapiDocument, true, true), (picky, false, true),
      (picky, true, false),
    ] {
      let machine = RetryStateMachine(config: .withoutJitter, of: policy)
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
    func machine(_ policy: ClientPolicy) -> RetryStateMachine {
      RetryStateMachine(config: config, of: policy)
    }
    func decide(_ batch: BatchRetryState, _ policy: ClientPolicy, _ now: Double) -> SendDecision {
      var pipeline = PipelineRetryState()
      return machine(policy).beforeSend(batch: batch, pipeline: &pipeline, now: seconds(now))
    }
    let document = ClientPolicy.tapiDocument
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
