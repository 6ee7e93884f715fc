import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadRetry

@Suite("How backoffs grow (S10)")
struct BackoffScheduleTests {
  /// The waits of a batch that always gets a 503, microseconds, until it is given up; each retry leaves when its wait is over.
  private func waits(
    _ count: Int, jitter: Jitter = .none, word: UInt64 = 0, limit: Int64 = 604_800_000_000,
    response: UploadResponse = .status(503, retryAfter: nil),
    _ change: (inout ClientPolicy, inout HTTPConfig) -> Void
  ) -> [Int64] {
    var (policy, config) = (ClientPolicy(), HTTPConfig())
    config.backoff.maxRetryCount = 1_000
    config.backoff.maxTotalBackoffDuration = limit
    config.backoff.jitter = jitter
    change(&policy, &config)
    let machine = RetryStateMachine(config: config, of: policy)
    var (batch, pipeline) = (BatchRetryState(), PipelineRetryState())
    var now: Int64 = 1_000_000
    var waits: [Int64] = []
    var random = Constant(word: word)
    for _ in 0..<count {
      switch machine.afterResponse(response, batch: &batch, pipeline: &pipeline, now: now, random: &random) {
      case .retry(let time), .pause(let time):
        waits.append(time - now)
        now = time
      default: return waits
      }
    }
    return waits
  }

  private func seconds(_ values: [Double]) -> [Int64] { values.map { Int64(($0 * 1e6).rounded()) } }

  @Test("a ladder's waits come one after another, and the last repeats")
  func ladder() throws {
    let ladder = try #require(DelayLadder(milliseconds: [1_000, 8_000, 32_000, 128_000, 300_000]))
    #expect(waits(7) { policy, _ in policy.waits = ladder } == seconds([1, 8, 32, 128, 300, 300, 300]))
    #expect(ladder.milliseconds == [1_000, 8_000, 32_000, 128_000, 300_000])
  }

  @Test("a ladder is no longer than sixteen waits, and none of them is nothing")
  func ladderBounds() {
    #expect(DelayLadder(milliseconds: []) == nil)
    #expect(DelayLadder(milliseconds: [1, 0]) == nil)
    #expect(DelayLadder(milliseconds: Array(repeating: 1, count: 16))?.count == 16)
    #expect(DelayLadder(milliseconds: Array(repeating: 1, count: 17)) == nil)
  }

  @Test(
    "Amplitude's ladder ± 50 % lies between half and one and a half of each wait, the last beyond any cap")
  func ladderWithJitter() throws {
    let ladder = try #require(DelayLadder(milliseconds: [1_000, 8_000, 32_000, 128_000, 300_000]))
    func ends(_ word: UInt64) -> [Int64] {
      waits(5, jitter: .symmetric(percent: 50), word: word) { policy, config in
        policy.waits = ladder
        config.backoff.maxBackoffInterval = 1_000_000
      }
    }
    #expect(ends(0) == seconds([0.5, 4, 16, 64, 150]))
    #expect(ends(.max) == seconds([1.5, 12, 48, 192, 450]))
  }

  // gRPC's connection backoff: each backoff is the one before times 1.6, at most 120 s.
  @Test("gRPC's backoffs: 1 s times 1.6 up to 2 minutes, each ± 20 %")
  func grpc() {
    let backoffs = [
      1, 1.6, 2.56, 4.096, 6.5536, 10.48576, 16.777216, 26.843546, 42.949673, 68.719477, 109.951163, 120, 120,
    ]
    func ends(_ word: UInt64) -> [Double] {
      waits(13, jitter: .symmetric(percent: 20), word: word) { policy, config in
        policy.multiplier = 1.6
        config.backoff.baseBackoffInterval = 1_000_000
        config.backoff.maxBackoffInterval = 120_000_000
      }.map { Double($0) / 1e6 }
    }
    for (low, (high, backoff)) in zip(ends(0), zip(ends(.max), backoffs)) {
      #expect(abs(low - 0.8 * backoff) < 2e-6 && abs(high - 1.2 * backoff) < 2e-6)
    }
  }

  @Test("a multiplier of 1 makes all waits the base, whatever the number of failures")
  func constant() {
    let waits = waits(40) { policy, config in
      policy.multiplier = 1
      config.backoff.baseBackoffInterval = 7_000_000
    }
    #expect(waits == Array(repeating: 7_000_000, count: 40))
  }

  @Test("a multiplier of 2 is the document's doubling")
  func doubling() {
    let plain = waits(12) { _, _ in }
    #expect(plain == seconds([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]))
    // By steps: a multiplier beside it that rounds to the same.
    let steps = waits(12) { policy, _ in policy.multiplier = 2.000_000_000_1 }
    #expect(zip(plain, steps).allSatisfy { abs($0 - $1) <= 1 })
  }

  @Test("three immediate retries come before the first backoff, which is the base")
  func immediate() {
    #expect(waits(6) { policy, _ in policy.immediateRetries = 3 } == seconds([0, 0, 0, 0.5, 1, 2]))
  }

  @Test("of backoff and Retry-After the larger counts, Retry-After at most its clamp")
  func clamp() {
    func wait(_ retryAfter: Int64, base: Int64) -> [Int64] {
      waits(1, response: .status(503, retryAfter: retryAfter * 1_000_000)) { policy, config in
        policy.retryAfterOnOtherCodes = .delaysBatch
        policy.longestRetryAfter = 30_000_000
        config.backoff.baseBackoffInterval = base * 1_000_000
      }
    }
    #expect(wait(10, base: 2) == seconds([10]))
    #expect(wait(10, base: 20) == seconds([20]))
    #expect(wait(100, base: 2) == seconds([30]))
    #expect(wait(100, base: 45) == seconds([45]))
  }

  @Test("the clamp holds for a 429 that pauses the pipeline too")
  func clampOfPause() {
    let waits = waits(1, response: .status(429, retryAfter: 200_000_000)) { policy, _ in
      policy.longestRetryAfter = 30_000_000
    }
    #expect(waits == [30_000_000])
  }

  @Test("a client may obey a Retry-After that is longer than the Settings allow, up to its own clamp or any")
  func longRetryAfter() {
    func wait(_ retryAfter: Int64?, longest: Int64 = .max) -> [Int64] {
      waits(1, response: .status(429, retryAfter: retryAfter.map { $0 * 1_000_000 })) { policy, _ in
        policy.retryAfterCap = .longestRetryAfter
        policy.longestRetryAfter = longest
      }
    }
    #expect(wait(21_600) == seconds([21_600]))
    #expect(wait(100_000, longest: 21_600_000_000) == seconds([21_600]))
    #expect(wait(.max / 1_000_000) == seconds([366 * 86_400]))
    // Without one the client waits as before.
    #expect(wait(nil) == seconds([300]))
  }

  // 5 7.5 11.25 16.875 25.3125 30 …: after twelve waits 275.9 s are over, and a thirteenth would end at 305.9 s.
  @Test("OpenTelemetry's exporter gives up when the next wait would end after 5 minutes")
  func elapsed() {
    let waits = waits(100, limit: 300_000_000) { policy, config in
      policy.multiplier = 1.5
      policy.ageLimit = .untilNextRetry
      config.backoff.baseBackoffInterval = 5_000_000
      config.backoff.maxBackoffInterval = 30_000_000
    }
    #expect(waits.count == 12)
    #expect(Array(waits.prefix(6)) == seconds([5, 7.5, 11.25, 16.875, 25.3125, 30]))
  }

  @Test("a batch that meets 429s after its first failure is too old after the same time")
  func elapsedWith429() {
    var (policy, config) = (ClientPolicy(), HTTPConfig())
    policy.ageLimit = .untilNextRetry
    config.backoff.maxTotalBackoffDuration = 60_000_000
    let machine = RetryStateMachine(config: config, of: policy)
    var (batch, pipeline) = (BatchRetryState(), PipelineRetryState())
    var random = Constant(word: 0)
    _ = machine.afterResponse(
      .status(503, retryAfter: nil), batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    #expect(machine.beforeSend(batch: batch, pipeline: &pipeline, now: 60_000_000) == .send(retryCount: 1))
    #expect(machine.beforeSend(batch: batch, pipeline: &pipeline, now: 60_000_001) == .drop(.age))
  }

  @Test("a batch that meets 511s alone is too old after the same time")
  func elapsedWith511() {
    var policy = ClientPolicy.tapiDocument
    var config = HTTPConfig()
    (policy.ageLimit, policy.supportsOAuth) = (.untilNextRetry, true)
    config.backoff.maxTotalBackoffDuration = 60_000_000
    let machine = RetryStateMachine(config: config, of: policy)
    var (batch, pipeline) = (BatchRetryState(), PipelineRetryState())
    var random = Constant(word: 0)
    func hear(at now: Int64) -> RetryOutcome {
      machine.afterResponse(
        .status(511, retryAfter: nil), batch: &batch, pipeline: &pipeline, now: now, random: &random)
    }
    guard case .refreshThenRetry = hear(at: 0) else {
      Issue.record("the first 511 asks for new credentials")
      return
    }
    #expect(hear(at: 60_000_001) == .drop(.age))
  }

  @Test(
    "a client that acts when a flush ends knows its longest wait, and the longest Retry-After that counts")
  func flushEnd() {
    var (policy, config) = (ClientPolicy.segmentReactNative, HTTPConfig())
    policy.waits = DelayLadder(milliseconds: [1_200_000])!
    policy.longestRetryAfter = 10_000_000
    let ladder = RetryStateMachine(config: config, of: policy)
    func isImpossible(_ machine: RetryStateMachine, after wait: Int64) -> Bool {
      machine.isImpossible(waitUntil: wait, isBackoff: true, client: BatchRetryState(), now: 0)
    }
    #expect(!isImpossible(ladder, after: 1_200_000_000) && isImpossible(ladder, after: 1_600_000_000))
    #expect(
      ladder.result(of: .status(503, retryAfter: 200_000_000))
        == .failed(wait: 10_000_000, isRateLimit: false))
    policy.waits = DelayLadder()
    config.backoff.jitter = .symmetric(percent: 50)
    // 300 s and a half.
    let symmetric = RetryStateMachine(config: config, of: policy)
    #expect(!isImpossible(symmetric, after: 450_000_000) && isImpossible(symmetric, after: 500_000_000))
  }

  @Test(
    "symmetric jitter has a name like the others",
    arguments: ["symmetric:50", "symmetric:12.5", "symmetric:0"])
  func names(name: String) {
    #expect(Jitter(name: name)?.description == name)
  }

  @Test(
    "a name that is nearly one is none",
    arguments: ["symmetric", "symmetric:", "symmetric:101", "symmetric:P", "symmetric:-1"])
  func noNames(name: String) {
    #expect(Jitter(name: name) == nil)
  }
}
