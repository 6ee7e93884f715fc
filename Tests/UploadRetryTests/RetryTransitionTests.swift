import TestSupport
import Testing
import UploadRetry

@Suite("Steps that a caller can log (S20)")
struct RetryTransitionTests {
  private let tooMany = UploadResponse.status(429, retryAfter: 30_000_000)
  private let success = UploadResponse.status(200, retryAfter: nil)

  private func pipeline(_ before: Int64, _ after: Int64, _ response: UploadResponse, _ now: Int64) -> String {
    RetryTransition.pipeline(waitUntil: before, after: after, response: response, now: now).description
  }

  private func batch(_ before: BatchRetryState, _ response: UploadResponse, _ outcome: RetryOutcome)
    -> String
  {
    RetryTransition.batch(before, response: response, outcome: outcome, now: seconds(2)).description
  }

  @Test("The four steps of the document's table")
  func pipelineSteps() {
    let now: Int64 = 12_500_000
    #expect(pipeline(0, 0, success, now) == "12.5 s pipeline READY > READY: 200")
    #expect(
      pipeline(0, 42_500_000, tooMany, now)
        == "12.5 s pipeline READY > WAITING until 42.5 s (30 s): 429, Retry-After 30 s")
    #expect(
      pipeline(13_000_000, 42_500_000, tooMany, now)
        == "12.5 s pipeline WAITING until 13 s > WAITING until 42.5 s (30 s): 429, Retry-After 30 s")
    #expect(
      RetryTransition.pipeline(waitUntil: now, lastLookedAt: 0, now: now)?.description
        == "12.5 s pipeline WAITING until 12.5 s > READY: wait reached")
    #expect(pipeline(13_000_000, 0, success, now) == "12.5 s pipeline WAITING until 13 s > READY: 200")
  }

  @Test("A wait that goes on, or that was seen to be over before, is no step")
  func noStep() {
    #expect(RetryTransition.pipeline(waitUntil: 10, lastLookedAt: 0, now: 9) == nil)
    #expect(RetryTransition.pipeline(waitUntil: 10, lastLookedAt: 10, now: 11) == nil)
    #expect(RetryTransition.pipeline(waitUntil: 0, lastLookedAt: 0, now: 5) == nil)
    #expect(RetryTransition.batch(.init(), decision: .send(retryCount: 0), now: 5) == nil)
    #expect(RetryTransition.batch(.init(), decision: .notDue(until: 6), now: 5) == nil)
  }

  @Test("A batch's steps after an answer")
  func batchSteps() {
    let fresh = BatchRetryState()
    #expect(batch(fresh, success, .delivered) == "2 s batch READY > DELIVERED: 200")
    #expect(
      batch(fresh, .noStatus, .retry(at: 2_500_000))
        == "2 s batch READY > WAITING until 2.5 s (0.5 s): no status")
    for outcome in [RetryOutcome.pause(until: 9), .backOff(until: 9), .retryAtNextTrigger] {
      #expect(batch(fresh, .status(503, retryAfter: nil), outcome) == "2 s batch READY > READY: 503")
    }
    #expect(
      batch(fresh, .status(400, retryAfter: nil), .drop(.status))
        == "2 s batch READY > DROPPED (status): 400")
    #expect(
      batch(fresh, .status(429, retryAfter: nil), .dropAndPause(.status, until: 9))
        == "2 s batch READY > DROPPED (status): 429")
    #expect(
      batch(fresh, .status(102, retryAfter: nil), .discarded) == "2 s batch READY > DROPPED (status): 102")
  }

  @Test("A batch's steps before a send")
  func batchStepsBeforeASend() {
    var waiting = BatchRetryState()
    waiting.retryAt = 2_000_000
    func step(_ batch: BatchRetryState, _ decision: SendDecision) -> String? {
      RetryTransition.batch(batch, decision: decision, now: 2_000_001)?.description
    }
    #expect(
      step(waiting, .send(retryCount: 1))
        == "2.000001 s batch WAITING until 2 s > READY: wait reached")
    #expect(
      step(waiting, .drop(.age)) == "2.000001 s batch WAITING until 2 s > DROPPED (age): limit reached")
    #expect(
      step(.init(), .drop(.rateLimitRetryLimit))
        == "2.000001 s batch READY > DROPPED (rateLimitRetryLimit): limit reached")
  }

  @Test("The length of a wait never overflows")
  func lengths() {
    func wait(_ until: Int64, _ now: Int64) -> Int64 {
      RetryTransition(.batch, from: .ready, to: .waiting(until: until), cause: .limit, time: now).wait
    }
    #expect(wait(.max, .min) == .max)
    #expect(wait(.min, .max) == 0)
    #expect(wait(7, 5) == 2)
    let early = RetryTransition(.batch, from: .ready, to: .ready, cause: .limit, time: .min)
    #expect(early.description == "-9223372036854.775808 s batch READY > READY: limit reached")
  }
}
