import ShippedQuirks
import TestSupport
import Testing
import UploadRetry

@Suite("Statuses (S5, S6, S8)")
struct StatusTests {
  /// What the default machine answers to a batch's first answer.
  private func outcome(
    _ response: UploadResponse, policy: ClientPolicy = .tapiDocument
  ) -> (outcome: RetryOutcome, batch: BatchRetryState) {
    let machine = RetryStateMachine(config: .withoutJitter, of: policy)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = Constant.low
    let outcome = machine.afterResponse(
      response, batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    return (outcome, batch)
  }

  private func outcome(_ status: Int, policy: ClientPolicy = .tapiDocument) -> RetryOutcome {
    outcome(.status(status, retryAfter: nil), policy: policy).outcome
  }

  @Test("The 4xx rows that say No are dropped", arguments: [400, 401, 403, 404, 413, 422])
  func droppedClientErrors(status: Int) { #expect(outcome(status) == .drop(.status)) }

  @Test(
    "The 4xx rows that say Yes are retried per batch after the base interval", arguments: [408, 410, 460])
  func retriedClientErrors(status: Int) { #expect(outcome(status) == .retry(at: 500_000)) }

  @Test("429 makes the pipeline wait")
  func rateLimit() { #expect(outcome(429) == .pause(until: 300_000_000)) }

  @Test("Every other 4xx is dropped")
  func otherClientErrors() {
    for status in 400...499 where ![408, 410, 429, 460].contains(status) {
      #expect(outcome(status) == .drop(.status), "\(status)")
    }
  }

  @Test("The 5xx rows that say Yes are retried per batch", arguments: [500, 502, 503, 504, 508])
  func retriedServerErrors(status: Int) { #expect(outcome(status) == .retry(at: 500_000)) }

  @Test("The 5xx rows that say No are dropped", arguments: [501, 505])
  func droppedServerErrors(status: Int) { #expect(outcome(status) == .drop(.status)) }

  @Test("Every other 5xx is retried per batch")
  func otherServerErrors() {
    for status in 500...599 where ![501, 505, 511].contains(status) {
      #expect(outcome(status) == .retry(at: 500_000), "\(status)")
    }
  }

  @Test("511 is dropped, and retried with new credentials by a client that supports OAuth")
  func authentication() {
    #expect(outcome(511) == .drop(.status))
    var policy = ClientPolicy.tapiDocument
    policy.supportsOAuth = true
    #expect(outcome(511, policy: policy) == .refreshThenRetry(at: 500_000))
    #expect(outcome(501, policy: policy) == .drop(.status))
  }

  @Test(
    "a 511 that asks to wait has new credentials fetched by a client whose batches heed Retry-After on any status"
  )
  func authenticationAfterAWait() {
    var policy = ClientPolicy.tapiDocument
    policy.retryAfterOnOtherCodes = .delaysBatch
    func after(_ status: Int, _ asked: Int64) -> RetryOutcome {
      var (batch, pipeline) = (BatchRetryState(), PipelineRetryState())
      var random = SystemRandomNumberGenerator()
      return RetryStateMachine(config: .withoutJitter, of: policy).afterResponse(
        .status(status, retryAfter: asked), batch: &batch, pipeline: &pipeline, now: 0, random: &random)
    }
    #expect(after(511, 40_000_000) == .drop(.status))
    policy.supportsOAuth = true
    // The longer of what is asked for and the first backoff, half a second.
    #expect(after(511, 40_000_000) == .refreshThenRetry(at: 40_000_000))
    #expect(after(511, 0) == .refreshThenRetry(at: 500_000))
    #expect(after(503, 40_000_000) == .retry(at: 40_000_000))
  }

  @Test("1xx, 3xx and what is outside 100…599 is dropped")
  func unknown() {
    for status in Array(100...199) + Array(300...399) + [Int.min, -1, 0, 99, 600, 999, 1_000_000, .max] {
      #expect(outcome(status) == .drop(.status), "\(status)")
    }
  }

  @Test("Every 2xx delivers")
  func success() {
    for status in 200...299 { #expect(outcome(status) == .delivered, "\(status)") }
  }

  @Test("No status at all is transient (S9)")
  func noStatus() { #expect(outcome(.noStatus).outcome == .retry(at: 500_000)) }

  @Test("Retry-After on another status than 429 is not read (S7)", arguments: [408, 500, 503, 529])
  func retryAfterElsewhere(status: Int) {
    #expect(outcome(.status(status, retryAfter: 60_000_000)).outcome == .retry(at: 500_000))
  }

  @Test("A dropped batch leaves fresh state behind")
  func dropResets() {
    let machine = RetryStateMachine(config: .withoutJitter)
    var batch = BatchRetryState()
    var pipeline = PipelineRetryState()
    var random = Constant.low
    _ = machine.afterResponse(.noStatus, batch: &batch, pipeline: &pipeline, now: 5, random: &random)
    #expect(batch != BatchRetryState())
    _ = machine.afterResponse(
      .status(400, retryAfter: nil), batch: &batch, pipeline: &pipeline, now: 6, random: &random)
    #expect(batch == BatchRetryState())
  }
}
