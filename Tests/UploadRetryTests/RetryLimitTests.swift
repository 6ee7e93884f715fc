import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

@Suite("Retry limits (S11, S12) and legacy (S15)")
struct RetryLimitTests {
  private let unavailable = UploadResponse.status(503, retryAfter: nil)
  private let tooMany = UploadResponse.status(429, retryAfter: 0)

  private func decide(
    _ config: HTTPConfig, _ batch: BatchRetryState, global: UInt16 = 0, now: Int64
  ) -> SendDecision {
    var pipeline = PipelineRetryState()
    pipeline.retryCount = global
    return RetryStateMachine(config: config).beforeSend(batch: batch, pipeline: &pipeline, now: now)
  }

  @Test("Without a limit on retries and age nothing is ever given up, however often it has failed")
  func unlimited() {
    for maximum in [Int.max, 5_000] {
      var config = HTTPConfig.withoutJitter
      config.backoff.maxRetryCount = maximum
      config.backoff.maxTotalBackoffDuration = .max
      let machine = RetryStateMachine(config: config)
      var (batch, pipeline, random) = (BatchRetryState(), PipelineRetryState(), Constant.low)
      var failures = 0
      for attempt in 0..<70_000 {
        let now = Int64(attempt) * seconds(1_000)
        guard case .send = machine.beforeSend(batch: batch, pipeline: &pipeline, now: now),
          case .retry = machine.afterResponse(
            unavailable, batch: &batch, pipeline: &pipeline, now: now, random: &random)
        else { break }
        failures += 1
      }
      #expect(failures == min(maximum, 69_999) + 1)
    }
  }

  // MARK: S11, age

  @Test("The age limit is strict: kept at exactly 12 h after the first failure, dropped a microsecond later")
  func age() {
    for latest in [BatchRetryState.LatestFailure.rateLimited, .transient] {
      var batch = BatchRetryState()
      batch.firstFailureTime = 1_000
      batch.failureCount = 1
      batch.latestFailure = latest
      #expect(decide(HTTPConfig(), batch, now: 1_000 + 43_200_000_000) == .send(retryCount: 1))
      #expect(decide(HTTPConfig(), batch, now: 1_001 + 43_200_000_000) == .drop(.age))
    }
  }

  @Test("With mixed failures the limit is that of the latest one's section")
  func ageOfTheLatestFailure() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxTotalBackoffDuration = seconds(100)
    config.backoff.maxTotalBackoffDuration = seconds(10)
    var batch = BatchRetryState()
    batch.firstFailureTime = 0
    batch.failureCount = 1
    batch.latestFailure = .rateLimited
    #expect(decide(config, batch, now: seconds(50)) == .send(retryCount: 1))
    batch.latestFailure = .transient
    #expect(decide(config, batch, now: seconds(50)) == .drop(.age))
    #expect(decide(config, batch, now: seconds(10)) == .send(retryCount: 1))
  }

  @Test("The first failure counts, a 429 included, and later ones do not move it; a success forgets it")
  func firstFailure() {
    for first in [unavailable, tooMany, .noStatus] {
      var story = Story()
      story.now = 7_000
      story.send(first)
      story.now += seconds(100)
      story.send(unavailable)
      story.send(tooMany)
      #expect(story.batches[0].firstFailureTime == 7_000)
      story.send(.status(204, retryAfter: nil))
      #expect(story.batches[0].firstFailureTime == .min)
    }
  }

  @Test("A limit of zero allows a retry at the very instant only")
  func zeroAge() {
    var config = HTTPConfig()
    config.rateLimit.maxTotalBackoffDuration = 0
    var story = Story(config)
    story.send(tooMany)
    story.send(tooMany)
    story.now += 1
    story.send(tooMany)
    #expect(
      story.lines == ["0 s #0 429/0 > pause 0", "0 s #1 429/0 > pause 0", "1e-06 s drop age"])
  }

  // MARK: S12, counts

  @Test("100 retries make 101 sends, and then the batch is dropped for its own limit")
  func transientLimit() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = seconds(604_800)
    var story = Story(config)
    for _ in 0..<102 { story.send(unavailable) }
    #expect(story.lines[100].contains("#100 503 > retry 300"))
    #expect(story.lines[101].hasSuffix("drop retryLimit"))
    #expect(story.lines.filter { $0.contains("503") }.count == 101)
  }

  @Test("100 retried 429s make 101 sends, then the next batch is dropped and the global counter starts over")
  func globalLimit() {
    var story = Story()
    for _ in 0..<101 { story.send(0, tooMany) }
    #expect(story.lines[100] == "0 s #100 429/0 > pause 0")
    #expect(story.pipeline.retryCount == 101)
    story.send(1, tooMany)
    #expect(story.lines[101] == "0 s drop rateLimitRetryLimit")
    #expect(story.pipeline.retryCount == 0)
    story.send(0, .status(200, retryAfter: nil))
    #expect(story.lines[102] == "0 s #0 200 > delivered")
  }

  @Test("429s do not use up the batch's own retries")
  func separateCounts() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 1
    var story = Story(config)
    for response in [tooMany, tooMany, unavailable, tooMany, unavailable, tooMany] { story.send(response) }
    #expect(
      story.lines == [
        "0 s #0 429/0 > pause 0",
        "0 s #1 429/0 > pause 0",
        "0 s #2 503 > retry 0.5",
        "0.5 s #1 429/0 > pause 0",
        "0.5 s #1 503 > retry 1",
        "1.5 s drop retryLimit",
      ])
  }

  @Test("No retries allowed: one send")
  func noRetries() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 0
    config.rateLimit.maxRetryCount = 0
    var story = Story(config)
    story.send(0, unavailable)
    story.send(0, unavailable)
    story.send(1, tooMany)
    story.send(1, tooMany)
    #expect(
      story.lines == [
        "0 s #0 503 > retry 0.5",
        "0.5 s drop retryLimit",
        "0.5 s #0 429/0 > pause 0",
        "0.5 s drop rateLimitRetryLimit",
      ])
  }

  @Test("A batch that is not due is not about to be sent, so no limit drops it yet")
  func limitsWaitForTheDueTime() {
    var batch = BatchRetryState()
    batch.firstFailureTime = 0
    batch.failureCount = 101
    batch.latestFailure = .transient
    batch.retryAt = seconds(10)
    #expect(decide(HTTPConfig(), batch, global: 101, now: seconds(9)) == .notDue(until: seconds(10)))
    #expect(decide(HTTPConfig(), batch, global: 101, now: seconds(10)) == .drop(.retryLimit))
  }

  @Test("Counters stop at their largest value")
  func saturation() {
    let machine = RetryStateMachine(config: .withoutJitter)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    batch.failureCount = .max
    pipeline.retryCount = .max
    var random = Constant.low
    for response in [unavailable, tooMany] {
      _ = machine.afterResponse(response, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    }
    #expect(batch.failureCount == .max && pipeline.retryCount == .max)
  }

  // MARK: S15

  @Test("With backoff off a transient failure neither waits nor ever drops, and the header still counts")
  func legacyBackoff() {
    var config = HTTPConfig()
    config.backoff.isEnabled = false
    config.backoff.maxRetryCount = 1
    config.backoff.maxTotalBackoffDuration = 0
    var story = Story(config)
    for _ in 0..<3 {
      story.send(unavailable)
      story.now += seconds(100_000)
    }
    #expect(
      story.lines == [
        "0 s #0 503 > next trigger",
        "100000 s #1 503 > next trigger",
        "200000 s #2 503 > next trigger",
      ])
    story.send(.status(400, retryAfter: nil))
    #expect(story.lines[3] == "300000 s #3 400 > drop status")
  }

  @Test("With rate limiting off a 429 neither pauses nor ever drops")
  func legacyRateLimit() {
    var config = HTTPConfig()
    config.rateLimit.isEnabled = false
    config.rateLimit.maxRetryCount = 1
    config.rateLimit.maxTotalBackoffDuration = 0
    var story = Story(config)
    for _ in 0..<3 {
      story.send(.status(429, retryAfter: seconds(60)))
      story.now += seconds(100_000)
    }
    #expect(
      story.lines == [
        "0 s #0 429/60 > next trigger",
        "100000 s #1 429/60 > next trigger",
        "200000 s #2 429/60 > next trigger",
      ])
  }

  @Test("Each section is switched off for itself")
  func legacyPerSection() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.isEnabled = false
    var story = Story(config)
    story.send(unavailable)
    #expect(story.lines == ["0 s #0 503 > retry 0.5"])
    config = .withoutJitter
    config.backoff.isEnabled = false
    story = Story(config)
    story.send(.status(429, retryAfter: nil))
    #expect(story.lines == ["0 s #0 429 > pause 300"])
  }

  @Test("A wait from before backoff was switched off is not waited for")
  func legacyIgnoresOldWaits() {
    var config = HTTPConfig()
    config.backoff.isEnabled = false
    var batch = BatchRetryState()
    batch.firstFailureTime = 0
    batch.failureCount = 1
    batch.latestFailure = .transient
    batch.retryAt = seconds(10)
    #expect(decide(config, batch, now: 0) == .send(retryCount: 1))
  }

  // MARK: Any clock, any Settings

  @Test("No time, count, length or answer makes the machine trap", arguments: 1...20)
  func hostile(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, seconds(1), .max - 1, .max]
    let jitters: [Jitter] = [
      .none, .additive(percent: .nan), .additive(percent: 1e300), .full, .equal, .decorrelated,
    ]
    func pick<T>(_ values: [T]) -> T { values[Int(truncatingIfNeeded: random.next() >> 33) % values.count] }
    for _ in 0..<200 {
      var config = HTTPConfig()
      config.rateLimit.maxRetryCount = pick([.min, 0, 3, .max])
      config.rateLimit.maxRetryInterval = pick(times)
      config.rateLimit.maxTotalBackoffDuration = pick(times)
      config.backoff.maxRetryCount = pick([.min, 0, 3, .max])
      config.backoff.baseBackoffInterval = pick(times)
      config.backoff.maxBackoffInterval = pick(times)
      config.backoff.maxTotalBackoffDuration = pick(times)
      config.backoff.jitter = pick(jitters)
      var policy = ClientPolicy.tapiDocument
      policy.missingRetryAfter = pick([.maxRetryInterval, .exponentialBackoff])
      let machine = RetryStateMachine(config: config, of: policy)
      var batch = BatchRetryState()
      var pipeline = PipelineRetryState()
      for _ in 0..<20 {
        let now = pick(times)
        _ = machine.beforeSend(batch: batch, pipeline: &pipeline, now: now)
        let after: Int64? = pick([nil] + times.map { .some($0) })
        let responses: [UploadResponse] = [
          .noStatus, .status(pick([.min, 200, 429, 503, .max]), retryAfter: after),
        ]
        let response = pick(responses)
        switch machine.afterResponse(
          response, batch: &batch, pipeline: &pipeline, now: now, random: &random)
        {
        case .retry(let time): #expect(time >= now, "seed \(seed)")
        case .pause(let time):
          // Settings that no reader has clamped may make the longest wait a negative one.
          #expect(config.rateLimit.maxRetryInterval < 0 ? time <= now : time >= now, "seed \(seed)")
        default: break
        }
      }
    }
  }
}
