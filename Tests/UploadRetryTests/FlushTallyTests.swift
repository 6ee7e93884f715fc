import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

/// What the uploads of a flush come to when all of them have been answered, as analytics-react-native was observed.
@Suite("What a flush comes to (FlushTally)")
struct FlushTallyTests {
  private let tooMany = UploadResponse.status(429, retryAfter: 10_000_000)
  private let unavailable = UploadResponse.status(503, retryAfter: nil)
  private let success = UploadResponse.status(200, retryAfter: nil)
  private let refused = UploadResponse.status(400, retryAfter: nil)

  /// A client, and what its latest flush came to.
  private struct Client {
    var machine: RetryStateMachine
    var record = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = SeededGenerator(seed: 1)
    var isHighest = false

    init(_ config: HTTPConfig = .withoutJitter, policy: ClientPolicy = .segmentReactNative) {
      machine = RetryStateMachine(config: config, of: policy)
    }

    /// The count that is sent.
    var count: Int { Int(record.failureCount) + Int(pipeline.retryCount) }
    var isFresh: Bool { record == BatchRetryState() && pipeline == PipelineRetryState() }

    /// A flush whose chunks got these answers, in the order of their events.
    mutating func flush(_ answers: [UploadResponse], at now: Int64 = 0) -> FlushTally {
      var tally = FlushTally()
      for answer in answers {
        machine.add(
          machine.result(of: answer), to: &tally, client: &record, pipeline: &pipeline, now: now)
      }
      if isHighest {
        var highest = Constant.high
        machine.finish(&tally, client: &record, pipeline: &pipeline, now: now, random: &highest)
      } else {
        machine.finish(&tally, client: &record, pipeline: &pipeline, now: now, random: &random)
      }
      return tally
    }
  }

  private func result(_ response: UploadResponse, _ change: (inout HTTPConfig) -> Void = { _ in })
    -> UploadResult
  {
    var config = HTTPConfig.withoutJitter
    change(&config)
    return RetryStateMachine(config: config, of: .segmentReactNative).result(of: response)
  }

  // MARK: One answer

  @Test("What an answer means for its batch, with both sections on")
  func results() {
    for status in [200, 204, 299] { #expect(result(.status(status, retryAfter: nil)) == .delivered) }
    for status in [99, 100, 199, 302, 400, 401, 404, 413, 501, 505, 600] {
      #expect(result(.status(status, retryAfter: nil)) == .dropped, "\(status)")
      // A Retry-After does not make it retryable.
      #expect(result(.status(status, retryAfter: seconds(5))) == .dropped, "\(status)")
    }
    for status in [408, 410, 460, 500, 502, 503, 504, 508, 529] {
      #expect(result(.status(status, retryAfter: nil)) == .failed(wait: nil, isRateLimit: false), "\(status)")
      let asked = UploadResponse.status(status, retryAfter: seconds(5))
      #expect(result(asked) == .failed(wait: seconds(5), isRateLimit: false), "\(status)")
    }
    #expect(result(.noStatus) == .failed(wait: nil, isRateLimit: false))
    #expect(result(tooMany) == .failed(wait: seconds(10), isRateLimit: true))
    #expect(result(.status(429, retryAfter: nil)) == .failed(wait: seconds(60), isRateLimit: true))
  }

  @Test("While a section is off its failures are dropped, and kept while it is neither on nor off")
  func resultsOff() {
    #expect(result(tooMany) { $0.rateLimit.isEnabled = false } == .dropped)
    #expect(result(unavailable) { $0.backoff.isEnabled = false } == .dropped)
    #expect(result(.status(503, retryAfter: seconds(5))) { $0.backoff.isEnabled = false } == .dropped)
    // No status is kept, whatever is on.
    #expect(result(.noStatus) { $0.backoff.isEnabled = false } == .failed(wait: nil, isRateLimit: false))
    let limited = result(tooMany) {
      $0.rateLimit.isEnabled = false
      $0.rateLimit.keepsWhenOff = true
    }
    #expect(limited == .failed(wait: seconds(10), isRateLimit: true))
    let failed = result(unavailable) {
      $0.backoff.isEnabled = false
      $0.backoff.keepsWhenOff = true
    }
    #expect(failed == .failed(wait: nil, isRateLimit: false))
  }

  @Test(
    "A 429 that Settings drop is dropped, and a 511 that they leave to the tables only without authentication"
  )
  func resultsOfSettings() {
    #expect(result(tooMany) { $0.backoff.statuses.dropsRateLimited = true } == .dropped)
    var policy = ClientPolicy.segmentReactNative
    #expect(
      RetryStateMachine(config: .init(), of: policy).result(of: .status(511, retryAfter: nil)) == .dropped
    )
    policy.supportsOAuth = true
    #expect(
      RetryStateMachine(config: .init(), of: policy).result(of: .status(511, retryAfter: nil))
        == .failed(wait: nil, isRateLimit: false))
  }

  // MARK: What a flush counts

  @Test("However many chunks fail without a Retry-After, one failure is counted and one backoff is drawn")
  func oneTransientFailure() {
    var client = Client()
    let tally = client.flush([unavailable, .noStatus, unavailable], at: seconds(7))
    #expect(tally.waitUntil == seconds(7.5) && tally.isBackoff && tally.verdict == nil)
    #expect(client.record.failureCount == 1 && client.pipeline.retryCount == 0)
    #expect(client.record.firstFailureTime == seconds(7))
    #expect(client.random.draws == 1)
  }

  @Test("Each Retry-After counts, of the waits the shortest stays, and then no backoff is drawn")
  func everyRateLimit() {
    var client = Client()
    let longer = UploadResponse.status(429, retryAfter: seconds(20))
    let other = UploadResponse.status(503, retryAfter: seconds(15))
    let tally = client.flush([longer, unavailable, tooMany, other])
    #expect(tally.waitUntil == seconds(10) && !tally.isBackoff && tally.verdict == nil)
    #expect(client.pipeline.retryCount == 3 && client.record.failureCount == 0)
    #expect(client.random.draws == 0)
  }

  @Test("A wait is no longer than maxRetryInterval, and 60 s where a 429 asks for none")
  func capped() {
    var client = Client()
    #expect(client.flush([.status(429, retryAfter: .max)]).waitUntil == seconds(300))
    #expect(client.flush([.status(429, retryAfter: nil)]).waitUntil == seconds(60))
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryInterval = seconds(20)
    client = Client(config)
    #expect(client.flush([.status(429, retryAfter: nil)]).waitUntil == seconds(20))
  }

  @Test("The exponent counts every failure before, 429s included; the jitter comes on top of the cap")
  func exponent() {
    var client = Client()
    _ = client.flush([tooMany, tooMany])
    #expect(client.flush([unavailable]).waitUntil == seconds(2))
    #expect(client.flush([unavailable]).waitUntil == seconds(4))
    var own = ClientPolicy.segmentReactNative
    own.exponent = .ownFailures
    client = Client(policy: own)
    _ = client.flush([tooMany, tooMany])
    #expect(client.flush([unavailable]).waitUntil == seconds(0.5))

    var jittered = HTTPConfig()
    jittered.backoff.jitter = .additive(percent: 10)
    client = Client(jittered)
    client.isHighest = true
    client.pipeline.retryCount = 50
    #expect(client.flush([unavailable]).waitUntil == seconds(330))
  }

  @Test(
    "A success makes all fresh unless something that is tried again failed; a drop is no failure and keeps the count"
  )
  func freshAgain() {
    for (answers, isFresh) in [
      ([success], true), ([success, refused], true), ([success, unavailable], false),
      ([success, tooMany], false),
      ([refused], false), ([unavailable, success, success], false),
    ] as [([UploadResponse], Bool)] {
      var client = Client()
      _ = client.flush([unavailable])
      _ = client.flush([tooMany])
      #expect(client.count == 2)
      let tally = client.flush(answers)
      #expect(tally.startsOver == isFresh, "\(answers)")
      #expect(client.isFresh == isFresh)
      if answers == [refused] { #expect(client.count == 2 && tally.waitUntil == 0) }
    }
  }

  @Test("A flush without any result changes nothing")
  func nothing() {
    var client = Client()
    _ = client.flush([tooMany])
    let before = client.record
    let tally = client.flush([])
    #expect(tally == FlushTally() && client.record == before && client.count == 1)
  }

  // MARK: Off

  @Test(
    "With rate limiting off a Retry-After neither waits nor counts, and keeps the backoff from being drawn")
  func rateLimitingOff() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.isEnabled = false
    var client = Client(config)
    let tally = client.flush([.status(503, retryAfter: seconds(5)), unavailable])
    #expect(tally.waitUntil == 0 && tally.verdict == nil && client.isFresh)
    #expect(client.flush([unavailable]).waitUntil == seconds(0.5))
  }

  @Test("With backoff off a failure without a status neither waits nor counts")
  func backoffOff() {
    var config = HTTPConfig.withoutJitter
    config.backoff.isEnabled = false
    var client = Client(config)
    let tally = client.flush([.noStatus, success])
    #expect(tally.waitUntil == 0 && !tally.startsOver && client.isFresh)
  }

  // MARK: Limits

  @Test("With maxRetryCount 100 the 101st failure in a row drops what has failed, and all is fresh")
  func countLimits() {
    for (answer, reason) in [(unavailable, DropReason.retryLimit), (tooMany, .rateLimitRetryLimit)] {
      var client = Client()
      for _ in 0..<100 { #expect(client.flush([answer]).verdict == nil) }
      #expect(client.count == 100)
      let tally = client.flush([answer])
      #expect(tally.verdict == reason && tally.startsOver && tally.waitUntil == 0)
      #expect(client.isFresh)
    }
  }

  @Test("The count is one of the client: 429s use up the retries of other failures too")
  func sharedCount() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxRetryCount = 2
    var client = Client(config)
    _ = client.flush([tooMany])
    #expect(client.flush([unavailable]).verdict == nil)
    #expect(client.flush([unavailable]).verdict == .retryLimit)
  }

  @Test("Of several Retry-Afters the last one's verdict is the flush's")
  func lastVerdict() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryCount = 1
    // The second makes all fresh, and the third is the first failure again.
    var client = Client(config)
    let tally = client.flush([tooMany, tooMany, .status(429, retryAfter: seconds(20))])
    #expect(tally.verdict == nil && tally.waitUntil == seconds(20))
    #expect(client.count == 1)
    client = Client(config)
    #expect(client.flush([tooMany, tooMany]).verdict == .rateLimitRetryLimit)
    #expect(client.isFresh)
  }

  @Test("The age since the client's first failure is strict, and the count comes before it")
  func age() {
    var config = HTTPConfig.withoutJitter
    config.backoff.maxTotalBackoffDuration = seconds(100)
    config.rateLimit.maxTotalBackoffDuration = seconds(50)
    for (answer, limit) in [(unavailable, 100.0), (tooMany, 50)] {
      var client = Client(config)
      _ = client.flush([answer])
      #expect(client.flush([answer], at: seconds(limit)).verdict == nil)
      let tally = client.flush([answer], at: seconds(limit) + 1)
      #expect(tally.verdict == .age && client.isFresh)
    }
    config.backoff.maxRetryCount = 1
    var client = Client(config)
    _ = client.flush([unavailable])
    #expect(client.flush([unavailable], at: seconds(1_000)).verdict == .retryLimit)
  }

  @Test("The first failure stays over a drop: hours later a fresh event's first 503 is too old")
  func firstFailureStays() {
    var client = Client()
    _ = client.flush([unavailable])
    _ = client.flush([refused], at: seconds(1))
    #expect(client.record.firstFailureTime == 0)
    #expect(client.flush([unavailable], at: seconds(43_200) + 1).verdict == .age)
  }

  // MARK: A wait that cannot be

  @Test(
    "A wait further away than 1.1 times its cap, or before its own first failure, cannot be one of the client's"
  )
  func impossibleWaits() {
    var config = HTTPConfig.withoutJitter
    config.rateLimit.maxRetryInterval = seconds(20)
    let machine = RetryStateMachine(config: config, of: .segmentReactNative)
    let now = seconds(1_000)
    var record = BatchRetryState()
    record.firstFailureTime = now
    for (isBackoff, cap) in [(false, 22.0), (true, 330)] {
      func isImpossible(_ until: Int64) -> Bool {
        machine.isImpossible(waitUntil: until, isBackoff: isBackoff, client: record, now: now)
      }
      #expect(!isImpossible(now) && !isImpossible(now + seconds(cap)))
      #expect(isImpossible(now + seconds(cap) + 1) && isImpossible(.max))
    }
    record.firstFailureTime = now + 1
    #expect(machine.isImpossible(waitUntil: now + 5, isBackoff: false, client: record, now: now))
    record = BatchRetryState()
    #expect(!machine.isImpossible(waitUntil: now + 5, isBackoff: false, client: record, now: now))
  }

  @Test("No time, count or length makes it trap", arguments: 1...UInt64(TestDepth.cases(8, exhaustively: 20)))
  func hostile(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, seconds(1), .max - 1, .max]
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
      config.backoff.jitter = pick([.none, .additive(percent: 1e6), .full, .decorrelated])
      var client = Client(config)
      (client.record.failureCount, client.pipeline.retryCount) = (pick([0, .max]), pick([0, .max]))
      for _ in 0..<20 {
        let now = pick(times)
        let answers = (0..<3).map { _ in
          pick([.noStatus, success, refused] + times.map { UploadResponse.status(429, retryAfter: $0) })
        }
        let tally = client.flush(answers, at: now)
        _ = client.machine.isImpossible(
          waitUntil: tally.waitUntil, isBackoff: tally.isBackoff, client: client.record, now: pick(times))
      }
    }
  }
}
