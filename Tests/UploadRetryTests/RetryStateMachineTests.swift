import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

@Suite("Retry state machine")
struct RetryStateMachineTests {
  private let tooMany = UploadResponse.status(429, retryAfter: 10_000_000)
  private let unavailable = UploadResponse.status(503, retryAfter: nil)
  private let success = UploadResponse.status(200, retryAfter: nil)

  // MARK: S2, X-Retry-Count

  @Test("429, 429, 200: the header counts 0 1 2 on the global counter, and starts over")
  func rateLimitStory() {
    var story = Story()
    story.send(tooMany)
    story.send(tooMany)
    story.send(success)
    story.send(tooMany)
    #expect(
      story.lines == [
        "0 s #0 429/10 > pause 10",
        "10 s #1 429/10 > pause 10",
        "20 s #2 200 > delivered",
        "20 s #0 429/10 > pause 10",
      ])
  }

  @Test(
    "503, 503, 200: the header counts 0 1 2 on the batch's counter, the waits double, and both start over")
  func transientStory() {
    var story = Story()
    story.send(unavailable)
    story.send(unavailable)
    story.send(success)
    story.send(unavailable)
    #expect(
      story.lines == [
        "0 s #0 503 > retry 0.5",
        "0.5 s #1 503 > retry 1",
        "1.5 s #2 200 > delivered",
        "1.5 s #0 503 > retry 0.5",
      ])
    #expect(story.pipeline.retryCount == 0)
  }

  @Test("A batch with failures of its own reports those, whatever the 429s: 503, 429, 429, 503")
  func mixedStory() {
    var story = Story()
    for response in [unavailable, tooMany, tooMany, unavailable, success] { story.send(response) }
    #expect(
      story.lines == [
        "0 s #0 503 > retry 0.5",
        "0.5 s #1 429/10 > pause 10",
        "10.5 s #1 429/10 > pause 10",
        "20.5 s #1 503 > retry 1",
        "21.5 s #2 200 > delivered",
      ])
  }

  @Test("Another batch's first try carries 0 while 429s are being counted, and its retry the global count")
  func otherBatch() {
    var story = Story()
    story.send(0, tooMany)
    story.send(0, tooMany)
    story.send(1, tooMany)
    story.send(1, success)
    story.send(0, success)
    #expect(
      story.lines == [
        "0 s #0 429/10 > pause 10",
        "10 s #1 429/10 > pause 10",
        "20 s #0 429/10 > pause 10",
        "30 s #3 200 > delivered",
        "30 s #0 200 > delivered",
      ])
  }

  @Test("A success of one batch resets the global counter and leaves the other batch's own")
  func resets() {
    var story = Story()
    story.send(0, unavailable)
    story.send(1, tooMany)
    story.send(1, success)
    #expect(story.pipeline.retryCount == 0)
    #expect(story.batches[0].failureCount == 1)
    #expect(story.batches[1] == BatchRetryState())
  }

  @Test("A dropped batch does not reset the global counter")
  func dropKeepsTheGlobalCounter() {
    var story = Story()
    story.send(0, tooMany)
    story.send(1, .status(400, retryAfter: nil))
    #expect(story.pipeline.retryCount == 1)
  }

  // MARK: S4, Retry-After

  @Test(
    "Retry-After is honoured up to maxRetryInterval",
    arguments: [
      (0, 0), (1, 1), (60_000_000, 60_000_000), (300_000_000, 300_000_000), (300_000_001, 300_000_000),
      (.max, 300_000_000), (-1, 0), (.min, 0),
    ] as [(Int64, Int64)])
  func retryAfter(given: Int64, waited: Int64) {
    var story = Story()
    story.send(.status(429, retryAfter: given))
    #expect(story.now == waited)
  }

  @Test("A 429 without Retry-After waits maxRetryInterval")
  func missingRetryAfter() {
    var config = HTTPConfig()
    config.rateLimit.maxRetryInterval = seconds(77)
    var story = Story(config)
    story.send(.status(429, retryAfter: nil))
    #expect(story.lines == ["0 s #0 429 > pause 77"])
  }

  @Test("Or, by a switch, backs off on the global count, up to maxRetryInterval")
  func missingRetryAfterByBackoff() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryInterval = seconds(3)
    var policy = ClientPolicy.tapiDocument
    policy.missingRetryAfter = .exponentialBackoff
    var story = Story(config, policy: policy)
    for _ in 0..<4 { story.send(.status(429, retryAfter: nil)) }
    story.send(.status(429, retryAfter: seconds(2)))
    #expect(
      story.lines == [
        "0 s #0 429 > pause 0.5",
        "0.5 s #1 429 > pause 1",
        "1.5 s #2 429 > pause 2",
        "3.5 s #3 429 > pause 3",
        "6.5 s #4 429/2 > pause 2",
      ])
  }

  @Test("Backing off on 429s, a decorrelated wait follows the previous one of its batch")
  func missingRetryAfterDecorrelated() {
    var config = HTTPConfig()
    config.backoff.jitter = .decorrelated
    var policy = ClientPolicy.tapiDocument
    policy.missingRetryAfter = .exponentialBackoff
    var story = Story(config, policy: policy)
    story.random = .high
    for _ in 0..<3 { story.send(.status(429, retryAfter: nil)) }
    #expect(
      story.lines == [
        "0 s #0 429 > pause 1.5",
        "1.5 s #1 429 > pause 4.5",
        "6 s #2 429 > pause 13.5",
      ])
  }

  // MARK: S10, the schedule

  @Test("The waits of a batch: base, doubling, the cap; with jitter up to 10 % more, beyond the cap too")
  func backoffSchedule() {
    let machine = RetryStateMachine(config: HTTPConfig())
    var low = BatchRetryState()
    var high = BatchRetryState()
    var pipeline = PipelineRetryState()
    var lowRandom = Constant.low
    var highRandom = Constant.high
    for backoff in [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      let start: Int64 = 1_000
      let shortest = machine.afterResponse(
        .noStatus, batch: &low, pipeline: &pipeline, now: start, random: &lowRandom)
      let longest = machine.afterResponse(
        .noStatus, batch: &high, pipeline: &pipeline, now: start, random: &highRandom)
      #expect(shortest == .retry(at: start + seconds(backoff)))
      #expect(longest == .retry(at: start + seconds(backoff * 1.1)))
    }
  }

  @Test("Clamped after jitter, the wait at the cap is exactly the cap")
  func clampAfterJitter() {
    var policy = ClientPolicy.tapiDocument
    policy.clampAfterJitter = true
    var story = Story(HTTPConfig(), policy: policy)
    story.random = .high
    for _ in 0..<12 { story.send(unavailable) }
    #expect(story.lines[8].hasSuffix("> retry 140.8"))
    #expect(story.lines[11].hasSuffix("> retry 300"))
  }

  @Test("Decorrelated waits feed on the batch's previous one: at their longest 1.5 4.5 13.5 … s")
  func decorrelated() {
    var config = HTTPConfig()
    config.backoff.jitter = .decorrelated
    var story = Story(config)
    story.random = .high
    for _ in 0..<7 { story.send(unavailable) }
    let waits = story.lines.map { $0.split(separator: " ").last! }
    #expect(waits == ["1.5", "4.5", "13.5", "40.5", "121.5", "300", "300"])
  }

  @Test("A batch is not due before its time, and due at it")
  func due() {
    let machine = RetryStateMachine(config: .withoutJitter)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = Constant.low
    _ = machine.afterResponse(unavailable, batch: &batch, pipeline: &pipeline, now: 100, random: &random)
    #expect(
      machine.beforeSend(batch: batch, pipeline: &pipeline, now: 500_099) == .notDue(until: 500_100))
    #expect(machine.beforeSend(batch: batch, pipeline: &pipeline, now: 500_100) == .send(retryCount: 1))
  }

  @Test("The records are as small as their doc comments say")
  func layout() {
    #expect(MemoryLayout<BatchRetryState>.stride == 24)
    #expect(MemoryLayout<PipelineRetryState>.size == 2)
    #expect(MemoryLayout<StatusTable>.size == 64)
  }

  @Test("A random word is taken for a backoff only")
  func draws() {
    let machine = RetryStateMachine(config: HTTPConfig())
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = SeededGenerator(seed: 1)
    for response in [success, tooMany, .status(429, retryAfter: nil), .status(400, retryAfter: nil)] {
      _ = machine.afterResponse(response, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    }
    #expect(random.draws == 0)
    _ = machine.afterResponse(unavailable, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    _ = machine.afterResponse(.noStatus, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    #expect(random.draws == 2)
  }
}

extension RetryStateMachine {
  convenience init(config: HTTPConfig, of policy: ClientPolicy) {
    self.init(config: config, policy: policy.retry, quirks: policy.machineQuirks)
  }
}
